//! Maps of words that are looked up for every token, and how their keys are hashed.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use memory_language::hash::Fnv1a;

/// Hashes whole words.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WordHasher(Fnv1a);

impl Hasher for WordHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.0 = self.0.bytes(bytes);
    }

    fn write_u8(&mut self, _: u8) {
        // The mark that ends a string adds nothing where each key is one word.
    }

    fn finish(&self) -> u64 {
        self.0.value()
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

pub(super) type WordMap<K, V> = HashMap<K, V, BuildHasherDefault<WordHasher>>;
pub(super) type HashedMap<V> = HashMap<u64, V, BuildHasherDefault<Hashed>>;
pub(super) type HashedSet = HashSet<u64, BuildHasherDefault<Hashed>>;
