//! What is measured here, by the names that Prometheus shows. No label grows with what is remembered: none is a namespace,
//! an id or a text.

use std::future::Future;
use std::time::{Duration, Instant};

use memory_core::job::{ErrorCode, JobKind};
use metrics::{Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};

/// A message was sent to a webhook.
pub(crate) fn webhook_sent(outcome: &'static str) {
    counter!("remembrancer_webhook_messages_total", "outcome" => outcome).increment(1);
}

/// Gauges without labels that are read from the database.
pub(crate) const OF_THE_DATABASE: [&str; 4] = [
    "remembrancer_workers",
    "remembrancer_database_size_bytes",
    "remembrancer_mirror_waiting",
    "remembrancer_mirror_lag_seconds",
];
/// Why a search was less than it could be.
const SHORTCOMINGS: [&str; 4] = ["no_query_vector", "mirror_silent", "mirror_behind", "not_reranked"];
/// The parts of a search.
const STAGES: [&str; 7] = ["words", "embed", "vectors", "rank", "rerank", "hydrate", "expand"];

/// Names every metric of the engine and the store, and begins those that count rare things at zero.
pub fn describe() {
    let seconds = Unit::Seconds;
    let help = "How long each part of a search took. Words and vectors are looked for at the same time.";
    describe_histogram!("remembrancer_recall_stage_duration_seconds", seconds, help);
    for stage in STAGES {
        _ = histogram!("remembrancer_recall_stage_duration_seconds", "stage" => stage);
    }
    let help = "Passages that each arm of the search has brought in.";
    describe_counter!("remembrancer_recall_candidates_total", help);
    let help = "Searches that were answered with less than there is, by what was missing.";
    describe_counter!("remembrancer_recall_degraded_total", help);
    for reason in SHORTCOMINGS {
        counter!("remembrancer_recall_degraded_total", "reason" => reason).increment(0);
    }
    describe_histogram!(
        "remembrancer_embedding_duration_seconds",
        seconds,
        "How long the model took for a call."
    );
    describe_counter!("remembrancer_embedding_texts_total", "Texts that the model has embedded.");
    describe_counter!("remembrancer_embedding_failures_total", "Calls of the model that failed.");
    for purpose in ["query", "passages", "background"] {
        counter!("remembrancer_embedding_failures_total", "for" => purpose).increment(0);
    }
    describe_gauge!(
        "remembrancer_model_ready",
        "1 when the embedding model is loaded and fits the stored vectors, else 0."
    );
    describe_gauge!("remembrancer_extractor_up", "1 when the extractor can find events, else 0.");
    describe_jobs();
    describe_database();
    let help = "How long a search of the mirror took.";
    describe_histogram!("remembrancer_mirror_search_duration_seconds", seconds, help);
    _ = histogram!("remembrancer_mirror_search_duration_seconds", "outcome" => "ok");
    let help = "Messages that were sent to webhooks, by how that ended.";
    describe_counter!("remembrancer_webhook_messages_total", help);
    for outcome in ["taken", "refused", "dead"] {
        counter!("remembrancer_webhook_messages_total", "outcome" => outcome).increment(0);
    }
    describe_counter!(
        "remembrancer_mirror_applied_total",
        "Points that were brought up to date, and steps that were done."
    );
    counter!("remembrancer_mirror_applied_total").increment(0);
    describe_counter!(
        "remembrancer_mirror_failures_total",
        "Rounds of bringing the mirror up to date that failed."
    );
    counter!("remembrancer_mirror_failures_total").increment(0);
    describe_gauge!(
        "remembrancer_mirror_up",
        "1 when the mirror in Qdrant can be used, 0 when it cannot; absent without one."
    );
    describe_gauge!(
        "remembrancer_mirror_waiting",
        "Passages in the outbox: their change is not in the mirror yet (counted up to 100,000)."
    );
    describe_gauge!("remembrancer_mirror_lag_seconds", seconds, "For how long the oldest of them waits.");
}

