//! Finding a quote in the source. Spaces, typography and case may differ; what is stored is the source's own text.

use std::ops::Range;

use memory_core::ports::SourceText;

use super::windows::{Line, Window};

/// A quote of fewer letters proves nothing. A letter of a script without spaces counts twice.
const LETTERS_MIN: usize = 4;
/// A match longer than this is no quote any more.
const QUOTE_MAX_BYTES: usize = 3_000;

/// A stretch of a segment, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SegmentRange {
    pub(super) segment: usize,
    pub(super) bytes: Range<usize>,
}

impl SegmentRange {
    /// Where it begins: a segment and a byte of it.
    pub(super) fn place(&self) -> (usize, usize) {
        (self.segment, self.bytes.start)
    }
}

/// A text reduced to what is compared, with where each character of it came from.
struct Folded {
    text: String,
    /// For each byte of the folded text the bytes of the character it came from.
    origin: Vec<(usize, usize)>,
}

impl Folded {
    fn of(text: &str) -> Self {
        let mut folded =
            Self { text: String::with_capacity(text.len()), origin: Vec::with_capacity(text.len()) };
        for (at, c) in text.char_indices() {
            let from = (at, at + c.len_utf8());
            match c {
                c if c.is_whitespace() || c.is_control() => {
                    if !folded.text.is_empty() && !folded.text.ends_with(' ') {
                        folded.push(' ', from);
                    }
                }
                c if super::prompt::is_unseen(c) || c == '\u{AD}' => {}
                '…' => "...".chars().for_each(|dot| folded.push(dot, from)),
                c => c.to_lowercase().for_each(|lower| folded.push(plain(lower), from)),
            }
        }
        folded
    }

    fn push(&mut self, c: char, from: (usize, usize)) {
        self.text.push(c);
        self.origin.resize(self.text.len(), from);
    }

    /// The first place of the quote, in bytes of what was folded.
    fn find(&self, quote: &str) -> Option<Range<usize>> {
        let begin = self.text.find(quote)?;
        Some(self.origin[begin].0..self.origin[begin + quote.len() - 1].1)
    }
}

/// The plain form of typographic marks.
fn plain(c: char) -> char {
    match c {
        '“' | '”' | '„' | '‟' | '«' | '»' | '″' => '"',
        '‘' | '’' | '‚' | '‛' | '‹' | '›' | '′' | '`' | '´' => '\'',
        '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' => '-',
        c => c,
    }
}

/// The quote as it is looked for: without the numbers and marks that a model puts around it.
fn stripped(quote: &str) -> &str {
    let mut quote = quote.trim();
    if let Some((number, rest)) = quote.strip_prefix('[').and_then(|rest| rest.split_once(']'))
        && number.chars().all(|c| c.is_ascii_digit())
    {
        quote = rest.trim_start();
    }
    quote = quote.strip_prefix("(context) ").unwrap_or(quote);
    quote.trim_matches(|c: char| {
        c.is_whitespace() || matches!(plain(c), '"' | '\'' | '*' | '_' | '…') || c == '.'
    })
}

fn letters(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphanumeric()).map(|c| if c >= '\u{2E80}' { 2 } else { 1 }).sum()
}

/// A quote in the sentences that the answer names, else anywhere in the window.
pub(super) fn find(
    source: &SourceText,
    window: &Window,
    numbers: &[usize],
    quote: &str,
) -> Option<SegmentRange> {
    let bare = stripped(quote);
    // A model may copy the speaker's name along.
    let said = bare.split_once(": ").map(|(_, said)| said);
    [Some(bare), said].into_iter().flatten().find_map(|quote| {
        if letters(quote) < LETTERS_MIN {
            return None;
        }
        let folded = Folded::of(quote);
        let quote = folded.text.trim();
        let named = numbers.iter().filter_map(|number| window.numbered().nth(number.checked_sub(1)?));
        stretches(named).into_iter().chain(stretches(window.numbered())).find_map(|stretch| {
            let text = source.segments.get(stretch.segment)?.text.get(stretch.bytes.clone())?;
            let bytes = Folded::of(text).find(quote)?;
            let bytes = stretch.bytes.start + bytes.start..stretch.bytes.start + bytes.end;
            (bytes.len() <= QUOTE_MAX_BYTES).then_some(SegmentRange { segment: stretch.segment, bytes })
        })
    })
}

