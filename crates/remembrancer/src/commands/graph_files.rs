//! `graph-files`: the graphs that connections keep in files of their own, and what is left of those that are gone.

use std::fmt::Write;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use memory_engine::lines::unreported;
use serde_json::Value;

use super::jobs::{self, Scope};
use super::print::printable;
use crate::operate::Operation;
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
    let (scope, operation) = match command {
        GraphFilesCommand::List(scope) => (scope, Operation::ListGraphFiles),
        GraphFilesCommand::Delete(DeleteArgs { paths, json }) => {
            (Scope { all_namespaces: false, json }, Operation::DeleteGraphFiles { paths })
        }
    };
    let answer = jobs::ask(settings, &scope, operation, &unreported).await?;
    if scope.json {
        println!("{}", serde_json::to_string_pretty(&answer)?);
    } else {
        print!("{}", readable(&answer));
    }
    let is_refused = answer["refused"].as_array().is_some_and(|refused| !refused.is_empty());
    Ok(if is_refused { ExitCode::FAILURE } else { ExitCode::SUCCESS })
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
