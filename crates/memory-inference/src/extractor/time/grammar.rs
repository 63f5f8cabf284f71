//! The table of date expressions: one pattern and one reading each.

use std::ops::Range;
use std::sync::LazyLock;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use regex::{Captures, Regex};

use super::{Lean, readings};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// First and last day, both whole.
    Days(Date, Date),
    Moments(Timestamp, Timestamp),
    /// Hour and minute of a day named beside it.
    Clock(i8, i8),
}

/// What an expression can be joined with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Day,
    Weekday,
    Week,
    Period,
    Moment,
    Clock,
    /// «EOD», which needs no day beside it but may have one.
    DayEnd,
    /// «end of …», «start of …», «week of …»: nothing alone.
    EndPrefix,
    StartPrefix,
    WeekPrefix,
    /// Looks like a date and is none.
    Invalid,
}

#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) range: Range<usize>,
    pub(super) when: When,
    pub(super) kind: Kind,
    pub(super) ambiguous: bool,
}

/// What relative expressions count from.
pub(super) struct Frame {
    pub(super) now: Option<Timestamp>,
    pub(super) today: Option<Date>,
    pub(super) lean: Lean,
}

pub(super) type Reading = Option<(When, Kind)>;
type Rule = fn(&Captures<'_>, &Frame) -> Reading;

// In the patterns `~` stands for any white space, so that expressions may run over a line end.
const MONTH: &str = "(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|\
                     sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)";
const WEEKDAY: &str = "(?P<weekday>monday|tuesday|wednesday|thursday|friday|saturday|sunday)";
const SHORT_WEEKDAY: &str = "(?P<weekday>mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)";
const COUNT: &str =
    "(?P<count>a~couple~of|a~few|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|[0-9]{1,3})";
const UNIT: &str = "(?P<work>business~|working~)?(?P<unit>hour|day|week|month|quarter|year)s?";
const SHIFT: &str = "(?P<shift>this|next|last|past|coming|previous|following)";
const ISO: &str = "(?P<y>[0-9]{4})-(?P<m>[0-9]{2})-(?P<d>[0-9]{2})(?:[T ](?P<time>[0-9]{2}:[0-9]{2}(?::[0-9]{2}\
                   (?:\\.[0-9]{1,9})?)?) ?(?P<zone>Z|UTC|[+-][0-9]{2}:?[0-9]{2})?)?";

static RULES: LazyLock<Vec<(Regex, Rule)>> = LazyLock::new(|| {
    let table: [(String, Rule); 24] = [
        (ISO.into(), readings::iso_date),
        ("(?P<y>[0-9]{4})-?W(?P<week>[0-9]{2})".into(), readings::iso_week),
        ("(?P<y>[0-9]{4})/(?P<b>[0-9]{1,2})/(?P<a>[0-9]{1,2})".into(), readings::year_first),
        (r"(?P<a>[0-9]{1,2})(?P<sep>[/.])(?P<b>[0-9]{1,2})[/.](?P<y>[0-9]{4})".into(), readings::numeric),
        (
            format!(r"(?P<d>[0-9]{{1,2}})(?P<th>st|nd|rd|th)?(?:~of)?~{MONTH}(?:\.?,?~(?P<y>[0-9]{{4}}))?"),
            readings::day_and_month,
        ),
        (
            format!(r"{MONTH}\.?~(?P<d>[0-9]{{1,2}})(?P<th>st|nd|rd|th)?(?:,?~(?P<y>[0-9]{{4}}))?"),
            readings::day_and_month,
        ),
        (format!("(?P<part>early|mid|late)[- ]{MONTH}(?:~(?P<y>[0-9]{{4}}))?"), readings::part_of_month),
        (format!("{MONTH},?~(?P<y>[0-9]{{4}})"), readings::whole_month),
        (
            format!(
                "(?:in|by|until|till|before|since|during|through|for|from|of|this|next|last)~\
                 (?P<at>{MONTH}(?:~(?P<y>[0-9]{{4}}))?)"
            ),
            readings::whole_month,
        ),
        ("(?:the~)?week~(?:of|beginning|commencing|starting)".into(), readings::week_prefix),
        ("(?:the~)?end~of".into(), readings::end_prefix),
        ("(?:the~)?(?:start|beginning)~of".into(), readings::start_prefix),
        (
            "(?:(?:the~)?end~of~(?:the~|this~)?(?P<unit>day|week|month|quarter|year)|EO(?P<short>[DWMQY])|COB|\
             close~of~business)"
                .into(),
            readings::end_of_unit,
        ),
        (
            format!("(?:(?P<part>early|later?)~)?{SHIFT}~(?P<unit>weekend|week|month|quarter|year)"),
            readings::shifted_unit,
        ),
        (format!("(?:{SHIFT}~)?{WEEKDAY}"), readings::weekday),
        (
            format!("(?:by|on|until|till|before|due|EOD|COB|{SHIFT})~(?P<at>{SHORT_WEEKDAY})"),
            readings::short_weekday,
        ),
        (
            "(?P<word>day~after~tomorrow|tomorrow|today|yesterday|tonight|last~night|\
             this~(?:morning|afternoon|evening)|the~weekend)"
                .into(),
            readings::named_day,
        ),
        (format!("(?P<how>in|within)(?:~the~next)?~{COUNT}~{UNIT}"), readings::counted),
        (format!("{COUNT}~{UNIT}~(?P<how>ago|from~now|from~today)"), readings::counted),
        ("Q(?P<q>[1-4])(?:[ /]?(?P<y>[0-9]{4}))?".into(), readings::in_quarter),
        ("(?P<y>[0-9]{4})[ -]Q(?P<q>[1-4])".into(), readings::in_quarter),
        (
            "(?:by|on|until|before|due)~(?P<at>the~(?P<d>[0-9]{1,2})(?:st|nd|rd|th))(?:~(?P<next>[a-z]+))?".into(),
            readings::day_of_month,
        ),
        ("(?:in|by|during|since|until|before|of)~(?P<at>(?P<y>(?:19|20)[0-9]{2}))".into(), readings::whole_year),
        (
            r"(?:(?P<h>[0-9]{1,2})(?::(?P<min>[0-9]{2}))? ?(?P<half>am|pm|a\.m|p\.m)|(?P<h24>[0-9]{1,2}):(?P<min24>[0-9]{2}))"
                .into(),
            readings::clock,
        ),
    ];
    table
        .into_iter()
        .filter_map(|(pattern, rule)| {
            let pattern = format!(r"(?i)(?-u:\b)(?:{})(?-u:\b)", pattern.replace('~', "[ \t\r\n]+"));
            Some((Regex::new(&pattern).ok()?, rule))
        })
        .collect()
});

/// Every expression of the table that stands in the text, overlapping ones included.
pub(super) fn find(text: &str, reference: Option<Timestamp>, lean: Lean) -> Vec<Found> {
    let today = reference.map(|now| now.to_zoned(TimeZone::UTC).date());
    let frame = Frame { now: reference, today, lean };
    let mut found = Vec::new();
    for (pattern, rule) in RULES.iter() {
        for captures in pattern.captures_iter(text) {
            let Some(whole) = captures.get(0) else { continue };
            let Some((when, kind)) = rule(&captures, &frame) else { continue };
            // A group `at` is the date itself where the pattern also looks at the word before it.
            let at = captures.name("at").unwrap_or(whole);
            found.push(Found {
                range: at.range(),
                when,
                kind,
                ambiguous: readings::has_two_readings(&captures),
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::RULES;

    #[test]
    fn every_pattern_of_the_table_compiles() {
        assert_eq!(RULES.len(), 24);
    }
}
