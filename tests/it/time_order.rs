//! Questions for the latest or the first of several find it before the others, whatever the words.

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
