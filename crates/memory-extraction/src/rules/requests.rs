//! Requests: "please …", "Bob, can you …?", "Alice asked Bob to …".

use std::ops::Range;

use memory_core::event::{Actor, ActorRole, Category};

use super::clause::Clause;
use super::deadlines;
use super::draft::{self, Draft};
use super::event_context::{EventContext, trimmed};
use super::narrative;
use super::owners;
use super::parsed_segment::ParsedSegment;
use super::verbs::{self, Class};
use super::words::Kind;

/// What "please …" asks for without anything to do.
const COURTESIES: [&str; 24] = [
    "let", "find", "see", "note", "feel", "don't", "do", "join", "accept", "be", "contact", "reach", "read",
    "visit", "click", "refer", "keep", "remember", "bear", "enjoy", "help", "forgive", "excuse", "stop",
];

/// The event of a request that names, or is plainly sent to, the one who is to do it.
pub(super) fn request(
    context: &EventContext<'_, '_>,
    clause: &Clause<'_, '_>,
    speaker: Option<usize>,
) -> Option<Draft> {
    let (owner, asker, verb, confidence) =
        asked(context, clause, speaker).or_else(|| please(context, clause, speaker))?;
    if Some(owner) == asker {
        return None;
    }
    let parsed = context.parsed;
    let text = &parsed.text;
    let tokens = trimmed(parsed, &clause.tokens);
    let bytes = text.bytes(&tokens);
    let mut actors = vec![Actor { entity: owner, role: ActorRole::Owner }];
    actors.extend(asker.map(|entity| Actor { entity, role: ActorRole::Stakeholder }));
    let dates = parsed.dates_at(bytes.start);
    let due_time = deadlines::due(&text.raw[bytes.clone()], dates);
    let task = context.told(&(verb..tokens.end.max(verb)), speaker, None);
    let asked_by = asker
        .and_then(|at| context.roster.entities.get(at))
        .map_or(String::new(), |known| format!("{} asked ", known.name));
    let owner_name = &context.roster.entities.get(owner)?.name;
    let telling = if asked_by.is_empty() {
        format!("{owner_name} was asked to {task}")
    } else {
        format!("{asked_by}{owner_name} to {task}")
    };
    Some(Draft {
        category: Category::Commitment,
        confidence: confidence + if due_time.is_some() { 0.08 } else { 0.0 },
        narrative: narrative::sentence(&telling),
        event_time: dates.reference,
        due_time,
        subject: draft::about(parsed, &tokens, &actors),
        actors,
        evidence: vec![(parsed.segment, bytes)],
    })
}

type Asked = (usize, Option<usize>, usize, f32);

/// "Alice asked Bob to send …", "Alice asked me to send …".
fn asked(context: &EventContext<'_, '_>, clause: &Clause<'_, '_>, speaker: Option<usize>) -> Option<Asked> {
    let parsed = context.parsed;
    let at = clause
        .tokens
        .clone()
        .find(|at| matches!(clause.word(*at), "asked" | "asks" | "told" | "reminded"))?;
    let (whom, to) = match parsed.person(at + 1) {
        Some(mention) => (mention.entity, mention.tokens.end),
        None => (speaker.filter(|_| clause.word(at + 1) == "me")?, at + 2),
    };
    if clause.word(to) != "to"
        || to + 1 >= clause.tokens.end
        || clause.is_question()
        || clause.is_supposed(at)
    {
        return None;
    }
    let lead = clause.lead(at);
    let asker = match &lead.subject {
        super::clause::Subject::People(people) => people.first().copied(),
        super::clause::Subject::Me => parsed.speaker,
        _ => None,
    };
    (!lead.negated).then_some((whom, asker, to + 1, 0.66))
}

/// "I asked Henri to order it": whoever says it settles nothing, another is to do it.
pub(super) fn hands_on(parsed: &ParsedSegment<'_>, tokens: &Range<usize>) -> bool {
    let text = &parsed.text;
    tokens.clone().any(|at| {
        let gives = text.is_any(at, &["asked", "told", "reminded"]);
        let named =
            || parsed.person(at + 1).is_some() || text.is_capitalised(at + 1) || text.word(at + 1) == "me";
        let to = || (at + 2..tokens.end.min(at + 7)).find(|to| text.word(*to) == "to");
        gives && named() && to().is_some_and(|to| verbs::of(text.word(to + 1)).is_some_and(|verb| verb.base))
    })
}

