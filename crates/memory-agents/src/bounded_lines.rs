//! Lines of a file with where they begin; one that is too long is passed over without being held.

use std::io::{self, BufRead};

/// A line of a file.
pub(crate) struct Line {
    /// From 1.
    pub(crate) number: u64,
    /// The byte where it begins.
    pub(crate) offset: u64,
    /// Without its end; `None` where it is longer than is read.
    pub(crate) bytes: Option<Vec<u8>>,
    /// It ends with a line end.
    pub(crate) is_whole: bool,
}

pub(crate) struct BoundedLines<R> {
    reader: R,
    number: u64,
    offset: u64,
    max_bytes: usize,
}

impl<R: BufRead> BoundedLines<R> {
    /// Lines of a reader that stands at this byte of its file.
    pub(crate) fn new(reader: R, offset: u64, max_bytes: usize) -> Self {
        Self { reader, number: 0, offset, max_bytes }
    }

    pub(crate) fn next(&mut self) -> io::Result<Option<Line>> {
        let offset = self.offset;
        let mut bytes = Some(Vec::new());
        let mut is_whole = false;
        loop {
            let read = self.reader.fill_buf()?;
            if read.is_empty() {
                break;
            }
            let end = read.iter().position(|byte| *byte == b'\n');
            let part = &read[..end.unwrap_or(read.len())];
            bytes = bytes.filter(|held| held.len() + part.len() <= self.max_bytes);
            if let Some(bytes) = &mut bytes {
                bytes.extend_from_slice(part);
            }
            let used = part.len() + usize::from(end.is_some());
            self.reader.consume(used);
            self.offset += used as u64;
            if end.is_some() {
                is_whole = true;
                break;
            }
        }
        if self.offset == offset {
            return Ok(None);
        }
        self.number += 1;
        Ok(Some(Line { number: self.number, offset, bytes, is_whole }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_say_where_they_begin_and_long_ones_are_passed_over() {
        let mut lines = BoundedLines::new(&b"one\ntoo long\n\nend"[..], 10, 4);
        let mut seen = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            let text = line.bytes.map(|bytes| String::from_utf8(bytes).unwrap());
            seen.push((line.number, line.offset, text, line.is_whole));
        }
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            seen,
            [
                (1, 10, text("one"), true),
                (2, 14, None, true),
                (3, 23, text(""), true),
                (4, 24, text("end"), false)
            ]
        );
    }
}
