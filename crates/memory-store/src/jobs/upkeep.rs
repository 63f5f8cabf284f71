//! Upkeep of the queue: old jobs are swept, leases of a dead process ended, clocks that were set back made up for, and workers
//! registered.

use uuid::Uuid;

use crate::{Conn, StoreError};

/// Ends every lease, for a caller that knows that no other worker runs: its jobs can be claimed at once.
pub async fn expire_leases(conn: &mut Conn) -> Result<(), StoreError> {
    sqlx::query("update event_jobs set leased_until = now() where status = 'PROCESSING'")
        .execute(conn)
        .await?;
    Ok(())
}

/// How many jobs are swept at a time, so that no statement takes long.
pub const SWEPT_AT_ONCE: u64 = 5000;

/// Deletes what ended more than `days` ago, at most [`SWEPT_AT_ONCE`]; gives how many.
pub async fn sweep(conn: &mut Conn, days: i32) -> Result<u64, StoreError> {
    Ok(sqlx::query(
        "delete from event_jobs
         where (namespace, job_id) in (
             select namespace, job_id from event_jobs
             where status in ('DONE', 'FAILED') and finished_at < now() - make_interval(days => $1)
             limit $2)",
    )
    .bind(days)
    .bind(SWEPT_AT_ONCE as i64)
    .execute(conn)
    .await?
    .rows_affected())
}

/// Writes a worker's heartbeat, and deletes workers not seen for a day, or seen at a time that is yet to come. Gives the
/// database's time in seconds, by which a worker notices that the clock was set back.
pub async fn heartbeat(conn: &mut Conn, worker_id: Uuid) -> Result<f64, StoreError> {
    Ok(sqlx::query_scalar(
        "with gone as (
             delete from event_worker
             where worker_id <> $1
               and (last_seen < now() - interval '1 day' or last_seen > now() + interval '1 minute')
         )
         insert into event_worker (worker_id) values ($1)
         on conflict (worker_id) do update set last_seen = now()
         returning extract(epoch from now())::float8",
    )
    .bind(worker_id)
    .fetch_one(conn)
    .await?)
}

/// Makes due what a clock that was set back would keep waiting: jobs that were made or put back in what is now the future,
/// and leases that end there. Nothing waits for two hours by intention.
pub async fn mend_clock(conn: &mut Conn) -> Result<u64, StoreError> {
    let due = sqlx::query(
        "update event_jobs set run_at = now()
         where lane = any('{0,1,2,3}') and status = 'PENDING' and run_at > now()
           and (run_at > now() + interval '2 hours' or created_at > now() + interval '1 minute')",
    )
    .execute(&mut *conn)
    .await?;
    let ended = sqlx::query(
        "update event_jobs set leased_until = now()
         where status = 'PROCESSING' and leased_until > now() + interval '2 hours'",
    )
    .execute(conn)
    .await?;
    Ok(due.rows_affected() + ended.rows_affected())
}

/// Takes a worker that has stopped off the list.
pub async fn deregister(conn: &mut Conn, worker_id: Uuid) -> Result<(), StoreError> {
    sqlx::query("delete from event_worker where worker_id = $1").bind(worker_id).execute(conn).await?;
    Ok(())
}
