//! Texts that say themselves who speaks, as `Ann: …`, and what makes several of them one talk.
//!
//! An agent that keeps what was said often gives nothing but the text, or its author too. Such lines that come one after the other
//! are turns of a conversation that has no name.

use jiff::{SignedDuration, Timestamp};
use memory_language::labels::is_heading;

use crate::artifact::{Context, Metadata};
use crate::date::split_stamp;

/// The longest label, in characters, and the most words that it has.
const LABEL_MAX_CHARS: usize = 40;
const LABEL_MAX_WORDS: usize = 4;
/// So many of the texts stored before are looked at for the line before.
pub const LINES_LOOKED_AT: usize = 8;
/// After a longer pause nobody goes on with what was said before, be it between the dates of two lines or until it is stored.
const PAUSE_MAX: SignedDuration = SignedDuration::from_mins(60);

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
    pub time: LineTime,
    /// It is kept as a line of a chat.
    pub is_of_chat: bool,
}

/// When a line was stored, and the date that it was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineTime {
    pub stored: Timestamp,
    pub date: Option<Timestamp>,
}

impl LineTime {
    fn follows(self, before: Self) -> bool {
        let is_near = |a: Timestamp, b: Timestamp| a.duration_since(b).abs() <= PAUSE_MAX;
        let are_dates_near = self.date.zip(before.date).is_none_or(|(date, before)| is_near(date, before));
        is_near(self.stored, before.stored) && are_dates_near
    }
}

/// A text that is one line of a talk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'t> {
    pub speaker: &'t str,
    /// It is kept as a line of a chat, and not only labelled.
    pub is_of_chat: bool,
}

impl<'t> Line<'t> {
    /// Who speaks by the label of the text, or in a chat by its author or role. `None` where a conversation or a document is named,
    /// or the text is a talk of several by itself.
    pub fn of(content: &'t str, meta: &'t Metadata) -> Option<Self> {
        let is_apart = meta.conversation_id.is_some() || meta.source_id.is_some() || meta.title.is_some();
        if is_apart || matches!(meta.context, Context::Document | Context::Email) {
            return None;
        }
        let mut lines = content.lines().filter(|line| !line.trim().is_empty());
        let label = speaker_of(lines.next()?);
        if lines.any(|line| speaker_of(line).is_some()) {
            return None;
        }
        let author = meta.speaker().filter(|_| meta.context == Context::Chat);
        Some(Self { speaker: label.or(author)?, is_of_chat: author.is_some() })
    }
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
        && !lower.split(' ').any(is_heading)
}

