//! The `rules` extractor: no model and no network. The layout is read first, then names, then what sections promise
//! and what sentences say.

mod acceptances;
mod agreements;
mod answers;
mod apart;
mod appointments;
mod assemble;
mod by_form;
mod carried_days;
mod clause;
mod commits;
mod cues;
mod data_file;
mod date_context;
mod deadlines;
mod discover;
mod doers;
mod draft;
mod draft_index;
mod emphasis;
mod event_context;
mod events;
mod exceptions;
mod features;
mod gender;
mod genre;
mod hours;
mod irony;
mod item_speakers;
mod items;
mod joined;
mod layout;
mod led_sentences;
mod line_patterns;
mod lines;
mod listed_again;
mod listed_tasks;
mod lists;
mod markup;
mod model;
mod names;
mod naming;
mod narrative;
mod needed_from;
mod next_meeting;
mod objections;
mod own_tasks;
mod owners;
mod parsed_segment;
mod parties;
mod patterns;
mod people;
mod refused_reports;
mod requests;
mod sections;
mod sentences;
mod status_marks;
#[cfg(test)]
mod tests;
mod things;
mod third_person;
mod told_otherwise;
mod turns;
mod verbs;
mod votes;
mod withdrawals;
mod words;
mod wordset;

use std::collections::HashSet;
use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use memory_core::artifact::Context;
use memory_core::event::{Category, Extraction};
use memory_core::ports::{EncoderError, ExtractError, Extractor, ExtractorHealth, SourceText, TextEncoder};
use memory_language::time::{Lean, readings};

pub use data_file::DataFault;
use draft::Draft;
use event_context::EventContext;
use events::EventReader;
pub use model::{
    Blend, CLASSES, ClauseModel, ClauseSeen, EncoderInput, FEATURES_VERSION, Odds, SCALE, Thresholds,
    clauses_of, in_their_text, is_short, logarithm, softmax,
};
use model::{Clauses, judged};
pub use naming::{NAME_CLASSES, NAME_FEATURES_VERSION, NameModel, NameSeen, names_of};
use parsed_segment::ParsedSegment;
use parties::{addressee, speaker};
use people::{Roster, Sightings, is_machine};
use words::Text;

/// Of a source no more than this is read; what lies behind it yields nothing.
const SOURCE_MAX_BYTES: usize = 4_000_000;

/// Both are raised with every change after which the same text may give another result.
const VERSION_WITHOUT_ENCODER: i32 = 71;
const VERSION_WITH_ENCODER: i32 = 72;

/// Finds events and entities by rules, and by a small model that weighs clauses. The same source always gives the same
/// result.
#[derive(Debug, Clone)]
pub struct RulesExtractor {
    model: Option<Arc<ClauseModel>>,
    confidence: Option<f32>,
    encoder: Option<Arc<dyn TextEncoder>>,
}

impl Default for RulesExtractor {
    fn default() -> Self {
        Self::new()
    }
}

impl RulesExtractor {
    pub fn new() -> Self {
        Self { model: Some(ClauseModel::own()), confidence: None, encoder: None }
    }

    /// Judges clauses by another model; by none, with the hand-written rules alone.
    pub fn with_model(model: Option<ClauseModel>) -> Self {
        Self { model: model.map(Arc::new), confidence: None, encoder: None }
    }

    /// Tells what is at least so likely, 0 to 1, instead of what is above the thresholds that came with the model.
    #[must_use]
    pub fn with_confidence(self, confidence: Option<f32>) -> Self {
        Self { confidence, ..self }
    }

    /// Judges names and clauses by an encoder too, if there is one, with weights that were found with it. While it fails, nothing is
    /// extracted.
    #[must_use]
    pub fn with_encoder(self, encoder: Option<Arc<dyn TextEncoder>>) -> Self {
        Self { encoder, ..self }
    }
}

