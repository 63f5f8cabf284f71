//! Doers whom the words of a promise leave out: who is named behind them, "… (Ada, by Friday)", "… – de Witt", and else who says them.

use std::ops::Range;

use super::super::owners::{TOGETHER_MAX, is_for_many, looks_like_a_deed};
use super::super::words::begins_line;
use super::{Named, Place};

/// A bracket with names has no more tokens.
const BRACKET_TOKENS: usize = 10;
/// Names behind a dash have no more.
const BEHIND_DASH: usize = 8;
/// Words for others, who then may be the ones to do it.
const OTHERS: [&str; 12] = [
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
        let is_open = |at: &usize| text.is_any(*at, &["(", "["]);
        if let Some(below) = self.below(tokens) {
            return Some(vec![below]);
        }
        if is_open(&tokens.end) && !text.ends_line(tokens.end.saturating_sub(1)) {
            let end = text.tokens.len().min(tokens.end + BRACKET_TOKENS);
            let close = (tokens.end..end).find(|at| text.is_any(*at, &[")", "]"]))?;
            return self.listed(tokens.end + 1, close);
        }
        if text.is_any(end - 1, &[")", "]"]) {
            let open =
                (tokens.start.max(end.saturating_sub(BRACKET_TOKENS + 1))..end - 1).rev().find(is_open)?;
            return self.listed(open + 1, end - 1).filter(|_| open > tokens.start);
        }
        let from = (tokens.start + 1).max(end.saturating_sub(BEHIND_DASH));
        let dash = (from..end).rev().find(|at| text.is_any(*at, &["–", "—", "→"]))?;
        let named = self.listed(dash + 1, end)?;
        named.last().is_some_and(|last| last.tokens.end == end).then_some(named)
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
        text.ends_line(named.tokens.end - 1).then_some(named)
    }

    /// "The panel will publish it": the one body that the text names whose name ends so.
    pub(super) fn short_body(&self, tokens: &Range<usize>) -> Option<Named> {
        let text = &self.parsed.text;
        let the = tokens.clone().take(2).find(|at| text.word(*at) == "the")?;
        let word = text.word(the + 1);
        if !self.does(the + 2, true) || the + 2 >= tokens.end {
            return None;
        }
        let known = self.index.by_last_word(word).filter(|_| word.len() > 3)?;
        Some(Named { tokens: the..the + 2, known: Some(known), is_body: true })
    }

    /// The names from a token on, if what follows them in their bracket is a day, more people or nothing.
    fn listed(&self, start: usize, end: usize) -> Option<Vec<Named>> {
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
        (after == end || text.is_any(after, &MORE)).then_some(found)
    }

    /// "tests for it, then the invoice bug", "ok. will report back", "the flowers are for me": whoever says it.
    pub(super) fn unsaid(&self, tokens: &Range<usize>) -> Option<Vec<Named>> {
        let text = &self.parsed.text;
        let speaker = self.speaker?;
        let any = |words: &[&str]| tokens.clone().any(|at| text.is_any(at, words));
        let asks = text.word(tokens.end - 1) == "?" || text.word(tokens.end) == "?";
        // "What will you do? merge it Blockers? none": what a program asks next.
        let asks =
            asks && !text.is_any(tokens.end.saturating_sub(2), &["blockers", "blocker", "impediments"]);
        let another = self.parsed.person(tokens.start).is_some_and(|mention| mention.entity != speaker);
        if asks || another || any(&OTHERS) || is_for_many(self.parsed, tokens) {
            return None;
        }
        let is_own = self.spoken && any(&["me", "my", "mine", "we"]);
        let is_alone = self.spoken || self.parsed.is_of_one;
        let is_theirs =
            any(&["i"]) || is_own || (is_alone && tokens.clone().all(|at| self.has_no_subject(tokens, at)));
        is_theirs
            .then(|| vec![Named { tokens: tokens.start..tokens.start, known: Some(speaker), is_body: false }])
    }

    /// A token is not the verb of a subject: "will" behind a full stop has none.
    fn has_no_subject(&self, tokens: &Range<usize>, at: usize) -> bool {
        let text = &self.parsed.text;
        // "to be put at 12": who does it, nothing tells.
        if text.word(at) == "be" && at > tokens.start && text.word(at - 1) == "to" {
            return false;
        }
        !(text.is_any(at, &FINITE) || looks_like_a_deed(self.parsed, at))
            || at == tokens.start
            || !(text.is_word(at - 1) || self.parsed.mention(at - 1).is_some())
            || text.is_any(at - 1, &["and", "then", "but", "so", "ok", "sure", "yes", "also", "sorry"])
    }
}
