//! `doctor`: looks at an installation without changing anything, and says what is wrong and what to do.

use std::fmt::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use memory_inference::clause_encoder::CLAUSE_ENCODER_FILE;
use memory_inference::integrity;
use memory_language::text::counted;
use memory_store::embedded::{EmbeddedPostgres, disk_of};
use memory_store::health::{Examined, examine};
use memory_store::own_folder::user_name;
use memory_store::row_security::RowSecurity;
use memory_store::webhooks::DeadLetters;
use serde::Serialize;
use serde_json::json;

use super::print::{Style, printable};
use super::{health, hook};
use crate::settings::{ListenSettings, Settings, open_secrets, token};
use crate::setup::{Component, Components, cannot_run_postgres};

/// With less room nothing can be kept soon, and with less than this one should see to it.
const FREE_BYTES_MIN: u64 = 64 << 20;
const FREE_BYTES_LOW: u64 = 1 << 30;
/// By how much two clocks may differ, in seconds, before it is mentioned, and before it is wrong.
const CLOCK_OFF: f64 = 5.0;
const CLOCK_WRONG: f64 = 60.0;
/// How long a program has to say its version.
const VERSION_PATIENCE: Duration = Duration::from_secs(10);

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
    found.extend(of_clause_encoder(&components));
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

fn of_folder(folder: &Path) -> Finding {
    const CHECK: &str = "data folder";
    let Ok(found) = folder.metadata() else {
        return wrong(
            CHECK,
            format!("{} is not there", folder.display()),
            "Run `remembrancer setup`, or name another with --data-dir.",
        );
    };
    let us = rustix::process::geteuid().as_raw();
    if !found.is_dir() {
        return wrong(CHECK, format!("{} is no folder", folder.display()), "Name another with --data-dir.");
    }
    if found.uid() != us {
        let (owner, me) = (user_name(found.uid()), user_name(us));
        let detail = format!("{} belongs to {owner}, and this is {me}", folder.display());
        return wrong(CHECK, detail, format!("Run this as {owner}, or name another folder with --data-dir."));
    }
    if found.mode() & 0o066 != 0 {
        let detail =
            format!("{} can be read by others (mode {:03o})", folder.display(), found.mode() & 0o777);
        let mode = if us == 0 { "711" } else { "700" };
        return doubtful(CHECK, detail, format!("`chmod {mode} {}`", folder.display()));
    }
    match tempfile::tempfile_in(folder) {
        Ok(_) => fine(CHECK, folder.display().to_string()),
        Err(error) => wrong(
            CHECK,
            format!("{} cannot be written to: {error}", folder.display()),
            "See its mode, and whether its disk is mounted read-only.",
        ),
    }
}

fn of_disk(folder: &Path) -> Option<Finding> {
    let (free, size) = folder.ancestors().find_map(disk_of)?;
    let detail = format!("{} MB of {} MB are free", free >> 20, size >> 20);
    Some(match free {
        _ if free < FREE_BYTES_MIN => wrong("disk", detail, "Free some space: nothing new can be kept."),
        _ if free < FREE_BYTES_LOW => {
            doubtful("disk", detail, "Free some space before the database has none.")
        }
        _ => fine("disk", detail),
    })
}

