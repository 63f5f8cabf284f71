//! What stands around a hit, the support that turns give each other, and late interaction.

use memory_core::recall::RankingWeights;
use memory_engine::recall::{RecallDraft, RecallRequest};
use memory_engine::{EngineSettings, Memory};
use memory_store::Store;
use memory_tests::{Fixture, turn};

use crate::shorthand::{forget, ids, light, long_text, query};
use crate::stand_ins::line_reader;

fn with_neighbours(text: &str, neighbours: i64) -> RecallDraft {
    RecallDraft { neighbours: Some(neighbours), ..query(text) }
}

#[tokio::test]
async fn a_turn_comes_with_the_turns_before_and_after_it_where_they_are_wanted() {
    let f = light(line_reader()).await;
    for (index, author, text) in [
        (2, "Ann", "Is the pump repaired?"),
        (4, "Bob", "The giraffe is ill."),
        (7, "Ann", "Call the doctor."),
        (9, "Bob", "Done."),
    ] {
        f.remember_as(turn("zoo", index, author, text)).await;
    }
    f.remember_as(turn("other", 5, "Cleo", "Nothing here.")).await;
    let hit = f.recall_as(with_neighbours("giraffe", 1)).await.results.remove(0);
    let around: Vec<_> = hit
        .neighbours
        .iter()
        .map(|n| (n.is_before, n.turn_index, n.author.as_deref(), n.text.as_str()))
        .collect();
    assert_eq!(
        around,
        [
            (true, Some(2), Some("Ann"), "Is the pump repaired?"),
            (false, Some(7), Some("Ann"), "Call the doctor.")
        ]
    );
    assert_eq!(f.recall_as(with_neighbours("giraffe", 5)).await.results[0].neighbours.len(), 3);
    assert!(f.recall_as(query("giraffe")).await.results[0].neighbours.is_empty());
    let error = RecallRequest::new(with_neighbours("giraffe", 6)).expect_err("it is refused").to_string();
    assert!(error.contains("neighbours 6") && error.contains("0 to 5"), "{error}");
}

#[tokio::test]
async fn a_passage_of_a_long_text_comes_with_what_adjoins_it_and_nothing_twice() {
    let f = light(line_reader()).await;
    let text = long_text(200);
    f.remember(&text).await;
    let hit = f.recall_as(with_neighbours("section 100 pump 700", 1)).await.results.remove(0);
    let [before, after] = &hit.neighbours[..] else { panic!("{:?}", hit.neighbours) };
    assert!(before.is_before && !after.is_before);
    let chars: Vec<char> = text.chars().collect();
    let from = after.start_char as usize;
    let between = &chars[hit.hit.span.end..from];
    assert!(between.len() < 4 && between.iter().all(|c| c.is_whitespace()), "it goes on where the hit ends");
    let shown: String = chars[from..from + after.text.chars().count()].iter().collect();
    assert_eq!(after.text, shown);
    let end: String = chars[..hit.hit.span.start].iter().collect();
    assert!(end.trim_end().ends_with(&before.text), "what stands before ends where the hit begins");
}

#[tokio::test]
async fn a_turn_amid_others_that_answer_stands_before_a_chance_hit() {
    let f = Fixture::without_model(line_reader()).await;
    f.remember_as(turn("a", 1, "Ann", "The giraffe eats leaves.")).await;
    f.remember_as(turn("a", 2, "Bob", "A giraffe sleeps little and eats much.")).await;
    f.remember_as(turn("b", 1, "Cleo", "I saw a giraffe on my tie.")).await;
    let request = RecallRequest::new(query("what does a giraffe eat")).expect("a request");
    let answer = f.memory.recall(&f.ns, &request).await.expect("an answer");
    assert_eq!(answer.results[2].hit.conversation_id.as_deref(), Some("b"));
    let score = |answer: &memory_engine::recall::Recall, conversation: &str| {
        let of =
            |r: &&memory_engine::recall::Recalled| r.hit.conversation_id.as_deref() == Some(conversation);
        answer.results.iter().filter(of).map(|r| r.score).fold(0.0, f32::max)
    };
    let weights = RankingWeights { neighbourhood: 0.0, conversation: 0.0, ..RankingWeights::DEFAULT };
    let store = Store::open(&f.url, 4).await.expect("the database opens");
    let alone = Memory::new(store, line_reader(), EngineSettings { weights, ..EngineSettings::default() });
    let without = alone.recall(&f.ns, &request).await.expect("an answer");
    let (with_gap, without_gap) =
        (score(&answer, "a") - score(&answer, "b"), score(&without, "a") - score(&without, "b"));
    assert!(with_gap >= without_gap - 1e-6, "{with_gap} {without_gap}");
}

#[tokio::test]
async fn the_states_of_tokens_are_kept_beside_the_vector_and_go_with_the_text() {
    let f = Fixture::new().await;
    let id = f.remember("The heating was repaired by a plumber on Monday.").await.id;
    f.remember("Our cat sleeps on the sofa all day.").await;
    f.remember("Invoices are paid within thirty days.").await;
    let bytes = f.count("select sum(octet_length(states)) from passage_tokens").await;
    assert!(bytes % 48 == 0 && bytes > 20 * 48, "{bytes}");
    let answer = f.recall_as(query("Who fixed the radiators?")).await;
    assert_eq!(ids(&answer)[0], id);
    let explained = answer.results[0].explanation.expect("an explanation");
    let late = explained.late.expect("late interaction");
    assert!(late.rank == 1 && late.score > 0.2 && late.share > 0.2, "{late:?}");
    let parts = [
        explained.artifact.passage,
        explained.artifact.neighbourhood,
        explained.artifact.time,
        explained.artifact.priors,
    ];
    assert!((parts.iter().sum::<f32>() - answer.results[0].score).abs() < 1e-5, "{explained:?}");
    forget(&f, &id).await;
    assert_eq!(f.count("select count(*) from passage_tokens").await, 2);
}

#[tokio::test]
async fn a_date_that_the_question_means_moves_what_is_nearly_equal() {
    let f = light(line_reader()).await;
    let mut stored = Vec::new();
    for date in ["2023-03-04", "2023-07-15", "2023-11-20"] {
        let draft = crate::shorthand::dated(
            date,
            &format!("We met the board of the museum, {} minutes.", stored.len() + 30),
        );
        stored.push(f.remember_as(draft).await.id);
    }
    let first = async |text: &str| ids(&f.recall_as(query(text)).await)[0].clone();
    assert_eq!(first("when we met the board of the museum in July 2023").await, stored[1]);
    assert_eq!(first("when we met the board of the museum in March 2023").await, stored[0]);
    let important = memory_core::artifact::Draft {
        importance: Some(1.0),
        ..crate::shorthand::dated("2023-11-20", "We met the board of the museum, 39 minutes.")
    };
    let important = f.remember_as(important).await.id;
    assert_eq!(first("met the board of the museum").await, important);
}
