//! What every executable shows operators: health and metrics over a listener of its own, logs, and traces.

pub mod health;
pub mod listener;
pub mod logs;
pub mod metrics;
pub mod traces;

mod process;
