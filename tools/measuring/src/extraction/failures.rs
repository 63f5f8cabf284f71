//! Runs that go on where an extractor has no answer for a document, as a language model may.

use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use memory_core::event::Extraction;
use memory_core::ports::{ExtractError, Extractor};
use serde::Serialize;

use super::gold::Document;
use super::judge::Judged;

/// How often a document is asked for again when the extractor says that it is to be left alone for a while.
const WAITS_MAX: usize = 5;
/// The longest of these waits.
const WAIT_MAX: Duration = Duration::from_secs(120);

/// A document for which the extractor had no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    pub document: String,
    pub error: String,
}

/// Runs the extractor over each of the documents, one after the other. A document that it fails on counts as one in which
/// nothing was found; nothing is measured when it cannot be asked at all.
pub async fn run_through<'a>(
    extractor: &dyn Extractor,
    documents: &'a [Document],
) -> anyhow::Result<(Vec<Judged<'a>>, Vec<Failure>)> {
    let mut judged = Vec::with_capacity(documents.len());
    let mut failures = Vec::new();
    for document in documents {
        let name = || format!("the extractor {} on {}", extractor.name(), document.name);
        let begun = Instant::now();
        let found = match asked(extractor, document, judged.len() > failures.len()).await {
            Ok(found) => found,
            Err(error) if concerns_the_text(&error) => {
                failures.push(Failure { document: document.name.clone(), error: error.to_string() });
                Extraction::default()
            }
            Err(error) => return Err(error).with_context(name),
        };
        let took = begun.elapsed();
        let (found, rejected) = found.verified(&[document.text()]);
        judged.push(Judged::new(document, found, rejected.events + rejected.mentions, took));
    }
    match failures.as_slice() {
        [first, ..] if failures.len() == documents.len() => {
            bail!(
                "the extractor {} failed on every document, first on {}: {}",
                extractor.name(),
                first.document,
                first.error
            )
        }
        _ => Ok((judged, failures)),
    }
}

/// One document, with the waits that the extractor asks for. One that has not `answered` yet is not waited for: its address
/// or its model may be wrong.
async fn asked(
    extractor: &dyn Extractor,
    document: &Document,
    answered: bool,
) -> Result<Extraction, ExtractError> {
    let mut waits = 0;
    loop {
        let found = extractor.extract(&document.source).await;
        let wait = match &found {
            Err(ExtractError::RateLimited { retry_after }) => *retry_after,
            Err(ExtractError::Unavailable { retry_after, .. }) if answered => *retry_after,
            _ => return found,
        };
        if waits == WAITS_MAX {
            return found;
        }
        waits += 1;
        tokio::time::sleep(wait.min(WAIT_MAX)).await;
    }
}

fn concerns_the_text(error: &ExtractError) -> bool {
    match error {
        ExtractError::Failed(_)
        | ExtractError::Timeout(_)
        | ExtractError::ServerFailed(_)
        | ExtractError::BadOutput(_)
        | ExtractError::Refused(_) => true,
        ExtractError::RateLimited { .. }
        | ExtractError::Unauthorized { .. }
        | ExtractError::Unavailable { .. } => false,
    }
}
