//! Whether the database is fit for work right now, asked in one short statement.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout_at};

use crate::schema::MIGRATOR;
use crate::{Store, StoreError};

/// How long until a database that was away is tried again.
const PAUSE: Duration = Duration::from_millis(50);

/// What a look at the database has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Health {
    /// Migrations of this build that the database lacks.
    pub missing_migrations: usize,
}

impl Store {
    /// Asks the database, at most so long. Connections that a restart of it has left dead are got over.
    pub async fn health(&self, patience: Duration) -> Result<Health, StoreError> {
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
    }

    async fn look(&self) -> Result<Health, StoreError> {
        let ours: Vec<i64> = MIGRATOR.iter().map(|migration| migration.version).collect();
        let mut conn = self.acquire().await?;
        let applied: i64 =
            sqlx::query_scalar("select count(*) from _sqlx_migrations where success and version = any($1)")
                .bind(&ours)
                .fetch_one(&mut *conn)
                .await?;
        conn.keep();
        Ok(Health { missing_migrations: ours.len().saturating_sub(applied as usize) })
    }
}
