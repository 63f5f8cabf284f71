//! Data files: word lists that are part of the program, one entry a line, `#` before a comment, `[name]` before a section.
//!
//! A file that is broken is a fault of the build: a unit test reads them all.

use std::collections::HashSet;
use std::hash::BuildHasherDefault;
use std::sync::OnceLock;

use super::wordset::WordHasher;

/// Why data that is part of the program cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DataFault {
    /// A line of a word list or of the weights; line 0 where none is at fault.
    #[error("The data file {file} of memory-extraction is broken at line {line}: {reason}.")]
    File { file: &'static str, line: usize, reason: String },
    #[error("The pattern '{name}' of memory-extraction is no regular expression: {error}.")]
    Pattern { name: &'static str, error: regex::Error },
}

/// An entry and the number of its line.
pub(super) type Entry = (usize, &'static str);

pub(super) struct DataFile {
    name: &'static str,
    text: &'static str,
}

impl DataFile {
    pub(super) const fn new(name: &'static str, text: &'static str) -> Self {
        Self { name, text }
    }

    pub(super) fn text(&self) -> &'static str {
        self.text
    }

    /// The sections in their order with their entries in theirs. What stands before the first is the section without a
    /// name.
    pub(super) fn sections(&self) -> Result<Vec<(&'static str, Vec<Entry>)>, DataFault> {
        let mut sections: Vec<(&str, Vec<Entry>)> = Vec::new();
        for (at, line) in self.text.lines().enumerate() {
            let (number, line) = (at + 1, line.trim());
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(head) = line.strip_prefix('[') {
                let name =
                    head.strip_suffix(']').ok_or_else(|| self.fault(number, "a section has no ']'"))?;
                if sections.iter().any(|(other, _)| *other == name) {
                    return Err(self.fault(number, format!("the section '{name}' is there twice")));
                }
                sections.push((name, Vec::new()));
                continue;
            }
            if sections.is_empty() {
                sections.push(("", Vec::new()));
            }
            if let Some((_, entries)) = sections.last_mut() {
                entries.push((number, line));
            }
        }
        Ok(sections)
    }

    /// The entries of a section, of which there must be some.
    pub(super) fn section(&self, name: &str) -> Result<Vec<Entry>, DataFault> {
        let found = self.sections()?.into_iter().find(|(section, _)| *section == name);
        match found {
            Some((_, entries)) if !entries.is_empty() => Ok(entries),
            _ => Err(self.fault(0, format!("the section '{name}' is missing or empty"))),
        }
    }

    /// The numbers of a line that begins with `name`.
    pub(super) fn numbers<const COUNT: usize>(
        &self,
        line: Option<(usize, &str)>,
        name: &str,
    ) -> Result<[f32; COUNT], DataFault> {
        let (number, line) = line.unwrap_or_default();
        let line = line.strip_prefix(name).unwrap_or_default();
        let numbers: Vec<f32> = line.split(' ').filter_map(|number| number.parse().ok()).collect();
        numbers
            .try_into()
            .map_err(|_| self.fault(number, format!("it has to be '{name}' and {COUNT} numbers")))
    }

    pub(super) fn fault(&self, line: usize, reason: impl Into<String>) -> DataFault {
        DataFault::File { file: self.name, line, reason: reason.into() }
    }
}

/// What a data file, the weights or a pattern was read to.
///
/// Panics where it is broken: nothing can be extracted then.
pub(super) fn loaded<T>(read: Result<T, DataFault>) -> T {
    read.unwrap_or_else(|fault| panic!("{fault}"))
}

pub(super) type Words = HashSet<&'static str, BuildHasherDefault<WordHasher>>;

/// A section of a data file as a set of words.
pub(super) struct WordSet {
    file: &'static DataFile,
    section: &'static str,
    words: OnceLock<Words>,
}

impl WordSet {
    pub(super) const fn new(file: &'static DataFile, section: &'static str) -> Self {
        Self { file, section, words: OnceLock::new() }
    }

    pub(super) fn contains(&self, word: &str) -> bool {
        self.words().contains(word)
    }

    pub(super) fn words(&self) -> &Words {
        self.words.get_or_init(|| loaded(self.read()))
    }

    pub(super) fn read(&self) -> Result<Words, DataFault> {
        let mut words = Words::default();
        for (line, word) in self.file.section(self.section)? {
            if !words.insert(word) {
                return Err(self.file.fault(line, format!("'{word}' is there twice")));
            }
        }
        Ok(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &'static str) -> DataFile {
        DataFile::new("words.txt", text)
    }

    #[test]
    fn a_file_is_read_by_sections_without_its_comments() {
        let read =
            file("# words\nalone\n\n[two words]\n# of these\nbest wishes\nregards\n").sections().unwrap();
        assert_eq!(read, [("", vec![(2, "alone")]), ("two words", vec![(6, "best wishes"), (7, "regards")])]);
    }

    #[test]
    fn a_broken_file_says_which_line_and_why() {
        static TWICE: DataFile = DataFile::new("words.txt", "[a]\nx\nx\n");
        for (text, section, said) in [
            ("[a\nx\n", "a", "line 1: a section has no ']'"),
            ("[a]\nx\n[a]\ny\n", "a", "line 3: the section 'a' is there twice"),
            ("[a]\n[b]\ny\n", "a", "the section 'a' is missing or empty"),
        ] {
            let fault = file(text).section(section).unwrap_err().to_string();
            assert!(fault.contains("words.txt") && fault.contains(said), "{fault}");
        }
        let fault = WordSet::new(&TWICE, "a").read().unwrap_err().to_string();
        assert!(fault.contains("line 3: 'x' is there twice"), "{fault}");
    }
}
