//! The marks of Markdown within lines, that no reader sees: those of code spans and of emphasis, after the flanking rules of
//! CommonMark, <https://spec.commonmark.org/0.31.2/#emphasis-and-strong-emphasis>. Other than there, marks in paths, globs and
//! identifiers are letters of these.

use std::collections::HashMap;
use std::ops::Range;

/// What of a text is marks, in bytes and in order.
#[derive(Debug, Default)]
pub(super) struct Marks {
    marks: Vec<Range<usize>>,
    /// What stands in code spans.
    code: Vec<Range<usize>>,
}

impl Marks {
    pub(super) fn of(text: &str) -> Self {
        let mut found = Self::default();
        if !text.contains(['`', '*', '_']) {
            return found;
        }
        let mut start = 0;
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            // No mark reaches over the end of a paragraph or an entry.
            if line.trim().is_empty() || opens_entry(line) {
                found.read(text, start..at);
                start = at;
            }
            at += line.len();
        }
        found.read(text, start..at);
        found.marks.sort_unstable_by_key(|mark| mark.start);
        found
    }

    /// The bytes of a range without its marks.
    pub(super) fn without<'t>(&self, text: &'t str, bytes: Range<usize>) -> impl Iterator<Item = &'t str> {
        let first = self.marks.partition_point(|mark| mark.end <= bytes.start);
        let mut marks = self.marks[first..].iter().take_while(move |mark| mark.start < bytes.end);
        let (mut at, end) = (bytes.start, bytes.end);
        std::iter::from_fn(move || {
            (at <= end).then(|| {
                let mark = marks.next();
                let part = at..mark.map_or(end, |mark| mark.start.max(at));
                at = mark.map_or(end + 1, |mark| mark.end);
                text.get(part).unwrap_or_default()
            })
        })
    }

    /// Whether a byte belongs to a mark.
    pub(super) fn is_mark(&self, byte: usize) -> bool {
        is_in(&self.marks, byte)
    }

    /// What stands in code spans, in order.
    pub(super) fn code(&self) -> impl Iterator<Item = Range<usize>> {
        self.code.iter().cloned()
    }

    /// Whether a byte stands within a code span.
    pub(super) fn is_code(&self, byte: usize) -> bool {
        is_in(&self.code, byte)
    }

    fn read(&mut self, text: &str, paragraph: Range<usize>) {
        let bytes = text.as_bytes();
        let mut ends = ends_of_code(bytes, &paragraph);
        let mut stars = Vec::new();
        let mut lines = Vec::new();
        let mut at = paragraph.start;
        while at < paragraph.end {
            let run = at..at + length_of_run(&bytes[at..paragraph.end]);
            match bytes[at] {
                b'\\' => at += 1,
                b'`' => {
                    self.marks.push(run.clone());
                    if let Some(end) = ends.remove(&run.start) {
                        self.marks.push(end.clone());
                        self.code.push(run.end..end.start);
                        at = end.end;
                        continue;
                    }
                }
                b'*' => self.take(&Delimiter::of(text, run.clone()), &mut stars),
                b'_' => self.take(&Delimiter::of(text, run.clone()), &mut lines),
                _ => {}
            }
            at = run.end.max(at + 1);
        }
    }

    /// Closes what a delimiter can close, and opens with what is left of it.
    fn take(&mut self, found: &Delimiter, open: &mut Vec<Range<usize>>) {
        let mut run = found.run.clone();
        while let Some(opener) = open.last_mut().filter(|_| found.closes && !run.is_empty()) {
            let length = opener.len().min(run.len());
            self.marks.push(opener.end - length..opener.end);
            self.marks.push(run.start..run.start + length);
            opener.end -= length;
            run.start += length;
            if opener.start == opener.end {
                open.pop();
            }
        }
        if found.opens && !run.is_empty() {
            open.push(run);
        }
    }
}

fn is_in(ranges: &[Range<usize>], byte: usize) -> bool {
    let at = ranges.partition_point(|range| range.end <= byte);
    ranges.get(at).is_some_and(|range| range.start <= byte)
}

fn opens_entry(line: &str) -> bool {
    let line = line.trim_start_matches([' ', '\t', '>']);
    ["- ", "* ", "+ ", "#", "|"].iter().any(|mark| line.starts_with(mark))
}

