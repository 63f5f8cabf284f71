//! Projects by the form of their names and by what stands beside them: names in capitals, titles, campaigns, work on buildings.

use std::ops::Range;

use memory_language::calendar_words::calendar_word;

use super::super::cues;
use super::super::lists;
use super::super::names;
use super::super::verbs;
use super::super::words::{Kind, Text, begins_line, spaced};
use super::projects::{NAME_MAX_WORDS, is_of_a_kind, is_work};
use super::unknown::{begins_statement, is_code_name, is_unknown};
use super::{is_body, is_function_word};

/// "the PAYGRID cutover", "MYCONET renewal": a name in capitals before work that has names, where the line is not written so.
pub(super) fn shouted(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let large = |at: usize| {
        let raw = text.raw_word(at);
        text.is_word(at)
            && raw.chars().filter(|c| c.is_alphabetic()).count() > 3
            && !raw.chars().any(char::is_lowercase)
            && !names::is_common_word(text.word(at))
    };
    let end =
        (at..at + NAME_MAX_WORDS).find(|end| !(large(*end) && (*end == at || spaced(text, end - 1))))?;
    let works = end > at && spaced(text, end - 1) && is_work(text.raw_word(end));
    (works && !(at..end).any(|at| is_of_a_kind(text, at))).then_some(at..end)
}

/// "the musical Redstart", "our app Heron", "the EU project GEOWAVE", "the exhibition Clay and Fire": what it is stands before the name.
pub(super) fn of_what_it_is(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let kind = at.checked_sub(1)?;
    let what = text.raw_word(kind);
    let works = (lists::WORKS.contains(what) || matches!(what, "app" | "tool")) && spaced(text, kind);
    let led = kind > 0
        && text.is_any(
            kind - 1,
            &["the", "our", "a", "new", "this", "their", "its", "short", "eu", "research", "touring"],
        );
    let named = text.is_capitalised(at)
        && (is_unknown(text, at) || is_code_name(text, at) || is_titled(text, at).is_some());
    let person = names::is_first_name(&text.raw_word(at).to_lowercase()) || names::is_title(text.word(at));
    if !works || !led || !named || person || is_of_a_kind(text, at) {
        return None;
    }
    Some(at..is_titled(text, at).unwrap_or(at + 1))
}

/// The token behind a title of several words that begins here, small words inside of it: "Clay and Fire", "Sounds of the Delta".
fn is_titled(text: &Text<'_>, at: usize) -> Option<usize> {
    let large = |at: usize| text.is_capitalised(at) && text.raw_word(at).chars().count() > 1;
    let small = |at: usize| matches!(text.word(at), "and" | "of" | "the" | "for" | "in" | "on" | "a" | "&");
    let mut end = at;
    while end < at + 6 && spaced_from(text, at, end) {
        let next = (end..end + 3).find(|next| !small(*next) || *next == at)?;
        if !(large(next) && spaced_from(text, end, next)) {
            break;
        }
        end = next + 1;
    }
    (end > at + 1 && !is_body(text.raw_word(end - 1))).then_some(end)
}

/// Whether one space parts each of these tokens from the next.
fn spaced_from(text: &Text<'_>, from: usize, to: usize) -> bool {
    (from..to).all(|at| spaced(text, at))
}

/// "rehearsals for Redstart", "Phase 2 of Riverbank Homes", "work on the Eastgate Link": what is of or for one project.
pub(super) fn planned(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let word = |back: usize| at.checked_sub(back).map_or("", |at| text.word(at));
    let back = 1 + usize::from(word(1) == "the");
    let number = usize::from(at > back && text.kind(at - back - 1) == Some(Kind::Number));
    let before = word(back + 1 + number);
    let led = match word(back) {
        "for" | "of" => {
            lists::PLANS.contains(before)
                && !matches!(
                    before,
                    "deadline"
                        | "start"
                        | "lead"
                        | "phase"
                        | "launch"
                        | "release"
                        | "scope"
                        | "partners"
                        | "edit"
                        | "shooting"
                )
                || (number > 0 && matches!(before, "phase" | "milestone"))
        }
        "on" => {
            number == 0
                && lists::WORKING.contains(before)
                && !matches!(before, "time" | "people" | "folks" | "push" | "spent")
        }
        _ => false,
    };
    if !led || !text.is_capitalised(at) || is_of_a_kind(text, at) {
        return None;
    }
    let person = names::is_first_name(&text.raw_word(at).to_lowercase());
    let end = is_titled(text, at).filter(|_| !person);
    match end {
        Some(end) => {
            let other = (at..end).any(|at| is_of_a_kind(text, at) || lists::TRADES.contains(text.word(at)));
            let own = (at..end).any(|at| text.is_capitalised(at) && !names::is_common_word(text.word(at)));
            (!other && own).then_some(at..end)
        }
        None => (is_code_name(text, at)).then_some(at..at + 1),
    }
}

