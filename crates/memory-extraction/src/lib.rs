//! Extractors: what turns a text into semantic events and entities with exact evidence.

mod llm;
mod rules;
mod settings;

pub use llm::{Key, LlmExtractor, LlmOptions};
pub use rules::{
    CLASSES, ClauseModel, ClauseSeen, DataFault, FEATURES_VERSION, Odds, RulesExtractor, SCALE, clauses_of,
    in_their_text, is_short,
};
pub use settings::ExtractorSettings;

/// The names that extractors sign their work with.
pub const EXTRACTORS: [&str; 2] = ["rules", "llm"];
