//! A text that is read window by window, and what is asked about it: names and clauses by the states of their tokens.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use memory_core::ports::{CLAUSE_CLASSES, NAME_CLASSES, SentenceLogits};

use super::model::{Failed, Layers, Model, PairModel, failed};
use super::tokens::Tokens;
use super::windows::{self, Window};

/// The states of a text that are kept for the next question about it: of about 8,000 words. What is behind is read once more.
const KEPT_BYTES: usize = 16 << 20;
/// Tokens of a clause that are looked at.
const CLAUSE_TOKENS_MAX: usize = 160;
/// The parts of what is known of a name: its tokens, the token before and the one behind.
const NAME_PARTS: usize = 3;

/// A text in tokens, with the states of those that were read.
pub(super) struct Reading {
    pub(super) text: Arc<str>,
    tokens: Tokens,
    windows: Vec<Window>,
    /// By window.
    states: Vec<Option<Rc<[f32]>>>,
    kept_bytes: usize,
}

/// Whether the caller no longer waits.
pub(super) type IsCancelled<'a> = &'a dyn Fn() -> bool;

impl Reading {
    pub(super) fn of(text: Arc<str>, layers: &Layers) -> Result<Self, Failed> {
        let tokens = layers.tokens(&text)?;
        let windows = windows::cut(&tokens);
        let states = vec![None; windows.len()];
        Ok(Self { text, tokens, windows, states, kept_bytes: 0 })
    }

    /// The states of the own tokens of a window, one after the other.
    fn states(&mut self, window: usize, layers: &mut Layers) -> Result<Rc<[f32]>, Failed> {
        if let Some(states) = &self.states[window] {
            return Ok(Rc::clone(states));
        }
        let own = self.windows[window].own.len();
        let (ids, start) = self.windows[window].ids(&self.tokens);
        let (all, hidden) = layers.states(ids)?;
        let states =
            all.get(start * hidden..(start + own) * hidden).ok_or_else(|| failed("it gives no states"))?;
        let states: Rc<[f32]> = states.into();
        let bytes = size_of_val(&states[..]);
        if self.kept_bytes + bytes <= KEPT_BYTES {
            self.kept_bytes += bytes;
            self.states[window] = Some(Rc::clone(&states));
        }
        Ok(states)
    }

    /// Gives `take` all `uses`, of which each is of one window, with the states of that window's tokens and where those begin.
    fn each<Use>(
        &mut self,
        uses: &[Use],
        window_of: impl Fn(&Use) -> usize,
        layers: &mut Layers,
        is_cancelled: IsCancelled<'_>,
        mut take: impl FnMut(&Use, &[f32], &Range<usize>),
    ) -> Result<(), Failed> {
        for together in uses.chunk_by(|a, b| window_of(a) == window_of(b)) {
            if is_cancelled() {
                return Err(failed("cancelled"));
            }
            let window = window_of(&together[0]);
            let states = self.states(window, layers)?;
            let own = self.windows[window].own.clone();
            for one in together {
                take(one, &states, &own);
            }
        }
        Ok(())
    }

    /// `tools/train-clauses/encoder/documents.py` pools in the same way.
    pub(super) fn names(
        &mut self,
        names: &[Vec<Range<usize>>],
        model: &mut Model,
        is_cancelled: IsCancelled<'_>,
    ) -> Result<Vec<[f32; NAME_CLASSES]>, Failed> {
        let hidden = model.names.inputs() / NAME_PARTS;
        let mut pooled = vec![vec![0.0; NAME_PARTS * hidden]; names.len()];
        let uses = self.uses(names);
        let window_of = |one: &Use| one.window;
        self.each(&uses, window_of, &mut model.layers, is_cancelled, |one, states, own| {
            let sums = &mut pooled[one.name][one.part as usize * hidden..][..hidden];
            let state = &states[(one.token - own.start) * hidden..][..hidden];
            sums.iter_mut().zip(state).for_each(|(sum, value)| *sum += one.share * value);
        })?;
        pooled.iter().map(|pooled| model.names.logits(pooled)).collect()
    }

    /// In the order of their tokens. Each name is the mean of its places, each place the mean of its tokens, the token before
    /// and the one behind.
    fn uses(&self, names: &[Vec<Range<usize>>]) -> Vec<Use> {
        let mut all = Vec::new();
        for (name, places) in names.iter().enumerate() {
            let place_share = 1.0 / places.len() as f32;
            for place in places {
                let own = self.tokens.meeting(place);
                let share = place_share / own.len().max(1) as f32;
                let mut take = |token, part, share| {
                    let window = windows::of_token(&self.windows, token);
                    all.push(Use { window, token, name, part, share });
                };
                own.clone().for_each(|token| take(token, Part::Within, share));
                if let Some(before) = own.start.checked_sub(1) {
                    take(before, Part::Before, place_share);
                }
                if own.end < self.tokens.ids.len() {
                    take(own.end, Part::Behind, place_share);
                }
            }
        }
        all.sort_by_key(|one| one.token);
        all
    }

