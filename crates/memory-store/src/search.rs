//! The search arms: nearest vectors and matching words, each under all filters.

use jiff::Timestamp;
use jiff_sqlx::{Timestamp as SqlTimestamp, ToSqlx};
use memory_core::artifact::Context;
use memory_core::event::Category;
use memory_core::id::{ArtifactId, Namespace, PassageId, RevisionId};
use memory_core::recall::CorpusStats;
use pgvector::Vector;
use sqlx::{Postgres, QueryBuilder, Row};

use crate::models::ActiveModel;
use crate::passages::any_of_literal;
use crate::{Conn, StoreError};

/// Up to this many revisions or passages a search compares every vector; above it goes through the index.
pub const EXACT_MAX: i64 = 10_000;
/// A document frequency is counted up to here; a word this common weighs next to nothing.
const FREQUENCY_COUNTED_TO: i64 = 20_000;

/// What a hit's revision must be like. Everything that is set must hold.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filters {
    pub context: Option<Context>,
    pub source: Option<String>,
    pub author: Option<String>,
    pub conversation_id: Option<String>,
    pub date_from: Option<Timestamp>,
    pub date_to: Option<Timestamp>,
    /// All of them.
    pub tags: Vec<String>,
    pub min_importance: Option<f32>,
    /// At least one event of any of them.
    pub categories: Vec<Category>,
    pub include_superseded: bool,
}

impl Filters {
    fn narrow(&self) -> bool {
        *self != Self { include_superseded: self.include_superseded, ..Self::default() }
    }
}

/// Writes the filters that are set as a condition on `artifact_revision r`. One that is not set is not
/// there: plans are made once for all values, and could not skip it.
fn push_filters(statement: &mut QueryBuilder<Postgres>, ns: &Namespace, filters: &Filters) {
    statement.push(" r.namespace = ").push_bind(ns.as_str().to_owned());
    if !filters.include_superseded {
        statement.push(" and r.is_latest");
    }
    let texts = [
        (" and r.context = ", filters.context.map(|c| c.as_str().to_owned())),
        (" and r.source = ", filters.source.clone()),
        (" and r.author = ", filters.author.clone()),
        (" and r.conversation_id = ", filters.conversation_id.clone()),
    ];
    for (condition, value) in texts {
        if let Some(value) = value {
            statement.push(condition).push_bind(value);
        }
    }
    if let Some(from) = filters.date_from {
        statement.push(" and coalesce(r.date, r.created_at) >= ").push_bind(from.to_sqlx());
    }
    if let Some(to) = filters.date_to {
        statement.push(" and coalesce(r.date, r.created_at) <= ").push_bind(to.to_sqlx());
    }
    if !filters.tags.is_empty() {
        statement.push(" and r.tags @> ").push_bind(filters.tags.clone());
    }
    if let Some(importance) = filters.min_importance {
        statement.push(" and r.importance >= ").push_bind(importance);
    }
    if !filters.categories.is_empty() {
        let names: Vec<&str> = filters.categories.iter().map(|c| c.as_str()).collect();
        statement
            .push(" and exists (select from semantic_event ev where ev.namespace = r.namespace")
            .push(" and ev.revision_id = r.revision_id and ev.category = any(")
            .push_bind(names)
            .push("))");
    }
}

/// Which revisions a search may answer with.
#[derive(Debug, Clone)]
pub struct Scope {
    filters: Filters,
    /// The revisions themselves where they are few.
    revisions: Option<Vec<i64>>,
    /// Every vector in the scope is compared.
    exact: bool,
}

impl Scope {
    /// Narrows a statement over a table with a `revision_id` to the scope.
    fn push_condition(&self, statement: &mut QueryBuilder<Postgres>, ns: &Namespace, table: &str) {
        if let Some(revisions) = &self.revisions {
            statement.push(format!(" and {table}.revision_id = any(")).push_bind(revisions.clone()).push(")");
        } else if self.filters.narrow() {
            statement.push(format!(
                " and exists (select from artifact_revision r where r.revision_id = {table}.revision_id and"
            ));
            push_filters(statement, ns, &self.filters);
            statement.push(")");
        }
    }

    /// Nothing can be found in it.
    pub fn is_empty(&self) -> bool {
        self.revisions.as_ref().is_some_and(Vec::is_empty)
    }
}

/// Finds out how large the scope of a search is. `namespace_passages` is a recent count.
pub async fn scope(
    conn: &mut Conn,
    ns: &Namespace,
    filters: Filters,
    namespace_passages: i64,
) -> Result<Scope, StoreError> {
    if !filters.narrow() {
        return Ok(Scope { filters, revisions: None, exact: namespace_passages <= EXACT_MAX });
    }
    let mut statement = QueryBuilder::new("select r.revision_id from artifact_revision r where");
    push_filters(&mut statement, ns, &filters);
    statement.push(" limit ").push_bind(EXACT_MAX + 1);
    let rows = statement.build().fetch_all(conn).await?;
    if rows.len() as i64 > EXACT_MAX {
        return Ok(Scope { filters, revisions: None, exact: namespace_passages <= EXACT_MAX });
    }
    let revisions = rows.iter().map(|row| row.try_get("revision_id")).collect::<Result<Vec<i64>, _>>()?;
    Ok(Scope { filters, revisions: Some(revisions), exact: true })
}

