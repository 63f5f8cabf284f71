//! What was said later about a commitment that stands open. That it is done, moved or dropped is mostly told in other words, in a
//! text that names neither its owner nor the day, so that no link is made; but a recall of the commitment among later texts finds
//! it. It is shown beside the commitment, whose state stays what is known.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use futures::{StreamExt, TryStreamExt, stream};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use memory_core::artifact::Role;
use memory_core::commitment::{CommitmentState, says_the_same};
use memory_core::event::{Category, EndedBy};
use memory_core::id::{ArtifactId, Namespace};
use memory_core::recall::end_words;
use memory_language::lexicon::is_function_word;
use memory_language::sentence::sentences;

use super::{RecallDraft, RecallRequest, Recalled};
use crate::{EngineError, Memory};

/// What speaks for a text: its score; the odds that the words shown of it tell an end; how many words the sentence nearest to the
/// commitment shares with it, and the odds that these tell an end; whether the text was said about the due day, on it or well behind
/// it, or there is none; how long after the commitment it was said; whether it is short. Weights of two logistic regressions on
/// labelled texts (`tools/train-clauses/said_later/fit.py`).
struct Weights {
    score: f32,
    end_words: f32,
    shared_words: f32,
    end_words_there: f32,
    about_due: f32,
    on_due_day: f32,
    long_after_due: f32,
    without_due: f32,
    within_a_day: f32,
    days: f32,
    short: f32,
    bias: f32,
}

/// That it tells what became of the commitment.
const TELLS: Weights = Weights {
    score: 2.82,
    end_words: 0.26,
    shared_words: 0.88,
    end_words_there: 0.37,
    about_due: 0.93,
    on_due_day: 1.60,
    long_after_due: -1.38,
    without_due: 0.31,
    within_a_day: -1.42,
    days: -0.41,
    short: 0.65,
    bias: -4.29,
};
/// That the commitment is done, over or dropped by it.
const ENDED: Weights = Weights {
    score: 2.46,
    end_words: 0.35,
    shared_words: 0.77,
    end_words_there: 0.41,
    about_due: 0.71,
    on_due_day: 1.44,
    long_after_due: -1.19,
    without_due: 0.43,
    within_a_day: -1.40,
    days: -0.47,
    short: 0.67,
    bias: -4.10,
};
/// No longer text is short.
const SHORT_CHARS: usize = 300;
/// From these log-odds on a text is shown: who reads it sees what it says.
const TELLS_MIN: f32 = -0.5;
/// Of those that are so near to the likeliest the last is shown.
const BEHIND_LIKELIEST: f32 = 1.5;
/// From these on the commitment has likely ended.
const ENDED_MIN: f32 = 0.5;
/// What has been due for so long, and was spoken of since it was told, has ended for nine in ten, whatever the text says.
const DUE_FOR: SignedDuration = SignedDuration::from_hours(7 * 24);
/// Shorter words are not counted, and of longer ones so many characters are compared: "deliver" and "delivery" are one.
const WORD_CHARS_MIN: usize = 3;
const WORD_CHARS_COMPARED: usize = 5;
/// In days from the due day.
const ABOUT_DUE: RangeInclusive<i64> = -3..=2;
const ON_DUE_DAY: RangeInclusive<i64> = -1..=0;
const LONG_AFTER: i64 = 7;
/// More days after the commitment count as these.
const DAYS_MAX: i64 = 30;
/// So many of the best may be meant.
const CANDIDATES: usize = 4;
/// So many texts are looked at.
const TEXTS: i64 = 8;
/// Of so many commitments they are looked for at once.
const AT_ONCE: usize = 4;

/// A later text, and what of it tells most of the commitment.
#[derive(Debug, Clone, PartialEq)]
pub struct SaidLater {
    pub artifact_id: ArtifactId,
    pub date: Timestamp,
    pub snippet: String,
    /// The commitment is likely done or dropped: by what it says, or because it has been due for more than a week.
    pub is_likely_end: bool,
}

