//! Departments and firms by what they do, and those in the columns of tables that say who is to do something.

use std::ops::Range;

use super::super::cues::is_role;
use super::super::layout::{Block, Form};
use super::super::lists;
use super::super::names;
use super::super::verbs::{self, Class};
use super::super::words::{Kind, Text, spaced};
use super::unknown::{begins_statement, sequence};

/// "ask Ops for", "Finance wants": a part of the house, by its capital inside of a sentence or by what it does.
pub(super) fn department(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    if !text.is_capitalised(at) || !lists::DEPARTMENTS.contains(text.word(at)) {
        return None;
    }
    let alone = !(text.is_capitalised(at + 1) && spaced(text, at));
    let next = text.word(at + 1);
    let asked = at > 0
        && !begins_statement(text, at)
        && text.is_any(
            at - 1,
            &["from", "to", "with", "ask", "asked", "by", "and", "told", "for", "of", "waiting"],
        )
        && (text.kind(at + 1).is_none_or(|kind| kind == Kind::Punctuation)
            || text.is_any(
                at + 1,
                &[
                    "for", "to", "on", "about", "and", "by", "in", "this", "has", "is", "will", "before",
                    "today",
                ],
            ));
    let does = |at: usize| verbs::of(text.word(at)).is_some_and(|verb| verb.base);
    // "Estates to fix the door", "Pharmacy is to check it".
    let is_to_act = begins_statement(text, at)
        && ((next == "to" && does(at + 2))
            || (text.is_any(at + 1, &["is", "are"]) && text.word(at + 2) == "to" && does(at + 3)));
    let acts = is_to_act
        || matches!(
            next,
            "wants"
                | "says"
                | "said"
                | "asked"
                | "approved"
                | "confirmed"
                | "signed"
                | "will"
                | "has"
                | "hasn"
                | "agreed"
                | "rejected"
                | "needs"
                | "owns"
        );
    (alone && (asked || acts)).then_some(at..at + 1)
}

/// "Zelkit is to replace the pumps", "Zelkit has agreed to wait", "Orvane Zelkit will mix it": a name that is nobody's and takes on
/// what firms do.
pub(super) fn firm(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let before = at.checked_sub(1).map_or("", |before| text.word(before));
    // "the Zelkit is to …" is a thing, "Anna Zelkit" a person.
    if matches!(before, "the" | "a" | "this") || at > 0 && text.is_capitalised(at - 1) && spaced(text, at - 1)
    {
        return None;
    }
    let end = sequence(text, at);
    let does =
        |at: usize| verbs::of(text.word(at)).is_some_and(|verb| verb.base && verb.class == Class::Deed);
    let takes_on = match text.word(end) {
        "is" | "are" => {
            (text.word(end + 1) == "to" && does(end + 2))
                || (text.word(end) == "are" && text.word(end + 1) == "going" && text.word(end + 2) == "to")
        }
        "has" | "have" => {
            text.is_any(end + 1, &["agreed", "committed", "offered", "promised", "undertaken"])
                && text.word(end + 2) == "to"
        }
        "undertakes" | "undertook" => text.word(end + 1) == "to",
        "will" => end > at + 1 && does(end + 1),
        _ => false,
    };
    takes_on.then_some(at..end)
}

/// Departments and teams in the cells of the columns with who is to do it: "Facilities", "Payroll, Hanne", "IT".
pub(super) fn owners(text: &Text<'_>, blocks: &[Block]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for block in blocks {
        let Form::Row { cells, heads } = &block.form else { continue };
        for (cell, _) in cells.iter().zip(heads).filter(|(_, head)| lists::is_owner_column(head)) {
            let tokens = text.tokens_in(cell);
            let mut start = tokens.start;
            for at in tokens.clone() {
                let parts = text.is_any(at, &[",", "/", "&", "and", "+", ";"]);
                if parts {
                    found.extend(body(text, start..at));
                    start = at + 1;
                }
            }
            found.extend(body(text, start..tokens.end));
        }
    }
    found
}

/// One or two words that are a department or a team and begin with a capital.
fn body(text: &Text<'_>, tokens: Range<usize>) -> Option<Range<usize>> {
    let first = tokens.start;
    let last = tokens.end.checked_sub(1).filter(|last| *last >= first)?;
    let is_body = |at: usize| {
        lists::DEPARTMENTS.contains(text.word(at))
            || lists::TEAMS.contains(text.word(at))
            || text.raw_word(at) == "IT"
    };
    let named = match tokens.len() {
        1 => is_body(first),
        2 => {
            text.is_any(last, &["team", "office", "department", "dept", "group", "committee", "board"])
                && !names::is_first_name(text.word(first))
        }
        _ => false,
    };
    (named && text.is_capitalised(first)).then_some(tokens)
}

/// An organisation by its people, its part or what one has of it.
pub(super) fn dealt_with(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let end = sequence(text, at);
    let name = Some(at..end);
    let next = text.word(end);
    if next == "'s" && lists::STAFF.contains(text.word(end + 1)) {
        return name;
    }
    let before = at
        .checked_sub(1)
        .filter(|before| !text.raw[text.tokens[*before].end..text.tokens[at].start].contains('\n'))?;
    let word = text.word(before);
    let earlier = before.checked_sub(1).map_or("", |earlier| text.word(earlier));
    if matches!(word, "the" | "our" | "their" | "with")
        && lists::STAFF.contains(next)
        && spaced(text, end - 1)
    {
        return name;
    }
    if lists::BUSINESS_RELATIONS.contains(word)
        || (matches!(word, "," | "(" | ":") && lists::BUSINESS_RELATIONS.contains(earlier))
    {
        return name;
    }
    if matches!(word, "from" | "with" | "of" | "by" | "at" | "for") && lists::DEALINGS.contains(earlier) {
        return name;
    }
    // "Gráinne Mulcahy (Fennimore Bakeries)".
    if word == "("
        && next == ")"
        && text.is_capitalised(before.wrapping_sub(1))
        && !is_role(text.word(end - 1))
    {
        return name;
    }
    if word == "," && lists::EXECUTIVES.contains(earlier) && text.ends_line(end - 1) {
        return name;
    }
    None
}
