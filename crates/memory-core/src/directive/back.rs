//! Statements whose words point back: "Or after four", "Tell every doctor", "don't go higher". Without what is said before
//! them they say nothing, or another thing.

use memory_language::lexicon::is_function_word;

use super::clauses::{self, Tokens, may_instruct};
use super::sentence::Sentence;
use super::words::list;

/// The most tokens of what is told before a statement in its sentence, and of whom something is told to.
const BEFORE_MAX: usize = 20;
const TOLD_MAX: usize = 4;
/// The most tokens of a last noun.
const LAST_NOUN_MAX: usize = 4;
/// The most tokens of a sentence that another goes on with.
const SENTENCE_MAX: usize = 40;

/// How much a statement needs what is said before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// It says enough by itself.
    None,
    /// With it, it says more.
    Some,
    /// Without it, it is no statement: "Or after four on any other day".
    All,
}

/// Whether a statement at the head of a sentence goes on with the sentence before it.
pub(super) fn need(sentence: &Sentence<'_>, (start, end): Tokens) -> Need {
    let is_lead = |at: usize| sentence.word(at).is_none_or(|word| list("lead-in").has(word));
    let is_rest = sentence.word(0) == Some("and") && is_remainder(sentence, start, end);
    if start <= 1 && (sentence.word(0) == Some("or") || is_rest) {
        Need::All
    } else if (0..start).all(is_lead) && points_back(sentence, (start, end)) {
        Need::Some
    } else {
        Need::None
    }
}

/// Where the sentence before another one begins, in bytes, if the other may go on with it.
pub(super) fn sentence_before(before: &Sentence<'_>, sentence: &Sentence<'_>) -> Option<usize> {
    let (first, last) = (before.tokens.first()?, before.tokens.last()?);
    let between = sentence.content.get(last.bytes.end..sentence.tokens.first()?.bytes.start)?;
    let is_told = !before.is_question()
        && !before.is_anothers
        && !before.is_quoted(0)
        && !sentence.is_item
        && before.len() > 2
        && before.len() <= SENTENCE_MAX
        && !between.contains(char::is_alphanumeric)
        && between.matches('\n').count() <= 1;
    is_told.then_some(first.bytes.start)
}

/// "Not in anything that I sign", "and in these things nobody has a name", "she can't have nuts": whether it does not say by itself of what
/// or of whom it is.
pub(super) fn leans_on_sentence_before(text: &str) -> bool {
    let sentence = Sentence::new(text, 0..text.len());
    let end = sentence.len();
    let mut first = 0;
    while first < end && list("lead-in").at(&sentence, first, end) > 0 {
        first += list("lead-in").at(&sentence, first, end);
    }
    let goes_on = matches!(
        sentence.word(first),
        Some(
            "not"
                | "neither"
                | "nor"
                | "same"
                | "both"
                | "instead"
                | "otherwise"
                | "it"
                | "it's"
                | "its"
                | "that"
                | "that's"
                | "this"
                | "there"
                | "they"
                | "them"
                | "their"
        )
    );
    let is_named = |at: &usize| {
        sentence.is_name(*at) && (*at > 0 || sentence.word(0).is_some_and(|word| !is_function_word(word)))
    };
    let names_nobody = |at: usize| {
        matches!(
            sentence.word(at),
            Some("he" | "he's" | "she" | "she's" | "him" | "her" | "his" | "these" | "those")
        )
    };
    goes_on || (0..end).take_while(|at| !is_named(at)).any(names_nobody)
}

/// Where a statement within a sentence begins, with the clause that it points back to: "Tuesday evenings I have choir and |
/// nothing gets booked over that".
pub(super) fn with_clause_before(sentence: &Sentence<'_>, (start, end): Tokens, floor: usize) -> usize {
    let Some(join) = start.checked_sub(1).filter(|at| *at > floor) else { return start };
    let joins = sentence.word(join) == Some("and") || sentence.mark(join) == Some(",");
    if !joins || !points_back(sentence, (start, end)) {
        return start;
    }
    let last = join - usize::from(sentence.mark(join - 1) == Some(","));
    let from = clauses::start_of(sentence, last).max(floor);
    let is_said = from + 1 < last && last - from <= BEFORE_MAX && !clauses::turns(sentence, from);
    if is_said { from } else { start }
}

/// Where a statement begins that was cut at an "and" between two nouns: "Run cargo fmt and | clippy before you …".
pub(super) fn with_first_noun(sentence: &Sentence<'_>, start: usize, floor: usize) -> usize {
    let is_join = |at: &usize| matches!(sentence.word(*at), Some("and" | "or")) && *at > floor;
    let Some(and) = start.checked_sub(1).filter(is_join) else { return start };
    let head = clauses::start_of(sentence, and).max(floor);
    let head = head + list("lead-in").at(sentence, head, and);
    let orders = |at: usize| {
        may_instruct(sentence, at) || sentence.word(at).is_some_and(|word| list("orders").has(word))
    };
    let is_pair = head + 1 < and
        && orders(head)
        && !begins_clause(sentence, start)
        && (head..and).all(|at| sentence.word(at).is_some())
        && list("condition").at(sentence, head, and) == 0;
    if is_pair { head } else { start }
}

