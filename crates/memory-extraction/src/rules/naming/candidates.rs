//! What may be a name: words with a capital, alone and joined, words with marks or numbers inside, words in quotation or code marks.

use std::ops::Range;

use super::super::discover::is_verb_at_head;
use super::super::names;
use super::super::parsed_segment::ParsedSegment;
use super::super::words::{Kind, Text, spaced};

/// A name has at most so many tokens.
const TOKENS_MAX: usize = 8;
/// One in quotation or code marks has at most so many.
const QUOTED_MAX: usize = 6;

/// All that may be a name in a segment, and what the rules named, in order; one may lie within another.
pub(super) fn candidates(parsed: &ParsedSegment<'_>) -> Vec<Range<usize>> {
    let text = &parsed.text;
    let mut found: Vec<(usize, usize)> = Vec::new();
    let mut hidden = parsed.layout.hidden.iter().peekable();
    let mut at = 0;
    while at < text.tokens.len() {
        let start = text.tokens[at].start;
        while hidden.peek().is_some_and(|range| range.end <= start) {
            hidden.next();
        }
        if hidden.peek().is_some_and(|range| range.start <= start) {
            at += 1;
            continue;
        }
        if large(text, at) {
            let end = run(text, at);
            runs(text, at..end, &mut found);
            at = end;
            continue;
        }
        if text.is_word(at) && marked(text, at) {
            found.push((at, at + 1));
            if text.word(at + 1) == "/"
                && text.is_word(at + 2)
                && text.touches_next(at)
                && text.touches_next(at + 1)
            {
                found.push((at, at + 3));
            }
        }
        if let Some(quoted) = quoted(text, at) {
            found.push((quoted.start, quoted.end));
        }
        at += 1;
    }
    // "The", "We": a word that is known to be no name is none alone.
    found.retain(|(start, end)| *end > start + 1 || !names::is_no_name(text.word(*start)));
    for mention in &parsed.mentions {
        found.push((mention.tokens.start, mention.tokens.end));
    }
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(|(start, end)| start..end).collect()
}

/// A word with a capital anywhere.
fn large(text: &Text<'_>, at: usize) -> bool {
    text.is_word(at) && text.raw_word(at).chars().any(char::is_uppercase)
}

/// The token after the words with a capital that begin here.
fn run(text: &Text<'_>, at: usize) -> usize {
    let mut end = at + 1;
    while end < at + TOKENS_MAX
        && spaced(text, end - 1)
        && (large(text, end) || (text.kind(end) == Some(Kind::Number) && text.raw_word(end).len() < 8))
    {
        end += 1;
    }
    end
}

/// What may join two parts of a name.
fn joint(text: &Text<'_>, at: usize) -> bool {
    matches!(
        text.word(at),
        "of" | "for"
            | "and"
            | "&"
            | "the"
            | "in"
            | "on"
            | "de"
            | "da"
            | "do"
            | "du"
            | "del"
            | "la"
            | "le"
            | "der"
            | "van"
            | "von"
            | "'s"
            | "to"
            | "'"
            | "’"
            | "-"
            | "/"
            | "."
    )
}

/// The candidates that begin with words with a capital.
fn runs(text: &Text<'_>, whole: Range<usize>, found: &mut Vec<(usize, usize)>) {
    let Range { start, end } = whole;
    // "Chase Lin for the form": the name begins behind the verb.
    if end > start + 1 && is_verb_at_head(text, start) {
        runs(text, start + 1..end, found);
        return;
    }
    found.push((start, end));
    // Without the first word, which may be large for another reason, and without the last.
    if end > start + 1 {
        found.push((start + 1, end));
        found.push((start, end - 1));
        if end > start + 2 {
            found.push((start + 1, end - 1));
        }
    }
    // "Board of Fenwick", "Clay and Fire", "Women's Aid".
    let mut last = end;
    for _ in 0..2 {
        let mut next = last;
        while next < last + 2 && joint(text, next) {
            next += 1;
        }
        if next == last || !large(text, next) || next + 1 > start + TOKENS_MAX {
            return;
        }
        let stop = run(text, next).min(start + TOKENS_MAX);
        found.push((start, stop));
        if end > start + 1 {
            found.push((start + 1, stop));
        }
        last = stop;
    }
}

/// "tide-gate", "mast_core", "node.js", "k8s", or in code marks.
fn marked(text: &Text<'_>, at: usize) -> bool {
    let word = text.raw_word(at);
    let code = at > 0 && text.word(at - 1) == "`" && text.word(at + 1) == "`";
    let slash = text.word(at + 1) == "/" && text.touches_next(at) && text.is_word(at + 2);
    word.len() > 2
        && (code || slash || word.contains(['-', '_', '.']) || word.bytes().any(|b| b.is_ascii_digit()))
}

/// The words between two marks.
fn quoted(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let opens = matches!(text.word(at), "\"" | "“" | "'" | "‘" | "*" | "`");
    if !opens || !text.touches_next(at) {
        return None;
    }
    let close = (at + 2..at + 2 + QUOTED_MAX)
        .find(|close| matches!(text.word(*close), "\"" | "”" | "'" | "’" | "*" | "`"))?;
    Some(at + 1..close)
}
