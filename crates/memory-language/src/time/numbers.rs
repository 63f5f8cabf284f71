//! Dates that begin with a number: `2024-03-15`, `3/4/2024`, "8 May, 2023", "1:56 pm", `2024-W12`, "the 1990s".

use jiff::civil::{Date, ISOWeekDate, Time, Weekday};

use super::calendar::{decade_of, months_from, week_of, year_of};
use super::day_order::DayOrder;
use super::parser::Parser;
use super::parts::{Part, When};
use super::tokens::Kind;
use super::words::{Tag, is_lead};
use super::{Granularity, Lean};

/// Hours up to this are in the afternoon where nothing else is said: "the dentist on Tuesday, 3:40".
const LAST_AFTERNOON_HOUR: i8 = 5;

/// What is counted by the thousand, which distinguishes "in 2000 words" and "a 2000 line log" from a year.
const COUNTED: [&str; 40] = [
    "word",
    "character",
    "char",
    "line",
    "item",
    "token",
    "row",
    "record",
    "person",
    "user",
    "file",
    "bit",
    "bits",
    "byte",
    "step",
    "dollar",
    "euro",
    "mile",
    "page",
    "pages",
    "pixel",
    "pixels",
    "words",
    "characters",
    "chars",
    "lines",
    "items",
    "tokens",
    "rows",
    "records",
    "ms",
    "people",
    "users",
    "files",
    "bytes",
    "steps",
    "dollars",
    "euros",
    "km",
    "miles",
];

impl Parser {
    pub(super) fn at_number(&self, at: usize, depth: u8) -> Option<Part> {
        if !self.tokens.starts_free(at) && !self.second_of_range(at) {
            return None;
        }
        match self.tokens.number(at)? {
            (_, 4) => self.year_first(at),
            (value, 1..=2) => self
                .day_month_year(at)
                .or_else(|| self.day_and_month_number(at))
                .or_else(|| self.day_and_month(at))
                .or_else(|| self.said_clock(at))
                .or_else(|| {
                    self.tokens.suffix(at + 1).and_then(|to| self.ordinal(at, value as i8, to, depth))
                })
                .or_else(|| self.counted(at, depth)),
            (_, 3) => self.counted(at, depth),
            _ => None,
        }
    }

    /// A glued number of two digits after a mark.
    fn pair(&self, at: usize, marks: &str) -> Option<i8> {
        self.tokens.tail(at, marks).filter(|(_, digits)| *digits == 2).map(|(value, _)| value as i8)
    }

    fn year_first(&self, at: usize) -> Option<Part> {
        let year = self.tokens.digits(at, 4)? as i16;
        if let Some(month) = self.pair(at + 1, "-") {
            if let Some(day) = self.pair(at + 3, "-") {
                return Some(self.iso_date(at, year, month, day));
            }
            let first = Date::new(year, month, 1).ok().filter(|_| is_year(year))?;
            let free = self.tokens.ends_free(at + 3);
            return free.then(|| Part::days(at..at + 3, (first, first.last_of_month()), Granularity::Month));
        }
        if let Some((month, 1..=2)) = self.tokens.tail(at + 1, "/.")
            && let Some((day, 1..=2)) = self.tokens.tail(at + 3, "/.")
        {
            let date = Date::new(year, month as i8, day as i8).ok().filter(|_| is_year(year))?;
            return self.tokens.ends_free(at + 5).then(|| Part::day(at..at + 5, date));
        }
        self.iso_week(at, year)
            .or_else(|| self.year_and_quarter(at, year))
            .or_else(|| self.decade(at, year))
            .or_else(|| self.bare_year(at, year))
    }

