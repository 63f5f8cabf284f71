//! What is in a database, and which schema it has: for backups, restoring and changes of the schema.

use std::collections::BTreeMap;

use futures::future::BoxFuture;
use memory_core::id::Namespace;
use memory_core::ports::ModelInfo;
use serde::{Deserialize, Serialize};
use sqlx::{AssertSqlSafe, ConnectOptions, Row};

use crate::connecting;
use crate::migrations::MIGRATOR;
use crate::models;
use crate::{Conn, StoreError};

/// How much of a text is asked for to see whether it is found.
const PROBE_CHARS: i32 = 300;

/// What a database is, and how much is in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Described {
    /// The number of the last migration.
    pub schema: i64,
    /// As it names itself, such as `18.6`.
    pub postgres: String,
    pub postgres_major: u32,
    pub pgvector: Option<String>,
    /// The model whose vectors are searched.
    pub model: Option<DescribedModel>,
    /// Which database it is; a copy of it has the same.
    pub source: Option<String>,
    pub bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DescribedModel {
    pub id: String,
    pub dimension: usize,
}

impl From<ModelInfo> for DescribedModel {
    fn from(info: ModelInfo) -> Self {
        Self { id: info.id, dimension: info.dimension }
    }
}

/// What is to be done with the schema of a database before this build can use it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    None,
    /// It is empty: nothing can be lost.
    First,
    From(i64),
}

/// A connection that changes nothing of the database and asks nothing of it.
pub fn look_at(url: &str) -> BoxFuture<'_, Result<Conn, StoreError>> {
    Box::pin(async move {
        let options = connecting::address(url)?;
        connecting::try_once(&options).await?;
        Ok(options.application_name("remembrancer").connect().await?)
    })
}

/// What opening the database will do with its schema.
pub async fn change_ahead(conn: &mut Conn) -> Result<Change, StoreError> {
    let applied = applied(conn).await?;
    let missing = MIGRATOR.iter().any(|migration| !applied.contains(&migration.version));
    Ok(match applied.last() {
        None => Change::First,
        Some(last) if missing => Change::From(*last),
        Some(_) => Change::None,
    })
}

/// The numbers of the migrations that the database has, in order.
async fn applied(conn: &mut Conn) -> Result<Vec<i64>, StoreError> {
    let has_any: bool = sqlx::query_scalar("select to_regclass('public._sqlx_migrations') is not null")
        .fetch_one(&mut *conn)
        .await?;
    if !has_any {
        return Ok(Vec::new());
    }
    Ok(sqlx::query_scalar("select version from _sqlx_migrations where success order by version")
        .fetch_all(conn)
        .await?)
}

/// Every namespace that has anything of its own, in order.
pub async fn namespaces(conn: &mut Conn) -> Result<Vec<Namespace>, StoreError> {
    let names: Vec<String> = sqlx::query_scalar(
        "select namespace from artifact_revision
         union select namespace from graph_thread
         union select namespace from entity_decision
         order by 1",
    )
    .fetch_all(conn)
    .await?;
    let of = |name: &String| Namespace::new(name).map_err(|error| StoreError::Unsuitable(error.0));
    names.iter().map(of).collect()
}

/// Also of a database whose schema is an older one.
pub async fn describe(conn: &mut Conn) -> Result<Described, StoreError> {
    let schema = applied(conn).await?.last().copied().unwrap_or(0);
    let row = sqlx::query(
        "select current_setting('server_version') as name,
                current_setting('server_version_num')::int / 10000 as major,
                pg_database_size(current_database()) as bytes,
                (select extversion from pg_extension where extname = 'vector') as pgvector,
                to_regclass('public.embedding_model') is not null as has_models",
    )
    .fetch_one(&mut *conn)
    .await?;
    let model = if row.try_get("has_models")? { models::active(&mut *conn).await? } else { None };
    let source = source(conn).await;
    let postgres: String = row.try_get("name")?;
    Ok(Described {
        schema,
        postgres: postgres.split_whitespace().next().unwrap_or_default().to_owned(),
        postgres_major: row.try_get::<i32, _>("major")? as u32,
        pgvector: row.try_get("pgvector")?,
        model: model.map(|model| model.info.into()),
        source,
        bytes: row.try_get::<i64, _>("bytes")? as u64,
    })
}

/// Which database it is; a copy of it says the same. On a server of the user's own a role may not be allowed to ask.
pub async fn source(conn: &mut Conn) -> Option<String> {
    // Asked first: a refusal would end the transaction that this may be in.
    let may_ask = sqlx::query_scalar("select has_function_privilege('pg_control_system()', 'execute')");
    if !may_ask.fetch_one(&mut *conn).await.unwrap_or(false) {
        return None;
    }
    let asked = sqlx::query_scalar(
        "select system_identifier::text || '/' || current_database() from pg_control_system()",
    );
    asked.fetch_one(conn).await.ok()
}

/// How many rows each table has. All tables there are, whatever they are called.
pub async fn count_rows(conn: &mut Conn) -> Result<BTreeMap<String, i64>, StoreError> {
    let tables: Vec<String> = sqlx::query_scalar(
        "select c.relname::text
         from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where n.nspname = 'public' and c.relkind in ('r', 'p') and not c.relispartition
         order by 1",
    )
    .fetch_all(&mut *conn)
    .await?;
    let mut counts = BTreeMap::new();
    for table in tables {
        let quoted = table.replace('"', "\"\"");
        let statement = AssertSqlSafe(format!("select count(*) from public.\"{quoted}\""));
        counts.insert(table, sqlx::query_scalar(statement).fetch_one(&mut *conn).await?);
    }
    Ok(counts)
}

/// A text of the database and how it begins, to see whether it is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    pub namespace: Namespace,
    pub artifact_id: String,
    pub words: String,
}

/// The first and the last text, and one between, as far as there are any.
pub async fn probes(conn: &mut Conn) -> Result<Vec<Probe>, StoreError> {
    let rows = sqlx::query(
        "with ends as (
             select min(revision_id) as low, max(revision_id) as high
             from artifact_revision
             where is_latest
         ), chosen as (
             select distinct (
                 select min(r.revision_id) from artifact_revision r where r.is_latest and r.revision_id >= aim
             ) as revision_id
             from ends, unnest(array[low, low + (high - low) / 2, high]) aim
         )
         select r.namespace, r.artifact_id, left(p.text, $1) as words
         from chosen
         join artifact_revision r using (revision_id)
         join passage p on p.namespace = r.namespace and p.revision_id = r.revision_id and p.ordinal = 0",
    )
    .bind(PROBE_CHARS)
    .fetch_all(conn)
    .await?;
    rows.iter()
        .map(|row| {
            let namespace: String = row.try_get("namespace")?;
            Ok(Probe {
                namespace: Namespace::new(&namespace).map_err(|error| StoreError::Unsuitable(error.0))?,
                artifact_id: row.try_get("artifact_id")?,
                words: row.try_get("words")?,
            })
        })
        .collect()
}
