//! A sentence as words and marks. Code, paths, flags and the like are words, whatever marks they have inside: a clause ends
//! at a mark of the prose, and never within `git push --force`, `*.pem` or `std::env`.

use std::ops::Range;

use memory_language::sentence::{is_macro, keeps_its_stop};

/// The longest piece of code that is a word, and how far behind a bracket in code its end is looked for.
const CODE_MAX_BYTES: usize = 300;
const CALL_MAX_BYTES: usize = 80;

/// A word in lower case, or a mark.
#[derive(Debug)]
pub(super) struct Token {
    pub(super) text: String,
    pub(super) is_word: bool,
    /// A word of code, which may have others inside.
    pub(super) is_code: bool,
    /// In bytes of the content.
    pub(super) bytes: Range<usize>,
}

impl Token {
    /// The words that it says: those within code, or itself.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        let parts = |c: char| self.is_code && !c.is_alphanumeric() && c != '_';
        self.text.split(parts).filter(|word| !word.is_empty() && self.is_word)
    }
}

/// Words keep apostrophes, hyphens, underscores and stops inside.
pub(super) fn tokens(content: &str, bytes: Range<usize>) -> Vec<Token> {
    let text = &content[bytes.clone()];
    let mut tokens: Vec<Token> = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        let rest = &text[at..];
        let is_start = text[..at].chars().next_back().is_none_or(opens_run);
        let is_named = is_named_mark(rest, &tokens) && is_start;
        let code = ticked(rest)
            .or(is_named.then_some(1))
            .or_else(|| macro_name(rest).or_else(|| technical(rest, tokens.is_empty())).filter(|_| is_start));
        let (length, word) = match code {
            Some(length) => (length, code_text(&rest[..length])),
            None if c.is_alphanumeric() || c == '_' => plain_word(rest, tokens.is_empty()),
            None => mark(rest, c, tokens.last().is_some_and(|before| before.is_code)),
        };
        let start = bytes.start + at;
        let is_word = code.is_some() || c.is_alphanumeric() || c == '_';
        tokens.push(Token { text: word, is_word, is_code: code.is_some(), bytes: start..start + length });
        at += length;
    }
    tokens
}

/// "End lines with ; in C": a mark that is spoken of.
fn is_named_mark(rest: &str, before: &[Token]) -> bool {
    let names =
        |token: &Token| matches!(token.text.as_str(), "with" | "without" | "by" | "a" | "the" | "no" | "use");
    rest.strip_prefix(';').is_some_and(|rest| rest.starts_with(' ')) && before.last().is_some_and(names)
}

/// Before what may be code: a space, or a mark that opens.
fn opens_run(c: char) -> bool {
    c.is_whitespace() || matches!(c, '(' | '[' | '"' | '\'' | '“' | '‘' | '„')
}

/// Several stops are one mark, and so are an arrow behind code, and the hyphens before flags.
fn mark(rest: &str, c: char, is_behind_code: bool) -> (usize, String) {
    let is_sign = |sign: &&&str| rest.starts_with(**sign);
    if let Some(sign) = ["->", "=>"].iter().find(is_sign).filter(|_| is_behind_code) {
        return (sign.len(), (*sign).to_owned());
    }
    if rest.strip_prefix("-- -").is_some_and(|flag| flag.starts_with(|c: char| c == '-' || c.is_alphabetic()))
    {
        return (2, "--".to_owned());
    }
    let dots = rest.bytes().take_while(|byte| *byte == b'.').count();
    if dots > 1 { (dots, "…".to_owned()) } else { (c.len_utf8(), c.to_lowercase().collect()) }
}

fn plain_word(rest: &str, is_first: bool) -> (usize, String) {
    let mut word = String::new();
    let mut before = ' ';
    let mut length = rest.len();
    for (at, c) in rest.char_indices() {
        let after = rest[at + c.len_utf8()..].chars().next();
        let joins = matches!(c, '\'' | '’' | '-' | '.' | '/' | '_' | ':')
            && after.is_some_and(|after| after.is_alphanumeric() || after == '_');
        // "TL;DR".
        let joins = joins || (c == ';' && before.is_alphabetic() && after.is_some_and(char::is_alphabetic));
        let is_in_number =
            c == ',' && before.is_ascii_digit() && after.is_some_and(|after| after.is_ascii_digit());
        if !(c.is_alphanumeric() || c == '_' || joins || is_in_number) {
            length = at;
            break;
        }
        word.extend(if c == '’' { '\'' } else { c }.to_lowercase());
        before = c;
    }
    // The stop of an abbreviation belongs to it; "3." may begin an item of a list.
    let is_short = rest[length..].strip_prefix('.').is_some_and(|behind| {
        let next = behind.trim_start();
        let is_number = is_first && word.bytes().all(|byte| byte.is_ascii_digit());
        let goes_on = behind.starts_with(char::is_whitespace)
            && next.starts_with(|c: char| {
                c.is_alphanumeric() || matches!(c, '`' | '$' | '/' | '.' | '*' | '@' | '"')
            });
        !is_number && (behind.starts_with(',') || (goes_on && keeps_its_stop(&rest[..length], next)))
    });
    (length + usize::from(is_short), word)
}

