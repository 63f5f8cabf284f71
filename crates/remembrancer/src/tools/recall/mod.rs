//! `recall` on the wire.

mod explained;
mod fit;
mod formats;
mod known;
mod output;

use futures::FutureExt;
use memory_core::chunk::count_tokens;
use memory_engine::recall::{Recall, RecallDraft, RecallRequest, Target};
use memory_language::asked_for::asks_for_order;
use schemars::JsonSchema;
use serde::Deserialize;

use self::fit::Written;
use self::output::{Output, ResultOut, output};
use super::{Answer, Call, Declared, Refusal, Registered, answer, arguments, register};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// What to look for, in words or as a question
    query: Option<String>,
    /// art_… for one text whole, evt_… for one event
    id: Option<String>,
    /// Only this kind: meeting, email, document, chat, transcript, note, preference, fact, decision, project, conversation
    context: Option<String>,
    /// 1 to 50, default 10
    limit: Option<i64>,
    /// Add related events (default true)
    expand: Option<bool>,
    include_events: Option<bool>,
    include_entities: Option<bool>,
    /// Most related events, 0 to 100, default 10
    graph_budget: Option<i64>,
    /// Alone: the turns in order. With query: search inside it
    conversation_id: Option<String>,
    source: Option<String>,
    author: Option<String>,
    /// 2026-03-01 or with time and offset
    date_from: Option<String>,
    date_to: Option<String>,
    /// All of these
    tags: Option<Vec<String>>,
    min_importance: Option<f64>,
    /// Any of these; without query lists such events: Commitment, Execution, Decision, Collaboration, QualityRisk, Feedback, Change, Stakeholder
    categories: Option<Vec<String>>,
    /// Lists a person's events
    owner: Option<String>,
    /// Lists commitments: open, overdue, done, cancelled
    state: Option<String>,
    include_superseded: Option<bool>,
    /// Bound on the whole answer, default 2000
    max_tokens: Option<i64>,
    /// concise (default) or full, with content
    detail: Option<String>,
    /// Show where each search arm ranked a result
    explain: Option<bool>,
    /// next_cursor of the page before
    cursor: Option<String>,
    /// Facts of this graph thread only
    #[serde(rename = "threadId")]
    thread_id: Option<String>,
    /// Turns or passages shown before and after each hit, 0 to 5, default 0
    neighbours: Option<i64>,
    /// Lowest score shown, default 0.15
    min_score: Option<f64>,
    /// Turns: oldest (default) or newest first
    order: Option<String>,
}

/// The answer as it is sent: within the bound that was asked for, or that a default answer has. Already written where its tokens
/// had to be counted.
fn shown(request: &RecallRequest, mut recall: Recall) -> (Output, Option<Written>) {
    let paging = std::mem::take(&mut recall.paging);
    let mut output = output(recall);
    fit::show_events(&mut output, request);
    let is_in_order = matches!(&request.target, Target::Query(query) if asks_for_order(query));
    output.ordered_by = is_in_order.then_some("date");
    let (mut output, mut written) = match fit::bound(request) {
        Some(bound) => fit::fit(output, bound, request, &paging),
        None => (output, None),
    };
    // What is shown was chosen by its score, and so is what the next page shows.
    if is_in_order {
        output.results.sort_by(|a, b| {
            let place = |result: &ResultOut| (result.conversation_id.clone(), result.turn_index);
            a.when.cmp(&b.when).then_with(|| place(a).cmp(&place(b)))
        });
        written = None;
    }
    (output, written)
}

/// The size of an answer as a client gets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerSize {
    /// Of its JSON.
    pub tokens: usize,
    /// How many results it shows, from the first.
    pub results: usize,
}

/// How large the answer that a client gets of a recall is.
pub fn answer_size(request: &RecallRequest, recall: Recall) -> serde_json::Result<AnswerSize> {
    let (output, written) = shown(request, recall);
    let text = match written {
        Some(written) => written.text,
        None => serde_json::to_value(&output)?.to_string(),
    };
    let tokens = count_tokens(&text);
    Ok(AnswerSize { tokens, results: output.results.len() })
}

pub(super) fn tool() -> Registered {
    let declared = Declared {
        name: "recall",
        title: "Recall",
        description: "Search memory by meaning and words, fetch by id or conversation, or list events by category, owner \
                      or state. Answers passages best first, with the events in them, related events of the same people \
                      and subjects, and entities.",
        read_only: true,
        destructive: false,
        idempotent: true,
    };
    register::<Input, Output>(&declared, |call, given| run(call, given).boxed())
}

async fn run(call: Call, given: rmcp::model::JsonObject) -> Result<Answer, Refusal> {
    let input: Input = arguments("recall", given)?;
    let request = RecallRequest::new(RecallDraft {
        query: input.query,
        id: input.id,
        context: input.context,
        limit: input.limit,
        expand: input.expand,
        include_events: input.include_events,
        include_entities: input.include_entities,
        graph_budget: input.graph_budget,
        conversation_id: input.conversation_id,
        source: input.source,
        author: input.author,
        date_from: input.date_from,
        date_to: input.date_to,
        tags: input.tags.unwrap_or_default(),
        min_importance: input.min_importance,
        categories: input.categories.unwrap_or_default(),
        include_superseded: input.include_superseded,
        max_tokens: input.max_tokens,
        detail: input.detail,
        explain: input.explain,
        cursor: input.cursor,
        graph: call.graph.reach(input.thread_id)?,
        neighbours: input.neighbours,
        min_score: input.min_score,
        order: input.order,
        owner: input.owner,
        state: input.state,
    })?;
    let recall = call.memory.recall(&call.namespace, &request).await?;
    match shown(&request, recall) {
        (_, Some(Written { structured, text })) => Ok(Answer { structured, text: Some(text), warning: None }),
        (output, None) => answer(&output),
    }
}
