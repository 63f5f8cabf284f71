//! The lexical arm: passages by their words, with what BM25 needs to weigh them.

use memory_core::id::{Namespace, PassageId};
use memory_core::recall::CorpusStats;
use sqlx::{QueryBuilder, Row};

use super::Scope;
use crate::passages::{any_of_literal, lexeme_key};
use crate::{Conn, StoreError};

/// A document frequency is counted up to here; a word this common weighs next to nothing.
const FREQUENCY_COUNTED_TO: i64 = 20_000;
/// A namespace's passages are counted up to here.
const PASSAGES_COUNTED_TO: i64 = 20_000;
/// How many of the matching passages are weighed exactly: those that have most of the terms, rare ones first.
const WEIGHED_MAX: i64 = 200;

/// A passage that has some of the lexemes: how often it has each, in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct WordMatch {
    pub passage_id: PassageId,
    pub length: f32,
    pub frequencies: Vec<f32>,
}

/// Of up to `limit` passages that have any of the first `wanted` lexemes, those whose lexemes weigh most
/// together, with the frequencies of all of `lexemes`, which come with their weights.
pub async fn with_words(
    conn: &mut Conn,
    ns: &Namespace,
    scope: &Scope,
    wanted: usize,
    lexemes: &[(&str, f32)],
    limit: i64,
) -> Result<Vec<WordMatch>, StoreError> {
    // The text of a tsquery becomes one once, not once a row.
    let mut statement = QueryBuilder::new("with asked as materialized (select ");
    let all = lexemes.iter().take(wanted).map(|(lexeme, _)| *lexeme);
    statement.push_bind(any_of_literal(ns, all)).push("::tsquery as any");
    for (n, (lexeme, _)) in lexemes.iter().enumerate() {
        statement.push(", ").push_bind(any_of_literal(ns, [*lexeme])).push(format!("::tsquery as q{n}"));
    }
    statement.push(
        "), found as materialized (
             select p.passage_id, p.lex_length, p.lex
             from asked a, passage p
             where p.lex @@ a.any and p.namespace = ",
    );
    statement.push_bind(ns.as_str());
    scope.push_condition(&mut statement, ns, "p");
    statement.push(" limit ").push_bind(limit);
    statement.push("), likely as materialized (select f.* from asked a, found f order by 0");
    for (n, (_, weight)) in lexemes.iter().enumerate() {
        statement.push(format!(" + (f.lex @@ a.q{n})::int * ")).push_bind(*weight);
    }
    statement
        .push(format!(" desc, f.passage_id limit {WEIGHED_MAX}) select l.passage_id, l.lex_length, array["));
    for n in 0..lexemes.len() {
        let separator = if n == 0 { "" } else { ", " };
        statement.push(format!("{separator}ts_rank('{{1, 1, 1, 1}}', l.lex, a.q{n})"));
    }
    statement.push("]::real[] as ranks from asked a, likely l");
    let rows = statement.build().fetch_all(conn).await?;
    rows.iter()
        .map(|row| {
            let ranks: Vec<f32> = row.try_get("ranks")?;
            Ok(WordMatch {
                passage_id: PassageId(row.try_get("passage_id")?),
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
        "select counted.passages, (select reltuples::int8 from pg_class where oid = 'passage'::regclass) as all_passages,
                (select coalesce(avg(lex_length), 1)::real
                 from (select lex_length from passage where namespace = $1 limit 2000) sample) as mean_length
         from (select count(*) as passages from (select from passage where namespace = $1 limit $2) few) counted",
    )
    .bind(ns.as_str())
    .bind(PASSAGES_COUNTED_TO)
    .fetch_one(conn)
    .await?;
    let counted: i64 = row.try_get("passages")?;
    // Of a large namespace only the order of magnitude counts.
    let passages =
        if counted < PASSAGES_COUNTED_TO { counted } else { counted.max(row.try_get("all_passages")?) };
    Ok(CorpusStats { passages: passages as f32, mean_length: row.try_get("mean_length")? })
}

/// In how many passages the commonest lexemes of the namespace stand, as the database estimates it when it
/// analyses the table; of a table that it has not analysed it says nothing.
pub async fn common_lexemes(conn: &mut Conn, ns: &Namespace) -> Result<Vec<(String, f32)>, StoreError> {
    Ok(sqlx::query_as(
        "select substr(common.lexeme, length($1) + 1), (common.share * c.reltuples)::real
         from pg_stats s
         join pg_class c on c.oid = 'passage'::regclass
         cross join lateral unnest(s.most_common_elems::text::text[], s.most_common_elem_freqs) common (lexeme, share)
         where s.schemaname = c.relnamespace::regnamespace::text and s.tablename = 'passage' and s.attname = 'lex'
           and starts_with(common.lexeme, $1)",
    )
    .bind(lexeme_key(ns))
    .fetch_all(conn)
    .await?)
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
