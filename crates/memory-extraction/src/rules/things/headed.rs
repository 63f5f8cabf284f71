//! Names that head a part of a text and are used in it: "2. Every Child a Reader" above "the first half-term of Every Child a Reader",
//! "NIGHT FERRY - locations" above "a round-up for NIGHT FERRY".

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use memory_language::calendar_words::calendar_word;

use super::super::cues;
use super::super::lines::bullet;
use super::super::lists;
use super::super::names;
use super::super::sections;
use super::super::words::{Kind, Text, spaced};
use super::is_body;
use super::projects::is_work;
use super::unknown::{begins_statement, is_code_name};
use super::words::divided;
use super::words::is_company_ending;

/// So many headings of a text are read.
const HEADINGS_MAX: usize = 200;
/// A longer line is no heading.
const HEADING_MAX_BYTES: usize = 70;
/// A name has at most so many words.
const NAME_MAX_WORDS: usize = 6;

/// Where the names stand that a heading or the title of the text gives it and that its sentences use, in order and apart.
pub(super) fn headed(text: &Text<'_>, title: Option<&Text<'_>>) -> Vec<Range<usize>> {
    let mut names: HashMap<String, Vec<Vec<String>>> = HashMap::new();
    let mut headings = Vec::new();
    let mut sure = HashSet::new();
    for line in short_lines(text) {
        for part in parts(text, &line) {
            if let Some((name, is_sure)) = name_in(text, &part) {
                keep(text, &name, &mut names);
                sure.extend(is_sure.then(|| key(text, &name)));
                headings.push(name);
            }
        }
    }
    let lines = headings.len();
    if let Some(title) = title {
        for part in parts(title, &(0..title.tokens.len())) {
            if let Some((name, _)) = name_in(title, &part) {
                keep(title, &name, &mut names);
            }
        }
    }
    if names.is_empty() {
        return Vec::new();
    }
    let mut found: Vec<(Range<usize>, bool)> = Vec::new();
    let mut at = 0;
    let mut next_heading = 0;
    while at < text.tokens.len() {
        while next_heading < lines && headings[next_heading].end <= at {
            next_heading += 1;
        }
        let Some(length) = longest(text, at, &names) else {
            at += 1;
            continue;
        };
        let heads = headings.get(next_heading).is_some_and(|heading| heading.contains(&at));
        found.push((at..at + length, !heads && is_used(text, &(at..at + length))));
        at += length;
    }
    let mut used: HashMap<String, bool> = HashMap::new();
    for (tokens, is_used) in &found {
        let name = key(text, tokens);
        let is_used = *is_used || sure.contains(&name);
        *used.entry(name).or_default() |= is_used;
    }
    found.into_iter().map(|(tokens, _)| tokens).filter(|tokens| used[&key(text, tokens)]).collect()
}

fn key(text: &Text<'_>, tokens: &Range<usize>) -> String {
    tokens.clone().map(|at| text.word(at)).collect::<Vec<_>>().join(" ")
}

/// By the first word: the further words of each name, in lower case.
fn keep(text: &Text<'_>, name: &Range<usize>, names: &mut HashMap<String, Vec<Vec<String>>>) {
    let rest: Vec<String> = (name.start + 1..name.end).map(|at| text.word(at).to_owned()).collect();
    let known = names.entry(text.word(name.start).to_owned()).or_default();
    if !known.contains(&rest) {
        known.push(rest);
        known.sort_by_key(|rest| std::cmp::Reverse(rest.len()));
    }
}

/// How many words the longest name has that begins at a token, each word of it written as in names.
fn longest(text: &Text<'_>, at: usize, names: &HashMap<String, Vec<Vec<String>>>) -> Option<usize> {
    if !text.is_capitalised(at) {
        return None;
    }
    let known = names.get(text.word(at))?;
    let fits = |rest: &&Vec<String>| {
        rest.iter().enumerate().all(|(n, word)| {
            let next = at + 1 + n;
            text.word(next) == word && (text.is_capitalised(next) || is_small(word) || !text.is_word(next))
        }) && text.is_capitalised(at + rest.len())
    };
    known.iter().find(fits).map(|rest| rest.len() + 1)
}

/// Whether a name is used in a sentence, where another word would be small: not in a heading and not as its first word alone.
fn is_used(text: &Text<'_>, name: &Range<usize>) -> bool {
    let before = name.start.checked_sub(1);
    let inside = !begins_statement(text, name.start);
    let ends = text.ends_line(name.end - 1) && before.is_none_or(|before| text.ends_line(before));
    let goes_on = text.is_word(name.end) && !text.is_capitalised(name.end) && spaced(text, name.end - 1);
    let capitals = before.is_some_and(|before| text.is_capitalised(before) && spaced(text, before));
    !ends && !capitals && (inside || (name.len() > 1 && goes_on))
}

