//! Newer texts before older ones that are like them, where it is asked how things are: facts change, and the text that says so is
//! seldom as near to the question as the one that it outdates.

use memory_language::tense::Tense;

use super::ArtifactScore;

/// Cosine similarities between which two texts are more and more taken to be about the same.
const ALIKE: (f32, f32) = (0.5, 0.8);
/// A newer text counts where it scores at least this share of the older one.
const COMPETES_FROM: f32 = 0.5;
/// What is newer than one of so many of the best gains by its likeness to it, if it is one of so many that gain most.
const SUCCEEDED: usize = 2;
const SUCCESSORS: usize = 2;
/// The cosine similarity up to which it gains nothing.
const UNLIKE: f32 = 0.3;
/// What it gains, as a share of the score of the older one, in units of the weight of newness and of the similarity above that.
const GAIN: f32 = 2.1;
/// The same where its words tell of a change.
const GAIN_OF_CHANGE: f32 = 5.3;
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

/// A text that is newer than one of the best and like it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Succession {
    pub old: usize,
    pub new: usize,
    /// By how much the cosine similarity is above that of texts of different things.
    alike: f32,
}

/// Which texts are newer than one of the best two and like it.
pub fn successions(
    scores: &[ArtifactScore],
    is_newer: impl Fn(usize, usize) -> bool,
    likeness: impl Fn(usize, usize) -> Option<f32>,
) -> Vec<Succession> {
    let mut best: Vec<usize> = (0..scores.len()).collect();
    best.sort_by(|a, b| scores[*b].score.total_cmp(&scores[*a].score));
    best.truncate(SUCCEEDED);
    let of =
        |old: usize| (0..scores.len()).map(move |new| (old, new)).filter(|(old, new)| is_newer(*new, *old));
    let all = best.into_iter().flat_map(of);
    let alike =
        all.filter_map(|(old, new)| Some(Succession { old, new, alike: likeness(new, old)? - UNLIKE }));
    alike.filter(|it| it.alike > 0.0).collect()
}

/// Raises those that succeed one of the best by a share of that one's score, the more alike both are, and more where it tells of a
/// change; of each of the best the two that gain most. What would score more than the best did comes as much nearer to 1 instead.
pub fn raise_newer(
    scores: &mut [ArtifactScore],
    successions: &[Succession],
    tells_change: impl Fn(usize) -> bool,
    weight: f32,
) {
    let Some(most) = scores.iter().map(|score| score.score).max_by(f32::total_cmp) else { return };
    let gain = |it: &Succession| {
        let gain = if tells_change(it.new) { GAIN_OF_CHANGE } else { GAIN };
        (scores[it.old].score * it.alike * gain, it.new)
    };
    let mut gains = vec![0.0_f32; scores.len()];
    for of_one in successions.chunk_by(|a, b| a.old == b.old) {
        let mut each: Vec<(f32, usize)> = of_one.iter().map(gain).collect();
        each.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (gain, new) in each.into_iter().take(SUCCESSORS) {
            gains[new] = gains[new].max(gain);
        }
    }
    for (score, gain) in scores.iter_mut().zip(gains) {
        *score = score.renewed_to(bounded(score.score + weight * gain, most));
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

    /// Scores, days and all likenesses of texts, and whether they tell of a change; the scores after that.
    fn raised<const N: usize>(given: [(f32, i32, bool); N], likeness: f32) -> [f32; N] {
        let mut scores =
            given.map(|(score, ..)| ArtifactScore { score, passage: score, ..Default::default() });
        let succeeding = successions(&scores, |a, b| given[a].1 > given[b].1, |_, _| Some(likeness));
        raise_newer(&mut scores, &succeeding, |at| given[at].2, 0.3);
        assert!(scores.iter().all(|it| (it.passage + it.age - it.score).abs() < 1e-6), "{scores:?}");
        scores.map(|score| score.score)
    }

    #[test]
    fn what_is_newer_than_the_best_gains_by_its_likeness() {
        let [old, new, older] = raised([(0.8, 2, false), (0.7, 3, false), (0.5, 1, true)], 0.7);
        assert!((old - 0.8).abs() < 1e-6 && (older - 0.5).abs() < 1e-6, "nothing older gains");
        assert!(new > old && new < 1.0, "{new}");
        assert!(raised([(0.8, 2, false), (0.7, 3, false)], 0.4)[1] < 0.8, "they are less alike");
        let unlike = raised([(0.8, 2, false), (0.6, 3, true)], 0.3)[1];
        assert!((unlike - 0.6).abs() < 1e-6, "they are not alike: {unlike}");
        let [_, first, second] = raised([(0.95, 1, false), (0.94, 2, true), (0.93, 2, true)], 1.0);
        assert!(first < 1.0 && second < first, "their order stays below 1: {first}, {second}");
    }

    #[test]
    fn what_tells_of_a_change_gains_more() {
        let [old, plain, change] = raised([(0.8, 1, false), (0.6, 2, false), (0.5, 2, true)], 0.6);
        assert!(plain < old && change > old, "{old} {plain} {change}");
        let [_, first, second, third] =
            raised([(0.8, 1, false), (0.3, 2, false), (0.3, 3, true), (0.3, 4, true)], 0.6);
        assert!((first - 0.3).abs() < 1e-6, "only two gain: {first}");
        assert!(second > 0.5 && third > 0.5);
    }

    #[test]
    fn it_counts_less_for_what_happened_and_not_for_what_was_before() {
        let weights = [Tense::Present, Tense::Past, Tense::Before].map(|tense| weight_of_newness(tense, 0.4));
        assert!(weights[0] > weights[1] && weights[1] > weights[2] && weights[2] <= 0.0);
    }
}
