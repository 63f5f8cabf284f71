//! What the events of a segment are read with, whatever form they stand in.

use std::ops::Range;

use memory_core::entity::EntityType;
use memory_core::event::{Actor, ActorRole, Category};

use super::clause::Subject;
use super::features::Hit;
use super::layout::{Block, Form};
use super::lines::{bullet, heading};
use super::narrative::{self, Pronouns};
use super::parsed_segment::ParsedSegment;
use super::people::{Roster, is_own_name};
use super::sections::{Section, deed_of_heading};
use super::{third_person, verbs};

/// A sentence up to this length is evidence as a whole when only one of its clauses tells an event.
pub(super) const WHOLE_SENTENCE_MAX_BYTES: usize = 260;

/// The heading of a list is looked for so far before an entry.
const HEADING_WITHIN_BYTES: usize = 8_000;
/// "Not assigned", "unanimously agreed" say nothing without the sentence before.
const BARE_LEADS: [&str; 6] = ["all", "also", "finally", "not", "now", "unanimously"];
/// "The motion to close was carried by all."
const VOTED_WORDS_MAX: usize = 6;
/// A longer sentence is not told along.
const BEFORE_TOKENS_MAX: usize = 30;

/// A segment, the people who are known, and whom "I" and "please" mean.
pub(super) struct EventContext<'s, 'a> {
    pub(super) parsed: &'s ParsedSegment<'a>,
    pub(super) roster: &'s Roster,
}

impl EventContext<'_, '_> {
    pub(super) fn speaker_of(&self, block: &Block) -> Option<usize> {
        match &block.speaker {
            // "User:" and "Me:" are who brings the conversation.
            Some(name) => self.roster.named(name).or(self.parsed.speaker.filter(|_| is_own_name(name))),
            None => self.parsed.speaker,
        }
    }

    /// What was done to an entry of a list, by the heading above it: "Fixed".
    pub(super) fn headed(&self, block: &Block) -> Option<&'static str> {
        if !matches!(block.form, Form::Item { .. }) {
            return None;
        }
        let raw = self.parsed.text.raw;
        let start = block.bytes.start;
        let from =
            (start.saturating_sub(HEADING_WITHIN_BYTES)..=start).find(|at| raw.is_char_boundary(*at))?;
        let mut lines = raw[from..start].lines().rev().filter(|line| bullet(line).is_none());
        // "Removed" alone on a line is a heading too.
        let is_alone = |line: &str| line.split_whitespace().count() == 1 && deed_of_heading(line).is_some();
        let is_heading =
            |line: &&str| heading(line).is_some() || line.trim_end().ends_with(':') || is_alone(line);
        deed_of_heading(lines.find(is_heading)?)
    }

    /// The words of an event, behind those of the sentence before where they say nothing by themselves.
    pub(super) fn told_whole(&self, tokens: &Range<usize>, speaker: Option<usize>, hit: &Hit) -> String {
        let words = self.told(tokens, speaker, Some(hit));
        match said_before(self.parsed, tokens) {
            Some(before) => format!("{} {words}", narrative::sentence(&self.told(&before, speaker, None))),
            None => words,
        }
    }

    /// The words of a range with names in full.
    pub(super) fn told(&self, tokens: &Range<usize>, speaker: Option<usize>, hit: Option<&Hit>) -> String {
        let people = &self.roster.entities;
        let third = hit.and_then(|hit| match &hit.lead.subject {
            Subject::People(who) if matches!(self.parsed.text.word(hit.lead.from), "she" | "he") => {
                Some((hit.lead.from, people.get(*who.first()?)?.name.as_str()))
            }
            _ => None,
        });
        let speaker = speaker.and_then(|at| people.get(at)).map(|known| known.name.as_str());
        narrative::told(self.parsed, tokens, people, Pronouns { speaker, third, ..Pronouns::default() })
    }
}