/// The place of a line after those that were stored last, newest first. It goes on with the talk of the line before where there is
/// one: another speaks in the same chat, or somebody who has spoken speaks again after another. Labels that only lead notes seldom
/// do that.
pub fn place_after(recent: &[StoredLine], line: Line<'_>, time: LineTime) -> LinePlace {
    let alone = LinePlace { of: time.stored.as_microsecond(), index: 0 };
    let Some(before) = recent.first().filter(|before| time.follows(before.time)) else { return alone };
    let speakers: Vec<&str> =
        std::iter::once(line.speaker).chain(recent.iter().map(|line| line.speaker.as_str())).collect();
    let returns = |from: usize| {
        let others = speakers[from..].iter().position(|other| *other != speakers[from]);
        others.is_some_and(|other| speakers[from + other..].contains(&speakers[from]))
    };
    let is_chat = line.is_of_chat && before.is_of_chat && line.speaker != before.speaker;
    let is_talk = before.place.index > 0 || is_chat || (0..speakers.len()).any(returns);
    if is_talk { LinePlace { of: before.place.of, index: before.place.index + 1 } } else { alone }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::{Draft, NewArtifact};

    fn speaker(content: &str) -> Option<String> {
        let new = NewArtifact::new(Draft { content: content.into(), ..Draft::default() }).unwrap();
        Line::of(content, &new.meta).map(|line| line.speaker.to_owned())
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
            Line::of(&new.content, &new.meta).is_some()
        };
        assert!(line(Draft::default()));
        assert!(!line(Draft { conversation_id: Some("c".into()), ..Draft::default() }));
        assert!(!line(Draft { source_id: Some("d".into()), ..Draft::default() }));
        assert!(!line(Draft { context: Some("email".into()), ..Draft::default() }));
    }

    fn stored(speaker: &str, place: LinePlace, minute: i64, is_of_chat: bool) -> StoredLine {
        StoredLine { place, speaker: speaker.into(), time: time(minute, None), is_of_chat }
    }

    fn time(minute: i64, date: Option<i64>) -> LineTime {
        let at = |minute: i64| Timestamp::from_second(60 * minute).unwrap();
        LineTime { stored: at(minute), date: date.map(at) }
    }

    /// The places of lines that are stored a minute after each other: the minute in which their talk began, and the index.
    fn places(speakers: &[&str], is_of_chat: bool) -> Vec<(usize, i32)> {
        let mut recent: Vec<StoredLine> = Vec::new();
        for (n, speaker) in speakers.iter().enumerate() {
            let place = place_after(&recent, Line { speaker, is_of_chat }, time(n as i64, None));
            recent.insert(0, stored(speaker, place, n as i64, is_of_chat));
            recent.truncate(LINES_LOOKED_AT);
        }
        recent.iter().rev().map(|line| ((line.place.of / 60_000_000) as usize, line.place.index)).collect()
    }

    #[test]
    fn a_talk_is_known_when_somebody_speaks_again_after_another() {
        let places = |speakers| places(speakers, false);
        assert_eq!(places(&["Ann", "Bob", "Ann", "Bob", "Cleo"]), [(0, 0), (1, 0), (1, 1), (1, 2), (1, 3)]);
        assert_eq!(places(&["Ann", "Bob", "Cleo", "Dan"]), [(0, 0), (1, 0), (2, 0), (3, 0)]);
        assert_eq!(places(&["Ann", "Ann", "Ann"]), [(0, 0), (1, 0), (2, 0)]);
        assert_eq!(places(&["Ann", "Ann", "Bob", "Ann", "Ann", "Ann"])[4..], [(2, 2), (2, 3)]);
    }

    #[test]
    fn in_a_chat_another_goes_on_with_what_was_said() {
        let places = |speakers| places(speakers, true);
        assert_eq!(places(&["Sue", "Tom", "Tom", "Mia"]), [(0, 0), (0, 1), (0, 2), (0, 3)]);
        assert_eq!(places(&["agent", "agent", "agent"]), [(0, 0), (1, 0), (2, 0)]);
    }

    #[test]
    fn a_line_of_a_chat_is_its_authors() {
        let line = |content: &str, author: Option<&str>, role: Option<&str>| {
            let new = NewArtifact::new(Draft {
                content: content.into(),
                context: Some("chat".into()),
                author: author.map(Into::into),
                role: role.map(Into::into),
                ..Draft::default()
            })
            .unwrap();
            Line::of(&new.content, &new.meta).map(|line| line.speaker.to_owned())
        };
        assert_eq!(line("112 with the blood test.", Some("Tom"), None).as_deref(), Some("Tom"));
        assert_eq!(line("Take the second one.", None, Some("assistant")).as_deref(), Some("assistant"));
        assert_eq!(line("Sue: and the price?", Some("archive bot"), None).as_deref(), Some("Sue"));
        assert_eq!(line("Sue: and the price?\nTom: 112.", Some("archive bot"), None), None);
        assert_eq!(line("112 with the blood test.", None, None), None);
    }

    #[test]
    fn after_a_pause_a_new_talk_begins() {
        let line = |speaker: &str, index, minute| stored(speaker, LinePlace { of: 7, index }, minute, false);
        let recent = [line("Bob", 5, 10), line("Ann", 4, 9)];
        let ann = Line { speaker: "Ann", is_of_chat: false };
        assert_eq!(place_after(&recent, ann, time(69, None)), LinePlace { of: 7, index: 6 });
        assert_eq!(place_after(&recent, ann, time(71, None)).index, 0);
        let of_may = StoredLine { time: time(10, Some(0)), ..line("Bob", 5, 10) };
        assert_eq!(place_after(std::slice::from_ref(&of_may), ann, time(11, Some(30))).index, 6);
        assert_eq!(place_after(&[of_may], ann, time(11, Some(24 * 60))).index, 0, "another day");
    }
}
