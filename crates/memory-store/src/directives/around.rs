//! What stands around directives in their texts.

use memory_core::id::Namespace;
use memory_language::text::CharSpan;
use sqlx::Row;
use sqlx::postgres::PgRow;

use crate::{Conn, StoreError};

/// Of directives `d` what [`around_of`] reads, with so many characters of their texts before and behind.
macro_rules! in_text {
    ($chars:literal) => {
        concat!(
            "substr(a.content, x.start + 1, d.end_char + ", $chars, " - x.start) as excerpt,
             d.start_char - x.start as start_char, d.end_char - x.start as end_char, o.starts, o.ends
             from directive d
             join artifact_revision r using (namespace, revision_id)
             join artifact a using (namespace, artifact_id)
             cross join lateral (select greatest(d.start_char - ", $chars, ", 0)) x (start)
             cross join lateral (
                 select coalesce(array_agg(greatest(o.start_char - x.start, 0) order by o.start_char), '{}'),
                        coalesce(array_agg(o.end_char - x.start order by o.start_char), '{}')
                 from directive o
                 where o.namespace = d.namespace and o.revision_id = d.revision_id and o.directive_id <> d.directive_id
                   and (d.is_circumstance or not o.is_circumstance) and o.end_char > x.start and o.start_char < d.end_char + ", $chars, ") o (starts, ends)"
        )
    };
}
pub(super) use in_text;

/// A directive in its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Around {
    /// The text, or so many characters of it around the quote as were asked for.
    pub excerpt: String,
    /// The quote in the excerpt.
    pub span: CharSpan,
    /// Other directives of the text that reach into the excerpt.
    pub others: Vec<CharSpan>,
}

pub(super) fn around_of(row: &PgRow) -> Result<Around, StoreError> {
    let span = |start: i32, end: i32| CharSpan::new(start as usize, end as usize);
    let (starts, ends): (Vec<i32>, Vec<i32>) = (row.try_get("starts")?, row.try_get("ends")?);
    Ok(Around {
        excerpt: row.try_get("excerpt")?,
        span: span(row.try_get("start_char")?, row.try_get("end_char")?),
        others: starts.into_iter().zip(ends).map(|(start, end)| span(start, end)).collect(),
    })
}

/// Those of directives that are still there, by their numbers, up to `chars` characters before and behind each.
pub async fn around(
    conn: &mut Conn,
    ns: &Namespace,
    directives: &[i64],
    chars: i32,
) -> Result<Vec<(i64, Around)>, StoreError> {
    let rows = sqlx::query(concat!(
        "select d.directive_id, ",
        in_text!("$3"),
        " where d.namespace = $1 and d.directive_id = any($2)",
    ))
    .bind(ns.as_str())
    .bind(directives)
    .bind(chars)
    .fetch_all(conn)
    .await?;
    rows.iter().map(|row| Ok((row.try_get("directive_id")?, around_of(row)?))).collect()
}