/// How often the first byte is repeated.
fn length_of_run(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| **byte == bytes[0]).count()
}

/// For each run of backticks that opens a code span, by where it begins, the run of the same length that closes it.
fn ends_of_code(bytes: &[u8], paragraph: &Range<usize>) -> HashMap<usize, Range<usize>> {
    let mut runs = Vec::new();
    let mut at = paragraph.start;
    while at < paragraph.end {
        let length = length_of_run(&bytes[at..paragraph.end]);
        if bytes[at] == b'`' {
            runs.push(at..at + length);
        }
        at += length;
    }
    let mut next: HashMap<usize, Range<usize>> = HashMap::new();
    let mut ends = HashMap::new();
    for run in runs.into_iter().rev() {
        if let Some(end) = next.insert(run.len(), run.clone()) {
            ends.insert(run.start, end);
        }
    }
    ends
}

/// A run of stars or low lines.
struct Delimiter {
    run: Range<usize>,
    opens: bool,
    closes: bool,
}

impl Delimiter {
    fn of(text: &str, run: Range<usize>) -> Self {
        let before = text[..run.start].chars().next_back().unwrap_or(' ');
        let after = text[run.end..].chars().next().unwrap_or(' ');
        let is_mark = |c: char| !c.is_alphanumeric() && !c.is_whitespace();
        let left = !after.is_whitespace() && (!is_mark(after) || before.is_whitespace() || is_mark(before));
        let right = !before.is_whitespace() && (!is_mark(before) || after.is_whitespace() || is_mark(after));
        let is_low = text.as_bytes()[run.start] == b'_';
        let is_amid = before.is_alphanumeric() && after.is_alphanumeric();
        // "src/*", "globalThis.__pool", "$_GET", "*.py".
        let is_of_path = matches!(before, '/' | '\\' | '$' | '@')
            || matches!(after, '/' | '\\')
            || (before == '.' && !after.is_whitespace())
            || (after == '.' && text[run.end + 1..].starts_with(char::is_alphanumeric));
        if is_amid || is_of_path || (is_low && is_identifier(text, &run)) {
            return Self { run, opens: false, closes: false };
        }
        let opens = left && (!is_low || !right || is_mark(before));
        let closes = right && (!is_low || !left || is_mark(after));
        Self { run, opens, closes }
    }
}

/// "`__tests__`", "`__init__`": one word in small letters between two low lines on either side.
fn is_identifier(text: &str, run: &Range<usize>) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let before = text[..run.start].trim_end_matches(is_part).len();
    let word = text[before..].split(|c: char| !is_part(c)).next().unwrap_or_default();
    let name = word.strip_prefix("__").and_then(|word| word.strip_suffix("__"));
    name.is_some_and(|name| name.chars().any(char::is_lowercase) && !name.contains(char::is_uppercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        Marks::of(text).without(text, 0..text.len()).collect()
    }

    #[test]
    fn marks_are_dropped_where_they_are_marks() {
        for (text, wanted) in [
            ("We *will* sell **it** and _not_ `that`.", "We will sell it and not that."),
            ("**Decision:** \"keep\" **\"it\"**.", "Decision: \"keep\" \"it\"."),
            ("***all*** of __them both__", "all of them both"),
            ("``a ` b`` and _a_b_", "a ` b and a_b"),
            ("* keep *it*\n* sell *that*", "* keep it\n* sell that"),
        ] {
            assert_eq!(shown(text), wanted);
        }
    }

    #[test]
    fn letters_of_code_paths_and_sums_stay() {
        for (text, wanted) in [
            ("`__Host-lk` for `quality/*.py` and `*`", "__Host-lk for quality/*.py and *"),
            ("globalThis.__pool and foo.__bar", "globalThis.__pool and foo.__bar"),
            ("move __tests__ and __init__", "move __tests__ and __init__"),
            ("lib/*.rs, src/** and **/*.py", "lib/*.rs, src/** and **/*.py"),
            ("2*3*4, a * b * c", "2*3*4, a * b * c"),
            ("def f(*args, **kwargs)", "def f(*args, **kwargs)"),
            ("a_b, _private and my_var", "a_b, _private and my_var"),
            ("one *\n\nother*", "one *\n\nother*"),
        ] {
            assert_eq!(shown(text), wanted);
        }
    }
}
