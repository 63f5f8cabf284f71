//! Sentences and clauses, as ranges of tokens.
//!
//! These are not the sentences of `memory_language::sentence`, which reads prose: here a line of a chat or a list is one
//! too, and the clause model was trained on the clauses that come of them.

use std::ops::Range;

use memory_language::calendar_words::{CalendarWord, Spelling, calendar_word};
use memory_language::sentence::{is_macro, leads_to_next};

use super::apart::begins_bare;
use super::parsed_segment::ParsedSegment;
use super::verbs;
use super::words::{Kind, Text};

/// A sentence longer than this is no sentence and is not read.
const SENTENCE_MAX_TOKENS: usize = 120;
/// A line this short that ends without a mark may end a sentence.
const SHORT_LINE_BYTES: usize = 60;
/// No text is wrapped narrower than this.
const WRAP_MIN_BYTES: usize = 58;

/// More dots in a row are looked at no further.
const DOTS_MAX: usize = 8;
/// "Dear Mr and Mrs Hartley" has no more tokens.
const SALUTATION_TOKENS_MAX: usize = 8;
/// Between a value and an arrow stand at most so many signs: "€", a backtick.
const VALUE_SIGNS_MAX: usize = 2;

/// The sentences of a stretch of bytes.
pub(super) fn sentences(text: &Text<'_>, bytes: &Range<usize>) -> Vec<Range<usize>> {
    let all = text.tokens_in(bytes);
    let width = text.raw[bytes.clone()].lines().map(str::len).max().unwrap_or_default().max(WRAP_MIN_BYTES);
    let mut found = Vec::new();
    let mut start = all.start;
    let mut at = all.start;
    while at < all.end {
        let ends_here = || ends_salutation(text, start, at) || line_end(text, start, at, width);
        let end = sentence_end(text, at, all.end).or_else(|| ends_here().then_some(at + 1));
        if let Some(end) = end {
            found.push(start..end);
            start = end;
            at = end;
        } else {
            at += 1;
        }
    }
    if start < all.end {
        found.push(start..all.end);
    }
    found.retain(|sentence| {
        sentence.len() <= SENTENCE_MAX_TOKENS && sentence.clone().any(|at| text.is_word(at))
    });
    found
}

/// "Dear Mr and Mrs Hartley, I have taken over": the letter begins behind it.
fn ends_salutation(text: &Text<'_>, start: usize, at: usize) -> bool {
    text.word(at) == "," && text.word(start) == "dear" && (2..=SALUTATION_TOKENS_MAX).contains(&(at - start))
}

/// The token after the sentence that ends with token `at`.
fn sentence_end(text: &Text<'_>, at: usize, end: usize) -> Option<usize> {
    let mark = text.word(at);
    if mark == ";" && at + 1 < end {
        return Some(at + 1);
    }
    if !matches!(mark, "." | "!" | "?" | "…" | "。" | "！" | "？") {
        return None;
    }
    let mut after = at + 1;
    // Closing quotes and further marks belong to it.
    while after < end
        && text.touches_next(after - 1)
        && matches!(text.word(after), "." | "!" | "?" | "\"" | "”" | "'" | "’" | ")" | "*" | "_")
    {
        after += 1;
    }
    if after >= end {
        return Some(after);
    }
    // `SELECT ... FOR UPDATE`: what is left out, with a space on each side.
    let is_dot = |before: &usize| text.word(*before) == "." && text.touches_next(*before);
    let first = at - (0..at).rev().take(DOTS_MAX).take_while(is_dot).count();
    let is_apart = first > 0 && !text.touches_next(first - 1) && !text.touches_next(after - 1);
    if mark == "." && after >= first + 3 && is_apart {
        return None;
    }
    let next = text.raw_word(after);
    let goes_on = next.starts_with(char::is_lowercase);
    // `println!("…") in the server`: what is left out, or quoted.
    let is_within = mark == "…" && after > at + 1 && goes_on;
    let names_macro = || at > 0 && text.touches_next(at - 1) && is_macro(text.raw_word(at - 1));
    if is_within || mark == "!" && goes_on && names_macro() {
        return None;
    }
    if !mark.is_ascii() {
        return Some(after);
    }
    if text.touches_next(after - 1) || (mark == "." && is_abbreviation(text, at)) {
        return None;
    }
    (mark != "." || !goes_on).then_some(after)
}

fn is_abbreviation(text: &Text<'_>, at: usize) -> bool {
    const SHORT: [&str; 32] = [
        "cllr", "cllrs", "rev", "hon", "capt", "sgt", "a.m", "p.m", "nr", "dr", "mr", "mrs", "ms", "prof",
        "st", "vs", "no", "approx", "e.g", "i.e", "etc", "inc", "ltd", "dept", "fig", "jr", "sr", "est",
        "ca", "cf", "resp", "messrs",
    ];
    let Some(before) = at.checked_sub(1).filter(|before| text.touches_next(*before)) else { return false };
    let word = text.word(before);
    let initial = word.len() == 1 && text.is_capitalised(before) && word != "i";
    let next = text.word(at + 1);
    // "on Dec. 8", but "in December. 8 came".
    if matches!(calendar_word(word), Some((CalendarWord::Month(_), Spelling::Short | Spelling::OtherShort))) {
        return next.starts_with(|c: char| c.is_ascii_digit());
    }
    // "shipped v. 2.1", "see p. 12".
    if matches!(word, "v" | "ver" | "vol" | "p" | "pp" | "ch" | "sec" | "art" | "para") {
        return next.starts_with(|c: char| c.is_ascii_digit());
    }
    // "at 1 p.m. Her office wrote", but "at 1 p.m. Monday".
    if matches!(word, "a.m" | "p.m") {
        return !text.is_capitalised(at + 1) || calendar_word(next).is_some();
    }
    (SHORT.contains(&word) && word != "etc" && word != "inc" && word != "ltd")
        || initial
        || (text.is_word(before) && leads_to_next(text.raw_word(before), next))
}

