//! The part of a passage that shows best why it was found.

use unicode_segmentation::UnicodeSegmentation;

use memory_language::lexicon::Reader;
use memory_language::text::cut;

/// The longest snippet, in characters.
pub const SNIPPET_MAX_CHARS: usize = 320;

/// The whole passage where it is short; else the stretch of sentences that has the most of the query's
/// words, `…` marking what was left out.
pub fn snippet(passage: &str, query: Option<&mut Reader<'_>>) -> String {
    snippet_within(passage, SNIPPET_MAX_CHARS, query)
}

/// The same of a passage, or of a snippet, within so many characters.
pub fn snippet_within(passage: &str, max_chars: usize, query: Option<&mut Reader<'_>>) -> String {
    if passage.chars().count() <= max_chars {
        return passage.to_owned();
    }
    let Some(query) = query else { return cut(passage, max_chars) };
    let sentences: Vec<(usize, &str)> = passage.split_sentence_bound_indices().collect();
    let scores: Vec<usize> = sentences.iter().map(|(_, text)| query.met_by(text)).collect();
    let mut best = (0, 0..1);
    for start in 0..sentences.len() {
        let (mut end, mut chars, mut score) = (start, 0, 0);
        while end < sentences.len() && (end == start || chars + sentences[end].1.chars().count() <= max_chars)
        {
            chars += sentences[end].1.chars().count();
            score += scores[end];
            end += 1;
        }
        if score > best.0 || start == 0 {
            best = (score, start..end);
        }
    }
    let from = sentences[best.1.start].0;
    let to = sentences.get(best.1.end).map_or(passage.len(), |(at, _)| *at);
    let stretch = passage[from..to].trim();
    let lead = if from > 0 && !stretch.starts_with('…') { "…" } else { "" };
    let shown = cut(stretch, max_chars);
    let trail = if to < passage.len() && !shown.ends_with('…') { "…" } else { "" };
    format!("{lead}{shown}{trail}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use memory_language::lexicon::Query;

    #[test]
    fn a_snippet_shows_the_sentences_that_match() {
        let filler = "The weather was fine and nobody said a thing about it. ".repeat(8);
        let passage = format!("{filler}Alice promised the API design by Friday. {filler}");
        let shown = snippet(&passage, Some(&mut Query::new("api design alice").reader()));
        assert!(shown.contains("Alice promised"), "{shown}");
        assert!(shown.starts_with('…') && shown.ends_with('…'));
        assert!(shown.chars().count() <= SNIPPET_MAX_CHARS + 2);
        assert_eq!(snippet("Short.", Some(&mut Query::new("x").reader())), "Short.");
        assert!(
            snippet(&"x".repeat(5000), Some(&mut Query::new("y").reader())).chars().count()
                <= SNIPPET_MAX_CHARS + 2
        );
    }

    #[test]
    fn a_snippet_is_shortened_around_what_matches() {
        let filler = "The weather was fine and nobody said a thing about it. ";
        let passage =
            format!("{}Alice promised the API design by Friday. {}", filler.repeat(9), filler.repeat(9));
        let query = Query::new("api design alice");
        let shown = snippet(&passage, Some(&mut query.reader()));
        for max_chars in [200, 100, 60] {
            let shorter = snippet_within(&shown, max_chars, Some(&mut query.reader()));
            assert!(shorter.contains("Alice promised the API design"), "{max_chars}: {shorter}");
            assert!(shorter.chars().count() <= max_chars + 2 && !shorter.contains("……"), "{shorter}");
        }
    }
}