/// "the harbour lights restoration", "the seed bank project": small words of what it is done to, before the work.
pub(super) fn building_work(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let led = at > 0 && text.is_any(at - 1, &["the", "our"]) && spaced(text, at - 1);
    let part = |at: usize| {
        let word = text.raw_word(at);
        text.is_word(at)
            && word.len() > 2
            && word.bytes().all(|byte| byte.is_ascii_lowercase())
            && spaced(text, at)
            && !lists::VAGUE_WORDS.contains(word)
            && !is_function_word(word)
            && verbs::of(word).is_none()
            && !is_ending_of_a_participle(word)
    };
    if !led || !part(at) {
        return None;
    }
    let last = (at + 1..at + 4).find(|last| !part(*last) || is_building_work(text, *last))?;
    let told = is_building_work(text, last) || (text.word(last) == "project" && last > at + 1);
    (told && text.raw_word(last).starts_with(char::is_lowercase)).then_some(at..last + 1)
}

fn is_building_work(text: &Text<'_>, at: usize) -> bool {
    lists::BUILDING_WORK.contains(text.word(at))
}

fn is_ending_of_a_participle(word: &str) -> bool {
    word.len() > 5 && (word.ends_with("ed") || word.ends_with("ly"))
}

/// "takes part in Pawns for Schools": two names joined by "for" inside of a sentence, neither of a person nor of a role.
pub(super) fn for_whom(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let part = |at: usize| {
        let raw = text.raw_word(at);
        text.is_capitalised(at) && raw.chars().count() > 2 && raw.chars().skip(1).all(char::is_lowercase)
    };
    // "A Bed for Ben" above its paragraph.
    let from = at;
    let at = at + usize::from(matches!(text.raw_word(at), "A" | "The") && begins_line(text, at));
    if !part(at)
        || text.raw_word(at + 1) != "for"
        || !part(at + 2)
        || !spaced(text, at)
        || !spaced(text, at + 1)
    {
        return None;
    }
    let end = (at + 3..at + 5).find(|end| !(part(*end) && spaced(text, end - 1))).unwrap_or(at + 5);
    // "Seats for Schools." between two full stops: alone it is a heading or the name of an entry.
    let alone = (begins_statement(text, at) || from < at)
        && (text.word(end) == "." || text.word(end).is_empty() || text.ends_line(end - 1));
    let opens = begins_statement(text, at) || (text.is_capitalised(at - 1) && spaced(text, at - 1));
    let other = |at: usize| {
        let word = text.word(at);
        is_of_a_kind(text, at)
            || cues::is_role(word)
            || lists::DOCUMENT_KINDS.contains(word)
            || lists::GATHERINGS.contains(word)
            || lists::PLACES.contains(word)
    };
    let person = names::is_first_name(text.word(at));
    let dated = calendar_word(text.word(at + 2)).is_some()
        || matches!(
            text.word(at + 2),
            "easter" | "christmas" | "whitsun" | "advent" | "lent" | "ramadan" | "diwali"
        );
    ((!opens || alone) && !other(at) && !person && !dated && !is_body(text.raw_word(end - 1)))
        .then_some(from..end)
}

/// "a certificate of paybridge, our gateway to the bank", "fishtrack (our tracker)": a small word that is explained as a program of ours.
pub(super) fn explained_small(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let word = text.raw_word(at);
    let plain = text.is_word(at) && word.len() > 4 && word.bytes().all(|byte| byte.is_ascii_lowercase());
    let led = text.is_any(at + 1, &["(", ","]) && text.word(at + 2) == "our";
    if !plain || !led || names::is_common_word(word) || verbs::of(word).is_some() {
        return None;
    }
    let before = at.checked_sub(1);
    let opens = before.is_none_or(|before| {
        !text.is_word(before)
            || text.is_any(before, &["of", "in", "to", "for", "with", "by", "from", "on", "and"])
    });
    let stop = (at + 3..at + 7).find(|near| {
        !text.is_word(*near) || text.is_any(*near, &["of", "for", "to", "in", "on", "that", "which"])
    })?;
    let what = text.word(stop - 1);
    let program = lists::PACKAGES.contains(what) || is_work(what) || lists::PACKAGE_ENDINGS.contains(what);
    (opens && stop > at + 3 && program).then_some(at..at + 1)
}
