//! Cases of the date grammar, most from one Friday: the part of March 2024 it lies in is
//! `11 12 13 14 (15) 16 17`, Monday to Sunday.

mod any_text;
mod forms;
mod questions;
mod to_come;

use jiff::Timestamp;

use super::{DayOrder, Lean, Reading, readings, readings_in_order};

fn friday() -> Timestamp {
    "2024-03-15T10:00:00Z".parse().unwrap()
}

fn shown(readings: &[Reading]) -> String {
    let day = |time: Timestamp| time.to_string().replace("T00:00:00Z", "").replace("T23:59:59Z", "");
    readings.iter().map(|r| format!("{}..{}", day(r.start), day(r.deadline()))).collect::<Vec<_>>().join(" ")
}

#[test]
fn expressions_resolve_from_a_friday() {
    let cases = [
        ("by Friday", "2024-03-15..2024-03-15"),
        ("next Friday", "2024-03-22..2024-03-22"),
        ("on Monday", "2024-03-18..2024-03-18"),
        ("EOD tomorrow", "2024-03-16..2024-03-16"),
        ("by March 21st EOD", "2024-03-21..2024-03-21"),
        ("by EOD", "2024-03-15..2024-03-15"),
        ("by end of day Monday", "2024-03-18..2024-03-18"),
        ("end of Q2", "2024-06-30..2024-06-30"),
        ("Q3", "2024-07-01..2024-09-30"),
        ("Q1 2025", "2025-01-01..2025-03-31"),
        ("2025 Q1", "2025-01-01..2025-03-31"),
        ("end of month", "2024-03-31..2024-03-31"),
        ("by the end of the week", "2024-03-15..2024-03-15"),
        ("by the end of next month", "2024-04-30..2024-04-30"),
        ("by the end of May", "2024-05-31..2024-05-31"),
        ("before next week", "2024-03-18..2024-03-17"),
        ("next week", "2024-03-18..2024-03-24"),
        ("this week", "2024-03-11..2024-03-17"),
        ("next month", "2024-04-01..2024-04-30"),
        ("the week of May 15", "2024-05-13..2024-05-19"),
        ("in two weeks", "2024-03-29..2024-03-29"),
        ("in 3 days", "2024-03-18..2024-03-18"),
        ("in 3 business days", "2024-03-20..2024-03-20"),
        ("within 48 hours", "2024-03-15T10:00:00Z..2024-03-17T10:00:00Z"),
        ("two days ago", "2024-03-13..2024-03-13"),
        ("last Tuesday", "2024-03-12..2024-03-12"),
        ("last Friday", "2024-03-08..2024-03-08"),
        ("2024-W12", "2024-03-18..2024-03-24"),
        ("mid-April", "2024-04-11..2024-04-20"),
        ("late May 2025", "2025-05-21..2025-05-31"),
        (
            "tomorrow, yesterday and tonight",
            "2024-03-16..2024-03-16 2024-03-14..2024-03-14 2024-03-15T18:00:00Z..2024-03-15",
        ),
        ("Tuesday next week", "2024-03-19..2024-03-19"),
        ("Friday, March 22", "2024-03-22..2024-03-22"),
        ("March 21, 2024", "2024-03-21..2024-03-21"),
        ("21 March 2024", "2024-03-21..2024-03-21"),
        ("on the 3rd of April", "2024-04-03..2024-04-03"),
        ("by the 10th", "2024-04-10..2024-04-10"),
        ("January 10", "2024-01-10..2024-01-10"),
        ("Dec 20", "2023-12-20..2023-12-20"),
        ("in June", "2024-06-01..2024-06-30"),
        ("in January", "2025-01-01..2025-01-31"),
        ("2024-04-02", "2024-04-02..2024-04-02"),
        ("2024-04-02T09:30:00+02:00", "2024-04-02T07:30:00Z..2024-04-02T07:30:00Z"),
        ("2024-04-02 09:30", "2024-04-02T09:30:00Z..2024-04-02T09:30:00Z"),
        ("tomorrow at 5pm", "2024-03-16T17:00:00Z..2024-03-16T17:00:00Z"),
        ("at 14:30 on Monday", "2024-03-18T14:30:00Z..2024-03-18T14:30:00Z"),
        ("21.3.2024", "2024-03-21..2024-03-21"),
        ("25/12/2024", "2024-12-25..2024-12-25"),
        ("by Wed", "2024-03-20..2024-03-20"),
        ("give me until wed", "2024-03-20..2024-03-20"),
        ("by thurs so nobody touch it", "2024-03-21..2024-03-21"),
        ("count the chairs, Mon", "2024-03-18..2024-03-18"),
        ("one page (me, Wed)", "2024-03-20..2024-03-20"),
        ("| Book the hall | Ann | Thu |", "2024-03-21..2024-03-21"),
        ("clean the gutters – Sat morning", "2024-03-16T06:00:00Z..2024-03-16T11:59:59Z"),
        ("by 14/3", "2024-03-14..2024-03-14"),
        ("by 3/14.", "2024-03-14..2024-03-14"),
        ("(due 21/03)", "2024-03-21..2024-03-21"),
        ("by fri 5/4", "2024-04-05..2024-04-05"),
        ("by 25.03.", "2024-03-25..2024-03-25"),
        ("| drawings | Ann | 05.04. |", "2024-04-05..2024-04-05"),
        ("by\n  Friday", "2024-03-15..2024-03-15"),
    ];
    for (text, expected) in cases {
        assert_eq!(shown(&readings(text, Some(friday()), Lean::Future)), expected, "{text}");
    }
}

