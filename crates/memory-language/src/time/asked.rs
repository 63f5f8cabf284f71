//! Forms that only questions are read for: "a few days ago" as a range, "two days later", holidays, "at noon".

use jiff::civil::Time;

use super::calendar::{plus_days, plus_minutes};
use super::counted::Amount;
use super::holidays::Holiday;
use super::parser::Parser;
use super::parts::{Form, Part};
use super::words::{Shift, Unit};
use super::{Granularity, Lean, Reading};

/// What has a number of four digits that is no year.
const NUMBERED: [&str; 57] = [
    "pr",
    "prs",
    "mr",
    "room",
    "rooms",
    "issue",
    "issues",
    "ticket",
    "bug",
    "port",
    "build",
    "page",
    "order",
    "invoice",
    "number",
    "no",
    "nr",
    "id",
    "error",
    "code",
    "line",
    "model",
    "flight",
    "case",
    "rfc",
    "article",
    "chapter",
    "section",
    "request",
    "task",
    "story",
    "item",
    "version",
    "suite",
    "apartment",
    "apt",
    "flat",
    "unit",
    "gate",
    "bus",
    "route",
    "highway",
    "street",
    "building",
    "patch",
    "commit",
    "revision",
    "step",
    "part",
    "pin",
    "extension",
    "zimmer",
    "raum",
    "chambre",
    "salle",
    "numero",
    "stanza",
];
/// Words of a question that tell of what was done, in which "in 3 days" says how long it took.
pub(super) const TOLD: [&str; 20] = [
    "did", "was", "were", "had", "took", "happened", "finished", "went", "made", "been", "done", "said",
    "wrote", "bought", "sent", "came", "gave", "told", "paid", "saw",
];

impl Parser {
    /// A number of four digits that is one of a room, a ticket or the like.
    pub(super) fn is_numbered(&self, at: usize) -> bool {
        self.tokens.is(at.wrapping_sub(1), &NUMBERED)
    }

    /// "in 3 days" is a time to come where nothing in the question is told of the past.
    pub(super) fn asks_ahead(&self) -> bool {
        self.asked && !(0..self.tokens.len()).any(|at| self.tokens.is(at, &TOLD))
    }

    /// "a few days ago": not one day, but about then.
    pub(super) fn vaguely_ago(&self, at: usize, to: usize, amount: Amount) -> Option<Part> {
        let said = (at..amount.end).find_map(|at| match self.tokens.word(at) {
            "couple" => Some((2, 3)),
            "few" => Some((2, 6)),
            "several" => Some((3, 8)),
            _ => None,
        });
        let (least, most) = said.filter(|_| self.asked)?;
        let (days, granularity) = match amount.unit {
            Unit::Hour => {
                let now = self.now?;
                let (from, to_time) = (plus_minutes(now, -60 * most)?, plus_minutes(now, -60 * (least - 1))?);
                return Some(Part::moments(at..to, from, to_time, Granularity::Hour).relative());
            }
            Unit::Day => (1, Granularity::Week),
            Unit::Week | Unit::Weekend => (7, Granularity::Month),
            Unit::Month => (30, Granularity::Quarter),
            Unit::Year => (365, Granularity::Year),
            Unit::Minute | Unit::Quarter | Unit::Decade => return None,
        };
        let today = self.today?;
        let (from, until) =
            (plus_days(today, -days * most - days / 2)?, plus_days(today, -days * least + days / 2)?);
        Some(Part::days(at..to, (from, until), granularity).relative())
    }

    /// "two days later", counted from the date before it.
    pub(super) fn later(&self, at: usize, before: &Part) -> Option<Part> {
        let amount = self.amount(at).filter(|_| self.asked)?;
        let to = match (self.tokens.word(amount.end), self.tokens.word(amount.end + 1)) {
            ("later" | "afterwards" | "afterward" | "thereafter", _) => amount.end + 1,
            ("after", "that" | "this") => amount.end + 2,
            _ => return None,
        };
        let date = amount.away_from(before.as_days()?.1)?;
        let part = Part::day(at..to, date);
        Some(Part {
            granularity: amount.granularity(),
            relative: before.relative,
            year_open: before.year_open,
            ambiguous: before.ambiguous,
            ..part
        })
    }

