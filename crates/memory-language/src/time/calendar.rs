//! Calendar arithmetic that never leaves the calendar: every step answers `None` instead of overflowing.

use jiff::civil::{Date, Time, Weekday};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp};

use super::Lean;

/// First and last day, both whole.
pub(super) type Days = (Date, Date);

pub(super) fn day_start(date: Date) -> Option<Timestamp> {
    moment(date, Time::midnight())
}

pub(super) fn moment(date: Date, time: Time) -> Option<Timestamp> {
    Some(date.to_datetime(time).to_zoned(TimeZone::UTC).ok()?.timestamp())
}

pub(super) fn date_of(moment: Timestamp) -> Date {
    moment.to_zoned(TimeZone::UTC).date()
}

pub(super) fn plus_minutes(moment: Timestamp, minutes: i64) -> Option<Timestamp> {
    moment.checked_add(SignedDuration::from_mins(minutes)).ok()
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

pub(super) fn weekday_in(week: Date, weekday: Weekday) -> Option<Date> {
    let monday = plus_days(week, -i64::from(week.weekday().to_monday_zero_offset()))?;
    plus_days(monday, i64::from(weekday.to_monday_zero_offset()))
}

pub(super) fn week_of(date: Date) -> Option<Days> {
    let monday = weekday_in(date, Weekday::Monday)?;
    Some((monday, plus_days(monday, 6)?))
}

pub(super) fn weekend_of(date: Date) -> Option<Days> {
    let saturday = weekday_in(date, Weekday::Saturday)?;
    Some((saturday, plus_days(saturday, 1)?))
}

pub(super) fn month_of(date: Date) -> Days {
    (date.first_of_month(), date.last_of_month())
}

/// Some months from the first of `first` on, the first one included.
pub(super) fn months_from(first: Date, months: i64) -> Option<Days> {
    Some((first.first_of_month(), plus_months(first.first_of_month(), months - 1)?.last_of_month()))
}

pub(super) fn quarter_of(date: Date) -> Option<Days> {
    months_from(Date::new(date.year(), (date.month() - 1) / 3 * 3 + 1, 1).ok()?, 3)
}

pub(super) fn year_of(year: i16) -> Option<Days> {
    Some((Date::new(year, 1, 1).ok()?, Date::new(year, 12, 31).ok()?))
}

pub(super) fn decade_of(year: i16) -> Option<Days> {
    let first = year.checked_sub(year.rem_euclid(10))?;
    Some((Date::new(first, 1, 1).ok()?, Date::new(first.checked_add(9)?, 12, 31).ok()?))
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

/// The days of a date, moved by whole years.
pub(super) fn shift_years((first, last): Days, years: i64) -> Option<Days> {
    let whole_month = first.day() == 1 && last == last.last_of_month();
    let moved = plus_months(last, years.checked_mul(12)?)?;
    Some((plus_months(first, years * 12)?, if whole_month { moved.last_of_month() } else { moved }))
}

/// The first, middle or last third of some days.
pub(super) fn third_of((first, last): Days, third: i64) -> Option<Days> {
    let whole_month = first == first.first_of_month() && last == first.last_of_month();
    let whole_year = first.month() == 1 && first.day() == 1 && last == first.last_of_year();
    // A month is parted by its tens, to the 10th, the 20th and the end, a year by four months.
    let length = if whole_month { 30 } else { days_between(first, last) + 1 };
    let cut = |thirds: i64| {
        if whole_year { plus_months(first, thirds * 4) } else { plus_days(first, length * thirds / 3) }
    };
    let end = if third == 2 { last } else { plus_days(cut(third + 1)?, -1)?.max(first) };
    Some((cut(third)?.min(last), end))
}

pub(super) fn days_between(first: Date, last: Date) -> i64 {
    last.duration_since(first).as_hours() / 24
}
