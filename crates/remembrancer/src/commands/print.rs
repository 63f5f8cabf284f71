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
    let tokens = &answer["token_count"];
    let _ = match chunks {
        0 => write!(out, "  {tokens} tokens"),
        n => write!(out, "  {tokens} tokens in {n} chunks"),
    };
    if answer["events_queued"] == true {
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

/// Events of a list, one a line, with who owns them and where they were told.
pub(crate) fn listed(answer: &Value, style: &Style) -> String {
    let mut out = String::new();
    for warning in list(answer, "warnings") {
        let _ = writeln!(out, "note: {}", warning.as_str().unwrap_or_default());
    }
    for (result, event) in
        list(answer, "results").iter().filter_map(|r| Some((r, list(r, "events").first()?)))
    {
        let state = event["state"].as_str().map(|state| format!("{state:<9}  ")).unwrap_or_default();
        let due = event["due_time"].as_str().map(|d| format!(" — due {}", day(d))).unwrap_or_default();
        let source = list(event, "evidence").first().map_or("", |evidence| text(evidence, "artifact_id"));
        let told = format!("{} · {} · {source}", text(event, "id"), day(text(result, "date")));
        let _ = writeln!(out, "{state}{}{due}  {}", printable(text(event, "summary")), style.dim(&told));
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
    about.extend(result["source_id"].as_str().map(printable));
    about.push(format!("score {}", result["score"]));
    about.push(text(result, "id").to_owned());
    let title =
        result["title"].as_str().map(|t| format!("{}  ", style.bold(&printable(t)))).unwrap_or_default();
    let _ = writeln!(out, "{n}. {title}{}", style.dim(&about.join(" · ")));
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
    }
    let shown = list(result, "events").len() as u64;
    match result["event_count"].as_u64().map(|all| all.saturating_sub(shown)) {
        Some(more @ 1..) if shown > 0 => {
            let _ = writeln!(out, "   {}", style.dim(&format!("and {more} more")));
        }
        Some(all @ 1..) => {
            let events = if all == 1 { "1 event".to_owned() } else { format!("{all} events") };
            let _ = writeln!(out, "   {}", style.dim(&events));
        }
        _ => {}
    }
    for place in list(result, "places") {
        let place = place_of(place);
        let _ = writeln!(out, "   {}", style.dim(&format!("stands at {place}")));
    }
}

/// A source with its id there, or a turn; a text that stands nowhere else.
fn place_of(place: &Value) -> String {
    let parts = ["source", "source_id", "conversation_id"].into_iter().filter_map(|key| place[key].as_str());
    let mut parts: Vec<String> = parts.map(printable).collect();
    parts.extend(place["turn_index"].as_i64().map(|turn| format!("turn {turn}")));
    parts.extend((place["superseded"] == true).then(|| "outdated".to_owned()));
    if parts.is_empty() { "no place of its own".to_owned() } else { parts.join(" ") }
}

fn push_neighbour(out: &mut String, neighbour: &Value, style: &Style) {
    let who = neighbour["author"].as_str().or(neighbour["role"].as_str());
    let who = who.map(|who| format!("{}: ", printable(who))).unwrap_or_default();
    out.push_str(&style.dim(&indented(&format!("{who}{}", text(neighbour, "text")), "   ")));
}

pub(crate) fn forgotten(answer: &Value, style: &Style) -> String {
    let cascade = &answer["cascade"];
    format!(
        "{}  forgotten, with {} chunks, {} events, {} entities\n",
        style.bold(text(answer, "id")),
        cascade["chunks"],
        cascade["events"],
        cascade["entities"]
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
    fn nothing_found_is_said() {
        assert_eq!(recalled(&json!({"results": []}), &Style { is_coloured: false }), "Nothing found.\n");
    }
}
