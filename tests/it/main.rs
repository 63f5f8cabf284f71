//! End-to-end tests, one binary.

mod architecture;
mod remember;
