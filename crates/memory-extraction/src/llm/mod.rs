//! The `llm` extractor: a language model behind an OpenAI-compatible chat endpoint, together with the rules.
//!
//! The text goes out in windows of numbered sentences; what comes back is believed only as far as the text bears it out.

mod answer;
mod breaker;
mod cast;
mod completion;
mod dialect;
mod endpoint;
mod findings;
mod http;
mod memo;
mod merge;
mod names;
mod prompt;
mod quotes;
mod reading;
#[cfg(test)]
mod tests;
mod windows;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use memory_core::Invalid;
use memory_core::event::Extraction;
use memory_core::ports::{ExtractError, Extractor, ExtractorHealth, SourceText, TextEncoder};

use super::RulesExtractor;
use breaker::Breaker;
use dialect::Remembered;
use endpoint::Endpoint;
use findings::Findings;
use http::Client;
use memo::Memo;
use reading::{Budget, Read};
use windows::Window;

pub use http::Key;

/// Raised with every change to what is asked or believed.
const VERSION: i32 = 2;
/// The rules' version counts below it.
const RULES_VERSIONS: i32 = 1_000;
/// The longest that one source may take.
const PATIENCE: Duration = Duration::from_secs(3600);

/// Where the model is and how it is asked.
#[derive(Debug, Clone)]
pub struct LlmOptions {
    /// The base address, such as `http://localhost:11434/v1`.
    pub url: String,
    pub model: String,
    pub key: Option<Key>,
    /// For one call.
    pub timeout: Duration,
    /// Whether the address may lead into a private network.
    pub allows_private: bool,
}

/// Counts since the start, for status.
#[derive(Debug, Default)]
struct Tally {
    calls: AtomicU64,
    rejected: AtomicU64,
    repaired: AtomicU64,
}

pub struct LlmExtractor {
    client: Client,
    model: String,
    rules: RulesExtractor,
    /// Events below it are left out.
    confidence: Option<f32>,
    breaker: Breaker,
    remembered: Remembered,
    memo: Memo,
    tally: Tally,
}

impl LlmExtractor {
    /// `rules` find what they can beside the model. Fails with a sentence when the options cannot be used. Nothing is
    /// connected to yet.
    pub fn new(options: LlmOptions, rules: RulesExtractor) -> Result<Self, Invalid> {
        let endpoint = Endpoint::parse(&options.url, options.allows_private)?;
        Ok(Self::with_client(Client::new(endpoint, options.key, options.timeout)?, options.model, rules))
    }

    /// Leaves out events that are less sure, 0 to 1.
    #[must_use]
    pub fn with_confidence(self, confidence: Option<f32>) -> Self {
        Self { confidence, ..self }
    }

    fn with_client(client: Client, model: String, rules: RulesExtractor) -> Self {
        Self {
            client,
            model,
            rules,
            confidence: None,
            breaker: Breaker::default(),
            remembered: Remembered::default(),
            memo: Memo::default(),
            tally: Tally::default(),
        }
    }

    /// What the model finds in the windows; rejections are counted, an answer without a true word is an error.
    async fn read(&self, source: &SourceText, windows: Vec<Window>) -> Result<Extraction, ExtractError> {
        let mut findings = Findings::new(source);
        let mut budget = Budget::new();
        let mut questions = Vec::with_capacity(windows.len());
        let mut left = VecDeque::from(windows);
        while let Some(window) = left.pop_front() {
            let question = prompt::question(source, &window);
            match self.read_window(source, &window, &question, &mut budget).await? {
                Read::Answer(answer) => {
                    findings.add(&window, &answer);
                    self.tally.repaired.fetch_add(answer.repaired as u64, Ordering::Relaxed);
                }
                Read::Begun(answer, rest) => {
                    findings.add(&window, &answer);
                    self.tally.repaired.fetch_add(answer.repaired as u64, Ordering::Relaxed);
                    left.push_front(rest);
                }
                Read::Halves(first, second) => {
                    left.push_front(second);
                    left.push_front(first);
                }
            }
            questions.push(question);
        }
        // All of it is asked anew when the job is tried again.
        self.memo.forget(&questions);
        if findings.is_invented() {
            return Err(ExtractError::BadOutput(format!(
                "of {} events none has a quote that is in the text",
                findings.claimed()
            )));
        }
        Ok(findings.finish())
    }
}

#[async_trait]
impl Extractor for LlmExtractor {
    fn name(&self) -> &'static str {
        "llm"
    }

    fn version(&self) -> i32 {
        VERSION * RULES_VERSIONS + self.rules.version()
    }

    fn text_encoder(&self) -> Option<Arc<dyn TextEncoder>> {
        self.rules.text_encoder()
    }

    async fn extract(&self, source: &SourceText) -> Result<Extraction, ExtractError> {
        let plan = windows::plan(source);
        if let Some((segment, byte)) = plan.unread_from {
            tracing::warn!(
                segment,
                byte,
                "the text is longer than the language model is given; rules read the rest"
            );
        }
        let found = self.read(source, plan.windows.clone()).await?;
        let rejected = found.rejected;
        self.tally.rejected.fetch_add((rejected.events + rejected.mentions) as u64, Ordering::Relaxed);
        let rules = self.rules.extract(source).await?;
        let starts: Vec<_> =
            source.segments.iter().map(|s| memory_language::text::CharIndex::new(&s.text)).collect();
        let mut merged = merge::with_rules(found, rules, |evidence| {
            let segment = evidence.segment;
            let text = source.segments.get(segment).map(|s| s.text.as_str()).unwrap_or_default();
            let byte = starts.get(segment).and_then(|index| index.byte_at(text, evidence.span.start));
            byte.is_some_and(|byte| plan.reads(segment, byte))
        });
        let least = self.confidence.unwrap_or(0.0);
        merged.events.retain(|event| event.confidence >= least);
        Ok(merged)
    }

    fn patience(&self) -> Option<Duration> {
        Some(PATIENCE)
    }

    fn health(&self) -> ExtractorHealth {
        let server = self.breaker.status(Instant::now());
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let detail = format!(
            "llm version {} with rules version {}; {} at {}: {}; {} calls, {} findings without evidence rejected, \
             {} categories repaired",
            VERSION,
            self.rules.version(),
            self.model,
            self.client.endpoint.shown(),
            server.detail,
            count(&self.tally.calls),
            count(&self.tally.rejected),
            count(&self.tally.repaired),
        );
        ExtractorHealth { is_healthy: server.is_available, detail }
    }
}
