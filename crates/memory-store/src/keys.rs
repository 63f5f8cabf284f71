//! Keys: their rows, of which none has a secret.

use jiff::Timestamp;
use jiff_sqlx::{Timestamp as SqlTimestamp, ToSqlx};
use memory_core::access::{DrawnKey, GivenKey, Grant, KeyId, Role, SecretHash};
use memory_core::id::Namespace;
use sqlx::Row;
use sqlx::postgres::PgRow;

use crate::{Conn, StoreError, Tx};

/// A key as operators see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRow {
    pub id: KeyId,
    pub grant: Grant,
    pub state: KeyState,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
    /// To the hour.
    pub last_used_at: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyState {
    Live,
    Expired,
    Revoked,
}

impl KeyState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
        }
    }
}

/// A key that opens, and whether its use is to be noted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedBy {
    pub grant: Grant,
    pub is_use_stale: bool,
}

/// A new key of 256 random bits with an id of its own.
pub fn draw() -> DrawnKey {
    DrawnKey::new(rand::random(), rand::random())
}

/// Another secret for this id.
pub fn draw_again(id: &KeyId) -> DrawnKey {
    DrawnKey::again(id, rand::random())
}

/// Whether a key of this name is not revoked.
pub async fn is_name_taken(conn: &mut Conn, name: &str) -> Result<bool, StoreError> {
    let taken = "select exists (select from access_key where name = $1 and revoked_at is null)";
    Ok(sqlx::query_scalar(taken).bind(name).fetch_one(conn).await?)
}

