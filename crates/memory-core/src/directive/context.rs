//! What is read of a directive to tell on which requests it bears: more than its quote, since what stands around it tells why it is wanted
//! and of whom.

use std::ops::Range;

use memory_language::sentence::sentences;
use memory_language::text::{CharIndex, CharSpan};

use super::back::leans_on_sentence_before;

/// So many characters before and behind its quote are enough to read.
pub const AROUND_CHARS: usize = 300;
/// A text up to this is read as a whole.
const SHORT_MAX_CHARS: usize = 240;
/// A sentence beyond this is about more than its directive.
const SENTENCE_MAX_CHARS: usize = 400;
/// The same of one that is shown, which has so many words more than the quote at least.
const SHOWN_MAX_CHARS: usize = 240;
const MORE_WORDS: usize = 3;
/// The same with the sentence before it, which says of what it is.
const SHOWN_WITH_BEFORE_MAX_CHARS: usize = 300;

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
        sentences_around(excerpt, &quote, (&index, others), SENTENCE_MAX_CHARS).unwrap_or(&excerpt[quote])
    };
    Some(match condition.filter(|condition| !read.contains(condition)) {
        Some(condition) => format!("{condition}: {read}"),
        None => read.to_owned(),
    })
}

/// The sentence that a directive stands in, with the one before it where its words point back to that: where it says more than the quote
/// and is short enough to be shown beside it. Arguments are those of [`with_context`].
pub fn sentence_of<'a>(excerpt: &'a str, span: CharSpan, others: &[CharSpan]) -> Option<&'a str> {
    let index = CharIndex::new(excerpt);
    let quote = index.byte_at(excerpt, span.start)?..index.byte_at(excerpt, span.end)?;
    let words = |text: &str| text.split_whitespace().count();
    let of_quote = words(&excerpt[quote.clone()]);
    let around = sentences_around(excerpt, &quote, (&index, others), SHOWN_MAX_CHARS);
    with_sentence_before(excerpt, around.unwrap_or(&excerpt[quote]))
        .or(around)
        .filter(|around| words(around) >= of_quote + MORE_WORDS)
}

/// A part of a text with the sentence before it on the same line, if it begins a sentence whose words point back.
fn with_sentence_before<'a>(text: &'a str, part: &str) -> Option<&'a str> {
    let part_at = offset(text, part);
    let all = sentences(text).map(|sentence| offset(text, sentence));
    let before = all.take_while(|sentence| sentence.end <= part_at.start).last()?;
    let between = &text[before.end..part_at.start];
    let whole = text[before.start..part_at.end].trim();
    let is_next = !text[before.start..part_at.start].trim_end().contains('\n')
        && !between.contains('\n')
        && !between.contains(char::is_alphanumeric);
    let is_short = whole.chars().nth(SHOWN_WITH_BEFORE_MAX_CHARS).is_none();
    (is_next && is_short && leans_on_sentence_before(part)).then_some(whole)
}

/// From the first to the last sentence that has a part of the quote; nothing where another directive is stated there, or beyond the length.
fn sentences_around<'a>(
    text: &'a str,
    quote: &Range<usize>,
    (index, others): (&CharIndex, &[CharSpan]),
    max_chars: usize,
) -> Option<&'a str> {
    let all = sentences(text).map(|sentence| offset(text, sentence));
    let own = all.filter(|sentence| sentence.start < quote.end && quote.start < sentence.end);
    let reach = own.fold(quote.clone(), |reach, it| reach.start.min(it.start)..reach.end.max(it.end));
    let span = index.span(text, reach.clone());
    let is_shared = others.iter().any(|other| other.start < span.end && span.start < other.end);
    (!is_shared && span.len() <= max_chars).then(|| &text[reach])
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
    fn the_sentence_is_shown_where_it_says_more() {
        let text = "With the kids' stuff go ahead, there it may be cheerful. Please keep it short. So.";
        let span = |part: &str| {
            let start = text.find(part).expect("it stands there");
            CharSpan::new(start, start + part.len())
        };
        let cheerful = span("the kids' stuff");
        let sentence = "With the kids' stuff go ahead, there it may be cheerful.";
        assert_eq!(sentence_of(text, cheerful, &[span("keep it short")]), Some(sentence));
        assert_eq!(sentence_of(text, cheerful, &[span("it may be cheerful")]), None, "two are stated there");
        assert_eq!(sentence_of(text, span("keep it short"), &[]), None, "it says nothing more");
    }

    #[test]
    fn a_sentence_that_points_back_is_shown_with_the_one_before() {
        let shown = |text: &str, quote: &str| {
            let start = text.find(quote).expect("it stands there");
            let span = CharIndex::new(text).span(text, start..start + quote.len());
            sentence_of(text, span, &[]).map(str::to_owned)
        };
        let party = "So. Lena turns 40 and we plan a party. She sees my calendar, nothing about it may stand there. Ok?";
        let nothing = "nothing about it may stand there";
        let both =
            "Lena turns 40 and we plan a party. She sees my calendar, nothing about it may stand there.";
        assert_eq!(shown(party, nothing).as_deref(), Some(both));
        let rockets = "Spare me the rockets. Not in anything that I sign.";
        assert_eq!(shown(rockets, "Not in anything that I sign").as_deref(), Some(rockets));
        assert_eq!(
            shown("It rained. Jasper can't have nuts, he swells.", "Jasper can't have nuts, he swells"),
            None
        );
        assert_eq!(
            shown("We met at ten.\nNot in anything that I sign.", "Not in anything that I sign"),
            None
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
