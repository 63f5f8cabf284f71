//! Sentences of which the text encoder says how likely they state a directive: it decides whether, rules and words say which clause.

use super::clauses::Statement;
use super::heads;
use super::learned::{self, Place};
use super::rules;
use super::sentence::Sentence;

/// How much the log-odds of the encoder and of words count, and that rules find a statement; fitted on texts that neither learned from.
const OF_ENCODER: f32 = 0.57;
const OF_WORDS: f32 = 0.32;
const OF_RULES: f32 = 0.75;
/// From this sum on a sentence states one.
const MIN: f32 = -0.3;
/// Words are never surer than this, in log-odds.
const WORDS_MAX: f32 = 9.2;

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
        return likeliest;
    }
    // What is allowed again was not wanted before; the encoder has not learned that.
    found.into_iter().filter(|stated| is_stating || stated.is_permission).collect()
}
