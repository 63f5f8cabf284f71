//! Where a line of a text ends what it says, and where it is only wrapped.

/// Lines of running text are as long as this at least, before they are wrapped.
const WRAPPED_FROM: usize = 72;
/// So many lines of nearly one length are wrapped, shorter as they are.
const EVEN_LINES: usize = 3;
const EVEN_WITHIN: usize = 12;

/// The text up to each line that what follows does not go on with: it ends in a colon, or there was room for the next word.
pub(super) fn blocks(text: &str) -> impl Iterator<Item = &str> {
    let mut blocks = Vec::new();
    let mut start = 0;
    for paragraph in paragraphs(text) {
        let lines: Vec<&str> = paragraph.split_inclusive('\n').collect();
        let room = room(&lines);
        for (line, next) in lines.iter().zip(lines.iter().skip(1).map(Some).chain([None])) {
            let end = line.as_ptr() as usize - text.as_ptr() as usize + line.len();
            let is_ended = next.is_none_or(|next| {
                !next.trim().is_empty() && (line.trim_end().ends_with(':') || ends(line, next, room))
            });
            if is_ended {
                blocks.push(&text[start..end]);
                start = end;
            }
        }
    }
    blocks.into_iter()
}

/// Lines up to an empty one, with the empty ones behind them.
fn paragraphs(text: &str) -> impl Iterator<Item = &str> {
    let mut paragraphs = Vec::new();
    let (mut start, mut at, mut is_behind) = (0, 0, false);
    for line in text.split_inclusive('\n') {
        let is_empty = line.trim().is_empty();
        if is_behind && !is_empty {
            paragraphs.push(&text[start..at]);
            start = at;
        }
        is_behind = is_empty;
        at += line.len();
    }
    paragraphs.push(&text[start..]);
    paragraphs.into_iter()
}

/// How many characters a line of a paragraph has room for.
fn room(lines: &[&str]) -> usize {
    let lengths = lines.iter().map(|line| line.trim_end().chars().count()).filter(|length| *length > 0);
    let lengths: Vec<usize> = lengths.collect();
    let longest = lengths.iter().copied().max().unwrap_or(0);
    let (_, whole) = lengths.split_last().unwrap_or((&0, &[]));
    let is_even = whole.len() >= EVEN_LINES && whole.iter().all(|length| length + EVEN_WITHIN >= longest);
    if is_even { longest } else { longest.max(WRAPPED_FROM) }
}

fn ends(line: &str, next: &str, room: usize) -> bool {
    let line = line.trim_end();
    let word = next.split_whitespace().next().unwrap_or_default();
    !line.ends_with(',') && line.chars().count() + 1 + word.chars().count() <= room
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_had_room_for_the_next_word_ends_what_it_says() {
        let parts = |text| blocks(text).map(str::trim).collect::<Vec<_>>();
        assert_eq!(
            parts("use tabs\nno signals in models\nThe admin lives at /backoffice"),
            ["use tabs", "no signals in models", "The admin lives at /backoffice"]
        );
        let wrapped = "Whenever a test is flaky, mark it and open a ticket with the log of the\nrun, so that somebody can look at it in the week.";
        assert_eq!(parts(wrapped), [wrapped]);
        let narrow = "Whenever a test is flaky, mark it and\nopen a ticket with the log of the run,\nso that somebody can look at it later\nin the week.";
        assert_eq!(parts(narrow), [narrow]);
        assert_eq!(parts("Rules:\n- no tabs\n\nThe end."), ["Rules:", "- no tabs", "The end."]);
        let whole = "a\n\n\nb\n";
        assert_eq!(blocks(whole).collect::<String>(), whole);
    }
}
