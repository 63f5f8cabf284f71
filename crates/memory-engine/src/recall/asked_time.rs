//! The time that a question asks for: what belongs to it is brought in, and comes first where the question is of what
//! happened then.

use std::collections::HashMap;

use jiff::{SignedDuration, Timestamp, ToSpan};
use memory_core::id::{Namespace, PassageId};
use memory_core::recall::{ArtifactScore, RankingWeights, decide_by_time};
use memory_language::time::headings::dated_parts;
use memory_language::time::question::{BELONGS_FROM, QuestionTime, Window, question_window};
use memory_language::time::{Granularity, Lean, told_readings};
use memory_store::search::{self, Breadth, Filters, Owner, Told};

use super::RecallRequest;
use super::hits::Scored;
use super::ranking::Ranked;
use super::search::{Asked, Found};
use crate::{EngineError, Memory};

/// How many of a question's windows are searched.
const WINDOWS_MAX: usize = 2;
/// Of a longer time the days are not looked for by their dates.
const DAYS_MAX: i64 = 8;
/// Nor the months of a time that touches more of them than these.
const MONTHS_MAX: usize = 2;
/// How many passages that have a date's words are looked at.
const BY_DATE_WORDS_MAX: usize = 30;
/// How many passages after each of these are looked at too.
const FOLLOWING_MAX: i32 = 3;
/// How well a passage fits at most that has only a little of what stands below a date.
const ONLY_BEGINS: f32 = 0.9;
/// How much of a passage is read for dates, in characters.
const READ_CHARS: usize = 2_000;

/// How a date in a question was understood.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeWindow {
    pub from: Option<Timestamp>,
    /// Left out itself.
    pub to: Option<Timestamp>,
    /// As the question says it.
    pub phrase: String,
    /// How sure it is that the question means this time, 0 to 1.
    pub certainty: f32,
    /// The question is of what happened then, and nothing found is of that time: the order is that without it.
    pub is_unmatched: bool,
}

impl TimeWindow {
    pub(super) fn of(question: &str, time: &QuestionTime, is_unmatched: bool) -> Option<Self> {
        let window = time.surest()?;
        Some(Self {
            from: window.start,
            to: window.end,
            phrase: question.get(window.phrase.clone())?.to_owned(),
            certainty: window.certainty,
            is_unmatched,
        })
    }
}

/// The time asked for, among what it is looked for, and how widely.
#[derive(Clone, Copy)]
pub(super) struct Then<'a> {
    pub(super) time: &'a QuestionTime,
    pub(super) filters: &'a Filters,
    pub(super) breadth: Breadth,
}

/// What the question says of time. A time that the client gives is the one that counts, and the words are not read.
pub(super) fn asked_time(
    request: &RecallRequest,
    query: &str,
    now: Timestamp,
    weights: &RankingWeights,
) -> Option<QuestionTime> {
    let is_given = request.filters.date_from.is_some() || request.filters.date_to.is_some();
    if is_given || weights.time <= 0.0 { None } else { question_window(query, now) }
}

impl Memory {
    /// Brings in what may belong to the time asked for, whatever it says: the texts of that time, and those that have its
    /// dates in their words.
    pub(super) async fn find_by_time(
        &self,
        ns: &Namespace,
        asked: &Asked,
        Then { time, filters, breadth }: Then<'_>,
        found: &mut Found,
        warnings: &mut Vec<String>,
    ) -> Result<(), EngineError> {
        for window in time.deciding().take(WINDOWS_MAX) {
            let mut conn = self.store.acquire(ns).await?;
            let closed = window.start.zip(window.end);
            let (date_from, date_to) = match closed {
                Some((start, end)) => {
                    let (from, to) = whole_days(window, start, end);
                    (Some(from), Some(to))
                }
                None => (window.start, window.end),
            };
            let filters_of_then = Filters { date_from, date_to, ..filters.clone() };
            let then = search::scope(&mut conn, ns, filters_of_then, search::EXACT_MAX + 1).await?;
            // What is to come has not been written of then, and of a time without an end there is too much.
            let firsts = if window.is_to_come || closed.is_none() {
                Vec::new()
            } else {
                search::first_passages(&mut conn, ns, &then, breadth.passages).await?
            };
            let resident = asked.resident.as_deref();
            found.by_words.extend(asked.question.passages(&mut conn, ns, &then, breadth, resident).await?);
            if let Some(dates) = closed.and_then(|(start, end)| date_words(start, end)) {
                let all = search::scope(&mut conn, ns, filters.clone(), search::EXACT_MAX + 1).await?;
                let dates = self.read_question(&mut conn, ns, &dates).await?;
                let few = Breadth::of_passages(BY_DATE_WORDS_MAX);
                let by_dates = dates.passages(&mut conn, ns, &all, few, resident).await?;
                let by_dates: Vec<PassageId> = by_dates.iter().map(|hit| hit.passage_id).collect();
                // What stands below a date goes on where the date does not.
                found.nearest.extend(search::following(&mut conn, ns, &by_dates, FOLLOWING_MAX).await?);
                found.nearest.extend(by_dates);
            }
            conn.done();
            if let Some(embedded) = &asked.embedded {
                found.nearest.extend(self.nearest(ns, (&then, resident), embedded, breadth, warnings).await?);
            }
            found.nearest.extend(firsts);
        }
        Ok(())
    }

