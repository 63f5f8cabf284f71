//! Drafts: an event with byte ranges, before it is given exact evidence; its actors, its subject and its times.

use std::ops::Range;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use memory_core::entity::EntityType;
use memory_core::event::{Actor, ActorRole, Category};
use memory_language::time::{Granularity, Lean, Reading, Relation, readings};

use super::clause::Subject;
use super::date_context::DateContext;
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

/// When a promise made in `words` falls due: the date that a word such as "by" marks, else the last one still to come,
/// else a deadline that had passed when it was written.
pub(super) fn due(words: &str, dates: DateContext) -> Option<Timestamp> {
    let reference = dates.reference;
    let readings: Vec<Reading> = dates
        .readings(words, Lean::Future)
        .into_iter()
        .filter(|reading| !reading.is_ambiguous)
        // What starts then is not done by then.
        .filter(|reading| !matches!(reading.relation, Relation::After | Relation::Since | Relation::From))
        // "29 Sep | Ann signs it" in a row of that day: when it was said.
        .filter(|reading| {
            reference != Some(reading.start) || reading.relation != Relation::At || reading.is_relative
        })
        .collect();
    let ahead: Vec<&Reading> =
        readings.iter().filter(|reading| reference.is_none_or(|now| reading.deadline() >= now)).collect();
    let day = ahead.iter().find(|reading| reading.is_deadline()).or(ahead.last());
    day.map(|day| stated_beside(words, day, &readings).unwrap_or_else(|| day.deadline()))
        .or_else(|| at_the_hour(words, reference?))
        .or_else(|| end_of_day(reference?).filter(|_| is_within_the_day(words)))
        .or_else(|| readings.iter().find(|reading| is_overdue(reading)).map(Reading::deadline))
}

/// Where the words of a passage say the day on which what it promises falls due, with the "by" or "on" before it.
pub(super) fn due_words(words: &str, dates: DateContext) -> Option<Range<usize>> {
    let day = due(words, dates)?;
    let reading =
        dates.readings(words, Lean::Future).into_iter().find(|reading| reading.deadline() == day)?;
    let before = words[..reading.range.start].trim_end();
    let lead = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let leads = ["by", "before", "until", "till", "on", "for", "at"];
    let led = leads.iter().any(|word| lead.eq_ignore_ascii_case(word));
    Some(if led { before.len() - lead.len() } else { reading.range.start }..reading.range.end)
}

/// "by mid-August (15th)", "before Friday week, 11 July": the day that is named behind a time less exact than it.
fn stated_beside(words: &str, vague: &Reading, readings: &[Reading]) -> Option<Timestamp> {
    let rest = &words[vague.range.end..];
    let apart = |gap: &str| matches!(gap.trim_start(), "," | "(" | ", " | "the " | ", the " | "(the ");
    let day = readings.iter().find(|reading| {
        reading.granularity == Granularity::Day
            && !reading.is_relative
            && words.get(vague.range.end..reading.range.start).is_some_and(apart)
    });
    if let Some(day) = day.filter(|_| vague.is_relative || vague.granularity > Granularity::Day) {
        return Some(day.deadline());
    }
    // "(15th)" in the month that was named.
    let number = rest.trim_start().strip_prefix('(')?;
    let (number, _) = number.split_once(')')?;
    let number = ["st", "nd", "rd", "th"].iter().find_map(|end| number.trim().strip_suffix(end))?;
    let month = vague.start.to_zoned(TimeZone::UTC).date();
    let day = jiff::civil::Date::new(month.year(), month.month(), number.parse().ok()?).ok()?;
    day.at(23, 59, 59, 0).to_zoned(TimeZone::UTC).ok().map(|end| end.timestamp())
}

/// "by 20 March 2026", written after that day: a limit with its year. "Before 2019" tells what is meant, not until when.
fn is_overdue(reading: &Reading) -> bool {
    let limit = match reading.relation {
        Relation::By | Relation::Until => Granularity::Quarter,
        Relation::Before => Granularity::Day,
        _ => return false,
    };
    reading.granularity <= limit && !reading.is_year_open && !reading.is_relative
}

