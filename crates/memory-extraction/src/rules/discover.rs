//! Discovery: names of people in running text and at the head of items.

use std::ops::Range;

use super::layout::{Block, Form};
use super::names;
use super::people::Sightings;
use super::sections::Section;
use super::things::is_company_ending;
use super::verbs;
use super::words::{Kind, Text, spaced};

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
            Some(Kind::Word) if is_handle_name(text, at) => seen.see_handle(text.raw_word(at)),
            Some(Kind::Word) if titled(text, at).is_some() => {
                let name = titled(text, at).unwrap_or(at..at + 1);
                seen.see_titled(&text.raw[text.bytes(&name)]);
                at = name.end;
                continue;
            }
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

/// The name after "Mr", "Dr.", "Cllr": up to three words with a capital, particles between them.
fn titled(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    if !names::is_title(text.word(at)) || !text.is_capitalised(at) {
        return None;
    }
    let mut start = at + 1;
    if text.word(start) == "." {
        start += 1;
    } else if !spaced(text, at) {
        return None;
    }
    // "Dear Prof. Dr. Weiss".
    if names::is_title(text.word(start)) {
        return None;
    }
    let mut end = start;
    while end < start + 5 {
        let initial = text.is_capitalised(end) && text.raw_word(end).chars().count() == 1;
        let part = text.is_capitalised(end)
            && (initial || names::could_be_part(text.raw_word(end)))
            && (end == start
                || names::is_first_name(&text.raw_word(start).to_lowercase())
                || !names::is_no_name(text.word(end)));
        let particle = is_particle(text.word(end)) && text.is_capitalised(end + 1)
            || (is_particle(text.word(end)) && is_particle(text.word(end + 1)));
        let dot = text.word(end) == "." && end > start && text.raw_word(end - 1).chars().count() == 1;
        if !(part || particle || dot) || (end > start && !dot && !spaced(text, end - 1)) {
            break;
        }
        end += 1;
    }
    (end > start).then_some(start..end)
}

/// "mo.haddad benchmarks …", "s.raghunathan: …": a person as programs show one.
fn is_handle_name(text: &Text<'_>, at: usize) -> bool {
    let word = text.raw_word(at);
    let Some((first, last)) = word.split_once(['.', '_']) else { return false };
    let plain =
        |part: &str, least: usize| part.len() >= least && part.chars().all(|c| c.is_ascii_lowercase());
    let file = matches!(
        last,
        "com"
            | "org"
            | "net"
            | "example"
            | "html"
            | "json"
            | "yaml"
            | "toml"
            | "txt"
            | "log"
            | "csv"
            | "pdf"
            | "docx"
            | "xlsx"
    );
    let next = text.word(at + 1);
    plain(first, 1)
        && plain(last, 4)
        && !file
        && (next == ":" || verbs::is_finite(next) || verbs::of(next).is_some() || names::is_first_name(first))
}

fn is_particle(word: &str) -> bool {
    matches!(
        word,
        "de" | "van"
            | "von"
            | "da"
            | "di"
            | "del"
            | "bin"
            | "al"
            | "der"
            | "den"
            | "la"
            | "ten"
            | "dos"
            | "el"
            | "ó"
            | "ní"
            | "mac"
            | "zu"
            | "af"
            | "y"
            | "le"
            | "du"
    )
}

/// Tokens of a full name at `at`: first name, perhaps an initial or a particle, last name.
fn full_name(text: &Text<'_>, at: usize) -> Option<usize> {
    let first = text.raw_word(at).to_lowercase();
    if !names::could_be_part(text.raw_word(at)) || !spaced(text, at) {
        return None;
    }
    let initial =
        text.raw_word(at + 1).chars().count() == 1 && text.is_capitalised(at + 1) && text.word(at + 2) == ".";
    let raw_particle = |at: usize| {
        is_particle(&text.raw_word(at).to_lowercase())
            && (text.is_capitalised(at + 1) || is_particle(text.word(at + 1)))
    };
    let particles = (1..3).take_while(|offset| raw_particle(at + offset)).count();
    let last = at + if initial { 3 } else { 1 + particles };
    let known = names::is_first_name(&first) || names::is_wordy_name(&first);
    let last_word = text.raw_word(last);
    if !text.is_capitalised(last) || !names::could_be_part(last_word) || !(spaced(text, last - 1)) {
        return None;
    }
    if names::is_wordy_name(&first) && names::is_no_name(&last_word.to_lowercase()) {
        return None;
    }
    // "Project Apollo team", "Acme Widgets Inc": more capitals or an organisation's ending make it something else.
    let after = text.raw_word(last + 1);
    if is_org_ending(after) || (spaced(text, last) && after.starts_with(char::is_uppercase) && !known) {
        return None;
    }
    if !(known || acts_like_a_person(text, last)) {
        return None;
    }
    // "Carmen García López".
    let third = known
        && spaced(text, last)
        && names::could_be_part(after)
        && !names::is_no_name(&after.to_lowercase())
        && text.word(last + 1) != "and";
    Some(last + 1 + usize::from(third) - at)
}

fn is_single_name(text: &Text<'_>, at: usize) -> bool {
    let word = text.raw_word(at);
    let lower = word.to_lowercase();
    // "St Brigid's" is a house.
    let saint = |before: usize| text.word(before) == "st";
    if at >= 1 && saint(at - 1) || at >= 2 && text.word(at - 1) == "." && saint(at - 2) {
        return false;
    }
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

pub(super) fn is_org_ending(word: &str) -> bool {
    is_company_ending(word)
        || matches!(
            word,
            "Bank"
                | "Group"
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

/// Owners at the head of items: "Oluwaseun: finish …", "Kim Larsen – …", "Noor to …", and "(owner: Dana)".
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
