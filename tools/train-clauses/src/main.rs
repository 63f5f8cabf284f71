//! Trains the clause model of the rules extractor on labelled documents, and shows what it reaches on those it was not
//! trained on:
//! `cargo run --release -p train-clauses -- OUT.txt FOLDER… [--dump DUMP.jsonl FOLDER…]`
//!
//! A fifth of the documents at a time is left out and then read with the weights of the others. The thresholds are
//! chosen on those readings; the weights that are written are of all documents. How the text encoder of `remembrancer setup`
//! is blended in, and with which thresholds, is found on the fifth that it was not fine-tuned on. OUT is
//! `crates/memory-extraction/data/weights.txt`. With `--dump` all clauses, and what may be a name in documents whose names
//! are labelled, are written too, clauses of further folders read with the weights of all documents: `encoder/` learns from them.
//!
//! `cargo run --release -p train-clauses -- --names OUT.txt FOLDER…` trains the name model instead; OUT is
//! `crates/memory-extraction/data/name_weights.txt`. How the text encoder is blended in is found on the fifth that it was not
//! trained on. What clauses show depends on the names in them, so names come first.
//!
//! `cargo run --release -p train-clauses -- --directives OUT.txt FOLDER OTHERS…` trains the model of directives on the labelled texts
//! of FOLDER, and on notes and chats of the others; OUT is `crates/memory-core/data/directive_weights.txt`.

//!
//! `cargo run --release -p train-clauses -- --directives-dump DUMP.jsonl FOLDER… OTHERS` writes the sentences of the labelled texts of
//! FOLDER…, and of notes and chats of OTHERS: `encoder/directives.py` learns from them.

mod blend;
mod directives;
mod dump;
mod maxent;
mod names;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use measuring::extraction::{self, Document, Figures, Gold, Judged};
use memory_core::ports::TextEncoder;
use memory_extraction::{Blend, ClauseModel, EncoderInput, Odds, RulesExtractor, Thresholds, clauses_of};
use memory_inference::files::ModelSettings;

use blend::Pair;
use maxent::{Example, Label};

const FOLDS: usize = 5;
/// The fold whose documents the text encoder was not fine-tuned on.
const ENCODER_FOLD: usize = 0;
/// The least precision of any category on documents that were left out.
const PRECISION_MIN: f32 = 0.73;
/// The precision of all categories together on documents that neither features nor encoder were trained on, in all of them and in
/// short ones: there what others wrote is harder.
const BLENDED_PRECISION: f32 = 0.76;
const BLENDED_SHORT_PRECISION: f32 = 0.82;

/// The documents of these folders, by their names.
fn labelled(folders: &[String]) -> anyhow::Result<Vec<(&String, Document)>> {
    let mut documents = Vec::new();
    for folder in folders {
        let gold = Gold::read(Path::new(folder))?;
        for problem in &gold.problems {
            eprintln!("{problem}");
        }
        documents.extend(gold.documents.into_iter().map(|document| (folder, document)));
    }
    documents.sort_by(|(_, a), (_, b)| a.name.cmp(&b.name));
    Ok(documents)
}

