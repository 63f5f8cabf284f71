//! A small namespace is searched in memory, and answers as Postgres would.

use std::sync::Arc;
use std::time::Duration;

use memory_core::artifact::Draft;
use memory_core::id::ArtifactId;
use memory_engine::recall::{Recall, RecallDraft, RecallRequest};
use memory_engine::{EngineSettings, Memory};
use memory_tests::process::eventually;
use memory_tests::{Fixture, at_once, turn};

use crate::shorthand::{dated, forget, ids, query};
use crate::stand_ins::line_reader;

const QUESTIONS: [&str; 6] = [
    "Who keeps the lighthouse in a storm?",
    "harbour wall stripes",
    "What does Anna plan for the garden?",
    "stripes hill3",
    "wind and sea and storm",
    "!!!",
];

const ROUNDING: f32 = 1e-4;

async fn have_texts(f: &Fixture) {
    let things = ["zebra", "lighthouse keeper", "storm over the sea", "harbour wall"];
    for n in 0..60_usize {
        let stripes = "stripes ".repeat(n % 5);
        let text =
            format!("Note {n} on the {}, {stripes}hill{} with wind.", things[n % things.len()], n % 13);
        let draft = Draft {
            content: text,
            author: Some(if n.is_multiple_of(2) { "Anna" } else { "Tom" }.to_owned()),
            tags: vec![format!("third-{}", n % 3)],
            source_id: n.is_multiple_of(10).then(|| format!("note-{n}")),
            source: n.is_multiple_of(10).then(|| "notes".to_owned()),
            ..Draft::default()
        };
        f.remember_as(draft).await;
    }
    for n in 0..12 {
        f.remember_as(turn("garden", n, "Anna", &format!("Row {n} of the garden gets beans and a wall.")))
            .await;
    }
    f.remember_as(turn("garden", 12, "Tom", "What does Anna want with a wall in the garden?")).await;
    for (date, keeper) in [("2026-01-05", "Mr Osei"), ("2026-06-05", "Ms Lee")] {
        let text = format!("The lighthouse is kept by {keeper}, in every storm.");
        f.remember_as(dated(date, &text)).await;
    }
    // A text of many passages, and one in the place of another.
    f.remember(&"The keeper of the lighthouse writes of wind, sea and storms. ".repeat(400)).await;
    let again = Draft {
        content: "Note 10 says something else of the harbour wall now.".to_owned(),
        source: Some("notes".to_owned()),
        source_id: Some("note-10".to_owned()),
        ..Draft::default()
    };
    f.remember_as(again).await;
}

pub(crate) fn settings(resident_bytes: usize) -> EngineSettings {
    EngineSettings { resident_bytes, ..at_once() }
}

pub(crate) async fn ask(f: &Fixture, memory: &Memory, draft: RecallDraft) -> Recall {
    let request = RecallRequest::new(draft).expect("the request is valid");
    memory.recall(&f.ns, &request).await.expect("an answer")
}

/// A memory beside the fixture's that has read the namespace.
pub(crate) async fn in_memory(f: &Fixture, resident_bytes: usize) -> Arc<Memory> {
    let memory = f.sibling(line_reader(), settings(resident_bytes)).await;
    ask(f, &memory, query("lighthouse")).await;
    eventually("the namespace is in memory", Duration::from_secs(30), async || memory.is_in_memory(&f.ns))
        .await;
    memory
}

fn drafts(text: &str) -> Vec<RecallDraft> {
    let plain = RecallDraft { limit: Some(40), explain: Some(true), ..query(text) };
    vec![
        RecallDraft { author: Some("anna".to_owned()), ..plain.clone() },
        RecallDraft { tags: vec!["third-1".to_owned()], ..plain.clone() },
        RecallDraft { conversation_id: Some("garden".to_owned()), ..plain.clone() },
        RecallDraft { include_superseded: Some(true), ..plain.clone() },
        plain,
    ]
}

/// The same results with the same scores; sums in another order may change the last digits, and with them the order of equals.
async fn assert_same(f: &Fixture, memory: &Memory, other: &Memory) {
    let mut loses = [false; 3];
    for draft in QUESTIONS.iter().flat_map(|text| drafts(text)) {
        let (mine, theirs) = (ask(f, memory, draft.clone()).await, ask(f, other, draft.clone()).await);
        assert_eq!(mine.results.len(), theirs.results.len(), "{draft:?}");
        let last = theirs.results.last().map_or(0.0, |result| result.score);
        for (place, result) in mine.results.iter().enumerate() {
            let there = theirs.results.iter().find(|it| it.hit.artifact_id == result.hit.artifact_id);
            let score = there.map_or(last, |it| it.score);
            assert!((result.score - score).abs() < ROUNDING, "{draft:?}: {} {score}", result.score);
            assert!((result.score - theirs.results[place].score).abs() < ROUNDING, "{draft:?}: {place}");
            assert!(there.is_none_or(|it| it.snippet == result.snippet), "{draft:?}: {place}");
            let lost = result.explanation.expect("it is explained").artifact;
            for (loses, of) in loses.iter_mut().zip([lost.age, lost.speaker, lost.question]) {
                *loses |= of < 0.0;
            }
        }
    }
    assert_eq!(loses, [true; 3], "something is lost for age, for who speaks and for asking");
}

