//! Places of a source: which text is where, and deleting places.

use memory_core::id::{ArtifactId, Namespace};
use sqlx::Row;

use crate::entities::{delete_orphans, entities_of_revisions};
use crate::forgetting::{Cascade, delete_events, rename_nameless};
use crate::{Conn, StoreError, Tx};

/// A document: an id at a source, and the text that is there now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcePlace {
    pub source_id: String,
    pub artifact: ArtifactId,
}

/// The next places of a source, by their ids there.
pub async fn list_places(
    conn: &mut Conn,
    ns: &Namespace,
    source: &str,
    after: &str,
    limit: i64,
) -> Result<Vec<SourcePlace>, StoreError> {
    let rows = sqlx::query(
        "select source_id, artifact_id
         from artifact_revision
         where namespace = $1 and source = $2 and source_id collate \"C\" > $3
           and is_latest and conversation_id is null
         order by source_id collate \"C\"
         limit $4",
    )
    .bind(ns.as_str())
    .bind(source)
    .bind(after)
    .bind(limit)
    .fetch_all(conn)
    .await?;
    let place = |row: &sqlx::postgres::PgRow| -> Result<SourcePlace, StoreError> {
        Ok(SourcePlace {
            source_id: row.try_get("source_id")?,
            artifact: ArtifactId(row.try_get("artifact_id")?),
        })
    };
    rows.iter().map(place).collect()
}

/// Other sources that have texts of this one, each with how many, most first.
pub async fn shared_sources(
    conn: &mut Conn,
    ns: &Namespace,
    source: &str,
    limit: i64,
) -> Result<Vec<(String, i64)>, StoreError> {
    Ok(sqlx::query_as(
        "select other.source, count(distinct other.artifact_id)
         from artifact_revision here
         join artifact_revision other
           on other.namespace = $1 and other.artifact_id = here.artifact_id and other.is_latest
         where here.namespace = $1 and here.source = $2 and here.source_id is not null and here.is_latest
           and other.source <> $2 and other.source_id is not null
         group by other.source
         order by 2 desc, 1
         limit $3",
    )
    .bind(ns.as_str())
    .bind(source)
    .bind(limit)
    .fetch_all(conn)
    .await?)
}

/// Deletes all revisions of these places of a source. A text that is elsewhere too stays there.
pub async fn delete_places(
    tx: &mut Tx,
    ns: &Namespace,
    source: &str,
    source_ids: &[String],
) -> Result<(u64, Cascade), StoreError> {
    // As in forgetting an artifact: no extraction may link an entity between our look and our delete.
    sqlx::query("select pg_advisory_xact_lock(hashtextextended($1, 2))")
        .bind(ns.as_str())
        .execute(&mut **tx)
        .await?;
    // A text that another call is bringing to another place waits for us, or we for it.
    sqlx::query(
        "select from artifact a
         where a.namespace = $1
           and a.artifact_id in (select r.artifact_id from artifact_revision r
                                 where r.namespace = $1 and r.source = $2 and r.source_id = any($3)
                                   and r.conversation_id is null)
         order by a.artifact_id
         for update",
    )
    .bind(ns.as_str())
    .bind(source)
    .bind(source_ids)
    .execute(&mut **tx)
    .await?;
    let rows: Vec<(i64, String, bool)> = sqlx::query_as(
        "select revision_id, artifact_id, is_latest
         from artifact_revision
         where namespace = $1 and source = $2 and source_id = any($3) and conversation_id is null",
    )
    .bind(ns.as_str())
    .bind(source)
    .bind(source_ids)
    .fetch_all(&mut **tx)
    .await?;
    let places = rows.iter().filter(|(_, _, is_latest)| *is_latest).count() as u64;
    let revisions: Vec<i64> = rows.iter().map(|(revision, ..)| *revision).collect();
    let artifacts: Vec<String> = rows.into_iter().map(|(_, artifact, _)| artifact).collect();
    let cascade = delete_revisions(tx, ns, &revisions, &artifacts).await?;
    Ok((places, cascade))
}

/// Deletes revisions, and those of their artifacts that have no revision left.
async fn delete_revisions(
    tx: &mut Tx,
    ns: &Namespace,
    revisions: &[i64],
    artifacts: &[String],
) -> Result<Cascade, StoreError> {
    let touched = entities_of_revisions(tx, ns, revisions).await?;
    let events = delete_events(tx, ns, revisions).await?;
    sqlx::query("delete from artifact_revision where namespace = $1 and revision_id = any($2)")
        .bind(ns.as_str())
        .bind(revisions)
        .execute(&mut **tx)
        .await?;
    let chunks: i64 = sqlx::query_scalar(
        "with gone as (
             delete from artifact a
             where a.namespace = $1 and a.artifact_id = any($2)
               and not exists (select from artifact_revision r
                               where r.namespace = $1 and r.artifact_id = a.artifact_id)
             returning a.artifact_id
         )
         select count(*) from chunk c join gone g on g.artifact_id = c.artifact_id where c.namespace = $1",
    )
    .bind(ns.as_str())
    .bind(artifacts)
    .fetch_one(&mut **tx)
    .await?;
    let entities = delete_orphans(tx, ns, &touched).await?;
    rename_nameless(tx, ns, &touched).await?;
    Ok(Cascade { chunks, events: events as i64, entities: entities as i64 })
}
