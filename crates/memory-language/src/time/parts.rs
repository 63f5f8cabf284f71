//! The parts that dates are made of, and which form is tried where.

use std::ops::Range;

use jiff::civil::{Date, Time};
use jiff::{SignedDuration, Timestamp};

use super::calendar::{Days, date_of, day_start, moment, plus_days, plus_minutes};
use super::tokens::{Kind, Tokens};
use super::words::Tag;
use super::{Granularity, Lean, Reading, join};

/// How deep a date may stand in another: «the end of the week of May 15».
const MAX_DEPTH: u8 = 3;

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
    /// «EOD», which needs no day beside it but may have one.
    DayEnd,
    /// «5pm», «evening»: nothing alone.
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

    /// The whole days it stands for, where it stands for days.
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

pub(super) struct Parser {
    pub(super) tokens: Tokens,
    pub(super) now: Option<Timestamp>,
    pub(super) today: Option<Date>,
    pub(super) lean: Lean,
    /// A question is read more freely: «recently», «the September release».
    pub(super) asked: bool,
}

impl Parser {
    pub(super) fn new(text: &str, now: Option<Timestamp>, lean: Lean, asked: bool) -> Self {
        Self { tokens: Tokens::new(text), now, today: now.map(date_of), lean, asked }
    }

    pub(super) fn readings(&self) -> Vec<Reading> {
        let mut parts = Vec::new();
        let mut at = 0;
        while at < self.tokens.len() {
            match self.part(at, 0) {
                Some(part) => {
                    at = part.at.end.max(at + 1);
                    parts.push(part);
                }
                None => at += 1,
            }
        }
        let parts = join::ranges(self, join::neighbours(self, parts));
        parts.iter().filter_map(|part| self.reading(part)).collect()
    }

    fn reading(&self, part: &Part) -> Option<Reading> {
        let (start, end) = part.bounds()?;
        Some(Reading {
            range: self.tokens.bytes(part.at.start).0..self.tokens.bytes(part.at.end - 1).1,
            start,
            end,
            granularity: part.granularity,
            relation: join::relation(self, part),
            is_ambiguous: part.ambiguous,
            is_relative: part.relative,
            is_year_open: part.year_open,
        })
    }

    /// The date that begins here.
    pub(super) fn part(&self, at: usize, depth: u8) -> Option<Part> {
        if depth > MAX_DEPTH {
            return None;
        }
        let part = match self.tokens.kind(at) {
            Kind::Number(..) => self.at_number(at, depth),
            Kind::Word(Tag::Plain) | Kind::Mark(_) | Kind::Break => None,
            Kind::Word(tag) => self.at_word(at, tag, depth),
        };
        // What was read before must not be read again.
        part.filter(|part| part.at.start >= at)
    }

    fn at_word(&self, at: usize, tag: Tag, depth: u8) -> Option<Part> {
        match tag {
            Tag::Month(month) => self.at_month(at, month),
            Tag::Weekday(weekday) => self.at_weekday(at, weekday, false, depth),
            Tag::ShortWeekday(weekday) => self.at_weekday(at, weekday, true, depth),
            Tag::Season(month) => self.at_season(at, month),
            Tag::Shift(shift) => self.at_shift(at, shift, depth),
            Tag::Count(_) => self.counted(at, depth),
            Tag::Ordinal(number) => self.ordinal(at, number, at + 1, depth),
            Tag::Unit(unit) => self.at_unit(at, unit, depth),
            Tag::PartOfDay(from, to) => self.part_of_day(at, from, to),
            Tag::Opener => self.at_opener(at, depth),
            Tag::Plain => None,
        }
    }

    fn part_of_day(&self, at: usize, from: i8, to: i8) -> Option<Part> {
        let start = if self.tokens.before(at, 1) == "late" { to - 2 } else { from };
        let time = Time::new(start, 0, 0, 0).ok()?;
        Some(Part::clock(at..at + 1, time, i64::from(to - start) * 60, 0))
    }

    fn at_opener(&self, at: usize, depth: u8) -> Option<Part> {
        match self.tokens.word(at) {
            "today" | "tonight" | "tomorrow" | "tmrw" | "tmr" | "tomoz" | "yesterday" | "yday" => {
                self.named_day(at)
            }
            "in" | "within" => self.counted_ahead(at),
            "half" => self.counted(at, depth),
            "early" | "earlier" | "mid" | "middle" | "late" | "later" => self.third_of_period(at, depth),
            "end" | "start" | "beginning" => self.edge(at, depth),
            "eod" | "eow" | "eom" | "eoq" | "eoy" | "cob" | "close" => self.short_end(at),
            "the" => self.after_the(at),
            "q" => self.quarter(at),
            "h" => self.half_year(at),
            "noon" | "midday" => Some(Part::clock(at..at + 1, Time::new(12, 0, 0, 0).ok()?, 1, 0)),
            "midnight" => Some(Part::clock(at..at + 1, Time::midnight(), 1, 0)),
            "recently" | "lately" => self.recently(at),
            _ => None,
        }
    }

    fn named_day(&self, at: usize) -> Option<Part> {
        let today = self.today?;
        let word = self.tokens.word(at);
        if word == "tonight" {
            let (from, to) = Part::clock(at..at + 1, Time::new(18, 0, 0, 0).ok()?, 360, 0).on(today)?;
            return Some(Part::moments(at..at + 1, from, to, Granularity::PartOfDay).relative());
        }
        let days = match word {
            "tomorrow" | "tmrw" | "tmr" | "tomoz" => 1,
            "yesterday" | "yday" => -1,
            _ => 0,
        };
        Some(Part::day(at..at + 1, plus_days(today, days)?).relative())
    }

    /// Two weeks or so; only a question means it as a time.
    fn recently(&self, at: usize) -> Option<Part> {
        let today = self.today.filter(|_| self.asked)?;
        Some(Part::days(at..at + 1, (plus_days(today, -14)?, today), Granularity::Month).relative())
    }
}
