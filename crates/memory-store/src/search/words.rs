//! The lexical arm: passages by their words, with what BM25 needs to weigh them.

use memory_core::id::{Namespace, PassageId, RevisionId};
use memory_core::recall::CorpusStats;
use sqlx::postgres::PgRow;
use sqlx::{Postgres, QueryBuilder, Row};

use super::Scope;
use crate::passages::any_of_literal;
use crate::{Conn, StoreError};

/// A document frequency is counted up to here; a word this common weighs next to nothing.
const FREQUENCY_COUNTED_TO: i64 = 20_000;
/// A namespace's passages are counted up to here.
const PASSAGES_COUNTED_TO: i64 = 20_000;
/// The most passages that are looked at for one question.
const LOOKED_AT_MAX: usize = 1_000;
/// How many of one text are weighed exactly.
pub const WEIGHED_OF_TEXT_MAX: usize = 8;
/// When one text has more of the passages looked at, some of every text are looked for.
const CROWD: i64 = 64;
/// Among how many passages some of every text are looked for.
const MATCHES_MAX: usize = 20_000;
/// Lexemes are filled up to a multiple of so many with one that no text has: so there are few statements to plan.
const LEXEMES_STEP: usize = 8;
const NO_LEXEME: &str = " ";

/// A passage that has some of the lexemes: how often it has each, in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct WordMatch {
    pub passage_id: PassageId,
    /// The text that it is a part of; `None` for an observation.
    pub revision_id: Option<RevisionId>,
    pub length: f32,
    pub frequencies: Vec<f32>,
}

/// What is looked for by its words.
#[derive(Debug, Clone, Copy)]
pub struct WordSearch<'a> {
    /// With their weights, rarest first.
    pub lexemes: &'a [(&'a str, f32)],
    /// How many of these bring passages in; the others only weigh.
    pub wanted: usize,
    /// How many of the matching passages are weighed exactly: those that have most of the terms, rare ones first.
    pub weighed: usize,
}

/// Passages that have any of the wanted lexemes, those whose lexemes weigh most together and of no text too many, with the
/// frequencies of all of the lexemes.
pub async fn with_words(
    conn: &mut Conn,
    ns: &Namespace,
    scope: &Scope,
    search: WordSearch<'_>,
) -> Result<Vec<WordMatch>, StoreError> {
    let rows = statement(ns, scope, search, false).build().fetch_all(&mut *conn).await?;
    let is_crowded = match rows.first() {
        Some(row) => row.try_get::<i64, _>("largest")? > CROWD,
        None => false,
    };
    let lexemes = search.lexemes.len();
    let mut matches = rows.iter().map(|row| match_of(row, lexemes)).collect::<Result<Vec<_>, _>>()?;
    if is_crowded {
        let rows = statement(ns, scope, search, true).build().fetch_all(conn).await?;
        for row in &rows {
            let found = match_of(row, lexemes)?;
            if !matches.iter().any(|known| known.passage_id == found.passage_id) {
                matches.push(found);
            }
        }
    }
    Ok(matches)
}

