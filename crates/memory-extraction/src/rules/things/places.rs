//! Places: known ones, and those that their last word, their number or what stands before them tells.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use super::super::data_file::{DataFault, loaded};
use super::super::lists;
use super::super::names;
use super::super::verbs;
use super::super::words::{Kind, Text, spaced};
use super::unknown::{begins_statement, is_unknown, sequence};

type Joined = HashMap<&'static str, Vec<Vec<&'static str>>>;

static JOINED: LazyLock<Joined> = LazyLock::new(|| loaded(read()));

/// The known places of several words, by the first.
pub(in super::super) fn read() -> Result<Joined, DataFault> {
    let mut joined = Joined::new();
    for (_, place) in lists::PLACES_FILE.section("several-words")? {
        let words: Vec<&str> = place.split(' ').collect();
        joined.entry(words[0]).or_default().push(words);
    }
    Ok(joined)
}

/// "Kettle Lane", "Cavell Ward", "Ward 7B", "Lake Bled", "Bay of Fundy", "New York", "Oslo".
pub(super) fn place(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    numbered(text, at).or_else(|| led(text, at)).or_else(|| ended(text, at)).or_else(|| known(text, at))
}

pub(super) fn joined(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let places = JOINED.get(text.word(at))?;
    let fits = |words: &&Vec<&str>| words.iter().enumerate().all(|(n, word)| text.word(at + n) == *word);
    places.iter().find(fits).map(|words| at..at + words.len())
}

fn numbered(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let number = text.raw_word(at + 1);
    let short = number.len() <= 3
        && number.chars().all(|c| c.is_ascii_digit() || c.is_ascii_uppercase())
        && (number.len() == 1 || number.starts_with(|c: char| c.is_ascii_digit()))
        && number != "I"
        && number != "A";
    (lists::NUMBERED_PLACES.contains(text.word(at)) && short && spaced(text, at)).then_some(at..at + 2)
}

/// What the first word tells.
fn led(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let of =
        matches!(text.raw_word(at), "Bay" | "Gulf" | "Isle" | "Strait" | "Port") && text.word(at + 1) == "of";
    let name = if of { at + 2 } else { at + 1 };
    let leads = of
        || matches!(
            text.raw_word(at),
            "Lake" | "Mount" | "Lough" | "Loch" | "Rue" | "Rua" | "Calle" | "Piazza"
        );
    let particle =
        matches!(text.word(name), "das" | "dos" | "da" | "do" | "de" | "la" | "del" | "des" | "du");
    let end = name + usize::from(particle);
    (leads && text.is_capitalised(end) && spaced(text, end - 1)).then_some(at..end + 1)
}

fn ended(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    // "Mina Park" and "Alan Hill" are people.
    if names::is_first_name(text.word(at)) || verbs::of(text.word(at)).is_some_and(|verb| verb.ing) {
        return None;
    }
    // "Mr Hall" is one too, "Lord Street" is a street.
    if text.is_any(at, &["mr", "mrs", "ms", "miss", "dr", "prof", "cllr", "councillor", "rev"]) {
        return None;
    }
    let length = (1..4).find(|i| !spaced(text, at + i - 1) || !text.is_capitalised(at + i)).unwrap_or(4);
    let small = |at: usize| text.raw_word(at).chars().skip(1).all(char::is_lowercase);
    let ending =
        (1..length).rev().find(|i| lists::PLACE_ENDINGS.contains(text.word(at + i)) && small(at + i))?;
    Some(at..at + ending + 1)
}

/// A known name alone; where it is also a person's or goes on, only after "in" and the like.
fn known(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let lowered;
    let word = if text.raw_word(at).is_ascii() {
        text.word(at)
    } else {
        lowered = text.raw_word(at).to_lowercase();
        lowered.as_str()
    };
    if !lists::PLACES.contains(word) {
        return None;
    }
    let before = at.checked_sub(1);
    let placed =
        before.is_some_and(|before| text.is_any(before, &["in", "at", "from", "to", "near", "the", "our"]));
    let goes_on = text.is_capitalised(at + 1) && spaced(text, at) && !names::is_no_name(text.word(at + 1));
    let follows = before.is_some_and(|before| text.is_capitalised(before) && spaced(text, before));
    let named = names::is_first_name(word) || names::is_wordy_name(word);
    ((!goes_on && !follows && !named) || (placed && !goes_on)).then_some(at..at + 1)
}

/// An unknown name that its surroundings make a place: "in Konna.", "the Tilbury depot", "the road to Búzi".
pub(super) fn placed(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    if !is_unknown(text, at) || begins_statement(text, at) {
        return None;
    }
    let end = sequence(text, at);
    let name = Some(at..end);
    let before = text.word(at - 1);
    let next = text.word(end);
    if lists::SITES.contains(next)
        && spaced(text, end - 1)
        && matches!(before, "the" | "our" | "their" | "my" | "new" | "at" | "since" | "in")
    {
        return name;
    }
    if matches!(before, "to" | "from" | "for" | "via") && at >= 2 && lists::WAYS.contains(text.word(at - 2)) {
        return name;
    }
    let stops = text.kind(end).is_none_or(|kind| kind == Kind::Punctuation)
        || text.is_any(
            end,
            &[
                "and", "or", "on", "at", "for", "with", "this", "next", "last", "until", "from", "to",
                "when", "where", "because", "again", "is", "has", "was", "have", "while", "together",
                "since", "during", "before", "after", "by",
            ],
        );
    let plain = text.raw_word(at).chars().skip(1).all(|c| !c.is_uppercase());
    let lives = at >= 2
        && text.is_any(
            at - 2,
            &[
                "live", "lives", "lived", "living", "office", "based", "house", "flat", "staying", "stays",
                "arrived", "customs", "depot", "site",
            ],
        );
    (matches!(before, "in" | "near" | "outside") && plain && (stops || lives)).then_some(at..end)
}
