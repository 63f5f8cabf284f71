//! Third persons: whom "he" or "she" means, by gender, by who was spoken of last and by who did what there.

use std::ops::Range;

use memory_core::entity::EntityType;
use memory_language::sentence::leads_to_next;

use super::gender::Gender;
use super::layout::{Block, Form};
use super::lists;
use super::names;
use super::parsed_segment::{Mention, ParsedSegment};
use super::verbs;
use super::words::Text;

/// A person is meant who was named at most so many tokens before.
const REACH_TOKENS: usize = 120;
/// A sentence is looked through no further than this.
const SENTENCE_TOKENS: usize = 60;
/// A first line is a title up to this length.
const TITLE_TOKENS: usize = 24;
/// A turn and the one before it have no more blocks.
const TALK_BLOCKS: usize = 8;
/// A label has no more tokens.
const LABEL_TOKENS: usize = 12;
/// So many sentences with names in them are gone back.
const SENTENCES_MAX: usize = 3;

/// The one person whom the pronoun at a token of a sentence means, if it is plain who.
pub(super) fn meant(parsed: &ParsedSegment<'_>, sentence: &Range<usize>, at: usize) -> Option<usize> {
    let gender = Gender::of_pronoun(parsed.text.word(at))?;
    // "She will tell Ben": it is not Ben.
    let mut others: Vec<usize> = parsed.people_in(&(at..sentence.end.min(at + SENTENCE_TOKENS).max(at)));
    if let Some(talk) = Talk::at(parsed, at) {
        others.extend(talk.speaker);
        return talk.meant(parsed, at, gender, &others);
    }
    let mut said = sentence.start.max(at.saturating_sub(SENTENCE_TOKENS))..at;
    if let Some(asked) = asked(parsed, &said, gender) {
        return (!others.contains(&asked)).then_some(asked);
    }
    let floor = sentence.start.saturating_sub(REACH_TOKENS);
    for _ in 0..SENTENCES_MAX {
        let fitting = fitting(parsed, &said, gender, &others);
        if !fitting.is_empty() {
            return one_of(parsed, &said, &fitting);
        }
        let Some(before) = sentence_before(parsed, said.start, floor) else { break };
        said = before;
    }
    titled(parsed, gender, &others, at)
}

/// "Piotr asks Lowell when | he's finished": of whom something is asked.
fn asked(parsed: &ParsedSegment<'_>, said: &Range<usize>, gender: Gender) -> Option<usize> {
    let text = &parsed.text;
    said.end.checked_sub(1).filter(|at| {
        said.contains(at) && text.is_any(*at, &["when", "if", "whether", "what", "where", "how", "why"])
    })?;
    let verb = said.clone().rev().find(|at| text.is_any(*at, &["asks", "asked", "ask"]))?;
    let one = parsed.person(verb + 1).filter(|mention| said.contains(&mention.tokens.start))?;
    one.gender.is_none_or(|known| known == gender).then_some(one.entity)
}

/// What is read for a pronoun in a turn of a conversation: that turn and the one before it.
struct Talk {
    tokens: Range<usize>,
    /// Who says it, by the label of the turn: whoever is spoken of is another.
    speaker: Option<usize>,
}

impl Talk {
    /// The talk up to a token, if it stands in a turn behind a label.
    fn at(parsed: &ParsedSegment<'_>, at: usize) -> Option<Self> {
        let blocks = &parsed.layout.blocks;
        let byte = parsed.text.tokens.get(at)?.start;
        let own = blocks.partition_point(|block| block.bytes.start <= byte).checked_sub(1)?;
        let name = blocks[own].speaker.as_deref().filter(|_| !is_listed(&blocks[own]))?;
        let mut first = own;
        let mut changes = 0;
        while first > 0 && own - first < TALK_BLOCKS {
            let (before, this) = (&blocks[first - 1].speaker, &blocks[first].speaker);
            changes += usize::from(before != this);
            if changes > 1 || before.is_none() {
                break;
            }
            first -= 1;
        }
        let start = parsed.text.tokens_in(&blocks[first].bytes).start;
        let said = parsed.text.tokens_in(&blocks[own].bytes).start;
        let labels = parsed.mentions_in(&(said.saturating_sub(LABEL_TOKENS)..said));
        let named = |mention: &&Mention| {
            mention.is_person() && is_label(parsed, mention) && {
                let bytes = parsed.text.bytes(&mention.tokens);
                name.contains(&parsed.text.raw[bytes])
            }
        };
        let speaker = labels.iter().rev().find(named).map(|mention| mention.entity);
        Some(Self { tokens: start..at, speaker })
    }

