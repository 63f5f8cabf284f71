//! Names that what stands around them tells: whose people answer, who supplies, what has a version.

use std::collections::HashSet;
use std::ops::Range;

use memory_core::entity::EntityType;

use super::super::lists;
use super::super::names;
use super::super::verbs;
use super::super::words::{Kind, Text, spaced};
use super::places::placed;
use super::unknown::{begins_statement, is_unknown, sequence};
use super::{bodies, projects, repositories, undertakings};

/// The name that begins at a token, by what stands around it; `domains` are the organisations of addresses.
pub(super) fn named(
    text: &Text<'_>,
    at: usize,
    domains: &HashSet<String>,
) -> Option<(Range<usize>, EntityType)> {
    if is_software(text, at) {
        return Some((at..at + 1, EntityType::Project));
    }
    if let Some(name) = of_domain(text, at, domains).or_else(|| bodies::department(text, at)) {
        return Some((name, EntityType::Org));
    }
    if let Some(name) =
        bodies::by_kind(text, at).or_else(|| bodies::takes_on(text, at)).or_else(|| bodies::by_form(text, at))
    {
        return Some((name, EntityType::Org));
    }
    if let Some(name) = labelled(text, at)
        .or_else(|| code_name(text, at))
        .or_else(|| product(text, at))
        .or_else(|| repositories::repository(text, at))
        .or_else(|| undertakings::shouted(text, at))
        .or_else(|| undertakings::for_whom(text, at))
        .or_else(|| undertakings::explained_small(text, at))
        .or_else(|| undertakings::of_what_it_is(text, at))
        .or_else(|| undertakings::planned(text, at))
        .or_else(|| undertakings::building_work(text, at))
    {
        return Some((name, EntityType::Project));
    }
    if !is_unknown(text, at) {
        return None;
    }
    if let Some(name) = versioned(text, at)
        .or_else(|| projects::worked_on(text, at))
        .or_else(|| projects::explained(text, at))
        .or_else(|| projects::worked_in(text, at))
        .or_else(|| program(text, at))
    {
        return Some((name, EntityType::Project));
    }
    if let Some(name) = bodies::dealt_with(text, at).or_else(|| bodies::firm(text, at)) {
        return Some((name, EntityType::Org));
    }
    placed(text, at).map(|name| (name, EntityType::Place))
}

/// "Postgres", "pnpm"; "Excel" and "Slack", which are words too, only with a capital inside of a sentence.
fn is_software(text: &Text<'_>, at: usize) -> bool {
    let word = text.word(at);
    let is_word_too = lists::SOFTWARE_WORDS.contains(word);
    let large = text.is_capitalised(at);
    lists::SOFTWARE.contains(word)
        && text.is_word(at)
        && (large || (!is_word_too && verbs::of(word).is_none()))
        && !(is_word_too && begins_statement(text, at))
}

/// "Brightloop" in a text that has an address `…@brightloop.example`.
fn of_domain(text: &Text<'_>, at: usize, domains: &HashSet<String>) -> Option<Range<usize>> {
    if domains.is_empty() || !text.is_capitalised(at) {
        return None;
    }
    let mut joined = String::new();
    let mut hyphened = String::new();
    for end in at..at + 3 {
        if end > at && !(text.is_capitalised(end) && spaced(text, end - 1)) {
            return None;
        }
        let word = super::super::people::folded(text.raw_word(end));
        hyphened = if end == at { word.clone() } else { format!("{hyphened}-{word}") };
        joined += &word;
        if domains.contains(&joined) || domains.contains(&hyphened) {
            return Some(at..end + 1);
        }
    }
    None
}

/// The names of domains in the addresses of a text, without those of mail providers.
pub(super) fn domains(text: &Text<'_>) -> HashSet<String> {
    let addresses = (0..text.tokens.len()).filter(|at| text.kind(*at) == Some(Kind::Email));
    addresses
        .filter_map(|at| {
            let (_, domain) = text.word(at).rsplit_once('@')?;
            let labels: Vec<&str> = domain.split('.').collect();
            let own = labels.iter().rev().nth(1)?;
            let own = if own.len() <= 3 && labels.len() > 2 { labels[labels.len() - 3] } else { own };
            (own.len() >= 4
                && !lists::MAIL_PROVIDERS.contains(own)
                && !names::is_no_name(own)
                && !names::is_first_name(own))
            .then(|| own.to_owned())
        })
        .collect()
}

/// "Project: Clean Taps for Mbarika".
fn labelled(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let label = at >= 2 && text.word(at - 1) == ":" && text.word(at - 2) == "project";
    if !label || !text.is_capitalised(at) {
        return None;
    }
    let line = |at: usize| {
        text.tokens
            .get(at)
            .is_some_and(|token| !text.raw[text.tokens[at - 1].end..token.start].contains('\n'))
    };
    let end = (at + 1..at + 8).find(|end| !line(*end) || !text.is_word(*end)).unwrap_or(at + 8);
    Some(at..end)
}

