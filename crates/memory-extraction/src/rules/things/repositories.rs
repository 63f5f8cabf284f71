//! Repositories and packages by the form of their names: "granite-io/pebble", "the tide-gate service", "`mast-core`".

use std::ops::Range;

use super::super::lists;
use super::super::names;
use super::super::verbs;
use super::super::words::{Kind, Text, spaced};

/// The repository or package that begins at a token.
pub(super) fn repository(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    if !text.is_word(at) || !text.raw_word(at).starts_with(|c: char| c.is_ascii_lowercase()) {
        return None;
    }
    marked(text, at).or_else(|| package(text, at)).or_else(|| owned(text, at)).or_else(|| hyphened(text, at))
}

/// "[rust-lang/rust]", "`primer/react`": an owner and what is theirs.
fn marked(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let part = |at: usize| {
        let word = text.raw_word(at);
        text.is_word(at)
            && word.len() > 2
            && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    };
    let open = at.checked_sub(1).map_or("", |open| text.word(open));
    let close = text.word(at + 3);
    let folder = lists::FOLDERS.contains(text.word(at));
    let marked = matches!((open, close), ("`", "`") | ("[", "]"));
    let whole = marked
        && part(at)
        && text.word(at + 1) == "/"
        && part(at + 2)
        && (at..at + 3).all(|at| text.touches_next(at));
    (whole && !folder).then_some(at..at + 3)
}

/// "the `mast-core` crate", "the service `orchard-api`": a name in code marks, by what it is.
fn package(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let word = text.raw_word(at);
    let plain = text.is_word(at)
        && word.len() > 2
        && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_'));
    let marked = at > 0 && text.word(at - 1) == "`" && text.word(at + 1) == "`";
    let kind = |at: usize| lists::PACKAGES.contains(text.word(at));
    (plain && marked && (kind(at + 2) || (at > 1 && kind(at - 2)))).then_some(at..at + 1)
}

/// "granite-io/pebble-cli has 14 open requests", "in acme/mast#42": without marks it is told by a hyphen or by what stands beside it.
fn owned(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let part = |at: usize| text.is_word(at) && is_plain(text.raw_word(at));
    let whole = part(at)
        && text.word(at + 1) == "/"
        && part(at + 2)
        && text.touches_next(at)
        && text.touches_next(at + 1);
    if !whole || [at, at + 2].iter().any(|at| lists::FOLDERS.contains(text.word(*at))) {
        return None;
    }
    // "docs/acme/mast-core", "acme/mast-core.rs": a path.
    let goes_on = text.touches_next(at + 2)
        && !text.is_any(at + 3, &[",", ")", "]", ":", "?", "!", "#", "@", "\"", "'s"])
        && (text.word(at + 3) != "." || text.touches_next(at + 3));
    let led = at > 0 && text.touches_next(at - 1) && !text.is_any(at - 1, &["(", "[", "\"", "@"]);
    let hyphen = |at: usize| text.word(at).contains('-');
    let compound = [at, at + 2].into_iter().any(|at| hyphen(at) && is_compound(text.word(at)));
    let numbered = text.word(at + 3) == "#" && text.kind(at + 4) == Some(Kind::Number);
    let kind = |at: usize| lists::PACKAGES.contains(text.word(at));
    let told = hyphen(at) || hyphen(at + 2) || numbered || kind(at + 3) || (at > 0 && kind(at - 1));
    (!goes_on && !led && !compound && (told || is_where(text, at))).then_some(at..at + 3)
}

/// "pushed it to emberfall/core", "a page in bramble/web", "(soilhub/caller)": where code is put or something stands, in two words that
/// are no alternatives of the language.
fn is_where(text: &Text<'_>, at: usize) -> bool {
    let word = |back: usize| at.checked_sub(back).map_or("", |at| text.word(at));
    let plain = |at: usize| {
        let word = text.word(at);
        word.len() > 2
            && !names::is_common_word(word)
            && verbs::of(word).is_none()
            && !lists::PUBLIC.contains(word)
    };
    let end = at + 3;
    let fills = (word(1) == "(" && text.word(end) == ")")
        || (word(1) == ":" && text.ends_line(end - 1))
        || (at == 0 && text.ends_line(end - 1));
    let put = matches!(word(1), "to" | "into" | "in" | "on" | "from")
        && (2..8).any(|back| lists::CODE_MOVES.contains(word(back)));
    // "the job queue in freight/dispatcher" at the end of a sentence or a line.
    let stands = word(1) == "in"
        && (text.ends_line(end - 1) || matches!(text.word(end), "." | "," | ")" | "|"))
        && text.is_word(at.saturating_sub(2));
    let second = text.word(at + 2);
    let package =
        lists::PACKAGES.contains(second) || lists::PACKAGE_ENDINGS.contains(second) || second == "web";
    text.raw_word(at).len() > 4 && plain(at) && (plain(at + 2) || package) && (fills || put || stands)
}

/// "the tide-gate service", "in repo shelf-scanner", "web-portal 2.4", "orchard-api": words with hyphens, by what they are or end with.
fn hyphened(text: &Text<'_>, at: usize) -> Option<Range<usize>> {
    let word = text.raw_word(at);
    let touched = (at > 0 && text.touches_next(at - 1) && !text.is_any(at - 1, &["(", "[", "\"", "`", "*"]))
        || (text.touches_next(at) && text.is_any(at + 1, &["/", "_", "@", "=", "\\"]))
        // "job-runner.rs" is a file.
        || (text.touches_next(at) && text.word(at + 1) == "." && text.touches_next(at + 1));
    if !word.contains('-') || !is_plain(word) || touched || is_compound(word) {
        return None;
    }
    let kind = |at: usize| lists::PACKAGES.contains(text.word(at));
    let version = text.raw_word(at + 1).trim_start_matches('v');
    let versioned =
        version.starts_with(|c: char| c.is_ascii_digit()) && version.contains('.') && spaced(text, at);
    // "ledger-sync@4.1.7".
    let tagged = text.touches_next(at)
        && text.word(at + 1) == "@"
        && text.raw_word(at + 2).starts_with(|c: char| c.is_ascii_digit());
    if tagged {
        return Some(at..at + 1);
    }
    let ends = word.rsplit('-').next().is_some_and(|last| lists::PACKAGE_ENDINGS.contains(last));
    let told = (kind(at + 1) && spaced(text, at))
        || (at > 0 && kind(at - 1) && spaced(text, at - 1))
        || versioned
        || ends;
    told.then_some(at..at + 1)
}

/// Lower-case letters and digits, with hyphens between them.
fn is_plain(word: &str) -> bool {
    word.len() > 2
        && word.starts_with(|c: char| c.is_ascii_lowercase())
        && !word.ends_with('-')
        && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

/// "follow-up", "long-term", "self-service": a word of the language.
fn is_compound(word: &str) -> bool {
    let mut parts = word.split('-');
    let first = parts.next().unwrap_or_default();
    let last = word.rsplit('-').next().unwrap_or_default();
    lists::COMPOUND_HEADS.contains(first)
        || lists::COMPOUND_ENDS.contains(last)
        || word.split('-').any(|part| part.len() < 2 || part.bytes().all(|b| b.is_ascii_digit()))
        || (last.len() > 4 && (last.ends_with("ed") || last.ends_with("ing")))
        || word.matches('-').count() > 2
}