    /// With a time and a zone where they follow.
    fn iso_date(&self, at: usize, year: i16, month: i8, day: i8) -> Part {
        let end = at + 5;
        let Ok(date) = Date::new(year, month, day) else { return Part::invalid(at..end) };
        let time_at = if self.tokens.word(end) == "t" && self.tokens.glued(end) { end + 1 } else { end };
        if !self.tokens.ends_free(time_at) && time_at == end {
            return Part::invalid(at..end);
        }
        let Some(clock) = self.clock(time_at) else { return Part::day(at..end, date) };
        let to = clock.at.end;
        match clock.on(date) {
            Some((from, until)) => Part::moments(at..to, from, until, Granularity::Minute),
            None => Part::invalid(at..to),
        }
    }

    fn iso_week(&self, at: usize, year: i16) -> Option<Part> {
        let dash = usize::from(self.tokens.is_mark(at + 1, "-") && self.tokens.glued(at + 1));
        let letter = at + 1 + dash;
        if self.tokens.word(letter) != "w" || !self.tokens.glued(letter) || !self.tokens.glued(letter + 1) {
            return None;
        }
        let week = self.tokens.digits(letter + 1, 2)? as i8;
        let monday = ISOWeekDate::new(year, week, Weekday::Monday).ok()?.date();
        Some(Part::days(at..letter + 2, week_of(monday)?, Granularity::Week))
    }

    fn year_and_quarter(&self, at: usize, year: i16) -> Option<Part> {
        let letter = if self.tokens.is_mark(at + 1, "-/") { at + 2 } else { at + 1 };
        let number = self.quarter_number(letter).filter(|_| is_year(year))?;
        let first = Date::new(year, number * 3 - 2, 1).ok()?;
        Some(Part::days(at..letter + 2, months_from(first, 3)?, Granularity::Quarter))
    }

    fn decade(&self, at: usize, year: i16) -> Option<Part> {
        let plural = self.tokens.word(at + 1) == "s" && self.tokens.glued(at + 1);
        let (first, last) = decade_of(year).filter(|_| plural && year % 10 == 0 && is_year(year))?;
        // "the 1900s" are the century, "the 2000s" hardly ever.
        let last = if year % 100 == 0 && year < 2000 { year_of(year + 99)?.1 } else { last };
        Some(Part::days(at..at + 2, (first, last), Granularity::Decade))
    }

    /// A year alone needs a word such as "in" before it.
    fn bare_year(&self, at: usize, year: i16) -> Option<Part> {
        let tokens = &self.tokens;
        let led = is_lead(tokens.before(at, 1))
            || matches!(tokens.before(at, 1), "year" | "summer" | "winter" | "autumn")
            || self.second_of_range(at)
            || (self.asked && !tokens.glued(at) && !self.is_numbered(at));
        let counted = tokens.is(at + 1, &COUNTED) || self.is_round_number(at, year);
        if !led || counted || !is_year(year) || !tokens.ends_free(at + 1) {
            // The dash of "2019-2021" is free enough when years are on both sides.
            let to_year =
                tokens.tail(at + 1, "-–").is_some_and(|(to, digits)| digits == 4 && is_year(to as i16));
            if !(led && to_year && is_year(year)) {
                return None;
            }
        }
        Some(Part::days(at..at + 1, year_of(year)?, Granularity::Year))
    }

    /// "The 2000 visitors": hundreds before what may be a noun, with no word such as "in" before them.
    fn is_round_number(&self, at: usize, year: i16) -> bool {
        const GO_ON: [&str; 22] = [
            "and", "at", "by", "did", "do", "for", "he", "i", "is", "of", "on", "or", "she", "that", "they",
            "to", "was", "we", "were", "what", "who", "with",
        ];
        let next = self.tokens.word(at + 1);
        let is_noun = !next.is_empty() && self.tokens.tag(at + 1) == Tag::Plain && !GO_ON.contains(&next);
        year % 100 == 0 && is_noun && !is_lead(self.tokens.before(at, 1))
    }

    /// The year of "from 2019 to 2021" that no word leads.
    fn second_of_range(&self, at: usize) -> bool {
        let tokens = &self.tokens;
        let (Some(first), true) = (
            at.checked_sub(2).and_then(|first| tokens.digits(first, 4)),
            tokens.is_mark(at.saturating_sub(1), "-–—")
                || matches!(tokens.before(at, 1), "to" | "and" | "until" | "till" | "through"),
        ) else {
            return false;
        };
        is_year(first as i16) && (is_lead(tokens.before(at, 3)) || self.asked)
    }

