//! Answers for people: short, in order, coloured only on a terminal.

use std::fmt::Write;
use std::io::IsTerminal;

use serde_json::Value;

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

/// `1 artifact`, `2 artifacts`, `0 entities`.
pub(super) fn counted(count: u64, noun: &str) -> String {
    match (count, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) if !stem.ends_with(['a', 'e', 'o']) => format!("{count} {stem}ies"),
        _ => format!("{count} {noun}s"),
    }
}

/// The same of a number that stands in an answer.
fn count_of(value: &Value, key: &str, noun: &str) -> String {
    counted(value[key].as_u64().unwrap_or(0), noun)
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

pub(crate) fn recalled(answer: &Value, style: &Style) -> String {
    let mut out = String::new();
    for warning in list(answer, "warnings") {
        let _ = writeln!(out, "note: {}", warning.as_str().unwrap_or_default());
    }
    for turn in list(answer, "turns") {
        let who = turn["author"].as_str().or(turn["role"].as_str()).unwrap_or("?");
        let _ = writeln!(
            out,
            "{} {}",
            style.bold(&format!("{} {}:", turn["turn_index"], printable(who))),
            style.dim(text(turn, "ts"))
        );
        out.push_str(&indented(text(turn, "content"), "  "));
    }
    for (n, result) in list(answer, "results").iter().enumerate() {
        push_result(&mut out, n + 1, result, style);
    }
    let facts = list(answer, "facts");
    if !facts.is_empty() {
        let _ = writeln!(out, "{}", style.bold("Facts"));
    }
    for fact in facts {
        let _ = writeln!(
            out,
            "  {}  {}  {}",
            printable(text(fact, "entity")),
            printable(text(fact, "observation")),
            style.dim(&format!("({}, {})", printable(text(fact, "type")), printable(text(fact, "threadId"))))
        );
    }
    let related = list(answer, "related");
    if !related.is_empty() {
        let _ = writeln!(out, "{}", style.bold("Related"));
    }
    for event in related {
        let _ = writeln!(
            out,
            "  {}{}  {}  {}",
            text(event, "category"),
            fate(event),
            printable(text(event, "summary")),
            style.dim(&format!("({}, {})", printable(text(event, "reason")), text(event, "artifact_id")))
        );
    }
    let entities: Vec<String> = list(answer, "entities").iter().map(entity).collect();
    if !entities.is_empty() {
        let _ = writeln!(out, "{}\n  {}", style.bold("Who and what"), entities.join(", "));
    }
    if let Some(cursor) = answer["next_cursor"].as_str() {
        let _ = writeln!(out, "{}", style.dim(&format!("more with --cursor {cursor}")));
    }
    if out.is_empty() {
        out.push_str("Nothing found.\n");
    }
    out
}

/// «(done)» behind a commitment that is no longer just open.
fn fate(event: &Value) -> String {
    event["state"]
        .as_str()
        .filter(|state| *state != "open")
        .map(|state| format!(" ({state})"))
        .unwrap_or_default()
}

fn push_result(out: &mut String, n: usize, result: &Value, style: &Style) {
    let mut about = vec![text(result, "context").to_owned(), day(text(result, "date")).to_owned()];
    about.extend(result["author"].as_str().map(printable));
    about.push(format!("score {}", result["score"]));
    about.push(text(result, "id").to_owned());
    let title =
        result["title"].as_str().map(|t| format!("{}  ", style.bold(&printable(t)))).unwrap_or_default();
    let _ = writeln!(out, "{n}. {title}{}", style.dim(&about.join(" · ")));
    push_successor(out, result, style);
    push_explanation(out, &result["explain"], style);
    let body = result["content"].as_str().unwrap_or_else(|| text(result, "snippet"));
    let neighbours = list(result, "neighbours");
    let (before, after) = neighbours.split_at(neighbours.partition_point(|n| n["position"] == "before"));
    for neighbour in before {
        push_neighbour(out, neighbour, style);
    }
    out.push_str(&indented(body, "   "));
    for neighbour in after {
        push_neighbour(out, neighbour, style);
    }
    for event in list(result, "events") {
        let due = event["due_time"].as_str().map(|d| format!(" — due {}", day(d))).unwrap_or_default();
        let _ = writeln!(
            out,
            "   • {}{}  {}{due}  {}",
            text(event, "category"),
            fate(event),
            printable(text(event, "summary")),
            style.dim(text(event, "id"))
        );
        // Who asks for one event wants to see what it stands on.
        if text(result, "id").starts_with("evt_") {
            push_evidence(out, event, style);
        }
    }
}

/// That a newer text has taken its place, and which.
fn push_successor(out: &mut String, result: &Value, style: &Style) {
    let successor = match (result["superseded"] == true, result["superseded_by"].as_str()) {
        (false, _) => return,
        (true, Some(id)) => format!("superseded by {id}, a newer text at its place"),
        (true, None) => "superseded: a newer text has taken its place".to_owned(),
    };
    let _ = writeln!(out, "   {}", style.bold(&successor));
}

/// `explained: vector #1 0.81 (+0.4) · passage 0.8`: where each arm ranked it, and what it adds.
fn push_explanation(out: &mut String, explanation: &Value, style: &Style) {
    let part = |(name, value): (&String, &Value)| {
        let name = name.replace('_', " ");
        match value {
            Value::Object(arm) => {
                let share = arm.get("share").map(|share| format!(" (+{share})")).unwrap_or_default();
                format!("{name} #{} {}{share}", value["rank"], value["score"])
            }
            value => format!("{name} {value}"),
        }
    };
    let parts: Vec<String> = explanation.as_object().into_iter().flatten().map(part).collect();
    if !parts.is_empty() {
        let _ = writeln!(out, "   {}", style.dim(&format!("explained: {}", parts.join(" · "))));
    }
}

/// The exact words that an event was read from, and where they stand.
fn push_evidence(out: &mut String, event: &Value, style: &Style) {
    for evidence in list(event, "evidence") {
        let place =
            format!("{} {}–{}", text(evidence, "artifact_id"), evidence["start_char"], evidence["end_char"]);
        let quote = printable(text(evidence, "quote")).replace('\n', " ");
        let _ = writeln!(out, "     “{quote}”  {}", style.dim(&place));
    }
}

fn push_neighbour(out: &mut String, neighbour: &Value, style: &Style) {
    let who = neighbour["author"].as_str().or(neighbour["role"].as_str());
    let who = who.map(|who| format!("{}: ", printable(who))).unwrap_or_default();
    out.push_str(&style.dim(&indented(&format!("{who}{}", text(neighbour, "text")), "   ")));
}

pub(crate) fn forgotten(answer: &Value, style: &Style) -> String {
    let cascade = &answer["cascade"];
    format!(
        "{}  forgotten, with {}, {}, {}\n",
        style.bold(text(answer, "id")),
        count_of(cascade, "chunks", "chunk"),
        count_of(cascade, "events", "event"),
        count_of(cascade, "entities", "entity")
    )
}

pub(crate) fn status(answer: &Value, style: &Style) -> String {
    let state = if answer["healthy"] == true { "healthy" } else { "NOT HEALTHY" };
    let mut out = format!("{}\n", style.bold(&format!("Remembrancer {}: {state}", text(answer, "version"))));
    for (name, service) in answer["services"].as_object().into_iter().flatten() {
        let _ = writeln!(
            out,
            "  {name:<16} {:<5} {}",
            text(service, "status"),
            printable(text(service, "detail"))
        );
    }
    let counts = &answer["counts"];
    let _ = writeln!(
        out,
        "  {} artifacts, {} chunks, {} events, {} entities",
        counts["artifacts"], counts["chunks"], counts["events"], counts["entities"]
    );
    let jobs = &answer["jobs"];
    if jobs.is_object() {
        let _ = writeln!(
            out,
            "  jobs: {} pending, {} processing, {} done, {} failed",
            jobs["pending"], jobs["processing"], jobs["done"], jobs["failed"]
        );
        for (code, count) in jobs["failures"].as_object().into_iter().flatten() {
            let _ = writeln!(out, "    {count} × {code}");
        }
    }
    if let Some(job) = answer["job_status"].as_object() {
        let job = Value::Object(job.clone());
        let _ = write!(out, "  {}: {}", text(&job, "artifact_id"), text(&job, "status"));
        if let Some(events) = job["event_count"].as_i64() {
            let _ = write!(out, ", {events} events");
        }
        if let Some(code) = job["last_error_code"].as_str() {
            let _ = write!(out, ", last error {code}");
        }
        out.push('\n');
    }
    out
}

/// A name with its type, how often it was mentioned, and who else it may be.
fn entity(entity: &Value) -> String {
    let maybe: Vec<String> =
        list(entity, "possibly_same").iter().map(|other| printable(text(other, "name"))).collect();
    let maybe = if maybe.is_empty() { String::new() } else { format!(", may be {}", maybe.join(" or ")) };
    format!(
        "{} ({}, {}×{maybe})",
        printable(text(entity, "name")),
        text(entity, "type"),
        entity["mention_count"]
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn stored_text_cannot_drive_the_terminal() {
        let answer = json!({"results": [{"id": "art_1", "score": 1.0, "context": "note", "date": "2026-01-01T00:00:00Z",
            "snippet": "red \u{1b}[31malert\u{7}"}]});
        let shown = recalled(&answer, &Style { is_coloured: false });
        assert!(!shown.contains('\u{1b}') && !shown.contains('\u{7}'), "{shown:?}");
        assert!(shown.contains("alert"));
    }

    #[test]
    fn who_else_a_name_may_stand_for_is_said() {
        let answer = json!({"results": [], "entities": [
            {"name": "Alice", "type": "person", "mention_count": 1, "possibly_same": [{"name": "Alice Chen"}, {"name": "Alice Wu"}]},
            {"name": "Bob", "type": "person", "mention_count": 2}]});
        let shown = recalled(&answer, &Style { is_coloured: false });
        assert!(
            shown.contains("Alice (person, 1×, may be Alice Chen or Alice Wu), Bob (person, 2×)"),
            "{shown}"
        );
    }

    #[test]
    fn one_is_not_many() {
        let told = [(1, "artifact"), (2, "artifact"), (0, "entity"), (1, "entity"), (3, "key")];
        let told = told.map(|(count, noun)| counted(count, noun));
        assert_eq!(told, ["1 artifact", "2 artifacts", "0 entities", "1 entity", "3 keys"]);
    }

    #[test]
    fn nothing_found_is_said() {
        assert_eq!(recalled(&json!({"results": []}), &Style { is_coloured: false }), "Nothing found.\n");
    }
}
