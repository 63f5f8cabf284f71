//! Cursors: where a listing goes on, and what it is a listing of.

use std::fmt::Write as _;
use std::sync::Arc;

use memory_core::Invalid;
use memory_core::id::{Namespace, RevisionId};
use memory_language::text::cut;
use sha2::{Digest as _, Sha256};

use super::ranking::Ranking;
use super::{RecallRequest, Target};

/// A short digest, enough to know again what was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest(u64);

/// How many bits of it are kept.
const DIGEST_BITS: u32 = 48;

impl Digest {
    fn finish(hash: Sha256) -> Self {
        let bytes = hash.finalize();
        let whole = bytes.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        Self(whole >> (u64::BITS - DIGEST_BITS))
    }

    /// What is asked: the same for all pages of a listing, and only for these.
    pub(super) fn of_question(ns: &Namespace, request: &RecallRequest) -> Self {
        let (kind, target) = match &request.target {
            Target::Query(text) => ("query", text.clone()),
            Target::Id(id) => ("id", id.as_str().to_owned()),
            Target::Conversation(id) => ("conversation", id.clone()),
            Target::Events(list) => ("events", format!("{list:?}")),
        };
        let filters = format!("{:?} {}", request.filters, request.newest_first);
        let mut hash = Sha256::new();
        for part in [ns.as_str(), kind, &target, &filters] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        Self::finish(hash)
    }

    /// Which texts stand in a ranking, in their order.
    pub(super) fn of_order(revisions: impl Iterator<Item = RevisionId>) -> Self {
        let mut hash = Sha256::new();
        for revision in revisions {
            hash.update(revision.0.to_be_bytes());
        }
        Self::finish(hash)
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let is_digest =
            text.len() == DIGEST_BITS as usize / 4 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        u64::from_str_radix(text, 16).ok().filter(|_| is_digest).map(Self)
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:0width$x}", self.0, width = DIGEST_BITS as usize / 4)
    }
}

/// Where a page begins, as the page before it said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    pub(super) from: usize,
    /// Digest of the question that it belongs to.
    pub(super) question: Digest,
    /// Of a search: which ranking it is a part of, and what was shown of it.
    pub(super) shown: Option<Shown>,
}

/// What the pages before have shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) ranking: Digest,
    /// The order of all that stands before the page.
    pub(super) before: Digest,
}

impl Cursor {
    /// As it stands in an answer: `from:10:` and digests.
    pub(super) fn parse(text: &str, from_max: usize) -> Result<Self, Invalid> {
        let parse = || {
            let mut parts = text.trim().strip_prefix("from:")?.split(':');
            let from = parts.next()?.parse().ok().filter(|from| *from <= from_max)?;
            let question = Digest::parse(parts.next()?)?;
            let shown = match (parts.next(), parts.next()) {
                (None, None) => None,
                (Some(ranking), Some(before)) => {
                    Some(Shown { ranking: Digest::parse(ranking)?, before: Digest::parse(before)? })
                }
                _ => return None,
            };
            parts.next().is_none().then_some(Self { from, question, shown })
        };
        parse().ok_or_else(|| {
            Invalid::new(format!(
                "Invalid cursor '{}'. Use the next_cursor of the page before, or leave it out.",
                cut(text, 80)
            ))
        })
    }
}

/// What the pages of an answer are cut from.
pub(super) struct Listing {
    pub(super) question: Digest,
    /// Of a search.
    pub(super) ranking: Option<Arc<Ranking>>,
}

impl Listing {
    /// Of what is asked; refuses a cursor that belongs to something else.
    pub(super) fn new(ns: &Namespace, request: &RecallRequest) -> Result<Self, Invalid> {
        let question = Digest::of_question(ns, request);
        let belongs_to = request.cursor.map(|cursor| cursor.question).or(request.after_question);
        match belongs_to {
            Some(other) if other != question => Err(Invalid::new(
                "Invalid cursor: it belongs to another question or other filters. Use it with those that it was given for, \
                 or leave it out.",
            )),
            _ => Ok(Self { question, ranking: None }),
        }
    }

    /// The cursor of the page that begins here.
    pub(super) fn cursor(&self, from: usize) -> String {
        let mut cursor = format!("from:{from}:{}", self.question);
        if let Some(ranking) = &self.ranking {
            let _ = write!(cursor, ":{}:{}", ranking.id(), ranking.order_before(from));
        }
        cursor
    }
}

/// The refusal of a cursor whose ranking is gone and would be another now.
pub(super) fn grown_old() -> Invalid {
    Invalid::new(
        "The cursor has grown old: what was remembered or forgotten since has changed the order of the results. Ask the \
         question again without cursor.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written_and_nothing_else_is_one() {
        let digest = Digest::of_order([RevisionId(1), RevisionId(2)].into_iter());
        for text in [format!("from:10:{digest}"), format!("from:10:{digest}:{digest}:{digest}")] {
            let cursor = Cursor::parse(&text, 10).unwrap();
            assert!(cursor.from == 10 && cursor.question == digest);
            assert_eq!(cursor.shown.is_some(), text.len() > 30);
            assert!(Cursor::parse(&text, 9).is_err());
        }
        for bad in [
            "7".to_owned(),
            "from:7".to_owned(),
            format!("from:-1:{digest}"),
            format!("from:1:{digest}:{digest}"),
            format!("from:1:{digest}:{digest}:{digest}:"),
            "from:1:+00000000000".to_owned(),
        ] {
            assert!(Cursor::parse(&bad, 10).is_err(), "{bad}");
        }
    }
}
