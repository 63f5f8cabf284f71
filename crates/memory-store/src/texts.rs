//! Texts a page at a time, for people who look through them: a table, the line of revisions, growth, and what forgetting takes
//! along.

use jiff::Timestamp;
use jiff_sqlx::{Timestamp as SqlTimestamp, ToSqlx};
use memory_core::artifact::{ArtifactUid, Metadata};
use memory_core::id::{ArtifactId, Namespace, RevisionId};
use sqlx::postgres::PgRow;
use sqlx::{FromRow, QueryBuilder, Row};

use crate::artifacts::{CurrentRevision, find_current};
use crate::search::{Filters, are_few_tagged, push_revisions};
use crate::{Conn, StoreError};

/// Counting ends here: further on it is only said that there are more.
pub const COUNTED_MAX: i64 = 10_000;
/// The most revisions of a line.
const LINE_MAX: i64 = 100;
/// How much of a text's beginning is shown in a table, in characters.
const BEGINNING_CHARS: i32 = 240;

/// How a table is ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TextOrder {
    #[default]
    Newest,
    Oldest,
    /// The most important first, of these the newest revision.
    Important,
}

/// Where in a table a text stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TextKey {
    /// Microseconds since 1970, or the bits of the importance.
    pub value: i64,
    pub revision: RevisionId,
}

/// A row of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedText {
    pub key: TextKey,
    pub artifact_id: String,
    pub context: String,
    pub title: Option<String>,
    pub beginning: String,
    pub source: Option<String>,
    pub author: Option<String>,
    pub conversation_id: Option<String>,
    pub turn_index: Option<i32>,
    pub date: Timestamp,
    pub importance: f32,
    pub tags: Vec<String>,
    pub char_count: i32,
    /// `None` until it was read by the extractor.
    pub event_count: Option<i32>,
    pub is_latest: bool,
}

/// The next texts behind a key, at most `limit`.
pub async fn list(
    conn: &mut Conn,
    ns: &Namespace,
    filters: &Filters,
    order: TextOrder,
    after: Option<TextKey>,
    limit: i64,
) -> Result<Vec<ListedText>, StoreError> {
    let (value, column) = match order {
        TextOrder::Newest | TextOrder::Oldest => (
            "(extract(epoch from coalesce(r.date, r.created_at)) * 1000000)::bigint",
            "coalesce(r.date, r.created_at)",
        ),
        // Of numbers that are not negative the bits are in the order of the numbers.
        TextOrder::Important => {
            ("('x' || encode(float4send(r.importance), 'hex'))::bit(32)::bigint", "r.importance")
        }
    };
    let (compared, direction) = if order == TextOrder::Oldest { (">", "asc") } else { ("<", "desc") };
    let mut statement = QueryBuilder::new(format!(
        "select p.*, a.char_count, left(a.content, {BEGINNING_CHARS}) as beginning
         from (select r.namespace, r.revision_id, r.artifact_id, r.context, r.title, r.source, r.author, r.conversation_id,
                      r.turn_index, r.importance, r.tags, r.event_count, r.is_latest,
                      coalesce(r.date, r.created_at) as date, {value} as value"
    ));
    let few_tagged = are_few_tagged(conn, ns, filters).await?;
    push_revisions(&mut statement, ns, filters, few_tagged);
    if let Some(key) = after {
        statement.push(format!(" and ({column}, r.revision_id) {compared} ("));
        match order {
            TextOrder::Important => {
                statement.push_bind(f32::from_bits(u32::try_from(key.value).unwrap_or(0)))
            }
            _ => statement.push_bind(at_micros(key.value).to_sqlx()),
        };
        statement.push(", ").push_bind(key.revision.0).push(")");
    }
    statement
        .push(format!(" order by {column} {direction}, r.revision_id {direction} limit "))
        .push_bind(limit);
    statement.push(format!(
        ") p cross join lateral (select content, char_count from artifact
                                 where namespace = p.namespace and artifact_id = p.artifact_id offset 0) a
         order by p.value {direction}, p.revision_id {direction}"
    ));
    let rows = statement.build().fetch_all(conn).await?;
    rows.iter().map(listed).collect()
}

