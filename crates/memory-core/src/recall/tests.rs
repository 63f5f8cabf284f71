use super::*;
use memory_language::asked_for::AskedFor;

fn evidence(key: i32, vector: Option<f32>, lexical: Option<f32>, late: Option<f32>) -> Evidence<i32> {
    Evidence { key, vector, lexical, late, coverage: 1.0 }
}

fn joined(evidence: &[Evidence<i32>]) -> Vec<Fused<i32>> {
    fuse(evidence, &RankingWeights::DEFAULT)
}

fn keys(fused: &[Fused<i32>]) -> Vec<i32> {
    fused.iter().map(|f| f.key).collect()
}

#[test]
fn a_hit_that_all_arms_like_stands_before_a_hit_of_one() {
    let fused = joined(&[
        evidence(1, Some(0.9), Some(0.0), Some(0.3)),
        evidence(2, Some(0.8), Some(7.0), Some(0.6)),
        evidence(3, Some(0.1), Some(1.0), Some(0.2)),
    ]);
    assert_eq!(keys(&fused), [2, 1, 3]);
    assert_eq!(fused[0].vector.unwrap().rank, 2);
    assert_eq!(fused[0].lexical.unwrap().rank, 1);
    let shares = [fused[0].vector, fused[0].lexical, fused[0].late].map(|place| place.unwrap().share);
    assert!((shares.iter().sum::<f32>() - fused[0].score).abs() < 1e-6);
    assert!(fused.iter().all(|f| (0.0..=1.0).contains(&f.score)));
}

#[test]
fn a_score_tells_whether_anything_answers() {
    let found = |late: f32, coverage: f32, others: i32| {
        let best = Evidence { coverage, ..evidence(0, Some(0.3), None, Some(late)) };
        let other = |key| Evidence { coverage: 0.0, ..evidence(key, Some(0.0), None, Some(0.01)) };
        let all: Vec<_> = std::iter::once(best).chain((1..=others).map(other)).collect();
        joined(&all)[0].clone()
    };
    let (answer, nothing) = (found(0.6, 1.0, 1), found(0.12, 0.1, 1));
    assert!(answer.score > 0.99 && nothing.score < 0.46, "{answer:?} {nothing:?}");
    assert!(nothing.chance.unwrap() < ANSWERS_CHANCE_MIN);
    // What is near in meaning may answer in other words.
    let near = [(0, 0.5, 0.12), (1, 0.0, 0.01)];
    let near = near.map(|(key, vector, late)| Evidence {
        coverage: 0.0,
        ..evidence(key, Some(vector), None, Some(late))
    });
    assert_eq!(joined(&near)[0].chance, Some(ANSWERS_CHANCE_MIN));
    // Among many some are always near.
    assert!(found(0.35, 0.3, 200).chance.unwrap() < 0.3 && found(0.35, 0.3, 1).chance.unwrap() > 0.5);
}

#[test]
fn an_arm_that_says_nothing_takes_nothing_away() {
    let fused = joined(&[evidence(1, Some(0.9), None, None), evidence(2, Some(0.5), None, None)]);
    assert!((fused[0].score - 1.0).abs() < 1e-6);
    let fused = joined(&[evidence(1, Some(0.5), Some(0.0), None), evidence(2, Some(0.9), Some(0.0), None)]);
    assert!((fused[0].score - 1.0).abs() < 1e-6 && fused[0].key == 2, "no word was met: {fused:?}");
    assert!(fuse::<u8>(&[], &RankingWeights::DEFAULT).is_empty());
}

#[test]
fn a_passage_that_alone_has_the_words_stands_first_before_it_has_a_vector() {
    let compared = [0.3, 0.2, 0.1].map(|late| evidence(1, Some(late), Some(0.0), Some(late)));
    for (n, late) in [0.15, 0.25, 0.35].into_iter().enumerate() {
        let mut all = compared.to_vec();
        all[0].late = Some(late);
        all.push(evidence(2, None, Some(9.0), None));
        let fused = joined(&all);
        assert_eq!(fused[0].key, 2, "{n}: {fused:?}");
        // One that has only some of the words is not taken for an answer.
        all[3].coverage = 0.2;
        let fused = joined(&all);
        let score = fused.iter().find(|f| f.key == 2).unwrap().score;
        assert!(score < 0.2, "{n}: {fused:?}");
    }
}

