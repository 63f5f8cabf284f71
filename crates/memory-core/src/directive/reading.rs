//! The sentences of a content in which directives may be stated.

use std::iter;
use std::ops::Range;

use memory_language::sentence::sentences;

use super::learned::{self, Place};
use super::lines::blocks;
use super::sentence::{Sentence, stays_quoted};
use super::speakers::{self, Voice};
use super::told::told_and_asked;
use super::{heads, pieces};
use crate::artifact::Metadata;

/// So far behind a sentence a quotation that is open there is closed.
const QUOTE_MAX_BYTES: usize = 1_000;

/// A clause that may be a directive, as `train-clauses` learns from it.
#[derive(Debug, Clone)]
pub struct LearnedClause {
    /// In bytes of the content.
    pub bytes: Range<usize>,
    pub features: Vec<String>,
}

/// All clauses of a content that may be directives.
pub fn clauses_to_learn(content: &str, meta: &Metadata) -> Vec<LearnedClause> {
    let mut clauses = Vec::new();
    for (bytes, voice) in speakers::parts(content, meta) {
        let read = sentences_of(content, bytes);
        let words = words_of(&read);
        for (at, (sentence, _)) in read.iter().enumerate() {
            let place = place_of(&read, at, voice, words);
            for clause in pieces::clauses_of(sentence) {
                let features = learned::features_of(sentence, &clause, place);
                let bytes = sentence.bytes(clause.tokens.start, clause.tokens.end);
                clauses.extend(bytes.map(|bytes| LearnedClause { bytes, features }));
            }
        }
    }
    clauses
}

/// A sentence that may state a directive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentenceToJudge {
    /// In bytes of the content.
    pub bytes: Range<usize>,
    /// Whose words it has, as a place among [`DIRECTIVE_CLASSES`](crate::ports::DIRECTIVE_CLASSES).
    pub voice: usize,
}

/// All sentences of a content that may state directives, in the order in which they are read.
pub fn sentences_to_judge(content: &str, meta: &Metadata) -> Vec<SentenceToJudge> {
    let mut sentences = Vec::new();
    for (bytes, voice) in speakers::parts(content, meta) {
        let read = sentences_of(content, bytes);
        let words = words_of(&read);
        for (at, (sentence, _)) in read.iter().enumerate() {
            let voice = place_of(&read, at, voice, words).voice as usize;
            let bytes = sentence.bytes(0, sentence.len());
            sentences.extend(bytes.map(|bytes| SentenceToJudge { bytes, voice }));
        }
    }
    sentences
}

pub(super) fn place_of(read: &[(Sentence<'_>, bool)], at: usize, voice: Voice, words: usize) -> Place {
    let is_kept = read[at].0.introduced.is_some() && voice == Voice::Note;
    let voice = if is_kept { Voice::Preference } else { voice };
    Place { voice, is_first: at == 0, is_last: at + 1 == read.len(), words }
}

/// The sentences of a part of a content, each with whether it is marked as a heading.
pub(super) fn sentences_of(content: &str, bytes: Range<usize>) -> Vec<(Sentence<'_>, bool)> {
    let base = content.as_ptr() as usize;
    let mut read = Vec::new();
    // What follows in a paragraph is text to be worked on, or another's.
    let (mut is_anothers, mut goes_on, mut was_item) = (false, false, false);
    for block in blocks(&content[bytes]) {
        let end = block.as_ptr() as usize - base + block.len();
        let mut is_quoted = false;
        let parts = sentences(block).flat_map(|sentence| {
            let (told, asked) = told_and_asked(sentence);
            iter::once(told).chain(asked)
        });
        for text in parts {
            let start = text.as_ptr() as usize - base;
            let bytes = start..start + text.len();
            // A mark that nothing closes soon is an inch, or a slip.
            let near = content.floor_char_boundary(end.min(bytes.end + QUOTE_MAX_BYTES));
            let rest = &content[bytes.end..near];
            let stays = stays_quoted(text, is_quoted, rest);
            let mut sentence = Sentence::within(content, bytes, is_quoted, stays);
            is_quoted = stays;
            // A list that is another's ends with its last item.
            let is_over = was_item && !sentence.is_item;
            sentence.is_anothers = is_anothers && !is_over && !heads::is_of_now_on(&sentence);
            is_anothers = sentence.is_anothers || heads::announces_words(&sentence);
            was_item = sentence.is_item;
            goes_on = is_anothers && (was_item || heads::ends_open(&sentence));
            read.push((sentence, text.starts_with('#')));
        }
        is_anothers &= goes_on;
    }
    read
}

pub(super) fn words_of(read: &[(Sentence<'_>, bool)]) -> usize {
    read.iter().map(|(sentence, _)| sentence.tokens.iter().filter(|token| token.is_word).count()).sum()
}
