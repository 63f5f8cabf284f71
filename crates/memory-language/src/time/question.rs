//! The time a question asks about, as a hint: what lies in it is preferred, what lies elsewhere is not left out.

use std::ops::Range;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp};

use super::ahead::{asks_what_comes, looks_ahead};
use super::asked::{TOLD, is_any, words};
use super::calendar::{date_of, day_start, plus_days};
use super::other_languages::translated;
use super::parser::Parser;
use super::{Granularity, Lean, Reading, Relation};
use crate::calendar_words::{CalendarWord, calendar_word};

/// More of a question is not looked at, in characters.
const MAX_CHARS: usize = 2_000;
/// How far before a date the word "before" may be, as in "before the big launch in May".
const WORDS_BACK: usize = 6;
/// What another year's May is worth when no year was said.
const OTHER_YEAR: f32 = 0.8;
/// How sure it is that "before the launch in May" means May.
const FAR: f32 = 0.5;
/// From this certainty on a date may decide.
const DECIDES_FROM: f32 = 0.6;
const PRESENT: [&str; 15] = [
    "should", "can", "could", "is", "are", "am", "do", "does", "need", "must", "will", "would", "may",
    "shall", "s",
];
const PLANS: [&str; 10] = [
    "plan",
    "plans",
    "planned",
    "planning",
    "schedule",
    "scheduled",
    "deadline",
    "upcoming",
    "appointment",
    "agenda",
];
/// How well a text fits that was written at the time asked for, at the same day but another hour, and that tells of it.
const WRITTEN_THEN: f32 = 1.0;
const WRITTEN_THAT_DAY: f32 = 0.9;
const TELLS_OF_THEN: f32 = 0.9;
/// The same where what it tells of may lie beside what is asked, as "last week" does to a day of it.
const TELLS_OF_ABOUT_THEN: f32 = 0.7;
/// From here on a text belongs to the time asked for.
pub const BELONGS_FROM: f32 = TELLS_OF_ABOUT_THEN;
/// What is near to the time asked for fits at most so well.
const NEAR: f32 = 0.15;

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
    /// Where the question says it, in bytes.
    pub phrase: Range<usize>,
    /// The question is of what happened then: what lies elsewhere answers it only where nothing lies there.
    pub decides: bool,
    /// It is of what is to come then: what tells of that time answers it, whenever it was written.
    pub is_to_come: bool,
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

    /// The surest window.
    pub fn surest(&self) -> Option<&Window> {
        self.windows.iter().rev().max_by(|a, b| a.certainty.total_cmp(&b.certainty))
    }

    /// The windows that decide.
    pub fn deciding(&self) -> impl Iterator<Item = &Window> {
        self.windows.iter().filter(|window| window.decides)
    }

    /// The certainty of the surest window that decides; 0 without one.
    pub fn deciding_certainty(&self) -> f32 {
        self.deciding().map(|window| window.certainty).fold(0.0, f32::max)
    }

    /// How well a text that was written at this time fits the windows that decide: from [`BELONGS_FROM`] on it belongs to
    /// one of them.
    pub fn fit_of_date(&self, date: Timestamp) -> f32 {
        self.deciding().map(|window| window.fit_of_date(date)).fold(0.0, f32::max)
    }

    /// The same for a text that tells of this time, `to` left out.
    pub fn fit_of_told(&self, from: Timestamp, to: Timestamp) -> f32 {
        self.deciding().map(|window| window.fit_of_told(from, to)).fold(0.0, f32::max)
    }

    /// Whether what is to come is asked for, and a text of this date may tell of it as such.
    pub fn is_ahead_of(&self, date: Timestamp) -> bool {
        self.deciding().any(|window| window.is_to_come && window.end.is_some_and(|end| end > date))
    }
}

impl Window {
    fn fit_of_date(&self, date: Timestamp) -> f32 {
        if self.is_to_come {
            // A list of today may not name the day.
            let is_of_that_day = self.granularity <= Granularity::Day && self.closeness(date) >= 1.0;
            return if is_of_that_day { TELLS_OF_ABOUT_THEN } else { NEAR * self.closeness(date) };
        }
        let (Some(start), Some(end)) = (self.start, self.end) else { return NEAR * self.closeness(date) };
        let of_day = |moment| date_of(moment) == date_of(date);
        if date >= start && date < end {
            WRITTEN_THEN
        } else if self.is_within_a_day() && (of_day(start) || of_day(end)) {
            WRITTEN_THAT_DAY
        } else if self.is_recurring && self.other_years(date).any(|(start, end)| date >= start && date < end)
        {
            OTHER_YEAR
        } else {
            NEAR * self.closeness(date)
        }
    }

