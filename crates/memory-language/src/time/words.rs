//! The words that dates are made of.

use jiff::civil::Weekday;

use super::holidays::Holiday;
use crate::calendar_words::{CalendarWord, Spelling, calendar_word};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Minute,
    Hour,
    Day,
    Week,
    Weekend,
    Month,
    Quarter,
    Year,
    Decade,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shift {
    This,
    Next,
    Coming,
    Last,
    /// "the past week" reaches up to now.
    Past,
}

/// What a word can be in a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    Plain,
    Month(i8),
    Weekday(Weekday),
    ShortWeekday(Weekday),
    /// Its first month.
    Season(i8),
    Unit(Unit),
    Shift(Shift),
    Count(i64),
    /// Zero is "last".
    Ordinal(i8),
    /// Hours from and to.
    PartOfDay(i8, i8),
    /// Only in questions.
    Holiday(Holiday),
    /// Another word that can begin a date.
    Opener,
}

pub(super) fn tag(word: &str) -> Tag {
    // The longest word of a date is "thanksgiving"; most words are excluded by their length alone.
    if word.len() > 12 {
        return Tag::Plain;
    }
    calendar_tag(word).or_else(|| relative_tag(word)).unwrap_or(Tag::Plain)
}

fn calendar_tag(word: &str) -> Option<Tag> {
    if let Some((named, spelling)) = calendar_word(word) {
        return match (named, spelling) {
            // "On Mondays" is no date.
            (_, Spelling::Plural) => None,
            (CalendarWord::Month(month), _) => Some(Tag::Month(month)),
            (CalendarWord::Weekday(day), Spelling::Full) => Some(Tag::Weekday(day)),
            (CalendarWord::Weekday(day), _) => Some(Tag::ShortWeekday(day)),
        };
    }
    Some(match word {
        "spring" | "springtime" => Tag::Season(3),
        "summer" | "summertime" => Tag::Season(6),
        "autumn" | "fall" => Tag::Season(9),
        "winter" | "wintertime" => Tag::Season(12),
        "morning" => Tag::PartOfDay(6, 12),
        "afternoon" => Tag::PartOfDay(12, 18),
        "evening" | "night" => Tag::PartOfDay(18, 24),
        "christmas" | "xmas" => Tag::Holiday(Holiday::Christmas),
        "easter" => Tag::Holiday(Holiday::Easter),
        "halloween" => Tag::Holiday(Holiday::Halloween),
        "thanksgiving" => Tag::Holiday(Holiday::Thanksgiving),
        "valentine" | "valentines" => Tag::Holiday(Holiday::Valentine),
        "new" => Tag::Holiday(Holiday::NewYear),
        _ => return None,
    })
}

fn relative_tag(word: &str) -> Option<Tag> {
    Some(match word {
        "minute" | "minutes" => Tag::Unit(Unit::Minute),
        "hour" | "hours" => Tag::Unit(Unit::Hour),
        "day" | "days" => Tag::Unit(Unit::Day),
        "week" | "weeks" => Tag::Unit(Unit::Week),
        "weekend" | "weekends" => Tag::Unit(Unit::Weekend),
        "month" | "months" => Tag::Unit(Unit::Month),
        "quarter" | "quarters" => Tag::Unit(Unit::Quarter),
        "year" | "years" => Tag::Unit(Unit::Year),
        "decade" | "decades" => Tag::Unit(Unit::Decade),
        "this" => Tag::Shift(Shift::This),
        "next" | "following" => Tag::Shift(Shift::Next),
        "coming" | "upcoming" => Tag::Shift(Shift::Coming),
        "last" | "previous" => Tag::Shift(Shift::Last),
        "past" => Tag::Shift(Shift::Past),
        "a" | "an" | "one" => Tag::Count(1),
        "two" | "couple" => Tag::Count(2),
        "three" | "few" => Tag::Count(3),
        "four" | "several" => Tag::Count(4),
        "five" => Tag::Count(5),
        "six" => Tag::Count(6),
        "seven" => Tag::Count(7),
        "eight" => Tag::Count(8),
        "nine" => Tag::Count(9),
        "ten" => Tag::Count(10),
        "eleven" => Tag::Count(11),
        "twelve" => Tag::Count(12),
        "fifteen" => Tag::Count(15),
        "twenty" => Tag::Count(20),
        "thirty" => Tag::Count(30),
        "first" => Tag::Ordinal(1),
        "second" => Tag::Ordinal(2),
        "third" => Tag::Ordinal(3),
        "fourth" => Tag::Ordinal(4),
        "fifth" => Tag::Ordinal(5),
        "final" => Tag::Ordinal(0),
        "today" | "tonight" | "tomorrow" | "tmrw" | "tmr" | "tomoz" | "yesterday" | "yday" | "early"
        | "earlier" | "mid" | "middle" | "late" | "later" | "end" | "start" | "beginning" | "eod" | "eow"
        | "eom" | "eoq" | "eoy" | "cob" | "close" | "in" | "within" | "half" | "the" | "noon" | "midday"
        | "midnight" | "q" | "h" | "recently" | "lately" => Tag::Opener,
        _ => return None,
    })
}

/// Months that are also other words or people.
pub(super) fn is_month_in_doubt(word: &str) -> bool {
    matches!(word, "may" | "march" | "mar" | "sep" | "dec" | "jan" | "jun" | "jul")
}

/// The words before a month or a year without a day.
pub(super) fn is_lead(word: &str) -> bool {
    matches!(
        word,
        "in" | "by"
            | "until"
            | "till"
            | "before"
            | "after"
            | "since"
            | "during"
            | "through"
            | "throughout"
            | "for"
            | "from"
            | "of"
            | "between"
            | "around"
            | "starting"
            | "due"
    )
}

/// The words that lead a date and hardly ever anything with the name of a month.
pub(super) fn is_strong_lead(word: &str) -> bool {
    matches!(word, "in" | "since" | "during" | "until" | "till" | "throughout" | "around" | "between")
}
