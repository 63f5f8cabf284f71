//! Dates in running text, resolved against the day the text was written. All times are UTC.
//!
//! A table of expressions ([`grammar`]) finds the parts; neighbouring parts that belong together
//! («Friday, March 22», «EOD tomorrow», «the week of May 15») are joined here.

mod calendar;
mod grammar;
mod readings;
#[cfg(test)]
mod tests;

use std::ops::Range;

use jiff::Timestamp;
use jiff::civil::Date;

use calendar::{day_end, day_start, week_of, weekday_in};
use grammar::{Found, Kind, When};

/// A date expression and the moments it covers, first and last second included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeMention {
    /// Bytes of the text it was found in.
    pub range: Range<usize>,
    pub start: Timestamp,
    pub end: Timestamp,
    /// Two readings are possible, as in `3/4/2024`; the month-first one is given.
    pub ambiguous: bool,
}

/// Which way «Friday» or «in May» points when the words leave it open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lean {
    Future,
    Past,
}

/// The date expressions of a text in order, for things still to come: «Friday» is the next one, today included.
/// Without a reference only dates that carry their year resolve.
pub fn resolve(text: &str, reference: impl Into<Option<Timestamp>>) -> Vec<TimeMention> {
    resolve_leaning(text, reference.into(), Lean::Future)
}

/// As [`resolve`], for things to come or things past.
pub fn resolve_leaning(text: &str, reference: Option<Timestamp>, lean: Lean) -> Vec<TimeMention> {
    // Every expression but a weekday, a month and a few words has a digit; most sentences have none of them.
    let mut found = grammar::find(text, reference, lean);
    // At one place the longest reading wins.
    found.sort_by_key(|part| (part.range.start, std::cmp::Reverse(part.range.end)));
    let mut parts: Vec<Found> = Vec::with_capacity(found.len());
    for part in found {
        match parts.last() {
            Some(last) if part.range.start < last.range.end => {}
            _ => parts.push(part),
        }
    }
    join(text, parts).into_iter().filter_map(|part| mention(&part)).collect()
}

/// Joins neighbours that say one date together.
fn join(text: &str, parts: Vec<Found>) -> Vec<Found> {
    let mut joined: Vec<Found> = Vec::with_capacity(parts.len());
    for part in parts {
        if let Some(last) = joined.last()
            && let Some(both) = joined_pair(last, &part, &text[last.range.end..part.range.start])
        {
            joined.pop();
            joined.push(both);
        } else {
            joined.push(part);
        }
    }
    joined
}

fn joined_pair(left: &Found, right: &Found, gap: &str) -> Option<Found> {
    if !is_joint(gap) {
        return None;
    }
    let (when, kind) = match (left.kind, right.kind) {
        (Kind::WeekPrefix, Kind::Day) => (week_of(left_day(right)?)?, Kind::Week),
        (Kind::EndPrefix, Kind::Day | Kind::Week | Kind::Period) => (last_day(right)?, Kind::Day),
        (Kind::StartPrefix, Kind::Week | Kind::Period) => (first_day(right)?, Kind::Day),
        // «EOD Friday», «Friday EOD»: a day already lasts to its end.
        (Kind::DayEnd, Kind::Day | Kind::Weekday) | (Kind::Weekday, Kind::Day) => (right.when, Kind::Day),
        (Kind::Day | Kind::Weekday, Kind::DayEnd) | (Kind::Day, Kind::Weekday) => (left.when, Kind::Day),
        (Kind::Weekday, Kind::Week) => (weekday_of(left, right)?, Kind::Day),
        (Kind::Day | Kind::Weekday, Kind::Clock) => (at_clock(left, right)?, Kind::Moment),
        (Kind::Clock, Kind::Day | Kind::Weekday) => (at_clock(right, left)?, Kind::Moment),
        _ => return None,
    };
    Some(Found {
        range: left.range.start..right.range.end,
        when,
        kind,
        ambiguous: left.ambiguous || right.ambiguous,
    })
}

fn is_joint(gap: &str) -> bool {
    let words = gap.trim_matches(|c: char| c.is_whitespace() || matches!(c, ',' | '('));
    matches!(words, "" | "at" | "by" | "on" | "of" | "the" | "on the" | "of the" | "@")
}

fn left_day(part: &Found) -> Option<Date> {
    match part.when {
        When::Days(first, _) => Some(first),
        _ => None,
    }
}

fn first_day(part: &Found) -> Option<When> {
    left_day(part).map(|day| When::Days(day, day))
}

fn last_day(part: &Found) -> Option<When> {
    match part.when {
        When::Days(_, last) => Some(When::Days(last, last)),
        _ => None,
    }
}

fn weekday_of(day: &Found, week: &Found) -> Option<When> {
    let date = weekday_in(left_day(week)?, left_day(day)?.weekday())?;
    Some(When::Days(date, date))
}

fn at_clock(day: &Found, clock: &Found) -> Option<When> {
    let When::Clock(hour, minute) = clock.when else { return None };
    let moment = calendar::moment(left_day(day)?, hour, minute)?;
    Some(When::Moments(moment, moment))
}

fn mention(part: &Found) -> Option<TimeMention> {
    let (start, end) = match (part.kind, part.when) {
        (Kind::EndPrefix | Kind::StartPrefix | Kind::WeekPrefix | Kind::Clock, _) | (_, When::Clock(..)) => {
            return None;
        }
        (_, When::Days(first, last)) => (day_start(first)?, day_end(last)?),
        (_, When::Moments(start, end)) => (start, end),
    };
    Some(TimeMention { range: part.range.clone(), start, end, ambiguous: part.ambiguous })
}
