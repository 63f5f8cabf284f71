//! Whether the database is fit for work right now, asked in one short statement.

use std::time::Duration;

use futures::future::BoxFuture;
use jiff::Timestamp;
use sqlx::{ConnectOptions, Row};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::migrations::MIGRATOR;
use crate::row_security::{self, RowSecurity};
use crate::webhooks::{self, DeadLetters};
use crate::{Store, StoreError, connecting};

/// How long until a database that was away is tried again.
const PAUSE: Duration = Duration::from_millis(50);

/// What a look at the database has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Health {
    /// Migrations of this build that the database lacks.
    pub missing_migrations: usize,
}

impl Store {
    /// Checks the database, for at most `patience`. A connection that a restart of the database has closed is replaced and does not
    /// count as a failure.
    pub fn health(&self, patience: Duration) -> BoxFuture<'_, Result<Health, StoreError>> {
        Box::pin(async move {
            let deadline = Instant::now() + patience;
            let late = || {
                let seconds = patience.as_secs_f32();
                StoreError::Unanswered(format!("the database did not answer within {seconds:.1} s"))
            };
            loop {
                match timeout_at(deadline, self.look()).await {
                    Err(_) => return Err(late()),
                    Ok(Err(error)) if error.is_passing() && Instant::now() + PAUSE < deadline => {
                        sleep(PAUSE).await;
                    }
                    Ok(looked) => return looked,
                }
            }
        })
    }

    async fn look(&self) -> Result<Health, StoreError> {
        let ours: Vec<i64> = MIGRATOR.iter().map(|migration| migration.version).collect();
        // Not of the pool: one that is busy is no reason to send its callers elsewhere.
        let mut conn = self.beside.take(&self.pool).await?;
        let applied: i64 =
            sqlx::query_scalar("select count(*) from _sqlx_migrations where success and version = any($1)")
                .bind(&ours)
                .fetch_one(&mut conn)
                .await?;
        self.beside.keep(conn);
        Ok(Health { missing_migrations: ours.len().saturating_sub(applied as usize) })
    }
}

/// The facts of a database, read without changing anything in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Examined {
    /// As in `18.6`.
    pub postgres: String,
    /// The version of pgvector, as far as it is installed in the database.
    pub pgvector: Option<String>,
    /// Migrations of this build that it lacks, and those that it has from another.
    pub missing_migrations: usize,
    pub foreign_migrations: usize,
    /// By how much its clock is ahead of ours, in seconds.
    pub ahead_seconds: f64,
    /// The model whose vectors are searched.
    pub model: Option<String>,
    pub bytes: i64,
    /// Of a process with this address; unknown while migrations are missing.
    pub row_security: Option<RowSecurity>,
    /// What webhooks could not be sent, as far as the address may see it.
    pub dead_letters: Vec<DeadLetters>,
}

/// How long each question may take.
const EXAMINED_WITHIN: Duration = Duration::from_secs(5);

/// Looks at a database. It is not migrated.
pub fn examine(url: &str) -> BoxFuture<'_, Result<Examined, StoreError>> {
    Box::pin(async move {
        let options = connecting::address(url)?;
        connecting::try_once(&options).await?;
        let looking = async {
            let mut conn = options.connect().await?;
            let row = sqlx::query(
            "select current_setting('server_version') as postgres, pg_database_size(current_database()) as bytes,
                    (select extversion from pg_extension where extname = 'vector') as pgvector,
                    extract(epoch from clock_timestamp())::float8 as now,
                    to_regclass('_sqlx_migrations') is not null as is_ours",
        )
        .fetch_one(&mut conn)
        .await?;
            let now = Timestamp::now().as_microsecond() as f64 / 1e6;
            let ours: Vec<i64> = MIGRATOR.iter().map(|migration| migration.version).collect();
            let mut applied: Vec<i64> = Vec::new();
            let mut model = None;
            let mut row_security = None;
            let mut dead_letters = Vec::new();
            if row.try_get("is_ours")? {
                let known =
                    sqlx::query_scalar("select version from _sqlx_migrations where success limit 10000");
                applied = known.fetch_all(&mut conn).await?;
            }
            if ours.iter().all(|version| applied.contains(version)) {
                let name = sqlx::query_scalar("select name from embedding_model where is_active");
                model = name.fetch_optional(&mut conn).await?;
                row_security = Some(row_security::of_process(&mut conn).await?);
                dead_letters = webhooks::dead_letters(&mut conn, None).await?;
            }
            let postgres: String = row.try_get("postgres")?;
            Ok::<_, StoreError>(Examined {
                postgres: postgres.split(' ').next().unwrap_or_default().to_owned(),
                pgvector: row.try_get("pgvector")?,
                missing_migrations: ours.iter().filter(|version| !applied.contains(version)).count(),
                foreign_migrations: applied.iter().filter(|version| !ours.contains(version)).count(),
                ahead_seconds: row.try_get::<f64, _>("now")? - now,
                model,
                bytes: row.try_get("bytes")?,
                row_security,
                dead_letters,
            })
        };
        match timeout(EXAMINED_WITHIN, looking).await {
            Ok(examined) => examined,
            Err(_) => Err(StoreError::Unanswered(format!(
                "the database did not answer within {} s",
                EXAMINED_WITHIN.as_secs()
            ))),
        }
    })
}
