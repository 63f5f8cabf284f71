//! Rules for one observation: a fact, short enough to be true or false as a whole.

use memory_language::sentence::sentences;
use memory_language::text::cut;

use super::{AuthoringLimits, shown};

/// Shorter observations get a warning.
const MIN_CHARS: usize = 5;
/// How much of a refused observation is given back, in characters.
const ISSUE_CHARS: usize = 50;
/// A proposed split shows at most this many parts, each cut to this many characters.
const SPLIT_PARTS: usize = 6;
const SPLIT_CHARS: usize = 80;

/// What is wrong with an observation; `text` is trimmed.
pub(super) fn issue(text: &str, limits: &AuthoringLimits) -> Option<String> {
    if text.is_empty() {
        return Some("Cannot be empty. Write one fact as a short sentence, or leave it out.".to_owned());
    }
    if text.contains('\0') {
        return Some("Contains a NUL character (U+0000), which cannot be stored. Remove it.".to_owned());
    }
    let chars = text.chars().count();
    let parts: Vec<&str> = sentences(text).collect();
    let (most_chars, most_sentences) = (limits.observation_chars, limits.observation_sentences);
    let too_long =
        (chars > most_chars).then(|| format!("too long, {chars} characters, at most {most_chars}"));
    let too_many = (parts.len() > most_sentences)
        .then(|| format!("too many sentences, {}, at most {most_sentences}", parts.len()));
    let problems: Vec<String> = too_long.into_iter().chain(too_many).collect();
    if problems.is_empty() {
        return None;
    }
    let problems = problems.join("; ");
    let (first, rest) = problems.split_at(1);
    Some(format!("{}{rest}. {}", first.to_uppercase(), split(text, &parts, limits)))
}

/// Says what is thin about an observation that will do.
pub(super) fn warning(text: &str) -> Option<String> {
    let chars = text.chars().count();
    (chars < MIN_CHARS).then(|| {
        let noun = if chars == 1 { "character" } else { "characters" };
        format!("Very short, {chars} {noun}. Write the whole fact, so that it can be understood on its own.")
    })
}

/// `Observation 2 ("The service …"): ` and what there is to say.
pub(super) fn message(index: usize, text: &str, what: &str) -> String {
    if text.is_empty() {
        return format!("Observation {index}: {what}");
    }
    format!("Observation {index} (\"{}\"): {what}", shown(text))
}

/// The beginning of a refused observation.
pub(super) fn beginning(text: &str) -> String {
    let text = text.replace('\0', "␀");
    match text.char_indices().nth(ISSUE_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Proposes how to split an observation that is too long or has too many sentences.
fn split(text: &str, parts: &[&str], limits: &AuthoringLimits) -> String {
    if parts.len() < 2 {
        return split_sentence(text, limits);
    }
    let numbered = parts.iter().take(SPLIT_PARTS).enumerate();
    let listed: Vec<String> =
        numbered.map(|(at, part)| format!("{}) '{}'", at + 1, cut(part, SPLIT_CHARS))).collect();
    let more = if parts.len() > SPLIT_PARTS { ", and so on" } else { "" };
    let long = parts.iter().position(|part| part.chars().count() > limits.observation_chars);
    let shorten = long.map_or_else(String::new, |at| {
        let chars = parts[at].chars().count();
        format!(" Shorten the one numbered {}, which alone has {chars} characters.", at + 1)
    });
    format!("Split into {} observations: {}{more}.{shorten}", parts.len(), listed.join(" "))
}

/// Proposes where to cut one long sentence: between clauses near the middle, else between words.
fn split_sentence(text: &str, limits: &AuthoringLimits) -> String {
    const CLAUSES: [&str; 12] = [
        "; ",
        ", ",
        ": ",
        " - ",
        " – ",
        " — ",
        " and ",
        " but ",
        " which ",
        " because ",
        " while ",
        " so that ",
    ];
    let middle = text.len() / 2;
    let off_middle = |at: &usize| at.abs_diff(middle);
    let clauses = CLAUSES.iter().flat_map(|clause| text.match_indices(clause)).map(|(at, _)| at);
    let clause = clauses.min_by_key(off_middle).filter(|at| off_middle(at) <= text.len() / 3);
    let spaces = text.match_indices(char::is_whitespace).map(|(at, _)| at);
    let Some(at) = clause.or_else(|| spaces.min_by_key(off_middle)) else {
        return "It is one unbroken value: say what it is and where it is found instead.".to_owned();
    };
    let count = text.chars().count().div_ceil(limits.observation_chars.max(1)).max(2);
    let second = text[at..].trim_start_matches(|c: char| !c.is_alphanumeric());
    format!(
        "It is one sentence: shorten it, or state its facts in {count} observations, for example with a new \
         one from '{}' on.",
        shown(second)
    )
}
