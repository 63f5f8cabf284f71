//! What was said later about a commitment that stands open. That it is done, moved or dropped is mostly told in other words, in a
//! text that names neither its owner nor the day, so that no link is made; but a recall of the commitment among later texts finds
//! it. It is shown beside the commitment, whose state stays what is known.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use memory_core::artifact::Role;
use memory_core::commitment::{CommitmentState, says_the_same};
use memory_core::event::{Category, EndedBy};
use memory_core::id::{ArtifactId, Namespace};
use memory_core::recall::tells_end;

use super::{ArmPlace, Explanation, RecallDraft, RecallRequest, Recalled};
use crate::{EngineError, Memory};

/// What speaks for a text: by how much its score leads the next (or is behind the best), its two likenesses, whether it was said
/// about the day when the commitment is due, or well behind it, and the length of its passage in units of `LONG_CHARS`. Weights of a
/// logistic regression on labelled notes (`tools/train-clauses/said_later`).
const LEAD: f32 = 5.8;
const VECTOR: f32 = 3.6;
const LATE_INTERACTION: f32 = 4.9;
const ABOUT_DUE: f32 = 1.7;
const LONG_AFTER_DUE: f32 = -1.7;
const LENGTH: f32 = -1.4;
const BIAS: f32 = -4.4;
const LONG_CHARS: f32 = 300.0;
const LENGTH_MAX: f32 = 3.0;
/// From these log-odds on, a text that tells an end by its words likely tells that of the commitment.
const ENDED_MIN: f32 = 1.0;
/// In days.
const BEFORE_DUE_MAX: i64 = 3;
const AFTER_DUE_MAX: i64 = 2;
const LONG_AFTER: i64 = 7;
/// So many of the best may be meant.
const CANDIDATES: usize = 4;
/// So many texts are looked at.
const TEXTS: i64 = 8;
/// Of so many results of one list it is looked up.
const LOOKED_UP_MAX: usize = 20;

/// A later text, and what of it tells most of the commitment.
#[derive(Debug, Clone, PartialEq)]
pub struct SaidLater {
    pub artifact_id: ArtifactId,
    pub date: Timestamp,
    pub snippet: String,
    /// The commitment is likely done, or dropped, by what it says.
    pub is_likely_end: bool,
}

/// A commitment, and where it was told.
pub(crate) struct Told<'a> {
    pub narrative: &'a str,
    pub artifact_id: &'a str,
    pub date: Timestamp,
    pub turn: Option<(&'a str, i32)>,
    pub due: Option<Timestamp>,
}

impl Memory {
    /// The last of the later texts that likely say what became of the commitment; `None` where none, or several alike, may be meant.
    pub(crate) async fn said_later(
        &self,
        ns: &Namespace,
        told: &Told<'_>,
    ) -> Result<Option<SaidLater>, EngineError> {
        let request = RecallRequest::new(RecallDraft {
            query: Some(told.narrative.to_owned()),
            date_from: Some(told.date.to_string()),
            limit: Some(TEXTS),
            expand: Some(false),
            include_entities: Some(false),
            explain: Some(true),
            ..RecallDraft::default()
        });
        // A narrative that is too long for a question.
        let Ok(request) = request else { return Ok(None) };
        let found = self.recall(ns, &request).await?.results;
        let later: Vec<Recalled> =
            found.into_iter().filter(|it| may_tell_of(it, told)).take(CANDIDATES).collect();
        // What came last tells how it ended, rather than that it was put off.
        let last = (0..later.len())
            .map(|at| (at, log_odds(&later, at, told.due)))
            .filter(|(_, odds)| *odds >= 0.0)
            .max_by_key(|(at, _)| later[*at].hit.date);
        Ok(last.and_then(|(at, odds)| Some((later.into_iter().nth(at)?, odds))).map(|(it, odds)| SaidLater {
            is_likely_end: odds >= ENDED_MIN && tells_end(&it.hit.passage),
            artifact_id: it.hit.artifact_id,
            date: it.hit.date,
            snippet: it.snippet,
        }))
    }

    /// Adds it to the commitments among events that are given as results.
    pub(super) async fn add_said_later(
        &self,
        ns: &Namespace,
        results: &mut [Recalled],
    ) -> Result<(), EngineError> {
        for result in results.iter_mut().take(LOOKED_UP_MAX).filter(|result| is_open(result)) {
            let Some(event) = result.hit.events.first() else { continue };
            let told = Told {
                narrative: &event.narrative,
                artifact_id: &event.artifact_id,
                date: result.hit.date,
                turn: turn_of(result),
                due: event.due_time,
            };
            result.said_later = self.said_later(ns, &told).await?;
        }
        Ok(())
    }
}

/// How sure it is that one of the texts tells what became of a commitment; above 0 it is more likely than not.
fn log_odds(texts: &[Recalled], at: usize, due: Option<Timestamp>) -> f32 {
    let text = &texts[at];
    let other = texts.get(usize::from(at == 0)).map_or(0.0, |other| other.score);
    let likeness = |place: fn(&Explanation) -> Option<ArmPlace>| {
        text.explanation.as_ref().and_then(place).map_or(0.0, |place| place.score)
    };
    let day = |moment: Timestamp| moment.to_zoned(TimeZone::UTC).date();
    let days = due.map(|due| day(text.hit.date).duration_since(day(due)).as_hours() / 24);
    let is_about_due = days.is_some_and(|days| (-BEFORE_DUE_MAX..=AFTER_DUE_MAX).contains(&days));
    let is_long_after = days.is_some_and(|days| days > LONG_AFTER);
    let length = text.hit.passage.chars().count() as f32 / LONG_CHARS;
    BIAS + LEAD * (text.score - other)
        + VECTOR * likeness(|it| it.vector)
        + LATE_INTERACTION * likeness(|it| it.late)
        + if is_about_due { ABOUT_DUE } else { 0.0 }
        + if is_long_after { LONG_AFTER_DUE } else { 0.0 }
        + LENGTH * length.min(LENGTH_MAX)
}

fn is_open(result: &Recalled) -> bool {
    result.hit.events.first().is_some_and(|event| {
        let state = EndedBy::state_of(event.ended.as_ref(), event.due_time, Timestamp::now());
        event.category == Category::Commitment.as_str()
            && matches!(state, CommitmentState::Open | CommitmentState::Overdue)
    })
}

fn turn_of(result: &Recalled) -> Option<(&str, i32)> {
    result.hit.conversation_id.as_deref().zip(result.hit.turn_index)
}

/// Turns of one conversation may have one date.
fn follows(found: &Recalled, told: &Told<'_>) -> bool {
    let is_later_turn = match (turn_of(found), told.turn) {
        (Some((conversation, turn)), Some((of_promise, before))) => {
            conversation == of_promise && turn > before
        }
        _ => false,
    };
    found.hit.date > told.date || (found.hit.date == told.date && is_later_turn)
}

/// Another text, of the user and not before it, that does not only promise the same once more.
fn may_tell_of(found: &Recalled, told: &Told<'_>) -> bool {
    let promises = |it: &memory_core::event::StoredEvent| {
        it.category == Category::Commitment.as_str() && says_the_same(&it.narrative, told.narrative)
    };
    found.hit.artifact_id.to_string() != told.artifact_id
        && follows(found, told)
        && found.hit.role.as_deref() != Some(Role::Assistant.as_str())
        && !found.hit.events.iter().any(promises)
}
