//! Acceptances without content of their own, "Will do", "Agreed": they are told by what was asked or proposed before them, in an
//! earlier turn, line or quoted line; where nothing was, they tell nothing.

use std::ops::Range;

use memory_core::event::{Actor, ActorRole, Category};
use memory_language::calendar_words::calendar_word;
use memory_language::time::Lean;

use super::agreements::{accepted, settled_by};
use super::answers::accepts;
use super::draft::Draft;
use super::draft_index::DraftIndex;
use super::lines::opens_quote;
use super::lists;
use super::narrative;
use super::parsed_segment::ParsedSegment;
use super::people::Roster;
use super::requests::{asks, asks_of_past, proposes};
use super::sentences::sentences;
use super::turns::Said;
use super::verbs;
use super::words::Kind;

/// An answer is no longer.
const ANSWER_MAX_TOKENS: usize = 14;
/// What is accepted stands within so many sentences before it.
const SENTENCES_BACK: usize = 8;
/// What asks for nothing is taken on only at once.
const MATTER_BACK: usize = 2;
/// A sentence with fewer words is nothing to take on.
const WORDS_MIN: usize = 3;

/// Tells what was accepted, and drops what accepts nothing.
pub(super) fn complete(parsed_segments: &[ParsedSegment<'_>], roster: &Roster, drafts: &mut Vec<Draft>) {
    let is_empty = |draft: &Draft| {
        let [(segment, bytes)] = draft.evidence.as_slice() else { return false };
        matches!(draft.category, Category::Commitment | Category::Decision)
            && parsed_segments.get(*segment).is_some_and(|parsed| is_bare(parsed, bytes))
    };
    let is_telling: Vec<bool> = drafts.iter().map(|draft| !is_empty(draft)).collect();
    if is_telling.iter().all(|is_telling| *is_telling) {
        return;
    }
    let text = Before {
        said: said(parsed_segments, roster),
        quotes: parsed_segments.iter().map(quotes).collect(),
        drafts: DraftIndex::of(drafts),
        is_telling: &is_telling,
    };
    let mut telling = is_telling.iter();
    drafts.retain_mut(|draft| {
        telling.next() == Some(&true) || complete_one(parsed_segments, roster, draft, &text)
    });
}

/// What acceptances are told by.
struct Before<'s, 'a> {
    said: Vec<Said<'s, 'a>>,
    /// By segment, in order.
    quotes: Vec<Vec<Quote<'s, 'a>>>,
    drafts: DraftIndex,
    /// Of each draft, whether it tells something by itself.
    is_telling: &'s [bool],
}

/// A quoted stretch of an earlier message, with its last sentences, the very last first.
struct Quote<'s, 'a> {
    bytes: Range<usize>,
    said: Vec<Said<'s, 'a>>,
}

/// Whether the passage is nothing but words of acceptance, with a time at most.
fn is_bare(parsed: &ParsedSegment<'_>, bytes: &Range<usize>) -> bool {
    let text = &parsed.text;
    let tokens = text.tokens_in(bytes);
    if tokens.len() > ANSWER_MAX_TOKENS || !accepts(parsed, &tokens) {
        return false;
    }
    let dates = dates(parsed, bytes);
    tokens.clone().all(|at| {
        let start = text.tokens[at].start - bytes.start;
        let minutes = text.is_any(at + 1, &["min", "mins", "minutes", "hours"]);
        match text.kind(at) {
            Some(Kind::Punctuation) => true,
            Some(Kind::Number) if minutes => true,
            Some(Kind::Word | Kind::Suffix(_)) if lists::ACCEPTING.contains(text.word(at)) => true,
            _ => calendar_word(text.word(at)).is_some() || dates.iter().any(|date| date.contains(&start)),
        }
    })
}

/// Where the passage names times.
fn dates(parsed: &ParsedSegment<'_>, bytes: &Range<usize>) -> Vec<Range<usize>> {
    let readings = parsed.dates_at(bytes.start).readings(&parsed.text.raw[bytes.clone()], Lean::Future);
    readings.into_iter().map(|reading| reading.range).collect()
}

/// All that is said, in order.
fn said<'s, 'a>(parsed_segments: &'s [ParsedSegment<'a>], roster: &Roster) -> Vec<Said<'s, 'a>> {
    let is_talk = parsed_segments.len() > 1;
    let mut found = Vec::new();
    for parsed in parsed_segments {
        for block in &parsed.layout.blocks {
            // In a text of one segment its author need not be who says a line.
            let own = parsed.speaker.filter(|_| is_talk);
            let speaker = block.speaker.as_deref().and_then(|name| roster.named(name)).or(own);
            let all = sentences(&parsed.text, &block.bytes).into_iter();
            found.extend(all.map(|sentence| Said { parsed, speaker, sentence }));
        }
    }
    found
}

