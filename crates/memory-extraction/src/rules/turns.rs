//! Acts over two turns: a request or a proposal, and another's agreement.

use std::ops::Range;

use memory_core::event::{Actor, ActorRole, Category};

use super::draft::{self, Draft};
use super::narrative::{self, Pronouns};
use super::people::Roster;
use super::requests::{agrees_that, agrees_to_do, asks, offers, proposes};
use super::scene::Scene;
use super::sentences::sentences;

/// An answer comes within this many turns.
const ANSWER_WITHIN: usize = 3;

struct Turn<'s, 'a> {
    scene: &'s Scene<'a>,
    speaker: usize,
    sentences: Vec<Range<usize>>,
}

/// The events of agreement in a conversation.
pub(super) fn agreements(scenes: &[Scene<'_>], roster: &Roster) -> Vec<Draft> {
    let turns = turns(scenes, roster);
    let mut drafts = Vec::new();
    for (at, turn) in turns.iter().enumerate() {
        if turn.scene.context_only {
            continue;
        }
        let Some(answer) = turn.sentences.first().cloned() else { continue };
        // «true. ok drop the phone call»: the second sentence belongs to a short first one.
        let answer = match turn.sentences.get(1) {
            Some(second) if answer.len() <= 3 && on_one_line(turn.scene, &answer, second) => {
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
                if !drafts.iter().any(|known: &Draft| known.evidence[1] == draft.evidence[1]) {
                    drafts.push(draft);
                }
                break;
            }
        }
    }
    drafts
}

/// Whether nothing but blanks parts two sentences.
fn on_one_line(scene: &Scene<'_>, first: &Range<usize>, second: &Range<usize>) -> bool {
    let text = &scene.text;
    let gap = text.bytes(first).end..text.bytes(second).start;
    first.end == second.start && text.raw.get(gap).is_some_and(|gap| !gap.contains('\n'))
}

fn turns<'s, 'a>(scenes: &'s [Scene<'a>], roster: &Roster) -> Vec<Turn<'s, 'a>> {
    let spoken = scenes.len() > 1;
    let mut turns: Vec<Turn<'s, 'a>> = Vec::new();
    for scene in scenes {
        for block in &scene.layout.blocks {
            let speaker = match &block.speaker {
                Some(name) => roster.named(name),
                None if spoken => scene.speaker,
                None => None,
            };
            let Some(speaker) = speaker else { continue };
            let mut found = sentences(&scene.text, &block.bytes);
            // «👍» has no word and is an answer.
            let all = scene.text.tokens_in(&block.bytes);
            if found.is_empty() && !all.is_empty() {
                found.push(all);
            }
            match turns.last_mut() {
                Some(last) if last.speaker == speaker && last.scene.segment == scene.segment => {
                    last.sentences.extend(found);
                }
                _ => turns.push(Turn { scene, speaker, sentences: found }),
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
    if !agrees_to_do(turn.scene, answer) {
        return None;
    }
    let (request, verb, whom) = earlier.sentences.iter().rev().find_map(|sentence| {
        let (verb, whom) = asks(earlier.scene, sentence)?;
        Some((sentence, verb, whom))
    })?;
    if whom.is_some_and(|whom| whom != turn.speaker) {
        return None;
    }
    let name = |entity: usize| roster.entities.get(entity).map_or("", |known| known.name.as_str());
    let request_text = &earlier.scene.text;
    let request_bytes = request_text.bytes(request);
    let answer_bytes = turn.scene.text.bytes(answer);
    let due_time = draft::due(&turn.scene.text.raw[answer_bytes.clone()], turn.scene.reference)
        .or_else(|| draft::due(&request_text.raw[request_bytes.clone()], earlier.scene.reference));
    let pronouns = Pronouns { speaker: Some(name(earlier.speaker)), third: None };
    let task = narrative::told(earlier.scene, &(verb..request.end), &roster.entities, pronouns);
    let actors = vec![
        Actor { entity: turn.speaker, role: ActorRole::Owner },
        Actor { entity: earlier.speaker, role: ActorRole::Stakeholder },
    ];
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
        event_time: turn.scene.reference,
        due_time,
        subject: draft::about(earlier.scene, request, &actors),
        actors,
        evidence: vec![(turn.scene.segment, answer_bytes), (earlier.scene.segment, request_bytes)],
    })
}

/// «I could bring my grill» – «perfect, the grill is yours».
fn taken_up(
    turn: &Turn<'_, '_>,
    answer: &Range<usize>,
    earlier: &Turn<'_, '_>,
    roster: &Roster,
) -> Option<Draft> {
    if !agrees_that(turn.scene, answer) {
        return None;
    }
    let (offer, verb) = earlier
        .sentences
        .iter()
        .rev()
        .find_map(|sentence| Some((sentence, offers(earlier.scene, sentence)?)))?;
    let people = &roster.entities;
    let name = people.get(earlier.speaker).map(|known| known.name.as_str());
    let task =
        narrative::told(earlier.scene, &(verb..offer.end), people, Pronouns { speaker: name, third: None });
    let actors = vec![
        Actor { entity: earlier.speaker, role: ActorRole::Owner },
        Actor { entity: turn.speaker, role: ActorRole::Stakeholder },
    ];
    let telling =
        format!("{} will {}", name.unwrap_or_default(), task.trim_end_matches(['?', '.', '!', ' ']));
    let bytes = earlier.scene.text.bytes(offer);
    Some(Draft {
        category: Category::Commitment,
        confidence: 0.66,
        narrative: narrative::sentence(&telling),
        event_time: turn.scene.reference,
        due_time: draft::due(&earlier.scene.text.raw[bytes.clone()], earlier.scene.reference),
        subject: draft::about(earlier.scene, offer, &actors),
        actors,
        evidence: vec![(turn.scene.segment, turn.scene.text.bytes(answer)), (earlier.scene.segment, bytes)],
    })
}

fn settled(
    turn: &Turn<'_, '_>,
    answer: &Range<usize>,
    earlier: &Turn<'_, '_>,
    roster: &Roster,
) -> Option<Draft> {
    if !agrees_that(turn.scene, answer) {
        return None;
    }
    let (proposal, verb) = earlier
        .sentences
        .iter()
        .rev()
        .find_map(|sentence| Some((sentence, proposes(earlier.scene, sentence)?)))?;
    let people = &roster.entities;
    let who = [earlier.speaker, turn.speaker];
    let pronouns =
        Pronouns { speaker: people.get(earlier.speaker).map(|known| known.name.as_str()), third: None };
    let plan = narrative::told(earlier.scene, &(verb..proposal.end), people, pronouns);
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
        event_time: turn.scene.reference,
        due_time: None,
        subject: draft::about(earlier.scene, proposal, &actors),
        actors,
        evidence: vec![
            (turn.scene.segment, turn.scene.text.bytes(answer)),
            (earlier.scene.segment, earlier.scene.text.bytes(proposal)),
        ],
    })
}
