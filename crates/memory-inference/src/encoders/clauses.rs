//! Clauses by the states of their tokens.

use std::ops::Range;

use memory_core::ports::CLAUSE_CLASSES;

use super::clause_windows;
use super::model::{Encoder, Failed, Head, Place, failed};
use super::{CLAUSE_ADAPTER, CLAUSE_ENCODER_FILE, Reader};

pub(super) struct ClauseReader {
    encoder: Encoder,
    /// Of the mean and the most of the states of a clause's tokens.
    head: Head<CLAUSE_CLASSES>,
}

impl Reader for ClauseReader {
    const NAME: &'static str = "clause";
    type Wanted = Range<usize>;
    type Logits = [f32; CLAUSE_CLASSES];

    fn load(place: &Place) -> Result<Self, Failed> {
        Ok(Self { encoder: Encoder::load(place, CLAUSE_ENCODER_FILE)?, head: Head::read(CLAUSE_ADAPTER)? })
    }

    fn logits(
        &mut self,
        text: &str,
        clauses: &[Range<usize>],
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<Vec<Self::Logits>, Failed> {
        let tokens = self.encoder.tokens(text)?;
        let mut logits = vec![[0.0; CLAUSE_CLASSES]; clauses.len()];
        // One by one: activations are quantized over all that runs together, and what stands in another window must not
        // change what is read in this one.
        for window in clause_windows::cut(&tokens, clauses) {
            if is_cancelled() {
                return Err(failed("cancelled"));
            }
            let count = window.ids.len();
            let states = self.encoder.states(window.ids)?;
            let hidden = states.len() / count;
            for (clause, tokens) in window.clauses {
                let states = states.get(tokens.start * hidden..tokens.end * hidden).unwrap_or_default();
                if states.is_empty() {
                    return Err(failed("it gives no states"));
                }
                logits[clause] = self.head.logits(&mean_and_most(states, hidden))?;
            }
        }
        Ok(logits)
    }
}

/// `states` are those of the tokens of a clause, one after the other.
fn mean_and_most(states: &[f32], hidden: usize) -> Vec<f32> {
    let mut pooled = vec![0.0; hidden];
    pooled.resize(2 * hidden, f32::MIN);
    let (mean, most) = pooled.split_at_mut(hidden);
    let count = (states.len() / hidden).max(1) as f32;
    for state in states.chunks_exact(hidden) {
        for ((mean, most), value) in mean.iter_mut().zip(&mut *most).zip(state) {
            *mean += value / count;
            *most = most.max(*value);
        }
    }
    pooled
}
