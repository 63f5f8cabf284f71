//! What a text is about by its title: "Retro Sprigly Android", "Decision log: Plinth design system", "\"The Salt Year\"",
//! and by the columns of its tables.

use std::ops::Range;

use memory_language::calendar_words::calendar_word;

use super::super::layout::{Block, Form};
use super::super::lines::bullet;
use super::super::lists;
use super::super::names;
use super::super::words::{Kind, Text, spaced};
use super::is_body;
use super::projects::is_of_a_kind;
use super::unknown::is_unknown;
use super::words::divided;

/// So many headings of a text are read for what they are about.
const TITLES_MAX: usize = 40;
/// A longer line is no title.
const TITLE_MAX_TOKENS: usize = 24;
/// A name that fills a part of a title has at most so many words.
const TITLE_NAME_MAX_WORDS: usize = 4;
/// A name in quotation marks or in a cell has at most so many words.
const NAME_MAX_WORDS: usize = 5;

/// A title in quotation marks has at most so many words.
const QUOTED_MAX_TOKENS: usize = 7;

/// The names of what is worked on, by tokens, in order.
pub(super) fn topics(text: &Text<'_>, titles: &[Range<usize>], blocks: &[Block]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (number, title) in titles.iter().enumerate() {
        let first = number == 0;
        found.extend(topic(text, title, first));
    }
    found.extend(works_in_quotes(text));
    found.extend(listed_projects(text));
    for block in blocks {
        if let Form::Row { cells, heads } = &block.form
            && let Some(cell) = project_column(heads).and_then(|column| cells.get(column))
        {
            found.extend(cell_name(text, &text.tokens_in(cell)));
        }
    }
    found.sort_by_key(|tokens| tokens.start);
    found
}

/// The column with names of what is worked on; "Item" is one where each has a state and none a day until which it is to be done.
fn project_column(heads: &[String]) -> Option<usize> {
    let named = heads.iter().position(|head| lists::PROJECT_COLUMNS.contains(head.as_str()));
    let has = |words: &[&str]| heads.iter().any(|head| words.contains(&head.as_str()));
    let item = || {
        let states = has(&["state", "status", "rag", "progress", "health"]);
        let tasks = has(&[
            "due", "due date", "when", "until", "by", "by when", "deadline", "date", "target", "action",
        ]);
        heads.iter().position(|head| head == "item").filter(|_| states && !tasks)
    };
    named.or_else(item)
}

/// The tokens of the first line, of a subject and of headings, in order.
pub(super) fn titles(text: &Text<'_>) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    let mut any = false;
    for line in text.read().split_inclusive('\n') {
        let at = start;
        start += line.len();
        let words = line.trim();
        // The head of a table is none.
        if words.is_empty() || words.starts_with('|') {
            continue;
        }
        let subject = words.strip_prefix("Subject:");
        if !any || subject.is_some() || words.starts_with('#') {
            let lead = line.len() - line.trim_start().len() + subject.map_or(0, |_| "Subject:".len());
            let tokens = text.tokens_in(&(at + lead..at + line.trim_end().len()));
            found.push(tokens.start..tokens.end.min(tokens.start + TITLE_MAX_TOKENS));
        }
        any = true;
        if found.len() >= TITLES_MAX {
            break;
        }
    }
    found
}

fn topic(text: &Text<'_>, title: &Range<usize>, first: bool) -> Option<Range<usize>> {
    let start =
        title.clone().find(|at| !matches!(text.word(*at), "#" | "re" | "fwd" | "fw" | ":" | "*" | "["))?;
    if first && let Some(quoted) = quoted(text, title) {
        return Some(quoted);
    }
    if first && let Some(name) = readme(text, title) {
        return Some(name);
    }
    if let Some(name) = shouted_part(text, &(start..title.end)) {
        return Some(name);
    }
    if let Some(part) = named_part(text, &(start..title.end)) {
        return Some(part);
    }
    title.clone().find_map(|at| {
        if at < start || !is_unknown(text, at) || is_part_of_more(text, at, title) {
            return None;
        }
        let end = (at + 1..title.end.min(at + 3))
            .find(|end| !(spaced(text, end - 1) && is_unknown(text, *end)))
            .unwrap_or(title.end.min(at + 3));
        let told = of_kind(text, title, at..end) || changed_in(text, at);
        told.then_some(at..end)
    })
}

