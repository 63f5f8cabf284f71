//! A world of invented notes: the same for the same seed, of any size, each note made by its number alone.
//!
//! Words follow Zipf's law, as those of people do; vectors lie to each other as those of models do.

mod vectors;
mod words;

use std::fmt::Write;

use memory_core::artifact::Draft;

pub use self::vectors::SyntheticModel;

use self::vectors::Clusters;
use self::words::{Vocabulary, identifier, person, project};
use measuring::random::Random;

/// Raised whenever the same seed gives other notes.
pub const GENERATOR_VERSION: u32 = 2;
/// The first note's day, in seconds since 1970: 2023-01-01.
const FIRST_DAY: i64 = 1_672_531_200;
const DAYS: usize = 1_000;

/// What the notes are made of.
pub struct World {
    seed: u64,
    vocabulary: Vocabulary,
    clusters: Clusters,
}

impl World {
    pub fn new(seed: u64, dimension: usize) -> Self {
        Self { seed, vocabulary: Vocabulary::new(), clusters: Clusters::new(seed, dimension) }
    }

    /// The note of this number: three to five sentences, about 45 words.
    pub fn note(&self, number: u64) -> Draft {
        let mut random = Random::of(self.seed, number);
        let (author, about) = (person(&mut random), person(&mut random));
        let mut content = format!("{author} and {about} on {}", project(&mut random));
        for sentence in 0..3 + random.below(3) {
            for n in 0..8 + random.below(5) {
                let word = self.vocabulary.word(&mut random);
                if n == 0 && sentence > 0 {
                    content.push_str(". ");
                    content.extend(word.chars().next().map(|c| c.to_ascii_uppercase()));
                    content.push_str(&word[1..]);
                } else {
                    content.push(' ');
                    content.push_str(word);
                }
            }
            if random.below(4) == 0 {
                content.push(' ');
                content.push_str(&identifier(&mut random));
            }
        }
        // No two notes are the same text.
        let _ = write!(content, ". Note N-{number}.");
        let day = FIRST_DAY + (random.below(DAYS) * 86_400 + random.below(86_400)) as i64;
        Draft {
            content,
            context: Some("note".to_owned()),
            author: Some(author),
            date: jiff::Timestamp::from_second(day).ok().map(|date| date.to_string()),
            ..Draft::default()
        }
    }

    /// The states of the tokens of a note, compressed.
    pub fn states(&self, text: &str) -> Vec<u8> {
        vectors::compressed_tokens(text, self.clusters.dimension())
    }

    /// The unit vector of the note of this number.
    pub fn vector(&self, number: u64) -> Vec<f32> {
        self.clusters.draw(&mut Random::of(!self.seed, number))
    }

    /// A question of two to six words: some that are in one of the first `notes` notes, some as they come, at times an
    /// identifier or a name.
    pub fn question(&self, number: u64, notes: u64) -> String {
        let mut random = Random::of(self.seed.rotate_left(17), number);
        let note = self.note(random.bits() % notes.max(1)).content;
        let of_note: Vec<&str> = note.split_whitespace().collect();
        let words = 2 + random.below(5);
        let from_note = 1 + random.below(words);
        let mut question: Vec<String> = Vec::new();
        for n in 0..words {
            question.push(if n < from_note {
                (*random.pick(&of_note)).to_owned()
            } else {
                self.vocabulary.word(&mut random).to_owned()
            });
        }
        question.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_made_by_its_number_and_differs_from_all_others() {
        let (world, again) = (World::new(7, 16), World::new(7, 16));
        let notes: Vec<String> = (0..500).map(|n| world.note(n).content).collect();
        assert_eq!(notes[499], again.note(499).content);
        assert_eq!(world.vector(499), again.vector(499));
        let distinct: std::collections::HashSet<&String> = notes.iter().collect();
        assert_eq!(distinct.len(), notes.len());
        let words = notes.iter().map(|n| n.split_whitespace().count()).sum::<usize>() / notes.len();
        assert!((40..55).contains(&words), "{words}");
        assert!(memory_core::artifact::NewArtifact::new(world.note(3)).is_ok());
    }

    #[test]
    fn questions_have_two_to_six_words_of_which_one_at_least_stands_in_a_note() {
        let world = World::new(7, 16);
        let notes: Vec<String> = (0..50).map(|n| world.note(n).content).collect();
        for n in 0..200 {
            let question = world.question(n, 50);
            let words: Vec<&str> = question.split_whitespace().collect();
            assert!((2..=6).contains(&words.len()), "{question}");
            assert!(notes.iter().any(|note| note.split_whitespace().any(|w| w == words[0])), "{question}");
        }
    }
}
