//! Keeps an answer within a bound of tokens, counted on the JSON that is sent.
//!
//! Results come first; what is left is shared fairly by their events, related events, facts and entities: whichever has
//! had least comes next. What is left out is counted in a warning.

use std::sync::{LazyLock, Mutex, PoisonError};

use memory_core::chunk::TokenCounter;
use memory_engine::recall::{Paging, Position, RecallRequest, Target};
use memory_language::text::cut;
use serde::Serialize;
use serde_json::Value;

use super::known::{EntityOut, EventOut, FactOut, RelatedOut};
use super::output::{Output, ResultOut, TurnOut};

/// What a default answer has for each of its results, in tokens; at least for ten.
const TOKENS_PER_RESULT: usize = 200;
const RESULTS_MIN: usize = 10;
/// The same for each related event that was asked for.
const TOKENS_PER_RELATED: usize = 100;
/// For the cursor, and for what is said of what is left out.
const SAID_TOKENS: usize = 80;
/// Directives have no more than one part in so many of a bound.
const DIRECTIVES_SHARE: usize = 4;
/// A result that scores this share of the best answers the question: its events are shown, of others they are counted.
const ANSWERS: f64 = 0.8;
/// English JSON has three to four bytes a token: an answer with more than these for each that it may have is taken for too long
/// without being counted whole.
const LONG_TOKEN_BYTES: usize = 6;
/// What a snippet, a title and a content keep however tight it is, in characters.
const KEPT_CHARS: usize = 60;

/// The most tokens of an answer; those of a default answer where none were asked for.
pub(super) fn bound(request: &RecallRequest) -> Option<usize> {
    let is_default = matches!(request.target, Target::Query(_))
        && !request.is_full
        && !request.explain
        && request.neighbours == 0;
    let related = if request.wants_related { request.graph_budget as usize * TOKENS_PER_RELATED } else { 0 };
    let default = TOKENS_PER_RESULT * request.limit.max(RESULTS_MIN) + related;
    request.max_tokens.or_else(|| is_default.then_some(default))
}

/// Shows events of those results that answer, and counts them where some are not shown.
pub(super) fn show_events(output: &mut Output, request: &RecallRequest) {
    let is_concise = matches!(request.target, Target::Query(_)) && !request.is_full && !request.wants_events;
    let best = output.results.first().map_or(0.0, |best| best.score);
    for result in &mut output.results {
        if is_concise && result.score < best * ANSWERS {
            result.events = None;
        }
    }
    count_events(output);
}

/// Sets how many events there are where not all of them are shown.
fn count_events(output: &mut Output) {
    for result in &mut output.results {
        let shown = result.events.as_ref().map_or(0, Vec::len) as i64;
        result.event_count = Some(result.all_events).filter(|all| *all > shown);
    }
}

/// Remembers the words of answers.
static COUNTER: LazyLock<Mutex<TokenCounter>> = LazyLock::new(Mutex::default);

/// As it is sent. These are always JSON.
fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_value(value).map_or_else(|_| String::new(), |value| value.to_string())
}

fn count(json: &str) -> usize {
    COUNTER.lock().unwrap_or_else(PoisonError::into_inner).count(json)
}

fn tokens<T: Serialize>(value: &T) -> usize {
    count(&json(value))
}

/// What is shared by a bound.
struct Parts {
    results: Vec<ResultOut>,
    turns: Vec<TurnOut>,
    content: Option<String>,
    events: Vec<Vec<EventOut>>,
    related: Vec<RelatedOut>,
    facts: Vec<FactOut>,
    entities: Vec<EntityOut>,
}

/// How many of each there were.
struct Counts {
    results: usize,
    turns: usize,
    events: usize,
    related: usize,
    facts: usize,
    entities: usize,
    directives: usize,
}

impl Counts {
    fn of(output: &Output) -> Self {
        Self {
            results: output.results.len(),
            turns: output.turns.as_ref().map_or(0, Vec::len),
            events: output.results.iter().map(|result| result.events.as_ref().map_or(0, Vec::len)).sum(),
            related: output.related.len(),
            facts: output.facts.len(),
            entities: output.entities.len(),
            directives: output.directives.len(),
        }
    }

    /// What is not there any more.
    fn left_out(&self, output: &Output, bound: usize, is_asked: bool) -> Option<String> {
        let now = Self::of(output);
        let counts = [
            (self.results, now.results, "results"),
            (self.turns, now.turns, "turns"),
            // Of a default answer they are counted where they are.
            (if is_asked { self.events } else { now.events }, now.events, "events"),
            (self.related, now.related, "related events"),
            (self.facts, now.facts, "facts"),
            (self.entities, now.entities, "entities"),
            (self.directives, now.directives, "directives"),
        ];
        let said: Vec<String> = counts
            .iter()
            .filter(|(before, now, _)| before > now)
            .map(|(before, now, what)| format!("{} of {before} {what}", before - now))
            .collect();
        (!said.is_empty()).then(|| {
            let rest = if now.results < self.results || now.turns < self.turns {
                "next_cursor has more; "
            } else {
                ""
            };
            format!(
                "Left out to stay within {bound} tokens: {}. {rest}a higher max_tokens shows more.",
                said.join(", ")
            )
        })
    }
}

