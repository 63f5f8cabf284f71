//! Agreements that do not last: in one of the next turns somebody objects, drops what was proposed or takes a yes back.

use std::ops::Range;

use memory_core::event::Category;

use super::answers::{agrees_that, agrees_to_do};
use super::draft::Draft;
use super::objections::{calls_off, objects, takes_back};
use super::requests::{asks, proposes};
use super::turns::Turn;

/// An exchange goes on for so many turns behind the answer.
const TURNS_BEHIND: usize = 5;
/// Of a turn so many sentences are read.
const SENTENCES: usize = 4;
/// The proposal stands so many turns before the answer at most.
const TURNS_BETWEEN: usize = 4;

/// Drops what was agreed on over two turns, or promised by one, and did not last.
pub(super) fn drop_withdrawn(turns: &[Turn<'_, '_>], drafts: &mut Vec<Draft>) {
    let may_fall = |draft: &Draft| match draft.category {
        Category::Commitment => true,
        Category::Decision => draft.evidence.len() > 1,
        _ => false,
    };
    let mut fallen: Vec<(usize, Range<usize>)> = Vec::new();
    drafts.retain(|draft| {
        if !may_fall(draft) {
            return true;
        }
        let [answer, asked, ..] = draft.evidence.as_slice() else {
            return !is_own_taken_back(turns, draft);
        };
        let places = (turn_at(turns, answer), turn_at(turns, asked));
        let (Some(at), Some(from)) = places else { return true };
        let exchange = Exchange { turns, from, at, answer: &answer.1 };
        // "Can you send it?" – "sure": one of the two is to do it. What both settle falls with any objection.
        let mut owners = draft.owners();
        let falls = match (owners.next(), owners.next()) {
            (Some(owner), None) if draft.category == Category::Commitment => exchange.is_taken_back(owner),
            _ => exchange.is_overturned() || is_dropped_at_once(&turns[from], &asked.1),
        };
        if falls {
            fallen.extend([answer.clone(), asked.clone()]);
        }
        !falls
    });
    drop_within(fallen, drafts);
}

/// "What if we rent the van? Let me think about it.": who proposed it drops it before anybody answers.
fn is_dropped_at_once(turn: &Turn<'_, '_>, proposal: &Range<usize>) -> bool {
    let begun = turn.sentences.partition_point(|one| turn.parsed.text.bytes(one).start < proposal.end);
    turn.sentences[begun..].iter().take(SENTENCES).any(|one| objects(turn.parsed, one, true))
}

/// "I'll bring the tent." – "Perfect." – "Actually scrap that, my brother has one.": what somebody said to do by himself.
fn is_own_taken_back(turns: &[Turn<'_, '_>], draft: &Draft) -> bool {
    let [evidence] = draft.evidence.as_slice() else { return false };
    let mut owners = draft.owners();
    let (Some(owner), None) = (owners.next(), owners.next()) else { return false };
    let at = turn_at(turns, evidence).filter(|at| turns[*at].speaker == owner);
    at.is_some_and(|at| Exchange { turns, from: at, at, answer: &evidence.1 }.is_taken_back(owner))
}

/// "Let's order pizza": what was overturned is not told by its own words either.
fn drop_within(mut fallen: Vec<(usize, Range<usize>)>, drafts: &mut Vec<Draft>) {
    fallen.sort_unstable_by_key(|(segment, bytes)| (*segment, bytes.start));
    drafts.retain(|draft| {
        let [(segment, bytes)] = draft.evidence.as_slice() else { return true };
        let begun = fallen.partition_point(|(of, one)| (*of, one.start) <= (*segment, bytes.start));
        let is_within = begun.checked_sub(1).is_some_and(|last| {
            let (of, one) = &fallen[last];
            of == segment && bytes.end <= one.end
        });
        !(is_within && matches!(draft.category, Category::Commitment | Category::Decision))
    });
}

fn turn_at(turns: &[Turn<'_, '_>], (segment, bytes): &(usize, Range<usize>)) -> Option<usize> {
    let start = |turn: &Turn<'_, '_>| {
        let first = turn.sentences.first().map_or(0, |first| turn.parsed.text.bytes(first).start);
        (turn.parsed.segment, first)
    };
    turns.partition_point(|turn| start(turn) <= (*segment, bytes.start)).checked_sub(1)
}

