//! Commits of a repository, as `git log` shows them: what one says was done by its author, on its day.

use memory_language::commits::is_hash;

use super::days::DATE_LINE;
use super::{Form, Reader, Section};

/// A header has no more lines.
const HEADER_MAX_LINES: usize = 8;

impl Reader<'_> {
    /// Reads the header of a commit that begins in this line: its author speaks from then on. Gives the line after it.
    pub(super) fn commit(&mut self, at: usize) -> Option<usize> {
        if !is_head(self.text_of(at)) {
            return None;
        }
        let (mut author, mut day) = (None, None);
        let mut next = at + 1;
        while next < self.lines.len().min(at + HEADER_MAX_LINES) {
            let Some((name, value)) = self.text_of(next).split_once(':') else { break };
            match name {
                "Author" => author = Some(value.split('<').next().unwrap_or(value).trim()),
                "Date" | "AuthorDate" => day = Some(day_of(value)),
                "Merge" | "Commit" | "CommitDate" => {}
                _ => break,
            }
            next += 1;
        }
        let author = author.filter(|author| !author.is_empty())?;
        self.open = false;
        self.speaker = Some(author.to_owned());
        self.add_speaker(author);
        self.dated.clear();
        self.dated.extend(day.map(|day| (DATE_LINE, day)));
        self.date_from(self.lines[next - 1].end);
        self.layout.commits.push(self.lines[at].start..self.lines[next - 1].end);
        // The subject is no heading, short as it is.
        let subject =
            (next..self.lines.len().min(next + 2)).find(|line| !self.text_of(*line).trim().is_empty());
        let Some(subject) = subject.filter(|line| self.text_of(*line).starts_with(' ')) else {
            return Some(next);
        };
        let indent = self.text_of(subject).len() - self.text_of(subject).trim_start().len();
        let line = self.lines[subject].clone();
        self.push(line.start + indent..line.end, Form::Prose, Section::Open, false);
        Some(subject + 1)
    }
}

/// "commit 5510aa9f (HEAD -> main)".
fn is_head(line: &str) -> bool {
    let hash = line.strip_prefix("commit ").and_then(|rest| rest.split_whitespace().next());
    hash.is_some_and(is_hash)
}

/// "Fri Nov 13 10:01:02 2026 +0100" as "13 Nov 2026".
fn day_of(written: &str) -> String {
    let words: Vec<&str> = written.split_whitespace().collect();
    match words[..] {
        [_, month, day, hour, year, ..] if hour.contains(':') => format!("{day} {month} {year}"),
        _ => words.first().copied().unwrap_or_default().to_owned(),
    }
}
