//! Drafts: an event with byte ranges, before it is given exact evidence; its actors, its subject and its times.

use std::ops::Range;

use jiff::{SignedDuration, Timestamp};
use memory_core::entity::EntityType;
use memory_core::event::{Actor, ActorRole, Category};
use memory_language::tense::tells_of_arranged;
use memory_language::time::{Granularity, Lean, Reading, Relation};

use super::clause::Subject;
use super::date_context::DateContext;
use super::deadlines;
use super::features::Hit;
use super::owners;
use super::parsed_segment::ParsedSegment;
use super::verbs;

#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) category: Category,
    pub(super) confidence: f32,
    pub(super) narrative: String,
    pub(super) event_time: Option<Timestamp>,
    pub(super) due_time: Option<Timestamp>,
    pub(super) subject: Option<usize>,
    pub(super) actors: Vec<Actor>,
    /// Segment and bytes; the first carries the event.
    pub(super) evidence: Vec<(usize, Range<usize>)>,
}

impl Draft {
    pub(super) fn owners(&self) -> impl Iterator<Item = usize> {
        let owners = self.actors.iter().filter(|actor| actor.role == ActorRole::Owner);
        owners.map(|actor| actor.entity)
    }

    /// Takes the owners among these actors for its own.
    pub(super) fn own(&mut self, actors: &[Actor]) {
        for owner in actors.iter().filter(|actor| actor.role == ActorRole::Owner) {
            self.actors.retain(|actor| actor.entity != owner.entity);
            self.actors.push(*owner);
        }
    }

    /// Who gave it to another has a part in it, and does not own it.
    pub(super) fn demote_owners(&mut self) {
        for actor in self.actors.iter_mut().filter(|actor| actor.role == ActorRole::Owner) {
            actor.role = ActorRole::Stakeholder;
        }
    }
}

/// When something done is said to have happened, else when it was said.
fn happened(words: &str, dates: DateContext) -> Option<Timestamp> {
    let reference = dates.reference;
    dates
        .readings(words, Lean::Past)
        .into_iter()
        .filter(|reading| !tells_of_arranged(&words[..reading.range.start]))
        .filter(|reading| !deadlines::is_day_of_another_deed(words, reading))
        .find(|reading| !reading.is_ambiguous && reference.is_none_or(|now| reading.start <= now))
        .map(|reading| reference.map_or(reading.start, |now| reading.start.min(now)))
        .or(reference)
}

/// When an event of a category happened that is told in `words`, else when it was said.
pub(super) fn time_of(category: Category, words: &str, dates: DateContext) -> Option<Timestamp> {
    match category {
        Category::Commitment => dates.reference,
        Category::Execution => arranged_day(words, dates).or_else(|| happened(words, dates)),
        _ => arranged_day(words, dates).or_else(|| told_day(category, words, dates)).or(dates.reference),
    }
}

/// "The scanner's being serviced on the 20th": the day to come of what is told in the present as arranged.
pub(super) fn arranged_day(words: &str, dates: DateContext) -> Option<Timestamp> {
    let now = dates.reference?;
    let is_arranged = |reading: &Reading| {
        reading.relation == Relation::At
            && reading.granularity <= Granularity::Day
            && !reading.is_ambiguous
            && reading.start > now
            && tells_of_arranged(&words[..reading.range.start])
    };
    dates.readings(words, Lean::Future).into_iter().find(is_arranged).map(|day| day.start)
}

/// "We voted on Tuesday", "since 1 July": the day of what is told as past; a new role may begin on a day to come.
fn told_day(category: Category, words: &str, dates: DateContext) -> Option<Timestamp> {
    let now = dates.reference?;
    let is_past = words.split(|c: char| !c.is_alphanumeric()).any(|word| {
        let lower = word.to_lowercase();
        matches!(lower.as_str(), "was" | "were" | "had" | "did")
            || verbs::of(&lower).is_some_and(|verb| verb.past)
            || deadlines::is_past(&lower)
    });
    let is_day = |reading: &Reading| {
        let before = words[..reading.range.start].trim_end();
        let led = [" on", "On", " since", "Since", " from", "From"].iter().any(|lead| before.ends_with(lead));
        let plain = !reading.is_ambiguous && reading.granularity <= Granularity::Day;
        plain && (led || !words[reading.range.clone()].contains(|c: char| c.is_ascii_digit()))
    };
    let near = |reading: &Reading| {
        !reading.is_year_open
            || now.duration_since(reading.start).abs() < SignedDuration::from_hours(24 * 150)
    };
    let past = dates.readings(words, Lean::Past).into_iter().find(|reading| {
        let since = reading.relation == Relation::Since;
        let said = since
            || (is_past && reading.relation == Relation::At && deadlines::is_day_of_the_past(words, reading));
        let of_a_reason = deadlines::is_of_a_reason(words, reading);
        let is_arranged = tells_of_arranged(&words[..reading.range.start]);
        is_day(reading) && said && !of_a_reason && !is_arranged && reading.start <= now && near(reading)
    });
    let ahead = || {
        let begins = |relation| matches!(relation, Relation::At | Relation::From | Relation::Since);
        dates
            .readings(words, Lean::Future)
            .into_iter()
            .find(|reading| is_day(reading) && begins(reading.relation) && near(reading))
            .filter(|_| category == Category::Stakeholder)
    };
    past.or_else(ahead).map(|day| if day.start <= now && now < day.end { now } else { day.start })
}

