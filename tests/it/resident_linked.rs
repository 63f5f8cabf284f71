//! Related events and entities of a namespace that is in memory are those that Postgres gives, whatever was changed meanwhile.

use std::sync::Arc;

use memory_core::artifact::Draft;
use memory_engine::Memory;
use memory_engine::recall::{RecallDraft, RelatedEvent};
use memory_tests::{Fixture, turn};

use crate::entities::{extract_again, id_of, tell, typed_reader};
use crate::resident::{ask, in_memory, settings};
use crate::shorthand::{dated, forget, page, query};

const QUESTIONS: [&str; 6] = [
    "What does Alice do about the zebra?",
    "walrus",
    "What is decided by Bob and by Carol?",
    "Ali ostrich minutes",
    "Who works on Apollo?",
    "ali@x.org",
];

/// Two memories of other processes: one has the namespace in memory, the other asks Postgres.
struct Pair {
    memory: Arc<Memory>,
    postgres: Arc<Memory>,
}

impl Pair {
    async fn new(f: &Fixture) -> Self {
        let postgres = f.sibling(typed_reader(), settings(0)).await;
        Self { memory: in_memory(f, 64 << 20).await, postgres }
    }

    /// Gives what all questions bring in: how many events and entities, so that it shows when a change changes nothing.
    async fn assert_same(&self, f: &Fixture, when: &str) -> (usize, usize) {
        let mut sum = (0, 0);
        for draft in QUESTIONS.iter().flat_map(|text| drafts(text)) {
            let mine = ask(f, &self.memory, draft.clone()).await;
            let theirs = ask(f, &self.postgres, draft.clone()).await;
            assert_eq!(shown(&mine.related), shown(&theirs.related), "{when}: {draft:?}");
            assert_eq!(mine.entities, theirs.entities, "{when}: {draft:?}");
            sum = (sum.0 + mine.related.len(), sum.1 + mine.entities.len());
        }
        assert!(self.memory.is_in_memory(&f.ns), "{when}: it was kept all the time");
        sum
    }
}

fn shown(related: &[RelatedEvent]) -> Vec<String> {
    related.iter().map(|it| format!("{it:?}")).collect()
}

fn drafts(text: &str) -> Vec<RecallDraft> {
    let few = RecallDraft { limit: Some(2), ..query(text) };
    vec![
        RecallDraft { include_superseded: Some(true), ..few.clone() },
        RecallDraft { graph_budget: Some(3), ..few.clone() },
        RecallDraft { graph_budget: Some(0), ..few.clone() },
        RecallDraft { include_entities: Some(false), ..few.clone() },
        RecallDraft { author: Some("Bob".to_owned()), ..few.clone() },
        RecallDraft { limit: Some(20), ..query(text) },
        few,
    ]
}

async fn have_events(f: &Fixture) {
    let people = ["Alice Chen", "Bob", "Carol Diaz", "Ali", "Alice"];
    let kinds = ["Decision", "Feedback", "Change", "Commitment", "Execution"];
    for n in 0..40 {
        let (who, with) = (people[n % 5], people[(n / 3 + 1) % 5]);
        let events = match n % 4 {
            0 => format!("{} by {who} on Project Apollo", kinds[n % 5]),
            1 => format!("{} by {who} and {with}", kinds[n % 5]),
            2 => format!("{} by {who}\nFeedback on {with}", kinds[n % 5]),
            _ => "Nobody is named here.".to_owned(),
        };
        let animal = ["Zebra", "Walrus", "Ostrich"][n % 3];
        f.remember_as(dated(
            &format!("2025-02-{:02}", n % 28 + 1),
            &format!("{animal} minutes {n}.\n{events}"),
        ))
        .await;
    }
    f.remember_as(page("plan", "The plan of the zebra.\nDecision by Alice Chen")).await;
    f.remember_as(Draft { author: Some("Bob".to_owned()), ..dated("2025-03-01", "Mine.\nChange by Bob") })
        .await;
    f.drain().await;
    tell(f, &["Names.\nAlice alias @al\nAli alias ali@x.org\nFeedback by Alice", "More.\nChange by Ali"])
        .await;
}

#[tokio::test]
async fn what_hangs_together_in_memory_is_what_postgres_says_after_every_change() {
    let f = Fixture::with_extractor(typed_reader()).await;
    have_events(&f).await;
    let pair = Pair::new(&f).await;
    let all = pair.assert_same(&f, "at first").await;
    assert!(all.0 > 100 && all.1 > 50, "{all:?}");

    tell(&f, &["Zebra again.\nDecision by Dora and Alice Chen on Project Apollo"]).await;
    pair.assert_same(&f, "a text came").await;
    f.remember_as(page("plan", "Another plan of the zebra.\nDecision by Carol Diaz")).await;
    pair.assert_same(&f, "a text took the place of another, unread").await;
    f.drain().await;
    pair.assert_same(&f, "a text took the place of another").await;
    extract_again(&f, "Change by Ali").await;
    pair.assert_same(&f, "a text was read again").await;
    let gone = f.remember("Walrus for once.\nExecution by Evan and Bob").await;
    f.drain().await;
    let with = pair.assert_same(&f, "before it is forgotten").await;
    forget(&f, &gone.id).await;
    assert_ne!(pair.assert_same(&f, "a text was forgotten").await, with);
}

#[tokio::test]
async fn who_counts_as_whom_is_the_same_in_memory() {
    let f = Fixture::with_extractor(typed_reader()).await;
    have_events(&f).await;
    let pair = Pair::new(&f).await;
    let (full, short, third) =
        (id_of(&f, "Alice Chen").await, id_of(&f, "Alice").await, id_of(&f, "Ali").await);
    let before = pair.assert_same(&f, "at first").await;
    let review = f.memory.entity_review();
    review.reject(&f.ns, full, third).await.expect("a decision");
    pair.assert_same(&f, "two are not the same").await;
    review.merge(&f.ns, short, third, true).await.expect("a merge");
    pair.assert_same(&f, "two are one").await;
    review.merge(&f.ns, full, short, true).await.expect("a merge");
    assert_ne!(pair.assert_same(&f, "three are one").await, before);
    tell(&f, &["Ostrich news.\nChange by Ali on Project Apollo"]).await;
    pair.assert_same(&f, "one of them is told of").await;
    review.split(&f.ns, short).await.expect("a split");
    pair.assert_same(&f, "two are one again").await;
    review.split(&f.ns, third).await.expect("a split");
    pair.assert_same(&f, "all are apart").await;
}

#[tokio::test]
async fn events_that_rest_on_several_turns_go_with_each_of_them() {
    let f = Fixture::with_extractor(typed_reader()).await;
    have_events(&f).await;
    let pair = Pair::new(&f).await;
    let mut turns = Vec::new();
    for n in 0..6 {
        let said = format!("Zebra turn {n}.\nDecision by Carol Diaz and Bob");
        turns.push(f.remember_as(turn("talk", n, "Bob", &said)).await.id);
    }
    f.drain().await;
    let with = pair.assert_same(&f, "a conversation").await;
    for id in &turns {
        forget(&f, id).await;
        pair.assert_same(&f, "a turn was forgotten").await;
    }
    assert_ne!(pair.assert_same(&f, "all turns were forgotten").await, with);
}
