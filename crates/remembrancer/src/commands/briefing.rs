//! `briefing` for people.

use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};

use super::print::{Style, printable};
use super::verbs::{given, show};
use crate::command_line::whole_number;
use crate::settings::Settings;
use crate::tools::briefing::Output;

#[derive(Debug, Args)]
pub(crate) struct BriefingArgs {
    /// Only of this project what was stored, decided and done last: what has the tag `project:NAME`
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// The same of what has this tag; may be given several times
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Most tokens of the answer, 200 to 10000; 1500 when left out
    #[arg(long, value_name = "N", value_parser = whole_number)]
    max_tokens: Option<i64>,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(settings: &Settings, args: BriefingArgs) -> anyhow::Result<ExitCode> {
    let arguments =
        given(json!({ "project": args.project, "tags": args.tags, "max_tokens": args.max_tokens }));
    show(settings, "briefing", arguments, args.json, shown).await
}

fn shown(answer: &Value, _: &Style) -> String {
    match serde_json::from_value::<Output>(answer.clone()) {
        Ok(briefing) if !briefing.is_empty() => printable(&briefing.markdown()),
        _ => "Nothing is known yet.\n".to_owned(),
    }
}
