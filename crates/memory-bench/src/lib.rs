//! How well and how fast a memory is: retrieval quality on annotated conversations, latency over its size, and
//! extraction on labelled documents.
//!
//! The pure parts (metrics, intervals, percentiles, generators) stand apart from the runs, which work on a
//! [`Memory`](memory_engine::Memory) that the caller has opened.

pub mod conversations;
pub mod extraction;
pub mod interval;
pub mod machine;
pub mod metrics;
pub mod office;
pub mod percentiles;
pub mod plot;
pub mod quality;
pub mod random;
pub mod scale;
pub mod session_date;
pub mod stages;
pub mod synthetic;
pub mod table;

/// Makes a progress bar that counts in the given unit.
pub type Bars = fn(&'static str) -> indicatif::ProgressBar;
