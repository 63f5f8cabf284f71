//! Projects by what is said of them over a whole text: "the Open Shelves pilot", "two people on Foxglove", "Foxglove slips".

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use memory_language::calendar_words::calendar_word;

use super::super::lists;
use super::super::names;
use super::super::verbs;
use super::super::words::{Kind, Text, begins_line, spaced};
use super::bodies::dealt_with;
use super::is_body;
use super::unknown::{begins_statement, is_code_name, is_unknown, sequence};

/// A project's name has at most so many words before what it is.
pub(super) const NAME_MAX_WORDS: usize = 4;
/// More names than this are not weighed.
const NAMES_MAX: usize = 2_000;
/// So many different things must be said of a name that each alone may be said of others.
const SIGNS_MIN: u32 = 2;

/// "Ledgerline export", "Orvane rollout": an unknown name before work that has names.
pub(super) fn worked_on(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let end = sequence(text, at);
    let works = lists::NAMED_WORK.contains(text.word(end)) && spaced(text, end - 1);
    let ordinary = end == at + 1 && is_of_a_kind(text, at);
    (works && !ordinary).then_some(at..end)
}

/// "the Open Shelves pilot", "our Heron rollout": behind an article any words with a capital are the name of what is worked on.
pub(super) fn told_by_work(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let led = at > 0 && text.is_any(at - 1, &["the", "our", "their", "this"]) && spaced(text, at - 1);
    if !led {
        return None;
    }
    let part = |at: usize| text.is_capitalised(at) && text.raw_word(at).chars().any(char::is_lowercase);
    let end =
        (at..=at + NAME_MAX_WORDS).find(|end| !(part(*end) && (*end == at || spaced(text, end - 1))))?;
    let works =
        end > at && spaced(text, end - 1) && is_work(text.raw_word(end)) && text.word(end + 1) != "'s";
    if !works || (at..end).any(|at| is_of_a_kind(text, at)) {
        return None;
    }
    let single = end == at + 1;
    let word = text.word(at);
    let plain = single
        && (text.raw_word(at).chars().count() < 4
            || (names::is_common_word(word) && !names::is_wordy_name(word)));
    let person = !single && names::is_first_name(&text.raw_word(at).to_lowercase());
    (!plain && !person).then_some(at..end)
}

pub(super) fn is_work(word: &str) -> bool {
    lists::NAMED_WORK.contains(word)
        || lists::ARTICLED_WORK.contains(word)
        || matches!(word, "project" | "programme")
}

/// "5.11", "2.0.1", without a unit behind it.
pub(super) fn is_version(text: &Text<'_>, at: usize) -> bool {
    let number = text.raw_word(at);
    let unit = matches!(text.word(at + 1), "%" | "million" | "m" | "k" | "km" | "°" | "€" | "pm" | "am");
    text.kind(at) == Some(Kind::Number)
        && spaced(text, at - 1)
        && number.len() <= 8
        && (2..=3).contains(&number.split('.').count())
        && number.split('.').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
        && !unit
}

/// "Harrier (the search rewrite)", "Lantern, our design system": what it is follows the unknown name.
pub(super) fn explained(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let end = sequence(text, at);
    let led = text.is_any(end, &["(", ",", "–", "—"]) && text.is_any(end + 1, &["the", "our", "their", "a"]);
    let stop =
        (end + 2..end + 7).find(|near| !text.is_word(*near) || text.is_any(*near, &["of", "for", "to"]))?;
    let closed = text.is_any(stop, &[")", ",", ".", "–", "—"]);
    let work = is_work(text.word(stop - 1))
        && (stop > end + 3 && closed || stop > end + 2 && text.is_any(stop, &["of", "for", "to"]));
    (led && work && !(end == at + 1 && is_of_a_kind(text, at))).then_some(at..end)
}

/// "the swap bug in Lantern", "offline edits in Heron": what is wrong or done in an unknown name.
pub(super) fn worked_in(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let led = at > 1 && text.word(at - 1) == "in" && lists::IN_PROGRAMS.contains(text.word(at - 2));
    led.then(|| at..sequence(text, at))
}

/// A day, a place, a language, a program, a department or a body: what is worked on belongs to it or is for it.
pub(super) fn is_of_a_kind(text: &Text<'_>, at: usize) -> bool {
    let word = text.word(at);
    let language = ["ian", "ean", "ish", "ese"].iter().any(|end| word.len() > 5 && word.ends_with(end));
    language
        || calendar_word(word).is_some()
        || names::is_title(word)
        || is_body(text.raw_word(at))
        || lists::PLACES.contains(word)
        || lists::SOFTWARE.contains(word)
        || lists::DEPARTMENTS.contains(word)
        || lists::TEAMS.contains(word)
        || (begins_statement(text, at) && ["ed", "est", "ing"].iter().any(|end| word.ends_with(end)))
}

const TITLED: u8 = 1;
const MET_FOR: u8 = 2;
const HEADS_ENTRY: u8 = 4;
const HAS_A_TEAM: u8 = 8;
const HAS_A_STATE: u8 = 16;
const IS_DEALT_WITH: u8 = 32;

/// What was seen of an unknown name.
#[derive(Default)]
struct Signs {
    kinds: u8,
    sure: bool,
    /// It deals as firms do.
    deals: bool,
    /// How often it stands in capitals as a name does.
    in_capitals: u8,
}

