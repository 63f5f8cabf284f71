//! Things: organisations, places, projects, tickets and versions.

mod affiliations;
mod bodies;
mod headed;
mod near;
mod places;
mod projects;
mod repositories;
mod topics;
mod undertakings;
mod unknown;
mod words;

use std::ops::Range;

use memory_core::entity::EntityType;

use super::layout::Layout;
use super::lists;
use super::names;
use super::people::Roster;
use super::verbs;
use super::words::{Kind, Text, spaced};
pub(super) use bodies::dealt_with;
#[cfg(test)]
pub(super) use places::read as read_places;
use places::{joined, place};
pub(super) use words::{is_body, is_company_ending};
use words::{is_function_word, is_leading_body, is_team_word, is_trade_word, is_verb_like};

/// More entities than any real source has.
const ENTITIES_MAX: usize = 5_000;

/// What is named by its own words, whoever else is known.
pub(super) type Things = Vec<(Range<usize>, EntityType)>;

/// Organisations, places, projects, tickets and versions that their own words tell, in order.
pub(super) fn plain(text: &Text<'_>, hidden: &[Range<usize>]) -> Things {
    let mut found: Things = Vec::new();
    let mut hidden = hidden.iter().peekable();
    let mut at = 0;
    while at < text.tokens.len() && found.len() < ENTITIES_MAX {
        let start = text.tokens[at].start;
        while hidden.peek().is_some_and(|range| range.end <= start) {
            hidden.next();
        }
        let seen = hidden.peek().is_none_or(|range| start < range.start);
        match thing_at(text, at).filter(|_| seen) {
            Some((tokens, entity_type)) => {
                at = tokens.end;
                found.push((tokens, entity_type));
            }
            None => at += 1,
        }
    }
    found
}

/// The bytes of the names in which no person is looked for.
pub(super) fn taken(text: &Text<'_>, things: &Things) -> Vec<Range<usize>> {
    let long = things.iter().filter(|(tokens, entity_type)| {
        tokens.len() > 1
            && matches!(entity_type, EntityType::Org | EntityType::Place)
            && text.word(tokens.start + 1) != "&"
    });
    long.map(|(tokens, _)| text.bytes(tokens)).collect()
}

/// The names of projects that their own words tell.
pub(super) fn names_of_projects<'t>(text: &Text<'t>, things: &Things) -> impl Iterator<Item = &'t str> {
    let projects = things.iter().filter(|(_, entity_type)| *entity_type == EntityType::Project);
    projects.map(|(tokens, _)| bare_project(&text.raw[text.bytes(tokens)]))
}

/// The first words of the names of firms and bodies, which are no names of people where they stand alone.
pub(super) fn heads_of_bodies<'t>(text: &Text<'t>, things: &Things) -> impl Iterator<Item = &'t str> {
    let bodies =
        things.iter().filter(|(tokens, entity_type)| *entity_type == EntityType::Org && tokens.len() > 1);
    bodies
        .map(|(tokens, _)| text.raw_word(tokens.start))
        .filter(|head| !names::is_first_name(&head.to_lowercase()))
}

