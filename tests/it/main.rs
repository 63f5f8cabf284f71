//! End-to-end tests, one binary.

mod architecture;
mod chunks;
mod conversation;
mod forget;
mod jobs;
mod recall;
mod related;
mod remember;
mod shorthand;
mod stand_ins;
