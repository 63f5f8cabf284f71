//! The rules for writing to the knowledge graph: what an assistant sends, what is wrong with it, and what is
//! stored when nothing is.
//!
//! A check reports everything at once and writes nothing, so that a dry run and a save say the same in the
//! same words. Each message is for a model to act on: which item, its text, what is wrong, what to do.

mod entity;
mod observation;
mod relation;
mod request;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use memory_language::text::cut;
use unicode_normalization::UnicodeNormalization;

use request::Request;

pub const DEFAULT_CONFIDENCE: f64 = 1.0;
pub const DEFAULT_IMPORTANCE: f64 = 0.5;
pub const DEFAULT_RELATION_IMPORTANCE: f64 = 0.7;

/// Goes with every refusal.
pub const VALIDATION_HINT: &str =
    "Fix all validation errors and retry. All entities must be valid to maintain memory integrity.";

/// The most errors, and the most warnings, reported for one entity; a last line counts the rest.
pub const MAX_MESSAGES_PER_ENTITY: usize = 50;
/// The most names of the thread that a close match is looked for among.
pub const MAX_SUGGESTED_FROM: usize = 5_000;

/// How much a text quoted in a message shows, in characters.
const SHOWN_CHARS: usize = 40;
const SUGGESTED_CHARS: usize = 100;

/// What may be written at once. Characters are Unicode scalar values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuthoringLimits {
    pub observation_chars: usize,
    pub observation_sentences: usize,
    pub name_chars: usize,
    pub type_chars: usize,
    pub relation_type_chars: usize,
    /// Entities of one request.
    pub entities: usize,
    /// Observations of one entity of a request.
    pub observations: usize,
    /// Relations of one entity of a request.
    pub relations: usize,
}

impl Default for AuthoringLimits {
    fn default() -> Self {
        Self {
            observation_chars: 300,
            observation_sentences: 3,
            name_chars: 100,
            type_chars: 50,
            relation_type_chars: 50,
            entities: 1_000,
            observations: 200,
            relations: 200,
        }
    }
}

/// An entity as it is sent; what was left out is empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EntityDraft {
    pub name: String,
    pub entity_type: String,
    pub observations: Vec<String>,
    pub relations: Vec<RelationDraft>,
    pub confidence: Option<f64>,
    pub importance: Option<f64>,
    /// Needs no relation.
    pub is_root: bool,
    /// What of it could not be read, each with what to send instead. What then seems to be missing is not also asked for.
    pub faults: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct RelationDraft {
    pub target: String,
    pub relation_type: String,
    pub importance: Option<f64>,
    /// It could not be read; a fault of its entity says why.
    pub is_unread: bool,
}

/// An entity that the thread has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownEntity {
    pub entity_type: String,
    /// To or from another.
    pub has_relation: bool,
    /// It was declared to have no relations.
    pub is_root: bool,
}

/// What the thread has: of the names that [`lookups`] asks for those that exist, and other names to suggest.
#[derive(Debug, Clone, Default)]
pub struct ThreadNames {
    entities: BTreeMap<String, KnownEntity>,
    others: BTreeSet<String>,
}

impl ThreadNames {
    pub fn new(entities: impl IntoIterator<Item = (String, KnownEntity)>) -> Self {
        Self { entities: entities.into_iter().collect(), others: BTreeSet::new() }
    }

    /// Adds names of the thread that only serve as suggestions, at most [`MAX_SUGGESTED_FROM`].
    #[must_use]
    pub fn with_names(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.others.extend(names.into_iter().take(MAX_SUGGESTED_FROM));
        self
    }
}

/// An observation that was refused, cut to 50 characters, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservationIssue {
    pub observation: String,
    pub issue: String,
}

/// What was found about one entity of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EntityCheck {
    pub index: usize,
    pub name: String,
    pub entity_type: String,
    /// Include those of observations and relations.
    pub errors: Vec<String>,
    pub warnings: Vec<String>,
    pub observation_issues: Vec<ObservationIssue>,
}

impl EntityCheck {
    pub fn is_valid(&self) -> bool {
        self.errors.is_empty()
    }
}

/// What was found about a request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Checked {
    /// What is wrong with the request as a whole; then the entities were not looked at.
    pub errors: Vec<String>,
    /// One for each draft, in order.
    pub entities: Vec<EntityCheck>,
    /// What to store, without duplicates and in the order of the drafts; empty unless all is valid.
    pub authored: Vec<AuthoredEntity>,
    /// 0.7 · min(average relations an entity / 2, 1) + 0.3 · share of entities without a message.
    pub quality_score: f64,
}

impl Checked {
    pub fn is_valid(&self) -> bool {
        self.errors.is_empty() && self.entities.iter().all(EntityCheck::is_valid)
    }

    /// The warnings of all entities, each with the name of its entity.
    pub fn warnings(&self) -> Vec<String> {
        let named = |check: &EntityCheck, warning: &String| {
            let is_named = warning.starts_with("Entity ");
            if is_named { warning.clone() } else { format!("Entity '{}': {warning}", shown(&check.name)) }
        };
        let warnings =
            self.entities.iter().flat_map(|check| check.warnings.iter().map(move |w| named(check, w)));
        warnings.collect()
    }
}

