//! `audit`: who did what with which key, and when.

use std::fmt::Write;
use std::process::ExitCode;

use clap::Args;
use memory_engine::audit::{AuditFilter, Recorded};
use serde_json::{Value, json};

use super::jobs::Scope;
use super::print::printable;
use crate::operator::with_memory;
use crate::settings::Settings;

/// How many ids a line shows.
const IDS_SHOWN: usize = 3;

#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    /// Only what was done by this key: its id, or its name
    #[arg(long, value_name = "KEY")]
    by: Option<String>,
    /// Only what was about this text, event, observation or key, e.g. `art_0123456789ab`
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// Only calls of this tool, or this command, e.g. `forget` or `keys revoke`
    #[arg(long, value_name = "TOOL")]
    action: Option<String>,
    /// Only entries before this number, the last of the page before
    #[arg(long, value_name = "NUMBER")]
    before: Option<i64>,
    /// Most entries, 1 to 1000
    #[arg(long, short = 'n', default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
    #[command(flatten)]
    scope: Scope,
}

pub(crate) async fn run(settings: &Settings, args: AuditArgs) -> anyhow::Result<ExitCode> {
    let AuditArgs { by, id, action, before, limit, scope } = args;
    let filter = AuditFilter { namespace: scope.namespace(settings)?, who: by, id, action, before };
    let listing = with_memory(settings, async |open| {
        Ok(open.memory.audit().list(&filter, i64::from(limit) + 1).await?)
    });
    let mut entries = listing.await?;
    let has_more = entries.len() > usize::from(limit);
    entries.truncate(usize::from(limit));
    if scope.json {
        let entries: Vec<Value> = entries.iter().map(as_json).collect();
        println!("{}", serde_json::to_string_pretty(&json!({ "entries": entries, "has_more": has_more }))?);
    } else {
        println!("{}", readable(&entries, has_more));
    }
    Ok(ExitCode::SUCCESS)
}

fn as_json(entry: &Recorded) -> Value {
    json!({
        "number": entry.number,
        "at": entry.at.to_string(),
        "key_id": entry.key_id,
        "who": entry.who,
        "namespace": entry.namespace,
        "action": entry.action,
        "ids": entry.ids,
        "outcome": entry.outcome,
    })
}

fn readable(entries: &[Recorded], has_more: bool) -> String {
    let mut out = String::new();
    for entry in entries {
        let key = entry.key_id.as_ref().map_or_else(String::new, |id| format!(" ({id})"));
        let place = entry.namespace.as_ref().map_or_else(String::new, |name| format!(" in {name}"));
        let mut ids = entry.ids.iter().take(IDS_SHOWN).cloned().collect::<Vec<_>>().join(" ");
        if entry.ids.len() > IDS_SHOWN {
            let _ = write!(ids, " and {} more", entry.ids.len() - IDS_SHOWN);
        }
        let at = entry.at.strftime("%Y-%m-%d %H:%M:%S");
        let line = format!(
            "{}  {at}  {}{key}  {}{place}: {}  {ids}",
            entry.number, entry.who, entry.action, entry.outcome
        );
        let _ = writeln!(out, "{}", printable(line.trim_end()));
    }
    match (entries.last(), has_more) {
        (None, _) => "Nothing is recorded that matches.".to_owned(),
        (Some(last), true) => format!("{out}There is more: --before {}", last.number),
        (Some(_), false) => out.trim_end().to_owned(),
    }
}
