//! Clients that may ask for consent, consents, and their codes and tokens: rows, of which none has a secret.

use std::time::Duration;

use jiff::Timestamp;
use jiff_sqlx::Timestamp as SqlTimestamp;
use memory_core::access::{DrawnToken, GivenKey, GivenToken, Grant, KeyId, SecretHash, TokenKind};
use memory_core::id::Namespace;
use serde_json::Value;
use sha2::{Digest, Sha256};
use sqlx::Row;
use sqlx::postgres::PgRow;

use crate::keys::{OpenedBy, grant_of};
use crate::{Conn, StoreError, Tx};

/// A program that may ask for consent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientRow {
    pub id: String,
    pub name: String,
    pub redirect_uris: Vec<String>,
    pub is_of_operator: bool,
    pub created_at: Timestamp,
}

/// A consent as operators see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsentRow {
    pub id: KeyId,
    pub client_id: String,
    pub grant: Grant,
    pub created_at: Timestamp,
    pub revoked_at: Option<Timestamp>,
    /// To the hour.
    pub last_used_at: Option<Timestamp>,
    /// It has a token that is not over.
    pub is_live: bool,
}

/// A code or token as it is kept, locked, with its consent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRow {
    pub kind: TokenKind,
    pub is_used: bool,
    pub is_over: bool,
    pub redirect_uri: Option<String>,
    pub challenge: Option<String>,
    pub client_id: String,
    pub grant: Grant,
    pub is_revoked: bool,
}

/// A new id for a consent.
pub fn draw_id() -> KeyId {
    KeyId::drawn(rand::random())
}

/// A new code or token.
pub fn draw(kind: TokenKind, consent: &KeyId) -> DrawnToken {
    DrawnToken::new(kind, consent, rand::random())
}

/// 256 random bits as text, and the hash of that text.
pub fn draw_ticket() -> (String, SecretHash) {
    let ticket = draw(TokenKind::Code, &draw_id()).text;
    let hash = hash_of_ticket(&ticket);
    (ticket, hash)
}

pub fn hash_of_ticket(ticket: &str) -> SecretHash {
    SecretHash(Sha256::digest(ticket).into())
}

pub async fn insert_client(tx: &mut Tx, client: &ClientRow) -> Result<(), StoreError> {
    sqlx::query(
        "insert into oauth_client (client_id, name, redirect_uris, is_of_operator) values ($1, $2, $3, $4)",
    )
    .bind(&client.id)
    .bind(&client.name)
    .bind(&client.redirect_uris)
    .bind(client.is_of_operator)
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// Deletes clients that named themselves and that nothing was consented to: those that are older than this, and of the rest
/// the oldest, so that at most so many are left.
pub async fn tidy_clients(tx: &mut Tx, age: Duration, most: i64) -> Result<(), StoreError> {
    sqlx::query(
        "delete from oauth_client where client_id in (
             select client_id from oauth_client c
             where not is_of_operator and not exists (select from oauth_consent o where o.client_id = c.client_id)
             order by created_at desc offset $2)
         or not is_of_operator and created_at < now() - make_interval(secs => $1)
            and not exists (select from oauth_consent o where o.client_id = oauth_client.client_id)",
    )
    .bind(age.as_secs_f64())
    .bind(most)
    .execute(&mut **tx)
    .await?;
    Ok(())
}

pub async fn client(conn: &mut Conn, id: &str) -> Result<Option<ClientRow>, StoreError> {
    let row =
        sqlx::query("select * from oauth_client where client_id = $1").bind(id).fetch_optional(conn).await?;
    row.as_ref().map(client_row).transpose()
}

/// The newest clients, newest first.
pub async fn clients(conn: &mut Conn, limit: i64) -> Result<Vec<ClientRow>, StoreError> {
    let rows = sqlx::query("select * from oauth_client order by created_at desc, client_id limit $1")
        .bind(limit)
        .fetch_all(conn)
        .await?;
    rows.iter().map(client_row).collect()
}

fn client_row(row: &PgRow) -> Result<ClientRow, StoreError> {
    Ok(ClientRow {
        id: row.try_get("client_id")?,
        name: row.try_get("name")?,
        redirect_uris: row.try_get("redirect_uris")?,
        is_of_operator: row.try_get("is_of_operator")?,
        created_at: row.try_get::<SqlTimestamp, _>("created_at")?.to_jiff(),
    })
}

