//! One segment, parsed: its words, its layout and who is named where.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use jiff::{SignedDuration, Timestamp};
use memory_core::entity::EntityType;
use memory_language::time::{DayOrder, Granularity, Lean, Relation, readings};

use super::date_context::DateContext;
use super::discover::acts_like_a_person;

use super::emphasis::Marks;
use super::gender::Gender;
use super::layout::{Block, Layout};
use super::names;
use super::people::{Roster, is_machine};
use super::verbs;
use super::words::{Kind, Text};

/// "12 March" in a heading is taken for a day of the past only so long after it.
const YEAR_OPEN_MAX: SignedDuration = SignedDuration::from_hours(24 * 150);

/// "06/10" is taken for the one of its two days that is so near to the text's own.
const NEAR: SignedDuration = SignedDuration::from_hours(24 * 21);

/// One occurrence of an entity.
#[derive(Debug, Clone)]
pub(super) struct Mention {
    pub(super) tokens: Range<usize>,
    pub(super) entity: usize,
    pub(super) entity_type: EntityType,
    /// As which a person is spoken of, where a title or the first name tells it.
    pub(super) gender: Option<Gender>,
}

impl Mention {
    pub(super) fn is_person(&self) -> bool {
        self.entity_type == EntityType::Person
    }

    /// Whether it can take on something to be done.
    pub(super) fn can_act(&self) -> bool {
        matches!(self.entity_type, EntityType::Person | EntityType::Org)
    }
}

pub(super) struct ParsedSegment<'a> {
    /// Its number among the segments of the source and among those that are parsed.
    pub(super) segment: usize,
    pub(super) text: Text<'a>,
    pub(super) layout: Layout,
    /// What is marks of Markdown within its lines.
    pub(super) marks: Marks,
    pub(super) mentions: Vec<Mention>,
    /// For each token the number of its mention plus one; 0 for none.
    tags: Vec<u32>,
    /// Who "I" is, where a block does not say it.
    pub(super) speaker: Option<usize>,
    /// The one person a mail goes to: whom "please" means.
    pub(super) addressee: Option<usize>,
    /// It is a mail of one person to others.
    pub(super) is_mail: bool,
    /// It is written by one person, and no list of people or turn of a talk stands in it.
    pub(super) is_of_one: bool,
    /// It is an assistant's turn, or another program's.
    pub(super) is_of_machine: bool,
    /// What "tomorrow" counts from.
    pub(super) reference: Option<Timestamp>,
    /// Which number of "3/4" is the day, where its other dates tell it.
    day_order: Option<DayOrder>,
    /// From which byte on another day is told of, in order.
    days: Vec<(usize, Option<Timestamp>)>,
    pub(super) context_only: bool,
}

impl<'a> ParsedSegment<'a> {
    pub(super) fn new(segment: usize, text: Text<'a>, layout: Layout) -> Self {
        let tags = Vec::new();
        let marks = Marks::of(text.read());
        Self {
            segment,
            text,
            layout,
            marks,
            mentions: Vec::new(),
            tags,
            speaker: None,
            addressee: None,
            is_mail: false,
            is_of_one: false,
            is_of_machine: false,
            reference: None,
            day_order: None,
            days: Vec::new(),
            context_only: false,
        }
    }

    /// Whether an assistant or another program says what stands in a block.
    pub(super) fn is_said_by_machine(&self, block: &Block) -> bool {
        self.is_of_machine || is_machine(block.speaker.as_deref())
    }

    /// Reads the days that headings give to what stands below them; the reference must be known.
    pub(super) fn read_days(&mut self) {
        let reference = self.reference;
        let order = DayOrder::of(self.text.read());
        self.day_order = order;
        let mut read: HashMap<&str, Option<Timestamp>> = HashMap::new();
        let mut days = Vec::with_capacity(self.layout.days.len());
        for (byte, lines) in &self.layout.days {
            let mut day = None;
            for line in lines {
                day = *read.entry(line).or_insert_with(|| day_of(line, reference, order));
                if day.is_some() {
                    break;
                }
            }
            days.push((*byte, day));
        }
        self.days = days;
    }