#[async_trait]
impl Extractor for RulesExtractor {
    fn name(&self) -> &'static str {
        "rules"
    }

    fn version(&self) -> i32 {
        if self.encoder.is_some() { VERSION_WITH_ENCODER } else { VERSION_WITHOUT_ENCODER }
    }

    fn is_quick(&self) -> bool {
        true
    }

    fn text_encoder(&self) -> Option<Arc<dyn TextEncoder>> {
        self.encoder.clone()
    }

    fn health(&self) -> ExtractorHealth {
        let encoder = match self.encoder {
            Some(_) => "with the text encoder",
            None => "without the text encoder, which finds more (`remembrancer setup` adds it)",
        };
        let detail = format!("{} version {}, {encoder}, reads English only", self.name(), self.version());
        ExtractorHealth { is_healthy: true, detail }
    }

    async fn extract(&self, source: &SourceText) -> Result<Extraction, ExtractError> {
        let shown = markup::Shown::of(source);
        let source = &*shown.source;
        let encoder = self.encoder.as_deref();
        let found = found(source, encoder).await.map_err(failed)?;
        let Found { mut parsed_segments, mut roster, drafts } = found;
        let mut drafts = match &self.model {
            None => trusted(source, &parsed_segments, drafts),
            Some(model) => {
                let mut clauses = Clauses::of(model, source, &parsed_segments, &drafts);
                if let Some(encoder) = encoder
                    && let Some(EncoderInput { text, numbers, clauses: bytes }) =
                        clauses.encoder_input(source)
                {
                    let logits = encoder.clause_logits(text, bytes).await.map_err(failed)?;
                    model.blend().join(&mut clauses.odds, &numbers, &logits);
                }
                let thresholds = match self.confidence {
                    Some(confidence) => [confidence; Category::ALL.len()],
                    None => model.thresholds(clauses.odds.len(), encoder.is_some()),
                };
                judged(clauses, &thresholds, &roster, drafts)
            }
        };
        doers::name_doers(&mut parsed_segments, &mut roster, &mut drafts);
        led_sentences::name_leaders(&mut parsed_segments, &mut roster, &mut drafts);
        needed_from::own(&parsed_segments, &mut drafts);
        exceptions::drop_parts(&parsed_segments, &mut drafts);
        if self.confidence.is_none_or(|least| least <= by_form::CONFIDENCE) {
            appointments::add(&parsed_segments, &roster, &mut drafts);
            own_tasks::add(source.context, &parsed_segments, &roster, &mut drafts);
            listed_tasks::add(&parsed_segments, &roster, &mut drafts);
            commits::add(&parsed_segments, &roster, &mut drafts);
            votes::add_lost(&parsed_segments, &mut drafts);
        }
        let turns = turns::turns(&parsed_segments, &roster);
        agreements::drop_refused(&turns, &mut drafts);
        refused_reports::drop_refused(&parsed_segments, &mut drafts);
        hours::place(&parsed_segments, &mut drafts);
        carried_days::place(&parsed_segments, &mut drafts);
        acceptances::complete(&parsed_segments, &roster, &mut drafts);
        withdrawals::drop_withdrawn(&turns, &mut drafts);
        votes::tell(&parsed_segments, &mut drafts);
        status_marks::apply(&parsed_segments, &mut drafts);
        own_tasks::fall_due(&parsed_segments, &mut drafts);
        next_meeting::fall_due(&parsed_segments, &mut drafts);
        listed_again::join(&mut drafts);
        Ok(shown.in_original(assemble::extraction(&parsed_segments, &roster, drafts)))
    }
}

/// What the hand-written rules find.
struct Found<'a> {
    parsed_segments: Vec<ParsedSegment<'a>>,
    roster: Roster,
    drafts: Vec<Draft>,
}

