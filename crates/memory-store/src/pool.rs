//! The database of a process: its settings, and connections and transactions within a namespace or across all.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use memory_core::id::Namespace;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions, Connection, PgPool, Row};

use crate::embedded::EmbeddedPostgres;
use crate::lending::{Lending, Pooled, Tx};
use crate::row_security::{self, Reach, RowSecurity};
use crate::{InvalidSetting, StoreError, connecting, schema};

/// The oldest PostgreSQL that has what the schema uses.
const POSTGRES_MIN_VERSION: i32 = 150_000;
/// How long a call waits for a free connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);
/// Every statement sees the same state.
const SNAPSHOT: &str = "begin isolation level repeatable read read only";

/// A connection, in or outside a transaction.
pub type Conn = sqlx::PgConnection;

#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Where the data is")]
pub struct StoreSettings {
    /// Postgres with pgvector to use instead of the embedded one, e.g. `postgres://user:password@host/db`
    #[arg(long, env = "DATABASE_URL", hide_env_values = true, global = true, value_name = "URL")]
    pub database_url: Option<String>,
    /// Most connections one process works with; one more asks whether the database is well
    #[arg(long, env = "REMEMBRANCER_DATABASE_CONNECTIONS", default_value_t = 16, value_name = "N", value_parser = clap::value_parser!(u32).range(4..=200), global = true)]
    pub database_connections: u32,
}

impl StoreSettings {
    /// A variable that is set to nothing is not set. The password in the file that DATABASE_PASSWORD_FILE names comes
    /// into the address, unless that has one.
    pub fn tidy(&mut self) -> Result<(), InvalidSetting> {
        let url = self.database_url.take().map(|url| url.trim().to_owned()).filter(|url| !url.is_empty());
        let file = std::env::var_os("DATABASE_PASSWORD_FILE").filter(|file| !file.is_empty());
        self.database_url = match (url, file) {
            (Some(url), Some(file)) => Some(connecting::with_password(&url, Path::new(&file))?),
            (url, _) => url,
        };
        Ok(())
    }

    /// What is wrong with the settings, as far as that shows without connecting.
    pub fn check(&self) -> Result<(), StoreError> {
        let Some(url) = &self.database_url else { return Ok(()) };
        connecting::address(url)?;
        Ok(())
    }
}

/// The connections of a process: those in use, those that are open and idle, and how many there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolState {
    pub used: usize,
    pub idle: usize,
    pub most: usize,
}

/// How long a caller waited for a connection.
fn measure_wait(asked: Instant, error: Option<&StoreError>) {
    metrics::histogram!("remembrancer_database_wait_duration_seconds").record(asked.elapsed());
    if matches!(error, Some(StoreError::Unreachable(sqlx::Error::PoolTimedOut))) {
        metrics::counter!("remembrancer_database_wait_timeouts_total").increment(1);
    }
}

/// Everything that is kept.
#[derive(Debug, Clone)]
pub struct Store {
    pub(crate) pool: PgPool,
    lending: Lending,
    pub(crate) beside: Beside,
    /// The login of the role that owns the schema, where it is this process's.
    owner: Option<Arc<PgConnectOptions>>,
    row_security: Arc<RowSecurity>,
}

/// One connection beside the pool, for health checks while all of the pool are in use. It is opened when it
/// is first wanted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Beside(Arc<Mutex<Option<Conn>>>);

impl Beside {
    /// The one that was kept, else a new one. The caller gives it back when its statements have all come to their end.
    pub(crate) async fn take(&self, pool: &PgPool) -> Result<Conn, StoreError> {
        let kept = self.lock().take();
        match kept {
            Some(conn) => Ok(conn),
            None => Ok(pool.connect_options().connect().await?),
        }
    }

    pub(crate) fn keep(&self, conn: Conn) {
        *self.lock() = Some(conn);
    }

