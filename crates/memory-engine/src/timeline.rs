//! Events by their time, newest first, a page after the other.

use futures::future::BoxFuture;
use memory_core::Invalid;
use memory_core::event::StoredEvent;
use memory_core::id::Namespace;
use memory_store::hydration;
pub use memory_store::timeline::Wanted as EventsWanted;
use memory_store::timeline::{self, TimeKey};

use crate::{EngineError, Memory};

/// The most events of a page.
const PAGE_MAX: i64 = 200;

/// A page of events.
#[derive(Debug, Clone, Default)]
pub struct EventPage {
    /// Each with the time by which it stands here.
    pub events: Vec<(jiff::Timestamp, StoredEvent)>,
    pub next_cursor: Option<String>,
}

fn key_of(cursor: &str) -> Result<TimeKey, Invalid> {
    let parsed = cursor
        .split_once('.')
        .and_then(|(at, id)| Some(TimeKey { at: at.parse().ok()?, event_id: id.to_owned() }));
    parsed.ok_or_else(|| {
        let shown = memory_language::text::cut(cursor, 40);
        Invalid::new(format!("Invalid cursor '{shown}'. Leave it out to begin with the newest."))
    })
}

impl Memory {
    /// The next events behind a cursor.
    pub fn timeline<'a>(
        &'a self,
        ns: &'a Namespace,
        wanted: &'a EventsWanted,
        cursor: Option<&'a str>,
        limit: i64,
    ) -> BoxFuture<'a, Result<EventPage, EngineError>> {
        Box::pin(async move {
            let after = cursor.map(key_of).transpose()?;
            let limit = limit.clamp(1, PAGE_MAX);
            let mut conn = self.store.acquire(ns).await?;
            let mut keys = timeline::events(&mut conn, ns, wanted, after.as_ref(), limit + 1).await?;
            let goes_on = keys.len() as i64 > limit;
            keys.truncate(limit as usize);
            let next_cursor =
                keys.last().filter(|_| goes_on).map(|key| format!("{}.{}", key.at, key.event_id));
            let ids: Vec<String> = keys.iter().map(|key| key.event_id.clone()).collect();
            let events = hydration::events(&mut conn, ns, &ids).await?;
            let at = |event: &StoredEvent| {
                let key = keys.iter().find(|key| key.event_id == event.id);
                key.and_then(|key| jiff::Timestamp::from_microsecond(key.at).ok()).unwrap_or_default()
            };
            let events = events.into_iter().map(|event| (at(&event), event)).collect();
            Ok(EventPage { events, next_cursor })
        })
    }
}
