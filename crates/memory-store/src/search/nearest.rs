//! The vector arm: the passages of a scope that are nearest to a question.

use std::collections::{HashMap, HashSet};

use memory_core::id::{Namespace, PassageId};
use pgvector::Vector;
use sqlx::postgres::PgRow;
use sqlx::{Postgres, QueryBuilder, Row};

use super::{Breadth, Scope};
use crate::models::ActiveModel;
use crate::{Conn, StoreError};

/// How many times the index is asked again for what comes after the passages of texts that have enough of them.
const ROUNDS_MAX: usize = 4;

/// What a model made of a question.
#[derive(Debug, Clone, Copy)]
pub struct QueryVector<'a> {
    pub model: &'a ActiveModel,
    pub vector: &'a [f32],
}

/// Passages with their cosine similarity, nearest first, no more of one text than wanted. Where another index has been
/// asked, only `among` those that it names, as far as they are in the scope here and now, and by the vectors here.
pub async fn nearest(
    conn: &mut Conn,
    ns: &Namespace,
    scope: &Scope,
    query: QueryVector<'_>,
    breadth: Breadth,
    among: Option<&[i64]>,
) -> Result<Vec<(PassageId, f32)>, StoreError> {
    let search = Search { ns, scope, query, among };
    if !search.is_exact() {
        look_wider_in_large_index(conn, query.model).await?;
    }
    let mut spread = Spread::new(breadth);
    // Mostly few texts have more of the nearest than they may: then this is enough. An index is asked for no more than is
    // wanted, since that takes longer.
    let is_roomy = search.is_exact() && breadth.is_bounded();
    let limit = if is_roomy { breadth.passages * 2 } else { breadth.passages };
    for _ in 0..ROUNDS_MAX {
        let rows = search.statement(limit, &spread.full).build().fetch_all(&mut *conn).await?;
        for row in &rows {
            spread.push(near_of(row)?);
        }
        if spread.is_complete() || rows.len() < limit {
            return Ok(spread.in_order());
        }
        if search.is_exact() {
            break;
        }
    }
    if search.is_exact() {
        spread = Spread::new(breadth);
        for row in &search.statement_by_text(breadth).build().fetch_all(conn).await? {
            spread.push(near_of(row)?);
        }
    }
    Ok(spread.in_order())
}

/// Sets the connection's `hnsw.ef_search` by how many vectors the index holds: 150, which it begins with, finds 98 to 100 % of the
/// nearest ten among 100,000 and 98 % among a million, where 474 find 99.5.
async fn look_wider_in_large_index(conn: &mut Conn, model: &ActiveModel) -> Result<(), StoreError> {
    sqlx::query(
        "select set_config('hnsw.ef_search', least(1000, 150 * sqrt(greatest(reltuples / 100000, 1)))::int::text, false)
         from pg_class where oid = to_regclass($1)",
    )
    .bind(format!("passage_embedding_hnsw_{}", model.model_id))
    .execute(conn)
    .await?;
    Ok(())
}

struct Near {
    passage_id: PassageId,
    revision_id: Option<i64>,
    cosine: f32,
}

fn near_of(row: &PgRow) -> Result<Near, sqlx::Error> {
    Ok(Near {
        passage_id: PassageId(row.try_get("passage_id")?),
        revision_id: row.try_get("revision_id")?,
        cosine: row.try_get("cosine")?,
    })
}

/// What is kept of what comes nearest first.
struct Spread {
    breadth: Breadth,
    kept: Vec<Near>,
    /// Those that came already.
    seen: HashSet<PassageId>,
    of_text: HashMap<i64, usize>,
    /// The texts that have as many passages as they may.
    full: Vec<i64>,
}

impl Spread {
    fn new(breadth: Breadth) -> Self {
        Self { breadth, kept: Vec::new(), seen: HashSet::new(), of_text: HashMap::new(), full: Vec::new() }
    }

