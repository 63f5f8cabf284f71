//! Deliveries to webhooks: claimed with a lease, sent, and settled under its token; dead once they are given up.

use std::time::Duration;

use jiff::Timestamp;
use jiff_sqlx::Timestamp as SqlTimestamp;
use memory_core::feed::FeedEntry;
use memory_core::id::Namespace;
use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use super::{Target, target_of};
use crate::{Conn, StoreError, Tx, feed};

/// How many deliveries of one webhook are leased at a time.
const BESIDE_EACH_OTHER: i64 = 4;
/// The longest pause after the failures of a webhook.
const REST_MAX: Duration = Duration::from_mins(5);
/// The longest error that is kept, in characters.
const ERROR_MAX_CHARS: usize = 300;

/// A claimed delivery.
#[derive(Clone)]
pub struct ClaimedDelivery {
    pub namespace: Namespace,
    pub delivery_id: i64,
    pub target: Target,
    /// How often it was sent before.
    pub attempts: i32,
    entry_id: i64,
    lease_token: Uuid,
}

/// A delivery as operators see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryRow {
    pub delivery_id: i64,
    pub webhook_id: String,
    pub message_id: String,
    pub kind: String,
    pub state: String,
    pub attempts: i32,
    pub status: Option<i32>,
    pub error: Option<String>,
    pub created_at: Timestamp,
    pub due_at: Timestamp,
    pub ended_at: Option<Timestamp>,
}

/// Which deliveries are meant; what is not said does not narrow it.
#[derive(Debug, Clone, Default)]
pub struct DeliveryFilter {
    pub webhook_id: Option<String>,
    pub delivery_id: Option<i64>,
    pub state: Option<String>,
}

/// How an attempt ended.
#[derive(Debug, Clone)]
pub enum Sent {
    Taken {
        status: u16,
    },
    /// To be tried again after the wait; `None`: not any more.
    Refused {
        status: Option<u16>,
        error: String,
        wait: Option<Duration>,
    },
}

/// Leases up to `limit` due deliveries, a few of each webhook, none of a webhook that is resting after failures. Claiming counts no
/// attempt: a delivery that is not settled is sent again.
pub async fn claim(conn: &mut Conn, lease: Duration, limit: i64) -> Result<Vec<ClaimedDelivery>, StoreError> {
    let rows = sqlx::query(
        "with due as (
             select d.namespace, d.delivery_id
             from webhook w
             cross join lateral (
                 select d.namespace, d.delivery_id, d.due_at
                 from webhook_delivery d
                 where d.namespace = w.namespace and d.webhook_id = w.webhook_id and d.state = 'pending'
                   and d.due_at <= now() and (d.leased_until is null or d.leased_until <= now())
                 order by d.due_at, d.delivery_id
                 limit greatest(0, $3 - (select count(*) from webhook_delivery l
                                         where l.namespace = w.namespace and l.webhook_id = w.webhook_id
                                           and l.state = 'pending' and l.leased_until > now()))
                 for update skip locked
             ) d
             where coalesce(w.rest_until <= now(), true)
             order by d.due_at
             limit $2
         )
         update webhook_delivery d
         set lease_token = gen_random_uuid(), leased_until = now() + make_interval(secs => $1)
         from due, webhook w
         where d.namespace = due.namespace and d.delivery_id = due.delivery_id
           and w.namespace = d.namespace and w.webhook_id = d.webhook_id
         returning d.namespace, d.delivery_id, d.attempts, d.entry_id, d.lease_token, w.webhook_id, w.url,
             w.may_be_private, w.secret",
    )
    .bind(lease.as_secs_f64())
    .bind(limit)
    .bind(BESIDE_EACH_OTHER)
    .fetch_all(conn)
    .await?;
    rows.iter()
        .map(|row| {
            let namespace: String = row.try_get("namespace")?;
            Ok(ClaimedDelivery {
                namespace: Namespace::new(&namespace).map_err(|error| StoreError::Unsuitable(error.0))?,
                delivery_id: row.try_get("delivery_id")?,
                target: target_of(row)?,
                attempts: row.try_get("attempts")?,
                entry_id: row.try_get("entry_id")?,
                lease_token: row.try_get("lease_token")?,
            })
        })
        .collect()
}