/// "# gribbet": a heading of nothing but a small word is what the text is of.
fn readme(text: &Text<'_>, title: &Range<usize>) -> Option<Range<usize>> {
    let at = title.start + 1;
    let alone = title.len() == 2 && text.word(title.start) == "#";
    let word = text.raw_word(at);
    let small =
        word.len() > 3 && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    // The name of a channel has no headings below it.
    let goes_on = text.read().contains("\n## ");
    (alone && small && goes_on && !names::is_common_word(word)).then_some(at..at + 1)
}

/// "SALT LINE – tomorrow is turned around": words in capitals alone in a part of a title that is not written so elsewhere.
fn shouted_part(text: &Text<'_>, title: &Range<usize>) -> Option<Range<usize>> {
    let shouts = |at: usize| {
        text.is_word(at) && text.raw_word(at).len() > 2 && !text.raw_word(at).chars().any(char::is_lowercase)
    };
    let end = title.clone().find(|at| !shouts(*at)).unwrap_or(title.end);
    let part = title.start..end;
    let marked =
        matches!(text.word(end), "–" | "—" | ":") || (text.word(end) == "-" && !text.touches_next(end));
    let small = (end..title.end)
        .filter(|at| {
            text.raw_word(*at).starts_with(char::is_lowercase)
                && text.is_word(*at)
                && calendar_word(text.word(*at)).is_none()
        })
        .count();
    let other = |at: usize| {
        is_kind(text, at) || is_body(text.raw_word(at)) || lists::GATHERINGS.contains(text.word(at))
    };
    let own = part.clone().any(|at| !names::is_common_word(text.word(at)));
    (part.len() == 2 && marked && small > 1 && own && !part.clone().any(other)).then_some(part)
}

/// "Weekly status – Mill Lane Extension", "Open Shelves: kick-off": one part of the title says what is met for, another is a name.
fn named_part(text: &Text<'_>, title: &Range<usize>) -> Option<Range<usize>> {
    let parts_at = |at: usize| {
        matches!(text.word(at), ":" | "–" | "—" | "|") || (text.word(at) == "-" && !text.touches_next(at))
    };
    let parts = divided(title, parts_at);
    let is_met = |part: &Range<usize>| part.clone().any(|at| is_kind(text, at));
    let named = parts.iter().find(|part| !is_met(part) && is_name(text, part))?;
    parts.iter().any(is_met).then(|| named.clone())
}

/// Up to four words with a capital that are nobody's and no body's name.
fn is_name(text: &Text<'_>, part: &Range<usize>) -> bool {
    let first = part.start;
    if part.len() == 1 {
        return is_unknown(text, first) && !is_of_a_kind(text, first);
    }
    let large = part.clone().all(|at| text.is_capitalised(at) || text.word(at) == "&");
    let other = |at: usize| {
        is_body(text.raw_word(at))
            || names::is_title(text.word(at))
            || lists::GATHERINGS.contains(text.word(at))
            || names::is_first_name(&text.raw_word(at).to_lowercase())
            || calendar_word(text.word(at)).is_some()
    };
    let own = part.clone().any(|at| text.is_word(at) && !names::is_common_word(text.word(at)));
    part.len() <= TITLE_NAME_MAX_WORDS && large && own && !part.clone().any(other)
}

/// A capital before it, or the name of a body behind it: the name is a longer one.
fn is_part_of_more(text: &Text<'_>, at: usize, title: &Range<usize>) -> bool {
    let capital =
        |at: usize| text.is_capitalised(at) && !is_kind(text, at) && !names::is_no_name(text.word(at));
    let before = at > title.start && spaced(text, at - 1) && capital(at - 1);
    before || text.word(at + 1) == "&" || text.word(at + 1) == "'s"
}

fn is_kind(text: &Text<'_>, at: usize) -> bool {
    lists::DOCUMENT_KINDS.contains(text.word(at))
}

/// "Retro Sprigly", "Sprint 31 planning — Tideline", "Trailmap usability": the kind of document stands beside the name.
fn of_kind(text: &Text<'_>, title: &Range<usize>, name: Range<usize>) -> bool {
    let mark = |at: usize| {
        text.kind(at) == Some(Kind::Number)
            || matches!(text.word(at), ":" | "–" | "—" | "-" | "/" | "of" | "for" | "the" | "#")
    };
    let before = title.clone().take_while(|at| *at < name.start).filter(|at| !mark(*at)).last();
    let after = (name.end..title.end).find(|at| !mark(*at));
    let reach = |at: usize| at.abs_diff(name.start) <= 4;
    before.is_some_and(|at| reach(at) && is_kind(text, at))
        || after.is_some_and(|at| is_kind(text, at) && spaced(text, at - 1) && at <= name.end + 2)
}

