//! How the parts of an answer share its bound: results first, then everything else fairly.

use memory_language::lexicon::Reader;

use super::shorten::{beginning, shorten, shorten_turn};
use super::tokens::{all, cost, costs, tokens};
use crate::tools::recall::known::{EntityOut, EventOut, FactOut, RelatedOut};
use crate::tools::recall::output::{Output, ResultOut, TurnOut};

/// What a result keeps before results are left out, in tokens: what it is, and a short snippet around what was asked for.
const LEAST: usize = 90;
/// The same with what is known of an event, and with a part of the content.
const LEAST_OF_EVENT: usize = 150;
const LEAST_WITH_CONTENT: usize = 400;
/// So many results come before everything else.
const ENOUGH: usize = 4;

/// The parts of an answer that compete for the tokens of its bound.
pub(super) struct Parts {
    results: Vec<ResultOut>,
    turns: Vec<TurnOut>,
    content: Option<String>,
    events: Vec<Vec<EventOut>>,
    related: Vec<RelatedOut>,
    facts: Vec<FactOut>,
    entities: Vec<EntityOut>,
}

impl Parts {
    /// Takes the parts out of an answer. The content of a text that is shown page by page counts as a part of its own.
    pub(super) fn taken_from(output: &mut Output, is_read_in_parts: bool) -> Self {
        let mut results = std::mem::take(&mut output.results);
        let content = results.first_mut().filter(|_| is_read_in_parts).and_then(|first| first.content.take());
        let events = results
            .iter_mut()
            .map(|result| if result.is_event { Vec::new() } else { result.events.take().unwrap_or_default() })
            .collect();
        Self {
            results,
            turns: output.turns.as_mut().map(std::mem::take).unwrap_or_default(),
            content,
            events,
            related: std::mem::take(&mut output.related),
            facts: std::mem::take(&mut output.facts),
            entities: std::mem::take(&mut output.entities),
        }
    }

    pub(super) fn extras(&self) -> usize {
        tokens(&self.content)
            + self.events.iter().map(|events| all(events)).sum::<usize>()
            + all(&self.related)
            + all(&self.facts)
            + all(&self.entities)
    }

    /// What the first results need, as short as they are while others are left out.
    pub(super) fn enough(&self) -> usize {
        self.results.iter().take(ENOUGH).map(least).sum()
    }

    /// Shortens results until they fit, and leaves out those for which even that is not enough room; of turns those that do not fit.
    /// The first always stays. Gives what they cost.
    pub(super) fn fit_results(
        &mut self,
        room: usize,
        may_drop: bool,
        query: &mut Option<Reader<'_>>,
    ) -> usize {
        if may_drop {
            let kept = fitting(self.results.iter().map(least), room).max(1);
            self.results.truncate(kept);
            self.events.truncate(kept);
        }
        let kept = fitting(self.turns.iter().map(cost), room).max(1);
        self.turns.truncate(kept);
        if let Some(turn) = self.turns.first_mut()
            && kept == 1
        {
            shorten_turn(turn, room);
        }
        let costs = costs(&self.results);
        if costs.iter().sum::<usize>() > room {
            let level = level(&costs, room);
            for (result, cost) in self.results.iter_mut().zip(&costs) {
                if *cost > level {
                    shorten(result, level, query);
                }
            }
        }
        all(&self.results) + all(&self.turns)
    }

    /// Keeps of everything else what its part of the room holds.
    pub(super) fn share(&mut self, mut room: usize) {
        let of_events: usize = self.events.iter().map(|events| all(events)).sum();
        if let Some(content) = &mut self.content {
            let others = of_events + all(&self.related) + all(&self.facts) + all(&self.entities);
            let part = (room / 2).max(room.saturating_sub(others));
            *content = beginning(content, part).to_owned();
            room = room.saturating_sub(tokens(content));
        }
        let events: Vec<usize> = self.events.iter().flatten().map(cost).collect();
        let kept =
            fair_shares(room, &[events, costs(&self.related), costs(&self.facts), costs(&self.entities)]);
        let [mut events, related, facts, entities] = kept;
        for of_result in &mut self.events {
            let kept = of_result.len().min(events);
            of_result.truncate(kept);
            events -= kept;
        }
        self.related.truncate(related);
        self.facts.truncate(facts);
        self.entities.truncate(entities);
    }

    pub(super) fn put_back(self, output: &mut Output) {
        output.results = self.results;
        for (result, events) in output.results.iter_mut().zip(self.events) {
            if !events.is_empty() {
                result.events = Some(events);
            }
        }
        if let (Some(content), Some(first)) = (self.content, output.results.first_mut()) {
            first.content = Some(content);
        }
        if let Some(turns) = &mut output.turns {
            *turns = self.turns;
        }
        output.related = self.related;
        output.facts = self.facts;
        output.entities = self.entities;
    }
}

/// What a result costs that is shortened as far as results are while others are left out.
fn least(result: &ResultOut) -> usize {
    let least = match result {
        ResultOut { content: Some(_), .. } => LEAST_WITH_CONTENT,
        ResultOut { is_event: true, .. } => LEAST_OF_EVENT,
        _ => LEAST,
    };
    cost(result).min(least)
}

/// How many of the first fit.
fn fitting(costs: impl Iterator<Item = usize>, room: usize) -> usize {
    let mut used = 0;
    costs
        .take_while(|cost| {
            used += cost;
            used <= room
        })
        .count()
}

/// How many of the first of each list are kept: the next is always of the list that has had least, as long as it fits.
fn fair_shares<const N: usize>(room: usize, costs: &[Vec<usize>; N]) -> [usize; N] {
    let (mut kept, mut used, mut left) = ([0; N], [0; N], room);
    let mut open = costs.each_ref().map(|costs| !costs.is_empty());
    while let Some(next) = (0..N).filter(|n| open[*n]).min_by_key(|n| used[*n]) {
        let Some(cost) = costs[next].get(kept[next]).filter(|cost| **cost <= left) else {
            open[next] = false;
            continue;
        };
        kept[next] += 1;
        used[next] += cost;
        left -= cost;
    }
    kept
}

/// The highest cost at which all costs, those above lowered to it, fit together.
fn level(costs: &[usize], room: usize) -> usize {
    let mut sorted = costs.to_vec();
    sorted.sort_unstable();
    let mut left = room;
    for (n, cost) in sorted.iter().enumerate() {
        let part = left / (sorted.len() - n);
        if *cost > part {
            return part;
        }
        left -= cost;
    }
    usize::MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_has_its_share_and_what_one_does_not_need_is_for_the_others() {
        let of = |cost: usize, n: usize| vec![cost; n];
        assert_eq!(fair_shares(100, &[of(10, 9), of(10, 9)]), [5, 5]);
        assert_eq!(fair_shares(100, &[of(10, 1), of(10, 20), Vec::new()]), [1, 9, 0]);
        assert_eq!(
            fair_shares(100, &[of(200, 3), of(30, 5)]),
            [0, 3],
            "what does not fit holds nothing back"
        );
        assert_eq!(fair_shares(0, &[of(1, 3)]), [0]);
    }

    #[test]
    fn costs_above_the_level_come_down_to_it() {
        assert_eq!(level(&[10, 500, 500], 100), 45);
        assert_eq!(level(&[10, 20, 30], 60), usize::MAX);
    }
}
