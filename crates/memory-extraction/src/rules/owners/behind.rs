//! Owners who are named behind what is to be done: "… (owner: Dana)", "… – Kim", "… [YK]".

use std::ops::Range;

use memory_language::calendar_words::calendar_word;

use super::super::parsed_segment::{Mention, ParsedSegment};
use super::super::words::Kind;
use super::{Owned, TOGETHER_MAX};

/// "passports renewed, Imran, Thurs": what stands behind the owner.
fn is_day(word: &str) -> bool {
    calendar_word(word).is_some() || word.starts_with(|c: char| c.is_ascii_digit()) || word == "by"
}

pub(super) fn trailing(parsed: &ParsedSegment<'_>, tokens: &Range<usize>) -> Option<Owned> {
    let text = &parsed.text;
    for mention in parsed.mentions_in(tokens).iter().filter(|mention| mention.can_act()) {
        // "— **Marek**, by Friday".
        let is_emphasis = |at: &usize| matches!(text.word(*at), "*" | "_");
        let start = (tokens.start..mention.tokens.start).rev().find(|at| !is_emphasis(at));
        let Some(before) = start.filter(|before| *before > tokens.start) else { continue };
        let (people, end) = together(parsed, mention, tokens.end);
        let after = text.word(end);
        let closes = end >= tokens.end
            || matches!(
                after,
                ")" | "]" | "," | "." | "–" | "—" | ";" | "by" | "due" | "-" | "*" | "|" | "until"
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
        let ends = end >= tokens.end || (end + 1 == tokens.end && after == ".");
        let dated = matches!(after, "," | "–" | "—" | "by" | "due" | "until") || is_day(after);
        let marked = matches!(word, "(" | "[" | "–" | "—" | "→" | ">")
            || (word == "-" && spaced)
            || (word == ":" && (ends || dated))
            || (word == "," && (ends || (after == "," && is_day(text.word(end + 1)))))
            // "Drill back to Mr Reed!! Bilal": a sentence of nothing but the name.
            || (matches!(word, "!" | "." | "?") && ends && spaced);
        let handle = text.kind(mention.tokens.start) == Some(Kind::Handle) && end >= tokens.end;
        // A body is named after a task by a label, a colon or a dash; in brackets it may be any.
        let fits = mention.is_person() || named || matches!(word, ":" | "–" | "—" | "→" | ">");
        if !fits || !(named || handle || (marked && closes)) {
            continue;
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

/// Who is named behind the sentence of a task, before the line ends: "Order the tiles. [YK]", "… Action: Marco", "… Owner: Kim".
pub(in super::super) fn behind(
    parsed: &ParsedSegment<'_>,
    sentence: &Range<usize>,
    block: &Range<usize>,
) -> Vec<usize> {
    const LABELS: [&str; 9] =
        ["action", "actions", "owner", "by", "lead", "assigned", "assignee", "responsible", "to"];
    let text = &parsed.text;
    let end = text.tokens_in(block).end;
    let mark = |at: usize| text.is_any(at, &[".", ":", "(", "[", "*", "_", "–", "—", "-", "→", ">"]);
    let mut at = sentence.end;
    let floor = at;
    let mut marked = false;
    while at < end && at < floor + 5 && (mark(at) || LABELS.contains(&text.word(at))) {
        marked |= text.word(at) != ".";
        at += 1;
    }
    let Some(mention) =
        parsed.mention(at).filter(|it| at < end && marked && it.tokens.start == at && it.can_act())
    else {
        return Vec::new();
    };
    let (people, after) = together(parsed, mention, end);
    let closes = after >= end || text.is_any(after, &[")", "]", ".", ";", ","]) || text.ends_line(after - 1);
    if closes { people } else { Vec::new() }
}

/// Those who are named from a mention on, joined by "and" or a comma, and the token behind them.
fn together(parsed: &ParsedSegment<'_>, first: &Mention, end: usize) -> (Vec<usize>, usize) {
    let text = &parsed.text;
    let mut people = vec![first.entity];
    let is_emphasis = |at: &usize| matches!(text.word(*at), "*" | "_");
    let behind = |from: usize| (from..end).find(|at| !is_emphasis(at)).unwrap_or(end);
    let mut after = behind(first.tokens.end);
    while after < end && people.len() < TOGETHER_MAX && text.is_any(after, &["/", "&", "+", ",", "and"]) {
        let next = after + 1 + usize::from(text.word(after) == "," && text.is_any(after + 1, &["and", "&"]));
        let Some(other) = parsed.mention(next).filter(|other| {
            next < end
                && other.tokens.start == next
                && other.can_act()
                && other.is_person() == first.is_person()
        }) else {
            break;
        };
        people.push(other.entity);
        after = behind(other.tokens.end);
    }
    (people, after)
}
