//! Dates that begin with the name of a weekday.

use jiff::civil::{Date, Weekday};

use super::calendar::{Days, plus_days, plus_months, weekday_in, weekday_towards};
use super::parser::Parser;
use super::parts::{Form, Part};
use super::tokens::Kind;
use super::words::{Shift, Tag};
use super::{Granularity, Lean};

/// "Easter Monday", "Ash Wednesday": no weekday like others.
const NAMED_DAYS: [&str; 12] = [
    "ash", "black", "cyber", "easter", "good", "holy", "maundy", "palm", "pancake", "shrove", "super", "whit",
];
/// Of these the ones that also say what a day was like.
const ADJECTIVES: [&str; 4] = ["black", "good", "holy", "super"];
/// "He sat 10 minutes", "the sun": what stands before a short weekday that is another word.
const NO_WEEKDAY_BEHIND: [&str; 7] = ["he", "i", "she", "the", "they", "we", "who"];

impl Parser {
    /// "Friday", "by Wed"; "Mondays", "every Monday", "the sun" and "he sat" are none.
    pub(super) fn at_weekday(&self, at: usize, weekday: Weekday, short: bool, depth: u8) -> Option<Part> {
        let tokens = &self.tokens;
        let before = tokens.before(at, 1);
        if self.is_of_a_holiday(at) || matches!(before, "every" | "each" | "most" | "per") {
            return None;
        }
        let to = if short && tokens.is_mark(at + 1, ".") && tokens.glued(at + 1) { at + 2 } else { at + 1 };
        let word = tokens.word(at);
        if let Some(part) = self.weekday_and_day(at, to, weekday, short) {
            return Some(part);
        }
        if let Some(part) = self.weekday_settles(at, to, weekday) {
            return Some(part);
        }
        if short {
            let next = if tokens.is_mark(to, ",") { to + 1 } else { to };
            // "Fri, 5 May 2023": the date says it.
            if let Some(date) = self.part(next, depth + 1)
                && tokens.is_capital(at)
                && date.one_day().is_some_and(|day| day.weekday() == weekday)
                && !date.relative
            {
                return Some(Part { at: at..date.at.end, ..date });
            }
            let led = matches!(
                before,
                "by" | "on"
                    | "until"
                    | "till"
                    | "before"
                    | "due"
                    | "since"
                    | "after"
                    | "eod"
                    | "cob"
                    | "from"
            );
            // "by fri", "count the chairs, Mon", "(me, Wed)"; "the sun" and "he sat" are none.
            let led = led && (tokens.is_capital(at) || word != "sun");
            let timed = self.is_timed(to) && !NO_WEEKDAY_BEHIND.contains(&before);
            if !led && !timed && !self.closes_clause(at, to) {
                return None;
            }
        }
        if before == "the" && tokens.word(to) == "before" && tokens.word(to + 1) == "last" {
            let last = self.weekday_shifted(weekday, Shift::Last)?;
            return Some(Part::day(at..to + 2, plus_days(last, -7)?).relative());
        }
        if before == "the"
            && let Some(part) = self.weekday_beside(at, to, weekday, depth)
        {
            return Some(part);
        }
        let today = self.today?;
        // "Monday the 18th".
        let number = tokens.skip(to, &["the"]);
        if let (Some((day, 1..=2)), Some(end)) = (tokens.number(number), tokens.suffix(number + 1))
            && let Some(date) = weekday_of_day(today, weekday, day as i8)
            && tokens.word(end) != "of"
            && !matches!(tokens.tag(end), Tag::Month(_))
        {
            return Some(Part::day(at..end, date).relative());
        }
        if tokens.word(to) == "week" && self.goes_no_further(to + 1) {
            let next = weekday_towards(today, weekday, Lean::Future)?;
            return Some(Part::day(at..to + 1, plus_days(next, 7)?).relative());
        }
        if tokens.word(to) == "next" && self.goes_no_further(to + 1) {
            return Some(Part::day(at..to + 1, self.weekday_shifted(weekday, Shift::Next)?).relative());
        }
        let date = weekday_towards(self.weekdays_from(before)?, weekday, self.lean)?;
        Some(Part::day(at..to, date).relative().with_form(Form::Weekday))
    }

    /// The day from which a weekday behind a word is looked for.
    fn weekdays_from(&self, before: &str) -> Option<Date> {
        // "As always the first Thursday": of each month.
        if !self.asked && matches!(before, "first" | "second" | "third" | "fourth" | "fifth") {
            return None;
        }
        // "We will call on Tuesday", written on a Tuesday: today would be called so.
        let is_later = !self.asked && self.lean == Lean::Future && before == "on";
        if is_later { plus_days(self.today?, 1) } else { self.today }
    }

    /// "Wednesday week" (a week from the next Wednesday), "Friday next"; but not "our Wednesday week plan".
    fn goes_no_further(&self, end: usize) -> bool {
        const GO_ON: [&str; 8] = ["at", "in", "with", "for", "and", "if", "because", "instead"];
        match self.tokens.kind(end) {
            Kind::Break => true,
            Kind::Mark(mark) => ")].|;,!?".contains(mark),
            _ => end >= self.tokens.len() || self.tokens.is(end, &GO_ON),
        }
    }

