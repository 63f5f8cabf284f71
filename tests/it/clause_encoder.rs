//! The clause encoder of setup: it gives what the program that trained it gives, and texts wait while it fails.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use memory_core::artifact::Context;
use memory_core::ports::{ClauseEncoder, Encoders, ExtractError, Extractor, Segment, SourceText};
use memory_extraction::RulesExtractor;
use memory_inference::encoders::{CLAUSE_ADAPTER, CLAUSE_ENCODER_FILE, OnnxEncoders};
use memory_tests::process::{DataDir, Server, eventually};
use memory_tests::{copied_model, model_dir, onnxruntime_library};
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest, Sha256};

const MODEL: &str = "models/all-MiniLM-L6-v2-int8";
const TEXT: &str = include_str!("../fixtures/clauses.txt");
/// `tools/train-clauses/encoder/logits.py` of the text, with weights of 32 bits.
const REFERENCE: &str = include_str!("../fixtures/clause-logits.jsonl");

#[derive(Deserialize)]
struct Reference {
    clause: String,
    logits: [f32; 9],
}

fn encoder(folder: &Path) -> Arc<dyn ClauseEncoder> {
    OnnxEncoders::in_folder(folder, &onnxruntime_library()).clauses.expect("it is there")
}

fn lines(text: &str) -> Vec<Range<usize>> {
    let mut at = 0;
    let ranges = text.split('\n').map(|line| {
        let range = at..at + line.len();
        at = range.end + 1;
        range
    });
    ranges.filter(|range| !range.is_empty()).collect()
}

fn odds(logits: &[f32; 9]) -> [f32; 9] {
    let odds = logits.map(f32::exp);
    let all: f32 = odds.iter().sum();
    odds.map(|odd| odd / all)
}

fn source(text: &str) -> SourceText {
    SourceText {
        context: Context::Meeting,
        title: None,
        author: None,
        participants: Vec::new(),
        segments: vec![Segment { text: text.to_owned(), speaker: None, date: None, context_only: false }],
    }
}

#[tokio::test]
async fn clauses_get_the_classes_that_the_training_program_gives_them() {
    let reference: Vec<Reference> =
        REFERENCE.lines().map(|line| serde_json::from_str(line).expect("a reference")).collect();
    let clauses = lines(TEXT);
    let encoder = encoder(&model_dir());
    let logits = encoder.logits(TEXT.to_owned(), clauses.clone()).await.expect("they are read");
    assert_eq!(logits.len(), reference.len());
    // Weights of 8 bits: clauses that could be either move most.
    let mut differences = Vec::new();
    for ((range, logits), wanted) in clauses.iter().zip(&logits).zip(&reference) {
        assert_eq!(TEXT[range.clone()], wanted.clause);
        for (odd, wanted_odd) in odds(logits).iter().zip(odds(&wanted.logits)) {
            assert!((odd - wanted_odd).abs() < 0.25, "{}: {logits:?} {:?}", wanted.clause, wanted.logits);
            differences.push((odd - wanted_odd).abs());
        }
    }
    let mean = differences.iter().sum::<f32>() / differences.len() as f32;
    assert!(mean < 0.02, "{mean}");
    let again = encoder.logits(TEXT.to_owned(), clauses).await.expect("they are read");
    assert_eq!(again, logits, "the same text gives the same numbers");
}

#[tokio::test]
async fn texts_of_every_shape_are_read() {
    let encoder = encoder(&model_dir());
    let long = format!("{} ", "word".repeat(30)).repeat(400);
    for text in ["é", " . ", "\u{202e}مرحبا بالعالم", "🙂🙂🙂", "a\r\nb", long.as_str(), &"x".repeat(5_000)]
    {
        let clauses = lines(text);
        let logits = encoder.logits(text.to_owned(), clauses.clone()).await.expect("it is read");
        assert_eq!(logits.len(), clauses.len());
        assert!(logits.iter().flatten().all(|logit| logit.is_finite()), "{text:.20}");
    }
    assert_eq!(encoder.logits(String::new(), Vec::new()).await, Ok(Vec::new()));
}

#[test]
fn another_adapter_has_another_file_name() {
    let sum: String =
        Sha256::digest(CLAUSE_ADAPTER).iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(
        (CLAUSE_ENCODER_FILE, sum.as_str()),
        ("clause_encoder_6.onnx", "7f05ee4e"),
        "the adapter changed: raise the number in CLAUSE_ENCODER_FILE, so that setup makes the model anew"
    );
}

#[tokio::test]
async fn a_damaged_encoder_fails_what_is_read_until_it_is_mended() {
    let folder = DataDir::empty();
    let model = folder.path().join("model");
    copied_model(&model);
    let file = model.join(CLAUSE_ENCODER_FILE);
    let whole = std::fs::read(&file).expect("it is read");
    std::fs::write(&file, &whole[..whole.len() / 2]).expect("it is cut short");
    let encoders = Encoders { clauses: Some(encoder(&model)), names: None };
    let rules = RulesExtractor::new().with_encoders(encoders);
    let text = source("Anna will send the price list to Bruno by Friday.");
    match rules.extract(&text).await {
        Err(ExtractError::Failed(reason)) => {
            assert!(reason.contains(CLAUSE_ENCODER_FILE) && reason.contains("damaged"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
    std::fs::write(&file, &whole).expect("it is mended");
    let found = rules.extract(&text).await.expect("it is read");
    assert_eq!(found.events.len(), 1, "{found:?}");
}

#[tokio::test]
async fn an_installation_from_before_there_was_an_encoder_goes_on_and_is_told_how_to_get_it() {
    let data_dir = DataDir::warm();
    let models = data_dir.path().join("models");
    std::fs::remove_file(&models).expect("the link goes");
    let model = data_dir.path().join(MODEL);
    copied_model(&model);
    std::fs::remove_file(model.join(CLAUSE_ENCODER_FILE)).expect("it goes");
    memory_inference::integrity::write_sums(&model).expect("the sums are noted");

    let server = Server::start(&data_dir).await;
    server.ask("remember", json!({"content": "Anna will send the price list to Bruno by Friday."})).await;
    eventually("it is read without the encoder", Duration::from_secs(20), async || {
        let found = server.ask("recall", json!({"query": "What will Anna send?"})).await;
        found["results"][0]["events"][0]["category"] == "Commitment"
    })
    .await;
    let status = data_dir.run(&["status", "--json"]).await;
    let shown = status.json().to_string();
    assert!(
        shown.contains("without the clause encoder") && shown.contains("`remembrancer setup`"),
        "{shown}"
    );
    let doctor = data_dir.run(&["doctor", "--json"]).await.json();
    let checks = doctor["checks"].as_array().expect("checks");
    let check = checks.iter().find(|check| check["check"] == "encoder").expect("it is checked");
    assert_eq!(check["verdict"], "warning", "{check}");
    assert!(check["advice"].as_str().is_some_and(|advice| advice.contains("remembrancer setup")), "{check}");
}