/// "Bob, please review …", "@bob can you please …", and "please …" in a mail to one person.
fn please(context: &EventContext<'_, '_>, clause: &Clause<'_, '_>, speaker: Option<usize>) -> Option<Asked> {
    let parsed = context.parsed;
    let start = clause.tokens.start;
    let called = parsed.person(start);
    let opens = called.is_some();
    let mut at = called.map_or(start, |mention| mention.tokens.end);
    while at < clause.tokens.end && matches!(clause.word(at), "," | "-" | "–" | ":") {
        at += 1;
    }
    let spoken_to = owners::called(parsed, &clause.sentence);
    let verb = match (clause.word(at), clause.word(at + 1)) {
        ("please", _) => at + 1,
        ("can" | "could" | "would" | "will", "you")
            if opens || spoken_to.is_some() || clause.word(at + 2) == "please" =>
        {
            // "Could you, Owen, send …".
            let amid = parsed.person(at + 3).filter(|_| clause.word(at + 2) == ",");
            let after = amid.map_or(at + 2, |mention| mention.tokens.end + 1);
            after + usize::from(matches!(clause.word(after), "please" | "also"))
        }
        // "Ana, send me the list", "@kim check the pump".
        (word, _)
            if called.is_some_and(|mention| {
                mention.tokens.end < at || parsed.text.kind(start) == Some(Kind::Handle)
            }) && verbs::of(word).is_some_and(|verb| verb.class == Class::Deed && verb.base)
                && !clause.is_question() =>
        {
            at
        }
        _ => return None,
    };
    let owner = called.map(|mention| mention.entity).or(spoken_to).or(parsed.addressee)?;
    let fits =
        parsed.text.is_word(verb) && !COURTESIES.contains(&clause.word(verb)) && verb + 1 < clause.tokens.end;
    let asker = speaker.filter(|speaker| *speaker != owner);
    fits.then_some((owner, asker, verb, if called.is_some() { 0.66 } else { 0.58 }))
}

/// A sentence of a turn that asks the other, or anyone, for something: the token of what is asked, and whom it names.
pub(super) fn asks(parsed: &ParsedSegment<'_>, sentence: &Range<usize>) -> Option<(usize, Option<usize>)> {
    let text = &parsed.text;
    let (at, mut verb) = sentence.clone().find_map(|at| {
        let next = text.word(at + 1);
        let begins = match text.word(at) {
            "can" | "could" | "would" | "will" if next == "you" || is_anyone(next) => at + 2,
            "who" if matches!(next, "can" | "could" | "will") => at + 2,
            word if is_anyone(word) && matches!(next, "should" | "must") => at + 2,
            word if is_anyone(word) && matches!(next, "needs" | "has") && text.word(at + 2) == "to" => at + 3,
            "please" if !COURTESIES.contains(&next) => at + 1,
            "over" if next == "to" && text.word(at + 2) == "you" => at + 3,
            _ => return None,
        };
        Some((at, begins))
    })?;
    // "Please could you send".
    if text.is_any(verb, &["can", "could", "would", "will"]) && text.word(verb + 1) == "you" {
        verb += 2;
    }
    while verb < sentence.end && matches!(text.word(verb), "please" | "also" | "maybe" | "possibly") {
        verb += 1;
    }
    // "Would you mind checking it": what is asked is a word in -ing.
    let mind = text.word(verb) == "mind" && verbs::of(text.word(verb + 1)).is_some_and(|verb| verb.ing);
    verb += usize::from(mind);
    let idle = matches!(
        text.word(verb),
        "be" | "believe"
            | "imagine"
            | "tell"
            | "explain"
            | "see"
            | "hear"
            | "like"
            | "say"
            | "remember"
            | "recommend"
            | "mind"
    );
    if verb + 1 >= sentence.end || !text.is_word(verb) || idle {
        return None;
    }
    let whom = owners::called(parsed, sentence);
    Some((verb, whom.or_else(|| parsed.people_in(&(sentence.start..at)).first().copied())))
}

