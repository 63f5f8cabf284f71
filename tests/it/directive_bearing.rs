//! Directives that bear on a request by what a model has learned, and what becomes of them without it.

use memory_core::artifact::Draft;
use memory_core::ports::{EmbeddingError, EmbeddingModel};
use memory_inference::adapted::BEARING_ENCODER;
use memory_inference::embedding::OnnxEmbedding;
use memory_inference::integrity::write_sums;
use memory_tests::process::DataDir;
use memory_tests::{Fixture, copied_model, onnxruntime_library, turn as turn_of};

use crate::shorthand::{execute, query};

const WISHES: [&str; 7] = [
    "My father can't manage stairs any more.",
    "I prefer trains to planes inside Europe.",
    "Table-driven tests only, please.",
    "Ida must not have peanuts, she swells up.",
    "I run before breakfast and never in the evening.",
    "Commit messages in the imperative, please.",
    "We have no car and won't get one.",
];
/// Each with the wish that bears on it and shares no word with it.
const REQUESTS: [(&str, usize); 4] = [
    ("How do we get to Lyon in May?", 1),
    ("Cover the parser's error paths.", 2),
    ("Suggest a snack for the girls' sleepover", 3),
    ("Which of the two flats should we take, fourth floor or ground floor?", 0),
];

async fn remembered() -> Fixture {
    let f = Fixture::new().await;
    for wish in WISHES {
        let draft = Draft { content: wish.into(), context: Some("preference".into()), ..Draft::default() };
        f.remember_as(draft).await;
    }
    f
}

/// What is shown for a request, best first.
async fn shown(f: &Fixture, request: &str) -> Vec<String> {
    f.recall_as(query(request)).await.directives.into_iter().map(|directive| directive.quote).collect()
}

async fn are_shown(f: &Fixture) -> Vec<bool> {
    let mut are_shown = Vec::new();
    for (request, wish) in REQUESTS {
        let shown = shown(f, request).await;
        are_shown.push(shown.iter().any(|quote| WISHES[wish].contains(quote.as_str())));
    }
    are_shown
}

#[tokio::test]
async fn what_bears_on_a_request_is_shown_and_what_an_upgrade_lacks_is_computed_by_the_worker() {
    let f = remembered().await;
    assert_eq!(are_shown(&f).await, [true; 4]);
    assert!(shown(&f, "When was the parser written?").await.is_empty());
    execute(&f, "update directive set bearing = null, bearing_version = null").await;
    assert!(are_shown(&f).await.contains(&false), "likeness alone does not tell");
    f.memory.job_runner().embed_directives().await;
    assert_eq!(are_shown(&f).await, [true; 4]);
    let by_worker = f.count("select count(distinct bearing) from directive where bearing_version = 3").await;
    assert_eq!(by_worker, WISHES.len() as i64);
}

#[tokio::test]
async fn what_is_cut_out_of_a_sentence_is_shown_with_it() {
    let f = remembered().await;
    // Who "he" is stands in the sentence before.
    let sentence =
        "can you draft the note to Leith? he's old school, so Mr Leith and no first names with him please.";
    let rest = "And then the invoices of the bike shop are late again, I'll ring them tomorrow after the school run. ";
    let turn = format!("{sentence} {}", rest.repeat(3));
    let draft = Draft { role: Some("user".into()), ..turn_of("chat", 0, "user", &turn) };
    f.remember_as(draft).await;
    let shown = async |request: &str, quote: &str| {
        let directives = f.recall_as(query(request)).await.directives;
        directives.into_iter().find(|directive| directive.quote.contains(quote)).expect("it is shown")
    };
    let cut = shown("Draft a mail to Gordon Leith about the export", "no first names").await;
    assert_eq!(cut.sentence.as_deref(), Some(sentence), "{cut:?}");
    let whole = shown("How do we get to Lyon in May?", "trains to planes").await;
    assert_eq!(whole.sentence, None);
    let standing = f.memory.standing_directives(&f.ns).await.expect("they are read");
    assert!(standing.contains(&cut) && standing.contains(&whole));
}

#[tokio::test]
async fn without_the_model_of_what_bears_embeddings_are_made_and_a_damaged_one_names_its_file() {
    let folder = DataDir::empty();
    let model_dir = folder.path().join("model");
    copied_model(&model_dir);
    let load = || OnnxEmbedding::load(&model_dir, &onnxruntime_library(), 1).expect("it loads");
    let file = model_dir.join(BEARING_ENCODER.file);
    let whole = std::fs::read(&file).expect("it is read");
    let request = || vec!["Plan the outing.".to_owned()];

    std::fs::write(&file, &whole[..whole.len() / 2]).expect("it is cut short");
    let damaged = load();
    match damaged.embed_for_bearing(request()).await {
        Err(EmbeddingError::Unavailable(reason)) => {
            assert!(reason.contains(BEARING_ENCODER.file) && reason.contains("damaged"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
    assert!(damaged.embed_query("Plan the outing.").await.is_ok(), "the other model is whole");
    std::fs::write(&file, &whole).expect("it is mended");
    assert_eq!(damaged.embed_for_bearing(request()).await.expect("it is loaded anew")[0].len(), 384);

    std::fs::remove_file(&file).expect("it goes");
    write_sums(&model_dir).expect("the sums are noted");
    let without = load();
    assert_eq!(without.bearing_version(), None);
    assert!(without.embed_for_bearing(request()).await.is_err());
    assert!(without.embed_query("Plan the outing.").await.is_ok());
}
