//! Words: one pass that cuts a text into tokens, all other rules work on token indices.

use std::ops::Range;

use memory_language::text::{CharIndex, CharSpan};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Number,
    /// `@alice`
    Handle,
    Email,
    Link,
    /// The split-off end of a contraction, always in this form: `'ll`, `n't`.
    Suffix(&'static str),
    Punctuation,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: Kind,
}

pub(super) struct Text<'a> {
    pub(super) raw: &'a str,
    /// ASCII letters lowered, so byte offsets are those of `raw`.
    lower: String,
    pub(super) tokens: Vec<Token>,
    chars: CharIndex,
}

impl<'a> Text<'a> {
    /// `raw` is tokenised up to `limit` bytes.
    pub(super) fn new(raw: &'a str, limit: usize) -> Self {
        let tokens = tokens(&raw[..floor_boundary(raw, limit)]);
        Self { raw, lower: raw.to_ascii_lowercase(), tokens, chars: CharIndex::new(raw) }
    }

    /// The part that has tokens.
    pub(super) fn read(&self) -> &'a str {
        &self.raw[..self.tokens.last().map_or(0, |last| last.end)]
    }

    pub(super) fn span(&self, bytes: &Range<usize>) -> CharSpan {
        self.chars.span(self.raw, bytes.clone())
    }

    /// The token in lower case; empty past the end.
    #[inline]
    pub(super) fn word(&self, at: usize) -> &str {
        match self.tokens.get(at) {
            Some(Token { kind: Kind::Suffix(form), .. }) => form,
            Some(token) => &self.lower[token.start..token.end],
            None => "",
        }
    }

    #[inline]
    pub(super) fn raw_word(&self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", |token| &self.raw[token.start..token.end])
    }

    #[inline]
    pub(super) fn kind(&self, at: usize) -> Option<Kind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    #[inline]
    pub(super) fn is_word(&self, at: usize) -> bool {
        self.kind(at) == Some(Kind::Word)
    }

    pub(super) fn is_capitalised(&self, at: usize) -> bool {
        self.is_word(at) && self.raw_word(at).starts_with(char::is_uppercase)
    }

    pub(super) fn is_any(&self, at: usize, words: &[&str]) -> bool {
        words.contains(&self.word(at))
    }

    /// A token is the last of its line, or of the text.
    pub(super) fn ends_line(&self, at: usize) -> bool {
        match (self.tokens.get(at), self.tokens.get(at + 1)) {
            (Some(this), Some(next)) => self.raw[this.end..next.start].contains('\n'),
            _ => true,
        }
    }

    /// Nothing but letters and hyphens stands between the two tokens' starts.
    pub(super) fn touches_next(&self, at: usize) -> bool {
        match (self.tokens.get(at), self.tokens.get(at + 1)) {
            (Some(left), Some(right)) => left.end == right.start,
            _ => false,
        }
    }

    /// The tokens that lie in a range of bytes.
    pub(super) fn tokens_in(&self, bytes: &Range<usize>) -> Range<usize> {
        let first = self.tokens.partition_point(|token| token.start < bytes.start);
        let last = self.tokens.partition_point(|token| token.end <= bytes.end);
        first..last.max(first)
    }

    /// The bytes from the first token to the last.
    pub(super) fn bytes(&self, tokens: &Range<usize>) -> Range<usize> {
        if tokens.is_empty() || tokens.end > self.tokens.len() {
            return 0..0;
        }
        self.tokens[tokens.start].start..self.tokens[tokens.end - 1].end
    }
}

/// Whether one space parts a token from the next.
pub(super) fn spaced(text: &Text<'_>, at: usize) -> bool {
    match (text.tokens.get(at), text.tokens.get(at + 1)) {
        (Some(left), Some(right)) => matches!(&text.raw[left.end..right.start], " " | "\u{a0}"),
        _ => false,
    }
}

/// Whether a token is the first of its line, a bullet aside.
pub(super) fn begins_line(text: &Text<'_>, at: usize) -> bool {
    let opens = |at: usize| match at.checked_sub(1) {
        Some(before) => text.raw[text.tokens[before].end..text.tokens[at].start].contains('\n'),
        None => true,
    };
    let bullet = |at: usize| matches!(text.word(at), "-" | "*" | "•" | "+" | "–");
    at < text.tokens.len() && (opens(at) || (at > 0 && bullet(at - 1) && opens(at - 1)))
}