/// A commitment, and where it was told.
pub(crate) struct Told<'a> {
    pub narrative: &'a str,
    pub artifact_id: &'a str,
    pub date: Timestamp,
    pub turn: Option<(&'a str, i32)>,
    pub due: Option<Timestamp>,
}

impl Memory {
    /// For each of the commitments what [`Self::said_later`] says.
    pub(crate) async fn all_said_later(
        &self,
        ns: &Namespace,
        commitments: &[Told<'_>],
    ) -> Result<Vec<Option<SaidLater>>, EngineError> {
        let searches: Vec<_> = commitments.iter().map(|told| self.said_later(ns, told)).collect();
        stream::iter(searches).buffered(AT_ONCE).try_collect().await
    }

    /// The last of the later texts that likely say what became of the commitment; `None` where none, or several alike, may be meant.
    async fn said_later(&self, ns: &Namespace, told: &Told<'_>) -> Result<Option<SaidLater>, EngineError> {
        let request = RecallRequest::new(RecallDraft {
            query: Some(told.narrative.to_owned()),
            date_from: Some(told.date.to_string()),
            limit: Some(TEXTS),
            expand: Some(false),
            include_entities: Some(false),
            ..RecallDraft::default()
        });
        // A narrative that is too long for a question.
        let Ok(request) = request else { return Ok(None) };
        let found = self.recall(ns, &request).await?.results;
        let later: Vec<Recalled> =
            found.into_iter().filter(|it| may_tell_of(it, told)).take(CANDIDATES).collect();
        let signs: Vec<Signs> = later.iter().map(|text| Signs::of(text, told)).collect();
        let most = signs.iter().map(|signs| signs.log_odds(&TELLS)).fold(f32::NEG_INFINITY, f32::max);
        let least = TELLS_MIN.max(most - BEHIND_LIKELIEST);
        // What came last tells how it ended, rather than that it was put off.
        let last = later
            .into_iter()
            .zip(signs)
            .filter(|(_, signs)| signs.log_odds(&TELLS) >= least)
            .max_by_key(|(it, _)| it.hit.date);
        let is_long_due = told.due.is_some_and(|due| Timestamp::now().duration_since(due) > DUE_FOR);
        Ok(last.map(|(it, signs)| SaidLater {
            is_likely_end: is_long_due || signs.log_odds(&ENDED) >= ENDED_MIN,
            artifact_id: it.hit.artifact_id,
            date: it.hit.date,
            snippet: it.snippet,
        }))
    }

    /// Adds it to the commitments among events that are given as results.
    pub(super) async fn add_said_later(
        &self,
        ns: &Namespace,
        results: &mut [Recalled],
    ) -> Result<(), EngineError> {
        let open: Vec<usize> = (0..results.len()).filter(|at| is_open(&results[*at])).collect();
        let told: Vec<Told<'_>> = open.iter().filter_map(|at| told(&results[*at])).collect();
        let said_later = self.all_said_later(ns, &told).await?;
        for (at, said_later) in open.into_iter().zip(said_later) {
            results[at].said_later = said_later;
        }
        Ok(())
    }
}

/// What is known of one of the texts that may be meant.
struct Signs {
    score: f32,
    end_words: f32,
    shared_words: usize,
    end_words_there: f32,
    /// From the due day, where there is one.
    days_from_due: Option<i64>,
    days: i64,
    is_short: bool,
}

impl Signs {
    fn of(text: &Recalled, told: &Told<'_>) -> Self {
        let (shared_words, nearest) = nearest_sentence(told.narrative, &text.hit.passage);
        let (date, day) = (text.hit.date, |moment: Timestamp| moment.to_zoned(TimeZone::UTC).date());
        let days_since = |moment: Timestamp| day(date).duration_since(day(moment)).as_hours() / 24;
        Self {
            score: text.score,
            end_words: end_words(&text.snippet),
            shared_words,
            end_words_there: end_words(nearest),
            days_from_due: told.due.map(days_since),
            days: days_since(told.date),
            is_short: text.hit.passage.chars().nth(SHORT_CHARS).is_none(),
        }
    }