    fn lock(&self) -> MutexGuard<'_, Option<Conn>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store {
    /// Connects, checks that the database is fit for use and migrates it; a role that may not do that finds it migrated, or
    /// gets an error that says to try again.
    pub fn open(url: &str, connections: u32) -> BoxFuture<'_, Result<Self, StoreError>> {
        Box::pin(async move {
            let (login, mut conn) = first_connection(url).await?;
            schema::ensure(&mut conn).await?;
            let lowered = row_security::lower(&mut conn, &login).await?;
            Self::connect(conn, login, lowered, connections).await
        })
    }

    /// The same with the embedded server.
    pub fn open_embedded(
        postgres: &EmbeddedPostgres,
        connections: u32,
    ) -> BoxFuture<'_, Result<Self, StoreError>> {
        Box::pin(async move {
            let (login, mut conn) = first_connection(&postgres.url()).await?;
            schema::ensure(&mut conn).await?;
            let lowered = row_security::lower_embedded(&mut conn, &login).await?;
            Self::connect(conn, login, lowered, connections).await
        })
    }

    /// Connects to a database that another process holds, and changes nothing of its schema.
    pub fn attach(url: &str, connections: u32) -> BoxFuture<'_, Result<Self, StoreError>> {
        Box::pin(async move {
            let (login, mut conn) = first_connection(url).await?;
            schema::check(&mut conn).await?;
            let lowered = row_security::lower(&mut conn, &login).await?;
            Self::connect(conn, login, lowered, connections).await
        })
    }

    /// The same with the embedded server, which another process of ours has started.
    pub fn attach_embedded(
        postgres: &EmbeddedPostgres,
        connections: u32,
    ) -> BoxFuture<'_, Result<Self, StoreError>> {
        Box::pin(async move {
            let (login, mut conn) = first_connection(&postgres.url()).await?;
            schema::check(&mut conn).await?;
            let lowered = row_security::lower_embedded(&mut conn, &login).await?;
            Self::connect(conn, login, lowered, connections).await
        })
    }

    /// `lowered` is the login of the role that statements run as; without it they run as the one of the address.
    async fn connect(
        first: Conn,
        login: PgConnectOptions,
        lowered: Option<PgConnectOptions>,
        connections: u32,
    ) -> Result<Self, StoreError> {
        let _ = first.close().await;
        let owner = lowered.is_some().then(|| Arc::new(login.clone()));
        let pool = PgPoolOptions::new()
            .max_connections(connections)
            .min_connections(2)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            // A dead connection shows itself on use, and the call is made again; a ping before each use
            // would cost every call a round trip.
            .test_before_acquire(false)
            .connect_with(lowered.unwrap_or(login))
            .await?;
        let row_security = row_security::of(&mut *pool.acquire().await?).await?;
        if let RowSecurity::Off { role, why } = &row_security {
            tracing::warn!(
                role,
                why,
                "row-level security does not hold this role; docs/guides/access.md says how it does"
            );
        }
        let lending = Lending::new(pool.clone());
        Ok(Self { pool, lending, beside: Beside::default(), owner, row_security: Arc::new(row_security) })
    }

    /// Whether the database holds the statements of this process to their namespace.
    pub fn row_security(&self) -> &RowSecurity {
        &self.row_security
    }

    /// A transaction in a namespace: the database shows it nothing of any other, and takes nothing for another from it.
    pub async fn begin(&self, ns: &Namespace) -> Result<Tx, StoreError> {
        self.begin_reaching("begin", Reach::Within(ns)).await
    }

    /// A transaction across all namespaces: for what belongs to none, or to all.
    pub async fn begin_across(&self) -> Result<Tx, StoreError> {
        self.begin_reaching("begin", Reach::Across).await
    }

    /// A transaction in a namespace that only reads, and in which every statement sees the same state.
    pub async fn begin_snapshot(&self, ns: &Namespace) -> Result<Tx, StoreError> {
        self.begin_reaching(SNAPSHOT, Reach::Within(ns)).await
    }

    /// The same across all namespaces.
    pub async fn begin_snapshot_across(&self) -> Result<Tx, StoreError> {
        self.begin_reaching(SNAPSHOT, Reach::Across).await
    }

    /// In a namespace, or across all where none is named.
    pub async fn begin_of(&self, ns: Option<&Namespace>) -> Result<Tx, StoreError> {
        self.begin_reaching("begin", ns.map_or(Reach::Across, Reach::Within)).await
    }

    async fn begin_reaching(&self, begin: &str, reach: Reach<'_>) -> Result<Tx, StoreError> {
        let asked = Instant::now();
        let begun = self.lending.begin(begin, reach).await;
        measure_wait(asked, begun.as_ref().err());
        begun
    }

    /// A connection in a namespace: the database shows it nothing of any other, and takes nothing for another from it.
    pub async fn acquire(&self, ns: &Namespace) -> Result<Pooled, StoreError> {
        self.acquire_reaching(Reach::Within(ns)).await
    }

    /// A connection across all namespaces: for what belongs to none, or to all.
    pub async fn acquire_across(&self) -> Result<Pooled, StoreError> {
        self.acquire_reaching(Reach::Across).await
    }

    /// In a namespace, or across all where none is named.
    pub async fn acquire_of(&self, ns: Option<&Namespace>) -> Result<Pooled, StoreError> {
        self.acquire_reaching(ns.map_or(Reach::Across, Reach::Within)).await
    }

    async fn acquire_reaching(&self, reach: Reach<'_>) -> Result<Pooled, StoreError> {
        let asked = Instant::now();
        let lent = self.lending.lend(reach).await;
        measure_wait(asked, lent.as_ref().err());
        lent
    }

    /// The connections of this process.
    pub fn pool_state(&self) -> PoolState {
        let open = self.pool.size() as usize;
        let most = self.pool.options().get_max_connections() as usize;
        let idle = self.pool.num_idle() + self.lending.ready();
        PoolState { used: open.saturating_sub(idle), idle: idle.min(open), most }
    }

    /// A connection across all namespaces that is never lent again: what is held by it ends with it.
    pub(crate) async fn dedicated(&self) -> Result<Conn, StoreError> {
        Ok(self.acquire_across().await?.detach())
    }

    /// A connection for changes of the schema, of the role that owns it where this process has that role. Else functions of the
    /// schema make the few changes that are made while servers run.
    pub async fn for_schema(&self) -> Result<Conn, StoreError> {
        match &self.owner {
            Some(owner) => Ok(owner.connect().await?),
            None => self.dedicated().await,
        }
    }

    /// A stream of hints that something of this topic has changed. It starts listening before it returns.
    pub async fn listen_for(&self, topic: Topic) -> Result<Hints, StoreError> {
        let mut listener = sqlx::postgres::PgListener::connect_with(&self.pool).await?;
        listener.listen(topic.channel()).await?;
        Ok(Hints(listener))
    }

    /// Tells other processes that a change was committed. A hint: losing it costs a poll interval.
    pub async fn hint(&self, topic: Topic) -> Result<(), StoreError> {
        let mut conn = self.acquire_across().await?;
        sqlx::query("select pg_notify($1, '')").bind(topic.channel()).execute(&mut *conn).await?;
        conn.done();
        Ok(())
    }

    pub async fn close(&self) {
        let beside = self.beside.lock().take();
        if let Some(conn) = beside {
            let _ = conn.close().await;
        }
        self.lending.close();
        self.pool.close().await;
    }
}