/// Where a statement ends that was cut at an "and" between two nouns: "… to anyone except Piet | and the scouts".
pub(super) fn with_last_noun(sentence: &Sentence<'_>, end: usize, ceiling: usize) -> usize {
    if !matches!(sentence.word(end), Some("and" | "or")) {
        return end;
    }
    let noun =
        end + 1 + usize::from(matches!(sentence.word(end + 1), Some("the" | "a" | "an" | "my" | "our")));
    let rest = clauses::end_of(sentence, end).min(ceiling);
    let is_noun = noun < rest
        && rest - noun <= LAST_NOUN_MAX
        && !begins_clause(sentence, noun)
        && (noun..rest).all(|at| sentence.word(at).is_some_and(|word| !matches!(word, "i" | "we" | "you")));
    if is_noun { rest } else { end }
}

/// Whether what stands behind an "and" may be said by itself: it orders, or has a subject.
fn begins_clause(sentence: &Sentence<'_>, at: usize) -> bool {
    let Some(word) = sentence.word(at) else { return true };
    let end = clauses::end_of(sentence, at);
    let has_verb = (at + 1..end).find(|at| {
        matches!(
            sentence.word(*at),
            Some("is" | "are" | "must" | "should" | "can" | "may" | "has" | "have" | "goes" | "go" | "gets")
        ) || matches!(sentence.word(*at), Some("before" | "after" | "when" | "if" | "unless" | "whenever"))
    });
    let is_said = has_verb.is_some_and(|at| {
        !matches!(sentence.word(at), Some("before" | "after" | "when" | "if" | "unless" | "whenever"))
    });
    may_instruct(sentence, at) || list("orders").has(word) || is_function_word(word) || is_said
}

fn points_back(sentence: &Sentence<'_>, (start, end): Tokens) -> bool {
    let mut at = start;
    while at < end && list("lead-in").at(sentence, at, end) > 0 {
        at += list("lead-in").at(sentence, at, end);
    }
    is_remainder(sentence, at, end)
        || only_tells(sentence, at, end)
        || lacks_object(sentence, at, end)
        || (at + 1..end)
            .take_while(|pointer| *pointer == at + 1 || says_of_nothing(sentence, *pointer - 1))
            .any(|pointer| says_of_nothing(sentence, pointer - 1) && is_pointer(sentence, pointer, end))
}

/// "Never on Sundays", "only before noon", "never with butter".
fn is_remainder(sentence: &Sentence<'_>, at: usize, end: usize) -> bool {
    matches!(sentence.word(at), Some("never" | "not" | "only"))
        && at + 2 < end
        && matches!(
            sentence.word(at + 1),
            Some("on" | "in" | "at" | "before" | "after" | "between" | "during" | "with" | "without")
        )
}

/// "Tell every doctor": whom, and not what.
fn only_tells(sentence: &Sentence<'_>, at: usize, end: usize) -> bool {
    let whom = at + 2..end.min(at + 2 + TOLD_MAX);
    matches!(sentence.word(at), Some("tell" | "warn" | "inform" | "notify"))
        && matches!(sentence.word(at + 1), Some("every" | "each" | "all" | "any" | "the" | "my" | "our"))
        && whom.end == end
        && !whom.is_empty()
        && whom.clone().all(|at| sentence.word(at).is_some_and(|word| !is_function_word(word)))
}

/// "Convert only in the UI": not what.
fn lacks_object(sentence: &Sentence<'_>, at: usize, end: usize) -> bool {
    let at = at + usize::from(matches!(sentence.word(at), Some("always" | "never" | "only" | "don't")));
    let behind = at + 1 + usize::from(matches!(sentence.word(at + 1), Some("only" | "always" | "never")));
    list("needs object").at(sentence, at, end) > 0
        && behind < end
        && matches!(sentence.word(behind), Some("in" | "on" | "at" | "before" | "after" | "when" | "for"))
}

/// A verb, a negation or the like, which names no thing.
fn says_of_nothing(sentence: &Sentence<'_>, at: usize) -> bool {
    let is_open =
        |word: &str| matches!(word, "when" | "if" | "that" | "because" | "where" | "i" | "you" | "we");
    sentence.word(at).is_some_and(|word| {
        !is_open(word)
            && (list("verbs").has(word)
                || list("orders").has(word)
                || is_function_word(word)
                || matches!(
                    word,
                    "nothing"
                        | "gets"
                        | "get"
                        | "booked"
                        | "planned"
                        | "scheduled"
                        | "over"
                        | "into"
                        | "from"
                        | "for"
                        | "on"
                        | "please"
                        | "never"
                        | "always"
                ))
    })
}

/// "That", "them" or "higher", behind which nothing says of what.
fn is_pointer(sentence: &Sentence<'_>, at: usize, end: usize) -> bool {
    let before = sentence.word(at - 1).unwrap_or_default();
    let next = sentence.word(at + 1).filter(|_| at + 1 < end);
    let is_ended = next.is_none_or(|word| {
        matches!(
            word,
            "in" | "on"
                | "at"
                | "for"
                | "to"
                | "over"
                | "unless"
                | "whenever"
                | "when"
                | "if"
                | "before"
                | "after"
                | "and"
                | "or"
                | "again"
                | "first"
                | "too"
                | "either"
                | "only"
                | "always"
                | "without"
                | "by"
                | "as"
                | "with"
                | "into"
                | "from"
                | "back"
        )
    });
    match sentence.word(at) {
        Some("it") => is_ended && !matches!(before, "keep" | "make" | "do"),
        Some("that" | "those" | "them" | "him" | "her" | "there") => {
            is_ended && !matches!(before, "like" | "than" | "and")
        }
        Some("higher" | "lower" | "further" | "longer" | "earlier" | "later" | "warmer" | "colder") => {
            let compares = (at..end).any(|at| sentence.word(at) == Some("than"));
            next.is_none() && !compares && list("verbs").has(before)
        }
        _ => false,
    }
}
