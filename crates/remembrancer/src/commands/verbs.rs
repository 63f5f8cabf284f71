//! `remember`, `recall`, `forget` and `status` for people.

use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::print::{self, Style};
use crate::client::Client;
use crate::settings::Settings;

#[derive(Debug, Args)]
pub(crate) struct RememberArgs {
    /// The text's file; standard input when it is - or left out
    file: Option<PathBuf>,
    /// note, meeting, email, document, chat, transcript, preference, fact, decision, project or conversation
    #[arg(long)]
    context: Option<String>,
    #[arg(long)]
    title: Option<String>,
    #[arg(long)]
    author: Option<String>,
    /// Who took part; may be given several times
    #[arg(long = "participant")]
    participants: Vec<String>,
    /// When it was said or written: 2026-03-01 or 2026-03-01T10:00:00Z
    #[arg(long)]
    date: Option<String>,
    #[arg(long)]
    source: Option<String>,
    #[arg(long)]
    source_id: Option<String>,
    /// 0.0 to 1.0
    #[arg(long)]
    importance: Option<f64>,
    /// May be given several times
    #[arg(long = "tag")]
    tags: Vec<String>,
    #[arg(long)]
    conversation_id: Option<String>,
    #[arg(long)]
    turn_index: Option<i64>,
    /// user, assistant or system
    #[arg(long)]
    role: Option<String>,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RecallArgs {
    /// What to look for, in words or as a question
    query: Vec<String>,
    /// One text (`art_…`) or event (`evt_…`)
    #[arg(long)]
    id: Option<String>,
    /// The turns of a conversation; with a query, search inside it
    #[arg(long)]
    conversation_id: Option<String>,
    #[arg(long)]
    context: Option<String>,
    #[arg(long)]
    source: Option<String>,
    #[arg(long)]
    author: Option<String>,
    #[arg(long)]
    date_from: Option<String>,
    #[arg(long)]
    date_to: Option<String>,
    /// May be given several times; all must be there
    #[arg(long = "tag")]
    tags: Vec<String>,
    /// Commitment, Execution, Decision, …; may be given several times
    #[arg(long = "category")]
    categories: Vec<String>,
    #[arg(long)]
    min_importance: Option<f64>,
    /// Most results, 1 to 50
    #[arg(long, short = 'n')]
    limit: Option<i64>,
    /// Without related events
    #[arg(long)]
    no_expand: bool,
    #[arg(long)]
    include_superseded: bool,
    /// Show contents, not snippets
    #[arg(long)]
    full: bool,
    /// Show where each search arm ranked a result (with --json)
    #[arg(long)]
    explain: bool,
    /// Show what stands before and after each result, 0 to 5 turns or passages
    #[arg(long, value_name = "N")]
    neighbours: Option<i64>,
    /// Only facts of this thread of the graph
    #[arg(long, value_name = "ID")]
    thread: Option<String>,
    #[arg(long)]
    max_tokens: Option<i64>,
    #[arg(long)]
    cursor: Option<String>,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ForgetArgs {
    /// The text's id, `art_…`
    id: String,
    /// Really delete it
    #[arg(long)]
    confirm: bool,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// How far the extraction of this text is
    artifact_id: Option<String>,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn remember(settings: &Settings, args: RememberArgs) -> anyhow::Result<ExitCode> {
    let content = match &args.file {
        Some(file) if file.as_os_str() != "-" => std::fs::read_to_string(file)
            .with_context(|| format!("{} cannot be read as text", file.display()))?,
        _ => {
            let mut content = String::new();
            std::io::stdin().read_to_string(&mut content).context("standard input cannot be read as text")?;
            content
        }
    };
    let arguments = given(json!({
        "content": content, "context": args.context, "title": args.title, "author": args.author,
        "participants": args.participants, "date": args.date, "source": args.source, "source_id": args.source_id,
        "importance": args.importance, "tags": args.tags, "conversation_id": args.conversation_id,
        "turn_index": args.turn_index, "role": args.role,
    }));
    show(settings, "remember", arguments, args.json, print::remembered).await
}

pub(crate) async fn recall(settings: &Settings, args: RecallArgs) -> anyhow::Result<ExitCode> {
    let query = args.query.join(" ");
    let arguments = given(json!({
        "query": (!query.is_empty()).then_some(query), "id": args.id, "conversation_id": args.conversation_id,
        "context": args.context, "source": args.source, "author": args.author, "date_from": args.date_from,
        "date_to": args.date_to, "tags": args.tags, "categories": args.categories,
        "min_importance": args.min_importance, "limit": args.limit, "expand": !args.no_expand,
        "include_superseded": args.include_superseded, "detail": args.full.then_some("full"),
        "explain": args.explain, "max_tokens": args.max_tokens, "cursor": args.cursor,
        "neighbours": args.neighbours, "threadId": args.thread,
    }));
    show(settings, "recall", arguments, args.json, print::recalled).await
}

pub(crate) async fn forget(settings: &Settings, args: ForgetArgs) -> anyhow::Result<ExitCode> {
    let arguments = given(json!({ "id": args.id, "confirm": args.confirm }));
    show(settings, "forget", arguments, args.json, print::forgotten).await
}

pub(crate) async fn status(settings: &Settings, args: StatusArgs) -> anyhow::Result<ExitCode> {
    let arguments = given(json!({ "artifact_id": args.artifact_id }));
    show(settings, "status", arguments, args.json, print::status).await
}

/// The arguments that have a value.
pub(super) fn given(arguments: Value) -> JsonObject {
    let Value::Object(mut arguments) = arguments else { return JsonObject::new() };
    arguments.retain(|_, value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty()));
    arguments
}

pub(super) async fn show(
    settings: &Settings,
    tool: &'static str,
    arguments: JsonObject,
    as_json: bool,
    readable: fn(&Value, &Style) -> String,
) -> anyhow::Result<ExitCode> {
    let answer = Client::connect(settings).await?.call(tool, arguments).await?;
    if as_json {
        println!("{}", serde_json::to_string_pretty(&answer.value)?);
    } else if !answer.is_refusal {
        print!("{}", readable(&answer.value, &Style::of_stdout()));
    }
    if answer.is_refusal {
        let confirm = if tool == "forget" {
            answer.reason().replace("confirm=true", "--confirm")
        } else {
            answer.reason()
        };
        eprintln!("remembrancer: {confirm}");
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}
