//! Remembering a conversation, and knowing its parts again among results.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use anyhow::{Context, anyhow};
use futures::{StreamExt, TryStreamExt};
use indicatif::ProgressBar;
use memory_core::artifact::Draft;
use memory_core::id::Namespace;
use memory_engine::Memory;
use memory_engine::recall::Recalled;

use super::{Given, Level};
use crate::conversations::{Conversation, Turn};
use crate::session_date::session_date;

/// Sessions remembered at the same time; the turns of one follow each other, as they were said.
const SESSIONS_AT_ONCE: usize = 4;

/// The parts of a conversation that were remembered, numbered from 0.
pub(super) struct Stored {
    /// The part that a turn is or lies in, by the turn's id.
    unit_of_turn: HashMap<String, usize>,
    /// The part at a place: an artifact, and for a turn its position.
    unit_at: HashMap<Place, usize>,
    units: usize,
}

type Place = (String, Option<(String, i32)>);

impl Stored {
    pub(super) fn units(&self) -> usize {
        self.units
    }

    pub(super) fn unit_of(&self, turn: &str) -> Option<usize> {
        self.unit_of_turn.get(turn).copied()
    }

    /// The parts that have this text, at any place.
    pub(super) fn units_of<'a>(&'a self, artifact_id: &'a str) -> impl Iterator<Item = usize> + 'a {
        self.unit_at.iter().filter(move |((artifact, _), _)| artifact == artifact_id).map(|(_, unit)| *unit)
    }

    /// Which parts the results are, in their order.
    pub(super) fn ranked(&self, results: &[Recalled]) -> anyhow::Result<Vec<usize>> {
        let unit = |result: &Recalled| {
            let hit = &result.hit;
            let place = (hit.artifact_id.0.clone(), hit.conversation_id.clone().zip(hit.turn_index));
            self.unit_at
                .get(&place)
                .copied()
                .ok_or_else(|| anyhow!("a result, {}, is none of the remembered texts", hit.artifact_id.0))
        };
        results.iter().map(unit).collect()
    }
}

/// Remembers the turns, or the sessions, of a conversation.
pub(super) async fn store(
    memory: &Arc<Memory>,
    ns: &Namespace,
    conversation: &Conversation,
    (level, given): (Level, Given),
    bar: &ProgressBar,
) -> anyhow::Result<Stored> {
    let mut sessions: BTreeMap<i64, Vec<&Turn>> = BTreeMap::new();
    for turn in &conversation.turns {
        sessions.entry(turn.session).or_default().push(turn);
    }
    let parts = match level {
        Level::Turn => conversation.turns.len(),
        Level::Session => sessions.len(),
    };
    bar.inc_length(parts as u64);
    // Both are (the turns' ids, what is remembered); one list a session.
    let drafts = sessions
        .into_iter()
        .map(|(session, turns)| match level {
            Level::Turn => {
                let name = format!("{} session {session}", conversation.id);
                turns.iter().enumerate().map(|(n, turn)| turn_draft(&name, n, turn, given)).collect()
            }
            Level::Session => Ok(vec![session_draft(&turns)?]),
        })
        .collect::<anyhow::Result<Vec<Vec<(Vec<String>, Draft)>>>>()?;
    let remembered: Vec<Vec<(Vec<String>, Place)>> = futures::stream::iter(drafts)
        .map(|drafts| {
            let task = tokio::spawn(remember_in_order(Arc::clone(memory), ns.clone(), drafts, bar.clone()));
            async move { task.await? }
        })
        .buffered(if given.has_conversation() { SESSIONS_AT_ONCE } else { 1 })
        .try_collect()
        .await?;
    let mut stored = Stored { unit_of_turn: HashMap::new(), unit_at: HashMap::new(), units: 0 };
    for (ids, place) in remembered.into_iter().flatten() {
        // Two sessions with the same text are one artifact.
        let unit = *stored.unit_at.entry(place).or_insert(stored.units);
        stored.units = stored.units.max(unit + 1);
        stored.unit_of_turn.extend(ids.into_iter().map(|id| (id, unit)));
    }
    Ok(stored)
}

async fn remember_in_order(
    memory: Arc<Memory>,
    ns: Namespace,
    drafts: Vec<(Vec<String>, Draft)>,
    bar: ProgressBar,
) -> anyhow::Result<Vec<(Vec<String>, Place)>> {
    let mut places = Vec::new();
    for (ids, draft) in drafts {
        let turn = draft.conversation_id.clone().zip(draft.turn_index.map(|n| n as i32));
        let kept = memory
            .remember(&ns, draft)
            .await
            .with_context(|| format!("turn '{}'", ids.first().map_or("", String::as_str)))?;
        places.push((ids, (kept.id.0, turn)));
        bar.inc(1);
    }
    Ok(places)
}

fn turn_draft(
    conversation: &str,
    index: usize,
    turn: &Turn,
    given: Given,
) -> anyhow::Result<(Vec<String>, Draft)> {
    // Of a chat with an assistant the speakers are named by their roles.
    let role = ["user", "assistant", "system"].into_iter().find(|role| *role == turn.speaker);
    let date = session_date(&turn.date)?;
    let labelled = format!("{}: {}", turn.speaker, turn.text);
    let mut draft = Draft { content: turn.text.clone(), ..Draft::default() };
    match given {
        Given::Content => draft.content = labelled,
        Given::DatedContent => {
            draft.content = format!("[{}] {labelled}", date.replace('T', " ").trim_end_matches('Z'));
        }
        _ => {}
    }
    if given.has_author() {
        draft.author = Some(turn.speaker.clone());
        draft.role = role.map(str::to_owned);
    }
    if given.has_date() {
        draft.date = Some(date);
    }
    if given.has_conversation() {
        draft.context = Some("conversation".to_owned());
        draft.conversation_id = Some(conversation.to_owned());
        draft.turn_index = Some(index as i64);
    }
    Ok((vec![turn.id.clone()], draft))
}

fn session_draft(turns: &[&Turn]) -> anyhow::Result<(Vec<String>, Draft)> {
    let lines: Vec<String> = turns.iter().map(|turn| format!("{}: {}", turn.speaker, turn.text)).collect();
    let date = turns.first().map(|turn| session_date(&turn.date)).transpose()?;
    let draft =
        Draft { content: lines.join("\n"), context: Some("transcript".to_owned()), date, ..Draft::default() };
    Ok((turns.iter().map(|turn| turn.id.clone()).collect(), draft))
}
