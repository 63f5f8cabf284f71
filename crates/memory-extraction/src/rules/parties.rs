//! Who speaks in a text and who is addressed.

use memory_core::artifact::Context;
use memory_core::ports::SourceText;

use super::parsed_segment::ParsedSegment;
use super::people::{Roster, is_own_name, is_role_name};
use super::words;

/// A greeting stands within so many tokens of the head.
const GREETING_WITHIN_TOKENS: usize = 120;

/// Who "I" is in a segment.
pub(super) fn speaker(source: &SourceText, parsed: &ParsedSegment<'_>, roster: &Roster) -> Option<usize> {
    let spoken = source.segments.get(parsed.segment).and_then(|segment| segment.speaker.as_deref());
    // "Kim Larsen, city library".
    let named = |name: &str| roster.named(name).or_else(|| roster.named(name.split(',').next()?));
    // What an assistant, or somebody else, says in a turn of their own is nobody else's.
    if let Some(name) = spoken.filter(|name| !is_own_name(name)) {
        return named(name).filter(|_| !is_role_name(name));
    }
    let layout = &parsed.layout;
    let names =
        [layout.from.as_deref(), source.author.as_deref(), layout.by.as_deref(), layout.signed.as_deref()];
    names.into_iter().flatten().find_map(named).or_else(|| only_human(source, parsed, roster))
}

/// "User:" talks to a machine: the one person with a part in the conversation.
fn only_human(source: &SourceText, parsed: &ParsedSegment<'_>, roster: &Roster) -> Option<usize> {
    let talks = parsed.layout.speakers.iter().any(|name| is_own_name(name));
    let mut people = source.participants.iter().filter(|name| !is_role_name(name));
    match (people.next(), people.next()) {
        (Some(only), None) if talks => roster.named(only),
        _ => None,
    }
}

/// The person of "Dear Mr Achebe," at the head of a letter.
fn greeted(parsed: &ParsedSegment<'_>) -> Option<usize> {
    let text = &parsed.text;
    if !parsed.layout.speakers.is_empty() {
        return None;
    }
    let greets =
        |at: &usize| text.is_any(*at, &["dear", "hi", "hello", "hey"]) && words::begins_line(text, *at);
    let at = (0..text.tokens.len().min(GREETING_WITHIN_TOKENS)).find(greets)?;
    let person = parsed.person(at + 1)?;
    let closed = text.word(person.tokens.end).is_empty()
        || text.is_any(person.tokens.end, &[",", "!", "–", "-", "."])
        || words::begins_line(text, person.tokens.end);
    closed.then_some(person.entity)
}

/// The one person a mail is addressed to, by its header, by its greeting or as the only other who has a part in it.
pub(super) fn addressee(source: &SourceText, parsed: &ParsedSegment<'_>, roster: &Roster) -> Option<usize> {
    if parsed.layout.to.is_empty() {
        let only = || {
            let mut others = source
                .participants
                .iter()
                .filter_map(|name| roster.named(name))
                .filter(|it| Some(*it) != parsed.speaker);
            let one =
                others.next().filter(|_| source.context == Context::Email && parsed.speaker.is_some())?;
            others.next().is_none().then_some(one)
        };
        return greeted(parsed).or_else(only);
    }
    match parsed.layout.to.first().map(|to| to.split([',', ';']).collect::<Vec<_>>())?.as_slice() {
        [one] => roster.named(one),
        _ => None,
    }
}