#[test]
fn a_passage_without_a_vector_yet_is_judged_by_its_words() {
    let fused = joined(&[
        evidence(1, Some(0.4), Some(2.0), Some(0.4)),
        evidence(2, None, Some(9.0), None),
        evidence(3, Some(0.9), Some(9.0), Some(0.9)),
        evidence(4, Some(0.2), Some(0.0), Some(0.1)),
    ]);
    assert_eq!(keys(&fused), [3, 2, 1, 4]);
}

fn signals(score: f32, turn: Option<(&str, i32)>) -> ArtifactSignals<'_> {
    ArtifactSignals {
        score,
        sureness: 1.0,
        passages: 1,
        turn,
        by_assistant: false,
        by_named: false,
        asking: Asking::Nothing,
        time: 0.0,
        age_days: 0.0,
        importance: 0.5,
    }
}

#[test]
fn turns_near_each_other_support_each_other_and_what_stands_alone_is_not_held_back() {
    let found = [
        signals(0.8, Some(("a", 1))),
        signals(0.7, Some(("a", 5))),
        signals(0.75, Some(("a", 20))),
        signals(0.75, Some(("b", 2))),
        signals(0.8, None),
    ];
    let scores = score_artifacts(&found, AskedFor::Facts, &RankingWeights::DEFAULT);
    let score: Vec<f32> = scores.iter().map(|s| s.score).collect();
    assert!(score[1] > 0.7 && score[1] < score[0], "it is near a better one: {score:?}");
    assert!(score[2] > score[3], "its conversation has a better one: {score:?}");
    assert!((score[0] - score[4]).abs() < 1e-6, "{score:?}");
    let without = score_artifacts(
        &found,
        AskedFor::Facts,
        &RankingWeights {
            neighbourhood: 0.0,
            conversation: 0.0,
            recency: 0.0,
            importance: 0.0,
            ..RankingWeights::DEFAULT
        },
    );
    assert!((without[1].score - 0.7).abs() < 1e-6, "{without:?}");
}

#[test]
fn long_texts_dates_recency_and_importance_move_what_is_nearly_equal() {
    let alone = signals(0.8, None);
    let better = [
        ArtifactSignals { passages: 20, ..alone.clone() },
        ArtifactSignals { age_days: 900.0, ..alone.clone() },
        ArtifactSignals { importance: 0.1, ..alone.clone() },
    ];
    for worse in better {
        let scores = score_artifacts(&[alone.clone(), worse], AskedFor::Facts, &RankingWeights::DEFAULT);
        assert!(scores[0].score > scores[1].score && scores[1].score > 0.5, "{scores:?}");
    }
    let scores = score_artifacts(
        &[ArtifactSignals { time: 1.0, ..alone.clone() }, alone],
        AskedFor::Facts,
        &RankingWeights::DEFAULT,
    );
    assert!(scores[0].score > scores[1].score);
    assert!(
        (scores[0].passage + scores[0].neighbourhood + scores[0].time + scores[0].priors - scores[0].score)
            .abs()
            < 1e-6
    );
}