/// Every statement goes through connections with these settings.
fn login(url: &str) -> Result<PgConnectOptions, StoreError> {
    Ok(connecting::address(url)?.application_name("remembrancer").options([
        // Every statement goes by key, namespace first. Without statistics, as in a young database, the
        // planner would take small tables for empty ones and read them whole, again and again.
        ("enable_seqscan", "off"),
        // A plan made for a namespace that the statistics have not seen takes the namespace alone for
        // selective and reads all of it for every row looked up. A plan for any namespace does not, and is
        // made once.
        ("plan_cache_mode", "force_generic_plan"),
        ("jit", "off"),
        ("max_parallel_workers_per_gather", "0"),
        ("idle_in_transaction_session_timeout", "60s"),
        // Trigrams wait for as long as a search reads the list of them without being slowed down.
        ("gin_pending_list_limit", "256kB"),
        // Enough candidates, and more where a filter drops them; results are sorted again after.
        ("hnsw.ef_search", "150"),
        ("hnsw.iterative_scan", "relaxed_order"),
    ]))
}

/// The first connection, to a database that is fit for use, and how to log in to it.
pub(crate) async fn first_connection(url: &str) -> Result<(PgConnectOptions, Conn), StoreError> {
    let login = login(url)?;
    // Later tries would go on for long, and then not say why.
    connecting::try_once(&login).await?;
    let mut conn = login.connect().await?;
    check_fitness(&mut conn).await?;
    Ok((login, conn))
}

async fn check_fitness(conn: &mut Conn) -> Result<(), StoreError> {
    let row = sqlx::query(
        "select current_setting('server_version_num')::int as version,
                current_setting('server_encoding') as encoding,
                exists (select from pg_available_extensions where name = 'vector') as has_vector,
                (select count(*) = 2 from pg_available_extensions where name in ('pg_trgm', 'btree_gin')) as has_contrib",
    )
    .fetch_one(conn)
    .await?;
    let version: i32 = row.try_get("version")?;
    let encoding: String = row.try_get("encoding")?;
    if version < POSTGRES_MIN_VERSION {
        return Err(StoreError::Unsuitable(format!(
            "the database is PostgreSQL {}, 15 or later is needed",
            version / 10_000
        )));
    }
    if encoding != "UTF8" {
        return Err(StoreError::Unsuitable(format!("the database's encoding is {encoding}, UTF8 is needed")));
    }
    if !row.try_get::<bool, _>("has_vector")? {
        return Err(StoreError::Unsuitable(
            "the database server has no pgvector; install its package (such as postgresql-17-pgvector) or use the embedded default".into(),
        ));
    }
    if !row.try_get::<bool, _>("has_contrib")? {
        return Err(StoreError::Unsuitable(
            "the database server has no pg_trgm and btree_gin; install its package (such as postgresql-contrib) or use the embedded default".into(),
        ));
    }
    Ok(())
}

/// What the processes of one database notify each other of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    /// Jobs may be due.
    Jobs,
    /// A graph has another version.
    Graphs,
}

impl Topic {
    fn channel(self) -> &'static str {
        match self {
            Self::Jobs => "event_jobs",
            Self::Graphs => "graph_thread",
        }
    }
}

/// Hints of one topic.
pub struct Hints(sqlx::postgres::PgListener);

impl Hints {
    /// Waits for the next hint.
    pub async fn next(&mut self) -> Result<(), StoreError> {
        self.0.recv().await?;
        Ok(())
    }
}
