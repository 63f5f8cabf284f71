//! Characters at places on a page as lines of text. Files say where each character stands, rarely where a word ends, and never
//! where a line does.

/// A character as it is drawn. Sizes are those of the page, y grows downwards.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Drawn {
    pub(super) text: String,
    /// Where it begins on its baseline, and where the next one would.
    pub(super) start: (f64, f64),
    pub(super) end: (f64, f64),
    /// Height of its font.
    pub(super) size: f64,
}

/// A gap that is wider, in sizes of the font, is between two words: those between letters are narrower, also where a line is
/// spread to its margins.
const WORD_GAP: f64 = 0.18;
/// What is further off the baseline is on another line; less are indices and powers.
const LINE_STEP: f64 = 0.5;
/// Lines that are further apart, in sizes of the font, are of two paragraphs.
const PARAGRAPH_STEP: f64 = 1.75;

#[derive(Debug)]
struct Line {
    text: String,
    start: (f64, f64),
    end: (f64, f64),
    size: f64,
}

/// The lines of a page as they grow.
#[derive(Debug, Default)]
pub(super) struct Lines {
    lines: Vec<Line>,
    last: Option<Drawn>,
    pub(super) chars: usize,
}

impl Lines {
    pub(super) fn push(&mut self, drawn: Drawn) {
        // Bold letters are drawn twice by some, and shadows too.
        let is_again = self.last.as_ref().is_some_and(|last| {
            last.text == drawn.text
                && distance(last.start, drawn.start) < 0.1 * drawn.size
                && drawn.text.trim() != ""
        });
        if is_again || !is_placed(&drawn) {
            return;
        }
        self.chars += drawn.text.chars().count();
        match self.lines.last_mut().and_then(|line| line.gap(&drawn).map(|gap| (line, gap))) {
            Some((line, gap)) => {
                let is_apart = gap > WORD_GAP * line.size.min(drawn.size);
                if is_apart
                    && !line.text.ends_with(char::is_whitespace)
                    && !drawn.text.starts_with(char::is_whitespace)
                {
                    line.text.push(' ');
                }
                line.text.push_str(&drawn.text);
                line.end = drawn.end;
            }
            None if drawn.text.trim().is_empty() => return,
            None => self.lines.push(Line {
                text: drawn.text.clone(),
                start: drawn.start,
                end: drawn.end,
                size: drawn.size,
            }),
        }
        self.last = Some(drawn);
    }

    /// The page's text: lines in the order in which they are drawn, which is that of reading in most files; where they go up
    /// the page all the time, from its top to its bottom.
    pub(super) fn into_text(mut self) -> String {
        self.lines.retain(|line| !line.text.trim().is_empty());
        let upward =
            self.lines.windows(2).filter(|pair| pair[1].start.1 < pair[0].start.1 - pair[0].size).count();
        if upward > 3 && upward * 4 > self.lines.len() {
            self.lines.sort_by(|one, other| {
                let row = |line: &Line| (line.start.1 / 4.0).round();
                row(one).total_cmp(&row(other)).then(one.start.0.total_cmp(&other.start.0))
            });
        }
        let mut out = String::new();
        let mut before: Option<&Line> = None;
        for line in &self.lines {
            let text = line.text.split_whitespace().collect::<Vec<_>>().join(" ");
            match before {
                None => out.push_str(&text),
                Some(before) => join(&mut out, before, line, &text),
            }
            before = Some(line);
        }
        out
    }
}

impl Line {
    /// How far behind the line's end the character begins, in the direction of the line; `None` if it is on another one.
    fn gap(&self, drawn: &Drawn) -> Option<f64> {
        let (dx, dy) = (self.end.0 - self.start.0, self.end.1 - self.start.1);
        let length = dx.hypot(dy);
        let (dx, dy) = if length > 0.0 { (dx / length, dy / length) } else { (1.0, 0.0) };
        let (x, y) = (drawn.start.0 - self.end.0, drawn.start.1 - self.end.1);
        let (along, across) = (x * dx + y * dy, (x * dy - y * dx).abs());
        (across < LINE_STEP * self.size.max(drawn.size) && along > -LINE_STEP * self.size).then_some(along)
    }
}

