//! The form in which build.rs writes the vocabulary and the classes of characters into the program, and in which they are read.
//! They are pages of the program's file, so nothing is built at the start and nothing is in the heap.

/// A token is found by open addressing in so many slots (a power of two), about a third of which are taken.
pub(crate) const SLOT_BITS: u32 = 18;
/// The most bytes of a token.
pub(crate) const TOKEN_MAX_BYTES: usize = 128;
/// What is before the bytes of a token: its rank and its length less one, as 17 and 7 bits.
pub(crate) const HEAD_BYTES: usize = 3;
/// A slot holds where the token is, and so many bits of its hash; one of nothing is 0, so no token is at 0.
pub(crate) const CHECK_BITS: u32 = 12;
/// The classes of characters are runs: the first character of one and, in so many bits, its class.
pub(crate) const CLASS_BITS: u32 = 2;

/// What the pattern of cl100k_base tells apart among characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Other = 0,
    Letter = 1,
    Number = 2,
    Space = 3,
}

/// The slot to begin at, and the bits that are kept there.
pub(crate) fn slot_and_check(token: &[u8]) -> (usize, u32) {
    const FACTOR: u64 = 0x517c_c1b7_2722_0a95;
    let mut hash = token.len() as u64;
    let (words, rest) = token.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    for word in words.iter().chain([&last]) {
        hash = (hash.rotate_left(23) ^ u64::from_le_bytes(*word)).wrapping_mul(FACTOR);
    }
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(FACTOR);
    let slot = hash >> (u64::BITS - SLOT_BITS);
    let check = hash >> (u64::BITS - SLOT_BITS - CHECK_BITS) & ((1 << CHECK_BITS) - 1);
    (slot as usize, check as u32)
}
