//! `remember`, `recall`, `forget` and `status` for people.

use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::Args;
use memory_core::artifact::CONTENT_MAX_CHARS;
use memory_core::id::AnyId;
use memory_language::text::cut;
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::print::{self, Style};
use super::text_file;
use crate::client::{Answer, Client};
use crate::command_line::{number, whole_number};
use crate::settings::Settings;

/// How long `remember --wait` waits, and between two looks.
const WAIT_MAX: Duration = Duration::from_secs(600);
/// So much is shown of a text that was given as the name of a file.
const SHOWN_MAX_CHARS: usize = 200;
const WAIT_PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug, Args)]
pub(crate) struct RememberArgs {
    /// The text's file; standard input when it is - or left out
    file: Option<PathBuf>,
    /// note, meeting, email, document, chat, transcript, preference, fact, decision, project or conversation
    #[arg(long, value_name = "KIND")]
    context: Option<String>,
    /// Its title; else its first sentence is shown
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Who wrote or said it
    #[arg(long, value_name = "NAME")]
    author: Option<String>,
    /// Who took part; may be given several times
    #[arg(long = "participant", value_name = "NAME")]
    participants: Vec<String>,
    /// When it was said or written: 2026-03-01 or 2026-03-01T10:00:00Z
    #[arg(long)]
    date: Option<String>,
    /// Where it comes from, such as gmail or slack
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    /// Its id at the source: a new text under the same source and id supersedes the old
    #[arg(long, value_name = "ID")]
    source_id: Option<String>,
    /// How much it matters, 0.0 to 1.0; 0.5 when left out
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    importance: Option<f64>,
    /// A word to find it by; may be given several times
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// The conversation that it is a turn of, with --context conversation
    #[arg(long, value_name = "ID")]
    conversation_id: Option<String>,
    /// Which turn of the conversation, from 0
    #[arg(long, value_name = "N", value_parser = whole_number)]
    turn_index: Option<i64>,
    /// Who speaks in a conversation: user, assistant or system
    #[arg(long)]
    role: Option<String>,
    /// Wait until its events are extracted
    #[arg(long)]
    wait: bool,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RecallArgs {
    /// What to look for, in words or as a question; an id alone is shown as with --id
    query: Vec<String>,
    /// One text (`art_…`) or event (`evt_…`)
    #[arg(long)]
    id: Option<String>,
    /// The turns of a conversation; with a query, search inside it
    #[arg(long, value_name = "ID")]
    conversation_id: Option<String>,
    /// Only this kind: note, meeting, email, document, chat, transcript, preference, fact, decision, project, conversation
    #[arg(long, value_name = "KIND")]
    context: Option<String>,
    /// Only what comes from there
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    /// Only what this person wrote or said
    #[arg(long, value_name = "NAME")]
    author: Option<String>,
    /// Only from this day or time on: 2026-03-01 or 2026-03-01T10:00:00Z
    #[arg(long, value_name = "DATE")]
    date_from: Option<String>,
    /// Only up to this day or time
    #[arg(long, value_name = "DATE")]
    date_to: Option<String>,
    /// Only what has this tag; may be given several times, all must be there
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Commitment, Execution, Decision, Collaboration, QualityRisk, Feedback, Change or Stakeholder; may be given several times
    #[arg(long = "category", value_name = "CATEGORY")]
    categories: Vec<String>,
    /// Only what matters this much, 0.0 to 1.0
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    min_importance: Option<f64>,
    /// Also texts that newer ones have superseded
    #[arg(long)]
    include_superseded: bool,
    /// Most results, 1 to 50; 10 when left out
    #[arg(long, short = 'n', value_name = "N", value_parser = whole_number)]
    limit: Option<i64>,
    /// Go on where a page ended: what it said to give here
    #[arg(long)]
    cursor: Option<String>,
    /// Show contents, not snippets
    #[arg(long)]
    full: bool,
    /// Show the text before and after each result, 0 to 5 turns or passages
    #[arg(long, value_name = "N", value_parser = whole_number)]
    neighbours: Option<i64>,
    /// Leave out results that score less, 0 to 1; 0.15 when left out, 0 shows all
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    min_score: Option<f64>,
    /// Of a conversation: its last turns first
    #[arg(long)]
    newest_first: bool,
    /// Most tokens of the answer
    #[arg(long, value_name = "N", value_parser = whole_number)]
    max_tokens: Option<i64>,
    /// Without the events of the results
    #[arg(long)]
    no_events: bool,
    /// Without the people and things of the results
    #[arg(long)]
    no_entities: bool,
    /// Without related events
    #[arg(long)]
    no_expand: bool,
    /// Most related events, 0 to 100; 10 when left out
    #[arg(long, value_name = "N", value_parser = whole_number)]
    graph_budget: Option<i64>,
    /// Only facts of this thread of the knowledge graph
    #[arg(long, value_name = "ID")]
    thread: Option<String>,
    /// Show where each search arm ranked a result, and what that adds to its score
    #[arg(long)]
    explain: bool,
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
#[command(
    after_help = "Ends with 0 if the memory is healthy, with 1 if it is not or the text is not there, with 2 if the \
                        command is wrong."
)]
pub(crate) struct StatusArgs {
    /// How far this text is: its events and its vectors
    artifact_id: Option<String>,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn remember(settings: &Settings, args: RememberArgs) -> anyhow::Result<ExitCode> {
    let content = content(args.file.as_deref())?;
    let arguments = given(json!({
        "content": content, "context": args.context, "title": args.title, "author": args.author,
        "participants": args.participants, "date": args.date, "source": args.source, "source_id": args.source_id,
        "importance": args.importance, "tags": args.tags, "conversation_id": args.conversation_id,
        "turn_index": args.turn_index, "role": args.role,
    }));
    let client = Client::connect(settings).await?;
    let mut answer = client.call("remember", arguments).await?;
    let failure = match answer.value["id"].as_str().map(str::to_owned) {
        Some(id) if args.wait && !answer.is_refusal => {
            let job = extracted(&client, &id).await?;
            answer.value["event_count"] = job["event_count"].clone();
            (job["status"] == "FAILED").then(|| {
                let code = job["last_error_code"].as_str().unwrap_or_default();
                format!("{id} is remembered, but its extraction failed ({code}): see `remembrancer jobs list --state failed`")
            })
        }
        _ => None,
    };
    let code = print(&answer, args.json, print::remembered)?;
    let Some(failure) = failure else { return Ok(code) };
    bail!(failure)
}

/// The text of a file, or of standard input.
fn content(file: Option<&Path>) -> anyhow::Result<String> {
    if let Some(file) = file.filter(|file| file.as_os_str() != "-") {
        let bytes = std::fs::read(file).with_context(|| {
            let shown = file.display().to_string();
            // A text where a file's name belongs.
            let is_text = !file.exists() && shown.contains(char::is_whitespace);
            let hint = if is_text {
                ": a text itself comes by standard input, `echo \"…\" | remembrancer remember`"
            } else {
                ""
            };
            format!("{} cannot be read{hint}", cut(&shown, SHOWN_MAX_CHARS))
        })?;
        let decoded = text_file::decode(bytes).map_err(|why| anyhow::anyhow!("{}: {why}", file.display()))?;
        let count = decoded.text.chars().count();
        if count > CONTENT_MAX_CHARS {
            bail!(
                "{} has {count} characters, the limit is {CONTENT_MAX_CHARS}: split the file",
                file.display()
            );
        }
        if let Some(note) = decoded.note() {
            eprintln!("note: {}: {note}", file.display());
        }
        return Ok(decoded.text);
    }
    if std::io::stdin().is_terminal() {
        eprintln!("Reading the text from here until Ctrl-D (Ctrl-C gives up).");
    }
    let mut content = String::new();
    std::io::stdin().read_to_string(&mut content).context("standard input cannot be read as text")?;
    Ok(content)
}

/// Waits until no job is open for the text; gives what status says of it.
async fn extracted(client: &Client, id: &str) -> anyhow::Result<Value> {
    let deadline = Instant::now() + WAIT_MAX;
    loop {
        let status = client.call("status", given(json!({ "artifact_id": id }))).await?;
        let job = status.value["job_status"].clone();
        if !matches!(job["status"].as_str(), Some("PENDING" | "PROCESSING")) {
            return Ok(job);
        }
        if Instant::now() > deadline {
            bail!(
                "{id} is remembered, but in {} minutes its events were not extracted: `remembrancer status` says why",
                WAIT_MAX.as_secs() / 60
            );
        }
        tokio::time::sleep(WAIT_PAUSE).await;
    }
}

pub(crate) async fn recall(settings: &Settings, args: RecallArgs) -> anyhow::Result<ExitCode> {
    let words = args.query.join(" ");
    // An id alone is looked up, not searched as a word.
    let is_id = args.id.is_none() && args.conversation_id.is_none() && AnyId::is_one(&words);
    let (query, id) = if is_id { (None, Some(words)) } else { (Some(words), args.id) };
    let arguments = given(json!({
        "query": query.filter(|query| !query.is_empty()), "id": id, "conversation_id": args.conversation_id,
        "context": args.context, "source": args.source, "author": args.author, "date_from": args.date_from,
        "date_to": args.date_to, "tags": args.tags, "categories": args.categories,
        "min_importance": args.min_importance, "limit": args.limit, "expand": !args.no_expand,
        "include_superseded": args.include_superseded, "detail": args.full.then_some("full"),
        "explain": args.explain, "max_tokens": args.max_tokens, "cursor": args.cursor,
        "neighbours": args.neighbours, "threadId": args.thread, "graph_budget": args.graph_budget,
        "include_events": args.no_events.then_some(false), "min_score": args.min_score,
        "order": args.newest_first.then_some("newest"), "include_entities": !args.no_entities,
    }));
    show(settings, "recall", arguments, args.json, print::recalled).await
}

pub(crate) async fn forget(settings: &Settings, args: ForgetArgs) -> anyhow::Result<ExitCode> {
    let arguments = given(json!({ "id": args.id, "confirm": args.confirm }));
    show(settings, "forget", arguments, args.json, print::forgotten).await
}

pub(crate) async fn status(settings: &Settings, args: StatusArgs) -> anyhow::Result<ExitCode> {
    let arguments = given(json!({ "artifact_id": args.artifact_id }));
    let (code, answer) = ask_and_show(settings, "status", arguments, args.json, print::status).await?;
    // For scripts: a memory that is not healthy, and a text that is not there.
    let is_well = answer["healthy"] == true && answer["job_status"]["status"] != "NOT_FOUND";
    Ok(if is_well { code } else { ExitCode::FAILURE })
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
    Ok(ask_and_show(settings, tool, arguments, as_json, readable).await?.0)
}

/// Gives the answer as well.
async fn ask_and_show(
    settings: &Settings,
    tool: &'static str,
    arguments: JsonObject,
    as_json: bool,
    readable: fn(&Value, &Style) -> String,
) -> anyhow::Result<(ExitCode, Value)> {
    let answer = Client::connect(settings).await?.call(tool, arguments).await?;
    Ok((print(&answer, as_json, readable)?, answer.value))
}

fn print(answer: &Answer, as_json: bool, readable: fn(&Value, &Style) -> String) -> anyhow::Result<ExitCode> {
    if as_json {
        println!("{}", serde_json::to_string_pretty(&answer.value)?);
    } else if !answer.is_refusal {
        print!("{}", readable(&answer.value, &Style::of_stdout()));
    }
    if answer.is_refusal {
        eprintln!("remembrancer: {}", answer.reason());
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    /// What a tool takes that the command calls otherwise.
    const TWINS: [(&str, &str); 13] = [
        ("content", "file"),
        ("participants", "participants"),
        ("tags", "tags"),
        ("categories", "categories"),
        ("detail", "full"),
        // Lists of events have commands of their own: `commitments`, `decisions`.
        ("owner", "id"),
        ("state", "id"),
        ("order", "newest_first"),
        ("expand", "no_expand"),
        ("include_events", "no_events"),
        ("include_entities", "no_entities"),
        ("threadId", "thread"),
        ("query", "query"),
    ];

    #[test]
    fn a_command_has_an_option_for_everything_that_its_tool_takes() {
        let twins = BTreeMap::from(TWINS);
        let command_line = crate::command_line::command();
        let tools = crate::tools::inputs();
        for name in ["remember", "recall", "forget", "status"] {
            let command = command_line.find_subcommand(name).expect("there is a command");
            let taken = tools.get(name).expect("there is a tool");
            assert!(!taken.is_empty());
            for parameter in taken {
                let option = twins.get(parameter.as_str()).copied().unwrap_or(parameter);
                assert!(
                    command.get_arguments().any(|arg| arg.get_id() == option),
                    "`remembrancer {name}` has no option for {parameter}: add it, or name its twin here"
                );
            }
        }
    }
}