/// A proposal or a request, its answer, and what is said around it.
struct Exchange<'t, 's, 'a> {
    turns: &'t [Turn<'s, 'a>],
    from: usize,
    at: usize,
    answer: &'t Range<usize>,
}

impl<'s, 'a> Exchange<'_, 's, 'a> {
    /// The turns behind the answer.
    fn later(&self) -> Range<usize> {
        let end = self.turns.len().min(self.at + 1 + TURNS_BEHIND);
        self.at + 1..end
    }

    /// What its speaker says behind the answer in the same turn.
    fn rest(&self) -> impl Iterator<Item = &Range<usize>> {
        let turn = &self.turns[self.at];
        let begun = turn.sentences.partition_point(|one| turn.parsed.text.bytes(one).start < self.answer.end);
        turn.sentences[begun..].iter().take(SENTENCES)
    }

    /// Whether what stands before a turn is a question that it answers.
    fn answers(&self, number: usize) -> bool {
        let Some(before) = number.checked_sub(1).filter(|before| *before > self.from) else { return false };
        let turn = &self.turns[before];
        turn.sentences.last().is_some_and(|last| {
            let floor = last.start.max(last.end.saturating_sub(2));
            (floor..=last.end).any(|at| turn.parsed.text.word(at) == "?")
        })
    }

    /// Whether a turn opens another matter.
    fn turns_away(turn: &Turn<'s, 'a>) -> bool {
        let opens =
            |one: &Range<usize>| proposes(turn.parsed, one).is_some() || asks(turn.parsed, one).is_some();
        turn.sentences.iter().take(2).any(opens)
    }

    fn is_taken_back(&self, owner: usize) -> bool {
        let own = &self.turns[self.at];
        if own.speaker == owner && self.rest().any(|one| takes_back(own.parsed, one, false)) {
            return true;
        }
        for number in self.later() {
            let turn = &self.turns[number];
            let answers = self.answers(number);
            let mut said = turn.sentences.iter().take(SENTENCES);
            let is_back = if turn.speaker == owner {
                said.any(|one| takes_back(turn.parsed, one, answers))
            } else {
                said.any(|one| calls_off(turn.parsed, one))
            };
            if is_back {
                let mut after = self.turns[number + 1..self.later().end].iter();
                return !after.any(|turn| {
                    let mut first = turn.sentences.iter().take(1);
                    turn.speaker == owner && first.any(|one| agrees_to_do(turn.parsed, one))
                });
            }
            if Self::turns_away(turn) {
                break;
            }
        }
        false
    }

    fn is_overturned(&self) -> bool {
        let own = &self.turns[self.at];
        if self.rest().any(|one| objects(own.parsed, one, false)) {
            return true;
        }
        let between = self.from + 1..self.at.min(self.from + 1 + TURNS_BETWEEN);
        let objecting = |number: &usize| {
            let turn = &self.turns[*number];
            let answers = self.answers(*number);
            turn.sentences.iter().take(SENTENCES).any(|one| objects(turn.parsed, one, answers))
        };
        let mut against = between.into_iter().find(&objecting);
        for number in self.later() {
            against = against.or(Some(number).filter(&objecting));
            if against.is_some() || Self::turns_away(&self.turns[number]) {
                break;
            }
        }
        against.is_some_and(|number| !self.is_settled_after(number))
    }

    /// "Fine then", said by who objected, "we'll do it anyway", said by anybody.
    fn is_settled_after(&self, number: usize) -> bool {
        let objector = self.turns[number].speaker;
        let end = self.turns.len().min(number.max(self.at) + 1 + TURNS_BEHIND);
        self.turns[number + 1..end].iter().any(|turn| {
            let yields = |one: &Range<usize>| turn.speaker == objector && agrees_that(turn.parsed, one);
            let insists = |one: &Range<usize>| {
                one.clone().any(|at| turn.parsed.text.is_any(at, &["anyway", "regardless", "outvoted"]))
            };
            turn.sentences.iter().take(SENTENCES).any(|one| yields(one) || insists(one))
        })
    }
}
