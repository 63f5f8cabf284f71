//! Which of the word lists have a word: a name is weighed by them, and so are the words beside it.

use memory_language::calendar_words::calendar_word;

use super::super::cues;
use super::super::lists;
use super::super::names;
use super::super::verbs;
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

/// Looks each word up once.
#[derive(Default)]
pub(super) struct WordKinds(WordMap<String, u32>);

impl WordKinds {
    pub(super) fn of(&mut self, raw: &str) -> impl Iterator<Item = &'static str> + use<> {
        let bits = match self.0.get(raw) {
            Some(bits) => *bits,
            None => {
                let bits = bits_of(raw);
                self.0.insert(raw.to_owned(), bits);
                bits
            }
        };
        KINDS.iter().enumerate().filter(move |(bit, _)| bits >> bit & 1 == 1).map(|(_, kind)| *kind)
    }

    /// The first of its kinds.
    pub(super) fn first(&mut self, raw: &str) -> &'static str {
        self.of(raw).next().unwrap_or("unknown")
    }
}

fn bits_of(raw: &str) -> u32 {
    let lower = raw.to_lowercase();
    let word = lower.as_str();
    let is = [
        names::is_first_name(word),
        names::is_wordy_name(word),
        names::is_no_name(word),
        names::is_title(word),
        lists::PLACES.contains(word),
        lists::PLACE_ENDINGS.contains(word),
        lists::SITES.contains(word),
        lists::BODIES.contains(raw),
        lists::LEADING_BODIES.contains(raw),
        lists::SMALL_BODIES.contains(word),
        lists::COMPANY_ENDINGS.contains(raw),
        lists::SOFTWARE.contains(word),
        lists::TRADES.contains(word),
        lists::DEPARTMENTS.contains(word),
        lists::UNITS.contains(word),
        lists::TEAMS.contains(word),
        cues::is_role(word),
        lists::PUBLIC.contains(word) || lists::OTHER_PEOPLE.contains(word),
        lists::GATHERINGS.contains(word),
        lists::DOCUMENT_KINDS.contains(word),
        lists::WORKS.contains(word),
        lists::NAMED_WORK.contains(word) || lists::ARTICLED_WORK.contains(word),
        lists::BUILDING_WORK.contains(word),
        lists::PACKAGES.contains(word) || lists::PACKAGE_ENDINGS.contains(word),
        lists::ACRONYMS.contains(word),
        lists::PLANS.contains(word),
        lists::TROUBLES.contains(word),
        calendar_word(word).is_some(),
        verbs::of(word).is_some(),
    ];
    let known = is.iter().enumerate().fold(0, |bits, (bit, is)| bits | u32::from(*is) << bit);
    if known == 0 { 1 << is.len() } else { known }
}
