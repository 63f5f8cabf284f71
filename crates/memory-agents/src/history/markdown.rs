//! A folder of notes, as basic-memory and Obsidian keep them.

use std::io;
use std::path::Path;

use super::{Found, Take, Text};
use crate::markdown::{Note, Target};
use crate::transcript::clean;

/// A larger note is none that a person has written.
const NOTE_MAX_BYTES: u64 = 10 << 20;

pub(super) fn read(path: &Path, name: &str, take: Take<'_>) -> io::Result<()> {
    if path.metadata()?.len() > NOTE_MAX_BYTES {
        take(Found::Problem { line: 1, reason: format!("longer than {} MB", NOTE_MAX_BYTES >> 20) });
        return Ok(());
    }
    let Ok(whole) = String::from_utf8(std::fs::read(path)?) else {
        take(Found::Problem { line: 1, reason: "it is not UTF-8".to_owned() });
        return Ok(());
    };
    let whole = whole.replace("\r\n", "\n");
    let note = Note::parse(&whole);
    let title = note.title.clone().unwrap_or_else(|| stem(path));
    let Some(content) = clean(note.body) else { return Ok(()) };
    // What is left out of the text is left out of its links and tags.
    let kept = Note { body: &content, tags: note.tags, ..Note::default() };
    let (tags, links) = (kept.all_tags(), kept.links());
    let text = Text {
        source_id: Some(name.to_owned()),
        title: Some(title.clone()),
        author: note.author,
        date: note.date,
        tags,
        context: "document",
        content,
        ..Text::default()
    };
    if !take(Found::Text(text)) {
        return Ok(());
    }
    for link in links {
        let to = match link.to {
            Target::Name(name) => name,
            Target::Path(path) => stem(Path::new(&path)),
        };
        if !take(Found::Link { from: title.clone(), to, kind: link.kind }) {
            break;
        }
    }
    Ok(())
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
