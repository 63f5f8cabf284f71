//! Background work: kinds, states, lanes and the closed list of ways in which it fails.

use std::time::Duration;

use crate::event::closed_set;

/// How often a job is tried before it is FAILED.
pub const MAX_ATTEMPTS: i32 = 5;
/// How long a claimed job belongs to its worker, in seconds. Work stops well before it ends.
pub const LEASE_SECONDS: u64 = 300;
/// What a worker keeps of its lease for writing the results, in seconds.
pub const LEASE_MARGIN_SECONDS: u64 = 30;

closed_set! {
    /// What a job does.
    JobKind {
        /// Extract events and entities from one revision.
        Extract = "extract",
        /// Extract from the turns of one conversation that no job has read yet.
        ExtractConversation = "extract_conversation",
        /// Compute the vectors that a revision lacks.
        Embed = "embed",
        /// Make the passages of a graph's observations.
        IndexGraph = "index_graph",
    }
}

closed_set! {
    /// PENDING → PROCESSING → DONE or FAILED; an expired lease makes PROCESSING claimable again.
    JobState {
        Pending = "PENDING",
        Processing = "PROCESSING",
        Done = "DONE",
        Failed = "FAILED",
    }
}

closed_set! {
    /// Why the last attempt of a job failed; decided by the type of the error, never by its text.
    ErrorCode {
        LlmTimeout = "LLM_TIMEOUT",
        LlmRateLimited = "LLM_RATE_LIMITED",
        LlmBadOutput = "LLM_BAD_OUTPUT",
        LlmRefused = "LLM_REFUSED",
        LlmAuth = "LLM_AUTH",
        LlmUnavailable = "LLM_UNAVAILABLE",
        EmbeddingUnavailable = "EMBEDDING_UNAVAILABLE",
        SourceMissing = "SOURCE_MISSING",
        WorkerLost = "WORKER_LOST",
        Cancelled = "CANCELLED",
        Internal = "INTERNAL",
    }
}

closed_set! {
    /// Who waits for a job. What is small goes before what is bulk, and each lane has a share of a worker's turns.
    Lane {
        /// Something short that someone has just written.
        Small = "small",
        /// A long text.
        Large = "large",
        /// One of many, such as of an import, that nobody waits for.
        Bulk = "bulk",
    }
}

impl Lane {
    pub fn number(self) -> i16 {
        self as i16
    }

    pub fn of_number(number: i16) -> Option<Self> {
        Self::ALL.iter().copied().find(|lane| lane.number() == number)
    }
}

/// Whose turn it is, over and over. A lane in which nothing is due gives its turn to the first that has something.
const TURNS: [Lane; 8] =
    [Lane::Small, Lane::Small, Lane::Large, Lane::Small, Lane::Small, Lane::Bulk, Lane::Small, Lane::Large];
/// The same after bulk has waited for an hour.
const TURNS_AGED: [Lane; 8] =
    [Lane::Small, Lane::Bulk, Lane::Small, Lane::Bulk, Lane::Large, Lane::Bulk, Lane::Small, Lane::Bulk];

/// The lanes of `count` turns of a worker that has had `taken` of them.
pub fn lanes_of_turns(taken: usize, count: usize, has_bulk_aged: bool) -> Vec<Lane> {
    let turns = if has_bulk_aged { TURNS_AGED } else { TURNS };
    turns.into_iter().cycle().skip(taken % turns.len()).take(count).collect()
}

/// The longest wait before the next attempt: 2 s doubling with each attempt, at most 5 minutes. The
/// wait itself is drawn evenly between zero and this («full jitter», Brooker 2015).
pub fn backoff_ceiling(attempts: i32) -> Duration {
    let doublings = attempts.clamp(1, 16) as u32 - 1;
    Duration::from_secs((2_u64 << doublings).min(300))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lane_has_its_share_of_turns_whenever_one_begins_to_count() {
        let shares = |taken, has_bulk_aged| {
            let turns = lanes_of_turns(taken, 8, has_bulk_aged);
            Lane::ALL.iter().map(|lane| turns.iter().filter(|turn| *turn == lane).count()).collect::<Vec<_>>()
        };
        for taken in 0..20 {
            assert_eq!(shares(taken, false), [5, 2, 1]);
            assert_eq!(shares(taken, true), [3, 1, 4]);
        }
    }

    #[test]
    fn backoff_doubles_up_to_five_minutes() {
        let seconds: Vec<u64> = (0..10).map(|n| backoff_ceiling(n).as_secs()).collect();
        assert_eq!(seconds, [2, 2, 4, 8, 16, 32, 64, 128, 256, 300]);
    }
}
