/// Why the store could not do what it was asked, by what the caller does next.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another worker holds the job now, or it is gone: drop the work.
    #[error("the lease on the job was lost")]
    LeaseLost,
    /// Another writer was first at the same place: read again and try again.
    #[error("another writer was first")]
    Conflict,
    /// The database cannot be reached; nothing was written. Try again later.
    #[error("the database cannot be reached")]
    Unreachable(#[source] sqlx::Error),
    /// No first connection could be made, for this reason. Try again later.
    #[error("{0}")]
    Unanswered(String),
    /// The schema is not the one that is needed, and this role may not bring it there. Try again later.
    #[error("{0}")]
    Unprepared(String),
    /// The disk of the database is full; nothing was written.
    #[error("the database has no space left on its disk")]
    DiskFull(#[source] sqlx::Error),
    /// The stored vectors and the model at hand do not belong together.
    #[error("{0}")]
    ModelMismatch(String),
    /// A setting cannot work: the operator changes it.
    #[error(transparent)]
    Misconfigured(#[from] InvalidSetting),
    /// The database lacks something that it must have.
    #[error("{0}")]
    Unsuitable(String),
    #[error("the database refused a statement")]
    Database(#[source] sqlx::Error),
}

/// A setting that cannot work as it is written. The message names it and says what to write instead, without secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidSetting(pub(crate) String);

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        use sqlx::Error as E;
        if let E::Database(database) = &error {
            return match database.code().as_deref() {
                // unique_violation, serialization_failure, deadlock_detected, foreign_key_violation, lock_not_available
                Some("23505" | "40001" | "40P01" | "23503" | "55P03") => Self::Conflict,
                // disk_full
                Some("53100") => Self::DiskFull(error),
                // admin_shutdown, crash_shutdown, cannot_connect_now, too_many_connections
                Some("57P01" | "57P02" | "57P03" | "53300") => Self::Unreachable(error),
                _ => Self::Database(error),
            };
        }
        match error {
            E::Io(_) | E::PoolTimedOut | E::PoolClosed | E::WorkerCrashed | E::Protocol(_) | E::Tls(_) => {
                Self::Unreachable(error)
            }
            other => Self::Database(other),
        }
    }
}

impl StoreError {
    /// What happened, in words that hold nothing of what was stored.
    pub fn summary(&self) -> String {
        match self {
            Self::Database(sqlx::Error::Database(database)) => {
                let code = database.code().unwrap_or_default();
                format!("the database refused a statement (SQLSTATE {code})")
            }
            other => other.to_string(),
        }
    }

    /// The same call may succeed when it is made again at once or a little later.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Conflict | Self::Unreachable(_) | Self::Unanswered(_) | Self::Unprepared(_))
    }
}
