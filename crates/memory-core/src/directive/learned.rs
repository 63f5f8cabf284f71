//! How likely a clause states a directive: a logistic regression over its words, what stands around it, and the lists of
//! `data/directives.txt`. `train-clauses --directives` writes its weights.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use super::clauses::{self, Statement, goes_on, is_anothers, is_reported};
use super::conditions;
use super::sentence::Sentence;
use super::speakers::Voice;
use super::words::{list, lists_at};

const WEIGHTS: &str = include_str!("../../data/directive_weights.txt");
/// Weights are stored in hundredths.
const SCALE: f32 = 100.0;
/// From this probability on a clause states one. Of a long turn of a user most is of the moment.
const THRESHOLD: f32 = 0.4;
const LONG_TURN_THRESHOLD: f32 = 0.8;
/// The same of one that is asked for: most are of this one answer.
const ASKED_THRESHOLD: f32 = 0.8;
/// Less likely by so much in log-odds is nearly as likely.
const NEARLY: f32 = 0.3;
/// So many words of a text are some, and many.
const SOME_WORDS: usize = 12;
const MANY_WORDS: usize = 40;
/// The most pieces between commas and conjunctions that one clause has.
const PIECES_MAX: usize = 4;
/// "From this week on" has no more tokens.
const SINCE_MAX: usize = 5;
/// "Between the first and the last" has no more tokens before its "and".
const BETWEEN_MAX: usize = 5;
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

/// A range of tokens that may be a directive, and the stretch without strong marks that it stands in.
#[derive(Debug, Clone)]
pub(super) struct Clause {
    pub(super) tokens: Range<usize>,
    stretch: Range<usize>,
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
            *likelihood >= least
                && !sentence.is_quoted(clause.tokens.start)
                && !goes_on(sentence, clause.tokens.start)
                && !is_contrast(sentence, clause.tokens.start)
                && !is_of_past(sentence, clause.tokens.start)
                && !tells_of_the_moment(sentence, clause.tokens.start)
                && !is_only_condition(sentence, &clause.tokens)
                && !is_anothers(sentence, clause.tokens.start)
                && !clauses::tells_of_another(sentence, (clause.tokens.start, clause.tokens.end))
                && !clauses::is_contact(sentence, (clause.tokens.start, clause.stretch.end))
                && !is_reported(sentence, clause.tokens.start)
        })
        .collect();
    likely.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let mut taken: Vec<Statement> = Vec::new();
    for (likelihood, clause) in &likely {
        let Range { start, end } = whole(sentence, &likely, *likelihood, &clause.tokens);
        let condition = conditions::leading_condition(sentence, start)
            .filter(|(_, comma)| comma + 1 < end)
            .or_else(|| conditions::trailing_condition(sentence, start, end));
        let stated = Statement::new((start, end), condition);
        if !taken.iter().any(|other| stated.overlaps(other)) {
            taken.push(stated);
        }
    }
    taken
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

fn log_odds(likelihood: f32) -> f32 {
    (likelihood / (1.0 - likelihood)).ln()
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

/// "I've never used Docker", "I'm not sure where to start": where somebody stands, and not what is wanted.
fn tells_of_the_moment(sentence: &Sentence<'_>, start: usize) -> bool {
    let at = start + usize::from(matches!(sentence.word(start), Some("so" | "but" | "and" | "because")));
    match (sentence.word(at), sentence.word(at + 1), sentence.word(at + 2)) {
        (Some("i've"), Some("never" | "been" | "realized" | "tried"), _)
        | (Some("i"), Some("have"), Some("never" | "been")) => true,
        (Some("i'm"), Some(next), third) => {
            matches!(
                next,
                "trying" | "looking" | "wondering" | "struggling" | "confused" | "having" | "unsure"
            ) || (matches!(next, "not" | "really") && matches!(third, Some("sure" | "confused" | "certain")))
        }
        _ => false,
    }
}

/// "Can you look at it and suggest improvements?"
fn is_asked(sentence: &Sentence<'_>, clause: &Clause) -> bool {
    sentence.mark(clause.stretch.end) == Some("?")
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

/// What may be a directive: up to four neighbouring pieces between commas and conjunctions.
pub(super) fn clauses_of(sentence: &Sentence<'_>) -> Vec<Clause> {
    let mut found = Vec::new();
    let (mut start, mut aside_end) = (0, 0);
    for at in 0..=sentence.len() {
        aside_end = clauses::aside(sentence, at).unwrap_or(0).max(aside_end);
        let is_aside = aside_end > 0 && at <= aside_end;
        let ends = at == sentence.len()
            || matches!(
                sentence.mark(at),
                Some(";" | "—" | "–" | "-" | "(" | ")" | ":" | "!" | "?" | "." | "…")
            );
        if ends && !is_aside {
            of_stretch(sentence, start..at, &mut found);
            start = at + 1;
        }
    }
    found
}

fn of_stretch(sentence: &Sentence<'_>, stretch: Range<usize>, found: &mut Vec<Clause>) {
    let joins = |at: usize| matches!(sentence.word(at), Some("but" | "so" | "and"));
    let is_comma = |at: usize| sentence.mark(at) == Some(",");
    let mut cuts = vec![stretch.start];
    for at in stretch.clone() {
        if is_one(sentence, &stretch, at) {
            continue;
        }
        if is_comma(at) && at + 1 < stretch.end {
            cuts.push(at + 1);
        } else if joins(at) && at > stretch.start && !is_comma(at - 1) {
            cuts.push(at);
        }
    }
    cuts.push(stretch.end);
    for first in 0..cuts.len() - 1 {
        for last in first + 1..cuts.len().min(first + 1 + PIECES_MAX) {
            let (mut start, mut end) = (cuts[first], cuts[last]);
            while end > start && is_comma(end - 1) {
                end -= 1;
            }
            while start < end && (is_comma(start) || joins(start)) {
                start += 1;
            }
            if (start..end).any(|at| sentence.word(at).is_some()) {
                found.push(Clause { tokens: start..end, stretch: stretch.clone() });
            }
        }
    }
}

/// "Between 18:00 | and 19:30", "'P. Adeyemi, | Treasurer'": here nothing ends.
fn is_one(sentence: &Sentence<'_>, stretch: &Range<usize>, at: usize) -> bool {
    let near = stretch.start.max(at.saturating_sub(BETWEEN_MAX))..at;
    if sentence.word(at) == Some("and") {
        let between = near.clone().rev().find(|at| sentence.word(*at) == Some("between"));
        return between.is_some_and(|from| {
            !(from..at).any(|at| sentence.mark(at).is_some() || sentence.word(at) == Some("and"))
        });
    }
    sentence.mark(at) == Some(",") && sentence.is_in_name(at)
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
