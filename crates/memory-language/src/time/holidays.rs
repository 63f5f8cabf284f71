//! Days that have names, by year.

use jiff::civil::{Date, Weekday};

use super::Lean;
use super::calendar::{plus_days, weekday_towards};

/// Days that have names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holiday {
    Christmas,
    Easter,
    Halloween,
    Thanksgiving,
    Valentine,
    NewYear,
}

impl Holiday {
    /// First and last day.
    pub(super) fn days(self, year: i16) -> Option<(Date, Date)> {
        let on = |month, day| Date::new(year, month, day).ok();
        let one = |date: Date| (date, date);
        match self {
            Self::Christmas => Some((on(12, 24)?, on(12, 26)?)),
            Self::Easter => {
                let sunday = easter_sunday(year)?;
                Some((plus_days(sunday, -2)?, plus_days(sunday, 1)?))
            }
            Self::Halloween => on(10, 31).map(one),
            Self::Thanksgiving => {
                let first = weekday_towards(on(11, 1)?, Weekday::Thursday, Lean::Future)?;
                plus_days(first, 21).map(one)
            }
            Self::Valentine => on(2, 14).map(one),
            Self::NewYear => on(1, 1).map(one),
        }
    }
}

/// By the method of Meeus, Jones and Butcher (1876) for the Gregorian calendar.
fn easter_sunday(year: i16) -> Option<Date> {
    let year = i32::from(year);
    let (golden, century, of_century) = (year % 19, year / 100, year % 100);
    let leaps = (8 * century + 13) / 25;
    let moon = (19 * golden + century - century / 4 - leaps + 15) % 30;
    let weekday = (32 + 2 * (century % 4) + 2 * (of_century / 4) - moon - of_century % 4) % 7;
    let late = (golden + 11 * moon + 22 * weekday) / 451;
    let day = moon + weekday - 7 * late + 114;
    Date::new(year as i16, (day / 31) as i8, (day % 31 + 1) as i8).ok()
}
