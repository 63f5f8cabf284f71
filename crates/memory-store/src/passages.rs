//! Passages, their lexical index and their vectors.

use std::fmt::Write;
use std::sync::Arc;

use memory_core::id::{Namespace, PassageId, RevisionId};
use memory_core::render::Surroundings;
use memory_core::spoken::LinePlace;
use memory_language::hash::stable_hash;
use memory_language::lexicon::LexemeCounts;
use memory_language::text::CharSpan;
use pgvector::Vector;
use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use sqlx::{FromRow, Postgres, Row};

use crate::metadata_columns::MetadataRow;
use crate::{Conn, StoreError, Tx};

/// From so many passages on a revision is worth [`begin_many`].
const MANY: usize = 300;

/// The words of the passages that are written from here on come into their index together: each is looked up once for many
/// passages, which takes a quarter of the time. Until [`end_many`] searches read them from a list.
pub async fn begin_many(tx: &mut Tx) -> Result<(), StoreError> {
    sqlx::query("set local gin_pending_list_limit = '4MB'").execute(&mut **tx).await?;
    Ok(())
}

/// Brings what is left in that list into the index.
pub async fn end_many(tx: &mut Tx) -> Result<(), StoreError> {
    sqlx::query("select clean_pending_lists(array['passage_lex'::regclass])").execute(&mut **tx).await?;
    Ok(())
}

pub(crate) fn are_many(passages: usize) -> bool {
    passages >= MANY
}

/// What each lexeme of a namespace is led by: 25 bits of the stable hash of its name in base 32. Two namespaces with the
/// same key share nothing but posting lists; every query names its namespace as well.
pub(crate) fn lexeme_key(ns: &Namespace) -> String {
    const DIGITS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let hash = stable_hash(ns.as_str());
    (0..5).map(|i| char::from(DIGITS[((hash >> (5 * i)) & 31) as usize])).collect()
}

/// The text form of a `tsvector` that has a lexeme as often as it occurs.
pub fn lex_literal(ns: &Namespace, lexemes: &LexemeCounts) -> String {
    let key = lexeme_key(ns);
    let mut literal = String::with_capacity(lexemes.counts.len() * 16);
    for (lexeme, count) in &lexemes.counts {
        push_quoted(&mut literal, &key, lexeme);
        literal.push(':');
        for position in 1..=*count {
            let separator = if position == 1 { "" } else { "," };
            let _ = write!(literal, "{separator}{position}");
        }
        literal.push(' ');
    }
    literal
}

/// The text form of a `tsquery` that meets any of the lexemes.
pub fn any_of_literal<'a>(ns: &Namespace, lexemes: impl IntoIterator<Item = &'a str>) -> String {
    let key = lexeme_key(ns);
    let mut literal = String::new();
    for lexeme in lexemes {
        if !literal.is_empty() {
            literal.push_str(" | ");
        }
        push_quoted(&mut literal, &key, lexeme);
    }
    literal
}

fn push_quoted(out: &mut String, key: &str, lexeme: &str) {
    out.push('\'');
    out.push_str(key);
    for c in lexeme.chars() {
        if matches!(c, '\'' | '\\') {
            out.push(c);
        }
        out.push(c);
    }
    out.push('\'');
}

/// What a model made of a passage.
#[derive(Debug, Clone, PartialEq)]
pub struct PassageVector {
    pub vector: Vec<f32>,
    /// The states of its tokens, compressed; empty when the model gives none.
    pub states: Vec<u8>,
}

/// The same of several, as a statement takes them.
#[derive(Debug, Default)]
pub struct VectorColumns {
    pub vectors: Vec<Vector>,
    pub states: Vec<Vec<u8>>,
}

impl VectorColumns {
    pub fn push(&mut self, made: PassageVector) {
        self.vectors.push(Vector::from(made.vector));
        self.states.push(made.states);
    }
}

/// A passage as it is stored: where it lies, its text, and the lexemes of its rendering.
#[derive(Debug, Clone)]
pub struct NewPassage {
    pub chunk_index: Option<usize>,
    pub span: CharSpan,
    pub text: Arc<str>,
    /// Made by [`lex_literal`].
    pub lex: String,
    pub lex_length: u32,
    /// Absent when the vector is to be computed later.
    pub embedding: Option<PassageVector>,
}

/// Passages by columns, as statements take them.
#[derive(Default)]
pub(crate) struct PassageColumns {
    chunk_index: Vec<Option<i32>>,
    start_char: Vec<i32>,
    end_char: Vec<i32>,
    text: Vec<Arc<str>>,
    lex: Vec<String>,
    lex_length: Vec<i32>,
    embedded_ordinals: Vec<i32>,
    vectors: VectorColumns,
}

