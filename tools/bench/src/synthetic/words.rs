//! Invented words that no stemmer takes for forms of each other, led by the commonest of English, which tell the
//! language.

use measuring::random::Random;

const WORDS: usize = 50_000;
const COMMON: &str = "the of and to in is for that was on with as it be by this from at are an have not or which were has \
    but we they their can will its been more when all would there about into than so some could out other time up only \
    may then also after first any these two new over most made like our should where now such through people between \
    before work must many need both way those while because good same even each how then last still since own under year";
const CONSONANTS: &[u8; 12] = b"bdfgklmnprtv";
const VOWELS: &[u8; 4] = b"aiou";
/// None of these ends an English suffix after one of the vowels.
const ENDS: &[u8; 5] = b"kpbgm";

pub(super) struct Vocabulary {
    words: Vec<String>,
    /// The share of the text that the words up to each make up.
    cumulated: Vec<f64>,
}

impl Vocabulary {
    pub(super) fn new() -> Self {
        let mut words: Vec<String> = Vec::with_capacity(WORDS);
        for word in COMMON.split_whitespace() {
            if !words.iter().any(|known| known == word) {
                words.push(word.to_owned());
            }
        }
        let invented = WORDS - words.len();
        words.extend((0..invented).map(invent));
        let mut cumulated: Vec<f64> = Vec::with_capacity(WORDS);
        let mut sum = 0.0;
        for rank in 1..=WORDS {
            // A little flatter at the top than 1/rank, as texts are (Mandelbrot).
            sum += 1.0 / (rank as f64 + 2.7);
            cumulated.push(sum);
        }
        for share in &mut cumulated {
            *share /= sum;
        }
        Self { words, cumulated }
    }

    /// A word, as often as its rank says.
    pub(super) fn word(&self, random: &mut Random) -> &str {
        let drawn = random.share();
        let rank = self.cumulated.partition_point(|share| *share < drawn);
        &self.words[rank.min(self.words.len() - 1)]
    }
}

/// One of 2,500 names.
pub(super) fn person(random: &mut Random) -> String {
    format!(
        "{} {}",
        capitalised(&invent(random.below(50) * 997)),
        capitalised(&invent(random.below(50) * 1_009))
    )
}

/// One of 300 projects.
pub(super) fn project(random: &mut Random) -> String {
    format!("project {}", capitalised(&invent(random.below(300) * 131 + 7)))
}

/// A ticket, a file or a version.
pub(super) fn identifier(random: &mut Random) -> String {
    match random.below(3) {
        0 => format!("{}-{}", invent(random.below(40)).to_uppercase(), random.below(20_000)),
        1 => format!("src/{}/{}.rs", invent(random.below(200)), invent(random.below(5_000))),
        _ => format!("v{}.{}.{}", random.below(9), random.below(40), random.below(60)),
    }
}

fn capitalised(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
}

/// The invented word of this number, two to four syllables; different for each number below 4.4 million.
fn invent(number: usize) -> String {
    let mut rest = number;
    let mut next = |choices: &[u8]| {
        let letter = char::from(choices[rest % choices.len()]);
        rest /= choices.len();
        letter
    };
    let mut word = String::new();
    word.push(next(CONSONANTS));
    word.push(next(VOWELS));
    word.push(next(CONSONANTS));
    word.push(next(VOWELS));
    let end = next(ENDS);
    while rest > 0 {
        // Digits without a zero, so that no number is another with zeros before it.
        let digit = (rest - 1) % (CONSONANTS.len() * VOWELS.len());
        rest = (rest - 1) / (CONSONANTS.len() * VOWELS.len());
        word.push(char::from(CONSONANTS[digit % CONSONANTS.len()]));
        word.push(char::from(VOWELS[digit / CONSONANTS.len()]));
    }
    word.push(end);
    word
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use memory_language::lexicon::lexeme_counts;

    use super::*;

    #[test]
    fn invented_words_stay_different_when_they_are_stemmed() {
        let vocabulary = Vocabulary::new();
        assert_eq!(vocabulary.words.len(), WORDS);
        let invented: Vec<&String> = vocabulary.words[200..].iter().step_by(7).collect();
        let stems: HashSet<String> = invented
            .iter()
            .map(|word| lexeme_counts(&format!("the {word} was with them")).counts)
            .flat_map(|counts| counts.into_iter().map(|(lexeme, _)| lexeme))
            .collect();
        assert!(stems.len() >= invented.len(), "{} of {}", stems.len(), invented.len());
    }

    #[test]
    fn few_words_make_up_much_of_a_text_and_many_stand_there_once() {
        let vocabulary = Vocabulary::new();
        let mut random = Random::new(1);
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for _ in 0..100_000 {
            *counts.entry(vocabulary.word(&mut random)).or_default() += 1;
        }
        assert!(counts["the"] > 1_500 && counts["the"] < 4_000, "{}", counts["the"]);
        assert!(counts.values().filter(|n| **n == 1).count() > 5_000);
    }
}
