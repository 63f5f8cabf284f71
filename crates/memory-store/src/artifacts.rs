//! Artifacts and their revisions: what is at a place, and putting something new there.

use std::sync::LazyLock;

use jiff::Timestamp;
use jiff_sqlx::ToSqlx;
use memory_core::artifact::{ArtifactUid, Metadata, NewArtifact};
use memory_core::chunk::Chunk;
use memory_core::id::{ArtifactId, ContentHash, JobId, Namespace, RevisionId};
use memory_core::job::Priority;
use memory_core::spoken::LinePlace;
use serde::Serialize;
use sqlx::postgres::PgRow;
use sqlx::types::Json;
use sqlx::{FromRow, Row};

use crate::metadata_columns::{MetadataColumns, MetadataRow};
use crate::passages::{self, NewPassage, PassageColumns};
use crate::{Conn, StoreError, Tx};

/// The revision that is latest at a place.
#[derive(Debug, Clone)]
pub struct CurrentRevision {
    pub revision_id: RevisionId,
    pub artifact_id: ArtifactId,
    pub hash: ContentHash,
    pub meta: Metadata,
    pub was_extracted: bool,
    /// An extraction job that is PENDING or PROCESSING.
    pub open_job: Option<JobId>,
    pub lacks_vectors: bool,
}

/// The latest revision at the place, if there is one.
pub async fn find_current(
    conn: &mut Conn,
    ns: &Namespace,
    uid: &ArtifactUid,
) -> Result<Option<CurrentRevision>, StoreError> {
    let row = sqlx::query(
        "select r.revision_id, r.artifact_id, a.sha256, r.extracted_at is not null as was_extracted,
                r.context, r.source, r.source_id, r.author, r.role, r.participants, r.date, r.title, r.tags,
                r.importance, r.conversation_id, r.turn_index,
                (select j.job_id from event_jobs j
                 where j.namespace = r.namespace and j.revision_id = r.revision_id and j.kind = 'extract'
                   and j.status in ('PENDING', 'PROCESSING')) as open_job,
                exists (select from passage p
                        where p.namespace = r.namespace and p.revision_id = r.revision_id
                          and not exists (select from passage_embedding e join embedding_model m using (model_id)
                                          where e.namespace = p.namespace and e.passage_id = p.passage_id and m.is_active))
                    as lacks_vectors
         from artifact_revision r
         join artifact a using (namespace, artifact_id)
         where r.namespace = $1 and r.artifact_uid = $2 and r.is_latest",
    )
    .bind(ns.as_str())
    .bind(&uid.0)
    .fetch_optional(conn)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let sha256: Vec<u8> = row.try_get("sha256")?;
    let hash = ContentHash(
        sha256.try_into().map_err(|_| StoreError::Unsuitable("a stored hash is damaged".into()))?,
    );
    Ok(Some(CurrentRevision {
        revision_id: RevisionId(row.try_get("revision_id")?),
        artifact_id: ArtifactId(row.try_get("artifact_id")?),
        hash,
        was_extracted: row.try_get("was_extracted")?,
        open_job: row.try_get::<Option<i64>, _>("open_job")?.map(JobId),
        lacks_vectors: row.try_get("lacks_vectors")?,
        meta: MetadataRow::from_row(&row)?.into(),
    }))
}

/// The place of a text, and what stands there now. The same bare text by another author has a place of its own.
pub async fn find_place(
    conn: &mut Conn,
    ns: &Namespace,
    new: &NewArtifact,
) -> Result<(ArtifactUid, Option<CurrentRevision>), StoreError> {
    let uid = new.meta.uid(&new.hash);
    let current = find_current(conn, ns, &uid).await?;
    let is_others = current.as_ref().is_some_and(|current| new.meta.has_another_author(&current.meta));
    match new.meta.uid_of_author(&new.hash).filter(|_| is_others) {
        Some(own) => {
            let current = find_current(conn, ns, &own).await?;
            Ok((own, current))
        }
        None => Ok((uid, current)),
    }
}

