//! The text encoder of setup: it gives what the program that trained it gives, and texts wait while it fails.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use memory_core::artifact::Context;
use memory_core::entity::EntityType;
use memory_core::ports::{
    CLAUSE_CLASSES, DIRECTIVE_CLASSES, ExtractError, Extractor, NAME_CLASSES, Segment, SourceText,
    TextEncoder,
};
use memory_extraction::RulesExtractor;
use memory_inference::adapted::{ADAPTED_MODELS, TEXT_ENCODER};
use memory_inference::text_encoder::OnnxTextEncoder;
use memory_tests::process::{DataDir, Server, eventually};
use memory_tests::{copied_model, model_dir, onnxruntime_library};
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::stand_ins::ConstantEncoder;

const MODEL: &str = "models/all-MiniLM-L6-v2-int8";
/// `tools/train-clauses/encoder/logits.py` of some texts, with weights of 32 bits.
const REFERENCE: &str = include_str!("../fixtures/text-encoder.jsonl");

/// A text with its names and clauses; places are in bytes.
#[derive(Deserialize)]
struct Reference {
    text: Arc<str>,
    names: Vec<Name>,
    clauses: Vec<Clause>,
    /// The log-odds that the last line takes the place of the first.
    replaced: f32,
}

#[derive(Deserialize)]
struct Name {
    places: Vec<[usize; 2]>,
    logits: [f32; NAME_CLASSES],
}

#[derive(Deserialize)]
struct Clause {
    place: [usize; 2],
    logits: [f32; CLAUSE_CLASSES],
    /// The log-odds that it states a directive, by whose words it has.
    directive: [f32; DIRECTIVE_CLASSES],
    revises: f32,
    binds: f32,
}

impl Reference {
    fn all() -> impl Iterator<Item = Self> {
        REFERENCE.lines().map(|line| serde_json::from_str(line).expect("a reference"))
    }

    fn names(&self) -> Vec<Vec<Range<usize>>> {
        let range = |[start, end]: &[usize; 2]| *start..*end;
        self.names.iter().map(|name| name.places.iter().map(range).collect()).collect()
    }

    fn clauses(&self) -> Vec<Range<usize>> {
        self.clauses.iter().map(|clause| clause.place[0]..clause.place[1]).collect()
    }
}

fn encoder(folder: &Path) -> Arc<dyn TextEncoder> {
    OnnxTextEncoder::in_folder(folder, &onnxruntime_library()).expect("it is there")
}

fn odds<const CLASSES: usize>(logits: &[f32; CLASSES]) -> [f32; CLASSES] {
    let odds = logits.map(f32::exp);
    let all: f32 = odds.iter().sum();
    odds.map(|odd| odd / all)
}

/// How far odds are from those that are wanted. Weights of 8 bits: what could be either moves most.
fn differences<const CLASSES: usize>(logits: &[f32; CLASSES], wanted: &[f32; CLASSES]) -> Vec<f32> {
    let differences: Vec<f32> =
        odds(logits).iter().zip(odds(wanted)).map(|(odd, wanted)| (odd - wanted).abs()).collect();
    assert!(differences.iter().all(|difference| *difference < 0.5), "{logits:?} {wanted:?}");
    differences
}

fn source(context: Context, text: &str) -> SourceText {
    SourceText {
        context,
        title: None,
        author: None,
        participants: Vec::new(),
        segments: vec![Segment {
            text: text.to_owned(),
            speaker: None,
            date: None,
            context_only: false,
            is_date_of_storing: false,
        }],
    }
}

fn rules(encoder: Arc<dyn TextEncoder>) -> RulesExtractor {
    RulesExtractor::new().with_encoder(Some(encoder))
}

#[tokio::test]
async fn names_clauses_and_sentences_get_the_classes_that_the_training_program_gives_them() {
    let encoder = encoder(&model_dir());
    let mut all = Vec::new();
    for reference in Reference::all() {
        let text = &reference.text;
        let names = encoder.name_logits(Arc::clone(text), reference.names()).await.expect("they are read");
        assert_eq!(names.len(), reference.names.len());
        for (logits, wanted) in names.iter().zip(&reference.names) {
            all.extend(differences(logits, &wanted.logits));
        }
        let clauses =
            encoder.clause_logits(Arc::clone(text), reference.clauses()).await.expect("they are read");
        assert_eq!(clauses.len(), reference.clauses.len());
        for (logits, wanted) in clauses.iter().zip(&reference.clauses) {
            all.extend(differences(logits, &wanted.logits));
        }
        let stating =
            encoder.directive_logits(Arc::clone(text), reference.clauses()).await.expect("they are read");
        let mut log_odds = Vec::new();
        for (logits, wanted) in stating.iter().zip(&reference.clauses) {
            log_odds.extend(logits.states.into_iter().zip(wanted.directive));
            log_odds.extend([(logits.revises, wanted.revises), (logits.binds, wanted.binds)]);
        }
        let line = |clause: &Clause| Arc::from(&text[clause.place[0]..clause.place[1]]);
        let pair = [&reference.clauses[0], &reference.clauses[reference.clauses.len() - 1]].map(line);
        let replaced = encoder.replacement_logits(vec![pair]).await.expect("they are read");
        log_odds.push((replaced[0], reference.replaced));
        all.extend(log_odds.iter().flat_map(|(one, wanted)| differences(&[0.0, *one], &[0.0, *wanted])));
    }
    let mean = all.iter().sum::<f32>() / all.len() as f32;
    assert!(!all.is_empty() && mean < 0.02, "{mean}");
}

