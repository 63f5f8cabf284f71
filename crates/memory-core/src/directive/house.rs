//! Bans and rules of a house that no verb orders: "no calls before 11", "we don't deploy on Fridays", "Balu is only allowed
//! grain-free food".

use super::clauses::{self, Statement, is_reported};
use super::conditions;
use super::learned::{self, Place};
use super::sentence::Sentence;
use super::speakers::{Around, Voice};
use super::words::list;

/// How likely a clause at least is that has the form of such a rule.
const RULE_MIN: f32 = 0.05;
/// A longer text tells of more than what is wanted.
const WORDS_MAX: usize = 40;
/// The most tokens of what a rule is about.
const SUBJECT_MAX: usize = 9;

/// The rules of a house in a sentence.
pub(super) fn rules(sentence: &Sentence<'_>, around: Around, place: Place) -> Vec<Statement> {
    if sentence.is_question() || around.has_task || place.words > WORDS_MAX {
        return Vec::new();
    }
    let mut found: Vec<Statement> = Vec::new();
    for start in clauses::starts(sentence) {
        let mut at = start;
        while list("lead-in").at(sentence, at, sentence.len()) > 0 {
            at += list("lead-in").at(sentence, at, sentence.len());
        }
        let from = at;
        at += list("standing").at(sentence, at, sentence.len());
        let end = end_of(sentence, at);
        let may_be = at + 1 < end
            && !sentence.is_quoted(at)
            && !is_reported(sentence, from)
            && !is_of_now(sentence, at, end)
            && !found.iter().any(|other| at < other.tokens.1);
        let is_rule = || {
            bans(sentence, at, end)
                || we_do_not(sentence, at, end)
                || is_out(sentence, at, end)
                || needs_in(sentence, at, end, around.voice)
                || for_only(sentence, at, end)
                || must(sentence, at, end, from < at, around.voice)
                || is_never_so(sentence, at, end, around.voice)
        };
        let is_likely = || learned::likelihood(sentence, place) >= RULE_MIN;
        if may_be && (never_then(sentence, at, end) || (is_rule() && is_likely())) {
            found.push(Statement::new((from, end), conditions::trailing_condition(sentence, at, end)));
        }
    }
    found
}

/// Where a rule ends: at the end of its clause, or where an order follows.
fn end_of(sentence: &Sentence<'_>, from: usize) -> usize {
    let end = clauses::end_of(sentence, from);
    let orders = |comma: &usize| {
        let next = comma + 1 + usize::from(matches!(sentence.word(comma + 1), Some("and" | "but" | "so")));
        sentence.mark(*comma) == Some(",") && clauses::may_instruct(sentence, next)
    };
    (from..end).find(orders).unwrap_or(end)
}

/// "Today", "this one", "left", "yet": how things stand, and not how they shall be.
fn is_of_now(sentence: &Sentence<'_>, start: usize, end: usize) -> bool {
    (start..end).any(|at| list("passing").at(sentence, at, end) > 0 && !may_stand(sentence, at))
        || list("of now").within(sentence, start, end)
}

/// "IDs that leave …", "in this house": words that elsewhere point at one thing.
fn may_stand(sentence: &Sentence<'_>, at: usize) -> bool {
    match sentence.word(at) {
        Some("that" | "it" | "them" | "him" | "her" | "those") => true,
        Some("this") => {
            at > 0
                && matches!(sentence.word(at - 1), Some("in" | "at" | "on"))
                && list("house").has(sentence.word(at + 1).unwrap_or_default())
        }
        _ => false,
    }
}

fn is_plural(word: &str) -> bool {
    !matches!(word, "its" | "his" | "this" | "was" | "has" | "yes" | "does" | "always")
        && word.len() > 2
        && word.ends_with('s')
        && !word.ends_with("ss")
        && !word.ends_with("us")
}

/// "No lilies in this house", "no calls before 11": many things of a kind, and where, when or which.
fn bans(sentence: &Sentence<'_>, start: usize, end: usize) -> bool {
    if sentence.word(start) != Some("no") || !is_first(sentence, start) {
        return false;
    }
    let thing = (start + 1..end.min(start + 5)).find(|at| sentence.word(*at).is_some_and(is_plural));
    let Some(bound) = thing.map(|at| at + 1).filter(|at| *at < end) else { return false };
    let next = sentence.word(bound + 1).unwrap_or_default();
    match sentence.word(bound) {
        Some("in" | "on" | "at") => {
            // "No buses in my village" tells how it is there.
            let what = sentence.word(bound + 2).unwrap_or_default();
            matches!(next, "this" | "my" | "our") && (list("house").has(what) || is_plural(what))
        }
        Some("before" | "after" | "past") => {
            next.starts_with(|c: char| c.is_ascii_digit()) || list("hours").has(next)
        }
        Some(
            "please" | "ever" | "anywhere" | "with" | "without" | "containing" | "longer" | "over" | "under",
        ) => true,
        Some("that" | "which") => {
            matches!(sentence.word(bound + 1), Some("contain" | "have" | "need" | "use"))
        }
        _ => false,
    }
}

