//! Where sentences end, in prose that is full of technical text.
//!
//! One pass over the words of a text. A stop counts at the end of a word, where the word is no
//! abbreviation, so whatever has its stops inside (URLs, paths, versions, addresses, identifiers) is left
//! whole by construction. The two exceptions are stops that need no space, `。！？` and the like, and the
//! missing space of "done.Then", which must look like one and have two words or more on either side.

mod tables;
#[cfg(test)]
mod tests;

use std::ops::Range;

use tables::{Abbreviation, Class, abbreviation, class, opens};

/// The sentences of `text` in order, trimmed: none if it says nothing, else at least one. They leave out nothing but the whitespace between them; what
/// follows the last stop without a word of its own (an emoji, a lone dash) belongs to the last sentence.
/// Paragraphs and the items of a list are sentences too, whether they end in a stop or not.
pub fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut scanner = Scanner::new(text);
    let mut words = Words { text, at: 0 }.peekable();
    while let Some(word) = words.next() {
        scanner.take(&word, words.peek());
    }
    scanner.finish()
}

/// Whether the stop behind `word` is a part of it, and never ends a sentence: "Prof.", "e.g.", "v." before a number.
pub fn keeps_its_stop(word: &str, next: &str) -> bool {
    let is_initial = || {
        let mut letters = word.chars();
        letters.next().is_some_and(char::is_uppercase) && letters.next().is_none()
    };
    match abbreviation(word) {
        Some(Abbreviation::Leads) => true,
        Some(Abbreviation::BeforeNumber) if next.starts_with(|c: char| c.is_ascii_digit()) => true,
        _ => is_initial() || next.starts_with(|c: char| c.is_lowercase() || c.is_ascii_digit()),
    }
}

/// Whether the stop behind `word` shortens it, seen what comes next: "incl. Basel", "max. 3", "ext. 204". Other than
/// `keeps_its_stop` it takes no word for shortened that is not known to be.
pub fn leads_to_next(word: &str, next: &str) -> bool {
    let is_counted = next.starts_with(|c: char| c.is_ascii_digit());
    match abbreviation(word) {
        Some(Abbreviation::Leads) => true,
        // Single letters are initials, or the last word: "version B. 3 came".
        Some(Abbreviation::BeforeNumber | Abbreviation::MayEnd) => is_counted && word.len() > 1,
        Some(Abbreviation::Closes) | None => false,
    }
}

/// Whether a word before `!` is a name of code with it: "println! in the server".
pub fn is_macro(word: &str) -> bool {
    tables::is_macro(word)
}

/// What lies between a word and the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gap {
    Nothing,
    Space,
    Line,
    Paragraph,
}

/// A run without whitespace, or up to a stop that needs none.
#[derive(Debug, Clone, Copy)]
struct Word<'a> {
    text: &'a str,
    start: usize,
    gap: Gap,
}

impl<'a> Word<'a> {
    fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// The word without the marks around it, before stops as well as after.
    fn bare(&self) -> &'a str {
        self.text.trim_start_matches(opens).trim_end_matches(in_tail)
    }

    fn first(&self) -> Option<char> {
        self.text.trim_start_matches(opens).chars().next()
    }

    fn starts_lowercase(&self) -> bool {
        self.first().is_some_and(char::is_lowercase)
    }

    fn starts_with_digit(&self) -> bool {
        self.first().is_some_and(|c| c.is_ascii_digit())
    }

    /// Whether it is a word like "The" or "It's"; "I." is an initial.
    fn opens_sentence(&self) -> bool {
        let word = self.text.trim_start_matches(opens);
        let word = word.trim_end_matches(|c| matches!(class(c), Class::Closer | Class::Joiner));
        tables::opens_sentence(before_apostrophe(word))
    }

    fn is_bullet(&self) -> bool {
        matches!(self.text, "-" | "*" | "+" | "•" | "–" | "—" | "‣" | "◦" | "·")
            || self.text.strip_suffix([')', '.']).is_some_and(|number| list_number(number).is_some())
    }
}

struct Words<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Iterator for Words<'a> {
    type Item = Word<'a>;

    fn next(&mut self) -> Option<Word<'a>> {
        let rest = &self.text[self.at..];
        let trimmed = rest.trim_start();
        let start = self.text.len() - trimmed.len();
        if trimmed.is_empty() {
            return None;
        }
        let space = &rest[..rest.len() - trimmed.len()];
        let lines: usize = space.chars().map(line_ends).sum();
        let gap = match lines {
            _ if self.at == 0 => Gap::Paragraph,
            0 if space.is_empty() => Gap::Nothing,
            0 => Gap::Space,
            1 => Gap::Line,
            _ => Gap::Paragraph,
        };
        let length = word_length(trimmed);
        self.at = start + length;
        Some(Word { text: &trimmed[..length], start, gap })
    }
}

