//! The `rules` extractor: no model and no network. Zones are told apart first, then names, then what sections promise
//! and what sentences say.

mod assemble;
mod clause;
mod cues;
mod discover;
mod draft;
mod events;
mod genre;
mod hits;
mod items;
mod lines;
mod names;
mod narrative;
mod owners;
mod people;
mod requests;
mod scene;
mod sections;
mod sentences;
#[cfg(test)]
mod tests;
mod things;
mod turns;
mod words;
mod zones;

use std::collections::HashSet;

use async_trait::async_trait;
use jiff::Timestamp;
use memory_core::event::Extraction;
use memory_core::ports::{ExtractError, Extractor, SourceText};
use memory_core::time::{Lean, readings};

use events::EventReader;
use people::{Roster, Sightings, is_role_name};
use scene::Scene;
use words::Text;

/// Of a source no more than this is read; what lies behind it yields nothing.
const SOURCE_MAX_BYTES: usize = 4_000_000;

/// Finds events and entities by rules. The same source always gives the same result.
#[derive(Debug, Clone, Copy, Default)]
pub struct RulesExtractor;

impl RulesExtractor {
    pub fn new() -> Self {
        Self
    }
}

#[async_trait]
impl Extractor for RulesExtractor {
    fn name(&self) -> &'static str {
        "rules"
    }

    fn version(&self) -> i32 {
        1
    }

    async fn extract(&self, source: &SourceText) -> Result<Extraction, ExtractError> {
        Ok(extract(source))
    }
}

fn extract(source: &SourceText) -> Extraction {
    let mut scenes = scenes(source);
    let mut roster = Roster::of_people(&sightings(source, &scenes));
    for scene in &mut scenes {
        let things = things::things(&scene.text, &scene.layout.hidden, &mut roster);
        scene.find_spots(&roster, things);
    }
    let fallback = scenes.iter().find_map(|scene| said_date(source, scene));
    for scene in &mut scenes {
        let own = source.segments.get(scene.segment).and_then(|segment| segment.date);
        scene.reference = own.or_else(|| said_date(source, scene)).or(fallback);
        scene.speaker = speaker(source, scene, &roster);
    }
    let mut drafts = Vec::new();
    for scene in scenes.iter().filter(|scene| !scene.context_only) {
        let machine =
            source.segments.get(scene.segment).is_some_and(|segment| is_machine(segment.speaker.as_deref()));
        let wanted = genre::confidence_wanted(scene).max(events::CONFIDENCE_MIN);
        let found = EventReader::new(scene, &roster, addressee(scene, &roster), machine).read();
        drafts.extend(found.into_iter().filter(|draft| draft.confidence >= wanted));
    }
    drafts.extend(turns::agreements(&scenes, &roster));
    assemble::extraction(&scenes, &roster, drafts)
}

fn scenes(source: &SourceText) -> Vec<Scene<'_>> {
    let known: HashSet<String> = source
        .participants
        .iter()
        .chain(&source.author)
        .chain(source.segments.iter().filter_map(|segment| segment.speaker.as_ref()))
        .flat_map(|name| {
            [name.to_lowercase(), name.split_whitespace().next().unwrap_or_default().to_lowercase()]
        })
        .collect();
    let mut left = SOURCE_MAX_BYTES;
    let mut scenes = Vec::with_capacity(source.segments.len());
    for (at, segment) in source.segments.iter().enumerate() {
        let text = Text::new(&segment.text, left);
        let read = words::floor_boundary(&segment.text, left);
        let mut scene = Scene::new(at, text, zones::read(&segment.text[..read], &known));
        scene.context_only = segment.context_only;
        scenes.push(scene);
        left -= read;
        if left == 0 {
            break;
        }
    }
    scenes
}

/// Everyone named: in what is known about the source, in its lists and headers, and in its text.
fn sightings(source: &SourceText, scenes: &[Scene<'_>]) -> Sightings {
    let mut seen = Sightings::default();
    for name in source.author.iter().chain(&source.participants) {
        seen.see(name, true);
    }
    for speaker in source.segments.iter().filter_map(|segment| segment.speaker.as_deref()) {
        seen.see(speaker, true);
    }
    for scene in scenes {
        let layout = &scene.layout;
        for people in layout.people.iter().chain(&layout.from).chain(&layout.to) {
            seen.see_list(people, false);
        }
        for speaker in &layout.speakers {
            seen.see(speaker, true);
        }
        if let Some(signed) = &layout.signed {
            seen.see(signed, false);
        }
        discover::see_people(&scene.text, &layout.hidden, &mut seen);
        for block in &layout.blocks {
            discover::see_owners(&scene.text, block, &mut seen);
        }
    }
    seen
}

/// The date a text gives itself, in a header, under its title or in it.
fn said_date(source: &SourceText, scene: &Scene<'_>) -> Option<Timestamp> {
    let said = [scene.layout.date.as_deref(), source.title.as_deref()];
    said.into_iter().flatten().find_map(|text| {
        let dates = readings(text, None, Lean::Past);
        dates.into_iter().find(|date| !date.is_ambiguous).map(|date| date.start)
    })
}

fn is_machine(speaker: Option<&str>) -> bool {
    speaker.is_some_and(|name| matches!(name.to_lowercase().as_str(), "assistant" | "system" | "ai" | "bot"))
}

/// Who «I» is in a segment.
fn speaker(source: &SourceText, scene: &Scene<'_>, roster: &Roster) -> Option<usize> {
    let spoken = source.segments.get(scene.segment).and_then(|segment| segment.speaker.as_deref());
    if is_machine(spoken) {
        return None;
    }
    let layout = &scene.layout;
    let names = [
        spoken.filter(|name| !is_role_name(name)),
        layout.from.as_deref(),
        source.author.as_deref(),
        layout.signed.as_deref(),
    ];
    names.into_iter().flatten().find_map(|name| roster.named(name))
}

/// The one person a mail is addressed to.
fn addressee(scene: &Scene<'_>, roster: &Roster) -> Option<usize> {
    match scene.layout.to.first().map(|to| to.split([',', ';']).collect::<Vec<_>>())?.as_slice() {
        [one] => roster.named(one),
        _ => None,
    }
}
