//! Sentences of which the text encoder says how likely they state a directive: it decides whether, rules and words say which clause.

use memory_language::sentence::sentences;

use super::clauses::Statement;
use super::conditions::is_of_asking;
use super::heads;
use super::learned::{self, Place};
use super::permission;
use super::refused;
use super::rules;
use super::same_thing::Gist;
use super::sentence::Sentence;
use super::words::list;
use super::{FoundDirective, Judged};

/// How much the log-odds of the encoder and of words count, and that rules find a statement; fitted on texts that neither learned from.
const OF_ENCODER: f32 = 0.57;
const OF_WORDS: f32 = 0.32;
const OF_RULES: f32 = 0.75;
/// From this sum on a sentence states one.
const MIN: f32 = -0.5;
/// Words are never surer than this, in log-odds.
const WORDS_MAX: f32 = 9.2;

/// From these log-odds on the encoder is sure by itself. Most of what friends and colleagues say to one another is below them.
pub(super) const CLEAR_MIN: f32 = 4.2;

/// The statements of a sentence of which the encoder gives these log-odds. What rules and words find is taken where all together are
/// sure enough; where they find nothing, the likeliest clause.
pub(super) fn statements(
    sentence: &Sentence<'_>,
    place: Place,
    found: Vec<Statement>,
    log_odds: f32,
) -> Vec<Statement> {
    let of_words = learned::log_odds(learned::likelihood(sentence, place)).clamp(-WORDS_MAX, WORDS_MAX);
    let of_rules = if found.is_empty() { 0.0 } else { OF_RULES };
    let is_stating = OF_ENCODER * log_odds + OF_WORDS * of_words + of_rules >= MIN;
    let is_anothers = sentence.is_anothers || heads::barred_from(sentence, place.voice).is_some();
    if found.is_empty() && is_stating && !is_anothers && !sentence.is_question() {
        let mut likeliest: Vec<Statement> = learned::likeliest(sentence, place).into_iter().collect();
        rules::complete(sentence, &mut likeliest);
        likeliest.retain(|stated| !refused::is_refused(sentence, stated, place.voice));
        return likeliest;
    }
    // What is allowed again was not wanted before; the encoder has not learned that.
    let mut kept: Vec<Statement> =
        found.into_iter().filter(|stated| is_stating || stated.is_permission).collect();
    if kept.is_empty() && !is_anothers {
        kept.extend(permission::withdrawal(sentence));
    }
    kept
}

/// From these log-odds on a sentence that states no directive may be a circumstance that requests depend on: "heat above 35 and I faint".
const BINDS_MIN: f32 = -1.5;

/// Whether a sentence of which the encoder gives these log-odds tells of something that later requests may depend on.
pub(super) fn may_bind(sentence: &Sentence<'_>, place: Place, log_odds: f32) -> bool {
    let is_anothers = sentence.is_anothers || heads::barred_from(sentence, place.voice).is_some();
    log_odds >= BINDS_MIN && !is_anothers && !sentence.is_question()
}

/// From these log-odds on a sentence is held against the directives before it.
const REVISES_MIN: f32 = -3.0;

/// Whether a sentence of which the encoder gives these log-odds may end or change what was stated before.
pub(super) fn may_revise(sentence: &Sentence<'_>, place: Place, log_odds: f32) -> bool {
    let is_anothers = sentence.is_anothers || heads::barred_from(sentence, place.voice).is_some();
    log_odds >= REVISES_MIN && !is_anothers && !sentence.is_question()
}

/// A content up to so many characters is held against earlier directives as a whole, and a sentence of a longer one that is not longer
/// itself: in a short text what ends a directive is often told in one sentence and why in the next.
const HELD_MAX_CHARS: usize = 200;

/// A stretch of a content that is held against earlier directives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToHold {
    pub text: String,
    /// The statement that takes the place of what no longer holds: its place among the directives, and behind these among the
    /// revising ones.
    pub statement: usize,
    /// What its statements say.
    gists: Vec<Gist>,
    /// One of them allows something.
    is_permission: bool,
    /// It is a sentence of a longer content, in which next to nothing ends a directive.
    is_of_longer: bool,
}

