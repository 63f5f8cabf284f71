//! Sets and maps of words that are looked up for every token.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::OnceLock;

/// FNV-1a: words are short, and the tables are the program's own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fnv(u64);

impl Fnv {
    /// Goes on with the bytes of a further part.
    #[inline]
    pub(super) fn take(&mut self, part: &[u8]) {
        for byte in part {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.take(bytes);
    }

    fn write_u8(&mut self, _: u8) {
        // What ends a string tells nothing: the keys are whole words.
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Numbers that are hashes already.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Hashed(u64);

impl Hasher for Hashed {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

pub(super) type WordMap<K, V> = HashMap<K, V, BuildHasherDefault<Fnv>>;
pub(super) type HashedMap<V> = HashMap<u64, V, BuildHasherDefault<Hashed>>;

type Words = HashSet<&'static str, BuildHasherDefault<Fnv>>;

/// A list of words, written in one string with blanks between them.
pub(super) struct WordSet {
    listed: &'static str,
    words: OnceLock<Words>,
}

impl WordSet {
    pub(super) const fn new(listed: &'static str) -> Self {
        Self { listed, words: OnceLock::new() }
    }

    pub(super) fn contains(&self, word: &str) -> bool {
        self.words.get_or_init(|| self.listed.split_whitespace().collect()).contains(word)
    }
}
