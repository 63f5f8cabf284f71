//! How long calls of tools take and how they end.

use std::borrow::Cow;
use std::time::Instant;

use metrics::{Unit, describe_counter, describe_gauge, describe_histogram, gauge, histogram};

/// How a call ended, by the side that can act on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Ok,
    /// The request must be another.
    Refused,
    /// The database is away, the disk full, or the memory still starting.
    Unavailable,
    TimedOut,
    /// A fault of ours.
    Failed,
    /// The client went away before it was answered.
    Left,
}

impl Outcome {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Refused => "refused",
            Self::Unavailable => "unavailable",
            Self::TimedOut => "timed_out",
            Self::Failed => "failed",
            Self::Left => "left",
        }
    }
}

/// Names the metrics of requests.
pub(crate) fn describe() {
    let help = "How long calls of tools took, by tool and outcome.";
    describe_histogram!("remembrancer_tool_duration_seconds", Unit::Seconds, help);
    describe_gauge!("remembrancer_tool_calls_running", "Calls of tools that are being answered.");
    gauge!("remembrancer_tool_calls_running").set(0.0);
    describe_counter!("remembrancer_http_requests_total", "HTTP requests that were answered, by status.");
    describe_gauge!("remembrancer_http_connections", "HTTP connections that are open.");
    gauge!("remembrancer_http_connections").set(0.0);
    let help = "HTTP connections that were turned away, since all places were taken by requests under way.";
    describe_counter!("remembrancer_http_connections_refused_total", help);
    metrics::counter!("remembrancer_http_connections_refused_total").increment(0);
}

/// A call that is being answered.
pub(super) struct Measured {
    tool: Cow<'static, str>,
    begun: Instant,
    pub(super) outcome: Outcome,
    /// The text that it was about.
    pub(super) artifact: Option<String>,
}

impl Measured {
    pub(super) fn begin(tool: Cow<'static, str>) -> Self {
        gauge!("remembrancer_tool_calls_running").increment(1.0);
        Self { tool, begun: Instant::now(), outcome: Outcome::Left, artifact: None }
    }
}

impl Drop for Measured {
    fn drop(&mut self) {
        let (took, outcome) = (self.begun.elapsed(), self.outcome.as_str());
        gauge!("remembrancer_tool_calls_running").decrement(1.0);
        histogram!("remembrancer_tool_duration_seconds", "tool" => self.tool.clone(), "outcome" => outcome)
            .record(took);
        let duration_ms = took.as_millis() as u64;
        match self.outcome {
            Outcome::Ok | Outcome::Refused | Outcome::Left => {
                let artifact = self.artifact.as_deref();
                tracing::debug!(tool = &*self.tool, outcome, duration_ms, artifact.id = artifact, "answered");
            }
            _ => tracing::warn!(tool = &*self.tool, outcome, duration_ms, "answered"),
        }
    }
}
