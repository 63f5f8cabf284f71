//! The words of a statement as stems that can be compared.

use std::collections::BTreeSet;

use memory_language::lexicon::{english_stem, is_function_word};

use super::sentence::Sentence;
use super::tokens::Token;
use super::words::{GROUPS, Group, list};

pub(super) const ARTICLES: [&str; 9] = ["a", "an", "the", "my", "our", "all", "any", "every", "this"];
/// Words that say how something is wanted, not what.
pub(super) const WANTING: [&str; 50] = [
    "always", "never", "please", "prefer", "prefers", "like", "likes", "love", "hate", "want", "wants",
    "use", "using", "used", "avoid", "stop", "don't", "doesn't", "not", "no", "keep", "make", "sure", "now",
    "actually", "again", "anymore", "fine", "okay", "ok", "allowed", "you", "your", "user", "let", "really",
    "usually", "much", "also", "only", "future", "longer", "need", "needs", "i'd", "i'm", "can't", "dislike",
    "give", "instead",
];

/// The stems of some tokens. Code and words with a hyphen say what their parts say.
pub(super) fn stems_of(sentence: &Sentence<'_>, from: usize, to: usize) -> BTreeSet<String> {
    let (calls, tokens): (Vec<&Token>, Vec<&Token>) =
        sentence.tokens.iter().take(to).skip(from).partition(|token| is_call(token));
    let words = tokens.into_iter().flat_map(Token::words);
    let mut found = stems(words.flat_map(|word| {
        let is_compound =
            !is_member(word) && word.chars().all(|c| c.is_alphabetic() || matches!(c, '-' | '\''));
        word.split(move |c: char| is_compound && c == '-')
    }));
    found.extend(calls.into_iter().map(|call| call_name(&call.text)));
    found
}

fn stems<'a>(words: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    words
        .filter(|word| !is_function_word(word) && !WANTING.contains(word) && word.len() > 1)
        .map(english_stem)
        .collect()
}

pub(super) fn members<'a>(words: impl Iterator<Item = &'a str>) -> Vec<(usize, usize)> {
    let of = |word: &str| {
        let in_group = |(n, group): (usize, &Group)| Some((n, group.member(word)?));
        GROUPS.iter().enumerate().filter_map(in_group).collect::<Vec<_>>()
    };
    let mut members: Vec<(usize, usize)> = words.flat_map(of).collect();
    members.sort_unstable();
    members.dedup();
    members
}

pub(super) fn is_member(word: &str) -> bool {
    GROUPS.iter().any(|group| group.member(word).is_some())
}

/// "open(...).read()", "print()": one thing, whatever words it has inside.
fn is_call(token: &Token) -> bool {
    token.is_code
        && token.text.ends_with(')')
        && token.text.find('(').is_some_and(|at| at > 0)
        && !token.text.contains(char::is_whitespace)
}

/// The name of what is called. What is also a verb of the prose keeps its brackets, so that it is not taken for that.
fn call_name(call: &str) -> String {
    let mut depth = 0_usize;
    let name: String = call
        .chars()
        .filter(|c| {
            depth += usize::from(*c == '(');
            let is_outside = depth == 0;
            depth -= usize::from(*c == ')' && depth > 0);
            is_outside
        })
        .collect();
    if list("verbs").has(&name) || is_function_word(&name) {
        format!("{name}()")
    } else {
        english_stem(&name)
    }
}
