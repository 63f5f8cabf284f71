//! Events that the form of a text tells, such as an open box or the subject of a commit.

use std::ops::Range;

use jiff::Timestamp;
use memory_core::event::{Actor, ActorRole, Category};

use super::draft::{self, Draft};
use super::draft_index::DraftIndex;
use super::event_context::EventContext;
use super::narrative;

pub(super) const CONFIDENCE: f32 = 0.6;

/// The event of a range of tokens, which its speaker owns.
pub(super) fn draft(
    context: &EventContext<'_, '_>,
    category: Category,
    tokens: &Range<usize>,
    speaker: Option<usize>,
    due_time: Option<Timestamp>,
) -> Draft {
    let parsed = context.parsed;
    let bytes = parsed.text.bytes(tokens);
    let actors: Vec<Actor> =
        speaker.into_iter().map(|entity| Actor { entity, role: ActorRole::Owner }).collect();
    Draft {
        category,
        confidence: CONFIDENCE,
        narrative: narrative::sentence(&context.told(tokens, speaker, None)),
        event_time: parsed.dates_at(bytes.start).reference,
        due_time,
        subject: draft::about(parsed, tokens, &actors),
        actors,
        evidence: vec![(parsed.segment, bytes)],
    }
}

/// Adds the events that were found by form, but where their words tell an event already that does not give way.
pub(super) fn add(found: Vec<Draft>, gives_way: impl Fn(&Draft) -> bool, drafts: &mut Vec<Draft>) {
    let index = DraftIndex::of(drafts);
    let mut replaced = vec![false; drafts.len()];
    let mut added = Vec::new();
    for draft in found {
        let (segment, bytes) = &draft.evidence[0];
        let (giving_way, others): (Vec<usize>, Vec<usize>) =
            index.meeting(*segment, bytes).into_iter().partition(|at| gives_way(&drafts[*at]));
        for at in giving_way {
            replaced[at] = true;
        }
        if others.is_empty() {
            added.push(draft);
        }
    }
    let mut replaced = replaced.into_iter();
    drafts.retain(|_| replaced.next() != Some(true));
    drafts.extend(added);
}
