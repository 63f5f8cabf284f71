//! Entities and what connects them, few enough to be drawn, and how many were left out: a map of the whole, the
//! surroundings of one, the way between two.

use std::collections::{BTreeMap, HashMap};

use futures::future::BoxFuture;
use memory_core::Invalid;
use memory_core::id::Namespace;
use memory_store::Conn;
use memory_store::entities::picture::{self};
pub use memory_store::entities::picture::{Edge, Node};

use crate::{EngineError, Memory};

/// The most entities that are drawn, and the most connections between them.
pub const NODES_MAX: usize = 300;
const EDGES_MAX: i64 = 900;
/// How many neighbours of one entity's neighbours are looked at.
const NEIGHBOURS_MAX: i64 = 600;
/// The most steps of a way between two, and the most connections that are followed in one.
const STEPS_MAX: usize = 5;
const WALKED_MAX: i64 = 1_000;

/// What is to be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// What has most of the newest events, and most relations in the knowledge graph.
    Map,
    /// An extracted entity and what is within two steps of it.
    Focus(i64),
    /// The shortest way from one extracted entity to another.
    Path(i64, i64),
}

/// What is drawn: extracted entities, and those of the knowledge graph, whose numbers are of their own.
#[derive(Debug, Clone, Default)]
pub struct Picture {
    pub extracted: Vec<Node>,
    pub shared: Vec<Edge>,
    pub graph: Vec<Node>,
    pub relations: Vec<Edge>,
    /// Entities that are not drawn.
    pub left_out: i64,
    /// Where there is no way between two.
    pub is_apart: bool,
}

impl Memory {
    /// At most [`NODES_MAX`] entities with what connects them.
    pub fn picture<'a>(
        &'a self,
        ns: &'a Namespace,
        view: View,
    ) -> BoxFuture<'a, Result<Picture, EngineError>> {
        Box::pin(async move {
            let mut conn = self.store.acquire(ns).await?;
            match view {
                View::Map => map(&mut conn, ns).await,
                View::Focus(id) => focus(&mut conn, ns, id).await,
                View::Path(from, to) => path(&mut conn, ns, from, to).await,
            }
        })
    }
}

async fn map(conn: &mut Conn, ns: &Namespace) -> Result<Picture, EngineError> {
    let mut extracted = picture::most_active(conn, ns, NODES_MAX as i64).await?;
    let mut graph = picture::most_related(conn, ns, NODES_MAX as i64).await?;
    let all = extracted.first().map_or(0, |node| node.total) + graph.first().map_or(0, |node| node.total);
    // Each memory has half of the room, and what the other leaves of it.
    graph.truncate(NODES_MAX - extracted.len().min(NODES_MAX / 2));
    extracted.truncate(NODES_MAX - graph.len());
    let ids = |nodes: &[Node]| nodes.iter().map(|node| node.id).collect::<Vec<_>>();
    let shared = picture::shared_events(conn, ns, &ids(&extracted), EDGES_MAX).await?;
    let relations = picture::relations(conn, ns, &ids(&graph), EDGES_MAX).await?;
    let left_out = all - (extracted.len() + graph.len()) as i64;
    Ok(Picture { extracted, shared, graph, relations, left_out, is_apart: false })
}

async fn root_of(conn: &mut Conn, ns: &Namespace, id: i64) -> Result<Node, EngineError> {
    let found = picture::nodes(conn, ns, &[id]).await?;
    let missing = || Invalid::new(format!("There is no entity {id} in the namespace '{ns}'."));
    Ok(found.into_iter().next().ok_or_else(missing)?)
}

