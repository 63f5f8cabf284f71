//! Answers for people: short, in order, coloured only on a terminal.

mod recalled;
mod status;

use std::fmt::Write;
use std::io::IsTerminal;

use memory_language::text::counted;
use serde_json::Value;

use crate::option_names::as_options;

pub(super) use recalled::recalled;
pub(super) use status::status;

/// Whether standard output takes colour.
pub(crate) struct Style {
    is_coloured: bool,
}

impl Style {
    pub(crate) fn of_stdout() -> Self {
        let is_coloured = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        Self { is_coloured }
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.is_coloured { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    pub(super) fn bold(&self, text: &str) -> String {
        self.paint("1", text)
    }

    pub(super) fn dim(&self, text: &str) -> String {
        self.paint("2", text)
    }
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

/// Control characters of stored text must not reach the terminal.
pub(super) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c }).collect()
}

/// A number of an answer, with its noun.
fn count_of(value: &Value, key: &str, noun: &str) -> String {
    counted(value[key].as_u64().unwrap_or(0), noun)
}

/// "3 chunks, ", or nothing: a short text has none, which says nothing of whether it is there.
fn chunks_of(counts: &Value) -> String {
    match counts["chunks"].as_i64() {
        None | Some(0) => String::new(),
        Some(chunks) => counted(chunks, "chunk") + ", ",
    }
}

/// The warnings of an answer, a line each.
fn notes(answer: &Value) -> String {
    let said = list(answer, "warnings").iter().filter_map(Value::as_str);
    said.map(|warning| format!("note: {}\n", printable(&as_options(warning)))).collect()
}

fn day(timestamp: &str) -> &str {
    timestamp.get(..10).unwrap_or(timestamp)
}

fn indented(text: &str, indent: &str) -> String {
    printable(text)
        .lines()
        .filter(|l| !l.trim().is_empty())
        .map(|l| format!("{indent}{}\n", l.trim()))
        .collect()
}

pub(crate) fn remembered(answer: &Value, style: &Style) -> String {
    let mut out = format!("{}  {}", style.bold(text(answer, "id")), text(answer, "status"));
    let chunks = answer["num_chunks"].as_u64().unwrap_or(0);
    let tokens = count_of(answer, "token_count", "token");
    let _ = match chunks {
        0 => write!(out, "  {tokens}"),
        n => write!(out, "  {tokens} in {}", counted(n, "chunk")),
    };
    // Known where the extraction was waited for.
    if answer["event_count"].is_u64() {
        let _ = write!(out, ", {}", count_of(answer, "event_count", "event"));
    } else if answer["events_queued"] == true {
        out.push_str(", extraction queued");
    }
    if answer["embedding"] == "pending" {
        out.push_str(", vectors pending");
    }
    let _ = write!(out, "\n{}", indented(text(answer, "summary"), "  "));
    out
}

/// Events of a list, one a line, with their owners and sources.
pub(crate) fn listed(answer: &Value, style: &Style) -> String {
    let mut out = notes(answer);
    for (result, event) in
        list(answer, "results").iter().filter_map(|r| Some((r, list(r, "events").first()?)))
    {
        let state = event["state"].as_str().map(|state| format!("{state:<9}  ")).unwrap_or_default();
        let due = event["due_time"].as_str().map(|d| format!(" — due {}", day(d))).unwrap_or_default();
        let source = list(event, "evidence").first().map_or("", |evidence| text(evidence, "artifact_id"));
        let origin = format!("{} · {} · {source}", text(event, "id"), day(text(result, "date")));
        let (summary, owner) = (text(event, "summary"), owner_unsaid(event));
        let _ = writeln!(out, "{state}{}{owner}{due}  {}", printable(summary), style.dim(&origin));
        if let Some(snippet) = result["said_later"]["snippet"].as_str() {
            let later = &result["said_later"];
            let (on, id) = (day(text(later, "date")), style.dim(text(later, "id")));
            let _ = writeln!(out, "  said on {on}: {}  {id}", printable(snippet));
        }
    }
    if let Some(cursor) = answer["next_cursor"].as_str() {
        let more = format!("{} in all; more with --cursor {cursor}", answer["total_events"]);
        let _ = writeln!(out, "{}", style.dim(&more));
    }
    if out.is_empty() {
        out.push_str("Nothing found.\n");
    }
    out
}

/// Who owns it, where its summary does not say so.
fn owner_unsaid(event: &Value) -> String {
    let summary = text(event, "summary").to_lowercase();
    let is_said = |name: &str| name.split(' ').any(|word| summary.contains(&word.to_lowercase()));
    let owners = list(event, "actors").iter().filter(|actor| text(actor, "role") == "owner");
    let names: Vec<String> =
        owners.map(|actor| text(actor, "name")).filter(|name| !is_said(name)).map(printable).collect();
    if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) }
}

pub(crate) fn forgotten(answer: &Value, style: &Style) -> String {
    let cascade = &answer["cascade"];
    format!(
        "{}  forgotten, with {}{}, {}\n",
        style.bold(text(answer, "id")),
        chunks_of(cascade),
        count_of(cascade, "events", "event"),
        count_of(cascade, "entities", "entity")
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::owner_unsaid;

    #[test]
    fn an_owner_is_shown_where_the_summary_does_not_name_them() {
        let event = |summary: &str| {
            let actors =
                json!([{"name": "Jonas Lind", "role": "owner"}, {"name": "Ann", "role": "stakeholder"}]);
            json!({"summary": summary, "actors": actors})
        };
        assert_eq!(owner_unsaid(&event("Will call him tomorrow.")), " (Jonas Lind)");
        assert_eq!(owner_unsaid(&event("Jonas will call him tomorrow.")), "");
        assert_eq!(owner_unsaid(&json!({"summary": "It is done."})), "");
    }
}