/// Tells an acceptance by what it accepts; false where that is nothing.
fn complete_one(
    parsed_segments: &[ParsedSegment<'_>],
    roster: &Roster,
    draft: &mut Draft,
    text: &Before<'_, '_>,
) -> bool {
    let (segment, bytes) = draft.evidence[0].clone();
    let parsed = &parsed_segments[segment];
    let sentence = parsed.text.tokens_in(&bytes);
    let said = &text.said;
    let at = said.partition_point(|one| (one.parsed.segment, one.sentence.end) <= (segment, sentence.start));
    let own = said.get(at).filter(|own| own.parsed.segment == segment).and_then(|own| own.speaker);
    let answer = Said { parsed, speaker: own, sentence };
    let is_other = |one: &&Said<'_, '_>| own.is_none() || one.speaker != own;
    let before: Vec<&Said<'_, '_>> =
        said[at.saturating_sub(SENTENCES_BACK)..at].iter().rev().filter(is_other).collect();
    // "Have you paid it?" – "Yes, on Friday.": that is done.
    if before.first().is_some_and(|one| asks_of_past(one.parsed, &one.sentence)) {
        return false;
    }
    let quoted = if before.is_empty() { text.quoted(segment, bytes.start) } else { &[] };
    // Among lines of nobody known "I'll do it" is said by who writes, and "will do" by anybody.
    let is_own = own.is_none()
        && answer.sentence.clone().any(|at| parsed.text.is_any(at, &["i", "ill", "im", "mine"]));
    let answer = Said { speaker: own.or(parsed.speaker.filter(|_| is_own || !quoted.is_empty())), ..answer };
    let before = before.into_iter().chain(quoted);
    let found = before.clone().find_map(|one| answered(&answer, one, draft.category, roster));
    if let Some(found) = found {
        *draft = Draft { category: draft.category, confidence: draft.confidence, ..found };
        return true;
    }
    let Some(matter) = before.take(MATTER_BACK).find(|one| text.is_matter(one, draft.category)) else {
        // "Agreed, Tuesdays it is" says something by itself.
        return !dates(parsed, &bytes).is_empty();
    };
    let words =
        matter.parsed.text.raw[matter.parsed.text.bytes(&matter.sentence)].trim_end_matches(['.', '!', ' ']);
    let telling = match (draft.category, answer.name(roster)) {
        (Category::Decision, _) => format!("Agreed: {words}"),
        (_, Some(name)) => format!("{name} took on: {words}"),
        (_, None) => format!("Taken on: {words}"),
    };
    draft.narrative = narrative::sentence(&telling);
    draft.actors.extend(
        matter
            .speaker
            .filter(|who| !draft.actors.iter().any(|actor| actor.entity == *who))
            .map(|entity| Actor { entity, role: ActorRole::Stakeholder }),
    );
    true
}

/// What an answer makes of a request or a proposal.
fn answered(answer: &Said<'_, '_>, one: &Said<'_, '_>, category: Category, roster: &Roster) -> Option<Draft> {
    let request = || {
        let (verb, whom) = asks(one.parsed, &one.sentence)?;
        let fits = whom.is_none() || answer.speaker.is_none() || whom == answer.speaker;
        fits.then(|| {
            let answer = Said { speaker: answer.speaker.or(whom), ..answer.clone() };
            accepted(&answer, one, verb, roster)
        })
    };
    let proposal = || Some(settled_by(answer, one, proposes(one.parsed, &one.sentence)?, roster));
    if category == Category::Decision { proposal().or_else(request) } else { request().or_else(proposal) }
}

impl<'s, 'a> Before<'s, 'a> {
    /// Whether a sentence that asks for nothing may still be what is accepted: it tells something, or says what is needed.
    fn is_matter(&self, one: &Said<'_, '_>, category: Category) -> bool {
        let text = &one.parsed.text;
        let met = self.drafts.meeting(one.parsed.segment, &text.bytes(&one.sentence));
        let tells = met.into_iter().any(|draft| self.is_telling[draft]);
        let needs = one.sentence.clone().any(|at| {
            text.is_any(at, &["need", "needs", "should", "must", "to", "todo", "?"])
                || (at == one.sentence.start && verbs::of(text.word(at)).is_some_and(|verb| verb.base))
        });
        let words = one.sentence.clone().filter(|at| text.is_word(*at)).count();
        // "We are meeting at two": what others do is nothing to take on.
        let theirs = one.sentence.clone().any(|at| text.is_any(at, &["i", "we"]));
        words >= WORDS_MIN && (needs || (tells && !theirs) || category == Category::Decision)
    }

    /// What is quoted of an earlier message: right above a reply, or below it if nothing is above.
    fn quoted(&self, segment: usize, byte: usize) -> &[Said<'s, 'a>] {
        let quotes = &self.quotes[segment];
        let above = quotes.partition_point(|quote| quote.bytes.end <= byte);
        let quote = above.checked_sub(1).or_else(|| quotes.iter().position(|quote| quote.bytes.start > byte));
        quote.map_or(&[], |at| &quotes[at].said)
    }
}

/// What a text quotes: lines behind `>`, and all below "Ann wrote:" where no such line follows.
fn quotes<'s, 'a>(parsed: &'s ParsedSegment<'a>) -> Vec<Quote<'s, 'a>> {
    let raw = parsed.text.read();
    let mut parts: Vec<(Range<usize>, Option<usize>)> = Vec::new();
    let mut asker = None;
    let mut is_all = false;
    let mut at = 0;
    for line in raw.split_inclusive('\n') {
        let bytes = at..at + line.len();
        at = bytes.end;
        if opens_quote(line) {
            asker = parsed.people_in(&parsed.text.tokens_in(&bytes)).first().copied();
            is_all = !raw[at..].trim_start().starts_with('>');
        } else if is_all || line.trim_start().starts_with('>') {
            match parts.last_mut() {
                Some((last, _)) if last.end == bytes.start => last.end = bytes.end,
                _ => parts.push((bytes, asker)),
            }
        }
    }
    let marks = |at: &usize| parsed.text.word(*at) == ">";
    let unmarked = |all: Range<usize>| all.clone().find(|at| !marks(at)).unwrap_or(all.end)..all.end;
    let quote = |(bytes, asker): (Range<usize>, Option<usize>)| {
        let speaker = asker.or(parsed.addressee);
        let last = sentences(&parsed.text, &bytes).into_iter().rev().take(SENTENCES_BACK);
        let said = last.map(|sentence| Said { parsed, speaker, sentence: unmarked(sentence) });
        Quote { said: said.collect(), bytes }
    };
    parts.into_iter().map(quote).collect()
}
