//! Owners: whose an item is, by the forms in which lists say it.

use std::ops::Range;

use super::parsed_segment::ParsedSegment;
use super::verbs;
use super::words::Kind;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Owned {
    pub(super) people: Vec<usize>,
    /// What is to be done, without the owner; may be empty.
    pub(super) task: Range<usize>,
}

/// The owners of an item and the rest of it: "Alice: …", "@bob to …", "[Kim] …", "Bob – …", "… (owner: Dana)", "… – Kim".
pub(super) fn owned(parsed: &ParsedSegment<'_>, tokens: &Range<usize>, speaker: Option<usize>) -> Owned {
    own(parsed, tokens, speaker)
        .or_else(|| leading(parsed, tokens))
        .or_else(|| trailing(parsed, tokens))
        .unwrap_or(Owned { people: Vec::new(), task: tokens.clone() })
}

/// "me: ring the school", "Me - quotes".
fn own(parsed: &ParsedSegment<'_>, tokens: &Range<usize>, speaker: Option<usize>) -> Option<Owned> {
    let text = &parsed.text;
    let at = tokens.clone().find(|at| !is_open(text.word(*at)))?;
    let marked = matches!(text.word(at + 1), ":" | "-" | "–" | "—" | "→");
    (text.word(at) == "me" && marked)
        .then(|| Owned { people: speaker.into_iter().collect(), task: (at + 2).min(tokens.end)..tokens.end })
}

fn is_open(word: &str) -> bool {
    matches!(word, "*" | "_" | "[" | "(" | "\"" | "`")
}

fn leading(parsed: &ParsedSegment<'_>, tokens: &Range<usize>) -> Option<Owned> {
    let text = &parsed.text;
    let mut at = tokens.clone().find(|at| !is_open(text.word(*at)))?;
    let mut people = Vec::new();
    while let Some(mention) = parsed.person(at).filter(|_| at < tokens.end) {
        people.push(mention.entity);
        at = mention.tokens.end;
        let more = matches!(text.word(at), "and" | "&" | "," | "/" | "+");
        if more && parsed.person(at + 1).is_some() {
            at += 1;
        } else {
            break;
        }
    }
    if people.is_empty() {
        return None;
    }
    // "Bob (QA): …"
    if text.word(at) == "(" {
        at = (at..tokens.end.min(at + 8)).find(|end| text.word(*end) == ")")? + 1;
    }
    while at < tokens.end && matches!(text.word(at), "*" | "_" | "]" | ")" | "`" | "\"") {
        at += 1;
    }
    if at >= tokens.end {
        return Some(Owned { people, task: at.min(tokens.end)..tokens.end });
    }
    let handle = text.kind(tokens.start) == Some(Kind::Handle);
    let closed = text.word(at - 1) == "]";
    at = match text.word(at) {
        ":" | "–" | "—" | "→" | ">" | "to" | "will" | "'ll" | "shall" => at + 1,
        "-" => at + if text.word(at + 1) == ">" { 2 } else { 1 },
        "is" if text.word(at + 1) == "going" && text.word(at + 2) == "to" => at + 3,
        _ if handle || closed => at,
        // "Ebba finishes …", "Lucía presents …".
        word if verbs::of(word).is_some_and(|verb| verb.third && !verb.past) => at,
        _ => return None,
    };
    while at < tokens.end && matches!(text.word(at), "*" | "_" | "to" | "will") {
        at += 1;
    }
    Some(Owned { people, task: at.min(tokens.end)..tokens.end })
}

fn trailing(parsed: &ParsedSegment<'_>, tokens: &Range<usize>) -> Option<Owned> {
    let text = &parsed.text;
    let mentions = parsed.mentions_in(tokens);
    for mention in mentions.iter().filter(|mention| parsed.person(mention.tokens.start).is_some()) {
        let before = mention.tokens.start.checked_sub(1).filter(|before| *before > tokens.start)?;
        let after = text.word(mention.tokens.end);
        let closes = mention.tokens.end >= tokens.end
            || matches!(
                after,
                ")" | "]" | "," | "." | "–" | "—" | ";" | "/" | "&" | "by" | "due" | "-" | "and" | "*" | "|"
            );
        let word = text.word(before);
        let earlier = text.word(before.saturating_sub(1));
        let label = |word: &str| {
            matches!(
                word,
                "owner" | "owners" | "assignee" | "dri" | "lead" | "responsible" | "assigned" | "owned"
            )
        };
        let named = label(word) || (matches!(word, ":" | "to" | "by") && label(earlier));
        let spaced = !text.touches_next(before);
        let marked = matches!(word, "(" | "[" | "–" | "—" | "→" | ">") || (word == "-" && spaced);
        let handle =
            text.kind(mention.tokens.start) == Some(Kind::Handle) && mention.tokens.end >= tokens.end;
        if !(named || handle || (marked && closes)) {
            continue;
        }
        let mut people = vec![mention.entity];
        for other in mentions.iter().filter(|other| other.tokens.start == mention.tokens.end + 1) {
            if matches!(after, "/" | "&" | "," | "and") && parsed.person(other.tokens.start).is_some() {
                people.push(other.entity);
            }
        }
        let cut = match () {
            () if label(word) => before,
            () if named => before - 1,
            () if marked => before,
            () => mention.tokens.start,
        };
        let cut =
            if matches!(text.word(cut.saturating_sub(1)), "(" | "[" | "–" | "—") { cut - 1 } else { cut };
        // In brackets the owner is named beside the task; after a dash all that follows is about it.
        return Some(Owned { people, task: tokens.start..cut.max(tokens.start) });
    }
    None
}
