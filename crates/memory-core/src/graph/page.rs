//! Pages of a graph: how much is shown at once, and where the next begins.

use std::fmt::Write;

use memory_language::text::cut;

use crate::Invalid;
use crate::closed_set::closed_set;

pub use super::cursor::{Cursor, CursorKey, Part, SealedCursor};

/// How many entities a page has when no limit is asked for, …
pub const PAGE_ENTITIES: usize = 200;
/// … about how many characters: names, types, observations and relations; of one entity no more than this is shown …
pub const PAGE_CHARS: usize = 48_000;
/// … and how many relations at most, and observations of one entity.
const PAGE_ITEMS: usize = 1_000;
/// The largest limit that may be asked for, …
pub const LIMIT_MAX: usize = 1_000;
/// … about how many characters such a page has …
const LIMITED_PAGE_CHARS: usize = 4_000_000;
/// … and how many relations at most, and observations of one entity.
const LIMITED_PAGE_ITEMS: usize = 50_000;
/// How much of the one observation that a summary shows.
pub const SUMMARY_CHARS: usize = 200;

closed_set! {
    /// How much of each entity a page shows.
    Detail { Names = "names", Summary = "summary", Full = "full" }
}

/// Which part of a graph is asked for, and in what detail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest {
    /// As many entities as this; without it what the tool shows by itself, and less of each.
    pub limit: Option<usize>,
    /// The first page begins without.
    pub cursor: Option<SealedCursor>,
    pub detail: Detail,
}

impl Default for PageRequest {
    fn default() -> Self {
        Self { limit: None, cursor: None, detail: Detail::Full }
    }
}

/// What a page may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    pub chars: usize,
    /// Relations, and observations of one entity.
    pub items: usize,
}

impl Bounds {
    pub const NONE: Self = Self { chars: usize::MAX, items: usize::MAX };
}

impl PageRequest {
    pub fn new(limit: Option<i64>, cursor: Option<&str>, detail: Option<&str>) -> Result<Self, Invalid> {
        let limit =
            match limit {
                None => None,
                Some(n) => Some(usize::try_from(n).ok().filter(|n| (1..=LIMIT_MAX).contains(n)).ok_or_else(
                    || Invalid::new(format!("Invalid limit {n}. Use a whole number from 1 to {LIMIT_MAX}.")),
                )?),
            };
        let cursor = cursor.filter(|c| !c.trim().is_empty()).map(SealedCursor::parse).transpose()?;
        let detail = match detail.map(str::trim).filter(|d| !d.is_empty()) {
            None => Detail::Full,
            Some(text) => Detail::parse(text).ok_or_else(|| {
                Invalid::new(format!(
                    "Invalid detail '{}'. Must be one of: {}",
                    cut(text, 40),
                    Detail::names()
                ))
            })?,
        };
        Ok(Self { limit, cursor, detail })
    }

    /// Where the page begins in the graph of this key.
    pub fn start(&self, key: &CursorKey) -> Result<Cursor, Invalid> {
        self.cursor.map_or(Ok(Cursor::default()), |cursor| cursor.open(key))
    }

    /// `chars` is for a page of the usual size.
    pub fn bounds(&self, chars: usize) -> Bounds {
        match self.limit {
            None => Bounds { chars, items: PAGE_ITEMS },
            Some(_) => Bounds { chars: LIMITED_PAGE_CHARS, items: LIMITED_PAGE_ITEMS },
        }
    }
}

/// A number with its thousands apart.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            text.push(',');
        }
        let _ = text.write_char(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_page_is_refused() {
        let page = PageRequest::new(Some(7), None, Some("names")).unwrap();
        assert_eq!(page, PageRequest { limit: Some(7), cursor: None, detail: Detail::Names });
        for (limit, cursor, detail) in [
            (Some(0), None, None),
            (Some(1_001), None, None),
            (Some(-1), None, None),
            (None, Some("from:3"), None),
            (None, Some("after:10433:200"), None),
            (None, None, Some("all")),
        ] {
            assert!(PageRequest::new(limit, cursor, detail).is_err(), "{limit:?} {cursor:?} {detail:?}");
        }
    }

    #[test]
    fn numbers_are_grouped_by_thousands() {
        assert_eq!(
            [0, 12, 123, 1_234, 12_345, 1_234_567].map(grouped),
            ["0", "12", "123", "1,234", "12,345", "1,234,567"]
        );
    }
}
