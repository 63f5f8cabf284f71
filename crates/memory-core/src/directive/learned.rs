//! How likely a clause states a directive: a logistic regression over its words, what stands around it, and the lists of
//! `data/directives.txt`. `train-clauses --directives` writes its weights.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use super::clauses::Statement;
use super::conditions;
use super::ended;
use super::pieces::{Clause, clauses_of};
use super::sentence::Sentence;
use super::speakers::Voice;
use super::vetoes;
use super::without_comma;
use super::words::{list, lists_at};

const WEIGHTS: &str = include_str!("../../data/directive_weights.txt");
/// Weights are stored in hundredths.
const SCALE: f32 = 100.0;
/// From this probability on a clause states one. Of a long turn of a user most is of the moment.
pub(super) const THRESHOLD: f32 = 0.4;
const LONG_TURN_THRESHOLD: f32 = 0.6;
/// The same of one that is asked for: most are of this one answer.
const ASKED_THRESHOLD: f32 = 0.8;
/// Less likely by so much in log-odds is nearly as likely.
const NEARLY: f32 = 0.3;
/// So many words of a text are some, and many.
const SOME_WORDS: usize = 12;
const MANY_WORDS: usize = 40;
/// Clauses of up to so many words are told apart by their length.
const LENGTHS: [usize; 5] = [3, 6, 10, 16, 25];

/// By the hash of a feature's name: names need not be put together while a text is read.
static WEIGHT_OF: LazyLock<HashMap<u64, f32>> = LazyLock::new(|| {
    let entry = |line: &str| {
        let (name, weight) = line.rsplit_once('\t')?;
        Some((hash(name.as_bytes(), HASH_START), weight.parse::<f32>().ok()? / SCALE))
    };
    WEIGHTS.lines().filter_map(entry).collect()
});

/// FNV-1a.
const HASH_START: u64 = 0xcbf2_9ce4_8422_2325;

