//! Sentences that a name and a colon lead, in one line: "Tamar: fixed two bugs. Ugo: wrote the tests." What they tell is done by the
//! one who is named.

use std::collections::HashSet;
use std::ops::Range;

use memory_core::entity::EntityType;
use memory_core::event::{Actor, ActorRole, Category};

use super::draft::Draft;
use super::names;
use super::parsed_segment::{Mention, ParsedSegment};
use super::people::Roster;
use super::sections;
use super::sentences::sentences;

/// Fewer such sentences are no round of reports.
const LED_MIN: usize = 2;
/// So many with a first name among them are one, whatever the others are called.
const ROUND: usize = 3;

/// Gives what is told in such sentences, and has nobody who did it, to those who lead them.
pub(super) fn name_leaders(
    parsed_segments: &mut [ParsedSegment<'_>],
    roster: &mut Roster,
    drafts: &mut [Draft],
) {
    let mut all: Vec<Option<Vec<(usize, usize)>>> = vec![None; parsed_segments.len()];
    let mut found: Vec<Vec<Mention>> = vec![Vec::new(); parsed_segments.len()];
    let mut fresh = HashSet::new();
    for draft in drafts.iter_mut() {
        let [(segment, bytes)] = draft.evidence.as_slice() else { continue };
        let is_open = matches!(draft.category, Category::Execution | Category::Commitment)
            && draft.owners().next().is_none();
        let Some(parsed) = parsed_segments.get(*segment).filter(|_| is_open) else { continue };
        let leaders = all[*segment].get_or_insert_with(|| leaders(parsed));
        let Ok(place) = leaders.binary_search_by_key(&bytes.start, |(start, _)| *start) else { continue };
        let at = leaders[place].1;
        let name = parsed.text.raw_word(at);
        let known = roster.named(name);
        let entity = known.unwrap_or_else(|| roster.add(name, EntityType::Person));
        if known.is_none() {
            fresh.insert(entity);
        }
        let entity_type = roster.entities[entity].entity_type;
        if entity_type == EntityType::Person {
            found[*segment].push(Mention { tokens: at..at + 1, entity, entity_type, gender: None });
            draft.actors.retain(|actor| actor.entity != entity);
            draft.actors.push(Actor { entity, role: ActorRole::Owner });
            draft.subject = draft.subject.filter(|subject| *subject != entity);
        }
    }
    for (parsed, found) in parsed_segments.iter_mut().zip(found).filter(|(_, found)| !found.is_empty()) {
        parsed.find_more(roster, &found, &fresh);
    }
}

/// Where sentences begin that a name leads, in bytes, with the token of the name; none where it is no round of several people.
fn leaders(parsed: &ParsedSegment<'_>) -> Vec<(usize, usize)> {
    let text = &parsed.text;
    let mut all = Vec::new();
    for block in parsed.layout.blocks.iter().filter(|block| block.speaker.is_none()) {
        let led = sentences(text, &block.bytes).into_iter().filter(|sentence| is_led(parsed, sentence));
        let mut led: Vec<usize> = led.map(|sentence| sentence.start).collect();
        let is_first = |at: &usize| names::is_first_name(text.word(*at));
        let different = |led: &[usize]| led.iter().map(|at| text.word(*at)).collect::<HashSet<_>>().len();
        // "Progress: … Anna: …": two may be of a person and of a thing, three with a first name among them are of people.
        if different(&led) < ROUND || !led.iter().any(is_first) {
            led.retain(is_first);
        }
        if different(&led) >= LED_MIN {
            all.extend(led.into_iter().map(|at| (text.tokens[at].start, at)));
        }
    }
    all
}

/// "Tamar: fixed …": one capitalised word that no word of the language is, a colon, and what begins small.
fn is_led(parsed: &ParsedSegment<'_>, sentence: &Range<usize>) -> bool {
    let text = &parsed.text;
    let at = sentence.start;
    let word = text.word(at);
    sentence.len() > 3
        && text.is_capitalised(at)
        && text.word(at + 1) == ":"
        && text.is_word(at + 2)
        && !text.is_capitalised(at + 2)
        && names::could_be_name(text.raw_word(at), false)
        && !names::is_common_word(word)
        && sections::of_label(text.raw_word(at)).is_none()
        && parsed.mention(at).is_none_or(Mention::is_person)
}
