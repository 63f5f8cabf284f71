//! Answers for people: short, in order, coloured only on a terminal.

use std::fmt::Write;
use std::io::IsTerminal;

use jiff::Timestamp;
use memory_language::text::{counted, span_of_time};
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

/// A number of an answer, with its noun.
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
    if let Some(unread) = answer["unread"].as_i64() {
        let texts = counted(unread, "text");
        let _ = writeln!(out, "note: {texts} without events yet, still to be read");
    }
    for turn in list(answer, "turns") {
        let speaker = turn["author"].as_str().or(turn["role"].as_str()).unwrap_or("?");
        let _ = writeln!(
            out,
            "{} {}",
            style.bold(&format!("{} {}:", turn["turn_index"], printable(speaker))),
            style.dim(text(turn, "ts"))
        );
        out.push_str(&indented(text(turn, "content"), "  "));
    }
    for (n, result) in list(answer, "results").iter().enumerate() {
        push_result(&mut out, n + 1, result, style);
    }
    let directives = list(answer, "directives");
    if !directives.is_empty() {
        let _ = writeln!(out, "{}", style.bold("Wanted"));
    }
    for directive in directives {
        let since = text(directive, "since").get(..10).unwrap_or_default();
        let _ = writeln!(out, "  {}  {}", printable(text(directive, "text")), style.dim(since));
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
            commitment_status(event),
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

/// Events of a list, one a line, with their owners and sources.
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
        let origin = format!("{} · {} · {source}", text(event, "id"), day(text(result, "date")));
        let _ = writeln!(out, "{state}{}{due}  {}", printable(text(event, "summary")), style.dim(&origin));
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

/// "(done)" behind a commitment that is no longer just open.
fn commitment_status(event: &Value) -> String {
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
            commitment_status(event),
            printable(text(event, "summary")),
            style.dim(text(event, "id"))
        );
        // One event is shown with its evidence.
        if text(result, "id").starts_with("evt_") {
            push_evidence(out, event, style);
        }
    }
    push_rest(out, result, style);
}

