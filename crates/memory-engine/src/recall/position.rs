//! Where a page begins: within a text, among turns, or in a list of events.

use memory_core::Invalid;
use memory_core::artifact::CONTENT_MAX_CHARS;
use memory_language::text::cut;
use memory_store::listing::ListKey;

use super::{Digest, Target};

/// As a cursor has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Position {
    /// From these characters of a text, and this event of it, on.
    Part { chars: usize, events: usize },
    /// Behind this turn.
    Turn(i32),
    /// Behind this event of a list.
    Event(ListKey),
}

impl Position {
    /// As it stands in an answer, with the digest of what was asked.
    pub fn cursor(&self, question: Digest) -> String {
        match self {
            Self::Part { chars, events } => format!("part:{chars}:{events}@{question}"),
            Self::Turn(turn) => format!("turn:{turn}@{question}"),
            Self::Event(ListKey { rank, due, newness, event_id }) => {
                format!("event:{rank}:{due}:{newness}:{event_id}@{question}")
            }
        }
    }

    /// Reads a cursor of a page of this target, and of what question it is.
    pub(super) fn of(target: &Target, text: &str) -> Result<(Self, Digest), Invalid> {
        Self::parse(text)
            .filter(|(position, _)| {
                matches!(
                    (target, position),
                    (Target::Id(_), Self::Part { .. })
                        | (Target::Conversation(_), Self::Turn(_))
                        | (Target::Events(_), Self::Event(_))
                )
            })
            .ok_or_else(|| {
                Invalid::new(format!(
                    "Invalid cursor '{}'. Use the next_cursor of the page before, or leave it out.",
                    cut(text, 60)
                ))
            })
    }

    fn parse(text: &str) -> Option<(Self, Digest)> {
        let (place, question) = text.trim().rsplit_once('@')?;
        let question = Digest::parse(question)?;
        let parts: Vec<&str> = place.splitn(5, ':').collect();
        let position = match parts.as_slice() {
            ["part", chars, events] => {
                let chars = chars.parse().ok().filter(|chars| *chars <= CONTENT_MAX_CHARS)?;
                let events = events.parse().ok().filter(|events| *events <= CONTENT_MAX_CHARS)?;
                Some(Self::Part { chars, events })
            }
            ["turn", turn] => turn.parse().ok().map(Self::Turn),
            ["event", rank, due, newness, id] => Some(Self::Event(ListKey {
                rank: rank.parse().ok()?,
                due: due.parse().ok()?,
                newness: newness.parse().ok()?,
                event_id: (*id).to_owned(),
            })),
            _ => None,
        };
        Some((position?, question))
    }
}

#[cfg(test)]
mod tests {
    use memory_core::id::RevisionId;

    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        let question = Digest::of_order([RevisionId(1)].into_iter());
        let key = ListKey { rank: 1, due: i64::MAX, newness: -5, event_id: "evt_1:2".into() };
        for position in [Position::Part { chars: 20_000, events: 3 }, Position::Turn(7), Position::Event(key)]
        {
            assert_eq!(Position::parse(&position.cursor(question)), Some((position, question)));
        }
        for bad in ["", "from:3", "part:1", "part:-1:2", "part:4000000000:0", "turn:x", "event:1:2:3"] {
            assert_eq!(Position::parse(&format!("{bad}@{question}")), None, "{bad}");
        }
        assert_eq!(Position::parse("turn:7"), None);
    }
}
