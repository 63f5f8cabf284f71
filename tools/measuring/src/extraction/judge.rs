//! Holding what was found in a document against its labels.

use std::collections::BTreeSet;
use std::time::Duration;

use memory_core::entity::{EntityType, normalised_name};
use memory_core::event::{ActorRole, Category, ExtractedEvent, Extraction};
use memory_language::text::CharSpan;

use super::counts::{Counts, Part};
use super::gold::{Document, LabelledEvent, day_of};
use super::matching::Matching;

/// A document, what was found in it, and what belongs together.
#[derive(Debug, Clone)]
pub struct Judged<'a> {
    pub document: &'a Document,
    pub found: Extraction,
    /// Findings that the source did not bear out.
    pub rejected: usize,
    pub took: Duration,
    /// Same place and same category.
    pub(super) strict: Matching,
    /// Same place.
    pub(super) lenient: Matching,
    pub(super) entities: Matching,
    /// Normalised names of the entities that were found.
    pub(super) names: Vec<BTreeSet<String>>,
}

impl<'a> Judged<'a> {
    pub(super) fn new(document: &'a Document, found: Extraction, rejected: usize, took: Duration) -> Self {
        let labels = &document.events;
        let lenient_fit =
            |label: usize, event: usize| overlap(&labels[label].spans, &spans(&found.events[event]));
        let strict_fit = |label: usize, event: usize| {
            let is_same = labels[label].categories.contains(&found.events[event].category);
            if is_same { lenient_fit(label, event) } else { None }
        };
        let wanted: Vec<usize> = (0..labels.len()).filter(|label| !labels[*label].is_optional).collect();
        let optional: Vec<usize> = (0..labels.len()).filter(|label| labels[*label].is_optional).collect();
        let empty = Matching::new(labels.len(), found.events.len());
        let (mut strict, mut lenient) = (empty.clone(), empty);
        for group in [&wanted, &optional] {
            strict.grow(group.iter().copied(), strict_fit);
            lenient.grow(group.iter().copied(), strict_fit);
            lenient.grow(group.iter().copied(), lenient_fit);
        }

        let names: Vec<BTreeSet<String>> = found
            .entities
            .iter()
            .map(|entity| {
                entity.aliases.iter().chain([&entity.name]).map(|name| normalised_name(name)).collect()
            })
            .collect();
        let same_name = |label: usize, entity: usize| {
            let shared = document.entities[label].names.intersection(&names[entity]).count() as u32;
            (shared > 0).then_some(shared)
        };
        let same_type = |label: usize, entity: usize| {
            let is_same = document.entities[label].entity_type == found.entities[entity].entity_type;
            if is_same { same_name(label, entity) } else { None }
        };
        let mut entities = Matching::new(document.entities.len(), found.entities.len());
        entities.grow(0..document.entities.len(), same_type);
        entities.grow(0..document.entities.len(), same_name);
        Self { document, found, rejected, took, strict, lenient, entities, names }
    }

    pub fn strict(&self) -> Counts {
        self.events(&self.strict, None)
    }

    pub fn lenient(&self) -> Counts {
        self.events(&self.lenient, None)
    }

    /// Strictly, of one category. A label with several counts as what it was found as, else as the first of them.
    pub fn strict_of(&self, category: Category) -> Counts {
        self.events(&self.strict, Some(category))
    }

    /// What was taken for this category and is an event; which of this category's labels were found as something.
    pub fn lenient_of(&self, category: Category) -> Counts {
        self.events(&self.lenient, Some(category))
    }

    fn events(&self, matching: &Matching, category: Option<Category>) -> Counts {
        let mut counts = Counts::default();
        for (n, event) in self.found.events.iter().enumerate() {
            if category.is_some_and(|category| category != event.category) {
                continue;
            }
            match matching.label(n) {
                Some(label) if self.document.events[label].is_optional => {}
                Some(_) => counts.right += 1,
                None => counts.wrong += 1,
            }
        }
        for (n, label) in self.document.events.iter().enumerate() {
            let found = matching.found(n).map(|event| self.found.events[event].category);
            let counted_as =
                found.filter(|found| label.categories.contains(found)).or(label.categories.first().copied());
            if label.is_optional || category.is_some() && category != counted_as {
                continue;
            }
            if found.is_some() { counts.met += 1 } else { counts.missed += 1 }
        }
        counts
    }

    /// The confidence of each finding that counts, and whether it is strictly right.
    pub(super) fn outcomes(&self) -> Vec<(f32, bool)> {
        let events = self.found.events.iter().enumerate();
        let counted = events.filter_map(|(n, event)| match self.strict.label(n) {
            Some(label) if self.document.events[label].is_optional => None,
            label => Some((event.confidence, label.is_some())),
        });
        counted.collect()
    }

    pub(super) fn found_quotes(&self) -> impl Iterator<Item = &str> {
        let evidence = self.found.events.iter().flat_map(|event| &event.evidence);
        evidence.map(|evidence| evidence.quote.as_str())
    }

    pub(super) fn labelled_quotes(&self) -> impl Iterator<Item = &str> {
        self.document.events.iter().flat_map(|label| &label.quotes).map(String::as_str)
    }

    /// Of the found events whose label has a deadline, those with its day.
    pub fn due(&self) -> Part {
        self.dated(|label| label.due, |event| event.due_time)
    }

    /// Of the found events whose label says when it happened, those with its day.
    pub fn when(&self) -> Part {
        self.dated(|label| label.when, |event| event.event_time)
    }

