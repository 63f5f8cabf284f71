//! Links between notes as relations of the knowledge graph.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::verbs::given;
use crate::client::Client;

/// How many links are written at a time.
pub(super) const LINKS_AT_ONCE: usize = 200;

/// A note refers to another, both by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NoteLink {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) kind: String,
}

/// Notes that refer to each other are entities of the graph with relations; gives what was refused.
pub(super) async fn write(client: &Client, links: &[NoteLink]) -> anyhow::Result<Vec<String>> {
    let mut refused = Vec::new();
    for links in links.chunks(LINKS_AT_ONCE) {
        let names: BTreeSet<&String> = links.iter().flat_map(|link| [&link.from, &link.to]).collect();
        let entities: Vec<Value> =
            names.iter().map(|name| json!({ "name": name, "entityType": "Note" })).collect();
        let relations: Vec<Value> = links
            .iter()
            .map(|link| json!({ "from": link.from, "to": link.to, "relationType": link.kind }))
            .collect();
        for (tool, arguments) in [
            ("create_entities", json!({ "entities": entities })),
            ("create_relations", json!({ "relations": relations })),
        ] {
            let answer = client.call(tool, given(arguments)).await?;
            if answer.is_refusal {
                refused.push(format!("links: {}", answer.reason()));
            }
        }
    }
    Ok(refused)
}
