//! Notes in Markdown, as basic-memory and Obsidian keep them: front matter, `[[links]]` and `- relation [[Target]]`.

use std::io;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::{Found, Take, Text, tags, text_date};
use crate::transcript::clean;

/// A larger note is none that a person has written.
const NOTE_MAX_BYTES: u64 = 10 << 20;
const LINKS_MAX: usize = 1_000;

static LINK: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(!?)\[\[([^\]|#\n]+)").ok());
/// An item of a list that says how the note refers to the other.
static RELATION: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?m)^\s*[-*]\s+([a-z][a-z _-]{1,40}?)\s+\[\[").ok());
static TAG: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?:^|\s)#([A-Za-z][\w/-]{1,60})").ok());

pub(super) fn read(path: &Path, name: &str, take: Take<'_>) -> io::Result<()> {
    if path.metadata()?.len() > NOTE_MAX_BYTES {
        take(Found::Problem { line: 1, reason: format!("longer than {} MB", NOTE_MAX_BYTES >> 20) });
        return Ok(());
    }
    let Ok(whole) = String::from_utf8(std::fs::read(path)?) else {
        take(Found::Problem { line: 1, reason: "it is not UTF-8".to_owned() });
        return Ok(());
    };
    let whole = whole.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let (front, body) = front_matter(&whole);
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let field = |name: &str| front.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
    let title = field("title").and_then(|title| title.as_str().map(str::to_owned)).unwrap_or(stem);
    let Some(content) = clean(body) else { return Ok(()) };
    let dates = ["date", "created", "created_at", "modified", "updated"];
    let date = dates.iter().find_map(|name| text_date(field(name)?.as_str()?));
    let mut all = field("tags").map(|given| tags(&given)).unwrap_or_default();
    if let Some(tag) = TAG.as_ref() {
        all.extend(tag.captures_iter(&content).take(50).map(|found| found[1].to_owned()));
    }
    all.sort();
    all.dedup();
    all.truncate(50);
    let links = links(&title, &content);
    let source_id = Some(name.to_owned());
    let text = Text {
        content,
        context: "document",
        source_id,
        title: Some(title),
        date,
        tags: all,
        ..Text::default()
    };
    if !take(Found::Text(text)) {
        return Ok(());
    }
    for link in links {
        if !take(link) {
            break;
        }
    }
    Ok(())
}

/// What stands between the first two lines of `---`, as far as it is plain: names with a value or a list.
fn front_matter(text: &str) -> (Vec<(String, Value)>, &str) {
    let Some(rest) = text.strip_prefix("---\n") else { return (Vec::new(), text) };
    let Some(end) = rest.find("\n---\n") else { return (Vec::new(), text) };
    let mut fields: Vec<(String, Value)> = Vec::new();
    for line in rest[..end].lines() {
        let item = line.trim_start().strip_prefix("- ").map(|item| Value::String(plain(item)));
        match (item, line.split_once(':')) {
            (Some(item), _) => match fields.last_mut() {
                Some((_, Value::Array(items))) => items.push(item),
                Some((_, value)) if value.as_str() == Some("") => *value = Value::Array(vec![item]),
                _ => {}
            },
            (None, Some((name, value))) if !line.starts_with(' ') => {
                let value = value.trim();
                let list = value.strip_prefix('[').and_then(|list| list.strip_suffix(']'));
                let value = match list {
                    Some(list) => list.split(',').map(|item| Value::String(plain(item))).collect(),
                    None => Value::String(plain(value)),
                };
                fields.push((name.trim().to_lowercase(), value));
            }
            _ => {}
        }
    }
    (fields, &rest[end + 5..])
}

fn plain(text: &str) -> String {
    text.trim().trim_matches(['"', '\'']).to_owned()
}

/// The notes that a note refers to; an item of a list may say how.
fn links(title: &str, text: &str) -> Vec<Found> {
    let (Some(links), Some(relations)) = (LINK.as_ref(), RELATION.as_ref()) else { return Vec::new() };
    let kinds: Vec<(usize, String)> = relations
        .captures_iter(text)
        .filter_map(|found| Some((found.get(0)?.end(), found[1].replace([' ', '-'], "_"))))
        .collect();
    let mut found: Vec<Found> = Vec::new();
    for link in links.captures_iter(text) {
        // A picture, or a part that is shown here.
        if !link[1].is_empty() || found.len() == LINKS_MAX {
            continue;
        }
        let at = link.get(2).map_or(0, |target| target.start());
        let kind = kinds.iter().find(|(end, _)| *end == at).map(|(_, kind)| kind.clone());
        let to = link[2].trim().to_owned();
        let link =
            Found::Link { from: title.to_owned(), to, kind: kind.unwrap_or_else(|| "links_to".to_owned()) };
        if !found.contains(&link) {
            found.push(link);
        }
    }
    found
}