fn hash(bytes: &[u8], start: u64) -> u64 {
    bytes.iter().fold(start, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Takes features: a kind, and the words that it is of.
trait Features {
    fn add(&mut self, kind: &str, words: &[&str]);
}

/// The sum of their weights.
#[derive(Default)]
struct Weighed(f32);

impl Features for Weighed {
    fn add(&mut self, kind: &str, words: &[&str]) {
        let mut name = hash(kind.as_bytes(), HASH_START);
        for (at, word) in words.iter().enumerate() {
            name = hash(if at == 0 { b":" } else { b" " }, name);
            name = hash(word.as_bytes(), name);
        }
        self.0 += WEIGHT_OF.get(&name).copied().unwrap_or(0.0);
    }
}

/// Their names.
#[derive(Default)]
struct Named(Vec<String>);

impl Features for Named {
    fn add(&mut self, kind: &str, words: &[&str]) {
        self.0.push(if words.is_empty() { kind.to_owned() } else { format!("{kind}:{}", words.join(" ")) });
    }
}

/// A sentence in its text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) voice: Voice,
    pub(super) is_first: bool,
    pub(super) is_last: bool,
    /// How many words the text of its speaker has.
    pub(super) words: usize,
}

impl Place {
    pub(super) fn is_alone(self) -> bool {
        self.is_first && self.is_last
    }
}

/// The clauses of a sentence, each with how likely it states a directive.
fn judged(sentence: &Sentence<'_>, place: Place) -> Vec<(f32, Clause)> {
    let of_tokens: Vec<f32> = (0..sentence.len()).map(|at| of_token(sentence, at)).collect();
    let of_pairs: Vec<f32> = (0..sentence.len()).map(|at| of_pair(sentence, at)).collect();
    let sums = (running(&of_tokens), running(&of_pairs));
    let likelihood = |clause: &Clause| {
        let Range { start, end } = clause.tokens;
        let mut around = Weighed::default();
        around_of(sentence, clause, place, &mut around);
        let sum = around.0 + sums.0[end] - sums.0[start] + sums.1[end - 1] - sums.1[start];
        1.0 / (1.0 + (-sum).exp())
    };
    clauses_of(sentence).into_iter().map(|clause| (likelihood(&clause), clause)).collect()
}

/// How likely a clause of the sentence states a directive.
pub(super) fn likelihood(sentence: &Sentence<'_>, place: Place) -> f32 {
    judged(sentence, place).into_iter().map(|(likelihood, _)| likelihood).fold(0.0, f32::max)
}

/// The directives of a sentence that are likelier than not.
pub(super) fn statements(sentence: &Sentence<'_>, place: Place) -> Vec<Statement> {
    let mut likely: Vec<(f32, Clause)> = judged(sentence, place)
        .into_iter()
        .filter(|(likelihood, clause)| {
            let least = match place.voice {
                _ if is_asked(sentence, clause) => ASKED_THRESHOLD,
                Voice::User if place.words >= MANY_WORDS => LONG_TURN_THRESHOLD,
                _ => THRESHOLD,
            };
            *likelihood >= least && !vetoes::states_none(sentence, clause, place.voice)
        })
        .collect();
    likely.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let mut taken: Vec<Statement> = Vec::new();
    for (likelihood, clause) in &likely {
        let stated = stated(sentence, whole(sentence, &likely, *likelihood, &clause.tokens));
        if !taken.iter().any(|other| stated.overlaps(other)) {
            taken.push(stated);
        }
    }
    taken
}

/// The clause that most likely states a directive, of a sentence that does; none where all are of somebody else.
pub(super) fn likeliest(sentence: &Sentence<'_>, place: Place) -> Option<Statement> {
    let mut judged = judged(sentence, place);
    judged.retain(|(_, clause)| !vetoes::is_of_another(sentence, clause));
    let (likelihood, clause) = judged.iter().max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    Some(stated(sentence, whole(sentence, &judged, *likelihood, &clause.tokens)))
}

/// What is stated in these tokens, with its condition.
fn stated(sentence: &Sentence<'_>, Range { start, end }: Range<usize>) -> Statement {
    let first = start + list("lead-in").at(sentence, start, end);
    let condition = conditions::leading_condition(sentence, first)
        .filter(|(_, comma)| comma + 1 < end)
        .or_else(|| without_comma::condition(sentence, first).filter(|(_, verb)| verb + 1 < end))
        .or_else(|| conditions::trailing_condition(sentence, start, end));
    let is_permission = ended::only_ends(sentence, (start, end));
    Statement { is_permission, ..Statement::new((start, end), condition) }
}

/// The longest of the clauses that go on from this one, tell no reason, and are nearly as likely: "always copy Jon | and Mia".
fn whole(
    sentence: &Sentence<'_>,
    likely: &[(f32, Clause)],
    likelihood: f32,
    tokens: &Range<usize>,
) -> Range<usize> {
    let goes_on = |other: &Range<usize>| {
        other.start == tokens.start
            && other.end >= tokens.end
            && conditions::reason(sentence, tokens.end.saturating_sub(1), other.end) == other.end
    };
    let is_near = |other: f32| log_odds(other) >= log_odds(likelihood) - NEARLY;
    let near = likely.iter().filter(|(other, clause)| goes_on(&clause.tokens) && is_near(*other));
    near.map(|(_, clause)| clause.tokens.clone()).max_by_key(Range::len).unwrap_or_else(|| tokens.clone())
}

pub(super) fn log_odds(likelihood: f32) -> f32 {
    (likelihood / (1.0 - likelihood)).ln()
}

/// "Can you look at it and suggest improvements?"
fn is_asked(sentence: &Sentence<'_>, clause: &Clause) -> bool {
    sentence.mark(clause.stretch.end) == Some("?")
}

fn running(values: &[f32]) -> Vec<f32> {
    let mut sums = vec![0.0];
    let mut sum = 0.0;
    sums.extend(values.iter().map(|value| {
        sum += value;
        sum
    }));
    sums
}

fn text<'s>(sentence: &'s Sentence<'_>, at: usize) -> &'s str {
    sentence.tokens[at].text.as_str()
}

/// What a token says in any clause that has it.
fn add_token(sentence: &Sentence<'_>, at: usize, features: &mut impl Features) {
    features.add("w", &[text(sentence, at)]);
    for list in lists_at(sentence, at) {
        features.add("l", &[list]);
    }
}

/// What a token says with the one behind it.
fn add_pair(sentence: &Sentence<'_>, at: usize, features: &mut impl Features) {
    if at + 1 < sentence.len() {
        features.add("b", &[text(sentence, at), text(sentence, at + 1)]);
    }
}

fn of_token(sentence: &Sentence<'_>, at: usize) -> f32 {
    let mut weighed = Weighed::default();
    add_token(sentence, at, &mut weighed);
    weighed.0
}

fn of_pair(sentence: &Sentence<'_>, at: usize) -> f32 {
    let mut weighed = Weighed::default();
    add_pair(sentence, at, &mut weighed);
    weighed.0
}

/// Where a clause begins and ends, how long it is, and what stands around it.
fn around_of(sentence: &Sentence<'_>, clause: &Clause, place: Place, features: &mut impl Features) {
    let Clause { tokens: Range { start, end }, stretch } = clause.clone();
    let voice = match place.voice {
        Voice::User => "user",
        Voice::Note => "note",
        Voice::Preference => "preference",
    };
    let text_length = match place.words {
        0..SOME_WORDS => "few",
        SOME_WORDS..MANY_WORDS => "some",
        _ => "many",
    };
    features.add("voice", &[voice]);
    features.add("voice in words", &[voice, text_length]);
    let words: Vec<&str> = (start..end).filter_map(|at| sentence.word(at)).collect();
    let length = LENGTHS.iter().position(|most| words.len() < *most).unwrap_or(LENGTHS.len());
    features.add("length", &[["0", "1", "2", "3", "4", "5"][length]]);
    for (kind, word) in ["first", "second", "third"].iter().zip(&words) {
        features.add(kind, &[word]);
    }
    for many in 2..=words.len().min(3) {
        features.add("begins", &words[..many]);
    }
    if let [first, .., last] | [first @ last] = words.as_slice() {
        features.add("last", &[last]);
        features.add("first of", &[voice, first]);
    }
    for list in lists_at(sentence, start) {
        features.add("begins list", &[list]);
    }
    let is_first = place.is_first && stretch.start == 0;
    let is_last = place.is_last && stretch.end + 1 >= sentence.len();
    if start > stretch.start {
        features.add("before", &[text(sentence, start - 1)]);
        if sentence.mark(start - 1) == Some(",") && start > stretch.start + 1 {
            features.add("before comma", &[text(sentence, start - 2)]);
        }
    } else {
        features.add("before", &[if is_first { "^" } else { "." }]);
    }
    match sentence.tokens.get(end) {
        Some(token) if end < stretch.end => features.add("after", &[&token.text]),
        Some(token) => features.add("ends", &[&token.text]),
        None => features.add("ends", &[]),
    }
    if is_first && start == stretch.start {
        features.add("opens", &[]);
    }
    if is_last && end == stretch.end {
        features.add("closes", &[]);
    }
    if sentence.is_item {
        features.add("item", &[]);
    }
    for said in ["i", "you", "he", "she", "they", "we", "said", "says", "told"] {
        if (stretch.start..start).any(|at| sentence.word(at) == Some(said)) {
            features.add("head", &[said]);
        }
    }
}

/// The names of all features of a clause.
pub(super) fn features_of(sentence: &Sentence<'_>, clause: &Clause, place: Place) -> Vec<String> {
    let mut named = Named::default();
    around_of(sentence, clause, place, &mut named);
    for at in clause.tokens.clone() {
        add_token(sentence, at, &mut named);
        if at + 1 < clause.tokens.end {
            add_pair(sentence, at, &mut named);
        }
    }
    named.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_weights_is_a_feature_of_its_own() {
        let lines = WEIGHTS.lines().count();
        assert!(lines > 1000, "{lines}");
        assert_eq!(WEIGHT_OF.len(), lines, "a line cannot be read, or two names have one hash");
    }
}
