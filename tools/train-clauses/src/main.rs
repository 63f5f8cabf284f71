//! Trains the clause model of the rules extractor on labelled documents, and shows what it reaches on those it was not
//! trained on:
//! `cargo run --release -p train-clauses -- OUT.txt FOLDER… [--dump DUMP.jsonl FOLDER…]`
//!
//! A fifth of the documents at a time is left out and then read with the weights of the others. The thresholds are
//! chosen on those readings; the weights that are written are of all documents. OUT is
//! `crates/memory-extraction/data/weights.txt`. With `--dump` all clauses are written too, those of further folders read with
//! the weights of all documents: `encoder/` learns from them.

mod dump;
mod maxent;

use std::path::Path;

use anyhow::Context;
use measuring::extraction::{self, Document, Figures, Gold, Judged};
use memory_extraction::{ClauseModel, RulesExtractor, clauses_of};

use maxent::{Example, Label};

const FOLDS: usize = 5;
/// The least precision of any category on documents that were left out.
const PRECISION_MIN: f32 = 0.73;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let dump = words.iter().position(|word| word == "--dump").map(|at| words.split_off(at));
    let (out, folders) =
        words.split_first().context("name the file to write and folders of labelled documents")?;
    let mut documents = Vec::new();
    for folder in folders {
        let gold = Gold::read(Path::new(folder))?;
        for problem in &gold.problems {
            eprintln!("{problem}");
        }
        documents.extend(gold.documents.into_iter().map(|document| (folder, document)));
    }
    documents.sort_by(|(_, a), (_, b)| a.name.cmp(&b.name));
    let examples: Vec<Example> =
        documents.iter().enumerate().flat_map(|(number, (_, document))| examples(number, document)).collect();
    println!("{} documents, {} clauses", documents.len(), examples.len());

    let folds: Vec<maxent::Weights> = (0..FOLDS)
        .map(|fold| {
            maxent::train(&examples.iter().filter(|one| one.document % FOLDS != fold).collect::<Vec<_>>())
        })
        .collect();
    let left_out = maxent::left_out(&examples, &folds);
    let thresholds = maxent::thresholds(&left_out, PRECISION_MIN);
    if let Some([_, dump_file, others @ ..]) = dump.as_deref() {
        let all = maxent::train(&examples.iter().collect::<Vec<_>>());
        dump::write(dump_file, &documents, &examples, &folds, &all, others)?;
    }

    let mut judged = Vec::new();
    let mut plain = Vec::new();
    for (fold, weights) in folds.iter().enumerate() {
        let model = ClauseModel::parse(&maxent::written(weights, &thresholds)).map_err(anyhow::Error::msg)?;
        let extractor = RulesExtractor::with_model(Some(model));
        let alone = RulesExtractor::with_model(None);
        for (_, (folder, document)) in
            documents.iter().enumerate().filter(|(number, _)| number % FOLDS == fold)
        {
            let one = std::slice::from_ref(document);
            judged.extend(extraction::run(&extractor, one).await?.into_iter().map(|one| (*folder, one)));
            plain.extend(extraction::run(&alone, one).await?);
        }
    }
    println!("The hand-written rules alone:\n{}", Figures::of(&plain).table());
    println!(
        "With the model, each document by weights trained without it:\n{}",
        Figures::of(&judged.iter().map(|(_, one)| one.clone()).collect::<Vec<_>>()).table()
    );
    for folder in folders {
        let own: Vec<Judged<'_>> =
            judged.iter().filter(|(from, _)| *from == folder).map(|(_, one)| one.clone()).collect();
        let Figures { documents, strict, .. } = Figures::of(&own);
        let [precision, recall, f1] = [strict.precision, strict.recall, strict.f1]
            .map(|figure| figure.map_or(0.0, |figure| figure.value * 100.0));
        println!("{documents} of {folder}: events, strict, P {precision:.1}, R {recall:.1}, F1 {f1:.1}");
    }

    let weights = maxent::written(&maxent::train(&examples.iter().collect::<Vec<_>>()), &thresholds);
    std::fs::write(out, &weights).with_context(|| format!("{out} cannot be written"))?;
    println!("{} bytes of weights in {out}", weights.len());
    Ok(())
}

fn examples(number: usize, document: &Document) -> Vec<Example> {
    let labels: Vec<Label> = document
        .events
        .iter()
        .map(|event| Label {
            categories: event.categories.clone(),
            spans: event.spans.iter().map(|span| (span.start, span.end)).collect(),
            is_optional: event.is_optional,
        })
        .collect();
    let clauses = clauses_of(&document.source);
    let spans: Vec<(usize, usize)> =
        clauses.iter().map(|clause| (clause.span.start, clause.span.end)).collect();
    let targets = maxent::targets(&spans, &labels);
    let examples = clauses.into_iter().zip(spans).zip(targets);
    examples
        .map(|((clause, span), targets)| Example {
            document: number,
            span,
            features: clause.features,
            targets,
        })
        .collect()
}
