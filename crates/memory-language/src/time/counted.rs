//! Counted dates: "two weeks ago", "in 3 business days", "within 48 hours", "two days before May 8".

use jiff::civil::Date;

use super::calendar::{Days, month_of, plus_days, plus_minutes, plus_months, plus_workdays, weekend_of};
use super::parser::Parser;
use super::parts::Part;
use super::words::{Tag, Unit};
use super::{Granularity, Lean};

/// A number of units; `half` of one more where it says so.
#[derive(Debug, Clone, Copy)]
pub(super) struct Amount {
    pub(super) count: i64,
    half: bool,
    working: bool,
    pub(super) unit: Unit,
    /// The token after it.
    pub(super) end: usize,
}

impl Amount {
    pub(super) fn one(unit: Unit, end: usize) -> Self {
        Self { count: 1, half: false, working: false, unit, end }
    }

    fn signed(self, sign: i64) -> Self {
        Self { count: self.count * sign, ..self }
    }

    pub(super) fn granularity(self) -> Granularity {
        match self.unit {
            Unit::Minute => Granularity::Minute,
            Unit::Hour => Granularity::Hour,
            Unit::Day | Unit::Weekend => Granularity::Day,
            Unit::Week => Granularity::Week,
            Unit::Month => Granularity::Month,
            Unit::Quarter => Granularity::Quarter,
            Unit::Year => Granularity::Year,
            Unit::Decade => Granularity::Decade,
        }
    }

    /// The day this far from another.
    pub(super) fn away_from(self, date: Date) -> Option<Date> {
        let half = |unit: i64| if self.half { unit / 2 * self.count.signum() } else { 0 };
        match self.unit {
            Unit::Minute | Unit::Hour => None,
            Unit::Day if self.working && self.count > 0 => plus_workdays(date, self.count),
            Unit::Day => plus_days(date, self.count),
            Unit::Week | Unit::Weekend => plus_days(date, self.count.checked_mul(7)? + half(7)),
            Unit::Month => plus_days(plus_months(date, self.count)?, half(30)),
            Unit::Quarter => plus_months(date, self.count.checked_mul(3)?),
            Unit::Year => plus_months(date, self.count.checked_mul(12)? + half(12)),
            Unit::Decade => plus_months(date, self.count.checked_mul(120)? + half(120)),
        }
    }

    fn minutes(self) -> Option<i64> {
        match self.unit {
            Unit::Minute => Some(self.count),
            Unit::Hour => self.count.checked_mul(60).map(|minutes| minutes + if self.half { 30 } else { 0 }),
            _ => None,
        }
    }
}

impl Parser {
    /// "two weeks", "a few days", "a couple of months", "half a year", "a year and a half", "3 business days".
    pub(super) fn amount(&self, at: usize) -> Option<Amount> {
        let tokens = &self.tokens;
        let mut half = false;
        let (mut count, mut to) = match tokens.number(at) {
            // "3-4 weeks" are four.
            Some((_, 1..=3)) if tokens.tail(at + 1, "-–").is_some_and(|(_, digits)| digits < 4) => {
                (i64::from(tokens.tail(at + 1, "-–")?.0), at + 3)
            }
            Some((value, 1..=3)) => (i64::from(value), at + 1),
            Some(_) => return None,
            None if tokens.word(at) == "half" && tokens.is(at + 1, &["a", "an"]) => {
                half = true;
                (0, at + 2)
            }
            None => match tokens.tag(at) {
                Tag::Count(count) => (count, at + 1),
                _ => return None,
            },
        };
        if tokens.is(at, &["a"])
            && let Tag::Count(vague) = tokens.tag(to)
        {
            (count, to) = (vague, to + 1);
        }
        to = tokens.skip(tokens.skip(to, &["of"]), &["full", "whole", "more"]);
        if tokens.is_mark(to, "-") && tokens.glued(to) {
            to += 1;
        }
        let working = tokens.is(to, &["business", "working", "work"]);
        let unit = match tokens.tag(to + usize::from(working)) {
            Tag::Unit(unit) => unit,
            _ if !half && tokens.is(to, &["fortnight", "fortnights"]) => {
                count *= 2;
                Unit::Week
            }
            _ => return None,
        };
        let mut end = to + usize::from(working) + 1;
        if tokens.word(end) == "and" && tokens.is(end + 1, &["a"]) && tokens.word(end + 2) == "half" {
            (half, end) = (true, end + 3);
        }
        if tokens.word(end) == "or"
            && let Tag::Count(more) = tokens.tag(end + 1)
        {
            (count, end) = (more, end + 2);
        }
        // "half a year" is six months.
        if half && count == 0 {
            return match unit {
                Unit::Year => Some(Amount { count: 6, half: false, working, unit: Unit::Month, end }),
                Unit::Decade => Some(Amount { count: 5, half: false, working, unit: Unit::Year, end }),
                Unit::Hour => Some(Amount { count: 30, half: false, working, unit: Unit::Minute, end }),
                _ => None,
            };
        }
        Some(Amount { count, half, working, unit, end })
    }

