//! Outcomes of votes without a content of their own, "Motion carried.", "Approved 3-0": they say that the motion before them was
//! decided. Where that is told already they tell nothing more, else they are told by it.

use std::ops::Range;

use memory_core::event::Category;

use super::by_form;
use super::draft::Draft;
use super::draft_index::DraftIndex;
use super::narrative;
use super::parsed_segment::ParsedSegment;
use super::sentences::sentences;
use super::words::{Kind, Text};

/// An outcome is no longer.
const OUTCOME_MAX_TOKENS: usize = 40;
/// So many bytes before and behind an outcome are read.
const READ_WITHIN: usize = 1_000;
/// Between a motion and its outcome stand at most so many sentences.
const SENTENCES_BETWEEN: usize = 3;
/// And so many blocks: the outcome is an item of a list below the motion, the count another.
const BLOCKS_BETWEEN: usize = 2;

/// And what follows a motion up to its outcome.
const LOST_WITHIN: usize = 60;

const OUTCOMES: [&[&str]; 19] = [
    &["motion", "carried"],
    &["motion", "carries"],
    &["motion", "passed"],
    &["motion", "passes"],
    &["motion", "approved"],
    &["motion", "was", "carried"],
    &["motion", "was", "approved"],
    &["motion", "was", "passed"],
    &["vote", "passed"],
    &["vote", "passes"],
    &["vote", "carried"],
    &["resolution", "passed"],
    &["all", "in", "favor"],
    &["all", "in", "favour"],
    &["all", "ayes"],
    &["carried"],
    &["passed"],
    &["approved"],
    &["unanimously", "approved"],
];
/// How motions end that are not carried.
const LOST: [&str; 13] = [
    "defeated",
    "denied",
    "failed",
    "fails",
    "lost",
    "postponed",
    "rejected",
    "tabled",
    "voted down",
    "withdrawn",
    "not carried",
    "not agreed",
    "not approved",
];
/// What may stand before that.
const MOTION: [&str; 8] = ["the", "motion", "vote", "resolution", "amendment", "was", "were", "is"];
const VOTING: [&str; 21] = [
    "vote",
    "yea",
    "nay",
    "yeas",
    "nays",
    "aye",
    "ayes",
    "yes",
    "no",
    "abstained",
    "abstention",
    "abstentions",
    "abstaining",
    "unanimously",
    "unanimous",
    "against",
    "opposed",
    "objection",
    "objections",
    "dissent",
    "dissenting",
];