/// The greatest character boundary not after `at`.
pub(super) fn floor_boundary(text: &str, at: usize) -> usize {
    if at >= text.len() {
        return text.len();
    }
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::with_capacity(text.len() / 5);
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if c.is_whitespace() {
            at += c.len_utf8();
        } else if is_link(&text[at..]) {
            let end = text[at..].find(char::is_whitespace).map_or(text.len(), |length| at + length);
            found.push(Token { start: at, end, kind: Kind::Link });
            at = end;
        } else if c.is_alphanumeric()
            || (c == '@' && text[at + 1..].starts_with(char::is_alphanumeric))
            || is_dotfile(text, at)
        {
            at = push_word(text, at, &mut found);
        } else {
            found.push(Token { start: at, end: at + c.len_utf8(), kind: Kind::Punctuation });
            at += c.len_utf8();
        }
    }
    found
}

/// `.env`, `.github/workflows`: the dot ends no sentence.
fn is_dotfile(text: &str, at: usize) -> bool {
    let is_led =
        |before: &str| before.ends_with(|c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | '('));
    text[at..].strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()))
        && (at == 0 || is_led(&text[..at]))
}

fn is_link(rest: &str) -> bool {
    rest.starts_with("http://") || rest.starts_with("https://") || rest.starts_with("www.")
}

/// Pushes the word at `start` and, where it is a contraction, its suffix; returns the byte after them.
fn push_word(text: &str, start: usize, found: &mut Vec<Token>) -> usize {
    let handle = text[start..].starts_with('@');
    let mut end = start + usize::from(handle || text[start..].starts_with('.'));
    let mut email = false;
    let mut suffix = None;
    while let Some(c) = text[end..].chars().next() {
        let after = end + c.len_utf8();
        let joins = || text[after..].starts_with(char::is_alphanumeric);
        if c.is_alphanumeric() || c == '_' {
            end = after;
        } else if matches!(c, '\'' | '’') {
            suffix = contraction(&text[after..]);
            if suffix.is_some() || !joins() {
                break;
            }
            end = after;
        } else if matches!(c, '-' | '.' | '+') && joins() {
            end = after;
        } else if c == '@' && !handle && !email && joins() {
            email = true;
            end = after;
        } else {
            break;
        }
    }
    let kind = match (handle, email) {
        // `@scope/package` is nobody.
        (true, _) if opens_path(&text[end..]) => Kind::Word,
        (true, _) => Kind::Handle,
        (_, true) => Kind::Email,
        _ if text[start..end].chars().all(|c| c.is_numeric() || matches!(c, '.' | '-' | '+')) => Kind::Number,
        _ => Kind::Word,
    };
    let Some((form, length)) = suffix else {
        found.push(Token { start, end, kind });
        return end;
    };
    let mark = text[end..].chars().next().map_or(0, char::len_utf8);
    // "n't" takes the n of the word with it.
    let split = if form == "n't" && text[start..end].ends_with(['n', 'N']) && end - start > 1 {
        end - 1
    } else {
        end
    };
    found.push(Token { start, end: split, kind });
    let after = end + mark + length;
    found.push(Token { start: split, end: after, kind: Kind::Suffix(form) });
    after
}

fn opens_path(rest: &str) -> bool {
    rest.strip_prefix('/').is_some_and(|rest| rest.starts_with(char::is_alphabetic))
}

/// What follows the apostrophe of a contraction, with its length in bytes.
fn contraction(rest: &str) -> Option<(&'static str, usize)> {
    const FORMS: [(&str, &str); 7] =
        [("ll", "'ll"), ("ve", "'ve"), ("re", "'re"), ("m", "'m"), ("s", "'s"), ("d", "'d"), ("t", "n't")];
    FORMS.iter().find_map(|(tail, form)| {
        let head = rest.get(..tail.len())?;
        let ends = !rest[tail.len()..].starts_with(char::is_alphanumeric);
        (head.eq_ignore_ascii_case(tail) && ends).then_some((*form, tail.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::Text;

    #[test]
    fn contractions_mails_handles_and_versions_are_cut_as_people_read_them() {
        let text = Text::new("I’ll e-mail alice.chen@x.org, @bob didn't ship v2.3.1. O'Brien's ok…", 1000);
        let words: Vec<&str> = (0..text.tokens.len()).map(|at| text.word(at)).collect();
        assert_eq!(
            words,
            [
                "i",
                "'ll",
                "e-mail",
                "alice.chen@x.org",
                ",",
                "@bob",
                "did",
                "n't",
                "ship",
                "v2.3.1",
                ".",
                "o'brien",
                "'s",
                "ok",
                "…"
            ]
        );
    }
}
