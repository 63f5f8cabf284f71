//! Rules for an entity as a whole, and how drafts of the same name become one.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use unicode_normalization::UnicodeNormalization;

use super::{
    AuthoredEntity, AuthoredRelation, AuthoringLimits, DEFAULT_CONFIDENCE, DEFAULT_IMPORTANCE,
    DEFAULT_RELATION_IMPORTANCE, EntityCheck, EntityDraft, Known, MAX_SUGGESTED_FROM, Messages,
    ObservationIssue, distinct, label_error, observation, ratio_error, relation, shown, suggested,
};
use memory_language::similarity::closest_names;
use memory_language::text::cut;

/// Types to suggest; any other is as good.
const COMMON_TYPES: &str = "Person, Document, File, Code, Task, Service, Database or Configuration";
/// The same, to compare with.
const COMMON_TYPES_LISTED: [&str; 8] =
    ["Person", "Document", "File", "Code", "Task", "Service", "Database", "Configuration"];
/// Close matches are looked for at most this often a request; each search reads all names.
const MAX_SEARCHES: usize = 50;

/// The drafts that share a name and a type: one entity.
#[derive(Debug, Default)]
struct Group<'a> {
    /// Indexes of the drafts, the first first.
    members: Vec<usize>,
    observations: usize,
    relations: usize,
    distinct_relations: HashSet<(&'a str, &'a str)>,
    is_root: bool,
    /// Some of it could not be read.
    has_faults: bool,
}

/// A request with what is needed to judge each of its entities.
pub(super) struct Request<'a> {
    pub(super) drafts: &'a [EntityDraft],
    pub(super) limits: &'a AuthoringLimits,
    known: &'a Known,
    /// By the index of their first draft.
    groups: Vec<Group<'a>>,
    group_of: Vec<usize>,
    /// The first draft of each name.
    first_of: HashMap<&'a str, usize>,
    /// One spelling of each name, by the name [`alike`]; those of the thread before those of the request.
    spellings: HashMap<String, &'a str>,
    searched: RefCell<HashMap<&'a str, Vec<&'a str>>>,
}

