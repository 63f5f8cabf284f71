//! An event worker whose extractor ends the process at certain texts, as a fault in native code would.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use memory_core::event::Extraction;
use memory_core::ports::{ExtractError, Extractor, SourceText};
use memory_engine::worker::Worker;
use memory_engine::{EngineSettings, Memory};
use memory_extraction::RulesExtractor;
use memory_store::Store;
use tokio_util::sync::CancellationToken;

/// A text with this word kills its worker.
const FATAL: &str = "deadly";

struct Faulty(RulesExtractor);

#[async_trait]
impl Extractor for Faulty {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn version(&self) -> i32 {
        self.0.version()
    }

    async fn extract(&self, source: &SourceText) -> Result<Extraction, ExtractError> {
        if source.segments.iter().any(|segment| segment.text.contains(FATAL)) {
            // Its neighbours are under way by then.
            std::thread::sleep(Duration::from_millis(50));
            std::process::abort();
        }
        std::thread::sleep(Duration::from_millis(5));
        self.0.extract(source).await
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let store = Store::open(&std::env::var("DATABASE_URL")?, 8).await?;
    let settings = EngineSettings {
        concurrency: 4,
        lease: Duration::from_secs(2),
        poll_interval: Duration::from_millis(100),
        ..EngineSettings::default()
    };
    let memory = Arc::new(Memory::new(store, Arc::new(Faulty(RulesExtractor::new())), settings));
    Worker::new(&memory).run(CancellationToken::new()).await;
    Ok(())
}
