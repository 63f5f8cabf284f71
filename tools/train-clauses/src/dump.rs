//! Labelled documents with their clauses and what may be a name in them, as one JSON object a line: what `encoder/` learns from.

use anyhow::Context;
use measuring::extraction::Document;
use memory_extraction::CLASSES;
use serde::Serialize;

use crate::maxent::{self, Example, Weights};
use crate::names;

/// A document, its clauses and names.
#[derive(Serialize)]
struct Line<'a> {
    folder: &'a str,
    name: &'a str,
    kind: &'a str,
    context: String,
    fold: usize,
    /// Behind the name of who speaks, if it is a turn.
    text: String,
    clauses: Vec<Clause<'a>>,
    /// Null where names are not labelled.
    names: Option<Vec<names::Seen>>,
}

#[derive(Serialize)]
struct Clause<'a> {
    /// In characters.
    span: (usize, usize),
    /// How much of it each class is, none first; null for what is neither right nor wrong.
    targets: Option<[f32; CLASSES]>,
    /// How likely each class is by weights of other documents.
    odds: [f32; CLASSES],
    features: &'a [String],
}

pub(crate) fn write(
    out: &str,
    documents: &[(&String, Document)],
    examples: &[Example],
    folds: &[Weights],
    all: &Weights,
    others: &[(String, Document, Vec<Example>)],
) -> anyhow::Result<()> {
    let file = std::fs::File::create(out).with_context(|| format!("{out} cannot be written"))?;
    let mut file = std::io::BufWriter::new(file);
    for text in examples.chunk_by(|a, b| a.document == b.document) {
        let Some(Example { document, fold, .. }) = text.first() else { continue };
        let (folder, document) = &documents[*document];
        line(&mut file, folder, document, *fold, text, &folds[*fold])?;
    }
    for (folder, document, clauses) in others {
        line(&mut file, folder, document, 0, clauses, all)?;
    }
    Ok(())
}

fn line(
    file: &mut impl std::io::Write,
    folder: &str,
    document: &Document,
    fold: usize,
    examples: &[Example],
    weights: &Weights,
) -> anyhow::Result<()> {
    let speaker = document.source.segments.first().and_then(|segment| segment.speaker.as_deref());
    let before = speaker.map(|speaker| format!("{speaker}: ")).unwrap_or_default();
    let begins = before.chars().count();
    let clauses = examples.iter().map(|one| Clause {
        span: (one.span.0 + begins, one.span.1 + begins),
        targets: one.targets,
        odds: maxent::odds_of(one, weights),
        features: &one.features,
    });
    let line = Line {
        folder,
        name: &document.name,
        kind: document.kind,
        context: format!("{:?}", document.source.context),
        fold,
        text: before + document.text(),
        clauses: clauses.collect(),
        names: names::seen_in(document),
    };
    serde_json::to_writer(&mut *file, &line)?;
    writeln!(file)?;
    Ok(())
}