impl<'a> Request<'a> {
    pub(super) fn new(drafts: &'a [EntityDraft], known: &'a Known, limits: &'a AuthoringLimits) -> Self {
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
            // A draft whose type was forgotten is not also told that its type is another one.
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

    /// Everything that is wrong or thin about one draft.
    pub(super) fn check(&self, index: usize) -> EntityCheck {
        let draft = &self.drafts[index];
        let group = &self.groups[self.group_of[index]];
        let (mut errors, mut warnings) = (Messages::default(), Messages::default());
        errors.extend(draft.faults.iter().cloned());
        self.check_name(index, &mut errors, &mut warnings);
        self.check_type(index, &mut errors, &mut warnings);
        for (what, value) in [("confidence", draft.confidence), ("importance", draft.importance)] {
            errors.extend(ratio_error(what, value));
        }
        let is_first = group.members[0] == index && !group.has_faults;
        if is_first {
            errors.extend(self.observation_number_error(index, group));
        }
        let issues = self.check_observations(draft, &mut errors, &mut warnings);
        if is_first {
            errors.extend(relation::number_error(self, index, group.relations));
            if self.is_orphan(index) && group.relations == 0 {
                warnings.push(format!(
                    "{} has no relation in the thread yet. Add one that shows how it is connected.",
                    self.title(index)
                ));
            }
        }
        relation::check(self, index, &mut errors, &mut warnings);
        EntityCheck {
            index,
            name: draft.name.trim().to_owned(),
            entity_type: self.stored_type(index),
            errors: errors.finish("errors"),
            warnings: warnings.finish("warnings"),
            observation_issues: issues,
        }
    }

    fn check_name(&self, index: usize, errors: &mut Messages, warnings: &mut Messages) {
        let sent = self.drafts[index].name.as_str();
        let name = sent.trim();
        let most = self.limits.name_chars;
        if name.is_empty() && !self.drafts[index].faults.is_empty() {
            return;
        }
        if name.is_empty() {
            errors.push(format!(
                "Entity {index} has no name. Give it one of 1 to {most} characters, the words that its \
                 observations would use for it."
            ));
            return;
        }
        if sent != name {
            let sent = cut(&sent.replace('\0', "␀"), 60);
            warnings.push(format!(
                "Name '{sent}' is taken as '{}': spaces at the ends of a name are left out.",
                shown(name)
            ));
        }
        let instead = "Use a short name and put the rest into an observation.";
        errors.extend(label_error("Name", name, most, instead));
        let first = self.first_of[name];
        let title = self.title(index);
        let kinds = [first, index].map(|at| shown(&capitalised(&self.drafts[at].entity_type)));
        if self.group_of[first] != self.group_of[index] && !kinds[0].is_empty() {
            errors.push(format!(
                "{title} is sent twice with different types: '{}' at index {first} and '{}' at index {index}. \
                 Give both the same type to merge them, or name one differently, for example '{} ({})'.",
                kinds[0],
                kinds[1],
                shown(name),
                kinds[1]
            ));
        } else if first != index {
            warnings.push(format!("{title} is sent twice: this one is added to the one at index {first}."));
        }
        match self.spellings.get(&alike(name)) {
            Some(other) if *other != name && !self.known.entities.contains_key(name) => {
                let other_case = other.to_lowercase() == name.to_lowercase();
                let (what, rule) = if other_case {
                    ("differs only in case from", "Names are case-sensitive")
                } else {
                    (
                        "differs only in how its accents are encoded from",
                        "Names are compared character by character",
                    )
                };
                warnings.push(format!(
                    "{title} {what} '{}'. {rule}: write them alike if they mean the same.",
                    suggested(other)
                ));
            }
            _ => {}
        }
    }

    fn check_type(&self, index: usize, errors: &mut Messages, warnings: &mut Messages) {
        let draft = &self.drafts[index];
        let kind = draft.entity_type.trim();
        let stored = self.known.entities.get(draft.name.trim()).map(|known| known.entity_type.as_str());
        if kind.is_empty() && !draft.faults.is_empty() {
            return;
        }
        if kind.is_empty() {
            let instead = match stored {
                Some(stored) => format!("The thread has it as '{}'.", suggested(stored)),
                None => format!("Use {COMMON_TYPES}, or any other word that says what it is."),
            };
            errors.push(format!("{} has no entityType. {instead}", self.title(index)));
            return;
        }
        let instead = format!("Use a word or two, such as {COMMON_TYPES}.");
        if let Some(error) = label_error("Type", kind, self.limits.type_chars, &instead) {
            errors.push(error);
            return;
        }
        let capital = capitalised(kind);
        if let Some(stored) = stored {
            if capitalised(stored) != capital {
                warnings.push(format!(
                    "{} is in the thread as '{}' and keeps that type instead of '{}'. Use another name \
                     if it is another thing.",
                    self.title(index),
                    shown(stored),
                    shown(kind)
                ));
            }
            return;
        }
        if capital != kind {
            warnings
                .push(format!("Type '{kind}' is taken as '{capital}': types start with a capital letter."));
        }
        if kind.contains(char::is_whitespace) {
            warnings.push(format!("Type '{kind}' contains spaces. Use '{}' instead.", camel_case(kind)));
        }
        if let Some(common) = misspelt(&capital) {
            warnings.push(format!("Type '{kind}' looks like '{common}'. Use that if it is what you mean."));
        }
    }

    fn observation_number_error(&self, index: usize, group: &Group<'_>) -> Option<String> {
        let title = self.title(index);
        let most = self.limits.observations;
        match group.observations {
            0 => Some(format!(
                "{title} has no observations. Add at least 1: one fact about it as a short sentence."
            )),
            count if count > most => Some(format!(
                "{title} has {count} observations, at most {most}. Send the rest in a later call, or split \
                 it into several entities."
            )),
            _ => None,
        }
    }

    fn check_observations(
        &self,
        draft: &EntityDraft,
        errors: &mut Messages,
        warnings: &mut Messages,
    ) -> Vec<ObservationIssue> {
        let mut issues = Vec::new();
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for (at, text) in draft.observations.iter().take(self.limits.observations).enumerate() {
            let text = text.trim();
            if let Some(issue) = observation::issue(text, self.limits) {
                errors.push(observation::message(at, text, &issue));
                if issues.len() < super::MAX_MESSAGES_PER_ENTITY {
                    issues.push(ObservationIssue { observation: observation::beginning(text), issue });
                }
                continue;
            }
            if let Some(warning) = observation::warning(text) {
                warnings.push(observation::message(at, text, &warning));
            }
            let first = *seen.entry(text).or_insert(at);
            if first != at {
                let what = format!("The same as observation {first}; it is stored once.");
                warnings.push(observation::message(at, text, &what));
            }
        }
        issues
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

    fn is_orphan(&self, index: usize) -> bool {
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

    fn stored_type(&self, index: usize) -> String {
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
fn alike(name: &str) -> String {
    if name.is_ascii() { name.to_ascii_lowercase() } else { name.nfc().collect::<String>().to_lowercase() }
}

/// The common type that a slip of the pen away from this one. Of short ones only a letter too many or too few, or two in
/// the wrong order: «Node» is not meant to be «Code».
fn misspelt(kind: &str) -> Option<&'static str> {
    let kind = kind.to_lowercase();
    let sorted = |text: &str| {
        let mut letters: Vec<char> = text.chars().collect();
        letters.sort_unstable();
        letters
    };
    let is_near = |common: &&&str| {
        let common = common.to_lowercase();
        let (length, allowed) = (common.len(), if common.len() < 8 { 1 } else { 2 });
        // Others are no slips, and comparing takes quadratic time.
        if kind.len().abs_diff(length) > allowed || kind == common {
            return false;
        }
        let is_telling = length > 4 || kind.len() != length || sorted(&kind) == sorted(&common);
        is_telling && strsim::osa_distance(&kind, &common) <= allowed
    };
    COMMON_TYPES_LISTED.iter().find(is_near).copied()
}

fn capitalised(text: &str) -> String {
    let mut chars = text.trim().chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// `API Key` → `ApiKey`; words with capitals inside stay as they are.
fn camel_case(text: &str) -> String {
    let word = |word: &str| {
        let shouted = word.chars().nth(1).is_some() && !word.contains(char::is_lowercase);
        if shouted { capitalised(&word.to_lowercase()) } else { capitalised(word) }
    };
    text.split_whitespace().map(word).collect()
}
