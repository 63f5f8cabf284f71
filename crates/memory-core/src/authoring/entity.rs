//! Rules for an entity as a whole.

use std::collections::HashMap;

use memory_language::text::cut;

use super::request::{Group, Request, alike, capitalised};
use super::{
    EntityCheck, EntityDraft, Messages, ObservationIssue, label_error, observation, ratio_error, relation,
    shown, suggested,
};

/// Types to suggest; any other is as good.
const COMMON_TYPES: &str = "Person, Document, File, Code, Task, Service, Database or Configuration";
/// The same, to compare with.
const COMMON_TYPES_LISTED: [&str; 8] =
    ["Person", "Document", "File", "Code", "Task", "Service", "Database", "Configuration"];

impl Request<'_> {
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
}

/// The common type that a slip of the pen away from this one. Of short ones only a letter too many or too few, or two in
/// the wrong order: "Node" is not meant to be "Code".
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

/// `API Key` → `ApiKey`; words with capitals inside stay as they are.
fn camel_case(text: &str) -> String {
    let word = |word: &str| {
        let shouted = word.chars().nth(1).is_some() && !word.contains(char::is_lowercase);
        if shouted { capitalised(&word.to_lowercase()) } else { capitalised(word) }
    };
    text.split_whitespace().map(word).collect()
}
