//! The name model: what the capitalised words and other candidates of a source name, if anything, by their form and by what stands
//! around them wherever they stand. It adds names on which the rules are silent, and doubts some of theirs.

mod candidates;
mod signs;
mod weights;
mod word_kinds;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use memory_core::entity::{EntityType, normalised_name};
use memory_core::ports::SourceText;

use super::gender::Gender;
use super::model::Sink;
use super::names;
use super::parsed_segment::{Mention, ParsedSegment};
use super::people::{Known, Roster};
use signs::{Page, Signs};
use weights::Odds;
pub use weights::{NAME_CLASSES, NAME_FEATURES_VERSION, NAME_SCALE, NameModel};

/// More names than this are not judged.
const NAMES_MAX: usize = 4_000;
/// Of a name no more places than this are looked at.
const PLACES_MAX: usize = 24;
/// An encoder reads so many of them.
const ENCODED_PLACES_MAX: usize = 12;
/// Of the names with a word so many are compared.
const SAME_WORD_MAX: usize = 40;
/// Who a rule found is nobody where the model is so sure of it.
const NOTHING_MIN: f32 = 0.8;
/// The same of a person with a known first name.
const KNOWN_NOTHING_MIN: f32 = 0.95;
/// A shorter text shows too little of a name to doubt what a rule says of it, or to add it unless the model is surer.
const TELLING_TOKENS: usize = 60;
/// So sure.
const SHORT_MIN: f32 = 0.8;
/// What a rule found is of another type where the model is so sure of that.
const OTHER_TYPE_MIN: f32 = 0.7;

/// A name as the model sees it, for training.
#[derive(Debug, Clone)]
pub struct NameSeen {
    pub name: String,
    /// In order, each once.
    pub features: Vec<String>,
    /// Where it stands in the text, in bytes.
    pub places: Vec<Range<usize>>,
    /// As what the rules know it.
    pub by_rules: Option<EntityType>,
    /// Whether the rules leave it to the model.
    pub is_open: bool,
}

/// The text of a source, its segments one below the other, and all that may be a name in it.
pub fn names_of(source: &SourceText) -> (String, Vec<NameSeen>) {
    let (parsed_segments, roster) = super::named_by_rules(source);
    let names = names_in(&parsed_segments);
    let page = Page::of(source, &parsed_segments);
    let joined = Joined::of(&parsed_segments);
    let seen = names.into_iter().map(|name| {
        let mut sink = Sink::named();
        read(&name, &parsed_segments, &page, &mut sink);
        let known = name.places.iter().find_map(|(number, tokens)| {
            let mention = parsed_segments[*number].mention(tokens.start)?;
            (mention.tokens == *tokens).then_some(mention.entity_type)
        });
        NameSeen {
            places: joined.places(&name, &parsed_segments),
            is_open: is_open(&name, &parsed_segments, &roster),
            by_rules: known,
            name: name.text,
            features: sink.into_names(),
        }
    });
    let seen = seen.collect();
    (joined.text, seen)
}

/// The segments one below the other, as an encoder reads them.
struct Joined {
    text: String,
    /// Where each segment begins, in bytes.
    begins: Vec<usize>,
}

