//! Items: list entries and table rows whose section says what they are.

mod rows;

pub(super) use rows::owners_of_row;

use std::cell::OnceCell;
use std::ops::Range;

use memory_core::event::{Actor, ActorRole, Category};

use super::clause::{Clause, Subject};
use super::deadlines;
use super::draft::{self, Draft};
use super::event_context::{EventContext, bystanders, trimmed};
use super::features::{self, Hit};
use super::layout::{Block, Form};
use super::narrative;
use super::owners::{self, Owned};
use super::requests;
use super::sections::{Section, deed_of_heading};
use super::sentences::sentences;
use super::status_marks::TICKS;
use super::verbs;
use super::words::floor_boundary;

/// So much of an item is searched for its date and its owner.
const ITEM_MAX_BYTES: usize = 600;
const ITEM_MAX_TOKENS: usize = 100;

/// What is carried from item to item of one list.
#[derive(Debug, Default)]
pub(super) struct List {
    /// Indent of the first item; deeper ones are details.
    base: Option<usize>,
    /// An item that is only a name owns those below it.
    owner: Option<(usize, Vec<usize>)>,
    section: Option<Section>,
}

impl List {
    pub(super) fn close(&mut self) {
        *self = Self::default();
    }
}

pub(super) enum Promised {
    Nothing,
    /// The event, and the bytes after it that may tell more.
    Event(Box<Draft>, Range<usize>),
    /// The section does not speak for this one.
    Ordinary,
}

/// What the section makes of a block.
pub(super) fn promised(context: &EventContext<'_, '_>, block: &Block, list: &mut List) -> Promised {
    if list.section != Some(block.section) {
        list.close();
        list.section = Some(block.section);
    }
    if let Form::Row { cells, heads } = &block.form {
        return rows::row(context, block, cells, heads);
    }
    let parsed = context.parsed;
    let Some(first) = sentences(&parsed.text, &block.bytes).into_iter().next() else {
        return Promised::Nothing;
    };
    let tokens = trimmed(parsed, &first);
    let rest = parsed.text.bytes(&tokens).end..block.bytes.end;
    let (indent, checked) = match block.form {
        Form::Item { indent, checked } => (Some(indent), checked),
        _ => (None, None),
    };
    let all = parsed.text.tokens_in(&block.bytes);
    let owner_tokens = all.start..all.end.min(all.start + ITEM_MAX_TOKENS);
    let speaker = context.speaker_of(block);
    let mut owned = owners::owned(parsed, &owner_tokens, speaker);
    owned.task.end = owned.task.end.min(first.end).max(owned.task.start);
    if let Some(indent) = indent {
        if owned.task.is_empty() && !owned.people.is_empty() {
            list.owner = Some((indent, owned.people));
            return Promised::Nothing;
        }
        if let Some((level, people)) = &list.owner
            && indent > *level
        {
            owned.people = if owned.people.is_empty() { people.clone() } else { owned.people };
        } else if *list.base.get_or_insert(indent) < indent && owned.people.is_empty() && checked.is_none() {
            return Promised::Ordinary;
        }
    }
    // "PAY-322 reversal flow. Blocked: still no account": what is wrong stands in the second sentence.
    let named_only = !tokens.clone().any(|at| verbs::is_finite(parsed.text.word(at)));
    let tokens = if block.section == Section::Prior(Category::QualityRisk) && all.len() <= 40 && named_only {
        trimmed(parsed, &all)
    } else {
        tokens
    };
    let rest = parsed.text.bytes(&tokens).end.max(rest.start).min(rest.end)..rest.end;
    if is_empty_talk(context, &tokens) {
        return Promised::Nothing;
    }
    if is_doubted(context, &tokens) {
        return Promised::Ordinary;
    }
    let clause = Clause {
        parsed,
        tokens: tokens.clone(),
        sentence: first,
        opens: true,
        item: true,
        spoken: block.speaker.is_some(),
        manner: OnceCell::new(),
    };
    let hit = features::best(&clause).filter(|hit| hit.confidence >= 0.6);
    let done = checked == Some(true) || says_done(context, &block.bytes);
    let plans_alone = plans_alone(context, &tokens, speaker);
    let Some(category) = category(block, hit.as_ref(), &owned, done, plans_alone) else {
        return Promised::Ordinary;
    };
    let is_handed_on = category == Category::Decision && requests::hands_on(parsed, &tokens);
    let category = if is_handed_on { Category::Commitment } else { category };
    let found = Found { category, tokens, owned, hit: hit.filter(|hit| hit.category == category) };
    Promised::Event(Box::new(event(context, block, found)), rest)
}

