//! Which of the word lists have a word: a name is weighed by them, and so are the words beside it.

use std::sync::LazyLock;

use memory_language::calendar_words::calendar_word;

use super::super::data_file::WordSet;
use super::super::lists;
use super::super::verbs;
use super::super::words::Text;
use super::super::wordset::WordMap;

/// The names of the kinds, by their bits. The last is of words that no list has.
const KINDS: [&str; 30] = [
    "first",
    "wordy",
    "noname",
    "title",
    "place",
    "placeend",
    "site",
    "body",
    "leading",
    "smallbody",
    "company",
    "software",
    "trade",
    "dept",
    "unit",
    "team",
    "role",
    "people",
    "gathering",
    "dockind",
    "work",
    "namedwork",
    "building",
    "package",
    "acronym",
    "plan",
    "trouble",
    "day",
    "verb",
    "unknown",
];

/// The kinds of a token, one after the other.
pub(super) struct WordKinds(u32);

impl WordKinds {
    pub(super) fn of(text: &Text<'_>, at: usize) -> Self {
        let raw = text.raw_word(at);
        Self(if raw.is_ascii() { bits_of(raw, text.word(at)) } else { bits_of(raw, &raw.to_lowercase()) })
    }

    pub(super) fn first(&self) -> &'static str {
        KINDS[self.0.trailing_zeros() as usize]
    }
}

impl Iterator for WordKinds {
    type Item = &'static str;

    fn next(&mut self) -> Option<&'static str> {
        let kind = KINDS.get(self.0.trailing_zeros() as usize)?;
        self.0 &= self.0 - 1;
        Some(kind)
    }
}

/// The lists of words in lower case, by the bits of their kinds.
const LISTS: [(u32, &WordSet); 27] = [
    (0, &lists::FIRST_NAMES),
    (1, &lists::WORDY_NAMES),
    (2, &lists::NOT_NAMES),
    (3, &lists::TITLES),
    (4, &lists::PLACES),
    (5, &lists::PLACE_ENDINGS),
    (6, &lists::SITES),
    (9, &lists::SMALL_BODIES),
    (11, &lists::SOFTWARE),
    (12, &lists::TRADES),
    (13, &lists::DEPARTMENTS),
    (14, &lists::UNITS),
    (15, &lists::TEAMS),
    (16, &lists::ROLES),
    (17, &lists::PUBLIC),
    (17, &lists::OTHER_PEOPLE),
    (18, &lists::GATHERINGS),
    (19, &lists::DOCUMENT_KINDS),
    (20, &lists::WORKS),
    (21, &lists::NAMED_WORK),
    (21, &lists::ARTICLED_WORK),
    (22, &lists::BUILDING_WORK),
    (23, &lists::PACKAGES),
    (23, &lists::PACKAGE_ENDINGS),
    (24, &lists::ACRONYMS),
    (25, &lists::PLANS),
    (26, &lists::TROUBLES),
];
/// Those of words as they are written.
const WRITTEN: [(u32, &WordSet); 3] =
    [(7, &lists::BODIES), (8, &lists::LEADING_BODIES), (10, &lists::COMPANY_ENDINGS)];
const DAY: u32 = 27;
const VERB: u32 = 28;
const UNKNOWN: u32 = 29;

type Bits = WordMap<&'static str, u32>;

static BITS: LazyLock<Bits> = LazyLock::new(|| joined(&LISTS));
static WRITTEN_BITS: LazyLock<Bits> = LazyLock::new(|| joined(&WRITTEN));

fn joined(lists: &[(u32, &WordSet)]) -> Bits {
    let mut bits = Bits::default();
    for (bit, list) in lists {
        for word in list.words() {
            *bits.entry(*word).or_default() |= 1 << bit;
        }
    }
    // A name that is a word too is no other word.
    for bits in bits.values_mut().filter(|bits| **bits & 2 != 0) {
        *bits &= !4;
    }
    bits
}

/// `word` is the token in lower case.
fn bits_of(raw: &str, word: &str) -> u32 {
    let of = |bits: &Bits, word: &str| bits.get(word).copied().unwrap_or_default();
    let is = |bit: u32, is: bool| u32::from(is) << bit;
    let known = of(&BITS, word)
        | of(&WRITTEN_BITS, raw)
        | is(DAY, calendar_word(word).is_some())
        | is(VERB, verbs::of(word).is_some());
    if known == 0 { 1 << UNKNOWN } else { known }
}
