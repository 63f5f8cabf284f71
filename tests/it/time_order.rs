//! Questions for the latest or the first of several, or for how things were, find it before the others; what is not there is said.

use memory_tests::Fixture;

use crate::shorthand::dated;

const NOTES: [(&str, &str); 6] = [
    ("2025-09-10", "Biscuit at the vet: he had eaten half a sock, they made him bring it up again."),
    ("2026-06-30", "Grass seed in Biscuit's ear, the vet had to sedate him to fish it out."),
    ("2026-09-24", "The vet put a needle in the lump on Biscuit's chest. Just fat, harmless."),
    ("2026-11-10", "Found the vet's bill for the 17th of May, when Biscuit had a thorn in his paw."),
    ("2026-11-12", "Must ask the vet about a passport for Biscuit."),
    ("2026-11-13", "Bought forty litres of compost for the roses."),
];

async fn first(fixture: &Fixture, question: &str) -> String {
    let found = fixture.recall(question).await;
    found.results[0].snippet.clone()
}

#[tokio::test]
async fn the_latest_and_the_first_of_several_come_first() {
    let fixture = Fixture::new().await;
    for (date, text) in NOTES {
        fixture.remember_as(dated(date, text)).await;
    }
    fixture.drain().await;
    for question in ["When was Biscuit last at the vet?", "What did the vet most recently look at?"] {
        let found = first(&fixture, question).await;
        // What was found again later is of the time it tells of.
        assert!(found.contains("lump"), "{question}: {found}");
    }
    let question = "Why did Biscuit have to go to the vet for the first time?";
    let found = first(&fixture, question).await;
    assert!(found.contains("sock"), "{question}: {found}");
}

#[tokio::test]
async fn how_things_were_at_a_time_is_told_by_what_was_written_before() {
    let fixture = Fixture::new().await;
    for (date, text) in [
        ("2026-01-10", "My sister Kari lives in Bergen with her wife Anneke and their dog Balder."),
        ("2026-03-04", "The ferry to the island was late again."),
        ("2026-03-12", "Weekly sync with the team, nothing new."),
        ("2026-03-20", "Ran ten kilometres along the harbour."),
        ("2026-09-01", "Kari and Anneke moved from Bergen to Trondheim in August."),
    ] {
        fixture.remember_as(dated(date, text)).await;
    }
    fixture.drain().await;
    let found = first(&fixture, "Where did Kari live in March 2026?").await;
    assert!(found.contains("lives in Bergen"), "{found}");
    let found = first(&fixture, "What happened in March 2026 with the ferry?").await;
    assert!(found.contains("ferry"), "{found}");
    let found = first(&fixture, "Where does Kari live now?").await;
    assert!(found.contains("Trondheim"), "{found}");
}

#[tokio::test]
async fn a_name_that_no_result_mentions_is_said() {
    let fixture = Fixture::new().await;
    fixture
        .remember_as(dated("2026-01-10", "The queue of the importer stalled, an error in the consumer."))
        .await;
    fixture
        .remember_as(dated("2026-01-11", "PostgreSQL runs out of connections when the importer starts."))
        .await;
    fixture.drain().await;
    let warnings = |question: &'static str| {
        let fixture = &fixture;
        async move { fixture.recall(question).await.warnings }
    };
    let said = warnings("Which error did Kafka cause in the importer?").await;
    assert!(said.iter().any(|said| said == "No result mentions 'Kafka'."), "{said:?}");
    let said = warnings("Why does Postgres run out of connections?").await;
    assert!(!said.iter().any(|said| said.contains("mentions")), "{said:?}");
}
