//! Doers whom the words of a promise leave out: who is named behind them, "… (Ada, by Friday)", "… – de Witt", and else who says them.

use std::ops::Range;

use memory_language::calendar_words::calendar_word;

use super::super::names;
use super::super::owners::{TOGETHER_MAX, is_for_many, is_open, looks_like_a_deed};
use super::super::verbs::{self, Class};
use super::super::words::{Kind, begins_line};
use super::seen::Behind;
use super::{Named, Place};

/// A bracket with names has no more tokens.
const BRACKET_TOKENS: usize = 10;
/// Names behind a dash have no more.
const BEHIND_DASH: usize = 8;
/// Words for others, who then may be the ones to do it.
pub(super) const OTHERS: [&str; 12] = [
    "you",
    "he",
    "she",
    "they",
    "someone",
    "somebody",
    "anyone",
    "anybody",
    "nobody",
    "everyone",
    "everybody",
    "please",
];
const FUTURE: [&str; 3] = ["will", "'ll", "shall"];
/// Behind these "I" is a number.
const COUNTED: [&str; 10] =
    ["phase", "part", "stage", "type", "class", "tier", "volume", "annex", "appendix", "chapter"];
/// Behind a subject stands one of these.
const FINITE: [&str; 22] = [
    "will", "'ll", "shall", "is", "are", "was", "were", "has", "have", "had", "must", "should", "would",
    "could", "can", "may", "might", "need", "needs", "'re", "wants", "'d",
];

impl Place<'_, '_> {
    /// "… must go out by the 20th (Ada)", "… (Estates, before 1 August)", "cushions to the upholsterer – de Witt".
    pub(super) fn closing(&self, tokens: &Range<usize>) -> Option<Vec<Named>> {
        let text = &self.parsed.text;
        let mut end = tokens.end;
        while end > tokens.start + 1 && text.is_any(end - 1, &[".", ";", "!", "*", "_"]) {
            end -= 1;
        }
        let opens = |at: &usize| text.is_any(*at, &["(", "["]);
        if let Some(below) = self.below(tokens) {
            return Some(vec![below]);
        }
        if opens(&tokens.end) && !text.ends_line(tokens.end.saturating_sub(1)) {
            let end = text.tokens.len().min(tokens.end + BRACKET_TOKENS);
            let close = (tokens.end..end).find(|at| text.is_any(*at, &[")", "]"]))?;
            return self.listed(tokens.end + 1, close, Behind::Bracket);
        }
        if text.is_any(end - 1, &[")", "]"]) {
            let open =
                (tokens.start.max(end.saturating_sub(BRACKET_TOKENS + 1))..end - 1).rev().find(opens)?;
            return self.listed(open + 1, end - 1, Behind::Bracket).filter(|_| open > tokens.start);
        }
        if let Some(with_me) = self.together_with_me(tokens.start, end) {
            return Some(with_me);
        }
        let from = (tokens.start + 1).max(end.saturating_sub(BEHIND_DASH));
        let dash = (from..end).rev().find(|at| text.is_any(*at, &["–", "—", "→"]))?;
        let named = self.listed(dash + 1, end, Behind::Dash)?;
        named.last().is_some_and(|last| last.tokens.end == end).then_some(named)
    }

    /// "we'll move the shelves on Thursday, Ada and me".
    fn together_with_me(&self, start: usize, end: usize) -> Option<Vec<Named>> {
        let text = &self.parsed.text;
        let me =
            end.checked_sub(1).filter(|at| text.word(*at) == "me" && text.is_any(at - 1, &["and", "&"]))?;
        // "Estates will send it to Ada, Bo and me" goes to us.
        let from = (start.max(end.saturating_sub(BEHIND_DASH))..me)
            .rev()
            .find(|at| text.is_any(*at, &[",", "–", "—", "-", ":"]) && !text.touches_next(*at))?;
        (start..from).find(|at| text.word(*at) == "we")?;
        let other = self.name(from + 1, me).filter(|other| other.tokens.end + 1 == me)?;
        Some(vec![other, self.own(me)?])
    }