fn is_missing(components: &Components, component: Component) -> Option<String> {
    components
        .missing(true)
        .into_iter()
        .find(|missing| missing.component == component)
        .map(|missing| missing.to_string())
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

async fn of_postgres(components: &Components) -> Finding {
    const CHECK: &str = "postgres";
    const SETUP: &str = "Run `remembrancer setup`.";
    if let Some(reason) = cannot_run_postgres() {
        return wrong(CHECK, reason, "Set DATABASE_URL.");
    }
    if let Some(missing) = is_missing(components, Component::Postgres) {
        return wrong(CHECK, missing, SETUP);
    }
    let program = components.postgres_bin().join("postgres");
    let mut command = tokio::process::Command::new(&program);
    let asked = command.arg("--version").kill_on_drop(true).output();
    match tokio::time::timeout(VERSION_PATIENCE, asked).await {
        Ok(Ok(output)) if output.status.success() => {
            fine(CHECK, String::from_utf8_lossy(&output.stdout).trim().to_owned())
        }
        Ok(Ok(output)) => {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            wrong(
                CHECK,
                format!("{} does not run: {said}", program.display()),
                "Remove its folder and run `remembrancer setup`.",
            )
        }
        Ok(Err(error)) => wrong(CHECK, format!("{} does not run: {error}", program.display()), SETUP),
        Err(_) => wrong(CHECK, format!("{} does not answer", program.display()), SETUP),
    }
}

fn of_runtime(components: &Components) -> Finding {
    const CHECK: &str = "onnxruntime";
    if let Some(missing) = is_missing(components, Component::OnnxRuntime) {
        return wrong(
            CHECK,
            missing,
            "Run `remembrancer setup`; until then texts are found by their words only.",
        );
    }
    let library =
        components.folder(Component::OnnxRuntime).join(memory_inference::files::ONNXRUNTIME_LIBRARY);
    match integrity::check_library(&library) {
        Ok(()) => fine(CHECK, format!("{} at {}", Component::OnnxRuntime.title(), library.display())),
        Err(error) => wrong(CHECK, error.to_string(), "Remove its folder and run `remembrancer setup`."),
    }
}

fn of_model(settings: &Settings, components: &Components) -> Finding {
    const CHECK: &str = "model";
    if let Some(missing) = is_missing(components, Component::Model) {
        return wrong(
            CHECK,
            missing,
            "Run `remembrancer setup`; until then texts are found by their words only.",
        );
    }
    let folder = match settings.model.files() {
        Ok(files) => files.model_dir,
        Err(error) => return wrong(CHECK, error.to_string(), "Name the model's folder with --model-dir."),
    };
    match integrity::check_folder(&folder) {
        Ok(0) => fine(CHECK, format!("{}; no sums were noted beside it", folder.display())),
        Ok(files) => {
            let files = counted(files as i64, "file");
            fine(CHECK, format!("{}; {files} as {} says", folder.display(), integrity::SUMS_FILE))
        }
        Err(error) => wrong(CHECK, error.to_string(), "Remove the folder and run `remembrancer setup`."),
    }
}

/// Nothing where the model of setup is missing as a whole.
fn of_clause_encoder(components: &Components) -> Option<Finding> {
    const CHECK: &str = "encoder";
    let folder = components.folder(Component::Model);
    let file = folder.join(CLAUSE_ENCODER_FILE);
    folder.is_dir().then(|| {
        if file.is_file() {
            return fine(CHECK, format!("{} classifies clauses", file.display()));
        }
        doubtful(
            CHECK,
            "the clause encoder is missing: fewer events are found",
            "Run `remembrancer setup`, then `remembrancer reextract` for the texts that are there.",
        )
    })
}

async fn of_database(settings: &Settings, components: &Components) -> Vec<Finding> {
    const CHECK: &str = "database";
    let examined = if let Some(url) = &settings.store.database_url {
        examine(url).await
    } else {
        let postgres = EmbeddedPostgres::new(components.postgres_bin(), components.data_dir.join("postgres"));
        if !components.data_dir.join("postgres").is_dir() || !postgres.is_running().await {
            return vec![fine(CHECK, "does not run now; the first command starts it")];
        }
        examine(&postgres.url()).await
    };
    match examined {
        Ok(examined) => of_examined(&examined),
        Err(error) => vec![wrong(CHECK, error.to_string(), "See that it runs, and its log.")],
    }
}

fn of_examined(examined: &Examined) -> Vec<Finding> {
    const CHECK: &str = "database";
    let Examined { postgres, pgvector, missing_migrations, foreign_migrations, ahead_seconds, .. } = examined;
    let vector = pgvector.as_ref().map_or("no pgvector yet".to_owned(), |v| format!("pgvector {v}"));
    let model = examined.model.as_deref().unwrap_or("no model yet");
    let detail = format!("PostgreSQL {postgres}, {vector}, {} MB, vectors of {model}", examined.bytes >> 20);
    let mut found = Vec::new();
    found.push(match (*missing_migrations, *foreign_migrations) {
        (0, 0) => fine(CHECK, detail),
        (_, foreign) if foreign > 0 => wrong(
            CHECK,
            format!("{detail}; {} of another version", counted(foreign as i64, "migration")),
            "Run the version that wrote it, or a later one.",
        ),
        (missing, _) => doubtful(
            CHECK,
            format!("{detail}; it lacks {}", counted(missing as i64, "migration")),
            "The next start of the server makes up for it.",
        ),
    });
    found.extend(examined.row_security.as_ref().map(of_row_security));
    found.extend(examined.dead_letters.iter().map(of_dead_letters));
    let off = ahead_seconds.abs();
    let way = if *ahead_seconds < 0.0 { "behind" } else { "ahead of" };
    let detail = format!("the database's is {off:.1} s {way} this machine's");
    let advice = "Set both by NTP: dates of what is remembered and leases of jobs go by the database's.";
    found.push(match off {
        _ if off > CLOCK_WRONG => wrong("clock", detail, advice),
        _ if off > CLOCK_OFF => doubtful("clock", detail, advice),
        _ => fine("clock", detail),
    });
    found
}

/// Whether the database itself keeps namespaces apart.
fn of_row_security(found: &RowSecurity) -> Finding {
    const CHECK: &str = "namespaces";
    match found {
        RowSecurity::On { role } => fine(
            CHECK,
            format!("row-level security of the database keeps them apart as well: statements run as {role}"),
        ),
        RowSecurity::Off { role, why } => doubtful(
            CHECK,
            format!("only the program keeps them apart: row-level security does not bind the role {role}"),
            *why,
        ),
    }
}

/// What a webhook could not be sent.
fn of_dead_letters(dead: &DeadLetters) -> Finding {
    let DeadLetters { namespace, webhook_id, count, error, .. } = dead;
    let why = error.as_deref().map_or_else(String::new, |error| format!("; the last: {error}"));
    let messages = counted(*count, "message");
    doubtful(
        "webhooks",
        format!("{messages} could not be sent to {webhook_id} of {namespace} and were given up{why}"),
        format!(
            "When the receiver is mended: `remembrancer --namespace {namespace} webhooks resend {webhook_id}`; where it is \
             gone, `webhooks remove {webhook_id}`."
        ),
    )
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

    fn examined() -> Examined {
        Examined {
            postgres: "18.6".to_owned(),
            pgvector: Some("0.8.2".to_owned()),
            missing_migrations: 0,
            foreign_migrations: 0,
            ahead_seconds: 0.1,
            model: Some("m".to_owned()),
            bytes: 5 << 20,
            row_security: None,
            dead_letters: Vec::new(),
        }
    }

    #[test]
    fn a_database_is_judged_by_its_schema_and_its_clock() {
        let verdicts =
            |examined: &Examined| of_examined(examined).iter().map(|f| f.verdict).collect::<Vec<_>>();
        assert_eq!(verdicts(&examined()), [Verdict::Ok, Verdict::Ok]);
        let late = Examined { ahead_seconds: -90.0, missing_migrations: 1, ..examined() };
        assert_eq!(verdicts(&late), [Verdict::Warning, Verdict::Failed]);
        let newer = Examined { ahead_seconds: 10.0, foreign_migrations: 2, ..examined() };
        assert_eq!(verdicts(&newer), [Verdict::Failed, Verdict::Warning]);
        let off = RowSecurity::Off { role: "me".to_owned(), why: "it owns the tables" };
        let unbound = Examined { row_security: Some(off), ..examined() };
        assert_eq!(verdicts(&unbound), [Verdict::Ok, Verdict::Warning, Verdict::Ok]);
    }

    #[test]
    fn what_is_wrong_stands_with_what_to_do() {
        let found = [fine("disk", "9 MB"), wrong("model", "it is gone", "Run it.")];
        let text = shown(&found, &Style::of_stdout());
        assert!(text.contains("1 check failed, 0 warnings") && text.contains("FAILED model"), "{text}");
        assert!(text.contains("→ Run it."), "{text}");
    }
}