fn listed(row: &PgRow) -> Result<ListedText, StoreError> {
    Ok(ListedText {
        key: TextKey { value: row.try_get("value")?, revision: RevisionId(row.try_get("revision_id")?) },
        artifact_id: row.try_get("artifact_id")?,
        context: row.try_get("context")?,
        title: row.try_get("title")?,
        beginning: row.try_get("beginning")?,
        source: row.try_get("source")?,
        author: row.try_get("author")?,
        conversation_id: row.try_get("conversation_id")?,
        turn_index: row.try_get("turn_index")?,
        date: row.try_get::<SqlTimestamp, _>("date")?.to_jiff(),
        importance: row.try_get("importance")?,
        tags: row.try_get("tags")?,
        char_count: row.try_get("char_count")?,
        event_count: row.try_get("event_count")?,
        is_latest: row.try_get("is_latest")?,
    })
}

fn at_micros(micros: i64) -> Timestamp {
    Timestamp::from_microsecond(micros).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// How many texts the filters let through, counted up to one more than [`COUNTED_MAX`].
pub async fn count(conn: &mut Conn, ns: &Namespace, filters: &Filters) -> Result<i64, StoreError> {
    let mut statement = QueryBuilder::new("select count(*) from (select");
    let few_tagged = are_few_tagged(conn, ns, filters).await?;
    push_revisions(&mut statement, ns, filters, few_tagged);
    statement.push(format!(" limit {}) counted", COUNTED_MAX + 1));
    Ok(statement.build_query_scalar().fetch_one(conn).await?)
}

/// A revision of a line: what was at a place, one after the other.
#[derive(Debug, Clone, PartialEq)]
pub struct LineRevision {
    pub revision_id: i64,
    pub artifact_id: String,
    pub title: Option<String>,
    pub date: Timestamp,
    pub created_at: Timestamp,
    pub is_latest: bool,
    pub char_count: i32,
    pub event_count: Option<i32>,
}

/// The revisions of an artifact, with those that they replaced and that replaced them, newest first.
pub async fn line(conn: &mut Conn, ns: &Namespace, id: &ArtifactId) -> Result<Vec<LineRevision>, StoreError> {
    let rows = sqlx::query(
        "with recursive line as (
             select revision_id, superseded_by from artifact_revision where namespace = $1 and artifact_id = $2
             union
             select o.revision_id, o.superseded_by
             from line l
             cross join lateral (
                 select revision_id, superseded_by from artifact_revision
                 where namespace = $1 and revision_id = l.superseded_by
                 union all
                 select revision_id, superseded_by from artifact_revision
                 where namespace = $1 and superseded_by = l.revision_id
             ) o
         )
         select r.revision_id, r.artifact_id, r.title, coalesce(r.date, r.created_at) as date, r.created_at, r.is_latest,
                a.char_count, r.event_count
         from (select revision_id from line limit $3) l
         join artifact_revision r on r.namespace = $1 and r.revision_id = l.revision_id
         join artifact a on a.namespace = $1 and a.artifact_id = r.artifact_id
         order by r.revision_id desc",
    )
    .bind(ns.as_str())
    .bind(&id.0)
    .bind(LINE_MAX)
    .fetch_all(conn)
    .await?;
    rows.iter()
        .map(|row| {
            Ok(LineRevision {
                revision_id: row.try_get("revision_id")?,
                artifact_id: row.try_get("artifact_id")?,
                title: row.try_get("title")?,
                date: row.try_get::<SqlTimestamp, _>("date")?.to_jiff(),
                created_at: row.try_get::<SqlTimestamp, _>("created_at")?.to_jiff(),
                is_latest: row.try_get("is_latest")?,
                char_count: row.try_get("char_count")?,
                event_count: row.try_get("event_count")?,
            })
        })
        .collect()
}

/// What would go with an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GoingAlong {
    pub revisions: i64,
    pub chunks: i64,
    pub events: i64,
    /// Entities that no other text names.
    pub entities: i64,
}

row!(GoingAlong { revisions, chunks, events, entities });

