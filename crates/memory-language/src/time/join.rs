//! Neighbouring parts that say one date together, ranges from one date to another, and the word before a date.

use std::ops::Range;

use jiff::Timestamp;

use super::calendar::{Days, date_of, day_start, plus_days, shift_years, weekday_in};
use super::parts::{Form, Part, When};
use super::tokens::Tokens;
use super::{Granularity, Relation};

/// The words between parts of one date.
const JOINTS: [&str; 7] = ["at", "by", "on", "of", "the", "in", "from"];

/// Joins neighbours that say one date together.
pub(super) fn neighbours(tokens: &Tokens, parts: Vec<Part>) -> Vec<Part> {
    fold(parts, |left, right| {
        let gap = left.at.end..right.at.start;
        // "Next week: Tuesday", "next week – Thursday".
        let is_parted = gap.len() == 1 && tokens.is_mark(gap.start, ":-–—") && !tokens.glued(gap.end);
        let is_day_of_week = is_week(left) && right.form == Form::Weekday;
        let joint =
            gap.len() <= 3 && gap.into_iter().all(|at| tokens.is(at, &JOINTS) || tokens.is_mark(at, ",(@"));
        if joint || is_parted && is_day_of_week { pair(left, right) } else { None }
    })
}

/// Joins "from Monday to Wednesday", "between March and May", "2019–2021".
pub(super) fn ranges(tokens: &Tokens, parts: Vec<Part>) -> Vec<Part> {
    fold(parts, |left, right| {
        let gap = left.at.end;
        let one = right.at.start == gap + 1 || (right.at.start == gap + 2 && tokens.word(gap + 1) == "the");
        let between = {
            let before = if tokens.before(left.at.start, 1) == "the" { 2 } else { 1 };
            tokens.before(left.at.start, before) == "between"
        };
        let to = tokens.is(gap, &["to", "until", "till", "through", "thru"])
            || tokens.is_mark(gap, "-–—")
            || (between && tokens.word(gap) == "and");
        if one && to { range(left, right) } else { None }
    })
}

fn fold(parts: Vec<Part>, join: impl Fn(&Part, &Part) -> Option<Part>) -> Vec<Part> {
    let mut joined: Vec<Part> = Vec::with_capacity(parts.len());
    for part in parts {
        match joined.last_mut() {
            Some(last) => match join(last, &part) {
                Some(both) => *last = both,
                None => joined.push(part),
            },
            None => joined.push(part),
        }
    }
    joined
}

fn pair(left: &Part, right: &Part) -> Option<Part> {
    let at = left.at.start..right.at.end;
    let weekday = |part: &Part| part.form == Form::Weekday;
    let day_end = |part: &Part| part.form == Form::DayEnd;
    if left.form == Form::Clock || right.form == Form::Clock {
        let (clock, day) = if left.form == Form::Clock { (left, right) } else { (right, left) };
        let (from, to) = clock.on(day.one_day()?)?;
        return Some(Part { relative: day.relative, ..Part::moments(at, from, to, clock.granularity) });
    }
    // "EOD Friday", "Friday EOD": a day already lasts to its end.
    if day_end(left) || day_end(right) {
        let day = if day_end(left) { right } else { left };
        return day.one_day().map(|_| Part { at, form: Form::DayEnd, ..day.clone() });
    }
    if (weekday(left) && is_week(right)) || (is_week(left) && weekday(right)) {
        let (day, week) = if weekday(left) { (left, right) } else { (right, left) };
        let date = weekday_in(week.as_days()?.0, day.one_day()?.weekday())?;
        return Some(Part { relative: week.relative, ..Part::day(at, date) });
    }
    let dated = |part: &Part| part.form == Form::Plain && part.granularity == Granularity::Day;
    if weekday(left) && dated(right) && right.one_day().is_some() {
        return Some(Part { at, ..right.clone() });
    }
    if dated(left) && weekday(right) && left.one_day()?.weekday() == right.one_day()?.weekday() {
        return Some(Part { at, ..left.clone() });
    }
    let year = |part: &Part| part.granularity == Granularity::Year && part.form == Form::Plain;
    if (left.year_open && year(right)) || (year(left) && right.year_open) {
        let (open, year) = if left.year_open { (left, right) } else { (right, left) };
        let days = to_year(open.as_days()?, year.as_days()?.0.year())?;
        let when = When::Days(days.0, days.1);
        return Some(Part { at, when, year_open: false, relative: year.relative, ..open.clone() });
    }
    None
}

