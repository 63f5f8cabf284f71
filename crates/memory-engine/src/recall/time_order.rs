//! The latest or the first of what was found, where that is asked for.

use std::collections::HashMap;

use jiff::Timestamp;
use memory_core::id::{Namespace, PassageId};
use memory_core::recall::{ArtifactScore, Occurrence, rank_in_time_order};
use memory_language::tense::begins_with_plans;
use memory_language::time::{Granularity, Lean, Reading, told_readings};
use memory_language::time_order::TimeOrder;
use memory_store::Conn;
use memory_store::search::{self, Owner, Told};

use super::hits::Scored;
use super::likeness::{Likeness, dated_best};
use super::ranking::Ranked;
use super::search::Asked;
use crate::{EngineError, Memory};

/// Texts without a date are of when they were stored, and the files of a folder are stored within minutes.
const MOMENT_SECONDS: i64 = 600;
/// How much of a passage is read for dates, in bytes.
const READ_MAX: usize = 1_000;

impl Memory {
    /// Raises the later of what was found, or the earlier.
    pub(super) async fn rank_in_time_order(
        &self,
        conn: &mut Conn,
        ns: &Namespace,
        (order, asked): (TimeOrder, &Asked),
        scored: &[Scored],
        ranked: &mut [Ranked],
    ) -> Result<(), EngineError> {
        let dates: HashMap<PassageId, Timestamp> = scored.iter().filter_map(date_of).collect();
        let Some(compared) = dated_best(ranked, &dates) else { return Ok(()) };
        let ids: Vec<PassageId> = compared.iter().map(|(ranked, _)| ranked.passage_id).collect();
        let Some(likeness) = Likeness::of(conn, ns, asked, &ids).await? else { return Ok(()) };
        let told: HashMap<PassageId, Told> =
            search::told(conn, ns, &ids).await?.into_iter().map(|told| (told.passage_id, told)).collect();
        let happened = |(ranked, date): &(&mut Ranked, Timestamp)| match told.get(&ranked.passage_id) {
            Some(told) => occurrence(told, *date),
            None => Occurrence { moment: moment_of(*date), is_plan: false },
        };
        let told: Vec<Occurrence<i64>> = compared.iter().map(happened).collect();
        let each: Vec<&mut Ranked> = compared.into_iter().map(|(ranked, _)| ranked).collect();
        let mut scores: Vec<ArtifactScore> = each.iter().map(|ranked| ranked.explanation.artifact).collect();
        let lowered = rank_in_time_order(&mut scores, &told, |a, b| likeness.between(a, b), order);
        for (ranked, score) in each.into_iter().zip(scores) {
            ranked.score_again(score);
        }
        // What was not compared stays behind what ranked before it.
        for ranked in ranked.iter_mut().filter(|ranked| !ids.contains(&ranked.passage_id)) {
            ranked.score_again(ranked.explanation.artifact.lowered_while_shown(lowered));
        }
        ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
        Ok(())
    }
}

/// When what a passage tells of happened: the latest time before its date that it names, else its date.
fn occurrence(told: &Told, date: Timestamp) -> Occurrence<i64> {
    let end = told.text.floor_char_boundary(READ_MAX.min(told.text.len()));
    let is_past = |reading: &Reading| reading.start <= date && reading.granularity <= Granularity::Month;
    let read = told_readings(&told.text[..end], date, Lean::Past);
    let named = read.iter().filter(|reading| is_past(reading)).map(|reading| reading.start).max();
    Occurrence { moment: moment_of(named.unwrap_or(date)), is_plan: begins_with_plans(&told.text) }
}

/// What is stored one after the other is of one moment.
fn moment_of(date: Timestamp) -> i64 {
    date.as_second().div_euclid(MOMENT_SECONDS)
}

fn date_of(scored: &Scored) -> Option<(PassageId, Timestamp)> {
    match &scored.candidate.owner {
        Owner::Revision { date, is_latest: true, .. } => Some((scored.candidate.passage_id, *date)),
        _ => None,
    }
}
