//! The time a question asks about, as a hint: what lies in it is preferred, what lies elsewhere is not left out.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp};

use super::calendar::{date_of, day_start, plus_days};
use super::parser::Parser;
use super::{Granularity, Lean, Reading, Relation};

/// More of a question is not looked at, in characters.
const MAX_CHARS: usize = 2_000;
/// How far before a date the word "before" may be, as in "before the big launch in May".
const WORDS_BACK: usize = 6;
/// What another year's May is worth when no year was said.
const OTHER_YEAR: f32 = 0.8;

/// What a question says of time: at least one window.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionTime {
    pub windows: Vec<Window>,
}

/// `start..end`, the end left out; open where there is none.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    pub start: Option<Timestamp>,
    pub end: Option<Timestamp>,
    /// How exactly it is meant, and so how fast closeness falls outside.
    pub granularity: Granularity,
    /// From 0 to 1: a date with its year is sure; "last week" depends on when and of whom it is asked.
    pub certainty: f32,
    /// No year was said: the same days of any other year are nearly as good.
    pub is_recurring: bool,
}

impl QuestionTime {
    /// The certainty of the surest window.
    pub fn certainty(&self) -> f32 {
        self.windows.iter().map(|window| window.certainty).fold(0.0, f32::max)
    }

    /// How near a date is to what is asked: 1 inside the surest window, falling smoothly towards 0 outside.
    ///
    /// Texts about an event are written after it rather than before, so the weight falls half as fast after a window.
    pub fn closeness(&self, date: Timestamp) -> f32 {
        let most = self.certainty();
        let near = self.windows.iter().map(|window| window.closeness(date) * window.certainty / most);
        near.fold(0.0, f32::max)
    }
}

impl Window {
    /// From 0 to 1 inside, for this window alone.
    pub fn closeness(&self, date: Timestamp) -> f32 {
        let here = self.closeness_of_days(self.start, self.end, date);
        let (true, Some(start), Some(end)) = (self.is_recurring, self.start, self.end) else { return here };
        let away = i64::from(date_of(date).year()) - i64::from(date_of(start).year());
        (away - 1..=away + 1)
            .filter(|years| *years != 0)
            .filter_map(|years| Some((in_other_year(start, years)?, in_other_year(end, years)?)))
            .map(|(start, end)| OTHER_YEAR * self.closeness_of_days(Some(start), Some(end), date))
            .fold(here, f32::max)
    }

    fn closeness_of_days(&self, start: Option<Timestamp>, end: Option<Timestamp>, date: Timestamp) -> f32 {
        let days = |from: Timestamp, to: Timestamp| to.duration_since(from).as_secs_f32() / 86_400.0;
        let distance = match (start, end) {
            (Some(start), _) if date < start => days(date, start),
            (_, Some(end)) if date > end => days(end, date) / 2.0,
            _ => return 1.0,
        };
        1.0 / (1.0 + (distance / self.half_at()).powi(2))
    }

    /// How many days before the window closeness is a half.
    fn half_at(&self) -> f32 {
        match self.granularity {
            Granularity::Minute | Granularity::Hour | Granularity::PartOfDay => 1.0,
            Granularity::Day => 2.0,
            Granularity::Week => 5.0,
            Granularity::Month => 12.0,
            Granularity::Quarter => 35.0,
            Granularity::Year => 120.0,
            Granularity::Decade => 1_000.0,
        }
    }
}

/// The time that a question asked at `now` is about; `None` where it names none.
///
/// A question *for* a time ("when did …", "what date …") names none by that, nor by "last week" and the like, but
/// still may by a date: "When did we meet in May 2023?".
pub fn question_window(question: &str, now: Timestamp) -> Option<QuestionTime> {
    let question = question.char_indices().nth(MAX_CHARS).map_or(question, |(end, _)| &question[..end]);
    let lean = if looks_ahead(question) { Lean::Future } else { Lean::Past };
    let mut readings = Parser::new(question, Some(now), lean, true).readings();
    let sure = readings.iter().any(|reading| !reading.is_relative && !reading.is_year_open);
    if sure || asks_for_time(question) {
        readings.retain(|reading| !reading.is_relative);
    }
    let windows: Vec<Window> = readings.iter().flat_map(|reading| windows_of(question, reading)).collect();
    (!windows.is_empty()).then_some(QuestionTime { windows })
}

