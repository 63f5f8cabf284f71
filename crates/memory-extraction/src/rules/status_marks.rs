//! Marks of a line that say how a task ended, "[x] …", "… – done", "… (cancelled)", "~~…~~": a task that is done is told as done, and
//! one that was called off is no promise any more.

use std::ops::Range;

use memory_core::event::Category;
use memory_language::calendar_words::calendar_word;

use super::draft::Draft;
use super::lines::bullet;
use super::narrative;
use super::parsed_segment::ParsedSegment;
use super::told_otherwise::{is_ahead, is_no_deed, is_of_a_log, is_refusal};

/// A line that is longer is a paragraph.
const LINE_MAX_BYTES: usize = 400;
/// Behind the mark stands a day at most.
const DAY_WORDS: usize = 4;

/// What the narrative of an item without a verb of its own says.
const COMMITTED: &str = " committed to ";

const DONE: [&str; 5] = ["done", "complete", "completed", "finished", "closed"];
const CALLED_OFF: [&str; 7] =
    ["cancelled", "canceled", "dropped", "withdrawn", "obsolete", "superseded", "abandoned"];
/// The same in several words, behind anything.
const NOT_NEEDED: [&str; 6] = [
    "no longer needed",
    "no longer required",
    "no longer necessary",
    "not needed any more",
    "not done, dropped",
    "will not be done",
];
pub(super) const TICKS: [char; 4] = ['✅', '✔', '✓', '☑'];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Done,
    CalledOff,
}