    fn fit_of_told(&self, from: Timestamp, to: Timestamp) -> f32 {
        let (Some(start), Some(end)) = (self.start, self.end) else { return 0.0 };
        if from >= end || to <= start {
            return 0.0;
        }
        let days =
            |from: Timestamp, to: Timestamp| (to.duration_since(from).as_secs_f32() / 86_400.0).max(1.0);
        match days(from, to) / days(start, end) {
            ratio if ratio <= 1.0 => TELLS_OF_THEN,
            ratio if ratio <= 8.0 => TELLS_OF_ABOUT_THEN,
            _ => NEAR,
        }
    }

    /// Of a time that has not passed, has it mean what is to come then. "By Friday" begins today.
    fn look_ahead(&mut self, now: Timestamp) {
        if self.end.is_none_or(|end| end <= now) {
            return;
        }
        if self.start.is_none() {
            self.start = day_start(date_of(now));
            self.decides = self.certainty >= DECIDES_FROM;
        }
        self.is_to_come = true;
    }

    /// It is a time of a day.
    fn is_within_a_day(&self) -> bool {
        self.granularity < Granularity::Day
    }

    /// From 0 to 1 inside, for this window alone.
    pub fn closeness(&self, date: Timestamp) -> f32 {
        let here = self.closeness_of_days(self.start, self.end, date);
        if !self.is_recurring {
            return here;
        }
        self.other_years(date)
            .map(|(start, end)| OTHER_YEAR * self.closeness_of_days(Some(start), Some(end), date))
            .fold(here, f32::max)
    }