/// "codenamed Larkspur", "code name: Orchid", "project Heron".
fn code_name(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    if !text.is_capitalised(at) || names::is_no_name(text.word(at)) {
        return None;
    }
    // "Redstart (code name)".
    let aside = text.word(at + 1) == "("
        && (text.is_any(at + 2, &["codename", "code-name"])
            || (text.word(at + 2) == "code" && text.word(at + 3) == "name"));
    if aside {
        return Some(at..at + 1);
    }
    let mark = usize::from(at > 1 && text.is_any(at - 1, &[":", "\"", "“", "*", "is", "'s"]));
    let before = at.checked_sub(1 + mark)?;
    let code = text.is_any(before, &["codename", "codenamed", "code-name", "code-named"])
        || (text.is_any(before, &["name", "named"]) && before > 0 && text.word(before - 1) == "code");
    let project =
        mark == 0 && text.raw_word(before) == "project" && spaced(text, before) && is_unknown(text, at);
    (code || project).then(|| at..sequence(text, at))
}

/// "GitLab", "DjangoCon": a capital inside of a word makes the name of a product, if it is none of a person or of code.
fn product(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let raw = text.raw_word(at);
    let person = ["Mc", "Mac", "De", "Di", "Du", "Fitz", "La", "Le", "Van", "Von"];
    let capitals = raw.chars().filter(|c| c.is_uppercase()).count();
    let small = raw.chars().filter(|c| c.is_lowercase()).count();
    let camel = text.is_capitalised(at)
        && raw.chars().count() >= 5
        && raw.chars().all(char::is_alphanumeric)
        && capitals > 1
        && small > capitals
        && !raw.ends_with("Error")
        && !raw.ends_with("Exception")
        && !person
            .iter()
            .any(|head| raw.strip_prefix(head).is_some_and(|rest| rest.starts_with(char::is_uppercase)));
    let code = at
        .checked_sub(1)
        .is_some_and(|before| matches!(text.word(before), "`" | "." | "/" | "_" | "<" | "#"))
        || text.touches_next(at)
            && matches!(text.word(at + 1), "`" | "(" | "_" | "<" | "=" | "[" | "::" | "/");
    // "TollEase 3".
    let number = text.kind(at + 1) == Some(Kind::Number)
        && spaced(text, at)
        && text.raw_word(at + 1).bytes().all(|byte| byte.is_ascii_digit())
        && text.raw_word(at + 1).len() < 3
        && !text.is_word(at + 2);
    (camel && !code).then_some(at..at + 1 + usize::from(number))
}

/// "we migrated from Orvane to Zelkit", "install Zelkit", "Zelkit went live": what is done with programs.
fn program(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let name = Some(at..sequence(text, at));
    let word = |back: usize| at.checked_sub(back).map_or("", |at| text.word(at));
    let moved = |from: usize| (from..from + 6).any(|back| lists::SOFTWARE_MOVES.contains(word(back)));
    if lists::SOFTWARE_USES.contains(word(1))
        || (matches!(word(1), "to" | "from" | "into" | "onto") && moved(2))
    {
        return name;
    }
    // "moved from Jenkins to Zelkit", "Zelkit instead of Postgres".
    let known = |at: usize| lists::SOFTWARE.contains(text.word(at)) && text.is_capitalised(at);
    let end = sequence(text, at);
    let between = match word(1) {
        "to" => word(3) == "from" && at >= 2 && known(at - 2),
        "from" => text.word(end) == "to" && known(end + 1),
        "of" => word(2) == "instead" && at >= 3 && known(at - 3),
        "over" => at >= 2 && known(at - 2),
        _ => text.word(end) == "instead" && text.word(end + 1) == "of" && known(end + 2),
    };
    let state = match text.word(end) {
        "is" | "was" | "went" | "goes" | "became" | "stays" => end + 1,
        _ => usize::MAX,
    };
    let is = state < usize::MAX && lists::SOFTWARE_STATES.contains(text.word(state));
    (between || is).then_some(at..end)
}

/// "Almanac 3.2", "Billing v3".
fn versioned(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let end = sequence(text, at);
    let next = text.raw_word(end);
    // "Kestrel 2.8", "Kestrel 2.8-rc1".
    let (bare, stage) = next.split_once('-').unwrap_or((next, ""));
    let number = bare.starts_with(|c: char| c.is_ascii_digit())
        && bare.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && (2..=3).contains(&bare.split('.').count())
        && bare.len() <= 8
        && (stage.is_empty() != next.contains('-'))
        && (stage.is_empty() || ["rc", "beta", "alpha", "pre"].iter().any(|it| stage.starts_with(it)));
    let version = next
        .strip_prefix('v')
        .is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit()));
    let unit = matches!(text.word(end + 1), "%" | "million" | "m" | "k" | "km" | "°" | "€" | ":");
    match () {
        () if !spaced(text, end - 1) || unit => None,
        () if number && !begins_statement(text, at) => Some(at..end),
        () if version => Some(at..end + 1),
        () => None,
    }
}
