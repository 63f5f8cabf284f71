//! What the arms have found, with all that a passage is ranked by.

use jiff::Timestamp;
use jiff_sqlx::Timestamp as SqlTimestamp;
use memory_core::id::{ArtifactId, Namespace, PassageId, RevisionId};
use pgvector::Vector;
use sqlx::postgres::PgRow;
use sqlx::{Postgres, QueryBuilder, Row};

use super::Scope;
use crate::models::ActiveModel;
use crate::{Conn, StoreError};

/// A passage that an arm has found.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    pub passage_id: PassageId,
    pub owner: Owner,
    /// Cosine similarity to the query's vector.
    pub cosine: Option<f32>,
    /// Its tokens' states, compressed.
    pub states: Option<Vec<u8>>,
}

/// What the passage is a part of.
#[derive(Debug, Clone, PartialEq)]
pub enum Owner {
    Revision {
        revision_id: RevisionId,
        artifact_id: ArtifactId,
        is_latest: bool,
        date: Timestamp,
        importance: f32,
        /// Conversation and number of the turn.
        turn: Option<(String, i32)>,
        /// How many passages the revision has.
        passages: i32,
    },
    /// The handle of an observation.
    Observation(i64),
}

/// The query for the vector arm.
#[derive(Debug, Clone)]
pub struct QueryVector<'a> {
    pub model: &'a ActiveModel,
    pub vector: Vec<f32>,
    /// How many of the nearest passages are looked for; 0 for none.
    pub nearest: usize,
    /// Whether the states of tokens are read as well.
    pub with_states: bool,
    /// Where another index was asked: among which passages the nearest are.
    pub mirrored: Option<Vec<i64>>,
}

/// The passages given and those nearest to the query's vector, as far as they are in the scope.
pub async fn candidates(
    conn: &mut Conn,
    ns: &Namespace,
    scope: &Scope,
    given: &[PassageId],
    query: Option<QueryVector<'_>>,
) -> Result<Vec<Candidate>, StoreError> {
    let mut statement = QueryBuilder::new("with ");
    if let Some(query) = &query {
        push_nearest(&mut statement, ns, scope, query);
    }
    statement.push("candidate as materialized (select unnest(");
    statement.push_bind(given.iter().map(|id| id.0).collect::<Vec<_>>());
    statement.push("::bigint[]) as passage_id");
    if query.is_some() {
        statement.push(" union select passage_id from near");
    }
    // «offset 0» keeps the order of the joins: from the few candidates, by key, to what belongs to them.
    statement.push(
        ") select p.passage_id, p.revision_id, p.artifact_id, p.is_latest, p.observation,
                  coalesce(r.date, r.created_at) as date, r.importance, r.conversation_id, r.turn_index, r.passages, ",
    );
    match &query {
        None => statement.push("null::real as cosine, null::bytea as states"),
        Some(query) => statement
            .push("(-(e.embedding <#> ")
            .push_bind(Vector::from(query.vector.clone()))
            .push("))::real as cosine, ")
            .push(if query.with_states { "t.states" } else { "null::bytea as states" }),
    };
    statement.push(
        " from candidate c
          cross join lateral (
              select passage_id, revision_id, artifact_id, is_latest, observation from passage where passage_id = c.passage_id and namespace = ",
    );
    statement.push_bind(ns.as_str());
    statement.push(
        " offset 0) p
          left join lateral (
              select date, created_at, importance, conversation_id, turn_index, passages
              from artifact_revision where revision_id = p.revision_id and namespace = ",
    );
    statement.push_bind(ns.as_str()).push(" offset 0) r on true");
    if let Some(query) = &query {
        let model = query.model.model_id;
        statement.push(
            " left join lateral (select embedding from passage_embedding where passage_id = c.passage_id and namespace = ",
        );
        statement.push_bind(ns.as_str()).push(format!(" and model_id = {model} offset 0) e on true"));
        if query.with_states {
            statement.push(
                " left join lateral (select states from passage_tokens where passage_id = c.passage_id and namespace = ",
            );
            statement.push_bind(ns.as_str()).push(format!(" and model_id = {model} offset 0) t on true"));
        }
    }
    let rows = statement.build().fetch_all(conn).await?;
    rows.iter().map(candidate_of).collect()
}

fn push_nearest(
    statement: &mut QueryBuilder<Postgres>,
    ns: &Namespace,
    scope: &Scope,
    query: &QueryVector<'_>,
) {
    if let Some(passages) = &query.mirrored {
        return push_nearest_among(statement, ns, scope, query, passages);
    }
    // Only the model's number and dimension, both ours, are written into the statement: the partial index
    // is chosen by them.
    statement.push("near as materialized (select e.passage_id from passage_embedding e where e.namespace = ");
    statement.push_bind(ns.as_str());
    statement.push(format!(" and e.model_id = {}", query.model.model_id));
    scope.push_condition(statement, ns, "e");
    let vector = Vector::from(query.vector.clone());
    if scope.exact {
        // Vectors have unit length: their inner product, which pgvector gives negated, is the cosine, at a
        // third of the work. «+ 0» keeps the planner from the approximate index.
        statement.push(" order by (e.embedding <#> ").push_bind(vector).push(") + 0, e.passage_id");
    } else {
        let dimension = query.model.info.dimension;
        statement
            .push(format!(" order by (e.embedding::vector({dimension}) <=> "))
            .push_bind(vector)
            .push(")");
    }
    statement.push(format!(" limit {}), ", query.nearest));
}

/// What another index has found counts only as far as it is in the scope here and now, and is ordered by the vectors here.
fn push_nearest_among(
    statement: &mut QueryBuilder<Postgres>,
    ns: &Namespace,
    scope: &Scope,
    query: &QueryVector<'_>,
    passages: &[i64],
) {
    statement.push("near as materialized (select e.passage_id from unnest(");
    statement.push_bind(passages.to_vec());
    statement.push(
        "::bigint[]) m (passage_id) cross join lateral (
             select passage_id, revision_id, is_latest, embedding from passage_embedding
             where passage_id = m.passage_id and namespace = ",
    );
    statement.push_bind(ns.as_str());
    statement.push(format!(" and model_id = {} offset 0) e where true", query.model.model_id));
    scope.push_condition(statement, ns, "e");
    statement.push(" order by e.embedding <#> ").push_bind(Vector::from(query.vector.clone()));
    statement.push(format!(", e.passage_id limit {}), ", query.nearest));
}

fn candidate_of(row: &PgRow) -> Result<Candidate, StoreError> {
    let revision_id: Option<i64> = row.try_get("revision_id")?;
    let owner = match revision_id {
        None => Owner::Observation(row.try_get("observation")?),
        Some(id) => {
            let conversation: Option<String> = row.try_get("conversation_id")?;
            let turn_index: Option<i32> = row.try_get("turn_index")?;
            Owner::Revision {
                revision_id: RevisionId(id),
                artifact_id: ArtifactId(row.try_get("artifact_id")?),
                is_latest: row.try_get("is_latest")?,
                date: row.try_get::<SqlTimestamp, _>("date")?.to_jiff(),
                importance: row.try_get("importance")?,
                turn: conversation.zip(turn_index),
                passages: row.try_get("passages")?,
            }
        }
    };
    Ok(Candidate {
        passage_id: PassageId(row.try_get("passage_id")?),
        owner,
        cosine: row.try_get("cosine")?,
        states: row.try_get("states")?,
    })
}