/// Stores the content unless the namespace has it, and gives its id. When another content holds the
/// 12-digit id, a longer one is taken.
pub async fn insert_artifact(
    tx: &mut Tx,
    ns: &Namespace,
    hash: &ContentHash,
    content: &str,
    token_count: usize,
) -> Result<ArtifactId, StoreError> {
    for candidate in hash.candidate_ids() {
        let inserted = sqlx::query(
            "insert into artifact (namespace, artifact_id, sha256, content, char_count, token_count)
             values ($1, $2, $3, $4, char_length($4), $5)
             on conflict do nothing",
        )
        .bind(ns.as_str())
        .bind(&candidate.0)
        .bind(&hash.0[..])
        .bind(content)
        .bind(token_count as i32)
        .execute(&mut **tx)
        .await?
        .rows_affected();
        if inserted == 1 {
            return Ok(candidate);
        }
        let existing: Option<String> = sqlx::query_scalar(
            // The lock keeps a forget that runs beside us from taking the artifact away again.
            "select artifact_id from artifact where namespace = $1 and sha256 = $2 for key share",
        )
        .bind(ns.as_str())
        .bind(&hash.0[..])
        .fetch_optional(&mut **tx)
        .await?;
        if let Some(id) = existing {
            return Ok(ArtifactId(id));
        }
    }
    Err(StoreError::Conflict)
}

/// Stores how a long content is divided; does nothing where that is stored already.
pub async fn insert_chunks(
    tx: &mut Tx,
    ns: &Namespace,
    id: &ArtifactId,
    chunks: &[Chunk],
) -> Result<(), StoreError> {
    if chunks.is_empty() {
        return Ok(());
    }
    let column = |value: fn(&Chunk) -> usize| chunks.iter().map(|c| value(c) as i32).collect::<Vec<i32>>();
    sqlx::query(
        "insert into chunk (namespace, artifact_id, chunk_index, start_char, end_char, token_count)
         select $1, $2, u.ordinal - 1, u.start_char, u.end_char, u.token_count
         from unnest($3::int[], $4::int[], $5::int[]) with ordinality u (start_char, end_char, token_count, ordinal)
         on conflict do nothing",
    )
    .bind(ns.as_str())
    .bind(&id.0)
    .bind(column(|c| c.span.start))
    .bind(column(|c| c.span.end))
    .bind(column(|c| c.token_count))
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// A row of `artifact_revision` by the names of its columns, and the jobs that are queued with it.
#[derive(Serialize)]
struct RevisionColumns<'a> {
    #[serde(flatten)]
    meta: MetadataColumns<'a>,
    artifact_id: &'a str,
    artifact_uid: &'a str,
    turn_index: Option<i32>,
    line_of: Option<i64>,
    line_index: Option<i32>,
    line_speaker: Option<&'a str>,
    is_latest: bool,
    queue_extract: bool,
    queue_embed: bool,
    lane: i16,
}

const INSERT_REVISION: &str = include_str!("sql/insert_revision.sql");
static INSERT_WHOLE: LazyLock<String> = LazyLock::new(|| {
    INSERT_REVISION
        .replace("/*content*/", include_str!("sql/insert_content.sql"))
        .replace("/*of_content*/", " join content using (artifact_id)")
});

impl<'a> RevisionColumns<'a> {
    fn new(new: &'a NewArtifact, summary: &'a str, artifact_id: &'a ArtifactId, entry: Entry<'a>) -> Self {
        Self {
            meta: MetadataColumns::new(&new.meta, summary),
            artifact_id: &artifact_id.0,
            artifact_uid: &entry.uid.0,
            turn_index: new.meta.turn_index,
            line_of: entry.line.map(|(_, place)| place.of),
            line_index: entry.line.map(|(_, place)| place.index),
            line_speaker: entry.line.map(|(speaker, _)| speaker),
            is_latest: entry.is_latest,
            queue_extract: entry.queue_extract,
            queue_embed: entry.queue_embed,
            lane: entry.priority.number(),
        }
    }
}

/// How a new revision comes to its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'a> {
    pub uid: &'a ArtifactUid,
    /// Otherwise another one superseded it.
    pub is_latest: bool,
    /// `None` is now.
    pub created_at: Option<Timestamp>,
    /// Which jobs are queued with it.
    pub queue_extract: bool,
    pub queue_embed: bool,
    pub priority: Priority,
    /// Who speaks, and the place in the talk, where the text is a line of one.
    pub line: Option<(&'a str, LinePlace)>,
}

/// Stores a revision with its passages, their vectors and its jobs, in one statement. The place of a latest
/// one must be free: another latest revision there is a [`StoreError::Conflict`].
pub async fn insert_revision(
    tx: &mut Tx,
    ns: &Namespace,
    artifact_id: &ArtifactId,
    new: &NewArtifact,
    passages: Vec<NewPassage>,
    model_id: Option<i16>,
    entry: Entry<'_>,
) -> Result<(RevisionId, Option<JobId>), StoreError> {
    let are_many = passages::are_many(passages.len());
    if are_many {
        passages::begin_many(tx).await?;
    }
    let summary = new.summary();
    let revision = RevisionColumns::new(new, &summary, artifact_id, entry);
    let inserting = sqlx::query(INSERT_REVISION)
        .bind(ns.as_str())
        .bind(Json(revision))
        .bind(new.meta.date.map(Timestamp::to_sqlx))
        .bind(entry.created_at.map(Timestamp::to_sqlx));
    let inserting = PassageColumns::new(passages).bind_to(inserting).bind(model_id);
    let row = inserting.fetch_one(&mut **tx).await?;
    if are_many {
        passages::end_many(tx).await?;
    }
    inserted(&row)
}