/// The things of a text with those that their surroundings tell: their tokens and the entity. They are added to the roster.
pub(super) fn things(
    text: &Text<'_>,
    layout: &Layout,
    title: Option<&str>,
    plain: Things,
    roster: &mut Roster,
) -> Vec<(Range<usize>, usize)> {
    let domains = near::domains(text);
    let titles = topics::titles(text);
    let repeated = projects::repeated(text, &titles, title);
    let beside = title.map(|title| Text::new(title, 400));
    let mut topics = topics::topics(text, &titles, &layout.blocks);
    topics.extend(headed::headed(text, beside.as_ref()));
    topics.sort_by_key(|tokens| (tokens.start, std::cmp::Reverse(tokens.end)));
    let mut topics = topics.into_iter().peekable();
    let mut owners = bodies::owners(text, &layout.blocks);
    owners.extend(affiliations::affiliations(text));
    owners.sort_by_key(|tokens| (tokens.start, std::cmp::Reverse(tokens.end)));
    let mut owners = owners.into_iter().peekable();
    let mut found: Vec<(Range<usize>, usize)> = Vec::new();
    let mut plain = plain.into_iter().peekable();
    let mut hidden = layout.hidden.iter().peekable();
    let mut at = 0;
    while at < text.tokens.len() && roster.entities.len() < ENTITIES_MAX {
        let start = text.tokens[at].start;
        while hidden.peek().is_some_and(|range| range.end <= start) {
            hidden.next();
        }
        let seen = hidden.peek().is_none_or(|range| start < range.start);
        let next = plain.peek().map_or(usize::MAX, |(tokens, _)| tokens.start);
        while topics.next_if(|topic| topic.start < at).is_some() {}
        while owners.next_if(|owner| owner.start < at).is_some() {}
        // "Roche said" of Stephen Roche.
        let is_surname = next == at
            && lists::KNOWN_BODIES.contains(text.word(at))
            && roster
                .at(text, at, false)
                .is_some_and(|(_, entity)| roster.entities[entity].entity_type == EntityType::Person);
        let thing = if next == at {
            plain.next().filter(|(tokens, _)| !(is_surname && tokens.len() == 1))
        } else if seen && roster.at(text, at, false).is_none() {
            let topic = topics.next_if(|topic| topic.start == at && topic.end <= next);
            let owner = owners.next_if(|owner| owner.start == at && owner.end <= next);
            let part = || is_part_of_project(text, at, roster).then(|| (at..at + 1, EntityType::Project));
            let again = || repeated.contains(text.raw_word(at)).then(|| (at..at + 1, EntityType::Project));
            owner
                .map(|owner| (owner, EntityType::Org))
                .or(topic.map(|topic| (topic, EntityType::Project)))
                .or_else(again)
                .or_else(part)
                .or_else(|| near::named(text, at, &domains).filter(|(tokens, _)| tokens.end <= next))
        } else {
            None
        };
        let Some((tokens, entity_type)) = thing else {
            at += 1;
            continue;
        };
        let name = text.raw[text.bytes(&tokens)].split_whitespace().collect::<Vec<_>>().join(" ");
        let name = if entity_type == EntityType::Project { bare_project(&name) } else { name.as_str() };
        let entity = roster.add(name, entity_type);
        at = tokens.end;
        found.push((tokens, entity));
    }
    found
}

/// "kestrel-tiles" beside Kestrel: a word with a hyphen that a known project leads.
fn is_part_of_project(text: &Text<'_>, at: usize, roster: &Roster) -> bool {
    let word = text.raw_word(at);
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let channel = at > 0 && text.word(at - 1) == "#";
    text.is_word(at)
        && !channel
        && word.chars().all(plain)
        && word.split_once('-').and_then(|(first, _)| roster.named(first)).is_some_and(|entity| {
            let known = &roster.entities[entity];
            known.entity_type == EntityType::Project
                && !lists::SOFTWARE.contains(known.name.to_lowercase().as_str())
        })
}

/// "Apollo" of "Project Apollo" and of "Apollo project": the name by which it is called alone, where it may be one.
fn bare_project(name: &str) -> &str {
    let bare = name
        .strip_prefix("Project ")
        .or_else(|| name.strip_prefix("Operation "))
        .or_else(|| name.rsplit_once(' ').and_then(|(bare, last)| is_project_word(last).then_some(bare)));
    let is_own = |bare: &&str| {
        let lower = bare.to_lowercase();
        bare.chars().count() > 2
            && !names::is_first_name(&lower)
            && !names::is_common_word(&lower)
            && !lists::PLACES.contains(lower.as_str())
    };
    bare.filter(is_own).unwrap_or(name)
}

fn is_project_word(word: &str) -> bool {
    matches!(word, "project" | "initiative" | "programme" | "program")
}

