//! What stands around a hit: turns of its conversation or talk, or the adjoining chunks of its text.

use std::collections::HashMap;

use memory_core::id::{Namespace, PassageId};
use memory_store::Conn;
use memory_store::hydration::HydratedHit;
use memory_store::neighbours::{self, Neighbour, Turns};

use super::RecallRequest;
use crate::{EngineError, Memory};

/// How much of a neighbour is shown, in characters.
const NEIGHBOUR_MAX_CHARS: i32 = 600;

impl Memory {
    /// The neighbours of each hit that has any, in order; a hit's own text is not among them.
    pub(super) async fn neighbours(
        &self,
        conn: &mut Conn,
        ns: &Namespace,
        request: &RecallRequest,
        hits: &[HydratedHit],
    ) -> Result<HashMap<PassageId, Vec<Neighbour>>, EngineError> {
        let each = request.neighbours;
        if each == 0 {
            return Ok(HashMap::new());
        }
        let turns: Vec<Turns> = hits
            .iter()
            .filter_map(|hit| {
                let conversation_id = hit.conversation_id.clone()?;
                Some(Turns { of: hit.passage_id, conversation_id, turn_index: hit.turn_index? })
            })
            .collect();
        let mut around = neighbours::turns(conn, ns, &turns, each as i64, NEIGHBOUR_MAX_CHARS).await?;
        let in_texts: Vec<PassageId> =
            hits.iter().filter(|hit| hit.turn_index.is_none()).map(|hit| hit.passage_id).collect();
        around.extend(neighbours::lines(conn, ns, &in_texts, each as i64, NEIGHBOUR_MAX_CHARS).await?);
        around.extend(neighbours::passages(conn, ns, &in_texts, each as i32, NEIGHBOUR_MAX_CHARS).await?);
        let mut of_hits: HashMap<PassageId, Vec<Neighbour>> = HashMap::new();
        for (of, neighbour) in around {
            of_hits.entry(of).or_default().push(neighbour);
        }
        Ok(of_hits)
    }
}
