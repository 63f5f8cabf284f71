//! What a run found: figures with intervals, as JSON and as tables.

use std::collections::BTreeSet;
use std::fmt::Write;

use memory_core::entity::EntityType;
use memory_core::event::Category;
use serde::Serialize;
use serde_json::Value;

use super::counts::{Counts, Figure, Part, Scored, Share};
use super::failures::Failure;
use super::judge::Judged;
use super::mistakes::Mistakes;
use crate::machine::Machine;
use crate::percentiles::Spread;
use crate::table::{head, table};

/// Up to how many words a document is of a length; the last is of any.
const LENGTHS: [(usize, &str); 5] = [
    (20, "up to 20 words"),
    (60, "up to 60 words"),
    (200, "up to 200 words"),
    (600, "up to 600 words"),
    (usize::MAX, "longer"),
];
/// Where a band of confidence begins.
const BANDS: [f32; 6] = [0.0, 0.5, 0.6, 0.7, 0.8, 0.9];

/// A whole run and what it was run with.
#[derive(Debug, Clone, Serialize)]
pub struct ExtractionReport {
    pub version: String,
    pub date: String,
    pub extractor: String,
    pub machine: Machine,
    /// The folder, the hash of its files, and every setting that figures depend on.
    pub settings: Value,
    pub figures: Figures,
    pub documents: Vec<DocumentCounts>,
    /// Documents for which the extractor had no answer: nothing was found in them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failure>,
    /// Only when they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mistakes: Option<Vec<Mistakes>>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Figures {
    pub documents: usize,
    pub words: usize,
    /// Same place and category.
    pub strict: Scored,
    /// Same place.
    pub lenient: Scored,
    pub categories: Vec<OfCategory>,
    /// Strict, by the kind of document: its name up to the first hyphen.
    pub kinds: Vec<OfDocuments>,
    /// Strict, by the length of the document.
    pub lengths: Vec<OfDocuments>,
    pub confidence: Vec<Band>,
    /// How long the quotes are that events are found at, in words: a long one meets much.
    pub found_words: Lengths,
    /// … and those that are labelled.
    pub labelled_words: Lengths,
    /// Of met events with a labelled deadline: the same day.
    pub due: Share,
    /// Met events with a deadline that no label has.
    pub due_invented: usize,
    /// Of met events whose label says when it happened: the same day.
    pub when: Share,
    /// Of met events with labelled owners: the same owners.
    pub owner: Share,
    pub owner_of_commitments: Share,
    /// By name alone.
    pub names: Scored,
    /// Of entities that were found by name: the same type.
    pub names_typed: Share,
    pub types: Vec<OfType>,
    pub negatives: Negatives,
    /// Findings that the source did not bear out.
    pub rejected: usize,
    pub speed: Speed,
}

#[derive(Debug, Clone, Serialize)]
pub struct OfCategory {
    pub category: &'static str,
    pub strict: Scored,
    pub lenient: Scored,
}

/// The events of some of the documents.
#[derive(Debug, Clone, Serialize)]
pub struct OfDocuments {
    pub which: String,
    pub documents: usize,
    pub strict: Scored,
}

#[derive(Debug, Clone, Serialize)]
pub struct OfType {
    #[serde(rename = "type")]
    pub entity_type: &'static str,
    pub scored: Scored,
}

/// Findings of a confidence from here to the next band; only those that count.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Band {
    pub from: f32,
    pub right: usize,
    pub wrong: usize,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Lengths {
    pub p50: usize,
    pub p95: usize,
}

/// The documents in which nothing happens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Negatives {
    pub documents: usize,
    /// Events found in them that no label meets.
    pub events: usize,
    pub documents_with_events: usize,
    pub events_per_document: f64,
}

/// One document after the other on one thread.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Speed {
    pub seconds: f64,
    pub documents_per_second: f64,
    pub words_per_second: f64,
    pub document_ms: Spread,
}

#[derive(Debug, Clone, Serialize)]
pub struct DocumentCounts {
    pub document: String,
    pub strict: Counts,
    pub lenient: Counts,
    pub names: Counts,
    pub people: Counts,
}

impl DocumentCounts {
    pub fn of(judged: &Judged<'_>) -> Self {
        Self {
            document: judged.document.name.clone(),
            strict: judged.strict(),
            lenient: judged.lenient(),
            names: judged.entities(),
            people: judged.entities_of(EntityType::Person),
        }
    }
}