/// The lines that are short and end as no sentence does.
fn short_lines(text: &Text<'_>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.read().split_inclusive('\n') {
        let at = start;
        start += line.len();
        let words = line.trim();
        let ends = words.trim_end_matches(['*', '_', ':']);
        let item = bullet(line).is_some() && !words.starts_with(|c: char| c.is_ascii_digit());
        if item
            || words.is_empty()
            || words.len() > HEADING_MAX_BYTES
            || ends.ends_with(['.', '!', '?', ',', ';', '|'])
        {
            continue;
        }
        found.push(text.tokens_in(&(at..at + line.trim_end().len())));
        if found.len() >= HEADINGS_MAX {
            break;
        }
    }
    found
}

/// The parts of a heading between its marks; a subject's "Re:" and a number before it are no part.
fn parts(text: &Text<'_>, line: &Range<usize>) -> Vec<Range<usize>> {
    let divides = |at: usize| {
        matches!(
            text.word(at),
            ":" | "–"
                | "—"
                | "|"
                | ","
                | "("
                | ")"
                | "#"
                | "*"
                | "_"
                | "\""
                | "“"
                | "”"
                | "."
                | "·"
                | "/"
                | "-"
        ) || text.kind(at) == Some(Kind::Number)
    };
    divided(line, divides)
}

/// The name that fills a part of a heading, or stands before what it is: "Every Child a Reader", "Ringing Out appeal", "MYCONET renewal".
fn name_in(text: &Text<'_>, part: &Range<usize>) -> Option<(Range<usize>, bool)> {
    let mut part = part.clone();
    if text.is_any(part.start, &["the", "a", "our", "re", "fwd"]) && part.len() > 1 {
        part.start += 1;
    }
    let is_part = |at: usize| {
        text.is_capitalised(at) || text.word(at) == "&" || (at > part.start && is_small(text.word(at)))
    };
    let mut end = (part.start..part.end).find(|at| !is_part(*at)).unwrap_or(part.end);
    let fills = end == part.end;
    let works = !fills && is_kind_of_work(text.word(end));
    // "BRIDGE LINK PROGRAMME": what it is belongs to the name as it is written here alone.
    while end > part.start + 1 && text.is_capitalised(end - 1) && is_kind_of_work(text.word(end - 1)) {
        end -= 1;
    }
    let name = part.start..end;
    let large = !name.is_empty() && text.is_capitalised(name.end - 1);
    // "Ringing Out appeal": what it is told by says so without more.
    let is_sure = works && name.len() > 1 && is_undertaking(text.raw_word(end)) && end + 1 == part.end;
    let told = large && (fills || works) && name.len() <= NAME_MAX_WORDS && is_own(text, &name);
    told.then_some((name, is_sure))
}

/// Whether the words are a name of their own and neither of a person, a body, a place nor of what documents are made of.
fn is_own(text: &Text<'_>, name: &Range<usize>) -> bool {
    let word = |at: usize| text.word(at);
    let first = name.start;
    let last = name.end - 1;
    let ordinary = |at: usize| {
        is_small(word(at)) || names::is_common_word(word(at)) || text.raw_word(at).chars().count() < 3
    };
    let shouted = !text.raw[text.bytes(name)].chars().any(char::is_lowercase);
    let foreign = name.clone().any(|at| {
        calendar_word(word(at)).is_some()
            || names::is_title(word(at))
            || is_body(text.raw_word(at))
            || is_company_ending(text.raw_word(at))
            || lists::GATHERINGS.contains(word(at))
            || lists::DOCUMENT_KINDS.contains(word(at))
            || cues::is_role(word(at))
            || lists::PLACES.contains(word(at))
            || (!shouted && (lists::TRADES.contains(word(at)) || lists::SITES.contains(word(at))))
    });
    let person = names::is_first_name(&text.raw_word(first).to_lowercase());
    let place = lists::PLACE_ENDINGS.contains(word(last)) || lists::NUMBERED_PLACES.contains(word(first));
    let label = sections::of_heading(&text.raw[text.bytes(name)]).is_some();
    let single = name.len() == 1;
    let own = if single {
        // One word alone may be whatever: only one in capitals is taken.
        is_code_name(text, first)
    } else {
        name.clone().any(|at| !ordinary(at)) || name.clone().any(|at| is_small(word(at)))
    };
    own && !foreign && !person && !place && !label
}

/// What has a name of its own more often than not.
fn is_undertaking(word: &str) -> bool {
    lists::BUILDING_WORK.contains(word)
        || matches!(
            word,
            "appeal" | "campaign" | "scheme" | "project" | "programme" | "initiative" | "renewal"
        )
}

/// "appeal", "renewal": what is done under a name.
fn is_kind_of_work(word: &str) -> bool {
    is_work(word) || word == "phase"
}

/// What is small inside of a name.
fn is_small(word: &str) -> bool {
    matches!(
        word,
        "a" | "an"
            | "the"
            | "of"
            | "for"
            | "in"
            | "on"
            | "and"
            | "&"
            | "to"
            | "up"
            | "at"
            | "with"
            | "by"
            | "from"
    )
}
