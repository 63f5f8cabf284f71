//! People: who is known in a source, and which of the names in it are the same person.

mod addresses;
mod fits;
mod months;
mod offices;
mod short_forms;
mod sightings;

use std::collections::{HashMap, HashSet};

use memory_core::entity::{EntityType, normalised_name};

use super::names;
use super::verbs;
use super::words::{Kind, Text, spaced};
use addresses::{local_part, own_domain};
use fits::Fits;
pub(super) use fits::folded;
use fits::phrase;
use months::is_month_of_date;
pub(super) use offices::office_key;
pub(super) use short_forms::{is_acronym, is_initials};
pub(super) use sightings::{DEPUTIES, Sightings, is_group};

/// An entity as it is being put together.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) name: String,
    pub(super) entity_type: EntityType,
    pub(super) aliases: Vec<String>,
}

/// Whether an assistant or another program speaks.
pub(super) fn is_machine(speaker: Option<&str>) -> bool {
    speaker.is_some_and(|name| matches!(name.to_lowercase().as_str(), "assistant" | "system" | "ai" | "bot"))
}

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
    /// Handles that are no words: they are names in lower case and without a mark too.
    handles: HashSet<String>,
    /// Initials that stand for a person, only in capitals.
    initials: HashSet<String>,
    /// The initials that each fits, whether or not they are used.
    fitting_initials: HashMap<String, Option<usize>>,
    /// Offices with the one person who holds each: "treasurer", only with a capital.
    roles: HashSet<String>,
    /// What bodies are, of which the source names one each: "council", only with a capital.
    bodies: HashSet<String>,
    /// The domains of people's addresses.
    domains: HashMap<usize, HashSet<String>>,
}