pub async fn insert(
    tx: &mut Tx,
    key: &GivenKey,
    grant: &Grant,
    expires_at: Option<Timestamp>,
) -> Result<(), StoreError> {
    let namespaces: Vec<&str> = grant.namespaces().iter().map(Namespace::as_str).collect();
    sqlx::query(
        "insert into access_key (key_id, secret_sha256, name, role, namespaces, toolsets, expires_at)
         values ($1, $2, $3, $4, $5, $6, $7)",
    )
    .bind(key.id.as_str())
    .bind(key.hash.0.to_vec())
    .bind(&grant.name)
    .bind(grant.role.as_str())
    .bind(namespaces)
    .bind(&grant.toolsets)
    .bind(expires_at.map(ToSqlx::to_sqlx))
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// What the key opens; `None` where it is not known, has another secret, was revoked or has expired. A row is looked up by its
/// primary key and compared here, an unknown id with a hash that nothing has.
pub async fn find(conn: &mut Conn, given: &GivenKey) -> Result<Option<OpenedBy>, StoreError> {
    let row = sqlx::query(
        "select name, role, namespaces, toolsets, secret_sha256,
                case when old_until > now() then old_sha256 end as old_sha256,
                revoked_at is null and coalesce(expires_at > now(), true) as is_live,
                coalesce(last_used_at < date_trunc('hour', now()), true) as is_use_stale
         from access_key where key_id = $1",
    )
    .bind(given.id.as_str())
    .fetch_optional(conn)
    .await?;
    let hash_of = |column: &str| -> Result<SecretHash, StoreError> {
        let stored: Option<Vec<u8>> = row.as_ref().map_or(Ok(None), |row| row.try_get(column))?;
        Ok(SecretHash(stored.and_then(|hash| hash.try_into().ok()).unwrap_or_default()))
    };
    let (present, old) = (hash_of("secret_sha256")?, hash_of("old_sha256")?);
    let is_right = present.matches(&given.hash) | old.matches(&given.hash);
    let Some(row) = row.filter(|_| is_right) else { return Ok(None) };
    let is_live: bool = row.try_get("is_live")?;
    let opened = OpenedBy { grant: grant_of(&row)?, is_use_stale: row.try_get("is_use_stale")? };
    Ok(is_live.then_some(opened))
}

pub(crate) fn grant_of(row: &PgRow) -> Result<Grant, StoreError> {
    let role: String = row.try_get("role")?;
    let namespaces: Vec<String> = row.try_get("namespaces")?;
    let namespaces = namespaces.iter().map(|name| Namespace::new(name)).collect::<Result<Vec<_>, _>>();
    let grant = Role::parse(&role).zip(namespaces.ok()).map(|(role, namespaces)| {
        Grant::new(&row.try_get::<String, _>("name")?, role, namespaces, row.try_get("toolsets")?)
            .map_err(|invalid| sqlx::Error::Decode(invalid.into()))
    });
    let unreadable = || sqlx::Error::Decode("a key with a role or a namespace that are none".into());
    Ok(grant.ok_or_else(unreadable)??)
}

/// Notes that the key was used in this hour.
pub async fn note_use(conn: &mut Conn, id: &KeyId) -> Result<(), StoreError> {
    sqlx::query(
        "update access_key set last_used_at = date_trunc('hour', now())
         where key_id = $1 and coalesce(last_used_at < date_trunc('hour', now()), true)",
    )
    .bind(id.as_str())
    .execute(conn)
    .await?;
    Ok(())
}

/// Whether there is any, live or not.
pub async fn are_there_any(conn: &mut Conn) -> Result<bool, StoreError> {
    Ok(sqlx::query_scalar("select exists (select from access_key)").fetch_one(conn).await?)
}

/// The newest keys, newest first.
pub async fn list(conn: &mut Conn, limit: i64) -> Result<Vec<KeyRow>, StoreError> {
    let rows = sqlx::query(
        "select *, coalesce(expires_at <= now(), false) as is_expired
         from access_key order by created_at desc, key_id limit $1",
    )
    .bind(limit)
    .fetch_all(conn)
    .await?;
    rows.iter().map(key_row).collect()
}

fn key_row(row: &PgRow) -> Result<KeyRow, StoreError> {
    let time = |column: &str| -> Result<Option<Timestamp>, StoreError> {
        Ok(row.try_get::<Option<SqlTimestamp>, _>(column)?.map(SqlTimestamp::to_jiff))
    };
    let revoked_at = time("revoked_at")?;
    let state = match (revoked_at, row.try_get("is_expired")?) {
        (Some(_), _) => KeyState::Revoked,
        (None, true) => KeyState::Expired,
        (None, false) => KeyState::Live,
    };
    Ok(KeyRow {
        id: KeyId::stored(row.try_get("key_id")?),
        grant: grant_of(row)?,
        state,
        created_at: row.try_get::<SqlTimestamp, _>("created_at")?.to_jiff(),
        expires_at: time("expires_at")?,
        revoked_at,
        last_used_at: time("last_used_at")?,
    })
}

/// The key of this id, or the one of this name: that which is not revoked, else the one revoked last; locked.
pub async fn named(tx: &mut Tx, id_or_name: &str) -> Result<Option<KeyRow>, StoreError> {
    let row = sqlx::query(
        "select *, coalesce(expires_at <= now(), false) as is_expired
         from access_key where key_id = $1 or name = $1
         order by key_id = $1 desc, revoked_at desc nulls first limit 1 for update",
    )
    .bind(id_or_name)
    .fetch_optional(&mut **tx)
    .await?;
    row.as_ref().map(key_row).transpose()
}

pub async fn revoke(tx: &mut Tx, id: &KeyId) -> Result<(), StoreError> {
    sqlx::query("update access_key set revoked_at = coalesce(revoked_at, now()) where key_id = $1")
        .bind(id.as_str())
        .execute(&mut **tx)
        .await?;
    Ok(())
}

/// Gives the key another secret; the present one opens for these minutes more.
pub async fn replace_secret(tx: &mut Tx, key: &GivenKey, overlap_minutes: i32) -> Result<(), StoreError> {
    sqlx::query(
        "update access_key
         set secret_sha256 = $2,
             old_sha256 = case when $3 > 0 then secret_sha256 end,
             old_until = case when $3 > 0 then now() + make_interval(mins => $3) end
         where key_id = $1",
    )
    .bind(key.id.as_str())
    .bind(key.hash.0.to_vec())
    .bind(overlap_minutes)
    .execute(&mut **tx)
    .await?;
    Ok(())
}

pub async fn delete(tx: &mut Tx, id: &KeyId) -> Result<(), StoreError> {
    sqlx::query("delete from access_key where key_id = $1").bind(id.as_str()).execute(&mut **tx).await?;
    Ok(())
}