    /// "Bank holiday Monday", "Labor Day Monday", "Good Friday": the weekday in the name of a holiday.
    fn is_of_a_holiday(&self, at: usize) -> bool {
        let tokens = &self.tokens;
        let (before, is_capital) = (tokens.before(at, 1), tokens.is_capital(at.wrapping_sub(1)));
        // Questions are often typed in small letters: "on good friday", but not "a good friday".
        let is_typed = self.asked && (!ADJECTIVES.contains(&before) || tokens.before(at, 2) == "on");
        before == "holiday"
            || before == "day" && is_capital
            || NAMED_DAYS.contains(&before) && (is_capital || is_typed)
    }

    /// "Sat 07:50", "sat evening", "Weds eve".
    fn is_timed(&self, to: usize) -> bool {
        matches!(self.tokens.tag(to), Tag::PartOfDay(..))
            || self.tokens.word(to) == "eve"
            || self.clock(to).is_some()
    }

    /// "Tue 3/11/2026": which number is the day, the weekday says.
    fn weekday_settles(&self, at: usize, to: usize, weekday: Weekday) -> Option<Part> {
        let next = if self.tokens.is_mark(to, ",") { to + 1 } else { to };
        let read = self.at_number(next, 0).filter(|part| part.ambiguous)?;
        let date = read.one_day()?;
        let other = Date::new(date.year(), date.day(), date.month()).ok();
        let day = [Some(date), other].into_iter().flatten().find(|day| day.weekday() == weekday)?;
        Some(Part { at: at..read.at.end, ambiguous: false, ..Part::day(at..read.at.end, day) })
    }

    /// "Fri 24", "Wed 18": the day of that number that is such a weekday, in this month or beside it.
    fn weekday_and_day(&self, at: usize, to: usize, weekday: Weekday, short: bool) -> Option<Part> {
        let tokens = &self.tokens;
        let today = self.today?;
        let (day, 1..=2) = tokens.number(to)? else { return None };
        let end = to + 1;
        let closes = match tokens.kind(end) {
            Kind::Break => true,
            Kind::Mark(mark) => ")].|;,!?".contains(mark) && !(tokens.glued(end) && tokens.glued(end + 1)),
            _ => end >= tokens.len(),
        };
        let named = tokens.is_capital(at) || !short;
        if tokens.glued(to) || !closes || !named {
            return None;
        }
        let date = weekday_of_day(today, weekday, i8::try_from(day).ok()?)?;
        let near = date.duration_since(today).as_hours().abs() <= 24 * 31;
        near.then(|| Part::day(at..end, date).relative())
    }

    /// Whether a short weekday stands alone between marks or with a time behind it: ", Mon", "(Wed)", "| Thu |", "– Sat morning".
    fn closes_clause(&self, at: usize, to: usize) -> bool {
        let tokens = &self.tokens;
        let word = tokens.word(at);
        let sure = matches!(word, "tue" | "tues" | "thu" | "thur" | "thurs" | "fri");
        // "Oracle, Sun, IBM".
        if !(sure || tokens.is_capital(at)) || word == "sun" || at == 0 {
            return false;
        }
        let glued_dash = tokens.is_mark(at - 1, "-–—") && tokens.glued(at);
        // "Mon, Tue, Wed" lists days.
        let is_day = |at: usize| matches!(tokens.tag(at), Tag::Weekday(_) | Tag::ShortWeekday(_));
        let listed = tokens.is_mark(at - 1, ",/") && at > 1 && is_day(at - 2)
            || tokens.is_mark(to, ",/-–—") && is_day(to + 1);
        let after_colon = tokens.is_mark(at - 1, ":") && !tokens.glued(at);
        let opened = tokens.is_mark(at - 1, ",(|–—-→") && !glued_dash || after_colon;
        let closed = match tokens.kind(to) {
            Kind::Break => true,
            Kind::Mark(mark) => {
                ")].|;!?".contains(mark) || (mark == ',' && tokens.kind(to + 1) == Kind::Break)
            }
            _ => false,
        };
        opened && !listed && (closed || self.is_timed(to))
    }

    /// "the Friday before May 15".
    pub(super) fn weekday_beside(&self, at: usize, to: usize, weekday: Weekday, depth: u8) -> Option<Part> {
        let part = self.beside(at, to, |anchor| weekday_beside(anchor, weekday), depth)?;
        Some(Part { granularity: Granularity::Day, ..part })
    }

    /// A weekday with "next", "last" and the like before it.
    pub(super) fn weekday_shifted(&self, weekday: Weekday, shift: Shift) -> Option<Date> {
        let today = self.today?;
        match shift {
            Shift::Next => weekday_in(plus_days(today, 7)?, weekday),
            Shift::Last | Shift::Past => weekday_towards(plus_days(today, -1)?, weekday, Lean::Past),
            Shift::This => weekday_in(today, weekday),
            Shift::Coming => weekday_towards(plus_days(today, 1)?, weekday, Lean::Future),
        }
    }
}

/// The nearest month in which a day is that weekday.
fn weekday_of_day(today: Date, weekday: Weekday, day: i8) -> Option<Date> {
    (-3..=3)
        .filter_map(|months| plus_months(today.first_of_month(), months))
        .filter_map(|month| Date::new(month.year(), month.month(), day).ok())
        .filter(|date| date.weekday() == weekday)
        .min_by_key(|date| date.duration_since(today).as_secs().abs())
}

/// The weekday just before or after some days.
fn weekday_beside((anchor, before): (Days, bool), weekday: Weekday) -> Option<Days> {
    let date = if before {
        weekday_towards(plus_days(anchor.0, -1)?, weekday, Lean::Past)
    } else {
        weekday_towards(plus_days(anchor.1, 1)?, weekday, Lean::Future)
    }?;
    Some((date, date))
}
