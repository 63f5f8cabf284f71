//! Forms of dates, one table each.

use super::{friday, shown};
use crate::time::{Granularity, Lean, Relation, readings};

fn check(lean: Lean, cases: &[(&str, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .map(|(text, expected)| (text, expected, shown(&readings(text, Some(friday()), lean))))
        .filter(|(_, expected, found)| found != *expected)
        .map(|(text, expected, found)| format!("{text}: {found}, not {expected}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn ranges_cover_both_ends() {
    check(
        Lean::Future,
        &[
            ("March 3–5", "2024-03-03..2024-03-05"),
            ("March 3-5, 2023", "2023-03-03..2023-03-05"),
            ("3 to 5 March 2023", "2023-03-03..2023-03-05"),
            ("between 3 and 5 April", "2024-04-03..2024-04-05"),
            ("from Monday to Wednesday", "2024-03-18..2024-03-20"),
            ("from Wednesday to Monday", "2024-03-20..2024-03-25"),
            ("between March and May", "2024-03-01..2024-05-31"),
            ("between March and May 2023", "2023-03-01..2023-05-31"),
            ("from November to February", "2024-11-01..2025-02-28"),
            ("from May 5, 2023 to June 2", "2023-05-05..2023-06-02"),
            ("May 30 – June 2, 2023", "2023-05-30..2023-06-02"),
            ("November 2022 to February 2023", "2022-11-01..2023-02-28"),
            ("May–July 2023", "2023-05-01..2023-07-31"),
            ("between 2019 and 2021", "2019-01-01..2021-12-31"),
            ("from 2019-2021", "2019-01-01..2021-12-31"),
            ("2024-04-02 to 2024-04-05", "2024-04-02..2024-04-05"),
            ("on Monday from 2pm to 4pm", "2024-03-18T14:00:00Z..2024-03-18T16:00:00Z"),
            ("2pm–4pm on Monday", "2024-03-18T14:00:00Z..2024-03-18T16:00:00Z"),
        ],
    );
}

#[test]
fn counts_go_back_and_ahead() {
    check(
        Lean::Past,
        &[
            ("three days ago", "2024-03-12..2024-03-12"),
            ("2 weeks ago", "2024-03-01..2024-03-01"),
            ("a couple of weeks ago", "2024-03-01..2024-03-01"),
            ("a few days ago", "2024-03-12..2024-03-12"),
            ("six months ago", "2023-09-15..2023-09-15"),
            ("half a year ago", "2023-09-15..2023-09-15"),
            ("a year and a half ago", "2022-09-15..2022-09-15"),
            ("4 years ago", "2020-03-15..2020-03-15"),
            ("two weekends ago", "2024-03-02..2024-03-03"),
            ("3 hours ago", "2024-03-15T07:00:00Z..2024-03-15T07:00:00Z"),
            ("3-4 weeks ago", "2024-02-16..2024-02-16"),
            ("a day or two ago", "2024-03-13..2024-03-13"),
            ("a year ago today", "2023-03-15..2023-03-15"),
            ("the day before yesterday", "2024-03-13..2024-03-13"),
            ("the day after tomorrow", "2024-03-17..2024-03-17"),
            ("over the last three weeks", "2024-02-23..2024-03-15"),
            ("in the past 6 months", "2023-09-15..2024-03-15"),
            ("over the past month", "2024-02-15..2024-03-15"),
            ("the next two days", "2024-03-15..2024-03-17"),
            ("the week before last", "2024-02-26..2024-03-03"),
            ("a week from Monday", "2024-03-18..2024-03-18"),
            ("ready by Wednesday week.", "2024-03-27..2024-03-27"),
            ("the Wednesday week plan", "2024-03-13..2024-03-13"),
            ("two days before March 5", "2024-03-03..2024-03-03"),
            ("3 weeks after 5 May 2023", "2023-05-26..2023-05-26"),
            ("the week before 9 June 2023", "2023-06-02..2023-06-08"),
            ("the Friday before 22 October 2023", "2023-10-20..2023-10-20"),
            ("last weekend before April 10, 2023", "2023-04-08..2023-04-09"),
            ("the month before May 2023", "2023-04-01..2023-04-30"),
            ("the day after May 3, 2023", "2023-05-04..2023-05-04"),
        ],
    );
}

#[test]
fn periods_have_pieces() {
    check(
        Lean::Past,
        &[
            ("earlier this month", "2024-03-01..2024-03-15"),
            ("later this week", "2024-03-15..2024-03-17"),
            ("late last year", "2023-09-01..2023-12-31"),
            ("early 2023", "2023-01-01..2023-04-30"),
            ("mid-2022", "2022-05-01..2022-08-31"),
            ("first week of June", "2023-06-01..2023-06-07"),
            ("the last week of May 2023", "2023-05-25..2023-05-31"),
            ("the last Friday of March 2023", "2023-03-31..2023-03-31"),
            ("the second half of 2023", "2023-07-01..2023-12-31"),
            ("the third quarter of 2022", "2022-07-01..2022-09-30"),
            ("the first weekend of June 2023", "2023-06-03..2023-06-04"),
            ("the first of May", "2024-05-01..2024-05-01"),
            ("at the end of May 2023", "2023-05-21..2023-05-31"),
            ("before the end of May 2023", "2023-05-21..2023-05-31"),
            ("at the beginning of 2023", "2023-01-01..2023-04-30"),
            ("in May last year", "2023-05-01..2023-05-31"),
            ("May 5th of last year", "2023-05-05..2023-05-05"),
            ("by the third quarter", "2023-07-01..2023-09-30"),
            ("May of this year", "2024-05-01..2024-05-31"),
            ("the weekend of May 20, 2023", "2023-05-20..2023-05-21"),
            ("the end of the week of May 15, 2023", "2023-05-19..2023-05-21"),
            ("H1 2023", "2023-01-01..2023-06-30"),
        ],
    );
}

#[test]
fn seasons_years_and_decades_are_long() {
    check(
        Lean::Past,
        &[
            ("last summer", "2023-06-01..2023-08-31"),
            ("this spring", "2024-03-01..2024-05-31"),
            ("next winter", "2024-12-01..2025-02-28"),
            ("last winter", "2023-12-01..2024-02-29"),
            ("in the fall", "2023-09-01..2023-11-30"),
            ("the summer of 2022", "2022-06-01..2022-08-31"),
            ("in winter 2022", "2022-12-01..2023-02-28"),
            ("in 2022", "2022-01-01..2022-12-31"),
            ("this year", "2024-01-01..2024-12-31"),
            ("last decade", "2010-01-01..2019-12-31"),
            ("in the 1990s", "1990-01-01..1999-12-31"),
            ("from the 1900s", "1900-01-01..1999-12-31"),
            ("last March", "2023-03-01..2023-03-31"),
            ("next May", "2024-05-01..2024-05-31"),
            ("since april", "2023-04-01..2023-04-30"),
            ("in may 2023", "2023-05-01..2023-05-31"),
            ("2023-05", "2023-05-01..2023-05-31"),
        ],
    );
}

#[test]
fn days_have_parts_and_clocks() {
    check(
        Lean::Past,
        &[
            ("1:56 pm on 8 May, 2023", "2023-05-08T13:56:00Z..2023-05-08T13:56:00Z"),
            ("8 May, 2023", "2023-05-08..2023-05-08"),
            ("08-May-2023", "2023-05-08..2023-05-08"),
            ("Sept. 3rd", "2024-09-03..2024-09-03"),
            ("3 Sept. 2023", "2023-09-03..2023-09-03"),
            ("Fri, 5 May 2023 09:30", "2023-05-05T09:30:00Z..2023-05-05T09:30:00Z"),
            ("May 5 '23", "2023-05-05..2023-05-05"),
            ("by end of business Friday", "2024-03-15..2024-03-15"),
            ("Monday the 18th", "2024-03-18..2024-03-18"),
            ("on the 5th and 6th of May", "2024-05-05..2024-05-06"),
            ("Tue Mar 7 10:00:00 2023", "2023-03-07T10:00:00Z..2023-03-07T10:00:00Z"),
            ("this morning", "2024-03-15T06:00:00Z..2024-03-15T11:59:59Z"),
            ("yesterday evening", "2024-03-14T18:00:00Z..2024-03-14"),
            ("Tuesday afternoon", "2024-03-12T12:00:00Z..2024-03-12T17:59:59Z"),
            ("on the morning of 8 May 2023", "2023-05-08T06:00:00Z..2023-05-08T11:59:59Z"),
            ("last night", "2024-03-14T18:00:00Z..2024-03-15T05:59:59Z"),
            ("noon tomorrow", "2024-03-16T12:00:00Z..2024-03-16T12:00:00Z"),
            ("5 p.m. on Monday.", "2024-03-11T17:00:00Z..2024-03-11T17:00:00Z"),
            ("2024-04-02T09:30:15.250-05:00", "2024-04-02T14:30:15Z..2024-04-02T14:30:15Z"),
            ("2024-04-02T09:30:00Z.", "2024-04-02T09:30:00Z..2024-04-02T09:30:00Z"),
            ("2024-04-02T09:30+0200", "2024-04-02T07:30:00Z..2024-04-02T07:30:00Z"),
            ("last fri", "2024-03-08..2024-03-08"),
            ("this past weekend", "2024-03-09..2024-03-10"),
            ("over the weekend", "2024-03-09..2024-03-10"),
            ("4/20/23", "2023-04-20..2023-04-20"),
            ("2023/04/20", "2023-04-20..2023-04-20"),
        ],
    );
}

#[test]
fn days_stand_apart_and_beside_their_weekday() {
    check(
        Lean::Future,
        &[
            ("send the lamps, Fri 22", "2024-03-22..2024-03-22"),
            ("the beta to the testers (Wed 20)", "2024-03-20..2024-03-20"),
            ("on Tuesday 26, please", "2024-03-26..2024-03-26"),
            ("before our next call (25/3)", "2024-03-25..2024-03-25"),
            ("tender documents – Kim Larsen, 21/3", "2024-03-21..2024-03-21"),
            // Which of the two numbers is the day, nothing tells; 24 is no Friday near.
            ("the score was fair, 3/4", ""),
            ("the ratio (3/4)", ""),
            ("count the Wed 24 again", ""),
            ("a share, 21/3 of it", ""),
        ],
    );
}

#[test]
fn what_only_looks_like_a_date_is_none() {
    check(
        Lean::Past,
        &[
            "version 1.2.2024.5",
            "v3.4.2024",
            "10.0.20.24",
            "192.168.1.1",
            "1/2 cup",
            "24/7",
            "2/3 of them",
            "April Smith came by",
            "for April Smith",
            "June said so",
            "Mark May agreed",
            "it may rain",
            "May I?",
            "they march on",
            "he sat by the sun",
            "mon petit",
            "I second that",
            "the second quarterback",
            "in 2000 words",
            "costs $2024 in total",
            "build 20240315",
            "+1 555 2024",
            "port 8080",
            "march of the penguins",
            "prices fall in stages",
            "spring cleaning",
            "the fall of Rome",
            "every Friday",
            "on Mondays",
            "Black Friday deals",
            "5 days a week",
            "for 3 years",
            "the next day",
            "one day",
            "last time",
            "may 3 times",
            "March 32",
            "31 April 2024",
            "2024-02-30",
            "at 10:30",
            "good morning",
            "a few of them",
            "close of the book",
            "late in coming",
            "in two weeks we did it",
            "q5 2024",
            "a 3.5 days ago",
            "ISO-2024-0315",
            "inspired by autumn",
            "down in the 4th quarter",
            "in the coming weeks",
            "early on",
            "the end of the day before",
        ]
        .map(|text| (text, "")),
    );
}

#[test]
fn the_word_before_says_how_a_date_is_meant() {
    let cases = [
        ("on Friday", Relation::At),
        ("by Friday", Relation::By),
        ("deadline: March 21", Relation::By),
        ("(due March 21)", Relation::By),
        ("no later than Friday", Relation::By),
        ("EOD", Relation::By),
        ("before the 21st", Relation::Before),
        ("before the end of May", Relation::By),
        ("prior to May 2023", Relation::Before),
        ("until Friday", Relation::Until),
        ("after May 5", Relation::After),
        ("since April", Relation::Since),
        ("starting next week", Relation::Since),
        ("from May on", Relation::Since),
        ("notes from May", Relation::From),
        ("from Monday to Wednesday", Relation::At),
        ("between March and May", Relation::At),
    ];
    for (text, relation) in cases {
        let found: Vec<Relation> =
            readings(text, Some(friday()), Lean::Future).iter().map(|reading| reading.relation).collect();
        assert_eq!(found, [relation], "{text}");
    }
}

#[test]
fn a_date_says_how_exactly_it_is_meant() {
    let cases = [
        ("tomorrow at 5pm", Granularity::Minute),
        ("within 48 hours", Granularity::Hour),
        ("this evening", Granularity::PartOfDay),
        ("May 5", Granularity::Day),
        ("two weeks ago", Granularity::Week),
        ("two months ago", Granularity::Month),
        ("last summer", Granularity::Quarter),
        ("in 2022", Granularity::Year),
        ("the 1990s", Granularity::Decade),
    ];
    for (text, granularity) in cases {
        let found = readings(text, Some(friday()), Lean::Future);
        assert_eq!(
            found.iter().map(|reading| reading.granularity).collect::<Vec<_>>(),
            [granularity],
            "{text}"
        );
    }
    let open = |text| readings(text, Some(friday()), Lean::Past)[0].is_year_open;
    assert!(
        open("in May")
            && open("May 5")
            && !open("last May")
            && !open("May 2023")
            && !open("in May last year")
    );
    let relative = |text| readings(text, Some(friday()), Lean::Past)[0].is_relative;
    assert!(relative("yesterday") && relative("last May") && !relative("in May") && !relative("May 5, 2023"));
}

#[test]
fn a_weekday_belongs_to_the_week_before_its_colon_and_to_the_hour_behind_it() {
    check(
        Lean::Future,
        &[
            (
                "the dentist next week: tue 3:40, bring the x-rays",
                "2024-03-19T15:40:00Z..2024-03-19T15:40:00Z",
            ),
            ("next week, Tuesday 3:40", "2024-03-19T15:40:00Z..2024-03-19T15:40:00Z"),
            ("next week – Thursday at 10:15", "2024-03-21T10:15:00Z..2024-03-21T10:15:00Z"),
            ("Dentist next week: Wed", "2024-03-20..2024-03-20"),
            ("flight BA117 sat 07:50", "2024-03-16T07:50:00Z..2024-03-16T07:50:00Z"),
            ("party sat evening", "2024-03-16T18:00:00Z..2024-03-16"),
            ("he sat 10:30", ""),
            ("team: thu, fri and mon", ""),
            ("library books due back on the 4th of April", "2024-04-04..2024-04-04"),
        ],
    );
}

#[test]
fn an_early_hour_of_what_is_to_come_is_in_the_afternoon() {
    check(
        Lean::Future,
        &[
            ("Monday at 3:40", "2024-03-18T15:40:00Z..2024-03-18T15:40:00Z"),
            ("Monday at 03:40", "2024-03-18T03:40:00Z..2024-03-18T03:40:00Z"),
            ("Monday at 3:40 am", "2024-03-18T03:40:00Z..2024-03-18T03:40:00Z"),
            ("Monday at 7:40", "2024-03-18T07:40:00Z..2024-03-18T07:40:00Z"),
            ("Monday at 3:40 UTC", "2024-03-18T03:40:00Z..2024-03-18T03:40:00Z"),
            ("Monday at 3.40", "2024-03-18T15:40:00Z..2024-03-18T15:40:00Z"),
            ("Monday at 3.40 euros", "2024-03-18..2024-03-18"),
            ("upgrade on Monday to 3.40", "2024-03-18..2024-03-18"),
        ],
    );
    check(Lean::Past, &[("it broke on Monday at 3:40", "2024-03-11T03:40:00Z..2024-03-11T03:40:00Z")]);
}
