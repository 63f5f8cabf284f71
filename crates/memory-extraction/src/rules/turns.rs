//! Acts over two turns: a request or a proposal, and another's agreement.

use std::collections::HashSet;
use std::ops::Range;

use memory_core::event::{Actor, ActorRole, Category};

use super::draft::{self, Draft};
use super::narrative::{self, Pronouns};
use super::parsed_segment::ParsedSegment;
use super::people::Roster;
use super::requests::{agrees_that, agrees_to_do, asks, offers, proposes};
use super::sentences::sentences;

/// An answer comes within this many turns.
const ANSWER_WITHIN: usize = 3;

struct Turn<'s, 'a> {
    parsed: &'s ParsedSegment<'a>,
    speaker: usize,
    sentences: Vec<Range<usize>>,
}

/// The events of agreement in a conversation.
pub(super) fn agreements(parsed_segments: &[ParsedSegment<'_>], roster: &Roster) -> Vec<Draft> {
    let turns = turns(parsed_segments, roster);
    let mut drafts: Vec<Draft> = Vec::new();
    let mut agreed = HashSet::new();
    for (at, turn) in turns.iter().enumerate() {
        if turn.parsed.context_only {
            continue;
        }
        let Some(answer) = turn.sentences.first().cloned() else { continue };
        // "true. ok drop the phone call": the second sentence belongs to a short first one.
        let answer = match turn.sentences.get(1) {
            Some(second) if answer.len() <= 3 && on_one_line(turn.parsed, &answer, second) => {
                answer.start..second.end
            }
            _ => answer,
        };
        let answer = &answer;
        for earlier in turns[at.saturating_sub(ANSWER_WITHIN)..at]
            .iter()
            .rev()
            .filter(|earlier| earlier.speaker != turn.speaker)
        {
            let found = promised(turn, answer, earlier, roster)
                .or_else(|| settled(turn, answer, earlier, roster))
                .or_else(|| taken_up(turn, answer, earlier, roster));
            if let Some(draft) = found {
                // The first who agrees settles it.
                if agreed.insert(draft.evidence[1].clone()) {
                    drafts.push(draft);
                }
                break;
            }
        }
    }
    drafts
}

/// Whether nothing but blanks parts two sentences.
fn on_one_line(parsed: &ParsedSegment<'_>, first: &Range<usize>, second: &Range<usize>) -> bool {
    let text = &parsed.text;
    let gap = text.bytes(first).end..text.bytes(second).start;
    first.end == second.start && text.raw.get(gap).is_some_and(|gap| !gap.contains('\n'))
}

fn turns<'s, 'a>(parsed_segments: &'s [ParsedSegment<'a>], roster: &Roster) -> Vec<Turn<'s, 'a>> {
    let spoken = parsed_segments.len() > 1;
    let mut turns: Vec<Turn<'s, 'a>> = Vec::new();
    for parsed in parsed_segments {
        for block in &parsed.layout.blocks {
            let speaker = match &block.speaker {
                Some(name) => roster.named(name),
                None if spoken => parsed.speaker,
                None => None,
            };
            let Some(speaker) = speaker else { continue };
            let mut found = sentences(&parsed.text, &block.bytes);
            // "👍" has no word and is an answer.
            let all = parsed.text.tokens_in(&block.bytes);
            if found.is_empty() && !all.is_empty() {
                found.push(all);
            }
            match turns.last_mut() {
                Some(last) if last.speaker == speaker && last.parsed.segment == parsed.segment => {
                    last.sentences.extend(found);
                }
                _ => turns.push(Turn { parsed, speaker, sentences: found }),
            }
        }
    }
    turns
}

fn promised(
    turn: &Turn<'_, '_>,
    answer: &Range<usize>,
    earlier: &Turn<'_, '_>,
    roster: &Roster,
) -> Option<Draft> {
    if !agrees_to_do(turn.parsed, answer) {
        return None;
    }
    let (request, verb, whom) = earlier.sentences.iter().rev().find_map(|sentence| {
        let (verb, whom) = asks(earlier.parsed, sentence)?;
        Some((sentence, verb, whom))
    })?;
    if whom.is_some_and(|whom| whom != turn.speaker) {
        return None;
    }
    let name = |entity: usize| roster.entities.get(entity).map_or("", |known| known.name.as_str());
    let request_text = &earlier.parsed.text;
    let request_bytes = request_text.bytes(request);
    let answer_bytes = turn.parsed.text.bytes(answer);
    let said = turn.parsed.dates_at(answer_bytes.start);
    let asked = earlier.parsed.dates_at(request_bytes.start);
    let due_time = draft::due(&turn.parsed.text.raw[answer_bytes.clone()], said)
        .or_else(|| draft::due(&request_text.raw[request_bytes.clone()], asked));
    let pronouns = Pronouns { speaker: Some(name(earlier.speaker)), third: None };
    let task = narrative::told(earlier.parsed, &(verb..request.end), &roster.entities, pronouns);
    let mut actors = vec![
        Actor { entity: turn.speaker, role: ActorRole::Owner },
        Actor { entity: earlier.speaker, role: ActorRole::Stakeholder },
    ];
    actors.extend(
        beside_you(earlier.parsed, request)
            .into_iter()
            .filter(|other| *other != turn.speaker)
            .map(|entity| Actor { entity, role: ActorRole::Owner }),
    );
    let telling = format!(
        "{} agreed to {}, asked by {}",
        name(turn.speaker),
        task.trim_end_matches(['?', '.', '!', ' ']),
        name(earlier.speaker)
    );
    Some(Draft {
        category: Category::Commitment,
        confidence: 0.78 + if due_time.is_some() { 0.06 } else { 0.0 },
        narrative: narrative::sentence(&telling),
        event_time: said.reference,
        due_time,
        subject: draft::about(earlier.parsed, request, &actors),
        actors,
        evidence: vec![(turn.parsed.segment, answer_bytes), (earlier.parsed.segment, request_bytes)],
    })
}

