//! The passages of one namespace in memory: their words, vectors and tokens' states, searched as Postgres would search them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use memory_core::id::{PassageId, RevisionId};
use memory_store::search::{
    Admitted, Breadth, Candidate, IndexedPassage, Owner, WEIGHED_OF_TEXT_MAX, WordMatch, WordSearch,
};
use memory_vectors::product;

/// About what a passage takes besides its vector, its states and its words, and a word of it, in bytes.
const PASSAGE_BYTES: usize = 360;
const WORD_BYTES: usize = 12;
/// A row of matches that a passage has no part in.
const NO_ROW: u32 = u32::MAX;

/// Passages by slots. A slot is not used again: what is gone leaves a gap, until everything is read anew.
#[derive(Debug, Default)]
pub(super) struct Index {
    slots: Vec<Option<Slot>>,
    /// One after the other, by slot; zeros where there is none.
    vectors: Vec<f32>,
    dimension: usize,
    postings: HashMap<Box<str>, Vec<Posting>>,
    by_passage: HashMap<PassageId, u32>,
    by_revision: HashMap<i64, Vec<u32>>,
    /// Whether the tokens' states are kept: without them candidates are read from the database.
    has_states: bool,
    bytes: usize,
    states_bytes: usize,
    gaps: usize,
}

#[derive(Debug)]
struct Slot {
    /// Without a cosine similarity.
    candidate: Candidate,
    revision_id: i64,
    is_latest: bool,
    has_vector: bool,
    length: f32,
}

/// How often a passage has a lexeme.
#[derive(Debug, Clone, Copy)]
struct Posting {
    slot: u32,
    frequency: u16,
}

/// Of which revisions an answer may be.
enum Allowed {
    All,
    Latest,
    Listed(HashSet<i64>),
}

impl Allowed {
    fn new(admitted: Admitted<'_>) -> Self {
        match admitted {
            Admitted::All => Self::All,
            Admitted::Latest => Self::Latest,
            Admitted::Listed(revisions) => Self::Listed(revisions.iter().copied().collect()),
        }
    }

    fn holds(&self, slot: &Slot) -> bool {
        match self {
            Self::All => true,
            Self::Latest => slot.is_latest,
            Self::Listed(revisions) => revisions.contains(&slot.revision_id),
        }
    }
}

impl Index {
    pub(super) fn new(dimension: usize) -> Self {
        Self { dimension, has_states: true, ..Self::default() }
    }

    /// About how much memory it takes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// More of it is gaps than is worth keeping.
    pub(super) fn is_worn(&self) -> bool {
        self.gaps > 1_000 && self.gaps > self.slots.len() / 2
    }

    /// Adds a passage that is not in it. Observations are not taken.
    pub(super) fn add(&mut self, passage: IndexedPassage, bytes_max: usize) {
        let IndexedPassage { mut candidate, vector, length, lexemes } = passage;
        let Owner::Revision { revision_id, is_latest, .. } = candidate.owner else { return };
        let slot = self.slots.len() as u32;
        for (lexeme, frequency) in &lexemes {
            let posting = Posting { slot, frequency: *frequency };
            match self.postings.get_mut(lexeme.as_str()) {
                Some(postings) => postings.push(posting),
                None => {
                    self.postings.insert(lexeme.as_str().into(), vec![posting]);
                }
            }
        }
        let vector = vector.filter(|vector| vector.len() == self.dimension);
        let has_vector = vector.is_some();
        match vector {
            Some(vector) => self.vectors.extend(vector),
            None => self.vectors.resize(self.vectors.len() + self.dimension, 0.0),
        }
        self.bytes += PASSAGE_BYTES + self.dimension * 4 + lexemes.len() * WORD_BYTES;
        if self.has_states {
            self.states_bytes += candidate.states.as_ref().map_or(0, |states| states.len());
        } else {
            candidate.states = None;
        }
        self.by_passage.insert(candidate.passage_id, slot);
        self.by_revision.entry(revision_id.0).or_default().push(slot);
        self.slots.push(Some(Slot { candidate, revision_id: revision_id.0, is_latest, has_vector, length }));
        if self.has_states && self.bytes + self.states_bytes > bytes_max {
            self.drop_states();
        }
    }

    fn drop_states(&mut self) {
        self.has_states = false;
        self.states_bytes = 0;
        for slot in self.slots.iter_mut().flatten() {
            slot.candidate.states = None;
        }
    }

    /// Puts what the database says now in the place of what was there of these revisions.
    pub(super) fn replace(&mut self, revisions: &[i64], now: Vec<IndexedPassage>, bytes_max: usize) {
        for revision in revisions {
            for slot in self.by_revision.remove(revision).unwrap_or_default() {
                if let Some(gone) = self.slots.get_mut(slot as usize).and_then(Option::take) {
                    self.by_passage.remove(&gone.candidate.passage_id);
                    self.gaps += 1;
                }
            }
        }
        for passage in now {
            self.add(passage, bytes_max);
        }
    }

    fn live(&self, slot: u32) -> Option<&Slot> {
        self.slots.get(slot as usize)?.as_ref()
    }

