//! What a default answer costs its reader, and what it shows for that.

use std::sync::Arc;

use futures::{StreamExt, TryStreamExt};
use memory_engine::Memory;
use memory_engine::recall::{RecallDraft, RecallRequest};
use remembrancer::{AnswerSize, answer_size};
use serde::Serialize;

use super::{ASKED_AT_ONCE, StoredQuestion};
use crate::metrics::score_at;

/// A default answer shows this many results.
const SHOWN_K: usize = 10;

/// What the default answers of all questions cost, and how much of the evidence is in them.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct AnswerCosts {
    pub tokens_mean: f64,
    pub tokens_p50: usize,
    pub tokens_p95: usize,
    pub tokens_max: usize,
    pub results_mean: f64,
    /// Share of questions with any of their evidence among the results shown.
    pub any: f64,
    /// Mean share of the evidence among the results shown.
    pub frac: f64,
    /// The lowest score of a component of evidence that was shown.
    pub evidence_score_min: f32,
    /// Below this one in a hundred components of evidence that were shown is scored.
    pub evidence_score_p1: f32,
}

/// An answer as it is sent, whether it shows any evidence, what share of it, and what that scores.
type Measured = (AnswerSize, f64, f64, Vec<f32>);

/// Asks everything as a client does that sets nothing.
pub(super) async fn default_answers(
    memory: &Arc<Memory>,
    questions: &[StoredQuestion<'_>],
) -> anyhow::Result<AnswerCosts> {
    let answers: Vec<Measured> = futures::stream::iter(questions)
        .map(|asked| async move {
            let query = Some(asked.question.question.clone());
            let request = RecallRequest::new(RecallDraft { query, ..RecallDraft::default() })?;
            let answer = memory.recall(asked.namespace, &request).await?;
            let mut ranked = asked.stored.ranked(&answer.results)?;
            let mut scores: Vec<f32> = answer.results.iter().map(|result| result.score).collect();
            let sent = answer_size(&request, answer)?;
            ranked.truncate(sent.results);
            scores.truncate(sent.results);
            let score = score_at(SHOWN_K, &ranked, &asked.gold);
            let of_evidence = ranked.iter().zip(scores).filter(|(unit, _)| asked.gold.contains(unit));
            anyhow::Ok((sent, score.any, score.frac, of_evidence.map(|(_, score)| score).collect()))
        })
        .buffered(ASKED_AT_ONCE)
        .try_collect()
        .await?;
    Ok(costs(&answers))
}

fn costs(answers: &[Measured]) -> AnswerCosts {
    let mean =
        |of: &dyn Fn(&Measured) -> f64| answers.iter().map(of).sum::<f64>() / answers.len().max(1) as f64;
    let mut tokens: Vec<usize> = answers.iter().map(|(sent, ..)| sent.tokens).collect();
    tokens.sort_unstable();
    let mut scores: Vec<f32> = answers.iter().flat_map(|(.., scores)| scores.iter().copied()).collect();
    scores.sort_by(f32::total_cmp);
    AnswerCosts {
        tokens_mean: mean(&|(sent, ..)| sent.tokens as f64),
        tokens_p50: nearest_rank(&tokens, 0.5),
        tokens_p95: nearest_rank(&tokens, 0.95),
        tokens_max: nearest_rank(&tokens, 1.0),
        results_mean: mean(&|(sent, ..)| sent.results as f64),
        any: mean(&|(_, any, ..)| *any),
        frac: mean(&|(_, _, frac, _)| *frac),
        evidence_score_min: nearest_rank(&scores, 0.0),
        evidence_score_p1: nearest_rank(&scores, 0.01),
    }
}

fn nearest_rank<T: Copy + Default>(sorted: &[T], share: f64) -> T {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied().unwrap_or_default()
}

impl AnswerCosts {
    /// For people.
    pub(super) fn line(&self) -> String {
        format!(
            "default answers: {:.0} tokens on average, p50 {}, p95 {}, at most {}; {:.1} results, any {:.1}, frac {:.1}; \
             evidence scored from {:.2} (p1 {:.2})",
            self.tokens_mean,
            self.tokens_p50,
            self.tokens_p95,
            self.tokens_max,
            self.results_mean,
            self.any * 100.0,
            self.frac * 100.0,
            self.evidence_score_min,
            self.evidence_score_p1,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_means_and_nearest_ranks() {
        let answer = |tokens, any, scores: &[f32]| {
            (AnswerSize { tokens, results: 2 }, any, any / 2.0, scores.to_vec())
        };
        let answers = [answer(100, 1.0, &[0.9, 0.4]), answer(300, 0.0, &[]), answer(200, 1.0, &[0.7])];
        let costs = costs(&answers);
        assert_eq!((costs.tokens_p50, costs.tokens_p95, costs.tokens_max), (200, 300, 300));
        assert!((costs.tokens_mean - 200.0).abs() < 1e-9 && (costs.frac - 1.0 / 3.0).abs() < 1e-9);
        assert!((costs.evidence_score_min - 0.4).abs() < 1e-6);
    }
}
