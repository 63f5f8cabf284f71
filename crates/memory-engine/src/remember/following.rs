//! The turn or line after a place, rendered again when another text is before it.

use memory_core::artifact::{Metadata, NewArtifact};
use memory_core::id::{Namespace, RevisionId};
use memory_core::render::PreviousTurn;
use memory_core::spoken::LinePlace;
use memory_language::lexicon::lexeme_counts;
use memory_store::passages::{self, FollowingTurn};
use memory_store::{Tx, talks};

use crate::EngineError;

/// What the turn after this one is rendered with.
pub(super) fn as_previous(new: &NewArtifact, meta: &Metadata) -> PreviousTurn {
    let speaker = meta.speaker().map(str::to_owned);
    PreviousTurn { speaker, text: new.content.chars().take(400).collect() }
}

/// Counts the words of the turn after a place again, now that another text (or none) is before it.
pub(crate) async fn render_following_turn(
    tx: &mut Tx,
    ns: &Namespace,
    conversation_id: &str,
    turn_index: i32,
    previous: Option<PreviousTurn>,
) -> Result<Option<RevisionId>, EngineError> {
    match passages::following_turn(tx, ns, conversation_id, turn_index).await? {
        Some(turn) => render_again(tx, ns, turn, previous).await,
        None => Ok(None),
    }
}

/// The same of the line after a place in a talk whose line was forgotten.
pub(crate) async fn render_following_line(
    tx: &mut Tx,
    ns: &Namespace,
    place: LinePlace,
) -> Result<(), EngineError> {
    if let Some(line) = passages::following_line(tx, ns, place).await? {
        let previous = talks::previous_line(tx, ns, place).await?;
        render_again(tx, ns, line, previous).await?;
    }
    Ok(())
}

/// Indexes a stored turn anew with the words of the one before it; gives its revision, none where it is gone.
async fn render_again(
    tx: &mut Tx,
    ns: &Namespace,
    turn: FollowingTurn,
    previous: Option<PreviousTurn>,
) -> Result<Option<RevisionId>, EngineError> {
    let Some((mut surroundings, _)) = passages::surroundings(tx, ns, turn.revision_id).await? else {
        return Ok(None);
    };
    surroundings.previous = previous;
    let lexemes = lexeme_counts(&surroundings.words_of(&turn.text, true));
    passages::rewrite_lex(tx, ns, turn.passage_id, &lexemes).await?;
    Ok(Some(turn.revision_id))
}
