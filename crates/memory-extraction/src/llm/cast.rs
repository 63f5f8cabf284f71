//! The entities that the answers name: one for all names of a thing, and only names that the source has.

use std::collections::HashMap;

use memory_core::entity::{EntityType, normalised_name};
use memory_core::event::{ExtractedEntity, Mention};
use memory_core::ports::SourceText;
use memory_language::text::CharIndex;

use super::answer::RawEntity;
use super::names::{Finder, is_name, surest};

/// More entities than this are not taken from one source.
const ENTITIES_MAX: usize = 1_000;
/// Names are looked for in no more than this of a source.
const SOURCE_MAX_BYTES: usize = 4_000_000;

#[derive(Debug, Default)]
pub(super) struct Cast {
    members: Vec<Member>,
    /// Normalised names and aliases.
    known: HashMap<String, usize>,
    /// Author, speakers and participants of the source by normalised name: they need not occur in its text.
    people: HashMap<String, String>,
}

#[derive(Debug)]
struct Member {
    name: String,
    entity_type: EntityType,
    aliases: Vec<String>,
}

impl Cast {
    pub(super) fn of(source: &SourceText) -> Self {
        let speakers = source.segments.iter().filter_map(|segment| segment.speaker.as_ref());
        let people = source.author.iter().chain(&source.participants).chain(speakers);
        let people = people.filter(|name| is_name(name));
        Self { people: people.map(|name| (normalised_name(name), name.clone())).collect(), ..Self::default() }
    }

    /// Takes an entity of an answer in, or joins it to the one that has a name of it.
    pub(super) fn introduce(&mut self, entity: &RawEntity) {
        if !is_name(&entity.name) {
            return;
        }
        let Some(at) = self.find_or_add(&entity.name, &entity.aliases, entity.entity_type) else { return };
        if self.members[at].entity_type == EntityType::Other {
            self.members[at].entity_type = entity.entity_type;
        }
        for alias in &entity.aliases {
            self.call(at, alias);
        }
    }

    pub(super) fn actor(&mut self, name: &str) -> Option<usize> {
        self.look_up(name).or_else(|| {
            if !is_name(name) {
                return None;
            }
            // "Ann" is the one participant of that first name.
            let (full, entity_type) = match self.person_of_first_name(&normalised_name(name)) {
                Some(full) => (full, EntityType::Person),
                None => (name.to_owned(), guessed_type(name)),
            };
            let at = self.find_or_add(&full, &[], entity_type)?;
            self.call(at, name);
            Some(at)
        })
    }

    /// A thing that no list names is one only if it looks like a name: "report" would join what has nothing in common.
    pub(super) fn subject(&mut self, name: &str) -> Option<usize> {
        let is_proper = || name.chars().any(|c| c.is_uppercase() || c.is_ascii_digit() || !c.is_ascii());
        self.look_up(name).or_else(|| {
            (is_name(name) && is_proper()).then(|| self.find_or_add(name, &[], EntityType::Other))?
        })
    }

    fn look_up(&self, name: &str) -> Option<usize> {
        let name = normalised_name(name);
        self.known.get(&name).copied().or_else(|| {
            let prefix = format!("{name} ");
            let mut same = self.members.iter().enumerate().filter(|(_, member)| {
                member.entity_type == EntityType::Person && normalised_name(&member.name).starts_with(&prefix)
            });
            match (same.next(), same.next()) {
                (Some((at, _)), None) => Some(at),
                _ => None,
            }
        })
    }

    fn person_of_first_name(&self, first: &str) -> Option<String> {
        if let Some(exact) = self.people.get(first) {
            return Some(exact.clone());
        }
        let prefix = format!("{first} ");
        let mut same = self.people.iter().filter(|(name, _)| name.starts_with(&prefix));
        match (same.next(), same.next()) {
            (Some((_, full)), None) => Some(full.clone()),
            _ => None,
        }
    }

    fn find_or_add(&mut self, name: &str, aliases: &[String], entity_type: EntityType) -> Option<usize> {
        let fits = |at: &usize| {
            let there = self.members[*at].entity_type;
            there == entity_type || there == EntityType::Other || entity_type == EntityType::Other
        };
        let by_alias =
            || aliases.iter().find_map(|alias| self.known.get(&normalised_name(alias)).copied()).filter(fits);
        if let Some(at) = self.known.get(&normalised_name(name)).copied().or_else(by_alias) {
            let member = &mut self.members[at];
            if name.chars().count() > member.name.chars().count() {
                let shorter = std::mem::replace(&mut member.name, name.to_owned());
                self.known.insert(normalised_name(name), at);
                self.call(at, &shorter);
            } else {
                self.call(at, name);
            }
            return Some(at);
        }
        if self.members.len() == ENTITIES_MAX {
            return None;
        }
        let at = self.members.len();
        self.members.push(Member { name: name.to_owned(), entity_type, aliases: Vec::new() });
        self.known.insert(normalised_name(name), at);
        Some(at)
    }