#[test]
fn a_reranker_orders_what_it_has_read_and_the_rest_stays_behind() {
    let found = [signals(0.9, None), signals(0.8, None), signals(0.7, None), signals(0.1, None)];
    let before = score_artifacts(&found, AskedFor::Facts, &RankingWeights::DEFAULT);
    let mut after = before.clone();
    join_reranked(&mut after, &[0.0, 0.9, 0.1], RankingWeights::DEFAULT.reranker);
    let score: Vec<f32> = after.iter().map(|s| s.score).collect();
    assert!(score[1] > score[2] && score[2] > score[0] && score[0] > score[3], "{score:?}");
    assert!(score.iter().all(|s| (0.0..=1.0).contains(s)), "{score:?}");
    let place = after[1].reranker.unwrap();
    assert_eq!((place.rank, place.score), (1, 0.9));
    for s in &after {
        let shares =
            s.passage + s.place + s.neighbourhood + s.time + s.priors + s.reranker.map_or(0.0, |r| r.share);
        assert!((shares - s.score).abs() < 1e-6, "{s:?}");
    }
    assert!(after[3].reranker.is_none());
}

#[test]
fn ties_stand_in_the_order_of_their_keys() {
    let equal = |key| evidence(key, Some(1.0), None, None);
    assert_eq!(keys(&joined(&[equal(9), equal(3), equal(5)])), [3, 5, 9]);
}

#[test]
fn rare_terms_weigh_more_than_common_ones_and_long_passages_less() {
    let stats = CorpusStats { passages: 1000.0, mean_length: 50.0 };
    assert!(idf(stats, 2.0) > idf(stats, 500.0));
    assert!(idf(stats, 1000.0) > 0.0);
    assert!(bm25(stats, 1.0, 1.0, 20.0) > bm25(stats, 1.0, 1.0, 200.0));
    assert!(bm25(stats, 1.0, 9.0, 50.0) < 9.0 * bm25(stats, 1.0, 1.0, 50.0));
}

#[test]
fn the_parts_of_a_score_add_up_to_it_whatever_becomes_of_it() {
    let found = [
        ArtifactSignals { passages: 40, time: 0.5, ..signals(0.9, Some(("a", 1))) },
        ArtifactSignals { passages: 9, ..signals(0.02, None) },
        ArtifactSignals { passages: 2, by_assistant: true, by_named: true, ..signals(0.9, Some(("a", 2))) },
        ArtifactSignals { passages: 2, asking: Asking::Offer, ..signals(0.17, Some(("b", 2))) },
    ];
    let scores = score_artifacts(&found, AskedFor::Facts, &RankingWeights::DEFAULT);
    for (found, score) in found.iter().zip(scores) {
        for score in [score, score.lowered(0.4), score.raised_to(0.97), score.raised_to(0.95).lowered(0.5)] {
            let conversation = score.neighbourhood + score.speaker + score.question + score.age;
            let parts = score.passage + conversation + score.time + score.priors + score.place - score.score;
            assert!(parts.abs() < 1e-6, "{score:?}");
            assert!(score.length < 0.0 && score.passage >= 0.0, "{score:?}");
        }
        assert!(
            (found.score * score.scale + score.length + score.role - score.passage).abs() < 1e-6,
            "{score:?}"
        );
    }
}

#[test]
fn what_an_assistant_said_stands_behind_what_its_user_said_unless_it_is_asked_for() {
    let said = |by_assistant| ArtifactSignals { by_assistant, ..signals(0.8, Some(("a", 1))) };
    let note = ArtifactSignals { by_assistant: true, ..signals(0.8, None) };
    let found = [said(false), ArtifactSignals { turn: Some(("b", 1)), ..said(true) }, note];
    let score = |asked_for| {
        let scores = score_artifacts(&found, asked_for, &RankingWeights::DEFAULT);
        assert!((scores[0].score - scores[2].score).abs() < 1e-6, "only turns of a conversation: {scores:?}");
        scores[1].score - scores[0].score
    };
    assert!(score(AskedFor::Facts) < -0.1);
    assert!(score(AskedFor::Answers).abs() < 1e-6);
    assert!(score(AskedFor::Summary) > 0.0);
}

#[test]
fn a_long_answer_lends_its_question_less_than_a_short_one() {
    let beside = |passages| {
        let answer = ArtifactSignals { passages, ..signals(0.9, Some(("a", 2))) };
        score_artifacts(&[signals(0.3, Some(("a", 1))), answer], AskedFor::Answers, &RankingWeights::DEFAULT)
            [0]
        .score
    };
    assert!(beside(1) > beside(4) && beside(4) > beside(30));
    assert!((beside(30) - beside(60)).abs() < 1e-6, "no less than by itself");
}