    /// How well each of these fits the time asked for, by when it was written, what stands above it and what it tells.
    pub(super) async fn fits(
        &self,
        conn: &mut memory_store::Conn,
        ns: &Namespace,
        time: &QuestionTime,
        scored: &[Scored],
    ) -> Result<HashMap<PassageId, f32>, EngineError> {
        let dates: HashMap<PassageId, Timestamp> = scored
            .iter()
            .filter_map(|scored| match &scored.candidate.owner {
                Owner::Revision { date, .. } => Some((scored.candidate.passage_id, *date)),
                Owner::Observation(_) => None,
            })
            .collect();
        let ids: Vec<PassageId> = dates.keys().copied().collect();
        let told = search::told(conn, ns, &ids).await?;
        let fit = |told: &Told| Some((told.passage_id, fit(time, told, *dates.get(&told.passage_id)?)));
        Ok(told.iter().filter_map(fit).collect())
    }
}

/// From the first to the last moment of a window, of whole days where it is a part of one.
fn whole_days(window: &Window, start: Timestamp, end: Timestamp) -> (Timestamp, Timestamp) {
    let last = end.checked_sub(1.microsecond()).unwrap_or(end);
    if window.granularity >= Granularity::Day {
        return (start, last);
    }
    let day_of = |moment: Timestamp| {
        moment.to_zoned(jiff::tz::TimeZone::UTC).start_of_day().map(|day| day.timestamp())
    };
    let (Ok(first), Ok(last_day)) = (day_of(start), day_of(last)) else { return (start, last) };
    (
        first,
        last_day
            .checked_add(SignedDuration::from_hours(24))
            .and_then(|end| end.checked_sub(1.microsecond()))
            .unwrap_or(last),
    )
}

/// How texts write the days of a short time, or its months.
fn date_words(start: Timestamp, end: Timestamp) -> Option<String> {
    let first = start.to_zoned(jiff::tz::TimeZone::UTC).date();
    let days = (end.duration_since(start).as_hours() + 23) / 24;
    if days > DAYS_MAX {
        let last = end.checked_sub(1.microsecond()).unwrap_or(end).to_zoned(jiff::tz::TimeZone::UTC).date();
        let months = first.first_of_month().series(1.month()).take_while(|month| *month <= last);
        let named = months.take(MONTHS_MAX + 1).map(|month| month.strftime("%B %Y").to_string());
        let months: Vec<String> = named.collect();
        return (months.len() <= MONTHS_MAX).then(|| months.join(" "));
    }
    let mut words = String::new();
    for day in first.series(1.day()).take(usize::try_from(days).ok()?.max(1)) {
        words.push_str(&day.strftime("%Y-%m-%d %-d %B %Y ").to_string());
    }
    Some(words)
}

