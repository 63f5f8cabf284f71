//! Who is meant by the first letter of the last name, "Ms K", found once for all promises.

use std::collections::HashMap;

use memory_core::entity::EntityType;

use super::super::people::Roster;

/// Each letter with the one person whom it means; none where it means several.
pub(super) struct Index(HashMap<char, Option<usize>>);

impl Index {
    pub(super) fn of(roster: &Roster) -> Self {
        let mut letters = HashMap::new();
        for (entity, known) in roster.entities.iter().enumerate() {
            let last = known.name.rsplit(' ').next().and_then(|last| last.chars().next());
            if let Some(letter) = last.filter(|_| known.entity_type == EntityType::Person) {
                letters.entry(letter).and_modify(|one| *one = None).or_insert(Some(entity));
            }
        }
        Self(letters)
    }

    /// The one person whose last name begins with a letter.
    pub(super) fn by_last_letter(&self, letter: char) -> Option<usize> {
        self.0.get(&letter).copied().flatten()
    }
}
