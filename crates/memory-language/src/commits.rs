//! What shows a commit of a repository: its hash, and the label of its subject.

use std::ops::RangeInclusive;

const HASH_DIGITS: RangeInclusive<usize> = 7..=64;

/// Labels of subjects by the convention for them.
const LABELS: [&str; 15] = [
    "feat", "fix", "docs", "style", "refactor", "perf", "test", "tests", "build", "ci", "chore", "revert",
    "deps", "hotfix", "release",
];
/// These stand before other things too: only a scope makes a label of them.
const OTHER_WORDS: [&str; 5] = ["style", "tests", "deps", "hotfix", "release"];

/// A hash, whole or shortened.
pub fn is_hash(word: &str) -> bool {
    HASH_DIGITS.contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// "7b7b7b7 Use UTC": what stands behind the hash that a line begins with. Without a digit it is a word ("defaced"), without a letter
/// the number of something.
pub fn behind_hash(line: &str) -> Option<&str> {
    let (hash, rest) = line.split_once(' ')?;
    let has = |kind: fn(&u8) -> bool| hash.as_bytes().iter().any(kind);
    (is_hash(hash) && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)).then_some(rest)
}

/// The label of a subject: "fix(parser)!: keep labels".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label<'s> {
    kind: &'s str,
    scope: Option<&'s str>,
    /// What stands behind it.
    pub subject: &'s str,
}

impl<'s> Label<'s> {
    /// Reads it; "WIP:" and "Plan:" are none, since they say that nothing is done.
    pub fn of(line: &'s str) -> Option<Self> {
        let (head, subject) = line.split_once(": ")?;
        let head = head.strip_suffix('!').unwrap_or(head);
        let (kind, scope) = match head.split_once('(') {
            Some((kind, scope)) => (kind, Some(scope.strip_suffix(')')?)),
            None => (head, None),
        };
        let is_known = LABELS.iter().any(|label| label.eq_ignore_ascii_case(kind));
        (is_known && !head.contains(' ')).then_some(Self { kind, scope, subject })
    }

    /// Whether no other text begins so: "style: short sentences" may be a rule for texts.
    pub fn is_certain(&self) -> bool {
        let is_lower = self.kind.bytes().all(|byte| byte.is_ascii_lowercase());
        is_lower && (self.scope.is_some() || !OTHER_WORDS.contains(&self.kind))
    }
}

/// Whether a line shows a commit, be it in a list or a graph of them: "fix(auth): never log tokens", "* 7b7b7b7 Use UTC".
pub fn is_commit(line: &str) -> bool {
    let line = line.trim_start_matches(|c: char| {
        c.is_whitespace() || matches!(c, '*' | '|' | '/' | '\\' | '-' | '•' | '`')
    });
    behind_hash(line).is_some() || Label::of(line).is_some_and(|label| label.is_certain())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_or_a_label_shows_a_commit() {
        for line in [
            "fix(auth): never log tokens",
            "feat!: drop the old API",
            "style(css): two spaces",
            "7b7b7b7 Use UTC everywhere",
            "* | 5510aa9f Merge branch 'main'",
        ] {
            assert!(is_commit(line), "{line}");
        }
        for line in [
            "style: short sentences",
            "Release: never on a Friday",
            "Test: ask first",
            "Defaced the wall",
            "defaced the wall",
            "07700900123 is the plumber",
            "wip: half of it",
            "fix (later): the gate",
            "docs:none",
        ] {
            assert!(!is_commit(line), "{line}");
        }
        assert_eq!(Label::of("Fix: keep labels").map(|label| label.subject), Some("keep labels"));
    }
}