/// The sentences of each segment as one stretch, so that a quote may go over several.
fn stretches<'a>(lines: impl Iterator<Item = &'a Line>) -> Vec<SegmentRange> {
    let mut all: Vec<SegmentRange> = Vec::new();
    for Line { segment, bytes } in lines {
        match all.iter_mut().find(|stretch| stretch.segment == *segment) {
            Some(stretch) => {
                stretch.bytes = stretch.bytes.start.min(bytes.start)..stretch.bytes.end.max(bytes.end);
            }
            None => all.push(SegmentRange { segment: *segment, bytes: bytes.clone() }),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use memory_core::artifact::Context;
    use memory_core::ports::Segment;

    use super::super::windows::plan;
    use super::*;

    fn quote_in(text: &str, numbers: &[usize], quote: &str) -> Option<String> {
        let source = SourceText {
            context: Context::Note,
            title: None,
            author: None,
            participants: Vec::new(),
            segments: vec![Segment {
                text: text.to_owned(),
                speaker: None,
                date: None,
                context_only: false,
                is_date_of_storing: false,
            }],
        };
        let found = find(&source, &plan(&source).windows[0], numbers, quote)?;
        Some(source.segments[0].text[found.bytes].to_owned())
    }

    #[test]
    fn a_quote_is_found_whatever_became_of_its_spaces_marks_and_case() {
        let text = "“We’ll  ship\n on Friday” — said Zoë… Then\u{A0}they left. İt rained, 漢字 too.";
        for (quote, stored) in [
            ("We'll ship on Friday", "We’ll  ship\n on Friday"),
            ("[1] \"we'll ship on Friday\" - said Zoe", ""),
            ("[1] \"we'll ship on Friday\" - said ZOË...", "We’ll  ship\n on Friday” — said Zoë"),
            ("Then they left.", "Then\u{A0}they left"),
            ("Zoë: then they left", "Then\u{A0}they left"),
            ("İT RAINED, 漢字", "İt rained, 漢字"),
            ("漢字", "漢字"),
        ] {
            let expected = (!stored.is_empty()).then(|| stored.to_owned());
            assert_eq!(quote_in(text, &[1], quote), expected, "{quote}");
        }
    }

    #[test]
    fn an_invented_or_empty_quote_is_found_nowhere() {
        let text = "Ann sent the report. Bob read it.";
        for quote in [
            "",
            "...",
            "it",
            "\"\"",
            "[1]",
            "Ann sent a report",
            "Bob sent the report",
            "Ann sent … Bob read it",
        ] {
            assert_eq!(quote_in(text, &[1, 2], quote), None, "{quote}");
        }
    }

    #[test]
    fn the_named_sentence_comes_first_and_a_wrong_number_does_no_harm() {
        let source_text = "We agreed. Later on, we agreed. Finally we agreed.";
        let source = SourceText {
            context: Context::Note,
            title: None,
            author: None,
            participants: Vec::new(),
            segments: vec![Segment {
                text: source_text.to_owned(),
                speaker: None,
                date: None,
                context_only: false,
                is_date_of_storing: false,
            }],
        };
        let window = &plan(&source).windows[0];
        let at =
            |numbers: &[usize]| find(&source, window, numbers, "we agreed").map(|found| found.bytes.start);
        assert_eq!(at(&[3]), Some(40));
        assert_eq!(at(&[2]), Some(21));
        assert_eq!([at(&[0, 99, usize::MAX]), at(&[])], [Some(0), Some(0)]);
        assert_eq!(
            quote_in(source_text, &[1], "we agreed. Later on, we agreed."),
            Some("We agreed. Later on, we agreed".into())
        );
    }
}
