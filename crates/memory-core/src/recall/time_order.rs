//! The latest or the first of what happened several times.

use memory_language::time_order::TimeOrder;

use super::{ArtifactScore, KEPT_UP_TO};

/// What tells of the same thing is alike: how much the mean likeness to the best found counts beside a score.
const LIKENESS: f32 = 1.5;
/// How many of the best the others are compared with.
const LEADING: usize = 5;
/// With at least this share of the best score a text may be the one that is asked for, by itself and with its likeness.
const ANSWERS_FROM: f32 = 0.4;
const COMPETES_FROM: f32 = 0.6;
/// What standing last, or first, in time counts beside everything else, as a share of the best score.
const SHARE: f32 = 0.5;

/// What a plan keeps where the latest of what happened is asked for.
const KEPT_OF_PLANS: f32 = 0.7;

/// What a text tells of.
#[derive(Debug, Clone, Copy)]
pub struct Occurrence<Moment> {
    /// When it happened.
    pub moment: Moment,
    /// It has not happened yet.
    pub is_plan: bool,
}

/// Raises the later of what competes, or the earlier, with what is alike the best of it. `likeness` gives the cosine similarity of
/// two texts, where that is known. Scores are of texts, best first; the best score stays as
/// high as it was, and scores up to what is shown by default stay as they are. Gives what the others of the ranking are to be lowered by.
pub fn rank_in_time_order<Moment: Copy + Ord>(
    scores: &mut [ArtifactScore],
    told: &[Occurrence<Moment>],
    likeness: impl Fn(usize, usize) -> Option<f32>,
    order: TimeOrder,
) -> f32 {
    let Some(most) = scores.first().map(|score| score.score).filter(|most| *most > KEPT_UP_TO) else {
        return 1.0;
    };
    // What is far behind the best is no other instance of it.
    let answering = scores.iter().take_while(|score| score.score >= ANSWERS_FROM * most).count();
    let alike: Vec<Option<f32>> =
        (0..answering).map(|at| likeness_to_leading(&scores[..answering], at, &likeness)).collect();
    // What has no vector yet is as like them as the best of the others.
    let unknown = alike.iter().flatten().copied().fold(0.0, f32::max);
    let mut raised: Vec<f32> = scores.iter().map(|score| score.score).collect();
    for (raised, alike) in raised.iter_mut().zip(&alike) {
        *raised += LIKENESS * alike.unwrap_or(unknown);
    }
    if order == TimeOrder::LatestFirst {
        let plans = raised.iter_mut().zip(told).filter(|(_, told)| told.is_plan);
        plans.for_each(|(raised, _)| *raised *= KEPT_OF_PLANS);
    }
    let best = raised.iter().copied().fold(0.0, f32::max);
    let competes: Vec<bool> = raised
        .iter()
        .enumerate()
        .map(|(at, raised)| at < answering && *raised >= COMPETES_FROM * best)
        .collect();
    let mut when: Vec<Moment> = told.iter().zip(&competes).filter(|it| *it.1).map(|it| it.0.moment).collect();
    when.sort_unstable();
    when.dedup();
    // Of one time there is no last and no first.
    if when.len() < 2 {
        return 1.0;
    }
    for (at, raised) in raised.iter_mut().enumerate().filter(|(at, _)| competes[*at]) {
        let earlier = when.partition_point(|moment| *moment < told[at].moment);
        let place = match order {
            TimeOrder::LatestFirst => earlier,
            TimeOrder::EarliestFirst => when.len() - 1 - earlier,
        };
        *raised += SHARE * best * place as f32 / (when.len() - 1) as f32;
    }
    let scale = most / raised.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    for (score, raised) in scores.iter_mut().zip(raised).filter(|(score, _)| score.score > KEPT_UP_TO) {
        let gain = (raised - score.score) * scale;
        let total = (raised * scale).max(KEPT_UP_TO);
        *score = score.lowered(scale);
        score.time += gain + (total - raised * scale);
        score.score = total;
    }
    scale
}