/// "Tom, have you paid it?", "Did she call?", "Was the lift repaired?"
pub(super) fn asks_of_past(parsed: &ParsedSegment<'_>, sentence: &Range<usize>) -> bool {
    const ASKED: [&str; 12] =
        ["you", "he", "she", "it", "they", "we", "anyone", "anybody", "someone", "somebody", "the", "that"];
    let text = &parsed.text;
    let is_question = sentence.clone().rev().take(2).any(|at| text.word(at) == "?");
    let opens = |at: usize| at == sentence.start || text.is_any(at - 1, &[",", ":", "so", "and", "ok"]);
    let asks = |at: usize| {
        text.is_any(at, &["have", "has", "did", "was", "were", "had"])
            && opens(at)
            && (text.is_any(at + 1, &ASKED) || parsed.person(at + 1).is_some())
    };
    is_question && sentence.clone().any(asks)
}

/// "No. We need it.", "nah, stuck at work", "Ask Lee."
pub(super) fn refuses(parsed: &ParsedSegment<'_>, sentence: &Range<usize>) -> bool {
    const REFUSALS: [&[&str]; 14] = [
        &["no", "."],
        &["no", ","],
        &["no", "!"],
        &["nope"],
        &["nah"],
        &["rather", "not"],
        &["please", "no"],
        &["i", "'d", "rather", "not"],
        &["not", "a", "chance"],
        &["no", "way"],
        &["not", "me"],
        &["i", "ca", "n't"],
        &["ca", "n't"],
        &["sorry", ",", "no"],
    ];
    let text = &parsed.text;
    let opens =
        |words: &[&str]| words.iter().enumerate().all(|(n, word)| text.word(sentence.start + n) == *word);
    let is_no = text.word(sentence.start) == "no" && text.ends_line(sentence.start);
    let sends_on = text.word(sentence.start) == "ask" && parsed.person(sentence.start + 1).is_some();
    is_no || sends_on || REFUSALS.iter().any(|words| opens(words))
}

fn is_anyone(word: &str) -> bool {
    matches!(word, "someone" | "somebody" | "anyone" | "anybody")
}

/// A sentence that proposes something to settle: "let's go with …", "what if we drop …", "proposal: …". The token
/// where what is proposed begins.
pub(super) fn proposes(parsed: &ParsedSegment<'_>, sentence: &Range<usize>) -> Option<usize> {
    let text = &parsed.text;
    let at = sentence.clone().find_map(|at| {
        let next = text.word(at + 1);
        match text.word(at) {
            "let" if next == "'s" || next == "us" => Some(at + 2),
            "lets" | "propose" | "proposing" | "suggest" | "suggesting" => Some(at + 1),
            "proposal" | "suggestion" | "motion" if next == ":" => Some(at + 2),
            "shall" | "should" | "could" if next == "we" => Some(at + 2),
            "we" if matches!(next, "could" | "should") => Some(at + 2),
            "how" | "what" if next == "about" => Some(at + 2),
            "what" if next == "if" && text.is_any(at + 2, &["we", "i"]) => Some(at + 3),
            "why" if text.is_any(at + 2, &["n't", "not"]) || next == "not" || next == "don't" => Some(at + 2),
            "do" if next == "n't" && text.word(at + 2) == "we" => Some(at + 3),
            "then" if next == "we" && at <= sentence.start + 1 => Some(at + 2),
            _ => None,
        }
    })?;
    let said = (at..sentence.end).filter(|at| text.is_word(*at)).count();
    (said >= 1 && at < sentence.end).then_some(at)
}

/// A sentence that offers to do something: "I could bring my grill".
pub(super) fn offers(parsed: &ParsedSegment<'_>, sentence: &Range<usize>) -> Option<usize> {
    let text = &parsed.text;
    let at = sentence.clone().take(4).find(|at| {
        let asks = *at > sentence.start && text.is_any(at - 1, &["should", "shall"]);
        text.word(*at) == "i"
            && (asks
                || matches!(text.word(at + 1), "could" | "can")
                || (text.word(at + 1) == "'d" && matches!(text.word(at + 2), "be" | "happily")))
    })?;
    let verb = at + 1 + usize::from(text.is_any(at + 1, &["could", "can", "'d"]));
    let able = verbs::of(text.word(verb)).is_some_and(|verb| verb.base && verb.class == Class::Deed);
    let told = (at + 1..sentence.end).all(|near| !matches!(text.word(near), "n't" | "not" | "only" | "if"));
    (able && told && verb + 1 < sentence.end).then_some(verb)
}
