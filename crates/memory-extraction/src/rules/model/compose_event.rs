//! Telling an event that only the model found: its actors, times and narrative from the clause.

use std::ops::Range;

use memory_core::event::{Actor, ActorRole, Category};

use super::super::clause::{Clause, Subject};
use super::super::deadlines;
use super::super::draft::{self, Draft};
use super::super::event_context::{EventContext, WHOLE_SENTENCE_MAX_BYTES, bystanders, trimmed};
use super::super::features::{self, Hit};
use super::super::layout::Form;
use super::super::parsed_segment::ParsedSegment;
use super::super::people::Roster;
use super::super::{items, narrative, owners, third_person, verbs};
use super::clauses::Candidate;

/// The draft of a clause; `alone` says that no other clause of its sentence tells an event.
pub(super) fn draft(
    parsed: &ParsedSegment<'_>,
    roster: &Roster,
    candidate: &Candidate,
    category: Category,
    confidence: f32,
    alone: bool,
) -> Draft {
    let context = EventContext { parsed, roster };
    let block = candidate.block(parsed);
    let speaker = context.speaker_of(block);
    let clause = candidate.clause(parsed);
    let text = &parsed.text;
    let sentence = text.bytes(&candidate.sentence);
    let whole = alone && sentence.len() <= WHOLE_SENTENCE_MAX_BYTES;
    let tokens = if whole { trimmed(parsed, &candidate.sentence) } else { candidate.tokens.clone() };
    let hit = hit(&clause, category);
    let listed = matches!(block.form, Form::Item { .. } | Form::Row { .. }) || block.labelled;
    // "Battery tests: Hyun-woo", "Two new bids (Tomasz)": without a verb of its own it is read as an item is.
    let unsaid = matches!(hit.lead.subject, Subject::Nobody | Subject::Thing);
    let owned = if listed || (category == Category::Commitment && unsaid) {
        owners::owned(parsed, &tokens, speaker).people
    } else {
        Vec::new()
    };
    let owned = match &block.form {
        Form::Row { cells, heads } if category == Category::Commitment => {
            items::owners_of_row(&context, cells, heads).filter(|people| !people.is_empty()).unwrap_or(owned)
        }
        _ => owned,
    };
    let mut actors: Vec<Actor> = match category {
        Category::Commitment | Category::Execution | Category::Decision => {
            owned.iter().map(|entity| Actor { entity: *entity, role: ActorRole::Owner }).collect()
        }
        _ => Vec::new(),
    };
    for actor in draft::actors(parsed, &hit, &tokens, speaker) {
        if !actors.iter().any(|known| known.entity == actor.entity) {
            actors.push(actor);
        }
    }
    bystanders(parsed, &tokens, category, &mut actors);
    // Who says in a conversation what is to be, settles it.
    let does = matches!(category, Category::Commitment | Category::Execution)
        || (category == Category::Decision && clause.spoken);
    let is_owned = |actors: &[Actor]| actors.iter().any(|actor| actor.role == ActorRole::Owner);
    if category == Category::Commitment && !is_owned(&actors) {
        for entity in owners::behind(parsed, &tokens, &block.bytes) {
            actors.retain(|actor| actor.entity != entity);
            actors.push(Actor { entity, role: ActorRole::Owner });
        }
    }
    if does && !is_owned(&actors) {
        let owner = doer(&clause, &hit, speaker);
        actors.retain(|actor| Some(actor.entity) != owner);
        actors.extend(owner.map(|entity| Actor { entity, role: ActorRole::Owner }));
    }
    let bytes = text.bytes(&tokens);
    let words = &text.raw[bytes.clone()];
    let dates = parsed.dates_at(bytes.start);
    // "Hal pays every second Friday, so you should have it by early November": what is to be expected of a habit.
    let before = &text.raw[sentence.start..bytes.start.max(sentence.start)];
    let is_expected = clause.tokens.clone().any(|at| clause.word(at) == "should")
        && deadlines::habits::tells_a_habit(before);
    let due_time =
        (category == Category::Commitment && !is_expected).then(|| deadlines::due(words, dates)).flatten();
    let event_time = draft::time_of(category, words, dates);
    Draft {
        category,
        confidence,
        narrative: narrative(&context, candidate, category, &tokens, &hit),
        event_time,
        due_time,
        subject: draft::about(parsed, &tokens, &actors),
        actors,
        evidence: vec![(parsed.segment, bytes)],
    }
}

/// The words of the clause, with what a heading says was done to it.
fn narrative(
    context: &EventContext<'_, '_>,
    candidate: &Candidate,
    category: Category,
    tokens: &Range<usize>,
    hit: &Hit,
) -> String {
    let block = candidate.block(context.parsed);
    let words = context.told_whole(tokens, context.speaker_of(block), hit);
    let is_listed = candidate.number == 0 && matches!(category, Category::Execution | Category::Change);
    match context.headed(block).filter(|_| is_listed && !items::opens_with_past(&words)) {
        Some(deed) => narrative::sentence(&format!("{deed}: {words}")),
        None => narrative::sentence(&words),
    }
}