/// `by_text` looks at the first passages of every text that has the words, else at any that have them.
fn statement(
    ns: &Namespace,
    scope: &Scope,
    WordSearch { lexemes, wanted, weighed }: WordSearch<'_>,
    by_text: bool,
) -> QueryBuilder<Postgres> {
    let filled = lexemes.len().next_multiple_of(LEXEMES_STEP);
    let filling = std::iter::repeat_n((NO_LEXEME, 0.0), filled - lexemes.len());
    let lexemes: Vec<(&str, f32)> = lexemes.iter().copied().chain(filling).collect();
    // The text of a tsquery becomes one once, not once a row.
    let mut statement = QueryBuilder::new("with asked as materialized (select ");
    let all = lexemes.iter().take(wanted).map(|(lexeme, _)| *lexeme);
    statement.push_bind(any_of_literal(ns, all)).push("::tsquery as any");
    for (n, (lexeme, _)) in lexemes.iter().enumerate() {
        statement.push(", ").push_bind(any_of_literal(ns, [*lexeme])).push(format!("::tsquery as q{n}"));
    }
    statement.push("), found as materialized (");
    if by_text {
        statement.push(
            "select p.passage_id, p.revision_id, p.lex_length, p.lex
             from (select passage_id
                   from (select passage_id, row_number() over (partition by revision_id order by passage_id) as n
                         from (select p.passage_id, p.revision_id ",
        );
        push_matching(&mut statement, ns, scope, MATCHES_MAX);
        statement.push(format!(
            ") matching) counted
                   where n <= {WEIGHED_OF_TEXT_MAX}
                   order by n, passage_id
                   limit {LOOKED_AT_MAX}) few
             cross join lateral (
                 select passage_id, revision_id, lex_length, lex from passage where passage_id = few.passage_id and namespace = "
        ));
        statement.push_bind(ns.as_str().to_owned()).push(" offset 0) p");
    } else {
        statement.push("select p.passage_id, p.revision_id, p.lex_length, p.lex ");
        push_matching(&mut statement, ns, scope, LOOKED_AT_MAX);
    }
    statement.push("), rated as materialized (select f.*, 0");
    for (n, (_, weight)) in lexemes.iter().enumerate() {
        statement.push(format!(" + (f.lex @@ a.q{n})::int * ")).push_bind(*weight);
    }
    statement.push(format!(
        " as weight from asked a, found f
         ), likely as materialized (
             select * from (select r.*, row_number() over (partition by r.revision_id order by r.weight desc, r.passage_id) as n
                            from rated r) r
             where n <= {WEIGHED_OF_TEXT_MAX} or revision_id is null
             order by weight desc, passage_id limit {weighed}
         )
         select l.passage_id, l.revision_id, l.lex_length, (select case when count(*) < {LOOKED_AT_MAX} then 0 else coalesce((
                    select max(t.passages) from (select count(*) as passages from found where revision_id is not null
                                                 group by revision_id) t), 0) end from found) as largest, array["
    ));
    for n in 0..lexemes.len() {
        let separator = if n == 0 { "" } else { ", " };
        statement.push(format!("{separator}ts_rank('{{1, 1, 1, 1}}', l.lex, a.q{n})"));
    }
    statement.push("]::real[] as ranks from asked a, likely l");
    statement
}

/// Up to `limit` passages of the scope that have any of the wanted lexemes.
fn push_matching(statement: &mut QueryBuilder<Postgres>, ns: &Namespace, scope: &Scope, limit: usize) {
    statement.push("from asked a, searched_passage p where p.lex @@ a.any and p.namespace = ");
    statement.push_bind(ns.as_str().to_owned());
    scope.push_condition(statement, ns, "p");
    statement.push(format!(" limit {limit}"));
}

fn match_of(row: &PgRow, lexemes: usize) -> Result<WordMatch, StoreError> {
    let ranks: Vec<f32> = row.try_get("ranks")?;
    Ok(WordMatch {
        passage_id: PassageId(row.try_get("passage_id")?),
        revision_id: row.try_get::<Option<i64>, _>("revision_id")?.map(RevisionId),
        length: row.try_get::<i32, _>("lex_length")? as f32,
        frequencies: ranks.into_iter().take(lexemes).map(frequency_of_rank).collect(),
    })
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

/// How a namespace has grown, and how common words are in it.
#[derive(Debug, Clone, PartialEq)]
pub struct WordCounts {
    /// How many passages came after the one that was named, counted up to a limit.
    pub newer: i64,
    /// The newest of them all; 0 without any.
    pub newest: i64,
    /// In how many passages each lexeme occurs, counted up to 20,000.
    pub frequencies: Vec<f32>,
    /// Whether the namespace has any directives.
    pub has_directives: bool,
}

/// What has come to a namespace since the passage `since`, counted up to `limit`, and how common the lexemes are.
pub async fn count_words(
    conn: &mut Conn,
    ns: &Namespace,
    since: i64,
    limit: i64,
    lexemes: &[String],
) -> Result<WordCounts, StoreError> {
    let literals: Vec<String> = lexemes.iter().map(|lexeme| any_of_literal(ns, [lexeme.as_str()])).collect();
    let (newer, newest, counts, has_directives): (i64, i64, Vec<i64>, bool) = sqlx::query_as(
        "select (select count(*) from (select from passage where namespace = $1 and passage_id > $2 limit $3) newer),
                coalesce((select max(passage_id) from passage where namespace = $1), 0),
                array(select (select count(*) from (select from searched_passage p where p.lex @@ u.lexeme::tsquery limit $5) counted)
                      from unnest($4::text[]) with ordinality u (lexeme, n)
                      order by u.n),
                exists (select from directive where namespace = $1)",
    )
    .bind(ns.as_str())
    .bind(since)
    .bind(limit)
    .bind(literals)
    .bind(FREQUENCY_COUNTED_TO)
    .fetch_one(conn)
    .await?;
    let frequencies = counts.into_iter().map(|count| count as f32).collect();
    Ok(WordCounts { newer, newest, frequencies, has_directives })
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

/// In how many passages the commonest lexemes of the connection's namespace occur, as the database estimates it when it
/// analyses the table; of a table that it has not analysed it says nothing.
pub async fn common_lexemes(conn: &mut Conn) -> Result<Vec<(String, f32)>, StoreError> {
    Ok(sqlx::query_as("select lexeme, passages from common_lexemes()").fetch_all(conn).await?)
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