struct Found {
    category: Category,
    tokens: Range<usize>,
    owned: Owned,
    hit: Option<Hit>,
}

/// "None", "TBD", a question, the leader of a deeper list.
fn is_empty_talk(context: &EventContext<'_, '_>, tokens: &Range<usize>) -> bool {
    let said = tokens.clone().any(|at| {
        verbs::is_finite(context.parsed.text.word(at)) || verbs::of(context.parsed.text.word(at)).is_some()
    });
    let text = &context.parsed.text;
    let words = tokens.clone().filter(|at| text.is_word(*at)).count();
    let first = text.word(tokens.start);
    let last = text.word(tokens.end.saturating_sub(1));
    words < 2
        || (words < 4 && text.word(tokens.end.saturating_sub(1)) == "." && !said)
        || matches!(last, "?" | ":")
        || matches!(
            first,
            "see"
                | "maybe"
                | "perhaps"
                | "if"
                | "whether"
                | "idea"
                | "could"
                | "should"
                | "would"
                | "ideally"
                | "sick"
                | "same"
        )
        || matches!(first, "mitigation" | "mitigated" | "n/a" | "tbd" | "none" | "nothing")
        || (first == "no" && words <= 5)
}

/// "A generator could be an option", "An appeal may be lodged".
fn is_doubted(context: &EventContext<'_, '_>, tokens: &Range<usize>) -> bool {
    let text = &context.parsed.text;
    tokens.clone().any(|at| {
        matches!(text.word(at), "could" | "might" | "would")
            || (text.word(at) == "may" && !text.is_capitalised(at))
    })
}

/// "picking up MAR-412", "run the load test": a plan of the one who writes it.
fn plans_alone(context: &EventContext<'_, '_>, tokens: &Range<usize>, speaker: Option<usize>) -> bool {
    let text = &context.parsed.text;
    let first = (tokens.start..tokens.end.min(tokens.start + 3))
        .find(|at| !matches!(text.word(*at), "then" | "also" | "will" | "to" | "and" | ","))
        .unwrap_or(tokens.start);
    speaker.is_some()
        && verbs::of(text.word(first))
            .is_some_and(|verb| verb.class == verbs::Class::Deed && (verb.base || verb.ing))
}

fn says_done(context: &EventContext<'_, '_>, bytes: &Range<usize>) -> bool {
    let raw = &context.parsed.text.raw[bytes.clone()];
    raw.contains(TICKS)
        || raw.contains("(done)")
        || raw.contains("[done]")
        || raw.contains("(completed)")
        || [" done", " DONE", " finished", " complete", " completed"]
            .iter()
            .any(|end| raw.trim_end().trim_end_matches(['.', ')', '!']).ends_with(end))
            && !raw.contains("not ")
}

