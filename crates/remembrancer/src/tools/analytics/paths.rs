//! `find_relation_path`: the shortest chain of relations between two entities.

use memory_core::graph::as_given;
use memory_engine::graph::{RelationPath, path_depth};
use memory_language::text::cut;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::{Answer, Call, Refusal, answer, arguments};
use super::SHOWN_CHARS;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct PathInput {
    from: String,
    to: String,
    /// Most relations in the path, 1 to 20, default 5
    max_depth: Option<i64>,
    /// Default: default
    thread_id: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PathOutput {
    found: bool,
    /// Relations from `from` to `to`
    path: Vec<PathStep>,
    length: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PathStep {
    from: String,
    to: String,
    relation_type: String,
    /// forward, or backward when the path goes from `to` to `from`
    direction: &'static str,
    importance: f64,
}

pub(super) async fn path(call: Call, given: rmcp::model::JsonObject) -> Result<Answer, Refusal> {
    let input: PathInput = arguments("find_relation_path", given)?;
    let scope = call.graph.scope(input.thread_id)?;
    let depth = path_depth(input.max_depth)?;
    let found = call
        .memory
        .graph()
        .find_relation_path(&call.namespace, &scope, &input.from, &input.to, depth)
        .await?;
    let (steps, found, note) = match found {
        RelationPath::Found(steps) => (steps, true, None),
        RelationPath::NotFound(nameless) => (Vec::new(), false, Some(no_path(depth, &nameless))),
        RelationPath::Isolated(names) => (Vec::new(), false, Some(isolated(&names))),
        RelationPath::GaveUp => (
            Vec::new(),
            false,
            Some("Too many entities lie between them. Try a smaller maxDepth.".to_owned()),
        ),
    };
    let path: Vec<PathStep> = steps
        .into_iter()
        .map(|step| PathStep {
            from: cut(&step.relation.from, SHOWN_CHARS),
            to: cut(&step.relation.to, SHOWN_CHARS),
            relation_type: cut(&step.relation.relation_type, SHOWN_CHARS),
            importance: as_given(step.importance),
            direction: if step.is_forward { "forward" } else { "backward" },
        })
        .collect();
    answer(&PathOutput { found, length: path.len(), path, note })
}

fn no_path(depth: usize, nameless: &[String]) -> String {
    let none = format!("No path of at most {depth} relations.");
    if nameless.is_empty() {
        return format!("{none} Try a larger maxDepth.");
    }
    let named: Vec<String> = nameless.iter().map(|name| format!("'{}'", cut(name, 100))).collect();
    format!(
        "{none} A path does not go through names that no entity has, such as {}: make them with create_entities, or try a \
         larger maxDepth.",
        named.join(", ")
    )
}

/// No depth would find a path there.
fn isolated(names: &[String]) -> String {
    let named: Vec<String> = names.iter().map(|name| format!("'{}'", cut(name, 100))).collect();
    let has = if named.len() == 1 { "has" } else { "have" };
    format!("{} {has} no relation to another entity. Add some with create_relations.", named.join(" and "))
}
