//! Who is meant by first letters or by the last word of a name, found once for all promises.

use std::collections::HashMap;

use memory_core::entity::EntityType;

use super::super::people::{Roster, folded};

/// Each form with the one whom it means; none where it means several.
pub(super) struct Index {
    letters: HashMap<String, Option<usize>>,
    bodies: HashMap<String, Option<usize>>,
}

impl Index {
    pub(super) fn of(roster: &Roster) -> Self {
        let mut index = Self { letters: HashMap::new(), bodies: HashMap::new() };
        for (entity, known) in roster.entities.iter().enumerate() {
            let words: Vec<&str> = known.name.split([' ', '-']).filter(|word| !word.is_empty()).collect();
            let [first, .., last] = words.as_slice() else { continue };
            match known.entity_type {
                EntityType::Person => {
                    let all = letters(&words);
                    let ends = letters(&[first, last]);
                    if ends != all {
                        put(&mut index.letters, ends, entity);
                    }
                    put(&mut index.letters, all, entity);
                }
                EntityType::Org => put(&mut index.bodies, last.to_lowercase(), entity),
                _ => {}
            }
        }
        index
    }

    /// The one person with these first letters, though they are also a word or an acronym.
    pub(super) fn by_letters(&self, letters: &str) -> Option<usize> {
        self.letters.get(&letters.to_lowercase()).copied().flatten()
    }

    /// The one body whose name ends with a word.
    pub(super) fn by_last_word(&self, word: &str) -> Option<usize> {
        self.bodies.get(word).copied().flatten()
    }
}

fn letters(words: &[&str]) -> String {
    words.iter().filter_map(|word| folded(word).chars().next()).collect()
}

fn put(forms: &mut HashMap<String, Option<usize>>, form: String, entity: usize) {
    forms
        .entry(form)
        .and_modify(|known| *known = known.filter(|known| *known == entity))
        .or_insert(Some(entity));
}