#[tokio::test]
async fn a_namespace_in_memory_answers_as_postgres_does() {
    let f = Fixture::with_extractor(line_reader()).await;
    have_texts(&f).await;
    f.drain().await;
    let postgres = f.sibling(line_reader(), settings(0)).await;
    let memory = in_memory(&f, 64 << 20).await;
    assert_same(&f, &memory, &postgres).await;
    assert!(!postgres.is_in_memory(&f.ns), "none is kept where none may be");
    // Too small for the states of the tokens, which are read from the database then.
    let without_states = in_memory(&f, 250_000).await;
    assert_same(&f, &without_states, &postgres).await;
}

#[tokio::test]
async fn one_that_takes_too_much_is_not_kept() {
    let f = Fixture::with_extractor(line_reader()).await;
    have_texts(&f).await;
    let memory = f.sibling(line_reader(), settings(20_000)).await;
    for _ in 0..3 {
        assert!(!ask(&f, &memory, query("lighthouse")).await.results.is_empty());
        tokio::task::yield_now().await;
    }
    assert!(!memory.is_in_memory(&f.ns));
}

/// One memory that searches in memory and one that does not, which are asked the same: what both remember of how common words
/// are is of the same moments.
struct Pair {
    memory: Arc<Memory>,
    postgres: Arc<Memory>,
}

impl Pair {
    async fn new(f: &Fixture) -> Self {
        let postgres = f.sibling(line_reader(), settings(0)).await;
        ask(f, &postgres, query("lighthouse")).await;
        Self { memory: in_memory(f, 64 << 20).await, postgres }
    }

    async fn ask(&self, f: &Fixture, text: &str) -> Vec<ArtifactId> {
        ask(f, &self.postgres, query(text)).await;
        ids(&ask(f, &self.memory, query(text)).await)
    }

    async fn assert_same(&self, f: &Fixture) {
        assert_same(f, &self.memory, &self.postgres).await;
        assert!(self.memory.is_in_memory(&f.ns), "it was kept all the time");
    }
}

#[tokio::test]
async fn what_another_process_writes_is_found_by_the_next_search() {
    let f = Fixture::with_extractor(line_reader()).await;
    have_texts(&f).await;
    let pair = Pair::new(&f).await;
    let said = f.remember("The quartermaster hides the brass sextant under the stairs.").await;
    assert_eq!(pair.ask(&f, "Where is the brass sextant?").await.first(), Some(&said.id));
    let instead = f.remember("Cellar: nothing is kept there any more.").await;
    forget(&f, &said.id).await;
    let found = pair.ask(&f, "Where is the brass sextant?").await;
    assert!(!found.contains(&said.id), "what was forgotten is gone");
    assert!(pair.ask(&f, "cellar").await.contains(&instead.id));
    pair.assert_same(&f).await;
}

#[tokio::test]
async fn a_transaction_that_ends_later_than_one_that_began_after_it_is_not_missed() {
    let f = Fixture::with_extractor(line_reader()).await;
    have_texts(&f).await;
    let pair = Pair::new(&f).await;
    let mut late = f.sql().await;
    sqlx::query("begin").execute(&mut late).await.expect("begin");
    let changed = sqlx::query(
        "update artifact_revision set role = 'assistant' where namespace = $1 and author = 'Tom'",
    )
    .bind(f.ns.as_str())
    .execute(&mut late)
    .await
    .expect("an update");
    assert!(changed.rows_affected() > 20);
    f.remember("A note that is written and read meanwhile.").await;
    pair.ask(&f, "meanwhile").await;
    pair.assert_same(&f).await;
    sqlx::query("commit").execute(&mut late).await.expect("commit");
    pair.assert_same(&f).await;
}

#[tokio::test]
async fn a_question_asked_again_has_the_same_answer_until_the_namespace_changes() {
    let f = Fixture::with_extractor(line_reader()).await;
    have_texts(&f).await;
    let pair = Pair::new(&f).await;
    for _ in 0..2 {
        pair.assert_same(&f).await;
    }
    let question = "Where does the ferryman keep the signal lamp?";
    let ask_it = async || {
        let draft = RecallDraft { include_events: Some(true), ..query(question) };
        ask(&f, &pair.memory, draft).await
    };
    let before = ask_it().await;
    assert_eq!(ids(&ask_it().await), ids(&before));
    let told = f.remember("The ferryman keeps the signal lamp in the chapel.").await;
    assert_eq!(ids(&ask_it().await).first(), Some(&told.id));
    assert_eq!(ids(&ask_it().await).first(), Some(&told.id));
    f.remember("When I ask where the ferryman keeps things, always name the building first.").await;
    assert!(!ask_it().await.directives.is_empty(), "a wish is heeded from then on");
    forget(&f, &told.id).await;
    assert!(!ids(&ask_it().await).contains(&told.id));
}