    /// With points the day comes first, with slashes the month unless it cannot be one.
    fn day_month_year(&self, at: usize) -> Option<Part> {
        let (a, _) = self.tokens.number(at)?;
        let mark = self.tokens.mark(at + 1)?;
        let (b, 1..=2) = self.tokens.tail(at + 1, "/.-")? else { return None };
        if self.tokens.mark(at + 3) != Some(mark) {
            return None;
        }
        let year = match self.tokens.tail(at + 3, "/.-")? {
            (year, 4) if is_year(year as i16) => year as i16,
            (year, 2) if mark == '/' && year < 50 => 2000 + year as i16,
            _ => return None,
        };
        if !self.tokens.ends_free(at + 5) {
            return None;
        }
        let is_day_first = mark != '/' || a > 12 || self.order == Some(DayOrder::DayFirst);
        let (month, day) = if is_day_first { (b, a) } else { (a, b) };
        let Ok(date) = Date::new(year, month as i8, day as i8) else {
            return Some(Part::invalid(at..at + 5));
        };
        let ambiguous = mark == '/' && a <= 12 && b <= 12 && a != b && self.order.is_none();
        Some(Part { ambiguous, ..Part::day(at..at + 5, date) })
    }

    /// "21st of March", "8 May, 2023", "08-May-2023", "3–5 March".
    fn day_and_month(&self, at: usize) -> Option<Part> {
        let tokens = &self.tokens;
        let (first, _) = tokens.number(at)?;
        let after = |at: usize| tokens.suffix(at).unwrap_or(at);
        let mut to = after(at + 1);
        let mut th = to > at + 1;
        let mut last = first;
        let joint = tokens.is_mark(to, "-–—") || tokens.is(to, &["to", "until", "till", "through", "and"]);
        let before = if tokens.before(at, 1) == "the" { 2 } else { 1 };
        let between = !tokens.is(to, &["and"]) || tokens.before(at, before) == "between";
        let next = tokens.skip(to + 1, &["the"]);
        if let Some((second, 1..=2)) = tokens.number(next)
            && joint
            && (between || second == first + 1)
        {
            last = second;
            th |= after(next + 1) > next + 1;
            to = after(next + 1);
        }
        let of = tokens.skip(to, &["of"]);
        let dashed = tokens.is_mark(to, "-") && tokens.glued(to) && last == first;
        let at_month = if dashed { to + 1 } else { of };
        let Tag::Month(month) = tokens.tag(at_month) else { return None };
        // "7 marches", "3May" and "we may 3 times" are no dates.
        if tokens.glued(at_month) && !dashed {
            return None;
        }
        let word = tokens.word(at_month);
        if !th
            && !tokens.is_capital(at_month)
            && matches!(word, "may" | "march" | "mar")
            && of == to
            && !self.asked
        {
            return None;
        }
        self.days_of_month(at, at_month + 1, month, (first, last), dashed)
    }

    /// The time of a clock as people say it: "3:40" and "3.40" of what is to come are in the afternoon.
    fn said_clock(&self, at: usize) -> Option<Part> {
        let clock = self.clock(at).or_else(|| self.dotted_clock(at))?;
        let When::Clock(time, 1, 0) = clock.when else { return Some(clock) };
        let is_bare = clock.at.len() == 3 && self.tokens.digits(at, 1).is_some();
        if self.lean != Lean::Future || !is_bare || !(1..=LAST_AFTERNOON_HOUR).contains(&time.hour()) {
            return Some(clock);
        }
        let time = Time::new(time.hour() + 12, time.minute(), 0, 0).ok()?;
        Some(Part::clock(clock.at, time, 1, 0))
    }

