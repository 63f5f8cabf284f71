//! Tasks that people note for themselves: "- [ ] ring the vet", "TODO: swap the gasket", "Don't forget to cancel the trial". Nobody
//! is named who takes them on, so they are known by their form.

use std::ops::Range;

use jiff::Timestamp;
use memory_core::artifact::Context;
use memory_core::event::Category;

use super::by_form;
use super::deadlines;
use super::draft::Draft;
use super::event_context::EventContext;
use super::layout::{Block, Form};
use super::lines::bullet;
use super::parsed_segment::ParsedSegment;
use super::people::Roster;
use super::sections::Section;
use super::sentences::sentences;
use super::verbs;

/// A label of a task has no more words: "TODO Tidepool:".
const LABEL_WORDS: usize = 5;
/// What a task begins with, before a colon or by itself.
const LABELS: [&str; 9] = [
    "todo",
    "to do",
    "to-do",
    "fixme",
    "reminder",
    "note to self",
    "left to do",
    "don't forget",
    "don’t forget",
];
/// Behind these stand things to keep in mind too: only a verb makes a task.
const MAY_BE_FACTS: [&str; 4] = ["reminder", "note to self", "don't forget", "don’t forget"];
/// What stands before its verb.
const LEADS: [&str; 21] = [
    "don't forget to",
    "don’t forget to",
    "dont forget to",
    "do not forget to",
    "remember to",
    "need to",
    "i need to",
    "we need to",
    "still need to",
    "i still need to",
    "must",
    "i must",
    "we must",
    "have to",
    "i have to",
    "we have to",
    "still have to",
    "i still have to",
    "gotta",
    "got to",
    "i've got to",
];

/// So far above an item its heading is looked for.
const HEADING_WITHIN_BYTES: usize = 4_000;
/// What says in a heading until when: "To do by Friday:".
const UNTIL: [&str; 7] = ["by", "before", "until", "due", "deadline", "today", "tomorrow"];
/// What leads the tasks of that day.
const DAYS: [&str; 2] = ["today", "tomorrow"];