#[test]
fn words_that_only_look_like_dates_are_none() {
    for text in [
        "May I go?",
        "we march on",
        "the sun",
        "the second point",
        "30 February",
        "on the 3rd floor",
        "it may 3 times",
        "for two weeks",
        "Mondays",
        "at 5pm",
        "chapter 3.4.1",
        "Will Wed come",
        "32 March 2024",
        "2024-13-01",
        "99999 days ago",
        "the end of the story",
        "10:99",
        "he sat down",
        "by sun and wind",
        "Oracle, Sun, IBM",
        "open Mon, Tue, Wed",
        "Mon-Fri",
        "14/3 of them",
        "we won 14/3",
        "on 24/7",
        "upgraded by 4.2.",
        "on 31/31",
        "on 3/4 of the sites",
        "see section 25.03.",
        "| suite | 3/14 passed |",
    ] {
        assert_eq!(readings(text, Some(friday()), Lean::Future), vec![], "{text}");
    }
}

#[test]
fn a_numeric_date_with_two_readings_says_so() {
    let readings = readings("on 3/4/2024 or 3/3/2024", None, Lean::Future);
    assert_eq!(readings.iter().map(|r| r.is_ambiguous).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn the_order_of_day_and_month_is_that_of_the_other_dates_of_the_text() {
    let at = |text: &str| {
        let found = readings_in_order(text, Some(friday()), Lean::Future, DayOrder::of(text));
        assert!(found.iter().all(|reading| !reading.is_ambiguous), "{text}");
        shown(&found)
    };
    assert_eq!(at("by 2/4, then on 22/04/2024"), "2024-04-02..2024-04-02 2024-04-22..2024-04-22");
    assert_eq!(at("by 2/4, then on 04/22/2024"), "2024-02-04..2024-02-04 2024-04-22..2024-04-22");
    assert_eq!(at("on 2/4/2024 and by 22/4"), "2024-04-02..2024-04-02 2024-04-22..2024-04-22");
    assert_eq!(DayOrder::of("14/3 of them, 22/04/2024 and 04/22/2024"), None);
    assert!(readings("by 2/4", Some(friday()), Lean::Future)[0].is_ambiguous);
}

#[test]
fn without_a_reference_only_dates_with_a_year_resolve() {
    let text = "By Friday, March 21, in two weeks, EOD, Q3, next week, in May; not 2024-04-02, Q1 2025, May 2025 or 2 June 2024.";
    assert_eq!(
        shown(&readings(text, None, Lean::Future)),
        "2024-04-02..2024-04-02 2025-01-01..2025-03-31 2025-05-01..2025-05-31 2024-06-02..2024-06-02"
    );
}

#[test]
fn past_things_look_back() {
    let past = |text| shown(&readings(text, Some(friday()), Lean::Past));
    assert_eq!(past("shipped on Tuesday"), "2024-03-12..2024-03-12");
    assert_eq!(past("launched in November"), "2023-11-01..2023-11-30");
    assert_eq!(past("closed Q4"), "2023-10-01..2023-12-31");
}

#[test]
fn ranges_are_bytes_of_the_text() {
    let text = "Ünïcode — 漢字 by March 21st EOD, ok";
    let reading = &readings(text, Some(friday()), Lean::Future)[0];
    assert_eq!(&text[reading.range.clone()], "March 21st EOD");
}

#[test]
fn odd_text_never_panics() {
    let odd = "Friday,\u{301} 9999-12-31T23:59:59Z in 999 years 0000-00-00 ٣/٤/٢٠٢٤ EOD\u{200b}Friday 9999-W53 Ｑ１ end of ";
    for reference in [Timestamp::MIN, Timestamp::MAX, friday()] {
        for (at, _) in odd.char_indices() {
            readings(&odd[at..], Some(reference), Lean::Future);
            readings(&odd[..at], Some(reference), Lean::Past);
        }
    }
}

#[test]
fn fortnights_half_hours_and_named_days_are_what_they_say() {
    for (text, expected) in [
        ("we meet in a fortnight", "2024-03-29..2024-03-29"),
        ("shipped a fortnight ago", "2024-03-01..2024-03-01"),
        ("back in half an hour", "2024-03-15T10:30:00Z..2024-03-15T10:30:00Z"),
        ("the Tuesday before last", "2024-03-05..2024-03-05"),
        ("Tue 5/3/2024", "2024-03-05..2024-03-05"),
        ("Fri, 3/5/2024", "2024-05-03..2024-05-03"),
        ("open it on Easter Monday", ""),
    ] {
        assert_eq!(shown(&readings(text, Some(friday()), Lean::Future)), expected, "{text}");
    }
}
