//! The part of a passage that shows best why it was found.

use std::ops::Range;

use memory_language::lexicon::Reader;
use memory_language::text::cut;
use memory_vectors::late_interaction::MetTokens;
use unicode_segmentation::UnicodeSegmentation;

/// The longest snippet of one of the first results, and of one behind them, in characters.
const MAX_CHARS: (usize, usize) = (480, 250);
/// So many results have the longer ones: what is wanted is mostly among them.
const FIRST: usize = 3;
/// What all words of a question weigh beside a likeness between −1 and 1.
const WORDS_WEIGHT: f32 = 0.02;

/// The longest snippet of a result by its place from 0, in characters.
pub fn max_chars(place: usize) -> usize {
    if place < FIRST { MAX_CHARS.0 } else { MAX_CHARS.1 }
}

/// How well the tokens of a passage meet a question, and where they stand: with little error they are as long as each other.
#[derive(Debug, Clone, PartialEq)]
pub struct PassageTokens {
    pub met: MetTokens,
    /// How many characters the model has read before the passage.
    pub before: usize,
    pub chars: usize,
}

impl PassageTokens {
    fn within(&self, chars: Range<usize>) -> f32 {
        let of_char = self.met.count() as f32 / (self.before + self.chars).max(1) as f32;
        let begin = (self.before + chars.start) as f32 * of_char;
        let end = (self.before + chars.end) as f32 * of_char;
        self.met.within(begin.round() as usize..(end.round() as usize).min(self.met.count()))
    }
}

/// The whole passage where it is short; else the stretch of sentences within so many characters that meets the question best,
/// by its tokens where they are known and by its words, `…` marking what was left out.
pub fn snippet(
    passage: &str,
    max_chars: usize,
    query: Option<&mut Reader<'_>>,
    tokens: Option<&PassageTokens>,
) -> String {
    if passage.chars().count() <= max_chars {
        return passage.to_owned();
    }
    let Some(query) = query else { return cut(passage, max_chars) };
    let sentences: Vec<Sentence> = sentences(passage, query);
    let mut best = (f32::MIN, 0..1);
    for start in 0..sentences.len() {
        let (mut end, mut chars, mut words) = (start, 0, 0);
        while end < sentences.len() && (end == start || chars + sentences[end].chars <= max_chars) {
            chars += sentences[end].chars;
            words += sentences[end].words;
            end += 1;
        }
        let words = words as f32 / query.term_count().max(1) as f32;
        let score = tokens.map_or(words, |tokens| {
            let from = sentences[start].char_at;
            tokens.within(from..from + chars.min(max_chars)) + WORDS_WEIGHT * words
        });
        if score > best.0 {
            best = (score, start..end);
        }
    }
    let from = sentences[best.1.start].at;
    let to = sentences.get(best.1.end).map_or(passage.len(), |sentence| sentence.at);
    let stretch = passage[from..to].trim();
    let lead = if from > 0 && !stretch.starts_with('…') { "…" } else { "" };
    let shown = cut(stretch, max_chars);
    let trail = if to < passage.len() && !shown.ends_with('…') { "…" } else { "" };
    format!("{lead}{shown}{trail}")
}

/// A sentence of a passage.
struct Sentence {
    /// Where it begins, in bytes and in characters.
    at: usize,
    char_at: usize,
    chars: usize,
    /// How many of the question's words it has.
    words: usize,
}

fn sentences(passage: &str, query: &mut Reader<'_>) -> Vec<Sentence> {
    let mut char_at = 0;
    let sentence = |(at, text): (usize, &str)| {
        let chars = text.chars().count();
        char_at += chars;
        Sentence { at, char_at: char_at - chars, chars, words: query.met_by(text) }
    };
    passage.split_sentence_bound_indices().map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory_language::lexicon::Query;
    use memory_vectors::late_interaction::{WeighedToken, compress};

    const FILLER: &str = "The weather was fine and nobody said a thing about it. ";

    #[test]
    fn a_snippet_shows_the_sentences_that_match() {
        let filler = FILLER.repeat(8);
        let passage = format!("{filler}Alice promised the API design by Friday. {filler}");
        let shown = snippet(&passage, 320, Some(&mut Query::new("api design alice").reader()), None);
        assert!(shown.contains("Alice promised"), "{shown}");
        assert!(shown.starts_with('…') && shown.ends_with('…'));
        assert!(shown.chars().count() <= 322);
        assert_eq!(snippet("Short.", 320, Some(&mut Query::new("x").reader()), None), "Short.");
        let long = snippet(&"x".repeat(5000), 320, Some(&mut Query::new("y").reader()), None);
        assert!(long.chars().count() <= 322);
    }

    #[test]
    fn a_snippet_is_shortened_around_what_matches() {
        let passage =
            format!("{}Alice promised the API design by Friday. {}", FILLER.repeat(9), FILLER.repeat(9));
        let query = Query::new("api design alice");
        let shown = snippet(&passage, 320, Some(&mut query.reader()), None);
        for max_chars in [200, 100, 60] {
            let shorter = snippet(&shown, max_chars, Some(&mut query.reader()), None);
            assert!(shorter.contains("Alice promised the API design"), "{max_chars}: {shorter}");
            assert!(shorter.chars().count() <= max_chars + 2 && !shorter.contains("……"), "{shorter}");
        }
    }

    /// A token of eight numbers, like another of the same kind and unlike all others.
    fn state(kind: usize) -> [f32; 8] {
        let mut state = [-1.0_f32; 8];
        state[kind] = 1.0;
        state.map(|number| number / 8.0_f32.sqrt())
    }

    #[test]
    fn where_tokens_are_known_a_snippet_shows_what_is_meant_in_other_words() {
        let passage =
            format!("{}She moved to Oslo. {}The API design is old.", FILLER.repeat(4), FILLER.repeat(6));
        let at = FILLER.len() * 4;
        // A token for every ten characters, behind a title of forty.
        let tokens: Vec<[f32; 8]> =
            (0..(40 + passage.len()) / 10).map(|n| state(usize::from(n == (40 + at) / 10 + 1))).collect();
        let states = compress(&tokens.iter().map(<[f32; 8]>::as_slice).collect::<Vec<_>>());
        let wanted = state(1);
        let met = MetTokens::new(&[WeighedToken { weight: 1.0, state: &wanted }], &states).unwrap();
        let tokens = PassageTokens { met, before: 40, chars: passage.chars().count() };
        let query = Query::new("Where does Alice of the API design live now?");
        let shown = |tokens| snippet(&passage, 100, Some(&mut query.reader()), tokens);
        assert!(shown(Some(&tokens)).contains("Oslo"), "{}", shown(Some(&tokens)));
        assert!(shown(None).contains("API design"));
    }

    #[test]
    fn the_first_results_have_longer_snippets() {
        assert!(max_chars(0) == max_chars(2) && max_chars(2) > max_chars(3) && max_chars(3) == max_chars(9));
    }
}
