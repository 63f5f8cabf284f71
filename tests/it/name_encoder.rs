//! The name encoder of setup: it gives what the program that trained it gives, and texts wait while it fails.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use memory_core::artifact::Context;
use memory_core::entity::EntityType;
use memory_core::ports::{
    EncoderError, Encoders, ExtractError, Extractor, NAME_CLASSES, NameEncoder, Segment, SourceText,
};
use memory_extraction::RulesExtractor;
use memory_inference::encoders::{NAME_ADAPTER, NAME_ENCODER_FILE, OnnxEncoders};
use memory_tests::process::DataDir;
use memory_tests::{copied_model, model_dir, onnxruntime_library};
use serde::Deserialize;
use sha2::{Digest, Sha256};

/// `tools/train-clauses/encoder/logits_names.py` of some texts, with weights of 32 bits.
const REFERENCE: &str = include_str!("../fixtures/name-logits.jsonl");

#[derive(Deserialize)]
struct Reference {
    text: String,
    names: Vec<Name>,
}

#[derive(Deserialize)]
struct Name {
    name: String,
    /// In bytes.
    places: Vec<[usize; 2]>,
    logits: [f32; NAME_CLASSES],
}

impl Name {
    fn places(&self) -> Vec<Range<usize>> {
        self.places.iter().map(|[start, end]| *start..*end).collect()
    }
}

fn encoder(folder: &Path) -> Arc<dyn NameEncoder> {
    OnnxEncoders::in_folder(folder, &onnxruntime_library()).names.expect("it is there")
}

fn odds(logits: &[f32; NAME_CLASSES]) -> [f32; NAME_CLASSES] {
    let odds = logits.map(f32::exp);
    let all: f32 = odds.iter().sum();
    odds.map(|odd| odd / all)
}

fn source(text: &str) -> SourceText {
    SourceText {
        context: Context::Note,
        title: None,
        author: None,
        participants: Vec::new(),
        segments: vec![Segment { text: text.to_owned(), speaker: None, date: None, context_only: false }],
    }
}

/// Rules with a name encoder of the test's own.
fn rules(names: Arc<dyn NameEncoder>) -> RulesExtractor {
    RulesExtractor::new().with_encoders(Encoders { names: Some(names), ..Encoders::default() })
}

#[tokio::test]
async fn names_get_the_classes_that_the_training_program_gives_them() {
    let encoder = encoder(&model_dir());
    let mut differences = Vec::new();
    for line in REFERENCE.lines() {
        let Reference { text, names } = serde_json::from_str(line).expect("a reference");
        let places: Vec<Vec<Range<usize>>> = names.iter().map(Name::places).collect();
        let logits = encoder.name_logits(text.clone(), places.clone()).await.expect("they are read");
        assert_eq!(logits.len(), names.len());
        // Weights of 8 bits: names that could be either move most.
        for (logits, wanted) in logits.iter().zip(&names) {
            for place in wanted.places() {
                assert_eq!(text[place], wanted.name);
            }
            for (odd, wanted_odd) in odds(logits).iter().zip(odds(&wanted.logits)) {
                assert!((odd - wanted_odd).abs() < 0.25, "{}: {logits:?} {:?}", wanted.name, wanted.logits);
                differences.push((odd - wanted_odd).abs());
            }
        }
        let again = encoder.name_logits(text, places).await.expect("they are read");
        assert_eq!(again, logits, "the same text gives the same numbers");
    }
    let mean = differences.iter().sum::<f32>() / differences.len() as f32;
    assert!(!differences.is_empty() && mean < 0.02, "{mean}");
}

#[tokio::test]
async fn texts_of_every_shape_are_read() {
    let encoder = encoder(&model_dir());
    let long = format!("{} ", "word".repeat(30)).repeat(400);
    let texts = ["é", " . ", "\u{202e}مرحبا", "🙂🙂🙂", "a\r\nb", "\u{200b}", &long, &"x".repeat(5_000)];
    for text in texts {
        let whole = 0..text.len();
        let end = text.len()..text.len();
        let names = vec![vec![whole.clone(), whole, end], Vec::new()];
        let logits = encoder.name_logits(text.to_owned(), names).await.expect("it is read");
        assert_eq!(logits.len(), 2);
        assert!(logits.iter().flatten().all(|logit| logit.is_finite()), "{text:.20}");
    }
    assert_eq!(encoder.name_logits(String::new(), Vec::new()).await, Ok(Vec::new()));
}

#[test]
fn another_adapter_has_another_file_name() {
    let sum: String = Sha256::digest(NAME_ADAPTER).iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(
        (NAME_ENCODER_FILE, sum.as_str()),
        ("name_encoder_1.onnx", "c14a8f93"),
        "the adapter changed: raise the number in NAME_ENCODER_FILE, so that setup makes the model anew"
    );
}

#[tokio::test]
async fn a_damaged_encoder_fails_what_is_read_until_it_is_mended() {
    let folder = DataDir::empty();
    let model = folder.path().join("model");
    copied_model(&model);
    let file = model.join(NAME_ENCODER_FILE);
    let whole = std::fs::read(&file).expect("it is read");
    std::fs::write(&file, &whole[..whole.len() / 2]).expect("it is cut short");
    let rules = rules(encoder(&model));
    let text = source("They moved the depot to Ostrava.");
    match rules.extract(&text).await {
        Err(ExtractError::Failed(reason)) => {
            assert!(reason.contains(NAME_ENCODER_FILE) && reason.contains("damaged"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
    std::fs::write(&file, &whole).expect("it is mended");
    rules.extract(&text).await.expect("it is read");
    std::fs::remove_file(&file).expect("it goes");
    let encoders = OnnxEncoders::in_folder(&model, &onnxruntime_library());
    assert!(encoders.names.is_none() && encoders.clauses.is_some(), "an installation from before it");
}

/// Finds a project, or nothing, in all that it is given.
#[derive(Debug)]
struct Same([f32; NAME_CLASSES]);

#[async_trait]
impl NameEncoder for Same {
    async fn name_logits(
        &self,
        text: String,
        names: Vec<Vec<Range<usize>>>,
    ) -> Result<Vec<[f32; NAME_CLASSES]>, EncoderError> {
        assert!(names.iter().all(|places| !places.is_empty() && places.len() <= 12));
        assert!(names.iter().flatten().all(|place| text[place.clone()].chars().any(char::is_alphanumeric)));
        Ok(vec![self.0; names.len()])
    }
}

#[tokio::test]
async fn what_the_encoder_says_of_open_names_counts() {
    let text = source("They wrote about Zemlokra again, at length and without any result that helps.");
    let names = async |logits| {
        let found = rules(Arc::new(Same(logits))).extract(&text).await.expect("it is read");
        found.entities.into_iter().map(|entity| (entity.name, entity.entity_type)).collect::<Vec<_>>()
    };
    let mut project = [0.0; NAME_CLASSES];
    project[3] = 40.0;
    assert_eq!(names(project).await, [("Zemlokra".to_owned(), EntityType::Project)]);
    let mut nothing = [0.0; NAME_CLASSES];
    nothing[0] = 40.0;
    assert_eq!(names(nothing).await, []);
}

#[test]
fn what_is_found_with_and_without_an_encoder_is_told_apart() {
    let both = OnnxEncoders::in_folder(&model_dir(), &onnxruntime_library());
    let clauses = Encoders { names: None, ..both.clone() };
    let versions = [Encoders::default(), clauses, both]
        .map(|encoders| RulesExtractor::new().with_encoders(encoders).version());
    assert!(versions[0] < versions[1] && versions[1] < versions[2], "{versions:?}");
}