/// What a delivery says; `None` where that was forgotten meanwhile.
pub async fn entry(conn: &mut Conn, delivery: &ClaimedDelivery) -> Result<Option<FeedEntry>, StoreError> {
    feed::entry(conn, &delivery.namespace, delivery.entry_id).await
}

/// Records how an attempt ended, if the lease still holds. When the webhook has been failing for longer than `patience`, its pending
/// deliveries that are older than that become dead.
pub async fn settle(
    tx: &mut Tx,
    delivery: &ClaimedDelivery,
    sent: &Sent,
    patience: Duration,
) -> Result<(), StoreError> {
    let (state, status, error, wait) = match sent {
        Sent::Taken { status } => ("delivered", Some(*status), None, None),
        Sent::Refused { status, error, wait: Some(wait) } => ("pending", *status, Some(error), Some(*wait)),
        Sent::Refused { status, error, wait: None } => ("dead", *status, Some(error), None),
    };
    let error = error.map(|error| error.chars().take(ERROR_MAX_CHARS).collect::<String>());
    let settled = sqlx::query(
        "update webhook_delivery
         set state = $4, attempts = attempts + 1, status = $5, error = $6,
             due_at = case when $7::float8 is null then due_at else now() + make_interval(secs => $7) end,
             ended_at = case when $4 = 'pending' then null else now() end, lease_token = null, leased_until = null
         where namespace = $1 and delivery_id = $2 and lease_token = $3",
    )
    .bind(delivery.namespace.as_str())
    .bind(delivery.delivery_id)
    .bind(delivery.lease_token)
    .bind(state)
    .bind(status.map(i32::from))
    .bind(error)
    .bind(wait.map(|wait| wait.as_secs_f64()))
    .execute(&mut **tx)
    .await?;
    if settled.rows_affected() == 0 {
        return Ok(());
    }
    let is_taken = matches!(sent, Sent::Taken { .. });
    let failing_for: Option<f64> = sqlx::query_scalar(
        "update webhook
         set failures = case when $3 then 0 else failures + 1 end,
             failing_since = case when $3 then null else coalesce(failing_since, now()) end,
             rest_until = case when $3 then null
                               else now() + make_interval(secs => least($4, power(2, least(failures, 20)))) end
         where namespace = $1 and webhook_id = $2
         returning extract(epoch from now() - failing_since)::float8",
    )
    .bind(delivery.namespace.as_str())
    .bind(&delivery.target.webhook_id)
    .bind(is_taken)
    .bind(REST_MAX.as_secs_f64())
    .fetch_optional(&mut **tx)
    .await?
    .flatten();
    if failing_for.is_some_and(|seconds| seconds > patience.as_secs_f64()) {
        sqlx::query(
            "update webhook_delivery
             set state = 'dead', ended_at = now(), error = coalesce(error, 'the receiver has taken nothing for as long')
             where namespace = $1 and webhook_id = $2 and state = 'pending' and lease_token is null
               and created_at < now() - make_interval(secs => $3)",
        )
        .bind(delivery.namespace.as_str())
        .bind(&delivery.target.webhook_id)
        .bind(patience.as_secs_f64())
        .execute(&mut **tx)
        .await?;
    }
    Ok(())
}