/// Tells promises as done where their line ends so, and drops those that were called off.
pub(super) fn apply(parsed_segments: &[ParsedSegment<'_>], drafts: &mut Vec<Draft>) {
    let line_of = |draft: &Draft| {
        let (segment, bytes) = draft.evidence.first()?;
        let raw = parsed_segments.get(*segment)?.text.raw;
        let floor = raw.floor_char_boundary(bytes.start.saturating_sub(LINE_MAX_BYTES));
        let top = raw.ceil_char_boundary((bytes.start + LINE_MAX_BYTES).min(raw.len()));
        let start = raw[floor..bytes.start].rfind('\n').map(|at| floor + at + 1);
        let end = raw[bytes.start..top].find('\n').map(|at| bytes.start + at);
        let start = start.or((floor == 0).then_some(0))?;
        let end = end.or((top == raw.len()).then_some(top))?;
        Some((*segment, start..end))
    };
    let mut promises: Vec<(usize, usize)> = drafts
        .iter()
        .filter(|draft| draft.category == Category::Commitment)
        .map(|draft| (draft.evidence[0].0, draft.evidence[0].1.start))
        .collect();
    promises.sort_unstable();
    drafts.retain_mut(|draft| {
        let Some((segment, line)) = line_of(draft) else { return true };
        let (_, bytes) = &draft.evidence[0];
        let raw = parsed_segments[segment].text.raw;
        let first_from = |byte: usize| promises.get(promises.partition_point(|one| *one < (segment, byte)));
        let is_of_line = |one: Option<&(usize, usize)>| one.is_some_and(|one| *one < (segment, line.end));
        match draft.category {
            Category::Execution if is_no_deed(&raw[bytes.clone()]) => false,
            // "Una to call BT. Done.": the last word is no deed of its own.
            Category::Execution => {
                let is_called_off = mark(raw, &line, bytes) == Some(Mark::CalledOff);
                let is_told = || is_only_done(&raw[bytes.clone()]) && is_of_line(first_from(line.start));
                !(is_called_off || is_told())
            }
            Category::Commitment if is_refusal(&raw[bytes.clone()]) => {
                draft.category = Category::Decision;
                draft.due_time = None;
                true
            }
            Category::Commitment => {
                // The mark is of the last promise of its line.
                let is_last = !is_of_line(first_from(bytes.start + 1));
                let ends = is_last.then(|| mark(raw, &line, bytes)).flatten();
                let is_ticked =
                    || bullet(&raw[line.clone()]).is_some_and(|bullet| bullet.checked == Some(true));
                // "docs: write the guide" says what a commit does.
                let commits = &parsed_segments[segment].layout.commits;
                let is_commit = commits.first().is_some_and(|first| first.start < bytes.start)
                    && !is_ahead(&raw[bytes.clone()]);
                let is_over =
                    || (is_commit || is_of_a_log(&raw[line.clone()]) || is_ticked()).then_some(Mark::Done);
                match ends.or_else(is_over) {
                    Some(Mark::Done) => {
                        draft.category = Category::Execution;
                        draft.due_time = None;
                        // "Lil committed to order the bulbs" is what it was.
                        if draft.narrative.contains(COMMITTED) {
                            draft.narrative = narrative::sentence(&raw[bytes.clone()]);
                        }
                        true
                    }
                    Some(Mark::CalledOff) => false,
                    None => true,
                }
            }
            _ => true,
        }
    });
}

fn mark(raw: &str, line: &Range<usize>, promise: &Range<usize>) -> Option<Mark> {
    let marks: Vec<usize> = raw[line.clone()].match_indices("~~").map(|(at, _)| line.start + at).collect();
    let middle = promise.start + promise.len() / 2;
    if marks.chunks_exact(2).any(|pair| pair[0] < middle && middle < pair[1]) {
        return Some(Mark::CalledOff);
    }
    of_end(&raw[line.clone()])
}

/// What the end of a line says: the word behind a dash, a bracket, a colon or a full stop, in capitals behind anything; a day may
/// follow.
fn of_end(line: &str) -> Option<Mark> {
    let is_edge = |c: char| !c.is_alphanumeric();
    let line = line.trim_end();
    if line.trim_end_matches(['|', ' ', '.']).ends_with(TICKS) {
        return Some(Mark::Done);
    }
    let lower = line.trim_end_matches(is_edge).to_lowercase();
    if NOT_NEEDED.iter().any(|end| lower.ends_with(end)) {
        return Some(Mark::CalledOff);
    }
    let mut rest = line;
    for _ in 0..=DAY_WORDS {
        rest = rest.trim_end_matches(is_edge);
        let begin =
            rest.rfind(is_edge).map_or(0, |at| at + rest[at..].chars().next().map_or(1, char::len_utf8));
        let word = &rest[begin..];
        let lower = word.to_lowercase();
        let mark = if DONE.contains(&lower.as_str()) {
            Some(Mark::Done)
        } else if CALLED_OFF.contains(&lower.as_str()) {
            Some(Mark::CalledOff)
        } else {
            None
        };
        if let Some(mark) = mark {
            let lead = rest[..begin].trim_end();
            let is_apart = lead.ends_with(['-', '–', '—', ':', '(', '[', '|', '.', '*', '→', '>', ';']);
            // "(Lena, done 21 January)".
            let is_apart = is_apart || (lead.ends_with(',') && line.ends_with(')'));
            let is_loud = word.chars().all(char::is_uppercase);
            return (begin > 0 && (is_apart || is_loud)).then_some(mark);
        }
        let is_day = word.bytes().all(|byte| byte.is_ascii_digit())
            || calendar_word(&lower).is_some()
            || matches!(lower.as_str(), "on" | "th" | "st" | "nd" | "rd");
        if word.is_empty() || !is_day {
            return None;
        }
        rest = &rest[..begin];
    }
    None
}

fn is_only_done(quote: &str) -> bool {
    let bare = quote.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    DONE.contains(&bare.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_line_says_how_a_task_ended() {
        for line in [
            "1. Ann – circulate the risk register – done",
            "- Ann to call the vet (done)",
            "- Ann to mow the lawn ✔",
            "- Lower the alert threshold to 5% (Lena, done 21 January)",
            "- Lower the alert threshold (Lena, done)",
            "- Ann – order the bulbs – DONE 12/11",
            "Action: Ann to write to the mayor - completed 3 Nov.",
            "Ann to order flags. DONE",
            "- Ann: archive old flags -> done",
            "| Call BT | Ann | done |",
        ] {
            assert_eq!(of_end(line), Some(Mark::Done), "{line}");
        }
        for line in [
            "- Ann to call the vet: cancelled",
            "| Call BT | Ann | cancelled |",
            "- Ann to book the bus: no longer needed",
            "- Ann: book a training -> not done, dropped",
            "- Ann to call the bank – superseded",
            "- Lower the alert threshold (Omar, dropped)",
        ] {
            assert_eq!(of_end(line), Some(Mark::CalledOff), "{line}");
        }
        for line in [
            "- Ann to get it done",
            "- Ann to have it done by Friday",
            "Ann will send it - done by Friday",
            "- find out who is done",
            "Ann to see that the sale is completed on 3 Nov.",
        ] {
            assert_eq!(of_end(line), None, "{line}");
        }
    }
}