/// "And never on Sundays", "or after six", of what the sentence before it forbids.
fn never_then(sentence: &Sentence<'_>, start: usize, end: usize) -> bool {
    matches!(sentence.word(start), Some("never" | "or"))
        && is_first(sentence, start)
        && is_time(sentence, start + 1, end)
}

/// "On Fridays", "after 4pm": a time that comes again.
fn is_time(sentence: &Sentence<'_>, at: usize, end: usize) -> bool {
    at + 1 < end
        && matches!(sentence.word(at), Some("on" | "before" | "after"))
        && sentence.word(at + 1).is_some_and(|word| {
            word.starts_with(|c: char| c.is_ascii_digit())
                || list("hours").has(word)
                || (word.ends_with("days") && list("month").has(word))
                || matches!(word, "weekends" | "weekdays")
        })
}

fn is_first(sentence: &Sentence<'_>, start: usize) -> bool {
    (0..start).all(|at| sentence.word(at).is_none_or(|word| list("lead-in").has(word)))
}

/// "We don't deploy on Fridays", "we never cook with peanuts".
fn we_do_not(sentence: &Sentence<'_>, start: usize, end: usize) -> bool {
    let denied = match (sentence.word(start), sentence.word(start + 1), sentence.word(start + 2)) {
        (Some("we"), Some("don't" | "never"), _) => start + 2,
        (Some("we"), Some("do"), Some("not")) => start + 3,
        _ => return false,
    };
    let acts = sentence.word(denied).is_some_and(|verb| {
        (list("verbs").has(verb) || list("orders").has(verb)) && !list("no act").has(verb)
    });
    let is_bound = (denied + 1..end).any(|at| match sentence.word(at) {
        Some("in") => matches!(sentence.word(at + 1), Some("this" | "our" | "my")),
        Some("without") => true,
        _ => is_time(sentence, at, end),
    });
    let is_elsewhere = matches!(sentence.word(end - 1), Some("there" | "usually" | "anymore"));
    acts && is_bound && !is_elsewhere
}

/// "Penicillin is out for me", "walnuts are off limits".
fn is_out(sentence: &Sentence<'_>, start: usize, end: usize) -> bool {
    let is =
        (start + 1..end.min(start + SUBJECT_MAX)).find(|at| matches!(sentence.word(*at), Some("is" | "are")));
    let of_me = |at: usize| {
        sentence.word(at) == Some("for")
            && matches!(sentence.word(at + 1), Some("me" | "us"))
            && ends_at(sentence, at + 2, end)
    };
    let is_named = !matches!(
        sentence.word(start),
        Some("it" | "this" | "that" | "there" | "he" | "she" | "what" | "which" | "who" | "they")
    );
    is_named
        && is.is_some_and(|is| match (sentence.word(is + 1), sentence.word(is + 2)) {
            (Some("out" | "taboo" | "forbidden"), _) => of_me(is + 2),
            (Some("off"), Some("limits")) | (Some("a"), Some("no-go")) => {
                ends_at(sentence, is + 3, end) || of_me(is + 3)
            }
            _ => false,
        })
}

/// Whether a statement ends at a token, but for a mark.
fn ends_at(sentence: &Sentence<'_>, at: usize, end: usize) -> bool {
    at >= end || sentence.mark(at).is_some()
}

/// "I need a bathtub in hotels": in places that somebody comes to again and again.
fn needs_in(sentence: &Sentence<'_>, start: usize, end: usize, voice: Voice) -> bool {
    let is_asked = matches!(sentence.word(start), Some("i" | "we"))
        && matches!(sentence.word(start + 1), Some("need" | "want"))
        && voice != Voice::Note;
    let place = (start + 3..end).find(|at| {
        matches!(sentence.word(*at), Some("in" | "on" | "at"))
            && list("places again").at(sentence, at + 1, end) > 0
    });
    is_asked
        && sentence.word(start + 2) != Some("to")
        && place
            .is_some_and(|at| ends_at(sentence, at + 1 + list("places again").at(sentence, at + 1, end), end))
}

/// "For the dentist only Dr. Okafor": of somebody or something that is named, without a verb.
fn for_only(sentence: &Sentence<'_>, start: usize, end: usize) -> bool {
    let only = (start + 2..end.min(start + 6)).find(|at| sentence.word(*at) == Some("only"));
    let is_verb = |at: usize| {
        matches!(
            sentence.word(at),
            Some("is" | "are" | "was" | "were" | "has" | "have" | "left" | "i" | "we" | "you" | "it")
        )
    };
    let is_counted =
        |at: usize| sentence.word(at).is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    is_first(sentence, start)
        && matches!(sentence.word(start), Some("for" | "at" | "as"))
        && only.is_some_and(|only| {
            let is_named = (only + 1..end.min(only + 4)).any(|at| sentence.is_name(at));
            (start + 1..only).all(|at| sentence.word(at).is_some()) && is_named
        })
        && !(start..end).any(|at| is_verb(at) || is_counted(at))
}

