//! What a question of a chat asks for: what its user said, what the user was told, or a summary of both; and whether in the order of time.

#[cfg(test)]
mod tests;

use crate::lexicon::is_function_word;
use crate::text::words_of;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AskedFor {
    /// Who says of a chat what is so is its user.
    #[default]
    Facts,
    /// What the assistant said: "what did you recommend", "your advice".
    Answers,
    Summary,
}

/// What words begin with that ask for a summary, in the languages whose dates are read.
const SUMMARY: [&str; 6] = ["summar", "recap", "zusammenfass", "résum", "resumen", "riassu"];
const SAID: [&str; 18] = [
    "advised",
    "answered",
    "explained",
    "gave",
    "given",
    "helped",
    "mentioned",
    "proposed",
    "recommended",
    "said",
    "showed",
    "shown",
    "suggested",
    "taught",
    "told",
    "walked",
    "warned",
    "wrote",
];
const SAY: [&str; 15] = [
    "advise",
    "answer",
    "explain",
    "give",
    "help",
    "mention",
    "propose",
    "recommend",
    "say",
    "show",
    "suggest",
    "teach",
    "tell",
    "walk",
    "write",
];
const SAYINGS: [&str; 10] = [
    "advice",
    "answer",
    "answers",
    "explanation",
    "proposal",
    "proposals",
    "recommendation",
    "recommendations",
    "suggestion",
    "suggestions",
];

/// Of a text that asks for both a summary and what was said, a summary.
pub fn asked_for(question: &str) -> AskedFor {
    let lower = question.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    if words.iter().any(|word| *word == "overview" || SUMMARY.iter().any(|summary| word.starts_with(summary)))
    {
        AskedFor::Summary
    } else if (0..words.len()).any(|at| asks_what_was_said(&words[at..])) {
        AskedFor::Answers
    } else {
        AskedFor::Facts
    }
}

/// "did you suggest", "have you ever said", "you told", "was I advised", "your advice".
fn asks_what_was_said(words: &[&str]) -> bool {
    let said_within =
        |reach: usize, verbs: &[&str]| words.iter().skip(2).take(reach).any(|word| verbs.contains(word));
    match words {
        ["did", "you", ..] => said_within(2, &SAY),
        ["have" | "had", "you", ..] | ["was" | "were", "i", ..] => said_within(2, &SAID),
        ["you", verb, ..] => SAID.contains(verb),
        ["your", noun, ..] => SAYINGS.contains(noun),
        _ => false,
    }
}

/// What is said by who wants things in the order of time, in the languages whose dates are read.
const IN_ORDER: [&str; 13] = [
    "the order in which",
    "what order",
    "order of events",
    "timeline of",
    "sequence of events",
    "reihenfolge",
    "der reihe nach",
    "zeitliche abfolge",
    "dans l'ordre",
    "en orden",
    "el orden en que",
    "in ordine",
    "l'ordine in cui",
];

/// Whether what is due is asked for as such: "What is overdue?", "deadlines this week". Longer questions are about something.
pub fn asks_for_due(question: &str) -> bool {
    const WORDS: [&str; 6] = ["due", "overdue", "deadlines", "commitments", "todos", "promises"];
    const WORDS_MAX: usize = 7;
    let words: Vec<&str> = words_of(question).collect();
    words.len() <= WORDS_MAX && words.iter().any(|word| WORDS.iter().any(|of| word.eq_ignore_ascii_case(of)))
}