/// The same with the content of a short text before it, in one statement that is a transaction of its own. `None` where the content,
/// or another with its id, is in the namespace already: then nothing was stored.
pub async fn insert_whole(
    conn: &mut Conn,
    ns: &Namespace,
    new: &NewArtifact,
    token_count: usize,
    passages: Vec<NewPassage>,
    model_id: Option<i16>,
    entry: Entry<'_>,
) -> Result<Option<(ArtifactId, RevisionId, Option<JobId>)>, StoreError> {
    let Some(artifact_id) = new.hash.candidate_ids().next() else { return Ok(None) };
    let summary = new.summary();
    let revision = RevisionColumns::new(new, &summary, &artifact_id, entry);
    let inserting = sqlx::query(INSERT_WHOLE.as_str())
        .bind(ns.as_str())
        .bind(Json(revision))
        .bind(new.meta.date.map(Timestamp::to_sqlx))
        .bind(entry.created_at.map(Timestamp::to_sqlx));
    let inserting = PassageColumns::new(passages).bind_to(inserting).bind(model_id);
    let inserting = inserting.bind(&new.hash.0[..]).bind(&new.content).bind(token_count as i32);
    let Some(row) = inserting.fetch_optional(conn).await? else { return Ok(None) };
    let (revision_id, job_id) = inserted(&row)?;
    Ok(Some((artifact_id, revision_id, job_id)))
}

fn inserted(row: &PgRow) -> Result<(RevisionId, Option<JobId>), StoreError> {
    Ok((RevisionId(row.try_get("revision_id")?), row.try_get::<Option<i64>, _>("extract_job")?.map(JobId)))
}

/// Takes the latest revision out of its place, so that a successor can be put there.
pub async fn retire(tx: &mut Tx, ns: &Namespace, revision_id: RevisionId) -> Result<(), StoreError> {
    let retired = sqlx::query(
        "update artifact_revision set is_latest = false where namespace = $1 and revision_id = $2 and is_latest",
    )
    .bind(ns.as_str())
    .bind(revision_id.0)
    .execute(&mut **tx)
    .await?;
    if retired.rows_affected() == 0 {
        return Err(StoreError::Conflict);
    }
    // A statement of its own: it sees the vectors that were written while the first waited for the revision.
    sqlx::query(
        "with passages as (
             update passage set is_latest = false where namespace = $1 and revision_id = $2
         )
         update passage_embedding set is_latest = false where namespace = $1 and revision_id = $2",
    )
    .bind(ns.as_str())
    .bind(revision_id.0)
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// Records on a retired revision which one superseded it.
pub async fn name_successor(
    tx: &mut Tx,
    ns: &Namespace,
    retired: RevisionId,
    successor: RevisionId,
) -> Result<(), StoreError> {
    sqlx::query("update artifact_revision set superseded_by = $3 where namespace = $1 and revision_id = $2")
        .bind(ns.as_str())
        .bind(retired.0)
        .bind(successor.0)
        .execute(&mut **tx)
        .await?;
    Ok(())
}

/// Writes changed metadata of the latest revision at its place.
pub async fn update_metadata(
    tx: &mut Tx,
    ns: &Namespace,
    revision_id: RevisionId,
    meta: &Metadata,
    summary: &str,
) -> Result<(), StoreError> {
    sqlx::query(
        "update artifact_revision
         set context = n.context, source = n.source, source_id = n.source_id, author = n.author, role = n.role,
             participants = n.participants, title = n.title, tags = n.tags, importance = n.importance,
             conversation_id = n.conversation_id, summary = n.summary, date = $4
         from jsonb_to_record($3) as n (context text, source text, source_id text, author text, role text,
             participants text[], title text, tags text[], importance real, conversation_id text, summary text)
         where namespace = $1 and revision_id = $2",
    )
    .bind(ns.as_str())
    .bind(revision_id.0)
    .bind(Json(MetadataColumns::new(meta, summary)))
    .bind(meta.date.map(Timestamp::to_sqlx))
    .execute(&mut **tx)
    .await?;
    Ok(())
}