/// Ends every lease, for a caller that knows that nobody else sends.
pub async fn expire_leases(conn: &mut Conn) -> Result<(), StoreError> {
    sqlx::query(
        "update webhook_delivery set leased_until = now() where state = 'pending' and leased_until > now()",
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// The deliveries of a namespace, newest first.
pub async fn deliveries(
    conn: &mut Conn,
    ns: &Namespace,
    filter: &DeliveryFilter,
    limit: i64,
) -> Result<Vec<DeliveryRow>, StoreError> {
    let rows = sqlx::query(
        "select d.*, e.message_id, e.kind
         from webhook_delivery d
         join feed_entry e on e.namespace = d.namespace and e.entry_id = d.entry_id
         where d.namespace = $1 and ($2::text is null or d.webhook_id = $2) and ($3::text is null or d.state = $3)
         order by d.delivery_id desc
         limit $4",
    )
    .bind(ns.as_str())
    .bind(&filter.webhook_id)
    .bind(&filter.state)
    .bind(limit)
    .fetch_all(conn)
    .await?;
    let time = |row: &PgRow, column: &str| -> Result<Timestamp, StoreError> {
        Ok(row.try_get::<SqlTimestamp, _>(column)?.to_jiff())
    };
    rows.iter()
        .map(|row| {
            Ok(DeliveryRow {
                delivery_id: row.try_get("delivery_id")?,
                webhook_id: row.try_get("webhook_id")?,
                message_id: row.try_get("message_id")?,
                kind: row.try_get("kind")?,
                state: row.try_get("state")?,
                attempts: row.try_get("attempts")?,
                status: row.try_get("status")?,
                error: row.try_get("error")?,
                created_at: time(row, "created_at")?,
                due_at: time(row, "due_at")?,
                ended_at: row.try_get::<Option<SqlTimestamp>, _>("ended_at")?.map(SqlTimestamp::to_jiff),
            })
        })
        .collect()
}

/// Makes dead deliveries due again, with their attempts counted from 0, and ends the pauses of their webhooks; gives how many
/// deliveries.
pub async fn resend(tx: &mut Tx, ns: &Namespace, filter: &DeliveryFilter) -> Result<u64, StoreError> {
    let again = sqlx::query(
        "with again as (
             update webhook_delivery
             set state = 'pending', attempts = 0, due_at = now(), ended_at = null, created_at = now()
             where namespace = $1 and state = 'dead' and ($2::text is null or webhook_id = $2)
               and ($3::bigint is null or delivery_id = $3)
             returning webhook_id
         ), awake as (
             update webhook set rest_until = null, failures = 0, failing_since = null
             where namespace = $1 and webhook_id in (select webhook_id from again)
         )
         select count(*) from again",
    )
    .bind(ns.as_str())
    .bind(&filter.webhook_id)
    .bind(filter.delivery_id)
    .fetch_one(&mut **tx)
    .await?;
    Ok(again.try_get::<i64, _>(0)? as u64)
}

/// The dead deliveries of one webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetters {
    pub namespace: String,
    pub webhook_id: String,
    /// At most [`DEAD_MAX`] are counted.
    pub count: i64,
    /// When the first of them was given up, and how the last attempt of the last one ended.
    pub since: Timestamp,
    pub error: Option<String>,
}

/// So many dead messages of a webhook are counted; it may have more.
pub const DEAD_MAX: i64 = 1_000;

/// Webhooks with dead messages, of a namespace or of all that the connection sees; at most twenty.
pub async fn dead_letters<'c>(
    conn: impl sqlx::PgExecutor<'c>,
    ns: Option<&Namespace>,
) -> Result<Vec<DeadLetters>, StoreError> {
    let rows = sqlx::query(
        "select w.namespace, w.webhook_id, d.count, d.since, d.error
         from webhook w
         cross join lateral (
             select count(*) as count, min(ended_at) as since, (array_agg(error order by ended_at desc))[1] as error
             from (select ended_at, coalesce(error, 'HTTP ' || status) as error from webhook_delivery d
                   where d.namespace = w.namespace and d.webhook_id = w.webhook_id and d.state = 'dead'
                   limit $2) dead
         ) d
         where ($1::text is null or w.namespace = $1) and d.count > 0
         order by d.since
         limit 20",
    )
    .bind(ns.map(Namespace::as_str))
    .bind(DEAD_MAX)
    .fetch_all(conn)
    .await?;
    rows.iter()
        .map(|row| {
            Ok(DeadLetters {
                namespace: row.try_get("namespace")?,
                webhook_id: row.try_get("webhook_id")?,
                count: row.try_get("count")?,
                since: row.try_get::<SqlTimestamp, _>("since")?.to_jiff(),
                error: row.try_get("error")?,
            })
        })
        .collect()
}
