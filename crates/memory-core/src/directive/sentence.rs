//! A sentence of a text, and what of it is quoted.

use std::ops::Range;

use memory_language::calendar_words::{CalendarWord, calendar_word};

use super::tokens::{Token, tokens};

/// The most tokens of what only says whose words follow.
const INTRODUCTION_MAX: usize = 10;

/// So far from a token the marks stand that quote it as a name.
const NAME_MAX: usize = 8;

/// What is left out at the beginning of a sentence tells of what follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Introduced {
    /// The user has said so: "User corrected me: …", "User (12 Nov): …".
    Said,
    /// The user wants it so: "User preferences: …".
    Wanted,
}

/// A sentence of a content.
#[derive(Debug)]
pub(super) struct Sentence<'a> {
    pub(super) content: &'a str,
    pub(super) tokens: Vec<Token>,
    /// It stands in a list.
    pub(super) is_item: bool,
    /// What is left out at its beginning has told that this is the user's.
    pub(super) introduced: Option<Introduced>,
    /// It belongs to a text that is to be worked on, or that another has written.
    pub(super) is_anothers: bool,
    /// Tokens between quotation marks.
    quoted: Vec<Range<usize>>,
}

impl<'a> Sentence<'a> {
    pub(super) fn new(content: &'a str, bytes: Range<usize>) -> Self {
        Self::within(content, bytes, false, false)
    }

    /// A sentence that may begin or end within quotation marks.
    pub(super) fn within(
        content: &'a str,
        bytes: Range<usize>,
        begins_quoted: bool,
        ends_quoted: bool,
    ) -> Self {
        let mut tokens = tokens(content, bytes);
        let mut quoted = quoted(&tokens, begins_quoted, ends_quoted);
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
        let mut sentence = Self { content, tokens, is_item, introduced: None, is_anothers: false, quoted };
        sentence.leave_out(marks);
        sentence.without_introduction()
    }

    fn without_introduction(mut self) -> Self {
        if let Some((tokens, introduced)) = introduction(&self) {
            self.tokens.drain(..tokens);
            self.leave_out(tokens);
            self.introduced = Some(introduced);
            // 'User: "stop apologising"' quotes whose wish it is.
            let all = self.tokens.len();
            self.quoted.retain(|range| range.end - range.start + 1 < all);
        }
        self
    }

    /// Moves what is quoted, where so many tokens at the beginning are left out.
    fn leave_out(&mut self, tokens: usize) {
        for range in &mut self.quoted {
            *range = range.start.saturating_sub(tokens)..range.end.saturating_sub(tokens);
        }
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

    /// Whether a word is written with a capital.
    pub(super) fn is_name(&self, at: usize) -> bool {
        let is_capital = |token: &Token| self.content[token.bytes.clone()].starts_with(char::is_uppercase);
        self.tokens.get(at).is_some_and(|token| token.is_word && is_capital(token))
            && !matches!(self.word(at), Some("i" | "user" | "we" | "you" | "it"))
    }

    pub(super) fn is_quoted(&self, at: usize) -> bool {
        self.quoted.iter().any(|range| range.contains(&at))
    }

    /// Whether a token stands between quotation marks of either kind within a clause: 'P. Adeyemi, Treasurer'.
    pub(super) fn is_in_name(&self, at: usize) -> bool {
        let near = at.saturating_sub(NAME_MAX)..(at + NAME_MAX).min(self.len());
        let is_open = (near.start..at).rev().find(|at| self.mark(*at).is_some_and(is_single));
        let is_closed = (at..near.end).find(|at| self.mark(*at).is_some_and(is_single));
        self.is_quoted(at) || (is_open.is_some() && is_closed.is_some())
    }

    pub(super) fn is_question(&self) -> bool {
        self.tokens.iter().rev().take(3).any(|token| token.text == "?")
    }

    /// The bytes of some tokens, without marks at their end.
    pub(super) fn bytes(&self, start: usize, end: usize) -> Option<Range<usize>> {
        let last = (start..end.min(self.len())).rev().find(|at| {
            let token = &self.tokens[*at];
            token.is_word
                || matches!(token.text.as_str(), ")" | "\"" | "”" | "%" | "`" | "#" | "+" | "'" | ">" | "/")
        })?;
        Some(self.tokens[start].bytes.start..self.tokens[last].bytes.end)
    }

    pub(super) fn text(&self, start: usize, end: usize) -> &'a str {
        self.bytes(start, end).map_or("", |bytes| &self.content[bytes])
    }
}

fn is_single(mark: &str) -> bool {
    matches!(mark, "'" | "‘" | "’")
}

/// Whether a quotation is open behind a sentence, and closed in the same paragraph of what follows.
pub(super) fn stays_quoted(text: &str, is_open: bool, rest: &str) -> bool {
    let marks = text.chars().filter(|c| matches!(c, '"' | '“' | '”' | '„')).count();
    let is_open = is_open != (marks % 2 == 1);
    is_open && rest.split("\n\n").next().is_some_and(|paragraph| paragraph.contains(['"', '”', '“']))
}

fn quoted(tokens: &[Token], begins_quoted: bool, ends_quoted: bool) -> Vec<Range<usize>> {
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
    if (begins_quoted || ends_quoted)
        && let Some(start) = open
    {
        ranges.push(start..tokens.len());
    }
    ranges
}

/// How many tokens at the beginning of a sentence only say that what follows is the user's, and what they tell of it.
fn introduction(sentence: &Sentence<'_>) -> Option<(usize, Introduced)> {
    let colon = (0..sentence.len().min(INTRODUCTION_MAX)).find(|at| sentence.mark(*at) == Some(":"))?;
    (colon + 1..sentence.len()).find(|at| sentence.word(*at).is_some())?;
    let mut is_in_brackets = false;
    let mut introduced = Introduced::Said;
    let mut is_users = false;
    for at in 0..colon {
        match (sentence.mark(at), sentence.word(at)) {
            (Some("("), _) => is_in_brackets = true,
            (Some(")"), _) => is_in_brackets = false,
            (_, Some("user" | "user's" | "users")) => is_users = true,
            (_, Some("preference" | "preferences" | "instruction" | "instructions" | "rule" | "rules")) => {
                introduced = Introduced::Wanted;
            }
            (_, Some(word)) if !is_in_brackets && !introduces(word) => return None,
            _ => {}
        }
    }
    is_users.then_some((colon + 1, introduced))
}

/// A word that says who speaks, how and when.
fn introduces(word: &str) -> bool {
    const WORDS: [&str; 45] = [
        "the",
        "a",
        "an",
        "of",
        "by",
        "from",
        "on",
        "to",
        "in",
        "has",
        "again",
        "also",
        "just",
        "now",
        "new",
        "today",
        "me",
        "us",
        "my",
        "corrected",
        "corrects",
        "correction",
        "told",
        "tells",
        "said",
        "says",
        "asked",
        "asks",
        "wrote",
        "writes",
        "reminded",
        "clarified",
        "confirmed",
        "added",
        "stated",
        "explained",
        "insisted",
        "feedback",
        "note",
        "standing",
        "turn",
        "quoted",
        "quote",
        "verbatim",
        "mentioned",
    ];
    WORDS.contains(&word)
        || word.starts_with(|c: char| c.is_ascii_digit())
        || matches!(calendar_word(word), Some((CalendarWord::Month(_), _)))
}
