//! What one call reads: numbered sentences of a text, few enough for the model, with some before them to be understood
//! by.

use std::ops::Range;

use memory_core::ports::SourceText;
use memory_language::sentence::sentences;

/// So many bytes of text go into one call: with instructions and answer about 4,000 tokens, which the smallest servers
/// are set to.
const WINDOW_BYTES: usize = 6_000;
/// Of a text no more windows than this are asked about; what lies behind is left to rules.
pub(super) const WINDOWS_MAX: usize = 64;
/// What is shown of the sentences before a window.
const CONTEXT_LINES: usize = 3;
const CONTEXT_BYTES: usize = 600;
/// What is shown of the turns that are only there to be understood by.
const TURNS_BEFORE_BYTES: usize = 2_000;
/// A sentence longer than this is cut.
const LINE_BYTES: usize = 1_000;
/// So often a window is parted when its answer is too long.
const HALVINGS_MAX: u32 = 5;

/// A sentence of a segment, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) segment: usize,
    pub(super) bytes: Range<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Window {
    /// Events with evidence only here are not wanted.
    pub(super) context: Vec<Line>,
    pub(super) lines: Vec<Line>,
    halvings: u32,
}

/// All windows of a source, and how far they reach: what lies behind was not shown to the model.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) windows: Vec<Window>,
    /// The first segment and byte that no window has, when not all have been planned.
    pub(super) unread_from: Option<(usize, usize)>,
}

impl Plan {
    pub(super) fn reads(&self, segment: usize, byte: usize) -> bool {
        self.unread_from.is_none_or(|unread| (segment, byte) < unread)
    }
}

pub(super) fn plan(source: &SourceText) -> Plan {
    let mut plan = Plan::default();
    let mut window = Window::default();
    let mut size = 0;
    for (segment, part) in source.segments.iter().enumerate() {
        for bytes in lines(&part.text) {
            let line = Line { segment, bytes };
            if part.context_only {
                window.context.push(line);
                continue;
            }
            if !window.lines.is_empty() && size + line.bytes.len() > WINDOW_BYTES {
                if plan.windows.len() + 1 == WINDOWS_MAX {
                    plan.unread_from = Some((segment, line.bytes.start));
                    plan.windows.push(window);
                    return plan;
                }
                let next = Window { context: last_lines(&window.lines), ..Window::default() };
                plan.windows.push(std::mem::replace(&mut window, next));
                size = 0;
            }
            size += line.bytes.len();
            window.lines.push(line);
        }
    }
    if !window.lines.is_empty() {
        plan.windows.push(window);
    }
    if let Some(first) = plan.windows.first_mut() {
        keep_last(&mut first.context, usize::MAX, TURNS_BEFORE_BYTES);
    }
    plan
}

impl Window {
    /// Context and lines: the numbers the model sees, from one.
    pub(super) fn numbered(&self) -> impl Iterator<Item = &Line> {
        self.context.iter().chain(&self.lines)
    }

    pub(super) fn is_context(&self, number: usize) -> bool {
        number <= self.context.len()
    }

    /// Two windows with the same lines, where they may still be parted.
    pub(super) fn halves(&self) -> Option<(Self, Self)> {
        if self.lines.len() < 2 || self.halvings == HALVINGS_MAX {
            return None;
        }
        let (first, second) = self.lines.split_at(self.lines.len() / 2);
        let halvings = self.halvings + 1;
        Some((
            Self { context: self.context.clone(), lines: first.to_vec(), halvings },
            Self { context: last_lines(first), lines: second.to_vec(), halvings },
        ))
    }

    /// The lines from that of a place on; those behind the first, if it is the first.
    pub(super) fn rest_from(&self, place: (usize, usize)) -> Option<Self> {
        let at = self.lines.iter().rposition(|line| (line.segment, line.bytes.start) <= place).unwrap_or(0);
        let (read, rest) = self.lines.split_at(at.max(1).min(self.lines.len()));
        if rest.is_empty() || self.halvings == HALVINGS_MAX {
            return None;
        }
        Some(Self { context: last_lines(read), lines: rest.to_vec(), halvings: self.halvings + 1 })
    }
}

fn last_lines(lines: &[Line]) -> Vec<Line> {
    let mut last = lines.to_vec();
    keep_last(&mut last, CONTEXT_LINES, CONTEXT_BYTES);
    last
}