/// The unknown names, as they are written, of which it is said in the text or in its title that they are worked on.
pub(super) fn repeated(text: &Text<'_>, titles: &[Range<usize>], title: Option<&str>) -> HashSet<String> {
    let mut signs: HashMap<&str, Signs> = HashMap::new();
    let beside = title.map(|title| Text::new(title, 400));
    let of_title: HashSet<&str> = beside.iter().flat_map(titled_words).collect();
    let mut titles = titles.iter().peekable();
    for at in 0..text.tokens.len() {
        while titles.next_if(|title| title.end <= at).is_some() {}
        let unknown = || is_unknown(text, at) || is_code_name(text, at);
        if !text.is_capitalised(at) || !unknown() || signs.len() >= NAMES_MAX {
            continue;
        }
        let name = text.raw_word(at);
        let signs = signs.entry(name).or_default();
        let before = signs.kinds;
        signs.take(text, at);
        // Of what a title says only that it names it counts, beside what is plain.
        if let Some(title) = titles.peek().filter(|title| title.contains(&at)) {
            signs.kinds = before | if names_title(text, title, at) { TITLED } else { 0 };
        }
        if of_title.contains(name) {
            signs.kinds |= TITLED;
        }
    }
    // Teams and meetings firms have too.
    let own = |kinds: u8| {
        kinds & (TITLED | HEADS_ENTRY | HAS_A_STATE | IS_DEALT_WITH) > 0 && kinds.count_ones() >= SIGNS_MIN
    };
    let code = |signs: &Signs| signs.in_capitals > 1 && signs.kinds & (IS_DEALT_WITH | TITLED) > 0;
    let told = |signs: &Signs| !signs.deals && (signs.sure || own(signs.kinds) || code(signs));
    signs.into_iter().filter(|(_, signs)| told(signs)).map(|(name, _)| name.to_owned()).collect()
}

/// The unknown words that open a title or a part of it.
fn titled_words<'t>(title: &'t Text<'_>) -> Vec<&'t str> {
    let all = 0..title.tokens.len();
    all.clone()
        .filter(|at| is_unknown(title, *at) && names_title(title, &all, *at))
        .map(|at| title.raw_word(at))
        .collect()
}

/// Whether a name fills a part of a title, or opens it before what is met for: "Orvane – weekly", "Orvane call 3".
fn names_title(text: &Text<'_>, title: &Range<usize>, at: usize) -> bool {
    let mark = |at: usize| text.kind(at).is_none_or(|kind| matches!(kind, Kind::Punctuation | Kind::Number));
    let opens = at == title.start || mark(at - 1);
    let ends = at + 1 >= title.end || mark(at + 1);
    let met =
        lists::DOCUMENT_KINDS.contains(text.word(at + 1)) || lists::GATHERINGS.contains(text.word(at + 1));
    opens && text.word(at + 1) != "'s" && (ends || met)
}

impl Signs {
    fn take(&mut self, text: &Text<'_>, at: usize) {
        let word = |back: usize| at.checked_sub(back).map_or("", |at| text.word(at));
        let end = at + 1;
        let next = text.word(end);
        let goes_on = text.is_capitalised(end) && spaced(text, at);
        let goes_before =
            at > 0 && text.is_capitalised(at - 1) && spaced(text, at - 1) && !begins_statement(text, at);
        let alone = !goes_on && !goes_before;
        if !alone {
            return;
        }
        self.deals |= dealt_with(text, at).is_some();
        // "two people on Foxglove", "she works on Foxglove".
        self.sure |= word(1) == "on" && lists::WORKING.contains(word(2));
        // "tech lead for Atlas", "the backlog of Pulse".
        self.sure |= matches!(word(1), "for" | "of") && lists::PLANS.contains(word(2));
        let then = text.word(end + 1);
        self.sure |= match next {
            "slips" | "slipped" => matches!(then, "to" | "by" | "again" | "into" | "from"),
            "goes" | "went" => then == "live",
            "is" | "was" => {
                then == "live"
                    || (then == "on" && text.word(end + 2) == "track")
                    || (then == "in" && text.word(end + 2) == "beta")
            }
            _ => false,
        };
        if lists::GATHERINGS.contains(next)
            || (lists::DOCUMENT_KINDS.contains(next) && verbs::of(next).is_none())
        {
            self.kinds |= MET_FOR;
        }
        // "we paused Kittiwake".
        if lists::PROJECT_ACTS.contains(word(1)) {
            self.kinds |= IS_DEALT_WITH;
        }
        if is_code_name(text, at) {
            let entry = next == ":" || (text.ends_line(at) && begins_line(text, at));
            self.in_capitals = self.in_capitals.saturating_add(u8::from(!entry));
            let inside =
                matches!(word(1), "for" | "of" | "on" | "in" | "into" | "under" | "within" | "the" | "with");
            if inside && !begins_statement(text, at) {
                self.kinds |= IS_DEALT_WITH;
            }
        }
        if matches!(next, "team" | "squad" | "crew") {
            self.kinds |= HAS_A_TEAM;
        }
        let entry = !is_code_name(text, at) && (at == 0 || begins_line_or_item(text, at));
        if entry && (next == ":" || matches!(next, "–" | "—") || next.is_empty() || text.ends_line(at)) {
            self.kinds |= HEADS_ENTRY;
        }
        if matches!(next, "needs" | "is" | "ships" | "launches" | "launched" | "starts" | "ends")
            && lists::PROJECT_STATES.contains(then)
        {
            self.kinds |= HAS_A_STATE;
        }
    }
}

fn begins_line_or_item(text: &Text<'_>, at: usize) -> bool {
    let mut first = at;
    while first > 0 && text.is_any(first - 1, &["*", "_", "#", "-", "•"]) {
        first -= 1;
    }
    first == 0 || text.ends_line(first - 1)
}
