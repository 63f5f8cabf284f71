//! The order of day and month in the dates of a text.

/// Which number of a date such as `3/4/2024` is the day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DayOrder {
    DayFirst,
    MonthFirst,
}

/// The words before two numbers that are a date; without one they may be a fraction, a result or a page.
pub(super) const LEADS: [&str; 12] =
    ["by", "until", "till", "on", "before", "after", "due", "since", "from", "target", "deadline", "eod"];

impl DayOrder {
    /// The order of a text's dates, as those tell that can be read in one way only: "22/09/2025", "by 14/3".
    pub fn of(text: &str) -> Option<Self> {
        let mut last = "";
        let mut found = None;
        for word in text.split_whitespace() {
            let led = LEADS.contains(&last.to_lowercase().trim_matches(|c: char| !c.is_alphabetic()));
            last = word;
            let order = match numbers(word).as_slice() {
                [13..=31, 1..=12, year] if *year > 0 => Self::DayFirst,
                [1..=12, 13..=31, year] if *year > 0 => Self::MonthFirst,
                [13..=31, 1..=12] if led => Self::DayFirst,
                [1..=12, 13..=31] if led => Self::MonthFirst,
                _ => continue,
            };
            if found.is_some_and(|found| found != order) {
                return None;
            }
            found = Some(order);
        }
        found
    }
}

/// The numbers of a word such as "(22/09/2025)".
fn numbers(word: &str) -> Vec<u32> {
    let bare = word.trim_matches(|c: char| !c.is_ascii_digit());
    if !bare.contains('/') {
        return Vec::new();
    }
    bare.split('/').map_while(|part| part.parse().ok()).collect()
}
