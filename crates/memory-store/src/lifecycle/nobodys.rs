//! Promises and endings that are said of nobody: "The fence is painted." ends what somebody promised, where it says so clearly.

use std::collections::HashSet;

use jiff::Timestamp;
use jiff_sqlx::ToSqlx;
use memory_core::commitment::ended_by_anyone;
use memory_core::id::Namespace;

use super::{NOBODY, OwnersEvent, event_of, insert_links, links};
use crate::{StoreError, Tx};

/// The most endings and promises that are held against each other.
const ENDINGS_MAX: i64 = 50;
const PROMISES_MAX: i64 = 300;

/// Links new endings of nobody with promises, new promises with endings of nobody, and what nobody promised with all endings.
pub(super) async fn link(tx: &mut Tx, ns: &Namespace, new: &[OwnersEvent]) -> Result<(), StoreError> {
    let first = |is_meant: fn(&OwnersEvent) -> bool| {
        let moments =
            new.iter().filter(|event| event.is_promise() && is_meant(event)).map(|event| event.occurred_at);
        moments.min().map(Timestamp::to_sqlx)
    };
    let rows = sqlx::query(include_str!("../sql/promises_and_endings_of_nobody.sql"))
        .bind(ns.as_str())
        .bind(first(|_| true))
        .bind(first(|promise| promise.owner == NOBODY))
        .bind(new.iter().map(|event| event.event_id.as_str()).collect::<Vec<_>>())
        .bind(PROMISES_MAX)
        .bind(ENDINGS_MAX)
        .bind(NOBODY)
        .fetch_all(&mut **tx)
        .await?;
    let mut seen = HashSet::new();
    let mut found: Vec<OwnersEvent> = rows.iter().map(event_of).collect::<Result<_, _>>()?;
    found.retain(|event| seen.insert(event.event_id.clone()));
    let found =
        links(&found, ended_by_anyone, |promise, ending| promise.owner == NOBODY || ending.owner == NOBODY);
    insert_links(tx, ns, found).await
}
