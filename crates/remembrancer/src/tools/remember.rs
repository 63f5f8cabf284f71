//! `remember` on the wire.

use futures::FutureExt;
use memory_core::artifact::Draft;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answer, Call, Declared, Refusal, Registered, answer, arguments, register};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The text to keep, whole and self-contained
    content: String,
    /// note (default), meeting, email, document, chat, transcript, preference, fact, decision, project or conversation
    context: Option<String>,
    /// Where it comes from, e.g. gmail, slack, manual
    source: Option<String>,
    /// Id at the source; new text under the same source and id supersedes the old
    source_id: Option<String>,
    /// 0.0 to 1.0, default 0.5
    importance: Option<f64>,
    title: Option<String>,
    author: Option<String>,
    participants: Option<Vec<String>>,
    /// When it was said or written: 2026-03-01 or 2026-03-01T10:00:00Z
    date: Option<String>,
    /// Needed with context=conversation
    conversation_id: Option<String>,
    /// Needed with context=conversation, from 0
    turn_index: Option<i64>,
    /// user, assistant or system
    role: Option<String>,
    /// done:evt_… or cancelled:evt_… ends that commitment, withdrawn:art_… that text's directive
    tags: Option<Vec<String>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    id: String,
    summary: String,
    events_queued: bool,
    context: String,
    is_chunked: bool,
    num_chunks: usize,
    token_count: usize,
    /// created or unchanged
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    job_id: Option<String>,
    /// pending: found by words now, by meaning soon
    #[serde(skip_serializing_if = "Option::is_none")]
    embedding: Option<&'static str>,
    /// The text that was at this place before
    #[serde(skip_serializing_if = "Option::is_none")]
    supersedes: Option<String>,
}

pub(super) fn tool() -> Registered {
    let declared = Declared {
        name: "remember",
        title: "Remember",
        description: "Store a text for later sessions: a note, fact, preference, decision, e-mail, meeting, document or \
                      chat turn. The same text at the same place is stored once. People, commitments, decisions and \
                      risks are extracted from it in the background.",
        read_only: false,
        destructive: false,
        idempotent: true,
    };
    register::<Input, Output>(&declared, |call, given| run(call, given).boxed())
}

async fn run(call: Call, given: rmcp::model::JsonObject) -> Result<Answer, Refusal> {
    let input: Input = arguments("remember", given)?;
    let draft = Draft {
        content: input.content,
        context: input.context.filter(|c| !c.trim().is_empty()),
        source: input.source,
        source_id: input.source_id,
        importance: input.importance,
        title: input.title,
        author: input.author,
        participants: input.participants.unwrap_or_default(),
        date: input.date,
        conversation_id: input.conversation_id,
        turn_index: input.turn_index,
        role: input.role.filter(|r| !r.trim().is_empty()),
        tags: input.tags.unwrap_or_default(),
    };
    let remembered = if call.in_bulk {
        call.memory.remember_in_bulk(&call.namespace, draft).await?
    } else {
        call.memory.remember(&call.namespace, draft).await?
    };
    answer(&Output {
        id: remembered.id.0,
        summary: remembered.summary,
        events_queued: remembered.job_id.is_some(),
        context: remembered.context.to_string(),
        is_chunked: remembered.num_chunks > 0,
        num_chunks: remembered.num_chunks,
        token_count: remembered.token_count,
        status: if remembered.is_created { "created" } else { "unchanged" },
        job_id: remembered.job_id.map(|id| id.to_string()),
        embedding: remembered.is_embedding_pending.then_some("pending"),
        supersedes: remembered.supersedes.map(|id| id.0),
    })
}