    /// The one who fits and is named, not as one who speaks.
    fn meant(
        &self,
        parsed: &ParsedSegment<'_>,
        at: usize,
        gender: Gender,
        others: &[usize],
    ) -> Option<usize> {
        let start = self.tokens.start.max(at.saturating_sub(REACH_TOKENS));
        let mut fitting = parsed
            .mentions_in(&(start..at))
            .iter()
            .filter(|it| it.is_person() && it.gender.is_none_or(|known| known == gender))
            .filter(|it| !others.contains(&it.entity) && !is_label(parsed, it))
            .map(|mention| mention.entity);
        let one = fitting.next()?;
        fitting.all(|other| other == one).then_some(one)
    }
}

/// Whether a name stands before what is said in its line: "Gus: …", "[09:02] Sam: …".
fn is_label(parsed: &ParsedSegment<'_>, mention: &Mention) -> bool {
    let byte = parsed.text.bytes(&mention.tokens).start;
    let blocks = &parsed.layout.blocks;
    let next = blocks.partition_point(|block| block.bytes.start <= byte);
    let is_said = next.checked_sub(1).is_some_and(|own| blocks[own].bytes.contains(&byte));
    let label =
        |block: &Block| block.speaker.is_some() && !parsed.text.raw[byte..block.bytes.start].contains('\n');
    !is_said && blocks.get(next).is_some_and(label)
}

fn is_listed(block: &Block) -> bool {
    matches!(block.form, Form::Item { .. } | Form::Row { .. }) || block.labelled
}

/// The one firm or body that "they" at a token means: the last one named, if no two people are.
pub(super) fn meant_by_they(parsed: &ParsedSegment<'_>, sentence: &Range<usize>, at: usize) -> Option<usize> {
    let floor = sentence.start.saturating_sub(SENTENCE_TOKENS);
    let mentions = parsed.mentions_in(&(floor..at));
    let last = mentions.iter().rev().find(|mention| mention.entity_type == EntityType::Org)?;
    let text = &parsed.text;
    // Nothing but one end of a sentence and of no paragraph stands between.
    let ends = (last.tokens.end..at).filter(|at| ends_sentence(text, *at)).count();
    let between = parsed.mentions_in(&(last.tokens.end..at));
    let apart = text.raw[text.tokens[last.tokens.end - 1].end..text.tokens[at].start].contains("\n\n");
    let people = parsed.people_in(&(floor.max(last.tokens.start.saturating_sub(SENTENCE_TOKENS))..at)).len();
    (ends <= 1 && !apart && people < 2 && between.iter().all(|mention| !mention.can_act()))
        .then_some(last.entity)
}

/// The people named in a sentence who may be meant, each once.
fn fitting<'s>(
    parsed: &'s ParsedSegment<'_>,
    sentence: &Range<usize>,
    gender: Gender,
    others: &[usize],
) -> Vec<&'s Mention> {
    let mut found: Vec<&Mention> = Vec::new();
    for mention in parsed.mentions_in(sentence) {
        let is_new = found.iter().all(|other| other.entity != mention.entity);
        if mention.is_person()
            && is_new
            && !others.contains(&mention.entity)
            && mention.gender.is_none_or(|known| known == gender)
        {
            found.push(mention);
        }
    }
    found
}

/// Of several the one whose gender alone is known to fit, who was given something, or who is the subject.
fn one_of(parsed: &ParsedSegment<'_>, sentence: &Range<usize>, fitting: &[&Mention]) -> Option<usize> {
    if let [one] = fitting {
        return Some(one.entity);
    }
    let subject = subject(parsed, sentence).filter(|subject| fitting.iter().any(|it| it.entity == *subject));
    let given = sentence.clone().any(|at| lists::HANDING_VERBS.contains(parsed.text.word(at)));
    let mut others = fitting.iter().filter(|mention| Some(mention.entity) != subject);
    if let (true, Some(_), Some(one), None) = (given, subject, others.next(), others.next()) {
        // "Anna handed Marta the file. She will check it."
        return Some(one.entity);
    }
    let mut known = fitting.iter().filter(|mention| mention.gender.is_some());
    match (known.next(), known.next()) {
        (Some(one), None) => subject.is_none_or(|subject| subject == one.entity).then_some(one.entity),
        _ => subject.filter(|_| !given),
    }
}

/// Whom notes about one person are about: the only one who fits and is named in the first line, without who writes. `at` is the
/// pronoun, which stands below that line: a name behind it tells nothing.
fn titled(parsed: &ParsedSegment<'_>, gender: Gender, others: &[usize], at: usize) -> Option<usize> {
    let text = &parsed.text;
    let line = (0..text.tokens.len().min(TITLE_TOKENS).min(at)).find(|at| text.ends_line(*at))?;
    let mut named = fitting(parsed, &(0..line + 1), gender, others)
        .into_iter()
        .map(|mention| mention.entity)
        .filter(|entity| Some(*entity) != parsed.speaker);
    named.next().filter(|_| named.next().is_none())
}

