//! What each expression of the grammar means.

use jiff::civil::{Date, ISOWeekDate, Weekday};
use jiff::{Span, Timestamp};
use regex::Captures;

use super::Lean;
use super::calendar::{
    day_end, month_of, nearest_year, plus_days, plus_months, plus_workdays, quarter, quarter_number, week_of,
    weekday_in, weekday_towards, year_of,
};
use super::grammar::{Frame, Kind, Reading, When};

fn text<'a>(captures: &'a Captures<'_>, name: &str) -> &'a str {
    captures.name(name).map_or("", |found| found.as_str())
}

fn number<N: std::str::FromStr>(captures: &Captures<'_>, name: &str) -> Option<N> {
    text(captures, name).parse().ok()
}

#[expect(clippy::unnecessary_wraps, reason = "it ends readings, which may have no answer")]
fn day(date: Date) -> Reading {
    Some((When::Days(date, date), Kind::Day))
}

/// `3/4/2024` can be 4 March and 3 April.
pub(super) fn has_two_readings(captures: &Captures<'_>) -> bool {
    let (Some(a), Some(b)) = (number::<i8>(captures, "a"), number::<i8>(captures, "b")) else { return false };
    text(captures, "sep") == "/" && a <= 12 && b <= 12 && a != b
}

pub(super) fn iso_date(captures: &Captures<'_>, _: &Frame) -> Reading {
    let date = Date::new(number(captures, "y")?, number(captures, "m")?, number(captures, "d")?).ok()?;
    let time = text(captures, "time");
    if time.is_empty() {
        return day(date);
    }
    let full = if time.len() == 5 { format!("{time}:00") } else { time.to_owned() };
    let zone = match text(captures, "zone") {
        "" | "UTC" | "utc" | "Z" | "z" => "Z".to_owned(),
        zone if zone.len() == 5 => format!("{}:{}", &zone[..3], &zone[3..]),
        zone => zone.to_owned(),
    };
    let moment: Timestamp = format!("{date}T{full}{zone}").parse().ok()?;
    Some((When::Moments(moment, moment), Kind::Moment))
}

pub(super) fn iso_week(captures: &Captures<'_>, _: &Frame) -> Reading {
    let week = ISOWeekDate::new(number(captures, "y")?, number(captures, "week")?, Weekday::Monday).ok()?;
    Some((week_of(week.date())?, Kind::Week))
}

pub(super) fn year_first(captures: &Captures<'_>, _: &Frame) -> Reading {
    day(Date::new(number(captures, "y")?, number(captures, "b")?, number(captures, "a")?).ok()?)
}

/// With points the day comes first, with slashes the month unless it cannot be one.
pub(super) fn numeric(captures: &Captures<'_>, _: &Frame) -> Reading {
    let (year, a, b) = (number(captures, "y")?, number::<i8>(captures, "a")?, number::<i8>(captures, "b")?);
    let (month, date) = if text(captures, "sep") == "." || a > 12 { (b, a) } else { (a, b) };
    day(Date::new(year, month, date).ok()?)
}

fn month_number(name: &str) -> Option<i8> {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let short = name.get(..3)?.to_ascii_lowercase();
    Some(MONTHS.iter().position(|month| *month == short)? as i8 + 1)
}

fn is_capitalised(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_uppercase())
}

pub(super) fn day_and_month(captures: &Captures<'_>, frame: &Frame) -> Reading {
    let name = text(captures, "month");
    let month = month_number(name)?;
    // «we may 3 times», «march 2 miles» are no dates.
    if captures.name("th").is_none() && !is_capitalised(name) && matches!(name, "may" | "march" | "mar") {
        return None;
    }
    let date = number(captures, "d")?;
    match number(captures, "y") {
        // «32 March 2024» must not leave «March 2024» behind.
        Some(year) => Date::new(year, month, date).map_or(prefix(Kind::Invalid), day),
        None => nearest_year(frame.today?, month, date).map_or(prefix(Kind::Invalid), day),
    }
}

fn month_towards(captures: &Captures<'_>, frame: &Frame) -> Option<Date> {
    let month = month_number(text(captures, "month"))?;
    if let Some(year) = number(captures, "y") {
        return Date::new(year, month, 1).ok();
    }
    let today = frame.today?;
    let this_year = Date::new(today.year(), month, 1).ok()?;
    match frame.lean {
        Lean::Future if this_year.last_of_month() < today => plus_months(this_year, 12),
        Lean::Past if this_year > today => plus_months(this_year, -12),
        _ => Some(this_year),
    }
}

pub(super) fn part_of_month(captures: &Captures<'_>, frame: &Frame) -> Reading {
    let first = month_towards(captures, frame)?;
    let (from, to) = match text(captures, "part").to_ascii_lowercase().as_str() {
        "early" => (first, plus_days(first, 9)?),
        "mid" => (plus_days(first, 10)?, plus_days(first, 19)?),
        _ => (plus_days(first, 20)?, first.last_of_month()),
    };
    Some((When::Days(from, to), Kind::Period))
}

