//! remember: what is stored, once, with its place.

use memory_tests::Fixture;

#[tokio::test]
async fn the_same_text_is_stored_once() {
    let f = Fixture::new().await;
    let first = f.remember("Alice prefers tea.").await;
    let second = f.remember("Alice prefers tea.").await;
    assert!(first.is_created && !second.is_created);
    assert_eq!(first.id, second.id);
    assert_eq!(f.count("select count(*) from artifact_revision").await, 1);
    assert_eq!(f.count("select count(*) from passage_embedding").await, 1);
}
