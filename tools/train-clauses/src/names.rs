//! Trains the name model: what the candidates of a source name, by its labelled entities.

use anyhow::Context as _;
use measuring::extraction::Document;
use memory_core::entity::{EntityType, normalised_name};
use memory_core::ports::TextEncoder;
use memory_extraction::{Blend, NAME_CLASSES, NAME_FEATURES_VERSION, NameModel, NameSeen, SCALE, names_of};
use serde::Serialize;

use super::blend::{self, Pair};
use super::maxent::{self, Example};
use super::{ENCODER_FOLD, FOLDS, fold_of};

/// How likely a person, an organisation, a project and a place must be where the rules are silent: below these hardly more were
/// right than wrong in documents left out.
const THRESHOLDS: [f32; TYPES.len()] = [0.60, 0.40, 0.50, 0.40];
/// The same with an encoder.
const BLENDED_THRESHOLDS: [f32; TYPES.len()] = [0.60, 0.35, 0.33, 0.30];

const TYPES: [EntityType; 4] = [EntityType::Person, EntityType::Org, EntityType::Project, EntityType::Place];
/// Objects and all other names are one class.
const REST: usize = NAME_CLASSES - 1;

type Candidate = Example<NAME_CLASSES>;
type Odds = [f32; NAME_CLASSES];

/// Writes weights of all documents, and shows what those of others find in each fifth of them. How an encoder is blended in is found
/// on the fifth that it was not trained on.
pub(crate) async fn write(
    out: &str,
    documents: &[(&String, Document)],
    encoder: Option<&dyn TextEncoder>,
) -> anyhow::Result<()> {
    let whole: Vec<&Document> =
        documents.iter().map(|(_, document)| document).filter(|document| document.is_whole).collect();
    let mut examples: Vec<Candidate> = Vec::new();
    let (mut open, mut encoded) = (Vec::new(), Vec::new());
    for (number, document) in whole.iter().enumerate() {
        let (text, names) = names_of(&document.source);
        if let Some(encoder) = encoder.filter(|_| fold_of(document) == ENCODER_FOLD) {
            let places = names.iter().map(|name| name.places.clone()).collect();
            let logits = encoder.name_logits(text, places).await?;
            encoded.extend((examples.len()..).zip(logits));
        }
        open.extend(names.iter().map(|name| name.is_open));
        examples.extend(names.into_iter().map(|name| example(number, document, name)));
    }
    println!("{} candidates", examples.len());
    let mut odds: Vec<Odds> = vec![[0.0; NAME_CLASSES]; examples.len()];
    for fold in 0..FOLDS {
        let weights = maxent::train(&examples.iter().filter(|one| one.fold != fold).collect::<Vec<_>>());
        for (odds, one) in odds.iter_mut().zip(&examples).filter(|(_, one)| one.fold == fold) {
            *odds = maxent::odds_of(one, &weights);
        }
    }
    let shown = |odds: &[Odds], of_all: bool, thresholds| {
        let is_shown = |at: &usize| open[*at] && (of_all || examples[*at].fold == ENCODER_FOLD);
        let shown = (0..examples.len()).filter(is_shown).map(|at| (odds[at], &examples[at]));
        show(&shown.collect::<Vec<_>>(), thresholds);
    };
    println!("What the rules leave open in all documents, by features:");
    shown(&odds, true, &THRESHOLDS);
    println!("… in those that the encoder was not trained on:");
    shown(&odds, false, &THRESHOLDS);
    let blend = blended(&mut odds, &examples, &encoded, &open);
    println!("… with the encoder, {blend:?}:");
    shown(&odds, false, &BLENDED_THRESHOLDS);

    let weights = maxent::train(&examples.iter().collect::<Vec<_>>());
    let text = written(&weights, &blend);
    std::fs::write(out, &text).with_context(|| format!("{out} cannot be written"))?;
    println!("{} bytes of weights in {out}", text.len());
    Ok(())
}