/// The segments of a source and who and what the rules name in them.
fn named_by_rules(source: &SourceText) -> (Vec<ParsedSegment<'_>>, Roster) {
    let mut parsed_segments = parsed_segments(source);
    let plain: Vec<things::Things> =
        parsed_segments.iter().map(|parsed| things::plain(&parsed.text, &parsed.layout.hidden)).collect();
    let mut roster = Roster::of_people(&sightings(source, &parsed_segments, &plain));
    // "Fr. Ambrose" is written with the title that is no part of the name.
    for name in source.author.iter().chain(&source.participants).map(|name| name.trim()) {
        let person = roster.named(name).filter(|_| names::without_title(name) != name);
        if let Some(person) = person.filter(|_| name.len() < 60) {
            roster.call(person, name);
        }
    }
    roster.learn_short_forms(&parsed_segments.iter().map(|parsed| &parsed.text).collect::<Vec<_>>());
    let speakers = parsed_segments
        .iter()
        .flat_map(|parsed| parsed.layout.speakers.iter().map(String::as_str))
        .filter(|label| !may_be_word(label))
        .collect::<Vec<_>>();
    roster.trust(source.author.iter().chain(&source.participants).map(String::as_str).chain(speakers));
    let title = source.title.as_deref();
    let things: Vec<_> = parsed_segments
        .iter()
        .zip(plain)
        .map(|(parsed, plain)| things::things(&parsed.text, &parsed.layout, title, plain, &mut roster))
        .collect();
    roster.key_bodies(things::is_body);
    for (parsed, things) in parsed_segments.iter_mut().zip(things) {
        parsed.find_mentions(&roster, things);
    }
    (parsed_segments, roster)
}

/// "Progress:" at the head of lines says who speaks, or what of: one capitalised word that no known first name is.
fn may_be_word(label: &str) -> bool {
    let mut letters = label.chars();
    letters.next().is_some_and(char::is_uppercase)
        && letters.all(char::is_lowercase)
        && !names::is_first_name(&label.to_lowercase())
}

#[allow(clippy::needless_pass_by_value, reason = "errors are mapped by it")]
fn failed(error: EncoderError) -> ExtractError {
    ExtractError::Failed(error.to_string())
}

async fn found<'a>(
    source: &'a SourceText,
    encoder: Option<&dyn TextEncoder>,
) -> Result<Found<'a>, EncoderError> {
    let (mut parsed_segments, mut roster) = named_by_rules(source);
    naming::judge(NameModel::own(), encoder, source, &mut parsed_segments, &mut roster).await?;
    let fallback = parsed_segments.iter().find_map(|parsed| said_date(source, parsed));
    for parsed in &mut parsed_segments {
        let segment = source.segments.get(parsed.segment);
        let own = segment.and_then(|segment| segment.date);
        let stored = own.filter(|_| segment.is_some_and(|segment| segment.is_date_of_storing));
        let said = said_date(source, parsed).or(fallback).filter(|said| stored.is_none_or(|at| *said <= at));
        parsed.reference = own.filter(|_| stored.is_none()).or(said).or(stored);
        parsed.read_days();
        parsed.speaker = speaker(source, parsed, &roster);
        parsed.addressee = addressee(source, parsed, &roster);
        parsed.is_mail = source.context == Context::Email && parsed.layout.speakers.is_empty();
        let is_alone = parsed.layout.people.is_empty() && parsed.layout.speakers.is_empty();
        let is_shared =
            matches!(source.context, Context::Email | Context::Meeting) || source.participants.len() > 1;
        parsed.is_of_machine = segment.is_some_and(|segment| is_machine(segment.speaker.as_deref()));
        parsed.is_of_one = is_alone && !is_shared && parsed.speaker.is_some();
        parsed.give_items_their_speakers(&roster);
    }
    let mut drafts = Vec::new();
    for parsed in parsed_segments.iter().filter(|parsed| !parsed.context_only) {
        let context = EventContext { parsed, roster: &roster };
        drafts.extend(EventReader::new(context).read());
    }
    drafts.extend(agreements::agreements(&parsed_segments, &roster));
    Ok(Found { parsed_segments, roster, drafts })
}

