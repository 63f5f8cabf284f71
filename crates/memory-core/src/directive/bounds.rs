//! From when and until when a statement holds, where it says so: "from Nov 1 until Nov 10 answer in Spanish", "keep it short
//! (until Friday)".

use std::cmp::Ordering;

use memory_language::calendar_words::calendar_word;

use super::clauses::Tokens;
use super::sentence::Sentence;
use super::words::list;

/// Where a statement begins, with when it holds before it.
pub(super) fn with_bound_before(sentence: &Sentence<'_>, start: usize, floor: usize) -> usize {
    let is_lead = |at: usize| {
        sentence.mark(at) == Some(",") || sentence.word(at).is_some_and(|word| list("lead-in").has(word))
    };
    let parts = |at: usize| {
        at == 0
            || sentence.mark(at - 1).is_some()
            || matches!(sentence.word(at - 1), Some("and" | "but" | "so" | "please"))
    };
    let begins = |from: &usize| {
        parts(*from) && bound(sentence, *from).is_some_and(|end| end <= start && (end..start).all(is_lead))
    };
    (floor..start).find(begins).unwrap_or(start)
}

/// Where a statement ends, with when it holds behind it.
pub(super) fn with_bound_behind(sentence: &Sentence<'_>, end: usize, ceiling: usize) -> usize {
    let mark = sentence.mark(end).filter(|mark| matches!(*mark, "," | "(" | "—" | "–" | "-"));
    let is_dash = matches!(mark, Some("—" | "–" | "-"));
    let mut at = end + usize::from(mark.is_some());
    // "From June 4 – June 9".
    let goes_on = is_dash && end > 0 && is_date(sentence, end - 1) && is_date(sentence, at);
    while matches!(sentence.word(at), Some("but" | "and" | "only" | "just")) {
        at += 1;
    }
    let to = if goes_on { Some(dates(sentence, at)) } else { bound(sentence, at) };
    let closes = |to: usize| mark == Some("(") && sentence.mark(to) == Some(")");
    let to = to.filter(|to| *to <= ceiling && (*to >= sentence.len() || sentence.mark(*to).is_some()));
    to.map_or(end, |to| to + usize::from(closes(to)))
}

/// A statement with the whole of its brackets: to where one is closed that it opens, and from the beginning of the sentence where it
/// closes one that was opened before it.
pub(super) fn with_whole_brackets(sentence: &Sentence<'_>, (start, end): Tokens) -> Tokens {
    let of = |mark: &str| (start..end).filter(|at| sentence.mark(*at) == Some(mark)).count();
    let is_within = (0..start).any(|at| sentence.mark(at) == Some("("));
    match of("(").cmp(&of(")")) {
        Ordering::Less if is_within => (0, end),
        // ":)" closes nothing.
        Ordering::Less | Ordering::Equal => (start, end),
        Ordering::Greater => {
            let closing = (end..sentence.len()).find(|at| sentence.mark(*at) == Some(")"));
            (start, closing.map_or(end, |closing| closing + 1))
        }
    }
}

/// The end of what tells of a time that begins or ends: "from Nov 1 until Nov 10", "starting Monday", "for the next two weeks".
pub(super) fn bound(sentence: &Sentence<'_>, at: usize) -> Option<usize> {
    let opener = list("opens bound").at(sentence, at, sentence.len());
    let from = at + opener;
    let end = dates(sentence, from);
    let names_one = (from..end).any(|at| sentence.word(at).is_some_and(names_time));
    (opener > 0 && end > from && names_one).then_some(end)
}

/// The end of dates from a token on, and of what joins them.
fn dates(sentence: &Sentence<'_>, from: usize) -> usize {
    let joins = |at: usize| {
        matches!(sentence.word(at), Some("to" | "until" | "till" | "through" | "thru" | "and" | "on"))
            || matches!(sentence.mark(at), Some("-" | "–" | "—" | ","))
    };
    let mut end = from;
    let mut at = from;
    while at < sentence.len() && (is_date(sentence, at) || joins(at)) {
        at += 1;
        if is_date(sentence, at - 1) {
            end = at;
        }
    }
    end
}

fn is_date(sentence: &Sentence<'_>, at: usize) -> bool {
    sentence.word(at).is_some_and(|word| {
        names_time(word)
            || word.starts_with(|c: char| c.is_ascii_digit())
            || matches!(
                word,
                "the"
                    | "of"
                    | "next"
                    | "this"
                    | "end"
                    | "start"
                    | "beginning"
                    | "middle"
                    | "early"
                    | "late"
                    | "mid"
                    | "two"
                    | "three"
                    | "four"
                    | "five"
                    | "six"
                    | "couple"
            )
    })
}

/// A word that names a day, or some.
fn names_time(word: &str) -> bool {
    let is_written = |mark: char| {
        word.split(mark).count() > 1
            && word.split(mark).all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
    };
    calendar_word(word).is_some()
        || ['-', '/', '.'].into_iter().any(is_written)
        || list("names time").has(word)
}
