//! Projects by what is said of them over a whole text: "the Open Shelves pilot", "two people on Foxglove", "Foxglove slips".

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use memory_language::calendar_words::calendar_word;

use super::super::cues;
use super::super::lists;
use super::super::names;
use super::super::verbs;
use super::super::words::{Kind, Text, begins_line, spaced};
use super::bodies::dealt_with;
use super::unknown::{begins_statement, is_unknown, sequence};
use super::{is_body, is_function_word};

/// A project's name has at most so many words before what it is.
const NAME_MAX_WORDS: usize = 4;
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

fn is_work(word: &str) -> bool {
    lists::NAMED_WORK.contains(word)
        || lists::ARTICLED_WORK.contains(word)
        || matches!(word, "project" | "programme")
}

/// "the PAYGRID cutover", "MYCONET renewal": a name in capitals before work that has names, where the line is not written so.
pub(super) fn shouted(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let large = |at: usize| {
        let raw = text.raw_word(at);
        text.is_word(at)
            && raw.chars().filter(|c| c.is_alphabetic()).count() > 3
            && !raw.chars().any(char::is_lowercase)
            && !names::is_common_word(text.word(at))
    };
    let end =
        (at..at + NAME_MAX_WORDS).find(|end| !(large(*end) && (*end == at || spaced(text, end - 1))))?;
    let works = end > at && spaced(text, end - 1) && is_work(text.raw_word(end));
    (works && !(at..end).any(|at| is_of_a_kind(text, at))).then_some(at..end)
}

/// A name in capitals where the words around it are not: "STARLING", "HERON-2"; what is hardly spoken as a word is an abbreviation.
pub(super) fn is_code_name(text: &Text<'_>, at: usize) -> bool {
    let raw = text.raw_word(at);
    let (name, number) = raw.split_once('-').unwrap_or((raw, ""));
    let letters = name.chars().count();
    let is_vowel = |c: char| matches!(c, 'A' | 'E' | 'I' | 'O' | 'U' | 'Y');
    let spoken =
        name.chars().any(is_vowel) && name.chars().filter(|c| !is_vowel(*c)).count() * 4 <= letters * 3;
    let shouts = |at: usize| {
        text.is_word(at) && text.raw_word(at).len() > 1 && !text.raw_word(at).chars().any(char::is_lowercase)
    };
    let alone = !(at > 0 && shouts(at - 1)) && !shouts(at + 1);
    let word = name.to_lowercase();
    text.is_word(at)
        && (5..=14).contains(&letters)
        && name.chars().all(|c| c.is_ascii_uppercase())
        && number.len() < 2
        && number.bytes().all(|byte| byte.is_ascii_digit())
        && spoken
        && alone
        && !names::is_common_word(&word)
        && !names::is_first_name(&word)
        && !lists::SOFTWARE.contains(&word)
        && !lists::PLACES.contains(&word)
        && !lists::ACRONYMS.contains(&word)
        && !lists::PROJECT_STATES.contains(&word)
        && !word.ends_with("ing")
        && !is_body(name)
        && verbs::of(&word).is_none()
        && calendar_word(&word).is_none()
}

/// "the musical Redstart", "our app Heron", "the EU project GEOWAVE", "the exhibition Clay and Fire": what it is stands before the name.
pub(super) fn of_what_it_is(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let kind = at.checked_sub(1)?;
    let what = text.raw_word(kind);
    let works = (lists::WORKS.contains(what) || matches!(what, "app" | "tool")) && spaced(text, kind);
    let led = kind > 0
        && text.is_any(
            kind - 1,
            &["the", "our", "a", "new", "this", "their", "its", "short", "eu", "research", "touring"],
        );
    let named = text.is_capitalised(at)
        && (is_unknown(text, at) || is_code_name(text, at) || is_titled(text, at).is_some());
    let person = names::is_first_name(&text.raw_word(at).to_lowercase()) || names::is_title(text.word(at));
    if !works || !led || !named || person || is_of_a_kind(text, at) {
        return None;
    }
    Some(at..is_titled(text, at).unwrap_or(at + 1))
}

/// The token behind a title of several words that begins here, small words inside of it: "Clay and Fire", "Sounds of the Delta".
fn is_titled(text: &Text<'_>, at: usize) -> Option<usize> {
    let large = |at: usize| text.is_capitalised(at) && text.raw_word(at).chars().count() > 1;
    let small = |at: usize| matches!(text.word(at), "and" | "of" | "the" | "for" | "in" | "on" | "a" | "&");
    let mut end = at;
    while end < at + 6 && spaced_from(text, at, end) {
        let next = (end..end + 3).find(|next| !small(*next) || *next == at)?;
        if !(large(next) && spaced_from(text, end, next)) {
            break;
        }
        end = next + 1;
    }
    (end > at + 1 && !is_body(text.raw_word(end - 1))).then_some(end)
}

/// Whether one space parts each of these tokens from the next.
fn spaced_from(text: &Text<'_>, from: usize, to: usize) -> bool {
    (from..to).all(|at| spaced(text, at))
}