/// An answer as it is sent, written once.
pub(super) struct Written {
    pub(super) structured: Value,
    pub(super) text: String,
}

impl Written {
    /// These are always JSON.
    pub(super) fn new(output: &Output) -> Option<Self> {
        let structured = serde_json::to_value(output).ok()?;
        Some(Self { text: structured.to_string(), structured })
    }
}

/// Makes the answer fit, and gives it written where that was done to see whether it does. Results are left out only where the
/// bound was asked for; of a default answer they are shortened.
pub(super) fn fit(
    output: Output,
    bound: usize,
    is_asked: bool,
    paging: &Paging,
) -> (Output, Option<Written>) {
    let written = Written::new(&output);
    let fits =
        |Written { text, .. }: &Written| text.len() <= bound * LONG_TOKEN_BYTES && count(text) <= bound;
    if written.as_ref().is_some_and(fits) {
        (output, written)
    } else {
        (fitted(output, bound, is_asked, paging), None)
    }
}

fn fitted(mut output: Output, bound: usize, is_asked: bool, paging: &Paging) -> Output {
    let before = Counts::of(&output);
    while all(&output.directives) > bound / DIRECTIVES_SHARE {
        output.directives.pop();
    }
    let warnings = output.warnings.take().unwrap_or_default();
    let is_cut = output.next_cursor.is_some();
    let mut parts = Parts::taken_from(&mut output, matches!(paging, Paging::Within { .. }));
    let room = bound.saturating_sub(tokens(&output) + tokens(&warnings) + SAID_TOKENS);
    let extras = parts.extras();
    // A default answer shows all its results.
    let share = if is_asked { room * 2 / 3 } else { room * 4 / 5 };
    let for_results = share.max(room.saturating_sub(extras));
    let used = parts.fit_results(for_results, is_asked);
    parts.share(room.saturating_sub(used));
    parts.put_back(&mut output);
    // What parts cost together is not quite what they cost one by one.
    loop {
        go_on(&mut output, &before, is_cut, paging);
        let mut said = warnings.clone();
        said.extend(before.left_out(&output, bound, is_asked));
        output.warnings = (!said.is_empty()).then_some(said);
        output.total_count = output.results.len() + output.related.len();
        if tokens(&output) <= bound || !drop_one(&mut output) {
            return output;
        }
    }
}

