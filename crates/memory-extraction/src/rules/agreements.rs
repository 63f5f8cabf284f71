//! Acts over two turns: a request or a proposal, and another's agreement.

use std::collections::HashSet;
use std::ops::Range;

use memory_core::event::{Actor, ActorRole, Category};

use super::answers::{agrees_that, agrees_to_do, hands_over};
use super::deadlines;
use super::draft::{self, Draft};
use super::narrative::{self, Pronouns};
use super::parsed_segment::ParsedSegment;
use super::people::Roster;
use super::requests::{self, asks, offers, proposes};
use super::turns::{Said, Turn, turns};
use super::verbs;
use super::words::Kind;

/// An answer comes within this many turns.
const ANSWER_WITHIN: usize = 3;
/// And so many more where another was asked first.
const CALLED_LATER: usize = 2;

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
        let caller =
            at.checked_sub(1).map(|before| &turns[before]).filter(|before| before.calls(turn.speaker));
        let within = ANSWER_WITHIN + if caller.is_some() { CALLED_LATER } else { 0 };
        let floor = at.saturating_sub(within);
        for (place, earlier) in turns[floor..at].iter().enumerate().rev().filter(|(_, earlier)| {
            let asks = |caller: &Turn<'_, '_>| caller.speaker == earlier.speaker;
            earlier.speaker != turn.speaker && caller.is_none_or(asks)
        }) {
            let between = &turns[floor + place + 1..at];
            let found = promised(turn, answer, earlier, roster, caller.is_some()).or_else(|| {
                let is_answered = is_answered_before(between, turn, earlier);
                let proposed = || settled(turn, answer, earlier, roster);
                proposed().or_else(|| taken_up(turn, answer, earlier, roster)).filter(|_| !is_answered)
            });
            if let Some(draft) = found {
                // The first who agrees settles it.
                if agreed.insert(draft.evidence[1].clone()) {
                    drafts.push(draft);
                }
                break;
            }
            // "Shall we sell it?" – "No." – "Agreed, we keep it.": what was proposed before was refused.
            if refuses(earlier) {
                break;
            }
        }
    }
    drafts
}

/// "Let's demo on Monday." – "Monday is a holiday." – "Tuesday then?" – "Works for me.": who agrees last has answered the proposal
/// already, and agrees to what was said since. A question back answers nothing.
fn is_answered_before(between: &[Turn<'_, '_>], turn: &Turn<'_, '_>, proposing: &Turn<'_, '_>) -> bool {
    let answers = |one: &Turn<'_, '_>| {
        let last = one.sentences.last();
        let asks = last.is_some_and(|last| {
            last.clone().rev().take(2).any(|at| one.parsed.text.word(at) == "?")
                || one.parsed.text.word(last.end) == "?"
        });
        one.speaker == turn.speaker && !asks
    };
    let Some(answered) = between.iter().position(answers) else { return false };
    between[answered + 1..].iter().any(|one| one.speaker == proposing.speaker)
}

/// Whether a turn begins by refusing.
fn refuses(turn: &Turn<'_, '_>) -> bool {
    turn.sentences.first().is_some_and(|first| requests::refuses(turn.parsed, first))
}

/// Drops what was asked of somebody who refused it in the next turn.
pub(super) fn drop_refused(turns: &[Turn<'_, '_>], drafts: &mut Vec<Draft>) {
    let mut refused: Vec<(usize, usize, usize, usize)> = Vec::new();
    for pair in turns.windows(2).filter(|pair| refuses(&pair[1])) {
        let asked = pair[0].sentences.iter().filter(|sentence| asks(pair[0].parsed, sentence).is_some());
        refused.extend(asked.map(|sentence| {
            let bytes = pair[0].parsed.text.bytes(sentence);
            (pair[0].parsed.segment, bytes.start, bytes.end, pair[1].speaker)
        }));
    }
    drafts.retain(|draft| {
        let [(segment, bytes)] = draft.evidence.as_slice() else { return true };
        let next = refused.partition_point(|(of, _, end, _)| (*of, *end) <= (*segment, bytes.start));
        let is_refused = refused.get(next).is_some_and(|(of, start, _, by)| {
            of == segment && *start < bytes.end && draft.owners().all(|owner| owner == *by)
        });
        !(draft.category == Category::Commitment && is_refused)
    });
}

