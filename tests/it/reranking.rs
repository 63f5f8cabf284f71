//! A reranker reads the best results again, and no answer waits for it longer than it may.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use memory_core::ports::{RerankError, Reranker};
use memory_engine::Memory;
use memory_engine::recall::{Recall, RecallDraft, RecallRequest, Reranking};
use memory_inference::reranking::CrossEncoder;
use memory_tests::process::{DataDir, Server};
use memory_tests::{Fixture, at_once, model, onnxruntime_library};
use serde_json::json;

use crate::shorthand::store;
use crate::stand_ins::line_reader;

const TEXTS: [&str; 3] =
    ["Ann waters the garden on Monday.", "Bob waters orchid and fern.", "Cactus, fern, orchid."];
const QUESTION: &str = "Who waters the garden?";

/// A cross-encoder that likes best what shares the fewest words with the question.
fn contrary() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/reranker")
}

/// One that never comes to an end, or fails.
enum Broken {
    Late,
    Failing,
}

#[async_trait]
impl Reranker for Broken {
    async fn rerank(&self, _: &str, passages: Vec<String>) -> Result<Vec<f32>, RerankError> {
        match self {
            Self::Late => std::future::pending().await,
            Self::Failing => Err(RerankError::Failed(format!("{} passages were too many", passages.len()))),
        }
    }
}

async fn noted() -> Fixture {
    let f = Fixture::with_extractor(line_reader()).await;
    for text in TEXTS {
        f.remember(text).await;
    }
    f.drain().await;
    f
}

/// Another process of the same memory, with a reranker.
async fn reranking(f: &Fixture, reranker: Arc<dyn Reranker>, deadline: Duration) -> Memory {
    let memory = Memory::new(store(f).await, line_reader(), at_once())
        .with_reranking(Some(Reranking { reranker, deadline }));
    memory.adopt_model(model()).await.expect("the model is adopted");
    memory
}

async fn ask(memory: &Memory, f: &Fixture, limit: i64, cursor: Option<String>) -> Recall {
    let draft = RecallDraft {
        query: Some(QUESTION.to_owned()),
        limit: Some(limit),
        cursor,
        explain: Some(true),
        ..RecallDraft::default()
    };
    let request = RecallRequest::new(draft).expect("the request is valid");
    memory.recall(&f.ns, &request).await.expect("it is recalled")
}

fn texts(recall: &Recall) -> Vec<&str> {
    recall.results.iter().map(|result| result.hit.passage.as_str()).collect()
}

#[tokio::test]
async fn a_cross_encoder_orders_the_results_and_says_so() {
    let f = noted().await;
    assert_eq!(texts(&f.recall(QUESTION).await)[0], TEXTS[0]);
    let encoder = CrossEncoder::load(&contrary(), &onnxruntime_library(), 1).expect("the model loads");
    let memory = reranking(&f, Arc::new(encoder), Duration::from_secs(20)).await;
    let recall = ask(&memory, &f, 10, None).await;
    assert_eq!(recall.warnings, Vec::<String>::new());
    assert_eq!(texts(&recall), [TEXTS[2], TEXTS[1], TEXTS[0]]);
    // Of 2 less the words of the question that they have, none, one and three, the logistic function.
    let places: Vec<_> =
        recall.results.iter().map(|r| r.explanation.unwrap().artifact.reranker.unwrap()).collect();
    assert!(places.iter().map(|place| place.rank).eq([1, 2, 3]), "{places:?}");
    assert!((places[2].score - 1.0 / (1.0 + 1_f32.exp())).abs() < 1e-5, "{places:?}");
    for result in &recall.results {
        let artifact = result.explanation.unwrap().artifact;
        let shares = artifact.passage + artifact.neighbourhood + artifact.time + artifact.priors;
        assert!((shares + artifact.reranker.unwrap().share - result.score).abs() < 1e-5, "{artifact:?}");
    }

    let first = ask(&memory, &f, 2, None).await;
    let rest = ask(&memory, &f, 2, first.next_cursor.clone()).await;
    assert_eq!([texts(&first), texts(&rest)].concat(), texts(&recall), "pages follow the same order");
}

#[tokio::test]
async fn one_that_is_late_or_fails_changes_nothing_and_the_answer_says_so() {
    let f = noted().await;
    let without = f.recall(QUESTION).await;
    let deadline = Duration::from_millis(100);
    for (broken, warning) in [
        (Broken::Late, "Not reranked: it would have taken over 100 ms."),
        (Broken::Failing, "Not reranked: the reranker failed: 3 passages were too many."),
    ] {
        let memory = reranking(&f, Arc::new(broken), deadline).await;
        let started = Instant::now();
        let recall = ask(&memory, &f, 10, None).await;
        assert!(started.elapsed() < Duration::from_secs(8));
        assert_eq!(
            recall.warnings.iter().filter(|told| *told == warning).count(),
            1,
            "{:?}",
            recall.warnings
        );
        assert_eq!(texts(&recall), texts(&without));
        assert!(recall.results[0].explanation.unwrap().artifact.reranker.is_none());
    }
}

#[tokio::test]
async fn a_server_uses_the_folder_that_it_is_given_and_refuses_one_without_a_model() {
    let data_dir = DataDir::warm();
    let mut command = data_dir.command("remembrancer");
    command.env("REMEMBRANCER_RERANKER_DIR", contrary()).env("REMEMBRANCER_RERANKER_DEADLINE_MS", "20000");
    let server = Server::start_with(command).await;
    for text in TEXTS {
        server.ask("remember", json!({"content": text, "context": "note"})).await;
    }
    server.settled().await;
    let found = server.ask("recall", json!({"query": QUESTION, "explain": true})).await;
    assert_eq!(found["results"][0]["snippet"], TEXTS[2], "{found}");
    assert_eq!(found["results"][0]["explain"]["reranker"]["rank"], 1, "{found}");
    server.terminate().await;

    let empty = DataDir::empty();
    let dir = empty.path().to_str().unwrap();
    let refused = data_dir.run(&["serve", "--bind", "127.0.0.1:0", "--reranker-dir", dir]).await;
    assert!(!refused.status.success());
    let expected =
        format!("the reranker is not available: {dir}: there is neither model.onnx nor onnx/model.onnx");
    assert!(refused.stderr.contains(&expected), "{}", refused.stderr);
}
