//! The vector arm: the passages of a scope that are nearest to a question.

use memory_core::id::{Namespace, PassageId};
use pgvector::Vector;
use sqlx::{QueryBuilder, Row};

use super::Scope;
use crate::models::ActiveModel;
use crate::{Conn, StoreError};

/// What a model made of a question.
#[derive(Debug, Clone, Copy)]
pub struct QueryVector<'a> {
    pub model: &'a ActiveModel,
    pub vector: &'a [f32],
}

/// Up to `limit` passages with their cosine similarity, nearest first. Where another index has been asked, only `among`
/// those that it names, as far as they are in the scope here and now, and by the vectors here.
pub async fn nearest(
    conn: &mut Conn,
    ns: &Namespace,
    scope: &Scope,
    query: QueryVector<'_>,
    limit: usize,
    among: Option<&[i64]>,
) -> Result<Vec<(PassageId, f32)>, StoreError> {
    let vector = Vector::from(query.vector.to_vec());
    // Vectors have unit length: their inner product, which pgvector gives negated, is the cosine, at a third of the work.
    let mut statement = QueryBuilder::new("select e.passage_id, (-(e.embedding <#> ");
    statement.push_bind(vector.clone()).push("))::real as cosine from ");
    // Only the model's number and dimension, both ours, are written into the statement: the partial index is chosen by
    // them.
    let model = query.model.model_id;
    match among {
        None => {
            statement.push("passage_embedding e where e.namespace = ").push_bind(ns.as_str());
            statement.push(format!(" and e.model_id = {model}"));
        }
        Some(passages) => {
            statement.push("unnest(").push_bind(passages.to_vec());
            statement.push(
                "::bigint[]) m (passage_id) cross join lateral (
                     select passage_id, revision_id, is_latest, embedding from passage_embedding
                     where passage_id = m.passage_id and namespace = ",
            );
            statement.push_bind(ns.as_str()).push(format!(" and model_id = {model} offset 0) e where true"));
        }
    }
    scope.push_condition(&mut statement, ns, "e");
    if scope.is_small() || among.is_some() {
        // «+ 0» keeps the planner from the approximate index.
        statement.push(" order by (e.embedding <#> ").push_bind(vector).push(") + 0, e.passage_id");
    } else {
        let dimension = query.model.info.dimension;
        statement
            .push(format!(" order by (e.embedding::halfvec({dimension}) <=> "))
            .push_bind(vector)
            .push("::halfvec)");
    }
    statement.push(format!(" limit {limit}"));
    let rows = statement.build().fetch_all(conn).await?;
    rows.iter().map(|row| Ok((PassageId(row.try_get("passage_id")?), row.try_get("cosine")?))).collect()
}