fn describe_jobs() {
    describe_gauge!(
        "remembrancer_jobs_waiting",
        "Jobs that wait, by lane and kind, of all namespaces (counted up to 100,000)."
    );
    describe_gauge!("remembrancer_jobs_processing", "Jobs under way in all workers, by kind.");
    describe_gauge!(
        "remembrancer_jobs_oldest_seconds",
        Unit::Seconds,
        "For how long the oldest waiting job of a lane is there."
    );
    describe_gauge!(
        "remembrancer_jobs_dead",
        "Jobs that have failed for good, by code (counted up to 100,000)."
    );
    describe_gauge!("remembrancer_workers", "Workers that reported themselves within a minute.");
    let help = "How long attempts at jobs took in this process, by kind and outcome.";
    describe_histogram!("remembrancer_job_duration_seconds", Unit::Seconds, help);
    let help = "Attempts at jobs in this process that did not get to their end, by kind and code.";
    describe_counter!("remembrancer_job_failures_total", help);
    for kind in JobKind::ALL {
        _ = histogram!("remembrancer_job_duration_seconds", "kind" => kind.as_str(), "outcome" => "done");
        counter!("remembrancer_job_failures_total", "kind" => kind.as_str(), "code" => ErrorCode::Internal.as_str())
            .increment(0);
    }
}

fn describe_database() {
    describe_gauge!("remembrancer_database_up", "1 when the database answered at this scrape, else 0.");
    describe_gauge!("remembrancer_database_connections", "Connections of this process, used and idle.");
    describe_gauge!("remembrancer_database_connections_max", "The most connections of this process.");
    describe_gauge!("remembrancer_database_size_bytes", Unit::Bytes, "What the database takes on its disk.");
    let help = "How long callers waited for a connection of the pool.";
    describe_histogram!("remembrancer_database_wait_duration_seconds", Unit::Seconds, help);
    describe_counter!("remembrancer_database_wait_timeouts_total", "Callers that got no connection in time.");
    counter!("remembrancer_database_wait_timeouts_total").increment(0);
    describe_counter!(
        "remembrancer_database_disk_full_total",
        "How often the database said that its disk is full."
    );
    counter!("remembrancer_database_disk_full_total").increment(0);
    describe_gauge!(
        "remembrancer_data_disk_free_bytes",
        Unit::Bytes,
        "Room on the disk of the data folder, where the database is on this machine."
    );
    describe_gauge!("remembrancer_data_disk_size_bytes", Unit::Bytes, "The size of that disk.");
}

/// There is no memory to look at yet.
pub fn unobserved() {
    gauge!("remembrancer_database_up").set(0.0);
    gauge!("remembrancer_model_ready").set(0.0);
}

/// Does a part of a search, and measures how long it takes.
pub(crate) async fn stage<T>(name: &'static str, work: impl Future<Output = T>) -> T {
    let begun = Instant::now();
    let done = work.await;
    histogram!("remembrancer_recall_stage_duration_seconds", "stage" => name).record(begun.elapsed());
    done
}

pub(crate) fn candidates(arm: &'static str, count: usize) {
    counter!("remembrancer_recall_candidates_total", "arm" => arm).increment(count as u64);
}

pub(crate) fn degraded(reason: &'static str) {
    counter!("remembrancer_recall_degraded_total", "reason" => reason).increment(1);
}

/// One call of the embedding model.
pub(crate) async fn embedding<T, E>(
    purpose: &'static str,
    texts: usize,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    let begun = Instant::now();
    let made = work.await;
    match &made {
        Ok(_) => {
            histogram!("remembrancer_embedding_duration_seconds", "for" => purpose).record(begun.elapsed());
            counter!("remembrancer_embedding_texts_total", "for" => purpose).increment(texts as u64);
        }
        Err(_) => counter!("remembrancer_embedding_failures_total", "for" => purpose).increment(1),
    }
    made
}

pub(crate) fn attempted(kind: JobKind, outcome: &'static str, took: Duration) {
    histogram!("remembrancer_job_duration_seconds", "kind" => kind.as_str(), "outcome" => outcome)
        .record(took);
}

pub(crate) fn job_failed(kind: JobKind, code: ErrorCode) {
    counter!("remembrancer_job_failures_total", "kind" => kind.as_str(), "code" => code.as_str())
        .increment(1);
}

pub(crate) fn mirror_searched(outcome: &'static str, took: Duration) {
    histogram!("remembrancer_mirror_search_duration_seconds", "outcome" => outcome).record(took);
}
