//! Those named at a place, where what follows is what they are to do: "Ada and Bo will …", "@kim: …", "Moss mends …".

use std::ops::Range;

use super::super::names;
use super::super::owners::{TOGETHER_MAX, looks_like_a_deed, takes_on};
use super::super::people::is_initials;
use super::super::verbs::{self, Class};
use super::super::words::Kind;
use super::{ASIDE_TOKENS, Named, Place};

impl Place<'_, '_> {
    /// Those named from a token on, if what follows is what they are to do.
    pub(super) fn at(&self, start: usize, end: usize, is_marked: bool) -> Option<Vec<Named>> {
        let text = &self.parsed.text;
        let mut at = start + usize::from(text.word(start) == "the");
        let mut named: Vec<Named> = Vec::new();
        while named.len() < TOGETHER_MAX {
            // "Moses and I are booked", "me and Goldie, Thursday".
            let is_own = text.is_any(at, &["i", "me"]) && (!named.is_empty() || text.word(at + 1) == "and");
            let Some(next) = (if is_own { self.own(at) } else { self.name(at, end) }) else { break };
            at = next.tokens.end;
            named.push(next);
            let joined = text.is_any(at, &["and", "&", "/", "+"])
                || (text.word(at) == "," && self.name(at + 1, end).is_some());
            if !joined {
                break;
            }
            at += 1;
            // "Barbara and young Theo".
            at +=
                usize::from(text.is_any(at, &["young", "little", "old", "big", "the"]) && !named.is_empty());
        }
        let last = named.last()?;
        at = last.tokens.end;
        if text.is_any(at, &["and", "&", "/", "+"]) {
            at = self.behind_kin(at, end)?;
        }
        if text.word(at) == "(" {
            at = (at..end.min(at + ASIDE_TOKENS)).find(|at| text.word(*at) == ")")? + 1;
        }
        at = (at..end).find(|at| !text.is_any(*at, &["*", "_", "]", "`"]))?;
        at += usize::from(text.word(at) == "," && start > 0 && text.word(start - 1) == ",");
        let colon =
            text.word(at) == ":" || (matches!(text.word(at), "–" | "—" | "-") && !text.touches_next(at));
        let plain = named.iter().all(|one| one.known.is_some() || self.is_surely_someone(&one.tokens));
        let shared = named.len() > 1 && named.iter().any(|one| one.known.is_some());
        let is_unit = named.iter().all(|one| one.is_body && one.known.is_some());
        // "@kim: blog post", "@kim bump the version".
        let is_handle = text.kind(last.tokens.start) == Some(Kind::Handle) && at == last.tokens.end;
        let labelled = (colon && (is_marked || shared || is_unit || is_handle || self.is_initialled(&named)))
            || (is_handle && verbs::of(text.word(at)).is_some_and(|verb| verb.base))
            || (is_handle && text.word(at) == "is" && text.word(at + 1).ends_with("ing"));
        // "Ingrid and Wes do it with the accountant."
        let together = named.len() > 1 && self.is_done_together(at);
        let does = labelled || together || self.does(at, plain);
        (at < end && does).then_some(named)
    }

    /// "T. Moss: …", "PV: …".
    fn is_initialled(&self, named: &[Named]) -> bool {
        let text = &self.parsed.text;
        named.iter().all(|one| {
            is_initials(text.raw_word(one.tokens.start))
                || text.raw_word(one.tokens.start).chars().count() == 1
        })
    }

    /// A first name, a title, an initial or several words: no common noun at the head of a sentence.
    fn is_surely_someone(&self, tokens: &Range<usize>) -> bool {
        let text = &self.parsed.text;
        tokens.len() > 1 || names::is_first_name(&text.raw_word(tokens.start).to_lowercase())
    }

    /// "will send", "to call", "mends", "has promised to", "is on it"; `plain` says that someone surely stands before it.
    pub(super) fn does(&self, at: usize, plain: bool) -> bool {
        let text = &self.parsed.text;
        let deed =
            |at: usize| verbs::of(text.word(at)).is_some_and(|verb| verb.base && verb.class != Class::Idle);
        let adverb =
            |at: usize| at + usize::from(text.is_any(at, &["also", "then", "now", "kindly", "both"]));
        match text.word(at) {
            "will" | "'ll" | "shall" => {
                let verb = adverb(at + 1);
                text.word(verb) != "be" || verbs::of(text.word(verb + 1)).is_some_and(|verb| verb.ing)
            }
            "to" | "→" => {
                deed(adverb(at + 1))
                    || (plain && text.is_word(at + 1) && !text.is_any(at + 1, &["be", "have"]))
            }
            "is" | "are" => {
                (text.word(at + 1) == "on" && text.is_any(at + 2, &["it", "this", "that"]))
                    || (text.word(at + 1) == "going" && text.word(at + 2) == "to")
                    || (text.word(at + 1) == "to" && deed(at + 2))
                    || verbs::of(text.word(at + 1)).is_some_and(|verb| verb.ing && verb.class != Class::Idle)
                    || takes_on(self.parsed, at)
            }
            // "It was left that Stefan would send it".
            "would" => plain,
            "does" => !text.is_any(at + 1, &["not", "n't"]),
            word => {
                let known =
                    verbs::of(word).is_some_and(|verb| verb.third && !verb.past && verb.class == Class::Deed);
                let like = word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") && text.is_word(at);
                known
                    || takes_on(self.parsed, at)
                    || looks_like_a_deed(self.parsed, at)
                    || (plain
                        && like
                        && !text.is_capitalised(at)
                        && verbs::of(word).is_none_or(|verb| verb.third && verb.class != Class::Idle))
            }
        }
    }
}
