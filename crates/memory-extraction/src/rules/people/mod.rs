//! People: who is known in a source, and which of the names in it are the same person.

mod fits;

use std::collections::{HashMap, HashSet};

use memory_core::entity::{EntityType, normalised_name};

use super::lists;
use super::names;
use super::verbs;
use super::words::{Kind, Text};
use fits::Fits;
pub(super) use fits::folded;
use fits::{capitalised, phrase};

/// An entity as it is being put together.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) name: String,
    pub(super) entity_type: EntityType,
    pub(super) aliases: Vec<String>,
}

/// Names as they are met, before they are told apart.
#[derive(Debug, Default)]
pub(super) struct Sightings {
    names: Vec<String>,
    seen: HashSet<String>,
    /// Address and, where it stands beside it, the name.
    emails: Vec<(String, Option<String>)>,
    handles: Vec<String>,
}

/// More people than any real source names; the rest of a hostile text is not looked at.
const PEOPLE_MAX: usize = 2_000;

/// Names of parts in a conversation, not of people.
pub(super) fn is_role_name(name: &str) -> bool {
    const ROLES: [&str; 13] = [
        "user",
        "assistant",
        "system",
        "human",
        "ai",
        "bot",
        "agent",
        "unknown",
        "speaker",
        "me",
        "you",
        "anonymous",
        "admin",
    ];
    ROLES.contains(&name.trim().to_lowercase().as_str())
}

/// Names by which those who keep a conversation call themselves.
pub(super) fn is_own_name(name: &str) -> bool {
    matches!(name.trim().to_lowercase().as_str(), "user" | "human" | "me")
}

/// `t.ferreira`, `yusuf_a`, `dkowalczyk7`: a name as programs show it.
fn is_handle(name: &str) -> bool {
    name.len() > 2
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
}

/// Parts a list where a sentence ends; "Dr." and initials end none.
fn sentences_of(list: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, _) in list.match_indices(". ") {
        let word = list[start..at].rsplit(' ').next().unwrap_or_default();
        if word.chars().count() > 3 && !names::is_title(&word.to_lowercase()) {
            parts.push(&list[start..at]);
            start = at + 2;
        }
    }
    parts.push(&list[start..]);
    parts
}

