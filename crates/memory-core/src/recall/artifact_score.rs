//! The score of an artifact, from that of its best passage, its neighbours in the conversation and what is known of it.

use std::collections::HashMap;

use memory_language::asked_for::AskedFor;

use super::{ArmPlace, KEPT_UP_TO, RankingWeights};

/// How much a text loses for each e-fold of passages that it has: of many windows one is always near.
const LENGTH_PENALTY: f32 = 0.08;
/// Of more passages than these it loses no more: long documents answer too.
const LENGTH_COUNTED_MAX: usize = 8;
/// How many turns away a neighbour may be.
const NEIGHBOUR_REACH: i32 = 4;
/// Of what a question is worth its reply has so much at least.
const OF_QUESTION: f32 = 0.9;
/// What a text without an open task, or a decision, loses of its score where such are asked for.
const OF_ANOTHER_KIND: f32 = 0.35;
/// What an assistant's turns gain where a summary is asked for, as a share of what they lose where facts are.
const SUMMARY_GAIN: f32 = 0.25;
/// After so many days a text counts as half as recent.
const RECENCY_HALF_LIFE_DAYS: f32 = 365.0;

/// What a passage asks at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Asking {
    #[default]
    Nothing,
    /// It says something and asks what is thought of it: "I'd make the soup, pumpkin or pea?"
    Offer,
    /// The next turn replies to it.
    Question,
}

/// What an artifact is ranked by, beside its neighbours in the conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct ArtifactSignals<'a> {
    /// The joined score of its best passage.
    pub score: f32,
    /// What that was multiplied by, since the best found answers little.
    pub sureness: f32,
    /// How many passages it has.
    pub passages: usize,
    /// Conversation and number of the turn.
    pub turn: Option<(&'a str, i32)>,
    pub by_assistant: bool,
    /// Who said it is named in the question.
    pub by_named: bool,
    /// What its best passage ends with.
    pub asking: Asking,
    /// How well its date fits the question, 0 to 1, by how sure it is that the question means one.
    pub time: f32,
    pub age_days: f32,
    /// 0 to 1.
    pub importance: f32,
}

/// What an artifact's score is made of.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ArtifactScore {
    /// 0 to 1: the sum of the parts.
    pub score: f32,
    /// The share of its best passage, with `length` and `role` in it.
    pub passage: f32,
    /// What is taken off that share for the text's length; not above 0.
    pub length: f32,
    /// What is taken off that share, or added to it, since an assistant said it.
    pub role: f32,
    /// The share of itself or the best turn near it, and of itself or the best turn of its conversation; what it gains as the reply
    /// to a question.
    pub neighbourhood: f32,
    /// What is taken off since somebody else than those whom the question names said it; not above 0.
    pub speaker: f32,
    /// What is taken off since it asks something itself; not above 0.
    pub question: f32,
    /// Where it is asked how things are: what is taken off since a newer text like it was found, and what it gains since it is newer
    /// than one of the best that is like it.
    pub age: f32,
    /// What is taken off since open tasks, or decisions, are asked for and it has none; not above 0.
    pub kind: f32,
    pub time: f32,
    pub priors: f32,
    /// What it gains to rank before outdated texts of its place.
    pub place: f32,
    /// What it gains since it states what the user wants where something like the question is asked.
    pub directive: f32,
    /// What the reranker adds, where it has read the artifact's best passage.
    pub reranker: Option<ArmPlace>,
    /// What of its passage's joined score counts: `passage` is that score times this, `length` and `role`.
    pub scale: f32,
}

impl ArtifactScore {
    /// The same with a reranker's judgement in it, or without one where it has not read so far: both come to a scale on which
    /// what was not read never ranks before what was read and ranked before it.
    fn joined(self, judged: Option<ArmPlace>, weight: f32) -> Self {
        let left = self.lowered(1.0 - weight);
        Self { score: left.score + judged.map_or(0.0, |place| place.share), reranker: judged, ..left }
    }

