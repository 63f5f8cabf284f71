//! Trains the model of directives: which clauses of a text state what the user wants for longer than one answer.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use measuring::extraction::Document;
use memory_core::artifact::{Context, Draft, NewArtifact};
use memory_core::directive::{clauses_to_learn, sentences_to_judge};
use memory_language::text::CharIndex;
use serde::{Deserialize, Serialize};

use super::FOLDS;
use super::maxent::{self, Example};

const CLASSES: usize = 2;
/// Weights are written in hundredths; smaller ones are left out.
const SCALE: f32 = 100.0;
const WEIGHT_MIN: f32 = 0.08;
/// From this agreement of a clause with a labelled one on it states that.
const AGREES: f32 = 0.6;
/// So much of a clause lies within a labelled one that it is a piece of that.
const INSIDE: f32 = 0.95;
/// Such a piece states it from this share on.
const PIECE_FROM: f32 = 0.5;
/// Every so many of the notes and chats among the documents whose events are labelled stand for texts without a directive …
const EVERY: usize = 4;
/// … and all of the to-do lists and bare facts, by their names.
const WITHOUT: [&str; 2] = ["todo9", "fact9"];
/// … but for those with one of these.
const MAY_STATE_ONE: [&str; 5] = ["user", "prefer", "always", "never ", "from now on"];

type Clause = Example<CLASSES>;

/// A text and the clauses that state directives, each in it once.
#[derive(Deserialize)]
struct Labelled {
    context: String,
    text: String,
    directives: Vec<String>,
}

/// The labelled texts of a folder, file by file.
fn labelled_in(folder: &str) -> anyhow::Result<Vec<(String, Labelled)>> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<_>>()?;
    files.sort_unstable();
    let mut all = Vec::new();
    for path in &files {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        all.extend(read(path)?.into_iter().map(|labelled| (name.clone(), labelled)));
    }
    Ok(all)
}

/// Notes and chats without a directive among documents whose events are labelled.
fn without_any(documents: &[(&String, Document)]) -> Vec<Labelled> {
    let notes = documents.iter().map(|(_, document)| document).filter(|document| {
        let text = document.source.segments.first().map(|segment| segment.text.to_lowercase());
        matches!(document.source.context, Context::Note | Context::Chat)
            && document.source.segments.len() == 1
            && text.is_some_and(|text| !MAY_STATE_ONE.iter().any(|word| text.contains(word)))
    });
    let (bare, others): (Vec<&Document>, Vec<&Document>) =
        notes.partition(|document| WITHOUT.iter().any(|name| document.name.contains(name)));
    let plain = |document: &Document| Labelled {
        context: document.source.context.as_str().to_owned(),
        text: document.source.segments.iter().map(|segment| segment.text.as_str()).collect(),
        directives: Vec::new(),
    };
    others.into_iter().step_by(EVERY).chain(bare).map(plain).collect()
}

/// Writes weights of the labelled texts of a folder and of notes and chats without a directive, and shows what those of others
/// find in each fifth.
pub(crate) fn write(out: &str, folder: &str, documents: &[(&String, Document)]) -> anyhow::Result<()> {
    let labelled = labelled_in(folder)?.into_iter().map(|(_, labelled)| labelled);
    let mut examples: Vec<Clause> = Vec::new();
    let mut texts = 0;
    for labelled in labelled.chain(without_any(documents)) {
        add(&mut examples, texts, &labelled)?;
        texts += 1;
    }
    println!("{texts} texts, {} clauses", examples.len());
    let mut left_out: Vec<(f32, bool)> = Vec::new();
    for fold in 0..FOLDS {
        let weights = maxent::train(&examples.iter().filter(|one| one.fold != fold).collect::<Vec<_>>());
        let others = examples.iter().filter(|one| one.fold == fold);
        left_out.extend(
            others.filter_map(|one| Some((maxent::odds_of(one, &weights)[1], one.targets?[1] > 0.5))),
        );
    }
    show(&left_out);
    let weights = maxent::train(&examples.iter().collect::<Vec<_>>());
    let mut lines = String::new();
    for (name, [none, directive]) in weights {
        let weight = directive - none;
        if weight.abs() >= WEIGHT_MIN {
            let _ = writeln!(lines, "{name}\t{}", (weight * SCALE).round() as i32);
        }
    }
    std::fs::write(out, lines).with_context(|| format!("cannot write {out}"))
}

/// A text with its sentences, as `encoder/` reads it.
#[derive(Serialize)]
struct Line<'a> {
    folder: &'a str,
    name: String,
    fold: usize,
    text: &'a str,
    clauses: Vec<Judged>,
}

#[derive(Serialize)]
struct Judged {
    /// In characters.
    span: (usize, usize),
    /// Whose words it has: a turn of the user, a note, or what is kept as a preference.
    voice: usize,
    /// Whether it states a directive, or a piece of one.
    targets: bool,
}

