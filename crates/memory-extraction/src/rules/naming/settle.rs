//! What becomes of names by what the model says of them: doubts about those of the rules, and further ones.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use memory_core::entity::{EntityType, normalised_name};

use super::super::gender::Gender;
use super::super::names;
use super::super::parsed_segment::{Mention, ParsedSegment};
use super::super::people::{Known, Roster, folded};
use super::weights::{self, NameModel, Odds, Thresholds};
use super::{Name, is_doubtful};

/// Of the names with a word so many are compared.
const SAME_WORD_MAX: usize = 40;
/// Who a rule found is nobody where the model is so sure of it.
const NOTHING_MIN: f32 = 0.8;
/// The same of a person with a known first name.
const KNOWN_NOTHING_MIN: f32 = 0.95;
/// What a rule found is of another type where the model is so sure of that.
const OTHER_TYPE_MIN: f32 = 0.7;

/// Takes away what the rules named and is no name, and corrects types.
pub(super) fn doubt(judged: &[(Name, Odds)], parsed_segments: &mut [ParsedSegment<'_>], roster: &mut Roster) {
    let mut likeliest: HashMap<usize, Odds> = HashMap::new();
    for (name, odds) in judged {
        for (number, tokens) in &name.places {
            let Some(mention) = parsed_segments[*number].mention(tokens.start) else { continue };
            let class = NameModel::class_of(mention.entity_type);
            let Some(class) = class.filter(|_| mention.tokens == *tokens && is_doubtful(mention, roster))
            else {
                continue;
            };
            let best = likeliest.entry(mention.entity).or_insert(*odds);
            if odds[class] > best[class] {
                *best = *odds;
            }
        }
    }
    let mut gone = vec![false; roster.entities.len()];
    let mut is_changed = false;
    for (entity, odds) in likeliest {
        let Known { name, entity_type, .. } = &roster.entities[entity];
        let first = name.split(' ').next().unwrap_or_default().to_lowercase();
        let is_known = *entity_type == EntityType::Person && names::is_first_name(&first);
        if odds[0] > if is_known { KNOWN_NOTHING_MIN } else { NOTHING_MIN } {
            gone[entity] = true;
            is_changed = true;
        } else if let Some(entity_type) = weights::surely(&odds, OTHER_TYPE_MIN) {
            is_changed |= roster.entities[entity].entity_type != entity_type;
            roster.entities[entity].entity_type = entity_type;
        }
    }
    if !is_changed {
        return;
    }
    let numbers = roster.without(&gone);
    for parsed in parsed_segments {
        let mut mentions = std::mem::take(&mut parsed.mentions);
        mentions.retain_mut(|mention| {
            let Some(entity) = numbers[mention.entity] else { return false };
            mention.entity = entity;
            mention.entity_type = roster.entities[entity].entity_type;
            true
        });
        parsed.set_mentions(mentions);
    }
}

/// Adds the likeliest names first, where nothing else is named.
pub(super) fn add(
    thresholds: &Thresholds,
    judged: &[(Name, Odds)],
    parsed_segments: &mut [ParsedSegment<'_>],
    roster: &mut Roster,
) {
    let mut likely: Vec<&(Name, Odds)> =
        judged.iter().filter(|(_, odds)| weights::named(odds, thresholds).is_some()).collect();
    if likely.is_empty() {
        return;
    }
    likely.sort_by(|(_, a), (_, b)| a[0].total_cmp(&b[0]));
    let mut known = KnownNames::of(roster);
    let mut taken: Vec<Vec<bool>> = parsed_segments
        .iter()
        .map(|parsed| (0..parsed.text.tokens.len()).map(|at| parsed.mention(at).is_some()).collect())
        .collect();
    let mut added: Vec<Vec<Mention>> = vec![Vec::new(); parsed_segments.len()];
    for (name, odds) in likely {
        let normal = folded(&normalised_name(&name.text));
        let entity_type = weights::named(odds, thresholds).unwrap_or(EntityType::Other);
        if known.names.contains(&normal)
            || (entity_type == EntityType::Person && is_code(&name.places, parsed_segments))
        {
            continue;
        }
        // One by one: in "Wagga Wagga Wagga" the places of "Wagga Wagga" overlap.
        let mut free: Vec<&(usize, Range<usize>)> = Vec::new();
        for place in &name.places {
            let taken = &mut taken[place.0][place.1.clone()];
            if !taken.contains(&true) {
                taken.fill(true);
                free.push(place);
            }
        }
        if free.is_empty() {
            continue;
        }
        // "the Trust" beside "Harbour Trust" is the same.
        let entity = known.longer(&normal).unwrap_or_else(|| roster.add(&name.text, entity_type));
        known.learn(&normal, entity);
        let Known { entity_type, name, .. } = &roster.entities[entity];
        let gender = if *entity_type == EntityType::Person { Gender::of_name(name) } else { None };
        for (number, tokens) in free {
            added[*number].push(Mention {
                tokens: tokens.clone(),
                entity,
                entity_type: *entity_type,
                gender,
            });
        }
    }
    for (parsed, added) in parsed_segments.iter_mut().zip(added) {
        if !added.is_empty() {
            let mut mentions = std::mem::take(&mut parsed.mentions);
            mentions.extend(added);
            mentions.sort_by_key(|mention| mention.tokens.start);
            parsed.set_mentions(mentions);
        }
    }
}

/// Whether a name stands nowhere but in code spans: an identifier there is no person.
fn is_code(places: &[(usize, Range<usize>)], parsed_segments: &[ParsedSegment<'_>]) -> bool {
    places.iter().all(|(number, tokens)| {
        let parsed = &parsed_segments[*number];
        parsed.marks.is_code(parsed.text.bytes(tokens).start)
    })
}

/// The normalised names of entities, without their accents, and by each of their words who has it.
#[derive(Default)]
struct KnownNames {
    names: HashSet<String>,
    by_word: HashMap<String, Vec<(HashSet<String>, usize)>>,
}

impl KnownNames {
    fn of(roster: &Roster) -> Self {
        let mut known = Self::default();
        for (number, entity) in roster.entities.iter().enumerate() {
            for name in entity.aliases.iter().chain([&entity.name]) {
                known.learn(&folded(&normalised_name(name)), number);
            }
        }
        known
    }

    fn learn(&mut self, normal: &str, entity: usize) {
        let words: HashSet<String> = normal.split(' ').map(str::to_owned).collect();
        for word in &words {
            let known = self.by_word.entry(word.clone()).or_default();
            if known.len() < SAME_WORD_MAX {
                known.push((words.clone(), entity));
            }
        }
        self.names.insert(normal.to_owned());
    }

    /// Who has all words of the name in a longer one.
    fn longer(&self, normal: &str) -> Option<usize> {
        let mut words = normal.split(' ');
        let known = self.by_word.get(words.next()?)?;
        let (_, entity) = known.iter().find(|(all, _)| words.clone().all(|word| all.contains(word)))?;
        Some(*entity)
    }
}
