//! Dates that begin with the name of a month or a season, and quarters.

use jiff::civil::Date;

use super::calendar::{month_of, months_from, nearest_year, plus_days, plus_months, shift_years};
use super::numbers::is_year;
use super::parser::Parser;
use super::parts::{Form, Part};
use super::words::{Shift, Tag, is_lead, is_month_in_doubt, is_strong_lead};
use super::{Granularity, Lean};

/// Of things to come, a day of last year that has passed for longer is that of this year.
const PASSED_DAYS_MAX: i64 = 90;

impl Parser {
    pub(super) fn at_month(&self, at: usize, month: i8) -> Option<Part> {
        self.month_and_day(at, month).or_else(|| self.month_and_year(at, month)).or_else(|| {
            let to = self.past_point(at + 1);
            self.is_month_alone(at, to).then(|| self.month_alone(at, to, month)).flatten()
        })
    }

    /// Past the point of "Sept.".
    fn past_point(&self, at: usize) -> usize {
        let short =
            self.tokens.before(at, 1).len() <= 4 && self.tokens.is_mark(at, ".") && self.tokens.glued(at);
        // The last word of a sentence has a point too: it counts as one of the month if more follows.
        let goes_on = short && self.tokens.number(at + 1).is_some();
        if goes_on { at + 1 } else { at }
    }

    /// "March 21st, 2024", "Sept. 3", "March 3–5".
    fn month_and_day(&self, at: usize, month: i8) -> Option<Part> {
        let tokens = &self.tokens;
        let number = self.past_point(at + 1);
        let (first, 1..=2) = tokens.number(number)? else { return None };
        if tokens.glued(number) && !tokens.is_mark(number - 1, ".") {
            return None;
        }
        let after = |at: usize| tokens.suffix(at).unwrap_or(at);
        let mut to = after(number + 1);
        let th = to > number + 1;
        let ranged = tokens.is_mark(to, "-–—")
            || tokens.is(to, &["to", "through", "until", "till"])
            || (tokens.is(to, &["and"]) && tokens.before(at, 1) == "between");
        let mut last = first;
        if let Some((second, 1..=2)) = tokens.number(to + 1)
            && ranged
            && second > first
            && !matches!(tokens.tag(after(to + 2)), Tag::Month(_) | Tag::Unit(_))
            && tokens.tail(to + 2, ":").is_none()
        {
            last = second;
            to = after(to + 2);
        }
        let dated = self.year_after(to, false).0.is_some();
        let word = tokens.word(at);
        let doubtful = matches!(word, "may" | "march" | "mar") && !tokens.is_capital(at);
        if doubtful && !th && !dated && !self.asked && !is_strong_lead(tokens.before(at, 1)) {
            return None;
        }
        // "May 10:30", "March 3.5" and "June 5pm" have no day of the month.
        if !th && last == first && !tokens.ends_free(to) && !tokens.is_mark(to, "-–—") {
            return None;
        }
        self.days_of_month(at, to, month, (first, last), false)
    }

    /// Days of a month whose year follows at `to`, or does not.
    pub(super) fn days_of_month(
        &self,
        at: usize,
        to: usize,
        month: i8,
        (first, last): (u32, u32),
        dashed: bool,
    ) -> Option<Part> {
        let (year, end) = self.year_after(self.past_point(to), dashed);
        let to = if year.is_some() { end } else { to };
        // "Mar 5 10:00:00 2024".
        let after_clock = || self.clock(to).and_then(|clock| self.tokens.digits(clock.at.end, 4));
        let year = year.or_else(|| after_clock().map(|year| year as i16).filter(|year| is_year(*year)));
        // "32 March 2024" must not leave "March 2024" behind.
        let invalid = Some(Part::invalid(at..to));
        let (Ok(first), Ok(last)) = (i8::try_from(first), i8::try_from(last)) else { return invalid };
        let start = match year {
            Some(year) => Date::new(year, month, first).ok(),
            None => self.year_of_day(month, first),
        };
        let Some(start) = start else { return invalid };
        let Ok(end) = Date::new(start.year(), month, last) else { return invalid };
        if end < start {
            return invalid;
        }
        let form = if end > start { Form::Range } else { Form::Plain };
        let part = Part::days(at..to, (start, end), Granularity::Day).with_form(form);
        Some(Part { year_open: year.is_none(), ..part })
    }

    /// In a text the occurrence nearest to its day, of things to come one that has not long passed; a question about things
    /// past means the last one.
    fn year_of_day(&self, month: i8, day: i8) -> Option<Date> {
        let today = self.today?;
        let nearest = nearest_year(today, month, day)?;
        if self.asked && self.lean == Lean::Past && nearest > today {
            return Date::new(nearest.year() - 1, month, day).ok().or(Some(nearest));
        }
        if self.lean == Lean::Future && plus_days(nearest, PASSED_DAYS_MAX)? < today {
            return Date::new(nearest.year() + 1, month, day).ok().or(Some(nearest));
        }
        Some(nearest)
    }

