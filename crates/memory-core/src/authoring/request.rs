//! A request with what its entities are judged by, and how drafts of the same name become one.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use memory_language::similarity::closest_names;
use unicode_normalization::UnicodeNormalization;

use super::{
    AuthoredEntity, AuthoredRelation, AuthoringLimits, DEFAULT_CONFIDENCE, DEFAULT_IMPORTANCE,
    DEFAULT_RELATION_IMPORTANCE, EntityCheck, EntityDraft, MAX_SUGGESTED_FROM, ThreadNames, distinct, shown,
    suggested,
};

/// Close matches are looked for at most this often a request; each search reads all names.
const MAX_SEARCHES: usize = 50;

/// The drafts that share a name and a type: one entity.
#[derive(Debug, Default)]
pub(super) struct Group<'a> {
    /// Indexes of the drafts, the first first.
    pub(super) members: Vec<usize>,
    pub(super) observations: usize,
    pub(super) relations: usize,
    distinct_relations: HashSet<(&'a str, &'a str)>,
    is_root: bool,
    /// Some of it could not be read.
    pub(super) has_faults: bool,
}

/// A request with what is needed to judge each of its entities.
pub(super) struct Request<'a> {
    pub(super) drafts: &'a [EntityDraft],
    pub(super) limits: &'a AuthoringLimits,
    pub(super) known: &'a ThreadNames,
    /// By the index of their first draft.
    pub(super) groups: Vec<Group<'a>>,
    pub(super) group_of: Vec<usize>,
    /// The first draft of each name.
    pub(super) first_of: HashMap<&'a str, usize>,
    /// One spelling of each name, by the name [`alike`]; those of the thread before those of the request.
    pub(super) spellings: HashMap<String, &'a str>,
    searched: RefCell<HashMap<&'a str, Vec<&'a str>>>,
}

impl<'a> Request<'a> {
    pub(super) fn new(
        drafts: &'a [EntityDraft],
        known: &'a ThreadNames,
        limits: &'a AuthoringLimits,
    ) -> Self {
        let mut request = Self {
            drafts,
            limits,
            known,
            groups: Vec::new(),
            group_of: Vec::new(),
            first_of: HashMap::new(),
            spellings: HashMap::new(),
            searched: RefCell::default(),
        };
        for name in known.entities.keys().chain(&known.others) {
            request.spellings.entry(alike(name)).or_insert(name);
        }
        let mut group_at: HashMap<(&str, String), usize> = HashMap::new();
        for (index, draft) in drafts.iter().enumerate() {
            let name = draft.name.trim();
            let next = request.groups.len();
            let kind = draft.entity_type.trim().to_lowercase();
            // A draft without a type gets no second error that its type is another one.
            let at = match request.first_of.get(name) {
                _ if name.is_empty() => next,
                Some(first) if kind.is_empty() => request.group_of[*first],
                _ => *group_at.entry((name, kind)).or_insert(next),
            };
            if at == next {
                request.groups.push(Group::default());
            }
            request.groups[at].add(index, draft, limits);
            request.group_of.push(at);
            if !name.is_empty() {
                request.first_of.entry(name).or_insert(index);
                request.spellings.entry(alike(name)).or_insert(name);
            }
        }
        request
    }

    /// `Entity 'X'`, or by its number where it has no name.
    pub(super) fn title(&self, index: usize) -> String {
        let name = shown(&self.drafts[index].name);
        if name.is_empty() { format!("Entity {index}") } else { format!("Entity '{name}'") }
    }

    pub(super) fn is_root(&self, index: usize) -> bool {
        self.groups[self.group_of[index]].is_root
    }

    pub(super) fn is_known(&self, index: usize) -> bool {
        self.known.entities.contains_key(self.drafts[index].name.trim())
    }

    pub(super) fn is_orphan(&self, index: usize) -> bool {
        let known = self.known.entities.get(self.drafts[index].name.trim());
        known.is_some_and(|known| !known.has_relation && !known.is_root) && !self.is_root(index)
    }

    /// Whether a relation may point there.
    pub(super) fn has_name(&self, name: &str) -> bool {
        self.first_of.contains_key(name) || self.known.entities.contains_key(name)
    }