    /// Found events with a deadline whose labels have none.
    pub fn invented_due(&self) -> usize {
        self.met().filter(|(label, event)| label.due.is_none() && event.due_time.is_some()).count()
    }

    fn dated(
        &self,
        labelled: fn(&LabelledEvent) -> Option<jiff::civil::Date>,
        found: fn(&ExtractedEvent) -> Option<jiff::Timestamp>,
    ) -> Part {
        let mut part = Part::default();
        for (label, event) in self.met() {
            if let Some(day) = labelled(label) {
                part.count(found(event).map(day_of) == Some(day));
            }
        }
        part
    }

    /// Of the found events whose label has owners, those with the same owners.
    pub fn owner(&self) -> Part {
        self.owner_where(|_| true)
    }

    /// The same of commitments alone.
    pub fn owner_of_commitments(&self) -> Part {
        self.owner_where(|event| event.category == Category::Commitment)
    }

    fn owner_where(&self, counts: impl Fn(&ExtractedEvent) -> bool) -> Part {
        let mut part = Part::default();
        for (label, event) in self.met().filter(|(_, event)| counts(event)) {
            if let Some(is_right) = self.owners_are_right(label, event) {
                part.count(is_right);
            }
        }
        part
    }

    /// `None` when the label has no owner.
    pub(super) fn owners_are_right(&self, label: &LabelledEvent, event: &ExtractedEvent) -> Option<bool> {
        let (labelled, found) = (labelled_owners(label), found_owners(event));
        if labelled.is_empty() {
            return None;
        }
        let names = |entity: &usize| &self.document.entities[*entity].names;
        let is_one_of =
            |owner: &usize| labelled.iter().any(|entity| !names(entity).is_disjoint(&self.names[*owner]));
        Some(found.len() == labelled.len() && found.iter().all(is_one_of))
    }

    /// The owners that were found and those that are labelled, for people.
    pub(super) fn owner_names(&self, label: &LabelledEvent, event: &ExtractedEvent) -> (String, String) {
        let found = found_owners(event).into_iter().map(|owner| self.found.entities[owner].name.as_str());
        let labelled =
            labelled_owners(label).into_iter().map(|owner| self.document.entities[owner].name.as_str());
        let list =
            |names: Vec<&str>| if names.is_empty() { "nobody".to_owned() } else { names.join(" and ") };
        (list(found.collect()), list(labelled.collect()))
    }

    /// Labels that were found, and as what; without those that do not count.
    fn met(&self) -> impl Iterator<Item = (&LabelledEvent, &ExtractedEvent)> {
        let labels = self.document.events.iter().enumerate();
        let labels = labels.filter(|(_, label)| self.document.is_whole && !label.is_optional);
        labels.filter_map(|(n, label)| Some((label, &self.found.events[self.lenient.found(n)?])))
    }

    /// By name alone.
    pub fn entities(&self) -> Counts {
        if !self.document.is_whole {
            return Counts::default();
        }
        let (labels, found) = (self.document.entities.len(), self.found.entities.len());
        let met = (0..labels).filter(|label| self.entities.found(*label).is_some()).count();
        Counts { right: met, wrong: found - met, met, missed: labels - met }
    }

    /// By name and type.
    pub fn entities_of(&self, entity_type: EntityType) -> Counts {
        if !self.document.is_whole {
            return Counts::default();
        }
        let (labels, found) = (&self.document.entities, &self.found.entities);
        let labelled = labels.iter().filter(|label| label.entity_type == entity_type).count();
        let taken = found.iter().filter(|entity| entity.entity_type == entity_type).count();
        let both =
            self.named().filter(|(label, entity)| *label == entity_type && *entity == entity_type).count();
        Counts { right: both, wrong: taken - both, met: both, missed: labelled - both }
    }

    /// Of the entities that were found by name, those of the right type.
    pub fn typed(&self) -> Part {
        let mut part = Part::default();
        self.named().for_each(|(label, entity)| part.count(label == entity));
        part
    }

    /// The labelled and the found type of each entity that was found by name.
    fn named(&self) -> impl Iterator<Item = (EntityType, EntityType)> {
        self.document.entities.iter().enumerate().filter_map(|(n, label)| {
            Some((label.entity_type, self.found.entities[self.entities.found(n)?].entity_type))
        })
    }
}

fn labelled_owners(label: &LabelledEvent) -> BTreeSet<usize> {
    let owners = label.actors.iter().filter(|(_, role)| *role == ActorRole::Owner);
    owners.map(|(entity, _)| *entity).collect()
}

fn found_owners(event: &ExtractedEvent) -> BTreeSet<usize> {
    let owners = event.actors.iter().filter(|actor| actor.role == ActorRole::Owner);
    owners.map(|actor| actor.entity).collect()
}

fn spans(event: &ExtractedEvent) -> Vec<CharSpan> {
    event.evidence.iter().map(|evidence| evidence.span).collect()
}

/// How well two events' places agree, if they meet: if a span of one and a span of the other share at least half of the
/// shorter one. In thousandths of what the two cover.
fn overlap(one: &[CharSpan], other: &[CharSpan]) -> Option<u32> {
    let pairs = one.iter().flat_map(|a| other.iter().map(move |b| (a, b)));
    let agreement = pairs.filter_map(|(a, b)| {
        let shared = a.end.min(b.end).saturating_sub(a.start.max(b.start));
        let covered = a.len() + b.len() - shared;
        (shared > 0 && shared * 2 >= a.len().min(b.len())).then(|| (shared * 1000 / covered) as u32)
    });
    agreement.max()
}
