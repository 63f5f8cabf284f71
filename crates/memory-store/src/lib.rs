//! What is kept: every SQL statement, the schema and the embedded Postgres.
//!
//! Functions take a connection ([`Conn`]) or a transaction ([`Tx`]); the caller decides when it commits.
//! No other crate names the database driver.

/// Reads a struct from the columns of the same names. (The driver's own derive brings the whole driver a second time,
/// compiled for the macro.)
macro_rules! row {
    ($name:ident { $($field:ident),+ $(,)? }) => {
        impl<'r> sqlx::FromRow<'r, sqlx::postgres::PgRow> for $name {
            fn from_row(row: &'r sqlx::postgres::PgRow) -> Result<Self, sqlx::Error> {
                use sqlx::Row as _;
                Ok(Self { $($field: row.try_get(stringify!($field))?),+ })
            }
        }
    };
}

pub mod archive;
pub mod artifacts;
pub mod audit;
pub mod backlog;
pub mod directives;
pub mod embedded;
pub mod entities;
pub mod events;
pub mod expansion;
pub mod facts;
pub mod feed;
pub mod forgetting;
pub mod graph;
pub mod health;
pub mod hydration;
pub mod inventory;
pub mod jobs;
pub mod keys;
pub mod latest;
pub mod lifecycle;
pub mod listing;
pub mod models;
pub mod neighbours;
pub mod oauth;
pub mod open_commitments;
pub mod own_folder;
pub mod passages;
pub mod password;
pub mod places;
pub mod projects;
pub mod reembedding;
pub mod reextraction;
pub mod row_security;
pub mod schema;
pub mod search;
pub mod stats;
pub mod talks;
pub mod texts;
pub mod timeline;
pub mod turns;
pub mod vector;
pub mod webhooks;
pub mod written;

mod connecting;
mod error;
mod event_view;
mod lending;
mod metadata_columns;
mod migrations;
mod pool;
mod scram;

pub use error::{InvalidSetting, StoreError};
pub use lending::{Pooled, Tx};
pub use pool::{Conn, Hints, PoolState, Store, StoreSettings, Topic};
