//! The registered mirrors: which collection has the vectors of which model, and which one is searched.

use memory_core::id::Namespace;
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Row};
use uuid::Uuid;

use super::outbox;
use crate::models::ActiveModel;
use crate::schema::is_owner;
use crate::{Conn, Store, StoreError, Tx};

const BY_ID: &str = "passage_embedding_by_id";
/// How many passages are queued at a time to fill a collection.
const FILLED_AT_ONCE: i64 = 5_000;
/// No more are queued while so many wait.
const FILLED_UP_TO: i64 = 10_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MirrorState {
    /// It does not have everything yet.
    Filling,
    Searched,
    /// It is to be deleted.
    Retired,
}

/// A collection in Qdrant with the vectors of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mirror {
    pub mirror_id: i16,
    /// `None` when the model is gone.
    pub model_id: Option<i16>,
    pub collection: String,
    /// A name of it that stays when another collection takes its place.
    pub alias: String,
    pub dimension: usize,
    pub state: MirrorState,
    /// Passages up to this one were queued to fill it; `None` when all were.
    pub filled_to: Option<i64>,
    /// The highest number of a claim that a point was made by.
    pub last_rev: i64,
}

const COLUMNS: &str = "mirror_id, model_id, collection, alias, dimension, state, filled_to, last_rev";

fn mirror_of(row: &PgRow) -> Result<Mirror, StoreError> {
    let state: String = row.try_get("state")?;
    Ok(Mirror {
        mirror_id: row.try_get("mirror_id")?,
        model_id: row.try_get("model_id")?,
        collection: row.try_get("collection")?,
        alias: row.try_get("alias")?,
        dimension: row.try_get::<i32, _>("dimension")? as usize,
        state: match state.as_str() {
            "filling" => MirrorState::Filling,
            "searched" => MirrorState::Searched,
            _ => MirrorState::Retired,
        },
        filled_to: row.try_get("filled_to")?,
        last_rev: row.try_get("last_rev")?,
    })
}

pub async fn all(conn: &mut Conn) -> Result<Vec<Mirror>, StoreError> {
    let rows = sqlx::query(AssertSqlSafe(format!("select {COLUMNS} from vector_mirror order by mirror_id")))
        .fetch_all(conn)
        .await?;
    rows.iter().map(mirror_of).collect()
}

/// The one of the model in this state.
pub async fn of_model(
    conn: &mut Conn,
    model_id: i16,
    state: MirrorState,
) -> Result<Option<Mirror>, StoreError> {
    Ok(all(conn).await?.into_iter().find(|m| m.model_id == Some(model_id) && m.state == state))
}

/// Where to search for a namespace's vectors, and which passages may not be there as they should be: read at one moment,
/// before the search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Searchable {
    pub collection: String,
    /// In no order; `None` when there are more than the limit.
    pub waiting: Option<Vec<i64>>,
}

/// `None` when no mirror of the model is searched.
pub async fn searchable(
    conn: &mut Conn,
    ns: &Namespace,
    model_id: i16,
    waiting_max: i64,
) -> Result<Option<Searchable>, StoreError> {
    let row: Option<(String, Vec<i64>)> = sqlx::query_as(
        "select m.collection,
                array(select o.passage_id from vector_outbox o
                      where o.mirror_id = m.mirror_id and o.namespace = $2
                      limit $3)
         from vector_mirror m
         where m.model_id = $1 and m.state = 'searched'",
    )
    .bind(model_id)
    .bind(ns.as_str())
    .bind(waiting_max + 1)
    .fetch_optional(conn)
    .await?;
    Ok(row.map(|(collection, waiting)| Searchable {
        collection,
        waiting: (waiting.len() as i64 <= waiting_max).then_some(waiting),
    }))
}

impl Store {
    /// Notes that the model is to be mirrored, unless it is already, or in any case a new one when `anew`. From then on every
    /// change of its vectors is queued.
    pub async fn register_mirror(
        &self,
        model: &ActiveModel,
        prefix: &str,
        anew: bool,
    ) -> Result<Mirror, StoreError> {
        ensure_order(&mut self.for_schema().await?).await?;
        let mut tx = self.begin_across().await?;
        lock_mirrors(&mut tx).await?;
        let known = all(&mut tx).await?.into_iter().filter(|m| m.model_id == Some(model.model_id));
        let live: Vec<Mirror> = known.filter(|m| m.state != MirrorState::Retired).collect();
        let filling = live.iter().find(|m| m.state == MirrorState::Filling);
        if let Some(known) = filling.or(if anew { None } else { live.first() }) {
            return Ok(known.clone());
        }
        watch(&mut tx, true).await?;
        let store_id = store_id(&mut tx).await?;
        let version: i64 =
            sqlx::query_scalar("select nextval('vector_mirror_version')").fetch_one(&mut *tx).await?;
        let names = Names::of(prefix, store_id, version, model);
        let row = sqlx::query(AssertSqlSafe(format!(
            "insert into vector_mirror (model_id, collection, alias, dimension) values ($1, $2, $3, $4) returning {COLUMNS}"
        )))
        .bind(model.model_id)
        .bind(names.collection)
        .bind(names.alias)
        .bind(model.info.dimension as i32)
        .fetch_one(&mut *tx)
        .await?;
        let mirror = mirror_of(&row)?;
        tx.commit().await?;
        Ok(mirror)
    }

