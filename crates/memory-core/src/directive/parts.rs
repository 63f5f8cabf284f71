//! The parts of a statement: what is wanted, what is set against it, what is wanted less, and what fills in a blank.

use memory_language::lexicon::{english_stem, is_function_word};

use super::sentence::Sentence;
use super::stems::stems_of;
use super::words::list;

/// A comma behind which stands what is not wanted: "use yarn here, never npm". A setting before it is none: "in Go, never …".
pub(super) fn is_contrast(sentence: &Sentence<'_>, comma: usize) -> bool {
    let is_setting = matches!(
        sentence.word(0),
        Some(
            "in" | "for"
                | "on"
                | "with"
                | "at"
                | "when"
                | "if"
                | "during"
                | "after"
                | "before"
                | "as"
                | "please"
        )
    );
    comma > 1
        && sentence.mark(comma) == Some(",")
        && matches!(sentence.word(comma + 1), Some("never" | "not"))
        && !is_setting
        && !(0..comma).any(|at| sentence.word(at).is_some_and(is_denial))
        && !stems_of(sentence, 0, comma).is_empty()
}

/// The name right behind "use" that a purpose follows, or nothing where the purpose is the condition.
pub(super) fn used(sentence: &Sentence<'_>, at: usize) -> Option<String> {
    let is_use = matches!(sentence.word(at), Some("use" | "uses" | "using"));
    let is_for = at + 2 >= sentence.len() || matches!(sentence.word(at + 2), Some("for" | "in" | "on"));
    sentence.word(at + 1).filter(|_| is_use && is_for).map(english_stem)
}

/// Words of when, and those that are said of anything.
pub(super) fn says_little(stem: &str) -> bool {
    matches!(
        stem,
        "befor"
            | "after"
            | "while"
            | "dure"
            | "unless"
            | "whenev"
            | "write"
            | "written"
            | "format"
            | "show"
            | "express"
            | "add"
            | "includ"
            | "code"
            | "may"
            | "more"
    )
}

/// "The odd emoji", "some footnotes".
pub(super) fn says_how_many(stem: &str) -> bool {
    matches!(
        stem,
        "odd"
            | "occasion"
            | "few"
            | "some"
            | "bit"
            | "littl"
            | "coupl"
            | "sometim"
            | "occas"
            | "random"
            | "sparing"
    )
}

/// Verbs that ask for a form, a language or a place behind "in".
fn is_forming(verb: &str) -> bool {
    matches!(
        verb,
        "write"
            | "format"
            | "answer"
            | "reply"
            | "respond"
            | "speak"
            | "talk"
            | "express"
            | "show"
            | "display"
            | "give"
            | "put"
            | "keep"
            | "place"
            | "store"
            | "save"
            | "name"
            | "explain"
            | "state"
            | "list"
    )
}

/// A number or a version: "200", "3.12".
pub(super) fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// A piece of code between ticks, or a call.
pub(super) fn code(sentence: &Sentence<'_>, at: usize) -> Option<String> {
    let token = sentence.tokens.get(at).filter(|token| token.is_code)?;
    let is_ticked = sentence.content[token.bytes.clone()].starts_with('`');
    let name = token.text.trim_matches('`').trim_end_matches("()");
    (is_ticked || token.text.ends_with(')')).then(|| name.to_owned())
}

pub(super) fn is_less(sentence: &Sentence<'_>, at: usize) -> bool {
    match sentence.word(at) {
        Some("over" | "than" | "rather") => at > 0,
        Some("instead") => sentence.word(at + 1) == Some("of"),
        Some("to") => sentence.word(0).is_some() && is_comparing_to(sentence, at),
        _ => false,
    }
}

/// "I prefer trains to planes", not "I prefer to travel by train".
fn is_comparing_to(sentence: &Sentence<'_>, at: usize) -> bool {
    let prefers = (0..at).find(|at| sentence.word(*at).is_some_and(|word| word.starts_with("prefer")));
    prefers.is_some_and(|verb| verb + 1 < at)
        && sentence.word(at + 1).is_some_and(|word| !list("verbs").has(word))
}

pub(super) fn is_denial(word: &str) -> bool {
    matches!(
        word,
        "never"
            | "don't"
            | "dont"
            | "not"
            | "stop"
            | "no"
            | "avoid"
            | "skip"
            | "omit"
            | "hate"
            | "dislike"
            | "dislikes"
            | "hates"
            | "avoids"
            | "doesn't"
            | "can't"
            | "cannot"
            | "rarely"
            | "without"
            | "refrain"
    )
}

/// Whether what follows fills in a blank.
pub(super) fn fills_in(sentence: &Sentence<'_>, at: usize) -> bool {
    match sentence.word(at) {
        Some("in") => {
            // "Use print() in notebooks" has a setting and no blank.
            let verb = (0..at).filter_map(|at| sentence.word(at)).find(|word| list("verbs").has(word));
            verb.is_none_or(is_forming)
        }
        Some("as" | "with" | "is" | "are") => true,
        // "Call me Kit", not "call me on Mondays".
        Some("me") => {
            let before = at.checked_sub(1).and_then(|before| sentence.word(before));
            matches!(before, Some("call" | "address")) && !sentence.word(at + 1).is_some_and(is_function_word)
        }
        _ => false,
    }
}
