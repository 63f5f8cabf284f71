//! What the arms have found, with all that a passage is ranked by.

use std::sync::Arc;

use jiff::Timestamp;
use jiff_sqlx::Timestamp as SqlTimestamp;
use memory_core::id::{ArtifactId, Namespace, PassageId, RevisionId};
use pgvector::Vector;
use sqlx::postgres::PgRow;
use sqlx::{QueryBuilder, Row};

use super::{QueryVector, Scope};
use crate::models::ActiveModel;
use crate::{Conn, StoreError};

/// Whether the `text` of a passage asks, and whether it begins a question there: "I'd make the soup, pumpkin or pea?" offers.
pub(super) const ASKS: &str = include_str!("../sql/asks.sql");
pub(super) const IS_QUESTION: &str = include_str!("../sql/is_question.sql");

/// A passage that an arm has found.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    pub passage_id: PassageId,
    pub owner: Owner,
    /// Cosine similarity to the question's vector.
    pub cosine: Option<f32>,
    /// Its tokens' states, compressed.
    pub states: Option<Arc<[u8]>>,
}

/// What the passage is a part of.
#[derive(Debug, Clone, PartialEq)]
pub enum Owner {
    Revision {
        revision_id: RevisionId,
        artifact_id: ArtifactId,
        /// Its place: a document, a turn, or the content itself.
        place: String,
        is_latest: bool,
        date: Timestamp,
        importance: f32,
        /// Conversation and number of the turn; of a line of a talk that has no name, one that no conversation has.
        turn: Option<(String, i32)>,
        /// An assistant said it.
        by_assistant: bool,
        /// Who said it, as far as that is known.
        speaker: Option<Arc<str>>,
        /// The passage ends with a question, or is one without its mark.
        asks: bool,
        /// What it asks is a question, to which the next turn replies.
        is_question: bool,
        /// How many passages the revision has.
        passages: i32,
    },
    /// The handle of an observation.
    Observation(i64),
}

/// The passages given, those that are still there, with their similarity to the question; `with_states` those of their
/// tokens too.
pub async fn candidates(
    conn: &mut Conn,
    ns: &Namespace,
    given: &[PassageId],
    query: Option<QueryVector<'_>>,
    with_states: bool,
) -> Result<Vec<Candidate>, StoreError> {
    // "offset 0" keeps the order of the joins: from the few candidates, by key, to what belongs to them.
    let mut statement = QueryBuilder::new(
        "select p.passage_id, p.revision_id, p.artifact_id, p.is_latest, p.observation,
                coalesce(r.date, r.created_at) as date, r.importance, r.conversation_id, r.turn_index, r.line_of, r.line_index,
                r.by_assistant, r.speaker, p.asks, p.is_question, r.passages,
                r.artifact_uid, ",
    );
    match query {
        None => statement.push("null::real as cosine, null::bytea as states"),
        Some(query) => statement
            .push("(-(e.embedding <#> ")
            .push_bind(Vector::from(query.vector.to_vec()))
            .push("))::real as cosine, ")
            .push(if with_states { "t.states" } else { "null::bytea as states" }),
    };
    statement.push(" from unnest(").push_bind(given.iter().map(|id| id.0).collect::<Vec<_>>());
    statement.push(
        "::bigint[]) c (passage_id)
         cross join lateral (
             select passage_id, revision_id, artifact_id, is_latest, observation, ",
    );
    statement.push(ASKS).push(" as asks, ").push(IS_QUESTION);
    statement.push(" as is_question from passage where passage_id = c.passage_id and namespace = ");
    statement.push_bind(ns.as_str());
    statement.push(
        " offset 0) p
          left join lateral (
              select date, created_at, importance, conversation_id, turn_index, line_of, line_index, passages, artifact_uid,
                     coalesce(role, lower(author), lower(line_speaker)) is not distinct from 'assistant' as by_assistant, coalesce(author, line_speaker) as speaker
              from artifact_revision where revision_id = p.revision_id and namespace = ",
    );
    statement.push_bind(ns.as_str()).push(" offset 0) r on true");
    if let Some(query) = query {
        let model = query.model.model_id;
        statement.push(
            " left join lateral (select embedding from passage_embedding where passage_id = c.passage_id and namespace = ",
        );
        statement.push_bind(ns.as_str()).push(format!(" and model_id = {model} offset 0) e on true"));
        if with_states {
            statement.push(
                " left join lateral (select states from passage_tokens where passage_id = c.passage_id and namespace = ",
            );
            statement.push_bind(ns.as_str()).push(format!(" and model_id = {model} offset 0) t on true"));
        }
    }
    let rows = statement.build().fetch_all(conn).await?;
    rows.iter().map(candidate_of).collect()
}

/// The vectors of these passages, as far as they have one of the model.
pub async fn vectors(
    conn: &mut Conn,
    ns: &Namespace,
    given: &[PassageId],
    model: &ActiveModel,
) -> Result<Vec<(PassageId, Vec<f32>)>, StoreError> {
    let rows: Vec<(i64, Vector)> = sqlx::query_as(
        "select passage_id, embedding from passage_embedding
         where namespace = $1 and passage_id = any($2) and model_id = $3",
    )
    .bind(ns.as_str())
    .bind(given.iter().map(|id| id.0).collect::<Vec<_>>())
    .bind(model.model_id)
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|(id, vector)| (PassageId(id), vector.to_vec())).collect())
}

