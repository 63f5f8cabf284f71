//! Logs on standard error: what `RUST_LOG` lets through, as text or as JSON, and never what is remembered.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::sync::atomic::{AtomicBool, Ordering};

use tracing::Level;
use tracing_subscriber::filter::{FilterExt, filter_fn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry, fmt};

const FORMAT: &str = "REMEMBRANCER_LOG_FORMAT";
/// Libraries that log at finer levels what they carry: requests, answers, statements.
const CARRIERS: [&str; 7] = ["rmcp", "sqlx", "hyper", "hyper_util", "h2", "tonic", "tower"];

/// A format of lines that does not exist: the operator sets another.
#[derive(Debug, thiserror::Error)]
#[error("{FORMAT} is {0:?}, which is no format; use text or json")]
pub struct UnknownFormat(String);

/// Begins to log. `filter` holds where `RUST_LOG` says nothing.
pub fn init(filter: &str) -> Result<(), UnknownFormat> {
    let lines = lines()?;
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(filter));
    let quiet = filter_fn(|metadata| *metadata.level() <= Level::INFO || !is_carrier(metadata.target()));
    tracing_subscriber::registry().with(lines.with_filter(filter.and(quiet))).init();
    std::panic::set_hook(Box::new(log_panic));
    Ok(())
}

/// Whether lines are objects.
static IS_JSON: AtomicBool = AtomicBool::new(false);

/// A line for the user at the terminal; with the format `json` a log line.
pub fn say(text: &str) {
    if IS_JSON.load(Ordering::Relaxed) {
        tracing::info!("{text}");
    } else {
        eprintln!("{text}");
    }
}

/// The same for the reason why a program ends.
pub fn fail(program: &str, reason: &str) {
    if IS_JSON.load(Ordering::Relaxed) {
        tracing::error!("{program}: {reason}");
    } else {
        eprintln!("{program}: {reason}");
    }
}

/// Standard output belongs to answers and to the protocol.
fn lines() -> Result<Box<dyn Layer<Registry> + Send + Sync>, UnknownFormat> {
    let lines = fmt::layer().with_writer(std::io::stderr).with_ansi(false);
    let wanted = std::env::var(FORMAT).unwrap_or_default();
    match wanted.trim().to_ascii_lowercase().as_str() {
        "" | "text" => Ok(lines.boxed()),
        "json" => {
            IS_JSON.store(true, Ordering::Relaxed);
            Ok(lines.json().flatten_event(true).with_current_span(false).with_span_list(true).boxed())
        }
        _ => Err(UnknownFormat(wanted)),
    }
}

fn is_carrier(target: &str) -> bool {
    let name = target.split("::").next().unwrap_or_default();
    CARRIERS.contains(&name)
}

/// Logs where a panic was. Its message is logged only where it is a constant: another may quote a text.
fn log_panic(panic: &std::panic::PanicHookInfo<'_>) {
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    let said = panic
        .payload()
        .downcast_ref::<&'static str>()
        .copied()
        .unwrap_or("(not logged: it may quote a text)");
    let trace = Backtrace::capture();
    if trace.status() == BacktraceStatus::Captured {
        tracing::error!(place, said, %trace, "a panic");
    } else {
        tracing::error!(place, said, "a panic");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_that_carry_texts_are_recognised_by_their_crate() {
        assert!(is_carrier("rmcp::service") && is_carrier("sqlx::query") && is_carrier("h2"));
        assert!(!is_carrier("memory_engine::recall") && !is_carrier("rmcpx"));
    }
}
