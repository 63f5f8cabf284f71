//! The parser: which form of a date is tried at which token. The forms themselves are methods in the modules beside it.

use jiff::Timestamp;
use jiff::civil::{Date, Time};

use super::calendar::{date_of, plus_days};
use super::day_order::DayOrder;
use super::parts::Part;
use super::tokens::{Kind, Tokens};
use super::words::Tag;
use super::{Granularity, Lean, Reading, join};

/// How deep a date may be nested in another, as in "the end of the week of May 15".
const MAX_DEPTH: u8 = 3;

pub(super) struct Parser {
    pub(super) tokens: Tokens,
    pub(super) now: Option<Timestamp>,
    pub(super) today: Option<Date>,
    pub(super) lean: Lean,
    /// A question is read more freely: "recently", "the September release".
    pub(super) asked: bool,
    /// "Christmas" is a date where it is no limit too; in questions it always is.
    pub(super) names_days: bool,
    /// Which number of `3/4` is the day, where the text tells it elsewhere.
    pub(super) order: Option<DayOrder>,
}

impl Parser {
    pub(super) fn new(text: &str, now: Option<Timestamp>, lean: Lean, asked: bool) -> Self {
        let tokens = Tokens::new(text);
        Self { tokens, now, today: now.map(date_of), lean, asked, names_days: false, order: None }
    }

    pub(super) fn readings(&self) -> Vec<Reading> {
        let mut parts = Vec::new();
        let mut at = 0;
        while at < self.tokens.len() {
            // "On May 3 …, two days later" is two days after it, and not that day.
            let counted_on = || {
                let later = self.later(at, parts.last()?)?;
                parts.pop();
                Some(later)
            };
            match self.part(at, 0).or_else(counted_on) {
                Some(part) => {
                    at = part.at.end.max(at + 1);
                    parts.push(part);
                }
                None => at += 1,
            }
        }
        let parts = join::ranges(&self.tokens, join::neighbours(&self.tokens, parts));
        parts
            .iter()
            .filter_map(|part| self.reading(part).or_else(|| self.reading(&self.noon_of_today(part)?)))
            .collect()
    }

    fn reading(&self, part: &Part) -> Option<Reading> {
        let (start, end) = part.bounds()?;
        Some(Reading {
            range: self.tokens.bytes(part.at.start).0..self.tokens.bytes(part.at.end - 1).1,
            start,
            end,
            granularity: part.granularity,
            relation: join::relation(&self.tokens, part),
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
            Tag::Holiday(holiday) => self.at_holiday(at, holiday, None),
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
            "noon" | "midday" | "midnight" => self.noon(at),
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

    /// Two weeks or so; only a question means it as a time, and what was "most recently" may be long ago.
    fn recently(&self, at: usize) -> Option<Part> {
        let today = self.today.filter(|_| self.asked && self.tokens.before(at, 1) != "most")?;
        Some(Part::days(at..at + 1, (plus_days(today, -14)?, today), Granularity::Month).relative())
    }
}
