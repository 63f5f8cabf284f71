//! Who is who, over the private socket: what an operator asks and decides, answered as JSON in frames.

use std::io;

use memory_core::entity::EntityType;
use memory_core::id::Namespace;
use memory_engine::Memory;
use memory_engine::entities::{Decided, DoubtfulPair, EntityFilter};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncWrite, AsyncWriteExt};

use crate::tools::Toolbox;
use crate::transfer::Frame;

/// How much of an answer one frame holds, in bytes.
const PART_BYTES: usize = 64 * 1024;

/// What an operator wants of the entities of a namespace.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(crate) enum Asked {
    List {
        entity_type: Option<String>,
        like: Option<String>,
        /// Only pairs that may be the same.
        review: bool,
        limit: i64,
    },
    Merge {
        keep: i64,
        other: i64,
        different_addresses: bool,
    },
    Split {
        id: i64,
    },
    Reject {
        a: i64,
        b: i64,
        undo: bool,
    },
}

/// Answers in parts, then says that it is complete.
pub(crate) async fn answer(
    to: &mut (impl AsyncWrite + Unpin),
    toolbox: &Toolbox,
    namespace: &Namespace,
    asked: &Asked,
) -> io::Result<()> {
    let answered = async {
        let memory = toolbox.memory().await.map_err(|readiness| anyhow::anyhow!("{readiness}"))?;
        work(&memory, namespace, asked).await
    };
    match answered.await {
        Ok(value) => {
            for part in value.to_string().as_bytes().chunks(PART_BYTES) {
                Frame::Part(part.to_vec()).send(to).await?;
            }
            Frame::Done(Value::Null).send(to).await?;
        }
        Err(error) => Frame::Failed(format!("{error:#}")).send(to).await?,
    }
    to.flush().await
}

async fn work(memory: &Memory, ns: &Namespace, asked: &Asked) -> anyhow::Result<Value> {
    Ok(match asked {
        Asked::List { entity_type, like, review, limit } => {
            let entity_type = entity_type.as_deref().and_then(EntityType::parse);
            let filter = EntityFilter { entity_type, like: like.clone(), limit: *limit };
            if *review {
                let (pairs, total) = memory.list_doubtful(ns, &filter).await?;
                json!({ "pairs": pairs.iter().map(pair).collect::<Vec<_>>(), "total": total })
            } else {
                let (entities, total) = memory.list_known(ns, &filter).await?;
                json!({ "entities": entities, "total": total })
            }
        }
        Asked::Merge { keep, other, different_addresses } => {
            let done = memory.merge_known(ns, *keep, *other, *different_addresses).await?;
            decided("merged", &done)
        }
        Asked::Split { id } => decided("split", &memory.split_known(ns, *id).await?),
        Asked::Reject { a, b, undo: false } => decided("rejected", &memory.reject_same(ns, *a, *b).await?),
        Asked::Reject { a, b, undo: true } => decided("reopened", &memory.reopen_same(ns, *a, *b).await?),
    })
}

fn decided(what: &str, done: &Decided) -> Value {
    let entity = |(id, name): &(i64, String)| json!({ "id": id, "name": name });
    json!({ "decided": what, "first": entity(&done.first), "second": entity(&done.second) })
}

fn pair(pair: &DoubtfulPair) -> Value {
    json!({
        "score": (f64::from(pair.score) * 100.0).round() / 100.0,
        "reasons": pair.reasons,
        "type": pair.entity_type,
        "status": "possibly_same",
        "needs_review": true,
        "a": { "id": pair.a_id, "name": pair.a_name, "mention_count": pair.a_mentions },
        "b": { "id": pair.b_id, "name": pair.b_name, "mention_count": pair.b_mentions },
    })
}