    pub(super) fn thread_names(&self) -> impl Iterator<Item = &'a str> {
        self.known.entities.keys().chain(&self.known.others).map(String::as_str)
    }

    /// Names of the request and of the thread that look like `target`, without `but`.
    pub(super) fn close_to(&self, target: &'a str, but: &str, most: usize) -> Vec<&'a str> {
        let mut searched = self.searched.borrow_mut();
        if !searched.contains_key(target) && searched.len() >= MAX_SEARCHES {
            return Vec::new();
        }
        let search = || {
            let names = self.drafts.iter().map(|draft| draft.name.trim()).chain(self.thread_names());
            closest_names(target, names.take(MAX_SUGGESTED_FROM), most + 1)
        };
        let found = searched.entry(target).or_insert_with(search);
        found.iter().filter(|name| **name != but).take(most).copied().collect()
    }

    /// `: 'A', 'B'`, names that exist, without `but`; nothing if there are none.
    pub(super) fn examples(&self, but: &str, most: usize) -> String {
        let names = self.drafts.iter().map(|draft| draft.name.trim()).chain(self.thread_names());
        let mut seen = HashSet::new();
        let names = names.filter(|name| !name.is_empty() && *name != but && seen.insert(*name));
        let names: Vec<String> = names.take(most).map(|name| format!("'{}'", suggested(name))).collect();
        if names.is_empty() { String::new() } else { format!(", for example {}", names.join(", ")) }
    }

    pub(super) fn stored_type(&self, index: usize) -> String {
        let draft = &self.drafts[index];
        let known = self.known.entities.get(draft.name.trim());
        known.map_or_else(|| capitalised(&draft.entity_type), |known| known.entity_type.clone())
    }

    pub(super) fn quality_score(&self, checks: &[EntityCheck]) -> f64 {
        const WANTED_RELATIONS: f64 = 2.0;
        let count = self.groups.len() as f64;
        let relations: usize = self.groups.iter().map(|group| group.distinct_relations.len()).sum();
        let is_clean = |at: &usize| checks[*at].errors.is_empty() && checks[*at].warnings.is_empty();
        let clean = self.groups.iter().filter(|group| group.members.iter().all(is_clean)).count() as f64;
        0.7 * (relations as f64 / count / WANTED_RELATIONS).min(1.0) + 0.3 * clean / count
    }

    /// What to store of a request without errors.
    pub(super) fn authored(&self) -> Vec<AuthoredEntity> {
        self.groups.iter().map(|group| self.merge(group)).collect()
    }

    fn merge(&self, group: &Group<'_>) -> AuthoredEntity {
        let index = group.members[0];
        let drafts = || group.members.iter().map(|at| &self.drafts[*at]);
        let observations = drafts().flat_map(|draft| &draft.observations).map(|text| text.trim().to_owned());
        let relations = drafts().flat_map(|draft| &draft.relations).map(|relation| AuthoredRelation {
            importance_given: relation.importance.is_some(),
            target: relation.target.trim().to_owned(),
            relation_type: relation.relation_type.trim().to_owned(),
            importance: relation.importance.unwrap_or(DEFAULT_RELATION_IMPORTANCE),
        });
        let confidence = drafts().find_map(|draft| draft.confidence);
        let importance = drafts().find_map(|draft| draft.importance);
        AuthoredEntity {
            index,
            name: self.drafts[index].name.trim().to_owned(),
            entity_type: self.stored_type(index),
            observations: distinct(observations.collect(), String::clone),
            relations: distinct(relations.collect(), |r| (r.target.clone(), r.relation_type.clone())),
            confidence: confidence.unwrap_or(DEFAULT_CONFIDENCE),
            importance: importance.unwrap_or(DEFAULT_IMPORTANCE),
            confidence_given: confidence.is_some(),
            importance_given: importance.is_some(),
            is_root: group.is_root,
            is_new: !self.is_known(index),
        }
    }
}

impl<'a> Group<'a> {
    fn add(&mut self, index: usize, draft: &'a EntityDraft, limits: &AuthoringLimits) {
        self.members.push(index);
        self.observations += draft.observations.len();
        self.relations += draft.relations.len();
        let relations = draft.relations.iter().take(limits.relations);
        self.distinct_relations.extend(relations.map(|r| (r.target.trim(), r.relation_type.trim())));
        self.is_root |= draft.is_root;
        self.has_faults |= !draft.faults.is_empty();
    }
}

/// The name without regard to case and to how its accents are encoded.
pub(super) fn alike(name: &str) -> String {
    if name.is_ascii() { name.to_ascii_lowercase() } else { name.nfc().collect::<String>().to_lowercase() }
}

pub(super) fn capitalised(text: &str) -> String {
    let mut chars = text.trim().chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