    /// ", 2023", "of 2023", "'23".
    fn year_after(&self, at: usize, dashed: bool) -> (Option<i16>, usize) {
        let tokens = &self.tokens;
        if dashed {
            let year = tokens.tail(at, "-").filter(|(_, digits)| *digits == 4).map(|(year, _)| year as i16);
            return (year, at + 2);
        }
        let comma = at + usize::from(tokens.is_mark(at, ","));
        let number = tokens.skip(comma, &["of"]);
        if let Some(year) = tokens.digits(number, 4).filter(|year| *year >= 1000)
            && (!tokens.glued(number) || tokens.is_mark(number - 1, ","))
            && (tokens.ends_free(number + 1) || tokens.is_mark(number + 1, "-–"))
        {
            return (Some(year as i16), number + 1);
        }
        if tokens.is_mark(at, "'’")
            && tokens.glued(at + 1)
            && let Some(year) = tokens.digits(at + 1, 2)
        {
            return (Some(2000 + year as i16), at + 2);
        }
        (None, at)
    }

    /// "May 2023", "May of 2023", "Sept. '23".
    fn month_and_year(&self, at: usize, month: i8) -> Option<Part> {
        let (year, to) = self.year_after(self.past_point(at + 1), false);
        let first = Date::new(year.filter(|year| is_year(*year))?, month, 1).ok()?;
        Some(Part::days(at..to, month_of(first), Granularity::Month))
    }

    /// "May I", "march on", "April Smith", "June said": a month alone needs a word such as "in" before it.
    fn is_month_alone(&self, at: usize, to: usize) -> bool {
        let tokens = &self.tokens;
        let (word, before) = (tokens.word(at), tokens.before(at, 1));
        if tokens.glued(at) && !tokens.is_mark(at.wrapping_sub(1), "-–—(/\"'“‘«") {
            return false;
        }
        let from = at.saturating_sub(1);
        let second = tokens.is_mark(from, "-–—")
            || matches!(before, "to" | "and" | "until" | "through" | "till" | "or");
        let second = second
            && from > 0
            && matches!(tokens.tag(from - 1), Tag::Month(_))
            && tokens.is_capital(from - 1);
        let year = tokens.skip(to, &["of"]);
        let shifted = matches!(tokens.tag(year), Tag::Shift(_)) && tokens.word(year + 1) == "year";
        let first = (tokens.is_mark(to, "-–—") || tokens.is(to, &["to", "through", "until", "till"]))
            && matches!(tokens.tag(to + 1), Tag::Month(_));
        let first = first && tokens.is_capital(at) && tokens.is_capital(to + 1);
        let named = tokens.is_capital(to)
            && !tokens.glued(to)
            && matches!(tokens.tag(to), Tag::Plain | Tag::Season(_) | Tag::Holiday(_))
            && tokens.is_capital(at)
            && tokens.word(to).len() > 1;
        // "In May Dana said", but "for April Smith".
        if named && !is_strong_lead(before)
            || tokens.is(to, &["said", "says", "told", "asked", "is", "i"]) && !is_lead(before)
        {
            return false;
        }
        let led = if tokens.is_capital(at) {
            is_lead(before)
        } else {
            is_strong_lead(before)
                || (is_lead(before) && !is_month_in_doubt(word) && (self.asked || word.len() > 4))
        };
        let free = self.asked
            && tokens.is_capital(at)
            && word.len() > 4
            && !matches!(word, "march" | "april")
            && !named;
        led || first || shifted || (second && tokens.is_capital(at)) || free
    }

    pub(super) fn month_alone(&self, at: usize, to: usize, month: i8) -> Option<Part> {
        let first = self.month_towards(month)?;
        Some(Part { year_open: true, ..Part::days(at..to, month_of(first), Granularity::Month) })
    }

    fn month_towards(&self, month: i8) -> Option<Date> {
        let today = self.today?;
        let this_year = Date::new(today.year(), month, 1).ok()?;
        match self.lean {
            Lean::Future if this_year.last_of_month() < today => plus_months(this_year, 12),
            Lean::Past if this_year > today => plus_months(this_year, -12),
            _ => Some(this_year),
        }
    }

