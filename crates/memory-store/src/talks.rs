//! What stands before a turn of a conversation, or before a line that says who speaks.

use jiff_sqlx::Timestamp as SqlTimestamp;
use memory_core::id::{Namespace, RevisionId};
use memory_core::render::PreviousTurn;
use memory_core::spoken::{LINES_LOOKED_AT, LinePlace, LineTime, StoredLine};

use crate::{Conn, StoreError, Tx};

/// One writer at a time in a conversation, until the transaction ends: a turn's rendering depends on the
/// turn before it.
pub async fn lock_conversation(tx: &mut Tx, ns: &Namespace, conversation_id: &str) -> Result<(), StoreError> {
    lock_conversations(tx, ns, &[conversation_id]).await
}

/// Locks several conversations, in the order given.
pub async fn lock_conversations(
    tx: &mut Tx,
    ns: &Namespace,
    conversation_ids: &[&str],
) -> Result<(), StoreError> {
    sqlx::query(
        "select pg_advisory_xact_lock(hashtextextended($1 || chr(31) || c.conversation_id, 1))
         from unnest($2::text[]) c (conversation_id)",
    )
    .bind(ns.as_str())
    .bind(conversation_ids)
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// The latest revision of the nearest turn before this one.
pub async fn previous_turn(
    conn: &mut Conn,
    ns: &Namespace,
    conversation_id: &str,
    turn_index: i32,
) -> Result<Option<PreviousTurn>, StoreError> {
    let row: Option<(Option<String>, String)> = sqlx::query_as(
        "select coalesce(r.author, r.role), left(a.content, 400)
         from artifact_revision r
         join artifact a using (namespace, artifact_id)
         where r.namespace = $1 and r.conversation_id = $2 and r.turn_index < $3 and r.is_latest
         order by r.turn_index desc
         limit 1",
    )
    .bind(ns.as_str())
    .bind(conversation_id)
    .bind(turn_index)
    .fetch_optional(conn)
    .await?;
    Ok(row.map(|(speaker, text)| PreviousTurn { speaker, text }))
}

/// Of the texts that were stored last, those that are lines from the same source, newest first.
pub async fn recent_lines(
    conn: &mut Conn,
    ns: &Namespace,
    source: Option<&str>,
) -> Result<Vec<StoredLine>, StoreError> {
    type Row = (i64, i32, String, SqlTimestamp, Option<SqlTimestamp>, bool);
    let rows: Vec<Row> = sqlx::query_as(
        "select line_of, line_index, line_speaker, created_at, date, is_of_chat
         from (select line_of, line_index, line_speaker, created_at, date, source, revision_id,
                      context = 'chat' and coalesce(author, role) is not null as is_of_chat
               from artifact_revision
               where namespace = $1 and is_latest
               order by revision_id desc
               limit $3) r
         where line_of is not null and source is not distinct from $2
         order by revision_id desc",
    )
    .bind(ns.as_str())
    .bind(source)
    .bind(LINES_LOOKED_AT as i64)
    .fetch_all(conn)
    .await?;
    let line = |(of, index, speaker, stored, date, is_of_chat): Row| StoredLine {
        place: LinePlace { of, index },
        speaker,
        time: LineTime { stored: SqlTimestamp::to_jiff(stored), date: date.map(SqlTimestamp::to_jiff) },
        is_of_chat,
    };
    Ok(rows.into_iter().map(line).collect())
}

/// The nearest line before a place in a talk, as the next is rendered with it.
pub async fn previous_line(
    conn: &mut Conn,
    ns: &Namespace,
    place: LinePlace,
) -> Result<Option<PreviousTurn>, StoreError> {
    if place.index == 0 {
        return Ok(None);
    }
    let text: Option<String> = sqlx::query_scalar(
        "select left(a.content, 400)
         from artifact_revision r
         join artifact a using (namespace, artifact_id)
         where r.namespace = $1 and r.line_of = $2 and r.line_index < $3 and r.is_latest
         order by r.line_index desc, r.revision_id desc
         limit 1",
    )
    .bind(ns.as_str())
    .bind(place.of)
    .bind(place.index)
    .fetch_optional(conn)
    .await?;
    // Its text says who speaks.
    Ok(text.map(|text| PreviousTurn { speaker: None, text }))
}

/// The place of a revision in a talk, where it is a line of one.
pub async fn line_place(
    conn: &mut Conn,
    ns: &Namespace,
    revision_id: RevisionId,
) -> Result<Option<LinePlace>, StoreError> {
    let place: Option<(Option<i64>, Option<i32>)> = sqlx::query_as(
        "select line_of, line_index from artifact_revision where namespace = $1 and revision_id = $2",
    )
    .bind(ns.as_str())
    .bind(revision_id.0)
    .fetch_optional(conn)
    .await?;
    Ok(place.and_then(|(of, index)| Some(LinePlace { of: of?, index: index? })))
}
