//! Directives: what the user wants for longer than one answer, which of them hold, and their vectors.

/// The tags that name a project, of a revision `r`, in small letters.
macro_rules! projects {
    () => {
        "array(select lower(tag) from unnest(r.tags) tag where starts_with(lower(tag), 'project:')) as projects"
    };
}

mod around;
mod holding;
mod vectors;

use jiff::Timestamp;
use jiff_sqlx::{Timestamp as SqlTimestamp, ToSqlx};
use memory_core::directive::FoundDirective;
use memory_core::id::{Namespace, PassageId, RevisionId};
use memory_language::text::CharSpan;
use pgvector::Vector;
use sqlx::Row;
use sqlx::postgres::PgRow;

pub use self::around::{Around, around};
pub use self::holding::{StoredDirective, Wanted, holding};
use self::vectors::Columns;
pub use self::vectors::{DirectiveVectors, Unembedded, lacks_vectors, without_vector, write_vectors};
use crate::events::Source;
use crate::{Conn, StoreError, Tx};

/// A directive on its way to its revision.
#[derive(Debug, Clone)]
pub struct NewDirective {
    pub found: FoundDirective,
    pub vectors: Option<DirectiveVectors>,
    /// Earlier ones that no longer hold after it, beyond those that words tell of.
    pub replaces: Vec<i64>,
}

impl From<FoundDirective> for NewDirective {
    fn from(found: FoundDirective) -> Self {
        Self { found, vectors: None, replaces: Vec::new() }
    }
}

/// A directive as it is compared with others.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedDirective {
    pub directive_id: i64,
    pub revision_id: RevisionId,
    pub quote: String,
    pub condition: Option<String>,
    pub is_general: bool,
    pub is_permission: bool,
    pub is_circumstance: bool,
    pub in_conversation: bool,
    pub start_char: usize,
    pub said_at: Timestamp,
    pub conversation_id: Option<String>,
    pub turn_index: Option<i32>,
    /// The tags of its text that name a project, in small letters.
    pub projects: Vec<String>,
}

/// Writes the directives of a revision in the place of those that it had. Those that stay keep their vectors.
pub async fn put(
    tx: &mut Tx,
    ns: &Namespace,
    revision_id: RevisionId,
    directives: &[NewDirective],
) -> Result<Vec<i64>, StoreError> {
    let starts: Vec<i32> = directives.iter().map(|new| new.found.span.start as i32).collect();
    sqlx::query(
        "delete from directive where namespace = $1 and revision_id = $2 and not start_char = any($3)",
    )
    .bind(ns.as_str())
    .bind(revision_id.0)
    .bind(&starts)
    .execute(&mut **tx)
    .await?;
    if directives.is_empty() {
        return Ok(Vec::new());
    }
    let found = |value: fn(&FoundDirective) -> bool| -> Vec<bool> {
        directives.iter().map(|new| value(&new.found)).collect()
    };
    let Columns { model_ids, embeddings, versions, bearings } =
        directives.iter().map(|new| new.vectors.clone()).collect();
    sqlx::query(
        "insert into directive (namespace, revision_id, start_char, end_char, quote, condition, is_general,
             is_permission, in_conversation, by_somebody, is_circumstance, model_id, embedding, bearing_version, bearing)
         select $1, $2, u.*
         from unnest($3::int[], $4::int[], $5::text[], $6::text[], $7::bool[], $8::bool[], $9::bool[],
             $10::bool[], $11::bool[], $12::smallint[], $13::vector[], $14::smallint[], $15::vector[]) u
         on conflict (namespace, revision_id, start_char) do update
         set end_char = excluded.end_char, quote = excluded.quote, condition = excluded.condition,
             is_general = excluded.is_general, is_permission = excluded.is_permission,
             in_conversation = excluded.in_conversation, by_somebody = excluded.by_somebody,
             is_circumstance = excluded.is_circumstance,
             (model_id, embedding, bearing_version, bearing) =
                 (select kept.model_id, kept.embedding, kept.bearing_version, kept.bearing
                  from (values (directive.model_id, directive.embedding, directive.bearing_version, directive.bearing, true),
                               (excluded.model_id, excluded.embedding, excluded.bearing_version, excluded.bearing, false))
                      kept (model_id, embedding, bearing_version, bearing, is_before)
                  where is_before
                      = ((directive.quote, directive.condition) is not distinct from (excluded.quote, excluded.condition)))",
    )
    .bind(ns.as_str())
    .bind(revision_id.0)
    .bind(&starts)
    .bind(directives.iter().map(|new| new.found.span.end as i32).collect::<Vec<_>>())
    .bind(directives.iter().map(|new| new.found.quote.as_str()).collect::<Vec<_>>())
    .bind(directives.iter().map(|new| new.found.condition.as_deref()).collect::<Vec<_>>())
    .bind(found(|found| found.is_general))
    .bind(found(|found| found.is_permission))
    .bind(found(|found| found.in_conversation))
    .bind(found(|found| found.by_somebody))
    .bind(found(|found| found.is_circumstance))
    .bind(model_ids)
    .bind(embeddings)
    .bind(versions)
    .bind(bearings)
    .execute(&mut **tx)
    .await?;
    Ok(sqlx::query_scalar("select directive_id from directive where namespace = $1 and revision_id = $2")
        .bind(ns.as_str())
        .bind(revision_id.0)
        .fetch_all(&mut **tx)
        .await?)
}

