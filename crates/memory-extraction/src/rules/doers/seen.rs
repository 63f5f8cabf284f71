//! What a text shows of how it writes, found once for all its promises.

use std::collections::HashSet;

use super::super::parsed_segment::ParsedSegment;
use super::super::words::{Text, begins_line};

/// Where the one who does it may stand behind the task.
#[derive(Debug, Clone, Copy)]
pub(super) enum Behind {
    Bracket,
    Dash,
    Below,
}

pub(super) struct Seen {
    /// The words that it writes in small letters: written large at the head of a sentence they are no names.
    pub(super) small: HashSet<String>,
    /// At which of the places behind a task it has someone who is known.
    pub(super) named_behind: [bool; 3],
}

impl Seen {
    pub(super) fn of(parsed: &ParsedSegment<'_>) -> Self {
        let text = &parsed.text;
        let mut named_behind = [false; 3];
        for mention in parsed.mentions.iter().filter(|mention| mention.is_person()) {
            let (start, end) = (mention.tokens.start, mention.tokens.end);
            let Some(before) = start.checked_sub(1) else { continue };
            let closes = text.ends_line(end - 1);
            let form = match text.word(before) {
                "(" | "[" if text.is_any(end, &[")", "]", ","]) && !begins_line(text, before) => {
                    Behind::Bracket
                }
                "-" | "*" | "•" | "+" if closes && begins_line(text, before) => Behind::Below,
                "–" | "—" | "→" if closes && !begins_line(text, before) => Behind::Dash,
                _ => continue,
            };
            named_behind[form as usize] = true;
        }
        Self { small: small_words(text), named_behind }
    }
}

fn small_words(text: &Text<'_>) -> HashSet<String> {
    (0..text.tokens.len())
        .filter(|at| text.is_word(*at) && !text.is_capitalised(*at))
        .map(|at| text.word(at).to_owned())
        .collect()
}
