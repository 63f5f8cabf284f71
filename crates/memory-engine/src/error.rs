use memory_core::Invalid;
use memory_core::ports::EmbeddingError;
use memory_store::StoreError;

/// Why a verb was not done, by what its caller does next.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The request must be changed; the text says how.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The same: a graph has no entity of this name. The sentence is the reference server's, what to do is in the hint.
    #[error("Entity with name {name} not found")]
    UnknownEntity { name: String, hint: String },
    /// The request may be made again as it is, later.
    #[error("The database cannot be reached right now. Nothing was changed; try again in a few seconds.")]
    Unavailable(#[source] StoreError),
    /// The same: what others have begun is not done yet. The text says what that is.
    #[error("{0}")]
    Busy(String),
    #[error("The database's disk is full. Nothing was changed; free some space and try again.")]
    DiskFull(#[source] StoreError),
    /// What was to be read or written outside the database could not be.
    #[error("The transfer broke off: {0}. Nothing was changed; try again.")]
    Transfer(#[from] std::io::Error),
    /// Another model was to take over, and failed on the way.
    #[error(
        "The model {model} failed: {reason}. {done} of {total} passages have its vectors and keep them; {now}. Run it again to go on."
    )]
    Reembedding {
        model: String,
        reason: String,
        done: u64,
        total: u64,
        /// What is searched.
        now: &'static str,
    },
    /// A fault of ours: the log has the details.
    #[error("An internal error occurred. Nothing was changed; the server's log has the details.")]
    Internal(#[source] StoreError),
    /// The same: a computation panicked, which the log has already.
    #[error("An internal error occurred. Nothing was changed; the server's log has the details.")]
    Panicked(#[from] tokio::task::JoinError),
}

impl From<StoreError> for EngineError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unreachable(_)
            | StoreError::Unanswered(_)
            | StoreError::Unprepared(_)
            | StoreError::Conflict => Self::Unavailable(error),
            StoreError::DiskFull(_) => Self::DiskFull(error),
            StoreError::LeaseLost
            | StoreError::ModelMismatch(_)
            | StoreError::Misconfigured(_)
            | StoreError::Unsuitable(_)
            | StoreError::Database(_) => Self::Internal(error),
        }
    }
}

/// Does what takes a while on a thread of its own, so that other calls go on.
pub(crate) async fn on_own_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, EngineError> {
    Ok(tokio::task::spawn_blocking(work).await?)
}

/// What an answer says when the vector arm was missing.
pub(crate) fn vector_warning(error: &EmbeddingError) -> String {
    tracing::warn!(%error, "failed to embed a query; searched by words only");
    "The embedding model is not available: results were found by words alone.".to_owned()
}

/// An error with its causes; for the log only.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_never_reported_as_a_fault_of_the_request() {
        let failed = on_own_thread(|| panic!("as the test says")).await.map(|()| "no failure").unwrap_err();
        assert!(matches!(failed, EngineError::Panicked(_)), "{failed:?}");
        assert!(failed.to_string().starts_with("An internal error occurred."), "{failed}");
    }
}