impl Figures {
    pub fn of<'a>(judged: &[Judged<'a>]) -> Self {
        let scored = |of: &dyn Fn(&Judged<'a>) -> Counts| Scored::of(&each(judged, of));
        let share = |of: &dyn Fn(&Judged<'a>) -> Part| Share::of(&each(judged, of));
        let category = |category: &Category| OfCategory {
            category: category.as_str(),
            strict: scored(&|one| one.strict_of(*category)),
            lenient: scored(&|one| one.lenient_of(*category)),
        };
        let entity_type = |entity_type: &EntityType| OfType {
            entity_type: entity_type.as_str(),
            scored: scored(&|one| one.entities_of(*entity_type)),
        };
        Self {
            documents: judged.len(),
            words: words_of(judged),
            strict: scored(&Judged::strict),
            lenient: scored(&Judged::lenient),
            categories: Category::ALL.iter().map(category).collect(),
            kinds: of_kinds(judged),
            lengths: of_lengths(judged),
            confidence: bands(judged),
            found_words: Lengths::of(judged.iter().flat_map(Judged::found_quotes)),
            labelled_words: Lengths::of(judged.iter().flat_map(Judged::labelled_quotes)),
            due: share(&Judged::due),
            due_invented: judged.iter().map(Judged::invented_due).sum(),
            when: share(&Judged::when),
            owner: share(&Judged::owner),
            owner_of_commitments: share(&Judged::owner_of_commitments),
            names: scored(&Judged::entities),
            names_typed: share(&Judged::typed),
            types: EntityType::ALL.iter().map(entity_type).collect(),
            negatives: Negatives::of(judged),
            rejected: judged.iter().map(|one| one.rejected).sum(),
            speed: Speed::of(judged),
        }
    }

    /// People alone, by name and type.
    pub fn people(&self) -> Option<&Scored> {
        let people = |one: &&OfType| one.entity_type == EntityType::Person.as_str();
        self.types.iter().find(people).map(|one| &one.scored)
    }

    /// The figures in percent, for people.
    pub fn table(&self) -> String {
        let mut rows = vec![row("events, strict", &self.strict)];
        rows.extend(self.categories.iter().map(|one| row(&format!("  {}", one.category), &one.strict)));
        rows.push(row("events, lenient", &self.lenient));
        rows.extend(self.categories.iter().map(|one| row(&format!("  {}", one.category), &one.lenient)));
        for group in self.kinds.iter().chain(&self.lengths) {
            rows.push(row(&format!("{}, {} documents", group.which, group.documents), &group.strict));
        }
        rows.push(row("names", &self.names));
        rows.extend(self.types.iter().map(|one| row(&format!("  {}", one.entity_type), &one.scored)));
        let columns = ["", "labels", "found", "right", "P", "95 %", "R", "95 %", "F1", "95 %"];
        let mut out = table(&head(columns), &rows) + "\n";

        let shares = [
            ("day of the deadline", &self.due),
            ("day of the event", &self.when),
            ("owner", &self.owner),
            ("  of a commitment", &self.owner_of_commitments),
            ("type of a name", &self.names_typed),
        ];
        let rows: Vec<Vec<String>> = shares
            .iter()
            .map(|(what, Share { part, share })| {
                let counts = [part.right.to_string(), part.of.to_string()];
                [vec![(*what).to_owned()], counts.to_vec(), figure(*share).to_vec()].concat()
            })
            .collect();
        out += &(table(&head(["of what was met", "right", "of", "%", "95 %"]), &rows) + "\n");

        let rows: Vec<Vec<String>> = self.confidence.iter().map(Band::row).collect();
        out += &(table(&head(["confidence", "found", "right", "%"]), &rows) + "\n");
        let Negatives { documents, events, documents_with_events, events_per_document } = self.negatives;
        let Speed { documents_per_second, words_per_second, document_ms, .. } = self.speed;
        let _ = write!(
            out,
            "{} documents, {} words; deadlines invented: {}; findings without evidence: {}\n\
             words of a quote (p50, p95): found {} and {}, labelled {} and {}\n\
             negatives: {documents} documents, {events} events in {documents_with_events} of them, \
             {events_per_document:.2} a document\n\
             one thread: {documents_per_second:.0} documents a second, {words_per_second:.0} words; \
             a document {:.1} ms (p50), {:.1} ms (p95)\n",
            self.documents,
            self.words,
            self.due_invented,
            self.rejected,
            self.found_words.p50,
            self.found_words.p95,
            self.labelled_words.p50,
            self.labelled_words.p95,
            document_ms.p50,
            document_ms.p95
        );
        out
    }
}

fn of_kinds(judged: &[Judged<'_>]) -> Vec<OfDocuments> {
    let kind = |one: &Judged<'_>| one.document.name.split('-').next().unwrap_or_default().to_owned();
    let kinds: BTreeSet<String> = judged.iter().map(kind).collect();
    kinds.into_iter().map(|which| of_documents(judged, &which, |one| kind(one) == which)).collect()
}

fn of_lengths(judged: &[Judged<'_>]) -> Vec<OfDocuments> {
    let length = |one: &Judged<'_>| {
        let words = one.document.text().split_whitespace().count();
        LENGTHS.iter().position(|(most, _)| words <= *most)
    };
    let groups = LENGTHS.iter().enumerate();
    groups
        .map(|(at, (_, which))| of_documents(judged, which, |one| length(one) == Some(at)))
        .filter(|group| group.documents > 0)
        .collect()
}

fn of_documents(judged: &[Judged<'_>], which: &str, is_one: impl Fn(&Judged<'_>) -> bool) -> OfDocuments {
    let counts: Vec<Counts> = judged.iter().filter(|one| is_one(one)).map(Judged::strict).collect();
    OfDocuments { which: which.to_owned(), documents: counts.len(), strict: Scored::of(&counts) }
}

fn each<'a, T>(judged: &[Judged<'a>], of: &dyn Fn(&Judged<'a>) -> T) -> Vec<T> {
    judged.iter().map(of).collect()
}

impl Band {
    fn row(&self) -> Vec<String> {
        let found = self.right + self.wrong;
        let share = if found == 0 { "–".to_owned() } else { percent(self.right as f64 / found as f64) };
        vec![format!("from {:.1}", self.from), found.to_string(), self.right.to_string(), share]
    }
}

impl Lengths {
    /// By nearest rank, as in [`Spread`].
    fn of<'a>(quotes: impl Iterator<Item = &'a str>) -> Self {
        let mut words: Vec<usize> = quotes.map(|quote| quote.split_whitespace().count()).collect();
        words.sort_unstable();
        let at = |share: f64| {
            let rank = (share * words.len() as f64).ceil() as usize;
            words.get(rank.max(1) - 1).copied().unwrap_or(0)
        };
        Self { p50: at(0.5), p95: at(0.95) }
    }
}

