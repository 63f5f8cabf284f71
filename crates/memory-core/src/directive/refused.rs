//! What is no directive, whatever has found it: a fragment, what another wants, and what is to be done once to one thing that is
//! pointed at.

use memory_language::lexicon::is_function_word;

use super::clauses::{Statement, Tokens, may_instruct};
use super::sentence::Sentence;
use super::speakers::Voice;
use super::words::list;

/// The most tokens of who wants something, before the verb.
const SUBJECT_MAX: usize = 4;
/// So near behind its verb stands what an order is done to.
const OBJECT_MAX: usize = 4;

/// Whether what was found states nothing that holds.
pub(super) fn is_refused(sentence: &Sentence<'_>, stated: &Statement, voice: Voice) -> bool {
    is_fragment(sentence, stated.tokens)
        || is_anothers_wish(sentence, stated.tokens, voice)
        || tells_what_never_was(sentence, first_of(sentence, stated.tokens))
        || (!stated.is_permission && asks_once(sentence, stated))
}

/// Where a statement begins behind its commas and "and", "ok" and the like.
fn first_of(sentence: &Sentence<'_>, (start, end): Tokens) -> usize {
    let is_lead = |at: &usize| {
        sentence.mark(*at).is_some()
            || matches!(
                sentence.word(*at),
                Some("and" | "but" | "so" | "ok" | "okay" | "well" | "please" | "now")
            )
    };
    (start..end).find(|at| !is_lead(at)).unwrap_or(end)
}

/// "No she isn't", "nothing up front", "because …", "ever".
fn is_fragment(sentence: &Sentence<'_>, tokens: Tokens) -> bool {
    let (start, end) = (first_of(sentence, tokens), tokens.1);
    says_nothing(sentence, start, end)
        || only_answers(sentence, start, end)
        || only_explains(sentence, start, end)
}

/// "Ever", "not yet", "nothing up front": no word of what.
fn says_nothing(sentence: &Sentence<'_>, start: usize, end: usize) -> bool {
    let is_empty = |word: &str| {
        is_function_word(word)
            || matches!(
                word,
                "ever"
                    | "always"
                    | "never"
                    | "yet"
                    | "again"
                    | "please"
                    | "nothing"
                    | "none"
                    | "only"
                    | "really"
            )
    };
    let mut at = start;
    while at < end {
        let phrase = list("says nothing").at(sentence, at, end);
        if phrase == 0 && sentence.word(at).is_some_and(|word| !is_empty(word)) {
            return false;
        }
        at += phrase.max(1);
    }
    true
}

/// "No she isn't", "no that's wrong": it answers what was asked.
fn only_answers(sentence: &Sentence<'_>, start: usize, end: usize) -> bool {
    if !matches!(sentence.word(start), Some("no" | "nope" | "nah" | "yes" | "yeah" | "yep")) {
        return false;
    }
    let subject = start + 1 + usize::from(sentence.mark(start + 1) == Some(","));
    let tells = |at: usize| {
        sentence.word(at).is_some_and(|word| {
            word.ends_with("n't")
                || matches!(
                    word,
                    "is" | "are"
                        | "was"
                        | "were"
                        | "does"
                        | "do"
                        | "did"
                        | "has"
                        | "had"
                        | "will"
                        | "never"
                        | "not"
                )
        })
    };
    let goes_on =
        || (subject + 2..end).any(|at| sentence.mark(at - 1).is_some() && may_instruct(sentence, at));
    let is_told = match sentence.word(subject) {
        Some("it's" | "that's" | "there's" | "he's" | "she's" | "they're" | "we're") => true,
        Some("he" | "she" | "it" | "they" | "that" | "this" | "there") => tells(subject + 1),
        Some("i" | "we" | "you") => tells(subject + 1) && subject + 2 >= end,
        _ => false,
    };
    is_told && !goes_on()
}

