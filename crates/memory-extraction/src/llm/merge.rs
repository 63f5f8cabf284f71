//! Joins what was found twice: by two windows of one text, and by the model and the rules.

use std::collections::HashMap;

use memory_core::entity::{EntityType, normalised_name};
use memory_core::event::{EVENTS_MAX, Evidence, ExtractedEntity, ExtractedEvent, Extraction};

/// What rules alone found in a text that the model has read is kept from this confidence on, whatever the model sees in the
/// same words: small models see much and say that they are sure of it.
const SURE_MIN: f32 = 0.75;

/// Joins events of the same words and category, as two windows may report them.
pub(super) fn joined(found: Extraction) -> Extraction {
    let mut events = Vec::with_capacity(found.events.len());
    found.events.into_iter().for_each(|event| put(&mut events, event));
    Extraction { events, ..found }
}

/// The model's findings with those of the rules. `has_read` says whether the model was shown an evidence.
pub(super) fn with_rules(
    found: Extraction,
    rules: Extraction,
    has_read: impl Fn(&Evidence) -> bool,
) -> Extraction {
    let Extraction { mut entities, mut events, rejected } = joined(found);
    let new_index = join_entities(&mut entities, rules.entities);
    for mut event in rules.events {
        event.subject = event.subject.map(|old| new_index[old]);
        event.actors.iter_mut().for_each(|actor| actor.entity = new_index[actor.entity]);
        let is_told = events
            .iter()
            .any(|other| other.category == event.category && same_words(&other.evidence, &event.evidence));
        let is_read = event.evidence.iter().any(&has_read);
        if is_told || !is_read || event.confidence >= SURE_MIN {
            put(&mut events, event);
        }
    }
    if events.len() > EVENTS_MAX {
        events.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
        events.truncate(EVENTS_MAX);
    }
    events.sort_by_key(|event| event.evidence.first().map(|first| (first.segment, first.span)));
    Extraction { entities, events, rejected }
}

/// Adds an event, or joins it to an equal one.
fn put(events: &mut Vec<ExtractedEvent>, event: ExtractedEvent) {
    let same = events
        .iter_mut()
        .find(|other| other.category == event.category && same_words(&other.evidence, &event.evidence));
    let Some(first) = same else {
        events.push(event);
        return;
    };
    first.confidence = first.confidence.max(event.confidence);
    first.event_time = first.event_time.or(event.event_time);
    first.due_time = first.due_time.or(event.due_time);
    first.subject = first.subject.or(event.subject);
    for actor in event.actors {
        if !first.actors.iter().any(|known| known.entity == actor.entity) {
            first.actors.push(actor);
        }
    }
    for evidence in event.evidence {
        if !first.evidence.iter().any(|known| overlaps(known, &evidence)) {
            first.evidence.push(evidence);
        }
    }
}

fn same_words(a: &[Evidence], b: &[Evidence]) -> bool {
    a.iter().any(|one| b.iter().any(|other| overlaps(one, other)))
}

/// Whether two quotes share at least half of the shorter one.
fn overlaps(a: &Evidence, b: &Evidence) -> bool {
    let shared = a.span.end.min(b.span.end).saturating_sub(a.span.start.max(b.span.start));
    a.segment == b.segment && shared > 0 && shared * 2 >= a.span.len().min(b.span.len())
}

/// Joins entities by name, or by a name that only one of them has; gives where each of the others has gone.
fn join_entities(entities: &mut Vec<ExtractedEntity>, others: Vec<ExtractedEntity>) -> Vec<usize> {
    // Of a normalised name: whose it is, and whether it is the name itself; `None` where several have it.
    let mut known: HashMap<String, Option<(usize, bool)>> = HashMap::new();
    for (at, entity) in entities.iter().enumerate() {
        known.insert(normalised_name(&entity.name), Some((at, true)));
    }
    for (at, entity) in entities.iter().enumerate() {
        for alias in &entity.aliases {
            let owner = known.entry(normalised_name(alias)).or_insert(Some((at, false)));
            if owner.is_some_and(|(of, is_name)| of != at && !is_name) {
                *owner = None;
            }
        }
    }
    let mut new_index = Vec::with_capacity(others.len());
    for other in others {
        let fits = |at: usize| {
            let there = entities[at].entity_type;
            there == other.entity_type || there == EntityType::Other || other.entity_type == EntityType::Other
        };
        let by_name = match known.get(&normalised_name(&other.name)).copied().flatten() {
            Some((at, is_name)) if is_name || fits(at) => Some(at),
            _ => None,
        };
        let by_alias = || {
            let mut owners = other
                .aliases
                .iter()
                .filter_map(|alias| known.get(&normalised_name(alias)).copied().flatten());
            let (at, _) = owners.next()?;
            (owners.all(|(also, _)| also == at) && fits(at)).then_some(at)
        };
        let at = by_name.or_else(by_alias);
        new_index.push(at.unwrap_or(entities.len()));
        match at {
            Some(at) => absorb(&mut entities[at], other),
            None => entities.push(other),
        }
    }
    new_index
}

