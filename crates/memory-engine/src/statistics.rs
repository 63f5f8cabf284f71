//! Numbers that weigh search results. They may be a little old, but not older than what has been written since allows.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use memory_core::id::Namespace;
use memory_core::recall::CorpusStats;
use memory_store::stats::PassageCounts;

use crate::locking::locked;

/// How old each may be.
const CORPUS_AGE: Duration = Duration::from_secs(60);
const FREQUENCY_AGE: Duration = Duration::from_secs(300);
const PASSAGES_AGE: Duration = Duration::from_secs(5);
const WAITING_AGE: Duration = Duration::from_secs(5);
/// The share of its passages that a namespace may grow by before it is counted again.
const GROWTH: f32 = 0.05;
/// The most passages that it may grow by before that, however large it is.
const GROWTH_MAX: i64 = 2_000;
/// How many words of a namespace are kept.
const FREQUENCIES_KEPT: usize = 50_000;

#[derive(Default)]
pub(crate) struct Statistics {
    corpora: Mutex<HashMap<Namespace, (Instant, Corpus)>>,
    frequencies: Mutex<HashMap<Namespace, Frequencies>>,
    passages: Mutex<HashMap<Namespace, (Instant, PassageCounts)>>,
    waiting: Mutex<HashMap<Namespace, (Instant, Waiting)>>,
}

/// In how many passages each lexeme occurs, and when that was counted.
type Frequencies = HashMap<String, (Instant, f32)>;

/// A namespace as it was counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Corpus {
    pub(crate) stats: CorpusStats,
    /// The newest passage there was then.
    pub(crate) newest: i64,
}

impl Corpus {
    /// How many passages may come to it before it is counted again.
    pub(crate) fn growth_allowed(&self) -> i64 {
        ((self.stats.passages * GROWTH) as i64).min(GROWTH_MAX)
    }
}

/// How many passages wait for their vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Waiting {
    passages: i64,
    /// The newest passage there was then.
    newest: i64,
}

impl Statistics {
    pub(crate) fn corpus(&self, ns: &Namespace) -> Option<Corpus> {
        locked(&self.corpora).get(ns).filter(|(at, _)| at.elapsed() < CORPUS_AGE).map(|(_, corpus)| *corpus)
    }

    /// Frequencies that were counted when the namespace had another size do not fit the new count and are dropped.
    pub(crate) fn set_corpus(&self, ns: &Namespace, corpus: Corpus) {
        let before = locked(&self.corpora).insert(ns.clone(), (Instant::now(), corpus));
        let changed = |before: Corpus| {
            (corpus.stats.passages - before.stats.passages).abs() > before.stats.passages * GROWTH
        };
        if before.is_some_and(|(_, before)| changed(before)) {
            locked(&self.frequencies).remove(ns);
            self.forget_passages(ns);
        }
    }

    pub(crate) fn frequency(&self, ns: &Namespace, lexeme: &str) -> Option<f32> {
        let frequencies = locked(&self.frequencies);
        frequencies.get(ns)?.get(lexeme).filter(|(at, _)| at.elapsed() < FREQUENCY_AGE).map(|(_, df)| *df)
    }

    pub(crate) fn set_frequencies(&self, ns: &Namespace, counted: impl IntoIterator<Item = (String, f32)>) {
        let mut frequencies = locked(&self.frequencies);
        let of_namespace = frequencies.entry(ns.clone()).or_default();
        if of_namespace.len() > FREQUENCIES_KEPT {
            of_namespace.clear();
        }
        let now = Instant::now();
        of_namespace.extend(counted.into_iter().map(|(lexeme, df)| (lexeme, (now, df))));
    }

    pub(crate) fn passages(&self, ns: &Namespace) -> Option<PassageCounts> {
        locked(&self.passages).get(ns).filter(|(at, _)| at.elapsed() < PASSAGES_AGE).map(|(_, count)| *count)
    }

    /// There are more of them now.
    pub(crate) fn forget_passages(&self, ns: &Namespace) {
        locked(&self.passages).remove(ns);
    }

    pub(crate) fn set_passages(&self, ns: &Namespace, count: PassageCounts) {
        locked(&self.passages).insert(ns.clone(), (Instant::now(), count));
    }

    /// How many passages of the namespace, whose newest is this one, wait for their vectors.
    pub(crate) fn waiting(&self, ns: &Namespace, newest: i64) -> Option<i64> {
        let waiting = locked(&self.waiting);
        let (at, waiting) = waiting.get(ns)?;
        (waiting.newest == newest && at.elapsed() < WAITING_AGE).then_some(waiting.passages)
    }

    pub(crate) fn set_waiting(&self, ns: &Namespace, newest: i64, passages: i64) {
        locked(&self.waiting).insert(ns.clone(), (Instant::now(), Waiting { passages, newest }));
    }
}