/// How the encoder is blended in, found on what the rules leave open; the odds of what it read become those of both.
fn blended(
    odds: &mut [Odds],
    examples: &[Candidate],
    encoded: &[(usize, Odds)],
    open: &[bool],
) -> Blend<NAME_CLASSES> {
    let pairs = encoded.iter().filter(|(at, _)| open[*at]).filter_map(|(at, logits)| {
        Some(Pair { odds: odds[*at], logits: *logits, targets: examples[*at].targets? })
    });
    let pairs: Vec<Pair<NAME_CLASSES>> = pairs.collect();
    if pairs.is_empty() {
        return Blend { features: 1.0, encoder: 0.0, bias: [0.0; NAME_CLASSES] };
    }
    let blend = blend::fit(&pairs);
    let (numbers, logits): (Vec<usize>, Vec<Odds>) = encoded.iter().copied().unzip();
    blend.join(odds, &numbers, &logits);
    blend
}

fn written(weights: &maxent::Weights<NAME_CLASSES>, blend: &Blend<NAME_CLASSES>) -> String {
    let thresholds = |thresholds: [f32; TYPES.len()]| thresholds.map(|one| format!("{one:.2}")).join(" ");
    let Blend { features, encoder, bias } = blend;
    let mut text = format!(
        "features {NAME_FEATURES_VERSION}\nthresholds {}\nblend {features:.3} {encoder:.3} {}\nthresholds {}\n",
        thresholds(THRESHOLDS),
        bias.map(|one| format!("{one:.3}")).join(" "),
        thresholds(BLENDED_THRESHOLDS),
    );
    maxent::write_weights(&mut text, weights, SCALE);
    text
}

/// How many forms of each type are found above the thresholds, and at which threshold so many of a hundred are right.
fn show(judged: &[(Odds, &Candidate)], thresholds: &[f32; TYPES.len()]) {
    for (at, (entity_type, threshold)) in TYPES.iter().zip(thresholds).enumerate() {
        let class = at + 1;
        let is_labelled = |one: &Candidate| one.targets.is_some_and(|targets| targets[class] > 0.0);
        let labelled = judged.iter().filter(|(_, one)| is_labelled(one)).count();
        let likeliest =
            |odds: &Odds| (1..NAME_CLASSES).max_by(|a, b| odds[*a].total_cmp(&odds[*b])) == Some(class);
        let mut found: Vec<(f32, bool)> = judged
            .iter()
            .filter(|(odds, _)| likeliest(odds))
            .map(|(odds, one)| (odds[class], is_labelled(one)))
            .collect();
        found.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let taken = found.iter().filter(|(odd, _)| odd >= threshold).count();
        let right = |taken: usize| found[..taken].iter().filter(|(_, is_right)| *is_right).count();
        print!("{entity_type}: {} of {taken} that were found are right, of {labelled} forms;", right(taken));
        for percent in [80, 70, 60, 50] {
            let most = (1..=found.len()).rev().find(|taken| right(*taken) * 100 >= percent * taken);
            if let Some(most) = most {
                print!(" {percent} %: {} from {:.2}", right(most), found[most - 1].0);
            }
        }
        println!();
    }
}

/// What a candidate is labelled as.
fn class_in(document: &Document, name: &str) -> usize {
    let normal = normalised_name(name);
    let entity = document.entities.iter().find(|entity| entity.names.contains(&normal));
    entity.map_or(0, |entity| NameModel::class_of(entity.entity_type).unwrap_or(REST))
}

fn example(number: usize, document: &Document, name: NameSeen) -> Candidate {
    let mut targets = [0.0; NAME_CLASSES];
    targets[class_in(document, &name.name)] = 1.0;
    Example {
        document: number,
        fold: fold_of(document),
        span: (0, 0),
        features: name.features,
        targets: Some(targets),
    }
}

/// What may be a name, for the training of the encoder.
#[derive(Serialize)]
pub(crate) struct Seen {
    name: String,
    features: Vec<String>,
    /// Where it first stands, in characters.
    places: Vec<(usize, usize)>,
    class: usize,
}

/// What may be a name in a document, with its class by the labels; nothing where names are not labelled.
pub(crate) fn seen_in(document: &Document) -> Option<Vec<Seen>> {
    if !document.is_whole {
        return None;
    }
    let (text, names) = names_of(&document.source);
    assert_eq!(&*text, document.text(), "a document is one segment without a speaker");
    let chars = |byte: usize| text[..byte].chars().count();
    let seen = names.into_iter().map(|name| Seen {
        class: class_in(document, &name.name),
        places: name.places.iter().map(|bytes| (chars(bytes.start), chars(bytes.end))).collect(),
        name: name.name,
        features: name.features,
    });
    Some(seen.collect())
}