    /// "Monday at 3.40", "Tue 10.15"; "version 3.40" and "at 3.40 euros" are none.
    fn dotted_clock(&self, at: usize) -> Option<Part> {
        let tokens = &self.tokens;
        let (Some((hour @ 0..=23, 1..=2)), Some((minute @ 0..=59, 2))) =
            (tokens.number(at), tokens.tail(at + 1, "."))
        else {
            return None;
        };
        let before = at.wrapping_sub(1);
        let is_led = tokens.is(before, &["at"])
            || matches!(tokens.tag(before), Tag::Weekday(_) | Tag::ShortWeekday(_));
        let to = at + 3;
        let ends = to >= tokens.len() || tokens.kind(to) == Kind::Break || tokens.is_mark(to, ",.;!?)");
        if !is_led || !ends || !tokens.ends_free(to) {
            return None;
        }
        Some(Part::clock(at..to, Time::new(hour as i8, minute as i8, 0, 0).ok()?, 1, 0))
    }

    /// "1:56 pm", "5pm", "14:30", with seconds and a zone where they follow.
    pub(super) fn clock(&self, at: usize) -> Option<Part> {
        let tokens = &self.tokens;
        let (hour, 1..=2) = tokens.number(at)? else { return None };
        let mut to = at + 1;
        let mut minute = None;
        if let Some((value, 2)) = tokens.tail(to, ":") {
            minute = Some(value);
            to += 2;
        }
        let mut second = 0;
        if let Some((value, 2)) = tokens.tail(to, ":").filter(|_| minute.is_some()) {
            second = value;
            to += 2;
            if tokens.tail(to, ".").is_some() {
                to += 2;
            }
        }
        let (half, to) = self.half_of_day(to);
        let hour = match half {
            Some(_) if !(1..=12).contains(&hour) => return None,
            Some(half) => hour % 12 + half,
            None if minute.is_none() || hour > 23 => return None,
            None => hour,
        };
        let (zone, to) = if minute.is_some() { self.zone(to) } else { (0, to) };
        if !tokens.ends_free(to) {
            return None;
        }
        let time = Time::new(hour as i8, minute.unwrap_or(0).min(99) as i8, second as i8, 0).ok()?;
        Some(Part::clock(at..to, time, 1, zone))
    }

    fn half_of_day(&self, at: usize) -> (Option<u32>, usize) {
        let tokens = &self.tokens;
        let half = match tokens.word(at) {
            "am" => return (Some(0), at + 1),
            "pm" => return (Some(12), at + 1),
            "a" => 0,
            "p" => 12,
            _ => return (None, at),
        };
        let dotted = tokens.is_mark(at + 1, ".")
            && tokens.glued(at + 1)
            && tokens.word(at + 2) == "m"
            && tokens.glued(at + 2);
        if !dotted {
            return (None, at);
        }
        (Some(half), if tokens.is_mark(at + 3, ".") && tokens.glued(at + 3) { at + 4 } else { at + 3 })
    }

    fn zone(&self, at: usize) -> (i64, usize) {
        let tokens = &self.tokens;
        if (tokens.word(at) == "z" && tokens.glued(at)) || tokens.is(at, &["utc", "gmt"]) {
            return (0, at + 1);
        }
        let sign = match tokens.mark(at) {
            Some('+') => 1,
            Some('-' | '−') => -1,
            _ => return (0, at),
        };
        if !tokens.glued(at + 1) {
            return (0, at);
        }
        match (tokens.number(at + 1), tokens.tail(at + 2, ":")) {
            (Some((hours @ 0..=23, 2)), Some((minutes @ 0..=59, 2))) => {
                (sign * i64::from(hours * 60 + minutes), at + 4)
            }
            (Some((value, 4)), None) if value < 2400 => {
                (sign * i64::from(value / 100 * 60 + value % 100), at + 2)
            }
            _ => (0, at),
        }
    }
}

/// A number of four digits that is likely to be a year.
pub(super) fn is_year(year: i16) -> bool {
    (1900..=2100).contains(&year)
}
