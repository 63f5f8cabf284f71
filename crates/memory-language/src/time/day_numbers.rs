//! Days and months in numbers without a year: "by 14/3", "fri 7/2", "due 25.03.".

use jiff::civil::Weekday;

use super::calendar::nearest_year;
use super::day_order::{DayOrder, LEADS};
use super::parser::Parser;
use super::parts::Part;
use super::tokens::Kind;
use super::words::Tag;

impl Parser {
    /// "by 14/3", "fri 7/2", "| 25.03. |"; "14/3 of them", "version 4.2." and "24/7" are none.
    pub(super) fn day_and_month_number(&self, at: usize) -> Option<Part> {
        let tokens = &self.tokens;
        let (first, _) = tokens.number(at)?;
        let mark = tokens.mark(at + 1)?;
        let (second, digits @ 1..=2) = tokens.tail(at + 1, "/.")? else { return None };
        let weekday = self.weekday_before(at);
        let mut to = at + 3;
        let order = match mark {
            '/' if !tokens.ends_free(to) || tokens.is(to, &["of"]) || (first, second) == (24, 7) => {
                return None;
            }
            '/' => self.order_of(first, second, weekday),
            // The point behind the month distinguishes it from a version; that of a sentence may be the same.
            '.' if tokens.is_mark(to, ".") && tokens.glued(to) && (first > 12 || digits == 2) => {
                to += 1;
                Some(DayOrder::DayFirst)
            }
            _ => return None,
        };
        let led = weekday.is_some()
            || tokens.is(at.wrapping_sub(1), &LEADS)
            || self.fills_cell(at, to)
            || (order.is_some() && self.stands_apart(at, to));
        if !led || tokens.glued(to) && (tokens.number(to).is_some() || !tokens.word(to).is_empty()) {
            return None;
        }
        let (month, day) = if order == Some(DayOrder::DayFirst) { (second, first) } else { (first, second) };
        let date = nearest_year(self.today?, i8::try_from(month).ok()?, i8::try_from(day).ok()?)?;
        let ambiguous = order.is_none() && first != second;
        Some(Part { ambiguous, year_open: true, ..Part::day(at..to, date) })
    }

    /// The order that the numbers themselves tell, the weekday beside them, or the rest of the text.
    fn order_of(&self, first: u32, second: u32, weekday: Option<Weekday>) -> Option<DayOrder> {
        match (first, second) {
            (13.., _) => return Some(DayOrder::DayFirst),
            (_, 13..) => return Some(DayOrder::MonthFirst),
            _ => {}
        }
        let fits = |month: u32, day: u32| {
            let date = nearest_year(self.today?, i8::try_from(month).ok()?, i8::try_from(day).ok()?)?;
            (Some(date.weekday()) == weekday).then_some(())
        };
        match (fits(second, first), fits(first, second)) {
            (Some(()), None) => Some(DayOrder::DayFirst),
            (None, Some(())) => Some(DayOrder::MonthFirst),
            _ => self.order,
        }
    }

    /// The weekday of "Fri 7/2" and "Friday, 7/2".
    fn weekday_before(&self, at: usize) -> Option<Weekday> {
        let before = at.checked_sub(1)?;
        let before = if self.tokens.is_mark(before, ",.") { before.checked_sub(1)? } else { before };
        match self.tokens.tag(before) {
            Tag::Weekday(weekday) | Tag::ShortWeekday(weekday) => Some(weekday),
            _ => None,
        }
    }

    /// "before our next call (30/10)", "tender documents – Kim, 21/11": a date that fills brackets, or what a comma or a dash parts off to
    /// the end of the line.
    fn stands_apart(&self, at: usize, to: usize) -> bool {
        let tokens = &self.tokens;
        let Some(before) = at.checked_sub(1) else { return false };
        let closes = matches!(tokens.kind(to), Kind::Break) || to >= tokens.len() || tokens.is_mark(to, "|)");
        match tokens.mark(before) {
            Some('(') => tokens.is_mark(to, "),"),
            Some(',' | '–' | '—') => closes && !tokens.glued(at),
            _ => false,
        }
    }

    /// "| 25.03. |": a date that fills a cell of a table.
    fn fills_cell(&self, at: usize, to: usize) -> bool {
        let tokens = &self.tokens;
        let opens = at > 0 && tokens.is_mark(at - 1, "|") && !tokens.glued(at);
        opens && (tokens.is_mark(to, "|") || to >= tokens.len())
    }
}
