//! What passages tell of time: their words, and what stands above them.

use memory_core::id::{Namespace, PassageId};
use sqlx::{QueryBuilder, Row};

use super::{Members, Scope};
use crate::{Conn, StoreError};

/// How many passages before one are read for a date that stands over it.
const PASSAGES_BEFORE: i32 = 12;

/// What a passage of a text says, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    pub passage_id: PassageId,
    pub title: Option<String>,
    /// The passages before it, up to a few.
    pub before: String,
    pub text: String,
    /// Its date was given with it; else that is when it was stored.
    pub is_dated: bool,
}

/// What these passages say, those of texts.
pub async fn told(conn: &mut Conn, ns: &Namespace, passages: &[PassageId]) -> Result<Vec<Told>, StoreError> {
    let rows = sqlx::query(
        "select p.passage_id, p.text, r.title, r.date is not null as is_dated, b.text as before
         from unnest($2::bigint[]) c (passage_id)
         cross join lateral (
             select passage_id, revision_id, ordinal, text from passage where namespace = $1 and passage_id = c.passage_id offset 0) p
         cross join lateral (
             select title, date from artifact_revision where namespace = $1 and revision_id = p.revision_id offset 0) r
         left join lateral (
             select string_agg(above.text, e'\\n' order by above.ordinal) as text from passage above
             where above.namespace = $1 and above.revision_id = p.revision_id
                 and above.ordinal between p.ordinal - $3 and p.ordinal - 1) b on true",
    )
    .bind(ns.as_str())
    .bind(passages.iter().map(|id| id.0).collect::<Vec<_>>())
    .bind(PASSAGES_BEFORE)
    .fetch_all(conn)
    .await?;
    let told = |row: &sqlx::postgres::PgRow| -> Result<Told, StoreError> {
        Ok(Told {
            passage_id: PassageId(row.try_get("passage_id")?),
            title: row.try_get("title")?,
            before: row.try_get::<Option<String>, _>("before")?.unwrap_or_default(),
            text: row.try_get("text")?,
            is_dated: row.try_get("is_dated")?,
        })
    };
    rows.iter().map(told).collect()
}

/// The words of these passages.
pub async fn texts(
    conn: &mut Conn,
    ns: &Namespace,
    passages: &[PassageId],
) -> Result<Vec<(PassageId, String)>, StoreError> {
    let rows: Vec<(i64, String)> =
        sqlx::query_as("select passage_id, text from passage where namespace = $1 and passage_id = any($2)")
            .bind(ns.as_str())
            .bind(passages.iter().map(|id| id.0).collect::<Vec<_>>())
            .fetch_all(conn)
            .await?;
    Ok(rows.into_iter().map(|(id, text)| (PassageId(id), text)).collect())
}

/// Up to `count` passages that follow each of these in its text.
pub async fn following(
    conn: &mut Conn,
    ns: &Namespace,
    passages: &[PassageId],
    count: i32,
) -> Result<Vec<PassageId>, StoreError> {
    let ids: Vec<i64> = sqlx::query_scalar(
        "select distinct f.passage_id
         from unnest($2::bigint[]) c (passage_id)
         cross join lateral (
             select revision_id, ordinal from passage where namespace = $1 and passage_id = c.passage_id offset 0) p
         join passage f on f.namespace = $1 and f.revision_id = p.revision_id
             and f.ordinal between p.ordinal + 1 and p.ordinal + $3",
    )
    .bind(ns.as_str())
    .bind(passages.iter().map(|id| id.0).collect::<Vec<_>>())
    .bind(count)
    .fetch_all(conn)
    .await?;
    Ok(ids.into_iter().map(PassageId).collect())
}

/// The first passage of each text of the scope, where these are known and no more than `limit`; else none.
pub async fn first_passages(
    conn: &mut Conn,
    ns: &Namespace,
    scope: &Scope,
    limit: usize,
) -> Result<Vec<PassageId>, StoreError> {
    match &scope.members {
        Members::Revisions(ids) if !ids.is_empty() && ids.len() <= limit => {}
        _ => return Ok(Vec::new()),
    }
    let mut statement =
        QueryBuilder::new("select p.passage_id from passage p where p.ordinal = 0 and p.namespace = ");
    statement.push_bind(ns.as_str());
    scope.push_condition(&mut statement, ns, "p");
    let ids: Vec<i64> = statement.build_query_scalar().fetch_all(conn).await?;
    Ok(ids.into_iter().map(PassageId).collect())
}