    pub(super) fn clauses(
        &mut self,
        clauses: &[Range<usize>],
        model: &mut Model,
        is_cancelled: IsCancelled<'_>,
    ) -> Result<Vec<[f32; CLAUSE_CLASSES]>, Failed> {
        let hidden = model.clauses.inputs() / 2;
        let pooled = self.pooled(clauses, hidden, &mut model.layers, is_cancelled)?;
        pooled.iter().map(|pooled| model.clauses.logits(pooled)).collect()
    }

    pub(super) fn directives(
        &mut self,
        sentences: &[Range<usize>],
        model: &mut Model,
        is_cancelled: IsCancelled<'_>,
    ) -> Result<Vec<SentenceLogits>, Failed> {
        let hidden = model.directives.inputs() / 2;
        let pooled = self.pooled(sentences, hidden, &mut model.layers, is_cancelled)?;
        let logits = |pooled: &Vec<f32>| {
            let ([revises], [binds]) = (model.revising.logits(pooled)?, model.binding.logits(pooled)?);
            Ok(SentenceLogits { states: model.directives.logits(pooled)?, revises, binds })
        };
        pooled.iter().map(logits).collect()
    }

    /// Of two statements: by the states of both, their product and their distance.
    pub(super) fn replacement(
        &mut self,
        statements: &[Range<usize>],
        model: &mut PairModel,
        is_cancelled: IsCancelled<'_>,
    ) -> Result<f32, Failed> {
        let hidden = model.replacing.inputs() / 8;
        let pooled = self.pooled(statements, hidden, &mut model.layers, is_cancelled)?;
        let [earlier, later] = &pooled[..] else { return Err(failed("two statements are compared")) };
        let together = |join: fn(f32, f32) -> f32| earlier.iter().zip(later).map(move |(a, b)| join(*a, *b));
        let product = together(|a, b| a * b);
        let distance = together(|a, b| (a - b).abs());
        let all: Vec<f32> = earlier.iter().chain(later).copied().chain(product).chain(distance).collect();
        let [logit] = model.replacing.logits(&all)?;
        Ok(logit)
    }

    /// The mean and the most of the states of the tokens of clauses, in all windows that each stands in.
    fn pooled(
        &mut self,
        clauses: &[Range<usize>],
        hidden: usize,
        layers: &mut Layers,
        is_cancelled: IsCancelled<'_>,
    ) -> Result<Vec<Vec<f32>>, Failed> {
        let spans: Vec<Range<usize>> =
            clauses.iter().map(|bytes| self.tokens.span(bytes, CLAUSE_TOKENS_MAX)).collect();
        let mut pooled: Vec<Vec<f32>> = vec![Vec::new(); spans.len()];
        let mut parts: Vec<(usize, usize)> = Vec::new();
        for (clause, span) in spans.iter().enumerate().filter(|(_, span)| span.end <= self.tokens.ids.len()) {
            let first = windows::of_token(&self.windows, span.start);
            let last = windows::of_token(&self.windows, span.end - 1);
            parts.extend((first..=last).map(|window| (window, clause)));
        }
        parts.sort_unstable();
        let window_of = |part: &(usize, usize)| part.0;
        self.each(&parts, window_of, layers, is_cancelled, |(_, clause), states, own| {
            let span = &spans[*clause];
            let pooled = &mut pooled[*clause];
            if pooled.is_empty() {
                pooled.resize(hidden, 0.0);
                pooled.resize(2 * hidden, f32::MIN);
            }
            let (mean, most) = pooled.split_at_mut(hidden);
            let here = span.start.max(own.start) - own.start..span.end.min(own.end) - own.start;
            for state in states[here.start * hidden..here.end * hidden].chunks_exact(hidden) {
                for ((mean, most), value) in mean.iter_mut().zip(&mut *most).zip(state) {
                    *mean += value / span.len() as f32;
                    *most = most.max(*value);
                }
            }
        })?;
        // Of a text without a token the head is given nothing.
        for pooled in pooled.iter_mut().filter(|pooled| pooled.is_empty()) {
            pooled.resize(2 * hidden, 0.0);
        }
        Ok(pooled)
    }
}

/// Which part of what is known of a name a token's state belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Within = 0,
    Before = 1,
    Behind = 2,
}

/// A token that counts for a name, and how much.
#[derive(Debug)]
struct Use {
    window: usize,
    token: usize,
    name: usize,
    part: Part,
    share: f32,
}