impl ToHold {
    /// Whether it only allows something somewhere, or is said of another case than the earlier directive, and so does not end that,
    /// however like an end it sounds.
    pub fn leaves(&self, earlier: &str, condition: Option<&str>) -> bool {
        let whole = Gist::new(earlier, None, false);
        let apart = Gist::new(earlier, condition, false);
        // How questions are to be answered ends by what is said to whoever answers: not by "I prioritize print editions".
        let is_of_answers = condition.is_some_and(is_of_asking);
        if is_of_answers && !self.is_permission && !is_said_to_whoever_answers(&self.text) {
            return true;
        }
        self.gists.iter().any(|gist| gist.is_exception_to(&whole) || gist.is_for_another_case_than(&apart))
    }

    /// Of the earlier directives that this was held against, the place of the one that no longer holds after it, if one does: a
    /// statement is about one matter.
    pub fn ends(&self, against: &[HeldAgainst]) -> Option<usize> {
        let sums = against.iter().map(|it| it.log_odds + OF_LIKENESS * it.similarity).enumerate();
        let likeliest = sums.max_by(|(_, a), (_, b)| a.total_cmp(b));
        let min = match (self.is_permission, self.is_of_longer) {
            (true, false) => REPLACED_MIN_BY_PERMISSION,
            (false, false) => REPLACED_MIN,
            (_, true) => REPLACED_MIN_IN_LONGER,
        };
        likeliest.filter(|(_, sum)| *sum >= min).map(|(at, _)| at)
    }
}

fn is_said_to_whoever_answers(text: &str) -> bool {
    let sentence = Sentence::new(text, 0..text.len());
    let first = list("lead-in").at(&sentence, 0, sentence.len());
    let asks = |at: usize| {
        matches!(
            sentence.word(at),
            Some(
                "you"
                    | "your"
                    | "ask"
                    | "please"
                    | "always"
                    | "never"
                    | "don't"
                    | "dont"
                    | "stop"
                    | "forget"
                    | "skip"
                    | "drop"
                    | "anymore"
                    | "instead"
            )
        )
    };
    list("answers").within(&sentence, 0, sentence.len())
        || sentence.word(first).is_some_and(|word| list("verbs").has(word))
        || (0..sentence.len()).any(asks)
}

/// What of a content is held against earlier directives.
pub fn to_hold_against(content: &str, judged: &Judged) -> Vec<ToHold> {
    let mut all: Vec<ToHold> = Vec::new();
    let is_of_longer = !is_short(content);
    for (statement, found) in judged.directives.iter().chain(&judged.revising).enumerate() {
        let Some(text) = around(content, found) else { continue };
        let gist = Gist::new(&found.quote, found.condition.as_deref(), found.is_permission);
        // What may only revise is kept as a permission too, and says less.
        let is_permission = found.is_permission && statement < judged.directives.len();
        match all.iter_mut().find(|held| held.text == text) {
            Some(held) => {
                held.gists.push(gist);
                held.is_permission |= is_permission;
            }
            None => {
                let text = text.to_owned();
                all.push(ToHold { text, statement, gists: vec![gist], is_permission, is_of_longer });
            }
        }
    }
    all
}

/// The content of a statement if it is short, or its sentence.
fn around<'a>(content: &'a str, found: &FoundDirective) -> Option<&'a str> {
    if is_short(content) {
        return Some(content.trim());
    }
    let start = found.span.of(content).map(|quote| quote.as_ptr() as usize - content.as_ptr() as usize)?;
    let end_of = |sentence: &str| sentence.as_ptr() as usize - content.as_ptr() as usize + sentence.len();
    sentences(content).find(|sentence| end_of(sentence) > start).map(str::trim).filter(|it| is_short(it))
}

fn is_short(text: &str) -> bool {
    text.chars().nth(HELD_MAX_CHARS).is_none()
}

/// How much the likeness of an earlier directive and a later statement counts beside the log-odds that the earlier no longer holds: of
/// unlike ones the encoder says little. From this sum on it no longer holds. Both were chosen on pairs that the encoder has not learned
/// from, each among a dozen directives, and on five long chats, in which next to nothing ends.
const OF_LIKENESS: f32 = 10.0;
const REPLACED_MIN: f32 = 8.0;
/// What says that something is fine again, or that you may do it, was said because of an earlier directive.
const REPLACED_MIN_BY_PERMISSION: f32 = 5.5;
/// Of a sentence of a longer content.
const REPLACED_MIN_IN_LONGER: f32 = 4.0;

/// An earlier directive that a later statement is held against.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeldAgainst {
    /// That it no longer holds, as the encoder judges the pair.
    pub log_odds: f32,
    /// The cosine of both.
    pub similarity: f32,
}
