//! `graph-files`: the graphs that connections keep in files of their own, and what is left of those that are gone.

use std::fmt::Write;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use memory_core::id::Namespace;
use memory_engine::Memory;
use memory_engine::graph::KnownFile;
use serde_json::{Value, json};

use super::jobs::Scope;
use super::print::printable;
use crate::operator::with_memory;
use crate::settings::Settings;

#[derive(Debug, Subcommand)]
pub(crate) enum GraphFilesCommand {
    /// The files that something is stored of, and whether they are there
    List(Scope),
    /// Delete what is stored of files that are gone
    Delete(DeleteArgs),
}

#[derive(Debug, Args)]
pub(crate) struct DeleteArgs {
    /// As list shows it
    #[arg(required = true, value_name = "FILE")]
    paths: Vec<String>,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(settings: &Settings, command: GraphFilesCommand) -> anyhow::Result<ExitCode> {
    let (answer, as_json) = match command {
        GraphFilesCommand::List(scope) => {
            let namespace = scope.namespace(settings)?;
            let files = with_memory(settings, async |open| {
                Ok(open.memory.graph().list_files(namespace.as_ref()).await?)
            });
            let files = files.await?;
            (json!({ "files": files.iter().map(graph_file).collect::<Vec<_>>() }), scope.json)
        }
        GraphFilesCommand::Delete(DeleteArgs { paths, json }) => {
            let namespace = settings.namespace()?;
            let deleting = with_memory(settings, async |open| {
                Ok(delete_graph_files(&open.memory, &namespace, paths).await)
            });
            (deleting.await?, json)
        }
    };
    if as_json {
        println!("{}", serde_json::to_string_pretty(&answer)?);
    } else {
        print!("{}", readable(&answer));
    }
    let is_refused = answer["refused"].as_array().is_some_and(|refused| !refused.is_empty());
    Ok(if is_refused { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

async fn delete_graph_files(memory: &Memory, namespace: &Namespace, paths: Vec<String>) -> Value {
    let (mut deleted, mut refused) = (Vec::new(), Vec::new());
    for path in paths {
        match memory.graph().delete_file(namespace, &path).await {
            Ok(entities) => deleted.push(json!({ "path": path, "entities": entities })),
            Err(error) => refused.push(json!({ "path": path, "reason": error.to_string() })),
        }
    }
    json!({ "deleted": deleted, "refused": refused })
}

/// A graph's file as the command shows it.
fn graph_file(known: &KnownFile) -> Value {
    let stored = &known.stored;
    json!({
        "path": stored.path,
        "namespace": stored.namespace,
        "entities": stored.entities,
        "is_there": known.is_there,
        "gone_since": stored.gone_since.map(|at| at.to_string()),
        "has_unwritten_changes": stored.is_ahead,
    })
}

fn readable(answer: &Value) -> String {
    let list = |key: &str| answer[key].as_array().map_or(&[][..], Vec::as_slice);
    let text = |value: &Value, key: &str| printable(value[key].as_str().unwrap_or_default());
    let mut out = String::new();
    for file in list("files") {
        let state = match (file["is_there"] == true, file["has_unwritten_changes"] == true) {
            (true, _) => "there",
            (false, false) => "gone",
            (false, true) => "gone, with changes that it never had",
        };
        let (path, namespace) = (text(file, "path"), text(file, "namespace"));
        let _ = writeln!(out, "{path}  ({} entities, namespace {namespace}): {state}", file["entities"]);
    }
    for file in list("deleted") {
        let _ = writeln!(out, "{}: {} entities were deleted", text(file, "path"), file["entities"]);
    }
    for file in list("refused") {
        let _ = writeln!(out, "{}: {}", text(file, "path"), text(file, "reason"));
    }
    if out.is_empty() { "No graph is kept in a file.\n".to_owned() } else { out }
}
