//! What somebody needs from another, who is to give it: "He needs the socket plan from Nell by Friday".

use std::ops::Range;

use memory_core::event::{Actor, ActorRole, Category};

use super::draft::Draft;
use super::parsed_segment::ParsedSegment;

/// Between the verb and who is to give it stand no more words.
const WITHIN_TOKENS: usize = 12;

/// Makes those whom something is needed from the owners of such commitments.
pub(super) fn own(parsed_segments: &[ParsedSegment<'_>], drafts: &mut [Draft]) {
    for draft in drafts.iter_mut().filter(|draft| draft.category == Category::Commitment) {
        let Some((segment, bytes)) = draft.evidence.first() else { continue };
        let Some(parsed) = parsed_segments.get(*segment) else { continue };
        let Some(giver) = giver(parsed, &parsed.text.tokens_in(bytes)) else { continue };
        draft.actors.retain(|actor| actor.role != ActorRole::Owner && actor.entity != giver);
        draft.actors.push(Actor { entity: giver, role: ActorRole::Owner });
    }
}

fn giver(parsed: &ParsedSegment<'_>, tokens: &Range<usize>) -> Option<usize> {
    let text = &parsed.text;
    let need = tokens.clone().find(|at| text.is_any(*at, &["need", "needs", "needed"]))?;
    let parts = |at: &usize| text.is_any(*at, &["from", "to", "and", ",", "."]);
    let from = (need + 1..tokens.end.min(need + WITHIN_TOKENS)).find(parts)?;
    let giver = parsed.person(from + 1).filter(|_| text.word(from) == "from" && from + 1 < tokens.end)?;
    (from > need + 1).then_some(giver.entity)
}
