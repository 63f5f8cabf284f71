//! How well and how fast a memory is: retrieval quality on annotated conversations, and latency over its size.
//!
//! The pure parts (metrics, generators) are separate from the runs, which work on a [`Memory`](memory_engine::Memory) that
//! the caller has opened.

pub mod configurations;
pub mod conversations;
pub mod metrics;
pub mod office;
pub mod plot;
pub mod quality;
pub mod scale;
pub mod session_date;
pub mod synthetic;

/// Makes a progress bar that counts in the given unit.
pub type Bars = fn(&'static str) -> indicatif::ProgressBar;
