//! The metrics of this process in the text format of Prometheus.

use std::sync::OnceLock;
use std::time::Duration;

use memory_engine::measures;
use memory_engine::readiness::Watch;
use metrics::{describe_gauge, gauge};
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};

use crate::process;

/// The text format of Prometheus.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Upper bounds of histograms of durations, in seconds.
const DURATION_BUCKETS: [f64; 16] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0, 600.0];
/// How often measurements are aggregated while no scraper comes.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

static RECORDED: OnceLock<PrometheusHandle> = OnceLock::new();

/// Begins to measure; once a process, before anything is measured.
pub fn install(version: &'static str) {
    match record() {
        Ok(handle) => _ = RECORDED.set(handle),
        Err(error) => {
            tracing::warn!(%error, "failed to set up metrics");
            return;
        }
    }
    measures::describe();
    process::describe();
    describe_gauge!("remembrancer_build_info", "Always 1; its label is the version of the program.");
    gauge!("remembrancer_build_info", "version" => version).set(1.0);
    describe_gauge!("remembrancer_ready", "1 when /readyz says so, else 0.");
}

fn record() -> Result<PrometheusHandle, BuildError> {
    let durations = Matcher::Suffix("_duration_seconds".to_owned());
    let builder = PrometheusBuilder::new().set_buckets_for_metric(durations, &DURATION_BUCKETS)?;
    let recorder = builder.build_recorder();
    let handle = recorder.handle();
    if ::metrics::set_global_recorder(recorder).is_err() {
        tracing::warn!("failed to install the metrics recorder: there is another one");
    }
    Ok(handle)
}

/// Adds up what was measured, so that it takes no more and more memory; runs until it is dropped.
pub async fn keep_up() {
    let Some(handle) = RECORDED.get() else { return };
    let mut ticking = tokio::time::interval(UPKEEP_INTERVAL);
    ticking.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticking.tick().await;
        handle.run_upkeep();
    }
}

/// All metrics as they are now. Whatever the database does, this is answered within seconds.
pub async fn scrape(readiness: &Watch) -> String {
    let Some(handle) = RECORDED.get() else { return String::new() };
    let looking = async {
        match readiness.memory() {
            Some(memory) => memory.observe().await,
            None => measures::unobserved(),
        }
    };
    let (found, ()) = tokio::join!(readiness.health(), looking);
    gauge!("remembrancer_ready").set(if found.is_ok() { 1.0 } else { 0.0 });
    process::measure();
    handle.render()
}
