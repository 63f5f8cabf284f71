//! What points have to be like, read from Postgres at the moment it is needed.

use pgvector::Vector;
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Row};

use crate::{Conn, StoreError};

/// A passage as the mirror shows it. There is no text in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    pub passage_id: i64,
    pub vector: Vec<f32>,
    pub about: About,
    /// Of all of this.
    pub digest: i64,
}

/// What searches filter by.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct About {
    pub namespace: String,
    /// `content`, `chunk` or `observation`.
    pub kind: String,
    pub is_latest: bool,
    pub context: Option<String>,
    pub source: Option<String>,
    pub author: Option<String>,
    pub conversation_id: Option<String>,
    pub tags: Vec<String>,
    pub importance: Option<f32>,
    /// Whole seconds since 1970, rounded down.
    pub date: Option<i64>,
    pub categories: Vec<String>,
    pub thread: Option<String>,
}

/// The kinds of points.
pub const KINDS: [&str; 3] = ["content", "chunk", "observation"];

const COLUMNS: &str = "passage_id, namespace, embedding, kind, is_latest, context, source, author, conversation_id, tags, \
                       importance, dated_seconds, categories, thread, digest";

/// The points of those of the passages that have a vector of the model.
pub async fn of_passages(conn: &mut Conn, model_id: i16, passages: &[i64]) -> Result<Vec<Point>, StoreError> {
    let statement = format!(
        "select p.*
         from unnest($2::bigint[]) wanted (passage_id)
         cross join lateral (
             select {COLUMNS} from vector_point
             where model_id = $1 and passage_id = wanted.passage_id
             offset 0
         ) p"
    );
    let rows = sqlx::query(AssertSqlSafe(statement)).bind(model_id).bind(passages).fetch_all(conn).await?;
    rows.iter().map(point_of).collect()
}

fn point_of(row: &PgRow) -> Result<Point, StoreError> {
    Ok(Point {
        passage_id: row.try_get("passage_id")?,
        vector: row.try_get::<Vector, _>("embedding")?.into(),
        about: About {
            namespace: row.try_get("namespace")?,
            kind: row.try_get("kind")?,
            is_latest: row.try_get("is_latest")?,
            context: row.try_get("context")?,
            source: row.try_get("source")?,
            author: row.try_get("author")?,
            conversation_id: row.try_get("conversation_id")?,
            tags: row.try_get::<Option<Vec<String>>, _>("tags")?.unwrap_or_default(),
            importance: row.try_get("importance")?,
            date: row.try_get("dated_seconds")?,
            categories: row.try_get::<Option<Vec<String>>, _>("categories")?.unwrap_or_default(),
            thread: row.try_get("thread")?,
        },
        digest: row.try_get("digest")?,
    })
}

/// A checksum over a set of points, whatever their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Checksum {
    count: i64,
    ids: i128,
    digests: i128,
    pairs: i128,
}

/// Keeps the products of a checksum small.
const MODULUS: i64 = 1_000_003;

impl Checksum {
    pub fn count(&self) -> i64 {
        self.count
    }

    pub fn add(&mut self, passage_id: i64, digest: i64) {
        self.count += 1;
        self.ids += i128::from(passage_id);
        self.digests += i128::from(digest);
        self.pairs += i128::from(passage_id % MODULUS) * i128::from(digest);
    }
}

/// The checksum of the model's points after one passage up to another, or up to the end.
pub async fn checksum(
    conn: &mut Conn,
    model_id: i16,
    after: i64,
    up_to: Option<i64>,
) -> Result<Checksum, StoreError> {
    let row: (i64, String, String, String) = sqlx::query_as(
        "select count(*), coalesce(sum(passage_id), 0)::text, coalesce(sum(digest), 0)::text,
                coalesce(sum((passage_id % 1000003)::numeric * digest), 0)::text
         from vector_point
         where model_id = $1 and passage_id > $2 and passage_id <= $3",
    )
    .bind(model_id)
    .bind(after)
    .bind(up_to.unwrap_or(i64::MAX))
    .fetch_one(conn)
    .await?;
    let number = |text: &str| {
        text.parse::<i128>().map_err(|_| StoreError::Unsuitable("a checksum is not a number".into()))
    };
    Ok(Checksum { count: row.0, ids: number(&row.1)?, digests: number(&row.2)?, pairs: number(&row.3)? })
}

/// Ids and digests of the model's points after one passage up to another, in order.
pub async fn digests(
    conn: &mut Conn,
    model_id: i16,
    after: i64,
    up_to: Option<i64>,
    limit: i64,
) -> Result<Vec<(i64, i64)>, StoreError> {
    Ok(sqlx::query_as(
        "select passage_id, digest from vector_point
         where model_id = $1 and passage_id > $2 and passage_id <= $3
         order by passage_id
         limit $4",
    )
    .bind(model_id)
    .bind(after)
    .bind(up_to.unwrap_or(i64::MAX))
    .bind(limit)
    .fetch_all(conn)
    .await?)
}

/// Digests of those of the passages that have a point.
pub async fn digests_of(
    conn: &mut Conn,
    model_id: i16,
    passages: &[i64],
) -> Result<Vec<(i64, i64)>, StoreError> {
    Ok(sqlx::query_as(
        "select p.passage_id, p.digest
         from unnest($2::bigint[]) wanted (passage_id)
         cross join lateral (
             select passage_id, digest from vector_point
             where model_id = $1 and passage_id = wanted.passage_id
             offset 0
         ) p",
    )
    .bind(model_id)
    .bind(passages)
    .fetch_all(conn)
    .await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_tells_which_digest_belongs_to_which_point() {
        let of = |points: &[(i64, i64)]| {
            let mut sum = Checksum::default();
            for (id, digest) in points {
                sum.add(*id, *digest);
            }
            sum
        };
        assert_eq!(of(&[(1, 7), (2, 9)]), of(&[(2, 9), (1, 7)]));
        assert_ne!(of(&[(1, 7), (2, 9)]), of(&[(1, 9), (2, 7)]));
        assert_ne!(of(&[(1, 7), (4, 9)]), of(&[(2, 7), (3, 9)]));
    }
}