/// The length of what stands between ticks, with them.
fn ticked(rest: &str) -> Option<usize> {
    let ticks = rest.bytes().take(3).take_while(|byte| *byte == b'`').count();
    if !(1..=2).contains(&ticks) {
        return None;
    }
    let near = &rest[ticks..rest.floor_char_boundary(CODE_MAX_BYTES)];
    let inside = near.split('\n').next()?;
    let length = inside.find(&rest[..ticks]).filter(|length| *length > 0)?;
    Some(ticks + length + ticks)
}

/// Of one word what is between the ticks; what has several keeps them, so that none of its words is taken for prose.
fn code_text(code: &str) -> String {
    let inside = code.trim_matches('`');
    let is_one = !inside.contains(char::is_whitespace) && !inside.is_empty();
    if is_one { inside } else { code }.to_lowercase()
}

/// The length of the name of a macro with its mark, behind which the sentence goes on: "use println! in".
fn macro_name(rest: &str) -> Option<usize> {
    let length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | ':')))?;
    let behind = rest[length..].strip_prefix('!')?;
    let goes_on = behind.starts_with(' ') && behind.trim_start().starts_with(char::is_lowercase);
    (goes_on && is_macro(&rest[..length])).then_some(length + 1)
}

/// The length of a word that no prose has: a flag, a pattern of files, a path, a call.
fn technical(rest: &str, is_first: bool) -> Option<usize> {
    if rest.starts_with(|c: char| !c.is_alphanumeric() && opens_run(c)) {
        return None;
    }
    let near = &rest[..rest.floor_char_boundary(CODE_MAX_BYTES)];
    let mut length = near.find(char::is_whitespace).unwrap_or(near.len());
    if near[..length].starts_with("**") && !near.starts_with("**/") {
        return None;
    }
    if let Some(closed) = closes_later(near, length) {
        length = closed + near[closed..].find(char::is_whitespace).unwrap_or(near.len() - closed);
    }
    let core = without_tail(&near[..length]);
    let has_letters = core.contains(char::is_alphanumeric);
    (has_letters && looks_technical(core, is_first)).then_some(core.len())
}

/// Where the bracket closes that is open at the end of a run: of `f(a, b)` the run is `f(a,`.
fn closes_later(near: &str, run: usize) -> Option<usize> {
    let (open, closer) = near[..run].char_indices().find_map(|(at, c)| match c {
        '(' => Some((at, ')')),
        '<' => Some((at, '>')),
        _ => None,
    })?;
    let is_attached = near[..open].ends_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '!'));
    let goes_on = !near[open + 1..].starts_with(char::is_whitespace);
    if !is_attached || !goes_on || near[..run].contains(closer) {
        return None;
    }
    let until = near.floor_char_boundary(open + CALL_MAX_BYTES);
    let inside = near[..until].split('\n').next()?;
    inside[open.min(inside.len())..].find(closer).map(|length| open + length + 1)
}

/// Without the marks of the prose behind it.
fn without_tail(run: &str) -> &str {
    let mut core = run;
    while let Some(c) = core.chars().next_back() {
        let shorter = &core[..core.len() - c.len_utf8()];
        let is_unopened = |open: char| core.matches(c).count() > core.matches(open).count();
        let is_tail = match c {
            '.' | ',' | ';' | ':' | '!' | '?' | '…' | '"' | '\'' | '”' | '’' => true,
            '*' | '_' => !shorter.ends_with(['/', '.', '*']) && !shorter.is_empty(),
            ')' => is_unopened('('),
            ']' => is_unopened('['),
            _ => false,
        };
        if !is_tail {
            break;
        }
        core = shorter;
    }
    core
}

fn looks_technical(core: &str, is_first: bool) -> bool {
    let is_letter = |c: char| c.is_ascii_alphabetic();
    let begins_so = |mark: &str| core.strip_prefix(mark).is_some_and(|rest| rest.starts_with(is_letter));
    // At the beginning a hyphen is the bullet of a list.
    let is_flag = begins_so("--") || (!is_first && begins_so("-"));
    let is_file = begins_so(".") || core.starts_with("./") || core.starts_with("../");
    let has_operator = ["::", "://", "()", "->", "=>", "!(", "!=", "*.", ".*", "/*", "({", "#["]
        .iter()
        .any(|operator| core.contains(operator));
    let is_call = core.find('(').is_some_and(|at| {
        core[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_') && core[at..].contains(')')
    });
    let has_sign =
        core.contains(['\\', '$', '<', '>', '=', '{', '}', '#', '@', '_', '/', '|', '~', '[', '*', '&', '%']);
    let has_mark = core.contains(['.', ',', ';', ':', '!', '?', '(', ')', '-']);
    let is_prose = core.contains(['—', '–', '…', '“', '”', '"']);
    let is_joined =
        core.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':' | '\'' | '’'));
    is_flag
        || is_file
        || begins_so("!")
        || has_operator
        || is_call
        || (has_sign && has_mark && !is_prose && !is_joined)
}
