//! Questions in German, French, Spanish and Italian, as the English words of their dates, which the parser reads.
//!
//! A word is read in the language of the question and in no other: "hier" is yesterday in French and "here" in German.
//! The language is the one that has most words of its own in the question; what has no part in a date becomes `_`.

mod french;
mod german;
mod italian;
mod spanish;
mod words;

use std::ops::Range;

use words::{Language, is_english};

/// Where a question has as many words of two languages, the first is taken.
static LANGUAGES: [Language; 4] = [german::GERMAN, french::FRENCH, spanish::SPANISH, italian::ITALIAN];
/// The most items of one phrase.
const PHRASE_MAX: usize = 4;
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
/// What a following "last" or "next" belongs to, beside months.
const SHIFTED: [&str; 17] = [
    "week",
    "weekend",
    "month",
    "year",
    "night",
    "evening",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
    "spring",
    "summer",
    "autumn",
    "winter",
];
const UNITS: [&str; 11] =
    ["day", "days", "week", "weeks", "month", "months", "year", "years", "hours", "minutes", "hour"];

/// A question's words in English, and where each was found.
pub(super) struct Translated {
    pub(super) text: String,
    /// Where a word begins in `text`, and the bytes of the question that it stands for.
    words: Vec<(usize, Range<usize>)>,
}

impl Translated {
    /// The bytes of the question that these bytes of the text stand for.
    pub(super) fn source(&self, range: &Range<usize>) -> Range<usize> {
        let first = self.words.partition_point(|(start, _)| *start <= range.start).saturating_sub(1);
        let last = self.words.partition_point(|(start, _)| *start < range.end).saturating_sub(1);
        match (self.words.get(first), self.words.get(last)) {
            (Some((_, from)), Some((_, to))) => from.start.min(to.start)..to.end.max(from.end),
            _ => 0..0,
        }
    }
}

/// A word, a number or a mark of the question.
struct Item {
    /// In small letters without accents.
    folded: String,
    range: Range<usize>,
    /// White space is before it.
    is_apart: bool,
}

impl Item {
    fn is_number(&self) -> bool {
        self.folded.len() <= 4 && self.folded.bytes().all(|byte| byte.is_ascii_digit())
    }

    fn is_word(&self) -> bool {
        self.folded.starts_with(char::is_alphabetic)
    }
}

/// The question in English words, where it is in another language that is known here.
pub(super) fn translated(question: &str) -> Option<Translated> {
    let items = items(question);
    let language = language(&items)?;
    let mut writer =
        Writer { language, items: &items, out: Translated { text: String::new(), words: Vec::new() } };
    let mut at = 0;
    while at < items.len() {
        at = writer.write(at).max(at + 1);
    }
    Some(writer.out)
}

fn items(question: &str) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    let mut is_apart = true;
    for (start, c) in question.char_indices() {
        let end = start + c.len_utf8();
        if c.is_whitespace() {
            is_apart = true;
            continue;
        }
        let goes_on = items.last().is_some_and(|last| {
            !is_apart
                && ((c.is_alphabetic() && last.is_word())
                    || (c.is_ascii_digit() && last.folded.ends_with(|l: char| l.is_ascii_digit())))
        });
        match items.last_mut().filter(|_| goes_on) {
            Some(last) => {
                push_folded(&mut last.folded, c);
                last.range.end = end;
            }
            None => {
                let mut folded = String::new();
                push_folded(&mut folded, c);
                items.push(Item { folded, range: start..end, is_apart });
            }
        }
        is_apart = false;
    }
    items
}

fn push_folded(folded: &mut String, c: char) {
    for lower in c.to_lowercase() {
        folded.push(match lower {
            'à' | 'á' | 'â' | 'ä' => 'a',
            'è' | 'é' | 'ê' | 'ë' => 'e',
            'ì' | 'í' | 'î' | 'ï' => 'i',
            'ò' | 'ó' | 'ô' | 'ö' => 'o',
            'ù' | 'ú' | 'û' | 'ü' => 'u',
            'ç' => 'c',
            'ñ' => 'n',
            '’' => '\'',
            other => other,
        });
    }
}

