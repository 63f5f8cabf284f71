//! How well events and entities are extracted, on documents that people have labelled.
//!
//! A found and a labelled event *meet* when their evidence shares at least half of the shorter piece; strictly they
//! have the same category too. Nothing is found twice: matching is one-to-one, and as many are matched as can be.

mod counts;
mod failures;
mod gold;
mod judge;
mod labels;
mod marked;
mod matching;
mod mistakes;
mod report;
#[cfg(test)]
mod tests;

use std::time::Instant;

use anyhow::Context;
use memory_core::ports::Extractor;

pub use self::counts::{Counts, Figure, Part, Scored, Share};
pub use self::failures::{Failure, run_through};
pub use self::gold::{Document, Gold, KINDS, LabelledEntity, LabelledEvent};
pub use self::judge::Judged;
pub use self::mistakes::Mistakes;
pub use self::report::{DocumentCounts, ExtractionReport, Figures};

/// Runs the extractor over each of the documents, one after the other.
pub async fn run<'a>(
    extractor: &dyn Extractor,
    documents: &'a [Document],
) -> anyhow::Result<Vec<Judged<'a>>> {
    let mut judged = Vec::with_capacity(documents.len());
    for document in documents {
        let begun = Instant::now();
        let found = extractor.extract(&document.source).await;
        let found =
            found.with_context(|| format!("the extractor {} on {}", extractor.name(), document.name))?;
        let took = begun.elapsed();
        let (found, rejected) = found.verified(&[document.text()]);
        judged.push(Judged::new(document, found, rejected.events + rejected.mentions, took));
    }
    Ok(judged)
}
