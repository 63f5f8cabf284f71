//! What operators are told, the same for every executable: health and metrics over a listener of its own.

pub mod health;
pub mod listener;
pub mod metrics;
