//! Gauges that are read on a scrape: pending work, the pool, the disk, the models.

use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use memory_core::job::{ErrorCode, JobKind, Priority};
use memory_store::backlog::Backlog;
use memory_store::embedded::disk_of;
use metrics::gauge;

use crate::error::chain;
use crate::measures::OF_THE_DATABASE;
use crate::mirror::VectorMirror;
use crate::{Memory, ModelState};

/// For how long what the database said holds, however often it is scraped.
const HOLDS: Duration = Duration::from_secs(3);
/// How long the database has for its part of a scrape.
const PATIENCE: Duration = Duration::from_millis(1_500);

/// When the database was last asked.
pub(crate) type LastObserved = tokio::sync::Mutex<Option<Instant>>;

impl Memory {
    /// Sets the gauges. Never fails: what cannot be read is not a number.
    pub fn observe(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.observe_process();
            let mut last = self.last_observed.lock().await;
            if last.is_some_and(|at| at.elapsed() < HOLDS) {
                return;
            }
            let read = self.store.backlog(PATIENCE).await;
            *last = Some(Instant::now());
            gauge!("remembrancer_database_up").set(if read.is_ok() { 1.0 } else { 0.0 });
            match read {
                Ok(backlog) => show(&backlog),
                Err(error) => {
                    tracing::debug!(error = chain(&error), "failed to read the gauges of the database");
                    forget();
                }
            }
        })
    }

    fn observe_process(&self) {
        let pool = self.store.pool_state();
        gauge!("remembrancer_database_connections", "state" => "used").set(pool.used as f64);
        gauge!("remembrancer_database_connections", "state" => "idle").set(pool.idle as f64);
        gauge!("remembrancer_database_connections_max").set(pool.most as f64);
        let is_ready = matches!(self.model_state(), ModelState::Ready { .. });
        gauge!("remembrancer_model_ready").set(if is_ready { 1.0 } else { 0.0 });
        gauge!("remembrancer_extractor_up").set(if self.extractor.health().is_healthy { 1.0 } else { 0.0 });
        if let Some(is_up) = self.mirror.as_ref().map(VectorMirror::is_up) {
            gauge!("remembrancer_mirror_up").set(if is_up { 1.0 } else { 0.0 });
        }
        if let Some((free, size)) = self.recovery.data_folder().as_deref().and_then(disk_of) {
            gauge!("remembrancer_data_disk_free_bytes").set(free as f64);
            gauge!("remembrancer_data_disk_size_bytes").set(size as f64);
        }
    }
}

fn show(backlog: &Backlog) {
    for priority in Priority::ALL {
        let of_priority = || backlog.waiting.iter().filter(|waiting| waiting.priority == priority.number());
        let oldest = of_priority().map(|waiting| waiting.oldest_seconds).fold(0.0, f64::max);
        gauge!("remembrancer_jobs_oldest_seconds", "lane" => priority.as_str()).set(oldest);
        for kind in JobKind::ALL {
            let count = of_priority().find(|waiting| waiting.kind == kind.as_str()).map_or(0, |w| w.count);
            let labels = [("lane", priority.as_str()), ("kind", kind.as_str())];
            gauge!("remembrancer_jobs_waiting", &labels).set(count as f64);
        }
    }
    let of = |counts: &[(String, i64)], name: &str| {
        counts.iter().find(|(known, _)| known == name).map_or(0.0, |(_, count)| *count as f64)
    };
    for kind in JobKind::ALL {
        let count = of(&backlog.processing, kind.as_str());
        gauge!("remembrancer_jobs_processing", "kind" => kind.as_str()).set(count);
    }
    for code in ErrorCode::ALL {
        gauge!("remembrancer_jobs_dead", "code" => code.as_str()).set(of(&backlog.failed, code.as_str()));
    }
    gauge!("remembrancer_workers").set(backlog.workers as f64);
    gauge!("remembrancer_database_size_bytes").set(backlog.database_bytes as f64);
    let (waiting, seconds) = backlog.mirror.unwrap_or_default();
    gauge!("remembrancer_mirror_waiting").set(waiting as f64);
    gauge!("remembrancer_mirror_lag_seconds").set(seconds);
}

/// Sets the gauges of the database to NaN, since their last values are outdated.
fn forget() {
    for name in OF_THE_DATABASE {
        gauge!(name).set(f64::NAN);
    }
    for priority in Priority::ALL {
        gauge!("remembrancer_jobs_oldest_seconds", "lane" => priority.as_str()).set(f64::NAN);
        for kind in JobKind::ALL {
            let labels = [("lane", priority.as_str()), ("kind", kind.as_str())];
            gauge!("remembrancer_jobs_waiting", &labels).set(f64::NAN);
        }
    }
    for kind in JobKind::ALL {
        gauge!("remembrancer_jobs_processing", "kind" => kind.as_str()).set(f64::NAN);
    }
    for code in ErrorCode::ALL {
        gauge!("remembrancer_jobs_dead", "code" => code.as_str()).set(f64::NAN);
    }
}
