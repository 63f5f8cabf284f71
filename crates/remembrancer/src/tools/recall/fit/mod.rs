//! Keeps an answer within a bound of tokens, counted on the JSON that is sent.
//!
//! Results come first; what is left is shared fairly by their events, related events, facts and entities: whichever has
//! had least comes next. What is left out is counted in a warning; of a default answer only results, turns, facts and directives.

mod parts;
mod shorten;
mod tokens;

use memory_engine::recall::{Paging, Position, RecallRequest, Target};
use memory_language::lexicon::Query;
use serde_json::Value;

use self::parts::Parts;
use self::shorten::{KEPT_CHARS, beginning};
use self::tokens::{all, count, tokens};
use super::output::Output;

/// The bound of a default answer: this many tokens for each result that may be in it, at least for ten.
const TOKENS_PER_RESULT: usize = 200;
const RESULTS_MIN: usize = 10;
/// The same for each related event that was asked for.
const TOKENS_PER_RELATED: usize = 100;
/// Tokens that are reserved for the cursor and the warning that counts what is left out.
const SAID_TOKENS: usize = 80;
/// Directives get at most the bound divided by this.
const DIRECTIVES_SHARE: usize = 4;
/// A result that scores this share of the best answers the question: its events are shown, of others they are counted.
const ANSWERS: f64 = 0.8;
/// English JSON has three to four bytes a token. An answer with more than this many bytes for each token of its bound is taken for too
/// long without counting its tokens.
const LONG_TOKEN_BYTES: usize = 6;
/// The fewest words of a snippet.
const SNIPPET_WORDS_MIN: usize = 8;

/// The bound of an answer in tokens: the requested one, else that of a default answer; other answers have none.
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
    fn left_out(&self, output: &Output, bound: usize, request: &RecallRequest) -> Option<String> {
        let now = Self::of(output);
        let is_asked = request.max_tokens.is_some();
        // Events are counted where they are, and what stands beside the results of a default answer is a selection anyway.
        let counts = [
            (true, self.results, now.results, "results"),
            (true, self.turns, now.turns, "turns"),
            (is_asked, self.events, now.events, "events"),
            (is_asked || request.wants_related, self.related, now.related, "related events"),
            (true, self.facts, now.facts, "facts"),
            (is_asked, self.entities, now.entities, "entities"),
            (true, self.directives, now.directives, "directives"),
        ];
        let said: Vec<String> = counts
            .iter()
            .filter(|(is_said, before, now, _)| *is_said && before > now)
            .map(|(_, before, now, what)| format!("{} of {before} {what}", before - now))
            .collect();
        (!said.is_empty()).then(|| {
            let rest = if now.results < self.results || now.turns < self.turns {
                "next_cursor has more; a"
            } else {
                "A"
            };
            format!(
                "Left out to stay within {bound} tokens: {}. {rest} higher max_tokens shows more.",
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

/// Makes the answer fit, and gives it written where that was done to see whether it does. Results are shortened, and left out only
/// where the bound was asked for and has no room for them as short as they may become.
pub(super) fn fit(
    output: Output,
    bound: usize,
    request: &RecallRequest,
    paging: &Paging,
) -> (Output, Option<Written>) {
    let written = Written::new(&output);
    let fits =
        |Written { text, .. }: &Written| text.len() <= bound * LONG_TOKEN_BYTES && count(text) <= bound;
    if written.as_ref().is_some_and(fits) {
        (output, written)
    } else {
        (fitted(output, bound, request, paging), None)
    }
}

fn fitted(mut output: Output, bound: usize, request: &RecallRequest, paging: &Paging) -> Output {
    let is_asked = request.max_tokens.is_some();
    let before = Counts::of(&output);
    while all(&output.directives) > bound / DIRECTIVES_SHARE {
        output.directives.pop();
    }
    let warnings = output.warnings.take().unwrap_or_default();
    let is_cut = output.next_cursor.is_some();
    let mut parts = Parts::taken_from(&mut output, matches!(paging, Paging::Within { .. }));
    let room = bound.saturating_sub(tokens(&output) + tokens(&warnings) + SAID_TOKENS);
    let extras = parts.extras();
    // A default answer shows all its results. Where little room was asked for, some results come before everything else.
    let share = if is_asked { (room * 2 / 3).max(parts.enough().min(room)) } else { room * 4 / 5 };
    let for_results = share.max(room.saturating_sub(extras));
    let question = match &request.target {
        Target::Query(query) => Some(Query::new(query)),
        _ => None,
    };
    let mut reader = question.as_ref().map(Query::reader);
    let used = parts.fit_results(for_results, is_asked, &mut reader);
    parts.share(room.saturating_sub(used));
    parts.put_back(&mut output);
    // What parts cost together is not quite what they cost one by one.
    loop {
        go_on(&mut output, &before, is_cut, paging);
        let mut said = warnings.clone();
        said.extend(before.left_out(&output, bound, request));
        output.warnings = (!said.is_empty()).then_some(said);
        output.total_count = output.results.len() + output.related.len();
        if tokens(&output) <= bound {
            return output;
        }
        if !drop_one(&mut output) {
            if is_asked {
                say_least(&mut output, bound);
            }
            return output;
        }
    }
}

/// Where even one result is too much beside what is said of it: one warning, no cursor, and less of the snippet.
fn say_least(output: &mut Output, bound: usize) {
    output.warnings = Some(vec![format!("Cut to {bound} tokens; a higher max_tokens shows more.")]);
    if tokens(output) > bound {
        output.next_cursor = None;
    }
    while tokens(output) > bound {
        let Some(snippet) = output.results.first_mut().map(|result| &mut result.snippet) else { return };
        let words = snippet.trim_end_matches('…').split_whitespace().count();
        if words <= SNIPPET_WORDS_MIN {
            return;
        }
        let end = snippet.trim_end_matches('…').trim_end().rfind(char::is_whitespace).unwrap_or(0);
        *snippet = format!("{}…", &snippet[..end]);
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