/// "Who can do the accounts?" – "I'll bring the cake.": what is promised is something else.
fn promises_another(
    turn: &Turn<'_, '_>,
    answer: &Range<usize>,
    asked: &Turn<'_, '_>,
    request: &Range<usize>,
) -> bool {
    let text = &turn.parsed.text;
    let Some(will) = answer.clone().take(4).find(|at| text.is_any(*at, &["'ll", "will"])) else {
        return false;
    };
    let thing = will + 2;
    let names_it = thing + 1 < answer.end
        && text.is_any(thing, &["the", "a", "an", "my", "our", "some", "those", "these"]);
    let is_of_request = |at: usize| {
        let word = text.word(at);
        word.len() > 3 && request.clone().any(|other| asked.parsed.text.word(other) == word)
    };
    names_it && !(thing..answer.end).any(is_of_request)
}

/// Whether nothing but blanks parts two sentences.
fn on_one_line(parsed: &ParsedSegment<'_>, first: &Range<usize>, second: &Range<usize>) -> bool {
    let text = &parsed.text;
    let gap = text.bytes(first).end..text.bytes(second).start;
    first.end == second.start && text.raw.get(gap).is_some_and(|gap| !gap.contains('\n'))
}

fn promised(
    turn: &Turn<'_, '_>,
    answer: &Range<usize>,
    earlier: &Turn<'_, '_>,
    roster: &Roster,
    is_called: bool,
) -> Option<Draft> {
    if !agrees_to_do(turn.parsed, answer) {
        return None;
    }
    let (request, verb, whom) = earlier.sentences.iter().rev().find_map(|sentence| {
        let (verb, whom) = asks(earlier.parsed, sentence)?;
        Some((sentence, verb, whom))
    })?;
    let is_anothers = whom.is_some_and(|whom| whom != turn.speaker) && !is_called;
    if is_anothers || promises_another(turn, answer, earlier, request) {
        return None;
    }
    Some(accepted(&turn.said(answer), &earlier.said(request), verb, roster))
}

/// What is told of a request, from the token `verb` on, that an answer accepts.
pub(super) fn accepted(answer: &Said<'_, '_>, request: &Said<'_, '_>, verb: usize, roster: &Roster) -> Draft {
    let (owner, asker) = (answer.speaker, request.speaker);
    let own = deadlines::due(answer.words(), answer.dates());
    let due_time = own.or_else(|| deadlines::due(request.words(), request.dates()));
    let mut actors: Vec<Actor> = Vec::new();
    actors.extend(owner.map(|entity| Actor { entity, role: ActorRole::Owner }));
    actors.extend(asker.map(|entity| Actor { entity, role: ActorRole::Stakeholder }));
    actors.extend(
        beside_you(request.parsed, &request.sentence)
            .into_iter()
            .filter(|other| Some(*other) != owner)
            .map(|entity| Actor { entity, role: ActorRole::Owner }),
    );
    let pronouns =
        Pronouns { speaker: request.name(roster), asked: answer.name(roster), ..Pronouns::default() };
    let mut task = task(request, verb, roster, pronouns);
    // "By Wednesday?" – "sure, tomorrow": the day that was promised.
    if let (Some(asked), Some(said)) = (request.due_words(), answer.due_words().filter(|_| own.is_some())) {
        let asked = &request.parsed.text.raw[asked];
        task = format!("{} {}", task.replacen(asked, "", 1).trim_end(), &answer.parsed.text.raw[said]);
    }
    // "Sure, done right now."
    let is_done = answer.says_done();
    let due_time = due_time.filter(|_| !is_done);
    let to = joint(request.parsed, &request.sentence, verb).replace(" on", ":");
    let agreed = match (answer.name(roster), is_done) {
        (Some(name), true) => format!("{name} did it:"),
        (Some(name), false) => format!("{name} agreed{to}"),
        (None, true) => "Done:".to_owned(),
        (None, false) => format!("Agreed{to}"),
    };
    let by = request.name(roster).map_or(String::new(), |name| format!(", asked by {name}"));
    Draft {
        category: if is_done { Category::Execution } else { Category::Commitment },
        confidence: 0.78 + if due_time.is_some() { 0.06 } else { 0.0 },
        narrative: narrative::sentence(&format!("{agreed} {task}{by}")),
        event_time: answer.dates().reference,
        due_time,
        subject: draft::about(request.parsed, &request.sentence, &actors),
        actors,
        evidence: vec![answer.evidence(), request.evidence()],
    }
}

