//! The name model: what the capitalised words and other candidates of a source name, if anything, by their form and by what stands
//! around them wherever they stand. It adds names on which the rules are silent, and doubts some of theirs.

mod candidates;
mod encoded;
mod settle;
mod signs;
mod weights;
mod word_kinds;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use memory_core::ports::{EncoderError, SourceText, TextEncoder};

use super::joined::Joined;
use super::model::Sink;
use super::parsed_segment::{Mention, ParsedSegment};
use super::people::Roster;
use encoded::NamesInput;
use signs::{Page, Signs};
use weights::Odds;
pub use weights::{NAME_CLASSES, NAME_FEATURES_VERSION, NameModel};

/// More names than this are not judged.
const NAMES_MAX: usize = 4_000;
/// Of a name no more places than this are looked at.
const PLACES_MAX: usize = 24;
/// A shorter text shows too little of a name to doubt what a rule says of it, or to add it unless the model is surer.
const TELLING_TOKENS: usize = 60;
/// So sure.
const SHORT_MIN: f32 = 0.8;

/// A name as the model sees it, for training.
#[derive(Debug, Clone)]
pub struct NameSeen {
    pub name: String,
    /// In order, each once.
    pub features: Vec<String>,
    /// Where it stands in the text, in bytes.
    pub places: Vec<Range<usize>>,
    /// Whether the rules leave it to the model.
    pub is_open: bool,
}

/// A source as an encoder reads it, and all that may be a name in it.
pub fn names_of(source: &SourceText) -> (Arc<str>, Vec<NameSeen>) {
    let (parsed_segments, roster) = super::named_by_rules(source);
    let names = names_in(&parsed_segments);
    let page = Page::of(source, &parsed_segments);
    let joined = Joined::of(source, &parsed_segments);
    let is_telling = is_telling(&parsed_segments);
    let seen = names.into_iter().map(|name| {
        let mut sink = Sink::named();
        read(&name, &parsed_segments, &page, &mut sink);
        NameSeen {
            places: encoded::places(&name, &joined, &parsed_segments),
            is_open: is_open(&name, &parsed_segments, &roster, is_telling),
            name: name.text,
            features: sink.into_names(),
        }
    });
    let seen = seen.collect();
    (joined.text, seen)
}

/// What may be a name, and where it stands: the number of the parsed segment and the tokens.
struct Name {
    text: String,
    places: Vec<(usize, Range<usize>)>,
}

fn names_in(parsed_segments: &[ParsedSegment<'_>]) -> Vec<Name> {
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut all: Vec<Name> = Vec::new();
    for (number, parsed) in parsed_segments.iter().enumerate() {
        for tokens in candidates::candidates(parsed) {
            let raw = &parsed.text.raw[parsed.text.bytes(&tokens)];
            let text = raw.split_whitespace().collect::<Vec<_>>().join(" ");
            if let Some(known) = numbers.get(&text) {
                all[*known].places.push((number, tokens));
            } else if all.len() < NAMES_MAX {
                numbers.insert(text.clone(), all.len());
                all.push(Name { text, places: vec![(number, tokens)] });
            }
        }
    }
    all
}

/// Gives all features of a name.
fn read(name: &Name, parsed_segments: &[ParsedSegment<'_>], page: &Page, sink: &mut Sink) {
    let mut signs = Signs::new(sink);
    let (first, tokens) = &name.places[0];
    signs.name(&parsed_segments[*first].text, tokens);
    for (number, tokens) in name.places.iter().take(PLACES_MAX) {
        signs.place(&parsed_segments[*number], tokens);
    }
    signs.whole(&name.text, page, name.places.len());
}

/// Doubts what the rules named and adds what else is named.
pub(super) async fn judge(
    model: &NameModel,
    encoder: Option<&dyn TextEncoder>,
    source: &SourceText,
    parsed_segments: &mut [ParsedSegment<'_>],
    roster: &mut Roster,
) -> Result<(), EncoderError> {
    let (names, mut odds) = open_names(model, source, parsed_segments, roster);
    if names.is_empty() {
        return Ok(());
    }
    if let Some(encoder) = encoder {
        let NamesInput { text, numbers, places } = NamesInput::of(&names, source, parsed_segments);
        let logits = encoder.name_logits(text, places).await?;
        model.blend().join(&mut odds, &numbers, &logits);
    }
    let mut judged: Vec<(Name, Odds)> = names.into_iter().zip(odds).collect();
    if is_telling(parsed_segments) {
        settle::doubt(&judged, parsed_segments, roster);
    } else {
        judged.retain(|(_, odds)| odds[0] < 1.0 - SHORT_MIN);
    }
    settle::add(model.thresholds(encoder.is_some()), &judged, parsed_segments, roster);
    Ok(())
}

/// The names of which the model has a say, and how likely they are by features.
fn open_names(
    model: &NameModel,
    source: &SourceText,
    parsed_segments: &[ParsedSegment<'_>],
    roster: &Roster,
) -> (Vec<Name>, Vec<Odds>) {
    let is_telling = is_telling(parsed_segments);
    let mut names = names_in(parsed_segments);
    names.retain(|name| is_open(name, parsed_segments, roster, is_telling));
    if names.is_empty() {
        return (names, Vec::new());
    }
    let page = Page::of(source, parsed_segments);
    let mut sink = Sink::default();
    let odds = names.iter().map(|name| {
        read(name, parsed_segments, &page, &mut sink);
        model.odds(sink.hashes())
    });
    let odds = odds.collect();
    (names, odds)
}

/// Whether the text shows enough of its names.
fn is_telling(parsed_segments: &[ParsedSegment<'_>]) -> bool {
    let words: usize = parsed_segments.iter().map(|parsed| parsed.text.tokens.len()).sum();
    words >= TELLING_TOKENS
}

/// What stands elsewhere only within the names of the rules is none of its own.
fn is_open(name: &Name, parsed_segments: &[ParsedSegment<'_>], roster: &Roster, is_telling: bool) -> bool {
    name.places.iter().any(|(number, tokens)| {
        let parsed = &parsed_segments[*number];
        match parsed.mention(tokens.start) {
            Some(mention) => is_telling && mention.tokens == *tokens && is_doubtful(mention, roster),
            None => tokens.clone().all(|at| parsed.mention(at).is_none()),
        }
    })
}

/// Whether what the rules say may be doubted: not of those with a part in the source.
fn is_doubtful(mention: &Mention, roster: &Roster) -> bool {
    NameModel::class_of(mention.entity_type).is_some() && !roster.is_sure(mention.entity)
}

#[cfg(test)]
mod tests;
