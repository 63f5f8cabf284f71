//! The search arms: nearest vectors and matching words, each under all filters.

use jiff::Timestamp;
use jiff_sqlx::{Timestamp as SqlTimestamp, ToSqlx};
use memory_core::artifact::Context;
use memory_core::event::Category;
use memory_core::id::{ArtifactId, Namespace, PassageId};
use memory_core::recall::CorpusStats;
use pgvector::Vector;
use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use sqlx::{AssertSqlSafe, Postgres, Row};

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

/// The filters as a condition on `artifact_revision r`; its parameters are $1 to $11, bound by [`bind_filters`].
macro_rules! filtered {
    ($before:literal, $after:literal) => {
        concat!(
            $before,
            " r.namespace = $1
              and (r.is_latest or $2)
              and ($3::text is null or r.context = $3)
              and ($4::text is null or r.source = $4)
              and ($5::text is null or r.author = $5)
              and ($6::text is null or r.conversation_id = $6)
              and ($7::timestamptz is null or coalesce(r.date, r.created_at) >= $7)
              and ($8::timestamptz is null or coalesce(r.date, r.created_at) <= $8)
              and (cardinality($9::text[]) = 0 or r.tags @> $9)
              and ($10::real is null or r.importance >= $10)
              and (cardinality($11::text[]) = 0
                   or exists (select from semantic_event ev
                              where ev.namespace = r.namespace and ev.revision_id = r.revision_id
                                and ev.category = any($11))) ",
            $after
        )
    };
}

fn bind_filters<'q>(
    query: Query<'q, Postgres, PgArguments>,
    ns: &Namespace,
    filters: &Filters,
) -> Query<'q, Postgres, PgArguments> {
    query
        .bind(ns.as_str().to_owned())
        .bind(filters.include_superseded)
        .bind(filters.context.map(Context::as_str))
        .bind(filters.source.clone())
        .bind(filters.author.clone())
        .bind(filters.conversation_id.clone())
        .bind(filters.date_from.map(Timestamp::to_sqlx))
        .bind(filters.date_to.map(Timestamp::to_sqlx))
        .bind(filters.tags.clone())
        .bind(filters.min_importance)
        .bind(filters.categories.iter().map(|c| c.as_str()).collect::<Vec<_>>())
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
    let rows = bind_filters(
        sqlx::query(filtered!("select r.revision_id from artifact_revision r where", "limit $12")),
        ns,
        &filters,
    )
    .bind(EXACT_MAX + 1)
    .fetch_all(conn)
    .await?;
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
    pub artifact_id: ArtifactId,
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
    let rows = if scope.exact || scope.revisions.is_some() {
        sqlx::query(
            // «+ 0» keeps the planner from the approximate index.
            "select n.passage_id, p.artifact_id, n.score
             from (
                 select e.passage_id, (1 - (e.embedding <=> $5))::real as score
                 from passage_embedding e
                 where e.namespace = $1 and e.model_id = $2 and (e.is_latest or $3)
                   and ($4::bigint[] is null or e.revision_id = any($4))
                 order by (e.embedding <=> $5) + 0, e.passage_id
                 limit $6
             ) n
             join passage p on p.namespace = $1 and p.passage_id = n.passage_id
             order by n.score desc, n.passage_id",
        )
        .bind(ns.as_str())
        .bind(model.model_id)
        .bind(scope.filters.include_superseded)
        .bind(&scope.revisions)
        .bind(Vector::from(query))
        .bind(limit)
        .fetch_all(conn)
        .await?
    } else {
        // Only the model's number and dimension, both ours, are written into the statement: the partial
        // index is chosen by them.
        let statement = format!(
            "select n.passage_id, p.artifact_id, n.score
             from (
                 select e.passage_id, (1 - (e.embedding::vector({dimension}) <=> $12))::real as score
                 from passage_embedding e
                 where e.namespace = $1 and e.model_id = {model_id} and (e.is_latest or $2)
                   and (not $13 or exists (select from artifact_revision r where r.revision_id = e.revision_id and {filter}))
                 order by e.embedding::vector({dimension}) <=> $12
                 limit $14
             ) n
             join passage p on p.namespace = $1 and p.passage_id = n.passage_id
             order by n.score desc, n.passage_id",
            dimension = model.info.dimension,
            model_id = model.model_id,
            filter = filtered!("", ""),
        );
        bind_filters(sqlx::query(AssertSqlSafe(statement)), ns, &scope.filters)
            .bind(Vector::from(query))
            .bind(scope.filters.narrow())
            .bind(limit)
            .fetch_all(conn)
            .await?
    };
    rows.iter().map(hit_of).collect()
}

fn hit_of(row: &sqlx::postgres::PgRow) -> Result<Hit, StoreError> {
    Ok(Hit {
        passage_id: PassageId(row.try_get("passage_id")?),
        artifact_id: ArtifactId(row.try_get("artifact_id")?),
        score: row.try_get("score")?,
    })
}

/// A passage that has some of the lexemes: how often it has each, in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct WordMatch {
    pub passage_id: PassageId,
    pub artifact_id: ArtifactId,
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
    let rows = bind_filters(
        sqlx::query(filtered!(
            "select p.passage_id, p.artifact_id, p.lex_length,
                    array(select ts_rank('{1, 1, 1, 1}', p.lex, u.lexeme::tsquery)
                          from unnest($12::text[]) with ordinality u (lexeme, n) order by u.n) as ranks
             from passage p
             where p.namespace = $1 and p.lex @@ $13::tsquery and (p.is_latest or $2)
               and ($14::bigint[] is null or p.revision_id = any($14))
               and (not $15 or exists (select from artifact_revision r where r.revision_id = p.revision_id and",
            ")) limit $16"
        )),
        ns,
        &scope.filters,
    )
    .bind(single)
    .bind(any_of_literal(ns, wanted.iter().copied()))
    .bind(&scope.revisions)
    .bind(scope.filters.narrow() && scope.revisions.is_none())
    .bind(limit)
    .fetch_all(conn)
    .await?;
    rows.iter()
        .map(|row| {
            let ranks: Vec<f32> = row.try_get("ranks")?;
            Ok(WordMatch {
                passage_id: PassageId(row.try_get("passage_id")?),
                artifact_id: ArtifactId(row.try_get("artifact_id")?),
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