/// The category of an item: its section's, unless its own words say another more surely.
fn category(
    block: &Block,
    hit: Option<&Hit>,
    owned: &Owned,
    done: bool,
    plans_alone: bool,
) -> Option<Category> {
    use Category::{Commitment, Decision, Execution, QualityRisk};
    let prior = match block.section {
        Section::Prior(category) => category,
        Section::Planned => Commitment,
        // A box to check is something to do anywhere.
        _ => {
            let boxed = matches!(block.form, Form::Item { checked: Some(_), .. });
            return (boxed && (!owned.people.is_empty() || done)).then_some(if done {
                Execution
            } else {
                Commitment
            });
        }
    };
    if prior == Commitment && done {
        return Some(Execution);
    }
    // A paragraph under a heading is not always what the heading says; items are.
    if matches!(block.form, Form::Prose) && !block.labelled && prior != Decision {
        return None;
    }
    let Some(hit) = hit else {
        let planned = block.section == Section::Planned && owned.people.is_empty() && !plans_alone;
        return if planned { None } else { Some(prior) };
    };
    let named = matches!(hit.lead.subject, Subject::People(_) | Subject::Me);
    Some(match (prior, hit.category) {
        (Decision | QualityRisk, Commitment) if named && hit.confidence >= 0.6 => Commitment,
        (Decision, Execution) if named && matches!(block.form, Form::Prose) && hit.confidence >= 0.64 => {
            Execution
        }
        (QualityRisk | Commitment, Execution)
            if hit.confidence >= 0.7 || hit.lead.subject == Subject::Nobody =>
        {
            Execution
        }
        (Execution, Execution) => Execution,
        (Execution, _) if hit.confidence >= 0.62 => hit.category,
        (Commitment, other) if block.section == Section::Planned => other,
        (Decision, Category::Stakeholder | Category::Change) if hit.confidence >= 0.66 => hit.category,
        (Commitment, QualityRisk | Decision | Category::Change)
            if hit.confidence >= 0.66 && owned.people.is_empty() =>
        {
            hit.category
        }
        (Category::Stakeholder | Category::Feedback | Category::Change, other) if hit.confidence >= 0.66 => {
            other
        }
        (_, Category::Change) if prior == Execution && hit.confidence >= 0.72 => Category::Change,
        _ => prior,
    })
}

fn event(context: &EventContext<'_, '_>, block: &Block, found: Found) -> Draft {
    let parsed = context.parsed;
    let Found { category, tokens, owned, hit } = found;
    let speaker = context.speaker_of(block);
    let bytes = parsed.text.bytes(&tokens);
    // A date may stand in a further sentence: "… Due Friday."
    let words_end =
        floor_boundary(parsed.text.raw, block.bytes.end.min(bytes.start + ITEM_MAX_BYTES)).max(bytes.end);
    let words = parsed.text.raw[bytes.start..words_end].to_owned();
    let mut actors: Vec<Actor> =
        owned.people.iter().map(|entity| Actor { entity: *entity, role: ActorRole::Owner }).collect();
    if let Some(hit) = &hit {
        for actor in draft::actors(parsed, hit, &tokens, speaker) {
            if !actors.iter().any(|known| known.entity == actor.entity) {
                actors.push(actor);
            }
        }
    }
    bystanders(parsed, &tokens, category, &mut actors);
    let is_owned = |actors: &[Actor]| actors.iter().any(|actor| actor.role == ActorRole::Owner);
    if category == Category::Commitment && !is_owned(&actors) {
        for entity in owners::behind(parsed, &tokens, &block.bytes) {
            actors.retain(|actor| actor.entity != entity);
            actors.push(Actor { entity, role: ActorRole::Owner });
        }
    }
    let unsaid = hit.as_ref().is_none_or(|hit| hit.lead.subject == Subject::Nobody);
    if !is_owned(&actors)
        && matches!(category, Category::Execution | Category::Commitment)
        && (unsaid && (block.speaker.is_some() || hit.is_some()))
        && !owners::is_for_many(parsed, &tokens)
    {
        // "Chase them pls": who is asked, if it is known who that is.
        let asked = category == Category::Commitment
            && tokens.clone().any(|at| matches!(parsed.text.word(at), "please" | "pls" | "plz"));
        let speaker = if asked { parsed.addressee } else { speaker };
        actors.extend(speaker.map(|entity| Actor { entity, role: ActorRole::Owner }));
    }
    let dates = parsed.dates_at(bytes.start);
    // "Letter to the landlord, 10 November; insurance, 13 November": each day is of its own task.
    let first_task = words.split_once(';').map_or("", |(first, _)| first);
    let due = || deadlines::due(first_task, dates).or_else(|| deadlines::due(&words, dates));
    let due_time = (category == Category::Commitment).then(due).flatten();
    let event_time = draft::time_of(category, &words, dates);
    let confidence = confidence(block, category, &owned, due_time.is_some(), hit.as_ref());
    Draft {
        category,
        confidence,
        narrative: narrative_of(context, block, category, &tokens, &owned, hit.as_ref()),
        event_time,
        due_time,
        subject: draft::about(parsed, &tokens, &actors),
        actors,
        evidence: vec![(parsed.segment, bytes)],
    }
}

