//! Short forms that a text uses for its people: "ehalden" for Eric Halden, "DS:" for Derek Stahl.

use std::collections::{BTreeMap, HashMap};

use super::super::lists;
use super::super::names;
use super::super::sections;
use super::super::words::{Text, begins_line};
use super::{Known, Roster, folded};

/// The shortest handle that is made of a name and told from a word.
const HANDLE_MIN_LETTERS: usize = 4;
/// Initials are a convention of a text when they lead so many of its lines.
const INITIALS_MIN_LINES: usize = 2;

pub(super) type Forms = HashMap<String, Option<usize>>;

impl Roster {
    /// Learns which handles without a mark and which initials the texts use, each for the one person whom it fits.
    pub(in super::super) fn learn_short_forms(&mut self, texts: &[&Text<'_>]) {
        let (handles, initials) = forms(&self.entities);
        if handles.is_empty() {
            return;
        }
        let mut used: BTreeMap<&str, usize> = BTreeMap::new();
        let mut led: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for text in texts {
            for at in 0..text.tokens.len() {
                if !text.is_word(at) {
                    continue;
                }
                let word = text.word(at);
                if let Some(Some(person)) = handles.get(word).filter(|_| stands_as_handle(text, at)) {
                    used.insert(word, *person);
                } else if is_initials(text.raw_word(at))
                    && let Some(Some(person)) = initials.get(word)
                    && leads_line(text, at)
                {
                    // An arrow and "to" point from a person to a task only, and no list owns a task beside its people.
                    let assigned = text.is_any(at + 1, &["→", "-", "–", "to", "will", "shall"])
                        || shares_task(text, at)
                        || closes_task(text, at);
                    let lines = if assigned && !is_acronym(word) { INITIALS_MIN_LINES } else { 1 };
                    led.entry(word).or_insert((*person, 0)).1 += lines;
                }
            }
        }
        for (word, person) in used {
            self.key(word, person);
            self.handles.insert(word.to_owned());
        }
        if led.values().map(|(_, lines)| lines).sum::<usize>() >= INITIALS_MIN_LINES {
            for (word, (person, _)) in led {
                if !self.phrases.contains_key(word) {
                    self.key(word, person);
                    self.initials.insert(word.to_owned());
                }
            }
        }
    }

    /// "J. Smith" is Jane Smith where no other Smith has that initial.
    pub(super) fn key_initialled_names(&mut self) {
        let mut forms = Forms::new();
        for (entity, known) in self.entities.iter().enumerate() {
            if let [first, .., last] = known.name.split(' ').collect::<Vec<_>>().as_slice()
                && let Some(initial) = first.chars().next()
            {
                put(&mut forms, format!("{initial}. {last}"), entity);
            }
        }
        let mut forms: Vec<(String, usize)> =
            forms.into_iter().filter_map(|(form, entity)| Some((form, entity?))).collect();
        forms.sort();
        for (form, entity) in forms {
            self.key(&form, entity);
        }
    }
}

/// The handles and the initials that may be made of full names, in lower case.
fn forms(people: &[Known]) -> (Forms, Forms) {
    let (mut handles, mut initials) = (Forms::new(), Forms::new());
    for (entity, known) in people.iter().enumerate() {
        let words: Vec<String> = known.name.split([' ', '-']).map(folded).collect();
        let ([first, .., last], true) = (words.as_slice(), known.name.contains(' ')) else { continue };
        let letter = |word: &str| word.chars().next().unwrap_or_default();
        for form in
            [format!("{}{last}", letter(first)), format!("{first}{}", letter(last)), format!("{first}{last}")]
        {
            let plain = form.len() >= HANDLE_MIN_LETTERS && form.chars().all(char::is_alphanumeric);
            if plain && !names::is_common_word(&form) && !names::is_first_name(&form) {
                put(&mut handles, form, entity);
            }
        }
        let all: String = words.iter().map(|word| letter(word)).collect();
        let ends: String = [letter(first), letter(last)].iter().collect();
        for form in [&all, &ends] {
            if !names::is_no_name(form) && sections::of_label(form).is_none() {
                put(&mut initials, form.clone(), entity);
            }
        }
    }
    (handles, initials)
}

/// The initials that may be made of full names, in lower case; those of several people are nobody's.
pub(super) fn initials(people: &[Known]) -> Forms {
    forms(people).1
}

fn put(forms: &mut Forms, form: String, entity: usize) {
    forms
        .entry(form)
        .and_modify(|known| *known = known.filter(|known| *known == entity))
        .or_insert(Some(entity));
}

/// "DS", "JWM".
pub(in super::super) fn is_initials(raw: &str) -> bool {
    (2..=3).contains(&raw.len()) && raw.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// Whether these are the first letters of a name, of all its words or of the first and the last.
pub(super) fn are_initials_of(initials: &str, name: &str) -> bool {
    let letters: Vec<char> = name.split([' ', '-']).filter_map(|word| folded(word).chars().next()).collect();
    let ends = letters.first().into_iter().chain(letters.last()).collect::<String>();
    let initials = initials.to_lowercase();
    letters.len() > 1 && (initials == letters.iter().collect::<String>() || initials == ends)
}

/// "klind" for "Kaspar Lindqvist", "sabela" for "Sabela Rey": a handle that begins as the first name or its first letters do and goes on
/// as the last name begins.
pub(super) fn is_made_of(handle: &str, name: &str) -> bool {
    let words: Vec<String> = name.split(' ').map(folded).collect();
    let ([first, .., last], true) =
        (words.as_slice(), handle.len() > 2 && handle.bytes().all(|byte| byte.is_ascii_lowercase()))
    else {
        return false;
    };
    handle == first
        || handle == last
        || (1..handle.len()).any(|at| first.starts_with(&handle[..at]) && last.starts_with(&handle[at..]))
}

/// Two or three letters that mean a thing, a team or a place more often than a person.
pub(in super::super) fn is_acronym(word: &str) -> bool {
    lists::ACRONYMS.contains(word)
}

/// "(ehorn, 5 minutes)", "ehalden: …", "ehorn will …".
fn stands_as_handle(text: &Text<'_>, at: usize) -> bool {
    let before = at.checked_sub(1).map_or("", |before| text.word(before));
    matches!(before, "(" | "[" | ":" | "/")
        || begins_line(text, at)
        || matches!(text.word(at + 1), ":" | ")" | "]" | "will" | "'ll" | "→")
}

/// "HB and MT to meet the bank": both initials.
fn shares_task(text: &Text<'_>, at: usize) -> bool {
    let joint = |at: usize| text.is_any(at, &["and", "&", ",", "+", "/"]);
    let does = |at: usize| text.is_any(at, &["to", "will", "shall"]);
    let other = |at: usize| is_initials(text.raw_word(at));
    (joint(at + 1) && other(at + 2) && does(at + 3))
        || (at >= 2 && joint(at - 1) && other(at - 2) && does(at + 1) && begins_line(text, at - 2))
}

/// "Tiles for the porch (YK)", "Order the tiles. [YK]", "… Action: MT" at the end of a line.
fn closes_task(text: &Text<'_>, at: usize) -> bool {
    let before = at.checked_sub(1).map_or("", |before| text.word(before));
    let bracket = matches!((before, text.word(at + 1)), ("(", ")") | ("[", "]"));
    let ends = |at: usize| text.ends_line(at) || (text.word(at + 1) == "." && text.ends_line(at + 1));
    let label = before == ":"
        && at >= 2
        && text.is_any(at - 2, &["action", "actions", "owner", "by", "lead", "responsible", "resp"]);
    (bracket && ends(at + 1)) || (label && ends(at))
}

/// "DS: …", "* LI -> …", "ACTION: DS to …", "JF/DS: …" at the head of a line, an item or what an action mark opens; "| DS |" in a row.
fn leads_line(text: &Text<'_>, at: usize) -> bool {
    let before = at.checked_sub(1).map_or("", |before| text.word(before));
    if before == "|" && text.word(at + 1) == "|" {
        return true;
    }
    let shared = |mark: usize| {
        text.word(mark) == "/" && is_initials(text.raw_word(mark + 1)) && text.word(mark + 2) == ":"
    };
    if closes_task(text, at) {
        return true;
    }
    let marked = matches!(text.word(at + 1), ":" | "→" | "(" | "to" | "will" | "shall" | "–" | "-")
        || shares_task(text, at)
        || (text.word(at + 1) == "-" && text.word(at + 2) == ">")
        || shared(at + 1);
    let opened = || {
        let back = |back: usize| at.checked_sub(back).map_or("", |at| text.word(at));
        let mark = |word: &str| matches!(word, "action" | "ai" | "ap" | "todo" | "item" | "point");
        mark(before)
            || matches!(before, ":" | "-" | "–" | "—") && mark(back(2))
            || before == "/" && is_initials(text.raw_word(at.wrapping_sub(2)))
            // "Corridor: LD to sheet it".
            || before == ":" && text.is_any(at + 1, &["to", "will", "shall"])
    };
    marked && (begins_line(text, at) || opened())
}