/// Takes away the directives of revisions that state none.
pub async fn clear(tx: &mut Tx, ns: &Namespace, revisions: &[RevisionId]) -> Result<(), StoreError> {
    sqlx::query("delete from directive where namespace = $1 and revision_id = any($2)")
        .bind(ns.as_str())
        .bind(revisions.iter().map(|id| id.0).collect::<Vec<_>>())
        .execute(&mut **tx)
        .await?;
    Ok(())
}

/// Whether the revision is there; it stays until the transaction ends.
pub async fn lock_revision(tx: &mut Tx, ns: &Namespace, revision_id: RevisionId) -> Result<bool, StoreError> {
    let found =
        sqlx::query("select from artifact_revision where namespace = $1 and revision_id = $2 for key share")
            .bind(ns.as_str())
            .bind(revision_id.0)
            .fetch_optional(&mut **tx)
            .await?;
    Ok(found.is_some())
}

/// Whether another revision of the namespace states one.
pub async fn has_other_than(
    conn: &mut Conn,
    ns: &Namespace,
    revision_id: RevisionId,
) -> Result<bool, StoreError> {
    let statement = "select exists (select from directive where namespace = $1 and revision_id <> $2)";
    Ok(sqlx::query_scalar(statement).bind(ns.as_str()).bind(revision_id.0).fetch_one(conn).await?)
}

/// A directive near a vector.
#[derive(Debug)]
pub struct NearDirective {
    pub directive_id: i64,
    pub quote: String,
    pub condition: Option<String>,
    /// The cosine of both.
    pub similarity: f32,
}

/// Those that held when a source was said and are most like a vector of the model.
pub async fn nearest_before(
    conn: &mut Conn,
    ns: &Namespace,
    source: &Source,
    model_id: i16,
    vector: &[f32],
    limit: i64,
) -> Result<Vec<NearDirective>, StoreError> {
    let rows: Vec<(i64, String, Option<String>, f32)> = sqlx::query_as(
        "select d.directive_id, d.quote, d.condition, (-(d.embedding <#> $5))::real
         from directive d
         join artifact_revision r using (namespace, revision_id)
         where d.namespace = $1 and d.revision_id <> $2 and d.model_id = $3 and r.is_latest and not d.is_permission
           and coalesce(r.date, r.created_at) <= $4
           and not exists (select from directive_replacement x
                           join directive later on later.namespace = x.namespace and later.directive_id = x.later
                           join artifact_revision s on s.namespace = later.namespace and s.revision_id = later.revision_id
                           where x.namespace = d.namespace and x.earlier = d.directive_id and s.is_latest
                             and later.revision_id <> $2)
         order by d.embedding <#> $5, d.directive_id
         limit $6",
    )
    .bind(ns.as_str())
    .bind(source.revision_id.0)
    .bind(model_id)
    .bind(source.date.to_sqlx())
    .bind(Vector::from(vector.to_vec()))
    .bind(limit)
    .fetch_all(conn)
    .await?;
    let near = rows.into_iter().map(|(directive_id, quote, condition, similarity)| NearDirective {
        directive_id,
        quote,
        condition,
        similarity,
    });
    Ok(near.collect())
}

