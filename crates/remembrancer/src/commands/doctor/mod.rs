//! `doctor`: looks at an installation without changing anything, and says what is wrong and what to do.

mod database;
mod installation;

use std::fmt::Write;
use std::process::ExitCode;

use clap::Args;
use memory_language::text::counted;
use serde::Serialize;
use serde_json::json;

use super::print::{Style, printable};
use super::{health, hook};
use crate::settings::{ListenSettings, Settings, open_secrets, token};
use database::of_database;
use installation::{of_disk, of_encoder, of_folder, of_model, of_postgres, of_runtime};

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Print what was found as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Ok,
    Warning,
    Failed,
}

#[derive(Debug, Serialize)]
struct Finding {
    check: &'static str,
    verdict: Verdict,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

fn fine(check: &'static str, detail: impl Into<String>) -> Finding {
    Finding { check, verdict: Verdict::Ok, detail: detail.into(), advice: None }
}

fn doubtful(check: &'static str, detail: impl Into<String>, advice: impl Into<String>) -> Finding {
    Finding { check, verdict: Verdict::Warning, detail: detail.into(), advice: Some(advice.into()) }
}

fn wrong(check: &'static str, detail: impl Into<String>, advice: impl Into<String>) -> Finding {
    Finding { check, verdict: Verdict::Failed, detail: detail.into(), advice: Some(advice.into()) }
}

pub(crate) async fn run(
    settings: &Settings,
    listen: &ListenSettings,
    args: DoctorArgs,
) -> anyhow::Result<ExitCode> {
    let mut found = vec![of_settings(settings)];
    found.extend(
        open_secrets().into_iter().map(|open| doubtful("secrets", open, "Close the file to others.")),
    );
    let (data_dir, components) = (settings.data_dir()?, settings.components()?);
    found.push(of_folder(&data_dir));
    found.extend(of_disk(&data_dir));
    if settings.store.database_url.is_none() {
        found.push(of_postgres(&components).await);
    }
    found.push(of_runtime(&components));
    found.push(of_model(settings, &components));
    found.extend(of_encoder(&components));
    found.extend(of_database(settings, &components).await);
    found.push(of_port(&listen.bind).await);
    found.extend(hook::files::report(&data_dir).map(|report| of_hooks(&report)));
    let has_failed = found.iter().any(|finding| finding.verdict == Verdict::Failed);
    if args.json {
        let report = json!({ "version": env!("CARGO_PKG_VERSION"), "healthy": !has_failed, "checks": found });
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print!("{}", shown(&found, &Style::of_stdout()));
    }
    Ok(if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn shown(found: &[Finding], style: &Style) -> String {
    let of = |verdict| found.iter().filter(|finding| finding.verdict == verdict).count() as i64;
    let (failed, warnings) = (of(Verdict::Failed), of(Verdict::Warning));
    let state = match (failed, warnings) {
        (0, 0) => "all is well".to_owned(),
        (0, _) => counted(warnings, "warning"),
        _ => format!("{} failed, {}", counted(failed, "check"), counted(warnings, "warning")),
    };
    let mut out = style.bold(&format!("Remembrancer {}: {state}", env!("CARGO_PKG_VERSION")));
    out.push('\n');
    for Finding { check, verdict, detail, advice } in found {
        let mark = match verdict {
            Verdict::Ok => "ok",
            Verdict::Warning => "warn",
            Verdict::Failed => "FAILED",
        };
        let _ = writeln!(out, "  {mark:<6} {check:<12} {}", printable(detail));
        if let Some(advice) = advice {
            let _ = writeln!(out, "         → {}", printable(advice));
        }
    }
    out
}

fn of_settings(settings: &Settings) -> Finding {
    match settings.check().and_then(|()| token()).and_then(|_| settings.namespace()) {
        Ok(_) => fine("settings", "understood"),
        Err(error) => {
            wrong("settings", format!("{error:#}"), "Correct the setting; docs/settings.md has them all.")
        }
    }
}

/// What the hooks of agents came to, as far as their log goes back.
fn of_hooks(report: &hook::files::Report) -> Finding {
    const CHECK: &str = "hooks";
    let waiting = match report.waiting {
        0 => String::new(),
        n => format!("; {} to be sent", counted(n as i64, "session")),
    };
    let runs = counted(report.runs as i64, "line");
    match &report.last_trouble {
        None => fine(CHECK, format!("{runs} in their log, no trouble{waiting}")),
        Some(last) => doubtful(
            CHECK,
            format!("{runs} in their log, {} with trouble{waiting}; the last: {last}", report.troubles),
            "Nothing was held up. If it goes on, see `remembrancer status`; what was not sent is sent with the next hook.",
        ),
    }
}

/// The process that listens there must be ours.
async fn of_port(bind: &str) -> Finding {
    const CHECK: &str = "port";
    match tokio::net::TcpListener::bind(bind).await {
        Ok(_) => return fine(CHECK, format!("{bind} is free: no server runs there")),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {}
        Err(error) => {
            return wrong(
                CHECK,
                format!("cannot listen on {bind}: {error}"),
                "Choose another address with REMEMBRANCER_BIND.",
            );
        }
    }
    match health::is_ready(bind).await {
        Ok(()) => fine(CHECK, format!("a server answers at {bind} and is ready")),
        Err(error) if error.is::<health::NotReady>() => wrong(
            CHECK,
            format!("the server at {bind} is not ready: {error}"),
            "See `remembrancer status` and the server's log.",
        ),
        Err(error) => wrong(
            CHECK,
            format!("{bind} is in use by something that is no server of this kind: {error:#}"),
            "End it, or choose another address with REMEMBRANCER_BIND.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_stands_with_what_to_do() {
        let found = [fine("disk", "9 MB"), wrong("model", "it is gone", "Run it.")];
        let text = shown(&found, &Style::of_stdout());
        assert!(text.contains("1 check failed, 0 warnings") && text.contains("FAILED model"), "{text}");
        assert!(text.contains("→ Run it."), "{text}");
    }
}
