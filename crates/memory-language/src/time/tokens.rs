//! A text as words, numbers and marks, with white space between them.

use super::words::{self, Tag};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word(Tag),
    /// Its value, as large as it may be, and how many digits it has.
    Number(u32, u8),
    Mark(char),
    /// An empty line, or the end of the text.
    Break,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: Kind,
}

pub(super) struct Tokens {
    /// The text with small ASCII letters; bytes stay where they are.
    lower: String,
    capital: Vec<bool>,
    list: Vec<Token>,
}

impl Tokens {
    pub(super) fn new(text: &str) -> Self {
        let lower = text.to_ascii_lowercase();
        let mut list = Vec::with_capacity(text.len() / 5 + 1);
        let mut capital = Vec::with_capacity(text.len() / 5 + 1);
        let mut chars = text.char_indices().peekable();
        while let Some((start, first)) = chars.next() {
            let mut end = start + first.len_utf8();
            let kind = if first.is_whitespace() {
                let mut lines = usize::from(first == '\n');
                while let Some((_, c)) = chars.next_if(|(_, c)| c.is_whitespace()) {
                    lines += usize::from(c == '\n');
                }
                if lines < 2 {
                    continue;
                }
                Kind::Break
            } else if first.is_ascii_digit() {
                let (mut value, mut digits) = (u32::from(first as u8 - b'0'), 1u8);
                while let Some((at, c)) = chars.next_if(|(_, c)| c.is_ascii_digit()) {
                    value = value.saturating_mul(10).saturating_add(u32::from(c as u8 - b'0'));
                    digits = digits.saturating_add(1);
                    end = at + 1;
                }
                Kind::Number(value, digits)
            } else if first.is_alphanumeric() || first == '_' {
                let part = |c: char| (c.is_alphanumeric() && !c.is_ascii_digit()) || c == '_';
                while let Some((at, c)) = chars.next_if(|(_, c)| part(*c)) {
                    end = at + c.len_utf8();
                }
                Kind::Word(words::tag(&lower[start..end]))
            } else {
                Kind::Mark(first)
            };
            list.push(Token { start, end, kind });
            capital.push(first.is_ascii_uppercase());
        }
        Self { lower, capital, list }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn bytes(&self, at: usize) -> (usize, usize) {
        self.list.get(at).map_or((0, 0), |token| (token.start, token.end))
    }

    pub(super) fn kind(&self, at: usize) -> Kind {
        self.list.get(at).map_or(Kind::Break, |token| token.kind)
    }

    pub(super) fn tag(&self, at: usize) -> Tag {
        match self.kind(at) {
            Kind::Word(tag) => tag,
            _ => Tag::Plain,
        }
    }

    /// The word in small letters; empty where there is none.
    pub(super) fn word(&self, at: usize) -> &str {
        match self.list.get(at) {
            Some(Token { start, end, kind: Kind::Word(_) }) => &self.lower[*start..*end],
            _ => "",
        }
    }

    /// The word `back` places before.
    pub(super) fn before(&self, at: usize, back: usize) -> &str {
        at.checked_sub(back).map_or("", |at| self.word(at))
    }

    pub(super) fn is(&self, at: usize, words: &[&str]) -> bool {
        let word = self.word(at);
        !word.is_empty() && words.contains(&word)
    }

    /// Past the word where it is one of these.
    pub(super) fn skip(&self, at: usize, words: &[&str]) -> usize {
        if self.is(at, words) { at + 1 } else { at }
    }

    pub(super) fn number(&self, at: usize) -> Option<(u32, u8)> {
        match self.kind(at) {
            Kind::Number(value, digits) => Some((value, digits)),
            _ => None,
        }
    }

    /// A number of exactly that many digits.
    pub(super) fn digits(&self, at: usize, wanted: u8) -> Option<u32> {
        self.number(at).filter(|(_, digits)| *digits == wanted).map(|(value, _)| value)
    }

    pub(super) fn mark(&self, at: usize) -> Option<char> {
        match self.kind(at) {
            Kind::Mark(mark) => Some(mark),
            _ => None,
        }
    }

    pub(super) fn is_mark(&self, at: usize, marks: &str) -> bool {
        self.mark(at).is_some_and(|mark| marks.contains(mark))
    }

    /// Nothing is between this and the one before.
    pub(super) fn glued(&self, at: usize) -> bool {
        at > 0 && self.list.get(at).is_some_and(|token| token.start == self.list[at - 1].end)
    }

    pub(super) fn is_capital(&self, at: usize) -> bool {
        self.capital.get(at).copied().unwrap_or(false)
    }

    /// A glued mark of these with a glued number after it, as in `10:30`.
    pub(super) fn tail(&self, at: usize, marks: &str) -> Option<(u32, u8)> {
        let tailed = self.is_mark(at, marks) && self.glued(at) && self.glued(at + 1);
        if tailed { self.number(at + 1) } else { None }
    }

    /// The number here is no piece of something longer: a version, an amount, an address, a name.
    pub(super) fn starts_free(&self, at: usize) -> bool {
        if !self.glued(at) {
            return true;
        }
        match self.kind(at - 1) {
            Kind::Word(_)
            | Kind::Number(..)
            | Kind::Mark('.' | '$' | '€' | '£' | '#' | '@' | '%' | '+' | '\\' | '&' | '?') => false,
            Kind::Mark(',' | ':' | '/' | '-' | '–') => {
                !(self.glued(at - 1) && at >= 2 && self.number(at - 2).is_some())
            }
            Kind::Mark(_) | Kind::Break => true,
        }
    }

    /// The number that ended just before `at` goes no further.
    pub(super) fn ends_free(&self, at: usize) -> bool {
        if !self.glued(at) {
            return true;
        }
        match self.kind(at) {
            Kind::Word(_) | Kind::Number(..) | Kind::Mark('%' | '$' | '€' | '£' | '°' | '\\' | '+' | '@') => {
                false
            }
            Kind::Mark(_) => self.tail(at, ".,:/-").is_none(),
            Kind::Break => true,
        }
    }

    /// Past `st`, `nd`, `rd` or `th` glued to a number.
    pub(super) fn suffix(&self, at: usize) -> Option<usize> {
        (self.glued(at) && self.is(at, &["st", "nd", "rd", "th"])).then_some(at + 1)
    }
}