    /// The passages that have any of the wanted lexemes, as [`memory_store::search::with_words`] gives them.
    pub(super) fn with_words(&self, admitted: Admitted<'_>, search: WordSearch<'_>) -> Vec<WordMatch> {
        let allowed = Allowed::new(admitted);
        let WordSearch { lexemes, wanted, weighed } = search;
        let mut rows = vec![NO_ROW; self.slots.len()];
        let mut found: Vec<(&Slot, f32, Vec<f32>)> = Vec::new();
        for (n, (lexeme, weight)) in lexemes.iter().enumerate() {
            for posting in self.postings.get(*lexeme).map_or(&[][..], Vec::as_slice) {
                let row = &mut rows[posting.slot as usize];
                if *row == NO_ROW {
                    let slot = self.live(posting.slot).filter(|slot| n < wanted && allowed.holds(slot));
                    let Some(slot) = slot else { continue };
                    *row = found.len() as u32;
                    found.push((slot, 0.0, vec![0.0; lexemes.len()]));
                }
                let (_, sum, frequencies) = &mut found[*row as usize];
                *sum += weight;
                frequencies[n] = f32::from(posting.frequency);
            }
        }
        found.sort_by(|(a, a_sum, _), (b, b_sum, _)| {
            b_sum.total_cmp(a_sum).then(a.candidate.passage_id.cmp(&b.candidate.passage_id))
        });
        let mut of_text: HashMap<i64, usize> = HashMap::new();
        found.retain(|(slot, _, _)| {
            let count = of_text.entry(slot.revision_id).or_default();
            *count += 1;
            *count <= WEIGHED_OF_TEXT_MAX
        });
        found.truncate(weighed);
        found
            .into_iter()
            .map(|(slot, _, frequencies)| WordMatch {
                passage_id: slot.candidate.passage_id,
                revision_id: Some(RevisionId(slot.revision_id)),
                length: slot.length,
                frequencies,
            })
            .collect()
    }

    /// The nearest passages, nearest first, no more of one text than wanted.
    pub(super) fn nearest(
        &self,
        admitted: Admitted<'_>,
        vector: &[f32],
        breadth: Breadth,
    ) -> Vec<(PassageId, f32)> {
        let allowed = Allowed::new(admitted);
        let mut near: Vec<(f32, &Slot)> = self
            .slots
            .iter()
            .zip(self.vectors.chunks_exact(self.dimension.max(1)))
            .filter_map(|(slot, of_slot)| {
                let slot = slot.as_ref().filter(|slot| slot.has_vector && allowed.holds(slot))?;
                Some((product(vector, of_slot), slot))
            })
            .collect();
        near.sort_unstable_by(|(a_cosine, a), (b_cosine, b)| {
            b_cosine.total_cmp(a_cosine).then(a.candidate.passage_id.cmp(&b.candidate.passage_id))
        });
        let mut of_text: HashMap<i64, usize> = HashMap::new();
        near.into_iter()
            .filter(|(_, slot)| {
                let count = of_text.entry(slot.revision_id).or_default();
                *count += 1;
                *count <= breadth.of_text
            })
            .take(breadth.passages)
            .map(|(cosine, slot)| (slot.candidate.passage_id, cosine))
            .collect()
    }

    /// The vectors of the given passages, as far as they are in it.
    pub(super) fn vectors(&self, given: &[PassageId]) -> HashMap<PassageId, Vec<f32>> {
        let vector = |id: &PassageId| {
            let number = *self.by_passage.get(id)?;
            self.live(number).filter(|slot| slot.has_vector)?;
            Some((*id, self.of_slot(number).to_vec()))
        };
        given.iter().filter_map(vector).collect()
    }

    /// The states of the tokens of the given passages, as far as they are in it.
    pub(super) fn states(&self, given: &[PassageId]) -> HashMap<PassageId, Arc<[u8]>> {
        let states = |id: &PassageId| {
            let slot = self.live(*self.by_passage.get(id)?)?;
            Some((*id, slot.candidate.states.clone()?))
        };
        given.iter().filter_map(states).collect()
    }

    fn of_slot(&self, number: u32) -> &[f32] {
        let start = number as usize * self.dimension;
        &self.vectors[start..start + self.dimension]
    }

    /// Those of the given passages that are in it, with their similarity to the question; and those that are not, which are
    /// to be read. `None` where states are wanted that it does not keep.
    pub(super) fn candidates(
        &self,
        given: &[PassageId],
        vector: Option<&[f32]>,
        with_states: bool,
    ) -> Option<(Vec<Candidate>, Vec<PassageId>)> {
        if with_states && !self.has_states {
            return None;
        }
        let mut others = Vec::new();
        let mut candidates = Vec::with_capacity(given.len());
        for id in given {
            let Some((slot, number)) =
                self.by_passage.get(id).and_then(|number| Some((self.live(*number)?, *number)))
            else {
                others.push(*id);
                continue;
            };
            let of_slot = self.of_slot(number);
            candidates.push(Candidate {
                passage_id: *id,
                owner: slot.candidate.owner.clone(),
                cosine: vector.filter(|_| slot.has_vector).map(|vector| product(vector, of_slot)),
                states: if with_states { slot.candidate.states.clone() } else { None },
            });
        }
        Some((candidates, others))
    }
}
