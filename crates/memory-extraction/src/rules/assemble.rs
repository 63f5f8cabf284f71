//! Assembly: duplicates merged, the surest kept, and everything put into exact spans.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use memory_core::event::{EVENTS_MAX, Evidence, ExtractedEntity, ExtractedEvent, Extraction, Mention};

use super::draft::Draft;
use super::parsed_segment::ParsedSegment;
use super::people::Roster;

/// No more events than this for each thousand characters begun: lists of tasks are dense.
const EVENTS_PER_1000_CHARS: usize = 16;
/// Between a sentence and the next stand a mark and a space.
const GAP_MAX_BYTES: usize = 3;

pub(super) fn extraction(
    parsed_segments: &[ParsedSegment<'_>],
    roster: &Roster,
    drafts: Vec<Draft>,
) -> Extraction {
    let mut drafts = merged(drafts);
    let chars: usize = parsed_segments
        .iter()
        .filter(|parsed| !parsed.context_only)
        .map(|parsed| parsed.text.raw.len())
        .sum();
    let limit = (chars.div_ceil(1000) * EVENTS_PER_1000_CHARS).min(EVENTS_MAX);
    drafts.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    drafts.truncate(limit);
    drafts.sort_by_key(|draft| draft.evidence.first().map(|(segment, bytes)| (*segment, bytes.start)));
    let events: Vec<ExtractedEvent> =
        drafts.into_iter().filter_map(|draft| event(parsed_segments, draft)).collect();
    Extraction { entities: entities(parsed_segments, roster), events, ..Extraction::default() }
}

/// Of events of one category on the same words the surest stays.
fn merged(mut drafts: Vec<Draft>) -> Vec<Draft> {
    drafts.retain(|draft| !draft.evidence.is_empty() && !draft.narrative.is_empty());
    drafts.sort_by(|a, b| {
        (a.category, a.evidence[0].0, a.evidence[0].1.start).cmp(&(
            b.category,
            b.evidence[0].0,
            b.evidence[0].1.start,
        ))
    });
    let mut kept: Vec<Draft> = Vec::with_capacity(drafts.len());
    for draft in drafts {
        match kept.last_mut() {
            Some(last)
                if last.category == draft.category && overlaps(&last.evidence[0], &draft.evidence[0]) =>
            {
                if draft.confidence > last.confidence {
                    *last = draft;
                }
            }
            Some(last) => match words_added(last, &draft) {
                // The same once more.
                Some(1) => {}
                // "The fee was discussed. The proposal was carried."
                Some(2..) => *last = draft,
                _ => kept.push(draft),
            },
            None => kept.push(draft),
        }
    }
    // A request that was agreed to is told by the agreement.
    let told: BTreeMap<(usize, usize), usize> = kept
        .iter()
        .filter(|draft| draft.evidence.len() > 1)
        .flat_map(|draft| draft.evidence.iter())
        .map(|(segment, bytes)| ((*segment, bytes.start), bytes.end))
        .collect();
    kept.retain(|draft| {
        let (segment, bytes) = &draft.evidence[0];
        let earlier = told.range((*segment, 0)..(*segment, bytes.end)).next_back();
        draft.evidence.len() > 1 || earlier.is_none_or(|(_, end)| *end <= bytes.start)
    });
    kept
}

/// The words that an event right behind another of its category adds to that, whose words it is told with: "Decided." of "The fee
/// stays. Decided."
fn words_added(first: &Draft, draft: &Draft) -> Option<usize> {
    let ((segment, before), (of, bytes)) = (&first.evidence[0], &draft.evidence[0]);
    let is_next =
        segment == of && bytes.start.checked_sub(before.end).is_some_and(|gap| gap <= GAP_MAX_BYTES);
    let rest = draft.narrative.strip_prefix(&first.narrative)?;
    (first.category == draft.category && is_next).then(|| rest.split_whitespace().count())
}

fn overlaps(a: &(usize, Range<usize>), b: &(usize, Range<usize>)) -> bool {
    a.0 == b.0 && a.1.start < b.1.end && b.1.start < a.1.end
}

fn event(parsed_segments: &[ParsedSegment<'_>], draft: Draft) -> Option<ExtractedEvent> {
    if parsed_segments.get(draft.evidence.first()?.0)?.context_only {
        return None;
    }
    let evidence: Vec<Evidence> = draft
        .evidence
        .iter()
        .filter_map(|(segment, bytes)| {
            let text = &parsed_segments.get(*segment)?.text;
            let quote = text.raw.get(bytes.clone()).filter(|quote| !quote.is_empty())?.to_owned();
            Some(Evidence { segment: *segment, span: text.span(bytes), quote })
        })
        .collect();
    (!evidence.is_empty()).then_some(ExtractedEvent {
        category: draft.category,
        narrative: draft.narrative,
        event_time: draft.event_time,
        due_time: draft.due_time,
        subject: draft.subject,
        actors: draft.actors,
        confidence: draft.confidence,
        evidence,
    })
}

fn entities(parsed_segments: &[ParsedSegment<'_>], roster: &Roster) -> Vec<ExtractedEntity> {
    let mut mentions: HashMap<usize, Vec<Mention>> = HashMap::new();
    for parsed in parsed_segments {
        for mention in &parsed.mentions {
            let bytes = parsed.text.bytes(&mention.tokens);
            let surface = parsed.text.raw[bytes.clone()].to_owned();
            mentions.entry(mention.entity).or_default().push(Mention {
                segment: parsed.segment,
                span: parsed.text.span(&bytes),
                surface,
            });
        }
    }
    roster
        .entities
        .iter()
        .enumerate()
        .map(|(at, known)| {
            let mentions = mentions.remove(&at).unwrap_or_default();
            let mut aliases = known.aliases.clone();
            let mut forms: HashSet<String> = aliases.iter().map(|alias| alias.to_ascii_lowercase()).collect();
            for mention in &mentions {
                let surface = mention.surface.split_whitespace().collect::<Vec<_>>().join(" ");
                if surface != known.name && forms.insert(surface.to_ascii_lowercase()) {
                    aliases.push(surface);
                }
            }
            ExtractedEntity { name: known.name.clone(), entity_type: known.entity_type, aliases, mentions }
        })
        .collect()
}