    /// The same with all parts multiplied.
    #[must_use]
    pub fn lowered(mut self, factor: f32) -> Self {
        let parts = [
            &mut self.score,
            &mut self.passage,
            &mut self.length,
            &mut self.role,
            &mut self.neighbourhood,
            &mut self.speaker,
            &mut self.question,
            &mut self.age,
            &mut self.kind,
            &mut self.time,
            &mut self.priors,
            &mut self.place,
            &mut self.directive,
            &mut self.scale,
        ];
        for part in parts {
            *part *= factor;
        }
        if let Some(place) = &mut self.reranker {
            place.share *= factor;
        }
        self
    }

    /// The same with all parts multiplied, as far down as what is shown by default.
    #[must_use]
    pub fn lowered_while_shown(self, factor: f32) -> Self {
        if self.score <= KEPT_UP_TO {
            return self;
        }
        self.lowered((self.score * factor).max(KEPT_UP_TO) / self.score)
    }

    /// The same without this share of its score, since a newer text like it says how things are now. Scores up to what is
    /// shown by default stay.
    #[must_use]
    pub(super) fn aged_by(mut self, share: f32) -> Self {
        let loss = self.loss(share);
        self.age -= loss;
        self.score -= loss;
        self
    }

    /// The same with this score, since it is newer than what is like it.
    #[must_use]
    pub(super) fn renewed_to(mut self, score: f32) -> Self {
        self.age += score - self.score;
        self.score = score;
        self
    }

    /// The same without a share of its score, since it has no event of the kind that is asked for. Scores up to what is shown by
    /// default stay.
    #[must_use]
    pub fn of_another_kind(mut self) -> Self {
        let loss = self.loss(OF_ANOTHER_KIND);
        self.kind -= loss;
        self.score -= loss;
        self
    }

    fn loss(&self, share: f32) -> f32 {
        (self.score * share).min((self.score - KEPT_UP_TO).max(0.0))
    }

    /// The same with at least this score.
    #[must_use]
    pub fn raised_to(mut self, score: f32) -> Self {
        if score > self.score {
            self.place += score - self.score;
            self.score = score;
        }
        self
    }

    /// The same with at least this score, since it states what the user wants.
    #[must_use]
    pub fn raised_as_directive_to(mut self, score: f32) -> Self {
        let gain = (score - self.score).max(0.0);
        self.directive += gain;
        self.score += gain;
        self
    }
}

/// Joins a reranker's judgements, 0 to 1, of the first of these scores, best first, with all of them.
pub fn join_reranked(scores: &mut [ArtifactScore], judged: &[f32], weight: f32) {
    let mut order: Vec<usize> = (0..judged.len()).collect();
    order.sort_by(|a, b| judged[*b].total_cmp(&judged[*a]));
    let mut places = vec![None; scores.len().max(judged.len())];
    for (rank, n) in order.into_iter().enumerate() {
        let score = judged[n];
        places[n] = Some(ArmPlace { rank: rank + 1, score, share: weight * score });
    }
    for (score, place) in scores.iter_mut().zip(places) {
        *score = score.joined(place, weight);
    }
}

