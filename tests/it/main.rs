//! End-to-end tests, one binary.

mod architecture;
mod chunks;
mod conversation;
mod extraction;
mod filters;
mod forget;
mod jobs;
mod pages;
mod process_commands;
mod process_faults;
mod process_http;
mod process_settings;
mod process_sharing;
mod process_startup;
mod process_wire;
mod process_workers;
mod recall;
mod related;
mod remember;
mod shorthand;
mod stand_ins;
mod status;
mod store;
