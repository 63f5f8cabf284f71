//! What stands before a colon: who says what follows, what it is of, or what it spells out.

use super::clauses::{Statement, Tokens, turns};
use super::sentence::Sentence;
use super::speakers::Voice;

/// The most tokens of an introduction, and of what spells out a statement behind its colon.
const INTRODUCTION_MAX: usize = 10;
const SPELLED_OUT_MAX: usize = 30;

/// What an introduction tells of what follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Introduced {
    /// The user has said so: "User corrected me: …", "User (12 Nov): …".
    Said,
    /// The user wants it so: "User preferences: …".
    Wanted,
}

impl Introduced {
    /// Whose words these are by the rules, in a text of `voice`: not all that the user has said is wanted.
    pub(super) fn kept_as(self, voice: Voice) -> Voice {
        match (self, voice) {
            (Self::Said, Voice::Note) => Voice::User,
            (Self::Wanted, Voice::Note) => Voice::Preference,
            _ => voice,
        }
    }
}

/// How many tokens at the beginning of a sentence only say that what follows is the user's, and what they tell of it.
pub(super) fn introduction(sentence: &Sentence<'_>) -> Option<(usize, Introduced)> {
    let colon = (0..sentence.len().min(INTRODUCTION_MAX)).find(|at| sentence.mark(*at) == Some(":"))?;
    (colon + 1..sentence.len()).find(|at| sentence.word(*at).is_some())?;
    let mut is_in_brackets = false;
    let mut introduced = Introduced::Said;
    let mut is_users = false;
    for at in 0..colon {
        match (sentence.mark(at), sentence.word(at)) {
            (Some("("), _) => is_in_brackets = true,
            (Some(")"), _) => is_in_brackets = false,
            (_, Some("user" | "user's" | "users")) => is_users = true,
            (_, Some("preference" | "preferences" | "instruction" | "instructions" | "rule" | "rules")) => {
                introduced = Introduced::Wanted;
            }
            (_, Some(word)) if !is_in_brackets && !introduces(word) => return None,
            _ => {}
        }
    }
    is_users.then_some((colon + 1, introduced))
}

/// A word that says who speaks, how and when.
fn introduces(word: &str) -> bool {
    const WORDS: [&str; 40] = [
        "the",
        "a",
        "an",
        "of",
        "by",
        "from",
        "on",
        "to",
        "in",
        "has",
        "again",
        "also",
        "just",
        "now",
        "new",
        "today",
        "me",
        "us",
        "my",
        "corrected",
        "corrects",
        "correction",
        "told",
        "tells",
        "said",
        "says",
        "asked",
        "asks",
        "wrote",
        "writes",
        "reminded",
        "clarified",
        "confirmed",
        "added",
        "stated",
        "explained",
        "insisted",
        "feedback",
        "note",
        "standing",
    ];
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    WORDS.contains(&word)
        || word.starts_with(|c: char| c.is_ascii_digit())
        || word.get(..3).is_some_and(|start| MONTHS.contains(&start) && word.is_ascii())
}

/// "For gifts to Oma: …" is said of gifts; "for example: …" is said of nothing.
pub(super) fn is_topic(sentence: &Sentence<'_>, at: usize) -> bool {
    const OF_NOTHING: [&str; 14] = [
        "example",
        "instance",
        "context",
        "reference",
        "now",
        "short",
        "summary",
        "general",
        "fact",
        "particular",
        "addition",
        "other",
        "conclusion",
        "background",
    ];
    at == 0
        && matches!(sentence.word(0), Some("for" | "in" | "on" | "with"))
        && !sentence.word(1).is_some_and(|word| OF_NOTHING.contains(&word))
}

/// Whether what is behind a colon spells out what is before it: "use this order: imports, constants".
pub(super) fn spells_out(sentence: &Sentence<'_>, colon: usize) -> bool {
    let rest = colon + 1..sentence.len();
    sentence.mark(colon) == Some(":")
        && (1..=SPELLED_OUT_MAX).contains(&rest.len())
        && !sentence.is_question()
        && !turns(sentence, colon + 1)
}

/// Makes one statement of two that only a colon or a bracket parts.
pub(super) fn joined(sentence: &Sentence<'_>, mut found: Vec<Statement>) -> Vec<Statement> {
    found.sort_by_key(|statement| statement.tokens);
    let mut joined: Vec<Statement> = Vec::new();
    for mut statement in found {
        let mark = joined.last().map(|before| before.tokens.1).filter(|at| *at + 1 == statement.tokens.0);
        match (joined.last_mut(), mark.and_then(|at| sentence.mark(at))) {
            (Some(before), Some(":" | "(" | ")")) => {
                before.tokens.1 = statement.tokens.1;
                before.condition = before.condition.or(statement.condition.take());
            }
            _ => joined.push(statement),
        }
    }
    joined
}

/// Where what a colon ends has its end, with what spells it out.
pub(super) fn spelled_out(sentence: &Sentence<'_>, tokens: Tokens) -> Tokens {
    let (start, end) = tokens;
    if spells_out(sentence, end) {
        let borders = |at: &usize| matches!(sentence.mark(*at), Some(";" | "?" | "!" | "—" | "–" | "-"));
        return (start, (end + 1..sentence.len()).find(borders).unwrap_or(sentence.len()));
    }
    tokens
}
