//! The times that a question is about, and how near a date is to them.

use std::ops::Range;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp};

use super::Granularity;
use super::calendar::{date_of, day_start};

/// What another year's May is worth when no year was said.
const OTHER_YEAR: f32 = 0.8;
/// From this certainty on a date may decide.
pub(super) const DECIDES_FROM: f32 = 0.6;
/// How well a text fits that was written at the time asked for, at the same day but another hour, and that tells of it.
const WRITTEN_THEN: f32 = 1.0;
const WRITTEN_THAT_DAY: f32 = 0.9;
const TELLS_OF_THEN: f32 = 0.9;
/// The same where what it tells of may lie beside what is asked, as "last week" does to a day of it.
const TELLS_OF_ABOUT_THEN: f32 = 0.7;
/// From here on a text belongs to the time asked for.
pub const BELONGS_FROM: f32 = TELLS_OF_ABOUT_THEN;
/// The same for one that was written before, where it is asked how things were then.
const MAY_HAVE_HELD: f32 = 0.72;
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
    /// It is of how things were then: what was written before may still have held.
    pub is_of_state: bool,
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
        let of_day =
            |moment: Option<Timestamp>| moment.is_some_and(|moment| date_of(moment) == date_of(date));
        if self.has(date) {
            WRITTEN_THEN
        } else if self.is_within_a_day() && (of_day(self.start) || of_day(self.end)) {
            WRITTEN_THAT_DAY
        } else if self.is_recurring && self.other_years(date).any(|(start, end)| date >= start && date < end)
        {
            OTHER_YEAR
        } else if self.is_of_state && self.start.is_some_and(|start| date < start) {
            MAY_HAVE_HELD
        } else {
            NEAR * self.closeness(date)
        }
    }

    /// None for a window that is open: what a text tells of is mostly before some day and after others.
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

    fn has(&self, date: Timestamp) -> bool {
        self.start.is_none_or(|start| date >= start) && self.end.is_none_or(|end| date < end)
    }

    /// Of a time that has not passed, has it mean what is to come then. "By Friday" begins today.
    pub(super) fn look_ahead(&mut self, now: Timestamp) {
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

fn in_other_year(moment: Timestamp, years: i64) -> Option<Timestamp> {
    let moved = moment.to_zoned(TimeZone::UTC).checked_add(Span::new().try_years(years).ok()?).ok()?;
    // A moment of 29 February is the day after in other years, so that the end of that month stays one.
    let leap = date_of(moment).day() == 29 && moved.day() == 28 && moved.month() == 2;
    let day = SignedDuration::from_hours(if leap { 24 } else { 0 });
    moved.timestamp().checked_add(day).ok()
}
