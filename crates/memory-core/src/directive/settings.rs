//! The settings that a statement holds in: "in Go files", "for letters", "before running tests".

use std::collections::BTreeSet;

use super::parts::fills_in;
use super::sentence::Sentence;
use super::stems::{ARTICLES, is_member, stems_of};
use super::words::list;

/// Words that name no setting: "in this project", "in general".
const ANYWHERE: [&str; 18] = [
    "project",
    "repo",
    "repositori",
    "codebas",
    "everyth",
    "everywher",
    "general",
    "futur",
    "case",
    "way",
    "default",
    "here",
    "exampl",
    "me",
    "us",
    "time",
    "moment",
    "all",
];

/// The stems of all settings. What fills in a blank, "in English", is none.
pub(super) fn settings(sentence: &Sentence<'_>, filled_in: Option<usize>) -> BTreeSet<String> {
    let end = sentence.len();
    let opens =
        |at: &usize| opens_setting(sentence, *at) && filled_in != Some(*at) && !is_in_phrase(sentence, *at);
    let mut found = BTreeSet::new();
    for at in (0..end).filter(opens) {
        let to = (at + 1..end).find(|to| ends_setting(sentence, *to)).unwrap_or(end);
        let words: Vec<&str> = (at + 1..to).filter_map(|at| sentence.word(at)).collect();
        let is_answer =
            |word: &&str| list("answers").has(word) || matches!(*word, "answer" | "reply" | "response");
        let is_of_answers = words.iter().any(is_answer);
        let says = |word: &&str| !is_member(word) && !ARTICLES.contains(word);
        if !is_of_answers && words.iter().any(says) {
            found.extend(
                stems_of(sentence, at + 1, to)
                    .into_iter()
                    .filter(|stem| !ANYWHERE.contains(&stem.as_str()) && !ARTICLES.contains(&stem.as_str())),
            );
        }
    }
    found
}

/// "… in recipes", "… for the newsletter": it is about what is written there; "in English" and "in your answers" are no settings.
pub(super) fn has_setting(quote: &str) -> bool {
    let sentence = Sentence::new(quote, 0..quote.len());
    // "Answer in English", but "keep answers short in code reviews".
    let is_behind_how = |at: usize| at > 0 && list("style").at(&sentence, at - 1, at) > 0;
    // "No emojis in release notes" has no blank.
    let is_banned = |at: usize| (0..at).any(|at| sentence.word(at) == Some("no"));
    let fills = |at: &usize| fills_in(&sentence, *at) && !is_behind_how(*at) && !is_banned(*at);
    let fills_in = (0..sentence.len()).find(fills);
    !settings(&sentence, fills_in).is_empty()
}

fn opens_setting(sentence: &Sentence<'_>, at: usize) -> bool {
    matches!(
        sentence.word(at),
        Some(
            "in" | "on"
                | "for"
                | "at"
                | "during"
                | "within"
                | "inside"
                | "outside"
                | "before"
                | "after"
                | "when"
                | "whenever"
                | "while"
                | "if"
                | "unless"
        )
    )
}

/// A setting goes on to a mark, or to what is not of it.
fn ends_setting(sentence: &Sentence<'_>, at: usize) -> bool {
    sentence.mark(at).is_some()
        || opens_setting(sentence, at)
        || matches!(
            sentence.word(at),
            Some(
                "use"
                    | "using"
                    | "always"
                    | "never"
                    | "don't"
                    | "not"
                    | "to"
                    | "with"
                    | "as"
                    | "by"
                    | "instead"
                    | "over"
                    | "than"
                    | "rather"
                    | "because"
                    | "so"
                    | "but"
                    | "now"
                    | "again"
                    | "anymore"
                    | "please"
            )
        )
        || (sentence.word(at) == Some("any") && matches!(sentence.word(at + 1), Some("more" | "longer")))
}

/// "From now on", "in future", "for now": no setting.
fn is_in_phrase(sentence: &Sentence<'_>, at: usize) -> bool {
    let has = |name: &str| {
        (at.saturating_sub(4)..=at).any(|from| from + list(name).at(sentence, from, sentence.len()) > at)
    };
    has("standing") || has("changed") || has("here only")
}
