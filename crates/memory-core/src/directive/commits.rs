//! Subjects of commits: they tell what was done, and ask for nothing.

use std::ops::RangeInclusive;

/// The shortest and the longest hash before the subject of a commit.
const HASH: RangeInclusive<usize> = 7..=40;

/// "fix(auth): never log tokens", "7b7b7b7 Use UTC everywhere": a commit tells what it has done.
pub(super) fn is_commit(line: &str) -> bool {
    let line = line.trim_start_matches(|c: char| {
        c.is_whitespace() || matches!(c, '*' | '|' | '/' | '\\' | '-' | '•' | '`')
    });
    let is_hash = |word: &str| {
        HASH.contains(&word.len())
            && word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
            && word.bytes().any(|byte| byte.is_ascii_digit())
    };
    if line.split_once(' ').is_some_and(|(word, _)| is_hash(word)) {
        return true;
    }
    let Some((head, rest)) = line.split_once(':') else { return false };
    let head = head.trim_end_matches('!');
    let (label, scope) = head.split_once('(').map_or((head, None), |(label, scope)| (label, Some(scope)));
    let is_scoped = scope.is_some_and(|scope| scope.ends_with(')') && !scope.contains(' '));
    let is_plain = matches!(
        label,
        "feat" | "fix" | "docs" | "chore" | "refactor" | "perf" | "test" | "ci" | "build" | "revert"
    );
    rest.starts_with(' ') && ((is_plain && (scope.is_none() || is_scoped)) || (label == "style" && is_scoped))
}