    /// "Christmas 2024", "last Easter", "Halloween", "New Year's Day".
    pub(super) fn at_holiday(&self, at: usize, holiday: Holiday, shift: Option<Shift>) -> Option<Part> {
        let tokens = &self.tokens;
        // In a text it is a date where it is a limit: "by Christmas".
        let is_limit = || {
            let led = tokens.is(at.wrapping_sub(1), &["by", "before", "until", "till"]);
            led && tokens.is_capital(at) && !tokens.is_capital(at + 1)
        };
        let is_told = || self.names_days && self.tells_of_holiday(at, holiday);
        let today = self.today.filter(|_| self.asked || is_limit() || is_told())?;
        let mut to = at + 1;
        if holiday == Holiday::NewYear {
            to = tokens.skip(to, &["year", "years"]);
        }
        if tokens.is_mark(to, "'’") && tokens.word(to + 1) == "s" {
            to += 2;
        }
        let eve = tokens.word(to) == "eve";
        let day = tokens.word(to) == "day";
        if holiday == Holiday::NewYear && !eve && !day {
            return None;
        }
        to += usize::from(eve || day);
        let year_at = tokens.skip(to, &["of", "in"]);
        let said =
            tokens.digits(year_at, 4).map(|year| year as i16).filter(|year| (1900..=2100).contains(year));
        let dates = |year: i16| {
            let (first, last) = holiday.days(year)?;
            match (holiday, eve, day) {
                (Holiday::Christmas, true, _) => Some((first, first)),
                (Holiday::Christmas, _, true) => Some((plus_days(first, 1)?, plus_days(first, 1)?)),
                // That of 2024 is its last day.
                (Holiday::NewYear, true, _) if said.is_some() => {
                    Some((plus_days(first, 364)?.last_of_year(), plus_days(first, 364)?.last_of_year()))
                }
                (_, true, _) => Some((plus_days(first, -1)?, plus_days(first, -1)?)),
                _ => Some((first, last)),
            }
        };
        if let Some(year) = said {
            return Some(Part::days(at..year_at + 1, dates(year)?, Granularity::Day));
        }
        let years = [-1, 0, 1].map(|by| today.year().checked_add(by).and_then(dates));
        let mut known = years.into_iter().flatten();
        let ahead = match shift {
            Some(Shift::Next | Shift::Coming) => true,
            Some(_) => false,
            None => self.lean == Lean::Future,
        };
        let days = if ahead {
            known.find(|(_, last)| *last >= today)
        } else {
            known.rfind(|(first, _)| *first <= today)
        };
        let part = Part::days(at..to, days?, Granularity::Day);
        Some(if shift.is_some() { part.relative() } else { Part { year_open: true, ..part } })
    }

    /// "Christmas Eve is at ours", "we meet at Easter"; but not "the Christmas tree", "a new day".
    fn tells_of_holiday(&self, at: usize, holiday: Holiday) -> bool {
        const LEADS: [&str; 9] = ["at", "on", "over", "for", "after", "since", "this", "last", "next"];
        const GO_ON: [&str; 11] = ["is", "was", "will", "and", "we", "i", "he", "she", "they", "with", "at"];
        let mut to = self.tokens.skip(at + 1, &["year", "years"]);
        if holiday == Holiday::NewYear && to == at + 1 {
            return false;
        }
        if self.tokens.is_mark(to, "'’") {
            to += 2;
        }
        let is_led = self.tokens.is(at.wrapping_sub(1), &LEADS) && holiday != Holiday::Valentine;
        let ends = self.tokens.word(at + 1).is_empty() || self.tokens.is(at + 1, &GO_ON);
        self.tokens.is(to, &["eve", "day"]) || is_led && ends
    }

    /// About noon, or the middle of the night.
    pub(super) fn noon(&self, at: usize) -> Option<Part> {
        let hour = if self.tokens.word(at) == "midnight" { 0 } else { 12 };
        let (from, minutes) = match (self.asked, hour) {
            (true, 12) => (11, 120),
            (true, _) => (0, 60),
            (false, hour) => (hour, 1),
        };
        Some(Part::clock(at..at + 1, Time::new(from, 0, 0, 0).ok()?, minutes, 0))
    }

    /// "at noon" without a day: the last one, or the next.
    pub(super) fn noon_of_today(&self, part: &Part) -> Option<Part> {
        let led = self
            .tokens
            .is(part.at.start.wrapping_sub(1), &["at", "around", "since", "until", "before", "after", "by"]);
        let named = self.tokens.is(part.at.start, &["noon", "midday"]);
        let (now, today) = (self.now?, self.today?);
        if part.form != Form::Clock || !self.asked || !led || !named {
            return None;
        }
        let (mut from, mut to) = part.on(today)?;
        let step = match self.lean {
            Lean::Past if from > now => -24 * 60,
            Lean::Future if to < now => 24 * 60,
            _ => 0,
        };
        (from, to) = (plus_minutes(from, step)?, plus_minutes(to, step)?);
        Some(Part::moments(part.at.clone(), from, to, Granularity::PartOfDay).relative())
    }
}

pub(super) fn words(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The words before a date, from the nearest on.
pub(super) fn words_before<'a>(question: &'a str, reading: &Reading) -> impl Iterator<Item = &'a str> {
    let clause = question[..reading.range.start].rsplit([',', ';', '.', '?', '!', ':']).next().unwrap_or("");
    words(clause).rev()
}

pub(super) fn is_any(word: &str, of: &[&str]) -> bool {
    of.iter().any(|other| word.eq_ignore_ascii_case(other))
}
