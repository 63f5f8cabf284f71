//! What texts are made of, without any noun of the memory: words and lexemes, sentences, dates and times in texts, and
//! how alike two names are.
//!
//! It depends on no other crate of ours and does no I/O.

pub mod lexicon;
pub mod sentence;
pub mod similarity;
pub mod text;
pub mod time;
