//! `entities`: the entities that texts name, which of these may be the same, and the operator's decisions.

use std::fmt::Write;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use memory_core::entity::EntityType;
use memory_core::id::Namespace;
use memory_engine::Memory;
use memory_engine::entity_review::{Decided, DoubtfulPair, EntityFilter};
use serde_json::{Value, json};

use super::one_of::OneOf;
use super::print::printable;
use crate::command_line::entity_number;
use crate::operator::with_memory;
use crate::settings::Settings;

#[derive(Debug, Subcommand)]
pub(crate) enum EntitiesCommand {
    /// Show entities, those mentioned most first, or pairs that may be the same
    List(ListArgs),
    /// From now on the second counts as the first
    Merge(MergeArgs),
    /// Take a merge back: the entity is one of its own again
    Split(SplitArgs),
    /// Say that two are not the same
    Reject(RejectArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only entities of this type
    #[arg(long = "type", value_name = "TYPE", value_parser = OneOf::new(EntityType::ALL, EntityType::as_str))]
    entity_type: Option<EntityType>,
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
    /// The entity to keep: answers show its name
    #[arg(value_name = "ID", value_parser = entity_number)]
    keep: i64,
    /// The one that counts as it; its name is one more of the kept one's
    #[arg(value_name = "OTHER", value_parser = entity_number)]
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
    #[arg(value_parser = entity_number)]
    id: i64,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RejectArgs {
    /// One entity
    #[arg(value_name = "ID", value_parser = entity_number)]
    a: i64,
    /// The other
    #[arg(value_name = "OTHER", value_parser = entity_number)]
    b: i64,
    /// Take it back: the pair is doubtful again, if it was before
    #[arg(long)]
    undo: bool,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(settings: &Settings, command: EntitiesCommand) -> anyhow::Result<ExitCode> {
    let (EntitiesCommand::List(ListArgs { json: as_json, .. })
    | EntitiesCommand::Merge(MergeArgs { json: as_json, .. })
    | EntitiesCommand::Split(SplitArgs { json: as_json, .. })
    | EntitiesCommand::Reject(RejectArgs { json: as_json, .. })) = command;
    let namespace = settings.namespace()?;
    let answer = with_memory(settings, async |open| perform(&open.memory, &namespace, command).await).await?;
    if as_json {
        println!("{}", serde_json::to_string_pretty(&answer)?);
    } else {
        print!("{}", readable(&answer));
    }
    Ok(ExitCode::SUCCESS)
}

async fn perform(memory: &Memory, ns: &Namespace, command: EntitiesCommand) -> anyhow::Result<Value> {
    Ok(match command {
        EntitiesCommand::List(args) => {
            let filter = EntityFilter { entity_type: args.entity_type, like: args.like, limit: args.limit };
            if args.review {
                let (pairs, total) = memory.entity_review().list_doubtful_pairs(ns, &filter).await?;
                json!({ "pairs": pairs.iter().map(pair).collect::<Vec<_>>(), "total": total })
            } else {
                let (entities, total) = memory.entity_review().list(ns, &filter).await?;
                json!({ "entities": entities, "total": total })
            }
        }
        EntitiesCommand::Merge(MergeArgs { keep, other, different_addresses, .. }) => {
            decided("merged", &memory.entity_review().merge(ns, keep, other, different_addresses).await?)
        }
        EntitiesCommand::Split(SplitArgs { id, .. }) => {
            decided("split", &memory.entity_review().split(ns, id).await?)
        }
        EntitiesCommand::Reject(RejectArgs { a, b, undo: false, .. }) => {
            decided("rejected", &memory.entity_review().reject(ns, a, b).await?)
        }
        EntitiesCommand::Reject(RejectArgs { a, b, undo: true, .. }) => {
            decided("reopened", &memory.entity_review().reopen(ns, a, b).await?)
        }
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
    let texts = |key: &str, shown: fn(&Value) -> String| {
        entity[key].as_array().into_iter().flatten().map(shown).collect::<Vec<_>>().join(", ")
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
    for (what, names) in [("also", aliases), ("merged", merged), ("possibly", maybe)] {
        if !names.is_empty() {
            let _ = writeln!(out, "        {what}: {names}");
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

/// Whether a name has all words of the other and more.
fn is_fuller(name: &str, other: &str) -> bool {
    let words = |text: &str| -> Vec<String> { text.split_whitespace().map(str::to_lowercase).collect() };
    let (name, other) = (words(name), words(other));
    name.len() > other.len() && other.iter().all(|word| name.contains(word))
}

fn decision(answer: &Value) -> String {
    let (first, second) = (&answer["first"], &answer["second"]);
    let (first_id, second_id) = (&first["id"], &second["id"]);
    let (first, second) = (name(first), name(second));
    match answer["decided"].as_str() {
        Some("merged") => {
            let hint = if is_fuller(&second, &first) {
                format!(
                    "Answers say \"{first}\". For \"{second}\" split them and run `remembrancer entities merge {second_id} {first_id}`.\n"
                )
            } else {
                String::new()
            };
            format!(
                "{second_id} \"{second}\" counts as {first_id} \"{first}\" now. `remembrancer entities split {second_id}` takes it back.\n{hint}"
            )
        }
        Some("split") => {
            format!(
                "{first_id} \"{first}\" is an entity of its own again, apart from {second_id} \"{second}\".\n"
            )
        }
        Some("rejected") => format!(
            "{first_id} \"{first}\" and {second_id} \"{second}\" are not the same. `remembrancer entities reject {first_id} {second_id} --undo` takes it back.\n"
        ),
        _ => format!(
            "Whether {first_id} \"{first}\" and {second_id} \"{second}\" are the same is open again.\n"
        ),
    }
}
