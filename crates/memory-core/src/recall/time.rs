//! What a date does to the order where the question is of what happened then: what belongs to that time comes before the
//! rest, the more so the surer it is that the question means it.

use memory_language::time::question::BELONGS_FROM;

use super::{ArtifactScore, KEPT_UP_TO};

/// What belonging to the time counts beside everything else, where the question is sure of it. With this, and with what is
/// near to the time fitting it by 0.15 at most, nothing outside comes before what was written at a time that is sure.
const SHARE: f32 = 0.6;

/// Raises what belongs to the time asked for and lowers the rest below it. `fits` says how well each fits that time, 0 to 1;
/// `certainty` how sure the time is. Where nothing belongs to it all stay as they are, and the answer is false.
pub fn decide_by_time(scores: &mut [&mut ArtifactScore], fits: &[f32], certainty: f32) -> bool {
    if !fits.iter().any(|fit| *fit >= BELONGS_FROM) {
        return false;
    }
    let share = SHARE * certainty.clamp(0.0, 1.0);
    for (score, fit) in scores.iter_mut().zip(fits) {
        let kept = if *fit >= BELONGS_FROM { 0.0 } else { KEPT_UP_TO };
        if *fit < BELONGS_FROM && score.score <= kept {
            continue;
        }
        let lowered = kept + (score.score - kept) * (1.0 - share);
        let factor = if score.score > 0.0 { lowered / score.score } else { 1.0 };
        **score = score.lowered(factor);
        score.time += share * fit;
        score.score += share * fit;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(score: f32) -> ArtifactScore {
        ArtifactScore { score, passage: score, scale: 1.0, ..ArtifactScore::default() }
    }

    fn decided(given: &[(f32, f32)], certainty: f32) -> (bool, Vec<ArtifactScore>) {
        let mut scores: Vec<ArtifactScore> = given.iter().map(|(own, _)| score(*own)).collect();
        let fits: Vec<f32> = given.iter().map(|(_, fit)| *fit).collect();
        let is_decided = decide_by_time(&mut scores.iter_mut().collect::<Vec<_>>(), &fits, certainty);
        (is_decided, scores)
    }

    #[test]
    fn a_sure_time_comes_before_everything_outside_it() {
        let (is_decided, scores) = decided(&[(0.0, 1.0), (1.0, 0.15), (1.0, 0.0)], 1.0);
        assert!(is_decided && scores[0].score > scores[1].score && scores[1].score > scores[2].score);
        assert!(scores.iter().all(|score| (0.0..=1.0).contains(&score.score)));
    }

    #[test]
    fn the_less_sure_a_time_is_the_less_it_moves() {
        let gap = |certainty| {
            let scores = decided(&[(0.3, 1.0), (0.6, 0.0)], certainty).1;
            scores[0].score - scores[1].score
        };
        assert!(gap(1.0) > gap(0.9) && gap(0.9) > gap(0.7) && gap(0.7) > 0.0 && gap(0.3) < 0.0);
    }

    #[test]
    fn without_anything_of_that_time_nothing_moves() {
        let (is_decided, scores) = decided(&[(0.3, 0.15), (0.6, 0.0)], 1.0);
        assert!(!is_decided && (scores[0], scores[1]) == (score(0.3), score(0.6)));
    }

    #[test]
    fn the_order_within_and_outside_the_time_stays_and_the_parts_add_up() {
        let (_, scores) =
            decided(&[(0.2, 1.0), (0.7, 1.0), (0.1, 0.0), (0.15, 0.0), (0.16, 0.0), (0.9, 0.0)], 0.9);
        assert!(scores[0].score < scores[1].score);
        assert!(scores[2..].is_sorted_by(|a, b| a.score < b.score), "{scores:?}");
        assert!(scores[3].score >= 0.15, "what is shown stays so");
        for score in &scores {
            assert!((score.passage + score.time - score.score).abs() < 1e-6, "{score:?}");
        }
    }
}