pub(super) fn whole_month(captures: &Captures<'_>, frame: &Frame) -> Reading {
    // «May I», «march on»: a bare month is only one with a capital.
    if !is_capitalised(text(captures, "month")) {
        return None;
    }
    Some((month_of(month_towards(captures, frame)?), Kind::Period))
}

/// A prefix has no time of its own; the one given is never read.
#[expect(clippy::unnecessary_wraps, reason = "it ends readings, which may have no answer")]
fn prefix(kind: Kind) -> Reading {
    Some((When::Clock(0, 0), kind))
}

pub(super) fn week_prefix(_: &Captures<'_>, _: &Frame) -> Reading {
    prefix(Kind::WeekPrefix)
}

pub(super) fn end_prefix(_: &Captures<'_>, _: &Frame) -> Reading {
    prefix(Kind::EndPrefix)
}

pub(super) fn start_prefix(_: &Captures<'_>, _: &Frame) -> Reading {
    prefix(Kind::StartPrefix)
}

pub(super) fn end_of_unit(captures: &Captures<'_>, frame: &Frame) -> Reading {
    let today = frame.today?;
    let unit = text(captures, "unit").to_ascii_lowercase();
    let last = match (unit.as_str(), text(captures, "short")) {
        // A working week ends on Friday, unless it is over.
        ("week", _) | (_, "W" | "w") => weekday_in(today, Weekday::Friday)?.max(today),
        ("month", _) | (_, "M" | "m") => today.last_of_month(),
        ("quarter", _) | (_, "Q" | "q") => last_of(quarter(today.year(), quarter_number(today))?)?,
        ("year", _) | (_, "Y" | "y") => today.last_of_year(),
        _ => return Some((When::Days(today, today), Kind::DayEnd)),
    };
    day(last)
}

fn last_of(when: When) -> Option<Date> {
    match when {
        When::Days(_, last) => Some(last),
        _ => None,
    }
}

fn shift(captures: &Captures<'_>) -> i64 {
    match text(captures, "shift").to_ascii_lowercase().as_str() {
        "next" | "coming" | "following" => 1,
        "last" | "past" | "previous" => -1,
        _ => 0,
    }
}

pub(super) fn shifted_unit(captures: &Captures<'_>, frame: &Frame) -> Reading {
    let today = frame.today?;
    let by = shift(captures);
    let (when, kind) = match text(captures, "unit").to_ascii_lowercase().as_str() {
        "week" => (week_of(plus_days(today, by * 7)?)?, Kind::Week),
        "weekend" => {
            let saturday = weekday_in(plus_days(today, by * 7)?, Weekday::Saturday)?;
            (When::Days(saturday, plus_days(saturday, 1)?), Kind::Period)
        }
        "month" => (month_of(plus_months(today.first_of_month(), by)?), Kind::Period),
        "quarter" => {
            let there = plus_months(today.first_of_month(), by * 3)?;
            (quarter(there.year(), quarter_number(there))?, Kind::Period)
        }
        _ => (year_of(today.year().checked_add(by as i16)?)?, Kind::Period),
    };
    let When::Days(first, last) = when else { return Some((when, kind)) };
    let middle = plus_days(first, last.duration_since(first).as_hours() / 48)?;
    match text(captures, "part").to_ascii_lowercase().as_str() {
        "early" => Some((When::Days(first, middle), Kind::Period)),
        "late" | "later" => Some((When::Days(middle, last), Kind::Period)),
        _ => Some((when, kind)),
    }
}

fn weekday_number(name: &str) -> Option<Weekday> {
    Some(match name.get(..3)?.to_ascii_lowercase().as_str() {
        "mon" => Weekday::Monday,
        "tue" => Weekday::Tuesday,
        "wed" => Weekday::Wednesday,
        "thu" => Weekday::Thursday,
        "fri" => Weekday::Friday,
        "sat" => Weekday::Saturday,
        _ => Weekday::Sunday,
    })
}

pub(super) fn weekday(captures: &Captures<'_>, frame: &Frame) -> Reading {
    let today = frame.today?;
    let name = weekday_number(text(captures, "weekday"))?;
    let date = match text(captures, "shift").to_ascii_lowercase().as_str() {
        "next" | "following" => weekday_in(plus_days(today, 7)?, name)?,
        "last" | "past" | "previous" => weekday_towards(plus_days(today, -1)?, name, Lean::Past)?,
        "this" => weekday_in(today, name)?,
        "coming" => weekday_towards(plus_days(today, 1)?, name, Lean::Future)?,
        _ => weekday_towards(today, name, frame.lean)?,
    };
    Some((When::Days(date, date), Kind::Weekday))
}

/// `Sun` and `Wed` are only days with a capital and a word such as «by» before them.
pub(super) fn short_weekday(captures: &Captures<'_>, frame: &Frame) -> Reading {
    if is_capitalised(text(captures, "weekday")) { weekday(captures, frame) } else { None }
}

