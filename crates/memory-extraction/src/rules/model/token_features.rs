//! Tokens as the model sees them.

use memory_core::entity::EntityType;
use memory_language::calendar_words::{CalendarWord, Spelling, calendar_word};

use super::super::parsed_segment::ParsedSegment;
use super::super::verbs;
use super::super::words::Kind;
use super::lexicon::classes;

/// A token as the model sees it: names, numbers and days as their class; empty for what says nothing.
pub(super) fn token_feature<'s>(parsed: &'s ParsedSegment<'_>, at: usize) -> &'s str {
    let text = &parsed.text;
    if let Some(mention) = parsed.mention(at) {
        return match mention.entity_type {
            EntityType::Person => "<person>",
            EntityType::Org => "<org>",
            EntityType::Project | EntityType::Object => "<thing>",
            EntityType::Place => "<place>",
            EntityType::Other => "<name>",
        };
    }
    let word = text.word(at);
    match text.kind(at) {
        Some(Kind::Number) => "<num>",
        Some(Kind::Handle) => "<person>",
        Some(Kind::Email) => "<mail>",
        Some(Kind::Link) => "<link>",
        Some(Kind::Punctuation) => match word {
            "?" | "!" | ":" | ";" | "(" | "→" | ">" | "\"" | "," | "–" | "—" | "-" | "+" | "%" | "✅"
            | "👍" | "🎉" | "😂" | "😅" => word,
            "€" | "£" | "$" => "<money>",
            "…" => "…",
            _ => "",
        },
        _ if is_day(word) => "<day>",
        _ if word.bytes().any(|byte| byte.is_ascii_digit()) => "<num>",
        _ if text.is_capitalised(at) && word != "i" => {
            let inside = at > 0 && (text.is_word(at - 1) || matches!(text.word(at - 1), "," | "'s"));
            let raw = text.raw_word(at);
            let shouted = raw.len() > 1 && raw.bytes().all(|byte| byte.is_ascii_uppercase());
            match (inside, shouted) {
                (_, true) if verbs::of(word).is_none() => "<abbr>",
                (true, false) if verbs::of(word).is_none() && classes(word).is_empty() => "<cap>",
                _ => word,
            }
        }
        _ => word,
    }
}

/// "may" and "march" are mostly other words.
fn is_day(word: &str) -> bool {
    match calendar_word(word) {
        Some((CalendarWord::Month(month), Spelling::Full)) => !matches!(month, 3 | 5),
        found => found.is_some(),
    }
}
