//! The months and weekdays as English words.

use jiff::civil::Weekday;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CalendarWord {
    /// From 1 to 12.
    Month(i8),
    Weekday(Weekday),
}

/// How a month or weekday is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// Also "may", which has no shorter form.
    Full,
    /// The usual three letters.
    Short,
    /// A less usual abbreviation.
    OtherShort,
    /// Of weekdays only.
    Plural,
}

/// The months' three letters, as alternatives of a regular expression.
pub const MONTH_ALTERNATIVES: &str = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec";
/// The weekdays' three letters, as alternatives of a regular expression.
pub const WEEKDAY_ALTERNATIVES: &str = "Mon|Tue|Wed|Thu|Fri|Sat|Sun";

/// What a word in lower case names in the calendar. "may", "march", "mar", "sat" and "sun" are also other words:
/// callers decide by the words around them.
pub fn calendar_word(word: &str) -> Option<(CalendarWord, Spelling)> {
    use CalendarWord::{Month, Weekday as Day};
    use Spelling::{Full, OtherShort, Plural, Short};
    use Weekday::{Friday, Monday, Saturday, Sunday, Thursday, Tuesday, Wednesday};
    Some(match word {
        "january" => (Month(1), Full),
        "february" => (Month(2), Full),
        "march" => (Month(3), Full),
        "april" => (Month(4), Full),
        "may" => (Month(5), Full),
        "june" => (Month(6), Full),
        "july" => (Month(7), Full),
        "august" => (Month(8), Full),
        "september" => (Month(9), Full),
        "october" => (Month(10), Full),
        "november" => (Month(11), Full),
        "december" => (Month(12), Full),
        "jan" => (Month(1), Short),
        "feb" => (Month(2), Short),
        "mar" => (Month(3), Short),
        "apr" => (Month(4), Short),
        "jun" => (Month(6), Short),
        "jul" => (Month(7), Short),
        "aug" => (Month(8), Short),
        "sep" => (Month(9), Short),
        "sept" => (Month(9), OtherShort),
        "oct" => (Month(10), Short),
        "nov" => (Month(11), Short),
        "dec" => (Month(12), Short),
        "monday" => (Day(Monday), Full),
        "tuesday" => (Day(Tuesday), Full),
        "wednesday" => (Day(Wednesday), Full),
        "thursday" => (Day(Thursday), Full),
        "friday" => (Day(Friday), Full),
        "saturday" => (Day(Saturday), Full),
        "sunday" => (Day(Sunday), Full),
        "mon" => (Day(Monday), Short),
        "tue" => (Day(Tuesday), Short),
        "tues" => (Day(Tuesday), OtherShort),
        "wed" => (Day(Wednesday), Short),
        "weds" => (Day(Wednesday), OtherShort),
        "thu" => (Day(Thursday), Short),
        "thur" | "thurs" => (Day(Thursday), OtherShort),
        "fri" => (Day(Friday), Short),
        "sat" => (Day(Saturday), Short),
        "sun" => (Day(Sunday), Short),
        "mondays" => (Day(Monday), Plural),
        "tuesdays" => (Day(Tuesday), Plural),
        "wednesdays" => (Day(Wednesday), Plural),
        "thursdays" => (Day(Thursday), Plural),
        "fridays" => (Day(Friday), Plural),
        "saturdays" => (Day(Saturday), Plural),
        "sundays" => (Day(Sunday), Plural),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_alternatives_name_each_month_and_weekday_in_order() {
        for (at, short) in MONTH_ALTERNATIVES.split('|').enumerate() {
            let month = CalendarWord::Month(at as i8 + 1);
            let spelling = if short == "May" { Spelling::Full } else { Spelling::Short };
            assert_eq!(calendar_word(&short.to_lowercase()), Some((month, spelling)), "{short}");
        }
        let mut day = Weekday::Monday;
        for short in WEEKDAY_ALTERNATIVES.split('|') {
            assert_eq!(
                calendar_word(&short.to_lowercase()),
                Some((CalendarWord::Weekday(day), Spelling::Short)),
                "{short}"
            );
            day = day.next();
        }
        assert_eq!(calendar_word("Monday"), None, "words are given in lower case");
    }
}
