//! Pieces of a longer time: "end of Q2", "mid-April", "first week of June", "earlier this month", "EOD".

use jiff::civil::{Date, Weekday};

use super::calendar::{
    Days, days_between, months_from, plus_days, plus_months, quarter_of, third_of, weekday_in,
    weekday_towards, weekend_of, year_of,
};
use super::numbers::is_year;
use super::parser::Parser;
use super::parts::{Form, Part};
use super::shifted::unit_from;
use super::words::{Tag, Unit};
use super::{Granularity, Lean};

impl Parser {
    /// A longer time, named where no word needs to lead it, as after "end of".
    fn period(&self, at: usize, depth: u8) -> Option<Part> {
        let tokens = &self.tokens;
        let at = tokens.skip(at, &["the"]);
        if let Some(year) = tokens.digits(at, 4).map(|year| year as i16).filter(|year| is_year(*year))
            && tokens.ends_free(at + 1)
        {
            return Some(Part::days(at..at + 1, year_of(year)?, Granularity::Year));
        }
        match tokens.tag(at) {
            Tag::Month(month) => self.part(at, depth + 1).or_else(|| self.month_alone(at, at + 1, month)),
            Tag::Season(month) => self.at_season(at, month).or_else(|| {
                let days = months_from(self.season_towards(month, None)?, 3)?;
                Some(Part { year_open: true, ..Part::days(at..at + 1, days, Granularity::Quarter) })
            }),
            Tag::Unit(unit @ (Unit::Week | Unit::Month | Unit::Quarter | Unit::Year | Unit::Decade)) => {
                let (days, granularity) = unit_from(self.today?, unit, 0)?;
                Some(Part::days(at..at + 1, days, granularity).relative())
            }
            _ => self.part(at, depth + 1),
        }
    }

    fn long_period(&self, at: usize, depth: u8) -> Option<Part> {
        self.period(at, depth).filter(|part| part.as_days().is_some_and(|(first, last)| first < last))
    }

    /// "first week of June", "second half of 2023", "last Friday in March", "third quarter".
    pub(super) fn ordinal(&self, at: usize, number: i8, to: usize, depth: u8) -> Option<Part> {
        let tokens = &self.tokens;
        let next = to + 1;
        if tokens.is(next, &["of", "in"])
            && let Some(whole) = self.long_period(next + 1, depth)
        {
            // "the first days of April" are about a week.
            let unit = match tokens.tag(to) {
                Tag::Unit(Unit::Day) if tokens.word(to) == "days" => Tag::Unit(Unit::Week),
                tag => tag,
            };
            let days = match unit {
                Tag::Unit(unit) => unit_of(whole.as_days()?, number, unit),
                Tag::Weekday(weekday) => weekday_of(whole.as_days()?, number, weekday),
                _ if tokens.word(to) == "half" => half_of(whole.as_days()?, number),
                _ => None,
            };
            if let Some(days) = days {
                let granularity = match unit {
                    Tag::Unit(Unit::Week) => Granularity::Week,
                    Tag::Unit(Unit::Quarter) => Granularity::Quarter,
                    Tag::Unit(Unit::Month) => Granularity::Month,
                    Tag::Unit(_) | Tag::Weekday(_) => Granularity::Day,
                    _ => finer(whole.granularity),
                };
                return Some(Part { at: at..whole.at.end, ..within(&whole, days, granularity) });
            }
        }
        // "the first of May".
        if tokens.word(to) == "of"
            && number > 0
            && tokens.before(at, 1) == "the"
            && let Tag::Month(month) = tokens.tag(to + 1)
            && tokens.is_capital(to + 1)
        {
            return self.days_of_month(at, to + 2, month, (number as u32, number as u32), false);
        }
        if tokens.word(to) == "quarter" && (1..=4).contains(&number) {
            let part = self.part_of_year(at, next, number * 3 - 2, 3)?;
            // A game has a fourth quarter too.
            let led = matches!(tokens.before(at, 2), "by" | "of" | "until" | "before" | "since" | "for");
            return (led || self.asked || !part.year_open).then_some(part);
        }
        None
    }

    /// "mid-April", "early 2023", "late last year", "earlier this week".
    pub(super) fn third_of_period(&self, at: usize, depth: u8) -> Option<Part> {
        let tokens = &self.tokens;
        let word = tokens.word(at);
        let to = if tokens.is_mark(at + 1, "-–") { at + 2 } else { tokens.skip(at + 1, &["in", "of"]) };
        let to = tokens.skip(to, &["of", "the"]);
        let whole = self.long_period(to, depth)?;
        let (first, last) = whole.as_days()?;
        let plain = matches!(tokens.tag(to), Tag::Unit(_));
        if plain && word != "middle" {
            return None;
        }
        let days = match word {
            "early" => third_of((first, last), 0)?,
            "mid" | "middle" => third_of((first, last), 1)?,
            "late" => third_of((first, last), 2)?,
            _ if !whole.relative => return None,
            "earlier" => (first, self.today?.clamp(first, last)),
            _ => (self.today?.clamp(first, last), last),
        };
        Some(Part { at: at..whole.at.end, ..within(&whole, days, finer(whole.granularity)) })
    }

