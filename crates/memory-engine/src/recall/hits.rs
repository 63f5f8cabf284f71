//! Candidates to hits: what is known of each is joined to one score, and each content at each place is shown by its best passage.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use jiff::Timestamp;
use memory_core::id::{PassageId, RevisionId};
use memory_core::recall::{
    ArtifactScore, ArtifactSignals, Asking, Fused, RankingWeights, score_artifacts, spread_over_conversations,
};
use memory_language::asked_for::{asked_for, asks_for_questions};
use memory_language::named::NamingWords;
use memory_language::time::question::QuestionTime;
use memory_store::search::{Candidate, Owner};

use super::Explanation;
use super::ranking::Ranked;

/// A candidate with its joined score.
pub(super) struct Scored {
    pub(super) candidate: Candidate,
    pub(super) fused: Fused<PassageId>,
}

/// The best passage of each content at each place, best first.
pub(super) fn choose(
    scored: &[Scored],
    (query, is_spread): (&str, bool),
    time: Option<&QuestionTime>,
    now: Timestamp,
    weights: &RankingWeights,
) -> Vec<Ranked> {
    let mut seen = HashSet::new();
    let best: Vec<&Scored> = scored
        .iter()
        .filter(|scored| hit_of(&scored.candidate).is_some_and(|hit| seen.insert(hit)))
        .collect();
    let names = NamingWords::of(query);
    let mut signals: Vec<ArtifactSignals<'_>> =
        best.iter().filter_map(|scored| signals_of(scored, &names, time, now)).collect();
    if asks_for_questions(query) {
        for signals in &mut signals {
            signals.asking = Asking::Nothing;
        }
    }
    let mut scores = score_artifacts(&signals, asked_for(query), weights);
    if is_spread {
        spread_over_conversations(&mut scores, &signals);
    }
    let mut chosen: Vec<Ranked> =
        best.iter().zip(scores).filter_map(|(scored, artifact)| ranked(scored, artifact)).collect();
    // A stable sort: equals stay in the order of their passages.
    chosen.sort_by(|a, b| b.score.total_cmp(&a.score));
    chosen
}

fn ranked(Scored { candidate, fused }: &Scored, artifact: ArtifactScore) -> Option<Ranked> {
    let explanation = Explanation {
        vector: fused.vector,
        lexical: fused.lexical,
        late: fused.late,
        sureness: fused.sureness,
        artifact,
    };
    explained(candidate, explanation)
}

/// A passage that no arm has found.
pub(super) fn found_otherwise(candidate: &Candidate, artifact: ArtifactScore) -> Option<Ranked> {
    explained(candidate, Explanation { vector: None, lexical: None, late: None, sureness: 1.0, artifact })
}

fn explained(candidate: &Candidate, explanation: Explanation) -> Option<Ranked> {
    let Owner::Revision { revision_id, is_latest, place, .. } = &candidate.owner else { return None };
    Some(Ranked {
        passage_id: candidate.passage_id,
        revision_id: *revision_id,
        score: explanation.artifact.score,
        explanation,
        is_latest: *is_latest,
        place: hashed(place),
        hit: hit_of(candidate)?,
    })
}

/// Has what stands at a place now score no less than the outdated texts of the place, and puts it before them.
pub(super) fn lead_their_places(ranked: &mut [Ranked]) {
    let mut outdated: HashMap<u64, f32> = HashMap::new();
    for old in ranked.iter().filter(|ranked| !ranked.is_latest) {
        let best = outdated.entry(old.place).or_insert(old.score);
        *best = best.max(old.score);
    }
    if outdated.is_empty() {
        return;
    }
    for current in ranked.iter_mut().filter(|ranked| ranked.is_latest) {
        if let Some(best) = outdated.get(&current.place) {
            current.explanation.artifact = current.explanation.artifact.raised_to(*best);
            current.score = current.explanation.artifact.score;
        }
    }
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.is_latest.cmp(&a.is_latest)));
}

/// What is one hit, hashed: a content at a place.
pub(super) fn hit_of(candidate: &Candidate) -> Option<u64> {
    match &candidate.owner {
        Owner::Revision { place, artifact_id, .. } => Some(hashed(&(place, &artifact_id.0))),
        Owner::Observation(_) => None,
    }
}

/// The same in one process only.
fn hashed(what: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

fn signals_of<'a>(
    scored: &'a Scored,
    names: &NamingWords,
    window: Option<&QuestionTime>,
    now: Timestamp,
) -> Option<ArtifactSignals<'a>> {
    let Owner::Revision {
        date, importance, turn, by_assistant, speaker, asks, is_question, passages, ..
    } = &scored.candidate.owner
    else {
        return None;
    };
    // Words say no more of a long text than of a short one.
    let is_compared = scored.fused.vector.is_some() || scored.fused.late.is_some();
    Some(ArtifactSignals {
        score: scored.fused.score,
        sureness: scored.fused.sureness,
        by_assistant: *by_assistant,
        by_named: speaker.as_ref().is_some_and(|speaker| names.name(speaker)),
        asking: match (asks, is_question) {
            (false, _) => Asking::Nothing,
            (true, false) => Asking::Offer,
            (true, true) => Asking::Question,
        },
        passages: if is_compared { usize::try_from(*passages).unwrap_or(1) } else { 1 },
        turn: turn.as_ref().map(|(conversation, turn)| (conversation.as_str(), *turn)),
        time: window.map_or(0.0, |window| window.certainty() * window.closeness(*date)),
        age_days: now.duration_since(*date).as_secs_f32() / 86_400.0,
        importance: *importance,
    })
}

pub(super) fn age(candidate: &Candidate) -> Option<(bool, RevisionId)> {
    match &candidate.owner {
        Owner::Revision { is_latest, revision_id, .. } => Some((*is_latest, *revision_id)),
        Owner::Observation(_) => None,
    }
}