/// The sentence before, for a clause that says nothing without it: "Rejected.", "The proposal was carried."
fn said_before(parsed: &ParsedSegment<'_>, tokens: &Range<usize>) -> Option<Range<usize>> {
    let text = &parsed.text;
    let words: Vec<usize> = tokens.clone().filter(|at| text.is_word(*at)).collect();
    let (first, second) = (*words.first()?, words.get(1).copied());
    let points_back = |at: usize| match text.word(at) {
        "it" | "this" | "that" => true,
        "the" => {
            text.is_any(at + 1, &["proposal", "motion", "request", "offer", "idea", "plan", "amendment"])
        }
        _ => false,
    };
    let is_past = |at: usize| verbs::of(text.word(at)).is_some_and(|verb| verb.past);
    let says_nothing = match (first, second) {
        (only, None) => is_past(only),
        (first, Some(past)) => words.len() == 2 && text.is_any(first, &BARE_LEADS) && is_past(past),
    };
    let was_voted_on = words.len() <= VOTED_WORDS_MAX
        && points_back(first)
        && words.iter().skip(1).take(2).any(|at| text.is_any(*at, &["was", "were", "is", "has"]));
    if !says_nothing && !was_voted_on {
        return None;
    }
    let end =
        (tokens.start.saturating_sub(1)..tokens.start).find(|at| third_person::ends_sentence(text, *at))? + 1;
    let start = (end.saturating_sub(BEFORE_TOKENS_MAX)..end - 1)
        .rev()
        .find(|at| third_person::ends_sentence(text, *at));
    let before = start.map_or(0, |at| at + 1)..end;
    let is_whole = start.is_some() || end <= BEFORE_TOKENS_MAX;
    let through = &text.raw[text.tokens[before.start].start..text.tokens[tokens.start].start];
    (is_whole && !through.contains('\n') && !text.is_any(end - 1, &["?"])).then_some(before)
}

/// An entry of a list, a labelled line or what a section promises.
pub(super) fn is_listed(block: &Block) -> bool {
    matches!(block.form, Form::Item { .. })
        || block.labelled
        || matches!(block.section, Section::Prior(_) | Section::Planned)
}

/// Without marks at the beginning, such as bullets and quotation marks.
pub(super) fn trimmed(parsed: &ParsedSegment<'_>, tokens: &Range<usize>) -> Range<usize> {
    let text = &parsed.text;
    let mut tokens = tokens.clone();
    // In "*.py" and "__tests__" they are letters.
    let is_mark = |at: usize| parsed.marks.is_mark(text.tokens[at].start) || !text.touches_next(at);
    while tokens.start + 1 < tokens.end
        && match text.word(tokens.start) {
            "-" | "–" | "—" | "," | ":" | "✅" | "•" => true,
            "*" | "_" => is_mark(tokens.start),
            _ => false,
        }
    {
        tokens.start += 1;
    }
    let ends = |at: usize| parsed.marks.is_mark(text.tokens[at].start) || !text.touches_next(at - 1);
    while tokens.end > tokens.start + 1
        && match text.word(tokens.end - 1) {
            "-" | "–" | "—" | "," => true,
            "*" | "_" => ends(tokens.end - 1),
            _ => false,
        }
    {
        tokens.end -= 1;
    }
    tokens
}

/// The people of a passage who are not actors yet, in a part that fits the category.
pub(super) fn bystanders(
    parsed: &ParsedSegment<'_>,
    tokens: &Range<usize>,
    category: Category,
    actors: &mut Vec<Actor>,
) {
    let role = match category {
        Category::QualityRisk => ActorRole::Stakeholder,
        Category::Feedback => ActorRole::Reviewer,
        _ => return,
    };
    for mention in parsed.mentions_in(tokens) {
        if mention.entity_type == EntityType::Person
            && !actors.iter().any(|actor| actor.entity == mention.entity)
        {
            actors.push(Actor { entity: mention.entity, role });
        }
    }
}
