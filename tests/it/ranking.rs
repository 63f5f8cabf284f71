//! What comes first: long texts and short ones, older and newer, what waits, and what answers nothing.

use std::fmt::Write;
use std::time::Duration;

use memory_core::id::ArtifactId;
use memory_engine::recall::{Recall, RecallDraft, RecallRequest};
use memory_store::jobs;
use memory_tests::{Fixture, at_once, turn};

use crate::shorthand::{dated, execute, ids, light, light_sibling, page, query, store};
use crate::stand_ins::line_reader;

/// The line that the guide names.
const UNLIKELY_BELOW: f32 = 0.48;

/// Notes that have much in common.
pub(crate) async fn have_notes(f: &Fixture, count: usize) {
    let things = ["zebra", "lighthouse keeper", "storm over the sea", "harbour wall"];
    for n in 0..count {
        let text = format!(
            "Note {n} on the {}, {}{}with wind.",
            things[n % things.len()],
            "stripes ".repeat(n % 7),
            format!("hill{} ", n % 13).repeat(n % 5)
        );
        f.remember(&text).await;
    }
}

pub(crate) fn asked(text: &str, limit: i64, cursor: Option<String>) -> RecallDraft {
    RecallDraft { limit: Some(limit), cursor, expand: Some(false), ..query(text) }
}

pub(crate) fn scores(answer: &Recall) -> Vec<f32> {
    answer.results.iter().map(|result| result.score).collect()
}

/// Lines of a log that all have the words.
fn log(lines: usize) -> String {
    (0..lines).fold(String::new(), |mut log, n| {
        let _ = writeln!(
            log,
            "{:02}:{:02} the coffee machine on floor {} was cleaned.",
            n / 60 % 24,
            n % 60,
            n % 9
        );
        log
    })
}

#[tokio::test]
async fn one_long_text_does_not_crowd_out_short_ones() {
    let f = Fixture::with_extractor(line_reader()).await;
    f.remember(&log(1_500)).await;
    f.drain().await;
    let mut short = Vec::new();
    for text in [
        "Lease for the coffee machine is 49 euros a month.",
        "Tom is on parental leave until May.",
        "The printer is out of toner.",
        "The board met on Monday.",
        "Rain is expected at the weekend.",
        "Parking costs four euros an hour.",
    ] {
        short.push(f.remember(text).await.id);
    }
    let passages = f.count("select count(*) from passage").await;
    assert!(passages > 100, "{passages}");
    let found = ids(&f.recall_as(query("coffee machine")).await);
    assert!(found.len() == 7 && found[..2].contains(&short[0]), "{found:?}");
    for limit in [3, 5] {
        let found = f.recall_as(RecallDraft { limit: Some(limit), ..query("parental leave") }).await;
        assert_eq!(found.results.len(), limit as usize);
        assert_eq!(found.results[0].hit.artifact_id, short[1]);
    }
}

#[tokio::test]
async fn a_note_is_found_by_words_that_a_thousand_passages_of_one_text_have() {
    let f = Fixture::without_model(line_reader()).await;
    f.remember(&log(14_000)).await;
    let note = f.remember("Lease for the coffee machine is 49 euros a month.").await.id;
    let passages = f.count("select count(*) from passage").await;
    assert!(passages > 1_001, "{passages}");
    let found = ids(&f.recall_as(query("coffee machine")).await);
    assert!(found.len() == 2 && found.contains(&note), "{found:?}");
}

