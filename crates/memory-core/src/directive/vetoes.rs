//! What states no directive, however likely its words make it.

use std::ops::Range;

use super::clauses::{goes_on, is_anothers, is_contact, is_reported, tells_of_another};
use super::moment;
use super::pieces::Clause;
use super::sentence::Sentence;
use super::speakers::Voice;
use super::without_comma;
use super::words::list;

/// "From this week on" has no more tokens.
const SINCE_MAX: usize = 5;
/// So many tokens may stand before "I'm …", and between it and what somebody is.
const LEADING_MAX: usize = 5;

/// Whether a clause is somebody else's, a part of another, or tells how things are.
pub(super) fn states_none(sentence: &Sentence<'_>, clause: &Clause, voice: Voice) -> bool {
    let start = clause.tokens.start;
    is_of_another(sentence, clause)
        || goes_on(sentence, start)
        || is_contrast(sentence, start)
        || sentence.word(start) == Some("especially")
        || is_of_past(sentence, start)
        || tells_of_the_moment(sentence, start)
        || goes_astray(sentence, &clause.tokens)
        || is_only_condition(sentence, &clause.tokens)
        || moment::is_of_moment(sentence, &clause.tokens, voice)
}

/// Whether a clause is somebody else's, or of somebody else.
pub(super) fn is_of_another(sentence: &Sentence<'_>, clause: &Clause) -> bool {
    let Range { start, end } = clause.tokens;
    sentence.is_quoted(start)
        || is_anothers(sentence, start)
        || tells_of_another(sentence, (start, end))
        || is_contact(sentence, (start, clause.stretch.end))
        || is_reported(sentence, start)
}

/// ", not on Linux": what is set against something says nothing without it.
fn is_contrast(sentence: &Sentence<'_>, start: usize) -> bool {
    start > 0 && sentence.mark(start - 1) == Some(",") && sentence.word(start) == Some("not")
}

/// "Always been a fan", "never had one".
fn is_of_past(sentence: &Sentence<'_>, start: usize) -> bool {
    matches!(sentence.word(start), Some("always" | "never"))
        && matches!(
            sentence.word(start + 1),
            Some("been" | "had" | "was" | "were" | "got" | "knew" | "thought" | "went")
        )
}

/// "I keep lists by hand, | but I'm wondering if …", "…, so can you …": it goes on to something else.
fn goes_astray(sentence: &Sentence<'_>, tokens: &Range<usize>) -> bool {
    let is_cut = |at: &usize| {
        sentence.mark(at - 1) == Some(",") || matches!(sentence.word(*at), Some("but" | "so" | "and"))
    };
    (tokens.start + 1..tokens.end).filter(is_cut).any(|at| {
        let begins = at + usize::from(matches!(sentence.word(at), Some("but" | "so" | "and")));
        let asks = matches!(sentence.word(begins), Some("can" | "could" | "would" | "will"))
            && matches!(sentence.word(begins + 1), Some("you" | "we" | "i"));
        asks || tells_of_the_moment(sentence, begins)
    })
}

/// "I've never used Docker", "I'm kinda worried about the interview": where somebody stands, and not what is wanted.
fn tells_of_the_moment(sentence: &Sentence<'_>, start: usize) -> bool {
    let leads = |at: &usize| {
        matches!(sentence.word(*at), Some("so" | "but" | "and" | "because" | "however" | "also" | "well"))
            || (*at > start && sentence.mark(*at) == Some(","))
    };
    let at = (start..start + LEADING_MAX).find(|at| !leads(at)).unwrap_or(start);
    let is_softened = |at: &usize| {
        matches!(
            sentence.word(*at),
            Some("kinda" | "really" | "also" | "still" | "just" | "pretty" | "so" | "quite")
        )
    };
    let next = (at + 1..=at + LEADING_MAX).find(|at| !is_softened(at)).unwrap_or(at);
    match (sentence.word(at), sentence.word(next), sentence.word(next + 1)) {
        (Some("i've"), Some("never" | "been" | "realized" | "tried"), _)
        | (Some("i"), Some("have"), Some("never" | "been")) => true,
        (Some("i'm"), Some("not"), feeling) => matches!(feeling, Some("sure" | "confused" | "certain")),
        (Some("i'm"), Some(feeling), _) => list("of the moment").has(feeling),
        _ => false,
    }
}

/// "whenever something in the engine changes", "from this week on": when what holds is said elsewhere.
fn is_only_condition(sentence: &Sentence<'_>, tokens: &Range<usize>) -> bool {
    let is_since = sentence.word(tokens.start) == Some("from") && sentence.word(tokens.end - 1) == Some("on");
    if is_since && tokens.len() <= SINCE_MAX {
        return true;
    }
    let opener = list("condition").at(sentence, tokens.start, tokens.end);
    opener > 0
        && list("standing").at(sentence, tokens.start, tokens.end) <= opener
        && !tokens.clone().any(|at| matches!(sentence.mark(at), Some("," | ":")))
        && without_comma::condition(sentence, tokens.start).is_none_or(|(_, verb)| verb + 1 >= tokens.end)
}