/// Gives promises in a list the day that its heading says, where they have none.
pub(super) fn fall_due(parsed_segments: &[ParsedSegment<'_>], drafts: &mut [Draft]) {
    for draft in drafts.iter_mut().filter(|draft| draft.category == Category::Commitment) {
        if draft.due_time.is_some() {
            continue;
        }
        let Some((segment, bytes)) = draft.evidence.first() else { continue };
        let Some(parsed) = parsed_segments.get(*segment) else { continue };
        draft.due_time = deadline_beside(parsed, bytes.start).or_else(|| deadline_above(parsed, bytes.start));
    }
}

/// "today: chase the bug", "Bo: yesterday it was down, today load tests": the day that leads a part of a line.
fn deadline_beside(parsed: &ParsedSegment<'_>, at: usize) -> Option<Timestamp> {
    let raw = parsed.text.raw;
    let line = raw[..at].rfind('\n').map_or(0, |end| end + 1);
    let lead = raw[line..at].trim_end_matches(|c: char| !c.is_alphanumeric());
    let begin = lead.rfind(|c: char| !c.is_alphabetic()).map_or(0, |end| end + 1);
    let is_key = |word: &str| DAYS.iter().any(|day| word.eq_ignore_ascii_case(day));
    let word = lead.get(begin..).filter(|word| is_key(word))?;
    deadlines::due(word, parsed.dates_at(at))
}

fn deadline_above(parsed: &ParsedSegment<'_>, at: usize) -> Option<Timestamp> {
    let raw = parsed.text.raw;
    let from = raw.ceil_char_boundary(at.saturating_sub(HEADING_WITHIN_BYTES));
    let (above, _) = raw[from..at].rsplit_once('\n')?;
    bullet(raw[from + above.len() + 1..].lines().next()?)?;
    let heading = above.lines().rev().find(|line| bullet(line).is_none())?;
    let bare = heading.trim().trim_matches(['*', '_', '#', ':', ' ']);
    let is_day = DAYS.iter().any(|day| bare.eq_ignore_ascii_case(day));
    let words = if is_day { bare } else { heading.trim().strip_suffix(':')? };
    let says = |word: &str| UNTIL.iter().any(|until| word.eq_ignore_ascii_case(until));
    let is_until = words.split(|c: char| !c.is_alphanumeric()).any(says);
    let start = from + (heading.as_ptr() as usize - raw[from..].as_ptr() as usize);
    // Below "Today" it is that day already.
    let dates = parsed.dates_at(if is_day { at } else { start });
    is_until.then(|| deadlines::due(words, dates))?
}

/// Adds the tasks of a note or chat, but where their words tell an event already; what a label or a box says is to be done was not.
pub(super) fn add(
    context: Context,
    parsed_segments: &[ParsedSegment<'_>],
    roster: &Roster,
    drafts: &mut Vec<Draft>,
) {
    if !matches!(context, Context::Note | Context::Chat | Context::Conversation) {
        return;
    }
    let mut found = Vec::new();
    for parsed in parsed_segments.iter().filter(|parsed| !parsed.context_only) {
        let of_segment = EventContext { parsed, roster };
        for block in &parsed.layout.blocks {
            let is_quiet = matches!(block.section, Section::Skip | Section::People);
            if is_quiet || parsed.is_said_by_machine(block) {
                continue;
            }
            let tasks = tasks(context, parsed, block);
            found.extend(tasks.into_iter().filter_map(|task| draft_of(&of_segment, block, &task)));
        }
    }
    by_form::add(found, tells_of_done, drafts);
}

/// Whether it tells as done, or as changed, what is still to be done; a problem or a decision may be told in the same words.
fn tells_of_done(draft: &Draft) -> bool {
    matches!(draft.category, Category::Execution | Category::Change)
}

/// The tasks of a block, in bytes.
fn tasks(context: Context, parsed: &ParsedSegment<'_>, block: &Block) -> Vec<Range<usize>> {
    if matches!(block.form, Form::Item { checked: Some(false), .. }) {
        let has_words = parsed.text.tokens_in(&block.bytes).any(|at| parsed.text.is_word(at));
        return if has_words { vec![block.bytes.clone()] } else { Vec::new() };
    }
    let is_listed = matches!(block.section, Section::Planned | Section::Prior(Category::Commitment));
    if is_listed && matches!(block.form, Form::Item { checked: None, .. }) {
        let words = &parsed.text.raw[block.bytes.clone()];
        let begins = begins_with_verb(words) && words.trim().contains(' ');
        return if begins { vec![block.bytes.clone()] } else { Vec::new() };
    }
    if context != Context::Note || matches!(block.form, Form::Item { checked: Some(true), .. }) {
        return Vec::new();
    }
    let sentences = sentences(&parsed.text, &block.bytes);
    let task = |sentence: &Range<usize>| {
        let bytes = parsed.text.bytes(sentence);
        let words = &parsed.text.raw[bytes.clone()];
        let begin = begin_of_task(words)?;
        (!words.trim_end().ends_with('?')).then_some(bytes.start + begin..bytes.end)
    };
    sentences.iter().filter_map(task).collect()
}

/// Where in these words a task begins that its label or its lead tells.
fn begin_of_task(words: &str) -> Option<usize> {
    let behind = |lead: &&str| {
        let begin = words.get(..lead.len())?;
        let rest = &words[lead.len()..];
        (begin.eq_ignore_ascii_case(lead) && !rest.starts_with(char::is_alphanumeric)).then_some(rest)
    };
    if LEADS.iter().filter_map(behind).any(begins_with_verb) {
        return Some(0);
    }
    let (opener, rest) = LABELS.iter().find_map(|opener| Some((opener, behind(opener)?)))?;
    // In "`tokio::time`" the colons are letters of code.
    let ends_label = |at: &usize| {
        let (before, behind) = (&rest[..*at], &rest[at + 1..]);
        !before.ends_with(':') && !behind.starts_with(':') && before.matches('`').count() % 2 == 0
    };
    let mark = rest.match_indices(':').map(|(at, _)| at).find(ends_label)?;
    let (label, task) = (&rest[..mark], &rest[mark + 1..]);
    if MAY_BE_FACTS.contains(opener) && !begins_with_verb(task) {
        return None;
    }
    let is_label = label.split_whitespace().count() <= LABEL_WORDS && !label.contains(['.', ',', ';', '\n']);
    (is_label && task.contains(char::is_alphabetic)).then(|| words.len() - task.trim_start().len())
}

/// "… pay the bill", not "… be there" or "… the keys".
pub(super) fn begins_with_verb(rest: &str) -> bool {
    let word = rest.split_whitespace().next().unwrap_or_default();
    let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    verbs::of(&word).is_some_and(|verb| verb.base && verb.class != verbs::Class::Idle)
}

fn draft_of(context: &EventContext<'_, '_>, block: &Block, bytes: &Range<usize>) -> Option<Draft> {
    let parsed = context.parsed;
    let tokens = parsed.text.tokens_in(bytes);
    let due = deadlines::due(&parsed.text.raw[bytes.clone()], parsed.dates_at(bytes.start));
    let speaker = context.speaker_of(block);
    (!tokens.is_empty()).then(|| by_form::draft(context, Category::Commitment, &tokens, speaker, due))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_or_a_lead_with_its_verb_begins_a_task() {
        for (words, task) in [
            ("TODO: swap the gasket", "swap the gasket"),
            ("TODO Tidepool: move secrets to the vault", "move secrets to the vault"),
            ("Don't forget: pay the kindergarten bill", "pay the kindergarten bill"),
            ("Reminder: pay the window cleaner", "pay the window cleaner"),
            ("Don't forget to send Gill the photos", "Don't forget to send Gill the photos"),
            ("I need to pay the council tax", "I need to pay the council tax"),
            ("Must renew the car insurance", "Must renew the car insurance"),
        ] {
            assert_eq!(begin_of_task(words).map(|at| &words[at..]), Some(task), "{words}");
        }
        for words in [
            "Need to know",
            "Have to be there",
            "Need the keys",
            "Todos are kept in the wiki",
            "You must wear a helmet",
            "Remember the milk",
            "To do list sits on the fridge",
            "Reminder: parking permit 4471 runs to 30 April",
            "TODO `tokio::time::pause()` instead of sleeps",
            "TODO std::sync instead of a lock of our own",
        ] {
            assert_eq!(begin_of_task(words), None, "{words}");
        }
    }
}
