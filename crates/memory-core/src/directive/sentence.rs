//! A sentence as words and marks.

use std::ops::Range;

/// A word in lower case, or a mark.
#[derive(Debug)]
pub(super) struct Token {
    pub(super) text: String,
    pub(super) is_word: bool,
    /// In bytes of the content.
    pub(super) bytes: Range<usize>,
}

/// A sentence of a content.
#[derive(Debug)]
pub(super) struct Sentence<'a> {
    pub(super) content: &'a str,
    pub(super) tokens: Vec<Token>,
    /// It stands in a list.
    pub(super) is_item: bool,
    /// Tokens between quotation marks.
    quoted: Vec<Range<usize>>,
}

impl<'a> Sentence<'a> {
    pub(super) fn new(content: &'a str, bytes: Range<usize>) -> Self {
        Self::within(content, bytes, false)
    }

    /// A sentence that may begin within quotation marks.
    pub(super) fn within(content: &'a str, bytes: Range<usize>, begins_quoted: bool) -> Self {
        let mut tokens = tokens(content, bytes);
        let mut quoted = quoted(&tokens, begins_quoted);
        let bullet = tokens.iter().take_while(|token| !token.is_word).count();
        let mut is_item =
            tokens[..bullet].iter().any(|token| matches!(token.text.as_str(), "-" | "*" | "•" | "+" | "–"));
        let mut marks = bullet;
        // "3. Never …" and "3) Never …".
        if let [number, mark, ..] = &tokens[bullet..]
            && number.text.bytes().all(|b| b.is_ascii_digit())
            && matches!(mark.text.as_str(), "." | ")")
        {
            (is_item, marks) = (true, bullet + 2);
        }
        let all = tokens.len();
        tokens.drain(..marks);
        // Where all of it is quoted, it is said so.
        quoted.retain(|range| range.end - range.start < all || begins_quoted);
        for range in &mut quoted {
            *range = range.start.saturating_sub(marks)..range.end.saturating_sub(marks);
        }
        Self { content, tokens, is_item, quoted }
    }

    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    pub(super) fn word(&self, at: usize) -> Option<&str> {
        self.tokens.get(at).filter(|token| token.is_word).map(|token| token.text.as_str())
    }

    pub(super) fn mark(&self, at: usize) -> Option<&str> {
        self.tokens.get(at).filter(|token| !token.is_word).map(|token| token.text.as_str())
    }

    pub(super) fn is_quoted(&self, at: usize) -> bool {
        self.quoted.iter().any(|range| range.contains(&at))
    }

    pub(super) fn is_question(&self) -> bool {
        self.tokens.iter().rev().take(3).any(|token| token.text == "?")
    }

    /// The bytes of some tokens, without marks at their end.
    pub(super) fn bytes(&self, start: usize, end: usize) -> Option<Range<usize>> {
        let last = (start..end.min(self.len())).rev().find(|at| {
            let token = &self.tokens[*at];
            token.is_word || matches!(token.text.as_str(), ")" | "\"" | "”" | "%" | "`" | "#" | "+")
        })?;
        Some(self.tokens[start].bytes.start..self.tokens[last].bytes.end)
    }

    pub(super) fn text(&self, start: usize, end: usize) -> &'a str {
        self.bytes(start, end).map_or("", |bytes| &self.content[bytes])
    }
}

/// Words keep apostrophes, hyphens, underscores and stops inside.
fn tokens(content: &str, bytes: Range<usize>) -> Vec<Token> {
    let text = &content[bytes.clone()];
    let mut tokens: Vec<Token> = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c.is_whitespace() {
            continue;
        }
        let start = bytes.start + at;
        let is_word = c.is_alphanumeric() || c == '_';
        let mut end = start + c.len_utf8();
        let mut word = String::new();
        word.extend(c.to_lowercase());
        if is_word {
            while let Some(&(next, c)) = chars.peek() {
                let after = text[next + c.len_utf8()..].chars().next();
                let joins = matches!(c, '\'' | '’' | '-' | '.' | '/' | '_' | ':')
                    && after.is_some_and(|after| after.is_alphanumeric() || after == '_');
                if !(c.is_alphanumeric() || c == '_' || joins) {
                    break;
                }
                word.extend(if c == '’' { '\'' } else { c }.to_lowercase());
                end = bytes.start + next + c.len_utf8();
                chars.next();
            }
        }
        tokens.push(Token { text: word, is_word, bytes: start..end });
    }
    tokens
}

/// Whether a quotation is open behind a sentence, and closed in the same paragraph of what follows.
pub(super) fn stays_quoted(text: &str, is_open: bool, rest: &str) -> bool {
    let marks = text.chars().filter(|c| matches!(c, '"' | '“' | '”' | '„')).count();
    let is_open = is_open != (marks % 2 == 1);
    is_open && rest.split("\n\n").next().is_some_and(|paragraph| paragraph.contains(['"', '”', '“']))
}

fn quoted(tokens: &[Token], begins_quoted: bool) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut open = begins_quoted.then_some(0);
    for (at, token) in tokens.iter().enumerate() {
        match (token.text.as_str(), open) {
            ("\"" | "“" | "„" | "\u{ab}", None) => open = Some(at),
            ("\"" | "”" | "“" | "\u{bb}", Some(start)) => {
                ranges.push(start..at + 1);
                open = None;
            }
            _ => {}
        }
    }
    if begins_quoted && let Some(start) = open {
        ranges.push(start..tokens.len());
    }
    ranges
}