impl Joined {
    fn of(parsed_segments: &[ParsedSegment<'_>]) -> Self {
        let (mut text, mut begins) = (String::new(), Vec::with_capacity(parsed_segments.len()));
        for parsed in parsed_segments {
            if !begins.is_empty() {
                text.push('\n');
            }
            begins.push(text.len());
            text.push_str(parsed.text.raw);
        }
        Self { text, begins }
    }

    /// The first places of a name.
    fn places(&self, name: &Name, parsed_segments: &[ParsedSegment<'_>]) -> Vec<Range<usize>> {
        let first = name.places.iter().take(ENCODED_PLACES_MAX);
        first
            .map(|(number, tokens)| {
                let bytes = parsed_segments[*number].text.bytes(tokens);
                let begin = self.begins[*number];
                begin + bytes.start..begin + bytes.end
            })
            .collect()
    }
}

/// What may be a name, and where it stands: the number of the parsed segment and the tokens.
struct Name {
    text: String,
    places: Vec<(usize, Range<usize>)>,
}

fn names_in(parsed_segments: &[ParsedSegment<'_>]) -> Vec<Name> {
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut all: Vec<Name> = Vec::new();
    for (number, parsed) in parsed_segments.iter().enumerate() {
        for tokens in candidates::candidates(parsed) {
            let raw = &parsed.text.raw[parsed.text.bytes(&tokens)];
            let text = raw.split_whitespace().collect::<Vec<_>>().join(" ");
            if let Some(known) = numbers.get(&text) {
                all[*known].places.push((number, tokens));
            } else if all.len() < NAMES_MAX {
                numbers.insert(text.clone(), all.len());
                all.push(Name { text, places: vec![(number, tokens)] });
            }
        }
    }
    all
}

/// Gives all features of a name.
fn read(name: &Name, parsed_segments: &[ParsedSegment<'_>], page: &Page, sink: &mut Sink) {
    let mut signs = Signs::new(sink);
    let (first, tokens) = &name.places[0];
    signs.name(&parsed_segments[*first].text, tokens);
    for (number, tokens) in name.places.iter().take(PLACES_MAX) {
        signs.place(&parsed_segments[*number], tokens);
    }
    signs.whole(&name.text, page, name.places.len());
}

/// Doubts what the rules named and adds what else is named.
pub(super) fn judge(
    model: &NameModel,
    source: &SourceText,
    parsed_segments: &mut [ParsedSegment<'_>],
    roster: &mut Roster,
) {
    let is_telling = is_telling(parsed_segments);
    let mut names = names_in(parsed_segments);
    names.retain(|name| is_open(name, parsed_segments, roster));
    if names.is_empty() {
        return;
    }
    let page = Page::of(source, parsed_segments);
    let mut sink = Sink::default();
    let judged = names.into_iter().map(|name| {
        read(&name, parsed_segments, &page, &mut sink);
        let odds = model.odds(sink.hashes());
        (name, odds)
    });
    let mut judged: Vec<(Name, Odds)> = judged.collect();
    if is_telling {
        doubt(&judged, parsed_segments, roster);
    } else {
        judged.retain(|(_, odds)| odds[0] < 1.0 - SHORT_MIN);
    }
    add(model, &judged, parsed_segments, roster);
}

/// Whether the text shows enough of its names.
fn is_telling(parsed_segments: &[ParsedSegment<'_>]) -> bool {
    let words: usize = parsed_segments.iter().map(|parsed| parsed.text.tokens.len()).sum();
    words >= TELLING_TOKENS
}

/// Whether the model has a say: what stands elsewhere only within the names of the rules is none of its own.
fn is_open(name: &Name, parsed_segments: &[ParsedSegment<'_>], roster: &Roster) -> bool {
    let is_telling = is_telling(parsed_segments);
    name.places.iter().any(|(number, tokens)| {
        let parsed = &parsed_segments[*number];
        match parsed.mention(tokens.start) {
            Some(mention) => is_telling && mention.tokens == *tokens && is_doubtful(mention, roster),
            None => tokens.clone().all(|at| parsed.mention(at).is_none()),
        }
    })
}

/// Whether what the rules say may be doubted: not of those with a part in the source.
fn is_doubtful(mention: &Mention, roster: &Roster) -> bool {
    NameModel::class_of(mention.entity_type).is_some() && !roster.is_sure(mention.entity)
}

/// Takes away what the rules named and is no name, and corrects types.
fn doubt(judged: &[(Name, Odds)], parsed_segments: &mut [ParsedSegment<'_>], roster: &mut Roster) {
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
fn add(
    model: &NameModel,
    judged: &[(Name, Odds)],
    parsed_segments: &mut [ParsedSegment<'_>],
    roster: &mut Roster,
) {
    let mut likely: Vec<&(Name, Odds)> =
        judged.iter().filter(|(_, odds)| model.named(odds).is_some()).collect();
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
        let normal = normalised_name(&name.text);
        if known.names.contains(&normal) {
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
        let entity = known
            .longer(&normal)
            .unwrap_or_else(|| roster.add(&name.text, model.named(odds).unwrap_or(EntityType::Other)));
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

/// The normalised names of entities, and by each of their words who has it.
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
                known.learn(&normalised_name(name), number);
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

#[cfg(test)]
mod tests;