    /// "end of Q2", "the beginning of next week", "end of day".
    pub(super) fn edge(&self, at: usize, depth: u8) -> Option<Part> {
        let tokens = &self.tokens;
        if tokens.word(at + 1) != "of" {
            return None;
        }
        let is_end = tokens.word(at) == "end";
        let to = tokens.skip(at + 2, &["the", "this"]);
        if is_end && tokens.word(to) == "business" {
            return self.end_of_unit(at, to + 1, Unit::Day);
        }
        let whole = match tokens.tag(to) {
            // "the end of the week of May 15", but no "end of the day before".
            Tag::Unit(_) if tokens.is(to + 1, &["of", "before", "after"]) => self.part(to, depth + 1)?,
            Tag::Unit(unit) if is_end => return self.end_of_unit(at, to + 1, unit),
            _ => self.period(at + 2, depth)?,
        };
        let (first, last) = whole.as_days()?;
        // To a thing past it is a time about the end; to a thing to come, the last day there is.
        let third = if is_end { 2 } else { 0 };
        let days = match self.lean {
            Lean::Past if first < last => third_of((first, last), third)?,
            _ if is_end => (last, last),
            _ => (first, first),
        };
        let granularity = if self.lean == Lean::Past { finer(whole.granularity) } else { Granularity::Day };
        Some(Part { at: at..whole.at.end, ..within(&whole, days, granularity) })
    }

    /// "EOD", "COB", "close of business", "EOM".
    pub(super) fn short_end(&self, at: usize) -> Option<Part> {
        let tokens = &self.tokens;
        let (unit, to) = match tokens.word(at) {
            "eow" => (Unit::Week, at + 1),
            "eom" => (Unit::Month, at + 1),
            "eoq" => (Unit::Quarter, at + 1),
            "eoy" => (Unit::Year, at + 1),
            "close" if tokens.word(at + 1) == "of" && tokens.word(at + 2) == "business" => {
                (Unit::Day, at + 3)
            }
            "close" => return None,
            _ => (Unit::Day, at + 1),
        };
        self.end_of_unit(at, to, unit)
    }

    fn end_of_unit(&self, at: usize, to: usize, unit: Unit) -> Option<Part> {
        let today = self.today?;
        let last = match unit {
            // A working week ends on Friday, unless it is over.
            Unit::Week => weekday_in(today, Weekday::Friday)?.max(today),
            Unit::Month => today.last_of_month(),
            Unit::Quarter => quarter_of(today)?.1,
            Unit::Year => today.last_of_year(),
            Unit::Day => return Some(Part::day(at..to, today).relative().with_form(Form::DayEnd)),
            _ => return None,
        };
        Some(Part::day(at..to, last).relative())
    }
}

/// A piece of a longer time, as open as that is.
fn within(whole: &Part, days: Days, granularity: Granularity) -> Part {
    let part = Part::days(whole.at.clone(), days, granularity);
    Part { relative: whole.relative, year_open: whole.year_open, ambiguous: whole.ambiguous, ..part }
}

/// How exactly a third or half of something is meant.
fn finer(granularity: Granularity) -> Granularity {
    match granularity {
        Granularity::Decade => Granularity::Year,
        Granularity::Year => Granularity::Quarter,
        Granularity::Quarter => Granularity::Month,
        Granularity::Month => Granularity::Week,
        _ => Granularity::Day,
    }
}

/// The unit of that number in some days; zero is the last one.
fn unit_of((first, last): Days, number: i8, unit: Unit) -> Option<Days> {
    let back = i64::from(number) - 1;
    let days = match (unit, number) {
        (Unit::Day, 0) => (last, last),
        (Unit::Day, _) => (plus_days(first, back)?, plus_days(first, back)?),
        (Unit::Week, 0) => (plus_days(last, -6)?, last),
        (Unit::Week, _) => {
            let from = plus_days(first, back * 7)?;
            (from, plus_days(from, 6)?.min(last))
        }
        (Unit::Weekend, 0) => {
            let saturday = weekday_towards(last, Weekday::Saturday, Lean::Past)?;
            weekend_of(saturday)?
        }
        (Unit::Weekend, _) => {
            let saturday = weekday_towards(first, Weekday::Saturday, Lean::Future)?;
            weekend_of(plus_days(saturday, back * 7)?)?
        }
        (Unit::Month, 0) => months_from(last, 1)?,
        (Unit::Month, _) => months_from(nth_month(first, back)?, 1)?,
        (Unit::Quarter, 0) => quarter_of(last)?,
        (Unit::Quarter, _) => months_from(nth_month(first, back * 3)?, 3)?,
        _ => return None,
    };
    (days.0 >= first && days.0 <= last && days_between(first, last) > days_between(days.0, days.1))
        .then_some(days)
}

fn nth_month(first: Date, months: i64) -> Option<Date> {
    plus_months(first.first_of_month(), months)
}

fn weekday_of((first, last): Days, number: i8, weekday: Weekday) -> Option<Days> {
    let date = if number == 0 {
        weekday_towards(last, weekday, Lean::Past)?
    } else {
        plus_days(weekday_towards(first, weekday, Lean::Future)?, (i64::from(number) - 1) * 7)?
    };
    (date >= first && date <= last).then_some((date, date))
}

fn half_of((first, last): Days, number: i8) -> Option<Days> {
    let year = first.month() == 1 && first.day() == 1 && last.month() == 12;
    let middle = if year {
        Date::new(first.year(), 6, 30).ok()?
    } else {
        plus_days(first, days_between(first, last) / 2)?
    };
    match number {
        1 => Some((first, middle)),
        0 | 2 => Some((plus_days(middle, 1)?, last)),
        _ => None,
    }
}