/// Trains another model than that of clauses, or writes what one is trained on.
async fn other_way(way: &str, words: &[String]) -> anyhow::Result<()> {
    let (out, folders) = words.split_first().context("name the file to write and folders")?;
    match way {
        "--names" => names::write(out, &labelled(folders)?, encoder()?.as_deref()).await,
        "--directives" => {
            let (folder, others) = folders.split_first().context("name a folder of labelled texts")?;
            directives::write(out, folder, &labelled(others)?)
        }
        "--directives-dump" => {
            let (others, folders) = folders.split_last().context("name a folder of other documents")?;
            directives::dump(out, folders, &labelled(std::slice::from_ref(others))?)
        }
        _ => anyhow::bail!("{way} is not known: --names, --directives or --directives-dump"),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    memory_inference::environment::prepare()?;
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    if let Some((way, rest)) = words.split_first().filter(|(first, _)| first.starts_with("--")) {
        return other_way(way, rest).await;
    }
    let dump = words.iter().position(|word| word == "--dump").map(|at| words.split_off(at));
    let (out, folders) =
        words.split_first().context("name the file to write and folders of labelled documents")?;
    let documents = labelled(folders)?;
    let encoder = encoder()?;
    let examples = examples_of(&documents, encoder.as_deref()).await?;
    println!("{} documents, {} clauses", documents.len(), examples.len());

    let folds: Vec<maxent::Weights> = (0..FOLDS)
        .map(|fold| maxent::train(&examples.iter().filter(|one| one.fold != fold).collect::<Vec<_>>()))
        .collect();
    let by_fold = |text: &[Example]| odds_of(text, &folds);
    let thresholds = maxent::thresholds(&maxent::left_out(&examples, by_fold), PRECISION_MIN);
    if let Some([_, dump_file, others @ ..]) = dump.as_deref() {
        let all = maxent::train(&examples.iter().collect::<Vec<_>>());
        let others = read_others(others, encoder.as_deref()).await?;
        dump::write(dump_file, &documents, &examples, &folds, &all, &others)?;
    }
    let blended = blended(encoder.as_deref(), &documents, &examples, &folds).await?;
    println!("{blended:?}");

    let mut judged = Vec::new();
    let (mut plain, mut encoded) = (Vec::new(), Vec::new());
    for (fold, weights) in folds.iter().enumerate() {
        let weights = maxent::written(weights, &thresholds, &blended);
        let model = || ClauseModel::parse(&weights).map_err(anyhow::Error::msg);
        let extractor = RulesExtractor::with_model(Some(model()?));
        let with_encoder = RulesExtractor::with_model(Some(model()?)).with_encoder(encoder.clone());
        let alone = RulesExtractor::with_model(None);
        for (folder, document) in documents.iter().filter(|(_, document)| fold_of(document) == fold) {
            let one = std::slice::from_ref(document);
            judged.extend(extraction::run(&extractor, one).await?.into_iter().map(|one| (*folder, one)));
            plain.extend(extraction::run(&alone, one).await?);
            if fold == ENCODER_FOLD {
                encoded.extend(extraction::run(&with_encoder, one).await?);
            }
        }
    }
    println!("The hand-written rules alone:\n{}", Figures::of(&plain).table());
    println!(
        "With the model, each document by weights trained without it:\n{}",
        Figures::of(&judged.iter().map(|(_, one)| one.clone()).collect::<Vec<_>>()).table()
    );
    println!(
        "With the encoder too, the documents that neither was trained on:\n{}",
        Figures::of(&encoded).table()
    );
    for folder in folders {
        let own: Vec<Judged<'_>> =
            judged.iter().filter(|(from, _)| *from == folder).map(|(_, one)| one.clone()).collect();
        let Figures { documents, strict, .. } = Figures::of(&own);
        let [precision, recall, f1] = [strict.precision, strict.recall, strict.f1]
            .map(|figure| figure.map_or(0.0, |figure| figure.value * 100.0));
        println!("{documents} of {folder}: events, strict, P {precision:.1}, R {recall:.1}, F1 {f1:.1}");
    }

    let weights = maxent::train(&examples.iter().collect::<Vec<_>>());
    let weights = maxent::written(&weights, &thresholds, &blended);
    std::fs::write(out, &weights).with_context(|| format!("{out} cannot be written"))?;
    println!("{} bytes of weights in {out}", weights.len());
    Ok(())
}

/// The encoder of `remembrancer setup`.
fn encoder() -> anyhow::Result<Option<Arc<dyn TextEncoder>>> {
    let data_dir = std::env::var_os("REMEMBRANCER_DATA_DIR").map(PathBuf::from);
    Ok(ModelSettings { data_dir, model_dir: None }.text_encoder()?)
}

/// The documents of further folders, with their clauses.
async fn read_others(
    folders: &[String],
    encoder: Option<&dyn TextEncoder>,
) -> anyhow::Result<Vec<(String, Document, Vec<Example>)>> {
    let mut read = Vec::new();
    for folder in folders {
        for document in Gold::read(Path::new(folder))?.documents {
            let clauses = examples(0, &document, encoder).await?;
            read.push((folder.clone(), document, clauses));
        }
    }
    Ok(read)
}

/// By its name, so that it stays the same when documents are added.
fn fold_of(document: &Document) -> usize {
    let hash = |sum: usize, byte: u8| sum.wrapping_mul(31).wrapping_add(usize::from(byte));
    document.name.bytes().fold(7, hash) % FOLDS
}

fn odds_of(text: &[Example], folds: &[maxent::Weights]) -> Vec<Odds> {
    text.iter().map(|one| maxent::odds_of(one, &folds[one.fold])).collect()
}

/// How the encoder is blended in, and the thresholds with it.
async fn blended(
    encoder: Option<&dyn TextEncoder>,
    documents: &[(&String, Document)],
    examples: &[Example],
    folds: &[maxent::Weights],
) -> anyhow::Result<(Blend, Thresholds)> {
    let encoder = encoder.context("there is no text encoder: run `remembrancer setup`")?;
    let mut read = BTreeMap::new();
    let mut pairs = Vec::new();
    for text in examples.chunk_by(|a, b| a.document == b.document) {
        let number = text[0].document;
        let odds = odds_of(text, folds);
        if text[0].fold != ENCODER_FOLD {
            continue;
        }
        let input = EncoderInput::of(&documents[number].1.source, Some(encoder), &odds).await?;
        let Some(input) = input else { continue };
        let logits = encoder.clause_logits(input.text, input.clauses).await?;
        for (at, logits) in input.numbers.iter().zip(&logits) {
            let pair = |targets| Pair { odds: odds[*at], logits: *logits, targets };
            pairs.extend(text[*at].targets.map(pair));
        }
        read.insert(number, (input.numbers, logits));
    }
    let blend = blend::fit(&pairs);
    let unseen: Vec<Example> = examples.iter().filter(|one| one.fold == ENCODER_FOLD).cloned().collect();
    let left_out = maxent::left_out(&unseen, |text| {
        let mut odds = odds_of(text, folds);
        if let Some((numbers, logits)) = read.get(&text[0].document) {
            blend.join(&mut odds, numbers, logits);
        }
        odds
    });
    Ok((blend, maxent::lowest_thresholds(&left_out, BLENDED_PRECISION, BLENDED_SHORT_PRECISION)))
}

/// Of all documents, those of one together.
async fn examples_of(
    documents: &[(&String, Document)],
    encoder: Option<&dyn TextEncoder>,
) -> anyhow::Result<Vec<Example>> {
    let mut all = Vec::new();
    for (number, (_, document)) in documents.iter().enumerate() {
        all.extend(examples(number, document, encoder).await?);
    }
    Ok(all)
}

async fn examples(
    number: usize,
    document: &Document,
    encoder: Option<&dyn TextEncoder>,
) -> anyhow::Result<Vec<Example>> {
    let labels: Vec<Label> = document
        .events
        .iter()
        .map(|event| Label {
            categories: event.categories.clone(),
            spans: event.spans.iter().map(|span| (span.start, span.end)).collect(),
            is_optional: event.is_optional,
        })
        .collect();
    let clauses = clauses_of(&document.source, encoder).await?;
    let spans: Vec<(usize, usize)> =
        clauses.iter().map(|clause| (clause.span.start, clause.span.end)).collect();
    let targets = maxent::targets(&spans, &labels);
    let examples = clauses.into_iter().zip(spans).zip(targets);
    Ok(examples
        .map(|((clause, span), targets)| Example {
            document: number,
            fold: fold_of(document),
            span,
            features: clause.features,
            targets,
        })
        .collect())
}