async fn focus(conn: &mut Conn, ns: &Namespace, id: i64) -> Result<Picture, EngineError> {
    let centre = root_of(conn, ns, id).await?;
    let first = picture::neighbours(conn, ns, &[centre.id], NEIGHBOURS_MAX).await?;
    let near: Vec<i64> = first.iter().map(|edge| edge.to).take(NODES_MAX / 3).collect();
    let second = picture::neighbours(conn, ns, &near, NEIGHBOURS_MAX).await?;
    let mut weights: BTreeMap<i64, i64> = BTreeMap::new();
    for edge in first.iter().chain(&second) {
        *weights.entry(edge.to).or_default() += edge.weight;
    }
    weights.remove(&centre.id);
    let mut chosen: Vec<i64> = vec![centre.id];
    chosen.extend(&near);
    let mut further: Vec<(i64, i64)> =
        weights.iter().filter(|(id, _)| !near.contains(id)).map(|(id, weight)| (-weight, *id)).collect();
    further.sort_unstable();
    chosen.extend(further.iter().map(|(_, id)| *id));
    let found = chosen.len().max(first.len() + 1);
    chosen.truncate(NODES_MAX);
    let extracted = weighed(picture::nodes(conn, ns, &chosen).await?, &weights, found as i64);
    let shared = picture::shared_events(conn, ns, &chosen, EDGES_MAX).await?;
    let left_out = found.saturating_sub(chosen.len()) as i64;
    Ok(Picture { extracted, shared, left_out, ..Picture::default() })
}

fn weighed(nodes: Vec<Node>, weights: &BTreeMap<i64, i64>, total: i64) -> Vec<Node> {
    let of = |id: &i64| weights.get(id).copied().unwrap_or(0).max(1);
    nodes.into_iter().map(|node| Node { weight: of(&node.id), total, ..node }).collect()
}

/// What a search for a way has seen from one of its ends.
struct Seen {
    /// Each entity that was reached, with the one before it; the end itself with itself.
    came_from: HashMap<i64, i64>,
    /// Those that were reached last.
    outermost: Vec<i64>,
}

impl Seen {
    fn from(end: i64) -> Self {
        Self { came_from: HashMap::from([(end, end)]), outermost: vec![end] }
    }

    /// From what was reached back to the end.
    fn way_back(&self, from: i64) -> Vec<i64> {
        let mut way = vec![from];
        let mut last = from;
        while let Some(before) = self.came_from.get(&last).filter(|before| **before != last) {
            last = *before;
            way.push(last);
        }
        way
    }
}

/// Breadth first from both ends, a step at a time from the one where fewer were reached last.
async fn path(conn: &mut Conn, ns: &Namespace, from: i64, to: i64) -> Result<Picture, EngineError> {
    let (from, to) = (root_of(conn, ns, from).await?.id, root_of(conn, ns, to).await?.id);
    let (mut here, mut there) = (Seen::from(from), Seen::from(to));
    let mut met = (from == to).then_some(from);
    for _ in 0..STEPS_MAX {
        let is_here = here.outermost.len() <= there.outermost.len();
        let (side, other) = if is_here { (&mut here, &there) } else { (&mut there, &here) };
        if met.is_some() || side.outermost.is_empty() {
            break;
        }
        let found = picture::neighbours(conn, ns, &side.outermost, WALKED_MAX).await?;
        side.outermost.clear();
        for edge in found {
            if side.came_from.contains_key(&edge.to) {
                continue;
            }
            side.came_from.insert(edge.to, edge.from);
            side.outermost.push(edge.to);
            if met.is_none() && other.came_from.contains_key(&edge.to) {
                met = Some(edge.to);
            }
        }
    }
    let way = |met| {
        let mut way = here.way_back(met);
        way.extend(there.way_back(met).into_iter().skip(1));
        way
    };
    let drawn = met.map_or_else(|| vec![from, to], way);
    let extracted = weighed(picture::nodes(conn, ns, &drawn).await?, &BTreeMap::new(), drawn.len() as i64);
    let shared = picture::shared_events(conn, ns, &drawn, EDGES_MAX).await?;
    Ok(Picture { extracted, shared, is_apart: met.is_none(), ..Picture::default() })
}
