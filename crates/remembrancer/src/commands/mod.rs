//! What a person types: each file is a command or a few of a kind.

pub(crate) mod import_folder;
pub(crate) mod print;
pub(crate) mod serve;
pub(crate) mod setup;
pub(crate) mod stdio;
pub(crate) mod verbs;
