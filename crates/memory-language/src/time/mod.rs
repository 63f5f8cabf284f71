//! Dates in running English text, resolved against a moment of reference. All times are UTC.
//!
//! Words and numbers are read once from left to right ([`tokens`]); at each that can begin a date the forms of
//! the language are tried ([`parser`] and its neighbours); parts that say one date together are joined ("Friday,
//! March 22", "tomorrow at 5pm", "from Monday to Wednesday": [`join`]). Nothing looks further than a few words,
//! so time is linear in the text. Questions are read more freely ([`asked`]), and in other languages too
//! ([`other_languages`]); dates that stand over parts of a text are found by [`headings`], and [`told`] reads each
//! where its sentence points.

mod ahead;
mod asked;
mod calendar;
mod counted;
mod day_numbers;
mod day_order;
pub mod headings;
mod holidays;
mod join;
mod months;
mod no_time;
mod numbers;
mod other_languages;
mod parser;
mod parts;
mod periods;
pub mod question;
mod shifted;
mod states;
#[cfg(test)]
mod tests;
mod tokens;
mod told;
mod weekdays;
mod window;
mod words;

use std::ops::Range;

use jiff::{SignedDuration, Timestamp};

pub use day_order::DayOrder;
use parser::Parser;
pub use told::told_readings;

/// A date expression of a text and the time it covers: `start..end`, the end left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// Bytes of the text it was found in, without the word before it that [`Reading::relation`] represents.
    pub range: Range<usize>,
    pub start: Timestamp,
    pub end: Timestamp,
    pub granularity: Granularity,
    pub relation: Relation,
    /// Two readings are possible, as in `3/4/2024`; the month-first one is given.
    pub is_ambiguous: bool,
    /// Counted from the reference, as "yesterday" and "next week" are.
    pub is_relative: bool,
    /// No year was said, as in "in May" or "on March 3rd", and one was chosen near the reference.
    pub is_year_open: bool,
}

impl Reading {
    /// The last moment to keep a promise of this date: a day's last second, the minute that was named, or what comes before a
    /// day or a longer time, as in "before Friday" and "before the weekend".
    pub fn deadline(&self) -> Timestamp {
        let is_long = self.end.duration_since(self.start) >= SignedDuration::from_hours(24);
        if self.relation == Relation::Before && is_long {
            return self.start.checked_sub(SignedDuration::from_secs(1)).unwrap_or(self.start);
        }
        match self.granularity {
            Granularity::Minute => self.start,
            Granularity::Hour => self.end,
            _ => self.end.checked_sub(SignedDuration::from_secs(1)).unwrap_or(self.end),
        }
    }

    /// A word such as "by", "due" or "until" makes the date a limit.
    pub fn is_deadline(&self) -> bool {
        matches!(self.relation, Relation::By | Relation::Before | Relation::Until)
    }
}

/// How exactly a date is meant, which may be less than the time it covers: "two months ago" is a day, but
/// meant to the month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Granularity {
    Minute,
    Hour,
    PartOfDay,
    Day,
    Week,
    Month,
    /// A season too.
    Quarter,
    Year,
    Decade,
}

/// What the words before a date say of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Relation {
    /// "on", "in", "during", or nothing.
    At,
    /// "by", "due", "no later than", and "EOD" without any.
    By,
    Before,
    Until,
    After,
    Since,
    /// "from May": since then, or merely of then.
    From,
}

/// Which way "Friday" or "in May" points when the words leave it open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lean {
    /// Things to come: today or later.
    Future,
    /// Things past: today or earlier.
    Past,
}

/// The date expressions of a text, in order and apart from each other.
///
/// `reference` is when the text was written; without it only dates that carry their year resolve.
pub fn readings(text: &str, reference: Option<Timestamp>, lean: Lean) -> Vec<Reading> {
    readings_in_order(text, reference, lean, None)
}

/// As [`readings`], where it is known which number of `3/4` is the day: no reading is ambiguous then.
pub fn readings_in_order(
    text: &str,
    reference: Option<Timestamp>,
    lean: Lean,
    order: Option<DayOrder>,
) -> Vec<Reading> {
    Parser { order, ..Parser::new(text, reference, lean, false) }.readings()
}
