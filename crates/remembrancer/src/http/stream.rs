//! `/api/v1/events/stream`: what happens in a namespace, as server-sent events. A client that comes back goes on after the
//! last that it has seen.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::stream::unfold;
use memory_core::feed::FeedEntry;
use memory_core::id::Namespace;
use memory_engine::Memory;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::rest::answered;
use crate::access::{self, Caller};
use crate::tools::{Connection, PlainAnswer};

/// How often there is a look for what is new.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// How often a stream says that it is there, and its caller is looked up again.
const ALIVE_INTERVAL: Duration = Duration::from_secs(15);
/// How long a stream lasts; its client comes back and goes on.
const STREAM_MAX: Duration = Duration::from_hours(1);
/// After how many milliseconds a client comes back.
const RETRY: Duration = Duration::from_secs(2);
/// Streams of this process, and of a namespace.
const STREAMS_MAX: usize = 64;
const STREAMS_OF_NAMESPACE: usize = 16;

static OPEN: Mutex<Option<HashMap<Namespace, usize>>> = Mutex::new(None);

/// The place of one stream among those that may be open.
struct Place(Namespace);

impl Place {
    fn take(ns: &Namespace) -> Option<Self> {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let open = open.get_or_insert_default();
        let of_namespace = open.get(ns).copied().unwrap_or_default();
        if of_namespace >= STREAMS_OF_NAMESPACE || open.values().sum::<usize>() >= STREAMS_MAX {
            return None;
        }
        open.insert(ns.clone(), of_namespace + 1);
        Some(Self(ns.clone()))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let open = open.get_or_insert_default();
        if let Some(count) = open.get_mut(&self.0) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.0);
            }
        }
    }
}

pub(super) async fn stream(
    State((connection, stop)): State<(Arc<Connection>, CancellationToken)>,
    request: Request,
) -> Response {
    let (parts, _) = request.into_parts();
    let begun = async {
        let (memory, caller, namespace) = connection.admit_reader(&parts).await?;
        let last_seen = last_seen(&parts.headers)?;
        let place = Place::take(&namespace).ok_or_else(|| {
            let error = format!(
                "There are {STREAMS_MAX} streams, or {STREAMS_OF_NAMESPACE} of this namespace, already; close one, or try \
                 again later."
            );
            PlainAnswer::refusal(StatusCode::SERVICE_UNAVAILABLE, error)
        })?;
        let last = memory.push().begin_stream(&namespace).await;
        let last =
            last.map_err(|error| PlainAnswer::refusal(StatusCode::SERVICE_UNAVAILABLE, error.to_string()))?;
        let seq = last_seen.unwrap_or(last);
        // So that a client that has seen nothing yet goes on from here.
        let first = Event::default().id(seq.to_string()).retry(RETRY);
        let now = Instant::now();
        Ok(Reading {
            memory,
            caller,
            namespace,
            stop,
            seq,
            ready: VecDeque::from([first]),
            begun: now,
            confirmed: now,
            _place: place,
        })
    };
    let reading: Result<Reading, PlainAnswer> = begun.await;
    match reading {
        Err(refusal) => answered(refusal),
        Ok(reading) => {
            let events = unfold(reading, |mut reading| async move {
                reading.next().await.map(|event| (Ok::<_, Infallible>(event), reading))
            });
            Sse::new(events).keep_alive(KeepAlive::new().interval(ALIVE_INTERVAL)).into_response()
        }
    }
}

/// The number after which the client goes on.
fn last_seen(headers: &HeaderMap) -> Result<Option<i64>, PlainAnswer> {
    let Some(given) = headers.get("last-event-id") else { return Ok(None) };
    let number =
        given.to_str().ok().and_then(|given| given.trim().parse().ok()).filter(|number| *number >= 0);
    number.map(Some).ok_or_else(|| {
        let error = "Last-Event-ID must be the id of an event of this stream, a number; leave it out to begin with what is new.";
        PlainAnswer::refusal(StatusCode::BAD_REQUEST, error)
    })
}

/// A stream that is being read.
struct Reading {
    memory: Arc<Memory>,
    caller: Caller,
    namespace: Namespace,
    stop: CancellationToken,
    seq: i64,
    ready: VecDeque<Event>,
    begun: Instant,
    confirmed: Instant,
    _place: Place,
}

impl Reading {
    /// The next event, when there is one; `None` ends the stream.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            if self.begun.elapsed() >= STREAM_MAX || self.stop.is_cancelled() {
                return None;
            }
            match self.memory.push().read(&self.namespace, self.seq).await {
                Err(error) => {
                    tracing::debug!(%error, "failed to read the feed; the client comes back");
                    return None;
                }
                Ok(page) => {
                    if let Some(missed_to) = page.missed_to {
                        self.seq = missed_to;
                        self.ready.push_back(missed(missed_to));
                    }
                    self.seq = page.entries.last().map_or(self.seq, |entry| entry.seq);
                    self.ready.extend(page.entries.iter().map(event));
                }
            }
            // Nothing goes to a key that was revoked meanwhile.
            if !self.ready.is_empty() || self.confirmed.elapsed() >= ALIVE_INTERVAL {
                let confirmed = access::confirm_again(&self.memory, &self.caller, &self.namespace).await;
                confirmed.ok()?;
                self.confirmed = Instant::now();
            }
            if self.ready.is_empty() {
                let pause = tokio::time::sleep(POLL_INTERVAL);
                self.stop.run_until_cancelled(pause).await?;
            }
        }
    }
}

fn event(entry: &FeedEntry) -> Event {
    let mut message = entry.message();
    message["id"] = json!(entry.message_id);
    Event::default().id(entry.seq.to_string()).event(entry.kind.as_str()).data(message.to_string())
}

/// What a client is told that was away for too long.
fn missed(to: i64) -> Event {
    let message = json!({ "type": "feed.missed", "data": { "up_to": to } });
    Event::default().id(to.to_string()).event("feed.missed").data(message.to_string())
}
