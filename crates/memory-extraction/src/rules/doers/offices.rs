//! Offices: who holds one by what a text says of it, "the Engineer (Ms Moss)", "Clerk: Mr Reed", "Canon Frost (chair)", and where the office
//! stands for its holder, "Chair to sign it".

use std::collections::HashMap;

use super::super::lists;
use super::super::names;
use super::super::owners::takes_on;
use super::super::people::{DEPUTIES, is_other_office, office_key};
use super::super::verbs;
use super::super::words::spaced;
use super::{ASIDE_TOKENS, Named, Place};

/// What one person is in a text, beside the offices of clubs and councils.
const MORE_OFFICES: [&str; 18] = [
    "applicant",
    "architect",
    "auditor",
    "chief",
    "convenor",
    "counsel",
    "engineer",
    "head",
    "host",
    "keeper",
    "manager",
    "minister",
    "organiser",
    "rector",
    "supervisor",
    "surveyor",
    "vendor",
    "vicar",
];
/// Between an opening bracket behind a name and the office stand no more words: "(outgoing Treasurer)".
const ASIDE_WORDS: usize = 3;
/// A name before a bracket has no more words.
const NAME_BEFORE: usize = 4;
/// The office that is to do something stands so near to the head.
const WITHIN_TOKENS: usize = 60;

pub(super) fn is_office(word: &str) -> bool {
    lists::OFFICES.contains(word) || MORE_OFFICES.contains(&word)
}

/// The offices of a text with the one who holds each; none where two are named.
pub(super) struct Offices(HashMap<String, Option<Named>>);

impl Offices {
    pub(super) fn of(place: &Place<'_, '_>) -> Self {
        let text = &place.parsed.text;
        let mut offices = HashMap::new();
        for at in (0..text.tokens.len()).filter(|at| is_office(text.word(*at))) {
            let Some(holder) = place.holder(at) else { continue };
            let is_same = |other: &Named| {
                let known = other.known.is_some() && other.known == holder.known;
                known || text.word(other.tokens.end - 1) == text.word(holder.tokens.end - 1)
            };
            let again = |known: &mut Option<Named>| {
                if !known.as_ref().is_some_and(is_same) {
                    *known = None;
                }
            };
            offices
                .entry(office_key(text.word(at)).to_owned())
                .and_modify(again)
                .or_insert_with(|| Some(holder.clone()));
        }
        Self(offices)
    }

    fn holder(&self, office: &str) -> Option<Named> {
        self.0.get(office_key(office)).cloned().flatten()
    }

    /// "Chair to answer it", "The Engineer was asked to find out", "… to be asked for figures (Clerk)".
    pub(super) fn standing(&self, place: &Place<'_, '_>, tokens: &std::ops::Range<usize>) -> Option<Named> {
        let text = &place.parsed.text;
        let at = tokens.clone().take(WITHIN_TOKENS).find(|at| {
            if !is_office(text.word(*at)) || is_other_office(text, *at) {
                return false;
            }
            let before = at.checked_sub(1).map_or("", |before| text.word(before));
            let mut next = at + 1 + usize::from(text.is_any(at + 1, &["madam", "sir"]));
            // "The vendor (Moss Ltd) will announce it".
            if text.word(next) == "(" {
                next = (next..tokens.end.min(next + ASIDE_TOKENS))
                    .find(|at| text.word(*at) == ")")
                    .map_or(next, |at| at + 1);
            }
            let after = text.word(next);
            let is_led = text.is_capitalised(*at) || matches!(before, "the" | "our" | "new");
            let acts = next < tokens.end && (place.does(next, true) || takes_on(place.parsed, next));
            let ends = next >= tokens.end || (after == "." && next + 1 >= tokens.end);
            let closes =
                (before == "(" && matches!(after, ")" | ",")) || (ends && matches!(before, "–" | "—" | "→"));
            (is_led && acts) || closes
        })?;
        self.holder(text.word(at))
    }
}

impl Place<'_, '_> {
    /// Who holds the office at a token, if the text says it there.
    fn holder(&self, at: usize) -> Option<Named> {
        let text = &self.parsed.text;
        let end = text.tokens.len();
        if (at.saturating_sub(2)..at).any(|before| text.is_any(before, &DEPUTIES)) {
            return None;
        }
        let behind = match text.word(at + 1) {
            ":" => {
                let from = (at + 2..at + 5).find(|at| !text.is_any(*at, &["*", "_"]))?;
                self.name(from, end).filter(|named| self.stands_alone(named))
            }
            // "Clerk & Engineer, Mr Moss".
            "," if names::is_title(text.word(at + 2)) && text.is_capitalised(at) => {
                self.name(at + 2, end).filter(|named| self.ends_aside(named.tokens.end))
            }
            "(" => self.name(at + 2, end).filter(|named| text.is_any(named.tokens.end, &[")", ","])),
            _ if text.is_capitalised(at) && spaced(text, at) => {
                self.name(at + 1, end).filter(|named| !named.is_body && !is_office(text.word(at + 1)))
            }
            _ => None,
        };
        behind.or_else(|| self.before_bracket(at))
    }

    /// "sent by the Clerk, Mr Reed agreed" does not say who the Clerk is.
    fn ends_aside(&self, after: usize) -> bool {
        let text = &self.parsed.text;
        text.ends_line(after - 1) || !text.is_word(after)
    }

    /// Behind "Chair:" a name ends its line or is one of a list; "Ann, please take the minutes" is what the chair says.
    fn stands_alone(&self, named: &Named) -> bool {
        let text = &self.parsed.text;
        let after = named.tokens.end;
        if text.ends_line(after - 1) {
            return true;
        }
        let rest = after + 1..text.tokens.len().min(after + ASIDE_TOKENS);
        let line = |at: &usize| !text.ends_line(*at - 1);
        let said = |at: usize| {
            verbs::is_finite(text.word(at))
                || text.is_any(at, &["please", "you", "your", "i", "we"])
                || verbs::of(text.word(at)).is_some_and(|verb| verb.base)
        };
        text.is_any(after, &[",", ";", "(", "*", "_", "."]) && !rest.take_while(line).any(said)
    }

    /// "Canon Frost (chair)", "Ms Moss (the new Clerk)".
    fn before_bracket(&self, at: usize) -> Option<Named> {
        const ASIDE: [&str; 6] = ["the", "new", "our", "acting", "outgoing", "incoming"];
        let text = &self.parsed.text;
        let open = (at.saturating_sub(ASIDE_WORDS + 1)..at).rev().find(|at| text.word(*at) == "(")?;
        let plain = (open + 1..at).all(|between| text.is_any(between, &ASIDE));
        if !plain || !text.is_any(at + 1, &[")", ",", ";"]) {
            return None;
        }
        let start = open.saturating_sub(NAME_BEFORE);
        (start..open).find_map(|from| {
            let named = self.name(from, open)?;
            (named.tokens.end == open && !named.is_body).then_some(named)
        })
    }
}
