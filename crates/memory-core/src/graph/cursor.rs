//! Where a page begins, as a client is given it: numbers of rows count for all namespaces, so it is sealed with a key of
//! the graph.

use std::fmt;

use memory_language::text::cut;
use sha2::{Digest, Sha256};

use crate::Invalid;

const PREFIX: &str = "page_";
const SEAL_BYTES: usize = 6;
const PLACE_BYTES: usize = 12;
const PART_BYTES: usize = 16;
const SEALED_MAX_BYTES: usize = SEAL_BYTES + PLACE_BYTES + PART_BYTES;

/// A random key of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CursorKey(pub [u8; 16]);

/// Where a page begins: after this entity, with this many shown before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cursor {
    pub after: i64,
    pub shown: u64,
    /// Before that the rest of the relations of the page before.
    pub part: Option<Part>,
}

/// The relations, after this one, of the entities after the cursor's and up to this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    pub through: i64,
    pub relation: i64,
}

/// A cursor that only the graph which gave it can read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SealedCursor {
    bytes: [u8; SEALED_MAX_BYTES],
    length: usize,
}

impl Cursor {
    pub fn seal(&self, key: &CursorKey) -> SealedCursor {
        let mut bytes = [0; SEALED_MAX_BYTES];
        let mut length = SEAL_BYTES + PLACE_BYTES;
        let shown = u32::try_from(self.shown).unwrap_or(u32::MAX);
        bytes[SEAL_BYTES..SEAL_BYTES + 8].copy_from_slice(&self.after.to_le_bytes());
        bytes[SEAL_BYTES + 8..length].copy_from_slice(&shown.to_le_bytes());
        if let Some(part) = self.part {
            bytes[length..length + 8].copy_from_slice(&part.through.to_le_bytes());
            bytes[length + 8..].copy_from_slice(&part.relation.to_le_bytes());
            length = SEALED_MAX_BYTES;
        }
        let seal = seal(key, &bytes[SEAL_BYTES..length]);
        bytes[..SEAL_BYTES].copy_from_slice(&seal);
        veil(key, seal, &mut bytes[SEAL_BYTES..length]);
        SealedCursor { bytes, length }
    }
}

impl SealedCursor {
    pub(super) fn parse(text: &str) -> Result<Self, Invalid> {
        let read = || {
            let digits = text.trim().strip_prefix(PREFIX)?;
            let length = digits.len() / 2;
            let is_whole = [SEALED_MAX_BYTES - PART_BYTES, SEALED_MAX_BYTES].contains(&length);
            if !is_whole || digits.len() % 2 != 0 || !digits.is_ascii() {
                return None;
            }
            let mut bytes = [0; SEALED_MAX_BYTES];
            for (n, byte) in bytes[..length].iter_mut().enumerate() {
                *byte = u8::from_str_radix(&digits[2 * n..2 * n + 2], 16).ok()?;
            }
            Some(Self { bytes, length })
        };
        read().ok_or_else(|| refused(text))
    }

    /// Refuses what this graph has not given.
    pub(super) fn open(self, key: &CursorKey) -> Result<Cursor, Invalid> {
        let mut bytes = self.bytes;
        let seal_given = [bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5]];
        let place = &mut bytes[SEAL_BYTES..self.length];
        veil(key, seal_given, place);
        if seal(key, place) != seal_given {
            return Err(refused(&self.to_string()));
        }
        let number = |at: usize| {
            let mut number = [0; 8];
            number.copy_from_slice(&place[at..at + 8]);
            i64::from_le_bytes(number)
        };
        let shown = u32::from_le_bytes([place[8], place[9], place[10], place[11]]);
        let part = (place.len() > PLACE_BYTES)
            .then(|| Part { through: number(PLACE_BYTES), relation: number(PLACE_BYTES + 8) });
        Ok(Cursor { after: number(0), shown: u64::from(shown), part })
    }
}

fn refused(text: &str) -> Invalid {
    Invalid::new(format!(
        "Invalid cursor '{}'. Pass the next_cursor of the page before, of the same graph, or leave it out for the first \
         page.",
        cut(text, 80)
    ))
}

/// Depends on all of the place and the key.
fn seal(key: &CursorKey, place: &[u8]) -> [u8; SEAL_BYTES] {
    let digest: [u8; 32] =
        Sha256::new_with_prefix(b"seal").chain_update(key.0).chain_update(place).finalize().into();
    let mut seal = [0; SEAL_BYTES];
    seal.copy_from_slice(&digest[..SEAL_BYTES]);
    seal
}

/// Hides the place behind what follows from key and seal; the same again shows it.
fn veil(key: &CursorKey, seal: [u8; SEAL_BYTES], place: &mut [u8]) {
    let stream: [u8; 32] =
        Sha256::new_with_prefix(b"veil").chain_update(key.0).chain_update(seal).finalize().into();
    for (byte, mask) in place.iter_mut().zip(stream) {
        *byte ^= mask;
    }
}

impl fmt::Display for SealedCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        self.bytes[..self.length].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for SealedCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_by_its_graph_alone_and_tells_no_number() {
        let (key, other) = (CursorKey([7; 16]), CursorKey([8; 16]));
        let part = Some(Part { through: 10_500, relation: 77_000 });
        for cursor in [
            Cursor { after: 10_433, shown: 200, part: None },
            Cursor { after: 10_433, shown: 200, part },
            Cursor { after: i64::MAX, shown: 0, part: None },
        ] {
            let sealed = cursor.seal(&key);
            let text = sealed.to_string();
            assert_eq!(SealedCursor::parse(&text), Ok(sealed));
            assert_eq!(sealed.open(&key), Ok(cursor));
            assert!(sealed.open(&other).is_err());
            assert!(!text.contains("10433") && !text.contains(&format!("{:x}", 10_433)), "{text}");
        }
        // The next entity's has nothing in common with it.
        let texts =
            [10_433, 10_434].map(|after| Cursor { after, shown: 200, part: None }.seal(&key).to_string());
        let same = texts[0].bytes().zip(texts[1].bytes()).filter(|(a, b)| a == b).count();
        assert!(same < PREFIX.len() + 15, "{texts:?}");
    }

    #[test]
    fn what_was_changed_or_made_up_is_refused() {
        let key = CursorKey([7; 16]);
        let text = Cursor { after: 5, shown: 5, part: None }.seal(&key).to_string();
        for bad in ["after:10433:200", "page_", "page_zz", "", &text[..text.len() - 2], &format!("{text}00")]
        {
            let error = SealedCursor::parse(bad).unwrap_err().0;
            assert!(error.contains("next_cursor of the page before"), "{error}");
        }
        let last = if text.ends_with('0') { '1' } else { '0' };
        let changed = format!("{}{last}", &text[..text.len() - 1]);
        assert!(SealedCursor::parse(&changed).unwrap().open(&key).is_err());
    }
}