fn line_ends(c: char) -> usize {
    match c {
        '\n' | '\u{2028}' => 1,
        '\u{2029}' => 2,
        _ => 0,
    }
}

fn word_length(text: &str) -> usize {
    let mut stopped = false;
    for (at, c) in text.char_indices() {
        let class = class(c);
        let goes_on = matches!(class, Class::Mark | Class::Dot | Class::Ellipsis | Class::Closer);
        if c.is_whitespace() || (stopped && class != Class::Strong && !goes_on) {
            return at;
        }
        stopped |= class == Class::Strong;
    }
    text.len()
}

fn in_tail(c: char) -> bool {
    !matches!(class(c), Class::Other | Class::Opener)
}

fn before_apostrophe(word: &str) -> &str {
    word.split(['\'', '’']).next().unwrap_or(word)
}

/// A number as it is before the dot or bracket of a numbered list.
fn list_number(text: &str) -> Option<usize> {
    const MAX_DIGITS: usize = 3;
    let plain = !text.is_empty() && text.len() <= MAX_DIGITS && text.bytes().all(|b| b.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

struct Scanner<'a> {
    text: &'a str,
    found: Vec<Range<usize>>,
    /// Where the sentence being read begins.
    start: usize,
    /// Words since `start`, or since the pending stop.
    words: usize,
    /// After a stop without a space, which may yet turn out to end a sentence.
    pending: Option<usize>,
    /// The number that the next item of a numbered list would have.
    next_item: Option<usize>,
    after_colon: bool,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            found: Vec::new(),
            start: 0,
            words: 0,
            pending: None,
            next_item: None,
            after_colon: false,
        }
    }

    fn take(&mut self, word: &Word<'_>, next: Option<&Word<'_>>) {
        let new_block = match word.gap {
            Gap::Paragraph => true,
            Gap::Line => word.is_bullet(),
            Gap::Nothing | Gap::Space => false,
        };
        if new_block && !self.after_colon {
            self.end_sentence(word.start);
        }
        if next.is_some_and(|next| self.take_list_marker(word, next)) {
            self.after_colon = false;
            return;
        }
        self.after_colon = word.text.ends_with(':');
        match missing_space(word.text) {
            Some(at) if self.words >= 1 => {
                self.words += 1;
                self.settle_pending();
                self.pending = Some(word.start + at);
                self.words = 1;
            }
            _ => self.words += usize::from(word.text.contains(char::is_alphanumeric)),
        }
        if ends_sentence(word, next) {
            self.end_sentence(word.end());
        }
    }

    /// "1." at the start of a line or after a colon, then "2." and so on anywhere.
    fn take_list_marker(&mut self, word: &Word<'_>, next: &Word<'_>) -> bool {
        let Some(number) = word.text.strip_suffix('.').and_then(list_number) else { return false };
        let at_start = !self.has_content();
        let opens_list = (at_start && matches!(word.gap, Gap::Line | Gap::Paragraph))
            || (number == 1 && (at_start || self.after_colon));
        let continues = self.next_item == Some(number);
        let is_ordinal = self.words > 0 && tables::takes_ordinal(next.bare());
        if is_ordinal || !(opens_list || continues) {
            return false;
        }
        if continues {
            self.end_sentence(word.start);
        }
        self.next_item = Some(number + 1);
        true
    }

    fn has_content(&self) -> bool {
        self.words > 0
    }

    /// A missing space counts as an end once two words come after it.
    fn settle_pending(&mut self) {
        if let Some(at) = self.pending.take()
            && self.words >= 2
        {
            self.push(at);
        }
    }

    /// Ends the sentence before `at`, unless it has no word yet: then its marks go to the next.
    fn end_sentence(&mut self, at: usize) {
        if !self.has_content() {
            return;
        }
        self.settle_pending();
        self.push(at);
        self.words = 0;
    }

    fn push(&mut self, at: usize) {
        self.found.push(self.start..at);
        self.start = at;
    }

    fn finish(mut self) -> impl Iterator<Item = &'a str> {
        let whole = self.text.len();
        let says_something = |rest: &str| rest.contains(|c: char| !is_stop(class(c)) && !c.is_whitespace());
        if self.has_content() {
            self.end_sentence(whole);
        } else if let Some(last) = self.found.last_mut() {
            last.end = whole;
        } else if says_something(self.text) {
            self.push(whole);
        }
        self.found.into_iter().map(|range| self.text[range].trim())
    }
}

fn is_stop(class: Class) -> bool {
    matches!(class, Class::Strong | Class::Mark | Class::Dot | Class::Ellipsis)
}

