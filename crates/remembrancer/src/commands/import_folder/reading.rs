//! A file of the folder, read and remembered.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use memory_agents::markdown::{Link, Note};
use memory_core::artifact::CONTENT_MAX_CHARS;
use memory_documents::DocumentKind;
use memory_language::text::counted;
use serde_json::json;

use super::{ImportFolderArgs, notes};
use crate::client::Client;
use crate::commands::read_document::{self, UnreadDocument};
use crate::commands::text_file::{self, NotText};
use crate::commands::verbs::given;

/// A larger file cannot be a content; four bytes a character at most.
const FILE_MAX_BYTES: u64 = 4 * CONTENT_MAX_CHARS as u64;

/// Tags of a text, at most.
const TAGS_MAX: usize = 50;

/// The folder that is imported.
pub(super) struct Folder {
    pub(super) root: PathBuf,
    pub(super) args: ImportFolderArgs,
}

impl Folder {
    /// What a file is known by: its path below the folder.
    pub(super) fn place(&self, file: &Path) -> String {
        file.strip_prefix(&self.root).unwrap_or(file).to_string_lossy().into_owned()
    }
}

/// What changes with every change of a file, as far as the file system says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fingerprint {
    inode: u64,
    bytes: u64,
    /// Seconds and nanoseconds: of the content, and of anything about the file.
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Fingerprint {
    pub(super) fn of(file: &Path) -> std::io::Result<Self> {
        let found = std::fs::symlink_metadata(file)?;
        Ok(Self {
            inode: found.ino(),
            bytes: found.len(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        })
    }

    #[cfg(test)]
    pub(super) fn made_up(number: u64) -> Self {
        Self { inode: number, bytes: number, modified: (0, 0), changed: (0, 0) }
    }
}

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
enum ReadError {
    #[error("{0} bytes, the limit is {1}; split the file")]
    TooLarge(u64, u64),
    #[error(transparent)]
    Document(#[from] UnreadDocument),
    #[error(transparent)]
    NotText(#[from] NotText),
    #[error("empty")]
    Empty,
    #[error("{0} characters, the limit is {CONTENT_MAX_CHARS}; split the file")]
    TooLong(usize),
    /// It may be readable another time.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error(transparent)]
    Date(#[from] jiff::Error),
}

impl From<ReadError> for Outcome {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Io(_) | ReadError::Date(_) | ReadError::Document(UnreadDocument::NotStarted(_)) => {
                Self::Failed(error.to_string())
            }
            _ => Self::Skipped(error.to_string()),
        }
    }
}

/// What became of a file.
#[derive(Debug)]
pub(super) enum Outcome {
    Created(Option<String>),
    Unchanged,
    /// Not text, or too long: said why.
    Skipped(String),
    Failed(String),
    /// The memory did not answer.
    Away(String),
}

/// A file as a text, with what it says of itself.
#[derive(Debug, Default)]
struct FileText {
    content: String,
    title: Option<String>,
    author: Option<String>,
    date: Option<String>,
    tags: Vec<String>,
    links: Vec<Link>,
    /// On how it was read.
    note: Option<String>,
}

/// Remembers a file; gives what became of it, and the other notes that it refers to.
pub(super) async fn import(client: &Client, folder: &Folder, file: &Path) -> (Outcome, Vec<Link>) {
    let (text, modified) = match read(folder, file).await {
        Ok(read) => read,
        Err(error) => return (error.into(), Vec::new()),
    };
    let name = || file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let arguments = given(json!({
        "content": text.content,
        "context": folder.args.context,
        "source": folder.root.to_string_lossy(),
        "source_id": folder.place(file),
        "title": text.title.unwrap_or_else(name),
        "author": text.author,
        "date": text.date.unwrap_or(modified),
        "tags": folder.args.tags.iter().chain(&text.tags).take(TAGS_MAX).collect::<Vec<_>>(),
    }));
    match client.call("remember", arguments).await {
        Ok(answer) if answer.is_refusal => (Outcome::Failed(answer.reason()), Vec::new()),
        Ok(answer) if answer.value["status"] == "unchanged" => (Outcome::Unchanged, text.links),
        Ok(_) => (Outcome::Created(text.note), text.links),
        Err(error) => (Outcome::Away(format!("{error:#}")), Vec::new()),
    }
}

/// The file as a text, with the time of its last change.
async fn read(folder: &Folder, file: &Path) -> Result<(FileText, String), ReadError> {
    let metadata = tokio::fs::metadata(file).await?;
    let kind = DocumentKind::of(file);
    let most = if kind.is_some() { read_document::FILE_MAX_BYTES } else { FILE_MAX_BYTES };
    if metadata.len() > most {
        return Err(ReadError::TooLarge(metadata.len(), most));
    }
    let bytes = tokio::fs::read(file).await?;
    let text = match kind {
        _ if bytes.is_empty() => return Err(ReadError::Empty),
        Some(kind) => of_document(kind, bytes).await?,
        None => {
            let decoded = text_file::decode(bytes)?;
            let note = decoded.note().map(str::to_owned);
            let text = if notes::is_note(file) {
                of_note(&decoded.text, folder.args.notes)
            } else {
                FileText { content: decoded.text, ..FileText::default() }
            };
            FileText { note, ..text }
        }
    };
    if text.content.trim().is_empty() {
        return Err(ReadError::Empty);
    }
    let count = text.content.chars().count();
    if count > CONTENT_MAX_CHARS {
        return Err(ReadError::TooLong(count));
    }
    let modified = jiff::Timestamp::try_from(metadata.modified()?)?;
    let seconds = jiff::Timestamp::from_second(modified.as_second())?;
    Ok((text, seconds.to_string()))
}

async fn of_document(kind: DocumentKind, bytes: Vec<u8>) -> Result<FileText, UnreadDocument> {
    let document = read_document::read(kind, bytes).await?;
    let unknown = document.unknown;
    let note = (unknown > 0).then(|| {
        let those = counted(unknown, "character");
        format!("{those} left out that do not say what letters they are")
    });
    Ok(FileText { content: document.text, title: document.title, note, ..FileText::default() })
}

/// Markdown: what its front matter says of it is not its text; what has no place elsewhere stays in it.
fn of_note(text: &str, is_linked: bool) -> FileText {
    let note = Note::parse(text);
    let (tags, links) =
        if is_linked { (note.all_tags(), note.links()) } else { (note.tags.clone(), Vec::new()) };
    let content = match note.others.join("\n") {
        others if others.is_empty() => note.body.to_owned(),
        others => format!("{others}\n\n{}", note.body.trim_start()),
    };
    FileText { content, title: note.title, author: note.author, date: note.date, tags, links, note: None }
}