#[tokio::test]
async fn what_was_read_before_changes_nothing() {
    let encoder = encoder(&model_dir());
    // Longer than what is kept of a text between its names and its clauses.
    let references: Vec<Reference> = Reference::all().collect();
    let one: String = references.iter().map(|reference| format!("{}\n", reference.text)).collect();
    let long: Arc<str> = one.repeat(60_000 / one.len() + 1).into();
    let lines = |text: &str| {
        let mut at = 0;
        let ranges = text.split('\n').map(|line| {
            let range = at..at + line.len();
            at = range.end + 1;
            range
        });
        ranges.filter(|range| !range.is_empty()).collect::<Vec<_>>()
    };
    for text in references.iter().map(|reference| &reference.text).chain([&long]) {
        let clauses = lines(text);
        let alone = encoder.clause_logits(Arc::clone(text), clauses.clone()).await.expect("they are read");
        let names = vec![vec![clauses[0].clone(), clauses[clauses.len() - 1].clone()]];
        encoder.name_logits(Arc::clone(text), names).await.expect("they are read");
        let after = encoder.clause_logits(Arc::clone(text), clauses).await.expect("they are read");
        assert_eq!(alone, after);
    }
}

#[tokio::test]
async fn texts_of_every_shape_are_read() {
    let encoder = encoder(&model_dir());
    let long = format!("{} ", "word".repeat(30)).repeat(400);
    let texts = ["é", " . ", "\u{202e}مرحبا", "🙂🙂🙂", "a\r\nb", "\u{200b}", &long, &"x".repeat(5_000)];
    for text in texts {
        let whole = 0..text.len();
        let end = text.len()..text.len();
        let names = vec![vec![whole.clone(), whole.clone(), end.clone()], Vec::new()];
        let logits = encoder.name_logits(text.into(), names).await.expect("it is read");
        assert_eq!(logits.len(), 2);
        assert!(logits.iter().flatten().all(|logit| logit.is_finite()), "{text:.20}");
        let logits = encoder.clause_logits(text.into(), vec![whole, end]).await.expect("it is read");
        assert_eq!(logits.len(), 2);
        assert!(logits.iter().flatten().all(|logit| logit.is_finite()), "{text:.20}");
    }
    assert_eq!(encoder.name_logits("".into(), Vec::new()).await, Ok(Vec::new()));
    assert_eq!(encoder.clause_logits("".into(), Vec::new()).await, Ok(Vec::new()));
}

#[test]
fn another_adapter_has_another_file_name() {
    let sums = ADAPTED_MODELS.map(|model| {
        let sum = Sha256::digest(model.adapter)
            .iter()
            .take(4)
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>();
        (model.file, sum)
    });
    assert_eq!(
        sums.each_ref().map(|(name, sum)| (*name, sum.as_str())),
        [
            ("text_encoder_13.onnx", "18cbd668"),
            ("pair_encoder_3.onnx", "8ffa1daf"),
            ("bearing_encoder_3.onnx", "788872a5")
        ],
        "an adapter changed: raise the number in the name of its file, so that setup makes the model anew"
    );
}

#[tokio::test]
async fn a_damaged_encoder_fails_what_is_read_until_it_is_mended() {
    let folder = DataDir::empty();
    let model = folder.path().join("model");
    copied_model(&model);
    let file = model.join(TEXT_ENCODER.file);
    let whole = std::fs::read(&file).expect("it is read");
    std::fs::write(&file, &whole[..whole.len() / 2]).expect("it is cut short");
    let rules = rules(encoder(&model));
    let text = source(Context::Meeting, "Anna will send the price list to Bruno by Friday.");
    match rules.extract(&text).await {
        Err(ExtractError::Failed(reason)) => {
            assert!(reason.contains(TEXT_ENCODER.file) && reason.contains("damaged"), "{reason}");
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
    std::fs::remove_file(model.join(TEXT_ENCODER.file)).expect("it goes");
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
    assert!(shown.contains("without the text encoder") && shown.contains("`remembrancer setup`"), "{shown}");
    let doctor = data_dir.run(&["doctor", "--json"]).await.json();
    let checks = doctor["checks"].as_array().expect("checks");
    let check = checks.iter().find(|check| check["check"] == "encoder").expect("it is checked");
    assert_eq!(check["verdict"], "warning", "{check}");
    assert!(check["advice"].as_str().is_some_and(|advice| advice.contains("remembrancer setup")), "{check}");
}

#[tokio::test]
async fn what_the_encoder_says_of_open_names_counts() {
    let text = "They wrote about Zemlokra again, at length and without any result that helps.";
    let text = source(Context::Note, text);
    let names = async |names| {
        let found = rules(ConstantEncoder::of_names(names)).extract(&text).await.expect("it is read");
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
fn what_is_found_with_and_without_the_encoder_is_told_apart() {
    let with = rules(encoder(&model_dir())).version();
    assert!(RulesExtractor::new().version() < with);
}