    /// "… ago", "… from now", "… before May 8", "a week from Friday".
    pub(super) fn counted(&self, at: usize, depth: u8) -> Option<Part> {
        let tokens = &self.tokens;
        let amount = self.amount(at)?;
        let to = amount.end;
        match tokens.word(to) {
            "ago" | "back" => self
                .vaguely_ago(at, to + 1, amount)
                .or_else(|| self.away_from_now(at, tokens.skip(to + 1, &["today"]), amount.signed(-1))),
            "from" if tokens.is(to + 1, &["now", "today"]) => self.away_from_now(at, to + 2, amount),
            _ => {
                let far = |(first, last): Days, before: bool| {
                    let date = amount.signed(if before { -1 } else { 1 }).away_from(if before {
                        first
                    } else {
                        last
                    })?;
                    Some((date, date))
                };
                let part = self.beside(at, to, |(days, before)| far(days, before), depth)?;
                Some(Part { granularity: part.granularity.max(amount.granularity()), ..part })
            }
        }
    }

    fn away_from_now(&self, at: usize, to: usize, amount: Amount) -> Option<Part> {
        if let Some(minutes) = amount.minutes() {
            let then = plus_minutes(self.now?, minutes)?;
            return Some(Part::moments(at..to, then, plus_minutes(then, 1)?, Granularity::Minute).relative());
        }
        let date = amount.away_from(self.today?)?;
        if amount.unit == Unit::Weekend {
            return Some(Part::days(at..to, weekend_of(date)?, Granularity::Day).relative());
        }
        Some(Part { granularity: amount.granularity(), ..Part::day(at..to, date).relative() })
    }

    /// "in two weeks", "within 48 hours", "within the next month". What was done "in two weeks" took so long.
    pub(super) fn counted_ahead(&self, at: usize) -> Option<Part> {
        let tokens = &self.tokens;
        let within = tokens.word(at) == "within";
        let the = tokens.skip(at + 1, &["about", "the"]);
        let count = tokens.skip(the, &["next", "about"]);
        let amount = self.amount(count)?;
        let to = if tokens.is_mark(amount.end, "'’") && tokens.is(amount.end + 1, &["time"]) {
            amount.end + 2
        } else {
            amount.end
        };
        if self.lean == Lean::Past && !within && !self.asks_ahead() {
            return None;
        }
        let part = self.away_from_now(at, to, amount)?;
        if !within && count == the {
            return Some(part);
        }
        let now = self.now?;
        let (start, end) = part.bounds()?;
        let (end, granularity) = match part.granularity {
            Granularity::Minute => (start, Granularity::Hour),
            granularity => (end, granularity),
        };
        Some(Part::moments(at..to, now, end, granularity).relative())
    }

    /// "the last three weeks", "the next few days": from or to now.
    pub(super) fn rolling(&self, at: usize, amount: Amount, ahead: bool) -> Option<Part> {
        let (now, today) = (self.now?, self.today?);
        let amount = amount.signed(if ahead { 1 } else { -1 });
        if let Some(minutes) = amount.minutes() {
            let then = plus_minutes(now, minutes)?;
            let part = Part::moments(at..amount.end, then.min(now), then.max(now), Granularity::Hour);
            return Some(part.relative());
        }
        let then = amount.away_from(today)?;
        let granularity = if amount.unit == Unit::Weekend { Granularity::Week } else { amount.granularity() };
        Some(Part::days(at..amount.end, (then.min(today), then.max(today)), granularity).relative())
    }

    /// What is before or after another date: `read` is given that date's days, and true for before.
    pub(super) fn beside(
        &self,
        at: usize,
        to: usize,
        read: impl Fn((Days, bool)) -> Option<Days>,
        depth: u8,
    ) -> Option<Part> {
        let tokens = &self.tokens;
        let (before, to) = match tokens.word(to) {
            "before" => (true, to + 1),
            "prior" => (true, tokens.skip(to + 1, &["to"])),
            "after" | "following" | "from" => (false, to + 1),
            _ => return None,
        };
        let anchor = self.part(tokens.skip(to, &["the"]), depth + 1)?;
        let days = read((anchor.as_days()?, before))?;
        Some(Part {
            relative: anchor.relative,
            year_open: anchor.year_open,
            ambiguous: anchor.ambiguous,
            ..Part::days(at..anchor.at.end, days, anchor.granularity)
        })
    }

    /// The whole unit just before or after some days: "the week before May 15", "the month after".
    pub(super) fn unit_beside(&self, at: usize, unit: Unit, depth: u8) -> Option<Part> {
        let part = self.beside(at, at + 1, |(days, before)| unit_beside(days, before, unit), depth)?;
        let granularity = Amount::one(unit, at).granularity();
        Some(Part { granularity, ..part })
    }
}

fn unit_beside((first, last): Days, before: bool, unit: Unit) -> Option<Days> {
    let (edge, sign) = if before { (plus_days(first, -1)?, -1) } else { (plus_days(last, 1)?, 1) };
    let whole_month = first == first.first_of_month() && last == first.last_of_month();
    let span = |days: i64| {
        let other = plus_days(edge, sign * (days - 1))?;
        Some((edge.min(other), edge.max(other)))
    };
    match unit {
        Unit::Day => Some((edge, edge)),
        Unit::Week => span(7),
        Unit::Weekend if before => {
            let saturday = weekend_of(plus_days(first, -1)?)?;
            if saturday.0 < first { Some(saturday) } else { weekend_of(plus_days(first, -7)?) }
        }
        Unit::Weekend => {
            let saturday = weekend_of(plus_days(last, 1)?)?;
            Some(saturday)
        }
        Unit::Month if whole_month => Some(month_of(edge)),
        Unit::Month => span(30),
        Unit::Year if first.month() == 1 && last.month() == 12 => super::calendar::year_of(edge.year()),
        Unit::Year => span(365),
        _ => None,
    }
}