/// The scores of artifacts from those of their best passages. A text of many passages loses a little, and so does what an
/// assistant said, unless that is `asked_for`; each gets a share of the best of itself and the turns near it, so that what is
/// talked about at length ranks before a chance hit, where long turns speak for their neighbours less than short ones, and
/// another of the best of its conversation. A turn that asks says less than one that answers, which is worth nearly as much as the
/// question before it, and where the question names who speaks, what others say counts less. Dates, recency and importance move
/// what is nearly equal.
pub fn score_artifacts(
    found: &[ArtifactSignals<'_>],
    asked_for: AskedFor,
    weights: &RankingWeights,
) -> Vec<ArtifactScore> {
    let length = |f: &ArtifactSignals<'_>| {
        -(LENGTH_PENALTY * f.sureness * (f.passages.clamp(1, LENGTH_COUNTED_MAX) as f32).ln()).min(f.score)
    };
    let role = |f: &ArtifactSignals<'_>| {
        let left = f.score + length(f);
        match asked_for {
            _ if !f.by_assistant || f.turn.is_none() => 0.0,
            AskedFor::Facts => -(weights.role * f.sureness).min(left),
            AskedFor::Answers => 0.0,
            AskedFor::Summary => (weights.role * f.sureness * SUMMARY_GAIN).min(1.0 - left),
        }
    };
    let own: Vec<f32> = found.iter().map(|f| f.score + length(f) + role(f)).collect();
    let lent = lent_by_turns(found, &own);
    let as_replies = lent_to_replies(found, &own);
    let names_speaker = found.iter().any(|f| f.turn.is_some() && f.by_named);
    let time_weight = if found.iter().any(|f| f.time > 0.0) { weights.time } else { 0.0 };
    let prior_weight = weights.recency + weights.importance;
    let whole = 1.0 + time_weight + prior_weight;
    found
        .iter()
        .zip(own.iter().zip(lent).zip(as_replies))
        .map(|(found, ((own, lent), as_reply))| {
            let recency = (-found.age_days.max(0.0) / RECENCY_HALF_LIFE_DAYS).exp2();
            let priors = (weights.recency * recency + weights.importance * found.importance) / whole;
            let scale = 1.0 / (1.0 + weights.neighbourhood + weights.conversation) / whole;
            let passage = own * scale;
            let neighbourhood =
                (as_reply + weights.neighbourhood * lent.near + weights.conversation * lent.conversation)
                    * scale;
            let time = time_weight * found.time / whole;
            let before = passage + neighbourhood + time + priors;
            let loss = |counts: bool, weight: f32, before: f32| {
                let most = (before - KEPT_UP_TO).max(0.0);
                if counts && found.turn.is_some() {
                    -(weight * found.sureness / whole).min(most)
                } else {
                    0.0
                }
            };
            let speaker = loss(names_speaker && !found.by_named, weights.speaker, before);
            let question = loss(found.asking != Asking::Nothing, weights.question, before + speaker);
            ArtifactScore {
                score: before + speaker + question,
                passage,
                length: length(found) * scale,
                role: role(found) * scale,
                neighbourhood,
                speaker,
                question,
                age: 0.0,
                kind: 0.0,
                time,
                priors,
                place: 0.0,
                directive: 0.0,
                reranker: None,
                scale,
            }
        })
        .collect()
}

/// What each gains as the turn after a question: whoever asks the same is answered by what was said then, in whatever words.
fn lent_to_replies(found: &[ArtifactSignals<'_>], own: &[f32]) -> Vec<f32> {
    let mut questions: HashMap<(&str, i32), f32> = HashMap::new();
    for (found, own) in found.iter().zip(own).filter(|(found, _)| found.asking == Asking::Question) {
        if let Some(turn) = found.turn {
            let best = questions.entry(turn).or_default();
            *best = best.max(*own);
        }
    }
    let gained = |(found, own): (&ArtifactSignals<'_>, &f32)| {
        let turn = found.turn.filter(|_| found.asking == Asking::Nothing);
        let question = turn.and_then(|(conversation, at)| questions.get(&(conversation, at.checked_sub(1)?)));
        question.map_or(0.0, |question| (OF_QUESTION * question - own).max(0.0))
    };
    found.iter().zip(own).map(gained).collect()
}

/// What a text has of the texts around it: at least its own.
struct Lent {
    near: f32,
    conversation: f32,
}

/// Of each, from the scores that they have by themselves.
fn lent_by_turns(found: &[ArtifactSignals<'_>], own: &[f32]) -> Vec<Lent> {
    let mut turns: HashMap<(&str, i32), f32> = HashMap::new();
    let mut conversations: HashMap<&str, f32> = HashMap::new();
    for (found, own) in found.iter().zip(own) {
        if let Some(turn) = found.turn {
            let lent = own / (found.passages.max(1) as f32).sqrt();
            let best = turns.entry(turn).or_default();
            *best = best.max(lent);
            let best = conversations.entry(turn.0).or_default();
            *best = best.max(lent);
        }
    }
    let near = |(conversation, at): (&str, i32)| {
        let places = at.saturating_sub(NEIGHBOUR_REACH)..=at.saturating_add(NEIGHBOUR_REACH);
        places.filter_map(|place| turns.get(&(conversation, place))).copied().fold(0.0, f32::max)
    };
    let lent = |(found, own): (&ArtifactSignals<'_>, &f32)| Lent {
        near: found.turn.map_or(*own, |turn| near(turn).max(*own)),
        conversation: found
            .turn
            .and_then(|(name, _)| conversations.get(name))
            .map_or(*own, |best| best.max(*own)),
    };
    found.iter().zip(own).map(lent).collect()
}
