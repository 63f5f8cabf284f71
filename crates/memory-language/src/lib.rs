//! What texts are made of, without any noun of the memory: words and lexemes, sentences, dates and times in texts, how
//! alike two names are; and the one hash that never changes.
//!
//! It depends on no other crate of ours and does no I/O.

pub mod about_many;
pub mod asked_for;
pub mod calendar_words;
pub mod commits;
pub mod hash;
pub mod labels;
pub mod lexicon;
pub mod named;
pub mod sentence;
pub mod similarity;
pub mod tense;
pub mod text;
pub mod time;
pub mod time_order;
