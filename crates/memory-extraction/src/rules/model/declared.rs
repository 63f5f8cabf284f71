//! The decision of a text that was stored as one, where no clause is likely enough to tell it by itself: "Sessions: httpOnly cookies,
//! 12 hours, no JWT".

use memory_core::artifact::Context;
use memory_core::event::Category;
use memory_core::ports::SourceText;

use super::super::by_form;
use super::super::draft::Draft;
use super::super::parsed_segment::ParsedSegment;
use super::super::people::Roster;
use super::clauses::Candidate;
use super::{Odds, compose_event};

/// A longer text has other clauses beside its decision, and words that tell which it is.
const TEXT_MAX_BYTES: usize = 400;

pub(super) fn is_declared(source: &SourceText) -> bool {
    let bytes: usize = source.segments.iter().map(|segment| segment.text.len()).sum();
    source.context == Context::Decision && bytes <= TEXT_MAX_BYTES
}

/// Adds the likeliest decision if none is told, but where the same words tell what was done or promised.
pub(super) fn add(
    candidates: &[(&ParsedSegment<'_>, Vec<Candidate>)],
    odds: &[Odds],
    roster: &Roster,
    told: &mut Vec<Draft>,
) {
    if told.iter().any(|draft| draft.category == Category::Decision) {
        return;
    }
    let clauses =
        candidates.iter().flat_map(|(parsed, own)| own.iter().map(move |candidate| (*parsed, candidate)));
    let decision = Category::ALL.iter().position(|category| *category == Category::Decision);
    let of_decision = |odds: &Odds| decision.map_or(0.0, |at| odds[at + 1]);
    let may_be = clauses.zip(odds).filter(|((parsed, candidate), _)| !candidate.clause(parsed).is_question());
    let likeliest = may_be.max_by(|(_, a), (_, b)| of_decision(a).total_cmp(&of_decision(b)));
    let Some(((parsed, candidate), _)) = likeliest else { return };
    let draft =
        compose_event::draft(parsed, roster, candidate, Category::Decision, by_form::CONFIDENCE, true);
    let gives_way = |other: &Draft| !matches!(other.category, Category::Commitment | Category::Execution);
    by_form::add(vec![draft], gives_way, told);
}
