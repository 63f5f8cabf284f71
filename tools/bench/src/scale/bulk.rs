//! Filling an empty database with many short texts at once, for measuring: the rows are those that remembering
//! each of them writes, without jobs.

use jiff_sqlx::{Timestamp as SqlTimestamp, ToSqlx};
use memory_core::artifact::NewArtifact;
use memory_core::id::Namespace;
use memory_store::passages::{NewPassage, PassageVector, VectorColumns};
use memory_store::{Conn, StoreError, Tx};
use sqlx::{AssertSqlSafe, Row};

/// A text short enough to be one passage, embedded. Of what is said about it only context, author, date and
/// importance are stored.
#[derive(Debug, Clone)]
pub struct Note {
    pub new: NewArtifact,
    pub token_count: usize,
    pub passage: NewPassage,
}

/// Stores notes whose texts the namespace does not have yet.
pub async fn insert(tx: &mut Tx, ns: &Namespace, notes: &[Note], model_id: i16) -> Result<(), StoreError> {
    // The planner takes arrays for small and would compare each row with each.
    sqlx::query("set local enable_nestloop = off").execute(&mut **tx).await?;
    let texts = |value: &dyn Fn(&Note) -> String| notes.iter().map(value).collect::<Vec<String>>();
    let numbers =
        |value: &dyn Fn(&Note) -> usize| notes.iter().map(|n| value(n) as i32).collect::<Vec<i32>>();
    let ids = texts(&|n| n.new.hash.candidate_ids().next().map_or_else(String::new, |id| id.0));
    let hashes: Vec<Vec<u8>> = notes.iter().map(|n| n.new.hash.0.to_vec()).collect();
    let authors: Vec<Option<String>> = notes.iter().map(|n| n.new.meta.author.clone()).collect();
    let dates: Vec<Option<SqlTimestamp>> =
        notes.iter().map(|n| n.new.meta.date.map(ToSqlx::to_sqlx)).collect();
    let importances: Vec<f32> = notes.iter().map(|n| n.new.meta.importance).collect();
    let mut columns = VectorColumns::default();
    for note in notes {
        let none = || PassageVector { vector: Vec::new(), states: Vec::new() };
        columns.push(note.passage.embedding.clone().unwrap_or_else(none));
    }
    sqlx::query(include_str!("bulk_insert.sql"))
        .bind(ns.as_str())
        .bind(ids)
        .bind(hashes)
        .bind(texts(&|n| n.new.content.clone()))
        .bind(numbers(&|n| n.token_count))
        .bind(texts(&|n| n.new.meta.uid(&n.new.hash).0))
        .bind(texts(&|n| n.new.meta.context.as_str().to_owned()))
        .bind(authors)
        .bind(dates)
        .bind(importances)
        .bind(texts(&|n| n.new.summary()))
        .bind(texts(&|n| n.passage.text.to_string()))
        .bind(texts(&|n| n.passage.lex.clone()))
        .bind(numbers(&|n| n.passage.lex_length as usize))
        .bind(numbers(&|n| n.passage.span.start))
        .bind(numbers(&|n| n.passage.span.end))
        .bind(columns.vectors)
        .bind(model_id)
        .bind(columns.states)
        .execute(&mut **tx)
        .await?;
    Ok(())
}

/// An index that searches go through, and the statement that makes it.
#[derive(Debug, Clone)]
pub struct SearchIndex {
    pub name: String,
    /// `gin` or `hnsw`.
    pub method: String,
    definition: String,
}

/// Drops the indexes over words and vectors, which are built faster when everything is there.
pub async fn take_down_indexes(conn: &mut Conn) -> Result<Vec<SearchIndex>, StoreError> {
    let rows = sqlx::query(
        "select c.relname::text as name, m.amname::text as method, pg_get_indexdef(i.indexrelid) as definition
         from pg_index i
         join pg_class c on c.oid = i.indexrelid
         join pg_class t on t.oid = i.indrelid
         join pg_am m on m.oid = c.relam
         where t.relnamespace = 'public'::regnamespace and t.relname in ('passage', 'passage_embedding')
           and m.amname in ('gin', 'hnsw')
         order by c.relname",
    )
    .fetch_all(&mut *conn)
    .await?;
    let mut indexes = Vec::new();
    for row in rows {
        let index = SearchIndex {
            name: row.try_get("name")?,
            method: row.try_get("method")?,
            definition: row.try_get("definition")?,
        };
        let statement = format!("drop index \"{}\"", index.name);
        sqlx::query(AssertSqlSafe(statement)).execute(&mut *conn).await?;
        indexes.push(index);
    }
    Ok(indexes)
}

/// Builds an index again, with so many megabytes of memory and two processes beside the first where there are cores.
pub async fn build_index(conn: &mut Conn, index: &SearchIndex, memory_mb: u32) -> Result<(), StoreError> {
    let memory = format!("set maintenance_work_mem = '{memory_mb}MB'");
    let statements = [
        memory.as_str(),
        "set max_parallel_workers = 2",
        "set max_parallel_maintenance_workers = 2",
        &index.definition,
    ];
    for statement in statements {
        sqlx::query(AssertSqlSafe(statement.to_owned())).execute(&mut *conn).await?;
    }
    Ok(())
}

/// Brings the tables and what the planner knows of them into the state that they would come to by themselves.
pub async fn tidy(conn: &mut Conn) -> Result<(), StoreError> {
    for table in ["artifact", "artifact_revision", "passage", "passage_embedding", "passage_tokens"] {
        sqlx::query(AssertSqlSafe(format!("vacuum (analyze) {table}"))).execute(&mut *conn).await?;
    }
    Ok(())
}

/// A table with what is stored out of line, or an index, and its bytes on disk.
#[derive(Debug, Clone, serde::Serialize)]
pub struct OnDisk {
    pub name: String,
    /// `table`, or an index's method: `btree`, `gin`, `hnsw`.
    pub kind: String,
    pub bytes: i64,
}

/// The tables and indexes of the semantic memory that take a megabyte or hold what is searched, largest first.
pub async fn sizes(conn: &mut Conn) -> Result<Vec<OnDisk>, StoreError> {
    let rows = sqlx::query(
        "select c.relname::text as name,
                case when c.relkind = 'r' then 'table' else m.amname::text end as kind,
                case when c.relkind = 'r' then pg_table_size(c.oid) else pg_relation_size(c.oid) end as bytes
         from pg_class c
         left join pg_am m on m.oid = c.relam
         where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'i')
         order by bytes desc, name",
    )
    .fetch_all(conn)
    .await?;
    let all = rows
        .iter()
        .map(|row| {
            Ok(OnDisk {
                name: row.try_get("name")?,
                kind: row.try_get("kind")?,
                bytes: row.try_get("bytes")?,
            })
        })
        .collect::<Result<Vec<OnDisk>, StoreError>>()?;
    Ok(all.into_iter().filter(|one| one.bytes >= 1 << 20 || one.name.starts_with("passage")).collect())
}

/// The whole database on disk, in bytes.
pub async fn database_bytes(conn: &mut Conn) -> Result<i64, StoreError> {
    Ok(sqlx::query_scalar("select pg_database_size(current_database())").fetch_one(conn).await?)
}
