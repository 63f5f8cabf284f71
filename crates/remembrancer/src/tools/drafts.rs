//! What save_memory and validate_memory were sent, read item by item: whatever does not fit is said with its place,
//! all of it at once, and the rest is still held against the rules.

use memory_core::authoring::{Checked, EntityCheck, EntityDraft, RelationDraft};
use memory_language::similarity::closest_names;
use memory_language::text::cut;
use rmcp::model::JsonObject;
use serde_json::Value;

const CALL_KEYS: [&str; 2] = ["entities", "threadId"];
const ENTITY_KEYS: [&str; 7] =
    ["name", "entityType", "observations", "relations", "confidence", "importance", "isRoot"];
const RELATION_KEYS: [&str; 3] = ["targetEntity", "relationType", "importance"];
/// What models write in the place of a key, by its letters in lower case.
const ENTITY_MISNOMERS: [(&str, &str); 9] = [
    ("type", "entityType"),
    ("kind", "entityType"),
    ("entityname", "name"),
    ("title", "name"),
    ("observation", "observations"),
    ("contents", "observations"),
    ("facts", "observations"),
    ("relation", "relations"),
    ("root", "isRoot"),
];
const RELATION_MISNOMERS: [(&str, &str); 7] = [
    ("target", "targetEntity"),
    ("to", "targetEntity"),
    ("targetname", "targetEntity"),
    ("entity", "targetEntity"),
    ("type", "relationType"),
    ("relation", "relationType"),
    ("kind", "relationType"),
];
const WANTED_ENTITY: &str =
    "an object { name: 'Portfolio', entityType: 'Document', observations: ['Has 2 tables'], relations: [] }";
const WANTED_RELATION: &str = "an object { targetEntity: 'Alice', relationType: 'updated by' }";
const WANTED_SHARE: &str = "a number from 0 to 1, for example 0.8";

/// A call as far as it can be read.
#[derive(Debug, Default)]
pub(super) struct Sent {
    pub(super) thread_id: String,
    pub(super) drafts: Vec<EntityDraft>,
    /// What is wrong with the call as a whole.
    pub(super) faults: Vec<String>,
}

impl Sent {
    pub(super) fn read(given: &JsonObject) -> Self {
        let mut sent = Self::default();
        sent.faults.extend(unknown_keys("", given, &CALL_KEYS, &[]));
        match given.get("threadId") {
            Some(Value::String(thread)) if !thread.trim().is_empty() => sent.thread_id.clone_from(thread),
            Some(Value::String(_)) => sent.faults.push(thread_fault("it is empty")),
            Some(other) => sent.faults.push(thread_fault(&described(other))),
            None => sent.faults.push(thread_fault("it is missing")),
        }
        match given.get("entities") {
            Some(Value::Array(entities)) => {
                sent.drafts = entities.iter().enumerate().map(|(n, entity)| draft(n, entity)).collect();
            }
            Some(other) => {
                sent.faults.push(unfit(
                    "entities",
                    other,
                    &format!("a list of entities, each {WANTED_ENTITY}"),
                ));
            }
            None => sent
                .faults
                .push(format!("entities: it is missing. Send a list of entities, each {WANTED_ENTITY}.")),
        }
        sent
    }

    /// What can be said without looking at the thread.
    pub(super) fn unread(&self) -> Checked {
        let unread = self.drafts.iter().enumerate().filter(|(_, draft)| !draft.faults.is_empty());
        let check = |(index, draft): (usize, &EntityDraft)| EntityCheck {
            index,
            name: draft.name.trim().to_owned(),
            entity_type: draft.entity_type.trim().to_owned(),
            errors: draft
                .faults
                .iter()
                .take(memory_core::authoring::MAX_MESSAGES_PER_ENTITY)
                .cloned()
                .collect(),
            ..EntityCheck::default()
        };
        Checked { entities: unread.map(check).collect(), ..Checked::default() }
    }
}

fn thread_fault(what: &str) -> String {
    format!(
        "threadId: {what}. Name the project or conversation that the graph belongs to, or send 'default'."
    )
}

