//! Trains the name model: what the candidates of a source name, by its labelled entities.

use std::collections::BTreeSet;
use std::io::Write as _;

use anyhow::Context as _;
use measuring::extraction::Document;
use memory_core::entity::{EntityType, normalised_name};
use memory_extraction::{NAME_CLASSES, NAME_FEATURES_VERSION, NAME_SCALE, NameModel, names_of};
use serde::Serialize;

use super::maxent::{self, Example};
use super::{FOLDS, fold_of};

/// How likely a person, an organisation, a project and a place must be where the rules are silent: below these hardly more were
/// right than wrong in documents left out.
const THRESHOLDS: [f32; 4] = [0.60, 0.40, 0.50, 0.40];

/// Objects and all other names are one class.
const REST: usize = NAME_CLASSES - 1;

type Candidate = Example<NAME_CLASSES>;

/// Writes weights of all documents, and shows what those of others find in each fifth of them.
pub(crate) fn write(out: &str, documents: &[(&String, Document)]) -> anyhow::Result<()> {
    let whole = documents.iter().map(|(_, document)| document).filter(|document| document.is_whole);
    let examples: Vec<Candidate> =
        whole.enumerate().flat_map(|(number, document)| examples(number, document)).collect();
    println!("{} candidates", examples.len());
    let mut counts = [[0_usize; 3]; THRESHOLDS.len()];
    for fold in 0..FOLDS {
        let weights = maxent::train(&examples.iter().filter(|one| one.fold != fold).collect::<Vec<_>>());
        for one in examples.iter().filter(|one| one.fold == fold) {
            let odds = maxent::odds_of(one, &weights);
            let best = (1..NAME_CLASSES).max_by(|a, b| odds[*a].total_cmp(&odds[*b])).unwrap_or(1);
            for (at, [right, found, labelled]) in counts.iter_mut().enumerate() {
                let is_labelled = one.targets.is_some_and(|targets| targets[at + 1] > 0.0);
                let is_found = best == at + 1 && odds[best] >= THRESHOLDS[at];
                *labelled += usize::from(is_labelled);
                *found += usize::from(is_found);
                *right += usize::from(is_found && is_labelled);
            }
        }
    }
    for (entity_type, [right, found, labelled]) in
        [EntityType::Person, EntityType::Org, EntityType::Project, EntityType::Place].iter().zip(counts)
    {
        println!(
            "{entity_type}: {right} of {found} that were found are right, of {labelled} forms that are labelled"
        );
    }
    let weights = maxent::train(&examples.iter().collect::<Vec<_>>());
    let thresholds = THRESHOLDS.map(|threshold| format!("{threshold:.2}")).join(" ");
    let mut text = format!("features {NAME_FEATURES_VERSION}\nthresholds {thresholds}\n");
    maxent::write_weights(&mut text, &weights, NAME_SCALE);
    std::fs::write(out, &text).with_context(|| format!("{out} cannot be written"))?;
    println!("{} bytes of weights in {out}", text.len());
    Ok(())
}

/// What a candidate is labelled as.
fn class_in(document: &Document, name: &str) -> usize {
    let normal = normalised_name(name);
    let entity = document.entities.iter().find(|entity| entity.names.contains(&normal));
    entity.map_or(0, |entity| NameModel::class_of(entity.entity_type).unwrap_or(REST))
}

fn examples(number: usize, document: &Document) -> Vec<Candidate> {
    let (_, names) = names_of(&document.source);
    names
        .into_iter()
        .map(|name| {
            let mut targets = [0.0; NAME_CLASSES];
            targets[class_in(document, &name.name)] = 1.0;
            Example {
                document: number,
                fold: fold_of(document),
                span: (0, 0),
                features: name.features,
                targets: Some(targets),
            }
        })
        .collect()
}

/// A document and what may be a name in it, for the training of the encoder.
#[derive(Serialize)]
struct Line<'a> {
    folder: &'a str,
    doc: &'a str,
    fold: usize,
    text: &'a str,
    author: Option<&'a str>,
    title: Option<&'a str>,
    participants: &'a [String],
    names: Vec<Seen>,
    gold: Vec<Gold<'a>>,
}

#[derive(Serialize)]
struct Seen {
    /// The name as it is written.
    n: String,
    /// Its features.
    f: Vec<String>,
    /// Where it first stands, in characters and in bytes.
    s: Vec<(usize, usize)>,
    b: Vec<(usize, usize)>,
    /// Its class by the labels.
    y: usize,
    /// What the rules take it for, and whether they leave it to the model.
    rules: Option<String>,
    open: bool,
}

#[derive(Serialize)]
struct Gold<'a> {
    name: &'a str,
    r#type: String,
    names: &'a BTreeSet<String>,
}

/// Writes the documents in which names are labelled, as one JSON object a line.
pub(crate) fn dump(out: &str, documents: &[(&String, Document)]) -> anyhow::Result<()> {
    let file = std::fs::File::create(out).with_context(|| format!("{out} cannot be written"))?;
    let mut file = std::io::BufWriter::new(file);
    for (folder, document) in documents.iter().filter(|(_, document)| document.is_whole) {
        let (text, names) = names_of(&document.source);
        let names = names.into_iter().map(|name| Seen {
            y: class_in(document, &name.name),
            s: name.places.iter().map(|bytes| (chars(&text, bytes.start), chars(&text, bytes.end))).collect(),
            b: name.places.iter().map(|bytes| (bytes.start, bytes.end)).collect(),
            n: name.name,
            f: name.features,
            rules: name.by_rules.map(|entity_type| entity_type.to_string()),
            open: name.is_open,
        });
        let gold = document.entities.iter().map(|entity| Gold {
            name: &entity.name,
            r#type: entity.entity_type.to_string(),
            names: &entity.names,
        });
        let line = Line {
            folder,
            doc: &document.name,
            fold: fold_of(document),
            text: &text,
            author: document.source.author.as_deref(),
            title: document.source.title.as_deref(),
            participants: &document.source.participants,
            names: names.collect(),
            gold: gold.collect(),
        };
        serde_json::to_writer(&mut file, &line)?;
        writeln!(file)?;
    }
    file.flush()?;
    Ok(())
}

fn chars(text: &str, byte: usize) -> usize {
    text[..byte].chars().count()
}
