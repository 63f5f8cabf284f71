//! What the hosts of agents write and read: the JSON of their hooks, their transcripts, exports of conversations, and the
//! files in which they are told of servers. Formats only: nothing here knows a server, and files are read where a format
//! needs it (`project`, `history`).

pub mod fence;
pub mod history;
pub mod hook;
pub mod install;
pub mod markdown;
pub mod project;
pub mod redaction;
pub mod transcript;

mod bounded_lines;
mod values;

pub use transcript::{Role, Turn};
