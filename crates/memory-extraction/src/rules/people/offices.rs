//! Offices, initials and bodies by which a text calls those who are known.

use std::collections::HashMap;

use memory_core::entity::EntityType;

use super::super::lists;
use super::super::names;
use super::fits::folded;
use super::short_forms::is_initials;
use super::{Roster, Sightings};

/// The words for who is in the chair.
const CHAIRS: [&str; 6] = ["chair", "chairman", "chairperson", "chairwoman", "convener", "convenor"];

/// The words for who is in the chair are one office, others are themselves.
pub(in super::super) fn office_key(office: &str) -> &str {
    if CHAIRS.contains(&office) { CHAIRS[0] } else { office }
}

impl Roster {
    /// The one person with these initials.
    pub(in super::super) fn by_initials(&self, initials: &str) -> Option<usize> {
        let person = || self.fitting_initials.get(&initials.to_lowercase()).copied().flatten();
        is_initials(initials).then(person).flatten()
    }

    /// The one person who holds an office.
    pub(in super::super) fn by_office(&self, office: &str) -> Option<usize> {
        let office = office.to_lowercase();
        let office = office.strip_prefix("the ").unwrap_or(&office);
        self.roles.contains(office).then(|| self.phrases.get(office).copied()).flatten()
    }

    /// "The Council" is the one council that the source names, "Hestia" the one firm whose name begins so.
    pub(in super::super) fn key_bodies(&mut self, is_body: impl Fn(&str) -> bool) {
        let (mut kinds, mut heads) = (HashMap::new(), HashMap::new());
        let orgs = self.entities.iter().enumerate().filter(|(_, known)| known.entity_type == EntityType::Org);
        for (entity, known) in orgs {
            let words: Vec<&str> = known.name.split(' ').collect();
            let [first, .., last] = words.as_slice() else { continue };
            let put = |forms: &mut HashMap<String, Option<usize>>, form: String| {
                forms.entry(form).and_modify(|other| *other = None).or_insert(Some(entity));
            };
            let kind = words
                .iter()
                .position(|word| matches!(*word, "of" | "for"))
                .map_or(*last, |of| words[of.max(1) - 1]);
            if is_body(kind) {
                put(&mut kinds, kind.to_lowercase());
            }
            // "Atelier Prisma" goes by its last word.
            let first = if lists::LEADING_BODIES.contains(first) { last } else { first };
            let lower = folded(first);
            let own = first.chars().count() > 3
                && first.starts_with(char::is_uppercase)
                && (is_body(last)
                    || words[0] != *first
                    || lists::TRADES.contains(last.to_lowercase().as_str()))
                && names::could_be_part(first)
                && !names::is_common_word(&lower)
                && !names::is_first_name(&lower)
                && !names::is_wordy_name(&lower)
                && !lists::PLACES.contains(lower.as_str());
            if own {
                put(&mut heads, lower);
            }
        }
        for (kind, entity) in kinds {
            if let Some(entity) = entity {
                self.key(&format!("the {kind}"), entity);
                self.bodies.insert(kind);
            }
        }
        for (head, entity) in heads {
            if let Some(entity) = entity {
                self.key(&head, entity);
            }
        }
    }

    /// "The Treasurer" is who the list of those present says it is.
    pub(super) fn add_roles(&mut self, sightings: &Sightings) {
        let roles: Vec<(String, String)> =
            sightings.roles.iter().map(|(role, name)| (office_key(role).to_owned(), name.clone())).collect();
        for (role, person) in self.meant_alone(&roles) {
            let words = if role == CHAIRS[0] { &CHAIRS[..] } else { &[role.as_str()] };
            for word in words {
                self.key(&format!("the {word}"), person);
                self.key(word, person);
                self.roles.insert((*word).to_owned());
            }
        }
    }

    /// "DO" is who the list of those present says it is, if it names one alone so.
    pub(super) fn add_initials(&mut self, sightings: &Sightings) {
        for (initials, person) in self.meant_alone(&sightings.initials) {
            self.key(&initials, person);
            self.initials.insert(initials);
        }
    }

    /// Whom each of these words means, where it means one person alone.
    fn meant_alone(&self, said: &[(String, String)]) -> Vec<(String, usize)> {
        let mut meant: HashMap<&str, Option<usize>> = HashMap::new();
        for (word, name) in said {
            let person = self.named(name);
            meant
                .entry(word)
                .and_modify(|known| *known = known.filter(|_| *known == person))
                .or_insert(person);
        }
        meant.into_iter().filter_map(|(word, person)| Some((word.to_owned(), person?))).collect()
    }
}
