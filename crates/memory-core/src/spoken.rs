//! Texts that say themselves who speaks, as `Ann: …`, and what makes several of them one talk.
//!
//! An agent that keeps what was said often gives nothing but the text. Such lines that come one after the other are turns of a
//! conversation that has no name.

use jiff::{SignedDuration, Timestamp};

use crate::artifact::{Context, Metadata};
use crate::date::split_stamp;

/// The longest label, in characters, and the most words that it has.
const LABEL_MAX_CHARS: usize = 40;
const LABEL_MAX_WORDS: usize = 4;
/// So many of the texts stored before are looked at for the line before.
pub const LINES_LOOKED_AT: usize = 8;
/// After a longer pause nobody goes on with what was said before.
const PAUSE_MAX: SignedDuration = SignedDuration::from_mins(60);

/// What stands before a colon and names nobody.
const HEADINGS: [&str; 76] = [
    "action",
    "actions",
    "address",
    "agenda",
    "answer",
    "api",
    "aside",
    "assumption",
    "attendees",
    "author",
    "background",
    "bug",
    "cause",
    "caution",
    "config",
    "context",
    "constraint",
    "date",
    "deadline",
    "decided",
    "decision",
    "decisions",
    "done",
    "error",
    "example",
    "fact",
    "facts",
    "feature",
    "fix",
    "follow-up",
    "goal",
    "hint",
    "idea",
    "ideas",
    "important",
    "info",
    "insight",
    "issue",
    "item",
    "learned",
    "lesson",
    "list",
    "meeting",
    "memo",
    "memory",
    "name",
    "next",
    "note",
    "notes",
    "outcome",
    "plan",
    "preference",
    "preferences",
    "problem",
    "project",
    "question",
    "reason",
    "reminder",
    "result",
    "risk",
    "rule",
    "solution",
    "source",
    "status",
    "step",
    "subject",
    "summary",
    "task",
    "tasks",
    "tip",
    "title",
    "todo",
    "topic",
    "update",
    "user preference",
    "warning",
];
/// Who is named by what they are, in lower case too.
const ROLES: [&str; 6] = ["user", "assistant", "human", "ai", "system", "bot"];

/// A line among others that are one talk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinePlace {
    /// The same number for all lines of a talk.
    pub of: i64,
    pub index: i32,
}

/// A line that was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredLine {
    pub place: LinePlace,
    pub speaker: String,
    pub at: Timestamp,
}

/// Who speaks in a text that is one line of a talk, by its label. `None` where a conversation or a document is named, or the text
/// is a talk of several by itself.
pub fn line_speaker<'t>(content: &'t str, meta: &Metadata) -> Option<&'t str> {
    let is_apart = meta.conversation_id.is_some() || meta.source_id.is_some() || meta.title.is_some();
    if is_apart || matches!(meta.context, Context::Document | Context::Email) {
        return None;
    }
    let mut lines = content.lines().filter(|line| !line.trim().is_empty());
    let speaker = speaker_of(lines.next()?)?;
    lines.all(|line| speaker_of(line).is_none()).then_some(speaker)
}

/// The name at the head of `Ann: …`, `**Ann**: …` or `[10:02] Ann: …`.
fn speaker_of(line: &str) -> Option<&str> {
    let line = after_stamp(line.trim());
    let (head, rest) = line.split_once([':', '：'])?;
    let is_wide = line[head.len()..].starts_with('：');
    let rest = rest.strip_prefix("**").unwrap_or(rest);
    if !(is_wide || rest.starts_with(char::is_whitespace)) || rest.trim().is_empty() {
        return None;
    }
    let name = head.trim().trim_matches('*').trim();
    is_name(name).then_some(name)
}

/// What follows a time in brackets, else the line.
fn after_stamp(line: &str) -> &str {
    split_stamp(line).map_or(line, |(_, rest)| rest)
}

/// Whether a label names who speaks, rather than what follows.
pub(crate) fn is_name(name: &str) -> bool {
    let lower = name.to_lowercase();
    if ROLES.contains(&lower.as_str()) {
        return true;
    }
    let is_word = |word: &str| {
        let is_begun = word.chars().next().is_some_and(|c| c.is_alphabetic() && !c.is_lowercase());
        is_begun && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '\'' | '’' | '_'))
    };
    name.chars().count() <= LABEL_MAX_CHARS
        && (1..=LABEL_MAX_WORDS).contains(&name.split(' ').count())
        && name.split(' ').all(is_word)
        && !lower.split(' ').any(|word| HEADINGS.contains(&word))
}

