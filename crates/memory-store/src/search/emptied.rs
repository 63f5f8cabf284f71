//! What filters leave out: what of them no text meets, and what there is instead. Asked of an empty answer, and of one with an author.

use jiff::Timestamp;
use jiff_sqlx::Timestamp as SqlTimestamp;
use memory_core::id::Namespace;
use sqlx::{AssertSqlSafe, QueryBuilder, Row};

use super::{Filters, push_filters};
use crate::{Conn, StoreError};

/// The most values that are listed of one filter.
const VALUES_MAX: i64 = 200;
/// The most texts that are looked at for what has no index.
const TEXTS_MAX: i64 = 5_000;

/// Whether any text of the namespace meets the filters.
pub async fn is_met(conn: &mut Conn, ns: &Namespace, filters: &Filters) -> Result<bool, StoreError> {
    let mut statement = QueryBuilder::new("select exists (select from artifact_revision r where");
    push_filters(&mut statement, ns, filters);
    statement.push(")");
    Ok(statement.build_query_scalar().fetch_one(conn).await?)
}

/// Values that texts of the namespace have where a filter looks: of `source`, `author`, `conversation_id`, `context`, `tags`
/// or `categories`; at most 200.
pub async fn distinct_values(
    conn: &mut Conn,
    ns: &Namespace,
    filter: &str,
) -> Result<Vec<String>, StoreError> {
    // The next value is looked up behind the last one: of a value that thousands of texts have one row is read.
    let by_index = |key: &str, column: &str, condition: &str| {
        format!(
            "with recursive v as (
                 (select {key} as key, {column} as value from artifact_revision
                  where namespace = $1 and {condition} order by {key} limit 1)
                 union all
                 select n.key, n.value from v cross join lateral (
                     select {key} as key, {column} as value from artifact_revision
                     where namespace = $1 and {key} > v.key and {condition} order by {key} limit 1
                 ) n
             )
             select value from v limit $2"
        )
    };
    let statement = match filter {
        "source" => by_index("folded_source", "source", "folded_source is not null"),
        "author" => by_index("folded_author", "author", "folded_author is not null"),
        "conversation_id" => {
            by_index("conversation_id", "conversation_id", "conversation_id is not null and turn_index is not null and is_latest")
        }
        "categories" => "select c.category
             from unnest(array['Commitment', 'Execution', 'Decision', 'Collaboration', 'QualityRisk', 'Feedback', 'Change',
                 'Stakeholder']) c (category)
             where exists (select from semantic_event where namespace = $1 and category = c.category)
             limit $2"
            .to_owned(),
        _ => {
            let column = if filter == "tags" { "unnest(tags)" } else { "context" };
            format!(
                "select distinct value from (
                     select {column} as value
                     from (select tags, context from artifact_revision
                           where namespace = $1 order by revision_id desc limit {TEXTS_MAX}) r
                 ) found limit $2"
            )
        }
    };
    Ok(sqlx::query_scalar(AssertSqlSafe(statement))
        .bind(ns.as_str())
        .bind(VALUES_MAX)
        .fetch_all(conn)
        .await?)
}

/// Between what the newest texts of a namespace lie.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranges {
    pub oldest: Timestamp,
    pub newest: Timestamp,
    pub importance_max: f32,
}

/// `None` where there is no text.
pub async fn ranges(conn: &mut Conn, ns: &Namespace) -> Result<Option<Ranges>, StoreError> {
    let row = sqlx::query(
        "select min(dated) as oldest, max(dated) as newest, max(importance) as importance
         from (select coalesce(date, created_at) as dated, importance from artifact_revision
               where namespace = $1 order by revision_id desc limit $2) r
         having count(*) > 0",
    )
    .bind(ns.as_str())
    .bind(TEXTS_MAX)
    .fetch_optional(conn)
    .await?;
    row.map(|row| {
        Ok(Ranges {
            oldest: row.try_get::<SqlTimestamp, _>("oldest")?.to_jiff(),
            newest: row.try_get::<SqlTimestamp, _>("newest")?.to_jiff(),
            importance_max: row.try_get("importance")?,
        })
    })
    .transpose()
}
