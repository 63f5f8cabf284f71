//! Notes in Markdown as people and their programs keep them: front matter, `[[links]]`, `- relation [[Target]]`, and links to
//! other files. A pure reader: where a link leads is said by those that have the other notes.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::values::{tags, text_date};

/// Links and tags of a note, at most.
const LINKS_MAX: usize = 1_000;
const TAGS_MAX: usize = 50;

/// `[[Name|shown]]`, `![[picture]]`, `[shown](file.md)`, `[shown](<file with spaces.md>)`.
static LINK: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(!?)(?:\[\[([^\]|#\n]+)|\[[^\[\]\n]*\]\((?:<([^>\n]+)>|([^()\s]+)))").ok());
/// An item of a list that says how the note refers to the other.
static RELATION: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?m)^\s*[-*]\s+([a-z][a-z _-]{1,40}?)\s+\[\[").ok());
static TAG: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?:^|\s)#([A-Za-z][\w/-]{1,60})").ok());

/// A note: what its front matter says of it, and its text.
#[derive(Debug, Default, PartialEq)]
pub struct Note<'a> {
    pub title: Option<String>,
    pub author: Option<String>,
    /// RFC 3339, or a day.
    pub date: Option<String>,
    pub tags: Vec<String>,
    pub aliases: Vec<String>,
    /// The other fields, as `name: value`.
    pub others: Vec<String>,
    pub body: &'a str,
}

/// Where a link leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The name of a note, or its path without the ending.
    Name(String),
    /// A path from the note's own folder.
    Path(String),
}

/// A note refers to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    pub to: Target,
    pub kind: String,
}

impl<'a> Note<'a> {
    /// `text` may begin with a byte order mark; its lines end as on any system.
    pub fn parse(text: &'a str) -> Self {
        let text = text.trim_start_matches('\u{feff}');
        let (fields, body) = front_matter(text);
        let mut note = Self { body, ..Self::default() };
        let (mut dates, mut authors) = (Vec::new(), Vec::new());
        for (name, value) in fields {
            match (name.as_str(), value.as_str()) {
                ("title", Some(title)) if !title.is_empty() => note.title = Some(title.to_owned()),
                ("author", Some(author)) if !author.is_empty() => authors.push(author.to_owned()),
                ("date" | "created" | "created_at" | "modified" | "updated", Some(date)) => {
                    match text_date(date) {
                        Some(date) => dates.push((rank(&name), date)),
                        None => note.others.push(line(&name, &value)),
                    }
                }
                ("tags" | "tag", _) => note.tags.extend(tags(&value)),
                ("aliases" | "alias", _) => {
                    note.aliases.extend(tags(&value));
                    note.others.push(line(&name, &value));
                }
                _ => note.others.push(line(&name, &value)),
            }
        }
        note.date = dates.into_iter().min().map(|(_, date)| date);
        note.author = authors.into_iter().next();
        note.others.retain(|line| !line.is_empty());
        note.tags = tidied(std::mem::take(&mut note.tags));
        note
    }

    /// The words of its text that begin with `#`, and the tags of its front matter.
    pub fn all_tags(&self) -> Vec<String> {
        let text = without_code(self.body);
        let found = TAG.iter().flat_map(|tag| tag.captures_iter(&text)).take(TAGS_MAX);
        tidied(self.tags.iter().cloned().chain(found.map(|found| found[1].to_owned())).collect())
    }

    /// The notes that it refers to, each once; an item of a list may say how.
    pub fn links(&self) -> Vec<Link> {
        let (Some(links), Some(relations)) = (LINK.as_ref(), RELATION.as_ref()) else { return Vec::new() };
        let text = without_code(self.body);
        let kinds: Vec<(usize, String)> = relations
            .captures_iter(&text)
            .filter_map(|found| Some((found.get(0)?.end(), found[1].replace([' ', '-'], "_"))))
            .collect();
        let mut found: Vec<Link> = Vec::new();
        for link in links.captures_iter(&text) {
            // A picture, or a part that is shown here.
            if !link[1].is_empty() || found.len() == LINKS_MAX {
                continue;
            }
            let at = link.get(2).map(|name| name.start());
            let kind = kinds.iter().find(|(end, _)| Some(*end) == at).map(|(_, kind)| kind.clone());
            let to = match (link.get(2), link.get(3).or(link.get(4))) {
                (Some(name), _) => Some(Target::Name(name.as_str().trim().to_owned())),
                (None, Some(path)) => note_path(path.as_str()).map(Target::Path),
                (None, None) => None,
            };
            let link = to.map(|to| Link { to, kind: kind.unwrap_or_else(|| "links_to".to_owned()) });
            found.extend(link.filter(|link| !found.contains(link)));
        }
        found
    }
}

/// When a note was made says more of it than when it was changed.
fn rank(field: &str) -> usize {
    ["date", "created", "created_at", "modified", "updated"]
        .iter()
        .position(|name| *name == field)
        .unwrap_or(5)
}

fn line(name: &str, value: &Value) -> String {
    let value = match value {
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        value => value.as_str().unwrap_or_default().to_owned(),
    };
    if value.is_empty() { value } else { format!("{name}: {value}") }
}

fn tidied(mut tags: Vec<String>) -> Vec<String> {
    tags.retain(|tag| !tag.is_empty());
    tags.sort();
    tags.dedup();
    tags.truncate(TAGS_MAX);
    tags
}

/// The path of another note in a link: not an address, not a part of this note, not a file of another kind.
fn note_path(link: &str) -> Option<String> {
    let path = link.split(['#', '?']).next().unwrap_or_default();
    let is_elsewhere = path.contains(':') || path.starts_with('/');
    let ending = path.rsplit('.').next().unwrap_or_default().to_lowercase();
    (!is_elsewhere && matches!(ending.as_str(), "md" | "markdown")).then(|| unescaped(path))
}

/// `%20` and the like as what they stand for; what is no UTF-8 then is left as it was.
fn unescaped(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, others @ ..] = rest {
        let hex = others.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        match hex.and_then(|pair| u8::from_str_radix(pair, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &others[2..];
            }
            None => {
                bytes.push(*first);
                rest = others;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| path.to_owned())
}

/// The text with blanks in place of code, where brackets and number signs mean other things.
fn without_code(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut fence: Option<&str> = None;
    for line in text.split_inclusive('\n') {
        let start = line.trim_start();
        let marker = ["```", "~~~"].into_iter().find(|marker| start.starts_with(marker));
        let is_code = fence.is_some() || marker.is_some();
        match (fence, marker) {
            (None, Some(marker)) => fence = Some(marker),
            (Some(open), Some(marker)) if open == marker => fence = None,
            _ => {}
        }
        if is_code {
            out.push('\n');
        } else {
            push_without_spans(&mut out, line);
        }
    }
    out
}

/// A line without what stands between backticks.
fn push_without_spans(out: &mut String, line: &str) {
    let mut parts = line.split('`').peekable();
    let mut is_code = false;
    while let Some(part) = parts.next() {
        // The last backtick of a line without another is one itself.
        if is_code && parts.peek().is_some() {
            out.push(' ');
        } else {
            out.push_str(part);
        }
        is_code = !is_code;
    }
}

/// What stands between the first two lines of `---`, as far as it is plain: names with a value, a list, or lines of text.
fn front_matter(text: &str) -> (Vec<(String, Value)>, &str) {
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| line.trim_end() == "---") else { return (Vec::new(), text) };
    let mut end = first.len();
    let mut inside = Vec::new();
    let mut is_closed = false;
    for line in lines {
        end += line.len();
        if matches!(line.trim_end(), "---" | "...") {
            is_closed = true;
            break;
        }
        inside.push(line.trim_end());
    }
    // A line of dashes that nothing closes is a rule, and so is one with prose behind it.
    let is_field =
        |line: &&str| line.split_once(':').is_some_and(|(name, _)| !name.contains(char::is_whitespace));
    if !is_closed || !inside.iter().any(is_field) && inside.iter().any(|line| !line.is_empty()) {
        return (Vec::new(), text);
    }
    (fields(&inside), &text[end..])
}

fn fields(lines: &[&str]) -> Vec<(String, Value)> {
    let mut fields: Vec<(String, Value)> = Vec::new();
    for line in lines.iter().filter(|line| !line.trim_start().starts_with('#')) {
        let item = line.trim_start().strip_prefix("- ").map(|item| Value::String(plain(item)));
        match (item, line.split_once(':')) {
            (Some(item), _) => match fields.last_mut() {
                Some((_, Value::Array(items))) => items.push(item),
                Some((_, value)) if value.as_str() == Some("") => *value = Value::Array(vec![item]),
                _ => {}
            },
            (None, Some((name, value))) if !line.starts_with([' ', '\t']) => {
                let value = value.trim();
                let list = value.strip_prefix('[').and_then(|list| list.strip_suffix(']'));
                let value = match list {
                    Some(list) => list.split(',').map(|item| Value::String(plain(item))).collect(),
                    // The text is on the lines below.
                    None if matches!(value, "|" | ">" | "|-" | ">-") => Value::String(String::new()),
                    None => Value::String(plain(value)),
                };
                fields.push((name.trim().to_lowercase(), value));
            }
            (None, _) => {
                if let Some((_, Value::String(value))) = fields.last_mut() {
                    let gap = if value.is_empty() { "" } else { " " };
                    *value = format!("{value}{gap}{}", line.trim());
                }
            }
        }
    }
    fields
}

fn plain(text: &str) -> String {
    text.trim().trim_matches(['"', '\'']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(to: &str, kind: &str) -> Link {
        Link { to: Target::Name(to.to_owned()), kind: kind.to_owned() }
    }

    fn path(to: &str) -> Link {
        Link { to: Target::Path(to.to_owned()), kind: "links_to".to_owned() }
    }

    #[test]
    fn front_matter_is_what_is_known_of_the_note_and_the_rest_is_its_text() {
        for end in ["\n", "\r\n"] {
            let text = "\u{feff}---\ntitle: \"Well: repair\"\nmodified: 2025-02-01\ncreated: 2025-01-05T10:00:00+01:00\n\
                        # a remark\ntags:\n  - water\n  - 'garden'\naliases: [The well, Brunnen]\nstatus: open\nsummary: >\n  \
                        Two lines\n  of text.\nempty:\n---\nThe pump is broken.\n"
                .replace('\n', end);
            let note = Note::parse(&text);
            assert_eq!(note.title.as_deref(), Some("Well: repair"));
            assert_eq!(note.date.as_deref(), Some("2025-01-05T09:00:00Z"));
            assert_eq!(
                (note.tags.as_slice(), note.aliases.as_slice()),
                (
                    &["garden".to_owned(), "water".to_owned()][..],
                    &["The well".to_owned(), "Brunnen".to_owned()][..]
                )
            );
            assert_eq!(
                note.others,
                ["aliases: The well, Brunnen", "status: open", "summary: Two lines of text."]
            );
            assert_eq!(note.body.trim_end(), "The pump is broken.");
        }
    }

    #[test]
    fn what_only_looks_like_front_matter_is_text() {
        for text in [
            "---\nA rule, and no end",
            "---\nThis is prose between rules\n---\nmore",
            "# Title\n---\na: b\n---\n",
            "--- x\n",
        ] {
            let note = Note::parse(text);
            assert_eq!((note.body, note.title), (text, None), "{text}");
        }
        assert_eq!(Note::parse("---\n---\nx").body, "x");
    }

    #[test]
    fn links_lead_to_names_and_files_and_not_out_of_code_and_not_to_pictures() {
        let text = "- contrasts with [[Tea#Green|green tea]]\nSee [[Grinder]], [[Grinder]] and [the log](../log/Day%20one.md#top), \
                    [other](<a b.markdown>), [web](https://example.org/x.md), [mail](mailto:a@b.md), [part](#part), \
                    [root](/x.md), [paper](paper.pdf), ![[plan.png]] ![x](y.md)\n```sh\nif [[ -f x ]]; then\n```\n`[[no]]` and a ` [[Yes]]\n";
        let note = Note::parse(text);
        assert_eq!(
            note.links(),
            [
                name("Tea", "contrasts_with"),
                name("Grinder", "links_to"),
                path("../log/Day one.md"),
                path("a b.markdown"),
                name("Yes", "links_to"),
            ]
        );
    }

    #[test]
    fn tags_stand_in_front_and_in_the_text_but_not_in_code() {
        let note =
            Note::parse("---\ntags: work, #home\n---\n#idea and C#sharp, #12\n~~~c\n#include <x>\n~~~\n");
        assert_eq!(note.tags, ["home", "work"]);
        assert_eq!(note.all_tags(), ["home", "idea", "work"]);
    }
}