pub(super) fn named_day(captures: &Captures<'_>, frame: &Frame) -> Reading {
    let today = frame.today?;
    let word = text(captures, "word").to_ascii_lowercase();
    let days = match word.split_whitespace().last()? {
        "weekend" => {
            let saturday = weekday_in(today, Weekday::Saturday)?;
            return Some((When::Days(saturday, plus_days(saturday, 1)?), Kind::Period));
        }
        "tomorrow" if word.starts_with("day") => 2,
        "tomorrow" => 1,
        "yesterday" | "night" => -1,
        _ => 0,
    };
    day(plus_days(today, days)?)
}

fn count(captures: &Captures<'_>) -> Option<i64> {
    const WORDS: [&str; 12] =
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    let word = text(captures, "count").to_ascii_lowercase();
    match word.as_str() {
        "a" | "an" => Some(1),
        _ if word.starts_with("a ") && word.ends_with("few") => Some(3),
        _ if word.starts_with('a') => Some(2),
        _ => WORDS.iter().position(|w| *w == word).map(|at| at as i64 + 1).or_else(|| word.parse().ok()),
    }
}

pub(super) fn counted(captures: &Captures<'_>, frame: &Frame) -> Reading {
    let (now, today) = (frame.now?, frame.today?);
    let how = text(captures, "how").to_ascii_lowercase();
    let amount = if how == "ago" { -count(captures)? } else { count(captures)? };
    let unit = text(captures, "unit").to_ascii_lowercase();
    if unit == "hour" {
        let then = now.checked_add(Span::new().try_hours(amount).ok()?).ok()?;
        let start = if how == "within" { now } else { then };
        return Some((When::Moments(start, then), Kind::Moment));
    }
    let date = match unit.as_str() {
        "day" if captures.name("work").is_some() && amount > 0 => plus_workdays(today, amount)?,
        "day" => plus_days(today, amount)?,
        "week" => plus_days(today, amount * 7)?,
        "month" => plus_months(today, amount)?,
        "quarter" => plus_months(today, amount * 3)?,
        _ => plus_months(today, amount * 12)?,
    };
    if how == "within" {
        return Some((When::Moments(now, day_end(date)?), Kind::Moment));
    }
    day(date)
}

pub(super) fn in_quarter(captures: &Captures<'_>, frame: &Frame) -> Reading {
    let number_of = number(captures, "q")?;
    let year = number(captures, "y");
    let base = match (year, frame.today) {
        (Some(year), _) => year,
        (None, today) => today?.year(),
    };
    let when = quarter(base, number_of)?;
    let When::Days(first, last) = when else { return None };
    let when = match (year, frame.today, frame.lean) {
        (None, Some(today), Lean::Future) if last < today => quarter(base.checked_add(1)?, number_of)?,
        (None, Some(today), Lean::Past) if first > today => quarter(base.checked_sub(1)?, number_of)?,
        _ => when,
    };
    Some((when, Kind::Period))
}

/// «by the 21st»; «on the 3rd floor» is none.
pub(super) fn day_of_month(captures: &Captures<'_>, frame: &Frame) -> Reading {
    const AFTER: [&str; 13] =
        ["and", "or", "at", "for", "to", "so", "but", "we", "i", "if", "because", "as", "with"];
    let next = text(captures, "next").to_ascii_lowercase();
    if !next.is_empty() && !AFTER.contains(&next.as_str()) {
        return None;
    }
    let today = frame.today?;
    let wanted: i8 = number(captures, "d")?;
    let mut month = today.first_of_month();
    for _ in 0..3 {
        if let Ok(date) = Date::new(month.year(), month.month(), wanted) {
            match frame.lean {
                Lean::Future if date >= today => return day(date),
                Lean::Past if date <= today => return day(date),
                _ => {}
            }
        }
        month = plus_months(month, if frame.lean == Lean::Future { 1 } else { -1 })?;
    }
    None
}

pub(super) fn whole_year(captures: &Captures<'_>, _: &Frame) -> Reading {
    Some((year_of(number(captures, "y")?)?, Kind::Period))
}

pub(super) fn clock(captures: &Captures<'_>, _: &Frame) -> Reading {
    if let (Some(hour), Some(minute)) = (number::<i8>(captures, "h24"), number::<i8>(captures, "min24")) {
        return (hour < 24 && minute < 60).then_some((When::Clock(hour, minute), Kind::Clock));
    }
    let hour: i8 = number(captures, "h")?;
    let minute: i8 = number(captures, "min").unwrap_or(0);
    if !(1..=12).contains(&hour) || minute > 59 {
        return None;
    }
    let afternoon = text(captures, "half").starts_with(['p', 'P']);
    Some((When::Clock(hour % 12 + if afternoon { 12 } else { 0 }, minute), Kind::Clock))
}
