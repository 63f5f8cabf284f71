//! `keys`: who else may come in, with what role, into which namespaces. The text of a key is shown once, when it is made.

use std::fmt::Write;
use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, Subcommand};
use jiff::{SignedDuration, Timestamp};
use memory_core::access::{Grant, Role};
use memory_core::id::Namespace;
use memory_engine::access::{Access, OVERLAP_MAX_MINUTES};
use memory_store::keys::KeyRow;
use serde_json::{Value, json};

use super::one_of::OneOf;
use super::print::printable;
use crate::operator::with_memory;
use crate::settings::Settings;
use crate::tools::check_toolsets;

#[derive(Debug, Args)]
pub(crate) struct KeysArgs {
    #[command(subcommand)]
    command: KeysCommand,
}

#[derive(Debug, Subcommand)]
enum KeysCommand {
    /// Make a key and show it, this once
    Create(CreateArgs),
    /// Show the keys, newest first: what they open, and when they were last used
    List(ListArgs),
    /// Close a key at once, in every process
    Revoke(NamedArgs),
    /// Give a key another secret, which is shown this once
    Rotate(RotateArgs),
    /// Remove what is left of a key that is revoked or has expired; where no key is left, loopback needs none
    Delete(NamedArgs),
}

#[derive(Debug, Args)]
struct CreateArgs {
    /// What you will know it by, such as the program that gets it
    name: String,
    /// What its holder may do
    #[arg(long, ignore_case = true, value_parser = OneOf::new(Role::ALL, Role::as_str))]
    role: Role,
    /// The namespaces that it opens, divided by commas, the default first; that of --namespace when left out
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    namespaces: Vec<String>,
    /// The sets of tools that it is offered at most, divided by commas: memory, graph, authoring; all when left out
    #[arg(long, value_delimiter = ',', value_name = "SET")]
    sets: Vec<String>,
    /// Days after which it opens nothing any more, 1 to 3650; never when left out
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u16).range(1..=3_650))]
    expires_in: Option<u16>,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct ListArgs {
    /// Most keys, 1 to 1000
    #[arg(long, short = 'n', default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct NamedArgs {
    /// Its id or its name, as list shows them
    key: String,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct RotateArgs {
    /// Its id or its name, as list shows them
    key: String,
    /// Minutes for which the present secret opens as well, 0 to 10080
    #[arg(long, value_name = "MINUTES", default_value_t = 0, value_parser = clap::value_parser!(i32).range(0..=i64::from(OVERLAP_MAX_MINUTES)))]
    overlap: i32,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(settings: &Settings, args: KeysArgs) -> anyhow::Result<ExitCode> {
    let (KeysCommand::Create(CreateArgs { json: as_json, .. })
    | KeysCommand::List(ListArgs { json: as_json, .. })
    | KeysCommand::Revoke(NamedArgs { json: as_json, .. })
    | KeysCommand::Rotate(RotateArgs { json: as_json, .. })
    | KeysCommand::Delete(NamedArgs { json: as_json, .. })) = args.command;
    let own = settings.namespace()?;
    let answer =
        with_memory(settings, async |open| perform(open.memory.access(), args.command, own).await).await?;
    if as_json {
        println!("{}", serde_json::to_string_pretty(&answer)?);
    } else if let Some(text) = answer["key"].as_str() {
        // The key alone on standard output, for who puts it into a file.
        eprintln!("{}", sentence(&answer));
        println!("{text}");
    } else {
        println!("{}", readable(&answer));
    }
    Ok(ExitCode::SUCCESS)
}

async fn perform(access: &Access, command: KeysCommand, own: Namespace) -> anyhow::Result<Value> {
    Ok(match command {
        KeysCommand::Create(args) => {
            let expires_at = args.expires_in.map(days_from_now).transpose()?;
            let grant = grant(&args, own)?;
            let drawn = access.create(&grant, expires_at).await?;
            json!({
                "done": "created", "id": drawn.key.id.as_str(), "key": drawn.text, "name": grant.name,
                "role": grant.role.as_str(), "namespaces": names(&grant), "tool_sets": grant.toolsets,
                "expires_at": expires_at.map(|at| at.to_string()),
            })
        }
        KeysCommand::List(args) => {
            let mut keys = access.list(i64::from(args.limit) + 1).await?;
            let has_more = keys.len() > usize::from(args.limit);
            keys.truncate(usize::from(args.limit));
            json!({ "keys": keys.iter().map(as_json).collect::<Vec<_>>(), "has_more": has_more })
        }
        KeysCommand::Revoke(args) => done("revoked", &access.revoke(&args.key).await?),
        KeysCommand::Delete(args) => done("deleted", &access.delete(&args.key).await?),
        KeysCommand::Rotate(args) => {
            let (key, drawn) = access.rotate(&args.key, args.overlap).await?;
            let mut answer = done("rotated", &key);
            answer["key"] = json!(drawn.text);
            answer["overlap_minutes"] = json!(args.overlap);
            answer
        }
    })
}

fn grant(args: &CreateArgs, own: Namespace) -> anyhow::Result<Grant> {
    let namespaces = args.namespaces.iter().map(|name| Namespace::new(name.trim()));
    let mut namespaces = namespaces.collect::<Result<Vec<_>, _>>()?;
    if namespaces.is_empty() {
        namespaces.push(own);
    }
    let sets: Vec<String> = args.sets.iter().map(|set| set.trim().to_owned()).collect();
    if sets.iter().any(String::is_empty) {
        bail!("--sets names a set without a name; leave it out for all of them");
    }
    check_toolsets(&sets, "--sets")?;
    Ok(Grant::new(&args.name, args.role, namespaces, sets)?)
}

fn days_from_now(days: u16) -> anyhow::Result<Timestamp> {
    Ok(Timestamp::now().checked_add(SignedDuration::from_hours(24 * i64::from(days)))?)
}

fn names(grant: &Grant) -> Vec<&str> {
    grant.namespaces().iter().map(Namespace::as_str).collect()
}

fn done(what: &str, key: &KeyRow) -> Value {
    json!({ "done": what, "id": key.id.as_str(), "name": key.grant.name })
}

fn as_json(key: &KeyRow) -> Value {
    let time = |at: Option<Timestamp>| at.map(|at| at.to_string());
    json!({
        "id": key.id.as_str(),
        "name": key.grant.name,
        "role": key.grant.role.as_str(),
        "namespaces": names(&key.grant),
        "tool_sets": key.grant.toolsets,
        "state": key.state.as_str(),
        "created_at": key.created_at.to_string(),
        "expires_at": time(key.expires_at),
        "revoked_at": time(key.revoked_at),
        "last_used_at": time(key.last_used_at),
    })
}

/// What is said of a key beside its text.
fn sentence(answer: &Value) -> String {
    let text = |key: &str| printable(answer[key].as_str().unwrap_or_default());
    let (id, name) = (text("id"), text("name"));
    if answer["done"] == "rotated" {
        let old = match answer["overlap_minutes"].as_i64() {
            None | Some(0) => "The old one opens nothing any more.".to_owned(),
            Some(minutes) => format!("The old one opens for {minutes} minutes more."),
        };
        return format!("The key {id} \"{name}\" has another secret, shown this once. {old}");
    }
    let expires =
        answer["expires_at"].as_str().map_or_else(String::new, |at| format!(" It expires at {at}."));
    format!(
        "The key {id} \"{name}\": {} in {}.{expires} It is shown this once; send it as Authorization: Bearer KEY.",
        text("role"),
        listed(&answer["namespaces"])
    )
}

fn listed(value: &Value) -> String {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
}

fn readable(answer: &Value) -> String {
    let Some(keys) = answer["keys"].as_array() else {
        let text = |key: &str| printable(answer[key].as_str().unwrap_or_default());
        return format!("The key {} \"{}\" is {}.", text("id"), text("name"), text("done"));
    };
    let mut out = String::new();
    for key in keys {
        let text = |field: &str| printable(key[field].as_str().unwrap_or_default());
        let sets = match listed(&key["tool_sets"]) {
            sets if sets.is_empty() => sets,
            sets => format!(", tools: {sets}"),
        };
        let used =
            key["last_used_at"].as_str().map_or("never used".to_owned(), |at| format!("last used {at}"));
        let ends = key["expires_at"].as_str().map_or_else(String::new, |at| format!(", expires {at}"));
        let _ = writeln!(
            out,
            "{}  {:<7}  {:<6}  {}  in {}{sets}; {used}{ends}",
            text("id"),
            text("state"),
            text("role"),
            text("name"),
            listed(&key["namespaces"])
        );
    }
    match (out.is_empty(), answer["has_more"] == true) {
        (true, _) => "There are no keys.".to_owned(),
        (false, true) => format!("{out}There are more; --limit shows them."),
        (false, false) => out.trim_end().to_owned(),
    }
}
