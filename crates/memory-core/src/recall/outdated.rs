//! Newer texts before older ones that are like them, where it is asked how things are: facts change, and the text that says so is
//! seldom as near to the question as the one that it outdates.

use memory_language::tense::Tense;

use super::ArtifactScore;

/// Cosine similarities between which two texts are more and more taken to be about the same.
const ALIKE: (f32, f32) = (0.5, 0.8);
/// A newer text counts where it scores at least this share of the older one.
const COMPETES_FROM: f32 = 0.5;
/// What is newer than one of so many of the best gains by its likeness to it, if it is one of so many that are most like it.
const SUCCEEDED: usize = 2;
const SUCCESSORS: usize = 2;
/// The cosine similarity up to which it gains nothing.
const UNLIKE: f32 = 0.3;
/// What it gains at most, as a share of the score of the older one, in units of the weight of newness.
const GAIN: f32 = 2.7;
/// How much newness counts where it is asked what happened, as a share of what it counts where it is asked how things are.
const SHARE_OF_PAST: f32 = 0.25;

/// What an old text loses at most, as a share of its score, by when the question is.
pub fn weight_of_newness(tense: Tense, weight: f32) -> f32 {
    match tense {
        Tense::Present => weight,
        Tense::Past => weight * SHARE_OF_PAST,
        Tense::Before => 0.0,
    }
}

/// Lowers each of the scores by a share of up to `weight` for the most similar of the newer texts that compete with it.
/// `is_newer` says whether the first was written after the second, `likeness` their cosine similarity, where that is known.
pub fn lower_outdated(
    scores: &mut [ArtifactScore],
    is_newer: impl Fn(usize, usize) -> bool,
    likeness: impl Fn(usize, usize) -> Option<f32>,
    weight: f32,
) {
    let before: Vec<f32> = scores.iter().map(|score| score.score).collect();
    for (old, score) in scores.iter_mut().enumerate() {
        let competing = (0..before.len())
            .filter(|new| before[*new] >= COMPETES_FROM * before[old] && is_newer(*new, old));
        let alike = competing.filter_map(|new| likeness(new, old)).fold(0.0, f32::max);
        let share = ((alike - ALIKE.0) / (ALIKE.1 - ALIKE.0)).clamp(0.0, 1.0);
        *score = score.aged_by(weight * share);
    }
}

/// Raises what is most like one of the best and newer by a share of that one's score, the more alike both are. What would score more
/// than the best did comes as much nearer to 1 instead.
pub fn raise_newer(
    scores: &mut [ArtifactScore],
    is_newer: impl Fn(usize, usize) -> bool,
    likeness: impl Fn(usize, usize) -> Option<f32>,
    weight: f32,
) {
    let before: Vec<f32> = scores.iter().map(|score| score.score).collect();
    let mut best: Vec<usize> = (0..before.len()).collect();
    best.sort_by(|a, b| before[*b].total_cmp(&before[*a]));
    let Some(most) = best.first().map(|best| before[*best]) else { return };
    best.truncate(SUCCEEDED);
    let mut gains = vec![0.0_f32; before.len()];
    for old in best {
        let newer = (0..before.len()).filter(|new| is_newer(*new, old));
        let mut alike: Vec<(f32, usize)> = newer.filter_map(|new| Some((likeness(new, old)?, new))).collect();
        alike.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (likeness, new) in alike.into_iter().take(SUCCESSORS) {
            gains[new] = gains[new].max(before[old] * (likeness - UNLIKE));
        }
    }
    for (score, gain) in scores.iter_mut().zip(gains) {
        *score = score.renewed_to(bounded(score.score + weight * GAIN * gain, most));
    }
}

/// What is above `most` nearer to it, so that nothing comes to 1.
fn bounded(score: f32, most: f32) -> f32 {
    let (above, room) = (score - most, (1.0 - most).max(0.0));
    if above <= 0.0 { score } else { most + above * room / (room + above) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scores, days and all likenesses of texts; the scores after that.
    fn lowered<const N: usize>(given: [(f32, i32); N], likeness: f32) -> [f32; N] {
        let mut scores =
            given.map(|(score, _)| ArtifactScore { score, passage: score, ..Default::default() });
        let days = given.map(|(_, day)| day);
        lower_outdated(&mut scores, |a, b| days[a] > days[b], |_, _| Some(likeness), 0.3);
        assert!(scores.iter().all(|it| (it.passage + it.age - it.score).abs() < 1e-6), "{scores:?}");
        scores.map(|score| score.score)
    }

    #[test]
    fn an_older_text_loses_to_a_newer_one_like_it() {
        let keeps = |given: [(f32, i32); 2], likeness| {
            lowered(given, likeness)
                .iter()
                .zip(given)
                .all(|(after, (before, _))| (after - before).abs() < 1e-6)
        };
        assert!(lowered([(0.9, 1), (0.7, 2)], 0.8)[0] < 0.7);
        assert!(keeps([(0.9, 1), (0.7, 2)], 0.3), "it is of something else");
        assert!(keeps([(0.9, 1), (0.4, 2)], 0.8), "it hardly answers");
        assert!(keeps([(0.9, 2), (0.7, 2)], 0.8), "of one day");
        let some = lowered([(0.9, 1), (0.7, 2)], 0.6)[0];
        assert!(some < 0.9 && some > 0.7, "the more alike, the more: {some}");
        assert!(lowered([(0.16, 1), (0.9, 2)], 0.9)[0] >= 0.15, "what is shown by default stays so");
    }

    #[test]
    fn what_is_newer_than_the_best_gains_by_its_likeness() {
        let raised = |given: [(f32, i32); 3], likeness| {
            let mut scores =
                given.map(|(score, _)| ArtifactScore { score, passage: score, ..Default::default() });
            let days = given.map(|(_, day)| day);
            raise_newer(&mut scores, |a, b| days[a] > days[b], |_, _| Some(likeness), 0.3);
            assert!(scores.iter().all(|it| (it.passage + it.age - it.score).abs() < 1e-6), "{scores:?}");
            scores.map(|score| score.score)
        };
        let [old, new, older] = raised([(0.8, 2), (0.6, 3), (0.5, 1)], 0.7);
        assert_eq!((old, older), (0.8, 0.5), "nothing older gains");
        assert!(new > old && new < 1.0, "{new}");
        assert!(raised([(0.8, 2), (0.6, 3), (0.5, 1)], 0.5)[1] < 0.8, "they are less alike");
        let unlike = raised([(0.8, 2), (0.6, 3), (0.5, 1)], 0.3)[1];
        assert!((unlike - 0.6).abs() < 1e-6, "they are not alike: {unlike}");
        let [_, first, second] = raised([(0.95, 1), (0.94, 2), (0.93, 2)], 1.0);
        assert!(first < 1.0 && second < first, "their order stays below 1: {first}, {second}");
    }

    #[test]
    fn it_counts_less_for_what_happened_and_not_for_what_was_before() {
        let weights = [Tense::Present, Tense::Past, Tense::Before].map(|tense| weight_of_newness(tense, 0.4));
        assert!(weights[0] > weights[1] && weights[1] > weights[2] && weights[2] <= 0.0);
    }
}