/// "by 3pm", "before noon", "at 17:30": that time on the day it was said, or on the next where it had passed.
fn at_the_hour(words: &str, now: Timestamp) -> Option<Timestamp> {
    let words: Vec<&str> = words.split_whitespace().collect();
    let marked = words.windows(2).position(|pair| {
        let [mark, hour] = [pair[0], pair[1]].map(|word| bare(word).to_lowercase());
        matches!(mark.as_str(), "by" | "before" | "at" | "around")
            && (matches!(hour.as_str(), "noon" | "midday" | "midnight") || is_hour(&hour))
    })?;
    // "pm" or the zone may follow.
    let hour = words[marked + 1..].iter().take(2).copied().collect::<Vec<_>>().join(" ");
    ["today", "tomorrow"].iter().find_map(|day| {
        let named = readings(&format!("{day} at {hour}"), Some(now), Lean::Future).into_iter().next()?;
        (named.granularity == Granularity::Minute && named.start >= now).then_some(named.start)
    })
}

fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

fn end_of_day(now: Timestamp) -> Option<Timestamp> {
    let day = now.to_zoned(TimeZone::UTC).date();
    day.at(23, 59, 59, 0).to_zoned(TimeZone::UTC).ok().map(|end| end.timestamp())
}

/// "before lunch", "by five", "this afternoon", "give me 20 min".
fn is_within_the_day(words: &str) -> bool {
    let words: Vec<String> = words.split_whitespace().map(|word| bare(word).to_lowercase()).collect();
    words.windows(2).any(|pair| match (pair[0].as_str(), pair[1].as_str()) {
        (
            "before" | "by",
            "lunch" | "noon" | "midday" | "midnight" | "closing" | "dinner" | "five" | "six",
        )
        | ("this", "afternoon" | "evening" | "morning") => true,
        ("before" | "by" | "after" | "at" | "around", hour) => is_hour(hour),
        (_, "min" | "mins" | "minutes") => pair[0].parse::<u16>().is_ok(),
        _ => false,
    })
}

/// "5", "17:00", "5pm".
fn is_hour(word: &str) -> bool {
    let bare = word.trim_end_matches("am").trim_end_matches("pm");
    let (hour, minute) = bare.split_once([':', '.']).unwrap_or((bare, "00"));
    let clocked = bare.len() < word.len() || bare.contains(':');
    minute.len() == 2
        && minute.parse::<u8>().is_ok_and(|minute| minute < 60)
        && hour.parse::<u8>().is_ok_and(|hour| hour < if clocked { 24 } else { 13 })
}

/// When something done is said to have happened, else when it was said.
fn happened(words: &str, dates: DateContext) -> Option<Timestamp> {
    let reference = dates.reference;
    dates
        .readings(words, Lean::Past)
        .into_iter()
        .find(|reading| !reading.is_ambiguous && reference.is_none_or(|now| reading.start <= now))
        .map(|reading| reference.map_or(reading.start, |now| reading.start.min(now)))
        .or(reference)
}

/// When an event of a category happened that is told in `words`, else when it was said.
pub(super) fn time_of(category: Category, words: &str, dates: DateContext) -> Option<Timestamp> {
    match category {
        Category::Commitment => dates.reference,
        Category::Execution => happened(words, dates),
        _ => told_day(category, words, dates).or(dates.reference),
    }
}

