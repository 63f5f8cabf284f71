//! Discovery: names of people in running text, and organisations, projects, tickets and versions.

use std::ops::Range;

use memory_core::entity::EntityType;

use super::names;
use super::people::{Roster, Sightings};
use super::sections::Section;
use super::words::{Kind, Text};
use super::zones::{Block, Form};

/// Words after a name that only people have there.
const PERSON_NEXT: [&str; 44] = [
    "'ll",
    "agreed",
    "promised",
    "committed",
    "volunteered",
    "said",
    "says",
    "asked",
    "suggested",
    "proposed",
    "mentioned",
    "noted",
    "confirmed",
    "explained",
    "reported",
    "raised",
    "joined",
    "wants",
    "wanted",
    "thinks",
    "offered",
    "presented",
    "reviewed",
    "finished",
    "completed",
    "shipped",
    "fixed",
    "deployed",
    "merged",
    "wrote",
    "approved",
    "decided",
    "met",
    "told",
    "replied",
    "complained",
    "praised",
    "recommended",
    "pointed",
    "requested",
    "flagged",
    "led",
    "volunteers",
    "owns",
];
/// What people will do and systems will not.
const HUMAN_VERBS: [&str; 46] = [
    "send",
    "write",
    "draft",
    "prepare",
    "review",
    "finish",
    "check",
    "talk",
    "follow",
    "schedule",
    "set",
    "share",
    "update",
    "organize",
    "organise",
    "contact",
    "call",
    "own",
    "lead",
    "investigate",
    "reach",
    "take",
    "complete",
    "deliver",
    "fix",
    "look",
    "own",
    "work",
    "coordinate",
    "present",
    "submit",
    "ask",
    "meet",
    "join",
    "book",
    "create",
    "design",
    "implement",
    "document",
    "confirm",
    "deploy",
    "ship",
    "test",
    "set",
    "research",
    "drive",
];

/// Whether the words after token `at` say that it is a person.
pub(super) fn acts_like_a_person(text: &Text<'_>, at: usize) -> bool {
    match text.word(at + 1) {
        "will" => text.is_any(at + 2, &HUMAN_VERBS),
        "is" => matches!(text.word(at + 2), "going" | "working" | "waiting" | "blocked" | "responsible"),
        next => PERSON_NEXT.contains(&next),
    }
}

/// People named in the text outside of lists.
pub(super) fn see_people(text: &Text<'_>, hidden: &[Range<usize>], seen: &mut Sightings) {
    let mut hidden = hidden.iter().peekable();
    let mut at = 0;
    while at < text.tokens.len() {
        let start = text.tokens[at].start;
        while hidden.peek().is_some_and(|range| range.end <= start) {
            hidden.next();
        }
        if hidden.peek().is_some_and(|range| range.start <= start) {
            at += 1;
            continue;
        }
        match text.kind(at) {
            Some(Kind::Email) => seen.see_email(text.raw_word(at)),
            Some(Kind::Handle) => seen.see_handle(text.raw_word(at)),
            Some(Kind::Word) if text.is_capitalised(at) => {
                if let Some(length) = full_name(text, at) {
                    let bytes = text.bytes(&(at..at + length));
                    seen.see_name(&text.raw[bytes]);
                    at += length;
                    continue;
                }
                if is_single_name(text, at) {
                    seen.see_name(text.raw_word(at));
                }
            }
            _ => {}
        }
        at += 1;
    }
}

fn spaced(text: &Text<'_>, at: usize) -> bool {
    match (text.tokens.get(at), text.tokens.get(at + 1)) {
        (Some(left), Some(right)) => matches!(&text.raw[left.end..right.start], " " | "\u{a0}"),
        _ => false,
    }
}