impl Roster {
    /// Tells the people apart: a first name, an address or a handle goes to the one full name it fits.
    pub(super) fn of_people(sightings: &Sightings) -> Self {
        let mut roster = Self::default();
        let (full, single): (Vec<&String>, Vec<&String>) =
            sightings.names.iter().partition(|name| name.contains(' '));
        let (initialled, full): (Vec<&String>, Vec<&String>) =
            full.into_iter().partition(|name| begins_with_initial(name));
        for name in full {
            roster.add(name, EntityType::Person);
        }
        // "M. Sorley" is Maria Sorley, if there is one.
        roster.key_initialled_names();
        for name in initialled {
            if roster.named(name).is_none() {
                roster.add(name, EntityType::Person);
            }
        }
        roster.add_names_of_handles(sightings);
        roster.add_initials(sightings);
        let fits = Fits::of(&roster.entities);
        let initials = short_forms::initials(&roster.entities);
        for name in single {
            // "TW: …" among the turns is Tomasz Wilk.
            let lower = name.to_lowercase();
            if short_forms::is_initials(name)
                && let Some(Some(person)) = initials.get(&lower)
            {
                roster.key(&lower, *person);
                roster.initials.insert(lower);
                continue;
            }
            match fits.one(&name.to_lowercase()) {
                Some(person) => roster.call(person, name),
                None => {
                    roster.add(name, EntityType::Person);
                }
            }
        }
        roster.add_roles(sightings);
        let fits = Fits::of(&roster.entities);
        // Addresses that stand beside a name or have one in them say which domain is whose.
        let (named, bare): (Vec<_>, Vec<_>) = sightings
            .emails
            .iter()
            .partition(|(email, name)| name.is_some() || local_part(email).contains(['.', '_']));
        for (email, name) in named.into_iter().chain(bare) {
            let person = match name {
                Some(name) => roster.named(name),
                None => roster.owner_of_address(email, &fits),
            };
            if let Some(person) = person {
                roster.call(person, email);
                roster.domains.entry(person).or_default().extend(own_domain(email).map(str::to_owned));
            }
        }
        for (handle, name) in &sightings.handles {
            let person = name
                .as_deref()
                .and_then(|name| roster.named(name))
                .or_else(|| fits.address(handle))
                .unwrap_or_else(|| roster.add(handle, EntityType::Person));
            roster.call(person, &format!("@{handle}"));
            roster.key(handle, person);
            if handle.len() > 3 && !names::is_common_word(handle) && !names::is_wordy_name(handle) {
                roster.handles.insert(handle.clone());
            }
        }
        roster.index_name_parts();
        roster.fitting_initials = short_forms::initials(&roster.entities);
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

    /// Whether it is one with a part in the source.
    pub(super) fn is_sure(&self, entity: usize) -> bool {
        self.sure.contains(&entity)
    }

    /// Takes those that are `gone` away; gives the new numbers of the others.
    pub(super) fn without(&mut self, gone: &[bool]) -> Vec<Option<usize>> {
        let mut left = 0;
        let numbers: Vec<Option<usize>> = gone
            .iter()
            .map(|gone| {
                let number = (!gone).then_some(left);
                left += usize::from(!gone);
                number
            })
            .collect();
        if left == gone.len() {
            return numbers;
        }
        let mut stays = gone.iter().map(|gone| !gone);
        self.entities.retain(|_| stays.next().unwrap_or(true));
        let renumber = |entity: &mut usize| match numbers[*entity] {
            Some(number) => {
                *entity = number;
                true
            }
            None => false,
        };
        self.phrases.retain(|_, entity| renumber(entity));
        self.by_name.retain(|_, entity| renumber(entity));
        self.fitting_initials.retain(|_, entity| entity.as_mut().is_none_or(&renumber));
        self.sure = self.sure.iter().filter_map(|entity| numbers[*entity]).collect();
        let domains = std::mem::take(&mut self.domains);
        self.domains =
            domains.into_iter().filter_map(|(entity, all)| Some((numbers[entity]?, all))).collect();
        numbers
    }

    /// Adds an entity, or finds the one of that name.
    pub(super) fn add(&mut self, name: &str, entity_type: EntityType) -> usize {
        let normal = identity(name);
        if let Some(known) = self.by_name.get(&normal) {
            return *known;
        }
        let entity = self.entities.len();
        self.entities.push(Known { name: name.to_owned(), entity_type, aliases: Vec::new() });
        self.by_name.insert(normal, entity);
        self.key(name, entity);
        entity
    }

    /// Another name of someone.
    pub(super) fn call(&mut self, entity: usize, alias: &str) {
        let known = &mut self.entities[entity];
        if known.name != alias && !known.aliases.iter().any(|other| other == alias) {
            known.aliases.push(alias.to_owned());
        }
        self.key(alias, entity);
    }

    /// The person of a name in any of its forms.
    pub(super) fn named(&self, name: &str) -> Option<usize> {
        let trimmed = name.split(['<', '(']).next().unwrap_or(name).trim();
        if let Some(entity) = self.by_name.get(&identity(trimmed)) {
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
        if length == 1 && self.initials.contains(first) && text.raw_word(at).contains(char::is_lowercase) {
            return None;
        }
        if length == 1 && is_month_of_date(text, at) {
            return None;
        }
        let last = at + length - 1;
        if self.roles.contains(text.word(last)) {
            if is_other_office(text, at) {
                return None;
            }
            let titled = text.is_capitalised(last) && (length == 2 || opens_duty(text, last));
            // "the treasurer will claim it", "to be updated by the treasurer".
            let goes_on = (text.word(last + 1) == "is" && text.is_any(last + 2, &["to", "going"]))
                || (text.is_any(last + 1, &["and", "&"]) && text.is_capitalised(last + 2));
            let small = length == 2
                && (goes_on
                    || opens_duty(text, last)
                    || text.is_any(last + 1, &["agreed", "undertook", "offered", "promised"])
                    || at.checked_sub(1).is_some_and(|before| text.word(before) == "by"));
            return (titled || small).then_some((length, entity));
        }
        if length == 2 && text.word(at) == "the" && self.bodies.contains(text.word(last)) {
            return text.is_capitalised(last).then_some((length, entity));
        }
        let marked = matches!(text.kind(at), Some(Kind::Handle | Kind::Email))
            || (length == 1 && self.handles.contains(first));
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

/// The form of a name by which it is told from others: "João" and "Joao" are one.
fn identity(name: &str) -> String {
    folded(&normalised_name(name))
}

/// "Vice Chairman to write", "Finance Convener to report": what stands before an office makes another one of it.
pub(super) fn is_other_office(text: &Text<'_>, at: usize) -> bool {
    const MARKS: [&str; 11] =
        ["acting", "action", "actions", "ai", "ap", "hon", "honorary", "item", "our", "task", "the"];
    let is_deputy = (at.saturating_sub(2)..at).any(|before| DEPUTIES.contains(&text.word(before)));
    let is_kind = at.checked_sub(1).is_some_and(|before| {
        text.is_capitalised(before) && spaced(text, before) && !text.is_any(before, &MARKS)
    });
    is_deputy || is_kind
}

/// "Secretary to circulate the dates", "Clerk: write to the county", "(Treasurer)": the office stands for its holder.
fn opens_duty(text: &Text<'_>, at: usize) -> bool {
    text.is_any(at + 1, &["to", "will", "shall", "→", ":"])
}

fn begins_with_initial(name: &str) -> bool {
    name.split(' ').next().is_some_and(|first| first.trim_end_matches('.').chars().count() == 1)
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
        assert_eq!(names, ["Alice Chen", "Bob Martinez", "Dana Ortiz", "Lena Holm", "Kim"]);
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

    fn people(names: &[&str], more: &[&str]) -> Vec<(String, Vec<String>)> {
        let mut seen = Sightings::default();
        for name in names {
            seen.see(name, false);
        }
        for email in more {
            seen.see_email(email);
        }
        Roster::of_people(&seen).entities.into_iter().map(|known| (known.name, known.aliases)).collect()
    }

    #[test]
    fn an_address_a_given_name_and_a_full_name_of_one_domain_are_one_person() {
        let one = people(&["Bob"], &["bob.smith@acme.example", "bob@acme.example"]);
        assert_eq!(one.len(), 1, "{one:?}");
        assert_eq!(one[0].0, "Bob Smith");
        assert_eq!(one[0].1, ["Bob", "bob.smith@acme.example", "bob@acme.example"]);
        // Another house, another Bob.
        assert_eq!(people(&["Bob Smith"], &["bob.smith@acme.example", "bob@other.example"]).len(), 2);
        // A provider of addresses is no house.
        assert_eq!(people(&["Bob Smith"], &["bob.smith@acme.example", "bob@gmail.com"]).len(), 1);
        // Two who may be meant.
        assert_eq!(people(&["Bob"], &["bob.smith@acme.example", "bob.jones@acme.example"]).len(), 3);
    }

    #[test]
    fn a_handle_that_is_a_full_name_is_that_person() {
        let mut seen = Sightings::default();
        seen.see("Bob", false);
        seen.see_handle("bob.smith");
        seen.see("Michael Carter @mhcarter (chair)", false);
        let roster = Roster::of_people(&seen);
        let names: Vec<&str> = roster.entities.iter().map(|known| known.name.as_str()).collect();
        assert_eq!(names, ["Michael Carter", "Bob Smith"]);
        assert_eq!(roster.named("@mhcarter"), Some(0));
    }
}
