//! What `recall` found: results with their events and neighbours, then what belongs to them.

use std::fmt::Write;

use memory_language::text::counted;
use serde_json::Value;

use super::{Style, day, indented, list, notes, printable, text};

pub(crate) fn recalled(answer: &Value, style: &Style) -> String {
    let mut out = notes(answer);
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
        let sentence = directive["sentence"].as_str().unwrap_or(text(directive, "text"));
        let _ = writeln!(out, "  {}  {}", printable(sentence), style.dim(since));
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
    fn nothing_found_is_said() {
        assert_eq!(recalled(&json!({"results": []}), &Style { is_coloured: false }), "Nothing found.\n");
    }
}
