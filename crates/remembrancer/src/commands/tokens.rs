//! `tokens`: what was consented to by OAuth, and how that ends. `clients`: which programs may ask for consent besides those that
//! name themselves.

use std::fmt::Write;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use memory_core::Invalid;
use memory_core::id::Namespace;
use memory_engine::oauth::{ClientRow, ConsentRow, OAuth};
use serde_json::{Value, json};

use super::print::printable;
use crate::oauth::{check_redirect_uri, shown_name};
use crate::operator::with_memory;
use crate::settings::Settings;

#[derive(Debug, Args)]
pub(crate) struct TokensArgs {
    #[command(subcommand)]
    command: TokensCommand,
}

#[derive(Debug, Subcommand)]
enum TokensCommand {
    /// Show what was consented to, newest first: which program, what it opens, and when it was last used
    List(ListArgs),
    /// End a consent, or all of one program, at once and in every process
    Revoke(NamedArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ClientsArgs {
    #[command(subcommand)]
    command: ClientsCommand,
}

#[derive(Debug, Subcommand)]
enum ClientsCommand {
    /// Name a program that may ask for consent, and show its client id
    Add(AddArgs),
    /// Show the programs that may ask, newest first
    List(ListArgs),
    /// Let a program ask no more; what it was given stays until `tokens revoke`
    Remove(NamedArgs),
}

#[derive(Debug, Args)]
struct AddArgs {
    /// What the consent page calls it
    name: String,
    /// Address that answers may be sent to; may be given several times
    #[arg(long = "redirect-uri", value_name = "URL", required = true)]
    redirect_uris: Vec<String>,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct ListArgs {
    /// Most lines, 1 to 1000
    #[arg(long, short = 'n', default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct NamedArgs {
    /// Its id, as list shows it; for `tokens revoke` also the client or the name
    id: String,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn tokens(settings: &Settings, args: TokensArgs) -> anyhow::Result<ExitCode> {
    let (TokensCommand::List(ListArgs { json, .. }) | TokensCommand::Revoke(NamedArgs { json, .. })) =
        args.command;
    let answer = with_memory(settings, async |open| {
        let oauth = open.memory.oauth();
        Ok(match &args.command {
            TokensCommand::List(args) => {
                let consents = oauth.consents(args.limit.into()).await?;
                json!({ "consents": consents.iter().map(consent_json).collect::<Vec<_>>() })
            }
            TokensCommand::Revoke(args) => {
                let revoked = oauth.revoke(&args.id).await?;
                json!({ "done": "revoked", "consents": revoked.iter().map(consent_json).collect::<Vec<_>>() })
            }
        })
    });
    print(&answer.await?, json)
}

pub(crate) async fn clients(settings: &Settings, args: ClientsArgs) -> anyhow::Result<ExitCode> {
    let (ClientsCommand::Add(AddArgs { json, .. })
    | ClientsCommand::List(ListArgs { json, .. })
    | ClientsCommand::Remove(NamedArgs { json, .. })) = args.command;
    let answer =
        with_memory(settings, async |open| clients_answer(&open.memory.oauth(), &args.command).await);
    print(&answer.await?, json)
}

async fn clients_answer(oauth: &OAuth, command: &ClientsCommand) -> anyhow::Result<Value> {
    Ok(match command {
        ClientsCommand::Add(args) => {
            if args.redirect_uris.len() > 10 {
                return Err(Invalid::new(
                    "there are more than 10 addresses; give --redirect-uri at most 10 times",
                )
                .into());
            }
            args.redirect_uris.iter().try_for_each(|uri| check_redirect_uri(uri))?;
            let name = shown_name(Some(&args.name), "");
            if name.is_empty() {
                return Err(Invalid::new("the name has nothing that can be shown; give another").into());
            }
            let client = oauth.register(&name, args.redirect_uris.clone(), true).await?;
            json!({ "done": "added", "clients": [client_json(&client)] })
        }
        ClientsCommand::List(args) => {
            let clients = oauth.clients(args.limit.into()).await?;
            json!({ "clients": clients.iter().map(client_json).collect::<Vec<_>>() })
        }
        ClientsCommand::Remove(args) => {
            oauth.remove_client(&args.id).await?;
            json!({ "done": "removed", "clients": [{ "id": args.id }] })
        }
    })
}

fn consent_json(consent: &ConsentRow) -> Value {
    let names: Vec<&str> = consent.grant.namespaces().iter().map(Namespace::as_str).collect();
    json!({
        "id": consent.id.as_str(),
        "client_id": consent.client_id,
        "name": consent.grant.name,
        "role": consent.grant.role.as_str(),
        "namespaces": names,
        "resource": consent.grant.resource,
        "state": if consent.revoked_at.is_some() { "revoked" } else if consent.is_live { "live" } else { "over" },
        "created_at": consent.created_at.to_string(),
        "revoked_at": consent.revoked_at.map(|at| at.to_string()),
        "last_used_at": consent.last_used_at.map(|at| at.to_string()),
    })
}

fn client_json(client: &ClientRow) -> Value {
    json!({
        "id": client.id,
        "name": client.name,
        "redirect_uris": client.redirect_uris,
        "named_by": if client.is_of_operator { "operator" } else { "itself" },
        "created_at": client.created_at.to_string(),
    })
}

fn print(answer: &Value, as_json: bool) -> anyhow::Result<ExitCode> {
    let text = if as_json { serde_json::to_string_pretty(answer)? } else { readable(answer) };
    println!("{text}");
    Ok(ExitCode::SUCCESS)
}

fn readable(answer: &Value) -> String {
    let mut out = String::new();
    let text = |value: &Value| printable(value.as_str().unwrap_or_default());
    let list =
        |value: &Value| value.as_array().into_iter().flatten().map(text).collect::<Vec<_>>().join(", ");
    let done = answer["done"].as_str().map_or_else(String::new, |done| format!("{done}: "));
    for one in answer["consents"].as_array().into_iter().flatten() {
        let used =
            one["last_used_at"].as_str().map_or("never used".to_owned(), |at| format!("last used {at}"));
        let (id, state, role, name) =
            (text(&one["id"]), text(&one["state"]), text(&one["role"]), text(&one["name"]));
        let _ = writeln!(
            out,
            "{done}{id}  {state:<7}  {role:<6}  {name}  in {}; {used}",
            list(&one["namespaces"])
        );
    }
    for one in answer["clients"].as_array().into_iter().flatten() {
        let (id, by, name) = (text(&one["id"]), text(&one["named_by"]), text(&one["name"]));
        let _ = writeln!(out, "{done}{id}  {by:<8}  {name}  {}", list(&one["redirect_uris"]));
    }
    match (out.trim_end(), answer["consents"].is_array()) {
        ("", true) => "Nothing was consented to.".to_owned(),
        ("", false) => "There are no clients.".to_owned(),
        (out, _) => out.to_owned(),
    }
}