/// The token of "project" after the one to four words of its name that begin at `at`: "the Salt Road project".
fn project_word(text: &Text<'_>, at: usize) -> Option<usize> {
    let part = |at: usize| {
        text.is_capitalised(at) && !(names::is_no_name(text.word(at)) && is_function_word(text.word(at)))
    };
    let begins = part(at) && !is_verb_like(text.word(at));
    let end = (at + 1..at + 5).find(|end| !(part(*end) && spaced(text, end - 1)))?;
    // "the EU project GEOWAVE".
    let goes_on =
        spaced(text, end) && text.is_capitalised(end + 1) && !names::is_common_word(text.word(end + 1));
    let named = begins && is_project_word(text.raw_word(end)) && spaced(text, end - 1) && !goes_on;
    // "Close Apollo project": what is to be done is no part of the name.
    let bids = unknown::begins_statement(text, at) && verbs::of(text.word(at)).is_some_and(|verb| verb.base);
    // "Revised programme", "Christmas programme".
    let ordinary = end == at + 1 && projects::is_of_a_kind(text, at);
    (named && !bids && !ordinary).then_some(end)
}

fn thing_at(text: &Text<'_>, at: usize) -> Option<(Range<usize>, EntityType)> {
    if !text.is_word(at) {
        return None;
    }
    let raw = text.raw_word(at);
    // "PEPTIDE-4" is a name, "PAY-77" a ticket.
    if is_version(raw) || (is_ticket(raw) && !unknown::is_code_name(text, at)) {
        return Some((at..at + 1, EntityType::Object));
    }
    let next = text.raw_word(at + 1);
    let proper = |at: usize| {
        text.is_capitalised(at)
            && text.raw_word(at).len() > 1
            && !(names::is_no_name(text.word(at)) && is_function_word(text.word(at)))
    };
    let known = || (proper(at) && known_body(text, at)).then_some((at..at + 1, EntityType::Org));
    // "Women's", "St.": a name may go on behind a mark.
    if !spaced(text, at) {
        let goes_on = text.touches_next(at)
            && (matches!(text.word(at + 1), "'s" | "'" | "’")
                || (text.word(at) == "st" && text.word(at + 1) == "."));
        let longer = if goes_on && text.is_capitalised(at) { body(text, at) } else { None };
        return longer.or_else(known);
    }
    if matches!(raw, "Project" | "Operation")
        && proper(at + 1)
        && (!names::is_common_word(text.word(at + 1))
            || names::is_wordy_name(text.word(at + 1))
            || (proper(at + 2) && spaced(text, at + 1)))
    {
        let more = |end: &usize| {
            text.is_capitalised(*end) && spaced(text, end - 1) && !names::is_common_word(text.word(*end))
        };
        let end = (at + 2..at + 4).find(|end| !more(end)).unwrap_or(at + 4);
        return Some((at..end, EntityType::Project));
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
    if let Some(end) = project_word(text, at) {
        return Some((at..end + 1, EntityType::Project));
    }
    if let Some(tokens) = projects::told_by_work(text, at) {
        return Some((tokens, EntityType::Project));
    }
    if raw == "Team" && proper(at + 1) && !names::is_first_name(text.word(at + 1)) {
        return Some((at..at + 2, EntityType::Org));
    }
    if let Some(tokens) = joined(text, at) {
        return Some((tokens, EntityType::Place));
    }
    if !proper(at) {
        return None;
    }
    joined_by_and(text, at).or_else(|| body(text, at)).or_else(known).or_else(|| {
        // "Tarn Drive 5.11" is released, and no street.
        place(text, at).map(|tokens| {
            if projects::is_version(text, tokens.end) {
                (tokens, EntityType::Project)
            } else {
                (tokens, EntityType::Place)
            }
        })
    })
}

/// "Microsoft", but not "Google Drive": a firm or body that many know, alone.
fn known_body(text: &Text<'_>, at: usize) -> bool {
    let amid = |near: usize| text.is_capitalised(near) && !is_function_word(text.word(near));
    lists::KNOWN_BODIES.contains(text.word(at))
        && !(spaced(text, at) && amid(at + 1))
        && !(at > 0 && spaced(text, at - 1) && amid(at - 1))
}

/// "Abernathy & Osei Solicitors", "Volt & Vaughn": an organisation.
fn joined_by_and(text: &Text<'_>, at: usize) -> Option<(Range<usize>, EntityType)> {
    let both = text.word(at + 1) == "&" && text.is_capitalised(at + 2);
    if !both || names::is_no_name(text.word(at)) || names::is_no_name(text.word(at + 2)) {
        return None;
    }
    let word_of_work = |at: usize| verbs::of(text.word(at)).is_some() || is_body(text.raw_word(at));
    if word_of_work(at) || word_of_work(at + 2) {
        return None;
    }
    let more = (at + 3..at + 6).take_while(|end| text.is_capitalised(*end) && spaced(text, end - 1));
    let end = more.filter(|end| is_body(text.raw_word(*end)) || is_trade_word(text.word(*end))).last();
    let ends = end.is_some();
    // "Alice & Bob" are two people.
    if !ends && (names::is_first_name(text.word(at)) || names::is_first_name(text.word(at + 2))) {
        return None;
    }
    Some((at..end.map_or(at + 3, |end| end + 1), EntityType::Org))
}

/// "St Brigid's Hospital", "Town Council of Lower Brannock", "Klinikum Ostertal": what the last or the first word names.
fn body(text: &Text<'_>, at: usize) -> Option<(Range<usize>, EntityType)> {
    let mut end = at + 1;
    // "Tell Northquay Ferries": what is to be done is no part of the name.
    if unknown::begins_statement(text, at) && verbs::of(text.word(at)).is_some_and(|verb| verb.base) {
        return None;
    }
    let leads = is_body(text.raw_word(at)) || is_leading_body(text.raw_word(at));
    let mut last_body = leads.then_some(at);
    while end < at + 8 {
        let plural = matches!(text.word(end), "'" | "’") && text.touches_next(end - 1);
        let saint = text.word(end) == "." && text.word(end - 1) == "st" && text.touches_next(end - 1);
        let possessive = text.word(end) == "'s" || plural || saint;
        // "Bakkerij Smit and Oleander Travel" are two.
        let listed = text.word(end) == "and" && is_leading_body(text.raw_word(at));
        let joint = last_body.is_some()
            && !listed
            && matches!(text.word(end), "of" | "for" | "and" | "de" | "do" | "da" | "del" | "der" | "van");
        let next = text.is_capitalised(end) && spaced(text, end - 1);
        if possessive && text.is_capitalised(end + 1)
            || joint && text.is_capitalised(end + 1) && spaced(text, end - 1)
        {
            end += 1;
        } else if next {
            // "Marram Foundation Board" is the foundation's.
            let part = last_body.is_some_and(|body| is_company_ending(text.raw_word(body)))
                && matches!(text.word(end), "board" | "panel" | "office" | "commission");
            if (is_body(text.raw_word(end)) || is_trade(text, end)) && !part {
                last_body = Some(end);
            }
            end += 1;
        } else {
            break;
        }
    }
    let body = last_body?;
    let of = (body..end).any(|near| matches!(text.word(near), "of" | "for" | "de" | "do" | "da"));
    // "Board of Directors" is anybody's.
    let ordinary = of
        && body == at
        && end == at + 3
        && text.word(at + 2).strip_suffix('s').is_some_and(|role| lists::ROLES.contains(role));
    if ordinary {
        return None;
    }
    // A word such as "Council" alone is no name; "Klinikum Ostertal" and "Bank of Elmford" are.
    let tokens = match () {
        () if of => at..end,
        () if body > at => at..body + 1,
        () if is_leading_body(text.raw_word(at)) && end > at + 1 => at..end.min(at + 2),
        () => return None,
    };
    Some((tokens, EntityType::Org))
}

/// "Castellan Roofing", "Larkspur Dental": what a firm does, after a name that is no word.
fn is_trade(text: &Text<'_>, at: usize) -> bool {
    let before = text.word(at - 1);
    is_trade_word(text.word(at))
        && (before == "'s"
            || !names::is_no_name(before)
                && verbs::of(before).is_none()
                // "Philip Glass" is a person.
                && !names::is_first_name(&text.raw_word(at - 1).to_lowercase()))
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