/// How many events are not shown, and at which other places the text is.
fn push_rest(out: &mut String, result: &Value, style: &Style) {
    let shown = list(result, "events").len() as u64;
    match result["event_count"].as_u64().map(|all| all.saturating_sub(shown)) {
        Some(more @ 1..) if shown > 0 => {
            let _ = writeln!(out, "   {}", style.dim(&format!("and {more} more")));
        }
        Some(all @ 1..) => {
            let _ = writeln!(out, "   {}", style.dim(&counted(all, "event")));
        }
        _ => {}
    }
    for place in list(result, "places") {
        let place = place_of(place);
        let _ = writeln!(out, "   {}", style.dim(&format!("also at {place}")));
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

/// The exact words that an event was read from, and their place.
fn push_evidence(out: &mut String, event: &Value, style: &Style) {
    for evidence in list(event, "evidence") {
        let place =
            format!("{} {}–{}", text(evidence, "artifact_id"), evidence["start_char"], evidence["end_char"]);
        let quote = printable(text(evidence, "quote")).replace('\n', " ");
        let _ = writeln!(out, "     “{quote}”  {}", style.dim(&place));
    }
}

/// A source with its id there, or a turn; a text that has no other place.
fn place_of(place: &Value) -> String {
    let parts = ["source", "source_id", "conversation_id"].into_iter().filter_map(|key| place[key].as_str());
    let mut parts: Vec<String> = parts.map(printable).collect();
    parts.extend(place["turn_index"].as_i64().map(|turn| format!("turn {turn}")));
    parts.extend((place["superseded"] == true).then(|| "outdated".to_owned()));
    if parts.is_empty() { "no place of its own".to_owned() } else { parts.join(" ") }
}

fn push_neighbour(out: &mut String, neighbour: &Value, style: &Style) {
    let speaker = neighbour["author"].as_str().or(neighbour["role"].as_str());
    let speaker = speaker.map(|name| format!("{}: ", printable(name))).unwrap_or_default();
    out.push_str(&style.dim(&indented(&format!("{speaker}{}", text(neighbour, "text")), "   ")));
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

/// When something began, and how long ago that is.
fn since(began: &str) -> String {
    let ago = began.parse::<Timestamp>().map(|at| Timestamp::now().duration_since(at).as_secs());
    match ago {
        Ok(seconds) if seconds >= 0 => format!(" (since {began}, {} ago)", span_of_time(seconds)),
        _ => format!(" (since {began})"),
    }
}

pub(crate) fn status(answer: &Value, style: &Style) -> String {
    let state = if answer["healthy"] == true { "healthy" } else { "NOT HEALTHY" };
    let mut out = format!("{}\n", style.bold(&format!("Remembrancer {}: {state}", text(answer, "version"))));
    for problem in list(answer, "problems") {
        let since = problem["since"].as_str().map(since).unwrap_or_default();
        let _ = writeln!(out, "  ! {}{since}", printable(text(problem, "what")));
        let _ = writeln!(out, "    → {}", printable(text(problem, "advice")));
    }
    for (name, service) in answer["services"].as_object().into_iter().flatten() {
        let _ = writeln!(
            out,
            "  {name:<16} {:<5} {}",
            text(service, "status"),
            printable(text(service, "detail"))
        );
    }
    let of = |key: &str, noun: &str| counted(answer["counts"][key].as_i64().unwrap_or(0), noun);
    let _ = writeln!(
        out,
        "  {}, {}, {}, {}",
        of("artifacts", "artifact"),
        of("chunks", "chunk"),
        of("events", "event"),
        of("entities", "entity")
    );
    push_jobs(&mut out, &answer["jobs"]);
    if answer["job_status"].is_object() {
        push_text(&mut out, &answer["job_status"]);
    }
    out
}

/// The queue: how much of what, and how long the oldest waits.
fn push_jobs(out: &mut String, jobs: &Value) {
    if !jobs.is_object() {
        return;
    }
    let _ = write!(
        out,
        "  jobs: {} pending, {} processing, {} done, {} failed",
        jobs["pending"], jobs["processing"], jobs["done"], jobs["failed"]
    );
    if let Some(seconds) = jobs["oldest_pending_seconds"].as_f64() {
        let _ = write!(out, "; the oldest has waited for {}", span_of_time(seconds as i64));
    }
    out.push('\n');
    for (code, count) in jobs["failures"].as_object().into_iter().flatten() {
        let _ = writeln!(out, "    {count} × {code}");
    }
}

/// How far one text is: its events, then its vectors.
fn push_text(out: &mut String, job: &Value) {
    let number = |key: &str| job[key].as_i64();
    let fault = |job: &Value| {
        let code = job["last_error_code"].as_str().map(|code| format!(", {code}")).unwrap_or_default();
        let message = job["last_error_message"].as_str();
        code + &message.map(|message| format!(": {}", printable(message))).unwrap_or_default()
    };
    let _ = write!(out, "  {}: {}", text(job, "artifact_id"), text(job, "status"));
    if let Some(events) = number("event_count") {
        let _ = write!(out, ", {}", counted(events, "event"));
    }
    if job["events_cut"] == true {
        out.push_str(" (the most that one text may have; there may be more in it)");
    }
    let _ = writeln!(out, "{}", fault(job));
    let passages = counted(number("passages").unwrap_or(0), "passage");
    match number("passages_without_vector") {
        _ if text(job, "status") == "NOT_FOUND" => return,
        Some(missing) if missing > 0 => {
            let _ = write!(out, "    vectors: {missing} of {passages} without one, found by words alone");
        }
        _ => {
            let _ = write!(out, "    vectors: all, of {passages}");
        }
    }
    let embed = &job["embed_job"];
    if embed.is_object() {
        let _ = write!(out, "; {} (embed) {}{}", text(embed, "id"), text(embed, "status"), fault(embed));
    }
    out.push('\n');
}

/// A name with its type, how often it was mentioned, and the entities that it may be the same as.
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
    fn status_says_what_is_wrong_since_when_and_what_to_do_and_how_long_the_oldest_waits() {
        let answer = json!({
            "version": "1", "healthy": false,
            "problems": [{"what": "1 embed job has failed", "since": "2026-01-01T00:00:00Z", "advice": "Retry it."}],
            "services": {}, "counts": {"artifacts": 1, "chunks": 0, "events": 2, "entities": 1},
            "jobs": {"pending": 3, "processing": 0, "done": 4, "failed": 1, "oldest_pending_seconds": 7300.0,
                "failures": {"TIMED_OUT": 1}},
            "job_status": {"artifact_id": "art_1", "status": "DONE", "event_count": 2000, "events_cut": true,
                "passages": 5000, "passages_without_vector": 446,
                "embed_job": {"id": "job_7", "status": "FAILED", "last_error_code": "TIMED_OUT", "last_error_message": "slow"}},
        });
        let shown = status(&answer, &Style { is_coloured: false });
        for part in [
            "Remembrancer 1: NOT HEALTHY\n  ! 1 embed job has failed (since 2026-01-01T00:00:00Z, ",
            " ago)\n    → Retry it.\n",
            "  1 artifact, 0 chunks, 2 events, 1 entity\n",
            "1 failed; the oldest has waited for 2 h\n",
            "art_1: DONE, 2000 events (the most that one text may have; there may be more in it)\n",
            "vectors: 446 of 5000 passages without one, found by words alone; job_7 (embed) FAILED, TIMED_OUT: slow\n",
        ] {
            assert!(shown.contains(part), "{part} is not in\n{shown}");
        }
    }

    #[test]
    fn nothing_found_is_said() {
        assert_eq!(recalled(&json!({"results": []}), &Style { is_coloured: false }), "Nothing found.\n");
    }
}
