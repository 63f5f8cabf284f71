//! Lines that say themselves who speaks ("Ann: …"), stored one after the other with nothing but their text: they are turns of
//! a talk without a name.

use memory_core::artifact::Draft;
use memory_engine::recall::RecallDraft;
use memory_tests::Fixture;

use crate::archive::{exported_as, import};
use crate::shorthand::{forget, found_by_words, ids, light, note, query, rows};
use crate::stand_ins::line_reader;

/// The talk of each text by its number, and its place there.
const PLACES: &str = "select split_part(a.content, ':', 1) || coalesce(' ' || dense_rank() over (order by r.line_of) || '.' || r.line_index, '')
     from artifact_revision r join artifact a using (namespace, artifact_id) order by r.revision_id";

async fn talk(f: &Fixture, lines: &[&str]) {
    for line in lines {
        f.remember(line).await;
    }
}

#[tokio::test]
async fn a_line_comes_with_the_lines_that_were_stored_before_and_after_it() {
    let f = light(line_reader()).await;
    talk(
        &f,
        &["Ann: Is it there?", "Bob: A pump broke.", "Ann: The giraffe is ill.", "Bob: Call the doctor."],
    )
    .await;
    let wanted = RecallDraft { neighbours: Some(1), ..query("giraffe") };
    let hit = f.recall_as(wanted).await.results.remove(0);
    let around: Vec<_> =
        hit.neighbours.iter().map(|n| (n.is_before, n.turn_index, n.text.as_str())).collect();
    assert_eq!(around, [(true, None, "Bob: A pump broke."), (false, None, "Bob: Call the doctor.")]);
}

#[tokio::test]
async fn a_line_is_found_by_the_words_of_the_line_before_it_until_that_is_forgotten() {
    let f = Fixture::without_model(line_reader()).await;
    talk(&f, &["Ann: Hello.", "Bob: Hello yourself."]).await;
    let asked = f.remember("Ann: Did you see the elephant?").await.id;
    let answered = f.remember("Bob: Yes, on Tuesday.").await.id;
    let noted = f.remember("The roof was mended.").await.id;
    assert_eq!(found_by_words(&f, "elephant").await, [answered.clone(), asked.clone()]);
    // What is said of it later changes nothing.
    f.remember_as(Draft {
        importance: Some(0.9),
        title: None,
        author: Some("Bob".into()),
        ..note("Bob: Yes, on Tuesday.")
    })
    .await;
    assert!(found_by_words(&f, "elephant").await.contains(&answered));
    forget(&f, &asked).await;
    assert!(found_by_words(&f, "elephant").await.is_empty());
    assert_eq!(found_by_words(&f, "yourself").await.len(), 2, "it follows the line before now");
    assert!(!found_by_words(&f, "yourself").await.contains(&noted));
}

#[tokio::test]
async fn lines_near_each_other_support_each_other() {
    let f = light(line_reader()).await;
    let lines = ["Ann: Hello.", "Bob: Hello.", "Ann: Does a giraffe eat leaves?", "Bob: It does, much."];
    talk(&f, &lines).await;
    let answer = f.recall_as(RecallDraft { explain: Some(true), ..query("does a giraffe eat leaves") }).await;
    let of = |text: &str| answer.results.iter().find(|r| r.hit.passage == text).expect(text);
    let share = |text: &str| of(text).explanation.expect("it is explained").artifact;
    let (asked, answered) = (share(lines[2]), share(lines[3]));
    assert!(asked.neighbourhood > 0.0 && answered.passage < asked.passage, "{asked:?} {answered:?}");
}

#[tokio::test]
async fn labels_that_lead_notes_make_no_talk_and_what_names_its_place_has_none() {
    let f = light(line_reader()).await;
    talk(
        &f,
        &["Redis: keeps sessions.", "Postgres: keeps the rest.", "Kafka: is gone.", "Note: check the disk."],
    )
    .await;
    f.remember_as(memory_tests::turn("zoo", 1, "Ann", "Ann: Hello.")).await;
    let alone = ["Redis 1.0", "Postgres 2.0", "Kafka 3.0", "Note", "Ann"];
    assert_eq!(rows(&f, PLACES).await, alone);
}

#[tokio::test]
async fn an_archive_brings_the_talk_back() {
    let f = light(line_reader()).await;
    talk(&f, &["Ann: One.", "Bob: Two.", "Ann: Three.", "Bob: Four."]).await;
    let places = rows(&f, PLACES).await;
    assert_eq!(places, ["Ann 1.0", "Bob 2.0", "Ann 2.1", "Bob 2.2"]);
    let archive = exported_as(&f.memory, &f.ns, false).await;
    let other = light(line_reader()).await;
    import(&other, &archive).await;
    assert_eq!(rows(&other, PLACES).await, places);
    assert_eq!(ids(&other.recall_as(query("four")).await)[0], ids(&f.recall_as(query("four")).await)[0]);
}

#[tokio::test]
async fn what_was_answered_stands_before_what_was_asked() {
    let f = light(line_reader()).await;
    let said = |author: &str, content: &str| Draft {
        author: Some(author.into()),
        context: Some("chat".into()),
        date: Some("2026-03-02T18:00:00Z".into()),
        ..Draft { content: content.into(), ..Draft::default() }
    };
    // As lines of a chat they follow each other, though neither the conversation nor who speaks is in their text.
    f.remember_as(said("Sue", "Did you feed the cat?")).await;
    f.remember_as(said("Tom", "An hour ago.")).await;
    let asked = f.remember_as(said("Sue", "What did the vet say about Luna?")).await.id;
    let answered = f.remember_as(said("Tom", "112 and renal food for six weeks.")).await.id;
    for question in ["What did the vet say about Luna?", "the vet about Luna"] {
        assert_eq!(ids(&f.recall(question).await)[..2], [answered.clone(), asked.clone()], "{question}");
    }
    let unmarked = f.remember_as(said("Sue", "and what did the plumber want for the pipe")).await.id;
    let price = f.remember_as(said("Tom", "180 including the trap.")).await.id;
    assert_eq!(ids(&f.recall("What did the plumber charge for the pipe?").await)[..2], [price, unmarked]);
}
