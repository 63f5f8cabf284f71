//! Whether a text tells by its words that something is otherwise than it was ("no longer", "from Monday on", "it's Tom now"), or that
//! something promised is done or dropped ("went off", "all back"). English ones are known.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// Words and pairs and triples of words (numbers are "0"), what each speaks for, and of no word the bias. Learned by
/// `tools/train-clauses/changed_values/fit.py` and `said_later/words.py`.
static OF_CHANGE: LazyLock<Weights> =
    LazyLock::new(|| Weights::read(include_str!("../../data/change_weights.txt")));
static OF_END: LazyLock<Weights> =
    LazyLock::new(|| Weights::read(include_str!("../../data/end_weights.txt")));
/// So many words one after the other are looked up.
const WORDS_MAX: usize = 3;

/// Whether a text tells that a fact has changed.
pub fn tells_change(text: &str) -> bool {
    OF_CHANGE.sum(text) > 0.0
}

/// How much the words of a text tell that something is done, has happened or is dropped, whatever it is: log-odds, shifted so that
/// most of the texts that do are above 0.
pub fn end_words(text: &str) -> f32 {
    OF_END.sum(text)
}

struct Weights(HashMap<&'static str, f32>);

impl Weights {
    fn read(lines: &'static str) -> Self {
        let weights = lines.lines().map(|line| line.split_once('\t').expect("words and a weight"));
        Self(weights.map(|(words, weight)| (words, weight.parse().expect("a number"))).collect())
    }

    /// The bias and the weights of the words of a text, each counted once.
    fn sum(&self, text: &str) -> f32 {
        let words = words(text);
        let said: HashSet<String> =
            (1..=WORDS_MAX).flat_map(|count| words.windows(count).map(|words| words.join(" "))).collect();
        let weight = |words: &str| self.0.get(words).copied().unwrap_or_default();
        weight("") + said.iter().map(|words| weight(words)).sum::<f32>()
    }
}

/// Words in small letters from a to z with apostrophes, "0" for each number, and every mark by itself.
fn words(text: &str) -> Vec<String> {
    let text = text.to_lowercase().replace('’', "'");
    let mut chars = text.chars().peekable();
    let mut words = Vec::new();
    while let Some(first) = chars.next() {
        let mut run = |more: fn(char) -> bool| {
            let mut word = String::from(first);
            while let Some(char) = chars.next_if(|char| more(*char)) {
                word.push(char);
            }
            word
        };
        if is_letter(first) {
            words.push(run(is_letter));
        } else if first.is_ascii_digit() {
            run(|char| char.is_ascii_digit() || matches!(char, '.' | ',' | ':'));
            words.push("0".to_owned());
        } else if !first.is_alphanumeric() && !first.is_whitespace() && first != '_' {
            words.push(first.to_string());
        }
    }
    words
}

fn is_letter(char: char) -> bool {
    char.is_ascii_lowercase() || char == '\''
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_they_were_learned() {
        assert_eq!(
            words("It’s £9.20 a sack: from 7:30, café_s"),
            ["it's", "£", "0", "a", "sack", ":", "from", "0", "caf", "s"]
        );
    }

    #[test]
    fn a_text_that_says_what_is_otherwise_tells_a_change() {
        assert!(tells_change("As of Monday we open at seven."));
        assert!(tells_change("Old vet retired, so we're with Hillside now."));
        assert!(!tells_change("Should we go over to Xero?"));
        assert!(!tells_change("Rent is due on the 3rd."));
        assert!(!tells_change(""));
        assert!(tells_change("As of today the bias is 0.3."), "a word is no bias");
    }

    #[test]
    fn a_text_that_says_what_is_done_or_dropped_tells_an_end() {
        assert!(end_words("The certificate paperwork went off this morning.") > 0.0);
        assert!(end_words("Assembly's been called off, so no costume needed.") > 0.0);
        assert!(end_words("I'll get to the paperwork on Friday.") < 0.0);
        assert!(end_words("Is the roof box back?") < 0.0);
    }

    #[test]
    fn of_labelled_texts_it_finds_as_many_as_in_training() {
        #[derive(serde::Deserialize)]
        struct Line {
            text: String,
            replaces: Vec<serde::de::IgnoredAny>,
        }
        let mut counts = [[0; 2]; 2];
        for stream in [
            include_str!("../../../../tests/gold/ending/values/choir.jsonl"),
            include_str!("../../../../tests/gold/ending/values/devops.jsonl"),
            include_str!("../../../../tests/gold/ending/values/museum.jsonl"),
        ] {
            for line in stream.lines() {
                let line: Line = serde_json::from_str(line).expect("a text");
                counts[usize::from(!line.replaces.is_empty())][usize::from(tells_change(&line.text))] += 1;
            }
        }
        let [[_, wrong], [missed, found]] = counts;
        assert!(found >= 34 && missed <= 20 && wrong <= 29, "{counts:?}");
    }
}
