//! What the system does: remember, recall, forget, status and the event worker, on a store and models.

pub mod access;
pub mod archive;
pub mod audit;
pub mod briefing;
pub mod browsing;
pub mod directives;
pub mod entity_review;
pub mod forget;
pub mod graph;
pub mod measures;
pub mod mirror;
pub mod oauth;
pub mod operations;
pub mod password;
pub mod picture;
pub mod places;
pub mod progress;
pub mod push;
pub mod readiness;
pub mod recall;
pub mod reembed;
pub mod remember;
mod resident;
pub mod status;
pub mod streams;
pub mod timeline;
pub mod worker;

mod error;
mod graph_file;
mod lexical;
mod line_reader;
mod locking;
mod long_text;
mod memory;
mod model;
mod observing;
mod recovery;
mod settings;
mod signals;
mod spoken_lines;
mod statistics;

pub use error::EngineError;
pub use memory::Memory;
pub use model::ModelState;
pub use settings::EngineSettings;
