//! Outcomes of votes without a content of their own, "Motion carried.", "Approved 3-0": they say that what stands before them was
//! decided. Where that is told already they tell nothing more, else they are told by it.

use std::ops::Range;

use memory_core::event::Category;

use super::draft::Draft;
use super::narrative;
use super::parsed_segment::ParsedSegment;
use super::sentences::sentences;
use super::words::Kind;

/// An outcome is no longer.
const OUTCOME_MAX_TOKENS: usize = 40;
/// What is voted on begins at most so many bytes before.
const MOTION_WITHIN: usize = 600;

const OUTCOMES: [&[&str]; 16] = [
    &["motion", "carried"],
    &["motion", "carries"],
    &["motion", "passed"],
    &["motion", "passes"],
    &["motion", "approved"],
    &["motion", "was", "carried"],
    &["motion", "was", "approved"],
    &["vote", "carried"],
    &["all", "in", "favor"],
    &["all", "in", "favour"],
    &["all", "ayes"],
    &["carried"],
    &["passed"],
    &["approved"],
    &["so", "moved"],
    &["unanimously", "approved"],
];

/// Drops outcomes of what is told as a decision, and tells the others by what was voted on.
pub(super) fn tell(parsed_segments: &[ParsedSegment<'_>], drafts: &mut Vec<Draft>) {
    let place = |draft: &Draft| match draft.evidence.as_slice() {
        [(segment, bytes)] if draft.category == Category::Decision => Some((*segment, bytes.clone())),
        _ => None,
    };
    let is_outcome = |(segment, bytes): &(usize, Range<usize>)| {
        parsed_segments.get(*segment).is_some_and(|parsed| is_bare_outcome(parsed, bytes))
    };
    let mut decided: Vec<(usize, usize)> = drafts
        .iter()
        .filter_map(place)
        .filter(|place| !is_outcome(place))
        .map(|(segment, bytes)| (segment, bytes.end))
        .collect();
    decided.sort_unstable();
    drafts.retain_mut(|draft| {
        let Some((segment, bytes)) = place(draft).filter(is_outcome) else { return true };
        let before = decided.partition_point(|told| *told <= (segment, bytes.start));
        let last = before.checked_sub(1).map(|at| decided[at]);
        let Some(motion) = motion(&parsed_segments[segment], bytes.start) else { return true };
        if last.is_some_and(|(of, end)| of == segment && end > motion.start) {
            return false;
        }
        let words = parsed_segments[segment].text.raw[motion].trim_end_matches(['.', '!', ' ']);
        draft.narrative = narrative::sentence(&format!("Agreed: {words}"));
        true
    });
}

/// "Motion carried 5-0.", "All in favor.": an outcome, names of those who voted and numbers at most.
fn is_bare_outcome(parsed: &ParsedSegment<'_>, bytes: &Range<usize>) -> bool {
    const BESIDE: [&str; 22] = [
        "by",
        "vote",
        "of",
        "yea",
        "nay",
        "yeas",
        "nays",
        "aye",
        "ayes",
        "yes",
        "no",
        "and",
        "abstained",
        "abstention",
        "abstentions",
        "abstaining",
        "unanimously",
        "unanimous",
        "con",
        "nem",
        "against",
        "opposed",
    ];
    let text = &parsed.text;
    let tokens = text.tokens_in(bytes);
    let begins = |outcome: &&&[&str]| {
        outcome
            .iter()
            .enumerate()
            .all(|(n, word)| tokens.start + n < tokens.end && text.word(tokens.start + n) == *word)
    };
    let Some(outcome) = OUTCOMES.iter().filter(begins).max_by_key(|outcome| outcome.len()) else {
        return false;
    };
    tokens.len() <= OUTCOME_MAX_TOKENS
        && (tokens.start + outcome.len()..tokens.end).all(|at| {
            matches!(text.kind(at), Some(Kind::Punctuation | Kind::Number))
                || BESIDE.contains(&text.word(at))
                || parsed.mention(at).is_some()
        })
}

/// The sentence before, in the same block.
fn motion(parsed: &ParsedSegment<'_>, start: usize) -> Option<Range<usize>> {
    let block = parsed.layout.blocks.iter().find(|block| block.bytes.contains(&start))?;
    let from =
        parsed.text.raw.floor_char_boundary(start.saturating_sub(MOTION_WITHIN)).max(block.bytes.start);
    let before = sentences(&parsed.text, &(from..start)).pop()?;
    Some(parsed.text.bytes(&before)).filter(|motion| motion.start < start)
}