/// The states of the tokens of these passages, compressed, as far as they have those of the model.
pub async fn states(
    conn: &mut Conn,
    ns: &Namespace,
    given: &[PassageId],
    model: &ActiveModel,
) -> Result<Vec<(PassageId, Arc<[u8]>)>, StoreError> {
    let rows: Vec<(i64, Vec<u8>)> = sqlx::query_as(
        "select passage_id, states from passage_tokens
         where namespace = $1 and passage_id = any($2) and model_id = $3",
    )
    .bind(ns.as_str())
    .bind(given.iter().map(|id| id.0).collect::<Vec<_>>())
    .bind(model.model_id)
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|(id, states)| (PassageId(id), states.into())).collect())
}

/// Of the outdated texts among the passages given: the first passages of those that are at their places now, as far as
/// they are in the scope.
pub async fn current_of(
    conn: &mut Conn,
    ns: &Namespace,
    scope: &Scope,
    given: &[PassageId],
) -> Result<Vec<PassageId>, StoreError> {
    let mut statement = QueryBuilder::new("select distinct c.passage_id from unnest(");
    statement.push_bind(given.iter().map(|id| id.0).collect::<Vec<_>>());
    statement.push(
        "::bigint[]) g (passage_id)
         cross join lateral (
             select revision_id from passage where passage_id = g.passage_id and not is_latest and namespace = ",
    );
    statement.push_bind(ns.as_str()).push(
        " offset 0) o
         join artifact_revision outdated on outdated.revision_id = o.revision_id and outdated.namespace = ",
    );
    statement.push_bind(ns.as_str()).push(
        " join artifact_revision latest
               on latest.namespace = outdated.namespace and latest.artifact_uid = outdated.artifact_uid and latest.is_latest
          join passage c on c.namespace = latest.namespace and c.revision_id = latest.revision_id and c.ordinal = 0
          where true",
    );
    scope.push_condition(&mut statement, ns, "c");
    let ids: Vec<i64> = statement.build_query_scalar().fetch_all(conn).await?;
    Ok(ids.into_iter().map(PassageId).collect())
}

pub(super) fn candidate_of(row: &PgRow) -> Result<Candidate, StoreError> {
    let revision_id: Option<i64> = row.try_get("revision_id")?;
    let owner = match revision_id {
        None => Owner::Observation(row.try_get("observation")?),
        Some(id) => {
            let conversation: Option<String> = row.try_get("conversation_id")?;
            let turn_index: Option<i32> = row.try_get("turn_index")?;
            let (line_of, line_index): (Option<i64>, Option<i32>) =
                (row.try_get("line_of")?, row.try_get("line_index")?);
            Owner::Revision {
                revision_id: RevisionId(id),
                artifact_id: ArtifactId(row.try_get("artifact_id")?),
                place: row.try_get("artifact_uid")?,
                is_latest: row.try_get("is_latest")?,
                date: row.try_get::<SqlTimestamp, _>("date")?.to_jiff(),
                importance: row.try_get("importance")?,
                turn: conversation.zip(turn_index).or_else(|| Some((talk(line_of?), line_index?))),
                by_assistant: row.try_get("by_assistant")?,
                speaker: row.try_get::<Option<&str>, _>("speaker")?.map(Arc::from),
                asks: row.try_get("asks")?,
                is_question: row.try_get("is_question")?,
                passages: row.try_get("passages")?,
            }
        }
    };
    Ok(Candidate {
        passage_id: PassageId(row.try_get("passage_id")?),
        owner,
        cosine: row.try_get("cosine")?,
        states: row.try_get::<Option<&[u8]>, _>("states")?.map(Arc::from),
    })
}

impl Owner {
    /// Whether it is a turn of a conversation that has a name, or a line that goes on from another.
    pub fn is_turn(&self) -> bool {
        let Self::Revision { turn: Some((conversation, index)), .. } = self else { return false };
        !conversation.starts_with(UNNAMED) || *index > 0
    }
}

/// What the names of talks begin with that have none: trimmed names begin with no space.
const UNNAMED: char = ' ';

/// What stands for the name of a talk that has none.
fn talk(of: i64) -> String {
    format!("{UNNAMED}{of}")
}
