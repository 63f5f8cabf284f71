//! What the system does: remember, recall, forget, status and the event worker, on a store and models.

pub mod archive;
pub mod entities;
pub mod forget;
pub mod graph;
pub mod lines;
pub mod measures;
pub mod mirror;
pub mod operate;
pub mod places;
pub mod readiness;
pub mod recall;
pub mod reembed;
pub mod remember;
pub mod status;
pub mod worker;

mod error;
mod lexical;
mod long_text;
mod memory;
mod observing;
mod statistics;

pub use error::EngineError;
pub use memory::{EngineSettings, Memory, ModelState};