/// Tokens of a full name at `at`: first name, perhaps an initial or a particle, last name.
fn full_name(text: &Text<'_>, at: usize) -> Option<usize> {
    let first = text.raw_word(at).to_lowercase();
    if !names::could_be_part(text.raw_word(at)) || !spaced(text, at) {
        return None;
    }
    let initial =
        text.raw_word(at + 1).chars().count() == 1 && text.is_capitalised(at + 1) && text.word(at + 2) == ".";
    let particle =
        text.is_any(at + 1, &["de", "van", "von", "da", "di", "del", "bin", "al", "van der", "la"]);
    let last = at + if initial { 3 } else { 1 + usize::from(particle) };
    let known = names::is_first_name(&first) || names::is_wordy_name(&first);
    let last_word = text.raw_word(last);
    if !text.is_capitalised(last) || !names::could_be_part(last_word) || !(spaced(text, last - 1)) {
        return None;
    }
    if names::is_wordy_name(&first) && names::is_no_name(&last_word.to_lowercase()) {
        return None;
    }
    // «Project Apollo team», «Acme Widgets Inc»: more capitals or an organisation's ending make it something else.
    let after = text.raw_word(last + 1);
    if is_org_ending(after) || (spaced(text, last) && after.starts_with(char::is_uppercase) && !known) {
        return None;
    }
    (known || acts_like_a_person(text, last)).then_some(last + 1 - at)
}

fn is_single_name(text: &Text<'_>, at: usize) -> bool {
    let word = text.raw_word(at);
    let lower = word.to_lowercase();
    if names::is_first_name(&lower) {
        return !is_org_ending(text.raw_word(at + 1));
    }
    let wordy = names::is_wordy_name(&lower);
    (wordy || names::could_be_part(word))
        && acts_like_a_person(text, at)
        && !starts_sentence_as_word(text, at, wordy)
}

/// A word at the beginning of a sentence is written large anyway.
fn starts_sentence_as_word(text: &Text<'_>, at: usize, wordy: bool) -> bool {
    let starts = at == 0 || matches!(text.word(at - 1), "." | "!" | "?");
    starts && !wordy && text.word(at + 1) != "'ll" && text.raw_word(at).len() < 4
}

fn is_org_ending(word: &str) -> bool {
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
            | "Bank"
            | "Technologies"
            | "Labs"
            | "Group"
            | "Industries"
            | "Systems"
            | "Solutions"
            | "Partners"
            | "team"
            | "Team"
            | "project"
            | "Project"
            | "Street"
            | "Avenue"
            | "Road"
    )
}

/// Owners at the head of items: «Oluwaseun: finish …», «Kim Larsen – …», «Noor to …», and «(owner: Dana)».
pub(super) fn see_owners(text: &Text<'_>, block: &Block, seen: &mut Sightings) {
    let tokens = text.tokens_in(&block.bytes);
    if let Form::Row { cells, heads } = &block.form {
        for (cell, head) in cells.iter().zip(heads) {
            if matches!(
                head.as_str(),
                "owner" | "who" | "assignee" | "responsible" | "person" | "assigned to" | "lead" | "dri"
            ) {
                seen.see_list(&text.raw[cell.clone()], false);
            }
        }
        return;
    }
    for at in tokens.clone() {
        let named = matches!(text.word(at), "owner" | "assignee" | "assigned" | "dri");
        let to = usize::from(text.is_any(at + 1, &[":", "to", "is", "–", "-"]));
        if named && to == 1 && at + 2 < tokens.end {
            see_name_at(text, at + 2, tokens.end, seen);
        }
    }
    if !matches!(block.form, Form::Item { .. }) && !block.labelled
        || !matches!(block.section, Section::Prior(_) | Section::Planned)
    {
        return;
    }
    let start = tokens.clone().find(|at| text.kind(*at) != Some(Kind::Punctuation)).unwrap_or(tokens.end);
    let length = (1..=3).find(|length| !text.is_capitalised(start + length)).unwrap_or(3);
    let next = start + length;
    let mark = text.word(next);
    let spaced_dash = matches!(mark, "-" | "–" | "—") && !text.touches_next(next - 1);
    if matches!(mark, ":" | "]" | "*")
        || spaced_dash
        || (mark == "to" && length <= 2)
        || (mark == "will" && length <= 2)
    {
        see_name_at(text, start, tokens.end, seen);
    }
}

fn see_name_at(text: &Text<'_>, at: usize, end: usize, seen: &mut Sightings) {
    let length = (0..3).take_while(|i| at + i < end && names::could_be_part(text.raw_word(at + i))).count();
    if length > 0 {
        seen.see(&text.raw[text.bytes(&(at..at + length))], false);
    }
}

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
    while at < text.tokens.len() {
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
    let ending = (1..length).rev().find(|i| {
        matches!(
            text.raw_word(at + i),
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
    })?;
    Some((at..at + ending + 1, EntityType::Org))
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
