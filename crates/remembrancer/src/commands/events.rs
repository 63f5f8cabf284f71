//! `commitments` and `decisions`: events without a question, for people.

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde_json::json;

use super::print;
use super::verbs::{given, show};
use crate::settings::Settings;

#[derive(Debug, Args)]
pub(crate) struct CommitmentsArgs {
    /// In this state; of any when left out
    #[arg(long, value_enum)]
    state: Option<State>,
    #[command(flatten)]
    list: ListArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DecisionsArgs {
    #[command(flatten)]
    list: ListArgs,
}

#[derive(Debug, Args)]
struct ListArgs {
    /// Of this person, by any of their names
    #[arg(long, value_name = "NAME")]
    owner: Option<String>,
    /// Told in texts from this source
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    /// Told in texts of this author
    #[arg(long, value_name = "NAME")]
    author: Option<String>,
    /// Told in texts with this tag; may be given several times
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Told in texts of this date or later: 2026-03-01
    #[arg(long, value_name = "DATE")]
    date_from: Option<String>,
    /// Told in texts of this date or earlier
    #[arg(long, value_name = "DATE")]
    date_to: Option<String>,
    /// Most events, 1 to 50
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<i64>,
    /// The next page, as the page before names it
    #[arg(long)]
    cursor: Option<String>,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum State {
    Open,
    Overdue,
    Done,
    Cancelled,
}

pub(crate) async fn commitments(settings: &Settings, args: CommitmentsArgs) -> anyhow::Result<ExitCode> {
    let state = args.state.and_then(|state| Some(state.to_possible_value()?.get_name().to_owned()));
    list(settings, "Commitment", state, args.list).await
}

pub(crate) async fn decisions(settings: &Settings, args: DecisionsArgs) -> anyhow::Result<ExitCode> {
    list(settings, "Decision", None, args.list).await
}

async fn list(
    settings: &Settings,
    category: &str,
    state: Option<String>,
    args: ListArgs,
) -> anyhow::Result<ExitCode> {
    let arguments = given(json!({
        "categories": [category], "state": state, "owner": args.owner, "source": args.source, "author": args.author,
        "tags": args.tags, "date_from": args.date_from, "date_to": args.date_to, "limit": args.limit,
        "cursor": args.cursor,
    }));
    show(settings, "recall", arguments, args.json, print::listed).await
}
