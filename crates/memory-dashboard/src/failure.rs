//! What goes wrong, as a page.

use axum::http::StatusCode;
use memory_core::Invalid;
use memory_engine::EngineError;

/// Why a page is not shown or something was not done, in words for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) status: StatusCode,
    pub(crate) reason: String,
}

impl Failure {
    pub(crate) fn new(status: StatusCode, reason: impl Into<String>) -> Self {
        Self { status, reason: reason.into() }
    }

    pub(crate) fn missing(what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("{what} is not there, or not any more."))
    }

    pub(crate) fn forbidden(needed: &str) -> Self {
        Self::new(StatusCode::FORBIDDEN, format!("This takes {needed}. Sign in with another key to do it."))
    }

    pub(crate) fn title(&self) -> &'static str {
        match self.status {
            StatusCode::NOT_FOUND => "Not found",
            StatusCode::FORBIDDEN => "Not open to you",
            StatusCode::SERVICE_UNAVAILABLE => "Not available right now",
            StatusCode::TOO_MANY_REQUESTS => "Too many requests",
            status if status.is_server_error() => "Something went wrong",
            _ => "That did not work",
        }
    }
}

impl From<Invalid> for Failure {
    fn from(invalid: Invalid) -> Self {
        Self::new(StatusCode::BAD_REQUEST, invalid.0)
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        let status = match &error {
            EngineError::Invalid(_) | EngineError::UnknownEntity { .. } => StatusCode::BAD_REQUEST,
            EngineError::Unavailable(_) | EngineError::Busy(_) | EngineError::DiskFull(_) => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            EngineError::Transfer(_)
            | EngineError::Reembedding { .. }
            | EngineError::Internal(_)
            | EngineError::Panicked(_) => {
                // With what brought it about.
                let error: &(dyn std::error::Error + 'static) = &error;
                tracing::error!(error, "a page of the dashboard could not be made");
                StatusCode::INTERNAL_SERVER_ERROR
            }
        };
        Self::new(status, error.to_string())
    }
}