/// The strongest stop in the marks after a word, and whether something closes after it.
fn tail_stop(tail: &str) -> Option<(Class, bool)> {
    let mut stop = None;
    let mut dots = 0;
    let mut closed = false;
    for c in tail.chars() {
        match class(c) {
            Class::Joiner => stop = None,
            Class::Closer => closed = true,
            found => {
                dots += usize::from(found == Class::Dot);
                let found = if dots > 1 && found == Class::Dot { Class::Ellipsis } else { found };
                let rank = |class| match class {
                    Class::Strong => 3,
                    Class::Mark => 2,
                    Class::Ellipsis => 1,
                    _ => 0,
                };
                if stop.is_none_or(|known| rank(found) >= rank(known)) {
                    stop = Some(found);
                }
                closed = false;
            }
        }
    }
    stop.map(|stop| (stop, closed))
}

/// Whether the marks after `word` end a sentence, seen what comes next.
fn ends_sentence(word: &Word<'_>, next: Option<&Word<'_>>) -> bool {
    let core = word.text.trim_end_matches(in_tail);
    let tail = &word.text[core.len()..];
    let Some((stop, closed)) = tail_stop(tail) else { return false };
    let word_has_dot = tail.starts_with('.');
    let Some(next) = next else { return true };
    if stop == Class::Strong {
        // 「はい。」と言った: the quoted sentence is part of the one around it.
        let quoted = closed && next.gap == Gap::Nothing;
        return !(quoted && next.first().is_some_and(|c| matches!(c, 'ぁ'..='ゖ')));
    }
    let core = core.trim_start_matches(opens);
    if tail == "!" && next.starts_lowercase() && is_macro(core) {
        return false;
    }
    if (closed || core.is_empty()) && next.starts_lowercase() {
        return false;
    }
    match stop {
        Class::Ellipsis => !next.starts_lowercase() && !next.starts_with_digit(),
        // In "(b). Then" the bracket keeps the dot off the letter.
        Class::Dot => !word_has_dot || dot_ends_sentence(core, next),
        _ => true,
    }
}

fn dot_ends_sentence(core: &str, next: &Word<'_>) -> bool {
    if let Some(digits) = list_number(core).map(|_| core.len()) {
        let is_ordinal = (digits <= 2 && next.starts_lowercase()) || tables::takes_ordinal(next.bare());
        return !is_ordinal;
    }
    // The dot of the root, as DNS has it: "db.example.com. is down", "example.com. IN NS ns1".
    if tables::is_host_name(core) && (next.starts_lowercase() || next.text == "IN") {
        return false;
    }
    let last = || {
        let at = core.rfind(['-', '(', '[', '"'])?;
        let last = &core[at + 1..];
        // A letter after a hyphen belongs to its word, as in "team-a", unless that is short too, as in "J.-C".
        let ends_a_word = core[at..].starts_with('-') && !core[..at].ends_with('.');
        abbreviation(last).filter(|_| !ends_a_word || last.chars().nth(1).is_some())
    };
    match abbreviation(core).or_else(last) {
        Some(Abbreviation::Leads) => false,
        Some(Abbreviation::BeforeNumber) => !next.starts_with_digit(),
        Some(Abbreviation::Closes) => next.first().is_some_and(char::is_uppercase),
        Some(Abbreviation::MayEnd) => next.opens_sentence(),
        None => true,
    }
}

/// Where the second word begins in "sentence.Second" (in bytes): the word has one stop, letters on both
/// sides and, unlike `System.Text` or `example.com`, the look of an end and a beginning.
fn missing_space(word: &str) -> Option<usize> {
    let core = word.trim_end_matches(in_tail);
    let is_stop = |c| matches!(class(c), Class::Dot | Class::Mark);
    let stop = core.find(is_stop)?;
    let after = core[stop..].trim_start_matches(is_stop);
    let right = after.trim_start_matches(['"', '”', '’', '»', ')', ']']);
    let right_at = core.len() - right.len();
    let left = &core[..stop];
    if left.contains('`') || right.contains(|c: char| !c.is_alphabetic() && !matches!(c, '\'' | '’')) {
        return None;
    }
    let left = left.trim_start_matches(opens).trim_end_matches(in_tail);
    let right = before_apostrophe(right);
    let mut letters = right.chars();
    let capitalised = letters.next().is_some_and(char::is_uppercase) && letters.all(char::is_lowercase);
    let opener = tables::opens_sentence_after_bare_dot(right)
        && left.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '\'' | '’'));
    let plain = left.chars().all(|c| c.is_lowercase() || matches!(c, '\'' | '’'))
        && [left, right].iter().all(|word| word.chars().nth(1).is_some())
        && !tables::qualifies(left)
        && !tables::ends_a_name(right)
        && !tables::is_member(right);
    let people = tables::is_given_name(left) && tables::is_given_name(right);
    (capitalised && !left.is_empty() && (opener || plain || people)).then_some(right_at)
}
