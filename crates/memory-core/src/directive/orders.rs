//! Short plain orders: "Never force-push.", "Don't mention my ex.", "Please ask before deleting files."

use super::clauses::{self, Statement, Tokens};
use super::conditions;
use super::denied;
use super::learned::{self, Place};
use super::sentence::Sentence;
use super::speakers::{Around, Voice};
use super::words::list;

/// How likely a clause at least is that begins as an order does.
const ORDER_MIN: f32 = 0.2;
/// A longer text tells of more than what is wanted.
const WORDS_MAX: usize = 40;

/// What the head of a sentence orders.
pub(super) fn order(sentence: &Sentence<'_>, around: Around, place: Place) -> Option<Statement> {
    let tokens = ordered(sentence, around)?;
    let (start, end) = tokens;
    let is_always = is_always(sentence, start);
    // What is done to code always or never is a rule of the user's project; other notes may tell of a house.
    let is_of_code = place.is_first && place.words <= WORDS_MAX && names_code_act(sentence, tokens);
    let is_sure = is_always && (around.voice != Voice::Note || is_of_code);
    let is_short = place.words <= WORDS_MAX && (place.is_first || (is_always && around.voice != Voice::Note));
    // "Don't deploy, the build is red" is of now.
    let passes = !is_always
        && (list("passing").within(sentence, start, end) || (conditions::reason(sentence, start, end) < end));
    let holds = !sentence.is_question()
        && !sentence.is_quoted(start)
        && list("saying").at(sentence, start, end) == 0
        && !passes
        && (is_sure || (is_short && learned::likelihood(sentence, place) >= ORDER_MIN));
    holds.then(|| Statement::new(tokens, conditions::trailing_condition(sentence, start + 1, end)))
}

/// The tokens of an order, where one begins behind "please" and the like.
fn ordered(sentence: &Sentence<'_>, around: Around) -> Option<Tokens> {
    let mut at = 0;
    let mut from = None;
    while sentence.mark(at) == Some(",") || list("lead-in").at(sentence, at, sentence.len()) > 0 {
        from = (sentence.word(at) == Some("please")).then_some(at);
        at += list("lead-in").at(sentence, at, sentence.len()).max(1);
    }
    let verb = match sentence.word(at)? {
        "always" => at + 1,
        "never" => denied::verb_behind(sentence, at),
        "don't" | "dont" if !around.has_task => denied::verb_behind(sentence, at),
        "do" if sentence.word(at + 1) == Some("not") && !around.has_task => {
            denied::verb_behind(sentence, at + 1)
        }
        "ask" | "check" if asks_first(sentence, at) && !around.has_task => at,
        _ => return None,
    };
    let word = sentence.word(verb)?;
    (list("verbs").has(word) || list("orders").has(word))
        .then(|| (from.unwrap_or(at), clauses::end_of(sentence, verb)))
}

/// "Ask me before deleting …".
fn asks_first(sentence: &Sentence<'_>, at: usize) -> bool {
    (at + 1..at + 5).any(|at| {
        sentence.word(at) == Some("before")
            && sentence
                .word(at + 1)
                .is_some_and(|word| word.ends_with("ing") || matches!(word, "you" | "any" | "every"))
    })
}

/// "Never force-push", "never touch the vendor directory".
fn names_code_act(sentence: &Sentence<'_>, (start, end): Tokens) -> bool {
    let verb = (start..end).find(|at| list("orders").at(sentence, *at, end) > 0);
    verb.is_some_and(|verb| list("acts on code").at(sentence, verb, end) > 0)
}

/// Whether it says of itself that it lasts.
fn is_always(sentence: &Sentence<'_>, start: usize) -> bool {
    (start..start + 2).any(|at| matches!(sentence.word(at), Some("never" | "always")))
}

/// "User prefers Postgres. | He dislikes ORMs.": what the sentence behind one about the user says of the same.
pub(super) fn of_same_user(sentence: &Sentence<'_>, around: Around) -> Option<Statement> {
    let is_wish = matches!(
        sentence.word(1),
        Some(
            "prefers"
                | "prefer"
                | "likes"
                | "like"
                | "dislikes"
                | "dislike"
                | "hates"
                | "hate"
                | "loves"
                | "love"
                | "avoids"
                | "always"
                | "never"
                | "wants"
                | "want"
        )
    ) && sentence.word(2) != Some("to");
    let is_same = matches!(sentence.word(0), Some("he" | "she" | "they"));
    let passes = list("passing").within(sentence, 2, sentence.len());
    (around.follows_user
        && is_same
        && is_wish
        && !passes
        && around.voice != Voice::User
        && !sentence.is_question())
    .then(|| {
        let end = clauses::end_of(sentence, 1);
        Statement::new((0, end), conditions::trailing_condition(sentence, 1, end))
    })
}