    /// "- tiles for the porch", and in a deeper item below it "- Ada": the name.
    fn below(&self, tokens: &Range<usize>) -> Option<Named> {
        let text = &self.parsed.text;
        let (bullet, item) = (tokens.end, tokens.start.checked_sub(1)?);
        let indent = |at: usize| {
            let before = at.checked_sub(1).map_or(0, |before| text.tokens[before].end);
            let gap = &text.raw[before..text.tokens[at].start];
            gap.rsplit_once('\n').map_or(gap.len(), |(_, indent)| indent.len())
        };
        let is_bullet = |at: usize| text.is_any(at, &["-", "*", "•", "+"]) && begins_line(text, at);
        if bullet + 1 >= text.tokens.len()
            || !is_bullet(bullet)
            || !is_bullet(item)
            || indent(bullet) <= indent(item)
        {
            return None;
        }
        let named = self.name(bullet + 1, text.tokens.len())?;
        let fits = self.seen.named_behind[Behind::Below as usize] || self.is_person(&named);
        (fits && text.ends_line(named.tokens.end - 1)).then_some(named)
    }

    /// The names from a token on, if what follows them in their bracket is a day, more people or nothing.
    fn listed(&self, start: usize, end: usize, form: Behind) -> Option<Vec<Named>> {
        const MORE: [&str; 9] = [",", "+", "&", "and", "/", "w", "with", "by", "until"];
        let text = &self.parsed.text;
        let mut found: Vec<Named> = Vec::new();
        // "(owner: Ada)".
        let label = text.is_any(start, &["owner", "owners", "lead", "action"]) && text.word(start + 1) == ":";
        let mut at = start + if label { 2 } else { 0 };
        while let Some(named) = (found.len() < TOGETHER_MAX).then(|| self.name(at, end)).flatten() {
            at = named.tokens.end;
            found.push(named);
            if !text.is_any(at, &[",", "+", "&", "and", "/"]) {
                break;
            }
            at += 1;
        }
        let after = found.last()?.tokens.end;
        let day = after + usize::from(text.is_any(after, &[",", "by", "until"]));
        let dated = text.is_any(day, &["by", "until", "before"])
            || text.kind(day) == Some(Kind::Number)
            || calendar_word(text.word(day)).is_some();
        let fits =
            dated || self.seen.named_behind[form as usize] || found.iter().all(|one| self.is_person(one));
        (fits && (after == end || text.is_any(after, &MORE))).then_some(found)
    }

    /// Someone who is known, or by a title, an initial or a first name a person; a body that is called one.
    pub(super) fn is_person(&self, named: &Named) -> bool {
        let text = &self.parsed.text;
        let first = text.word(named.tokens.start);
        named.known.is_some()
            || named.is_body
            || text.kind(named.tokens.start) == Some(Kind::Handle)
            || names::is_title(first)
            || names::is_first_name(&text.raw_word(named.tokens.start).to_lowercase())
            || (text.word(named.tokens.start + 1) == "." && first.chars().count() == 1)
    }

    /// "tests for it, then the invoice bug", "ok. will report back", "the flowers are for me": whoever says it.
    pub(super) fn unsaid(&self, tokens: &Range<usize>) -> Option<Vec<Named>> {
        let text = &self.parsed.text;
        let speaker = self.speaker?;
        let asks = text.word(tokens.end - 1) == "?" || text.word(tokens.end) == "?";
        let another = self.parsed.person(tokens.start).is_some_and(|mention| mention.entity != speaker);
        let others = tokens.clone().any(|at| text.is_any(at, &OTHERS));
        if asks || another || others || is_for_many(self.parsed, tokens) {
            return None;
        }
        let will = tokens.clone().find(|at| text.is_any(*at, &FUTURE));
        let is_own = || {
            let mine = |at: usize| text.word(at) == "me" && text.is_any(at - 1, &["for", "on"]);
            self.spoken && will.is_none() && tokens.clone().skip(1).any(mine)
        };
        let is_alone = || {
            (self.spoken || (self.parsed.is_of_one && self.begins_with_deed(tokens)))
                && tokens.clone().all(|at| self.has_no_subject(tokens, at))
        };
        let is_theirs = self.speaks_of_oneself(tokens, will) || is_own() || is_alone();
        is_theirs
            .then(|| vec![Named { tokens: tokens.start..tokens.start, known: Some(speaker), is_body: false }])
    }