    /// The same days of the years around a date.
    fn other_years(&self, date: Timestamp) -> impl Iterator<Item = (Timestamp, Timestamp)> {
        let days = self.start.zip(self.end);
        let away =
            days.map_or(0, |(start, _)| i64::from(date_of(date).year()) - i64::from(date_of(start).year()));
        let years = (away - 1..=away + 1).filter(|years| *years != 0);
        years.filter_map(move |years| {
            let (start, end) = days?;
            Some((in_other_year(start, years)?, in_other_year(end, years)?))
        })
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
    let translated = translated(question);
    let Some(translated) = translated else { return window_in_english(question, now) };
    let mut time = window_in_english(&translated.text, now)?;
    for window in &mut time.windows {
        window.phrase = translated.source(&window.phrase);
    }
    Some(time)
}

fn window_in_english(question: &str, now: Timestamp) -> Option<QuestionTime> {
    let lean = if looks_ahead(question) { Lean::Future } else { Lean::Past };
    let mut readings = Parser::new(question, Some(now), lean, true).readings();
    let sure = readings.iter().any(|reading| !reading.is_relative && !reading.is_year_open);
    let asks_for_time = asks_for_time(question);
    if sure || asks_for_time {
        readings.retain(|reading| !reading.is_relative);
    }
    let mut windows: Vec<Window> =
        readings.iter().flat_map(|reading| windows_of(question, reading)).collect();
    // "Who is here today?" is of more than what was written today.
    let is_told = words(question).any(|word| is_any(word, &TOLD));
    let is_present = !is_told && words(question).any(|word| is_any(word, &PRESENT));
    let asks_what_comes = asks_what_comes(question) && !is_told;
    for window in &mut windows {
        if asks_what_comes {
            window.look_ahead(now);
        }
        let lasts = window.start.is_some_and(|start| start <= now) && window.end.is_some_and(|end| now < end);
        window.decides &= !(asks_for_time || lasts && is_present && !window.is_to_come);
    }
    (!windows.is_empty()).then_some(QuestionTime { windows })
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
    let (about_start, about_end) = about(reading);
    let (start, end) = (Some(about_start), Some(about_end));
    let far = far_relation(question, reading);
    // "What is due next week?" is of that week, unlike "by next week".
    let before = words_before(question, reading).next().unwrap_or("");
    let is_due =
        reading.relation == Relation::By && is_any(before, &["due", "deadline", "on", "for", "in", "is"]);
    let own = if is_due { Relation::At } else { reading.relation };
    let (start, end) = match far.unwrap_or(own) {
        Relation::At | Relation::From => (start, end),
        // The launch in May is somewhere in it, and so is what was before.
        Relation::Before if far.is_some() => (None, end),
        Relation::After if far.is_some() => (start, None),
        Relation::Before => (None, start),
        Relation::By | Relation::Until => (None, end),
        Relation::After => (end, None),
        Relation::Since => (start, None),
    };
    let is_closed = start.is_some() && end.is_some();
    let certainty = if far.is_some() { FAR } else { certainty(question, reading) };
    let decides = is_closed && certainty >= DECIDES_FROM && !is_topic(question, reading);
    let window = Window {
        start,
        end,
        granularity: reading.granularity,
        certainty,
        is_recurring: reading.is_year_open && is_closed,
        phrase: reading.range.clone(),
        decides,
        is_to_come: false,
    };
    let other = reading.is_ambiguous.then(|| other_order(reading.start)).flatten();
    let other = other.map(|(start, end)| Window {
        start: window.start.map(|_| start),
        end: window.end.map(|_| end),
        ..window.clone()
    });
    [Some(window), other].into_iter().flatten().collect()
}

/// The time that a date is about: "two weeks ago" is some days, though one is read.
fn about(reading: &Reading) -> (Timestamp, Timestamp) {
    let days = match reading.granularity {
        Granularity::Week => 3,
        Granularity::Month => 15,
        Granularity::Quarter => 45,
        Granularity::Year => 183,
        Granularity::Decade => 1_826,
        _ => 0,
    };
    let is_one_day = reading.end.duration_since(reading.start) <= SignedDuration::from_hours(24);
    let by = SignedDuration::from_hours(if is_one_day { 24 * days } else { 0 });
    let start = reading.start.checked_sub(by).unwrap_or(reading.start);
    (start, reading.end.checked_add(by).unwrap_or(reading.end))
}

/// How sure it is that the question means this time.
fn certainty(question: &str, reading: &Reading) -> f32 {
    let phrase = &question[reading.range.clone()];
    let is_coarse = reading.granularity > Granularity::Week;
    let has_vague_count = || words(phrase).any(|word| is_any(word, &["few", "several", "couple"]));
    let is_about = || about(reading) != (reading.start, reading.end);
    match () {
        () if is_any(phrase, &["recently", "lately"]) => 0.4,
        // "the budget 2024": a number beside another word.
        () if phrase.len() == 4
            && phrase.bytes().all(|b| b.is_ascii_digit())
            && !is_led(question, reading) =>
        {
            0.5
        }
        () if reading.is_ambiguous || has_vague_count() || is_about() => 0.7,
        () if reading.is_year_open => {
            if is_coarse {
                0.85
            } else {
                0.9
            }
        }
        () if reading.is_relative => {
            if is_coarse {
                0.9
            } else {
                0.95
            }
        }
        () => 1.0,
    }
}

/// The words before a date, from the nearest on.
fn words_before<'a>(question: &'a str, reading: &Reading) -> impl Iterator<Item = &'a str> {
    let clause = question[..reading.range.start].rsplit([',', ';', '.', '?', '!', ':']).next().unwrap_or("");
    words(clause).rev()
}

fn is_led(question: &str, reading: &Reading) -> bool {
    reading.relation != Relation::At
        || words_before(question, reading).next().is_some_and(|word| {
            is_any(
                word,
                &["in", "during", "of", "around", "between", "throughout", "year", "on", "for", "through"],
            )
        })
}

/// The date is what is talked of, rather than when: "plans for June", "the September release".
fn is_topic(question: &str, reading: &Reading) -> bool {
    let mut before = words_before(question, reading);
    let first = before.next().unwrap_or("");
    let second = before.next().unwrap_or("");
    let owned = is_any(first, &["the", "a", "an", "my", "our", "your", "his", "her", "their", "s"]);
    let lead = if is_any(first, &["the"]) { second } else { first };
    if is_any(lead, &["for", "about", "regarding", "concerning"]) {
        return true;
    }
    let phrase = &question[reading.range.clone()];
    let named = words(phrase).next().is_some_and(|word| {
        let is_year = word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit());
        let word = word.to_ascii_lowercase();
        is_year || matches!(calendar_word(&word), Some((CalendarWord::Month(_), _)))
    });
    if owned && named && !reading.is_relative {
        return true;
    }
    // "the Monday standup".
    if owned && matches!(calendar_word(&phrase.to_ascii_lowercase()), Some((CalendarWord::Weekday(_), _))) {
        return true;
    }
    // "Her plans in June" may have been made before, what was planned yesterday was not.
    let is_coarse = reading.granularity >= Granularity::Month && !reading.is_relative;
    is_coarse && words(question).any(|word| is_any(word, &PLANS))
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