/// Who does what the clause tells, where its verb does not say it: "Cora, please …", "Winston to get …", "done by Ines",
/// else who speaks.
fn doer(clause: &Clause<'_, '_>, hit: &Hit, speaker: Option<usize>) -> Option<usize> {
    let parsed = clause.parsed;
    // "Camille, you let the hotels know": the clause begins behind the name.
    let called = clause.word(clause.tokens.start) == "you"
        && clause.word(clause.tokens.start.saturating_sub(1)) == ",";
    let opening = if called && clause.tokens.start > clause.sentence.start {
        clause.sentence.start
    } else {
        clause.tokens.start
    };
    // "Tom's brother will fetch it": not Tom.
    let is_whose = |end: usize| matches!(clause.word(end), "'s" | "’s" | "'" | "’");
    let opens = parsed.person(opening).filter(|mention| !is_whose(mention.tokens.end));
    let opens = opens.map(|mention| mention.entity);
    let by = clause.tokens.clone().find(|at| clause.word(*at) == "by").and_then(|by| parsed.person(by + 1));
    let asked =
        clause.is_question() || clause.tokens.clone().any(|at| matches!(clause.word(at), "please" | "pls"));
    let commits = hit.category == Category::Commitment;
    let unsaid = match hit.lead.subject {
        _ if owners::is_for_many(parsed, &clause.tokens) => None,
        _ if commits && owners::is_spoken_for_oneself(parsed, &clause.tokens) => speaker,
        Subject::Thing | Subject::Public | Subject::They
            if commits && owners::is_asked_of_you(parsed, &clause.tokens) =>
        {
            parsed.addressee
        }
        Subject::They if commits => {
            let they = (clause.tokens.start..hit.at).rev().find(|at| clause.word(*at) == "they");
            they.and_then(|they| third_person::meant_by_they(parsed, &clause.sentence, they))
        }
        Subject::Nobody if asked => parsed.addressee,
        Subject::Nobody | Subject::Me => speaker,
        Subject::We if clause.spoken && hit.category == Category::Decision => speaker,
        // In a mail to others "we shall repeat it" is whose mail it is.
        Subject::We if commits && parsed.is_mail => speaker,
        Subject::Thing
            if clause.spoken && hit.category != Category::Commitment && !is_somebody_else(clause, hit) =>
        {
            speaker
        }
        _ => None,
    };
    let theirs =
        matches!(hit.lead.subject, Subject::Nobody | Subject::Thing | Subject::Public | Subject::They);
    let called = (commits && theirs).then(|| owners::called(parsed, &clause.sentence)).flatten();
    called.or(opens).or(by.map(|mention| mention.entity)).or(unsaid)
}

/// "Fay: the plumber fixed the tap", "our interns deployed it": it was done by someone without a name, not by who tells of it.
fn is_somebody_else(clause: &Clause<'_, '_>, hit: &Hit) -> bool {
    const TRADES: [&str; 8] = ["er", "ers", "or", "ors", "ist", "ian", "man", "men"];
    const OTHERS: [&str; 8] =
        ["contractor", "council", "intern", "interns", "landlord", "people", "staff", "volunteers"];
    let noun = clause.word(hit.lead.from);
    let led = hit.lead.from > clause.tokens.start
        && matches!(
            clause.word(hit.lead.from - 1),
            "the" | "our" | "my" | "a" | "an" | "his" | "her" | "their" | "your"
        );
    let is_one = OTHERS.contains(&noun) || TRADES.iter().any(|end| noun.len() > 4 && noun.ends_with(end));
    led && is_one && !hit.lead.be
}

/// The verb that carries the clause, with what stands before it.
fn hit(clause: &Clause<'_, '_>, category: Category) -> Hit {
    if let Some(hit) = features::best_of(clause, category).or_else(|| features::best(clause)) {
        return Hit { category, ..hit };
    }
    let verb = clause.tokens.clone().find(|at| {
        clause.parsed.mention(*at).is_none()
            && (verbs::is_finite(clause.word(*at))
                || (*at == clause.tokens.start && verbs::of(clause.word(*at)).is_some()))
    });
    let mut at = verb.unwrap_or(clause.tokens.start);
    // "will have sent": what is told is the last of them.
    while at + 1 < clause.tokens.end
        && verbs::of(clause.word(at)).is_none()
        && verbs::of(clause.word(at + 1)).is_some()
    {
        at += 1;
    }
    Hit { category, confidence: 0.0, at, lead: clause.lead(at) }
}