/// Writes all sentences of the labelled texts of folders, and of notes and chats without a directive, as `encoder/` learns from them.
pub(crate) fn dump(out: &str, folders: &[String], documents: &[(&String, Document)]) -> anyhow::Result<()> {
    let mut all = Vec::new();
    for folder in folders {
        all.extend(
            labelled_in(folder)?.into_iter().map(|(name, labelled)| (folder.as_str(), name, labelled)),
        );
    }
    all.extend(without_any(documents).into_iter().map(|labelled| ("training", "none".to_owned(), labelled)));
    let mut lines = String::new();
    for (number, (folder, name, labelled)) in all.iter().enumerate() {
        let new = artifact(labelled)?;
        let spans = spans(&new, labelled)?;
        let index = CharIndex::new(&new.content);
        let clauses = sentences_to_judge(&new.content, &new.meta).into_iter().map(|sentence| {
            let meets =
                |(from, to): &(usize, usize)| *from < sentence.bytes.end && sentence.bytes.start < *to;
            let span = index.span(&new.content, sentence.bytes.clone());
            Judged { span: (span.start, span.end), voice: sentence.voice, targets: spans.iter().any(meets) }
        });
        let line = Line {
            folder,
            name: format!("{name}-{number}"),
            fold: number % FOLDS,
            text: &new.content,
            clauses: clauses.collect(),
        };
        let _ = writeln!(lines, "{}", serde_json::to_string(&line)?);
    }
    std::fs::write(out, lines).with_context(|| format!("cannot write {out}"))
}

/// JSON lines; or statements, a line each: + or -, whose they are, and the text.
fn read(path: &Path) -> anyhow::Result<Vec<Labelled>> {
    let lines = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    if path.extension().is_some_and(|kind| kind == "tsv") {
        return Ok(lines.lines().filter_map(statement).collect());
    }
    let line = |line: &str| serde_json::from_str(line).with_context(|| format!("{}: {line}", path.display()));
    lines.lines().map(line).collect()
}

fn statement(line: &str) -> Option<Labelled> {
    let mut fields = line.split('\t');
    let (sign, voice, text) = (fields.next()?, fields.next()?, fields.next()?);
    let context = match voice {
        "user" => "chat",
        "note" | "preference" => voice,
        _ => return None,
    };
    let directives = if sign == "+" { vec![text.to_owned()] } else { Vec::new() };
    Some(Labelled { context: context.to_owned(), text: text.to_owned(), directives })
}

fn artifact(labelled: &Labelled) -> anyhow::Result<NewArtifact> {
    let is_chat = labelled.context == "chat";
    Ok(NewArtifact::new(Draft {
        content: labelled.text.clone(),
        context: Some(labelled.context.clone()),
        role: is_chat.then(|| "user".to_owned()),
        ..Draft::default()
    })?)
}

/// Where the directives stand, in bytes.
fn spans(new: &NewArtifact, labelled: &Labelled) -> anyhow::Result<Vec<(usize, usize)>> {
    let span = |quote: &String| {
        let start = new.content.find(quote.as_str()).with_context(|| format!("{quote:?} is not there"))?;
        Ok((start, start + quote.len()))
    };
    labelled.directives.iter().map(span).collect()
}

fn add(examples: &mut Vec<Clause>, number: usize, labelled: &Labelled) -> anyhow::Result<()> {
    let new = artifact(labelled)?;
    let spans = spans(&new, labelled)?;
    for clause in clauses_to_learn(&new.content, &new.meta) {
        let (start, end) = (clause.bytes.start, clause.bytes.end);
        let targets = targets(start, end, &spans);
        let fold = number % FOLDS;
        examples.push(Clause {
            document: number,
            fold,
            span: (start, end),
            features: clause.features,
            targets,
        });
    }
    Ok(())
}

/// Whether a clause states one of the labelled ones; nothing where it only meets one.
fn targets(start: usize, end: usize, labelled: &[(usize, usize)]) -> Option<[f32; CLASSES]> {
    let (mut agreement, mut meets) = (0.0_f32, false);
    for (from, to) in labelled {
        let common = end.min(*to).saturating_sub(start.max(*from)) as f32;
        let share = common / (to - from) as f32;
        let is_inside = common >= INSIDE * (end - start) as f32;
        let of_both = common / (end.max(*to) - start.min(*from)) as f32;
        agreement = agreement.max(if is_inside && share >= PIECE_FROM { 1.0 } else { of_both });
        meets |= common > 0.0;
    }
    match (agreement >= AGREES, meets) {
        (true, _) => Some([0.0, 1.0]),
        (_, false) => Some([1.0, 0.0]),
        _ => None,
    }
}

fn show(judged: &[(f32, bool)]) {
    let labelled = judged.iter().filter(|(_, is_one)| *is_one).count();
    for threshold in [0.3, 0.4, 0.5, 0.6, 0.7, 0.8] {
        let found: Vec<bool> =
            judged.iter().filter(|(odds, _)| *odds >= threshold).map(|(_, is_one)| *is_one).collect();
        let right = found.iter().filter(|is_one| **is_one).count();
        println!(
            "from {threshold}: {right} of {} clauses that were found are right, of {labelled}",
            found.len()
        );
    }
}