/// Whether all that the user wants is asked for: "Which preferences hold now?", "list my standing instructions". What is asked about
/// something ("my preferences for hotels") is none.
pub fn asks_for_wishes(question: &str) -> bool {
    const WISHES: [&str; 8] = [
        "wish",
        "wishes",
        "preference",
        "preferences",
        "instruction",
        "instructions",
        "directive",
        "directives",
    ];
    const BESIDE: [&str; 33] = [
        "active",
        "apply",
        "asked",
        "current",
        "currently",
        "effect",
        "follow",
        "force",
        "gave",
        "give",
        "given",
        "hold",
        "holding",
        "holds",
        "keep",
        "know",
        "list",
        "mind",
        "now",
        "present",
        "remember",
        "remembered",
        "said",
        "set",
        "show",
        "standing",
        "state",
        "stated",
        "still",
        "stored",
        "tell",
        "told",
        "user",
    ];
    let words: Vec<String> = words_of(question).map(str::to_lowercase).collect();
    let is_one = |word: &str| WISHES.contains(&word);
    let says_nothing_more = |word: &str| {
        let word = word.strip_suffix("'s").unwrap_or(word);
        is_one(word) || BESIDE.contains(&word) || is_function_word(word)
    };
    // A lone word is looked for.
    words.len() > 1
        && words.iter().any(|word| is_one(word))
        && words.iter().all(|word| says_nothing_more(word))
}

/// A kind of what is told that a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskedKind {
    /// Commitments that are open.
    OpenTasks,
    Decisions,
}

/// The kind that is asked for, if any.
pub fn asked_kind(question: &str) -> Option<AskedKind> {
    if asks_for_tasks(question) {
        Some(AskedKind::OpenTasks)
    } else if asks_for_decisions(question) {
        Some(AskedKind::Decisions)
    } else {
        None
    }
}

impl AskedKind {
    /// Whether a text is of the kind by its words.
    pub fn is_told_by(self, text: &str) -> bool {
        match self {
            Self::OpenTasks => tells_of_open(text),
            Self::Decisions => tells_of_decision(text),
        }
    }
}

/// Whether decisions are asked for: "Which decisions did we take in October?", "What did we decide about the queue?". What one person
/// decided may stand in any words.
fn asks_for_decisions(question: &str) -> bool {
    const DECIDED: [&str; 4] = ["decide", "decided", "agree", "agreed"];
    const BY_ALL: [&str; 10] =
        ["we", "was", "were", "been", "team", "board", "council", "committee", "group", "meeting"];
    const BEFORE: [&str; 12] =
        ["which", "what", "the", "any", "all", "our", "key", "main", "last", "latest", "recent", "list"];
    let words: Vec<String> = words_of(question).map(str::to_lowercase).collect();
    let has_one = |of: &[&str]| words.iter().any(|word| of.contains(&word.as_str()));
    let asks_what = words.first().is_some_and(|word| matches!(word.as_str(), "what" | "which" | "where"));
    let is_decision = |at: usize| {
        matches!(words[at].as_str(), "decision" | "decisions")
            && !words.get(at + 1).is_some_and(|next| matches!(next.as_str(), "maker" | "makers" | "making"))
    };
    let by_name = (1..words.len()).any(|at| is_decision(at) && BEFORE.contains(&words[at - 1].as_str()));
    by_name
        || words.first().is_some_and(|word| word == "decisions")
        || asks_what && has_one(&DECIDED) && has_one(&BY_ALL)
}

/// What a decision that is asked for is about: "the queue" of "What did we decide about the queue?". That something was decided is
/// said of much else.
pub fn subject_of_decision(question: &str) -> Option<&str> {
    const BEFORE: [&str; 7] =
        [" about ", " regarding ", " concerning ", " for ", " on the ", " on our ", " on my "];
    if asked_kind(question) != Some(AskedKind::Decisions) {
        return None;
    }
    let lower = question.to_ascii_lowercase();
    let decided = ["deci", "agree"].iter().filter_map(|word| lower.find(word)).min()?;
    let behind = |words: &str| lower[decided..].find(words).map(|at| decided + at + words.len());
    let from = BEFORE.iter().filter_map(|words| behind(words)).min()?;
    let subject = question[from..].trim().trim_end_matches('?').trim_end();
    // "about it" says nothing to look for.
    words_of(subject).any(|word| !is_function_word(&word.to_lowercase())).then_some(subject)
}

