// Where the entities of the picture stand: forces, apart from the page.
importScripts("d3-dispatch.js", "d3-quadtree.js", "d3-timer.js", "d3-force.js");

onmessage = ({ data: { nodes, edges, isStill } }) => {
  const d3 = self.d3;
  const simulation = d3.forceSimulation(nodes)
    .force("link", d3.forceLink(edges).id((node) => node.id).distance(90).strength((edge) => Math.min(0.6, 0.15 + edge.weight * 0.05)))
    .force("charge", d3.forceManyBody().strength(-220).distanceMax(600))
    .force("x", d3.forceX().strength(0.05))
    .force("y", d3.forceY().strength(0.07))
    .force("collide", d3.forceCollide((node) => node.radius + 6))
    .stop();
  const send = (isDone) => postMessage({ places: nodes.map(({ x, y }) => [x, y]), isDone });
  const steps = 300;
  for (let step = 0; step < steps; step += 1) {
    simulation.tick();
    // Whoever wants no motion sees the end of it alone.
    if (!isStill && step % 6 === 5) send(false);
  }
  send(true);
};
