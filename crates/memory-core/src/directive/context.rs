//! What is read of a directive to tell on which requests it bears: more than its quote, since what stands around it tells why it is wanted
//! and of whom.

use std::ops::Range;

use memory_language::sentence::sentences;
use memory_language::text::{CharIndex, CharSpan};

/// So many characters before and behind its quote are enough to read.
pub const AROUND_CHARS: usize = 300;
/// A text up to this is read as a whole.
const SHORT_MAX_CHARS: usize = 240;
/// A sentence beyond this is about more than its directive.
const SENTENCE_MAX_CHARS: usize = 400;

/// All of a short text that states nothing else; of other texts the sentences that the directive stands in, unless another one is
/// stated there or they are long: then its quote. With the condition where that stands elsewhere.
///
/// `excerpt` is the text, or what of it lies within [`AROUND_CHARS`] of the quote; spans count its characters, and `others` are those of
/// other directives of the text. Nothing where the span reaches past the end.
pub fn with_context(
    excerpt: &str,
    span: CharSpan,
    condition: Option<&str>,
    others: &[CharSpan],
) -> Option<String> {
    let index = CharIndex::new(excerpt);
    let quote = index.byte_at(excerpt, span.start)?..index.byte_at(excerpt, span.end)?;
    let is_short = |text: &str, max: usize| text.chars().nth(max).is_none();
    let read = if others.is_empty() && is_short(excerpt, SHORT_MAX_CHARS) {
        excerpt.trim()
    } else {
        let around = &excerpt[sentences_around(excerpt, &quote)];
        let reach = index.span(excerpt, offset(excerpt, around));
        let is_shared = others.iter().any(|other| other.start < reach.end && reach.start < other.end);
        if is_shared || !is_short(around, SENTENCE_MAX_CHARS) { &excerpt[quote] } else { around }
    };
    Some(match condition.filter(|condition| !read.contains(condition)) {
        Some(condition) => format!("{condition}: {read}"),
        None => read.to_owned(),
    })
}

/// From the first to the last sentence that has a part of the quote.
fn sentences_around(text: &str, quote: &Range<usize>) -> Range<usize> {
    let all = sentences(text).map(|sentence| offset(text, sentence));
    let own = all.filter(|sentence| sentence.start < quote.end && quote.start < sentence.end);
    own.fold(quote.clone(), |reach, it| reach.start.min(it.start)..reach.end.max(it.end))
}

/// Where a part of a text lies in it, in bytes.
fn offset(text: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - text.as_ptr().addr();
    start..start + part.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, quote: &str, condition: Option<&str>, others: &[&str]) -> String {
        let span = |part: &str| {
            let start = text.find(part).expect("it stands there");
            CharIndex::new(text).span(text, start..start + part.len())
        };
        let others: Vec<CharSpan> = others.iter().map(|other| span(other)).collect();
        with_context(text, span(quote), condition, &others).expect("the span is within")
    }

    #[test]
    fn why_and_of_whom_is_read_too() {
        let short = "Jonas was bitten once. No dogs, please!";
        assert_eq!(read(short, "No dogs, please", None, &[]), short);
        let long = format!(
            "{} We fly as little as we can – inside Europe it's rail. {}",
            "Well. ".repeat(50),
            "So. ".repeat(50)
        );
        assert_eq!(
            read(&long, "inside Europe it's rail", None, &[]),
            "We fly as little as we can – inside Europe it's rail."
        );
    }

    #[test]
    fn of_two_in_a_sentence_each_is_read_alone() {
        let both = "Tests in vitest, commits in English, and I've a cold. I don't fly.";
        assert_eq!(
            read(both, "Tests in vitest", None, &["commits in English", "I don't fly"]),
            "Tests in vitest"
        );
        assert_eq!(read(both, "I don't fly", None, &["commits in English"]), "I don't fly.");
    }

    #[test]
    fn a_condition_that_stands_elsewhere_is_read_before_it() {
        assert_eq!(read("- use tabs", "use tabs", Some("In Go"), &[]), "In Go: - use tabs");
        assert_eq!(read("In Go use tabs", "use tabs", Some("In Go"), &[]), "In Go use tabs");
        assert_eq!(with_context("short", CharSpan::new(2, 9), None, &[]), None);
    }
}