/// "Because offices sit behind one NAT", "which is why they never pass": it belongs to what is said elsewhere.
fn only_explains(sentence: &Sentence<'_>, start: usize, end: usize) -> bool {
    let open = start + usize::from(sentence.word(start) == Some("only"));
    let is_since = sentence.word(open) == Some("since");
    let opens = is_since
        || matches!(
            sentence.word(open),
            Some(
                "because" | "cause" | "cuz" | "which" | "whose" | "whereas" | "although" | "though" | "than"
            )
        )
        || (sentence.word(open) == Some("so") && sentence.word(open + 1) == Some("that"));
    let is_of_thing = sentence.word(open + 1) == Some("of");
    let asks = |at: usize| {
        let begins = matches!(sentence.word(at - 1), Some("so" | "then")) || sentence.mark(at - 1).is_some();
        let wishes = matches!(sentence.word(at), Some("i" | "i'd" | "we" | "my" | "you" | "user"));
        (begins && (may_instruct(sentence, at) || wishes)) || ((is_since || is_of_thing) && wishes)
    };
    opens && !(open + 1..end).any(asks)
}

/// "I've never borrowed an e-book", but not "I've never liked e-books".
fn tells_what_never_was(sentence: &Sentence<'_>, start: usize) -> bool {
    let word = |at: usize| sentence.word(start + at);
    let verb = match (word(0), word(1), word(2)) {
        (Some("i've" | "we've"), Some("never"), verb) => verb,
        (Some("i" | "we"), Some("have"), Some("never")) => word(3),
        _ => return false,
    };
    !matches!(
        verb,
        Some("liked" | "wanted" | "enjoyed" | "trusted" | "cared" | "been" | "needed" | "got" | "understood")
    )
}

/// "Maria wants all her mails answered within a day", "our client expects …, and no attachments".
fn is_anothers_wish(sentence: &Sentence<'_>, (start, end): Tokens, voice: Voice) -> bool {
    let first = first_of(sentence, (start, end));
    let says_itself =
        matches!(sentence.word(first), Some("i" | "i'm" | "i'd" | "i've" | "we" | "we're" | "user"));
    if voice == Voice::Preference || says_itself {
        return false;
    }
    let borders =
        |at: &usize| matches!(sentence.mark(*at), Some("." | ";" | ":" | "!" | "?" | "—" | "–" | "("));
    let from = (0..start).rev().find(borders).map_or(0, |at| at + 1);
    let is_wish = |verb: &usize| {
        wants(sentence, *verb)
            && anothers_name(sentence, from, *verb, voice).is_some_and(|name| name <= first)
    };
    let Some(verb) = (from + 1..end).find(is_wish) else { return false };
    // "…, so answer them daily" is what the user makes of it.
    let is_drawn = |at: usize| {
        let is_users = matches!(sentence.word(at), Some("i" | "i'd" | "we" | "you" | "please" | "let's"));
        let is_so = matches!(sentence.word(at - 1), Some("so" | "then"));
        let is_own = at == first && sentence.mark(at - 1).is_some();
        (is_so || is_own) && (may_instruct(sentence, at) || is_users)
    };
    !(verb + 1..end).any(is_drawn)
}

fn wants(sentence: &Sentence<'_>, at: usize) -> bool {
    match sentence.word(at) {
        Some(
            "wants" | "needs" | "expects" | "insists" | "demands" | "requires" | "prefers" | "hates"
            | "likes" | "dislikes",
        ) => true,
        Some("would") => matches!(sentence.word(at + 1), Some("like" | "prefer" | "love" | "rather")),
        Some("asked" | "told") => {
            matches!(sentence.word(at + 1), Some("us" | "me" | "everyone" | "everybody" | "for" | "that"))
        }
        _ => false,
    }
}