/// What the event is about: a named project, object or organisation in the passage, else a person without a part in it.
pub(super) fn about(parsed: &ParsedSegment<'_>, tokens: &Range<usize>, actors: &[Actor]) -> Option<usize> {
    let rank = |entity_type: EntityType| match entity_type {
        EntityType::Project => 0,
        EntityType::Object => 1,
        EntityType::Org => 2,
        EntityType::Person => 3,
        EntityType::Place | EntityType::Other => 4,
    };
    parsed
        .mentions_in(tokens)
        .iter()
        .filter(|mention| !actors.iter().any(|actor| actor.entity == mention.entity))
        .min_by_key(|mention| rank(mention.entity_type))
        .map(|mention| mention.entity)
}

/// The people with a part in a hit; `speaker` is who "I" is.
pub(super) fn actors(
    parsed: &ParsedSegment<'_>,
    hit: &Hit,
    tokens: &Range<usize>,
    speaker: Option<usize>,
) -> Vec<Actor> {
    let mut cast = Cast::default();
    // "Nkechi and I will".
    let beside = hit.lead.from.checked_sub(1).filter(|and| {
        hit.lead.subject == Subject::Me
            && *and > tokens.start
            && matches!(parsed.text.word(*and), "and" | "&")
    });
    let beside = beside.and_then(|and| parsed.person(and - 1)).map(|mention| mention.entity);
    let subject = match &hit.lead.subject {
        Subject::People(people) => people.clone(),
        Subject::Me => speaker.into_iter().chain(beside).collect(),
        Subject::Group(group) => group.iter().copied().collect(),
        // Who says "we" has a part in it, but may not be the one to do it.
        Subject::We if matches!(hit.category, Category::Commitment | Category::QualityRisk) => {
            speaker.into_iter().collect()
        }
        _ => Vec::new(),
    };
    let own = match hit.category {
        Category::Commitment if hit.lead.subject == Subject::We => ActorRole::Contributor,
        Category::QualityRisk if parsed.text.word(hit.at) == "raised" => ActorRole::Other,
        Category::QualityRisk => ActorRole::Stakeholder,
        Category::Feedback => ActorRole::Reviewer,
        Category::Execution if parsed.text.word(hit.at) == "reviewed" => ActorRole::Reviewer,
        _ => ActorRole::Owner,
    };
    // "Ana will be sent the file by Tom": what is done to someone is another's deed.
    let commits = hit.category == Category::Commitment;
    let agents = if commits { owners::agents(parsed, tokens) } else { Vec::new() };
    for agent in &agents {
        cast.add(*agent, ActorRole::Owner);
    }
    for entity in subject {
        cast.add(entity, if agents.is_empty() { own } else { ActorRole::Stakeholder });
    }
    for mention in parsed.mentions_in(tokens) {
        let person = mention.entity_type == EntityType::Person;
        let before = mention.tokens.start.checked_sub(1).map_or("", |before| parsed.text.word(before));
        let joined =
            matches!(before, "and" | "&" | ",") && cast.last_at == Some(mention.tokens.start.wrapping_sub(1));
        let role = match (hit.category, before) {
            _ if joined => cast.last_role,
            (_, "with") if person => Some(ActorRole::Contributor),
            (Category::Decision | Category::Execution | Category::Change | Category::QualityRisk, "by")
                if person =>
            {
                Some(own_role(hit.category))
            }
            (Category::Feedback, "from" | "by") if person => Some(ActorRole::Reviewer),
            (Category::Feedback, _) if person => Some(ActorRole::Stakeholder),
            // "assigned to Ann", "will be sent by Ann".
            (Category::Commitment, "to" | "by") if hit.lead.be && person => Some(ActorRole::Owner),
            (Category::Commitment | Category::Execution, "for" | "to") if person => {
                Some(ActorRole::Stakeholder)
            }
            (Category::Collaboration, "with" | "to") => Some(ActorRole::Contributor),
            (Category::QualityRisk | Category::Stakeholder | Category::Collaboration, _) if person => {
                Some(ActorRole::Other)
            }
            _ => None,
        };
        if let Some(role) = role {
            cast.add(mention.entity, role);
            cast.last_at = Some(mention.tokens.end);
            cast.last_role = Some(role);
        }
    }
    cast.actors
}

fn own_role(category: Category) -> ActorRole {
    if category == Category::QualityRisk { ActorRole::Other } else { ActorRole::Owner }
}

/// Each entity plays one part: the first it is given.
#[derive(Default)]
struct Cast {
    actors: Vec<Actor>,
    last_at: Option<usize>,
    last_role: Option<ActorRole>,
}

impl Cast {
    fn add(&mut self, entity: usize, role: ActorRole) {
        if !self.actors.iter().any(|actor| actor.entity == entity) {
            self.actors.push(Actor { entity, role });
        }
    }
}
