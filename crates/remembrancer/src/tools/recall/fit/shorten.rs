//! Shortens texts and results to so many tokens.

use memory_core::snippet::snippet;
use memory_language::lexicon::Reader;
use memory_language::text::cut;

use super::tokens::tokens;
use crate::tools::recall::output::{ResultOut, TurnOut};

/// What a snippet, a title and a content keep however tight it is, in characters.
pub(super) const KEPT_CHARS: usize = 60;
/// What a snippet keeps as long as something else can go, in characters.
const SNIPPET_CHARS: usize = 160;

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

/// What is said about a result goes in this order. The snippet has what its events say, and by the id at the source clients know which
/// of their own texts it is.
const STEPS: [fn(&mut ResultOut); 7] = [
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
    |result| {
        if let Some(later) = &mut result.said_later {
            later.snippet = cut(&later.snippet, KEPT_CHARS);
        }
    },
    |result| result.events = None,
    |result| {
        result.said_later = None;
        result.source_id = None;
    },
];
/// Before this step the snippet gives all that it can.
const LAST_SNIPPET: usize = 5;

/// Shortens a result to so many tokens as far as it goes: its content and the most of its snippet first, then what is said about it.
/// The snippet keeps the sentences that have the most of the query.
pub(super) fn shorten(result: &mut ResultOut, room: usize, query: &mut Option<Reader<'_>>) {
    let mut step = 0;
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
        let kept = if step < LAST_SNIPPET { SNIPPET_CHARS } else { KEPT_CHARS };
        let chars = result.snippet.chars().count();
        if chars > kept {
            let of_snippet = tokens(&result.snippet).max(1);
            let fewer = chars * (room + of_snippet).saturating_sub(cost) / of_snippet;
            result.snippet = shorter(&result.snippet, fewer.clamp(kept, chars - 1), query);
        } else if let Some(drop) = STEPS.get(step) {
            drop(result);
            step += 1;
        } else {
            return;
        }
    }
}

/// The snippet within so many characters.
fn shorter(shown: &str, max_chars: usize, query: &mut Option<Reader<'_>>) -> String {
    // The marks of what is left out count too.
    let shown = snippet(shown, max_chars.saturating_sub(2), query.as_mut(), None);
    if shown.chars().count() <= max_chars { shown } else { cut(&shown, max_chars) }
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