fn absorb(entity: &mut ExtractedEntity, other: ExtractedEntity) {
    if entity.entity_type == EntityType::Other {
        entity.entity_type = other.entity_type;
    }
    let mut names = other.aliases;
    if other.name.chars().count() > entity.name.chars().count() {
        names.push(std::mem::replace(&mut entity.name, other.name));
    } else {
        names.push(other.name);
    }
    for name in names {
        let normalised = normalised_name(&name);
        if !entity.aliases.iter().any(|alias| normalised_name(alias) == normalised) {
            entity.aliases.push(name);
        }
    }
    let own = normalised_name(&entity.name);
    entity.aliases.retain(|alias| normalised_name(alias) != own);
    entity.mentions.extend(other.mentions);
    entity.mentions.sort_by_key(|mention| (mention.segment, mention.span));
    entity.mentions.dedup_by_key(|mention| (mention.segment, mention.span));
}

#[cfg(test)]
mod tests {
    use memory_core::event::{Actor, ActorRole, Category};
    use memory_language::text::CharSpan;

    use super::*;

    fn event(category: Category, span: (usize, usize), confidence: f32, narrative: &str) -> ExtractedEvent {
        ExtractedEvent {
            category,
            narrative: narrative.to_owned(),
            event_time: None,
            due_time: None,
            subject: None,
            actors: vec![Actor { entity: 0, role: ActorRole::Owner }],
            confidence,
            evidence: vec![Evidence {
                segment: 0,
                span: CharSpan::new(span.0, span.1),
                quote: String::new(),
            }],
        }
    }

    fn entity(name: &str, entity_type: EntityType, aliases: &[&str]) -> ExtractedEntity {
        let aliases = aliases.iter().map(|alias| (*alias).to_owned()).collect();
        ExtractedEntity { name: name.to_owned(), entity_type, aliases, mentions: Vec::new() }
    }

    fn of(entities: Vec<ExtractedEntity>, events: Vec<ExtractedEvent>) -> Extraction {
        Extraction { entities, events, ..Extraction::default() }
    }

    #[test]
    fn what_both_found_is_one_event_in_the_models_words_with_the_actors_of_both() {
        let model = of(
            vec![entity("Ann Lee", EntityType::Person, &["Ann"])],
            vec![event(Category::Decision, (0, 40), 0.6, "from the model")],
        );
        let rules = of(
            vec![entity("Bob", EntityType::Person, &[])],
            vec![event(Category::Decision, (20, 60), 0.8, "from rules")],
        );
        let all = with_rules(model, rules, |_| true);
        assert_eq!(all.events.len(), 1);
        assert_eq!((all.events[0].narrative.as_str(), all.events[0].actors.len()), ("from the model", 2));
        assert!((all.events[0].confidence - 0.8).abs() < 0.001);
        assert_eq!(all.events[0].evidence.len(), 1);
    }

    #[test]
    fn less_than_half_of_the_shorter_quote_is_another_event() {
        let model = of(
            vec![entity("A", EntityType::Person, &[])],
            vec![event(Category::Decision, (0, 40), 0.6, "m")],
        );
        let rules = of(
            vec![entity("A", EntityType::Person, &[])],
            vec![event(Category::Decision, (21, 60), 0.8, "r")],
        );
        assert_eq!(with_rules(model, rules, |_| true).events.len(), 2);
    }

    #[test]
    fn rules_alone_count_where_they_are_sure_or_the_model_has_not_read() {
        let kept = |confidence, category, span, read: bool| {
            let model = of(
                vec![entity("A", EntityType::Person, &[])],
                vec![event(Category::Decision, (0, 40), 0.6, "m")],
            );
            let rules =
                of(vec![entity("A", EntityType::Person, &[])], vec![event(category, span, confidence, "r")]);
            with_rules(model, rules, |_| read).events.len() == 2
        };
        assert!(!kept(0.7, Category::Change, (50, 60), true) && kept(0.76, Category::Change, (50, 60), true));
        assert!(!kept(0.7, Category::Change, (0, 40), true), "the model sees something else there");
        assert!(kept(0.76, Category::Change, (0, 40), true), "rules that are sure are not overruled");
        assert!(kept(0.5, Category::Change, (50, 60), false));
    }

    #[test]
    fn entities_are_joined_by_name_or_by_an_alias_that_only_one_has() {
        let mut entities = vec![
            entity("Ann", EntityType::Person, &[]),
            entity("Alex Kim", EntityType::Person, &["Alex"]),
            entity("Alex Roe", EntityType::Person, &["Alex"]),
            entity("Apollo", EntityType::Project, &[]),
        ];
        let others = vec![
            entity("Ann Lee", EntityType::Person, &["Ann"]),
            entity("Alex", EntityType::Person, &[]),
            entity("apollo", EntityType::Object, &[]),
            entity("Apollo Inc", EntityType::Org, &["Apollo"]),
        ];
        assert_eq!(join_entities(&mut entities, others), [0, 4, 3, 5]);
        assert_eq!(
            (entities[0].name.as_str(), &entities[0].aliases[..]),
            ("Ann Lee", &["Ann".to_owned()][..])
        );
        assert_eq!((entities[3].name.as_str(), entities[3].entity_type), ("Apollo", EntityType::Project));
    }
}
