//! Qdrant as a vector index: what is asked of it, with a time limit on every call, and what its answers mean.

mod collection;
mod payload;
mod points;

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::{BoxFuture, FutureExt};
use memory_core::circuit_breaker::{BreakerPolicy, CircuitBreaker};
use memory_core::id::PassageId;
use qdrant_client::config::QdrantConfig;
use qdrant_client::qdrant::point_id::PointIdOptions;
use qdrant_client::qdrant::{
    PointId, QuantizationSearchParams, Query, QueryPoints, ScoredPoint, SearchParams, VectorInput, query,
};
use qdrant_client::{Qdrant as Client, QdrantError};

use super::{IndexError, MirrorSettings, Near, Quantization, SearchVia, Times, Wanted, check, in_order};
use crate::InvalidSetting;
pub use collection::Collections;
pub use points::{Kept, Look, Page};

/// How many times as many are looked at among compressed vectors before the best are compared as they were.
const OVERSAMPLING: f64 = 3.0;
/// How much is looked at, or as the limit asks for.
const SEARCH_BREADTH_MIN: u64 = 128;

/// A Qdrant server, or several behind one address. Cloning is cheap.
#[derive(Clone)]
pub struct Qdrant {
    inner: Arc<Inner>,
}

struct Inner {
    client: Client,
    address: String,
    settings: MirrorSettings,
    times: Times,
    /// Opened by a search that is not answered in time, closed by a trial that is.
    breaker: CircuitBreaker<String>,
}

impl std::fmt::Debug for Qdrant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Qdrant").field("address", &self.inner.address).finish_non_exhaustive()
    }
}

impl Qdrant {
    /// What the settings name, `None` when they name nothing. There is no connection yet: a server that is down now may be up
    /// later.
    pub fn of(
        settings: &MirrorSettings,
        api_key: Option<String>,
        mut times: Times,
    ) -> Result<Option<Self>, InvalidSetting> {
        let Some(address) = settings.address()? else { return Ok(None) };
        settings.check()?;
        let is_near = ["//localhost:", "//127.", "//[::1]"].iter().any(|host| address.contains(host));
        if api_key.is_some() && address.starts_with("http:") && !is_near {
            tracing::warn!("QDRANT_API_KEY goes over the network unencrypted; use https:// in QDRANT_URL");
        }
        let mut config = QdrantConfig::from_url(&address)
            // That check would write to standard output, which belongs to the protocol.
            .skip_compatibility_check()
            // Ours are shorter: when its own comes first, the client sends the request again.
            .timeout(times.call * 4)
            .connect_timeout(times.call);
        config.api_key = api_key;
        let client =
            config.build().map_err(|error| InvalidSetting(format!("QDRANT_URL cannot be used: {error}")))?;
        times.search = Duration::from_millis(settings.qdrant_timeout_ms);
        // A server that answers trials but not searches is tried less and less often.
        let breaker = CircuitBreaker::new(BreakerPolicy {
            failures_max: 1,
            pause_min: times.pause,
            pause_max: times.pause_max,
            stable_after: times.pause_max,
        });
        let inner = Inner { client, address, settings: settings.clone(), times, breaker };
        Ok(Some(Self { inner: Arc::new(inner) }))
    }

    pub fn address(&self) -> &str {
        &self.inner.address
    }

    pub fn times(&self) -> &Times {
        &self.inner.times
    }

    pub fn settings(&self) -> &MirrorSettings {
        &self.inner.settings
    }

    /// Whether it is asked for what is in this scope.
    pub fn serves(&self, is_small: bool) -> bool {
        match self.inner.settings.qdrant_search {
            SearchVia::Always => true,
            SearchVia::Never => false,
            SearchVia::Large => !is_small,
        }
    }

    /// Why searches do not ask it at the moment.
    pub fn out_of_service(&self) -> Option<String> {
        self.inner.breaker.reason()
    }

    /// A call that changes something or looks at much.
    fn call<'a, T>(
        &self,
        collection: &'a str,
        answer: impl Future<Output = Result<T, QdrantError>> + Send + 'a,
    ) -> BoxFuture<'a, Result<T, IndexError>> {
        within(self.inner.times.call, collection, answer)
    }

    /// The searches of one collection.
    pub fn searching(&self, collection: String) -> Searching {
        Searching { inner: Arc::clone(&self.inner), collection }
    }
}