fn draft(n: usize, entity: &Value) -> EntityDraft {
    let at = format!("entities[{n}]");
    let Value::Object(entity) = entity else {
        return EntityDraft { faults: vec![unfit(&at, entity, WANTED_ENTITY)], ..EntityDraft::default() };
    };
    let mut faults = unknown_keys(&at, entity, &ENTITY_KEYS, &ENTITY_MISNOMERS);
    let mut fields = Fields { at: &at, object: entity, faults: &mut faults };
    let mut draft = EntityDraft {
        name: fields.text("name"),
        entity_type: fields.text("entityType"),
        confidence: fields.share("confidence"),
        importance: fields.share("importance"),
        is_root: fields.truth("isRoot"),
        ..EntityDraft::default()
    };
    for (m, observation) in fields.list("observations", "a list of texts, each one fact").iter().enumerate() {
        match observation {
            Value::String(text) => draft.observations.push(text.clone()),
            other => {
                let wanted = "one fact as a text, or leave it out";
                fields.faults.push(unfit(&format!("{at}.observations[{m}]"), other, wanted));
            }
        }
    }
    let relations = fields.list("relations", &format!("a list of relations, each {WANTED_RELATION}"));
    let relations = relations.iter().enumerate().map(|(m, relation)| {
        let (relation, more) = relation_draft(&format!("{at}.relations[{m}]"), relation);
        fields.faults.extend(more);
        relation
    });
    draft.relations = relations.collect();
    draft.faults = faults;
    draft
}

fn relation_draft(at: &str, relation: &Value) -> (RelationDraft, Vec<String>) {
    let Value::Object(relation) = relation else {
        let unread = RelationDraft { is_unread: true, ..RelationDraft::default() };
        return (unread, vec![unfit(at, relation, WANTED_RELATION)]);
    };
    let mut faults = unknown_keys(at, relation, &RELATION_KEYS, &RELATION_MISNOMERS);
    let mut fields = Fields { at, object: relation, faults: &mut faults };
    let draft = RelationDraft {
        target: fields.text("targetEntity"),
        relation_type: fields.text("relationType"),
        importance: fields.share("importance"),
        is_unread: false,
    };
    (RelationDraft { is_unread: !faults.is_empty(), ..draft }, faults)
}

/// The fields of an object, which report what does not fit.
struct Fields<'a> {
    at: &'a str,
    object: &'a JsonObject,
    faults: &'a mut Vec<String>,
}

impl<'a> Fields<'a> {
    fn unfit(&mut self, key: &str, value: &Value, wanted: &str) {
        self.faults.push(unfit(&format!("{}.{key}", self.at), value, wanted));
    }

    fn text(&mut self, key: &str) -> String {
        match self.object.get(key) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => {
                self.unfit(key, other, "a text");
                String::new()
            }
        }
    }

    fn share(&mut self, key: &str) -> Option<f64> {
        match self.object.get(key) {
            None | Some(Value::Null) => None,
            Some(Value::Number(number)) => number.as_f64(),
            Some(other) => {
                self.unfit(key, other, WANTED_SHARE);
                None
            }
        }
    }

    fn truth(&mut self, key: &str) -> bool {
        match self.object.get(key) {
            None | Some(Value::Null) => false,
            Some(Value::Bool(truth)) => *truth,
            Some(other) => {
                self.unfit(key, other, "true or false");
                false
            }
        }
    }

    fn list(&mut self, key: &str, wanted: &str) -> &'a [Value] {
        match self.object.get(key) {
            None | Some(Value::Null) => &[],
            Some(Value::Array(list)) => list,
            Some(other) => {
                self.unfit(key, other, wanted);
                &[]
            }
        }
    }
}

fn unfit(at: &str, value: &Value, wanted: &str) -> String {
    format!("{at}: {}. Send {wanted}.", described(value))
}

fn described(value: &Value) -> String {
    match value {
        Value::Null => "it is null".to_owned(),
        Value::Bool(truth) => format!("{truth} is neither a text nor a number"),
        Value::Number(number) => format!("{number} is a number"),
        Value::String(text) => format!("'{}' is a text", cut(&text.replace('\0', "␀"), 40)),
        Value::Array(_) => "it is a list".to_owned(),
        Value::Object(_) => "it is an object".to_owned(),
    }
}