#[test]
fn the_turn_after_a_question_is_worth_nearly_as_much_and_stands_before_it() {
    let question = ArtifactSignals { asking: Asking::Question, ..signals(0.9, Some(("a", 1))) };
    let score = |found: &[ArtifactSignals<'_>]| {
        let scores = score_artifacts(found, AskedFor::Facts, &RankingWeights::DEFAULT);
        scores.iter().map(|it| it.score).collect::<Vec<_>>()
    };
    let beside = |reply: ArtifactSignals<'_>| score(&[question.clone(), reply]);
    let reply = beside(signals(0.3, Some(("a", 2))));
    assert!(reply[1] > reply[0], "{reply:?}");
    let later = beside(signals(0.3, Some(("a", 3))));
    assert!(later[1] < later[0], "{later:?}");
    let asks_too = beside(ArtifactSignals { asking: Asking::Offer, ..signals(0.3, Some(("a", 2))) });
    assert!(asks_too[1] < asks_too[0], "{asks_too:?}");
    let elsewhere = beside(signals(0.3, Some(("b", 2))));
    assert!(elsewhere[1] < elsewhere[0], "{elsewhere:?}");
    let offer = ArtifactSignals { asking: Asking::Offer, ..question.clone() };
    let offered = score(&[offer, signals(0.3, Some(("a", 2)))]);
    assert!(offered[1] < offered[0], "{offered:?}");
    let better = beside(signals(0.95, Some(("a", 2))));
    assert!((better[1] - score(&[signals(0.95, Some(("a", 2)))])[0]).abs() < 1e-6, "{better:?}");
}

#[test]
fn a_passage_without_a_vector_that_has_as_many_of_the_words_as_any_ranks_with_those_that_answer() {
    let mut all: Vec<Evidence<i32>> = (1..60)
        .map(|key| Evidence { coverage: 0.3, ..evidence(key, Some(0.5), Some(2.0), Some(0.4)) })
        .collect();
    all.push(Evidence { coverage: 0.4, ..evidence(99, None, Some(7.0), None) });
    assert_eq!(joined(&all)[0].key, 99);
    all[59].coverage = 0.1;
    assert!(joined(&all)[0].key != 99, "with fewer of the words it waits for its vector");
}

#[test]
fn of_turns_what_answers_comes_before_what_asks_and_who_is_named_before_others() {
    let turn = |conversation| signals(0.8, Some((conversation, 1)));
    let scores = |found: &[ArtifactSignals<'_>]| {
        let scores = score_artifacts(found, AskedFor::Facts, &RankingWeights::DEFAULT);
        scores.iter().map(|it| it.score).collect::<Vec<_>>()
    };
    let asking = ArtifactSignals { asking: Asking::Offer, ..turn("a") };
    let score = scores(&[turn("b"), asking.clone(), ArtifactSignals { turn: None, ..asking }]);
    assert!(score[0] > score[1] + 0.05 && (score[0] - score[2]).abs() < 1e-6, "{score:?}");
    let named = ArtifactSignals { by_named: true, ..turn("a") };
    let score = scores(&[named.clone(), turn("b"), signals(0.8, None)]);
    assert!(score[0] > score[1] + 0.05 && (score[0] - score[2]).abs() < 1e-6, "{score:?}");
    let score = scores(&[ArtifactSignals { turn: None, ..named }, turn("b")]);
    assert!((score[0] - score[1]).abs() < 1e-6, "a note says nothing of who else speaks: {score:?}");
    // What is shown by default is shown here too.
    let low = ArtifactSignals { asking: Asking::Offer, ..signals(0.17, Some(("b", 2))) };
    assert!(scores(&[low])[0] >= 0.15);
}