impl Sightings {
    /// One person as people write them: `Alice Chen <a@x.org>`, `Bob (PM)`, `Dana Ortiz - design`, `@kim`.
    pub(super) fn see(&mut self, written: &str, loose: bool) {
        let written = written.trim().trim_matches(['*', '_', '"', '\'', '[', ']', '-', ' ', '.']);
        if written.len() > 120 || self.names.len() + self.emails.len() > PEOPLE_MAX {
            return;
        }
        let email = written
            .split(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '(' | ')' | '[' | ']' | ':' | '"'))
            .find(|word| word.contains('@') && !word.starts_with('@') && word.len() > 3)
            .map(str::to_lowercase);
        let head = written.split(['<', '(', '[', '/', '|', '@']).next().unwrap_or_default();
        let title_at = [" - ", " – ", " — ", ": "].iter().filter_map(|mark| head.find(mark)).min();
        let name =
            head[..title_at.unwrap_or(head.len())].trim().trim_matches(['"', '\'', ',', '*', ':']).trim();
        let name = names::without_title(name);
        let bot = name.to_lowercase().ends_with("bot");
        if bot {
            return;
        }
        if loose && email.is_none() && is_handle(name) {
            self.see_handle(name);
        } else if written.starts_with('@') {
            self.see_handle(written.split_whitespace().next().unwrap_or_default());
        } else if !name.is_empty()
            && Some(name.to_lowercase()) != email
            && !is_role_name(name)
            && names::could_be_name(name, loose)
        {
            self.see_name(name);
            if let Some(email) = email {
                self.emails.push((email, Some(name.to_owned())));
            }
            return;
        }
        if let Some(email) = email {
            self.see_email(&email);
        }
    }

    /// A list of people: `Alice Chen (PM), Bob and Carol`.
    pub(super) fn see_list(&mut self, written: &str, loose: bool) {
        let mut depth = 0_usize;
        let mut start = 0;
        let mut parts = Vec::new();
        for (at, c) in written.char_indices() {
            match c {
                '(' | '<' => depth += 1,
                ')' | '>' => depth = depth.saturating_sub(1),
                ',' | ';' | '\n' | '·' | '•' if depth == 0 => {
                    parts.push(&written[start..at]);
                    start = at + c.len_utf8();
                }
                _ => {}
            }
        }
        parts.push(&written[start..]);
        for part in parts.into_iter().take(200).flat_map(sentences_of) {
            // "Present: Dhillon" after "In the chair: Ffoulkes-Price."
            let part = part.split_once(": ").map_or(part, |(_, names)| names);
            for name in part.split(" and ").flat_map(|part| part.split(" & ")) {
                self.see(name.trim_start_matches("and "), loose);
            }
        }
    }

    /// A name that stood behind a title; one word of it is a last name.
    pub(super) fn see_titled(&mut self, name: &str) {
        if name.chars().filter(|c| c.is_alphabetic()).count() > 1 {
            self.see_name(name);
        }
    }

    pub(super) fn see_name(&mut self, name: &str) {
        if self.names.len() < PEOPLE_MAX && self.seen.insert(normalised_name(name)) {
            self.names.push(name.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }

    pub(super) fn see_email(&mut self, email: &str) {
        let email = email.to_lowercase();
        if self.emails.len() < PEOPLE_MAX && self.seen.insert(email.clone()) {
            self.emails.push((email, None));
        }
    }

    pub(super) fn see_handle(&mut self, handle: &str) {
        let handle = handle.trim_start_matches('@').to_lowercase();
        if self.handles.len() < PEOPLE_MAX && !is_role_name(&handle) && self.seen.insert(format!("@{handle}"))
        {
            self.handles.push(handle);
        }
    }
}

/// All entities of a source and the words they go by.
#[derive(Debug, Default)]
pub(super) struct Roster {
    pub(super) entities: Vec<Known>,
    /// By first word: how many words the names have that begin with it, most first.
    lengths: HashMap<String, Vec<usize>>,
    /// Whose a name is, by its words in lower case.
    phrases: HashMap<String, usize>,
    by_name: HashMap<String, usize>,
    /// Those who are surely people with a part: a name of theirs in lower case is still a name.
    sure: HashSet<usize>,
}

impl Roster {
    /// Tells the people apart: a first name, an address or a handle goes to the one full name it fits.
    pub(super) fn of_people(sightings: &Sightings) -> Self {
        let mut roster = Self::default();
        let (full, single): (Vec<&String>, Vec<&String>) =
            sightings.names.iter().partition(|name| name.contains(' '));
        for name in full {
            roster.add(name, EntityType::Person);
        }
        let fits = Fits::of(&roster.entities);
        for name in single {
            match fits.one(&name.to_lowercase()) {
                Some(person) => roster.call(person, name),
                None => {
                    roster.add(name, EntityType::Person);
                }
            }
        }
        let fits = Fits::of(&roster.entities);
        for (email, name) in &sightings.emails {
            let person = match name {
                Some(name) => roster.named(name),
                None => roster.owner_of_address(email, &fits),
            };
            if let Some(person) = person {
                roster.call(person, email);
            }
        }
        for handle in &sightings.handles {
            let person = fits.address(handle).unwrap_or_else(|| roster.add(handle, EntityType::Person));
            roster.call(person, &format!("@{handle}"));
            roster.key(handle, person);
        }
        roster.index_name_parts();
        roster
    }

    /// Takes these for people with a part in the source.
    pub(super) fn trust<'n>(&mut self, names: impl Iterator<Item = &'n str>) {
        for name in names {
            if let Some(entity) = self.named(name) {
                self.sure.insert(entity);
            }
        }
    }

    /// Adds an entity, or finds the one of that name.
    pub(super) fn add(&mut self, name: &str, entity_type: EntityType) -> usize {
        let normal = normalised_name(name);
        if let Some(known) = self.by_name.get(&normal) {
            return *known;
        }
        let entity = self.entities.len();
        self.entities.push(Known { name: name.to_owned(), entity_type, aliases: Vec::new() });
        self.by_name.insert(normal, entity);
        self.key(name, entity);
        entity
    }

    fn call(&mut self, entity: usize, alias: &str) {
        let known = &mut self.entities[entity];
        if known.name != alias && !known.aliases.iter().any(|other| other == alias) {
            known.aliases.push(alias.to_owned());
        }
        self.key(alias, entity);
    }

    /// The person of a name in any of its forms.
    pub(super) fn named(&self, name: &str) -> Option<usize> {
        let trimmed = name.split(['<', '(']).next().unwrap_or(name).trim();
        if let Some(entity) = self.by_name.get(&normalised_name(trimmed)) {
            return Some(*entity);
        }
        let text = Text::new(names::without_title(trimmed), 400);
        let (length, entity) = self.at(&text, 0, true)?;
        // "Lena K." is Lena.
        let rest = text.tokens.len() - length;
        (rest == 0 || (rest <= 2 && text.raw_word(length).chars().count() == 1)).then_some(entity)
    }

    fn key(&mut self, name: &str, entity: usize) {
        let text = Text::new(name, 400);
        let length = text.tokens.len();
        if length == 0 {
            return;
        }
        let lengths = self.lengths.entry(folded(text.raw_word(0))).or_default();
        if let Err(place) = lengths.binary_search_by(|known| length.cmp(known)) {
            lengths.insert(place, length);
        }
        self.phrases.entry(phrase(&text, 0, length)).or_insert(entity);
    }

    /// First and last names become names of their own where only one person has them.
    fn index_name_parts(&mut self) {
        let fits = Fits::of(&self.entities);
        let parts: Vec<(String, usize)> = fits.parts().collect();
        for (part, entity) in parts {
            if !self.by_name.contains_key(&part) {
                self.key(&part, entity);
            }
        }
    }

    fn owner_of_address(&mut self, email: &str, fits: &Fits) -> Option<usize> {
        let is_shared = |part: &str| lists::SHARED_MAILBOXES.contains(part);
        let local = email.split('@').next()?;
        if is_shared(local) {
            return None;
        }
        if let Some(person) = fits.address(local) {
            return Some(person);
        }
        let parts: Vec<&str> = local.split(['.', '_']).collect();
        let plain =
            |part: &&str| part.len() >= 2 && part.chars().all(char::is_alphabetic) && !is_shared(part);
        let is_name = match parts.as_slice() {
            [one] => names::is_first_name(one),
            [first, last] => {
                plain(first) && plain(last) && !names::is_no_name(first) && !names::is_no_name(last)
            }
            _ => false,
        };
        let name = parts.iter().map(|part| capitalised(part)).collect::<Vec<_>>().join(" ");
        is_name.then(|| self.add(&name, EntityType::Person))
    }

    /// The longest name that begins at a token: how many tokens it has and whose it is.
    pub(super) fn at(&self, text: &Text<'_>, at: usize, loose: bool) -> Option<(usize, usize)> {
        let lowered;
        let first = if text.raw_word(at).is_ascii() {
            text.word(at)
        } else {
            lowered = folded(text.raw_word(at));
            lowered.as_str()
        };
        let lengths = self.lengths.get(first)?;
        let (length, entity) = lengths
            .iter()
            .filter(|length| at + **length <= text.tokens.len())
            .find_map(|length| Some((*length, *self.phrases.get(&phrase(text, at, *length))?)))?;
        let marked = matches!(text.kind(at), Some(Kind::Handle | Kind::Email));
        // A name in lower case is only one where the person writes it so.
        let sure = || {
            self.sure.contains(&entity)
                && first.len() >= 3
                && !names::is_wordy_name(first)
                && !names::is_no_name(first)
                && verbs::of(first).is_none()
        };
        let written = marked
            || loose
            || text.is_capitalised(at)
            || self.entities[entity].name.starts_with(char::is_lowercase)
            || sure();
        written.then_some((length, entity))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_names_addresses_and_handles_go_to_the_one_full_name() {
        let mut seen = Sightings::default();
        seen.see_list("Alice Chen (PM), Bob Martinez <bob@x.org>, Dana Ortiz - design and Kim", false);
        for more in ["Alice", "achen@x.org", "@bmartinez", "noreply@x.org", "lena.holm@x.org", "user"] {
            seen.see(more, false);
        }
        let roster = Roster::of_people(&seen);
        let names: Vec<&str> = roster.entities.iter().map(|known| known.name.as_str()).collect();
        assert_eq!(names, ["Alice Chen", "Bob Martinez", "Dana Ortiz", "Kim", "Lena Holm"]);
        assert_eq!(roster.entities[0].aliases, ["Alice", "achen@x.org"]);
        assert_eq!(roster.named("Martinez"), Some(1));
        assert_eq!(roster.named("@bmartinez"), Some(1));
        assert_eq!(roster.named("dana"), Some(2));
    }

    #[test]
    fn a_first_name_of_two_people_is_neither() {
        let mut seen = Sightings::default();
        seen.see_list("Alice Chen, Alice Wong, Alice", false);
        let roster = Roster::of_people(&seen);
        assert_eq!(roster.entities.len(), 3);
        assert_eq!(roster.named("Alice"), Some(2));
    }
}