/// What a request is for, as something to do.
fn task(request: &Said<'_, '_>, verb: usize, roster: &Roster, pronouns: Pronouns<'_>) -> String {
    let told =
        |from| narrative::told(request.parsed, &(from..request.sentence.end), &roster.entities, pronouns);
    let base = verbs::base_of(request.parsed.text.word(verb));
    let task = base.map_or_else(|| told(verb), |base| format!("{base} {}", told(verb + 1)));
    task.trim_end_matches(['?', '.', '!', ' ']).to_owned()
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
    if !agrees_that(turn.parsed, answer) && !hands_over(turn.parsed, answer) {
        return None;
    }
    let (offer, verb) = earlier
        .sentences
        .iter()
        .rev()
        .find_map(|sentence| Some((sentence, offers(earlier.parsed, sentence)?)))?;
    let people = &roster.entities;
    let name = people.get(earlier.speaker).map(|known| known.name.as_str());
    let task = narrative::told(
        earlier.parsed,
        &(verb..end_of_offer(earlier.parsed, verb, offer.end)),
        people,
        Pronouns { speaker: name, is_named: true, ..Pronouns::default() },
    );
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
        due_time: deadlines::due(
            &earlier.parsed.text.raw[bytes.clone()],
            earlier.parsed.dates_at(bytes.start),
        ),
        subject: draft::about(earlier.parsed, offer, &actors),
        actors,
        evidence: vec![
            (turn.parsed.segment, turn.parsed.text.bytes(answer)),
            (earlier.parsed.segment, bytes),
        ],
    })
}

/// "Should I order it or are you doing it?": the other choice is no part of what is offered.
fn end_of_offer(parsed: &ParsedSegment<'_>, verb: usize, end: usize) -> usize {
    const CHOICE: [&str; 8] = ["are", "can", "could", "do", "did", "shall", "should", "will"];
    let text = &parsed.text;
    (verb + 1..end).find(|at| text.word(*at) == "or" && text.is_any(at + 1, &CHOICE)).unwrap_or(end)
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
    Some(settled_by(&turn.said(answer), &earlier.said(proposal), verb, roster))
}

/// What is told of a proposal, from the token `verb` on, that an answer agrees to.
pub(super) fn settled_by(
    answer: &Said<'_, '_>,
    proposal: &Said<'_, '_>,
    verb: usize,
    roster: &Roster,
) -> Draft {
    let people = &roster.entities;
    let who: Vec<usize> = [proposal.speaker, answer.speaker].into_iter().flatten().collect();
    let pronouns = Pronouns { speaker: proposal.name(roster), is_named: true, ..Pronouns::default() };
    let plan = narrative::told(proposal.parsed, &(verb..proposal.sentence.end), people, pronouns);
    let actors: Vec<Actor> =
        who.iter().map(|entity| Actor { entity: *entity, role: ActorRole::Owner }).collect();
    let plan = plan.trim_end_matches(['?', '.', '!', ' ']);
    let to = joint(proposal.parsed, &proposal.sentence, verb);
    let telling = match narrative::names(people, &who).as_str() {
        "" => format!("Agreed{to} {plan}"),
        names => format!("{names} agreed{to} {plan}"),
    };
    Draft {
        category: Category::Decision,
        confidence: 0.64,
        narrative: narrative::sentence(&telling),
        event_time: answer.dates().reference,
        due_time: None,
        subject: draft::about(proposal.parsed, &proposal.sentence, &actors),
        actors,
        evidence: vec![answer.evidence(), proposal.evidence()],
    }
}

/// What joins "agreed" to what was asked or proposed from a token on: only something to do is agreed "to"; what is neither that nor
/// a thing is told as it was said.
fn joint(parsed: &ParsedSegment<'_>, sentence: &Range<usize>, at: usize) -> &'static str {
    const THINGS: [&str; 16] = [
        "the", "a", "an", "this", "that", "these", "those", "my", "your", "our", "his", "her", "their",
        "both", "another", "next",
    ];
    const NO_VERBS: [&str; 16] = [
        "no", "only", "just", "in", "at", "on", "for", "with", "from", "by", "of", "without", "more", "less",
        "if", "when",
    ];
    let text = &parsed.text;
    let is_not = text.word(at) == "not";
    match text.word(at) {
        "i" | "we" | "it" | "they" => " that",
        // "let's not sell it", "not the shop one".
        _ if is_not && verbs::of(text.word(at + 1)).is_some_and(|verb| verb.base) => " to",
        word if is_not || NO_VERBS.contains(&word) => ":",
        // "I propose Redis", "how about the blue one?": a thing, not something to do.
        word if THINGS.contains(&word) || text.kind(at) == Some(Kind::Number) => " on",
        _ if text.is_capitalised(at) && at > sentence.start => " on",
        _ => " to",
    }
}
