//! Clauses that tell what is done, and so no commitment.

use std::ops::Range;

use super::super::parsed_segment::ParsedSegment;
use super::super::verbs;
use super::clauses::Candidate;

/// "Anna announced it to the board on Tuesday": a deed of the past by someone, and nothing that is to come.
pub(super) fn is_told_as_done(parsed: &ParsedSegment<'_>, candidate: &Candidate) -> bool {
    const TAKES_ON: [&str; 24] = [
        "accepted",
        "agreed",
        "asked",
        "assigned",
        "chose",
        "committed",
        "decided",
        "got",
        "had",
        "hoped",
        "offered",
        "owned",
        "picked",
        "planned",
        "pledged",
        "promised",
        "said",
        "scheduled",
        "signed",
        "took",
        "undertook",
        "volunteered",
        "wanted",
        "was",
    ];
    let text = &parsed.text;
    let Range { start, end } = candidate.tokens;
    let verb = match parsed.mention(start) {
        Some(mention) if mention.is_person() && mention.tokens.start == start => mention.tokens.end,
        _ => return false,
    };
    let is_past = verb < end
        && verbs::of(text.word(verb)).is_some_and(|it| it.past && !it.base)
        && !text.is_any(verb, &TAKES_ON);
    let is_to_come = |at: usize| {
        text.is_any(at, &["will", "'ll", "'d", "shall", "would", "going", "should", "must", "can"])
            || (text.word(at) == "to" && verbs::of(text.word(at + 1)).is_some_and(|it| it.base))
    };
    is_past && !(verb..end).any(is_to_come)
}

/// "Sockets are done (30 Oct)", "the invoice is finally paid": neither what is to be done nor until when.
pub(super) fn stands_done(parsed: &ParsedSegment<'_>, candidate: &Candidate) -> bool {
    const DONE: [&str; 8] = ["completed", "done", "finished", "fixed", "paid", "sent", "sorted", "submitted"];
    const BETWEEN: [&str; 5] = ["all", "already", "both", "finally", "now"];
    const NOT_YET: [&str; 22] = [
        "'d", "'ll", "after", "before", "by", "can", "going", "if", "must", "next", "not", "once", "shall",
        "should", "till", "to", "tomorrow", "until", "when", "will", "would", "yet",
    ];
    let text = &parsed.text;
    // "The invoice" is none.
    let is_verb = |at: usize| {
        verbs::of(text.word(at)).is_some()
            && !at.checked_sub(1).is_some_and(|before| text.is_any(before, &["a", "all", "my", "our", "the"]))
    };
    let is_done = |at: usize| {
        let behind = at + 1 + usize::from(text.is_any(at + 1, &BETWEEN));
        text.is_any(at, &["is", "are", "'s", "'re"])
            && text.is_any(behind, &DONE)
            && !(candidate.sentence.start..at).any(is_verb)
    };
    let mut tokens = candidate.tokens.clone();
    tokens.clone().any(is_done) && !tokens.any(|at| text.is_any(at, &NOT_YET) || text.word(at) == "n't")
}
