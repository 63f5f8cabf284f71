//! Texts that say themselves who speaks, stored one after the other (`memory_core::spoken`).

use jiff::Timestamp;
use memory_core::artifact::NewArtifact;
use memory_core::id::{Namespace, RevisionId};
use memory_core::render::PreviousTurn;
use memory_core::spoken::{Line, LinePlace, LineTime, place_after};
use memory_store::{Conn, talks};

use crate::{EngineError, Memory};

/// A text that says itself who speaks, among those that were stored before it.
pub(crate) struct SpokenLine<'t> {
    pub(crate) speaker: &'t str,
    pub(crate) place: LinePlace,
    pub(crate) previous: Option<PreviousTurn>,
}

/// Where a text that says itself who speaks goes on with what was stored before, and what that is.
pub(crate) async fn line_of<'t>(
    conn: &mut Conn,
    ns: &Namespace,
    new: &'t NewArtifact,
    stored: Timestamp,
) -> Result<Option<SpokenLine<'t>>, EngineError> {
    let Some(line) = Line::of(&new.content, &new.meta) else { return Ok(None) };
    let recent = talks::recent_lines(conn, ns, new.meta.source.as_deref()).await?;
    let place = place_after(&recent, line, LineTime { stored, date: new.meta.date });
    let previous = talks::previous_line(conn, ns, place).await?;
    Ok(Some(SpokenLine { speaker: line.speaker, place, previous }))
}

impl Memory {
    /// The line before one that is stored, where it is one.
    pub(crate) async fn line_before(
        &self,
        ns: &Namespace,
        revision_id: RevisionId,
    ) -> Result<Option<PreviousTurn>, EngineError> {
        let mut conn = self.store.acquire(ns).await?;
        let previous = match talks::line_place(&mut conn, ns, revision_id).await? {
            Some(place) => talks::previous_line(&mut conn, ns, place).await?,
            None => None,
        };
        conn.done();
        Ok(previous)
    }
}