/// A passage that an arm found, with the arm's own score.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    pub passage_id: PassageId,
    pub revision_id: RevisionId,
    pub artifact_id: ArtifactId,
    pub is_latest: bool,
    pub score: f32,
}

/// The passages whose vectors are nearest to the query's, best first; the score is the cosine similarity.
pub async fn nearest(
    conn: &mut Conn,
    ns: &Namespace,
    scope: &Scope,
    model: &ActiveModel,
    query: Vec<f32>,
    limit: i64,
) -> Result<Vec<Hit>, StoreError> {
    let vector = Vector::from(query);
    let mut statement = QueryBuilder::new(
        "select n.passage_id, p.revision_id, p.artifact_id, p.is_latest, n.score
         from (select e.passage_id, (",
    );
    let is_exact = scope.exact || scope.revisions.is_some();
    // Only the model's number and dimension, both ours, are written into the statement: the partial index
    // is chosen by them.
    let cast = if is_exact { String::new() } else { format!("::vector({})", model.info.dimension) };
    // Vectors have unit length: their inner product, which pgvector gives negated, is the cosine, at a third
    // of the work.
    let distance = if is_exact { "(e.embedding <#> ".to_owned() } else { format!("(e.embedding{cast} <=> ") };
    statement.push(if is_exact { "-" } else { "1 - " }).push(&distance).push_bind(vector.clone());
    statement.push("))::real as score from passage_embedding e where e.namespace = ").push_bind(ns.as_str());
    statement.push(format!(" and e.model_id = {}", model.model_id));
    if !scope.filters.include_superseded {
        statement.push(" and e.is_latest");
    }
    scope.push_condition(&mut statement, ns, "e");
    if is_exact {
        // «+ 0» keeps the planner from the approximate index.
        statement.push(" order by ").push(&distance).push_bind(vector).push(") + 0, e.passage_id");
    } else {
        statement.push(" order by ").push(&distance).push_bind(vector).push(")");
    }
    statement.push(format!(" limit {limit}) n cross join lateral (select * from passage where namespace = "));
    statement.push_bind(ns.as_str());
    statement.push(" and passage_id = n.passage_id offset 0) p order by n.score desc, n.passage_id");
    let rows = statement.build().fetch_all(conn).await?;
    rows.iter().map(hit_of).collect()
}

fn hit_of(row: &sqlx::postgres::PgRow) -> Result<Hit, StoreError> {
    Ok(Hit {
        passage_id: PassageId(row.try_get("passage_id")?),
        revision_id: RevisionId(row.try_get("revision_id")?),
        artifact_id: ArtifactId(row.try_get("artifact_id")?),
        is_latest: row.try_get("is_latest")?,
        score: row.try_get("score")?,
    })
}

/// A passage that has some of the lexemes: how often it has each, in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct WordMatch {
    pub passage_id: PassageId,
    pub revision_id: RevisionId,
    pub artifact_id: ArtifactId,
    pub is_latest: bool,
    pub length: f32,
    pub frequencies: Vec<f32>,
}

/// Up to `limit` passages that have any of `wanted`, with the frequencies of all of `lexemes`.
pub async fn with_words(
    conn: &mut Conn,
    ns: &Namespace,
    scope: &Scope,
    wanted: &[&str],
    lexemes: &[&str],
    limit: i64,
) -> Result<Vec<WordMatch>, StoreError> {
    let single: Vec<String> = lexemes.iter().map(|lexeme| any_of_literal(ns, [*lexeme])).collect();
    let mut statement = QueryBuilder::new(
        "select p.passage_id, p.revision_id, p.artifact_id, p.is_latest, p.lex_length,
                array(select ts_rank('{1, 1, 1, 1}', p.lex, u.lexeme::tsquery) from unnest(",
    );
    statement.push_bind(single);
    statement.push(
        "::text[]) with ordinality u (lexeme, n) order by u.n) as ranks from passage p where p.namespace = ",
    );
    statement.push_bind(ns.as_str());
    statement.push(" and p.lex @@ ").push_bind(any_of_literal(ns, wanted.iter().copied())).push("::tsquery");
    if !scope.filters.include_superseded {
        statement.push(" and p.is_latest");
    }
    scope.push_condition(&mut statement, ns, "p");
    statement.push(" limit ").push_bind(limit);
    let rows = statement.build().fetch_all(conn).await?;
    rows.iter()
        .map(|row| {
            let ranks: Vec<f32> = row.try_get("ranks")?;
            Ok(WordMatch {
                passage_id: PassageId(row.try_get("passage_id")?),
                revision_id: RevisionId(row.try_get("revision_id")?),
                artifact_id: ArtifactId(row.try_get("artifact_id")?),
                is_latest: row.try_get("is_latest")?,
                length: row.try_get::<i32, _>("lex_length")? as f32,
                frequencies: ranks.into_iter().map(frequency_of_rank).collect(),
            })
        })
        .collect()
}

/// `ts_rank` of a single lexeme with weight 1 is Σ 1/i² over its occurrences, divided by π²/6: the
/// frequency is read back from it.
fn frequency_of_rank(rank: f32) -> f32 {
    let sum = f64::from(rank) * 1.644_934_066_85;
    let mut reached = 0.0;
    let mut frequency = 0.0;
    while reached + 1e-4 < sum && frequency < 64.0 {
        frequency += 1.0;
        reached += 1.0 / (frequency * frequency);
    }
    frequency as f32
}

/// The size of a namespace and the mean length of its passages, over a sample where it is large.
pub async fn corpus_stats(conn: &mut Conn, ns: &Namespace) -> Result<CorpusStats, StoreError> {
    let row = sqlx::query(
        "select count(*) as passages,
                (select coalesce(avg(lex_length), 1)::real
                 from (select lex_length from passage where namespace = $1 limit 10000) sample) as mean_length
         from passage
         where namespace = $1",
    )
    .bind(ns.as_str())
    .fetch_one(conn)
    .await?;
    Ok(CorpusStats {
        passages: row.try_get::<i64, _>("passages")? as f32,
        mean_length: row.try_get("mean_length")?,
    })
}

/// In how many passages of the namespace each lexeme stands, counted up to 20,000.
pub async fn document_frequencies(
    conn: &mut Conn,
    ns: &Namespace,
    lexemes: &[String],
) -> Result<Vec<f32>, StoreError> {
    let literals: Vec<String> = lexemes.iter().map(|lexeme| any_of_literal(ns, [lexeme.as_str()])).collect();
    let counts: Vec<i64> = sqlx::query_scalar(
        "select (select count(*) from (select from passage p where p.lex @@ u.lexeme::tsquery limit $2) counted)
         from unnest($1::text[]) with ordinality u (lexeme, n)
         order by u.n",
    )
    .bind(literals)
    .bind(FREQUENCY_COUNTED_TO)
    .fetch_all(conn)
    .await?;
    Ok(counts.into_iter().map(|count| count as f32).collect())
}

/// One turn of a conversation as it is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    pub artifact_id: String,
    pub role: Option<String>,
    pub author: Option<String>,
    pub turn_index: i32,
    pub ts: Timestamp,
    pub content: String,
}

/// The latest revision of each turn in order, from the `offset`th; and how many turns there are.
pub async fn conversation(
    conn: &mut Conn,
    ns: &Namespace,
    conversation_id: &str,
    offset: i64,
    limit: i64,
) -> Result<(Vec<Turn>, i64), StoreError> {
    let rows = sqlx::query(
        "select r.artifact_id, r.role, r.author, r.turn_index, coalesce(r.date, r.created_at) as ts, a.content
         from artifact_revision r
         join artifact a using (namespace, artifact_id)
         where r.namespace = $1 and r.conversation_id = $2 and r.turn_index is not null and r.is_latest
         order by r.turn_index
         offset $3 limit $4",
    )
    .bind(ns.as_str())
    .bind(conversation_id)
    .bind(offset)
    .bind(limit)
    .fetch_all(&mut *conn)
    .await?;
    let total: i64 = sqlx::query_scalar(
        "select count(*) from artifact_revision
         where namespace = $1 and conversation_id = $2 and turn_index is not null and is_latest",
    )
    .bind(ns.as_str())
    .bind(conversation_id)
    .fetch_one(conn)
    .await?;
    let turns = rows
        .iter()
        .map(|row| {
            Ok(Turn {
                artifact_id: row.try_get("artifact_id")?,
                role: row.try_get("role")?,
                author: row.try_get("author")?,
                turn_index: row.try_get("turn_index")?,
                ts: row.try_get::<SqlTimestamp, _>("ts")?.to_jiff(),
                content: row.try_get("content")?,
            })
        })
        .collect::<Result<Vec<_>, StoreError>>()?;
    Ok((turns, total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frequency_is_read_back_from_its_rank() {
        let mut sum = 0.0_f64;
        for n in 1..=32_u32 {
            sum += 1.0 / f64::from(n * n);
            let rank = (sum / 1.644_934_066_85) as f32;
            assert!((frequency_of_rank(rank) - n as f32).abs() < 0.5, "{n}");
        }
        assert!(frequency_of_rank(0.0).abs() < f32::EPSILON);
    }
}