/// Whether a text says that something was decided: "Decided: …", "we go with …", "the decision is …".
fn tells_of_decision(text: &str) -> bool {
    const DECIDED: [&str; 7] = ["decided", "decision", "decisions", "agreed", "chose", "chosen", "settled"];
    let decides = |word: &str| DECIDED.iter().any(|of| word.eq_ignore_ascii_case(of));
    words_of(text).any(decides) && !text.trim_end().ends_with('?')
}

/// Whether tasks are asked for: "What do I still have to do for the AGM?", "What is left for the move?", "What did Karl promise?".
fn asks_for_tasks(question: &str) -> bool {
    const TASKS: [&str; 6] = ["todo", "todos", "tasks", "action", "actions", "outstanding"];
    const HAVE: [&str; 10] =
        ["have", "need", "needs", "has", "left", "still", "must", "remains", "anything", "got"];
    const LEFT: [&str; 5] = ["left", "open", "pending", "undone", "unfinished"];
    const PROMISE: [&str; 8] =
        ["promise", "promised", "agree", "agreed", "commit", "committed", "owe", "owes"];
    let words: Vec<String> = words_of(question).map(str::to_lowercase).collect();
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let follow = |first: &[&str], second: &[&str]| {
        words.windows(2).any(|pair| first.contains(&pair[0].as_str()) && second.contains(&pair[1].as_str()))
    };
    let opens = words.first().is_some_and(|word| matches!(word.as_str(), "what" | "which" | "who" | "is"));
    let asks_what = words.first().is_some_and(|word| word.starts_with("wh"));
    let is_left =
        asks_what && (has(&["still"]) && has(&LEFT) || follow(&["is", "what's", "things"], &["left"]));
    let took_on = has(&["did", "does", "has", "have"])
        && (has(&PROMISE) || follow(&["take", "taken", "took", "takes"], &["on"]));
    let is_to_do = follow(&["to", "must"], &["do"]) && has(&HAVE);
    opens && (has(&TASKS) || is_to_do || is_left || took_on)
}

/// Whether a text says that something is still to be done: "Still open: …", "TODO garden: …", "not cleaned yet", "is missing".
fn tells_of_open(text: &str) -> bool {
    const OPEN: [&str; 9] =
        ["todo", "still", "open", "outstanding", "pending", "missing", "yet", "left", "unfinished"];
    let is_open = |word: &str| OPEN.iter().any(|open| word.eq_ignore_ascii_case(open));
    words_of(text).any(is_open) && !text.trim_end().ends_with('?')
}

/// Whether it is asked what somebody asked: "Which questions did Ann have?".
pub fn asks_for_questions(question: &str) -> bool {
    const WORDS: [&str; 7] = ["ask", "asks", "asked", "asking", "question", "questions", "wonder"];
    question
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| WORDS.iter().any(|of| word.eq_ignore_ascii_case(of)))
}

/// "List in order what I brought up", "in what order did they happen", "chronologically".
pub fn asks_for_order(question: &str) -> bool {
    let lower = question.to_lowercase().replace('’', "'");
    let is_in_order = lower.match_indices("in order").any(|(at, found)| {
        let rest = lower[at + found.len()..].trim_start();
        // "in order to see it", "in order for it to work", "keep it in order": not the order of time.
        !["to ", "for ", "that "].iter().any(|purpose| rest.starts_with(purpose))
            && ["list", "walk", "tell me", "name", "recount", "what", "show"]
                .iter()
                .any(|verb| lower.contains(verb))
    });
    let has_word =
        |start: &str| lower.split(|c: char| !c.is_alphanumeric()).any(|word| word.starts_with(start));
    is_in_order
        || has_word("chronolog")
        || has_word("cronol")
        || IN_ORDER.iter().any(|words| lower.contains(words))
}