fn is_week(part: &Part) -> bool {
    part.granularity == Granularity::Week && part.form == Form::Plain
}

fn to_year(days: Days, year: i16) -> Option<Days> {
    shift_years(days, i64::from(year) - i64::from(days.0.year()))
}

fn range(left: &Part, right: &Part) -> Option<Part> {
    if left.form == Form::Range || right.form == Form::Range {
        return None;
    }
    let at = left.at.start..right.at.end;
    let joined = |when, part: &Part| Part { at: at.clone(), when, form: Form::Range, ..part.clone() };
    match (left.when, right.when) {
        (When::Days(..), When::Days(..)) => {
            let (mut from, mut to) = (left.as_days()?, right.as_days()?);
            match (left.year_open, right.year_open) {
                (true, false) if !right.relative => {
                    from = to_year(from, to.0.year())?;
                    if from.0 > to.1 {
                        from = shift_years(from, -1)?;
                    }
                }
                (false, true) if !left.relative => {
                    to = to_year(to, from.0.year())?;
                }
                _ => {}
            }
            if to.1 < from.0 && right.form == Form::Weekday {
                to = (plus_days(to.0, 7)?, plus_days(to.1, 7)?);
            } else if to.1 < from.0 && right.year_open {
                to = shift_years(to, 1)?;
            }
            let part = joined(
                When::Days(from.0, to.1),
                if left.granularity > right.granularity { right } else { left },
            );
            let year_open = left.year_open && right.year_open;
            (from.0 <= to.1).then_some(Part { year_open, relative: left.relative || right.relative, ..part })
        }
        // "2pm to 4pm on Friday", "Friday 2pm to 4pm".
        (When::Clock(time, 1, zone), When::Moments(from, _)) => {
            let start = Part::clock(at.clone(), time, 1, zone).on(date_of(from))?.0;
            moments(at, start, right)
        }
        (When::Moments(from, _), When::Clock(_, 1, _)) => {
            let until = right.on(date_of(from))?.0;
            (until > from).then(|| Part { at, when: When::Moments(from, until), ..hours(left) })
        }
        (When::Moments(from, _), When::Moments(..)) => moments(at, from, right),
        (When::Days(first, _), When::Moments(..)) => moments(at, day_start(first)?, right),
        _ => None,
    }
}

/// From a moment to another, or to the end of a part of a day.
fn moments(at: Range<usize>, from: Timestamp, right: &Part) -> Option<Part> {
    let When::Moments(start, end) = right.when else { return None };
    let until = if right.granularity == Granularity::Minute { start } else { end };
    (until > from).then(|| Part { at, when: When::Moments(from, until), ..hours(right) })
}

fn hours(part: &Part) -> Part {
    Part { granularity: Granularity::Hour, form: Form::Range, ..part.clone() }
}

/// What the words before a date say of it.
pub(super) fn relation(tokens: &Tokens, part: &Part) -> Relation {
    if part.form == Form::Range {
        return Relation::At;
    }
    let mut at = part.at.start;
    while tokens.is(at.wrapping_sub(1), &["the"]) || tokens.is_mark(at.wrapping_sub(1), ":(") {
        at -= 1;
    }
    let (one, two) = (tokens.before(at, 1), tokens.before(at, 2));
    match (two, one) {
        ("due" | "deadline", "on" | "for" | "in" | "is") | (_, "by" | "due" | "deadline") => Relation::By,
        // Its last day still counts: "before the end of June".
        (_, "before") if tokens.is(part.at.start, &["end"]) => Relation::By,
        ("later", "than") if matches!(tokens.before(at, 3), "no" | "not") => Relation::By,
        ("later", "than") | (_, "after") => Relation::After,
        ("earlier", "than") | ("prior", "to") | (_, "before") => Relation::Before,
        ("up", "to") | (_, "until" | "till") => Relation::Until,
        ("starting" | "beginning", "on" | "in" | "from") | ("as", "of") | (_, "since" | "starting") => {
            Relation::Since
        }
        (_, "from") if onwards(tokens, part.at.end) => Relation::Since,
        (_, "from") => Relation::From,
        _ if part.form == Form::DayEnd || tokens.is(part.at.start, &["eow", "eom", "eoq", "eoy"]) => {
            Relation::By
        }
        _ => Relation::At,
    }
}

/// "from May on", "from Monday onwards".
fn onwards(tokens: &Tokens, at: usize) -> bool {
    tokens.is(at, &["on", "onwards", "onward", "forward"])
}
