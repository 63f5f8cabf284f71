//! The clauses that may tell an event, in the order of the text.

use std::cell::OnceCell;
use std::ops::Range;

use super::super::clause::Clause;
use super::super::scene::Scene;
use super::super::sentences::{clauses, sentences};
use super::super::zones::{Block, Form};
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
    /// The person spoken of last.
    pub(in super::super) focus: Option<usize>,
}

/// All candidates of a scene.
pub(in super::super) fn candidates(scene: &Scene<'_>) -> Vec<Candidate> {
    let text = &scene.text;
    let mut found = Vec::new();
    let mut focus = None;
    for (number_of_block, block) in scene.layout.blocks.iter().enumerate() {
        let mut take = |tokens: Range<usize>, sentence: &Range<usize>, part, number, focus| {
            let tokens = event_context::trimmed(scene, &tokens);
            if tokens.clone().any(|at| text.is_word(at)) {
                let sentence = sentence.clone();
                found.push(Candidate { block: number_of_block, tokens, sentence, part, number, focus });
            }
        };
        if let Form::Row { .. } = block.form {
            let row = text.tokens_in(&block.bytes);
            let start = row.start + usize::from(text.word(row.start) == "|");
            let end = row.end - usize::from(!row.is_empty() && text.word(row.end - 1) == "|");
            if start < end {
                take(start..end, &(start..end), 0, 0, None);
            }
            continue;
        }
        for (number, sentence) in sentences(text, &block.bytes).into_iter().enumerate() {
            let parts = clauses(text, &sentence, |at| scene.begins_statement(at));
            for (part, tokens) in parts.into_iter().enumerate() {
                take(tokens, &sentence, part, number, focus);
            }
            match scene.people_in(&sentence).as_slice() {
                [] => {}
                [one] => focus = Some(*one),
                _ => focus = None,
            }
        }
    }
    found
}

impl Candidate {
    pub(in super::super) fn clause<'s, 'a>(&self, scene: &'s Scene<'a>) -> Clause<'s, 'a> {
        let block = &scene.layout.blocks[self.block];
        let first = scene.text.word(self.tokens.start);
        let done = verbs::of(first).is_some_and(|verb| verb.past) || first == "will";
        Clause {
            scene,
            tokens: self.tokens.clone(),
            sentence: self.sentence.clone(),
            focus: self.focus,
            opens: self.part == 0 || done,
            item: event_context::is_listed(block),
            spoken: block.speaker.is_some(),
            manner: OnceCell::new(),
        }
    }

    pub(in super::super) fn block<'s>(&self, scene: &'s Scene<'_>) -> &'s Block {
        &scene.layout.blocks[self.block]
    }
}