/// The drafts that are sure enough for the kind of text they stand in.
fn trusted(source: &SourceText, parsed_segments: &[ParsedSegment<'_>], drafts: Vec<Draft>) -> Vec<Draft> {
    let by_genre: Vec<f32> =
        parsed_segments.iter().map(|parsed| genre::confidence_wanted(source, parsed)).collect();
    let wanted = |draft: &Draft| {
        let by_genre = by_genre.get(draft.evidence.first()?.0)?;
        Some(if draft.evidence.len() > 1 { 0.0 } else { by_genre.max(events::CONFIDENCE_MIN) })
    };
    drafts
        .into_iter()
        .filter(|draft| wanted(draft).is_some_and(|wanted| draft.confidence >= wanted))
        .collect()
}

fn parsed_segments(source: &SourceText) -> Vec<ParsedSegment<'_>> {
    let known: HashSet<String> = source
        .participants
        .iter()
        .chain(&source.author)
        .chain(source.segments.iter().filter_map(|segment| segment.speaker.as_ref()))
        .flat_map(|name| {
            let bare = names::without_title(name.split(['(', '<']).next().unwrap_or(name).trim());
            let first = bare.split_whitespace().next().unwrap_or_default();
            [
                name.to_lowercase(),
                bare.to_lowercase(),
                people::folded(bare),
                first.to_lowercase(),
                people::folded(first),
            ]
        })
        .collect();
    let mut left = SOURCE_MAX_BYTES;
    let mut parsed_segments = Vec::with_capacity(source.segments.len());
    for (at, segment) in source.segments.iter().enumerate() {
        let text = Text::new(&segment.text, left);
        let read = words::floor_boundary(&segment.text, left);
        let mut parsed = ParsedSegment::new(at, text, layout::read(&segment.text[..read], &known));
        parsed.context_only = segment.context_only;
        parsed_segments.push(parsed);
        left -= read;
        if left == 0 {
            break;
        }
    }
    parsed_segments
}

/// Everyone named: in what is known about the source, in its lists and headers, and in its text.
fn sightings(
    source: &SourceText,
    parsed_segments: &[ParsedSegment<'_>],
    plain: &[things::Things],
) -> Sightings {
    let mut seen = Sightings::default();
    for name in source.author.iter().chain(&source.participants) {
        seen.see(name, true);
    }
    for speaker in source.segments.iter().filter_map(|segment| segment.speaker.as_deref()) {
        seen.see(speaker, true);
    }
    for (parsed, plain) in parsed_segments.iter().zip(plain) {
        let layout = &parsed.layout;
        for people in layout.people.iter().chain(&layout.from).chain(&layout.by).chain(&layout.to) {
            seen.see_list(people, false);
        }
        // "author: dmk".
        if let Some(handle) = layout.from.as_deref().filter(|from| !from.contains([' ', '@'])) {
            seen.see(handle, true);
        }
        for people in &layout.people {
            seen.see_parts_of_people(people);
        }
        for speaker in &layout.speakers {
            seen.see(speaker, true);
        }
        if let Some(signed) = &layout.signed {
            seen.see(signed, false);
        }
        let mut hidden = layout.hidden.clone();
        hidden.extend(things::taken(&parsed.text, plain));
        hidden.extend(parsed.marks.code());
        seen.bar(things::names_of_projects(&parsed.text, plain));
        seen.bar(things::heads_of_bodies(&parsed.text, plain));
        hidden.sort_by_key(|range| range.start);
        discover::see_listed(parsed.text.read(), &layout.hidden, &mut seen);
        discover::see_people(&parsed.text, &hidden, &mut seen);
        discover::see_recurring(&parsed.text, &hidden, &mut seen);
        for block in &layout.blocks {
            discover::see_owners(&parsed.text, block, &mut seen);
        }
    }
    seen
}

/// The date a text gives itself, in a header, under its title or in it.
fn said_date(source: &SourceText, parsed: &ParsedSegment<'_>) -> Option<Timestamp> {
    let said = [parsed.layout.date.as_deref(), source.title.as_deref()];
    said.into_iter().flatten().find_map(|text| {
        let dates = readings(text, None, Lean::Past);
        dates.into_iter().find(|date| !date.is_ambiguous).map(|date| date.start)
    })
}
