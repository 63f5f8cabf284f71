//! Discovery: names of people in running text and at the head of items.

mod forms;
mod listed;
mod recurring;

use std::ops::Range;

use memory_language::calendar_words::calendar_word;

use super::layout::{Block, Form};
use super::lists;
use super::names;
use super::people::Sightings;
use super::sections::Section;
use super::things::{dealt_with, is_company_ending};
use super::verbs;
use super::words::{Kind, Text, begins_line, spaced};
pub(super) use forms::is_verb_at_head;
use forms::{full_name, initialled, is_handle_name, titled};
pub(super) use listed::see_listed;
pub(super) use recurring::see_recurring;

/// Words after a name that only people have there.
const PERSON_NEXT: [&str; 62] = [
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
    "agrees",
    "argues",
    "argued",
    "asks",
    "clarified",
    "emphasised",
    "emphasized",
    "explains",
    "expressed",
    "highlighted",
    "mentions",
    "outlined",
    "reiterated",
    "reminded",
    "suggests",
    "summarised",
    "summarized",
    "wondered",
];
/// What stands behind "to" where it leads to someone or something.
const NOT_DONE: [&str; 12] =
    ["the", "a", "an", "our", "my", "your", "his", "her", "their", "all", "this", "those"];
/// Heads of columns with people who are there or have a part.
const PEOPLE_COLUMNS: [&str; 11] = [
    "attendee",
    "attendees",
    "member",
    "members",
    "participant",
    "participants",
    "present",
    "reviewer",
    "author",
    "speaker",
    "contact",
];
/// Heads of columns with what the person of the row is.
const OFFICE_COLUMNS: [&str; 5] = ["role", "office", "position", "function", "capacity"];

/// Whether the words after token `at` say that it is a person.
pub(super) fn acts_like_a_person(text: &Text<'_>, at: usize) -> bool {
    match text.word(at + 1) {
        "will" => verbs::is_human(text.word(at + 2)),
        "is" => matches!(text.word(at + 2), "going" | "working" | "waiting" | "blocked" | "responsible"),
        "'s" => {
            text.word(at + 2) == "going" && text.word(at + 3) == "to" && verbs::is_human(text.word(at + 4))
        }
        "points" | "speaks" => text.is_any(at + 2, &["out", "up"]),
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
            // "a @Configuration class".
            Some(Kind::Handle) if is_one_of_a_kind(text, at) => {}
            Some(Kind::Handle) => seen.see_handle(text.raw_word(at)),
            Some(Kind::Word) if is_handle_name(text, at) => seen.see_handle(text.raw_word(at)),
            Some(Kind::Word) if titled(text, at).is_some() => {
                let name = titled(text, at).unwrap_or(at..at + 1);
                seen.see_titled(&text.raw[text.bytes(&name)]);
                at = name.end;
                continue;
            }
            Some(Kind::Word) if text.is_capitalised(at) => {
                if let Some(name) = initialled(text, at) {
                    seen.see_name(&text.raw[text.bytes(&name)]);
                    at = name.end;
                    continue;
                }
                if let Some(length) = full_name(text, at) {
                    let name = &text.raw[text.bytes(&(at..at + length))];
                    seen.see_name(name);
                    see_office_beside(text, &(at..at + length), seen);
                    at += length;
                    // "Ann Lee (@ann)".
                    let handle = at + usize::from(text.word(at) == "(");
                    if text.kind(handle) == Some(Kind::Handle) {
                        seen.see_handle_of(text.raw_word(handle), Some(name));
                    }
                    continue;
                }
                if is_single_name(text, at) && !is_one_of_a_kind(text, at) {
                    seen.see_single(text.raw_word(at));
                }
            }
            _ => {}
        }
        at += 1;
    }
}

/// "an IDE": what follows an indefinite article is nobody.
fn is_one_of_a_kind(text: &Text<'_>, at: usize) -> bool {
    at > 0 && spaced(text, at - 1) && matches!(text.word(at - 1), "a" | "an")
}

