//! Questions about many things: what several conversations say comes before what one says at length.

use std::collections::HashMap;

use super::{ArtifactScore, ArtifactSignals, KEPT_UP_TO};

/// What a turn keeps for each turn of its conversation that ranks before it. The order hardly depends on it; see docs/benchmarks.md.
const KEPT_SHARE: f32 = 0.9;

/// Lowers the scores of the second, third … best turn of a conversation, so that no conversation has all the first places.
/// What is no turn stays as it is.
pub fn spread_over_conversations(scores: &mut [ArtifactScore], found: &[ArtifactSignals<'_>]) {
    let mut order: Vec<usize> = (0..scores.len().min(found.len())).collect();
    order.sort_by(|a, b| scores[*b].score.total_cmp(&scores[*a].score));
    let mut before: HashMap<&str, i32> = HashMap::new();
    for at in order {
        let Some((conversation, _)) = found[at].turn else { continue };
        let count = before.entry(conversation).or_default();
        let score = scores[at].score;
        if *count > 0 && score > KEPT_UP_TO {
            let lowered = (score * KEPT_SHARE.powi(*count)).max(KEPT_UP_TO);
            scores[at] = scores[at].lowered(lowered / score);
        }
        *count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::Asking;
    use super::*;

    fn turn(conversation: Option<&str>) -> ArtifactSignals<'_> {
        ArtifactSignals {
            score: 0.5,
            sureness: 1.0,
            passages: 1,
            turn: conversation.map(|conversation| (conversation, 1)),
            by_assistant: false,
            by_named: false,
            asking: Asking::Nothing,
            time: 0.0,
            age_days: 0.0,
            importance: 0.5,
        }
    }

    fn spread(given: &[(Option<&str>, f32)]) -> Vec<f32> {
        let found: Vec<ArtifactSignals<'_>> = given.iter().map(|(of, _)| turn(*of)).collect();
        let score = |score| ArtifactScore { score, passage: score, ..ArtifactScore::default() };
        let mut scores: Vec<ArtifactScore> = given.iter().map(|(_, own)| score(*own)).collect();
        spread_over_conversations(&mut scores, &found);
        assert!(scores.iter().all(|it| (it.passage - it.score).abs() < 1e-6), "the parts add up: {scores:?}");
        scores.iter().map(|score| score.score).collect()
    }

    #[test]
    fn another_conversation_comes_before_the_third_turn_of_one() {
        let scores = spread(&[(Some("a"), 0.8), (Some("a"), 0.79), (Some("a"), 0.78), (Some("b"), 0.7)]);
        assert!(scores[0] > scores[1] && scores[1] > scores[3] && scores[3] > scores[2], "{scores:?}");
        assert!((scores[0] - 0.8).abs() < 1e-6 && (scores[3] - 0.7).abs() < 1e-6);
    }

    #[test]
    fn documents_and_what_is_shown_by_default_stay_where_they_are() {
        let scores =
            spread(&[(None, 0.8), (None, 0.7), (Some("a"), 0.4), (Some("a"), 0.16), (Some("a"), 0.1)]);
        assert_eq!(scores[..3], [0.8, 0.7, 0.4]);
        assert!(scores[3] >= 0.15 && (scores[4] - 0.1).abs() < 1e-6, "{scores:?}");
    }
}