    fn push(&mut self, near: Near) {
        if !self.seen.insert(near.passage_id) {
            return;
        }
        if let Some(text) = near.revision_id {
            let count = self.of_text.entry(text).or_default();
            *count += 1;
            if *count == self.breadth.of_text {
                self.full.push(text);
            }
            if *count > self.breadth.of_text {
                return;
            }
        }
        if !self.is_complete() {
            self.kept.push(near);
        }
    }

    fn is_complete(&self) -> bool {
        self.kept.len() >= self.breadth.passages
    }

    /// An index gives them nearly in order.
    fn in_order(mut self) -> Vec<(PassageId, f32)> {
        self.kept.sort_by(|a, b| b.cosine.total_cmp(&a.cosine).then(a.passage_id.cmp(&b.passage_id)));
        self.kept.into_iter().map(|near| (near.passage_id, near.cosine)).collect()
    }
}

struct Search<'a> {
    ns: &'a Namespace,
    scope: &'a Scope,
    query: QueryVector<'a>,
    among: Option<&'a [i64]>,
}

impl Search<'_> {
    /// Every vector is compared.
    fn is_exact(&self) -> bool {
        self.scope.is_small() || self.among.is_some()
    }

    /// Vectors have unit length: their inner product, which pgvector gives negated, is the cosine, at a third of the work.
    fn push_product(&self, statement: &mut QueryBuilder<Postgres>) {
        statement.push("(e.embedding <#> ").push_bind(Vector::from(self.query.vector.to_vec())).push(")");
    }

    fn push_searched(&self, statement: &mut QueryBuilder<Postgres>) {
        // Only the model's number and dimension, both ours, are written into the statement: the partial index is chosen by
        // them.
        let model = self.query.model.model_id;
        match self.among {
            None => {
                statement
                    .push(" from passage_embedding e where e.namespace = ")
                    .push_bind(self.ns.as_str().to_owned());
                statement.push(format!(" and e.model_id = {model}"));
            }
            Some(passages) => {
                statement.push(" from unnest(").push_bind(passages.to_vec());
                statement.push(
                    "::bigint[]) m (passage_id) cross join lateral (
                         select passage_id, revision_id, is_latest, embedding from passage_embedding
                         where passage_id = m.passage_id and namespace = ",
                );
                statement.push_bind(self.ns.as_str().to_owned());
                statement.push(format!(" and model_id = {model} offset 0) e where true"));
            }
        }
        self.scope.push_condition(statement, self.ns, "e");
    }

    /// Up to `limit` passages that are not of these texts.
    fn statement(&self, limit: usize, without: &[i64]) -> QueryBuilder<Postgres> {
        let mut statement = QueryBuilder::new("select e.passage_id, e.revision_id, (-");
        self.push_product(&mut statement);
        statement.push(")::real as cosine");
        self.push_searched(&mut statement);
        if !without.is_empty() {
            statement
                .push(" and not coalesce(e.revision_id = any(")
                .push_bind(without.to_vec())
                .push("), false)");
        }
        if self.is_exact() {
            // "+ 0" keeps the planner from the approximate index.
            statement.push(" order by ");
            self.push_product(&mut statement);
            statement.push(" + 0, e.passage_id");
        } else {
            let dimension = self.query.model.info.dimension;
            statement
                .push(format!(" order by (e.embedding::halfvec({dimension}) <=> "))
                .push_bind(Vector::from(self.query.vector.to_vec()))
                .push("::halfvec)");
        }
        statement.push(format!(" limit {limit}"));
        statement
    }

    /// The nearest few of each text, nearest first.
    fn statement_by_text(&self, breadth: Breadth) -> QueryBuilder<Postgres> {
        let mut statement = QueryBuilder::new(
            "select passage_id, revision_id, cosine
             from (select passage_id, revision_id, cosine,
                          row_number() over (partition by revision_id order by cosine desc, passage_id) as n
                   from (select e.passage_id, e.revision_id, (-",
        );
        self.push_product(&mut statement);
        statement.push(")::real as cosine");
        self.push_searched(&mut statement);
        statement.push(format!(
            " offset 0) compared) counted
             where n <= {} or revision_id is null
             order by cosine desc, passage_id
             limit {}",
            breadth.of_text, breadth.passages
        ));
        statement
    }
}
