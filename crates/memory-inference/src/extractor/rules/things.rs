//! Things: organisations, projects, tickets and versions.

use std::ops::Range;

use memory_core::entity::EntityType;

use super::discover::spaced;
use super::names;
use super::people::Roster;
use super::words::{Kind, Text};

/// More entities than any real source has.
const ENTITIES_MAX: usize = 5_000;

/// Organisations, projects, tickets and versions: their tokens and the entity.
/// They are added to the roster.
pub(super) fn things(
    text: &Text<'_>,
    hidden: &[Range<usize>],
    roster: &mut Roster,
) -> Vec<(Range<usize>, usize)> {
    let mut found: Vec<(Range<usize>, usize)> = Vec::new();
    let mut at = 0;
    let mut hidden = hidden.iter().peekable();
    while at < text.tokens.len() && roster.entities.len() < ENTITIES_MAX {
        let start = text.tokens[at].start;
        while hidden.peek().is_some_and(|range| range.end <= start) {
            hidden.next();
        }
        if hidden.peek().is_none_or(|range| start < range.start)
            && let Some((tokens, entity_type)) = thing_at(text, at)
            && found.last().is_none_or(|(last, _)| last.end <= tokens.start)
        {
            let name = text.raw[text.bytes(&tokens)].split_whitespace().collect::<Vec<_>>().join(" ");
            let entity = roster.add(&name, entity_type);
            at = tokens.end;
            found.push((tokens, entity));
            continue;
        }
        at += 1;
    }
    found
}

fn thing_at(text: &Text<'_>, at: usize) -> Option<(Range<usize>, EntityType)> {
    if !text.is_word(at) {
        return None;
    }
    let raw = text.raw_word(at);
    if is_ticket(raw) || is_version(raw) {
        return Some((at..at + 1, EntityType::Object));
    }
    let next = text.raw_word(at + 1);
    if !spaced(text, at) {
        return None;
    }
    let proper = |at: usize| {
        text.is_capitalised(at)
            && text.raw_word(at).len() > 1
            && !(names::is_no_name(text.word(at)) && is_function_word(text.word(at)))
    };
    if raw == "Project"
        && proper(at + 1)
        && !matches!(next, "Manager" | "Lead" | "Plan" | "Status" | "Update" | "Management" | "Overview")
    {
        return Some((at..at + 2, EntityType::Project));
    }
    if raw == "version" && text.kind(at + 1) == Some(Kind::Number) && next.contains('.') {
        return Some((at..at + 2, EntityType::Object));
    }
    if matches!(next, "team" | "Team")
        && (is_team_word(text.word(at))
            || (text.is_capitalised(at) && proper(at) && !names::is_first_name(text.word(at))))
    {
        return Some((at..at + 2, EntityType::Org));
    }
    if next == "project" && proper(at) && !is_verb_like(text.word(at)) {
        return Some((at..at + 2, EntityType::Project));
    }
    if !proper(at) {
        return None;
    }
    let length = (1..5).find(|i| !spaced(text, at + i - 1) || !text.is_capitalised(at + i)).unwrap_or(5);
    let ending = (1..length).rev().find(|i| is_company_ending(text.raw_word(at + i)))?;
    Some((at..at + ending + 1, EntityType::Org))
}

/// What the name of a company ends with.
pub(super) fn is_company_ending(word: &str) -> bool {
    matches!(
        word,
        "Inc"
            | "Ltd"
            | "GmbH"
            | "Corp"
            | "LLC"
            | "AG"
            | "PLC"
            | "Corporation"
            | "Limited"
            | "Foundation"
            | "University"
            | "Institute"
            | "Technologies"
            | "Labs"
            | "Industries"
    )
}

fn is_function_word(word: &str) -> bool {
    matches!(
        word,
        "the"
            | "this"
            | "that"
            | "our"
            | "your"
            | "my"
            | "a"
            | "an"
            | "each"
            | "every"
            | "their"
            | "his"
            | "her"
            | "its"
            | "new"
            | "next"
            | "first"
            | "last"
            | "whole"
            | "entire"
            | "other"
            | "same"
            | "all"
            | "any"
            | "some"
            | "no"
            | "both"
            | "for"
            | "and"
            | "or"
            | "with"
            | "from"
            | "in"
            | "on"
            | "of"
            | "to"
            | "by"
            | "as"
            | "at"
            | "if"
            | "which"
            | "what"
            | "hi"
            | "dear"
            | "hello"
            | "thanks"
            | "one"
            | "open"
            | "local"
            | "external"
            | "internal"
            | "meet"
            | "join"
    )
}

fn is_verb_like(word: &str) -> bool {
    matches!(
        word,
        "start"
            | "project"
            | "close"
            | "finish"
            | "cancel"
            | "create"
            | "plan"
            | "side"
            | "pilot"
            | "big"
            | "current"
            | "previous"
    )
}

fn is_team_word(word: &str) -> bool {
    matches!(
        word,
        "platform"
            | "data"
            | "security"
            | "design"
            | "frontend"
            | "backend"
            | "infra"
            | "infrastructure"
            | "mobile"
            | "sales"
            | "marketing"
            | "legal"
            | "finance"
            | "support"
            | "ops"
            | "operations"
            | "qa"
            | "research"
            | "engineering"
            | "devops"
            | "sre"
            | "growth"
            | "payments"
            | "billing"
            | "analytics"
            | "hr"
            | "procurement"
            | "logistics"
    )
}

/// `ABC-123`, but not `UTF-8` or `SHA-256`.
fn is_ticket(raw: &str) -> bool {
    const STANDARDS: [&str; 16] = [
        "UTF", "SHA", "ISO", "COVID", "GPT", "RFC", "IEEE", "MD", "AES", "RSA", "PEP", "EN", "DIN", "ANSI",
        "HTTP", "BM",
    ];
    raw.split_once('-').is_some_and(|(key, number)| {
        (2..=10).contains(&key.len())
            && key.starts_with(|c: char| c.is_ascii_uppercase())
            && key.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
            && (1..=6).contains(&number.len())
            && number.chars().all(|c| c.is_ascii_digit())
            && !STANDARDS.contains(&key)
    })
}

/// `v2.3`, `v2.3.1-rc1`.
fn is_version(raw: &str) -> bool {
    raw.strip_prefix('v').is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_digit())
            && rest.contains('.')
            && rest.len() <= 16
            && rest.split('.').all(|part| part.starts_with(|c: char| c.is_ascii_digit()))
    })
}
