//! `webhooks`: which programs are told what happens in a namespace. The secret of one is shown once, when it is added.

use std::fmt::Write;
use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, Subcommand};
use memory_core::feed::FeedKind;
use memory_core::id::Namespace;
use memory_engine::push::{DeliveryFilter, DeliveryRow, Push, WebhookRow};
use serde_json::{Value, json};

use super::one_of::OneOf;
use super::print::printable;
use crate::operator::with_memory;
use crate::settings::Settings;

#[derive(Debug, Args)]
pub(crate) struct WebhooksArgs {
    #[command(subcommand)]
    command: WebhooksCommand,
}

#[derive(Debug, Subcommand)]
enum WebhooksCommand {
    /// Have an address told what happens in the namespace, and show the secret that messages are signed with, this once
    Add(AddArgs),
    /// Show the webhooks of the namespace, and whether they work
    List(ListArgs),
    /// Remove a webhook with what it was still to be sent
    Remove(NamedArgs),
    /// Send a webhook a message of the type webhook.test now
    Test(NamedArgs),
    /// Show what was sent, newest first, and what could not be
    Deliveries(DeliveriesArgs),
    /// Send again what could not be sent
    Resend(ResendArgs),
}

#[derive(Debug, Args)]
struct AddArgs {
    /// The address that messages are posted to
    url: String,
    /// What it is told of, divided by commas; everything when left out
    #[arg(long, value_delimiter = ',', value_name = "TYPE", ignore_case = true, value_parser = OneOf::new(FeedKind::ALL, FeedKind::as_str))]
    types: Vec<FeedKind>,
    /// Allow an address in a private network or on this machine, over http too
    #[arg(long)]
    allow_private: bool,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct ListArgs {
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct NamedArgs {
    /// Its id, as list shows it
    webhook: String,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct DeliveriesArgs {
    /// Only those of this webhook
    webhook: Option<String>,
    /// Only those that are pending, delivered or dead
    #[arg(long, ignore_case = true, value_parser = ["pending", "delivered", "dead"])]
    state: Option<String>,
    /// Most deliveries, 1 to 1000
    #[arg(long, short = 'n', default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct ResendArgs {
    /// The webhook whose dead deliveries are sent again; those of all when left out
    webhook: Option<String>,
    /// Only this one, by its number in deliveries
    #[arg(long, value_name = "NUMBER")]
    delivery: Option<i64>,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(settings: &Settings, args: WebhooksArgs) -> anyhow::Result<ExitCode> {
    let (WebhooksCommand::Add(AddArgs { json: as_json, .. })
    | WebhooksCommand::List(ListArgs { json: as_json })
    | WebhooksCommand::Remove(NamedArgs { json: as_json, .. })
    | WebhooksCommand::Test(NamedArgs { json: as_json, .. })
    | WebhooksCommand::Deliveries(DeliveriesArgs { json: as_json, .. })
    | WebhooksCommand::Resend(ResendArgs { json: as_json, .. })) = args.command;
    let ns = settings.namespace()?;
    let answer =
        with_memory(settings, async |open| perform(&open.memory.push(), &ns, args.command).await).await?;
    if as_json {
        println!("{}", serde_json::to_string_pretty(&answer)?);
    } else if let Some(secret) = answer["secret"].as_str() {
        // The secret alone on standard output, for who puts it into a file.
        eprintln!(
            "The webhook {} is told what happens in the namespace {ns}. Messages are signed with this secret, shown this once:",
            answer["id"].as_str().unwrap_or_default()
        );
        println!("{secret}");
    } else {
        println!("{}", readable(&answer));
    }
    let is_refused = answer["done"] == "tested" && !answer["error"].is_null();
    Ok(if is_refused { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

async fn perform(push: &Push, ns: &Namespace, command: WebhooksCommand) -> anyhow::Result<Value> {
    Ok(match command {
        WebhooksCommand::Add(args) => {
            let made = push.add(ns, args.url.trim(), &args.types, args.allow_private).await?;
            json!({ "done": "added", "id": made.webhook_id, "secret": made.secret })
        }
        WebhooksCommand::List(_) => {
            let webhooks = push.list(ns).await?;
            json!({ "webhooks": webhooks.iter().map(webhook_as_json).collect::<Vec<_>>() })
        }
        WebhooksCommand::Remove(args) => {
            push.remove(ns, &args.webhook).await?;
            json!({ "done": "removed", "id": args.webhook })
        }
        WebhooksCommand::Test(args) => {
            let tried = push.test(ns, &args.webhook).await?;
            json!({
                "done": "tested", "id": args.webhook, "message_id": tried.message_id, "status": tried.status,
                "error": tried.error,
            })
        }
        WebhooksCommand::Deliveries(args) => {
            let filter =
                DeliveryFilter { webhook_id: args.webhook, state: args.state, ..DeliveryFilter::default() };
            let mut deliveries = push.deliveries(ns, &filter, i64::from(args.limit) + 1).await?;
            let has_more = deliveries.len() > usize::from(args.limit);
            deliveries.truncate(usize::from(args.limit));
            let deliveries: Vec<Value> = deliveries.iter().map(delivery_as_json).collect();
            json!({ "deliveries": deliveries, "has_more": has_more })
        }
        WebhooksCommand::Resend(args) => {
            let filter = DeliveryFilter {
                webhook_id: args.webhook,
                delivery_id: args.delivery,
                ..DeliveryFilter::default()
            };
            let again = push.resend(ns, &filter).await?;
            if again == 0 && args.delivery.is_some() {
                bail!(
                    "there is no such dead delivery; `remembrancer webhooks deliveries --state dead` shows those that there are"
                );
            }
            json!({ "done": "resent", "deliveries": again })
        }
    })
}

fn webhook_as_json(webhook: &WebhookRow) -> Value {
    let types: Vec<&str> = webhook.kinds.iter().map(|kind| kind.as_str()).collect();
    json!({
        "id": webhook.webhook_id,
        "url": webhook.url,
        "types": types,
        "allow_private": webhook.may_be_private,
        "created_at": webhook.created_at.to_string(),
        "failing_since": webhook.failing_since.map(|at| at.to_string()),
        "pending": webhook.pending,
        "dead": webhook.dead,
    })
}

fn delivery_as_json(delivery: &DeliveryRow) -> Value {
    json!({
        "number": delivery.delivery_id,
        "webhook": delivery.webhook_id,
        "message_id": delivery.message_id,
        "type": delivery.kind,
        "state": delivery.state,
        "attempts": delivery.attempts,
        "status": delivery.status,
        "error": delivery.error,
        "created_at": delivery.created_at.to_string(),
        "next_at": (delivery.state == "pending").then(|| delivery.due_at.to_string()),
        "ended_at": delivery.ended_at.map(|at| at.to_string()),
    })
}

fn readable(answer: &Value) -> String {
    let text = |value: &Value| printable(value.as_str().unwrap_or_default());
    if let Some(webhooks) = answer["webhooks"].as_array() {
        let lines = webhooks.iter().map(|webhook| webhook_line(webhook, text));
        let lines: Vec<String> = lines.collect();
        return if lines.is_empty() { "There are no webhooks.".to_owned() } else { lines.join("\n") };
    }
    if let Some(deliveries) = answer["deliveries"].as_array() {
        let mut lines: Vec<String> =
            deliveries.iter().map(|delivery| delivery_line(delivery, text)).collect();
        if lines.is_empty() {
            lines.push("There are no deliveries.".to_owned());
        } else if answer["has_more"] == true {
            lines.push("There are more; --limit shows them.".to_owned());
        }
        return lines.join("\n");
    }
    match (answer["done"].as_str(), answer["error"].as_str()) {
        (Some("tested"), None) => {
            format!("The receiver took the message {}: {}.", text(&answer["message_id"]), answer["status"])
        }
        (Some("tested"), Some(error)) => format!("The message was not taken: {}.", printable(error)),
        (Some("resent"), _) => format!("{} deliveries are sent again.", answer["deliveries"]),
        _ => format!("The webhook {} is {}.", text(&answer["id"]), text(&answer["done"])),
    }
}

fn webhook_line(webhook: &Value, text: impl Fn(&Value) -> String) -> String {
    let types: Vec<&str> =
        webhook["types"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let types = if types.is_empty() { "everything".to_owned() } else { types.join(", ") };
    let mut line = format!("{}  {}  {types}", text(&webhook["id"]), text(&webhook["url"]));
    if let Some(since) = webhook["failing_since"].as_str() {
        let _ = write!(line, "; failing since {since}");
    }
    for state in ["pending", "dead"] {
        if webhook[state] != 0 {
            let _ = write!(line, "; {} {state}", webhook[state]);
        }
    }
    line
}

fn delivery_line(delivery: &Value, text: impl Fn(&Value) -> String) -> String {
    let mut line = format!(
        "{}  {:<9}  {}  {}  {}  attempts: {}",
        delivery["number"],
        text(&delivery["state"]),
        text(&delivery["type"]),
        text(&delivery["webhook"]),
        text(&delivery["message_id"]),
        delivery["attempts"]
    );
    if let Some(error) = delivery["error"].as_str() {
        let _ = write!(line, "; {}", printable(error));
    }
    if let Some(next) = delivery["next_at"].as_str() {
        let _ = write!(line, "; next at {next}");
    }
    line
}