#[tokio::test]
async fn a_long_text_that_waits_for_its_vectors_is_found_first_by_its_rare_word_and_the_answer_says_that_it_waits()
 {
    let f = Fixture::with_extractor(line_reader()).await;
    let subjects = ["budget", "garden", "printer", "train", "contract", "kitchen"];
    for n in 0..120 {
        f.remember(&format!("The {} was discussed in room {n} by the team.", subjects[n % 6])).await;
    }
    let before = f.recall("zanzibar protocol").await.warnings;
    assert!(before.len() == 1 && before[0].contains("seems to answer"), "{before:?}");
    let mut text = "The zanzibar protocol is described here. ".to_owned();
    for n in 0..1_000 {
        let _ = write!(text, "Step {n} moves crate {} to shelf {}. ", n * 7, n * 13 % 97);
    }
    let long = f.remember(&text).await;
    assert!(long.is_embedding_pending);
    let answer = f.recall_as(query("zanzibar protocol")).await;
    assert_eq!(answer.results[0].hit.artifact_id, long.id);
    assert!(
        answer.warnings.len() == 1 && answer.warnings[0].contains("still wait for their vectors"),
        "{:?}",
        answer.warnings
    );
    let filtered = RecallDraft { author: Some("Ann".into()), ..query("zanzibar protocol") };
    let hers = f.recall_as(filtered).await.warnings;
    assert!(!hers.iter().any(|warning| warning.contains("wait")), "none of hers waits: {hers:?}");
    f.drain().await;
    let other = f.sibling(line_reader(), at_once()).await;
    let request = RecallRequest::new(query("zanzibar protocol")).expect("a request");
    let answer = other.recall(&f.ns, &request).await.expect("an answer");
    assert_eq!((&answer.results[0].hit.artifact_id, answer.warnings.len()), (&long.id, 0));
}

#[tokio::test]
async fn a_text_whose_vectors_are_being_made_stands_where_it_will_stand_when_they_are_there() {
    const ASKED: [&str; 4] = [
        "zanzibar protocol",
        "What does the zanzibar protocol say?",
        "Where is the zanzibar protocol described?",
        "Who signed the zanzibar protocol in the last meeting?",
    ];
    let f = Fixture::with_extractor(line_reader()).await;
    let subjects = ["budget", "garden", "printer", "train", "contract", "protocol"];
    for n in 0..300 {
        f.remember(&format!("The {} was discussed in room {n} by the team.", subjects[n % 6])).await;
    }
    let mut text = "The zanzibar protocol is described here. ".to_owned();
    for n in 0..260 {
        let _ = write!(
            text,
            "In step {n} somebody of the second shift moves crate {} from the hall by the river to shelf {}. ",
            n * 7,
            n * 13 % 97
        );
    }
    let long = f.remember(&text).await;
    assert!(long.is_embedding_pending);
    let places = async || {
        let mut places = Vec::new();
        for question in ASKED {
            let answer = f.recall_as(query(question)).await;
            let place = ids(&answer).iter().position(|id| *id == long.id);
            let waits = answer.warnings.iter().any(|warning| warning.contains("wait for their vectors"));
            places.push((place, waits));
        }
        places
    };
    let pending = places().await;
    execute(&f, "delete from event_jobs where kind <> 'embed'").await;
    let store = store(&f).await;
    let mut conn = store.acquire_across().await.expect("a connection");
    let held = jobs::claim(&mut conn, Duration::from_mins(1), 1).await.expect("it is claimed").remove(0);
    let running = places().await;
    jobs::release(&mut conn, &held).await.expect("it is given back");
    f.drain().await;
    let embedded = places().await;
    println!("{pending:?}\n{running:?}\n{embedded:?}");
    assert_eq!(pending, ASKED.map(|_| (Some(0), true)));
    assert_eq!(running, pending, "a job that runs is not done");
    assert_eq!(embedded, ASKED.map(|_| (Some(0), false)));
}

