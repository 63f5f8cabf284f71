//! Dates that "this", "next" and "last" point to, and units beside another date.

use jiff::civil::{Date, Time};

use super::calendar::{
    Days, decade_of, month_of, months_from, plus_days, plus_months, quarter_of, shift_years, week_of,
    weekend_of, year_of,
};
use super::counted::Amount;
use super::parser::Parser;
use super::parts::{Form, Part};
use super::words::{Shift, Tag, Unit};
use super::{Granularity, Lean};

/// What may follow "the 21st" where it is a date, beside the end of the clause.
const AFTER_A_DAY: [&str; 17] = [
    "and", "or", "at", "for", "to", "so", "but", "we", "i", "if", "because", "as", "with", "in", "when",
    "she", "he",
];

impl Parser {
    pub(super) fn at_shift(&self, at: usize, shift: Shift, depth: u8) -> Option<Part> {
        let tokens = &self.tokens;
        // "this past weekend", "this coming Friday".
        if shift == Shift::This
            && let Tag::Shift(inner @ (Shift::Past | Shift::Coming | Shift::Last | Shift::Next)) =
                tokens.tag(at + 1)
        {
            let inner = if inner == Shift::Past { Shift::Last } else { inner };
            let part = self.at_shift_word(at + 1, inner, depth)?;
            return Some(Part { at: at..part.at.end, ..part });
        }
        self.at_shift_word(at, shift, depth)
    }

    fn at_shift_word(&self, at: usize, shift: Shift, depth: u8) -> Option<Part> {
        let tokens = &self.tokens;
        let to = at + 1;
        // "the last week of May", "the last Friday in March".
        if tokens.word(at) == "last"
            && let Some(part) = self.ordinal(at, 0, to, depth)
        {
            return Some(part);
        }
        // "last weekend before April 10".
        if let (Shift::Last | Shift::Next, Tag::Unit(_) | Tag::Weekday(_)) = (shift, tokens.tag(to))
            && tokens.is(to + 1, &["before", "after"])
            && let Some(part) = self.beside_explicit(at, to, depth)
        {
            return Some(part);
        }
        if let Some(amount) = self.amount(to)
            && shift != Shift::This
            && !tokens.is(to, &["a", "an"])
        {
            // "The last two days before the move" are not those before now.
            if tokens.is(amount.end, &["before", "after"]) {
                return self.counted(to, depth).map(|part| Part { at: at..part.at.end, ..part });
            }
            return self.rolling(at, amount, matches!(shift, Shift::Next | Shift::Coming));
        }
        match tokens.tag(to) {
            Tag::Weekday(weekday) | Tag::ShortWeekday(weekday) => {
                if shift == Shift::This && tokens.is(to, &["sun", "sat"]) && !tokens.is_capital(to) {
                    return None;
                }
                let part = Part::day(at..to + 1, self.weekday_shifted(weekday, shift)?);
                Some(part.relative().with_form(Form::Weekday))
            }
            Tag::Month(month) => self.month_shifted(at, to, month, shift),
            Tag::Season(month) => {
                if tokens.is(to, &["fall"]) && tokens.is(to + 1, &["of", "from", "in"]) {
                    return None;
                }
                let days = months_from(self.season_towards(month, Some(shift))?, 3)?;
                Some(Part::days(at..to + 1, days, Granularity::Quarter).relative())
            }
            // "in the coming weeks" names none of them.
            Tag::Unit(unit) if !tokens.word(to).ends_with('s') => self.unit_shifted(at, to + 1, unit, shift),
            Tag::PartOfDay(from, until) => self.part_of_day_shifted(at, (from, until), shift),
            Tag::Holiday(holiday) => {
                let part = self.at_holiday(to, holiday, Some(shift))?;
                Some(Part { at: at..part.at.end, ..part })
            }
            _ => None,
        }
    }

    /// "last March", "this May 5th".
    fn month_shifted(&self, at: usize, to: usize, month: i8, shift: Shift) -> Option<Part> {
        let tokens = &self.tokens;
        let verb = !tokens.is_capital(to) && tokens.is(to, &["may", "march", "mar"]);
        if verb
            && (shift == Shift::This
                || tokens.is(to + 1, &["on", "of", "to", "for", "against", "be", "have"]))
        {
            return None;
        }
        let part = self.at_month(to, month).filter(|part| part.granularity == Granularity::Day);
        let year_said = part.as_ref().is_some_and(|part| !part.year_open);
        let part = part.or_else(|| self.month_alone(to, to + 1, month))?;
        if year_said {
            return None;
        }
        let (first, last) = part.as_days()?;
        let today = self.today?;
        let this_month = today.first_of_month();
        let years = i64::from(today.year() - first.year());
        let years = match shift {
            Shift::Last | Shift::Past if shift_years((first, last), years)?.1 >= this_month => years - 1,
            Shift::Next | Shift::Coming if shift_years((first, last), years)?.0 <= today => years + 1,
            _ => years,
        };
        let days = shift_years((first, last), years)?;
        Some(Part { year_open: false, ..Part::days(at..part.at.end, days, part.granularity).relative() })
    }

    fn unit_shifted(&self, at: usize, to: usize, unit: Unit, shift: Shift) -> Option<Part> {
        let today = self.today?;
        let by = match shift {
            Shift::Next | Shift::Coming => 1,
            Shift::Last | Shift::Past => -1,
            Shift::This => 0,
        };
        // "over the past month" reaches up to today.
        if shift == Shift::Past && self.tokens.before(at, 1) == "the" && unit != Unit::Weekend {
            return self.rolling(at, Amount::one(unit, to), false);
        }
        // "this coming weekend" is this week's.
        let by = if shift == Shift::Coming && unit == Unit::Weekend { 0 } else { by };
        let (days, granularity) = unit_from(today, unit, by)?;
        Some(Part::days(at..to, days, granularity).relative())
    }

