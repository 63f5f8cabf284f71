//! How far a long operation has got.

/// Lines on the way out, bytes on the way in, passages or jobs otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    pub done: u64,
    pub total: u64,
}

/// Called from time to time.
pub type Report<'a> = &'a (dyn Fn(Progress) + Send + Sync);

/// For callers that do not follow the progress.
pub fn unreported(_: Progress) {}
