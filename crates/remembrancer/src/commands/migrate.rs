//! `migrate`: the schema of a shared Postgres brought to this version by the role that owns it, before servers and workers
//! start that log in as another.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use memory_store::schema::{Migrated, RuntimeRole};
use memory_store::{Store, StoreError};

use crate::settings::Settings;

/// How often a database that is away is tried.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

#[derive(Debug, clap::Args)]
pub(crate) struct MigrateArgs {
    /// The role that servers and workers log in as, which may then read and write, and no more; it is made where
    /// REMEMBRANCER_GRANT_PASSWORD or REMEMBRANCER_GRANT_PASSWORD_FILE gives it a password
    #[arg(long, env = "REMEMBRANCER_GRANT_TO", value_name = "ROLE")]
    grant_to: Option<String>,
    /// Seconds to wait for a database that cannot be reached yet
    #[arg(long, default_value_t = 30, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(0..=3600))]
    wait: u64,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(settings: &Settings, args: MigrateArgs) -> anyhow::Result<ExitCode> {
    let Some(url) = &settings.store.database_url else {
        bail!(
            "DATABASE_URL is not set; the embedded database is migrated when it starts, and `migrate` is for a Postgres of your own"
        );
    };
    let role = match args.grant_to.filter(|name| !name.is_empty()) {
        Some(name) => Some(RuntimeRole { name, password: grant_password()? }),
        None => None,
    };
    let migrated = migrate(url, role.as_ref(), Duration::from_secs(args.wait)).await?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&migrated)?);
    } else {
        println!("{}", sentence(&migrated));
    }
    Ok(ExitCode::SUCCESS)
}

/// Waits for a database that only starts.
async fn migrate(url: &str, role: Option<&RuntimeRole>, wait: Duration) -> anyhow::Result<Migrated> {
    let deadline = Instant::now() + wait;
    let mut has_logged = false;
    loop {
        let error = match Store::migrate(url, role).await {
            Ok(migrated) => return Ok(migrated),
            Err(error) => error,
        };
        // Waiting does not give a role what it may not do.
        if !error.is_passing() || matches!(error, StoreError::Unprepared(_)) || Instant::now() >= deadline {
            return Err(anyhow::Error::from(error)
                .context("the migration did not end; mend what is said and run it again"));
        }
        if !has_logged {
            eprintln!("remembrancer: waiting at most {} s: {error}", wait.as_secs());
            has_logged = true;
        }
        tokio::time::sleep(RETRY_INTERVAL).await;
    }
}

/// The password of the role that rights are granted to, if this is to make it.
fn grant_password() -> anyhow::Result<Option<String>> {
    let file = std::env::var_os("REMEMBRANCER_GRANT_PASSWORD_FILE").filter(|file| !file.is_empty());
    let password = match (std::env::var("REMEMBRANCER_GRANT_PASSWORD"), file) {
        (Ok(password), _) => password,
        (Err(_), Some(file)) => std::fs::read_to_string(&file).with_context(|| {
            format!("REMEMBRANCER_GRANT_PASSWORD_FILE {} cannot be read", PathBuf::from(&file).display())
        })?,
        (Err(_), None) => return Ok(None),
    };
    let password = password.trim_end_matches(['\r', '\n']);
    if password.len() < 16 {
        bail!(
            "REMEMBRANCER_GRANT_PASSWORD is too short to be safe: use at least 16 characters, such as `openssl rand -hex 32` gives"
        );
    }
    Ok(Some(password.to_owned()))
}

fn sentence(migrated: &Migrated) -> String {
    let to = migrated.to;
    let schema = match migrated.from {
        None => format!("the schema was made, version {to}"),
        Some(from) if from == to => format!("the schema is of version {to} already"),
        Some(from) => format!("the schema was brought from version {from} to version {to}"),
    };
    match &migrated.granted_to {
        Some(role) => format!("{schema}; {role} may read and write"),
        None => schema,
    }
}