/// "treasurer Dana Ortiz", "the treasurer, Dana Ortiz,", "Dana Ortiz is our treasurer": the office that running text gives a name.
fn see_office_beside(text: &Text<'_>, name: &Range<usize>, seen: &mut Sightings) {
    let is_office = |at: usize| lists::OFFICES.contains(text.word(at));
    let raw = &text.raw[text.bytes(name)];
    let comma = name.start.checked_sub(1).is_some_and(|before| text.word(before) == ",");
    // "…, acting chair" at the end of a line is of the one before.
    let before = name.start.checked_sub(1 + usize::from(comma));
    let before = before.filter(|before| is_office(*before) && !begins_line(text, name.start));
    let mut after = name.end;
    let led = text.is_any(after, &[",", "is", "was"]);
    after += usize::from(led);
    after += usize::from(led && text.is_any(after, &["the", "our"]));
    let after = Some(after).filter(|after| led && is_office(*after));
    // "the chair of the other club, Ann Lee" is of another body.
    for office in before.into_iter().chain(after).filter(|at| text.word(at + 1) != "of") {
        seen.see_office(text.word(office), raw);
    }
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
    // "The Midnight Walk raised": the last word of a thing's name.
    let begins = at > 1 && text.is_capitalised(at - 1) && spaced(text, at - 1);
    if begins
        && text.is_any(at - 2, &["the", "a", "an", "our", "this"])
        && !names::is_title(text.word(at - 1))
    {
        return false;
    }
    // "Ana Bell from Brightwater called", "our supplier Brightwater asks".
    if !wordy && dealt_with(text, at).is_some() {
        return false;
    }
    if !wordy && at > 0 && text.is_any(at - 1, &["the", "a", "an", "this"]) {
        return false;
    }
    // "Walkers told us": many people.
    let many = !wordy
        && (at == 0 || !text.is_word(at - 1))
        && ["ers", "ors", "ists", "ants", "ents", "ians"].iter().any(|end| lower.ends_with(end));
    !many
        && (wordy || (names::could_be_part(word) && !names::is_common_word(&lower)))
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
        see_in_row(text, cells, heads, seen);
        return;
    }
    for at in tokens.clone() {
        let named = matches!(text.word(at), "owner" | "assignee" | "assigned" | "dri");
        let to = usize::from(text.is_any(at + 1, &[":", "to", "is", "–", "-"]));
        if named && to == 1 && at + 2 < tokens.end {
            see_name_at(text, at + 2, tokens.end, seen);
        }
    }
    // "ring the dentist -> Shaz by Wed" in any list.
    let arrow = tokens.clone().rev().take(6).any(|at| text.word(at) == "by");
    if arrow && matches!(block.form, Form::Item { .. }) {
        see_owner_behind(text, &tokens, seen);
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
    // "Corridor: LD to sheet it": what it is about stands before the owner.
    let behind = (next + 1..tokens.end.min(next + 4)).find(|at| !text.is_capitalised(*at));
    let is_topic = mark == ":"
        && text.is_capitalised(next + 1)
        && behind.is_some_and(|at| text.is_any(at, &["to", "will", "shall"]));
    if is_topic {
        return;
    }
    see_owner_behind(text, &tokens, seen);
    let spaced_dash = matches!(mark, "-" | "–" | "—") && !text.touches_next(next - 1);
    // "Letter to the council" is written to someone.
    let does =
        mark == "to" && length <= 2 && !text.is_any(next + 1, &NOT_DONE) && !text.is_capitalised(next + 1);
    if matches!(mark, ":" | "]" | "*") || spaced_dash || does || (mark == "will" && length <= 2) {
        see_name_at(text, start, tokens.end, seen);
    }
}

/// The one name at the end of an item behind an arrow or a dash, alone or before a day: "photos -> Olm", "tidy up – Olm & Sann, Saturday".
fn see_owner_behind(text: &Text<'_>, tokens: &Range<usize>, seen: &mut Sightings) {
    let is_name = |at: usize| {
        let word = text.raw_word(at);
        at < tokens.end
            && names::could_be_part(word)
            && word.chars().skip(1).all(char::is_lowercase)
            && !names::is_common_word(text.word(at))
            && !names::is_wordy_name(text.word(at))
    };
    let marks = |at: usize| {
        matches!(text.word(at), "→" | "–" | "—")
            || (text.word(at) == ">" && text.word(at - 1) == "-")
            || (text.word(at) == "-" && !text.touches_next(at) && !text.touches_next(at - 1))
    };
    let Some(mark) = (tokens.start + 2..tokens.end).rev().find(|at| marks(*at)) else { return };
    let mut at = mark + 1;
    let mut found = Vec::new();
    while is_name(at) && found.len() < 3 {
        let end = at + 1 + usize::from(is_name(at + 1));
        found.push(at..end);
        at = end + usize::from(text.is_any(end, &["&", "and", "+", "/", ","]) && is_name(end + 1));
        if at == end {
            break;
        }
    }
    let dated = text.is_any(at, &[",", "by", "(", "–", "—"]) && at + 6 >= tokens.end
        || calendar_word(text.word(at)).is_some();
    if at >= tokens.end || dated || (text.word(at) == "." && at + 1 >= tokens.end) {
        for name in found {
            seen.see(&text.raw[text.bytes(&name)], false);
        }
    }
}

/// The people in the columns that have people, with the office that the row names.
fn see_in_row(text: &Text<'_>, cells: &[Range<usize>], heads: &[String], seen: &mut Sightings) {
    let column = heads.iter().position(|head| OFFICE_COLUMNS.contains(&head.as_str()));
    let office = column.and_then(|column| cells.get(column)).map(|cell| &text.raw[cell.clone()]);
    for (cell, head) in cells.iter().zip(heads) {
        let present = PEOPLE_COLUMNS.contains(&head.as_str());
        if !present && !lists::is_owner_column(head) {
            continue;
        }
        let people = &text.raw[cell.clone()];
        seen.see_list(people, false);
        if let Some(office) = office {
            seen.see_office(office, people);
        }
    }
}

fn see_name_at(text: &Text<'_>, at: usize, end: usize, seen: &mut Sightings) {
    let length = (0..3).take_while(|i| at + i < end && names::could_be_part(text.raw_word(at + i))).count();
    // "Backup: …" is what it is about.
    let word = text.raw_word(at).to_lowercase();
    let ordinary = length == 1 && !names::is_wordy_name(&word) && names::is_common_word(&word);
    if length > 0 && !ordinary {
        seen.see(&text.raw[text.bytes(&(at..at + length))], false);
    }
}
