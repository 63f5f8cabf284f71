//! `entities`: who and what the texts name, which of these may be the same, and what an operator says about it.

use std::fmt::Write;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use memory_core::entity::EntityType;
use serde_json::Value;
use tokio::io::BufReader;

use super::print::printable;
use crate::instance::{Hello, send_line};
use crate::meeting::Meeting;
use crate::settings::Settings;
use crate::transfer::Frame;
use crate::who::Asked;

#[derive(Debug, Subcommand)]
pub(crate) enum EntitiesCommand {
    /// Show entities, those mentioned most first, or pairs that may be the same
    List(ListArgs),
    /// From now on the second counts as the first
    Merge(MergeArgs),
    /// Take a merge back: the entity stands by itself again
    Split(SplitArgs),
    /// Say that two are not the same
    Reject(RejectArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only entities of this type
    #[arg(long = "type", value_name = "TYPE", value_parser = PossibleValuesParser::new(EntityType::ALL.iter().map(|t| t.as_str())))]
    entity_type: Option<String>,
    /// Only what has this in one of its names
    #[arg(long, value_name = "TEXT")]
    like: Option<String>,
    /// Pairs that may be the same and wait for a decision, likeliest first
    #[arg(long)]
    review: bool,
    /// Most entities or pairs
    #[arg(long, short = 'n', default_value_t = 50, value_parser = clap::value_parser!(i64).range(1..=1_000))]
    limit: i64,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// The entity to keep
    #[arg(value_name = "ID")]
    keep: i64,
    /// The one that counts as it
    #[arg(value_name = "OTHER")]
    other: i64,
    /// Though the texts know them by different e-mail addresses
    #[arg(long)]
    different_addresses: bool,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SplitArgs {
    /// The entity that was merged into another
    id: i64,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RejectArgs {
    /// One entity
    #[arg(value_name = "ID")]
    a: i64,
    /// The other
    #[arg(value_name = "OTHER")]
    b: i64,
    /// Take it back: the pair is doubtful again, if it was before
    #[arg(long)]
    undo: bool,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(settings: &Settings, command: EntitiesCommand) -> anyhow::Result<ExitCode> {
    let (asked, as_json) = match command {
        EntitiesCommand::List(ListArgs { entity_type, like, review, limit, json }) => {
            (Asked::List { entity_type, like, review, limit }, json)
        }
        EntitiesCommand::Merge(MergeArgs { keep, other, different_addresses, json }) => {
            (Asked::Merge { keep, other, different_addresses }, json)
        }
        EntitiesCommand::Split(SplitArgs { id, json }) => (Asked::Split { id }, json),
        EntitiesCommand::Reject(RejectArgs { a, b, undo, json }) => (Asked::Reject { a, b, undo }, json),
    };
    let answer = ask(settings, asked).await?;
    if as_json {
        println!("{}", serde_json::to_string_pretty(&answer)?);
    } else {
        print!("{}", readable(&answer));
    }
    Ok(ExitCode::SUCCESS)
}

/// What the process says that holds the data folder; one is started when there is none.
async fn ask(settings: &Settings, asked: Asked) -> anyhow::Result<Value> {
    let namespace = settings.namespace()?.to_string();
    let (read, mut write) = Meeting::of(settings)?.connect_or_start(settings).await?.into_split();
    send_line(&mut write, &Hello::Entities { namespace, asked }).await?;
    let mut read = BufReader::new(read);
    let mut answer = Vec::new();
    loop {
        match Frame::receive(&mut read).await.context("the memory's process has ended; try again")? {
            Frame::Part(part) => answer.extend(part),
            Frame::Done(_) => return Ok(serde_json::from_slice(&answer)?),
            Frame::Failed(reason) => bail!("{reason}"),
            Frame::Progress(..) => {}
        }
    }
}

fn readable(answer: &Value) -> String {
    let mut out = String::new();
    let list = |key: &str| answer[key].as_array().map_or(&[][..], Vec::as_slice);
    let (shown, total) = match (answer["pairs"].is_array(), answer["entities"].is_array()) {
        (true, _) => {
            for pair in list("pairs") {
                push_pair(&mut out, pair);
            }
            (list("pairs").len(), "Nothing is doubtful.")
        }
        (_, true) => {
            for entity in list("entities") {
                push_entity(&mut out, entity);
            }
            (list("entities").len(), "No entities.")
        }
        _ => return decision(answer),
    };
    match answer["total"].as_u64().unwrap_or(0) {
        0 => {
            let _ = writeln!(out, "{total}");
        }
        all if all > shown as u64 => {
            let _ = writeln!(out, "{shown} of {all}; more with --limit");
        }
        _ => {}
    }
    out
}

fn name(value: &Value) -> String {
    printable(&value["name"].as_str().unwrap_or_default().replace('\n', " "))
}

fn push_entity(out: &mut String, entity: &Value) {
    let texts = |key: &str, told: fn(&Value) -> String| {
        entity[key].as_array().into_iter().flatten().map(told).collect::<Vec<_>>().join(", ")
    };
    let _ = writeln!(
        out,
        "{:>6}  {}  ({}, {}×)",
        entity["id"],
        name(entity),
        entity["type"].as_str().unwrap_or_default(),
        entity["mention_count"]
    );
    let aliases = texts("aliases", |alias| printable(alias.as_str().unwrap_or_default()));
    let merged = texts("merged", |other| format!("{} {}", other["id"], name(other)));
    let maybe = texts("possibly_same", |other| {
        format!("{} {} ({:.2})", other["id"], name(other), other["score"].as_f64().unwrap_or(0.0))
    });
    for (what, told) in [("also", aliases), ("merged", merged), ("possibly", maybe)] {
        if !told.is_empty() {
            let _ = writeln!(out, "        {what}: {told}");
        }
    }
}

fn push_pair(out: &mut String, pair: &Value) {
    let one =
        |key: &str| format!("{} {} ({}×)", pair[key]["id"], name(&pair[key]), pair[key]["mention_count"]);
    let reasons = pair["reasons"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let _ = writeln!(
        out,
        "{:.2}  {}  and  {}  {}: {}",
        pair["score"].as_f64().unwrap_or(0.0),
        one("a"),
        one("b"),
        pair["type"].as_str().unwrap_or_default(),
        reasons.collect::<Vec<_>>().join(", ")
    );
}

fn decision(answer: &Value) -> String {
    let (first, second) = (&answer["first"], &answer["second"]);
    let (first_id, second_id) = (&first["id"], &second["id"]);
    let (first, second) = (name(first), name(second));
    match answer["decided"].as_str() {
        Some("merged") => format!(
            "{second_id} «{second}» counts as {first_id} «{first}» now. `remembrancer entities split {second_id}` takes it back.\n"
        ),
        Some("split") => {
            format!("{first_id} «{first}» stands by itself again, apart from {second_id} «{second}».\n")
        }
        Some("rejected") => format!(
            "{first_id} «{first}» and {second_id} «{second}» are not the same. `remembrancer entities reject {first_id} {second_id} --undo` takes it back.\n"
        ),
        _ => format!("Whether {first_id} «{first}» and {second_id} «{second}» are the same is open again.\n"),
    }
}