fn fit(time: &QuestionTime, told: &Told, date: Timestamp) -> f32 {
    let above = dated_parts(&told.before, date).pop();
    let within = dated_parts(&told.text, date);
    let above = above.filter(|_| within.first().is_none_or(|first| first.start > 0));
    let ends = within.iter().skip(1).map(|part| part.start).chain([told.text.len()]);
    let of_within = within.iter().zip(ends).map(|(part, end)| (part.from, end - part.start));
    let of_above = above.map(|part| (part.from, within.first().map_or(told.text.len(), |first| first.start)));
    // Each with how much of the passage it is over.
    let mut headings: Vec<(Timestamp, usize)> = of_above.into_iter().chain(of_within).collect();
    if headings.is_empty() {
        let title = told.title.as_ref().map(|title| format!("# {title}"));
        let of_title = title.iter().flat_map(|title| dated_parts(title, date));
        headings.extend(of_title.map(|part| (part.from, told.text.len())));
    }
    let of_heading = |(from, bytes): &(Timestamp, usize)| {
        let most = if bytes * 4 < told.text.len() { ONLY_BEGINS } else { 1.0 };
        time.fit_of_date(*from).min(most)
    };
    let of_headings = headings.iter().map(of_heading).fold(0.0, f32::max);
    // When a text was stored says nothing of one that has its date in it.
    let own = if told.is_dated || headings.is_empty() { time.fit_of_date(date) } else { 0.0 };
    let reference = if told.is_dated { date } else { headings.first().map_or(date, |(from, _)| *from) };
    let end = told.text.char_indices().nth(READ_CHARS).map_or(told.text.len(), |(at, _)| at);
    let lean = if time.is_ahead_of(reference) { Lean::Future } else { Lean::Past };
    let of_told = told_readings(&told.text[..end], reference, lean)
        .iter()
        .map(|reading| time.fit_of_told(reading.start, reading.end))
        .fold(0.0, f32::max);
    own.max(of_headings).max(of_told)
}

/// Puts the passages that belong to the time asked for before the others: the best of them stands for its text.
pub(super) fn prefer(scored: &mut [Scored], fits: &HashMap<PassageId, f32>) {
    scored.sort_by_key(|scored| match fits.get(&scored.candidate.passage_id) {
        Some(fit) if *fit > ONLY_BEGINS => 0,
        Some(fit) if *fit >= BELONGS_FROM => 1,
        _ => 2,
    });
}

/// Ranks what belongs to the time asked for before the rest. False where nothing does.
pub(super) fn rank_by_time(
    ranked: &mut [Ranked],
    fits: &HashMap<PassageId, f32>,
    time: &QuestionTime,
) -> bool {
    let of_ranked: Vec<f32> =
        ranked.iter().map(|ranked| fits.get(&ranked.passage_id).copied().unwrap_or(0.0)).collect();
    let mut scores: Vec<&mut ArtifactScore> =
        ranked.iter_mut().map(|ranked| &mut ranked.explanation.artifact).collect();
    if !decide_by_time(&mut scores, &of_ranked, time.deciding_certainty()) {
        return false;
    }
    for ranked in &mut *ranked {
        ranked.score = ranked.explanation.artifact.score;
    }
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How well a text of this day fits a question asked on 28 November 2026.
    fn fitting(question: &str, text: &str, day: &str) -> f32 {
        let at = |day: &str| format!("{day}T00:00:00Z").parse::<Timestamp>().unwrap();
        let time = question_window(question, at("2026-11-28")).unwrap();
        let (title, before, text) = (None, String::new(), text.to_owned());
        let told = Told { passage_id: PassageId(1), title, before, text, is_dated: true };
        fit(&time, &told, at(day))
    }

    #[test]
    fn a_text_belongs_to_the_day_that_its_sentence_points_to() {
        let belongs = |question, text, day| fitting(question, text, day) >= BELONGS_FROM;
        let optician = "Tilda got glasses. the optician wants to see her again in march";
        assert!(!belongs("what happened in March?", optician, "2026-11-18"), "it is of the next");
        assert!(belongs("what is on in March?", optician, "2026-11-18"));
        assert!(belongs("what happened in March?", "The fence was painted in March.", "2026-11-18"));
        let eve = "Christmas eve is at ours. Rosalind, Juno, us four.";
        assert!(belongs("who is coming on Christmas Eve?", eve, "2026-11-25"));
        assert!(belongs("Which dishes suit everyone on Christmas Eve?", eve, "2026-11-25"));
        assert!(!belongs("who came on Christmas Eve?", eve, "2026-11-25"));
        assert!(!belongs("who is coming on Christmas Eve?", "Juno came on Christmas Eve.", "2026-01-05"));
    }
}
