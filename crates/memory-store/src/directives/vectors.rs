//! The vectors of directives: which are missing, and how they are written.

use memory_core::id::{Namespace, RevisionId};
use pgvector::Vector;

use crate::{Conn, StoreError, Tx};

/// A directive whose vector is missing, of any namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unembedded {
    pub directive_id: i64,
    pub quote: String,
    pub condition: Option<String>,
}

/// The directives that the model has no vector for, of one revision or of all, in order behind this one.
pub async fn without_vector(
    conn: &mut Conn,
    of: Option<(&Namespace, RevisionId)>,
    model_id: i16,
    after: i64,
    limit: i64,
) -> Result<Vec<Unembedded>, StoreError> {
    let rows: Vec<(i64, String, Option<String>)> = sqlx::query_as(
        "select directive_id, quote, condition
         from directive
         where model_id is distinct from $1 and directive_id > $2
           and ($3::text is null or (namespace = $3 and revision_id = $4))
         order by directive_id
         limit $5",
    )
    .bind(model_id)
    .bind(after)
    .bind(of.map(|(ns, _)| ns.as_str()))
    .bind(of.map_or(0, |(_, revision)| revision.0))
    .bind(limit)
    .fetch_all(conn)
    .await?;
    let unembedded = |(directive_id, quote, condition)| Unembedded { directive_id, quote, condition };
    Ok(rows.into_iter().map(unembedded).collect())
}

/// Writes vectors of directives, as far as these are still there.
pub async fn write_vectors(
    conn: &mut Conn,
    model_id: i16,
    vectors: Vec<(i64, Vec<f32>)>,
) -> Result<(), StoreError> {
    let (ids, vectors): (Vec<i64>, Vec<Vector>) =
        vectors.into_iter().map(|(id, vector)| (id, Vector::from(vector))).unzip();
    sqlx::query(
        "update directive d set model_id = $1, embedding = u.embedding
         from unnest($2::bigint[], $3::vector[]) u (directive_id, embedding)
         where d.directive_id = u.directive_id",
    )
    .bind(model_id)
    .bind(ids)
    .bind(vectors)
    .execute(conn)
    .await?;
    Ok(())
}

/// Whether a directive of the revision has no vector of any model.
pub async fn lacks_vectors(tx: &mut Tx, ns: &Namespace, revision_id: RevisionId) -> Result<bool, StoreError> {
    Ok(sqlx::query_scalar(
        "select exists (select from directive where namespace = $1 and revision_id = $2 and model_id is null)",
    )
    .bind(ns.as_str())
    .bind(revision_id.0)
    .fetch_one(&mut **tx)
    .await?)
}