    /// Adds another name to a member, unless another member has it.
    fn call(&mut self, at: usize, alias: &str) {
        let normalised = normalised_name(alias);
        if !is_name(alias) || *self.known.entry(normalised).or_insert(at) != at {
            return;
        }
        let member = &mut self.members[at];
        if member.name != alias && !member.aliases.iter().any(|known| known == alias) {
            member.aliases.push(alias.to_owned());
        }
    }

    /// The members that the source has, with their mentions, and where each has gone. Names that occur nowhere are
    /// left out: a full name that the model made up gives way to what is there.
    pub(super) fn seen_in(
        self,
        source: &SourceText,
        indexes: &[CharIndex],
    ) -> (Vec<ExtractedEntity>, Vec<Option<usize>>) {
        let forms: Vec<(usize, &str)> = self
            .members
            .iter()
            .enumerate()
            .flat_map(|(at, member)| {
                std::iter::once(&member.name).chain(&member.aliases).map(move |form| (at, form.as_str()))
            })
            .collect();
        let mut mentions: Vec<Vec<Mention>> = forms.iter().map(|_| Vec::new()).collect();
        for (form, mention) in mentions_of(&forms, source, indexes) {
            mentions[form].push(mention);
        }
        let mut entities = Vec::new();
        let mut new_index = Vec::with_capacity(self.members.len());
        for (at, member) in self.members.iter().enumerate() {
            let own = forms.iter().zip(&mut mentions).filter(|((of, _), _)| *of == at);
            let mut seen: Vec<(&str, Vec<Mention>)> = own
                .map(|((_, form), found)| (*form, std::mem::take(found)))
                .filter(|(_, found)| !found.is_empty())
                .collect();
            let is_known = self.people.contains_key(&normalised_name(&member.name));
            let has_name = is_known || seen.iter().any(|(form, _)| *form == member.name);
            // A full name comes before what it is called in short.
            seen.sort_by_key(|(form, _)| std::cmp::Reverse(form.chars().count()));
            let name = match seen.first() {
                _ if has_name => member.name.clone(),
                Some((longest, _)) => (*longest).to_owned(),
                None => {
                    new_index.push(None);
                    continue;
                }
            };
            let aliases =
                seen.iter().map(|(form, _)| (*form).to_owned()).filter(|form| *form != name).collect();
            let mut mentions: Vec<Mention> = seen.into_iter().flat_map(|(_, mentions)| mentions).collect();
            mentions.sort_by_key(|mention| (mention.segment, mention.span));
            new_index.push(Some(entities.len()));
            entities.push(ExtractedEntity { name, entity_type: member.entity_type, aliases, mentions });
        }
        (entities, new_index)
    }
}

/// Every form's mentions, by its place among the forms.
fn mentions_of(forms: &[(usize, &str)], source: &SourceText, indexes: &[CharIndex]) -> Vec<(usize, Mention)> {
    let finder = Finder::new(forms.iter().enumerate().map(|(at, (_, form))| (at, *form)));
    let mut left = SOURCE_MAX_BYTES;
    let mut all = Vec::new();
    for (segment, part) in source.segments.iter().enumerate() {
        let text = &part.text[..part.text.floor_char_boundary(left)];
        left -= text.len();
        all.extend(finder.find(text).into_iter().map(|sighting| (segment, sighting)));
    }
    let mention = |(segment, sighting): (usize, super::names::Sighting)| {
        let text = &source.segments[segment].text;
        let span = indexes[segment].span(text, sighting.bytes.clone());
        (sighting.name, Mention { segment, span, surface: text[sighting.bytes].to_owned() })
    };
    surest(all).into_iter().map(mention).collect()
}

/// What the model calls a name that no list of it has.
fn guessed_type(name: &str) -> EntityType {
    let mut words = name.split_whitespace();
    let is_proper = |word: &str| word.starts_with(char::is_uppercase);
    let count = name.split_whitespace().count();
    if count <= 3 && words.all(is_proper) { EntityType::Person } else { EntityType::Other }
}
