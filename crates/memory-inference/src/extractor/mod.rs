//! Extractors: what turns a text into semantic events and entities with exact evidence.

mod rules;

pub use rules::RulesExtractor;