/// A key that is not known would be lost without a word.
fn unknown_keys(at: &str, object: &JsonObject, keys: &[&str], misnomers: &[(&str, &str)]) -> Vec<String> {
    let unknown = object.keys().filter(|key| !keys.contains(&key.as_str()));
    let fault = |key: &String| {
        let letters: String =
            key.chars().filter(|c| c.is_alphanumeric()).take(40).flat_map(char::to_lowercase).collect();
        let same = keys.iter().copied().find(|known| known.to_lowercase() == letters);
        let misnomer = || misnomers.iter().find(|(wrong, _)| *wrong == letters).map(|(_, right)| *right);
        let near = || closest_names(&letters, keys.iter().copied(), 1).first().copied();
        let place = if at.is_empty() { String::new() } else { format!("{at}.") };
        let shown = cut(&key.replace('\0', "␀"), 40);
        match same.or_else(misnomer).or_else(near) {
            Some(right) => format!("{place}{shown}: there is no such key. Did you mean {right}?"),
            None => {
                format!("{place}{shown}: there is no such key. Leave it out; there are {}.", keys.join(", "))
            }
        }
    };
    unknown.map(fault).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn sent(given: Value) -> Sent {
        let Value::Object(given) = given else { panic!("an object") };
        Sent::read(&given)
    }

    #[test]
    fn everything_that_does_not_fit_is_said_with_its_place() {
        let sent = sent(json!({"entities": [
            5,
            {"name": "A", "entityType": "Thing", "confidence": "high", "isRoot": "yes", "observations": ["x", null],
             "relations": [{"target": "B", "type": "uses"}, "B"]},
            {"name": "B", "entityType": "Thing", "observations": ["Some fact"], "relations": [], "isRoot": true},
        ], "thread": "t"}));
        assert_eq!(
            sent.faults,
            [
                "thread: there is no such key. Did you mean threadId?",
                "threadId: it is missing. Name the project or conversation that the graph belongs to, or send 'default'.",
            ]
        );
        assert!(sent.drafts[0].faults[0].starts_with("entities[0]: 5 is a number. Send an object { name:"));
        assert_eq!(
            sent.drafts[1].faults,
            [
                "entities[1].confidence: 'high' is a text. Send a number from 0 to 1, for example 0.8.",
                "entities[1].isRoot: 'yes' is a text. Send true or false.",
                "entities[1].observations[1]: it is null. Send one fact as a text, or leave it out.",
                "entities[1].relations[0].target: there is no such key. Did you mean targetEntity?",
                "entities[1].relations[0].type: there is no such key. Did you mean relationType?",
                "entities[1].relations[1]: 'B' is a text. Send an object { targetEntity: 'Alice', relationType: \
                 'updated by' }.",
            ]
        );
        assert!(sent.drafts[2].faults.is_empty() && sent.drafts[2].is_root);
        assert_eq!(sent.unread().entities.len(), 2);
    }

    #[test]
    fn keys_in_another_spelling_get_the_right_one() {
        for (key, right) in
            [("entity_type", "entityType"), ("Observation", "observations"), ("obsrvations", "observations")]
        {
            let fault = &sent(json!({"entities": [{key: "x"}], "threadId": "t"})).drafts[0].faults[0];
            assert!(fault.ends_with(&format!("Did you mean {right}?")), "{fault}");
        }
        let fault = &sent(json!({"entities": [{"colour": "x"}], "threadId": "t"})).drafts[0].faults[0];
        assert!(fault.contains("Leave it out; there are name, entityType"), "{fault}");
    }

    #[test]
    fn an_empty_thread_id_is_refused() {
        for thread in [json!(""), json!("  "), json!([1])] {
            let faults = sent(json!({"entities": [], "threadId": thread})).faults;
            assert!(faults.len() == 1 && faults[0].starts_with("threadId: it is "), "{faults:?}");
        }
    }
}