fn keep_last(lines: &mut Vec<Line>, count: usize, bytes: usize) {
    let mut size = 0;
    let fitting = lines.iter().rev().take(count).take_while(|line| {
        size += line.bytes.len();
        size <= bytes
    });
    let keep = fitting.count();
    lines.drain(..lines.len() - keep);
}

/// The sentences of a text that say something, cut where they are too long.
fn lines(text: &str) -> impl Iterator<Item = Range<usize>> {
    sentences(text).filter(|sentence| sentence.chars().any(char::is_alphanumeric)).flat_map(move |sentence| {
        // A sentence is a slice of the text.
        let start = sentence.as_ptr() as usize - text.as_ptr() as usize;
        pieces(text, start..start + sentence.len())
    })
}

fn pieces(text: &str, whole: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut at = whole.start;
    std::iter::from_fn(move || {
        let rest = &text[at..whole.end];
        if rest.is_empty() {
            return None;
        }
        let mut length = rest.floor_char_boundary(LINE_BYTES);
        if length < rest.len()
            && let Some(space) =
                rest[..length].rfind(char::is_whitespace).filter(|space| *space > LINE_BYTES / 2)
        {
            length = space;
        }
        let piece = at..at + length;
        at += length;
        at += text[at..whole.end].len() - text[at..whole.end].trim_start().len();
        Some(piece)
    })
}

#[cfg(test)]
mod tests {
    use memory_core::artifact::Context;
    use memory_core::ports::Segment;

    use super::*;

    fn source(parts: &[(&str, bool)]) -> SourceText {
        let segment = |(text, context_only): &(&str, bool)| Segment {
            text: (*text).to_owned(),
            speaker: None,
            date: None,
            context_only: *context_only,
            is_date_of_storing: false,
        };
        SourceText {
            context: Context::Note,
            title: None,
            author: None,
            participants: Vec::new(),
            segments: parts.iter().map(segment).collect(),
        }
    }

    #[test]
    fn windows_have_every_sentence_once_and_each_its_limit() {
        let text: String = (0..900).map(|n| format!("Crate {n} went to hall {}. ", n % 7)).collect();
        let plan = plan(&source(&[(&text, false)]));
        let read: Vec<&Line> = plan.windows.iter().flat_map(|window| &window.lines).collect();
        assert_eq!(read.len(), 900);
        assert_eq!(&text[read[17].bytes.clone()], "Crate 17 went to hall 3.");
        assert!(
            plan.windows.iter().all(|w| w.lines.iter().map(|l| l.bytes.len()).sum::<usize>() <= WINDOW_BYTES)
        );
        assert!(plan.windows.windows(2).all(|w| w[1].context == w[0].lines[w[0].lines.len() - 3..]));
        assert_eq!(plan.unread_from, None);
    }

    #[test]
    fn a_text_without_an_end_of_sentence_is_cut_between_characters() {
        let text = "漢".repeat(40_000);
        let plan = plan(&source(&[(&text, false)]));
        let total: usize = plan.windows.iter().flat_map(|w| &w.lines).map(|l| l.bytes.len()).sum();
        assert_eq!(total, text.len());
        assert!(plan.windows.iter().flat_map(|w| &w.lines).all(|l| text.get(l.bytes.clone()).is_some()));
    }

    #[test]
    fn a_text_beyond_all_windows_is_read_so_far() {
        let text = "This line is repeated very often indeed.\n\n".repeat(50_000);
        let plan = plan(&source(&[(&text, false)]));
        assert_eq!(plan.windows.len(), WINDOWS_MAX);
        let (segment, byte) = plan.unread_from.expect("not all of it");
        assert!(plan.reads(0, byte - 1) && !plan.reads(segment, byte) && !plan.reads(1, 0));
    }

    #[test]
    fn turns_before_are_shown_as_context_and_halving_keeps_every_line() {
        let plan = plan(&source(&[("Can you send it?", true), ("Yes. Tomorrow. Or on Friday.", false)]));
        let window = &plan.windows[0];
        assert_eq!((window.context.len(), window.lines.len()), (1, 3));
        assert!(window.is_context(1) && !window.is_context(2));
        let (first, second) = window.halves().expect("two halves");
        assert_eq!([first.lines.clone(), second.lines.clone()].concat(), window.lines);
        assert_eq!(second.context, first.lines);
        assert!(first.halves().is_none(), "one sentence cannot be halved");
        assert!(super::plan(&source(&[("… — !", false)])).windows.is_empty(), "nothing is said");
    }
}
