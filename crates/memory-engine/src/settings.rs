//! Times and bounds of the engine that an operator or a test may change.

use std::time::Duration;

use memory_core::access::Audited;
use memory_core::authoring::AuthoringLimits;
use memory_core::recall::RankingWeights;

/// How the engine works; tests shorten the times.
#[derive(Debug, Clone)]
pub struct EngineSettings {
    /// A conversation is read after this long without new turns …
    pub conversation_pause: Duration,
    /// … but no later than this after its first unread turn.
    pub conversation_patience: Duration,
    /// How often the worker looks for due jobs without a hint.
    pub poll_interval: Duration,
    /// How long a claimed job belongs to its worker.
    pub lease: Duration,
    /// How long a job is worked on before others have their turn, where it can be done in parts.
    pub slice: Duration,
    /// Jobs one worker does at the same time. One place is kept free of long work, unless there is only one.
    pub concurrency: usize,
    /// How long a call waits for others at a graph's file, one that takes in a large file above all.
    pub file_patience: Duration,
    /// About how many characters a page of the graph has unless a limit is asked for.
    pub graph_page_chars: usize,
    /// How much memory small namespaces may take that are searched there; 0 for none.
    pub resident_bytes: usize,
    /// How long a message that a webhook did not take waits before it is sent again; after the last it is dead.
    pub webhook_waits: Vec<Duration>,
    /// How results are ranked.
    pub weights: RankingWeights,
    /// What may be written to the graph under its rules.
    pub authoring: AuthoringLimits,
    /// Which calls are recorded, and for how many days.
    pub audited: Audited,
    pub audit_days: u16,
}

impl Default for EngineSettings {
    fn default() -> Self {
        Self {
            conversation_pause: Duration::from_secs(2),
            conversation_patience: Duration::from_secs(30),
            poll_interval: Duration::from_secs(1),
            lease: Duration::from_secs(memory_core::job::LEASE_SECONDS),
            slice: Duration::from_secs(5),
            concurrency: 2,
            file_patience: Duration::from_secs(20),
            graph_page_chars: memory_core::graph::PAGE_CHARS,
            resident_bytes: 64_000_000,
            webhook_waits: memory_core::feed::RETRY_WAITS.to_vec(),
            weights: RankingWeights::DEFAULT,
            authoring: AuthoringLimits::default(),
            audited: Audited::Changes,
            audit_days: 90,
        }
    }
}
