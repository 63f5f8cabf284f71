//! Background work: kinds, states, priorities and the closed list of ways in which it fails.

use std::time::Duration;

use crate::closed_set::closed_set;

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
        TimedOut = "TIMED_OUT",
        DiskFull = "DISK_FULL",
        Cancelled = "CANCELLED",
        Internal = "INTERNAL",
    }
}

/// Of these a person need not do anything about a job that has failed.
pub const CODES_LEFT_ALONE: [ErrorCode; 3] =
    [ErrorCode::LlmRefused, ErrorCode::SourceMissing, ErrorCode::Cancelled];

impl ErrorCode {
    /// What has happened, in a few words.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::LlmTimeout => "the language model did not answer in time",
            Self::LlmRateLimited => "the language model wants fewer calls",
            Self::LlmBadOutput => "the language model's answer could not be used",
            Self::LlmRefused => "the language model would not read the text",
            Self::LlmAuth => "the language model's server does not accept the key",
            Self::LlmUnavailable => "the language model cannot be reached",
            Self::EmbeddingUnavailable => "the embedding model is not there",
            Self::SourceMissing => "the text is gone",
            Self::WorkerLost => "five workers ended while they did it",
            Self::TimedOut => "it took longer than it may",
            Self::DiskFull => "the database's disk is full",
            Self::Cancelled => "an operator cancelled it",
            Self::Internal => "a fault of Remembrancer or of its database",
        }
    }

    /// What to do about it.
    pub fn advice(self) -> &'static str {
        match self {
            Self::LlmTimeout => "Take a faster model or give it more time, then try the job again.",
            Self::LlmRateLimited => "Nothing: it waits as long as the server wants.",
            Self::LlmBadOutput | Self::LlmRefused => {
                "Take another model, then try the job again; or leave it."
            }
            Self::LlmAuth => "Set the right REMEMBRANCER_LLM_KEY and start again.",
            Self::LlmUnavailable => {
                "See that the server at REMEMBRANCER_LLM_URL runs; the jobs go on by themselves."
            }
            Self::EmbeddingUnavailable => {
                "Run `remembrancer setup`, or see what `remembrancer status` says of the model."
            }
            Self::SourceMissing => "Nothing.",
            Self::WorkerLost => "See the workers' logs and how much memory they had, then try the job again.",
            Self::TimedOut => "Try the job again when the machine has less to do, or divide the text.",
            Self::DiskFull => "Free some space on the database's disk; the jobs go on by themselves.",
            Self::Cancelled => "Try the job again if it is to be done after all.",
            Self::Internal => "See the worker's log, then try the job again.",
        }
    }
}

closed_set! {
    /// How urgent a job is, and how long it takes. Each priority has a share of a worker's time; long work never takes the
    /// last free place of a worker. Columns, metrics and commands call it the lane of a job.
    Priority {
        /// Of a short text that a client has just written.
        Small = "small",
        /// A long text, or what has turned out to take long.
        Large = "large",
        /// One of many, such as of an import.
        Bulk = "bulk",
        /// The same of long texts.
        BulkLarge = "bulk_large",
    }
}

impl Priority {
    pub fn number(self) -> i16 {
        self as i16
    }

    pub fn of_number(number: i16) -> Option<Self> {
        Self::ALL.iter().copied().find(|priority| priority.number() == number)
    }

    /// Whether its jobs are too long for a client to wait for.
    pub fn is_long(self) -> bool {
        matches!(self, Self::Large | Self::BulkLarge)
    }

    /// The priority of the same urgency for a long text.
    #[must_use]
    pub fn of_long_work(self) -> Self {
        match self {
            Self::Small | Self::Large => Self::Large,
            Self::Bulk | Self::BulkLarge => Self::BulkLarge,
        }
    }

    /// Its share of a worker's time where all priorities have work. The share of one in which nothing is due goes to the
    /// others in proportion; bulk counts for more after it has waited for an hour.
    pub fn weight(self, has_bulk_aged: bool) -> f64 {
        match (self, has_bulk_aged) {
            (Self::Small, false) => 10.0,
            (Self::Large, false) => 4.0,
            (Self::Bulk | Self::BulkLarge, false) => 2.0,
            (Self::Small | Self::Bulk | Self::BulkLarge, true) => 8.0,
            (Self::Large, true) => 3.0,
        }
    }

    /// How long one of its jobs takes, in seconds, as long as none was measured.
    pub fn expected_seconds(self) -> f64 {
        if self.is_long() { 1.0 } else { 0.05 }
    }
}

/// The longest wait before the next attempt: 2 s doubling with each attempt, at most 5 minutes. The
/// wait itself is drawn evenly between zero and this ("full jitter", Brooker 2015).
pub fn backoff_ceiling(attempts: i32) -> Duration {
    let doublings = attempts.clamp(1, 16) as u32 - 1;
    Duration::from_secs((2_u64 << doublings).min(300))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_doubles_up_to_five_minutes() {
        let seconds: Vec<u64> = (0..10).map(|n| backoff_ceiling(n).as_secs()).collect();
        assert_eq!(seconds, [2, 2, 4, 8, 16, 32, 64, 128, 256, 300]);
    }
}