/// "IDs that leave the system must be ULIDs", "every migration must have a down step", "Balu is only allowed grain-free food".
fn must(sentence: &Sentence<'_>, start: usize, end: usize, is_standing: bool, voice: Voice) -> bool {
    let modal = (start + 1..end.min(start + SUBJECT_MAX)).find(|at| modal_len(sentence, *at) > 0);
    let Some(at) = modal else { return false };
    let behind = at + modal_len(sentence, at);
    let first = sentence.word(start).unwrap_or_default();
    let is_pointing = matches!(
        first,
        "it" | "this"
            | "that"
            | "there"
            | "you"
            | "he"
            | "she"
            | "they"
            | "i"
            | "we"
            | "who"
            | "which"
            | "what"
    );
    let names_people = list("people").has(sentence.word(start + 1).unwrap_or_default());
    let is_of_all = !names_people
        && matches!(
            first,
            "every" | "each" | "all" | "any" | "anything" | "everything" | "whoever" | "nothing"
        );
    let denies = matches!(sentence.word(at), Some("mustn't"))
        || matches!(sentence.word(at + 1), Some("not" | "never" | "only"));
    let is_users = matches!(first, "my" | "our");
    let is_many = is_plural(first) && !list("people").has(first);
    let holds_for = is_of_all
        || (denies && is_users)
        || (is_many && (is_standing || voice != Voice::Note || denies || has_relative(sentence, start, at)))
        || (denies && sentence.word(at + 1) == Some("only") && sentence.is_name(start));
    // "It must have been the cable" guesses.
    let guesses = match (sentence.word(behind), sentence.word(behind + 1)) {
        (Some("have"), Some(next)) => next == "been" || next.ends_with("ed"),
        (Some("be"), Some(next)) => {
            !denies && matches!(next, "at" | "in" | "wrong" | "broken" | "from" | "around" | "about")
        }
        _ => false,
    };
    !is_pointing
        && holds_for
        && behind < end
        && !guesses
        && !is_due(sentence, behind, end)
        && (start..at).all(|at| sentence.word(at).is_some())
}

/// "All applications must be in by 30 April" is of one time.
fn is_due(sentence: &Sentence<'_>, start: usize, end: usize) -> bool {
    (start..end).any(|at| {
        sentence.word(at) == Some("by")
            && sentence.word(at + 1).is_some_and(|word| {
                word.starts_with(|c: char| c.is_ascii_digit())
                    || list("month").has(word)
                    || list("hours").has(word)
            })
    })
}

fn has_relative(sentence: &Sentence<'_>, start: usize, end: usize) -> bool {
    (start..end).any(|at| matches!(sentence.word(at), Some("that" | "which")))
}

/// The tokens of what says that something shall be so.
fn modal_len(sentence: &Sentence<'_>, at: usize) -> usize {
    match (sentence.word(at), sentence.word(at + 1), sentence.word(at + 2)) {
        (Some("must"), Some("not" | "never" | "always" | "only"), _)
        | (Some("has" | "have"), Some("to"), _)
        | (Some("may"), Some("only" | "never"), _) => 2,
        (Some("must" | "mustn't"), _, _) => 1,
        (Some("is" | "are"), Some("only"), Some("allowed")) => 3,
        _ => 0,
    }
}

/// "Foreign words aren't italicised in my books": how it is done in what is somebody's own.
fn is_never_so(sentence: &Sentence<'_>, start: usize, end: usize, voice: Voice) -> bool {
    let are = (start + 1..end.min(start + 5)).find(|at| {
        sentence.word(*at) == Some("aren't")
            || (sentence.word(*at) == Some("are")
                && matches!(sentence.word(at + 1), Some("not" | "never" | "always")))
    });
    let Some(are) = are.filter(|_| voice != Voice::Note) else { return false };
    let participle = are + 1 + usize::from(sentence.word(are) == Some("are"));
    let is_of_mine = (participle + 1..end).any(|at| {
        matches!(sentence.word(at), Some("in" | "on")) && matches!(sentence.word(at + 1), Some("my" | "our"))
    });
    sentence.word(are - 1).is_some_and(is_plural)
        && sentence.word(participle).is_some_and(|word| word.ends_with("ed") || word.ends_with("en"))
        && is_of_mine
}

/// "In this project we write …": how things are done where somebody works or lives.
pub(super) fn where_we_work(sentence: &Sentence<'_>, at: usize) -> Option<Statement> {
    let is_there = matches!(sentence.word(0), Some("in" | "at" | "on"))
        && matches!(sentence.word(1), Some("this" | "our" | "my"))
        && list("house").has(sentence.word(2)?);
    if at > 4 || !is_there || sentence.word(at) != Some("we") || sentence.is_question() {
        return None;
    }
    let verb = at + 1 + usize::from(matches!(sentence.word(at + 1), Some("don't" | "do")));
    let end = clauses::end_of(sentence, at);
    let is_done = list("verbs").has(sentence.word(verb)?) && !list("passing").within(sentence, verb, end);
    is_done.then(|| Statement::new((0, end), None))
}
