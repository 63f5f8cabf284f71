//! Many short documents in one file, with their events marked in the text:
//!
//! ```text
//! === notes-database-001 | context=note | date=2025-03-04 | author=Ines Duarte
//! {{Decision| We go with Postgres}} because the team knows it.
//! ```
//!
//! A document begins with `=== `, its name and what is known of it (context, date, author, role, title, participants divided by `;`). An
//! event is `{{Category| quote}}`, `{{One/Other| quote}}` where either is right, `{{?Category| quote}}` where it counts neither
//! way. Participants and times are not labelled in this form.

use anyhow::Context;
use serde_json::{Value, json};

use super::gold::Document;
use super::labels::document;

/// What a document begins with, at the start of a line.
const HEAD: &str = "=== ";
const CONTEXT: &str = "note";

/// The documents of a file, and what is wrong with others.
pub(super) fn documents(file: &str, marked: &str) -> (Vec<Document>, Vec<String>) {
    let (mut documents, mut problems) = (Vec::new(), Vec::new());
    let mut rest = marked.strip_prefix('\u{feff}').unwrap_or(marked).trim_start();
    if !rest.starts_with(HEAD) {
        return (documents, vec![format!("{file}: a document begins with '{HEAD}' and its name")]);
    }
    while let Some(begun) = rest.strip_prefix(HEAD) {
        let end = begun.find("\n=== ").map_or(begun.len(), |at| at + 1);
        let (one, after) = begun.split_at(end);
        rest = after;
        let (head, body) = one.split_once('\n').unwrap_or((one, ""));
        match read(head, body) {
            Ok(document) => documents.push(document),
            Err(wrong) => problems.extend(wrong.into_iter().map(|what| format!("{file}: {what}"))),
        }
    }
    (documents, problems)
}

fn read(head: &str, body: &str) -> Result<Document, Vec<String>> {
    let mut fields = head.split(" | ").map(str::trim);
    let name = fields.next().unwrap_or_default();
    let say = |what: String| vec![format!("{name}: {what}")];
    let (text, events) = unmarked(body).map_err(|error| say(error.to_string()))?;
    let mut labels = json!({ "context": CONTEXT, "events": events, "entities": [] });
    for field in fields {
        let (key, value) =
            field.split_once('=').ok_or_else(|| say(format!("'{field}' is not written key=value")))?;
        labels[key] = match key {
            "participants" => value.split(';').map(str::trim).collect(),
            _ => Value::from(value),
        };
    }
    document(name, text, &labels.to_string()).map(|document| Document { is_whole: false, ..document })
}

/// The text without its marks, and the events that were marked.
fn unmarked(body: &str) -> anyhow::Result<(String, Vec<Value>)> {
    let (mut text, mut events, mut rest) = (String::new(), Vec::new(), body.trim());
    while let Some((before, begun)) = rest.split_once("{{") {
        let (mark, after) = begun.split_once("}}").context("a mark does not end with '}}'")?;
        let (category, quote) = mark
            .split_once('|')
            .with_context(|| format!("the mark '{mark}' has no '|' behind its category"))?;
        let quote = quote.trim();
        let named = category.strip_prefix('?');
        let categories: Vec<&str> = named.unwrap_or(category).split('/').map(str::trim).collect();
        events.push(json!({ "category": categories, "quote": quote, "optional": named.is_some() }));
        text.push_str(before);
        text.push_str(quote);
        rest = after;
    }
    text.push_str(rest);
    Ok((text, events))
}

#[cfg(test)]
mod tests {
    use memory_core::event::Category;

    use super::*;

    #[test]
    fn marks_become_labels_and_leave_the_text() {
        let file = "=== notes-a-1 | context=chat | date=2025-03-04 | participants=Ana; Tom\n\
                    {{Decision/Change| We go with Postgres}} now.\nNothing here.\n\n=== negative-b-1\nA plain text.\n";
        let (documents, problems) = documents("x.marked", file);
        assert_eq!((documents.len(), problems), (2, Vec::new()));
        assert_eq!(documents[0].text(), "We go with Postgres now.\nNothing here.");
        assert_eq!(documents[0].source.participants, ["Ana", "Tom"]);
        let event = &documents[0].events[0];
        assert_eq!(event.categories, [Category::Decision, Category::Change]);
        assert_eq!(event.spans[0].of(documents[0].text()), Some("We go with Postgres"));
        assert!(!event.is_optional && documents[1].is_negative());
    }

    #[test]
    fn what_is_wrong_names_file_and_document() {
        for (text, reason) in [
            ("No head", "begins with '=== '"),
            ("=== notes-a\n{{Decision| X", "does not end"),
            ("=== notes-a\n{{Decision X}}", "no '|'"),
            ("=== notes-a\n{{Wish| X}}", "unknown category 'Wish'"),
            ("=== notes-a | date\nX", "not written key=value"),
            ("=== notes-a | colour=red\nX", "not as labels are written"),
        ] {
            let (documents, problems) = documents("x.marked", text);
            assert!(documents.is_empty() && problems.len() == 1, "{text}: {problems:?}");
            assert!(problems[0].starts_with("x.marked: ") && problems[0].contains(reason), "{problems:?}");
        }
    }
}
