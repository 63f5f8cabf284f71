//! Owners: whose an item is, by the forms in which lists say it.

use std::ops::Range;

use super::scene::Scene;
use super::verbs;
use super::words::Kind;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Owned {
    pub(super) people: Vec<usize>,
    /// What is to be done, without the owner; may be empty.
    pub(super) task: Range<usize>,
}

/// The owners of an item and the rest of it: «Alice: …», «@bob to …», «[Kim] …», «Bob – …», «… (owner: Dana)», «… – Kim».
pub(super) fn owned(scene: &Scene<'_>, tokens: &Range<usize>, speaker: Option<usize>) -> Owned {
    own(scene, tokens, speaker)
        .or_else(|| leading(scene, tokens))
        .or_else(|| trailing(scene, tokens))
        .unwrap_or(Owned { people: Vec::new(), task: tokens.clone() })
}

/// «me: ring the school», «Me - quotes».
fn own(scene: &Scene<'_>, tokens: &Range<usize>, speaker: Option<usize>) -> Option<Owned> {
    let text = &scene.text;
    let at = tokens.clone().find(|at| !is_open(text.word(*at)))?;
    let marked = matches!(text.word(at + 1), ":" | "-" | "–" | "—" | "→");
    (text.word(at) == "me" && marked)
        .then(|| Owned { people: speaker.into_iter().collect(), task: (at + 2).min(tokens.end)..tokens.end })
}

fn is_open(word: &str) -> bool {
    matches!(word, "*" | "_" | "[" | "(" | "\"" | "`")
}

fn leading(scene: &Scene<'_>, tokens: &Range<usize>) -> Option<Owned> {
    let text = &scene.text;
    let mut at = tokens.clone().find(|at| !is_open(text.word(*at)))?;
    let mut people = Vec::new();
    while let Some(spot) = scene.person(at).filter(|_| at < tokens.end) {
        people.push(spot.entity);
        at = spot.tokens.end;
        let more = matches!(text.word(at), "and" | "&" | "," | "/" | "+");
        if more && scene.person(at + 1).is_some() {
            at += 1;
        } else {
            break;
        }
    }
    if people.is_empty() {
        return None;
    }
    // «Bob (QA): …»
    if text.word(at) == "(" {
        at = (at..tokens.end.min(at + 8)).find(|end| text.word(*end) == ")")? + 1;
    }
    while at < tokens.end && matches!(text.word(at), "*" | "_" | "]" | ")" | "`" | "\"") {
        at += 1;
    }
    if at >= tokens.end {
        return Some(Owned { people, task: at.min(tokens.end)..tokens.end });
    }
    let handle = text.kind(tokens.start) == Some(Kind::Handle);
    let closed = text.word(at - 1) == "]";
    at = match text.word(at) {
        ":" | "–" | "—" | "→" | ">" | "to" | "will" | "'ll" | "shall" => at + 1,
        "-" => at + if text.word(at + 1) == ">" { 2 } else { 1 },
        "is" if text.word(at + 1) == "going" && text.word(at + 2) == "to" => at + 3,
        _ if handle || closed => at,
        // «Ebba finishes …», «Lucía presents …».
        word if verbs::of(word).is_some_and(|verb| verb.third && !verb.past) => at,
        _ => return None,
    };
    while at < tokens.end && matches!(text.word(at), "*" | "_" | "to" | "will") {
        at += 1;
    }
    Some(Owned { people, task: at.min(tokens.end)..tokens.end })
}

fn trailing(scene: &Scene<'_>, tokens: &Range<usize>) -> Option<Owned> {
    let text = &scene.text;
    let spots = scene.spots_in(tokens);
    for spot in spots.iter().filter(|spot| scene.person(spot.tokens.start).is_some()) {
        let before = spot.tokens.start.checked_sub(1).filter(|before| *before > tokens.start)?;
        let after = text.word(spot.tokens.end);
        let closes = spot.tokens.end >= tokens.end
            || matches!(
                after,
                ")" | "]" | "," | "." | "–" | "—" | ";" | "/" | "&" | "by" | "due" | "-" | "and" | "*" | "|"
            );
        let word = text.word(before);
        let earlier = text.word(before.saturating_sub(1));
        let label = |word: &str| {
            matches!(
                word,
                "owner" | "owners" | "assignee" | "dri" | "lead" | "responsible" | "assigned" | "owned"
            )
        };
        let named = label(word) || (matches!(word, ":" | "to" | "by") && label(earlier));
        let spaced = !text.touches_next(before);
        let marked = matches!(word, "(" | "[" | "–" | "—" | "→" | ">") || (word == "-" && spaced);
        let handle = text.kind(spot.tokens.start) == Some(Kind::Handle) && spot.tokens.end >= tokens.end;
        if !(named || handle || (marked && closes)) {
            continue;
        }
        let mut people = vec![spot.entity];
        for other in spots.iter().filter(|other| other.tokens.start == spot.tokens.end + 1) {
            if matches!(after, "/" | "&" | "," | "and") && scene.person(other.tokens.start).is_some() {
                people.push(other.entity);
            }
        }
        let cut = match () {
            () if label(word) => before,
            () if named => before - 1,
            () if marked => before,
            () => spot.tokens.start,
        };
        let cut =
            if matches!(text.word(cut.saturating_sub(1)), "(" | "[" | "–" | "—") { cut - 1 } else { cut };
        // In brackets the owner is named beside the task; after a dash all that follows is about it.
        return Some(Owned { people, task: tokens.start..cut.max(tokens.start) });
    }
    None
}