fn words(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

fn is_any(word: &str, of: &[&str]) -> bool {
    of.iter().any(|other| word.eq_ignore_ascii_case(other))
}

fn looks_ahead(question: &str) -> bool {
    words(question)
        .any(|word| is_any(word, &["will", "upcoming", "scheduled", "due", "planned", "planning", "ll"]))
}

fn asks_for_time(question: &str) -> bool {
    const VERBS: [&str; 22] = [
        "did", "was", "is", "are", "were", "will", "has", "have", "had", "do", "does", "should", "would",
        "can", "could", "s", "exactly", "might", "may", "must", "shall", "in",
    ];
    const TIMES: [&str; 7] = ["date", "day", "month", "year", "time", "week", "weekday"];
    let mut words = words(question).peekable();
    let mut first = true;
    while let Some(word) = words.next() {
        let next = words.peek().copied().unwrap_or("");
        let asks = (first && is_any(word, &["when"]) && is_any(next, &VERBS))
            || (is_any(word, &["what", "which"]) && is_any(next, &TIMES))
            || (is_any(word, &["since"]) && is_any(next, &["when"]))
            || (is_any(word, &["how"]) && is_any(next, &["long", "soon"]));
        if asks {
            return true;
        }
        first = false;
    }
    false
}

fn windows_of(question: &str, reading: &Reading) -> Vec<Window> {
    let (start, end) = (Some(reading.start), Some(reading.end));
    let far = far_relation(question, reading);
    let (start, end) = match far.unwrap_or(reading.relation) {
        Relation::At | Relation::From => (start, end),
        // The launch in May is somewhere in it, and so is what was before.
        Relation::Before if far.is_some() => (None, end),
        Relation::After if far.is_some() => (start, None),
        Relation::Before => (None, start),
        Relation::By | Relation::Until => (None, end),
        Relation::After => (end, None),
        Relation::Since => (start, None),
    };
    let certainty: f32 = match () {
        () if is_any(&question[reading.range.clone()], &["recently", "lately"]) => 0.4,
        () if far.is_some() => 0.5,
        () if reading.is_ambiguous || reading.is_year_open => 0.7,
        () if reading.is_relative => 0.6,
        () => 1.0,
    };
    let is_recurring = reading.is_year_open && start.is_some() && end.is_some();
    let window = Window { start, end, granularity: reading.granularity, certainty, is_recurring };
    let other = reading.is_ambiguous.then(|| other_order(reading.start)).flatten();
    let other = other.map(|(start, end)| Window {
        start: window.start.map(|_| start),
        end: window.end.map(|_| end),
        ..window.clone()
    });
    [Some(window), other].into_iter().flatten().collect()
}

/// "before the launch in May": the word that says how an event lies to what is asked, not to its date.
fn far_relation(question: &str, reading: &Reading) -> Option<Relation> {
    if reading.relation != Relation::At {
        return None;
    }
    let clause = question[..reading.range.start].rsplit([',', ';', '.', '?', '!']).next()?;
    let mut back = words(clause).rev().take(WORDS_BACK);
    if !is_any(back.next()?, &["in", "on", "of", "at", "during", "the"]) {
        return None;
    }
    back.find_map(|word| match word.to_ascii_lowercase().as_str() {
        "before" => Some(Relation::Before),
        "until" => Some(Relation::Until),
        "after" => Some(Relation::After),
        "since" => Some(Relation::Since),
        _ => None,
    })
}

/// 3 April where 4 March was read.
fn other_order(start: Timestamp) -> Option<(Timestamp, Timestamp)> {
    let read = date_of(start);
    let other = Date::new(read.year(), read.day(), read.month()).ok()?;
    Some((day_start(other)?, day_start(plus_days(other, 1)?)?))
}

fn in_other_year(moment: Timestamp, years: i64) -> Option<Timestamp> {
    let moved = moment.to_zoned(TimeZone::UTC).checked_add(Span::new().try_years(years).ok()?).ok()?;
    // A moment of 29 February is the day after in other years, so that the end of that month stays one.
    let leap = date_of(moment).day() == 29 && moved.day() == 28 && moved.month() == 2;
    let day = SignedDuration::from_hours(if leap { 24 } else { 0 });
    moved.timestamp().checked_add(day).ok()
}