/// Who does what a sentence tells: the one person before its verb.
fn subject(parsed: &ParsedSegment<'_>, sentence: &Range<usize>) -> Option<usize> {
    let text = &parsed.text;
    let first = parsed.mentions_in(sentence).iter().find(|mention| mention.is_person())?;
    let led = (sentence.start..first.tokens.start).any(|at| {
        let word = text.word(at);
        verbs::is_finite(word) || text.is_any(at, &["by", "to", "for", "with", "from", "of"])
    });
    let next = text.word(first.tokens.end);
    // "Anna's report", "Anna and Marta".
    let has_more = matches!(next, "'s" | "'" | "’" | "and" | "&" | "/");
    let lists = next == "," && parsed.person(first.tokens.end + 1).is_some();
    (!led && !has_more && !lists).then_some(first.entity)
}

/// The last sentence before a token that names a person.
fn sentence_before(parsed: &ParsedSegment<'_>, before: usize, floor: usize) -> Option<Range<usize>> {
    let last = parsed.mentions_in(&(floor..before)).iter().rev().find(|mention| mention.is_person())?;
    let text = &parsed.text;
    let start = (floor.max(last.tokens.start.saturating_sub(SENTENCE_TOKENS))..=last.tokens.start)
        .rev()
        .find(|at| at.checked_sub(1).is_none_or(|before| ends_sentence(text, before)))
        .unwrap_or(last.tokens.start);
    let end = (last.tokens.end..before).find(|at| ends_sentence(text, *at)).unwrap_or(before);
    Some(start..end)
}

/// Whether a sentence or an entry ends with a token.
pub(super) fn ends_sentence(text: &Text<'_>, at: usize) -> bool {
    let (Some(this), Some(next)) = (text.tokens.get(at), text.tokens.get(at + 1)) else { return true };
    let gap = &text.raw[this.end..next.start];
    if gap.matches('\n').count() > 1 || (gap.contains('\n') && text.is_any(at + 1, &["-", "*", "•"])) {
        return true;
    }
    match text.word(at) {
        ";" | "!" | "?" => true,
        "." => {
            let short = at.checked_sub(1).is_some_and(|before| {
                names::is_title(text.word(before))
                    || text.raw_word(before).chars().count() == 1
                    || leads_to_next(text.raw_word(before), text.word(at + 1))
            });
            !short && !gap.is_empty()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::people::{Roster, Sightings};
    use super::super::{layout, words};
    use super::*;

    /// Whom the last "he" or "she" of a text means.
    fn meant_in(text: &str, people: &[&str]) -> Option<String> {
        let mut seen = Sightings::default();
        for name in people {
            seen.see(name, true);
        }
        let roster = Roster::of_people(&seen);
        let layout = layout::read(text, &std::collections::HashSet::new());
        let mut parsed = ParsedSegment::new(0, words::Text::new(text, text.len()), layout);
        parsed.find_mentions(&roster, Vec::new());
        let last = parsed.text.tokens.len();
        let at = (0..last).rev().find(|at| parsed.text.is_any(*at, &["he", "she"]))?;
        let start = (0..=at).rev().find(|at| *at == 0 || ends_sentence(&parsed.text, at - 1))?;
        meant(&parsed, &(start..last), at).map(|entity| roster.entities[entity].name.clone())
    }

    #[test]
    fn a_pronoun_means_who_fits_and_else_the_subject() {
        let people = &["Martha Lund", "Oliver Reed", "Zorvan", "Quessa", "Farrow"];
        for (text, who) in [
            ("Martha showed Oliver the hall. She'll send him the keys.", Some("Martha Lund")),
            ("Martha showed Oliver the hall. He will paint it.", Some("Oliver Reed")),
            // Nothing tells which of both is a woman: the subject of the sentence before.
            ("Zorvan told Quessa about the leak. She will call the plumber.", Some("Zorvan")),
            // Who was given something does what is to be done with it.
            ("Zorvan handed Quessa the list. She will check it.", Some("Quessa")),
            ("Zorvan and Quessa were there. She will check it.", None),
            ("Zorvan asks Quessa when she's finished.", Some("Quessa")),
            // Who is named beside the pronoun is another.
            ("Zorvan met Quessa. He will help Quessa.", Some("Zorvan")),
            ("The leak was told of by Zorvan to Mrs Farrow. She will write.", Some("Farrow")),
            ("Mrs Farrow came late. The hall was cold. She will write.", Some("Farrow")),
            ("Oliver came late. She will write.", None),
            ("Martha met Mr. Reed. He will write.", Some("Oliver Reed")),
            // A name that comes only behind the pronoun is no one's who was spoken of.
            ("he lost it at the park. Oliver is upset", None),
            ("she signed the lease on Monday. Martha saw her room", None),
            ("he called. Oliver was there\nhe will paint it", Some("Oliver Reed")),
            ("1:1 with Oliver\n\n- tired\n- met Martha\n- he will write", Some("Oliver Reed")),
        ] {
            assert_eq!(meant_in(text, people).as_deref(), who, "{text}");
        }
    }
}
