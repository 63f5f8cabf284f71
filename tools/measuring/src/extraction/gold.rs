//! Labelled documents: `NAME.txt`, the content, and `NAME.json`, what is known about it and what is in it; or many short ones in
//! one file `NAME.marked`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use jiff::civil::Date;
use memory_core::entity::EntityType;
use memory_core::event::{ActorRole, Category};
use memory_core::id::ContentHash;
use memory_core::ports::SourceText;
use memory_language::text::CharSpan;

use super::labels::document;
use super::marked;

/// The largest file that is read, in bytes.
const FILE_MAX_BYTES: u64 = 4 * 1024 * 1024;
/// The most documents in a folder.
const DOCUMENTS_MAX: usize = 10_000;

/// What a document's name begins with, up to the first hyphen.
pub const KINDS: [&str; 7] = ["meeting", "mail", "chat", "record", "notes", "status", "negative"];
/// The kind in which nothing happens.
const NEGATIVE: &str = "negative";

/// The documents of a folder in the order of their names, and what is wrong with others.
#[derive(Debug, Clone)]
pub struct Gold {
    pub documents: Vec<Document>,
    /// Each names its file.
    pub problems: Vec<String>,
    /// Of all files.
    pub sha256: String,
}

#[derive(Debug, Clone)]
pub struct Document {
    pub name: String,
    pub kind: &'static str,
    /// One segment, whatever the context.
    pub source: SourceText,
    pub events: Vec<LabelledEvent>,
    pub entities: Vec<LabelledEntity>,
    /// Names, owners and days are labelled too; else only events.
    pub is_whole: bool,
}

#[derive(Debug, Clone)]
pub struct LabelledEvent {
    /// Any of these is right; at least one.
    pub categories: Vec<Category>,
    pub quotes: Vec<String>,
    /// The spans of the quotes, in characters.
    pub spans: Vec<CharSpan>,
    /// The actors with their roles, as positions in [`Document::entities`].
    pub actors: Vec<(usize, ActorRole)>,
    pub due: Option<Date>,
    pub when: Option<Date>,
    /// Finding it counts neither for nor against, as does missing it.
    pub is_optional: bool,
}

#[derive(Debug, Clone)]
pub struct LabelledEntity {
    pub name: String,
    pub entity_type: EntityType,
    /// The name and the aliases, normalised.
    pub names: BTreeSet<String>,
}

impl Document {
    pub fn text(&self) -> &str {
        self.source.segments.first().map_or("", |segment| &segment.text)
    }

    /// Whether it is one of those in which nothing happens.
    pub fn is_negative(&self) -> bool {
        self.kind == NEGATIVE
    }
}

impl Gold {
    /// Reads a folder. Fails only when there is nothing to read; a document that is not sound is a problem.
    pub fn read(folder: &Path) -> anyhow::Result<Self> {
        let shown = folder.display();
        let mut problems = Vec::new();
        let mut documents = Vec::new();
        let mut all = String::new();
        let mut files: BTreeMap<String, [bool; 2]> = BTreeMap::new();
        let mut marked: BTreeSet<String> = BTreeSet::new();
        for entry in fs::read_dir(folder).with_context(|| format!("the folder {shown} cannot be read"))? {
            let name = entry.with_context(|| format!("the folder {shown} cannot be read"))?.file_name();
            let name = name.to_string_lossy();
            match name.rsplit_once('.') {
                Some((stem, "txt")) => files.entry(stem.to_owned()).or_default()[0] = true,
                Some((stem, "json")) => files.entry(stem.to_owned()).or_default()[1] = true,
                Some((stem, "marked")) => {
                    marked.insert(stem.to_owned());
                }
                _ if name.starts_with('.') || name == "README.md" => {}
                _ => problems.push(format!(
                    "{name}: a document is two files, NAME.txt and NAME.json, or is in NAME.marked"
                )),
            }
        }
        ensure!(
            !files.is_empty() || !marked.is_empty(),
            "{shown} holds no labelled documents (NAME.txt with NAME.json, or NAME.marked)"
        );
        ensure!(
            files.len() <= DOCUMENTS_MAX,
            "{shown} holds {} documents, the limit is {DOCUMENTS_MAX}; divide it",
            files.len()
        );
        for name in marked {
            match read_file(folder, &format!("{name}.marked")) {
                Ok(text) => {
                    all.extend([name.as_str(), "\0", &text, "\0"]);
                    let (read, wrong) = marked::documents(&format!("{name}.marked"), &text);
                    documents.extend(read);
                    problems.extend(wrong);
                }
                Err(error) => problems.push(format!("{error:#}")),
            }
        }
        for (name, parts) in files {
            match parts {
                [true, false] => problems.push(format!("{name}.txt: its labels, {name}.json, are missing")),
                [false, true] => problems.push(format!("{name}.json: its text, {name}.txt, is missing")),
                _ => match read_pair(folder, &name) {
                    Ok((text, labels)) => {
                        all.extend([name.as_str(), "\0", &text, "\0", &labels, "\0"]);
                        match document(&name, text, &labels) {
                            Ok(document) => documents.push(document),
                            Err(wrong) => problems.extend(wrong),
                        }
                    }
                    Err(error) => problems.push(format!("{error:#}")),
                },
            }
        }
        let sha256 = ContentHash::of(&all).0.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { documents, problems, sha256 })
    }

    /// Refuses a folder in which anything is wrong.
    pub fn sound(self) -> anyhow::Result<Self> {
        if !self.problems.is_empty() {
            bail!(
                "{} problem(s) in the labelled documents; mend them first:\n{}",
                self.problems.len(),
                self.problems.join("\n")
            );
        }
        Ok(self)
    }
}

fn read_pair(folder: &Path, name: &str) -> anyhow::Result<(String, String)> {
    let read = |ending: &str| read_file(folder, &format!("{name}.{ending}"));
    Ok((read("txt")?, read("json")?))
}

fn read_file(folder: &Path, file: &str) -> anyhow::Result<String> {
    let path = folder.join(file);
    let size = path.metadata().with_context(|| format!("{file} cannot be read"))?.len();
    ensure!(size <= FILE_MAX_BYTES, "{file} has {size} bytes, the limit is {FILE_MAX_BYTES}; shorten it");
    fs::read_to_string(path).with_context(|| format!("{file} cannot be read"))
}

/// The day of a moment: deadlines end with theirs.
pub(super) fn day_of(time: jiff::Timestamp) -> Date {
    time.to_zoned(jiff::tz::TimeZone::UTC).date()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_with_half_a_document_is_not_sound() {
        let folder = tempfile::tempdir().unwrap();
        let empty = Gold::read(folder.path()).unwrap_err().to_string();
        assert!(empty.contains("holds no labelled documents"), "{empty}");
        let labels = r#"{"context":"note","title":null,"author":null,"date":null,"events":[],"entities":[]}"#;
        for (name, content) in [
            ("notes-a.txt", "One."),
            ("notes-a.json", labels),
            ("status-b.txt", "Two."),
            ("c.md", ""),
            ("README.md", ""),
        ] {
            fs::write(folder.path().join(name), content).unwrap();
        }
        let gold = Gold::read(folder.path()).unwrap();
        assert_eq!(gold.documents.len(), 1);
        let refused = gold.sound().unwrap_err().to_string();
        assert!(refused.starts_with("2 problem(s)"), "{refused}");
        assert!(refused.contains("status-b.txt: its labels, status-b.json, are missing"), "{refused}");
        assert!(refused.contains("c.md: a document is two files"), "{refused}");
    }
}
