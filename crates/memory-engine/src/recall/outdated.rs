//! Newer texts before older ones that are like them, where it is asked how things are.

use std::collections::{HashMap, HashSet};

use jiff::{SignedDuration, Timestamp};
use memory_core::id::{Namespace, PassageId};
use memory_core::recall::{
    ArtifactScore, lower_outdated, raise_newer, successions, tells_change, weight_of_newness,
};
use memory_language::tense::Tense;
use memory_store::Conn;
use memory_store::search::{self, Owner};

use super::hits::Scored;
use super::likeness::{Likeness, dated_best};
use super::ranking::Ranked;
use super::search::Asked;
use crate::{EngineError, Memory};

/// Texts less far apart are of one time: those without a date are of when they were stored, and the files of a folder are stored
/// one after the other.
const APART_MIN: SignedDuration = SignedDuration::from_mins(10);

impl Memory {
    /// Lowers the best of what was found, as far as newer texts like it were found too, and raises these. Turns of conversations
    /// stay: they tell what happened.
    pub(super) async fn prefer_newer(
        &self,
        conn: &mut Conn,
        ns: &Namespace,
        (query, asked): (&str, &Asked),
        scored: &[Scored],
        ranked: &mut [Ranked],
    ) -> Result<(), EngineError> {
        let weight = weight_of_newness(Tense::of(query), self.settings.weights.newness);
        if weight <= 0.0 {
            return Ok(());
        }
        let dates: HashMap<PassageId, Timestamp> = scored.iter().filter_map(date_of_text).collect();
        let notes: HashSet<PassageId> = scored.iter().filter_map(note).collect();
        let Some(compared) = dated_best(ranked, &dates) else { return Ok(()) };
        let ids: Vec<PassageId> = compared.iter().map(|(ranked, _)| ranked.passage_id).collect();
        let Some(likeness) = Likeness::of(conn, ns, asked, &ids).await? else { return Ok(()) };
        let (each, dates): (Vec<&mut Ranked>, Vec<Timestamp>) = compared.into_iter().unzip();
        let mut scores: Vec<ArtifactScore> = each.iter().map(|ranked| ranked.explanation.artifact).collect();
        let is_newer = |new: usize, old: usize| dates[new].duration_since(dates[old]) >= APART_MIN;
        let alike = |a, b| likeness.between(a, b);
        lower_outdated(&mut scores, is_newer, alike, weight);
        let is_newer_note = |new: usize, old: usize| notes.contains(&ids[new]) && is_newer(new, old);
        let succeeding = successions(&scores, is_newer_note, alike);
        let read: HashSet<PassageId> = succeeding.iter().map(|it| ids[it.new]).collect();
        let changes = changes(conn, ns, read).await?;
        raise_newer(&mut scores, &succeeding, |at| changes.contains(&ids[at]), weight);
        for (ranked, score) in each.into_iter().zip(scores) {
            ranked.score_again(score);
        }
        ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
        Ok(())
    }
}

/// Those of the passages whose words tell of a change.
async fn changes(
    conn: &mut Conn,
    ns: &Namespace,
    passages: HashSet<PassageId>,
) -> Result<HashSet<PassageId>, EngineError> {
    if passages.is_empty() {
        return Ok(HashSet::new());
    }
    let passages: Vec<PassageId> = passages.into_iter().collect();
    let texts = search::texts(conn, ns, &passages).await?;
    Ok(texts.into_iter().filter(|(_, text)| tells_change(text)).map(|(id, _)| id).collect())
}

fn date_of_text(scored: &Scored) -> Option<(PassageId, Timestamp)> {
    match &scored.candidate.owner {
        owner @ Owner::Revision { date, is_latest: true, .. } if !owner.is_turn() => {
            Some((scored.candidate.passage_id, *date))
        }
        _ => None,
    }
}

/// A text of one passage: of longer ones all that tell of the same people are alike.
fn note(scored: &Scored) -> Option<PassageId> {
    let Owner::Revision { passages: ..=1, .. } = &scored.candidate.owner else { return None };
    Some(scored.candidate.passage_id)
}