impl Negatives {
    fn of(judged: &[Judged<'_>]) -> Self {
        let events: Vec<usize> =
            judged.iter().filter(|one| one.document.is_negative()).map(|one| one.lenient().wrong).collect();
        let sum: usize = events.iter().sum();
        Self {
            documents: events.len(),
            events: sum,
            documents_with_events: events.iter().filter(|events| **events > 0).count(),
            events_per_document: sum as f64 / events.len().max(1) as f64,
        }
    }
}

impl Speed {
    /// Of all but the first document: what an extractor does once, it does there.
    fn of(judged: &[Judged<'_>]) -> Self {
        let measured = if judged.len() > 1 { &judged[1..] } else { judged };
        let took: Vec<std::time::Duration> = measured.iter().map(|one| one.took).collect();
        let seconds = took.iter().sum::<std::time::Duration>().as_secs_f64();
        let rate = |count: usize| if seconds > 0.0 { count as f64 / seconds } else { 0.0 };
        Self {
            seconds,
            documents_per_second: rate(measured.len()),
            words_per_second: rate(words_of(measured)),
            document_ms: Spread::of(&took),
        }
    }
}

fn words_of(judged: &[Judged<'_>]) -> usize {
    judged.iter().map(|one| one.document.text().split_whitespace().count()).sum()
}

/// Strict counts of findings by their confidence.
fn bands(judged: &[Judged<'_>]) -> Vec<Band> {
    let mut bands: Vec<Band> = BANDS.iter().map(|from| Band { from: *from, right: 0, wrong: 0 }).collect();
    for (confidence, is_right) in judged.iter().flat_map(Judged::outcomes) {
        if let Some(band) = bands.iter_mut().rfind(|band| confidence >= band.from) {
            if is_right { band.right += 1 } else { band.wrong += 1 }
        }
    }
    bands
}

fn row(what: &str, Scored { counts, precision, recall, f1 }: &Scored) -> Vec<String> {
    let numbers = [counts.met + counts.missed, counts.right + counts.wrong, counts.right];
    let mut row = vec![what.to_owned()];
    row.extend(numbers.map(|number| number.to_string()));
    row.extend([*precision, *recall, *f1].into_iter().flat_map(figure));
    row
}

fn figure(figure: Option<Figure>) -> [String; 2] {
    match figure {
        Some(Figure { value, low, high }) => {
            [percent(value), format!("{:.0}–{:.0}", low * 100.0, high * 100.0)]
        }
        None => ["–".to_owned(), String::new()],
    }
}

fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}
