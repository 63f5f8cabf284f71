//! Reading hits back from the truth: what is gone or changed since an index saw it is not shown.

use std::sync::LazyLock;

use jiff::Timestamp;
use jiff_sqlx::Timestamp as SqlTimestamp;
use memory_core::event::StoredEvent;
use memory_core::id::{ArtifactId, Namespace, PassageId, RevisionId};
use memory_core::render::Surroundings;
use memory_language::text::CharSpan;
use sqlx::Row;
use sqlx::postgres::PgRow;
use sqlx::types::Json;

use crate::event_view::with_event_view;
use crate::{Conn, StoreError};

/// A hit with all that an answer may show of it.
#[derive(Debug, Clone)]
pub struct HydratedHit {
    pub revision_id: RevisionId,
    pub passage_id: PassageId,
    pub artifact_id: ArtifactId,
    pub context: String,
    pub title: Option<String>,
    pub source: Option<String>,
    pub source_id: Option<String>,
    pub author: Option<String>,
    pub participants: Vec<String>,
    pub role: Option<String>,
    pub date: Timestamp,
    pub importance: f32,
    pub tags: Vec<String>,
    pub conversation_id: Option<String>,
    pub turn_index: Option<i32>,
    pub is_latest: bool,
    /// The artifact that is at the place now, when it is another.
    pub superseded_by: Option<String>,
    pub passage: String,
    pub span: CharSpan,
    /// Index and span of the chunk that holds the passage, in a long content.
    pub chunk: Option<(usize, CharSpan)>,
    /// The whole content, when it was asked for.
    pub content: Option<String>,
    pub events: Vec<StoredEvent>,
    /// How many there are of the kinds asked for; 0 where none were asked for.
    pub event_count: i64,
    /// Its events are still to be extracted.
    pub is_unread: bool,
}

impl HydratedHit {
    /// What the embedding model has read around the passage: title and speaker.
    pub fn surroundings(&self) -> Surroundings {
        Surroundings {
            title: self.title.clone(),
            speaker: self.author.clone().or_else(|| self.role.clone()),
            ..Surroundings::default()
        }
    }
}

static HYDRATE: LazyLock<String> = LazyLock::new(|| with_event_view(include_str!("sql/hydrate.sql")));
static EVENTS_BY_ID: LazyLock<String> =
    LazyLock::new(|| with_event_view(include_str!("sql/events_by_id.sql")));

/// What to read with each hit.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    pub content: bool,
    /// The most events a hit; 0 for none.
    pub events: i64,
    /// Only events of these categories; empty for all.
    pub categories: &'a [&'a str],
}

fn hit_of(row: &PgRow) -> Result<HydratedHit, StoreError> {
    let span = |start: &str, end: &str| -> Result<Option<CharSpan>, sqlx::Error> {
        let (start, end): (Option<i32>, Option<i32>) = (row.try_get(start)?, row.try_get(end)?);
        Ok(start.zip(end).map(|(start, end)| CharSpan::new(start as usize, end as usize)))
    };
    let chunk_index: Option<i32> = row.try_get("chunk_index")?;
    Ok(HydratedHit {
        revision_id: RevisionId(row.try_get("revision_id")?),
        passage_id: PassageId(row.try_get("passage_id")?),
        artifact_id: ArtifactId(row.try_get("artifact_id")?),
        context: row.try_get("context")?,
        title: row.try_get("title")?,
        source: row.try_get("source")?,
        source_id: row.try_get("source_id")?,
        author: row.try_get("author")?,
        participants: row.try_get("participants")?,
        role: row.try_get("role")?,
        date: row.try_get::<SqlTimestamp, _>("date")?.to_jiff(),
        importance: row.try_get("importance")?,
        tags: row.try_get("tags")?,
        conversation_id: row.try_get("conversation_id")?,
        turn_index: row.try_get("turn_index")?,
        is_latest: row.try_get("is_latest")?,
        superseded_by: row.try_get("superseded_by")?,
        passage: row.try_get("passage")?,
        span: span("start_char", "end_char")?.unwrap_or(CharSpan::new(0, 0)),
        chunk: chunk_index.map(|i| i as usize).zip(span("chunk_start", "chunk_end")?),
        content: row.try_get("content")?,
        events: row.try_get::<Json<Vec<StoredEvent>>, _>("events")?.0,
        event_count: row.try_get("event_count")?,
        is_unread: row.try_get("is_unread")?,
    })
}

/// Reads the passages back, in the order given; those that are gone are left out.
pub async fn hydrate(
    conn: &mut Conn,
    ns: &Namespace,
    passages: &[PassageId],
    wanted: Wanted<'_>,
) -> Result<Vec<HydratedHit>, StoreError> {
    let ids: Vec<i64> = passages.iter().map(|id| id.0).collect();
    let rows = sqlx::query(HYDRATE.as_str())
        .bind(ns.as_str())
        .bind(ids)
        .bind(wanted.content)
        .bind(wanted.events)
        .bind(wanted.categories)
        .fetch_all(conn)
        .await?;
    rows.iter().map(hit_of).collect()
}

