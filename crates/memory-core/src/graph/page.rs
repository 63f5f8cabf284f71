//! Pages of a graph: how much is shown at once, and where the next begins.

use std::fmt::Write;

use crate::Invalid;
use crate::event::closed_set;
use crate::text::cut;

/// How many entities a page has when no limit is asked for …
pub const PAGE_ENTITIES: usize = 200;
/// … and about how many characters: names, types, observations and relations.
pub const PAGE_CHARS: usize = 48_000;
/// The largest limit that may be asked for …
pub const LIMIT_MAX: usize = 1_000;
/// … and about how many characters such a page has.
pub const LIMITED_PAGE_CHARS: usize = 4_000_000;

closed_set! {
    /// How much of each entity a page shows.
    Detail { Names = "names", Summary = "summary", Full = "full" }
}

/// Where a page begins: after this entity, with this many shown before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cursor {
    pub after: i64,
    pub shown: u64,
}

impl Cursor {
    fn parse(text: &str) -> Option<Self> {
        let (after, shown) = text.trim().strip_prefix("after:")?.split_once(':')?;
        let cursor = Self { after: after.parse().ok()?, shown: shown.parse().ok()? };
        (cursor.after >= 0).then_some(cursor)
    }
}

impl std::fmt::Display for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "after:{}:{}", self.after, self.shown)
    }
}

/// Which part of a graph is asked for, and in what detail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest {
    /// As many entities as this, else [`PAGE_ENTITIES`].
    pub limit: Option<usize>,
    pub cursor: Cursor,
    pub detail: Detail,
}

impl Default for PageRequest {
    fn default() -> Self {
        Self { limit: None, cursor: Cursor::default(), detail: Detail::Full }
    }
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
        let cursor = match cursor.filter(|c| !c.trim().is_empty()) {
            None => Cursor::default(),
            Some(text) => Cursor::parse(text).ok_or_else(|| {
                Invalid::new(format!(
                    "Invalid cursor '{}'. Pass the next_cursor of the page before, or leave it out for the first page.",
                    cut(text, 60)
                ))
            })?,
        };
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

    pub fn entities_max(&self) -> usize {
        self.limit.unwrap_or(PAGE_ENTITIES)
    }

    pub fn chars_max(&self) -> usize {
        if self.limit.is_some() { LIMITED_PAGE_CHARS } else { PAGE_CHARS }
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
    fn cursors_read_back_and_what_is_no_page_is_refused() {
        let cursor = Cursor { after: 12, shown: 200 };
        let page = PageRequest::new(Some(7), Some(&cursor.to_string()), Some("names")).unwrap();
        assert_eq!(page, PageRequest { limit: Some(7), cursor, detail: Detail::Names });
        for (limit, cursor, detail) in [
            (Some(0), None, None),
            (Some(1_001), None, None),
            (Some(-1), None, None),
            (None, Some("from:3"), None),
            (None, Some("after:-3:1"), None),
            (None, Some("after:99999999999999999999:1"), None),
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
