//! Trains the name model: what the candidates of a source name, by its labelled entities.

use anyhow::Context as _;
use measuring::extraction::Document;
use memory_core::entity::{EntityType, normalised_name};
use memory_extraction::{NAME_CLASSES, NAME_FEATURES_VERSION, NAME_SCALE, NameModel, names_of};

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

fn examples(number: usize, document: &Document) -> Vec<Candidate> {
    let names = names_of(&document.source).into_iter();
    names
        .map(|name| {
            let normal = normalised_name(&name.name);
            let entity = document.entities.iter().find(|entity| entity.names.contains(&normal));
            let class = entity.map_or(0, |entity| NameModel::class_of(entity.entity_type).unwrap_or(REST));
            let mut targets = [0.0; NAME_CLASSES];
            targets[class] = 1.0;
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
