//! Shortens texts and results to so many tokens.

use memory_language::text::cut;

use super::tokens::tokens;
use crate::tools::recall::output::{ResultOut, TurnOut};

/// What a snippet, a title and a content keep however tight it is, in characters.
pub(super) const KEPT_CHARS: usize = 60;

/// The longest beginning, cut at any character, that costs at most so much; a little always stays.
pub(super) fn beginning(text: &str, room: usize) -> &str {
    let mut shown = text;
    loop {
        let cost = tokens(&shown);
        let chars = shown.chars().count();
        if cost <= room || chars <= KEPT_CHARS {
            return shown;
        }
        let fewer = (chars * room / cost * 49 / 50).max(KEPT_CHARS);
        shown = shown.char_indices().nth(fewer).map_or(shown, |(at, _)| &shown[..at]);
    }
}

pub(super) fn shorten_turn(turn: &mut TurnOut, room: usize) {
    let cost = tokens(turn);
    if cost > room {
        let of_content = tokens(&turn.content);
        turn.content = beginning(&turn.content, (room + of_content).saturating_sub(cost)).to_owned();
        turn.content_cut = Some(true);
    }
}

/// Shortens a result to so many tokens as far as it goes: its snippet first, then what is said about it.
pub(super) fn shorten(result: &mut ResultOut, room: usize) {
    let steps: [fn(&mut ResultOut); 6] = [
        |result| {
            result.neighbours.clear();
            result.places.truncate(3);
            result.participants.truncate(5);
            result.tags.iter_mut().for_each(|tags| tags.truncate(5));
        },
        |result| result.title = result.title.as_deref().map(|title| cut(title, KEPT_CHARS)),
        |result| {
            result.events.iter_mut().flatten().for_each(|event| event.evidence.truncate(1));
            result.participants.clear();
            result.places.clear();
            result.explain = None;
        },
        |result| {
            result.events.iter_mut().flatten().for_each(|event| event.evidence.clear());
            result.tags = None;
        },
        // The snippet has what it says.
        |result| result.events = None,
        // By this clients know which of their own texts it is.
        |result| result.source_id = None,
    ];
    let mut steps = steps.into_iter();
    loop {
        let cost = tokens(result) + 1;
        if cost <= room {
            return;
        }
        if let Some(content) = &mut result.content
            && content.chars().count() > KEPT_CHARS
        {
            let of_content = tokens(content);
            *content = beginning(content, (room + of_content).saturating_sub(cost)).to_owned();
            result.content_cut = Some(true);
            continue;
        }
        let chars = result.snippet.chars().count();
        if chars > KEPT_CHARS {
            let of_snippet = tokens(&result.snippet).max(1);
            let fewer = chars * (room + of_snippet).saturating_sub(cost) / of_snippet;
            result.snippet = cut(&result.snippet, fewer.clamp(KEPT_CHARS, chars - 1));
        } else if let Some(step) = steps.next() {
            step(result);
        } else {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_ends_between_characters_and_costs_no_more_than_it_may() {
        let text = "東京 naïve \"quoted\" text. ".repeat(200);
        for room in [30, 100, 500] {
            let shown = beginning(&text, room);
            assert!(text.starts_with(shown) && tokens(&shown) <= room.max(60), "{room}");
        }
        assert_eq!(beginning("short", 1), "short");
    }
}