fn join(out: &mut String, before: &Line, line: &Line, text: &str) {
    let step = line.start.1 - before.start.1;
    let is_same_paragraph = step > 0.0
        && step < PARAGRAPH_STEP * before.size.max(line.size)
        && sizes_agree(before.size, line.size);
    let is_word_cut = out.ends_with(['-', '\u{ad}', '\u{2010}'])
        && out.chars().rev().nth(1).is_some_and(char::is_lowercase)
        && text.starts_with(char::is_lowercase);
    if is_same_paragraph && is_word_cut {
        out.pop();
    } else if is_same_paragraph || step.abs() < LINE_STEP * line.size {
        out.push('\n');
    } else {
        out.push_str("\n\n");
    }
    out.push_str(text);
}

fn sizes_agree(one: f64, other: f64) -> bool {
    (one - other).abs() <= 0.15 * one.max(other)
}

fn distance(one: (f64, f64), other: (f64, f64)) -> f64 {
    (one.0 - other.0).hypot(one.1 - other.1)
}

/// Numbers of files can be anything.
fn is_placed(drawn: &Drawn) -> bool {
    let numbers = [drawn.start.0, drawn.start.1, drawn.end.0, drawn.end.1, drawn.size];
    numbers.iter().all(|number| number.is_finite()) && drawn.size > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Letters of half their size each, with gaps of so much between the words.
    fn draw(lines: &mut Lines, (x, y): (f64, f64), size: f64, gap: f64, text: &str) {
        let mut at = x;
        for word in text.split(' ') {
            for letter in word.chars() {
                let end = at + size / 2.0;
                lines.push(Drawn { text: letter.to_string(), start: (at, y), end: (end, y), size });
                at = end;
            }
            at += gap * size;
        }
    }

    #[test]
    fn gaps_are_between_words_and_steps_between_lines_and_paragraphs() {
        let mut lines = Lines::default();
        draw(&mut lines, (50.0, 50.0), 20.0, 0.3, "The well");
        draw(&mut lines, (50.0, 90.0), 10.0, 0.25, "The pump is broken and must be re-");
        draw(&mut lines, (50.0, 102.0), 10.0, 0.25, "paired at once.");
        draw(&mut lines, (50.0, 114.0), 10.0, 0.05, "let ters");
        draw(&mut lines, (50.0, 150.0), 10.0, 0.25, "Next paragraph");
        assert_eq!(
            lines.into_text(),
            "The well\n\nThe pump is broken and must be repaired at once.\nletters\n\nNext paragraph"
        );
    }

    #[test]
    fn columns_are_read_one_after_the_other_and_files_that_are_drawn_from_below_from_the_top() {
        let mut columns = Lines::default();
        for (x, words) in [(50.0, ["one", "two", "three"]), (300.0, ["four", "five", "six"])] {
            for (row, word) in words.into_iter().enumerate() {
                draw(&mut columns, (x, 100.0 + 12.0 * row as f64), 10.0, 0.25, word);
            }
        }
        assert_eq!(columns.into_text(), "one\ntwo\nthree\n\nfour\nfive\nsix");
        let mut upward = Lines::default();
        for row in (0..8).rev() {
            draw(&mut upward, (50.0, 100.0 + 12.0 * f64::from(row)), 10.0, 0.25, &format!("row {row}"));
        }
        assert!(upward.into_text().starts_with("row 0\nrow 1\nrow 2"));
    }

    #[test]
    fn what_is_drawn_twice_is_read_once_and_powers_stay_in_their_line() {
        let mut lines = Lines::default();
        for letter in ["x", "x"] {
            lines.push(Drawn { text: letter.into(), start: (10.0, 10.0), end: (15.0, 10.0), size: 10.0 });
        }
        lines.push(Drawn { text: "2".into(), start: (15.0, 6.0), end: (18.0, 6.0), size: 6.0 });
        lines.push(Drawn { text: "?".into(), start: (f64::NAN, 6.0), end: (18.0, 6.0), size: 6.0 });
        assert_eq!(lines.into_text(), "x2");
    }

    #[test]
    fn text_that_runs_upwards_is_read_as_a_line() {
        let mut lines = Lines::default();
        for (number, letter) in "side".chars().enumerate() {
            let y = 100.0 - 5.0 * number as f64;
            lines.push(Drawn {
                text: letter.to_string(),
                start: (10.0, y),
                end: (10.0, y - 5.0),
                size: 10.0,
            });
        }
        assert_eq!(lines.into_text(), "side");
    }
}