/// Counts what [`delete_artifacts`](crate::forgetting::delete_artifacts) would take along.
pub async fn going_along(conn: &mut Conn, ns: &Namespace, id: &ArtifactId) -> Result<GoingAlong, StoreError> {
    Ok(sqlx::query_as(
        "with own as materialized (
             select revision_id from artifact_revision where namespace = $1 and artifact_id = $2
         ), named as materialized (
             select distinct m.entity_id from own o
             join entity_mention m on m.namespace = $1 and m.revision_id = o.revision_id
         )
         select (select count(*) from own) as revisions,
                (select count(*) from chunk where namespace = $1 and artifact_id = $2) as chunks,
                (select count(*) from (
                     select e.event_id from own o
                     join semantic_event e on e.namespace = $1 and e.revision_id = o.revision_id
                     union
                     select v.event_id from own o
                     join event_evidence v on v.namespace = $1 and v.revision_id = o.revision_id) e) as events,
                (select count(*) from named n
                 where not exists (select from entity_mention m
                                   where m.namespace = $1 and m.entity_id = n.entity_id
                                     and m.revision_id not in (select revision_id from own))) as entities",
    )
    .bind(ns.as_str())
    .bind(&id.0)
    .fetch_one(conn)
    .await?)
}

/// The content of an artifact with the newest of its latest revisions, to say something else of it.
pub async fn current(
    conn: &mut Conn,
    ns: &Namespace,
    id: &ArtifactId,
) -> Result<Option<(String, CurrentRevision)>, StoreError> {
    let row: Option<(String, String)> = sqlx::query_as(
        "select a.content, r.artifact_uid
         from artifact_revision r
         join artifact a using (namespace, artifact_id)
         where r.namespace = $1 and r.artifact_id = $2 and r.is_latest
         order by r.revision_id desc
         limit 1",
    )
    .bind(ns.as_str())
    .bind(&id.0)
    .fetch_optional(&mut *conn)
    .await?;
    let Some((content, uid)) = row else { return Ok(None) };
    Ok(find_current(conn, ns, &ArtifactUid(uid)).await?.map(|current| (content, current)))
}

/// The metadata of a place and the text that is there.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredText {
    pub content: String,
    pub meta: Metadata,
}

/// The texts of these artifacts as they stand at their newest places, in the order given.
pub async fn stored(conn: &mut Conn, ns: &Namespace, ids: &[String]) -> Result<Vec<StoredText>, StoreError> {
    let rows = sqlx::query(
        "select a.content, r.context, r.source, r.source_id, r.author, r.role, r.participants, r.date, r.title, r.tags,
                r.importance, r.conversation_id, r.turn_index
         from unnest($2::text[]) with ordinality u (artifact_id, n)
         join artifact a on a.namespace = $1 and a.artifact_id = u.artifact_id
         cross join lateral (
             select * from artifact_revision
             where namespace = $1 and artifact_id = u.artifact_id
             order by is_latest desc, revision_id desc
             limit 1
         ) r
         order by u.n",
    )
    .bind(ns.as_str())
    .bind(ids)
    .fetch_all(conn)
    .await?;
    rows.iter()
        .map(|row| {
            let meta = crate::metadata_columns::MetadataRow::from_row(row)?;
            Ok(StoredText { content: row.try_get("content")?, meta: meta.into() })
        })
        .collect()
}

/// What was written on one day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Day {
    /// Seconds since 1970 at its beginning, in UTC.
    pub begins: i64,
    pub texts: i64,
    pub events: i64,
}

row!(Day { begins, texts, events });

/// Texts by the day on which they were written down, and what was found in them; days without any are left out.
pub async fn growth(conn: &mut Conn, ns: &Namespace, days: i32) -> Result<Vec<Day>, StoreError> {
    Ok(sqlx::query_as(
        // Behind `offset 0` the planner expects a few days and hashes, instead of sorting all rows.
        "select extract(epoch from day)::bigint as begins, count(*) as texts, coalesce(sum(event_count), 0)::bigint as events
         from (select date_bin('1 day', created_at, 'epoch') as day, event_count from artifact_revision
               where namespace = $1 and created_at >= now() - make_interval(days => $2) offset 0) r
         group by day
         order by day",
    )
    .bind(ns.as_str())
    .bind(days)
    .fetch_all(conn)
    .await?)
}