/// An entity to store: trimmed, with defaults, drafts of the same name and type merged.
#[derive(Debug, Clone, PartialEq)]
pub struct AuthoredEntity {
    /// Of the first draft that has this name.
    pub index: usize,
    pub name: String,
    /// As the thread has it, if it does.
    pub entity_type: String,
    pub observations: Vec<String>,
    pub relations: Vec<AuthoredRelation>,
    pub confidence: f64,
    pub importance: f64,
    /// Whether they were sent; a default should not replace what an existing entity has.
    pub confidence_given: bool,
    pub importance_given: bool,
    pub is_root: bool,
    /// The thread does not have it yet.
    pub is_new: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct AuthoredRelation {
    pub target: String,
    pub relation_type: String,
    pub importance: f64,
    /// Whether it was sent; a default should not replace what an existing relation has.
    pub importance_given: bool,
}

/// The names that must be looked up in the thread before a check: of entities and of the targets of their
/// relations, sorted, each once, in each way of encoding accents, none that cannot be a name.
pub fn lookups(drafts: &[EntityDraft], limits: &AuthoringLimits) -> Vec<String> {
    let names = drafts.iter().take(limits.entities).flat_map(|draft| {
        let targets = draft.relations.iter().take(limits.relations).map(|relation| relation.target.trim());
        std::iter::once(draft.name.trim()).chain(targets)
    });
    let names: BTreeSet<&str> = names.filter(|name| !name.is_empty() && !name.contains('\0')).collect();
    let mut lookups: BTreeSet<String> = names.iter().map(|name| (*name).to_owned()).collect();
    // The same letters may be there with their accents encoded in another way.
    for name in names.iter().filter(|name| !name.is_ascii()) {
        lookups.extend([name.nfc().collect(), name.nfd().collect()]);
    }
    lookups.into_iter().collect()
}

/// Checks a request against the rules and against what the thread has.
pub fn check(drafts: &[EntityDraft], known: &ThreadNames, limits: &AuthoringLimits) -> Checked {
    if let Some(error) = wrong_number(drafts.len(), limits) {
        return Checked { errors: vec![error], ..Checked::default() };
    }
    let request = Request::new(drafts, known, limits);
    let entities: Vec<EntityCheck> = (0..drafts.len()).map(|index| request.check(index)).collect();
    let quality_score = request.quality_score(&entities);
    let valid = entities.iter().all(EntityCheck::is_valid);
    let authored = if valid { request.authored() } else { Vec::new() };
    Checked { errors: Vec::new(), entities, authored, quality_score }
}

fn wrong_number(entities: usize, limits: &AuthoringLimits) -> Option<String> {
    if entities == 0 {
        return Some(
            "The request has no entities. Send at least 1, for example { name: 'Portfolio', entityType: \
             'Document', observations: ['Contains 2 main tables'], relations: [{ targetEntity: 'Alice', \
             relationType: 'updated by' }] }."
                .to_owned(),
        );
    }
    let most = limits.entities;
    (entities > most).then(|| {
        let calls = entities.div_ceil(most);
        format!("The request has {entities} entities, at most {most}. Send them in {calls} calls.")
    })
}

/// Messages of one entity, counted beyond [`MAX_MESSAGES_PER_ENTITY`].
#[derive(Debug, Default)]
struct Messages {
    kept: Vec<String>,
    left_out: usize,
}

impl Messages {
    fn push(&mut self, message: String) {
        if self.kept.len() < MAX_MESSAGES_PER_ENTITY {
            self.kept.push(message);
        } else {
            self.left_out += 1;
        }
    }

    fn extend(&mut self, messages: impl IntoIterator<Item = String>) {
        for message in messages {
            self.push(message);
        }
    }

    fn finish(mut self, kind: &str) -> Vec<String> {
        if self.left_out > 0 {
            self.kept.push(format!("{} more {kind} are not shown.", self.left_out));
        }
        self.kept
    }
}

/// A text as it is quoted in a message.
fn shown(text: &str) -> String {
    cut(&text.trim().replace('\0', "␀"), SHOWN_CHARS)
}

/// A name that exists, whole so that it can be copied, unless it is too long to be one of ours.
fn suggested(name: &str) -> String {
    cut(name, SUGGESTED_CHARS)
}

/// What is wrong with a confidence or an importance.
fn ratio_error(what: &str, value: Option<f64>) -> Option<String> {
    let value = value?;
    if (0.0..=1.0).contains(&value) {
        return None;
    }
    // Below ten it may as well be a grade.
    let instead = if (10.0..=100.0).contains(&value) {
        format!("; for {value} percent write {}", value / 100.0)
    } else {
        ", for example 0.8".to_owned()
    };
    Some(format!("{what} {value} is not between 0 and 1. Use a number from 0 to 1{instead}."))
}

/// What is wrong with the length or the characters of a name or a type; `None` for an empty text, which is
/// for the caller to judge.
fn label_error(what: &str, text: &str, most: usize, instead: &str) -> Option<String> {
    let shown = shown(text);
    if text.contains('\0') {
        return Some(format!(
            "{what} \"{shown}\" contains a NUL character (U+0000), which cannot be stored. Remove it."
        ));
    }
    let length = text.chars().count();
    (length > most)
        .then(|| format!("{what} \"{shown}\" is too long: {length} characters, at most {most}. {instead}"))
}

/// Keeps the first of equal items, by what `key` says.
fn distinct<T, K: std::hash::Hash + Eq>(items: Vec<T>, key: impl Fn(&T) -> K) -> Vec<T> {
    let mut seen = HashSet::new();
    items.into_iter().filter(|item| seen.insert(key(item))).collect()
}