/// "rehearsals for Redstart", "Phase 2 of Riverbank Homes", "work on the Eastgate Link": what is of or for one project.
pub(super) fn planned(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let word = |back: usize| at.checked_sub(back).map_or("", |at| text.word(at));
    let back = 1 + usize::from(word(1) == "the");
    let number = usize::from(at > back && text.kind(at - back - 1) == Some(Kind::Number));
    let before = word(back + 1 + number);
    let led = match word(back) {
        "for" | "of" => {
            lists::PLANS.contains(before)
                && !matches!(
                    before,
                    "deadline"
                        | "start"
                        | "lead"
                        | "phase"
                        | "launch"
                        | "release"
                        | "scope"
                        | "partners"
                        | "edit"
                        | "shooting"
                )
                || (number > 0 && matches!(before, "phase" | "milestone"))
        }
        "on" => {
            number == 0
                && lists::WORKING.contains(before)
                && !matches!(before, "time" | "people" | "folks" | "push" | "spent")
        }
        _ => false,
    };
    if !led || !text.is_capitalised(at) || is_of_a_kind(text, at) {
        return None;
    }
    let person = names::is_first_name(&text.raw_word(at).to_lowercase());
    let end = is_titled(text, at).filter(|_| !person);
    match end {
        Some(end) => {
            let other = (at..end).any(|at| is_of_a_kind(text, at) || lists::TRADES.contains(text.word(at)));
            let own = (at..end).any(|at| text.is_capitalised(at) && !names::is_common_word(text.word(at)));
            (!other && own).then_some(at..end)
        }
        None => (is_code_name(text, at)).then_some(at..at + 1),
    }
}

/// "the harbour lights restoration", "the seed bank project": small words of what it is done to, before the work.
pub(super) fn building_work(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let led = at > 0 && text.is_any(at - 1, &["the", "our"]) && spaced(text, at - 1);
    let part = |at: usize| {
        let word = text.raw_word(at);
        text.is_word(at)
            && word.len() > 2
            && word.bytes().all(|byte| byte.is_ascii_lowercase())
            && spaced(text, at)
            && !lists::VAGUE_WORDS.contains(word)
            && !is_function_word(word)
            && verbs::of(word).is_none()
            && !is_ending_of_a_participle(word)
    };
    if !led || !part(at) {
        return None;
    }
    let last = (at + 1..at + 4).find(|last| !part(*last) || is_building_work(text, *last))?;
    let told = is_building_work(text, last) || (text.word(last) == "project" && last > at + 1);
    (told && text.raw_word(last).starts_with(char::is_lowercase)).then_some(at..last + 1)
}

fn is_building_work(text: &Text<'_>, at: usize) -> bool {
    lists::BUILDING_WORK.contains(text.word(at))
}

fn is_ending_of_a_participle(word: &str) -> bool {
    word.len() > 5 && (word.ends_with("ed") || word.ends_with("ly"))
}

/// "takes part in Pawns for Schools": two names joined by "for" inside of a sentence, neither of a person nor of a role.
pub(super) fn for_whom(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let part = |at: usize| {
        let raw = text.raw_word(at);
        text.is_capitalised(at) && raw.chars().count() > 2 && raw.chars().skip(1).all(char::is_lowercase)
    };
    if !part(at)
        || text.raw_word(at + 1) != "for"
        || !part(at + 2)
        || !spaced(text, at)
        || !spaced(text, at + 1)
    {
        return None;
    }
    let end = (at + 3..at + 5).find(|end| !(part(*end) && spaced(text, end - 1))).unwrap_or(at + 5);
    // "Seats for Schools." between two full stops: alone it is a heading or the name of an entry.
    let alone = begins_statement(text, at)
        && (text.word(end) == "." || text.word(end).is_empty() || text.ends_line(end - 1));
    // "A Bed for Ben" above its paragraph.
    let led =
        at > 0 && text.is_any(at - 1, &["a", "the"]) && begins_line(text, at - 1) && text.ends_line(end - 1);
    let alone = alone || led;
    let inside = !begins_statement(text, at) && !(text.is_capitalised(at - 1) && spaced(text, at - 1));
    let other = |at: usize| {
        let word = text.word(at);
        is_of_a_kind(text, at)
            || cues::is_role(word)
            || lists::DOCUMENT_KINDS.contains(word)
            || lists::GATHERINGS.contains(word)
            || lists::PLACES.contains(word)
    };
    let person = names::is_first_name(text.word(at));
    let dated = calendar_word(text.word(at + 2)).is_some()
        || matches!(
            text.word(at + 2),
            "easter" | "christmas" | "whitsun" | "advent" | "lent" | "ramadan" | "diwali"
        );
    ((inside || alone) && !other(at) && !person && !dated && !is_body(text.raw_word(end - 1)))
        .then_some(at..end)
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

/// "a certificate of paybridge, our gateway to the bank", "fishtrack (our tracker)": a small word that is explained as a program of ours.
pub(super) fn explained_small(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let word = text.raw_word(at);
    let plain = text.is_word(at) && word.len() > 4 && word.bytes().all(|byte| byte.is_ascii_lowercase());
    let led = text.is_any(at + 1, &["(", ","]) && text.word(at + 2) == "our";
    if !plain || !led || names::is_common_word(word) || verbs::of(word).is_some() {
        return None;
    }
    let before = at.checked_sub(1);
    let opens = before.is_none_or(|before| {
        !text.is_word(before)
            || text.is_any(before, &["of", "in", "to", "for", "with", "by", "from", "on", "and"])
    });
    let stop = (at + 3..at + 7).find(|near| {
        !text.is_word(*near) || text.is_any(*near, &["of", "for", "to", "in", "on", "that", "which"])
    })?;
    let what = text.word(stop - 1);
    let program = lists::PACKAGES.contains(what) || is_work(what) || lists::PACKAGE_ENDINGS.contains(what);
    (opens && stop > at + 3 && program).then_some(at..at + 1)
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
