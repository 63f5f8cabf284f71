//! Clauses that ask for something and take nothing on: "could you send me the key?", "I need the keys back", "waiting for Jana to
//! send it", "I'll try but can't promise".

use std::ops::Range;

use super::super::answers;
use super::super::layout::Form;
use super::super::parsed_segment::ParsedSegment;
use super::super::sections::Section;
use super::super::verbs;
use super::clauses::Candidate;

/// Who is asked is named within so many tokens of the head.
const CALL_TOKENS: usize = 8;

/// Whether a clause only asks, wants, waits or hedges; what another takes on is told by the answer.
pub(super) fn is_untaken(parsed: &ParsedSegment<'_>, candidate: &Candidate, head: usize) -> bool {
    let tokens = head.max(candidate.tokens.start)..candidate.tokens.end;
    let block = candidate.block(parsed);
    let is_listed = block.labelled
        || block.section != Section::Open
        || matches!(block.form, Form::Item { .. } | Form::Row { .. });
    (!is_listed
        && (asks_you(parsed, candidate, &tokens) || begs(parsed, &tokens) || bids_stop(parsed, &tokens)))
        || wants(parsed, &tokens)
        || waits(parsed, &tokens)
        || hedges(parsed, candidate)
}

/// Whether who is called, if anybody, stands right before a token: "Tom, …", "Dear members, …", "please …", or nothing.
fn is_behind_call(parsed: &ParsedSegment<'_>, tokens: &Range<usize>, at: usize) -> bool {
    at == tokens.start
        || parsed
            .text
            .is_any(at - 1, &[",", "please", "so", "and", "also", "but", "then", "ok", "!", "-", "–"])
        || parsed.person(at - 1).is_some()
}

/// "Tom, could you send me the key?", "Would you mind looking at it?"
fn asks_you(parsed: &ParsedSegment<'_>, candidate: &Candidate, tokens: &Range<usize>) -> bool {
    let text = &parsed.text;
    let modal = tokens
        .clone()
        .find(|at| text.is_any(*at, &["can", "could", "would", "will"]) && text.word(at + 1) == "you");
    modal.is_some_and(|at| {
        let is_called = at - tokens.start < CALL_TOKENS && is_behind_call(parsed, tokens, at);
        is_called || candidate.clause(parsed).is_question()
    })
}

/// "Please return the form", "Robert, please send the figures".
fn begs(parsed: &ParsedSegment<'_>, tokens: &Range<usize>) -> bool {
    let text = &parsed.text;
    let please = tokens.clone().take(CALL_TOKENS).find(|at| text.word(*at) == "please");
    please.is_some_and(|at| {
        let verb = at + 1 + usize::from(text.is_any(at + 1, &["also", "kindly"]));
        let is_asked = text.is_word(verb) && !text.is_capitalised(verb);
        is_asked && is_behind_call(parsed, tokens, at)
    })
}

/// "Scrap the weekly summary", "and stop the reminders please": what an assistant is told not to do any more. "Stop by the bakery" is a
/// task.
fn bids_stop(parsed: &ParsedSegment<'_>, tokens: &Range<usize>) -> bool {
    const ELSEWHERE: [&str; 6] = ["by", "at", "in", "off", "over", "on"];
    let text = &parsed.text;
    let leads = |at: &usize| text.is_any(*at, &["and", "also", "ok", "so", "then", "please", ","]);
    let bids = |at: usize| {
        text.is_any(at, &["stop", "scrap", "forget"])
            && !text.is_any(at + 1, &ELSEWHERE)
            && at + 1 < tokens.end
    };
    tokens.clone().take(CALL_TOKENS).find(|at| !leads(at)).is_some_and(bids)
}

/// "I need the keys back by Sunday", "we still need the floor plans": who wants a thing does not bring it.
fn wants(parsed: &ParsedSegment<'_>, tokens: &Range<usize>) -> bool {
    const OBJECT: [&str; 12] =
        ["a", "an", "the", "your", "his", "her", "their", "this", "these", "those", "some", "everyone"];
    let text = &parsed.text;
    let needs = tokens.clone().take(CALL_TOKENS).find(|at| {
        let behind =
            at + 1 + usize::from(text.is_any(at + 1, &["still", "also", "really", "just", "do", "both"]));
        text.is_any(*at, &["i", "we"])
            && text.is_any(behind, &["need", "want", "require"])
            && text.is_any(behind + 1, &OBJECT)
    });
    // "We need the team to send it" gives it to somebody.
    let is_to_do = |at: usize| {
        text.is_any(at, &["will", "'ll", "shall"])
            || (text.word(at) == "to" && verbs::of(text.word(at + 1)).is_some_and(|verb| verb.base))
            || (verbs::of(text.word(at)).is_some_and(|verb| verb.participle) && !text.is_any(at - 1, &OBJECT))
    };
    needs.is_some_and(|needs| !(needs + 1..tokens.end).any(is_to_do))
}

/// "Waiting for Jana to send the logs", "Emil is waiting on legal".
fn waits(parsed: &ParsedSegment<'_>, tokens: &Range<usize>) -> bool {
    let text = &parsed.text;
    let waits = tokens
        .clone()
        .find(|at| text.is_any(*at, &["waiting", "waits"]) && text.is_any(at + 1, &["for", "on", "to"]));
    let is_to_come = |at: usize| text.is_any(at, &["will", "'ll", "shall", "then"]);
    waits.is_some() && !tokens.clone().any(is_to_come)
}

/// "I'll try but I can't promise", "yes if I remember".
fn hedges(parsed: &ParsedSegment<'_>, candidate: &Candidate) -> bool {
    let text = &parsed.text;
    let end = candidate.sentence.end.max(candidate.tokens.end);
    let is_hedge = |at: usize| answers::hedges(parsed, at);
    (candidate.tokens.clone()).any(is_hedge)
        || (candidate.sentence.start..end).any(|at| match text.word(at) {
            "promise" => text.is_any(at.saturating_sub(1), &["n't", "not", "cannot"]),
            "promises" => at > 0 && text.word(at - 1) == "no",
            "remember" => at > 1 && text.word(at - 1) == "i" && text.word(at - 2) == "if",
            _ => false,
        })
}