/// "We voted on Tuesday", "since 1 July": the day of what is told as past; a new role may begin on a day to come.
fn told_day(category: Category, words: &str, dates: DateContext) -> Option<Timestamp> {
    let now = dates.reference?;
    let is_past = words.split(|c: char| !c.is_alphanumeric()).any(|word| {
        let lower = word.to_lowercase();
        matches!(lower.as_str(), "was" | "were" | "had" | "did")
            || verbs::of(&lower).is_some_and(|verb| verb.past)
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
        let said = since || (is_past && reading.relation == Relation::At);
        is_day(reading) && said && reading.start <= now && near(reading)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marked_date_is_the_deadline() {
        let now = "2024-03-15T10:00:00Z".parse().ok();
        let due =
            |words| due(words, DateContext { reference: now, order: None }).map(|time| time.to_string());
        assert_eq!(due("send it by Monday after the call tomorrow").as_deref(), Some("2024-03-18T23:59:59Z"));
        assert_eq!(due("schema review (due March 21)").as_deref(), Some("2024-03-21T23:59:59Z"));
        assert_eq!(due("starting next week"), None);
        assert_eq!(due("on 3/4/2024"), None);
        for today in
            ["on it, PR up before lunch", "will send it by five", "give me 20 min", "live after 21:00"]
        {
            assert_eq!(due(today).as_deref(), Some("2024-03-15T23:59:59Z"), "{today}");
        }
        assert_eq!(due("send the 20 copies by 400 people"), None);
    }

    #[test]
    fn the_day_beside_a_vague_time_is_the_deadline() {
        let now = "2024-03-15T10:00:00Z".parse().ok();
        let due =
            |words| due(words, DateContext { reference: now, order: None }).map(|time| time.to_string());
        for (words, expected) in [
            ("source the seed by mid-April (15th)", "2024-04-15T23:59:59Z"),
            ("claim it by the end of May (30th).", "2024-05-30T23:59:59Z"),
            ("plant the bulbs before November (1st)", "2024-11-01T23:59:59Z"),
            ("fit it by the end of next week, 21 March", "2024-03-21T23:59:59Z"),
            ("send it by 20 March, 25 March at the latest for the rest", "2024-03-20T23:59:59Z"),
            ("send it by the end of May (3 copies)", "2024-05-31T23:59:59Z"),
        ] {
            assert_eq!(due(words).as_deref(), Some(expected), "{words}");
        }
    }

    #[test]
    fn a_deadline_that_has_passed_is_kept() {
        let now = "2026-11-23T10:00:00Z".parse().ok();
        let due =
            |words| due(words, DateContext { reference: now, order: None }).map(|time| time.to_string());
        assert_eq!(due("send the list by 20 March 2026").as_deref(), Some("2026-03-20T23:59:59Z"));
        assert_eq!(due("send the list (due 2026-03-20)").as_deref(), Some("2026-03-20T23:59:59Z"));
        // What is still to come goes before it, and a date that marks no limit is none.
        assert_eq!(due("by 20 March 2026, now by 4 December").as_deref(), Some("2026-12-04T23:59:59Z"));
        for none in ["send the list of 20 March 2026", "copy what was made before 2019", "by yesterday"] {
            assert_eq!(due(none), None, "{none}");
        }
    }

    #[test]
    fn a_time_of_day_is_meant_as_it_is_said() {
        let now = "2024-03-15T10:00:00Z".parse().ok();
        let due =
            |words| due(words, DateContext { reference: now, order: None }).map(|time| time.to_string());
        for (words, expected) in [
            ("will send it by 3pm", "2024-03-15T15:00:00Z"),
            ("will send it by 3 pm.", "2024-03-15T15:00:00Z"),
            ("I'll have it done before noon, promised", "2024-03-15T12:00:00Z"),
            ("(by 17:30)", "2024-03-15T17:30:00Z"),
            ("by 17:30 UTC", "2024-03-15T17:30:00Z"),
            ("by 9am", "2024-03-16T09:00:00Z"),
            ("before midnight", "2024-03-16T00:00:00Z"),
            ("by 3pm tomorrow", "2024-03-16T15:00:00Z"),
            ("tomorrow by 3pm", "2024-03-16T15:00:00Z"),
            ("by noon on Monday", "2024-03-18T12:00:00Z"),
        ] {
            assert_eq!(due(words).as_deref(), Some(expected), "{words}");
        }
    }
}
