//! Calendar arithmetic that never leaves the calendar: every step answers `None` instead of overflowing.

use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use super::Lean;
use super::grammar::When;

pub(super) fn day_start(date: Date) -> Option<Timestamp> {
    moment(date, 0, 0)
}

pub(super) fn day_end(date: Date) -> Option<Timestamp> {
    Some(date.at(23, 59, 59, 0).to_zoned(TimeZone::UTC).ok()?.timestamp())
}

pub(super) fn moment(date: Date, hour: i8, minute: i8) -> Option<Timestamp> {
    let time = jiff::civil::Time::new(hour, minute, 0, 0).ok()?;
    Some(date.to_datetime(time).to_zoned(TimeZone::UTC).ok()?.timestamp())
}

pub(super) fn plus_days(date: Date, days: i64) -> Option<Date> {
    date.checked_add(Span::new().try_days(days).ok()?).ok()
}

pub(super) fn plus_months(date: Date, months: i64) -> Option<Date> {
    date.checked_add(Span::new().try_months(months).ok()?).ok()
}

/// Working days from `date` on, Saturdays and Sundays left out.
pub(super) fn plus_workdays(date: Date, days: i64) -> Option<Date> {
    let mut at = date;
    let mut left = days;
    while left > 0 {
        at = plus_days(at, 1)?;
        if !matches!(at.weekday(), Weekday::Saturday | Weekday::Sunday) {
            left -= 1;
        }
    }
    Some(at)
}

pub(super) fn monday_of(date: Date) -> Option<Date> {
    plus_days(date, -i64::from(date.weekday().to_monday_zero_offset()))
}

pub(super) fn weekday_in(week: Date, weekday: Weekday) -> Option<Date> {
    plus_days(monday_of(week)?, i64::from(weekday.to_monday_zero_offset()))
}

pub(super) fn week_of(date: Date) -> Option<When> {
    let monday = monday_of(date)?;
    Some(When::Days(monday, plus_days(monday, 6)?))
}

pub(super) fn month_of(date: Date) -> When {
    When::Days(date.first_of_month(), date.last_of_month())
}

/// The quarter (1 to 4) of a year.
pub(super) fn quarter(year: i16, number: i8) -> Option<When> {
    let first = Date::new(year, number * 3 - 2, 1).ok()?;
    Some(When::Days(first, Date::new(year, number * 3, 1).ok()?.last_of_month()))
}

pub(super) fn quarter_number(date: Date) -> i8 {
    (date.month() + 2) / 3
}

pub(super) fn year_of(year: i16) -> Option<When> {
    Some(When::Days(Date::new(year, 1, 1).ok()?, Date::new(year, 12, 31).ok()?))
}

/// The weekday nearest to `today` in the direction of `lean`; today itself counts.
pub(super) fn weekday_towards(today: Date, weekday: Weekday, lean: Lean) -> Option<Date> {
    let here = i64::from(today.weekday().to_monday_zero_offset());
    let there = i64::from(weekday.to_monday_zero_offset());
    match lean {
        Lean::Future => plus_days(today, (there - here).rem_euclid(7)),
        Lean::Past => plus_days(today, -(here - there).rem_euclid(7)),
    }
}

/// A day and month without a year: the occurrence nearest to `today`.
pub(super) fn nearest_year(today: Date, month: i8, day: i8) -> Option<Date> {
    (-1..=1)
        .filter_map(|years| Date::new(today.year().checked_add(years)?, month, day).ok())
        .min_by_key(|date| date.duration_since(today).as_secs().abs())
}