    /// "I'll also send it", "I need to send it": "I", or in a talk "we", is what the verb of the future stands behind.
    fn speaks_of_oneself(&self, tokens: &Range<usize>, will: Option<usize>) -> bool {
        const WISHES: [&str; 12] =
            ["'m", "am", "'d", "would", "can", "should", "must", "need", "want", "plan", "intend", "promise"];
        let text = &self.parsed.text;
        let is_own = |at: &usize| {
            let counted = *at > tokens.start && text.is_any(at - 1, &COUNTED);
            !counted && (text.word(*at) == "i" || (self.spoken && text.word(*at) == "we"))
        };
        let adverb = |at: usize| {
            text.is_any(at, &["also", "then", "now", "just", "still"])
                || (text.word(at).len() > 4 && text.word(at).ends_with("ly"))
        };
        let end = will.map_or(tokens.end, |will| will + 1);
        (tokens.start..end).filter(is_own).any(|own| {
            let verb = own + 1 + usize::from(adverb(own + 1));
            Some(verb) == will || (will.is_none() && text.is_any(verb, &WISHES))
        })
    }

    /// "book the hall by Friday", "then checking the lights": of a note nobody else is to do it.
    fn begins_with_deed(&self, tokens: &Range<usize>) -> bool {
        let text = &self.parsed.text;
        let head = tokens.clone().take(3).find(|at| {
            !is_open(text.word(*at)) && !text.is_any(*at, &["then", "also", "will", "to", "and", ","])
        });
        head.filter(|at| !self.is_awaited(*at))
            .and_then(|at| verbs::of(text.word(at)))
            .is_some_and(|verb| verb.class == Class::Deed && (verb.base || verb.ing))
    }

    /// "Answer expected by 22 December", "Report due on Friday": what another brings.
    fn is_awaited(&self, at: usize) -> bool {
        const AWAITED: [&str; 7] =
            ["expected", "due", "awaited", "promised", "outstanding", "required", "scheduled"];
        let text = &self.parsed.text;
        let behind = at + 2;
        let is_when = text.is_any(behind, &["by", "on", "in", "for", "from", "at", "before", "next", "this"])
            || text.kind(behind) == Some(Kind::Number)
            || calendar_word(text.word(behind)).is_some();
        text.is_any(at + 1, &AWAITED) && is_when
    }

    /// A token is not the verb of a subject: "will" behind a full stop has none.
    fn has_no_subject(&self, tokens: &Range<usize>, at: usize) -> bool {
        let text = &self.parsed.text;
        // "to be put at 12": who does it, nothing tells.
        if text.word(at) == "be" && at > tokens.start && text.word(at - 1) == "to" {
            return false;
        }
        if !(text.is_any(at, &FINITE) || looks_like_a_deed(self.parsed, at)) {
            return true;
        }
        let Some(before) = self.before_aside(tokens.start, at) else { return true };
        !(text.is_word(before) || self.parsed.mention(before).is_some())
            || text.is_any(before, &["and", "then", "but", "so", "ok", "sure", "yes", "also", "sorry"])
    }

    /// The token before one, what is set apart between them aside: "the courier (Moss Ltd) will", "the courier, Moss Ltd, will".
    fn before_aside(&self, start: usize, at: usize) -> Option<usize> {
        let text = &self.parsed.text;
        let back = |from: usize, marks: &[&str]| {
            (start.max(from.saturating_sub(BRACKET_TOKENS))..from).rev().find(|at| text.is_any(*at, marks))
        };
        let mut before = at.checked_sub(1)?;
        while before > start && text.is_any(before, &["*", "_", "\"", "”", "’", "`"]) {
            before -= 1;
        }
        let open = match text.word(before) {
            ")" | "]" => back(before, &["(", "["]),
            "," => back(before, &[","]),
            "–" | "—" => back(before, &["–", "—"]),
            _ => None,
        };
        let before = match open {
            Some(open) => open.checked_sub(1)?,
            None => before,
        };
        (before >= start && before < at).then_some(before)
    }

    /// "On holiday from Friday", "sprint demo on Friday": nobody and no verb stands there, so what follows is another's deed.
    pub(super) fn tells_no_deed(&self, tokens: &Range<usize>) -> bool {
        const FINITE: [&str; 16] = [
            "i", "we", "he", "she", "they", "it", "you", "who", "will", "'ll", "'s", "is", "are", "to",
            "can", "that",
        ];
        let text = &self.parsed.text;
        tokens.clone().all(|at| {
            let verb = verbs::of(text.word(at));
            let is_deed = verb.is_some_and(|verb| (verb.third || verb.past) && !verb.base);
            !is_deed && !text.is_any(at, &FINITE) && self.parsed.mention(at).is_none_or(|it| !it.can_act())
        })
    }
}
