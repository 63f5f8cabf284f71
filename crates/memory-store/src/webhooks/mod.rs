//! Webhooks: who is sent the feed of a namespace. What they are sent is in `webhooks/deliveries.rs`.

mod deliveries;

use jiff::Timestamp;
use jiff_sqlx::Timestamp as SqlTimestamp;
use memory_core::feed::FeedKind;
use memory_core::id::Namespace;
use sqlx::Row;
use sqlx::postgres::PgRow;

use crate::{Conn, StoreError, Tx, feed};

pub use deliveries::{
    ClaimedDelivery, DEAD_MAX, DeadLetters, DeliveryFilter, DeliveryRow, Sent, claim, dead_letters,
    deliveries, entry, expire_leases, resend, settle,
};

/// A webhook as operators see it: without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookRow {
    pub namespace: Namespace,
    pub webhook_id: String,
    pub url: String,
    /// None: all.
    pub kinds: Vec<FeedKind>,
    pub may_be_private: bool,
    pub created_at: Timestamp,
    pub failing_since: Option<Timestamp>,
    pub pending: i64,
    pub dead: i64,
}

/// Where a message goes.
#[derive(Clone)]
pub struct Target {
    pub webhook_id: String,
    pub url: String,
    pub may_be_private: bool,
    pub secret: Vec<u8>,
}

pub async fn count(conn: &mut Conn, ns: &Namespace) -> Result<i64, StoreError> {
    let count = sqlx::query_scalar("select count(*) from webhook where namespace = $1");
    Ok(count.bind(ns.as_str()).fetch_one(conn).await?)
}

pub async fn insert(
    tx: &mut Tx,
    ns: &Namespace,
    target: &Target,
    kinds: &[FeedKind],
) -> Result<(), StoreError> {
    feed::begin(tx, ns, false).await?;
    let kinds: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
    sqlx::query(
        "insert into webhook (namespace, webhook_id, url, kinds, secret, may_be_private) values ($1, $2, $3, $4, $5, $6)",
    )
    .bind(ns.as_str())
    .bind(&target.webhook_id)
    .bind(&target.url)
    .bind(kinds)
    .bind(&target.secret)
    .bind(target.may_be_private)
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// The webhooks of a namespace, oldest first.
pub async fn list(conn: &mut Conn, ns: &Namespace) -> Result<Vec<WebhookRow>, StoreError> {
    let rows = sqlx::query(
        "select w.*, d.pending, d.dead
         from webhook w
         cross join lateral (
             select count(*) filter (where state = 'pending') as pending, count(*) filter (where state = 'dead') as dead
             from webhook_delivery d
             where d.namespace = w.namespace and d.webhook_id = w.webhook_id
         ) d
         where w.namespace = $1
         order by w.created_at, w.webhook_id
         limit 1000",
    )
    .bind(ns.as_str())
    .fetch_all(conn)
    .await?;
    let time = |row: &PgRow, column: &str| -> Result<Option<Timestamp>, StoreError> {
        Ok(row.try_get::<Option<SqlTimestamp>, _>(column)?.map(SqlTimestamp::to_jiff))
    };
    rows.iter()
        .map(|row| {
            let kinds: Vec<String> = row.try_get("kinds")?;
            Ok(WebhookRow {
                namespace: ns.clone(),
                webhook_id: row.try_get("webhook_id")?,
                url: row.try_get("url")?,
                kinds: kinds.iter().filter_map(|kind| FeedKind::parse(kind)).collect(),
                may_be_private: row.try_get("may_be_private")?,
                created_at: row.try_get::<SqlTimestamp, _>("created_at")?.to_jiff(),
                failing_since: time(row, "failing_since")?,
                pending: row.try_get("pending")?,
                dead: row.try_get("dead")?,
            })
        })
        .collect()
}

/// Where a webhook is; `None` where there is no such one in the namespace.
pub async fn target(conn: &mut Conn, ns: &Namespace, webhook_id: &str) -> Result<Option<Target>, StoreError> {
    let row = sqlx::query(
        "select webhook_id, url, may_be_private, secret from webhook where namespace = $1 and webhook_id = $2",
    )
    .bind(ns.as_str())
    .bind(webhook_id)
    .fetch_optional(conn)
    .await?;
    row.as_ref().map(target_of).transpose()
}

fn target_of(row: &PgRow) -> Result<Target, StoreError> {
    Ok(Target {
        webhook_id: row.try_get("webhook_id")?,
        url: row.try_get("url")?,
        may_be_private: row.try_get("may_be_private")?,
        secret: row.try_get("secret")?,
    })
}

/// Removes a webhook with its deliveries; gives whether there was one.
pub async fn delete(tx: &mut Tx, ns: &Namespace, webhook_id: &str) -> Result<bool, StoreError> {
    let deleted = sqlx::query("delete from webhook where namespace = $1 and webhook_id = $2")
        .bind(ns.as_str())
        .bind(webhook_id)
        .execute(&mut **tx)
        .await?;
    Ok(deleted.rows_affected() > 0)
}