/// Drops motions that were lost and outcomes of what is told as a decision, and tells the other outcomes by the motion.
pub(super) fn tell(parsed_segments: &[ParsedSegment<'_>], drafts: &mut Vec<Draft>) {
    let place = |draft: &Draft| match draft.evidence.as_slice() {
        [(segment, bytes)] if draft.category == Category::Decision => Some((*segment, bytes.clone())),
        _ => None,
    };
    let is_outcome = |(segment, bytes): &(usize, Range<usize>)| {
        parsed_segments
            .get(*segment)
            .is_some_and(|parsed| is_bare_outcome(parsed, &parsed.text.tokens_in(bytes)))
    };
    drafts.retain(|draft| {
        let lost = |(segment, bytes): (usize, Range<usize>)| {
            parsed_segments.get(segment).is_some_and(|parsed| is_lost(parsed, &bytes))
        };
        !place(draft).is_some_and(lost)
    });
    let mut decided: Vec<(usize, usize)> = drafts
        .iter()
        .filter_map(place)
        .filter(|place| !is_outcome(place))
        .map(|(segment, bytes)| (segment, bytes.end))
        .collect();
    decided.sort_unstable();
    drafts.retain_mut(|draft| {
        let Some((segment, bytes)) = place(draft).filter(is_outcome) else { return true };
        let parsed = &parsed_segments[segment];
        let Some(motion) = motion(parsed, &bytes) else { return true };
        let before = decided.partition_point(|told| *told <= (segment, bytes.start));
        let last = before.checked_sub(1).map(|at| decided[at]);
        if last.is_some_and(|(of, end)| of == segment && end > motion.start) {
            return false;
        }
        let words = parsed.text.raw[motion.clone()].trim_end_matches(['.', '!', ' ']);
        draft.narrative = narrative::sentence(&format!("Agreed: {words}"));
        draft.evidence.push((segment, motion));
        true
    });
}

/// Adds that motions were not carried, "Motion fails.", in place of what else is told of them.
pub(super) fn add_lost(parsed_segments: &[ParsedSegment<'_>], drafts: &mut Vec<Draft>) {
    let mut found = Vec::new();
    for parsed in parsed_segments.iter().filter(|parsed| !parsed.context_only) {
        for block in &parsed.layout.blocks {
            let outcomes = sentences(&parsed.text, &block.bytes).into_iter();
            for outcome in outcomes.filter(|sentence| says_lost(&parsed.text, sentence)) {
                let bytes = parsed.text.bytes(&outcome);
                let Some(motion) = motion(parsed, &bytes) else { continue };
                let words = parsed.text.raw[motion.clone()].trim_end_matches(['.', '!', ' ']);
                found.push(Draft {
                    category: Category::Decision,
                    confidence: by_form::CONFIDENCE,
                    narrative: narrative::sentence(&format!("Not carried: {words}")),
                    event_time: parsed.dates_at(bytes.start).reference,
                    due_time: None,
                    subject: None,
                    actors: Vec::new(),
                    evidence: vec![(parsed.segment, bytes), (parsed.segment, motion)],
                });
            }
        }
    }
    if found.is_empty() {
        return;
    }
    let index = DraftIndex::of(drafts);
    let mut is_of_motion = vec![false; drafts.len()];
    for (segment, bytes) in found.iter().flat_map(|draft| &draft.evidence) {
        for at in index.meeting(*segment, bytes) {
            is_of_motion[at] = true;
        }
    }
    let mut is_of_motion = is_of_motion.into_iter();
    drafts.retain(|_| is_of_motion.next() != Some(true));
    drafts.extend(found);
}

/// "Motion fails.", "The resolution was defeated 2 to 3." as a sentence.
fn says_lost(text: &Text<'_>, sentence: &Range<usize>) -> bool {
    let the = sentence.start + usize::from(text.word(sentence.start) == "the");
    let verb = the + 1 + usize::from(text.is_any(the + 1, &["is", "was", "has"]));
    sentence.len() <= OUTCOME_MAX_TOKENS
        && verb < sentence.end
        && text.is_any(the, &["motion", "resolution", "proposal", "vote"])
        && (LOST.contains(&text.word(verb))
            || LOST.contains(&format!("{} {}", text.word(verb), text.word(verb + 1)).as_str()))
        && !text.is_any(verb, &["postponed", "tabled"])
}

/// "For: Ann, Bo.", "2 against": who voted how.
fn is_tally(text: &Text<'_>, sentence: &Range<usize>) -> bool {
    let is_side = |at: usize| text.is_any(at, &["for", "in"]) || VOTING.contains(&text.word(at));
    let first = sentence.start;
    let is_count = text.kind(first) == Some(Kind::Number) && is_side(first + 1);
    is_count || (is_side(first) && (first..sentence.end.min(first + 3)).any(|at| text.word(at) == ":"))
}

/// Whether behind a motion, and who voted how, stands in the same paragraph that it was not carried.
fn is_lost_behind(parsed: &ParsedSegment<'_>, motion: &Range<usize>) -> bool {
    let text = &parsed.text;
    let raw = text.raw;
    let end = raw.ceil_char_boundary((motion.end + READ_WITHIN).min(raw.len()));
    let paragraph = raw[motion.end..end].split("\n\n").next().unwrap_or_default();
    let behind = sentences(text, &(motion.end..motion.end + paragraph.len())).into_iter();
    let mut told = behind.filter(|sentence| sentence.len() > 1 && !is_tally(text, sentence));
    told.next().is_some_and(|outcome| says_lost(text, &outcome))
}

/// "Moved by Ann that the hall be sold. MOTION DEFEATED.", "… – LOST 2-3": a motion, and right behind it that it was not carried.
fn is_lost(parsed: &ParsedSegment<'_>, bytes: &Range<usize>) -> bool {
    let raw = parsed.text.raw;
    if !is_motion(&parsed.text, &parsed.text.tokens_in(bytes)) {
        return false;
    }
    let end = raw.ceil_char_boundary((bytes.end + LOST_WITHIN).min(raw.len()));
    let begins = raw.floor_char_boundary(bytes.end.saturating_sub(LOST_WITHIN).max(bytes.start));
    // It may be the end of the sentence itself, behind a dash or in capitals.
    let own = raw[begins..bytes.end].trim_end_matches(|c: char| !c.is_alphabetic());
    let is_loud = own.rsplit(' ').next().is_some_and(|word| {
        word.len() > 3 && word.chars().all(char::is_uppercase) && LOST.contains(&word.to_lowercase().as_str())
    });
    let paragraph = raw[bytes.end..end].split("\n\n").next().unwrap_or_default();
    let behind = paragraph.trim_start_matches(|c: char| !c.is_alphanumeric());
    let mut rest = behind.to_lowercase();
    while let Some(word) = MOTION.iter().find(|word| rest.starts_with(&format!("{word} "))) {
        rest.drain(..=word.len());
    }
    let ends = |lost: &str| {
        let after =
            rest.strip_prefix(lost).map(|after| after.trim_start_matches([' ', ':', ',', '(', '-', '–']));
        after.is_some_and(|after| {
            after.is_empty() || !after.starts_with(char::is_alphabetic) || after.starts_with("by ")
        })
    };
    is_loud || LOST.iter().any(|lost| ends(lost)) || is_lost_behind(parsed, bytes)
}

/// "Motion carried 5-0.", "All in favor.": an outcome, the count and those who voted at most. "Approved Redis" is none.
fn is_bare_outcome(parsed: &ParsedSegment<'_>, tokens: &Range<usize>) -> bool {
    const BESIDE: [&str; 10] = ["by", "of", "and", "con", "nem", "the", "with", "without", "any", "in"];
    const LABELS: [&str; 5] = ["resolution", "result", "outcome", "decision", "vote"];
    let text = &parsed.text;
    let labels = tokens.clone().take_while(|at| text.is_any(*at, &LABELS) && text.word(at + 1) == ":");
    let start = tokens.start + 2 * labels.count();
    let start = start + usize::from(text.word(start) == "the");
    let begins = |outcome: &&&[&str]| {
        let mut words = outcome.iter().enumerate();
        words.all(|(n, word)| start + n < tokens.end && text.word(start + n) == *word)
    };
    let Some(outcome) = OUTCOMES.iter().filter(begins).max_by_key(|outcome| outcome.len()) else {
        return false;
    };
    let rest = start + outcome.len()..tokens.end;
    let votes = rest.clone().any(|at| VOTING.contains(&text.word(at)));
    let is_mark = |at: usize| text.kind(at) == Some(Kind::Punctuation);
    // "5-0", "5 – 0": a sum of money is no count.
    let is_count = |at: usize| {
        let beside = |near: usize| matches!(text.word(near), "-" | "–" | "—" | "/" | "to");
        text.kind(at) == Some(Kind::Number)
            && (votes || text.word(at).contains(['-', '–']) || beside(at + 1) || (at > 0 && beside(at - 1)))
    };
    tokens.len() <= OUTCOME_MAX_TOKENS
        && rest.clone().all(|at| {
            is_mark(at)
                || is_count(at)
                || VOTING.contains(&text.word(at))
                || BESIDE.contains(&text.word(at))
                || text.word(at) == "to"
                || (votes && parsed.person(at).is_some())
        })
}

/// The motion before an outcome, in the same block or one right above; none where the outcome is taken back.
fn motion(parsed: &ParsedSegment<'_>, outcome: &Range<usize>) -> Option<Range<usize>> {
    let text = &parsed.text;
    let blocks = &parsed.layout.blocks;
    let own = blocks.partition_point(|block| block.bytes.end <= outcome.start);
    let block = blocks.get(own)?;
    let is_next = |at: &usize| is_next(&text.raw[blocks[*at].bytes.end..blocks[at + 1].bytes.start]);
    let above = (own.saturating_sub(BLOCKS_BETWEEN)..own).rev().take_while(is_next).count();
    let begin = blocks[own - above].bytes.start;
    let from = text.raw.floor_char_boundary(outcome.start.saturating_sub(READ_WITHIN));
    let to = text.raw.ceil_char_boundary((outcome.end + READ_WITHIN).min(text.raw.len()));
    let is_cut = from > begin;
    let around = sentences(text, &(from.max(begin)..to.min(block.bytes.end)));
    let behind = around.iter().find(|sentence| text.bytes(sentence).start >= outcome.end);
    let fails = |at: usize| text.is_any(at, &["fails", "failed", "lost", "defeated", "denied", "rejected"]);
    if behind.is_some_and(|sentence| sentence.clone().any(fails)) {
        return None;
    }
    // The first sentence of what is cut is not whole.
    let whole = around.get(usize::from(is_cut)..).unwrap_or_default();
    let motion = whole
        .iter()
        .rev()
        .filter(|sentence| text.bytes(sentence).end <= outcome.start && !is_tally(text, sentence))
        .take(SENTENCES_BETWEEN)
        .take_while(|sentence| !(*sentence).clone().any(fails))
        .find(|sentence| !is_bare_outcome(parsed, sentence) && is_motion(text, sentence))?;
    Some(text.bytes(motion))
}

/// Whether no heading stands between two blocks: no line of its own.
fn is_next(between: &str) -> bool {
    let lines: Vec<&str> = between.split('\n').collect();
    lines.len() < 3 || lines[1..lines.len() - 1].iter().all(|line| line.trim().is_empty())
}

/// "Motion by Ann to buy it", "Ann moved that it be bought", "Resolved: …".
fn is_motion(text: &Text<'_>, sentence: &Range<usize>) -> bool {
    let amends = sentence.clone().any(|at| text.is_any(at, &["amend", "amendment", "amended", "?"]));
    !amends
        && sentence.clone().any(|at| {
            text.is_any(at, &["motion", "moved", "moves", "resolved", "resolution"])
                || (text.word(at) == "vote" && text.is_any(at + 1, &["on", "to"]))
        })
}