impl PassageColumns {
    pub(crate) fn new(passages: Vec<NewPassage>) -> Self {
        let mut columns = Self::default();
        for (ordinal, passage) in passages.into_iter().enumerate() {
            columns.chunk_index.push(passage.chunk_index.map(|i| i as i32));
            columns.start_char.push(passage.span.start as i32);
            columns.end_char.push(passage.span.end as i32);
            columns.text.push(passage.text);
            columns.lex.push(passage.lex);
            columns.lex_length.push(passage.lex_length as i32);
            if let Some(embedding) = passage.embedding {
                columns.embedded_ordinals.push(ordinal as i32);
                columns.vectors.push(embedding);
            }
        }
        columns
    }

    /// Binds them as the next nine parameters of a statement, in the order of the fields.
    pub(crate) fn bind_to(self, query: Query<'_, Postgres, PgArguments>) -> Query<'_, Postgres, PgArguments> {
        query
            .bind(self.chunk_index)
            .bind(self.start_char)
            .bind(self.end_char)
            .bind(self.text.iter().map(AsRef::as_ref).collect::<Vec<&str>>())
            .bind(self.lex)
            .bind(self.lex_length)
            .bind(self.embedded_ordinals)
            .bind(self.vectors.vectors)
            .bind(self.vectors.states)
    }
}

/// A passage whose vector is missing.
#[derive(Debug, Clone)]
pub struct Unembedded {
    pub passage_id: PassageId,
    pub ordinal: usize,
    pub text: String,
}

/// What a model sees around a revision's passages, as it is now, without the turn before; and the number of that state.
pub async fn surroundings(
    conn: &mut Conn,
    ns: &Namespace,
    revision_id: RevisionId,
) -> Result<Option<(Surroundings, i32)>, StoreError> {
    let row = sqlx::query(
        "select context, source, source_id, author, role, participants, date, title, tags, importance,
                conversation_id, turn_index, rendering
         from artifact_revision
         where namespace = $1 and revision_id = $2",
    )
    .bind(ns.as_str())
    .bind(revision_id.0)
    .fetch_optional(&mut *conn)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let rendering = row.try_get("rendering")?;
    let meta: memory_core::artifact::Metadata = MetadataRow::from_row(&row)?.into();
    Ok(Some((Surroundings::new(&meta, None), rendering)))
}

/// Up to `limit` passages of the revision from this place on that the model has no vector for, in order.
pub async fn without_vector(
    conn: &mut Conn,
    ns: &Namespace,
    revision_id: RevisionId,
    model_id: i16,
    from: usize,
    limit: i64,
) -> Result<Vec<Unembedded>, StoreError> {
    let rows: Vec<(i64, i32, String)> = sqlx::query_as(
        "select p.passage_id, p.ordinal, p.text
         from passage p
         where p.namespace = $1 and p.revision_id = $2 and p.ordinal >= $5
           and not exists (select from passage_embedding e
                           where e.namespace = p.namespace and e.passage_id = p.passage_id and e.model_id = $3)
         order by p.ordinal
         limit $4",
    )
    .bind(ns.as_str())
    .bind(revision_id.0)
    .bind(model_id)
    .bind(limit)
    .bind(from as i32)
    .fetch_all(conn)
    .await?;
    Ok(rows
        .into_iter()
        .map(|(id, ordinal, text)| Unembedded { passage_id: PassageId(id), ordinal: ordinal as usize, text })
        .collect())
}

/// Stores vectors made from the given rendering; a [`StoreError::Conflict`] when that has changed since.
pub async fn insert_vectors(
    tx: &mut Tx,
    ns: &Namespace,
    revision_id: RevisionId,
    model_id: i16,
    rendering: i32,
    vectors: Vec<(PassageId, PassageVector)>,
) -> Result<(), StoreError> {
    let current: Option<i32> = sqlx::query_scalar(
        "select rendering from artifact_revision where namespace = $1 and revision_id = $2 for update",
    )
    .bind(ns.as_str())
    .bind(revision_id.0)
    .fetch_optional(&mut **tx)
    .await?;
    if current != Some(rendering) {
        return Err(StoreError::Conflict);
    }
    write_vectors(tx, ns, model_id, vectors).await
}

/// Writes vectors of passages, as far as these are still there.
pub async fn write_vectors(
    tx: &mut Tx,
    ns: &Namespace,
    model_id: i16,
    vectors: Vec<(PassageId, PassageVector)>,
) -> Result<(), StoreError> {
    let mut ids = Vec::with_capacity(vectors.len());
    let mut columns = VectorColumns::default();
    for (id, made) in vectors {
        ids.push(id.0);
        columns.push(made);
    }
    sqlx::query(include_str!("sql/write_vectors.sql"))
        .bind(ns.as_str())
        .bind(model_id)
        .bind(ids)
        .bind(columns.vectors)
        .bind(columns.states)
        .execute(&mut **tx)
        .await?;
    Ok(())
}

/// Puts new passages in the place of a revision's old ones, whose rendering has changed.
pub async fn replace(
    tx: &mut Tx,
    ns: &Namespace,
    revision_id: RevisionId,
    passages: Vec<NewPassage>,
    model_id: Option<i16>,
) -> Result<(), StoreError> {
    sqlx::query("delete from passage where namespace = $1 and revision_id = $2")
        .bind(ns.as_str())
        .bind(revision_id.0)
        .execute(&mut **tx)
        .await?;
    let are_many = are_many(passages.len());
    if are_many {
        begin_many(tx).await?;
    }
    let replacing =
        sqlx::query(include_str!("sql/replace_passages.sql")).bind(ns.as_str()).bind(revision_id.0);
    PassageColumns::new(passages).bind_to(replacing).bind(model_id).execute(&mut **tx).await?;
    if are_many {
        end_many(tx).await?;
    }
    Ok(())
}

/// A turn whose rendering shows the turn before it.
#[derive(Debug, Clone)]
pub struct FollowingTurn {
    pub revision_id: RevisionId,
    pub passage_id: PassageId,
    pub text: String,
}

impl From<(i64, i64, String)> for FollowingTurn {
    fn from((revision, passage, text): (i64, i64, String)) -> Self {
        Self { revision_id: RevisionId(revision), passage_id: PassageId(passage), text }
    }
}

/// The first passage of the latest revision of the nearest turn after this one.
pub async fn following_turn(
    conn: &mut Conn,
    ns: &Namespace,
    conversation_id: &str,
    turn_index: i32,
) -> Result<Option<FollowingTurn>, StoreError> {
    let row: Option<(i64, i64, String)> = sqlx::query_as(
        "select r.revision_id, p.passage_id, p.text
         from artifact_revision r
         join passage p on p.namespace = r.namespace and p.revision_id = r.revision_id and p.ordinal = 0
         where r.namespace = $1 and r.conversation_id = $2 and r.turn_index > $3 and r.is_latest
         order by r.turn_index
         limit 1",
    )
    .bind(ns.as_str())
    .bind(conversation_id)
    .bind(turn_index)
    .fetch_optional(conn)
    .await?;
    Ok(row.map(FollowingTurn::from))
}

/// The same of the nearest line after a place in a talk.
pub async fn following_line(
    conn: &mut Conn,
    ns: &Namespace,
    place: LinePlace,
) -> Result<Option<FollowingTurn>, StoreError> {
    let row: Option<(i64, i64, String)> = sqlx::query_as(
        "select r.revision_id, p.passage_id, p.text
         from artifact_revision r
         join passage p on p.namespace = r.namespace and p.revision_id = r.revision_id and p.ordinal = 0
         where r.namespace = $1 and r.line_of = $2 and r.line_index > $3 and r.is_latest
         order by r.line_index, r.revision_id
         limit 1",
    )
    .bind(ns.as_str())
    .bind(place.of)
    .bind(place.index)
    .fetch_optional(conn)
    .await?;
    Ok(row.map(FollowingTurn::from))
}

/// Rewrites the lexical index of one passage.
pub async fn rewrite_lex(
    tx: &mut Tx,
    ns: &Namespace,
    passage_id: PassageId,
    lexemes: &LexemeCounts,
) -> Result<(), StoreError> {
    sqlx::query(
        "update passage set lex = $3::tsvector, lex_length = $4 where namespace = $1 and passage_id = $2",
    )
    .bind(ns.as_str())
    .bind(passage_id.0)
    .bind(lex_literal(ns, lexemes))
    .bind(lexemes.length as i32)
    .execute(&mut **tx)
    .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lexemes_are_quoted_so_that_no_text_can_leave_its_literal() {
        let ns = Namespace::default();
        let key = lexeme_key(&ns);
        let lexemes = LexemeCounts { counts: vec![("o'n\\e".into(), 2)], length: 2 };
        assert_eq!(lex_literal(&ns, &lexemes), format!("'{key}o''n\\\\e':1,2 "));
        assert_eq!(any_of_literal(&ns, ["a", "b'"]), format!("'{key}a' | '{key}b'''"));
        assert_ne!(key, lexeme_key(&Namespace::new("other").unwrap()));
    }
}
