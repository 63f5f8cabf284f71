//! The parts that dates are made of.

use std::ops::Range;

use jiff::civil::{Date, Time};
use jiff::{SignedDuration, Timestamp};

use super::Granularity;
use super::calendar::{Days, date_of, day_start, moment, plus_days, plus_minutes};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    Days(Date, Date),
    Moments(Timestamp, Timestamp),
    /// A time of a day named beside it, how many minutes long, and its distance from UTC in minutes.
    Clock(Time, i64, i64),
}

/// What a part can be joined with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Plain,
    Weekday,
    /// "EOD", which needs no day beside it but may have one.
    DayEnd,
    /// "5pm", "evening": nothing alone.
    Clock,
    /// Two dates, from one to the other.
    Range,
    /// Looks like a date and is none.
    Invalid,
}

#[derive(Debug, Clone)]
pub(super) struct Part {
    /// The tokens it was found in.
    pub(super) at: Range<usize>,
    pub(super) when: When,
    pub(super) form: Form,
    pub(super) granularity: Granularity,
    pub(super) ambiguous: bool,
    pub(super) relative: bool,
    pub(super) year_open: bool,
}

impl Part {
    pub(super) fn days(at: Range<usize>, (first, last): Days, granularity: Granularity) -> Self {
        Self {
            at,
            when: When::Days(first, last),
            form: Form::Plain,
            granularity,
            ambiguous: false,
            relative: false,
            year_open: false,
        }
    }

    pub(super) fn day(at: Range<usize>, date: Date) -> Self {
        Self::days(at, (date, date), Granularity::Day)
    }

    pub(super) fn moments(
        at: Range<usize>,
        from: Timestamp,
        to: Timestamp,
        granularity: Granularity,
    ) -> Self {
        Self { when: When::Moments(from, to), ..Self::days(at, (Date::ZERO, Date::ZERO), granularity) }
    }

    pub(super) fn clock(at: Range<usize>, time: Time, minutes: i64, zone: i64) -> Self {
        let granularity = if minutes > 1 { Granularity::PartOfDay } else { Granularity::Minute };
        Self {
            when: When::Clock(time, minutes, zone),
            form: Form::Clock,
            ..Self::days(at, (Date::ZERO, Date::ZERO), granularity)
        }
    }

    pub(super) fn invalid(at: Range<usize>) -> Self {
        Self { form: Form::Invalid, ..Self::day(at, Date::ZERO) }
    }

    pub(super) fn relative(self) -> Self {
        Self { relative: true, ..self }
    }

    pub(super) fn with_form(self, form: Form) -> Self {
        Self { form, ..self }
    }

    /// The whole days that it means, where it means days.
    pub(super) fn as_days(&self) -> Option<Days> {
        match (self.form, self.when) {
            (Form::Invalid, _) => None,
            (_, When::Days(first, last)) => Some((first, last)),
            _ => None,
        }
    }

    /// The one day that a time of day may be joined to.
    pub(super) fn one_day(&self) -> Option<Date> {
        match (self.form, self.when) {
            (Form::Invalid | Form::Range, _) => None,
            (_, When::Days(first, last)) => (first == last).then_some(first),
            (_, When::Moments(from, _)) => {
                (self.granularity == Granularity::PartOfDay).then(|| date_of(from))
            }
            _ => None,
        }
    }

    /// First moment, and the one after the last.
    pub(super) fn bounds(&self) -> Option<(Timestamp, Timestamp)> {
        match (self.form, self.when) {
            (Form::Clock | Form::Invalid, _) | (_, When::Clock(..)) => None,
            (_, When::Days(first, last)) => Some((day_start(first)?, day_start(plus_days(last, 1)?)?)),
            (_, When::Moments(from, to)) => Some((from, to)),
        }
    }

    /// The time of a clock on a day.
    pub(super) fn on(&self, date: Date) -> Option<(Timestamp, Timestamp)> {
        let When::Clock(time, minutes, zone) = self.when else { return None };
        let from = moment(date, time)?.checked_sub(SignedDuration::from_mins(zone)).ok()?;
        Some((from, plus_minutes(from, minutes)?))
    }
}
