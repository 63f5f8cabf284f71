//! Who says what: the turns of a conversation and the sentences in them.

use std::ops::Range;

use memory_core::event::Category;

use super::date_context::DateContext;
use super::deadlines;
use super::parsed_segment::ParsedSegment;
use super::people::Roster;
use super::sections::Section;
use super::sentences::sentences;

/// What one says, in one line or several, before another does.
pub(super) struct Turn<'s, 'a> {
    pub(super) parsed: &'s ParsedSegment<'a>,
    pub(super) speaker: usize,
    pub(super) sentences: Vec<Range<usize>>,
}

impl<'s, 'a> Turn<'s, 'a> {
    pub(super) fn said(&self, sentence: &Range<usize>) -> Said<'s, 'a> {
        Said { parsed: self.parsed, speaker: Some(self.speaker), sentence: sentence.clone() }
    }

    /// "Jo?": what another was asked for is now asked of Jo.
    pub(super) fn calls(&self, whom: usize) -> bool {
        let [only] = self.sentences.as_slice() else { return false };
        let text = &self.parsed.text;
        let named = self.parsed.person(only.start).filter(|mention| mention.entity == whom);
        named
            .is_some_and(|mention| text.word(mention.tokens.end) == "?" && only.end <= mention.tokens.end + 1)
    }
}

/// A sentence, and who says it, if that is known.
#[derive(Clone)]
pub(super) struct Said<'s, 'a> {
    pub(super) parsed: &'s ParsedSegment<'a>,
    pub(super) speaker: Option<usize>,
    pub(super) sentence: Range<usize>,
}

impl<'a> Said<'_, 'a> {
    pub(super) fn bytes(&self) -> Range<usize> {
        self.parsed.text.bytes(&self.sentence)
    }

    pub(super) fn words(&self) -> &'a str {
        &self.parsed.text.raw[self.bytes()]
    }

    /// "Done.", "Sure, done right now", "just did it": it needs no promise any more.
    pub(super) fn says_done(&self) -> bool {
        const YET: [&str; 22] = [
            "will", "'ll", "be", "when", "once", "get", "gets", "have", "after", "before", "until", "can",
            "consider", "if", "soon", "need", "see", "too", "time", "making", "make", "sure",
        ];
        let text = &self.parsed.text;
        let opens = |at: usize| {
            at == self.sentence.start
                || text.is_any(at - 1, &[",", "!", ".", "-", "–", "just", "already", "i"])
        };
        let done = |at: usize| {
            text.word(at) == "done" || (text.word(at) == "did" && text.is_any(at + 1, &["it", "that", "so"]))
        };
        self.sentence.clone().any(|at| done(at) && opens(at))
            && !self.sentence.clone().skip(1).any(|at| text.is_any(at, &YET))
            && self.due_words().is_none()
    }

    pub(super) fn dates(&self) -> DateContext {
        self.parsed.dates_at(self.bytes().start)
    }

    /// Where in the text it says when something is due.
    pub(super) fn due_words(&self) -> Option<Range<usize>> {
        let start = self.bytes().start;
        deadlines::due_words(self.words(), self.dates()).map(|said| start + said.start..start + said.end)
    }

    pub(super) fn name<'r>(&self, roster: &'r Roster) -> Option<&'r str> {
        self.speaker.and_then(|at| roster.entities.get(at)).map(|known| known.name.as_str())
    }

    pub(super) fn evidence(&self) -> (usize, Range<usize>) {
        (self.parsed.segment, self.bytes())
    }
}

/// Who says what, in order; what one says in several lines is one turn.
pub(super) fn turns<'s, 'a>(parsed_segments: &'s [ParsedSegment<'a>], roster: &Roster) -> Vec<Turn<'s, 'a>> {
    let spoken = parsed_segments.len() > 1;
    let mut turns: Vec<Turn<'s, 'a>> = Vec::new();
    for parsed in parsed_segments {
        for block in &parsed.layout.blocks {
            let speaker = match &block.speaker {
                Some(name) => roster.named(name),
                None if spoken => parsed.speaker,
                None => None,
            };
            // "Blockers: no access yet" answers nothing.
            let is_blocker = block.labelled && block.section == Section::Prior(Category::QualityRisk);
            let Some(speaker) = speaker.filter(|_| !is_blocker) else { continue };
            let mut found = sentences(&parsed.text, &block.bytes);
            // "👍" has no word and is an answer.
            let all = parsed.text.tokens_in(&block.bytes);
            if found.is_empty() && !all.is_empty() {
                found.push(all);
            }
            match turns.last_mut() {
                Some(last) if last.speaker == speaker && last.parsed.segment == parsed.segment => {
                    last.sentences.extend(found);
                }
                _ => turns.push(Turn { parsed, speaker, sentences: found }),
            }
        }
    }
    turns
}