    fn log_odds(&self, weights: &Weights) -> f32 {
        let of_due = |is: &dyn Fn(i64) -> bool| self.days_from_due.is_some_and(is);
        let signs = [
            (of_due(&|days| ABOUT_DUE.contains(&days)), weights.about_due),
            (of_due(&|days| ON_DUE_DAY.contains(&days)), weights.on_due_day),
            (of_due(&|days| days > LONG_AFTER), weights.long_after_due),
            (self.days_from_due.is_none(), weights.without_due),
            (self.days <= 1, weights.within_a_day),
            (self.is_short, weights.short),
        ];
        weights.bias
            + weights.score * self.score
            + weights.end_words * self.end_words
            + weights.shared_words * self.shared_words as f32
            + weights.end_words_there * self.end_words_there
            + weights.days * (self.days.clamp(0, DAYS_MAX) as f32).ln_1p()
            + signs.iter().filter(|(is, _)| *is).map(|(_, weight)| weight).sum::<f32>()
    }
}

/// The first of the sentences of a text that share most words with a commitment, and how many: minutes are of many things.
fn nearest_sentence<'a>(commitment: &str, text: &'a str) -> (usize, &'a str) {
    let promised = word_beginnings(commitment);
    let shared = |sentence| promised.intersection(&word_beginnings(sentence)).count();
    let with_shared = sentences(text).map(|sentence| (shared(sentence), sentence));
    with_shared.reduce(|best, next| if next.0 > best.0 { next } else { best }).unwrap_or_default()
}

/// The beginnings of the words that say what a text is about.
fn word_beginnings(text: &str) -> HashSet<String> {
    let lower = text.to_ascii_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric());
    let telling = words.filter(|word| word.len() >= WORD_CHARS_MIN && !is_function_word(word));
    telling.map(|word| word[..word.len().min(WORD_CHARS_COMPARED)].to_owned()).collect()
}

/// The event that is given as a result.
fn told(result: &Recalled) -> Option<Told<'_>> {
    let event = result.hit.events.first()?;
    Some(Told {
        narrative: &event.narrative,
        artifact_id: &event.artifact_id,
        date: result.hit.date,
        turn: turn_of(result),
        due: event.due_time,
    })
}

fn is_open(result: &Recalled) -> bool {
    result.hit.events.first().is_some_and(|event| {
        let state = EndedBy::state_of(event.ended.as_ref(), event.due_time, Timestamp::now());
        event.category == Category::Commitment.as_str()
            && matches!(state, CommitmentState::Open | CommitmentState::Overdue)
    })
}

fn turn_of(result: &Recalled) -> Option<(&str, i32)> {
    result.hit.conversation_id.as_deref().zip(result.hit.turn_index)
}

/// Turns of one conversation may have one date.
fn follows(found: &Recalled, told: &Told<'_>) -> bool {
    let is_later_turn = match (turn_of(found), told.turn) {
        (Some((conversation, turn)), Some((of_promise, before))) => {
            conversation == of_promise && turn > before
        }
        _ => false,
    };
    found.hit.date > told.date || (found.hit.date == told.date && is_later_turn)
}

/// Another text, of the user and not before it, that does not only promise the same once more.
fn may_tell_of(found: &Recalled, told: &Told<'_>) -> bool {
    let promises = |it: &memory_core::event::StoredEvent| {
        it.category == Category::Commitment.as_str() && says_the_same(&it.narrative, told.narrative)
    };
    found.hit.artifact_id.to_string() != told.artifact_id
        && follows(found, told)
        && found.hit.role.as_deref() != Some(Role::Assistant.as_str())
        && !found.hit.events.iter().any(promises)
}
