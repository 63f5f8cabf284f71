//! What was stored last: texts, and conversations as one each.

use jiff::Timestamp;
use jiff_sqlx::Timestamp as SqlTimestamp;
use memory_core::id::Namespace;
use sqlx::{QueryBuilder, Row};

use crate::search::{Filters, push_filters};
use crate::{Conn, StoreError};

/// How many of the newest texts of a namespace are looked at.
const LOOKED_AT_MAX: i64 = 5_000;

/// A text, or a conversation as far as it is among what was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LatestText {
    /// Of the text, or of the last turn.
    pub artifact_id: String,
    pub conversation_id: Option<String>,
    pub title: Option<String>,
    /// The summary of the text, or of the first turn of the user.
    pub began_with: String,
    /// The summary of the last turn of the assistant.
    pub ended_with: Option<String>,
    /// How many turns it has.
    pub count: i64,
    pub at: Timestamp,
}

/// The newest texts that pass the filters, newest first.
pub async fn latest_texts(
    conn: &mut Conn,
    ns: &Namespace,
    filters: &Filters,
    limit: i64,
) -> Result<Vec<LatestText>, StoreError> {
    let mut statement = QueryBuilder::new(
        "with newest as materialized (
             select r.revision_id, r.artifact_id, r.conversation_id, r.turn_index, r.role, r.title, r.summary,
                    coalesce(r.date, r.created_at) as at
             from (select * from artifact_revision where is_latest and namespace = ",
    );
    statement.push_bind(ns.as_str().to_owned());
    statement.push(format!(" order by revision_id desc limit {LOOKED_AT_MAX}) r where "));
    push_filters(&mut statement, ns, filters);
    statement.push(
        ")
         select (array_agg(artifact_id order by at desc, turn_index desc nulls last, revision_id desc))[1] as artifact_id,
                conversation_id,
                (array_agg(title order by at desc, revision_id desc) filter (where title is not null))[1] as title,
                coalesce((array_agg(summary order by turn_index) filter (where role = 'user'))[1],
                         (array_agg(summary order by turn_index nulls first, revision_id))[1]) as began_with,
                (array_agg(summary order by turn_index desc) filter (where role = 'assistant'))[1] as ended_with,
                count(*) as count,
                max(at) as at
         from newest
         group by conversation_id, case when conversation_id is null then revision_id end
         order by max(at) desc, max(revision_id) desc
         limit ",
    );
    statement.push_bind(limit);
    let rows = statement.build().fetch_all(conn).await?;
    let text = |row: &sqlx::postgres::PgRow| -> Result<LatestText, StoreError> {
        Ok(LatestText {
            artifact_id: row.try_get("artifact_id")?,
            conversation_id: row.try_get("conversation_id")?,
            title: row.try_get("title")?,
            began_with: row.try_get("began_with")?,
            ended_with: row.try_get("ended_with")?,
            count: row.try_get("count")?,
            at: row.try_get::<SqlTimestamp, _>("at")?.to_jiff(),
        })
    };
    rows.iter().map(text).collect()
}