fn confidence(block: &Block, category: Category, owned: &Owned, dated: bool, hit: Option<&Hit>) -> f32 {
    let owner = !owned.people.is_empty();
    let base: f32 = match (block.section, category) {
        (Section::Planned, _) => 0.58,
        (Section::Open, _) => 0.66,
        (_, Category::Commitment) => 0.68,
        (_, Category::Decision) => 0.84,
        (_, Category::Execution) => 0.8,
        (_, Category::QualityRisk) => 0.78,
        _ => 0.72,
    };
    let loose = if matches!(block.form, Form::Prose) && !block.labelled { 0.1 } else { 0.0 };
    let owner = if owner { if category == Category::Commitment { 0.16 } else { 0.03 } } else { 0.0 };
    let dated = if dated { 0.06 } else { 0.0 };
    let said = if hit.is_some() { 0.04 } else { 0.0 };
    (base - loose + owner + dated + said).min(0.95)
}

fn narrative_of(
    context: &EventContext<'_, '_>,
    block: &Block,
    category: Category,
    tokens: &Range<usize>,
    owned: &Owned,
    hit: Option<&Hit>,
) -> String {
    let speaker = context.speaker_of(block);
    let names = narrative::names(&context.roster.entities, &owned.people);
    let whole = context.told(tokens, speaker, hit);
    let begins_with_task = owned.task.start > tokens.start || owned.task.end < tokens.end;
    let task = if begins_with_task { context.told(&owned.task, speaker, None) } else { whole.clone() };
    let task = task.trim_start_matches([':', '-', '–', ' ']).to_owned();
    let subject_said = hit.is_some_and(|hit| hit.lead.subject != Subject::Nobody);
    if matches!(category, Category::Execution | Category::Change)
        && let Some(deed) = context.headed(block).filter(|_| !opens_with_past(&whole))
    {
        return narrative::sentence(&format!("{deed}: {whole}"));
    }
    let telling = match (category, names.is_empty()) {
        _ if subject_said && owned.people.is_empty() => whole,
        (Category::Commitment, false) => match narrative::as_verb_phrase(&task) {
            Some(phrase) => {
                // What stands after the owner in brackets, such as the date, is kept.
                format!("{names} committed to {phrase}")
            }
            None => format!("{names} took on: {task}"),
        },
        (Category::Commitment, true) if requests::hands_on(context.parsed, tokens) => whole,
        (Category::Commitment, true) => format!("To do: {task}"),
        (Category::Execution, false) if hit.is_some() => format!("{names} {}", lowered(&task)),
        (Category::Execution, false) => format!("{names} completed: {task}"),
        (Category::Execution, true) if hit.is_none() && !opens_with_past(&task) => {
            format!("{}: {task}", labelled_deed(context, block).unwrap_or("Completed"))
        }
        (Category::Decision, _) if hit.is_none() => format!("Decision: {whole}"),
        (Category::QualityRisk, _) if hit.is_none() => format!("Risk: {whole}"),
        _ => whole,
    };
    narrative::sentence(&telling)
}

/// "Fixed: totals were doubled": what the label before an entry says was done to it.
fn labelled_deed(context: &EventContext<'_, '_>, block: &Block) -> Option<&'static str> {
    let before = &context.parsed.text.raw[..block.bytes.start];
    let line = before.rfind('\n').map_or(before, |at| &before[at + 1..]);
    deed_of_heading(line).filter(|_| block.labelled)
}

/// "Paired with Jonas …" says by itself that it was done.
pub(super) fn opens_with_past(words: &str) -> bool {
    words.split_whitespace().next().is_some_and(|first| first.ends_with("ed"))
}

fn lowered(words: &str) -> String {
    let mut chars = words.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}