    /// "in the summer", "summer 2022", "the winter of 2023"; "fall" and "spring" are verbs without it.
    pub(super) fn at_season(&self, at: usize, month: i8) -> Option<Part> {
        let tokens = &self.tokens;
        let number = tokens.skip(at + 1, &["of"]);
        if let Some(year) = tokens.digits(number, 4).map(|year| year as i16).filter(|year| is_year(*year)) {
            let days = months_from(Date::new(year, month, 1).ok()?, 3)?;
            return Some(Part::days(at..number + 1, days, Granularity::Quarter));
        }
        let article = tokens.before(at, 1) == "the";
        let lead = tokens.before(at, if article { 2 } else { 1 });
        let led = matches!(lead, "in" | "during" | "since" | "until" | "till" | "over" | "throughout")
            || (lead == "by" && self.lean == Lean::Future)
            || (matches!(lead, "before" | "after" | "for") && article);
        let verb = tokens.is(at, &["fall", "spring"])
            && (!article && lead != "since" && !tokens.is(at, &["spring"])
                || tokens.is(at + 1, &["of", "from", "for"]));
        if !led || verb || (self.asked && matches!(lead, "for" | "by")) {
            return None;
        }
        let first = self.season_towards(month, None)?;
        let days = months_from(first, 3)?;
        Some(Part { year_open: true, ..Part::days(at..at + 1, days, Granularity::Quarter) })
    }

    /// The first day of a season; without a shift the one that lasts, or the nearest the way the text leans.
    pub(super) fn season_towards(&self, month: i8, shift: Option<Shift>) -> Option<Date> {
        let today = self.today?;
        let year = today.year();
        let begins = |years: i16| Date::new(year.checked_add(years)?, month, 1).ok();
        let ends = |first: Date| months_from(first, 3).map(|(_, last)| last);
        let mut seasons = (-2..=1).filter_map(begins);
        match (shift, self.lean) {
            (Some(Shift::Next), _) => seasons.find(|first| *first > today),
            (Some(Shift::Last | Shift::Past), _) => {
                seasons.rfind(|first| ends(*first).is_some_and(|last| last < today))
            }
            (None, Lean::Past) => seasons.rfind(|first| *first <= today),
            // The one that lasts, else that of this year, past or to come.
            (Some(Shift::This), Lean::Past) => seasons
                .find(|first| *first <= today && ends(*first).is_some_and(|last| last >= today))
                .or_else(|| begins(0)),
            _ => seasons.find(|first| ends(*first).is_some_and(|last| last >= today)),
        }
    }

    /// The number of a quarter whose letter is here.
    pub(super) fn quarter_number(&self, at: usize) -> Option<i8> {
        let number =
            self.tokens.number(at + 1).filter(|_| self.tokens.word(at) == "q" && self.tokens.glued(at + 1));
        number.and_then(|(value, digits)| (digits == 1 && (1..=4).contains(&value)).then_some(value as i8))
    }

    pub(super) fn quarter(&self, at: usize) -> Option<Part> {
        let first = self.quarter_number(at)? * 3 - 2;
        let part = self.part_of_year(at, at + 2, first, 3)?;
        (!self.tokens.glued(at) || self.tokens.is_mark(at - 1, "(-–/\"'")).then_some(part)
    }

    /// "H1 2024"; alone it may be a heading.
    pub(super) fn half_year(&self, at: usize) -> Option<Part> {
        let half = self.tokens.digits(at + 1, 1).filter(|half| (1..=2).contains(half))? as i8;
        let part = self.part_of_year(at, at + 2, half * 6 - 5, 6)?;
        (self.tokens.glued(at + 1) && !self.tokens.glued(at) && !part.year_open).then_some(part)
    }

    /// Some months of a year that follows, or of the nearest one.
    pub(super) fn part_of_year(&self, at: usize, to: usize, first: i8, months: i64) -> Option<Part> {
        let tokens = &self.tokens;
        if !tokens.ends_free(to) && tokens.tail(to, "/-").is_none() {
            return None;
        }
        let slash =
            if tokens.is_mark(to, "/-") && tokens.glued(to + 1) { to + 1 } else { tokens.skip(to, &["of"]) };
        let slash = if tokens.is_mark(slash, ",") { slash + 1 } else { slash };
        if let Some(year) = tokens.digits(slash, 4).map(|year| year as i16).filter(|year| is_year(*year)) {
            let days = months_from(Date::new(year, first, 1).ok()?, months)?;
            return Some(Part::days(at..slash + 1, days, Granularity::Quarter));
        }
        let today = self.today?;
        let days = months_from(Date::new(today.year(), first, 1).ok()?, months)?;
        let days = match self.lean {
            Lean::Future if days.1 < today => shift_years(days, 1)?,
            Lean::Past if days.0 > today => shift_years(days, -1)?,
            _ => days,
        };
        Some(Part { year_open: true, ..Part::days(at..to, days, Granularity::Quarter) })
    }
}
