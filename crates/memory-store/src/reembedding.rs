//! Another model in the place of the one that is searched: its vectors beside the old, the switch, and the
//! end of the old.

use std::collections::HashMap;

use memory_core::artifact::Metadata;
use memory_core::id::{Namespace, PassageId};
use memory_core::ports::ModelInfo;
use memory_core::render::Surroundings;
use sqlx::{AssertSqlSafe, Connection, FromRow, Row};

use crate::metadata_columns::MetadataRow;
use crate::models::{ActiveModel, index_definition, model_of};
use crate::schema::is_owner;
use crate::{Conn, Store, StoreError, Tx};

/// The largest dimension that a vector index takes.
pub const DIMENSION_MAX: usize = 2000;

/// The exclusive right to change the model of a database: a lock of a connection of its own, so that it also ends when the process
/// is killed.
#[derive(Debug)]
pub struct ReembedLock(Conn);

impl ReembedLock {
    /// Gives it up at once: others need not wait until the server sees that the connection is gone.
    pub async fn release(self) {
        let _ = self.0.close().await;
    }
}

impl Store {
    /// `None` while another process has it.
    pub async fn lock_reembedding(&self) -> Result<Option<ReembedLock>, StoreError> {
        let mut conn = self.dedicated().await?;
        let is_ours: bool =
            sqlx::query_scalar("select pg_try_advisory_lock(hashtextextended('remembrancer reembed', 2))")
                .fetch_one(&mut conn)
                .await?;
        Ok(is_ours.then_some(ReembedLock(conn)))
    }
}

/// What became of registering a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Registered {
    /// It is there, and not searched yet.
    Inactive(ActiveModel),
    Active(ActiveModel),
    /// Vectors of a model of the same name but another dimension are stored. They are useless and have to be deleted first.
    Obsolete(ActiveModel),
}

/// Gives the model a row of its own, or finds it.
pub async fn register(tx: &mut Tx, model: &ModelInfo) -> Result<Registered, StoreError> {
    lock_models(tx).await?;
    let row = sqlx::query("select model_id, name, dimension, is_active from embedding_model where name = $1")
        .bind(&model.id)
        .fetch_optional(&mut **tx)
        .await?;
    if let Some(row) = row {
        let known = model_of(&row)?;
        return match (row.try_get("is_active")?, known.info == *model) {
            (true, true) => Ok(Registered::Active(known)),
            (false, true) => Ok(Registered::Inactive(known)),
            (false, false) => Ok(Registered::Obsolete(known)),
            (true, false) => Err(StoreError::ModelMismatch(format!(
                "The vectors that are searched were made by {} with {} dimensions; the model at hand has the same id \
                 and {} dimensions. Give it an id of its own in its model.json.",
                model.id, known.info.dimension, model.dimension
            ))),
        };
    }
    let model_id = sqlx::query_scalar(
        "insert into embedding_model (name, dimension, is_active) values ($1, $2, false) returning model_id",
    )
    .bind(&model.id)
    .bind(model.dimension as i32)
    .fetch_one(&mut **tx)
    .await?;
    Ok(Registered::Inactive(ActiveModel { model_id, info: model.clone() }))
}

/// One change at a time to the list of models.
async fn lock_models(tx: &mut Tx) -> Result<(), StoreError> {
    sqlx::query("lock table embedding_model in share row exclusive mode").execute(&mut **tx).await?;
    Ok(())
}

/// Makes the model's index while others read and write. Its vectors come later, so nothing is sorted into it here. One
/// that was left unfinished is made anew. A role that does not own the tables has it made at once: writers wait while the vectors
/// are looked through.
pub async fn ensure_index(conn: &mut Conn, model: &ActiveModel) -> Result<(), StoreError> {
    let model_id = model.model_id;
    let is_whole: Option<bool> =
        sqlx::query_scalar("select indisvalid from pg_index where indexrelid = to_regclass($1)")
            .bind(format!("passage_embedding_hnsw_{model_id}"))
            .fetch_optional(&mut *conn)
            .await?;
    match is_whole {
        Some(true) => return Ok(()),
        Some(false) => drop_index(conn, model).await?,
        None => {}
    }
    if !is_owner(conn).await? {
        sqlx::query("select create_vector_index($1)").bind(model_id).execute(conn).await?;
        return Ok(());
    }
    let create = format!("create index concurrently if not exists {}", index_definition(model));
    sqlx::query(AssertSqlSafe(create)).execute(conn).await?;
    Ok(())
}

async fn drop_index(conn: &mut Conn, model: &ActiveModel) -> Result<(), StoreError> {
    let model_id = model.model_id;
    if !is_owner(conn).await? {
        sqlx::query("select drop_vector_index($1)").bind(model_id).execute(conn).await?;
        return Ok(());
    }
    sqlx::query(AssertSqlSafe(format!(
        "drop index concurrently if exists passage_embedding_hnsw_{model_id}"
    )))
    .execute(conn)
    .await?;
    Ok(())
}

/// Passages at all, and those that the model has a vector for.
pub async fn coverage(conn: &mut Conn, model_id: i16) -> Result<(u64, u64), StoreError> {
    let (passages, vectors): (i64, i64) = sqlx::query_as(
        "select (select count(*) from passage), (select count(*) from passage_embedding where model_id = $1)",
    )
    .bind(model_id)
    .fetch_one(conn)
    .await?;
    Ok((passages as u64, vectors as u64))
}