    /// "this morning", "last night".
    fn part_of_day_shifted(&self, at: usize, (from, until): (i8, i8), shift: Shift) -> Option<Part> {
        let today = self.today?;
        let night = self.tokens.word(at + 1) == "night";
        let (date, minutes) = match shift {
            Shift::This => (today, i64::from(until - from) * 60),
            // To six in the morning.
            Shift::Last if night => (plus_days(today, -1)?, 12 * 60),
            Shift::Last if self.tokens.word(at + 1) == "evening" => (plus_days(today, -1)?, 6 * 60),
            _ => return None,
        };
        let clock = Part::clock(at..at + 2, Time::new(from, 0, 0, 0).ok()?, minutes, 0);
        let (start, end) = clock.on(date)?;
        Some(Part::moments(at..at + 2, start, end, Granularity::PartOfDay).relative())
    }

    /// A unit or weekday beside a date that does not count from today.
    fn beside_explicit(&self, at: usize, to: usize, depth: u8) -> Option<Part> {
        let part = match self.tokens.tag(to) {
            Tag::Unit(unit) => self.unit_beside(to, unit, depth),
            Tag::Weekday(weekday) => self.weekday_beside(to, to + 1, weekday, depth),
            _ => None,
        }?;
        (!part.relative).then_some(Part { at: at..part.at.end, ..part })
    }

    /// "the day before yesterday", "the week of May 15", "the week before last", "the weekend".
    pub(super) fn at_unit(&self, at: usize, unit: Unit, depth: u8) -> Option<Part> {
        let tokens = &self.tokens;
        let to = at + 1;
        let article = tokens.before(at, 1) == "the";
        if matches!(unit, Unit::Week | Unit::Weekend)
            && tokens.is(to, &["of", "beginning", "commencing", "starting"])
            && let Some(part) = self.part(tokens.skip(tokens.skip(to + 1, &["on"]), &["the"]), depth + 1)
        {
            let (first, _) = part.as_days()?;
            let (days, granularity) = unit_from(first, unit, 0)?;
            let whole = Part::days(at..part.at.end, days, granularity);
            let fits = part.granularity == Granularity::Day;
            return fits.then_some(Part { year_open: part.year_open, relative: part.relative, ..whole });
        }
        let two = match (tokens.word(to), tokens.word(to + 1)) {
            ("before", "last") => Some(-2),
            ("after", "next") => Some(2),
            _ => None,
        };
        if let Some(by) = two.filter(|_| article) {
            let (days, granularity) = unit_from(self.today?, unit, by)?;
            return Some(Part::days(at..to + 2, days, granularity).relative());
        }
        if let Some(part) = self.unit_beside(at, unit, depth).filter(|_| article || unit == Unit::Day) {
            return Some(part);
        }
        // "over the weekend", "at the weekend".
        let lead = matches!(
            tokens.before(at, 2),
            "over" | "at" | "on" | "by" | "for" | "during" | "before" | "until"
        );
        if unit == Unit::Weekend && article && lead {
            let (saturday, sunday) = weekend_of(self.today?)?;
            let back = if self.lean == Lean::Past && saturday > self.today? { -7 } else { 0 };
            let days = (plus_days(saturday, back)?, plus_days(sunday, back)?);
            return Some(Part::days(at..to, days, Granularity::Day).relative());
        }
        None
    }

    /// "by the 21st"; "on the 3rd floor" is none.
    pub(super) fn after_the(&self, at: usize) -> Option<Part> {
        let tokens = &self.tokens;
        let led = matches!(
            tokens.before(at, 1),
            "by" | "on" | "until" | "till" | "before" | "due" | "since" | "after" | "from"
        );
        let (wanted, 1..=2) = tokens.number(at + 1)? else { return None };
        let to = tokens.suffix(at + 2).filter(|_| led)?;
        let next = tokens.word(to);
        let goes_on = !next.is_empty() && (!AFTER_A_DAY.contains(&next) || tokens.suffix(to + 2).is_some());
        if goes_on || !tokens.ends_free(to) {
            return None;
        }
        let today = self.today?;
        let step = if self.lean == Lean::Future { 1 } else { -1 };
        for months in 0..3 {
            let month = plus_months(today.first_of_month(), months * step)?;
            if let Ok(date) = Date::new(month.year(), month.month(), wanted as i8)
                && (if step > 0 { date >= today } else { date <= today })
            {
                return Some(Part::day(at..to, date).relative());
            }
        }
        None
    }
}

/// The unit that lies `by` units from the one with `today` in it.
pub(super) fn unit_from(today: Date, unit: Unit, by: i64) -> Option<(Days, Granularity)> {
    Some(match unit {
        Unit::Week => (week_of(plus_days(today, by * 7)?)?, Granularity::Week),
        Unit::Weekend => (weekend_of(plus_days(today, by * 7)?)?, Granularity::Day),
        Unit::Month => (month_of(plus_months(today.first_of_month(), by)?), Granularity::Month),
        Unit::Quarter => (quarter_of(plus_months(today.first_of_month(), by * 3)?)?, Granularity::Quarter),
        Unit::Year => (year_of(today.year().checked_add(by as i16)?)?, Granularity::Year),
        Unit::Decade => (decade_of(today.year().checked_add(by as i16 * 10)?)?, Granularity::Decade),
        Unit::Minute | Unit::Hour | Unit::Day => return None,
    })
}