/// The mean likeness to the best of the others, weighed by their scores; `None` where none is known.
fn likeness_to_leading(
    scores: &[ArtifactScore],
    at: usize,
    likeness: &impl Fn(usize, usize) -> Option<f32>,
) -> Option<f32> {
    let leading = (0..scores.len().min(LEADING)).filter(|other| *other != at);
    let known = leading.filter_map(|other| Some((likeness(at, other)?, scores[other].score)));
    let (sum, weight) =
        known.fold((0.0, 0.0), |(sum, all), (alike, score)| (sum + alike * score, all + score));
    (weight > 0.0).then(|| sum / weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The day of what has not happened.
    const PLAN: i32 = 99;

    fn ranked(
        given: &[(f32, i32)],
        order: TimeOrder,
        likeness: impl Fn(usize, usize) -> Option<f32>,
    ) -> Vec<f32> {
        let mut scores: Vec<ArtifactScore> = given
            .iter()
            .map(|(score, _)| ArtifactScore {
                score: *score,
                passage: *score,
                scale: 1.0,
                ..Default::default()
            })
            .collect();
        let told: Vec<Occurrence<i32>> =
            given.iter().map(|(_, day)| Occurrence { moment: *day, is_plan: *day == PLAN }).collect();
        let lowered = rank_in_time_order(&mut scores, &told, likeness, order);
        assert!((0.0..=1.0).contains(&lowered), "{lowered}");
        assert!(
            scores.iter().all(|it| (it.passage + it.time - it.score).abs() < 1e-5),
            "the parts add up: {scores:?}"
        );
        scores.iter().map(|score| score.score).collect()
    }

    #[test]
    fn the_latest_or_the_first_of_equals_leads() {
        let given = [(0.8, 3), (0.75, 9), (0.7, 1)];
        let latest = ranked(&given, TimeOrder::LatestFirst, |_, _| None);
        assert!(
            latest[1] > latest[0] && latest[0] > latest[2] && (latest[1] - 0.8).abs() < 1e-6,
            "{latest:?}"
        );
        let first = ranked(&given, TimeOrder::EarliestFirst, |_, _| None);
        assert!(first[2] > first[0] && first[0] > first[1], "{first:?}");
    }

    #[test]
    fn what_hardly_answers_is_not_raised_and_what_is_shown_stays_so() {
        let scores = ranked(&[(0.9, 1), (0.3, 9), (0.16, 8), (0.1, 7)], TimeOrder::LatestFirst, |_, _| None);
        assert!(scores[0] > scores[1] && scores[2] >= 0.15 && (scores[3] - 0.1).abs() < 1e-6, "{scores:?}");
        assert_eq!(ranked(&[(0.1, 1), (0.1, 2)], TimeOrder::LatestFirst, |_, _| None), [0.1, 0.1]);
        assert_eq!(ranked(&[], TimeOrder::LatestFirst, |_, _| None), [0.0; 0]);
        let of_one_time = ranked(&[(0.9, 1), (0.8, 1)], TimeOrder::LatestFirst, |_, _| Some(0.9));
        assert_eq!(of_one_time, [0.9, 0.8]);
    }

    #[test]
    fn what_answers_alone_stays_first_and_what_waits_for_its_vector_loses_nothing() {
        let alike = |a: usize, b: usize| (a > 0 && b > 0).then_some(0.9);
        let scores = ranked(&[(0.9, 1), (0.3, 8), (0.3, 9)], TimeOrder::LatestFirst, alike);
        assert!(scores[0] > scores[1] && scores[0] > scores[2], "{scores:?}");
        let scores = ranked(&[(0.9, 9), (0.8, 7), (0.8, 8)], TimeOrder::LatestFirst, alike);
        assert!(scores[0] > scores[1] && scores[0] > scores[2], "{scores:?}");
    }

    #[test]
    fn a_plan_is_not_the_latest_of_what_happened() {
        let given = [(0.8, 3), (0.75, 9), (0.75, PLAN)];
        let scores = ranked(&given, TimeOrder::LatestFirst, |_, _| Some(0.5));
        assert!(scores[1] > scores[2] && scores[1] > scores[0], "{scores:?}");
    }

    #[test]
    fn what_is_like_the_best_comes_before_what_only_shares_words() {
        // The first three are of one thing, the fourth is of another, and later.
        let alike = |a: usize, b: usize| Some(if a < 3 && b < 3 { 0.7 } else { 0.05 });
        let scores = ranked(&[(0.8, 1), (0.6, 5), (0.5, 8), (0.7, 9)], TimeOrder::LatestFirst, alike);
        assert!(scores[2] > scores[0] && scores[2] > scores[3], "{scores:?}");
    }
}
