//! PDF and HTML as text. The files are anybody's: what reads them here may take any amount of time and memory, or crash, and is
//! called in a process of its own with limits.

mod html;
mod lines;
mod pdf;

use std::path::Path;

use serde::{Deserialize, Serialize};

/// What kind of document a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentKind {
    Pdf,
    Html,
}

impl DocumentKind {
    pub const ALL: [Self; 2] = [Self::Pdf, Self::Html];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pdf => "pdf",
            Self::Html => "html",
        }
    }

    /// By the ending of its name.
    pub fn of(file: &Path) -> Option<Self> {
        match file.extension()?.to_string_lossy().to_lowercase().as_str() {
            "pdf" => Some(Self::Pdf),
            "html" | "htm" | "xhtml" => Some(Self::Html),
            _ => None,
        }
    }
}

/// The text of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    pub title: Option<String>,
    pub text: String,
    /// Characters of a PDF that do not say what letters they are, and are left out.
    pub unknown: u64,
}

/// Why a document has no text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum DocumentError {
    #[error("a PDF that opens with a password only")]
    Encrypted,
    #[error("no PDF, or a damaged one")]
    Damaged,
    #[error(
        "a PDF without text, such as a scanned one; have its text recognised (by `ocrmypdf`, for example)"
    )]
    NoText,
    #[error(
        "a PDF whose characters do not say what letters they are; have its text recognised (by `ocrmypdf`, for example)"
    )]
    NoLetters,
    #[error("HTML that cannot be laid out as text")]
    NoLayout,
    #[error("more than {0} characters of text; split the file")]
    TooLong(usize),
}

/// Reads a document of at most so many characters. Hostile ones may take any time and memory here.
pub fn read(kind: DocumentKind, bytes: Vec<u8>, max_chars: usize) -> Result<Document, DocumentError> {
    match kind {
        DocumentKind::Pdf => pdf::read(bytes, max_chars),
        DocumentKind::Html => html::read(&bytes, max_chars),
    }
}

/// A title in one line, if there is one.
fn title(text: &str) -> Option<String> {
    const MAX_CHARS: usize = 300;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = line.chars().filter(|c| !c.is_control()).take(MAX_CHARS).collect();
    (!line.is_empty()).then_some(line)
}
