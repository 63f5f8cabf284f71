//! The vectors of directives: which are missing, and how they are written.

use memory_core::id::{Namespace, RevisionId};
use pgvector::Vector;
use sqlx::Row;
use sqlx::postgres::PgRow;

use super::around::{Around, around_of, in_text};
use crate::{Conn, StoreError, Tx};

/// What models make of a directive.
#[derive(Debug, Clone, PartialEq)]
pub struct DirectiveVectors {
    pub model_id: i16,
    /// Of its focus, as passages are embedded.
    pub embedding: Vec<f32>,
    /// By which requests that it bears on are near, with the version of the model that made it.
    pub bearing: Option<(i16, Vec<f32>)>,
}

/// A directive whose vectors are missing, of any namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unembedded {
    pub directive_id: i64,
    pub quote: String,
    pub condition: Option<String>,
    pub around: Around,
}

/// The directives that have no vector of the model, or none by which they bear of this version, of one revision or of all, in order
/// behind this one; each with its text up to `around_chars` before and behind it.
pub async fn without_vector(
    conn: &mut Conn,
    of: Option<(&Namespace, RevisionId)>,
    (model_id, bearing_version): (i16, Option<i16>),
    after: i64,
    around_chars: i32,
    limit: i64,
) -> Result<Vec<Unembedded>, StoreError> {
    let rows = sqlx::query(concat!(
        "select d.directive_id, d.quote, d.condition, ",
        in_text!("$7"),
        " where (d.model_id is distinct from $1 or ($6::smallint is not null and d.bearing_version is distinct from $6))
           and d.directive_id > $2
           and ($3::text is null or (d.namespace = $3 and d.revision_id = $4))
         order by d.directive_id
         limit $5",
    ))
    .bind(model_id)
    .bind(after)
    .bind(of.map(|(ns, _)| ns.as_str()))
    .bind(of.map_or(0, |(_, revision)| revision.0))
    .bind(limit)
    .bind(bearing_version)
    .bind(around_chars)
    .fetch_all(conn)
    .await?;
    rows.iter().map(unembedded_of).collect()
}

fn unembedded_of(row: &PgRow) -> Result<Unembedded, StoreError> {
    Ok(Unembedded {
        directive_id: row.try_get("directive_id")?,
        quote: row.try_get("quote")?,
        condition: row.try_get("condition")?,
        around: around_of(row)?,
    })
}

/// Writes vectors of directives, as far as these are still there.
pub async fn write_vectors(conn: &mut Conn, vectors: Vec<(i64, DirectiveVectors)>) -> Result<(), StoreError> {
    let (ids, vectors): (Vec<i64>, Vec<DirectiveVectors>) = vectors.into_iter().unzip();
    let Columns { model_ids, embeddings, versions, bearings } = vectors.into_iter().map(Some).collect();
    // What this model cannot tell of bearing stays as another told it.
    sqlx::query(
        "update directive d
         set model_id = u.model_id, embedding = u.embedding,
             bearing_version = coalesce(u.bearing_version, d.bearing_version), bearing = coalesce(u.bearing, d.bearing)
         from unnest($1::bigint[], $2::smallint[], $3::vector[], $4::smallint[], $5::vector[])
             u (directive_id, model_id, embedding, bearing_version, bearing)
         where d.directive_id = u.directive_id",
    )
    .bind(ids)
    .bind(model_ids)
    .bind(embeddings)
    .bind(versions)
    .bind(bearings)
    .execute(conn)
    .await?;
    Ok(())
}

/// Vectors as the columns that they are written to.
#[derive(Default)]
pub(super) struct Columns {
    pub(super) model_ids: Vec<Option<i16>>,
    pub(super) embeddings: Vec<Option<Vector>>,
    pub(super) versions: Vec<Option<i16>>,
    pub(super) bearings: Vec<Option<Vector>>,
}

impl FromIterator<Option<DirectiveVectors>> for Columns {
    fn from_iter<I: IntoIterator<Item = Option<DirectiveVectors>>>(vectors: I) -> Self {
        let mut columns = Self::default();
        for vectors in vectors {
            let (model_id, embedding, bearing) = match vectors {
                Some(made) => (Some(made.model_id), Some(Vector::from(made.embedding)), made.bearing),
                None => (None, None, None),
            };
            let (version, bearing) = bearing.unzip();
            columns.model_ids.push(model_id);
            columns.embeddings.push(embedding);
            columns.versions.push(version);
            columns.bearings.push(bearing.map(Vector::from));
        }
        columns
    }
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
