//! Extractors: what turns a text into semantic events and entities with exact evidence.

mod llm;
mod rules;
mod settings;

pub use llm::{Key, LlmExtractor, LlmOptions};
pub use rules::RulesExtractor;
pub use settings::ExtractorSettings;