#[tokio::test]
async fn a_memory_that_grows_is_weighed_at_once_as_a_new_process_weighs_it() {
    let f = light(line_reader()).await;
    let (writer, reader) = (light_sibling(&f, line_reader()).await, light_sibling(&f, line_reader()).await);
    let request = || RecallRequest::new(query("zebra stripes hill3")).expect("a request");
    // All have counted an empty memory.
    for memory in [&f.memory, &reader] {
        assert!(memory.recall(&f.ns, &request()).await.expect("an answer").results.is_empty());
    }
    let f = Fixture { memory: writer, ..f };
    have_notes(&f, 150).await;
    let fresh = light_sibling(&f, line_reader()).await;
    let expected = fresh.recall(&f.ns, &request()).await.expect("an answer");
    for memory in [&f.memory, &reader] {
        let answer = memory.recall(&f.ns, &request()).await.expect("an answer");
        assert_eq!((ids(&answer), scores(&answer)), (ids(&expected), scores(&expected)));
    }
}

#[tokio::test]
async fn what_stands_at_a_place_comes_before_its_outdated_texts() {
    let f = light(line_reader()).await;
    let old = f.remember_as(page("wifi", "The wifi password is zebra, the wifi password.")).await.id;
    let older = f.remember_as(page("wifi", "The wifi password is lantern.")).await.id;
    let current = f.remember_as(page("wifi", "Ask the porter for access.")).await.id;
    let elsewhere = f.remember_as(page("door", "The door is open.")).await.id;
    let with_outdated = RecallDraft { include_superseded: Some(true), ..query("wifi password zebra") };
    let answer = f.recall_as(with_outdated).await;
    let found = ids(&answer);
    assert_eq!(found[..2], [current, old], "{found:?}");
    assert!(found.contains(&older) && found.contains(&elsewhere));
    assert!(scores(&answer).is_sorted_by(|a, b| a >= b));
    assert!(answer.results[0].explanation.expect("one").artifact.place > 0.0);
}

#[tokio::test]
async fn the_same_text_at_two_places_is_two_hits_of_one_id() {
    let f = light(line_reader()).await;
    let id = f.remember_as(page("a", "The pump is broken.")).await.id;
    f.remember_as(page("b", "The pump is broken.")).await;
    assert_eq!(ids(&f.recall_as(query("pump")).await), [id.clone(), id]);
}

#[tokio::test]
async fn a_question_about_many_things_is_answered_from_all_conversations() {
    let f = Fixture::new().await;
    let plants = ["roses", "leeks", "ivy", "quinces", "beans", "dill", "sage", "plums"];
    for (n, plant) in plants.iter().cycle().take(24).enumerate() {
        let said = format!("In the garden I want to plant {plant} in bed {n} of the garden.");
        f.remember_as(turn("spring", n as i64, "user", &said)).await;
        let other = format!("Can you list the different aspects of order number {n} from first to last?");
        f.remember_as(turn("orders", n as i64, "user", &other)).await;
    }
    f.remember_as(turn("summer", 0, "user", "The hose for the garden has a leak, what helps?")).await;
    f.remember_as(turn("autumn", 0, "user", "We have to rake the leaves in the garden before it snows."))
        .await;
    let of = |answer: &Recall| -> Vec<String> {
        answer.results.iter().filter_map(|result| result.hit.conversation_id.clone()).collect()
    };
    let many = "Can you list the order in which I brought up different aspects of the garden throughout our conversations?";
    let found = of(&f.recall_as(asked(many, 5, None)).await);
    assert!(
        ["spring", "summer", "autumn"].iter().all(|wanted| found.iter().any(|it| it == wanted)),
        "{found:?}"
    );
    assert!(found.iter().all(|it| it != "orders"), "how it is asked is not what is asked: {found:?}");
    let one = of(&f.recall_as(asked("Which plants do I want to plant in the garden?", 5, None)).await);
    assert!(one.iter().all(|it| it == "spring"), "{one:?}");
}

