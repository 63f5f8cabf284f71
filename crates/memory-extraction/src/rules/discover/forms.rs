//! Names by their form: behind a title or an initial, as programs show them, first and last name.

use std::ops::Range;

use super::super::names;
use super::super::verbs;
use super::super::words::{Text, spaced};
use super::{acts_like_a_person, is_org_ending};

/// "M. Sorley", "R. J. Pemberton-Osei": one or two initials and a last name that is no word, inside of a sentence.
pub(super) fn initialled(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let initial = |at: usize| {
        text.is_capitalised(at)
            && text.raw_word(at).chars().count() == 1
            && text.word(at + 1) == "."
            && text.touches_next(at)
    };
    let last = if initial(at) && initial(at + 2) { at + 4 } else { at + 2 };
    let word = text.raw_word(last);
    let inside = at > 0 && spaced(text, at - 1) && !text.is_capitalised(at - 1) && text.is_word(at - 1);
    let plain = inside
        && initial(at)
        && spaced(text, last - 1)
        && text.is_capitalised(last)
        && word.chars().count() > 2
        && names::could_be_part(word)
        && !names::is_common_word(text.word(last))
        // "see appendix B. Greg left": a new sentence.
        && !names::is_first_name(&word.to_lowercase())
        && !(text.is_capitalised(last + 1) && spaced(text, last));
    plain.then_some(at..last + 1)
}

/// The name after "Mr", "Dr.", "Cllr": up to three words with a capital, particles between them.
pub(super) fn titled(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
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
pub(super) fn is_handle_name(text: &Text<'_>, at: usize) -> bool {
    let word = text.raw_word(at);
    let Some((first, last)) = word.split_once(['.', '_']) else { return false };
    let plain =
        |part: &str, least: usize| part.len() >= least && part.chars().all(|c| c.is_ascii_lowercase());
    let file = names::is_file_ending(last) || matches!(last, "com" | "org" | "net" | "example");
    let next = text.word(at + 1);
    // "pg_upgrade", ":sweat_smile:".
    let snake = word.contains('_') && first.len() > 1 && !names::is_first_name(first);
    let emoji = at > 0 && text.word(at - 1) == ":" && text.touches_next(at - 1);
    plain(first, 1)
        && plain(last, 4)
        && !(file || snake || emoji)
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

/// "- Chase Lin for the form": at the head of a line a verb that may be a first name is one only before what people do.
pub(in super::super) fn is_verb_at_head(text: &Text<'_>, at: usize) -> bool {
    let word = text.word(at);
    let is_wordy = names::is_wordy_name(word) && !names::is_title(word);
    if !is_wordy || !verbs::of(word).is_some_and(|verb| verb.base) || !text.is_capitalised(at + 1) {
        return false;
    }
    let start = text.tokens[at].start;
    let floor = text.raw.floor_char_boundary(start.saturating_sub(12));
    let before = &text.raw[floor..start];
    let is_head = match before.rfind('\n') {
        Some(line) => !before[line..].chars().any(|c| c.is_alphanumeric() && c != 'x'),
        None => floor == 0 && !before.chars().any(char::is_alphanumeric),
    };
    let behind = (at + 1..at + 4).find(|near| !text.is_capitalised(*near)).unwrap_or(at + 4);
    let verb = verbs::of(text.word(behind));
    let acts = acts_like_a_person(text, behind - 1)
        || verb.is_some_and(|verb| (verb.third || verb.past) && !verb.base)
        || verbs::is_finite(text.word(behind));
    let takes = text
        .is_any(behind, &["for", "about", "on", "at", "with", "over", "up", "in", "the", "a", "an", "again"]);
    is_head && takes && !acts
}

/// Tokens of a full name at `at`: first name, perhaps an initial or a particle, last name.
pub(super) fn full_name(text: &Text<'_>, at: usize) -> Option<usize> {
    let first = text.raw_word(at).to_lowercase();
    if !names::could_be_part(text.raw_word(at)) || !spaced(text, at) {
        return None;
    }
    if is_verb_at_head(text, at) {
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
    // "The Midnight Walk raised".
    if !known && at > 0 && text.is_any(at - 1, &["the", "a", "an", "our", "this"]) {
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