/// "What changed in Magpie", "What's new in Lantern".
fn changed_in(text: &Text<'_>, at: usize) -> bool {
    at >= 2 && text.word(at - 1) == "in" && text.is_any(at - 2, &["changed", "new", "changes"])
}

/// "PRODUCTION MEETING, \"The Salt Year\"": a title in quotation marks.
fn quoted(text: &Text<'_>, title: &Range<usize>) -> Option<Range<usize>> {
    let mark = |at: &usize| matches!(text.word(*at), "\"" | "“" | "”");
    let open = title.clone().find(mark)?;
    let close = (open + 1..title.end).find(mark)?;
    let before = open.checked_sub(1).filter(|before| *before >= title.start);
    let placed = before.is_none_or(|before| {
        text.is_any(before, &[",", "–", "—", "-", "#", "*"]) || text.is_capitalised(before)
    });
    let large = text.is_capitalised(open + 1) && text.is_capitalised(close - 1);
    (close > open + 2 && close - open <= NAME_MAX_WORDS + 1 && large && placed).then_some(open + 1..close)
}

/// The name that fills a cell: it begins with a capital and has few words.
fn cell_name(text: &Text<'_>, cell: &Range<usize>) -> Option<Range<usize>> {
    let words = cell.clone().all(|at| text.is_word(at) || text.kind(at) == Some(Kind::Number));
    let person = names::is_first_name(text.word(cell.start));
    let named = text.is_capitalised(cell.start) || text.word(cell.start).contains('-');
    ((1..=NAME_MAX_WORDS).contains(&cell.len())
        && words
        && named
        && !person
        && text.raw_word(cell.start).chars().count() > 2
        && !(cell.len() == 1 && names::is_common_word(text.word(cell.start))))
    .then(|| cell.clone())
}

/// The names at the head of the items below "Projects": "- Second Harvest: 40 families", "1. Warm Rooms".
fn listed_projects(text: &Text<'_>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut listed = false;
    let mut start = 0;
    for line in text.read().split_inclusive('\n') {
        let at = start;
        start += line.len();
        let words = line.trim().trim_matches(['#', '*', ':', '_', ' ']).to_lowercase();
        if words.is_empty() {
            continue;
        }
        let item = bullet(line).map(|bullet| at + bullet.text_at);
        match item {
            Some(item) if listed => {
                let tokens = text.tokens_in(&(item..at + line.trim_end().len()));
                let stop = |at: usize| {
                    matches!(text.word(at), ":" | "–" | "—" | "(" | ",")
                        || (text.word(at) == "-" && !text.touches_next(at))
                };
                let open = tokens.clone().find(|at| !matches!(text.word(*at), "*" | "_" | "["));
                let Some(open) = open else { continue };
                let end = (open..tokens.end)
                    .find(|at| stop(*at) || matches!(text.word(*at), "*" | "_"))
                    .unwrap_or(tokens.end);
                found.extend(
                    cell_name(text, &(open..end))
                        .filter(|name| text.is_capitalised(name.end - 1) || name.len() > 1),
                );
            }
            Some(_) => {}
            None => listed = lists::PROJECT_LISTS.contains(words.as_str()),
        }
    }
    found
}

/// "The Lamplighter", puppet theatre; the film "Salt Road": a title in quotation marks beside what it is the title of.
fn works_in_quotes(text: &Text<'_>) -> Vec<Range<usize>> {
    let opens = |at: usize| matches!(text.word(at), "\"" | "“" | "'" | "‘");
    let closes = |at: usize| matches!(text.word(at), "\"" | "”" | "'" | "’");
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.tokens.len() {
        if !opens(at) {
            at += 1;
            continue;
        }
        let Some(close) = (at + 2..at + QUOTED_MAX_TOKENS + 2).find(|close| closes(*close)) else {
            at += 1;
            continue;
        };
        let name = at + 1..close;
        let large = text.is_capitalised(name.start) && text.is_capitalised(name.end - 1);
        let is_work = |at: usize| lists::WORKS.contains(text.word(at));
        let beside = at.checked_sub(1).is_some_and(is_work)
            || (close + 1..close + 5)
                .take_while(|near| text.is_word(*near) || text.word(*near) == ",")
                .any(is_work);
        if large && beside {
            found.push(name);
        }
        at = close + 1;
    }
    found
}