    /// When what stands at a byte was said or happened, and what "tomorrow" counts from there.
    pub(super) fn reference_at(&self, byte: usize) -> Option<Timestamp> {
        let begun = self.days.partition_point(|(from, _)| *from <= byte);
        let day = begun.checked_sub(1).and_then(|last| self.days[last].1);
        day.or(self.reference)
    }

    /// How the dates in the words at a byte are read.
    pub(super) fn dates_at(&self, byte: usize) -> DateContext {
        DateContext { reference: self.reference_at(byte), order: self.day_order }
    }

    /// Finds every name of the roster in the text; `things` are the entities found already.
    pub(super) fn find_mentions(&mut self, roster: &Roster, things: Vec<(Range<usize>, usize)>) {
        let mut mentions: Vec<Mention> = Vec::new();
        let mut titled: HashMap<usize, Gender> = HashMap::new();
        let mut things = things.into_iter().peekable();
        let mut hidden = self.layout.hidden.iter().peekable();
        let mut at = 0;
        while at < self.text.tokens.len() {
            let start = self.text.tokens[at].start;
            while hidden.peek().is_some_and(|range| range.end <= start) {
                hidden.next();
            }
            if hidden.peek().is_some_and(|range| range.start <= start) {
                at += 1;
                continue;
            }
            while things.peek().is_some_and(|(tokens, _)| tokens.start < at) {
                things.next();
            }
            let found = match things.next_if(|(tokens, _)| tokens.start == at) {
                Some((tokens, entity)) => Some((tokens.len(), entity)),
                None => roster.at(&self.text, at, false).filter(|(length, _)| self.is_name_here(at, *length)),
            };
            let Some((length, entity)) = found else {
                at += 1;
                continue;
            };
            let entity_type = roster.entities[entity].entity_type;
            // "Dr. Adebayo": the title belongs to the name.
            let dotted = at >= 2 && self.text.word(at - 1) == "." && self.text.touches_next(at - 2);
            let title = at.checked_sub(if dotted { 2 } else { 1 }).filter(|title| {
                entity_type == EntityType::Person
                    && names::is_title(self.text.word(*title))
                    && self.text.is_capitalised(*title)
                    && mentions.last().is_none_or(|last| last.tokens.end <= *title)
            });
            let told = title.and_then(|title| Gender::of_title(self.text.word(title)));
            if let Some(told) = told {
                titled.entry(entity).or_insert(told);
            }
            let tokens = title.unwrap_or(at)..at + length;
            mentions.push(Mention { tokens, entity, entity_type, gender: told });
            at += length;
        }
        for mention in mentions.iter_mut().filter(|mention| mention.is_person() && mention.gender.is_none()) {
            let by_title = titled.get(&mention.entity).copied();
            mention.gender = by_title.or_else(|| Gender::of_name(&roster.entities[mention.entity].name));
        }
        self.set_mentions(mentions);
    }

    /// `mentions` stand in order and apart from each other.
    pub(super) fn set_mentions(&mut self, mentions: Vec<Mention>) {
        self.mentions = mentions;
        self.tag();
    }

    fn tag(&mut self) {
        self.tags = vec![0; self.text.tokens.len()];
        for (number, mention) in self.mentions.iter().enumerate() {
            self.tags[mention.tokens.clone()].fill(number as u32 + 1);
        }
    }

    /// Takes in mentions that were found later, and with them every other place where these entities are named.
    pub(super) fn find_more(&mut self, roster: &Roster, found: &[Mention], entities: &HashSet<usize>) {
        let mut more: Vec<Mention> = found.to_vec();
        let mut hidden = self.layout.hidden.iter().peekable();
        let mut at = 0;
        while at < self.text.tokens.len() {
            let start = self.text.tokens[at].start;
            while hidden.next_if(|range| range.end <= start).is_some() {}
            let is_hidden = hidden.peek().is_some_and(|range| range.start <= start);
            let named = Some(at)
                .filter(|at| !is_hidden && self.tags[*at] == 0)
                .and_then(|at| roster.at(&self.text, at, false))
                .filter(|(length, entity)| entities.contains(entity) && self.is_name_here(at, *length));
            let Some((length, entity)) = named else {
                at += 1;
                continue;
            };
            let entity_type = roster.entities[entity].entity_type;
            more.push(Mention { tokens: at..at + length, entity, entity_type, gender: None });
            at += length;
        }
        more.sort_by_key(|mention| mention.tokens.start);
        for mention in more {
            if self.tags[mention.tokens.clone()].iter().all(|tag| *tag == 0) {
                self.tags[mention.tokens.clone()].fill(u32::MAX);
                self.mentions.push(mention);
            }
        }
        self.mentions.sort_by_key(|mention| mention.tokens.start);
        self.tag();
    }