#[tokio::test]
async fn the_parts_of_an_explanation_add_up_to_the_score() {
    let f = Fixture::with_extractor(line_reader()).await;
    f.remember(&log(400)).await;
    f.drain().await;
    have_notes(&f, 80).await;
    f.remember_as(page("pump", "The coffee machine has no water.")).await;
    f.remember_as(page("pump", "The coffee machine has water.")).await;
    for text in ["coffee machine", "zebra wind", "what happened yesterday?"] {
        let answer = f.recall_as(RecallDraft { include_superseded: Some(true), ..query(text) }).await;
        assert_eq!(answer.results.len(), 50);
        for result in &answer.results {
            let e = result.explanation.expect("it is explained");
            let arms: f32 = [e.vector, e.lexical, e.late].iter().flatten().map(|place| place.share).sum();
            let a = e.artifact;
            let conversation = a.neighbourhood + a.speaker + a.question + a.age + a.kind;
            let parts = arms + a.length + conversation + a.time + a.priors + a.place + a.directive;
            assert!((parts - result.score).abs() < 1e-4, "{text}: {parts} {} {e:?}", result.score);
            assert!((arms + a.length - a.passage).abs() < 1e-4 && e.sureness <= 1.0, "{e:?}");
        }
    }
}

#[tokio::test]
async fn a_question_that_nothing_answers_is_told_so_and_scores_low() {
    let f = Fixture::with_extractor(line_reader()).await;
    let notes = [
        "We decided to use Postgres for the order service.",
        "Maria will write the migration guide by Friday.",
        "The harbour office closes at noon on Saturdays.",
        "Tom bought three apple trees for the garden behind the house.",
        "The staging server was moved to the new rack on Tuesday.",
    ];
    for note in notes {
        f.remember(note).await;
    }
    let is_told = |answer: &Recall| answer.warnings.iter().any(|warning| warning.contains("seems to answer"));
    for (question, note) in [
        ("When does the harbour office close?", notes[2]),
        ("What did Tom buy?", notes[3]),
        ("Which database does the order service use?", notes[0]),
    ] {
        let answer = f.recall(question).await;
        assert!(!is_told(&answer), "{question}: {:?}", answer.warnings);
        let best = answer.results.first().expect("a result");
        assert!(best.snippet.contains(note) && best.score > UNLIKELY_BELOW, "{question}: {}", best.score);
    }
    for question in ["How tall is the Eiffel tower?", "What is the melting point of tungsten?"] {
        let answer = f.recall(question).await;
        assert!(is_told(&answer), "{question}: {:?}", answer.warnings);
        assert!(answer.results.iter().all(|result| result.score < UNLIKELY_BELOW), "{question}");
    }
    let request = f.recall("Draft a poem about the Eiffel tower").await;
    assert!(!is_told(&request), "nothing is asked for that could be there: {:?}", request.warnings);
}

#[tokio::test]
async fn an_older_text_loses_to_a_newer_one_about_the_same_where_it_is_asked_how_things_are() {
    let f = Fixture::with_extractor(line_reader()).await;
    let old = f.remember_as(dated("2026-01-12", "The catalogue's database is MongoDB.")).await.id;
    let new = f.remember_as(dated("2026-06-03", "The catalogue's database is PostgreSQL now.")).await.id;
    f.remember_as(dated("2026-08-01", "The catalogue of spring flowers is printed on recycled paper.")).await;
    let losses = async |text: &str| {
        let answer = f.recall_as(RecallDraft { explain: Some(true), ..query(text) }).await;
        let of =
            |id: &ArtifactId| answer.results.iter().find(|r| r.hit.artifact_id == *id).expect("it is found");
        [&old, &new].map(|id| of(id).explanation.expect("it is explained").artifact.age)
    };
    let losses_now = losses("which database does the catalogue use?").await;
    assert!(losses_now[0] < -0.02 && losses_now[1] >= 0.0, "{losses_now:?}");
    let losses_before = losses("which database did the catalogue use before?").await;
    assert!(losses_before.iter().all(|lost| *lost >= 0.0), "{losses_before:?}");
    let answer = f.recall_as(query("which database does the catalogue use?")).await;
    assert_eq!(ids(&answer)[0], new);
}