/// A passage whose vector is missing, of any namespace.
#[derive(Debug, Clone)]
pub struct Lacking {
    pub namespace: Namespace,
    pub passage_id: PassageId,
    /// What is embedded of it.
    pub text: String,
    /// The revision of the passage; `None` when it is an observation's.
    revision_id: Option<i64>,
}

/// Where to go on among the passages of all namespaces: after this one.
pub type Position = (String, i64);

/// The next passages, in order, that the model has no vector for.
pub async fn lacking(
    conn: &mut Conn,
    model_id: i16,
    after: &Position,
    limit: i64,
) -> Result<Vec<Lacking>, StoreError> {
    let rows: Vec<(String, i64, Option<i64>, String)> =
        sqlx::query_as(include_str!("sql/lacking_passages.sql"))
            .bind(model_id)
            .bind(&after.0)
            .bind(after.1)
            .bind(limit)
            .fetch_all(&mut *conn)
            .await?;
    let of: Vec<(&str, i64)> = rows.iter().filter_map(|row| Some((&*row.0, row.2?))).collect();
    // A passage is read before what surrounds it: when that changes, the passage is replaced, and what was made of the
    // old one is not written.
    let around = surroundings(conn, &of).await?;
    let rendered = rows.into_iter().map(|(namespace, passage_id, revision_id, text)| {
        let text = match revision_id.and_then(|id| around.get(&id)) {
            Some(around) => around.for_model(&text),
            None => text,
        };
        let namespace = Namespace::new(&namespace)
            .map_err(|_| StoreError::Unsuitable("a stored namespace is damaged".into()))?;
        Ok(Lacking { namespace, passage_id: PassageId(passage_id), text, revision_id })
    });
    rendered.collect()
}

/// What surrounds the passages of revisions, as far as models see it.
async fn surroundings(
    conn: &mut Conn,
    revisions: &[(&str, i64)],
) -> Result<HashMap<i64, Surroundings>, StoreError> {
    let (namespaces, ids): (Vec<&str>, Vec<i64>) = revisions.iter().copied().unzip();
    let rows = sqlx::query(
        "select r.*
         from unnest($1::text[], $2::bigint[]) wanted (namespace, revision_id)
         cross join lateral (
             select revision_id, context, source, source_id, author, role, participants, date, title, tags,
                    importance, conversation_id, turn_index
             from artifact_revision r
             where r.namespace = wanted.namespace and r.revision_id = wanted.revision_id
             offset 0
         ) r",
    )
    .bind(namespaces)
    .bind(ids)
    .fetch_all(conn)
    .await?;
    let around = rows.iter().map(|row| {
        let meta: Metadata = MetadataRow::from_row(row)?.into();
        Ok((row.try_get("revision_id")?, Surroundings::new(&meta, None)))
    });
    around.collect()
}

/// Keeps the revisions of passages as they are until the transaction ends: whether they are the latest is stored beside
/// their vectors too.
pub async fn hold_revisions(tx: &mut Tx, ns: &Namespace, of: &[&Lacking]) -> Result<(), StoreError> {
    sqlx::query(
        "select from artifact_revision where namespace = $1 and revision_id = any($2) order by revision_id for share",
    )
    .bind(ns.as_str())
    .bind(of.iter().filter_map(|passage| passage.revision_id).collect::<Vec<_>>())
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// From here on the model is the one that is searched. Gives the one that was until now.
pub async fn switch(tx: &mut Tx, model: &ActiveModel) -> Result<Option<ActiveModel>, StoreError> {
    lock_models(tx).await?;
    let former = crate::models::active(tx).await?;
    sqlx::query("update embedding_model set is_active = false where is_active").execute(&mut **tx).await?;
    let switched = sqlx::query("update embedding_model set is_active = true where model_id = $1")
        .bind(model.model_id)
        .execute(&mut **tx)
        .await?;
    if switched.rows_affected() == 1 { Ok(former) } else { Err(StoreError::Conflict) }
}

/// Takes away an inactive model's index, and with the next calls of [`remove_vectors`] its vectors.
pub async fn begin_removal(conn: &mut Conn, model: &ActiveModel) -> Result<(), StoreError> {
    // First: entries of vectors that are gone would have to be cleared out of it one by one.
    drop_index(conn, model).await
}

/// Deletes up to `limit` vectors of a model, with the states of their tokens; gives where to go on, `None` at the end.
pub async fn remove_vectors(
    conn: &mut Conn,
    model_id: i16,
    after: &Position,
    limit: i64,
) -> Result<Option<Position>, StoreError> {
    Ok(sqlx::query_as(include_str!("sql/remove_vectors.sql"))
        .bind(model_id)
        .bind(&after.0)
        .bind(after.1)
        .bind(limit)
        .fetch_optional(conn)
        .await?)
}

/// Forgets a model that is not searched; a [`StoreError::Conflict`] when a vector of it was written meanwhile.
pub async fn delete_model(conn: &mut Conn, model_id: i16) -> Result<(), StoreError> {
    sqlx::query("delete from embedding_model where model_id = $1 and not is_active")
        .bind(model_id)
        .execute(conn)
        .await?;
    Ok(())
}
