//! What of a call goes into the audit: who, which tool, which ids, which outcome. No text.

use std::collections::BTreeSet;

use memory_core::id::Namespace;
use memory_engine::Memory;
use memory_engine::audit::{Audit, Entry};
use rmcp::model::JsonObject;
use serde_json::Value;

use super::Registered;
use super::measured::Outcome;
use crate::access::Caller;

/// The most ids that one entry has.
const IDS_MAX: usize = 1_000;
/// The longest id.
const ID_MAX_BYTES: usize = 80;

/// What is called, and with what.
pub(super) struct Called<'a> {
    pub(super) action: &'a str,
    pub(super) is_change: bool,
    pub(super) given: Option<&'a JsonObject>,
}

impl<'a> Called<'a> {
    pub(super) fn tool(called: &'a Registered, given: &'a JsonObject) -> Self {
        let is_read_only = called.tool.annotations.as_ref().and_then(|a| a.read_only_hint).unwrap_or(false);
        Self { action: &called.tool.name, is_change: !is_read_only, given: Some(given) }
    }
}

/// A call that is recorded when it has ended.
pub(super) struct Auditing {
    audit: Audit,
    entry: Entry,
}

impl Auditing {
    /// `None` where the call is not recorded: without a key there is nobody to tell from others.
    pub(super) fn begin(
        memory: &Memory,
        caller: &Caller,
        namespace: &Namespace,
        called: &Called<'_>,
    ) -> Option<Self> {
        let (key, who) = match caller {
            Caller::Owner | Caller::Anonymous { .. } => return None,
            Caller::Token => (None, "REMEMBRANCER_TOKEN".to_owned()),
            Caller::Key(key, grant) => (Some(key.id.clone()), grant.name.clone()),
        };
        let audit = memory.audit();
        if !audit.records(called.is_change) {
            return None;
        }
        let entry = Entry {
            key,
            who,
            namespace: Some(namespace.clone()),
            action: called.action.to_owned(),
            ids: called.given.map(|given| found_by(|found| collect_fields(given, found))).unwrap_or_default(),
            outcome: String::new(),
        };
        Some(Self { audit: audit.clone(), entry })
    }

    pub(super) async fn end(self, outcome: Outcome, answer: Option<&Value>) {
        let Self { audit, mut entry } = self;
        outcome.as_str().clone_into(&mut entry.outcome);
        entry.ids.extend(answer.map(ids_in).unwrap_or_default());
        entry.ids.sort_unstable();
        entry.ids.dedup();
        entry.ids.truncate(IDS_MAX);
        audit.record(&entry).await;
    }
}

/// The ids of texts, events and observations that are values of fields for ids. What merely looks like one within a text is
/// content.
fn ids_in(value: &Value) -> Vec<String> {
    found_by(|found| collect(value, false, found))
}

fn found_by(collect: impl FnOnce(&mut BTreeSet<String>)) -> Vec<String> {
    let mut found = BTreeSet::new();
    collect(&mut found);
    found.into_iter().collect()
}

fn collect(value: &Value, is_id: bool, found: &mut BTreeSet<String>) {
    match value {
        Value::String(text) if is_id && is_well_formed(text) && found.len() < IDS_MAX => {
            found.insert(text.clone());
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, is_id, found)),
        Value::Object(fields) => collect_fields(fields, found),
        _ => {}
    }
}

fn collect_fields(fields: &JsonObject, found: &mut BTreeSet<String>) {
    for (name, value) in fields {
        collect(value, name == "id" || name.ends_with("_id") || name.ends_with("Id"), found);
    }
}

fn is_well_formed(text: &str) -> bool {
    let rest = ["art_", "evt_", "obs_"].iter().find_map(|prefix| text.strip_prefix(prefix));
    text.len() <= ID_MAX_BYTES
        && rest.is_some_and(|rest| {
            !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_ids_are_taken_and_only_from_fields_for_ids() {
        let answer = json!({
            "id": "art_0123456789ab",
            "content": "art_ffffffffffff",
            "results": [{"id": "evt_1", "title": "evt_2", "artifact_id": "art_2"}, {"observationId": "obs_3-4"}],
            "conversation_id": "art_ 5 is what we talked about",
            "source_id": "the secret plan",
            "event_id": 7,
        });
        assert_eq!(ids_in(&answer), ["art_0123456789ab", "art_2", "evt_1", "obs_3-4"]);
        assert!(ids_in(&json!({"id": format!("art_{}", "a".repeat(100))})).is_empty());
    }
}