/// The first passage of each revision of an artifact: the latest at its place first, then the newest.
pub async fn passages_of_artifact(
    conn: &mut Conn,
    ns: &Namespace,
    id: &ArtifactId,
) -> Result<Vec<PassageId>, StoreError> {
    let ids: Vec<i64> = sqlx::query_scalar(
        "select p.passage_id
         from artifact_revision r
         join passage p on p.namespace = r.namespace and p.revision_id = r.revision_id and p.ordinal = 0
         where r.namespace = $1 and r.artifact_id = $2
         order by r.is_latest desc, r.revision_id desc
         limit 50",
    )
    .bind(ns.as_str())
    .bind(&id.0)
    .fetch_all(conn)
    .await?;
    Ok(ids.into_iter().map(PassageId).collect())
}

/// A part of an artifact's content in characters, and the length of the whole.
pub async fn content_page(
    conn: &mut Conn,
    ns: &Namespace,
    id: &ArtifactId,
    from_char: usize,
    max_chars: usize,
) -> Result<Option<(String, usize)>, StoreError> {
    let row: Option<(String, i32)> = sqlx::query_as(
        "select substr(content, $3 + 1, $4), char_count from artifact where namespace = $1 and artifact_id = $2",
    )
    .bind(ns.as_str())
    .bind(&id.0)
    .bind(from_char as i32)
    .bind(max_chars as i32)
    .fetch_optional(conn)
    .await?;
    Ok(row.map(|(page, chars)| (page, chars as usize)))
}

/// Events by their ids, in the order given; those that are gone are left out.
pub async fn events(conn: &mut Conn, ns: &Namespace, ids: &[String]) -> Result<Vec<StoredEvent>, StoreError> {
    let events: Vec<Json<StoredEvent>> =
        sqlx::query_scalar(EVENTS_BY_ID.as_str()).bind(ns.as_str()).bind(ids).fetch_all(conn).await?;
    Ok(events.into_iter().map(|Json(event)| event).collect())
}

/// The ids of a revision's events of these categories (of all where there is none), in the order of the text, from the
/// `offset`th.
pub async fn events_of_revision(
    conn: &mut Conn,
    ns: &Namespace,
    revision: RevisionId,
    categories: &[&str],
    offset: i64,
    limit: i64,
) -> Result<Vec<String>, StoreError> {
    Ok(sqlx::query_scalar(
        "select event_id from semantic_event
         where namespace = $1 and revision_id = $2 and (cardinality($3::text[]) = 0 or category = any($3))
         order by ordinal, event_id
         offset $4 limit $5",
    )
    .bind(ns.as_str())
    .bind(revision.0)
    .bind(categories)
    .bind(offset)
    .bind(limit)
    .fetch_all(conn)
    .await?)
}

/// For each event that is there its id and the first passage of its revision.
pub async fn passages_of_events(
    conn: &mut Conn,
    ns: &Namespace,
    ids: &[String],
) -> Result<Vec<(String, PassageId)>, StoreError> {
    let rows: Vec<(String, i64)> = sqlx::query_as(
        "select u.event_id, p.passage_id
         from unnest($2::text[]) with ordinality u (event_id, n)
         cross join lateral (
             select revision_id from semantic_event where namespace = $1 and event_id = u.event_id offset 0
         ) e
         join passage p on p.namespace = $1 and p.revision_id = e.revision_id and p.ordinal = 0
         order by u.n",
    )
    .bind(ns.as_str())
    .bind(ids)
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|(event, passage)| (event, PassageId(passage))).collect())
}

/// A place where a text is, or was.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    pub source: Option<String>,
    pub source_id: Option<String>,
    pub conversation_id: Option<String>,
    pub turn_index: Option<i32>,
    pub author: Option<String>,
    pub title: Option<String>,
    /// A newer text is there.
    pub is_superseded: bool,
}

row!(Place { source, source_id, conversation_id, turn_index, author, title, is_superseded });

/// The places of an artifact, those where it is the latest first; and how many there are.
pub async fn places(
    conn: &mut Conn,
    ns: &Namespace,
    id: &ArtifactId,
    limit: i64,
) -> Result<(Vec<Place>, i64), StoreError> {
    let places = sqlx::query_as(
        "select source, source_id, conversation_id, turn_index, author, title, is_superseded
         from (select distinct on (artifact_uid) source, source_id, conversation_id, turn_index, author, title,
                   not is_latest as is_superseded, revision_id
               from artifact_revision
               where namespace = $1 and artifact_id = $2
               order by artifact_uid, is_latest desc, revision_id desc) p
         order by is_superseded, revision_id desc
         limit $3",
    )
    .bind(ns.as_str())
    .bind(&id.0)
    .bind(limit)
    .fetch_all(&mut *conn)
    .await?;
    let count = sqlx::query_scalar(
        "select count(distinct artifact_uid) from artifact_revision where namespace = $1 and artifact_id = $2",
    )
    .bind(ns.as_str())
    .bind(&id.0)
    .fetch_one(conn)
    .await?;
    Ok((places, count))
}
