//! Until when a directive holds that says so: "until June, …", "for the next two weeks …".

use jiff::Timestamp;
use memory_language::time::{Granularity, Lean, Reading, Relation, readings};

/// So many bytes before a date the word stands that makes it an end: "until the audit is over on 12 March".
const UNTIL_MAX_BYTES: usize = 60;

/// Whether a directive that was stated then says of itself that it is over.
pub fn has_ended(quote: &str, since: Timestamp, now: Timestamp) -> bool {
    let readings = readings(quote, Some(since), Lean::Future);
    let ends = readings.iter().filter(|reading| is_end(quote, reading)).map(|reading| reading.end);
    ends.max().is_some_and(|end| end <= now)
}

/// "Not before ten" is said of each day, so an end is a day at least.
fn is_end(quote: &str, reading: &Reading) -> bool {
    let before = quote[..reading.range.start].to_lowercase();
    let is_until = || {
        let begins_word = |at: &usize| *at == 0 || matches!(before.as_bytes()[at - 1], b' ' | b'(');
        let at = ["until ", "till "].iter().filter_map(|word| before.rfind(word).filter(begins_word)).max();
        at.is_some_and(|at| before.len() - at <= UNTIL_MAX_BYTES && !before[at..].contains([',', ';', '.']))
    };
    let is_span = || {
        let date = quote[reading.range.clone()].to_lowercase();
        let is_next = before.contains("next ") || date.contains("next ");
        date.starts_with("this ") || (is_next && before.trim_end().trim_end_matches(" the").ends_with("for"))
    };
    // "From Nov 1 until Nov 10"; from Monday to Friday is every week.
    let is_range = || {
        let date = quote[reading.range.clone()].to_lowercase();
        let opens = |word: &str| before.trim_end().ends_with(word) || date.starts_with(word);
        let joins =
            [" until ", " till ", " to ", " through ", " and ", "-", "–"].iter().any(|to| date.contains(to));
        joins && date.contains(|c: char| c.is_ascii_digit()) && (opens("from") || opens("between"))
    };
    reading.granularity >= Granularity::Day
        && !before.contains("not until ")
        && (reading.relation == Relation::Until || is_until() || is_span() || is_range())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(quote: &str, now: &str) -> bool {
        let at = |day: &str| format!("{day}T12:00:00Z").parse::<Timestamp>().expect("a time");
        has_ended(quote, at("2025-03-10"), at(now))
    }

    #[test]
    fn what_holds_until_a_day_is_over_behind_it() {
        for (quote, holds, over) in [
            ("Until June, all invoices go to Marta", "2025-05-20", "2025-07-01"),
            ("no deploys until 20 March 2025", "2025-03-20", "2025-03-21"),
            ("don't touch billing until the audit is over on 12 April 2025", "2025-04-12", "2025-04-13"),
            ("For the next two weeks, only suggest meals under 30 minutes", "2025-03-24", "2025-03-26"),
            ("Until June 2025 use the old logo", "2025-05-20", "2025-07-01"),
            ("No force pushes this week.", "2025-03-15", "2025-03-18"),
            ("use the old client till Friday", "2025-03-14", "2025-03-15"),
            ("From 12 March until 20 March answer me in Spanish", "2025-03-20", "2025-03-21"),
            ("Between April 1 and April 15 keep answers short", "2025-04-15", "2025-04-16"),
            ("answer in Polish from June 4 to June 9", "2025-06-09", "2025-06-10"),
            ("From 3 to 12 April, reply in Italian", "2025-04-12", "2025-04-13"),
            ("keep answers short (until 3 April)", "2025-04-03", "2025-04-04"),
        ] {
            assert!(!ended(quote, holds), "{quote}");
            assert!(ended(quote, over), "{quote}");
        }
    }

    #[test]
    fn an_hour_and_a_date_that_is_told_end_nothing() {
        for quote in [
            "no calls until 10 am",
            "never deploy on Fridays",
            "since May 2024 I prefer tea",
            "not until June",
            "no meetings until I say so",
            "use the 2019 tables for reports",
            "I still want the old layout on 12 April 2025",
            "Starting 4 May keep your answers short",
            "call me between nine and five on Mondays",
            "never deploy from Friday to Sunday",
            "from May to July suggest the garden",
        ] {
            assert!(!ended(quote, "2026-12-01"), "{quote}");
        }
    }
}