/// The newest of the namespace, and those of a revision among them; circumstances behind all others.
pub async fn compared(
    conn: &mut Conn,
    ns: &Namespace,
    revision_id: RevisionId,
    limit: i64,
) -> Result<Vec<ComparedDirective>, StoreError> {
    let rows = sqlx::query(concat!(
        "select d.directive_id, d.revision_id, d.quote, d.condition, d.is_general, d.is_permission, d.is_circumstance,
                d.in_conversation, d.start_char, coalesce(r.date, r.created_at) as said_at, r.conversation_id, r.turn_index, ",
        projects!(),
        "
         from directive d
         join artifact_revision r using (namespace, revision_id)
         where d.namespace = $1
         order by d.revision_id = $2 desc, d.is_circumstance, said_at desc, d.directive_id desc
         limit $3",
    ))
    .bind(ns.as_str())
    .bind(revision_id.0)
    .bind(limit)
    .fetch_all(conn)
    .await?;
    rows.iter().map(compared_of).collect()
}

fn compared_of(row: &PgRow) -> Result<ComparedDirective, StoreError> {
    Ok(ComparedDirective {
        directive_id: row.try_get("directive_id")?,
        revision_id: RevisionId(row.try_get("revision_id")?),
        quote: row.try_get("quote")?,
        condition: row.try_get("condition")?,
        is_general: row.try_get("is_general")?,
        is_permission: row.try_get("is_permission")?,
        is_circumstance: row.try_get("is_circumstance")?,
        in_conversation: row.try_get("in_conversation")?,
        start_char: row.try_get::<i32, _>("start_char")? as usize,
        said_at: row.try_get::<SqlTimestamp, _>("said_at")?.to_jiff(),
        conversation_id: row.try_get("conversation_id")?,
        turn_index: row.try_get("turn_index")?,
        projects: row.try_get("projects")?,
    })
}

/// Records pairs of an earlier directive and the later one that supersedes it. They replace all recorded pairs in which one of the
/// given directives is the later one.
pub async fn set_replacements(
    tx: &mut Tx,
    ns: &Namespace,
    of: &[i64],
    pairs: &[(i64, i64)],
) -> Result<(), StoreError> {
    sqlx::query("delete from directive_replacement where namespace = $1 and later = any($2)")
        .bind(ns.as_str())
        .bind(of)
        .execute(&mut **tx)
        .await?;
    if pairs.is_empty() {
        return Ok(());
    }
    let (earlier, later): (Vec<i64>, Vec<i64>) = pairs.iter().copied().unzip();
    // One of them may be forgotten just now.
    sqlx::query(
        "insert into directive_replacement (namespace, earlier, later)
         select $1, u.earlier, u.later
         from unnest($2::bigint[], $3::bigint[]) u (earlier, later)
         where (select count(*) from (select from directive d
                                      where d.namespace = $1 and d.directive_id in (u.earlier, u.later)
                                      for key share) there) = 2
         on conflict do nothing",
    )
    .bind(ns.as_str())
    .bind(earlier)
    .bind(later)
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// What the latest revisions of a text state, in its order: where it stands, and its words.
pub async fn stated_in(
    conn: &mut Conn,
    ns: &Namespace,
    artifact_id: &str,
) -> Result<Vec<(CharSpan, String)>, StoreError> {
    let rows: Vec<(i32, i32, String)> = sqlx::query_as(
        "select distinct d.start_char, d.end_char, d.quote
         from directive d join artifact_revision r using (namespace, revision_id)
         where d.namespace = $1 and r.artifact_id = $2 and r.is_latest and not d.is_circumstance
         order by d.start_char, d.end_char",
    )
    .bind(ns.as_str())
    .bind(artifact_id)
    .fetch_all(conn)
    .await?;
    let stated = |(start, end, quote)| (CharSpan::new(start as usize, end as usize), quote);
    Ok(rows.into_iter().map(stated).collect())
}

/// The passage of a revision in which this character stands.
pub async fn passage_at(
    conn: &mut Conn,
    ns: &Namespace,
    revision_id: RevisionId,
    at_char: usize,
) -> Result<Option<PassageId>, StoreError> {
    let found: Option<i64> = sqlx::query_scalar(
        "select passage_id from passage
         where namespace = $1 and revision_id = $2 and start_char <= $3 and end_char > $3
         order by ordinal
         limit 1",
    )
    .bind(ns.as_str())
    .bind(revision_id.0)
    .bind(i32::try_from(at_char).unwrap_or(i32::MAX))
    .fetch_optional(conn)
    .await?;
    Ok(found.map(PassageId))
}
