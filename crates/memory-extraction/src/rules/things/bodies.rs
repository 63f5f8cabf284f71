//! Departments and firms by what they do, and those in the columns of tables that say who is to do something.

use std::ops::Range;

use memory_language::calendar_words::calendar_word;

use super::super::cues::is_role;
use super::super::layout::{Block, Form};
use super::super::lists;
use super::super::names;
use super::super::verbs::{self, Class};
use super::super::words::{Kind, Text, spaced};
use super::is_function_word;
use super::unknown::{begins_statement, is_unknown, sequence};

/// "ask Ops for", "Finance wants": a part of the house, by its capital inside of a sentence or by what it does.
pub(super) fn department(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let known = lists::DEPARTMENTS.contains(text.word(at)) || text.raw_word(at) == "IT";
    if !text.is_capitalised(at) || !known {
        return None;
    }
    let alone = !(text.is_capitalised(at + 1) && spaced(text, at));
    let next = text.word(at + 1);
    let asked = at > 0
        && !begins_statement(text, at)
        && text.is_any(
            at - 1,
            &["from", "to", "with", "ask", "asked", "by", "and", "told", "for", "of", "on", "waiting"],
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
    // "Purchasing sends the notice", "Accounting and I run it".
    let does_it = begins_statement(text, at)
        && verbs::of(next).is_some_and(|verb| verb.third && !verb.past && !verb.base)
        && verbs::of(next).is_some_and(|verb| verb.class == Class::Deed);
    let acts = is_to_act
        || does_it
        || (text.is_any(at + 1, &["is", "are"]) && text.word(at + 2) == "going" && text.word(at + 3) == "to")
        || (next == "and" && text.word(at + 2) == "i")
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
                | "commits"
                | "takes"
                | "promised"
                | "promises"
                | "shall"
                | "undertook"
                | "undertakes"
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
        // "Frigotec send their man".
        _ if text.word(end + 1) == "their" => does(end),
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

/// "Customer Care will ring them", "the works department will clear the drain": words with a capital, or what a body is in small letters,
/// where they take on what people do.
pub(super) fn takes_on(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let acts = |end: usize| {
        let promised = text.is_any(end, &["has", "have"])
            && text.is_any(end + 1, &["agreed", "promised", "undertaken", "offered", "committed"]);
        let verb = match text.word(end) {
            "will" | "shall" | "to" => end + 1,
            "is" | "are" if text.word(end + 1) == "to" => end + 2,
            "is" | "are" if text.word(end + 1) == "going" && text.word(end + 2) == "to" => end + 3,
            _ => return promised || text.is_any(end, &["undertook", "undertakes"]),
        };
        verbs::is_human(text.word(verb))
    };
    let before = at.checked_sub(1).map_or("", |before| text.word(before));
    if text.is_capitalised(at) {
        let other = |at: usize| {
            let word = text.word(at);
            text.raw_word(at).len() < 2
                || is_function_word(word)
                || calendar_word(word).is_some()
                || names::is_title(word)
                || verbs::is_finite(word)
        };
        let end = (at + 1..at + 4).find(|end| !(text.is_capitalised(*end) && spaced(text, end - 1)))?;
        let named = end > at + 1
            && begins_statement(text, at)
            && !names::is_first_name(text.word(at))
            && (at..end)
                .all(|at| names::is_common_word(text.word(at)) || text.raw_word(at).chars().count() > 3)
            && is_unit(text.word(end - 1))
            && !(at..end).any(other);
        return (named && acts(end)).then_some(at..end);
    }
    if !matches!(before, "the" | "our") || !text.is_word(at) {
        return None;
    }
    let last = (at + 1..at + 3).find(|last| lists::ACTING_BODIES.contains(text.word(*last)))?;
    let small = (at..last).all(|at| text.is_word(at) && spaced(text, at) && !text.is_capitalised(at));
    (small && acts(last + 1)).then_some(at..last + 1)
}

/// "St Brigid's" alone: a school, a hospital or a church of that name.
fn saint(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let name = at + 1 + usize::from(text.word(at + 1) == "." && text.touches_next(at));
    let own = matches!(text.raw_word(at), "St" | "St.")
        && text.is_capitalised(name)
        && text.word(name + 1) == "'s"
        && !text.is_capitalised(name + 2)
        && text.word(name + 2) != "day";
    own.then_some(at..name + 2)
}

/// "standup of team Marmot": the name behind the word.
fn team(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let led = at > 0 && text.raw_word(at - 1) == "team" && spaced(text, at - 1);
    let alone = !(text.is_capitalised(at + 1) && spaced(text, at));
    (led && alone && is_unknown(text, at)).then_some(at..at + 1)
}

/// "Marrable's didn't deliver", "timber from Hartley's tomorrow": a firm by whose it is.
fn firm_of_someone(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let own = text.is_capitalised(at)
        && text.raw_word(at).chars().count() > 3
        && text.word(at + 1) == "'s"
        && text.touches_next(at)
        && !names::is_common_word(text.word(at))
        && calendar_word(text.word(at)).is_none();
    if !own || at > 0 && text.is_capitalised(at - 1) && spaced(text, at - 1) {
        return None;
    }
    let next = at + 2;
    let acts = text.is_any(
        next,
        &["are", "have", "did", "do", "were", "deliver", "delivered", "sent", "send", "promised", "quoted"],
    );
    let before = at.checked_sub(1).map_or("", |before| text.word(before));
    let ends = text.kind(next).is_none_or(|kind| kind == Kind::Punctuation)
        || text.ends_line(at + 1)
        || calendar_word(text.word(next)).is_some()
        || text.is_any(
            next,
            &["tomorrow", "today", "again", "this", "next", "for", "by", "on", "at", "in", "about", "and"],
        );
    let from = matches!(before, "from" | "with") && ends && !names::is_first_name(text.word(at));
    (acts || from).then_some(at..at + 2)
}

/// What the last word of a part of a house is: "Customer Care".
fn is_unit(word: &str) -> bool {
    lists::DEPARTMENTS.contains(word) || lists::TEAMS.contains(word) || lists::UNITS.contains(word)
}

/// "the TFVC board", "Friends of Tarn Hill": an abbreviation before what bodies have, and a body by its first word.
pub(super) fn by_form(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let raw = text.raw_word(at);
    let short = (3..=6).contains(&raw.len())
        && raw.bytes().all(|byte| byte.is_ascii_uppercase())
        && !lists::ACRONYMS.contains(text.word(at))
        && !names::is_common_word(text.word(at))
        && text.is_any(
            at + 1,
            &["board", "committee", "council", "trustees", "members", "staff", "governors", "directors"],
        )
        && at > 0
        && text.is_any(at - 1, &["the", "our", "of", "by", "to", "from", "with"]);
    if short {
        return Some(at..at + 1);
    }
    if let Some(name) = saint(text, at).or_else(|| team(text, at)).or_else(|| firm_of_someone(text, at)) {
        return Some(name);
    }
    let friends = raw == "Friends" && text.word(at + 1) == "of";
    if !friends {
        return None;
    }
    let first = at + 2 + usize::from(text.word(at + 2) == "the");
    let end = (first..first + 3)
        .find(|end| !(text.is_capitalised(*end) && spaced(text, end - 1)))
        .unwrap_or(first + 3);
    (end > first).then_some(at..end)
}

/// "GeoBasis Norway", "the Barros group", "our Okonjo lab": a name before a country or before what it is one of.
pub(super) fn by_kind(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let raw = text.raw_word(at);
    let end = at + 1;
    let own = text.is_capitalised(at)
        && raw.chars().count() > 3
        && spaced(text, at)
        && !names::is_common_word(text.word(at))
        && !names::is_first_name(text.word(at))
        && calendar_word(text.word(at)).is_none()
        && !lists::SOFTWARE.contains(text.word(at))
        && !lists::PLACES.contains(text.word(at))
        && !matches!(
            text.word(at),
            "black" | "blue" | "brown" | "green" | "grey" | "orange" | "white" | "yellow"
        );
    let before = at.checked_sub(1).map_or("", |before| text.word(before));
    let led = matches!(before, "the" | "our");
    let alone = led || !(at > 0 && text.is_capitalised(at - 1) && spaced(text, at - 1));
    if !own || !alone {
        return None;
    }
    let camel = raw.chars().skip(1).any(char::is_uppercase) && raw.chars().any(char::is_lowercase);
    let country = text.is_capitalised(end)
        && ((camel && lists::PLACES.contains(text.word(end)))
            || matches!(text.raw_word(end), "UK" | "US" | "USA" | "EU"))
        && !(text.is_capitalised(end + 1) && spaced(text, end))
        && !matches!(before, "in" | "near")
        && verbs::of(text.word(at)).is_none();
    let kind = led && lists::SMALL_BODIES.contains(text.raw_word(end));
    (country || kind).then_some(at..end + 1)
}

/// An organisation by its people, its part or what one has of it.
pub(in super::super) fn dealt_with(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
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
    // "no customer of Brambleshop", "the inspector from Zelkit".
    let theirs = matches!(word, "of" | "at") && lists::BUSINESS_RELATIONS.contains(earlier)
        || matches!(word, "from" | "at")
            && (is_role(earlier) || lists::STAFF.contains(earlier) || lists::OTHER_PEOPLE.contains(earlier));
    if theirs && !lists::PLACES.contains(text.word(at)) && !lists::SITES.contains(next) {
        return name;
    }
    // "Ana Bell from Brightwater called": behind a full name.
    let full =
        before > 1 && (before - 2..before).all(|at| text.is_capitalised(at)) && spaced(text, before - 2);
    let dotted = usize::from(before > 2 && text.word(before - 2) == ".");
    let titled = before > 1 + dotted
        && text.is_capitalised(before - 1)
        && names::is_title(text.word(before - 2 - dotted));
    let named = full || titled;
    if matches!(word, "from" | "at") && named && !lists::PLACES.contains(text.word(at)) {
        return name;
    }
    // "Brightwater, our supplier,", "Brightwater (the supplier)".
    let aside = matches!(next, "," | "(") && matches!(text.word(end + 1), "our" | "the" | "their");
    if aside && lists::BUSINESS_RELATIONS.contains(text.word(end + 2)) && !text.is_word(end + 3) {
        return name;
    }
    // "Brightwater has quoted 4,000".
    let sells = end + usize::from(matches!(next, "has" | "have"));
    if matches!(text.word(sells), "quoted" | "invoiced" | "supplies" | "supplied" | "delivers" | "invoices") {
        return name;
    }
    // "Gráinne Mulcahy (Fennimore Bakeries)".
    let behind = (before.saturating_sub(3)..before).rev().find(|at| !matches!(text.word(*at), "*" | "_"));
    if word == "("
        && next == ")"
        && behind.is_some_and(|behind| text.is_capitalised(behind))
        && !is_role(text.word(end - 1))
    {
        return name;
    }
    // "the engineer (Tan Wei Jie, Loadstone)".
    let open = || (before.saturating_sub(6)..before).rev().find(|at| !text.is_capitalised(*at));
    let listed = word == "," && next == ")" && !is_role(text.word(end - 1));
    if listed && open().is_some_and(|open| text.word(open) == "(" && before - open > 2) {
        return name;
    }
    if word == "," && lists::EXECUTIVES.contains(earlier) && text.ends_line(end - 1) {
        return name;
    }
    None
}
