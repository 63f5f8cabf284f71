//! The passages of observations: each current one with its entity's name, so that a search finds it.

use memory_core::id::{Namespace, PassageId};
use memory_language::lexicon::LexemeCounts;

use crate::passages::lex_literal;
use crate::{Conn, StoreError, Tx};

/// A current observation that has no passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unindexed {
    pub handle: i64,
    pub entity: String,
    pub content: String,
}

row!(Unindexed { handle, entity, content });

pub async fn unindexed(
    conn: &mut Conn,
    ns: &Namespace,
    thread_id: i64,
    limit: i64,
) -> Result<Vec<Unindexed>, StoreError> {
    Ok(sqlx::query_as(
        "select o.handle, e.name as entity, o.content
         from graph_observation o
         join graph_entity e using (namespace, thread_id, entity_id)
         where o.namespace = $1 and o.thread_id = $2 and o.is_current
           and not exists (select from passage p where p.namespace = $1 and p.observation = o.handle)
         limit $3",
    )
    .bind(ns.as_str())
    .bind(thread_id)
    .bind(limit)
    .fetch_all(conn)
    .await?)
}

/// Makes passages of observations that are still current: handle, text and its lexemes.
pub async fn insert_passages(
    tx: &mut Tx,
    ns: &Namespace,
    given: &[(i64, String, LexemeCounts)],
) -> Result<(), StoreError> {
    sqlx::query(
        "insert into passage (namespace, observation, ordinal, start_char, end_char, text, lex, lex_length, is_latest)
         select $1, o.handle, 0, 0, char_length(u.text), u.text, u.lex::tsvector, u.lex_length, true
         from unnest($2::bigint[], $3::text[], $4::text[], $5::int[]) u (handle, text, lex, lex_length)
         join graph_observation o on o.namespace = $1 and o.handle = u.handle and o.is_current
         on conflict (namespace, observation) where observation is not null do nothing",
    )
    .bind(ns.as_str())
    .bind(given.iter().map(|(handle, ..)| *handle).collect::<Vec<_>>())
    .bind(given.iter().map(|(_, text, _)| text.as_str()).collect::<Vec<_>>())
    .bind(given.iter().map(|(.., lexemes)| lex_literal(ns, lexemes)).collect::<Vec<_>>())
    .bind(given.iter().map(|(.., lexemes)| lexemes.length as i32).collect::<Vec<_>>())
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// Up to `limit` passages of the thread's observations that the model has no vector for, with their texts.
pub async fn without_vector(
    conn: &mut Conn,
    ns: &Namespace,
    thread_id: i64,
    model_id: i16,
    limit: i64,
) -> Result<Vec<(PassageId, String)>, StoreError> {
    let rows: Vec<(i64, String)> = sqlx::query_as(
        "select p.passage_id, p.text
         from graph_observation o
         join passage p on p.namespace = $1 and p.observation = o.handle
         where o.namespace = $1 and o.thread_id = $2 and o.is_current
           and not exists (select from passage_embedding e
                           where e.namespace = $1 and e.passage_id = p.passage_id and e.model_id = $3)
         limit $4",
    )
    .bind(ns.as_str())
    .bind(thread_id)
    .bind(model_id)
    .bind(limit)
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|(id, text)| (PassageId(id), text)).collect())
}

/// Takes away the passages of observations that have a later version.
pub async fn delete_former(tx: &mut Tx, ns: &Namespace, thread_id: i64) -> Result<(), StoreError> {
    sqlx::query(
        "delete from passage
         where namespace = $1 and observation in (
             select handle from graph_observation where namespace = $1 and thread_id = $2 and not is_current)",
    )
    .bind(ns.as_str())
    .bind(thread_id)
    .execute(&mut **tx)
    .await?;
    Ok(())
}
