//! Extractors: what turns a text into semantic events and entities with exact evidence.

mod llm;
mod rules;
mod settings;

pub use llm::{Key, LlmExtractor, LlmOptions};
pub use rules::{
    Blend, CLASSES, ClauseModel, ClauseSeen, DataFault, EncoderInput, FEATURES_VERSION, NAME_CLASSES,
    NAME_FEATURES_VERSION, NameModel, NameSeen, Odds, RulesExtractor, SCALE, Thresholds, clauses_of,
    in_their_text, is_short, logarithm, names_of, softmax,
};
pub use settings::ExtractorSettings;

/// The names that extractors sign their work with.
pub const EXTRACTORS: [&str; 2] = ["rules", "llm"];
