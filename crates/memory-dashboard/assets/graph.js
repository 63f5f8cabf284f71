// The picture of the entities: our own canvas, places from the worker.
export async function draw(canvas) {
  const context = canvas.getContext("2d");
  const { nodes, edges } = await fetch(canvas.dataset.graph, { headers: { Accept: "application/json" } }).then((r) => r.json());
  const most = Math.max(1, ...nodes.map((node) => node.weight));
  const byId = new Map();
  for (const node of nodes) {
    node.radius = 5 + 13 * Math.sqrt(node.weight / most);
    node.isWritten = node.id.startsWith("g");
    byId.set(node.id, node);
  }
  const links = edges.filter((edge) => byId.has(edge.source) && byId.has(edge.target))
    .map((edge) => ({ ...edge, source: byId.get(edge.source), target: byId.get(edge.target) }));
  const near = new Map(nodes.map((node) => [node, new Set([node])]));
  for (const { source, target } of links) { near.get(source).add(target); near.get(target).add(source); }

  const view = { x: 0, y: 0, scale: 1, isOwn: false };
  let chosen = null;
  const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function fit() {
    if (view.isOwn || !nodes.length || nodes[0].x === undefined) return;
    const xs = nodes.map((node) => node.x), ys = nodes.map((node) => node.y);
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const { clientWidth: width, clientHeight: height } = canvas;
    view.scale = Math.min(1.6, (width - 120) / Math.max(1, right - left), (height - 80) / Math.max(1, bottom - top));
    view.x = width / 2 - view.scale * (left + right) / 2;
    view.y = height / 2 - view.scale * (top + bottom) / 2;
  }

  function paint() {
    const { clientWidth: width, clientHeight: height } = canvas;
    const ratio = devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    fit();
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    if (!nodes.length || nodes[0].x === undefined) return;
    const at = (node) => [view.x + view.scale * node.x, view.y + view.scale * node.y];
    const isNear = (node) => !chosen || near.get(chosen).has(node);
    const edge = colour("--edge"), strong = colour("--line-strong"), text = colour("--text"), ground = colour("--panel");
    for (const link of links) {
      const isStrong = chosen && (link.source === chosen || link.target === chosen);
      context.globalAlpha = chosen && !isStrong ? 0.15 : 0.8;
      context.strokeStyle = isStrong ? strong : edge;
      context.lineWidth = Math.min(4, 0.8 + Math.log2(1 + link.weight) * 0.5);
      context.beginPath();
      context.moveTo(...at(link.source));
      context.lineTo(...at(link.target));
      context.stroke();
    }
    const fills = [colour("--node-extracted"), colour("--node-written")];
    for (const node of nodes) {
      const [x, y] = at(node);
      const radius = Math.max(3, node.radius * Math.sqrt(view.scale));
      context.globalAlpha = isNear(node) ? 1 : 0.25;
      context.fillStyle = fills[Number(node.isWritten)];
      context.beginPath();
      // The two memories are told apart by shape as well.
      if (node.isWritten) context.rect(x - radius * 0.9, y - radius * 0.9, radius * 1.8, radius * 1.8);
      else context.arc(x, y, radius, 0, 2 * Math.PI);
      context.fill();
      context.strokeStyle = node === chosen ? text : ground;
      context.lineWidth = node === chosen ? 3 : 1.5;
      context.stroke();
    }
    // Names where there is room: the heaviest first.
    const taken = [];
    context.font = "12.5px system-ui, sans-serif";
    context.textAlign = "center";
    const order = [...nodes].sort((a, b) => (b === chosen) - (a === chosen) || b.weight - a.weight);
    for (const node of order) {
      if (!isNear(node)) continue;
      const [x, y] = at(node);
      const name = node.name.length > 26 ? node.name.slice(0, 25) + "…" : node.name;
      const half = context.measureText(name).width / 2 + 4;
      const top = y + Math.max(3, node.radius * Math.sqrt(view.scale)) + 3;
      const box = [x - half, top, x + half, top + 16];
      const isFree = taken.every(([l, t, r, b]) => box[2] < l || box[0] > r || box[3] < t || box[1] > b);
      if (!isFree && node !== chosen) continue;
      taken.push(box);
      context.globalAlpha = 1;
      context.lineWidth = 3.5;
      context.strokeStyle = ground;
      context.strokeText(name, x, top + 12);
      context.fillStyle = text;
      context.fillText(name, x, top + 12);
    }
    context.globalAlpha = 1;
  }

  function choose(node) {
    chosen = chosen === node ? null : node;
    for (const button of document.querySelectorAll("[data-node]")) {
      const isIt = chosen?.id === button.dataset.node;
      button.setAttribute("aria-pressed", String(isIt));
      if (isIt && document.activeElement !== button) button.scrollIntoView({ block: "nearest" });
    }
    paint();
  }

  function zoom(factor, x, y) {
    const scale = Math.min(8, Math.max(0.1, view.scale * factor));
    view.x = x - (x - view.x) * scale / view.scale;
    view.y = y - (y - view.y) * scale / view.scale;
    view.scale = scale;
    view.isOwn = true;
    paint();
  }

  function hit(event) {
    const box = canvas.getBoundingClientRect();
    const x = (event.clientX - box.left - view.x) / view.scale, y = (event.clientY - box.top - view.y) / view.scale;
    const found = nodes.map((node) => [Math.hypot(node.x - x, node.y - y) - node.radius, node]).sort((a, b) => a[0] - b[0])[0];
    return found && found[0] < 8 / view.scale ? found[1] : null;
  }

  let held = null;
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    held = { node: hit(event), x: event.clientX, y: event.clientY, hasMoved: false };
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!held) return;
    const [dx, dy] = [event.clientX - held.x, event.clientY - held.y];
    if (!held.hasMoved && Math.hypot(dx, dy) < 4) return;
    held.hasMoved = true;
    view.isOwn = true;
    if (held.node) { held.node.x += dx / view.scale; held.node.y += dy / view.scale; } else { view.x += dx; view.y += dy; }
    [held.x, held.y] = [event.clientX, event.clientY];
    paint();
  });
  canvas.addEventListener("pointerup", () => {
    if (held && !held.hasMoved) choose(held.node);
    held = null;
  });
  canvas.addEventListener("dblclick", (event) => {
    const node = hit(event);
    if (node && !node.isWritten) location.href = `${canvas.dataset.entities}/${node.id.slice(1)}`;
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const box = canvas.getBoundingClientRect();
    zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15, event.clientX - box.left, event.clientY - box.top);
  }, { passive: false });
  document.addEventListener("keydown", (event) => {
    if (event.target.closest("input, textarea, select")) return;
    const [x, y] = [canvas.clientWidth / 2, canvas.clientHeight / 2];
    if (event.key === "+" || event.key === "=") zoom(1.25, x, y);
    if (event.key === "-") zoom(0.8, x, y);
    if (event.key === "Escape" && chosen) choose(chosen);
  });
  for (const button of document.querySelectorAll("[data-node]")) {
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => { const node = byId.get(button.dataset.node); if (node) choose(node); });
  }
  addEventListener("resize", paint);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);

  const worker = new Worker(new URL("graph-worker.js", import.meta.url));
  worker.onmessage = ({ data: { places, isDone } }) => {
    places.forEach(([x, y], n) => { nodes[n].x = x; nodes[n].y = y; });
    paint();
    if (isDone) { canvas.dataset.drawn = String(nodes.length); worker.terminate(); }
  };
  const plainNodes = nodes.map(({ id, radius }) => ({ id, radius }));
  const plainEdges = links.map(({ source, target, weight }) => ({ source: source.id, target: target.id, weight }));
  worker.postMessage({ nodes: plainNodes, edges: plainEdges, isStill });
}