/// "Can you and Kim redo it": who is asked beside the one who is spoken to.
fn beside_you(parsed: &ParsedSegment<'_>, request: &Range<usize>) -> Option<usize> {
    let text = &parsed.text;
    let you = request.clone().find(|at| text.word(*at) == "you" && text.is_any(at + 1, &["and", "&"]))?;
    parsed.person(you + 2).map(|mention| mention.entity)
}

/// "I could bring my grill" – "perfect, the grill is yours".
fn taken_up(
    turn: &Turn<'_, '_>,
    answer: &Range<usize>,
    earlier: &Turn<'_, '_>,
    roster: &Roster,
) -> Option<Draft> {
    if !agrees_that(turn.parsed, answer) {
        return None;
    }
    let (offer, verb) = earlier
        .sentences
        .iter()
        .rev()
        .find_map(|sentence| Some((sentence, offers(earlier.parsed, sentence)?)))?;
    let people = &roster.entities;
    let name = people.get(earlier.speaker).map(|known| known.name.as_str());
    let task =
        narrative::told(earlier.parsed, &(verb..offer.end), people, Pronouns { speaker: name, third: None });
    let actors = vec![
        Actor { entity: earlier.speaker, role: ActorRole::Owner },
        Actor { entity: turn.speaker, role: ActorRole::Stakeholder },
    ];
    let telling =
        format!("{} will {}", name.unwrap_or_default(), task.trim_end_matches(['?', '.', '!', ' ']));
    let bytes = earlier.parsed.text.bytes(offer);
    Some(Draft {
        category: Category::Commitment,
        confidence: 0.66,
        narrative: narrative::sentence(&telling),
        event_time: turn.parsed.reference_at(turn.parsed.text.bytes(answer).start),
        due_time: draft::due(&earlier.parsed.text.raw[bytes.clone()], earlier.parsed.dates_at(bytes.start)),
        subject: draft::about(earlier.parsed, offer, &actors),
        actors,
        evidence: vec![
            (turn.parsed.segment, turn.parsed.text.bytes(answer)),
            (earlier.parsed.segment, bytes),
        ],
    })
}

fn settled(
    turn: &Turn<'_, '_>,
    answer: &Range<usize>,
    earlier: &Turn<'_, '_>,
    roster: &Roster,
) -> Option<Draft> {
    if !agrees_that(turn.parsed, answer) {
        return None;
    }
    let (proposal, verb) = earlier
        .sentences
        .iter()
        .rev()
        .find_map(|sentence| Some((sentence, proposes(earlier.parsed, sentence)?)))?;
    let people = &roster.entities;
    let who = [earlier.speaker, turn.speaker];
    let pronouns =
        Pronouns { speaker: people.get(earlier.speaker).map(|known| known.name.as_str()), third: None };
    let plan = narrative::told(earlier.parsed, &(verb..proposal.end), people, pronouns);
    let actors: Vec<Actor> =
        who.iter().map(|entity| Actor { entity: *entity, role: ActorRole::Owner }).collect();
    let telling = format!(
        "{} agreed to {}",
        narrative::names(people, &who),
        plan.trim_end_matches(['?', '.', '!', ' '])
    );
    Some(Draft {
        category: Category::Decision,
        confidence: 0.64,
        narrative: narrative::sentence(&telling),
        event_time: turn.parsed.reference_at(turn.parsed.text.bytes(answer).start),
        due_time: None,
        subject: draft::about(earlier.parsed, proposal, &actors),
        actors,
        evidence: vec![
            (turn.parsed.segment, turn.parsed.text.bytes(answer)),
            (earlier.parsed.segment, earlier.parsed.text.bytes(proposal)),
        ],
    })
}