/// Gives whether there was one. What was consented to stays until it is revoked.
pub async fn delete_client(tx: &mut Tx, id: &str) -> Result<bool, StoreError> {
    let deleted =
        sqlx::query("delete from oauth_client where client_id = $1").bind(id).execute(&mut **tx).await?;
    Ok(deleted.rows_affected() > 0)
}

/// Keeps a request for which the password was given.
pub async fn insert_ticket(
    tx: &mut Tx,
    ticket: &SecretHash,
    request: &Value,
    lifetime: Duration,
) -> Result<(), StoreError> {
    sqlx::query("delete from oauth_ticket where expires_at < now()").execute(&mut **tx).await?;
    sqlx::query(
        "insert into oauth_ticket (sha256, request, expires_at) values ($1, $2, now() + make_interval(secs => $3))",
    )
    .bind(ticket.0.to_vec())
    .bind(request)
    .bind(lifetime.as_secs_f64())
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// The request of a ticket, which is spent by this.
pub async fn take_ticket(tx: &mut Tx, ticket: &SecretHash) -> Result<Option<Value>, StoreError> {
    Ok(sqlx::query_scalar(
        "delete from oauth_ticket where sha256 = $1 returning case when expires_at > now() then request end",
    )
    .bind(ticket.0.to_vec())
    .fetch_optional(&mut **tx)
    .await?
    .flatten())
}

pub async fn insert_consent(
    tx: &mut Tx,
    id: &KeyId,
    client_id: &str,
    grant: &Grant,
) -> Result<(), StoreError> {
    let namespaces: Vec<&str> = grant.namespaces().iter().map(Namespace::as_str).collect();
    sqlx::query(
        "insert into oauth_consent (consent_id, client_id, name, role, namespaces, toolsets, resource)
         values ($1, $2, $3, $4, $5, $6, $7)",
    )
    .bind(id.as_str())
    .bind(client_id)
    .bind(&grant.name)
    .bind(grant.role.as_str())
    .bind(namespaces)
    .bind(&grant.toolsets)
    .bind(grant.resource.as_deref().unwrap_or_default())
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// Keeps a code or token; of a code, where it was sent and the challenge.
pub async fn insert_token(
    tx: &mut Tx,
    token: &GivenToken,
    lifetime: Duration,
    of_code: Option<(&str, &str)>,
) -> Result<(), StoreError> {
    sqlx::query(
        "insert into oauth_token (sha256, consent_id, kind, expires_at, redirect_uri, challenge)
         values ($1, $2, $3, now() + make_interval(secs => $4), $5, $6)",
    )
    .bind(token.hash.0.to_vec())
    .bind(token.consent.as_str())
    .bind(token.kind.as_str())
    .bind(lifetime.as_secs_f64())
    .bind(of_code.map(|(redirect_uri, _)| redirect_uri))
    .bind(of_code.map(|(_, challenge)| challenge))
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// The code or token that was given, its consent locked: two requests with it come one after the other.
pub async fn token(tx: &mut Tx, given: &GivenToken) -> Result<Option<TokenRow>, StoreError> {
    let locked = sqlx::query("select from oauth_consent where consent_id = $1 for update")
        .bind(given.consent.as_str())
        .fetch_optional(&mut **tx)
        .await?;
    if locked.is_none() {
        return Ok(None);
    }
    let row = sqlx::query(
        "select t.used_at is not null as is_used, t.expires_at <= now() as is_over, t.redirect_uri, t.challenge,
                c.client_id, c.name, c.role, c.namespaces, c.toolsets, c.resource, c.revoked_at is not null as is_revoked
         from oauth_token t join oauth_consent c using (consent_id)
         where t.sha256 = $1 and t.consent_id = $2 and t.kind = $3",
    )
    .bind(given.hash.0.to_vec())
    .bind(given.consent.as_str())
    .bind(given.kind.as_str())
    .fetch_optional(&mut **tx)
    .await?;
    let token_row = |row: PgRow| {
        Ok(TokenRow {
            kind: given.kind,
            is_used: row.try_get("is_used")?,
            is_over: row.try_get("is_over")?,
            redirect_uri: row.try_get("redirect_uri")?,
            challenge: row.try_get("challenge")?,
            client_id: row.try_get("client_id")?,
            grant: bound_grant(&row)?,
            is_revoked: row.try_get("is_revoked")?,
        })
    };
    row.map(token_row).transpose()
}

/// Notes that a code or refresh token was exchanged.
pub async fn use_up(tx: &mut Tx, given: &GivenToken) -> Result<(), StoreError> {
    sqlx::query("update oauth_token set used_at = now() where sha256 = $1")
        .bind(given.hash.0.to_vec())
        .execute(&mut **tx)
        .await?;
    Ok(())
}

pub async fn delete_token(tx: &mut Tx, given: &GivenToken) -> Result<(), StoreError> {
    sqlx::query("delete from oauth_token where sha256 = $1")
        .bind(given.hash.0.to_vec())
        .execute(&mut **tx)
        .await?;
    Ok(())
}

/// Deletes codes and tokens that are over, so many at most.
pub async fn tidy_tokens(tx: &mut Tx, limit: i64) -> Result<(), StoreError> {
    sqlx::query(
        "delete from oauth_token where sha256 in
             (select sha256 from oauth_token where expires_at < now() order by expires_at limit $1 for update skip locked)",
    )
    .bind(limit)
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// What the access token opens; `None` where it is not known, has expired, or its consent was revoked.
pub async fn find(conn: &mut Conn, given: &GivenKey) -> Result<Option<OpenedBy>, StoreError> {
    let row = sqlx::query(
        "select c.name, c.role, c.namespaces, c.toolsets, c.resource,
                coalesce(c.last_used_at < date_trunc('hour', now()), true) as is_use_stale
         from oauth_token t join oauth_consent c using (consent_id)
         where t.sha256 = $1 and t.consent_id = $2 and t.kind = 'access' and t.expires_at > now() and c.revoked_at is null",
    )
    .bind(given.hash.0.to_vec())
    .bind(given.id.as_str())
    .fetch_optional(conn)
    .await?;
    let opened =
        |row: PgRow| Ok(OpenedBy { grant: bound_grant(&row)?, is_use_stale: row.try_get("is_use_stale")? });
    row.map(opened).transpose()
}

fn bound_grant(row: &PgRow) -> Result<Grant, StoreError> {
    let resource = row.try_get("resource")?;
    Ok(grant_of(row)?.bound_to(resource))
}

/// Notes that the consent was used in this hour.
pub async fn note_use(conn: &mut Conn, id: &KeyId) -> Result<(), StoreError> {
    sqlx::query(
        "update oauth_consent set last_used_at = date_trunc('hour', now())
         where consent_id = $1 and coalesce(last_used_at < date_trunc('hour', now()), true)",
    )
    .bind(id.as_str())
    .execute(conn)
    .await?;
    Ok(())
}

const CONSENTS: &str = "select c.*, c.revoked_at is null and exists (
        select from oauth_token t where t.consent_id = c.consent_id and t.expires_at > now() and t.used_at is null) as is_live
    from oauth_consent c";

/// The newest consents, newest first.
pub async fn consents(conn: &mut Conn, limit: i64) -> Result<Vec<ConsentRow>, StoreError> {
    let rows =
        sqlx::query(sqlx::AssertSqlSafe(format!("{CONSENTS} order by created_at desc, consent_id limit $1")))
            .bind(limit)
            .fetch_all(conn)
            .await?;
    rows.iter().map(consent_row).collect()
}

/// The consent of this id, and those of this client or name that are not revoked; locked.
pub async fn consents_named(tx: &mut Tx, named: &str) -> Result<Vec<ConsentRow>, StoreError> {
    let rows = sqlx::query(sqlx::AssertSqlSafe(format!(
        "{CONSENTS} where consent_id = $1 or (client_id = $1 or name = $1) and revoked_at is null
         order by created_at desc limit 1000 for update"
    )))
    .bind(named)
    .fetch_all(&mut **tx)
    .await?;
    rows.iter().map(consent_row).collect()
}

fn consent_row(row: &PgRow) -> Result<ConsentRow, StoreError> {
    let time = |column: &str| -> Result<Option<Timestamp>, StoreError> {
        Ok(row.try_get::<Option<SqlTimestamp>, _>(column)?.map(SqlTimestamp::to_jiff))
    };
    Ok(ConsentRow {
        id: KeyId::stored(row.try_get("consent_id")?),
        client_id: row.try_get("client_id")?,
        grant: bound_grant(row)?,
        created_at: row.try_get::<SqlTimestamp, _>("created_at")?.to_jiff(),
        revoked_at: time("revoked_at")?,
        last_used_at: time("last_used_at")?,
        is_live: row.try_get("is_live")?,
    })
}

/// Ends a consent: its codes and tokens open nothing any more.
pub async fn revoke(tx: &mut Tx, id: &KeyId) -> Result<(), StoreError> {
    sqlx::query("update oauth_consent set revoked_at = coalesce(revoked_at, now()) where consent_id = $1")
        .bind(id.as_str())
        .execute(&mut **tx)
        .await?;
    Ok(())
}
