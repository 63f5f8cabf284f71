//! One segment, parsed: its words, its layout and who is named where.

use std::ops::Range;

use jiff::Timestamp;
use memory_core::entity::EntityType;

use super::discover::acts_like_a_person;
use super::layout::Layout;
use super::names;
use super::people::Roster;
use super::verbs;
use super::words::{Kind, Text};

/// One occurrence of an entity.
#[derive(Debug, Clone)]
pub(super) struct Mention {
    pub(super) tokens: Range<usize>,
    pub(super) entity: usize,
    pub(super) entity_type: EntityType,
}

pub(super) struct ParsedSegment<'a> {
    /// Its number among the segments of the source and among those that are parsed.
    pub(super) segment: usize,
    pub(super) text: Text<'a>,
    pub(super) layout: Layout,
    pub(super) mentions: Vec<Mention>,
    /// For each token the number of its mention plus one; 0 for none.
    tags: Vec<u32>,
    /// Who "I" is, where a block does not say it.
    pub(super) speaker: Option<usize>,
    /// What "tomorrow" counts from.
    pub(super) reference: Option<Timestamp>,
    pub(super) context_only: bool,
}

impl<'a> ParsedSegment<'a> {
    pub(super) fn new(segment: usize, text: Text<'a>, layout: Layout) -> Self {
        let tags = Vec::new();
        Self {
            segment,
            text,
            layout,
            mentions: Vec::new(),
            tags,
            speaker: None,
            reference: None,
            context_only: false,
        }
    }

    /// Finds every name of the roster in the text; `things` are the entities found already.
    pub(super) fn find_mentions(&mut self, roster: &Roster, things: Vec<(Range<usize>, usize)>) {
        let mut mentions: Vec<Mention> = Vec::new();
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
            if let Some(title) = title {
                mentions.push(Mention { tokens: title..at + length, entity, entity_type });
                at += length;
                continue;
            }
            mentions.push(Mention { tokens: at..at + length, entity, entity_type });
            at += length;
        }
        self.tags = vec![0; self.text.tokens.len()];
        for (number, mention) in mentions.iter().enumerate() {
            self.tags[mention.tokens.clone()].fill(number as u32 + 1);
        }
        self.mentions = mentions;
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
        self.mention(at).filter(|mention| mention.entity_type == EntityType::Person)
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
            if mention.entity_type == EntityType::Person && !people.contains(&mention.entity) {
                people.push(mention.entity);
            }
        }
        people
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