    /// "Will", "Mark" or "May" is only a name inside a sentence or before what only people do.
    fn is_name_here(&self, at: usize, length: usize) -> bool {
        let text = &self.text;
        let word = text.word(at);
        if length > 1 || !text.is_word(at) || !(names::is_wordy_name(word) || names::is_no_name(word)) {
            return true;
        }
        let inside = at > 0
            && (text.is_word(at - 1) || text.word(at - 1) == ",")
            && !text.is_any(at - 1, &["in", "of", "since", "until"]);
        let did = text.is_word(at + 1) && text.word(at + 1).ends_with("ed") && !text.is_capitalised(at + 1);
        did || inside
            || acts_like_a_person(text, at)
            || matches!(text.word(at + 1), ":" | "," | "'s" | "to" | "will" | "–" | ")")
    }

    pub(super) fn mention(&self, at: usize) -> Option<&Mention> {
        let number = *self.tags.get(at)?;
        self.mentions.get((number as usize).checked_sub(1)?)
    }

    pub(super) fn person(&self, at: usize) -> Option<&Mention> {
        self.mention(at).filter(|mention| mention.is_person())
    }

    /// The mentions that begin in a range of tokens.
    pub(super) fn mentions_in(&self, tokens: &Range<usize>) -> &[Mention] {
        let first = self.mentions.partition_point(|mention| mention.tokens.start < tokens.start);
        let last = self.mentions.partition_point(|mention| mention.tokens.start < tokens.end);
        &self.mentions[first..last.max(first)]
    }

    /// The people named in a range, each once, in order.
    pub(super) fn people_in(&self, tokens: &Range<usize>) -> Vec<usize> {
        let mut people = Vec::new();
        for mention in self.mentions_in(tokens) {
            if mention.is_person() && !people.contains(&mention.entity) {
                people.push(mention.entity);
            }
        }
        people
    }

    /// The people, bodies and firms named in a range, each once, in order.
    pub(super) fn actors_in(&self, tokens: &Range<usize>) -> Vec<usize> {
        let mut actors = Vec::new();
        for mention in self.mentions_in(tokens).iter().filter(|mention| mention.can_act()) {
            if !actors.contains(&mention.entity) {
                actors.push(mention.entity);
            }
        }
        actors
    }

    /// Whether a token opens "Bob will …", "she agreed …", "I'll …", "the supplier collected …": a subject with its verb.
    pub(super) fn begins_statement(&self, at: usize) -> bool {
        let text = &self.text;
        let finite = |at: usize| {
            text.is_word(at) && verbs::is_finite(text.word(at))
                || matches!(text.kind(at), Some(Kind::Suffix(_)))
        };
        let after = match self.mention(at) {
            Some(mention) if mention.entity_type != EntityType::Object => mention.tokens.end,
            _ if text.is_any(at, &["i", "we", "he", "she", "they", "it", "you", "nobody", "everyone"]) => {
                at + 1
            }
            _ if text.is_any(
                at,
                &[
                    "the", "our", "my", "his", "her", "their", "its", "your", "this", "these", "those",
                    "another",
                ],
            ) =>
            {
                // "the temperature fell": the verb comes soon, with nothing between but the words of the subject.
                let verb = (at + 2..at + 5).find(|near| finite(*near) || !text.is_word(*near));
                return verb.is_some_and(|verb| text.is_word(verb) && !is_joint(text.word(verb - 1)));
            }
            _ => return false,
        };
        let next = text.word(after);
        if next == "'s" {
            return text.is_any(after + 1, &["going", "working", "waiting", "blocked", "taking", "leaving"]);
        }
        let adverb = text.is_any(after, &["also", "now", "already", "then", "still", "just", "both"]);
        next == "to" && self.person(at).is_some() || finite(after) || (adverb && finite(after + 1))
    }