    /// Nothing is mirrored any more: what waits is dropped, and nothing more is queued. Collections are deleted when their
    /// server can be reached.
    pub async fn end_mirroring(&self) -> Result<bool, StoreError> {
        let mut tx = self.begin_across().await?;
        lock_mirrors(&mut tx).await?;
        watch(&mut tx, false).await?;
        let ended = sqlx::query(
            "update vector_mirror set state = 'retired', retired_at = 'epoch' where state <> 'retired'",
        )
        .execute(&mut *tx)
        .await?;
        sqlx::query("delete from vector_outbox").execute(&mut *tx).await?;
        tx.commit().await?;
        Ok(ended.rows_affected() > 0)
    }
}

/// What a collection and its alias are called.
struct Names {
    collection: String,
    alias: String,
}

impl Names {
    fn of(prefix: &str, store_id: Uuid, version: i64, model: &ActiveModel) -> Self {
        let store = &store_id.simple().to_string()[..8];
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
        let name: String =
            model.info.id.chars().take(80).map(|c| if is_plain(c) { c } else { '-' }).collect();
        let dimension = model.info.dimension;
        Self {
            collection: format!("{prefix}_{store}_v{version}_{name}_{dimension}"),
            alias: format!("{prefix}_{store}_{name}_{dimension}"),
        }
    }
}

/// What the names of all collections of this database begin with, whatever their version.
pub async fn own_prefix(conn: &mut Conn, prefix: &str) -> Result<String, StoreError> {
    let store_id = store_id(conn).await?;
    Ok(format!("{prefix}_{}_v", &store_id.simple().to_string()[..8]))
}

async fn store_id(conn: &mut Conn) -> Result<Uuid, StoreError> {
    sqlx::query("insert into vector_store default values on conflict do nothing").execute(&mut *conn).await?;
    Ok(sqlx::query_scalar("select store_id from vector_store").fetch_one(conn).await?)
}

async fn lock_mirrors(tx: &mut Tx) -> Result<(), StoreError> {
    sqlx::query("lock table vector_mirror in share row exclusive mode").execute(&mut **tx).await?;
    Ok(())
}

/// Switches the triggers on or off. On: transactions that wrote vectors without them have committed before this returns.
async fn watch(tx: &mut Tx, on: bool) -> Result<(), StoreError> {
    let is_on: bool = sqlx::query_scalar(
        "select bool_and(tgenabled <> 'D') from pg_trigger
         where tgrelid = 'passage_embedding'::regclass and tgname = 'mirror_insert'",
    )
    .fetch_one(&mut **tx)
    .await?;
    if is_on == on {
        return Ok(());
    }
    // All writers would wait behind us for one that takes long: rather later again.
    sqlx::query("set local lock_timeout = '2s'").execute(&mut **tx).await?;
    sqlx::query("select note_vector_changes($1)").bind(on).execute(&mut **tx).await?;
    Ok(())
}

/// An index over the vectors in the order in which points are compared; made when it is first needed, or by `migrate`, since
/// only the owner of the tables can.
pub(crate) async fn ensure_order(conn: &mut Conn) -> Result<(), StoreError> {
    let is_whole: Option<bool> =
        sqlx::query_scalar("select indisvalid from pg_index where indexrelid = to_regclass($1)")
            .bind(BY_ID)
            .fetch_optional(&mut *conn)
            .await?;
    if is_whole == Some(true) {
        return Ok(());
    }
    if !is_owner(conn).await? {
        return Err(StoreError::Unprepared(format!(
            "the index {BY_ID}, which a mirror needs, is not there, and only the owner of the tables can make it; run \
             `remembrancer migrate` with the owner's DATABASE_URL"
        )));
    }
    let mut statements = vec![format!(
        "create index concurrently if not exists {BY_ID} on passage_embedding (model_id, passage_id)"
    )];
    if is_whole == Some(false) {
        statements.insert(0, format!("drop index concurrently if exists {BY_ID}"));
    }
    for statement in statements {
        sqlx::query(AssertSqlSafe(statement)).execute(&mut *conn).await?;
    }
    Ok(())
}

