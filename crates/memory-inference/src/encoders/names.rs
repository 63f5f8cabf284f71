//! What may be a name by the states of its tokens and of those beside it, over the places where it stands.
//! `tools/train-clauses/encoder/names.py` pools in the same way.

use std::ops::Range;

use memory_core::ports::NAME_CLASSES;

use super::model::{Encoder, Failed, Head, Place, failed};
use super::tokens::{CLS, Tokens};
use super::{NAME_ADAPTER, NAME_ENCODER_FILE, Reader};

/// Tokens that are read at once, and how far the next window is from the one before.
const WINDOW: usize = 200;
const STEP: usize = 140;
/// Tokens at the start of a window, but the first, that are only read for those behind them.
const LEAD: usize = 30;

pub(super) struct NameReader {
    encoder: Encoder,
    head: Head<NAME_CLASSES>,
}

impl Reader for NameReader {
    const NAME: &'static str = "name";
    type Wanted = Vec<Range<usize>>;
    type Logits = [f32; NAME_CLASSES];

    fn load(place: &Place) -> Result<Self, Failed> {
        Ok(Self { encoder: Encoder::load(place, NAME_ENCODER_FILE)?, head: Head::read(NAME_ADAPTER)? })
    }

    fn logits(
        &mut self,
        text: &str,
        names: &[Vec<Range<usize>>],
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<Vec<Self::Logits>, Failed> {
        let tokens = self.encoder.tokens(text)?;
        let uses = uses(&tokens, names);
        let mut pooled: Vec<Vec<f32>> = vec![Vec::new(); names.len()];
        let mut rest = uses.as_slice();
        while let Some(first) = rest.first() {
            if is_cancelled() {
                return Err(failed("cancelled"));
            }
            let window = window_of(first.token, tokens.ids.len());
            let (own, later) = rest.split_at(rest.partition_point(|one| one.token < window.own_end));
            rest = later;
            let mut ids = vec![CLS];
            ids.extend(&tokens.ids[window.tokens.clone()]);
            let count = ids.len();
            let states = self.encoder.states(ids)?;
            let hidden = states.len() / count;
            for Use { token, name, part, share } in own {
                let at = 1 + token - window.tokens.start;
                let sums = &mut pooled[*name];
                sums.resize(PARTS * hidden, 0.0);
                let sums = &mut sums[*part as usize * hidden..][..hidden];
                for (sum, value) in sums.iter_mut().zip(&states[at * hidden..(at + 1) * hidden]) {
                    *sum += share * value;
                }
            }
        }
        // Of a text without a token the head is given nothing.
        let zeros = vec![0.0; self.head.inputs()];
        let pooled = pooled.iter().map(|pooled| if pooled.is_empty() { &zeros } else { pooled });
        pooled.map(|pooled| self.head.logits(pooled)).collect()
    }
}

const PARTS: usize = 3;

/// Which part of what the head is given a token's state belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Within = 0,
    Before = 1,
    Behind = 2,
}

/// A token that counts for a name, and how much.
#[derive(Debug)]
struct Use {
    token: usize,
    name: usize,
    part: Part,
    share: f32,
}

/// In the order of their tokens. Each name is the mean of its places, each place the mean of its tokens, the token before
/// and the one behind.
fn uses(tokens: &Tokens, names: &[Vec<Range<usize>>]) -> Vec<Use> {
    let mut all = Vec::new();
    for (name, places) in names.iter().enumerate() {
        let place_share = 1.0 / places.len() as f32;
        for place in places {
            let own = tokens.meeting(place);
            let share = place_share / own.len().max(1) as f32;
            all.extend(own.clone().map(|token| Use { token, name, part: Part::Within, share }));
            let before = own.start.checked_sub(1);
            all.extend(before.map(|token| Use { token, name, part: Part::Before, share: place_share }));
            let behind = Some(own.end).filter(|token| *token < tokens.ids.len());
            all.extend(behind.map(|token| Use { token, name, part: Part::Behind, share: place_share }));
        }
    }
    all.sort_by_key(|one| one.token);
    all
}

#[derive(Debug, PartialEq, Eq)]
struct Window {
    tokens: Range<usize>,
    /// From this token on the states of the next window are used.
    own_end: usize,
}

/// The last window, of those over `count` tokens, that has a token behind its lead.
fn window_of(token: usize, count: usize) -> Window {
    let last = count.saturating_sub(WINDOW).div_ceil(STEP);
    let number = (token.saturating_sub(LEAD) / STEP).min(last);
    let start = number * STEP;
    let own_end = if number == last { count } else { start + STEP + LEAD };
    Window { tokens: start..(start + WINDOW).min(count), own_end }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_token_is_read_in_the_last_window_in_which_it_is_behind_the_lead() {
        for count in [1, 199, 200, 201, 340, 341, 1_000] {
            // As the program that trains the model does it.
            let mut wanted = vec![0..0; count];
            let mut start = 0;
            loop {
                let end = (start + WINDOW).min(count);
                let from = if start == 0 { 0 } else { start + LEAD };
                wanted[from..end].fill(start..end);
                if end == count {
                    break;
                }
                start += STEP;
            }
            for (token, wanted) in wanted.into_iter().enumerate() {
                let window = window_of(token, count);
                assert_eq!(window.tokens, wanted, "{token} of {count}");
                assert!(token < window.own_end, "{token} of {count}");
                let next = window.own_end;
                assert!(next >= count || window_of(next, count).tokens.start > wanted.start);
            }
        }
    }
}
