//! Notes that refer to each other: which note a link of another means, and the relations that come of it.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use memory_agents::markdown::{Link, Note, Target};

use super::reading::Folder;
use crate::commands::note_links::NoteLink;

/// Front matter is not longer.
const HEAD_BYTES: u64 = 16 << 10;

pub(super) fn is_note(file: &Path) -> bool {
    file.extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("md") || ending.eq_ignore_ascii_case("markdown"))
}

/// What the notes of a folder are called.
#[derive(Debug, Default)]
pub(super) struct NoteNames {
    by_place: HashMap<PathBuf, String>,
    /// In small letters: by the name of the file, its path without the ending, title and aliases.
    by_name: HashMap<String, String>,
}

impl NoteNames {
    /// Reads how each note begins.
    pub(super) fn of(folder: &Folder, files: &[PathBuf]) -> Self {
        let heads = files.iter().filter(|file| is_note(file)).filter_map(|file| {
            let mut head = Vec::new();
            std::fs::File::open(file).ok()?.take(HEAD_BYTES).read_to_end(&mut head).ok()?;
            Some((PathBuf::from(folder.place(file)), String::from_utf8_lossy(&head).into_owned()))
        });
        Self::new(heads)
    }

    fn new(heads: impl Iterator<Item = (PathBuf, String)>) -> Self {
        let mut names = Self::default();
        let mut others = Vec::new();
        for (place, head) in heads {
            let note = Note::parse(&head);
            let title = note.title.unwrap_or_else(|| stem(&place));
            let path = place.with_extension("").to_string_lossy().to_lowercase();
            names.by_name.entry(stem(&place).to_lowercase()).or_insert_with(|| title.clone());
            names.by_name.entry(path).or_insert_with(|| title.clone());
            others
                .extend(note.aliases.iter().chain([&title]).map(|name| (name.to_lowercase(), title.clone())));
            names.by_place.insert(place, title);
        }
        // A file's own name goes before what others call themselves.
        for (name, title) in others {
            names.by_name.entry(name).or_insert(title);
        }
        names
    }

    /// What a note's links come to, by the names of notes.
    pub(super) fn resolve(&self, place: &Path, links: &[Link]) -> Vec<NoteLink> {
        let from = self.by_place.get(place).cloned().unwrap_or_else(|| stem(place));
        let mut found: Vec<NoteLink> = Vec::new();
        for link in links {
            let to = match &link.to {
                Target::Name(name) => {
                    self.by_name.get(&name.to_lowercase()).cloned().unwrap_or_else(|| name.clone())
                }
                Target::Path(path) => {
                    let path = plain(&place.parent().unwrap_or(Path::new("")).join(path));
                    self.by_place.get(&path).cloned().unwrap_or_else(|| stem(&path))
                }
            };
            let link = NoteLink { from: from.clone(), to, kind: link.kind.clone() };
            if link.from != link.to && !link.to.is_empty() && !found.contains(&link) {
                found.push(link);
            }
        }
        found
    }
}

fn stem(place: &Path) -> String {
    place.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Without `.` and `..`; what leads out of the folder stays in it.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => out.push(name),
            Component::ParentDir => {
                out.pop();
            }
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_led_to_the_titles_of_the_notes_that_they_mean() {
        let heads = [
            ("garden/well.md", "---\ntitle: The well\naliases: [Brunnen]\n---\n"),
            ("log/Day one.md", "no front matter"),
            ("log/well.md", "---\ntitle: Well of the log\n---\n"),
        ];
        let names = NoteNames::new(heads.into_iter().map(|(place, head)| (place.into(), head.to_owned())));
        let link = |to: Target| Link { to, kind: "links_to".to_owned() };
        let name = |to: &str| link(Target::Name(to.to_owned()));
        let path = |to: &str| link(Target::Path(to.to_owned()));
        let resolved = names.resolve(
            Path::new("log/Day one.md"),
            &[
                name("brunnen"),
                path("../garden/./well.md"),
                name("log/well"),
                path("../../../elsewhere/Tea.md"),
                name("Not There"),
                name("day one"),
            ],
        );
        let to: Vec<&str> = resolved.iter().map(|link| link.to.as_str()).collect();
        assert_eq!(to, ["The well", "Well of the log", "Tea", "Not There"]);
        assert!(resolved.iter().all(|link| link.from == "Day one"));
    }
}