/// The place of a line after those that were stored last, newest first. It goes on with the talk of the line before where there is
/// one: somebody who has spoken speaks again after another. Labels that only lead notes seldom do that.
pub fn place_after(recent: &[StoredLine], speaker: &str, at: Timestamp) -> LinePlace {
    let alone = LinePlace { of: at.as_microsecond(), index: 0 };
    let Some(before) = recent.first().filter(|before| at.duration_since(before.at).abs() <= PAUSE_MAX) else {
        return alone;
    };
    let speakers: Vec<&str> =
        std::iter::once(speaker).chain(recent.iter().map(|line| line.speaker.as_str())).collect();
    let returns = |from: usize| {
        let others = speakers[from..].iter().position(|other| *other != speakers[from]);
        others.is_some_and(|other| speakers[from + other..].contains(&speakers[from]))
    };
    let is_talk = before.place.index > 0 || (0..speakers.len()).any(returns);
    if is_talk { LinePlace { of: before.place.of, index: before.place.index + 1 } } else { alone }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::{Draft, NewArtifact};

    fn speaker(content: &str) -> Option<String> {
        let new = NewArtifact::new(Draft { content: content.into(), ..Draft::default() }).unwrap();
        line_speaker(content, &new.meta).map(str::to_owned)
    }

    #[test]
    fn a_line_names_who_speaks_and_a_note_its_subject() {
        for (line, expected) in [
            ("Melanie: I went camping.", "Melanie"),
            ("[2023-05-08 13:56] Ann Smith: Hello", "Ann Smith"),
            ("(10:02) Ann: Hello", "Ann"),
            ("**Ann**: Hello", "Ann"),
            ("**Ann:** Hello", "Ann"),
            ("user: what now?", "user"),
            ("Ann: It has\nseveral lines: three", "Ann"),
            ("小明：你好", "小明"),
        ] {
            assert_eq!(speaker(line).as_deref(), Some(expected), "{line}");
        }
        for note in [
            "I went camping.",
            "Note: the pump leaks",
            "Project Apollo: it began",
            "User preference: tea",
            "https://example.org is down",
            "Ann:",
            "the plan: we go",
            "Ann: Hello\nBob: Hi",
            "At 10:02 the pump stopped",
        ] {
            assert_eq!(speaker(note), None, "{note}");
        }
    }

    #[test]
    fn what_names_its_conversation_or_document_is_no_line() {
        let line = |draft: Draft| {
            let new = NewArtifact::new(Draft { content: "Ann: Hello".into(), ..draft }).unwrap();
            line_speaker(&new.content, &new.meta).is_some()
        };
        assert!(line(Draft::default()));
        assert!(!line(Draft { conversation_id: Some("c".into()), ..Draft::default() }));
        assert!(!line(Draft { source_id: Some("d".into()), ..Draft::default() }));
        assert!(!line(Draft { context: Some("email".into()), ..Draft::default() }));
    }

    /// The places of lines that are stored a minute after each other: the minute in which their talk began, and the index.
    fn places(speakers: &[&str]) -> Vec<(usize, i32)> {
        let mut recent: Vec<StoredLine> = Vec::new();
        for (n, speaker) in speakers.iter().enumerate() {
            let at = Timestamp::from_second(60 * n as i64).unwrap();
            let place = place_after(&recent, speaker, at);
            recent.insert(0, StoredLine { place, speaker: (*speaker).to_owned(), at });
            recent.truncate(LINES_LOOKED_AT);
        }
        recent.iter().rev().map(|line| ((line.place.of / 60_000_000) as usize, line.place.index)).collect()
    }

    #[test]
    fn a_talk_is_known_when_somebody_speaks_again_after_another() {
        assert_eq!(places(&["Ann", "Bob", "Ann", "Bob", "Cleo"]), [(0, 0), (1, 0), (1, 1), (1, 2), (1, 3)]);
        assert_eq!(places(&["Ann", "Bob", "Cleo", "Dan"]), [(0, 0), (1, 0), (2, 0), (3, 0)]);
        assert_eq!(places(&["Ann", "Ann", "Ann"]), [(0, 0), (1, 0), (2, 0)]);
        assert_eq!(places(&["Ann", "Ann", "Bob", "Ann", "Ann", "Ann"])[4..], [(2, 2), (2, 3)]);
    }

    #[test]
    fn after_a_pause_a_new_talk_begins() {
        let at = |minute: i64| Timestamp::from_second(60 * minute).unwrap();
        let line = |speaker: &str, index, minute| StoredLine {
            place: LinePlace { of: 7, index },
            speaker: speaker.into(),
            at: at(minute),
        };
        let recent = [line("Bob", 5, 10), line("Ann", 4, 9)];
        assert_eq!(place_after(&recent, "Ann", at(69)), LinePlace { of: 7, index: 6 });
        assert_eq!(place_after(&recent, "Ann", at(71)).index, 0);
    }
}