/// "raised 120 → 300/min", "`v1` → `v2`", "€3 → €5": an arrow from one value to another stands within what is told.
fn is_between_values(text: &Text<'_>, arrow: usize) -> bool {
    let is_sign =
        |at: &usize| text.kind(*at) == Some(Kind::Punctuation) && !text.is_any(*at, &[".", ";", ":"]);
    let is_value =
        |at: Option<usize>| at.is_some_and(|at| text.raw_word(at).contains(|c: char| c.is_ascii_digit()));
    let before = (arrow.saturating_sub(VALUE_SIGNS_MAX + 1)..arrow).rev().find(|at| !is_sign(at));
    let behind = (arrow + 1..text.tokens.len().min(arrow + VALUE_SIGNS_MAX + 2)).find(|at| !is_sign(at));
    is_value(behind) && (is_value(before) || before.is_some_and(|unit| is_value(unit.checked_sub(1))))
}

/// "Dana and Tomasz sat together": whether nothing but names stands between an "and" and what is listed, said or labelled before it.
fn joins_names(text: &Text<'_>, start: usize, and: usize) -> bool {
    let from = (start..and).rev().find(|at| !text.is_word(*at)).map_or(start, |mark| mark + 1);
    let is_led = from == start || text.is_any(from - 1, &[":", "–", "—"]);
    is_led && from < and && (from..and).all(|name| text.is_capitalised(name))
}

/// Chat and lists put one statement on a line, without a mark at its end. `width` is that of the widest line around.
fn line_end(text: &Text<'_>, start: usize, at: usize, width: usize) -> bool {
    let (Some(first), Some(this), Some(next)) =
        (text.tokens.get(start), text.tokens.get(at), text.tokens.get(at + 1))
    else {
        return false;
    };
    let gap = &text.raw[this.end..next.start];
    if !gap.contains('\n') {
        return false;
    }
    let short = this.end - first.start < SHORT_LINE_BYTES;
    let opens = text.is_capitalised(at + 1) || matches!(text.kind(at + 1), Some(Kind::Handle));
    // The next word had room on this line, so the writer meant to end it.
    let line = text.raw[..this.end].rfind('\n').map_or(0, |end| end + 1);
    let roomy = this.end - line + 1 + (next.end - next.start) <= width - width / 8;
    gap.matches('\n').count() > 1
        || ((short && opens || roomy)
            && !matches!(
                text.word(at),
                "," | ";" | ":" | "-" | "and" | "or" | "the" | "a" | "to" | "of" | "by" | "for" | "with"
            ))
}

/// Cuts a sentence where a new statement begins: at `;` and "but", where a subject stands with its verb after "and", "while" or a
/// comma, and where a note goes on with one that leaves its subject out.
pub(super) fn clauses(parsed: &ParsedSegment<'_>, sentence: &Range<usize>) -> Vec<Range<usize>> {
    let text = &parsed.text;
    let begins = |at: usize| parsed.begins_statement(at);
    let mut found = Vec::new();
    let mut start = sentence.start;
    let is_done = |at: usize| {
        verbs::of(text.word(at)).is_some_and(|verb| verb.class == verbs::Class::Deed && verb.past)
    };
    for at in sentence.start + 1..sentence.end.saturating_sub(1) {
        // "merged the patch, paired with Obi": what is done is listed without its subject.
        let listed = || at >= start + 3 && is_done(start) && is_done(at + 1);
        // "Raj, the lead since it began, will send it": behind a subject an aside is no statement.
        let is_aside = |last: &Range<usize>| !last.clone().any(|at| verbs::is_finite(text.word(at)));
        let bare = || !found.last().is_some_and(is_aside) && begins_bare(parsed, &(start..at), at + 1);
        let cut = match text.word(at) {
            "→" => !is_between_values(text, at),
            ";" | "but" | "however" => true,
            // "Alice Chen and Bob Reyes will write it": both are to.
            "and" if joins_names(text, start, at) => false,
            // "We asked Prof. Lindqvist to review it".
            "." if is_abbreviation(text, at) => false,
            "," | "." => begins(at + 1) || listed() || bare(),
            "/" if !text.touches_next(at) => bare(),
            "and" | "while" | "whereas" | "so" | "–" | "—" => begins(at + 1) || listed(),
            _ => false,
        };
        if cut && at > start {
            found.push(start..at);
            start = at + 1;
        }
    }
    found.push(start..sentence.end);
    for clause in &mut found {
        while clause.start + 1 < clause.end
            && matches!(text.word(clause.start), "," | "and" | "but" | "so" | ";" | "–" | "—")
        {
            clause.start += 1;
        }
        while clause.end > clause.start + 1 && matches!(text.word(clause.end - 1), "," | "and" | ";") {
            clause.end -= 1;
        }
    }
    found.retain(|clause| !clause.is_empty());
    found
}