    pub(super) fn is_quote_mark(&self, at: usize) -> bool {
        self.text.kind(at) == Some(Kind::Punctuation)
            && matches!(self.text.word(at), "\"" | "“" | "”" | "«" | "»")
    }
}

/// The one day that a line names, of those that had come when the text was written. A day without its year is a near one.
fn day_of(words: &str, reference: Option<Timestamp>, order: Option<DayOrder>) -> Option<Timestamp> {
    if is_day_or_month_first(words) {
        let orders = [DayOrder::DayFirst, DayOrder::MonthFirst].into_iter();
        let now = reference?;
        let mut likely = orders
            .filter(|one| order.is_none_or(|order| order == *one))
            .filter_map(|one| in_order(words, one, now))
            .filter(|words| order.is_some() || is_near(words, now));
        // Which of the two it is must be plain before it is asked whether it had come.
        return likely
            .next()
            .filter(|_| likely.next().is_none())
            .and_then(|words| plain_day(&words, reference));
    }
    plain_day(words, reference)
}

/// Whether the day is one of those around the text's own.
fn is_near(words: &str, now: Timestamp) -> bool {
    readings(words, Some(now), Lean::Past)
        .first()
        .is_some_and(|day| now.duration_since(day.start).abs() < NEAR)
}

fn plain_day(words: &str, reference: Option<Timestamp>) -> Option<Timestamp> {
    let mut days = readings(words, reference, Lean::Past).into_iter();
    let (Some(day), None) = (days.next(), days.next()) else { return None };
    let plain = day.granularity <= Granularity::Day && day.relation == Relation::At && !day.is_ambiguous;
    let Some(now) = reference else { return plain.then_some(day.start) };
    let near = !day.is_year_open || now.duration_since(day.start) < YEAR_OPEN_MAX;
    if !plain || day.start > now || !near {
        return None;
    }
    // On the day of the text its own time is the more exact.
    Some(if now < day.end { now } else { day.start })
}

/// The numbers of each date with slashes, and where it stands.
fn slashed(words: &str) -> impl Iterator<Item = (&str, Vec<u32>)> {
    words.split(|c: char| !(c.is_ascii_digit() || c == '/')).filter(|date| date.contains('/')).filter_map(
        |date| {
            let parts: Vec<u32> = date.split('/').filter_map(|part| part.parse().ok()).collect();
            matches!(parts.len(), 2 | 3).then_some((date, parts))
        },
    )
}

/// "06/10/2025": June or October.
fn is_day_or_month_first(words: &str) -> bool {
    slashed(words)
        .any(|(_, parts)| matches!(parts.as_slice(), [a, b, _] | [a, b] if *a <= 12 && *b <= 12 && a != b))
}

/// The words with their first date written so that it can be read in one way.
fn in_order(words: &str, order: DayOrder, reference: Timestamp) -> Option<String> {
    let (date, parts) = slashed(words).next()?;
    let (day, month) = match order {
        DayOrder::DayFirst => (parts[0], parts[1]),
        DayOrder::MonthFirst => (parts[1], parts[0]),
    };
    let year = match parts.get(2) {
        Some(year) if *year < 100 => 2000 + i64::from(*year),
        Some(year) => i64::from(*year),
        None => i64::from(reference.to_zoned(jiff::tz::TimeZone::UTC).year()),
    };
    Some(words.replacen(date, &format!("{year:04}-{month:02}-{day:02}"), 1))
}

/// A word after which no subject is complete.
fn is_joint(word: &str) -> bool {
    matches!(
        word,
        "of" | "and"
            | "or"
            | "the"
            | "a"
            | "in"
            | "to"
            | "for"
            | "with"
            | "by"
            | "at"
            | "on"
            | "that"
            | "which"
            | "be"
            | "not"
    )
}
