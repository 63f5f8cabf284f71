//! Requests that are told of and were refused: "Asked Fiona to order it. She said no.", "I asked Gareth to move his van, but he won't."

use std::ops::Range;

use memory_core::event::Category;

use super::draft::Draft;
use super::gender::Gender;
use super::parsed_segment::{Mention, ParsedSegment};
use super::words::Text;

/// The refusal stands within so many tokens behind the request.
const BEHIND_TOKENS: usize = 12;
/// A request is no longer.
const REQUEST_TOKENS: usize = 60;

/// Drops what somebody was asked to do and refused.
pub(super) fn drop_refused(parsed_segments: &[ParsedSegment<'_>], drafts: &mut Vec<Draft>) {
    drafts.retain(|draft| {
        let [(segment, bytes)] = draft.evidence.as_slice() else { return true };
        let Some(parsed) = parsed_segments.get(*segment) else { return true };
        draft.category != Category::Commitment || !is_refused(parsed, bytes)
    });
}

fn is_refused(parsed: &ParsedSegment<'_>, bytes: &Range<usize>) -> bool {
    let text = &parsed.text;
    let tokens = text.tokens_in(bytes);
    let head = tokens.start..tokens.end.min(tokens.start + REQUEST_TOKENS);
    let asks = |at: usize| {
        text.is_any(at, &["asked", "told", "wanted", "begged", "reminded", "urged"])
            && (at + 1..tokens.end.min(at + 6)).any(|to| text.word(to) == "to")
    };
    let Some(asked) = head.clone().find(|at| asks(*at)) else { return false };
    // What follows in the sentence, or in the next of the paragraph.
    let behind = tokens.end..text.tokens.len().min(tokens.end + BEHIND_TOKENS);
    let gap = |at: usize| &text.raw[text.tokens[at - 1].end..text.tokens[at].start];
    let is_near = |at: &usize| *at > 0 && !gap(*at).contains("\n\n");
    let behind =
        behind.start..behind.clone().take_while(is_near).last().map_or(behind.start, |last| last + 1);
    let within = (asked + 3..head.end).find(|at| text.is_any(*at, &["but", "though", "although", "."]));
    let whom = parsed.person(asked + 1);
    within.is_some_and(|from| refuses(parsed, from..head.end, whom)) || refuses(parsed, behind, whom)
}

/// "but he won't", "She said no.", "he refused": the first verb behind who was asked.
fn refuses(parsed: &ParsedSegment<'_>, tokens: Range<usize>, whom: Option<&Mention>) -> bool {
    let text = &parsed.text;
    let joins = |at: usize| {
        !text.is_word(at) || text.is_any(at, &["but", "though", "although", "and", "however", "so"])
    };
    let Some(head) = tokens.clone().find(|at| !joins(*at)) else { return false };
    let verb = match parsed.person(head) {
        Some(mention) if whom.is_some_and(|whom| whom.entity != mention.entity) => return false,
        Some(mention) => mention.tokens.end,
        // "She can't park there" is not said of him.
        None if is_another(text.word(head), whom) => return false,
        None if text.is_any(head, &["he", "she", "they"]) => head + 1,
        None => head,
    };
    tokens.contains(&verb) && says_no(text, verb)
}

fn is_another(word: &str, whom: Option<&Mention>) -> bool {
    let gender = Gender::of_pronoun(word);
    word == "i"
        || gender.is_some_and(|gender| whom.and_then(|whom| whom.gender).is_some_and(|known| known != gender))
}

fn says_no(text: &Text<'_>, at: usize) -> bool {
    let denies = |at: usize| text.is_any(at, &["n't", "not"]);
    match text.word(at) {
        "refused" | "refuses" | "declined" | "declines" | "cannot" => true,
        "has" | "have" => {
            text.is_any(at + 1, &["refused", "declined"])
                || (denies(at + 1) && text.is_any(at + 2, &["answered", "replied"]))
        }
        "wo" | "will" | "ca" | "can" | "could" | "would" => denies(at + 1),
        "did" | "does" | "do" => denies(at + 1) && text.is_any(at + 2, &["want", "agree", "like", "have"]),
        "said" | "says" | "answered" | "replied" => {
            text.is_any(at + 1, &["no", "nope"])
                || (text.is_any(at + 1, &["he", "she", "they", "i"])
                    && text.is_any(at + 2, &["ca", "could", "wo", "would", "cannot"])
                    && (denies(at + 3) || text.word(at + 2) == "cannot"))
        }
        "turned" => text.is_any(at + 1, &["it", "me", "us"]) && text.word(at + 2) == "down",
        _ => false,
    }
}