/// Where somebody other than the user is named right before a verb: "Maria", "my boss", "our client".
fn anothers_name(sentence: &Sentence<'_>, from: usize, verb: usize, voice: Voice) -> Option<usize> {
    let is_adverb = |at: &usize| {
        matches!(
            sentence.word(*at),
            Some("always" | "never" | "only" | "also" | "really" | "usually" | "has" | "just")
        )
    };
    let last = (from..verb).rev().find(|at| !is_adverb(at))?;
    let word = sentence.word(last)?;
    let near = from.max(last.saturating_sub(SUBJECT_MAX))..last;
    let is_whose =
        |at: &usize| matches!(sentence.word(*at), Some("my" | "our" | "the" | "their" | "his" | "her"));
    let whose = near.rev().find(is_whose);
    // In a note somebody who is named may be the user.
    let is_users = voice == Voice::User;
    let is_mine = whose.is_some_and(|at| matches!(sentence.word(at), Some("my" | "our")));
    let is_person = (list("kin").has(word) || list("other people").has(word)) && (is_users || is_mine);
    let is_named = is_users && sentence.is_name(last) && !list("no name").has(word);
    // "Dr. Haas", "Maria Lind".
    let is_of_name = |at: &usize| sentence.is_name(*at) || sentence.mark(*at) == Some(".");
    let of_name = (from..=last).rev().take_while(is_of_name).last().unwrap_or(last);
    (is_person || is_named).then(|| whose.unwrap_or(of_name))
}

/// "Delete that lockfile", "tighten up this paragraph": of one thing that is pointed at.
fn asks_once(sentence: &Sentence<'_>, stated: &Statement) -> bool {
    let (start, end) = (first_of(sentence, stated.tokens), stated.tokens.1);
    let start = start + list("request").at(sentence, start, end);
    let lasts = |at: usize| {
        matches!(
            sentence.word(at),
            Some(
                "always"
                    | "never"
                    | "every"
                    | "each"
                    | "any"
                    | "whenever"
                    | "all"
                    | "ever"
                    | "anymore"
                    | "unless"
                    | "before"
                    | "after"
                    | "everything"
                    | "anything"
                    | "standard"
            )
        ) || list("standing").at(sentence, at, end) > 0
            || (matches!(sentence.word(at), Some("for" | "in"))
                && sentence.word(at + 1).is_some_and(|word| word.ends_with('s')))
    };
    let denied = match (sentence.word(start), sentence.word(start + 1)) {
        (Some("don't" | "dont"), _) => 1,
        (Some("do"), Some("not")) => 2,
        _ => 0,
    };
    let verb = start + denied;
    let orders = sentence.word(verb).is_some_and(|word| {
        let is_subject =
            word.starts_with("i'") || word.ends_with("'s") || word.ends_with("ing") || word.ends_with("ed");
        list("verbs").has(word)
            || list("orders").has(word)
            || (!is_function_word(word) && !is_subject && !is_of_wish(word))
    });
    orders
        && stated.condition.is_none()
        && !(start..end).any(lasts)
        && (verb + 1..end.min(verb + OBJECT_MAX)).any(|at| points_at_one(sentence, (verb, at), end))
        && !(start..end).any(|at| sentence.mark(at) == Some(":"))
}

/// What may stand before "this" where something is told or wished, and not ordered.
fn is_of_wish(word: &str) -> bool {
    matches!(
        word,
        "no" | "nothing"
            | "anything"
            | "user"
            | "prefer"
            | "prefers"
            | "want"
            | "wants"
            | "tickets"
            | "commands"
    ) || (word.ends_with('s') && !word.ends_with("ss"))
}

fn is_particle(word: &str) -> bool {
    matches!(word, "up" | "down" | "out" | "off" | "of" | "over" | "to" | "into" | "in" | "back")
}

/// "That branch", "these two sentences", "this one", not "this project", "ensure that tests pass".
fn points_at_one(sentence: &Sentence<'_>, (verb, at): (usize, usize), end: usize) -> bool {
    let is_verb = at == verb + 1;
    let before = sentence.word(at - 1).unwrap_or_default();
    let points = match sentence.word(at) {
        Some("this" | "these" | "those") => true,
        Some("that") => (is_verb || is_particle(before)) && !list("before that").has(before),
        _ => false,
    };
    let thing = sentence.word(at + 1).filter(|_| at + 1 < end);
    points
        && (at == 1 || !matches!(before, "in" | "for" | "on" | "at" | "than"))
        && thing.is_some_and(|thing| {
            !is_particle(thing)
                && !list("house").has(thing)
                && !list("may last").has(thing)
                && (!is_function_word(thing) || thing == "one")
        })
}