/// Queues the next passages that the mirror is to be filled with, as long as not too many wait. Gives whether all are
/// queued.
pub async fn fill(tx: &mut Tx, mirror: &Mirror) -> Result<bool, StoreError> {
    let row: Option<(Option<i64>,)> = sqlx::query_as(
        "select filled_to from vector_mirror where mirror_id = $1 and state = 'filling' for no key update",
    )
    .bind(mirror.mirror_id)
    .fetch_optional(&mut **tx)
    .await?;
    let (Some((Some(filled_to),)), Some(model_id)) = (row, mirror.model_id) else { return Ok(true) };
    if outbox::count_up_to(tx, mirror.mirror_id, FILLED_UP_TO).await? >= FILLED_UP_TO {
        return Ok(false);
    }
    let last: Option<i64> = sqlx::query_scalar(
        "with page as materialized (
             select passage_id, namespace from passage_embedding
             where model_id = $2 and passage_id > $3
             order by passage_id
             limit $4
         ), queued as (
             insert into vector_outbox (mirror_id, passage_id, namespace)
             select $1, passage_id, namespace from page
             on conflict do nothing
         )
         select max(passage_id) from page",
    )
    .bind(mirror.mirror_id)
    .bind(model_id)
    .bind(filled_to)
    .bind(FILLED_AT_ONCE)
    .fetch_one(&mut **tx)
    .await?;
    sqlx::query("update vector_mirror set filled_to = $2 where mirror_id = $1")
        .bind(mirror.mirror_id)
        .bind(last)
        .execute(&mut **tx)
        .await?;
    Ok(last.is_none())
}

/// The mirror is searched from here on; the one that was until now retires.
pub async fn put_to_use(tx: &mut Tx, mirror: &Mirror) -> Result<(), StoreError> {
    lock_mirrors(tx).await?;
    sqlx::query(
        "update vector_mirror set state = 'retired', retired_at = now()
         where model_id = $1 and state = 'searched' and mirror_id <> $2",
    )
    .bind(mirror.model_id)
    .bind(mirror.mirror_id)
    .execute(&mut **tx)
    .await?;
    let used = sqlx::query(
        "update vector_mirror set state = 'searched', audited_at = now()
         where mirror_id = $1 and state = 'filling' and filled_to is null",
    )
    .bind(mirror.mirror_id)
    .execute(&mut **tx)
    .await?;
    if used.rows_affected() == 1 { Ok(()) } else { Err(StoreError::Conflict) }
}

/// The mirrors of a model are not needed any more.
pub async fn retire_model(conn: &mut Conn, model_id: i16) -> Result<(), StoreError> {
    sqlx::query(
        "update vector_mirror set state = 'retired', retired_at = now() where model_id = $1 and state <> 'retired'",
    )
    .bind(model_id)
    .execute(conn)
    .await?;
    Ok(())
}

/// One mirror retires: its collection is gone, or given up.
pub async fn retire(conn: &mut Conn, mirror_id: i16) -> Result<(), StoreError> {
    sqlx::query(
        "update vector_mirror set state = 'retired', retired_at = now() where mirror_id = $1 and state <> 'retired'",
    )
    .bind(mirror_id)
    .execute(conn)
    .await?;
    Ok(())
}

/// Mirrors that no search can be under way in any more, `seconds` after they retired or with their model gone.
pub async fn removable(conn: &mut Conn, seconds: f64) -> Result<Vec<Mirror>, StoreError> {
    let rows = sqlx::query(AssertSqlSafe(format!(
        "select {COLUMNS} from vector_mirror
         where (state = 'retired' and retired_at <= now() - make_interval(secs => $1)) or model_id is null
         order by mirror_id"
    )))
    .bind(seconds)
    .fetch_all(conn)
    .await?;
    rows.iter().map(mirror_of).collect()
}

/// Its collection is deleted.
pub async fn delete(conn: &mut Conn, mirror_id: i16) -> Result<(), StoreError> {
    sqlx::query("delete from vector_mirror where mirror_id = $1").bind(mirror_id).execute(conn).await?;
    Ok(())
}

/// Points were made by a claim with this number.
pub async fn note_rev(conn: &mut Conn, mirror_id: i16, rev: i64) -> Result<(), StoreError> {
    sqlx::query("update vector_mirror set last_rev = $2 where mirror_id = $1 and last_rev < $2")
        .bind(mirror_id)
        .bind(rev)
        .execute(conn)
        .await?;
    Ok(())
}

/// Records that the highest claim number among the server's points is this one, and that all points have to be compared with Postgres.
pub async fn want_audit(conn: &mut Conn, mirror_id: i16, rev: i64) -> Result<(), StoreError> {
    sqlx::query("update vector_mirror set audited_at = null, last_rev = $2 where mirror_id = $1")
        .bind(mirror_id)
        .bind(rev)
        .execute(conn)
        .await?;
    Ok(())
}

/// Takes on the comparison of a searched mirror that was not compared for so long; false when another process did.
pub async fn begin_audit(conn: &mut Conn, mirror_id: i16, seconds: f64) -> Result<bool, StoreError> {
    let taken = sqlx::query(
        "update vector_mirror set audited_at = now()
         where mirror_id = $1 and state = 'searched'
           and (audited_at is null or audited_at <= now() - make_interval(secs => $2))",
    )
    .bind(mirror_id)
    .bind(seconds)
    .execute(conn)
    .await?;
    Ok(taken.rows_affected() == 1)
}
