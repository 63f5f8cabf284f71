//! The clauses that may tell an event, in the order of the text.

use std::cell::OnceCell;
use std::ops::Range;

use super::super::apart::are_apart;
use super::super::clause::Clause;
use super::super::layout::{Block, Form};
use super::super::parsed_segment::ParsedSegment;
use super::super::sentences::{clauses, sentences};
use super::super::{event_context, verbs};

/// A stretch of text that may tell an event, and where it stands.
#[derive(Debug, Clone)]
pub(in super::super) struct Candidate {
    pub(in super::super) block: usize,
    pub(in super::super) tokens: Range<usize>,
    pub(in super::super) sentence: Range<usize>,
    /// The number of the clause in its sentence, and of the sentence in its block.
    pub(in super::super) part: usize,
    pub(in super::super) number: usize,
    /// The clauses of its sentence are statements of their own.
    pub(in super::super) is_apart: bool,
}

/// Of a row of a table no more is read: it has no sentences that could be too long.
const ROW_MAX_TOKENS: usize = 240;

/// All candidates of a segment.
pub(in super::super) fn candidates(parsed: &ParsedSegment<'_>) -> Vec<Candidate> {
    let text = &parsed.text;
    let mut found = Vec::new();
    for (number_of_block, block) in parsed.layout.blocks.iter().enumerate() {
        let mut take = |tokens: Range<usize>, sentence: &Range<usize>, part, number, is_apart| {
            let tokens = event_context::trimmed(parsed, &tokens);
            if tokens.clone().any(|at| text.is_word(at)) {
                let sentence = sentence.clone();
                found.push(Candidate { block: number_of_block, tokens, sentence, part, number, is_apart });
            }
        };
        if let Form::Row { .. } = block.form {
            let row = text.tokens_in(&block.bytes);
            let start = row.start + usize::from(text.word(row.start) == "|");
            let end = row.end - usize::from(!row.is_empty() && text.word(row.end - 1) == "|");
            let end = end.min(start + ROW_MAX_TOKENS);
            if start < end {
                take(start..end, &(start..end), 0, 0, false);
            }
            continue;
        }
        for (number, sentence) in sentences(text, &block.bytes).into_iter().enumerate() {
            let parts = clauses(parsed, &sentence);
            let is_apart = are_apart(parsed, &parts);
            for (part, tokens) in parts.into_iter().enumerate() {
                take(tokens, &sentence, part, number, is_apart);
            }
        }
    }
    found
}

impl Candidate {
    pub(in super::super) fn clause<'s, 'a>(&self, parsed: &'s ParsedSegment<'a>) -> Clause<'s, 'a> {
        let block = &parsed.layout.blocks[self.block];
        let first = parsed.text.word(self.tokens.start);
        let done = verbs::of(first).is_some_and(|verb| verb.past) || first == "will";
        Clause {
            parsed,
            tokens: self.tokens.clone(),
            sentence: self.sentence.clone(),
            opens: self.part == 0 || done,
            item: event_context::is_listed(block),
            spoken: block.speaker.is_some(),
            manner: OnceCell::new(),
        }
    }

    pub(in super::super) fn block<'s>(&self, parsed: &'s ParsedSegment<'_>) -> &'s Block {
        &parsed.layout.blocks[self.block]
    }
}