impl Inner {
    fn request(&self, collection: &str, wanted: &Wanted<'_>) -> QueryPoints {
        let is_compressed = self.settings.qdrant_quantization != Quantization::None;
        QueryPoints {
            collection_name: collection.to_owned(),
            query: Some(Query {
                variant: Some(query::Variant::Nearest(VectorInput::from(wanted.vector.to_vec()))),
            }),
            filter: Some(payload::filter(wanted.ns, wanted.scope)),
            params: Some(SearchParams {
                hnsw_ef: Some((wanted.limit as u64 * 2).max(SEARCH_BREADTH_MIN)),
                quantization: is_compressed.then_some(QuantizationSearchParams {
                    ignore: None,
                    rescore: Some(true),
                    oversampling: Some(OVERSAMPLING),
                }),
                ..SearchParams::default()
            }),
            limit: Some(wanted.limit as u64),
            with_payload: Some(false.into()),
            with_vectors: Some(false.into()),
            timeout: Some(self.times.search.as_secs().max(1)),
            ..QueryPoints::default()
        }
    }

    async fn query(&self, request: &QueryPoints) -> Result<Vec<Near>, IndexError> {
        let answer = self.client.query(request.clone());
        let answer = within(self.times.search, &request.collection_name, answer).await?;
        Ok(answer.result.iter().filter_map(near_of).collect())
    }

    /// Sends no more searches there, and tries in the background until it answers.
    fn trip(self: &Arc<Self>, error: &IndexError, request: QueryPoints) {
        let reason = error.to_string();
        let Some(mut pause) = self.breaker.trip(Instant::now(), reason.clone()) else { return };
        tracing::warn!(%error, "Qdrant is not asked until it answers again; Postgres searches instead");
        let inner = Arc::downgrade(self);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(pause).await;
                let Some(inner) = inner.upgrade() else { return };
                // That the collection is gone is an answer too, and one that costs no waiting.
                if matches!(inner.query(&request).await, Ok(_) | Err(IndexError::Missing(_))) {
                    tracing::info!("Qdrant answers again");
                    inner.breaker.succeeded(Instant::now());
                    return;
                }
                pause = inner.breaker.open(Instant::now(), reason.clone(), None);
            }
        });
    }
}

/// The searches of one collection.
#[derive(Clone)]
pub struct Searching {
    inner: Arc<Inner>,
    collection: String,
}

impl Searching {
    /// The passages of a scope that are nearest to a vector: nearest first, equals by their ids. A server that does not
    /// answer in time is not asked again before it has answered a trial.
    pub fn nearest<'a>(&'a self, wanted: Wanted<'a>) -> BoxFuture<'a, Result<Vec<Near>, IndexError>> {
        Box::pin(async move {
            check(wanted.vector, wanted.model.info.dimension)?;
            if let Some(reason) = self.inner.breaker.reason() {
                return Err(IndexError::Unavailable(reason));
            }
            let request = self.inner.request(&self.collection, &wanted);
            let found = self.inner.query(&request).await;
            if let Err(
                error @ (IndexError::Unavailable(_) | IndexError::Busy(_) | IndexError::Unauthorised(_)),
            ) = &found
            {
                self.inner.trip(error, request);
            }
            Ok(in_order(found?))
        })
    }
}

fn near_of(point: &ScoredPoint) -> Option<Near> {
    let id = number(point.id.as_ref())?;
    point.score.is_finite().then_some(Near { passage_id: PassageId(id), cosine: point.score })
}

/// Points are numbered as the passages are.
fn number(id: Option<&PointId>) -> Option<i64> {
    match id?.point_id_options {
        Some(PointIdOptions::Num(number)) => i64::try_from(number).ok(),
        _ => None,
    }
}

/// An answer in time, or why there is none. (The client's calls are large: they do not belong on a stack.)
fn within<'a, T>(
    limit: Duration,
    collection: &'a str,
    answer: impl Future<Output = Result<T, QdrantError>> + Send + 'a,
) -> BoxFuture<'a, Result<T, IndexError>> {
    async move {
        match tokio::time::timeout(limit, answer).await {
            Ok(answer) => answer.map_err(|error| error_of(error, collection)),
            Err(_) => Err(IndexError::Unavailable(format!("no answer within {} ms", limit.as_millis()))),
        }
    }
    .boxed()
}

/// What to do about an error. The client reports a refused connection as an internal error; a call that was cut off
/// may have been carried out.
fn error_of(error: QdrantError, collection: &str) -> IndexError {
    let status = match error {
        QdrantError::ResourceExhaustedError { retry_after_seconds, .. } => {
            return IndexError::Busy(Duration::from_secs(retry_after_seconds));
        }
        QdrantError::ResponseError { status } => status,
        QdrantError::Io(error) => return IndexError::Unavailable(error.to_string()),
        other => return IndexError::Refused(other.to_string()),
    };
    // The codes by their numbers: the library that names them is the client's own.
    let message = status.message().chars().take(300).collect::<String>();
    match status.code() as i32 {
        3 | 6 | 9 | 11 | 12 => IndexError::Refused(message),
        5 => IndexError::Missing(collection.to_owned()),
        7 | 16 => IndexError::Unauthorised(message),
        8 => IndexError::Busy(Duration::from_secs(1)),
        _ => IndexError::Unavailable(message),
    }
}
