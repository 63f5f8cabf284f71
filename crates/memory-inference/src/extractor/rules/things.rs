//! Things: organisations, projects, tickets and versions.

mod words;

use std::ops::Range;

use memory_core::entity::EntityType;

use super::discover::spaced;
use super::names;
use super::people::Roster;
use super::words::{Kind, Text};
pub(super) use words::is_company_ending;
use words::{is_body, is_function_word, is_leading_body, is_team_word, is_verb_like};

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
    if raw == "Team" && proper(at + 1) && !names::is_first_name(text.word(at + 1)) {
        return Some((at..at + 2, EntityType::Org));
    }
    if !proper(at) {
        return None;
    }
    joined_by_and(text, at).or_else(|| body(text, at)).or_else(|| place(text, at))
}

/// «Abernathy & Osei Solicitors», «Volt & Vaughn»: an organisation.
fn joined_by_and(text: &Text<'_>, at: usize) -> Option<(Range<usize>, EntityType)> {
    let both = text.word(at + 1) == "&" && text.is_capitalised(at + 2);
    if !both || names::is_no_name(text.word(at)) && names::is_no_name(text.word(at + 2)) {
        return None;
    }
    let ends = text.is_capitalised(at + 3) && spaced(text, at + 2) && is_body(text.raw_word(at + 3));
    // «Alice & Bob» are two people.
    if !ends && (names::is_first_name(text.word(at)) || names::is_first_name(text.word(at + 2))) {
        return None;
    }
    Some((at..at + 3 + usize::from(ends), EntityType::Org))
}

/// «St Brigid's Hospital», «Town Council of Lower Brannock», «Klinikum Ostertal»: what the last or the first word names.
fn body(text: &Text<'_>, at: usize) -> Option<(Range<usize>, EntityType)> {
    let mut end = at + 1;
    let mut last_body = is_body(text.raw_word(at)).then_some(at);
    while end < at + 8 {
        let possessive = text.word(end) == "'s";
        let joint = matches!(text.word(end), "of" | "for") && last_body.is_some_and(|body| body >= at)
            || matches!(text.word(end), "and" | "de" | "do" | "da" | "del" | "der" | "van")
                && last_body.is_some();
        let next = text.is_capitalised(end) && (spaced(text, end - 1) || possessive);
        if possessive && text.is_capitalised(end + 1)
            || joint && text.is_capitalised(end + 1) && spaced(text, end - 1)
        {
            end += 1;
        } else if next {
            if is_body(text.raw_word(end)) {
                last_body = Some(end);
            }
            end += 1;
        } else {
            break;
        }
    }
    let body = last_body?;
    let of = (body..end).any(|near| matches!(text.word(near), "of" | "for" | "de" | "do" | "da"));
    // A word such as «Council» alone is no name; «Klinikum Ostertal» and «Bank of Elmford» are.
    let tokens = match () {
        () if of => at..end,
        () if body > at => at..body + 1,
        () if is_leading_body(text.raw_word(at)) && end > at + 1 => at..end.min(at + 2),
        () => return None,
    };
    Some((tokens, EntityType::Org))
}

/// «Kettle Lane», «Market Square»: a place by its last word.
fn place(text: &Text<'_>, at: usize) -> Option<(Range<usize>, EntityType)> {
    // «Mina Park» and «Alan Hill» are people.
    if names::is_first_name(text.word(at)) {
        return None;
    }
    let length = (1..4).find(|i| !spaced(text, at + i - 1) || !text.is_capitalised(at + i)).unwrap_or(4);
    let ending = (1..length).rev().find(|i| {
        matches!(
            text.raw_word(at + i),
            "Street"
                | "Road"
                | "Lane"
                | "Avenue"
                | "Square"
                | "Row"
                | "Close"
                | "Drive"
                | "Hill"
                | "Park"
                | "Bridge"
                | "Valley"
                | "Island"
                | "Bay"
                | "Harbour"
                | "Station"
                | "Quay"
                | "Green"
                | "Court"
                | "Terrace"
                | "Way"
                | "Gardens"
                | "Wharf"
                | "Mews"
        )
    })?;
    Some((at..at + ending + 1, EntityType::Place))
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