impl Parts {
    /// The content of a text that is read in parts is a part of its own.
    fn taken_from(output: &mut Output, is_read_in_parts: bool) -> Self {
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

    fn extras(&self) -> usize {
        tokens(&self.content)
            + self.events.iter().map(|events| all(events)).sum::<usize>()
            + all(&self.related)
            + all(&self.facts)
            + all(&self.entities)
    }

    /// Leaves out or shortens results (or turns) until they fit; the first always stays. Gives what they cost.
    fn fit_results(&mut self, room: usize, may_drop: bool) -> usize {
        if may_drop {
            let kept = fitting(&self.results, room).max(1);
            self.results.truncate(kept);
            self.events.truncate(kept);
        }
        let kept = fitting(&self.turns, room).max(1);
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
                    shorten(result, level);
                }
            }
        }
        all(&self.results) + all(&self.turns)
    }

    /// Keeps of everything else what its part of the room holds.
    fn share(&mut self, mut room: usize) {
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

    fn put_back(self, output: &mut Output) {
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

/// What an item of a list costs.
fn cost<T: Serialize>(item: &T) -> usize {
    tokens(item) + 1
}

fn costs<T: Serialize>(items: &[T]) -> Vec<usize> {
    items.iter().map(cost).collect()
}

fn all<T: Serialize>(items: &[T]) -> usize {
    items.iter().map(cost).sum()
}

/// How many of the first fit.
fn fitting<T: Serialize>(items: &[T], room: usize) -> usize {
    let mut used = 0;
    items
        .iter()
        .take_while(|item| {
            used += cost(*item);
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

/// The longest beginning, cut at any character, that costs at most so much; a little always stays.
fn beginning(text: &str, room: usize) -> &str {
    let mut shown = text;
    loop {
        let cost = tokens(&shown);
        let chars = shown.chars().count();
        if cost <= room || chars <= KEPT_CHARS {
            return shown;
        }
        let fewer = (chars * room / cost * 49 / 50).max(KEPT_CHARS);
        shown = shown.char_indices().nth(fewer).map_or(shown, |(at, _)| &shown[..at]);
    }
}

fn shorten_turn(turn: &mut TurnOut, room: usize) {
    let cost = tokens(turn);
    if cost > room {
        let of_content = tokens(&turn.content);
        turn.content = beginning(&turn.content, (room + of_content).saturating_sub(cost)).to_owned();
        turn.content_cut = Some(true);
    }
}

/// Shortens a result to so many tokens as far as it goes: its snippet first, then what is said about it.
fn shorten(result: &mut ResultOut, room: usize) {
    let steps: [fn(&mut ResultOut); 6] = [
        |result| {
            result.neighbours.clear();
            result.places.truncate(3);
            result.participants.truncate(5);
            result.tags.iter_mut().for_each(|tags| tags.truncate(5));
        },
        |result| result.title = result.title.as_deref().map(|title| cut(title, KEPT_CHARS)),
        |result| {
            result.events.iter_mut().flatten().for_each(|event| event.evidence.truncate(1));
            result.participants.clear();
            result.places.clear();
            result.explain = None;
        },
        |result| {
            result.events.iter_mut().flatten().for_each(|event| event.evidence.clear());
            result.tags = None;
        },
        // The snippet has what it says.
        |result| result.events = None,
        // By this clients know which of their own texts it is.
        |result| result.source_id = None,
    ];
    let mut steps = steps.into_iter();
    loop {
        let cost = tokens(result) + 1;
        if cost <= room {
            return;
        }
        if let Some(content) = &mut result.content
            && content.chars().count() > KEPT_CHARS
        {
            let of_content = tokens(content);
            *content = beginning(content, (room + of_content).saturating_sub(cost)).to_owned();
            result.content_cut = Some(true);
            continue;
        }
        let chars = result.snippet.chars().count();
        if chars > KEPT_CHARS {
            let of_snippet = tokens(&result.snippet).max(1);
            let fewer = chars * (room + of_snippet).saturating_sub(cost) / of_snippet;
            result.snippet = cut(&result.snippet, fewer.clamp(KEPT_CHARS, chars - 1));
        } else if let Some(step) = steps.next() {
            step(result);
        } else {
            return;
        }
    }
}

/// Says where what was left out begins.
fn go_on(output: &mut Output, before: &Counts, was_cut: bool, paging: &Paging) {
    match paging {
        Paging::Behind(cursors) => {
            let shown = output.results.len().max(output.turns.as_ref().map_or(0, Vec::len));
            if shown < before.results.max(before.turns) {
                output.next_cursor = shown.checked_sub(1).and_then(|last| cursors.get(last)).cloned();
            }
        }
        Paging::Within { chars, events, question } => {
            let Some(result) = output.results.first_mut() else { return };
            let shown = result.content.as_ref().map_or(0, |content| content.chars().count());
            let content_is_cut = result.content_cut == Some(true) || shown < result.content_chars;
            let events = events + result.events.as_ref().map_or(0, Vec::len);
            result.content_cut = content_is_cut.then_some(true);
            if was_cut || content_is_cut || (events as i64) < result.all_events {
                output.next_cursor = Some(Position::Part { chars: chars + shown, events }.cursor(*question));
            }
        }
    }
    count_events(output);
}

/// Leaves out one thing more; false when nothing is left to leave out.
fn drop_one(output: &mut Output) -> bool {
    if output.entities.pop().is_some() || output.facts.pop().is_some() || output.related.pop().is_some() {
        return true;
    }
    let with_events = output.results.iter_mut().rev().filter(|result| !result.is_event);
    for result in with_events {
        if let Some(events) = &mut result.events {
            events.pop();
            if events.is_empty() {
                result.events = None;
            }
            return true;
        }
    }
    if output.directives.pop().is_some() {
        return true;
    }
    if output.results.len() > 1 {
        output.results.pop();
        return true;
    }
    if let Some(result) = output.results.first_mut()
        && let Some(content) = &mut result.content
        && content.chars().count() > KEPT_CHARS
    {
        *content = beginning(content, tokens(content) * 9 / 10).to_owned();
        result.content_cut = Some(true);
        return true;
    }
    match &mut output.turns {
        Some(turns) if turns.len() > 1 => turns.pop().is_some(),
        _ => false,
    }
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

    #[test]
    fn a_beginning_ends_between_characters_and_costs_no_more_than_it_may() {
        let text = "東京 naïve \"quoted\" text. ".repeat(200);
        for room in [30, 100, 500] {
            let shown = beginning(&text, room);
            assert!(text.starts_with(shown) && tokens(&shown) <= room.max(60), "{room}");
        }
        assert_eq!(beginning("short", 1), "short");
    }
}