/// The language that has more words of its own among these than English beside it.
fn language(items: &[Item]) -> Option<&'static Language> {
    let words: Vec<(&str, bool)> = items
        .iter()
        .filter(|item| item.is_word())
        .map(|item| (item.folded.as_str(), is_english(&item.folded)))
        .collect();
    let lead = |language: &Language| -> i32 {
        let of_word =
            |(word, is_english): &(&str, bool)| i32::from(language.has(word)) - i32::from(*is_english);
        words.iter().map(of_word).sum()
    };
    // Of equals the first.
    let (best, language) =
        LANGUAGES.iter().rev().map(|language| (lead(language), language)).max_by_key(|it| it.0)?;
    (best > 0).then_some(language)
}

struct Writer<'a> {
    language: &'static Language,
    items: &'a [Item],
    out: Translated,
}

impl Writer<'_> {
    fn folded(&self, at: usize) -> &str {
        self.items.get(at).map_or("", |item| &item.folded)
    }

    /// What the word at this place is in English.
    fn english(&self, at: usize) -> Option<&'static str> {
        self.language.english(self.folded(at))
    }

    fn unit(&self, at: usize) -> Option<&'static str> {
        self.english(at).filter(|word| UNITS.contains(word))
    }

    fn is_count(&self, at: usize) -> bool {
        self.items.get(at).is_some_and(Item::is_number) || self.language.count(self.folded(at)).is_some()
    }

    /// What these items say means "ago" before a count.
    fn is_ago(&self, at: usize, length: usize) -> bool {
        self.language.ago.iter().any(|ago| {
            ago.split(' ').count() == length
                && ago.split(' ').enumerate().all(|(n, word)| self.folded(at + n) == word)
        })
    }

    fn is_month(&self, at: usize) -> bool {
        self.english(at).is_some_and(|word| MONTHS.contains(&word))
    }

    fn push(&mut self, word: &str, source: Range<usize>, is_apart: bool) {
        if is_apart && !self.out.text.is_empty() {
            self.out.text.push(' ');
        }
        self.out.words.push((self.out.text.len(), source));
        self.out.text.push_str(word);
    }

    /// Writes the items `from..to` as these words, and says where it goes on.
    fn put(&mut self, words: &str, from: usize, to: usize) -> usize {
        let last = to.min(self.items.len()).saturating_sub(1).max(from);
        let source = self.items[from].range.start..self.items[last].range.end;
        self.push(words, source, true);
        to
    }

    /// Writes what begins at this item, and says where it goes on.
    fn write(&mut self, at: usize) -> usize {
        if let Some((words, to)) = self.phrase(at) {
            return if words == "weekend" { self.noun(words, at, to) } else { self.put(words, at, to) };
        }
        let item = &self.items[at];
        if item.is_number() {
            return self.number(at);
        }
        if !item.is_word() {
            // An apostrophe only parts two words here.
            if item.folded != "'" {
                let (source, is_apart) = (item.range.clone(), item.is_apart);
                let mark = item.folded.clone();
                self.push(&mark, source, is_apart);
            }
            return at + 1;
        }
        let ago = self
            .language
            .ago
            .iter()
            .map(|ago| ago.split(' ').count())
            .find(|length| self.is_ago(at, *length));
        if let Some(length) = ago
            && let Some(to) = self.counted(at, at + length, " ago")
        {
            return to;
        }
        if self.is_count(at)
            && let Some(to) = self.counted(at, at, "")
        {
            return to;
        }
        self.word(at)
    }

    fn phrase(&self, at: usize) -> Option<(&'static str, usize)> {
        (1..=PHRASE_MAX.min(self.items.len() - at)).rev().find_map(|length| {
            let items = &self.items[at..at + length];
            let phrase = self.language.phrases.iter().find(|(phrase, _)| {
                phrase.split(' ').count() == length
                    && phrase.split(' ').zip(items).all(|(word, item)| word == item.folded)
            })?;
            Some((phrase.1, at + length))
        })
    }

    /// "3. November", "3.11.", "1er"; else the number as it is.
    fn number(&mut self, at: usize) -> usize {
        let item = &self.items[at];
        let (number, is_apart) = (item.folded.clone(), item.is_apart);
        let point = self.folded(at + 1) == "." && !self.items[at + 1].is_apart;
        let day = number.len() <= 2;
        if day && point && (self.is_month(at + 2) || matches!(self.folded(at + 2), "und" | "bis")) {
            return self.put(&number, at, at + 2);
        }
        if day && point && self.folded(at + 3) == "." && self.folded(at + 4).parse::<u16>().is_err() {
            let month = self.folded(at + 2).parse::<usize>().ok();
            if let Some(month) = month.and_then(|month| MONTHS.get(month.wrapping_sub(1))) {
                let date = format!("{number} {month}");
                return self.put(&date, at, at + 4);
            }
        }
        if day && matches!(self.folded(at + 1), "er" | "º") {
            return self.put(&number, at, at + 2);
        }
        if day
            && self.is_count(at)
            && let Some(to) = self.counted(at, at, "")
        {
            return to;
        }
        let source = item.range.clone();
        self.push(&number, source, is_apart);
        at + 1
    }

    /// "drei Tagen", "trois derniers jours": a count with its unit, written behind each other with what follows.
    fn counted(&mut self, at: usize, count_at: usize, after: &str) -> Option<usize> {
        let mut place = count_at;
        while self.language.about.contains(&self.folded(place)) {
            place += 1;
        }
        let item = self.items.get(place)?;
        let count =
            if item.is_number() { item.folded.as_str() } else { self.language.count(&item.folded)? };
        place += 1;
        // "les trois derniers jours".
        let shift = self.english(place).filter(|word| matches!(*word, "last" | "next"));
        place += usize::from(shift.is_some());
        let unit = self.unit(place)?;
        let words = match shift {
            Some(shift) => format!("{shift} {count} {unit}{after}"),
            None => format!("{count} {unit}{after}"),
        };
        Some(self.put(&words, at, place + 1))
    }

    fn word(&mut self, at: usize) -> usize {
        let folded = self.folded(at);
        let next_is_number = self.items.get(at + 1).is_some_and(Item::is_number);
        if let Some(word) = self.language.before_number(folded).filter(|_| next_is_number) {
            return self.put(word, at, at + 1);
        }
        // "fra tre giorni" looks ahead, "fra il 3 e il 5" is between.
        if matches!(folded, "tra" | "fra") && self.is_count(at + 1) && self.unit(at + 2).is_some() {
            return self.put("in", at, at + 1);
        }
        match self.english(at) {
            None => self.put("_", at, at + 1),
            Some("") => at + 1,
            // "What has passed" is not the last of anything.
            Some("last") if folded.starts_with("pas") => self.put("_", at, at + 1),
            Some(word) if SHIFTED.contains(&word) || MONTHS.contains(&word) => self.noun(word, at, at + 1),
            Some(word) => self.put(word, at, at + 1),
        }
    }

    /// A noun with the shift that stands behind it: "la semaine dernière", "el martes pasado".
    fn noun(&mut self, word: &str, at: usize, to: usize) -> usize {
        let shift = |word: &&str| matches!(*word, "last" | "next");
        if let Some(shift) = self.english(to).filter(shift) {
            return self.put(&format!("{shift} {word}"), at, to + 1);
        }
        if self.folded(to) == "que" && self.folded(to + 1) == "viene" {
            return self.put(&format!("next {word}"), at, to + 2);
        }
        let before = at.checked_sub(1).and_then(|before| self.english(before));
        if word == "weekend" && !before.is_some_and(|word| matches!(word, "last" | "next" | "this")) {
            return self.put("over the weekend", at, to);
        }
        self.put(word, at, to)
    }
}
