//! Statements that a colon or a bracket parts, and what a colon spells out.

use super::clauses::{Statement, Tokens, turns};
use super::sentence::Sentence;

/// The most tokens of what spells out a statement behind its colon.
const SPELLED_OUT_MAX: usize = 30;

/// Whether what is behind a colon spells out what is before it: "use this order: imports, constants".
pub(super) fn spells_out(sentence: &Sentence<'_>, colon: usize) -> bool {
    let rest = colon + 1..sentence.len();
    sentence.mark(colon) == Some(":")
        && (1..=SPELLED_OUT_MAX).contains(&rest.len())
        && !sentence.is_question()
        && !turns(sentence, colon + 1)
}

/// Makes one statement of two that only a colon or a bracket parts.
pub(super) fn joined(sentence: &Sentence<'_>, mut found: Vec<Statement>) -> Vec<Statement> {
    found.sort_by_key(|statement| statement.tokens);
    let mut joined: Vec<Statement> = Vec::new();
    for mut statement in found {
        let mark = joined.last().map(|before| before.tokens.1).filter(|at| *at + 1 == statement.tokens.0);
        match (joined.last_mut(), mark.and_then(|at| sentence.mark(at))) {
            (Some(before), Some(":" | "(" | ")")) => {
                before.tokens.1 = statement.tokens.1;
                before.condition = before.condition.or(statement.condition.take());
            }
            _ => joined.push(statement),
        }
    }
    joined
}

/// Where what a colon ends has its end, with what spells it out.
pub(super) fn spelled_out(sentence: &Sentence<'_>, tokens: Tokens) -> Tokens {
    let (start, end) = tokens;
    if spells_out(sentence, end) {
        let borders = |at: &usize| matches!(sentence.mark(*at), Some(";" | "?" | "!" | "—" | "–" | "-"));
        return (start, (end + 1..sentence.len()).find(borders).unwrap_or(sentence.len()));
    }
    tokens
}
