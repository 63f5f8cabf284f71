//! What questions say of time.

use jiff::Timestamp;

use crate::time::question::{QuestionTime, question_window};

fn at(date: &str) -> Timestamp {
    format!("{date}T12:00:00Z").parse().unwrap()
}

fn asked(question: &str) -> Option<QuestionTime> {
    question_window(question, at("2026-11-22"))
}

fn shown(question: &str) -> String {
    let day = |time: Option<Timestamp>| time.map_or(String::new(), |time| time.to_string()[..10].to_owned());
    let windows = asked(question).map(|time| time.windows).unwrap_or_default();
    windows.iter().map(|w| format!("{}..{}", day(w.start), day(w.end))).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_question_names_its_time() {
    let cases = [
        ("What did Dana decide last March?", "2026-03-01..2026-04-01"),
        ("what happened yesterday", "2026-11-21..2026-11-22"),
        ("What did we discuss before the launch in May?", "..2026-06-01"),
        ("What changed after the review in July 2023?", "2023-07-01.."),
        ("What broke in May 2023?", "2023-05-01..2023-06-01"),
        ("what broke in may?", "2026-05-01..2026-06-01"),
        ("What was planned for the week of October 12?", "2026-10-12..2026-10-19"),
        ("Where did she go last summer?", "2026-06-01..2026-09-01"),
        ("What did I ship two weeks ago?", "2026-11-08..2026-11-09"),
        ("Who called on Tuesday?", "2026-11-17..2026-11-18"),
        ("What has changed since April?", "2026-04-01.."),
        ("What did we do between March and May?", "2026-03-01..2026-06-01"),
        ("Where did he live in 2022?", "2022-01-01..2023-01-01"),
        ("How many trips were there this year?", "2026-01-01..2027-01-01"),
        ("What did she paint recently?", "2026-11-08..2026-11-23"),
        ("Which tasks are due by Friday?", "..2026-11-28"),
        ("What will happen on Friday?", "2026-11-27..2026-11-28"),
        ("What did Maria do last weekend before April 10, 2023?", "2023-04-08..2023-04-10"),
        ("What was found on 1 February, 2023?", "2023-02-01..2023-02-02"),
        ("What was said before May 2023?", "..2023-05-01"),
        ("What came on 3/4/2024?", "2024-03-04..2024-03-05 2024-04-03..2024-04-04"),
        ("When did we meet in June 2023?", "2023-06-01..2023-07-01"),
        ("What did I do on Dec 20?", "2025-12-20..2025-12-21"),
        ("What did she do in May Dana asked", "2026-05-01..2026-06-01"),
        ("the September release", "2026-09-01..2026-10-01"),
        ("What happened in May or June 2023?", "2026-05-01..2026-06-01 2023-06-01..2023-07-01"),
    ];
    for (question, expected) in cases {
        assert_eq!(shown(question), expected, "{question}");
    }
}

#[test]
fn a_question_for_a_time_or_without_one_names_none() {
    for question in [
        "When did the launch happen?",
        "What date is the review?",
        "When did she go last week?",
        "How long ago was her 18th birthday?",
        "What does May think of April Smith?",
        "What may we use?",
        "Which database did we choose?",
        "What are the second and third options?",
        "Where is the spring in the mattress?",
        "",
    ] {
        assert_eq!(asked(question), None, "{question}");
    }
}

#[test]
fn closeness_is_one_inside_and_falls_outside_by_how_exact_the_question_is() {
    let time = asked("What broke in May 2023?").unwrap();
    assert!((time.closeness(at("2023-05-20")) - 1.0).abs() < f32::EPSILON);
    let outside: Vec<f32> = ["2023-06-01", "2023-06-10", "2023-07-10", "2023-12-01", "2026-05-10"]
        .map(|day| time.closeness(at(day)))
        .into();
    assert!(outside.is_sorted_by(|near, far| near > far), "{outside:?}");
    assert!(outside[0] > 0.99 && outside[4] < 0.01, "{outside:?}");
    // Texts about an event are written after it rather than before.
    assert!(time.closeness(at("2023-06-15")) > time.closeness(at("2023-04-16")));
    let day = asked("What broke on May 10, 2023?").unwrap();
    assert!(day.closeness(at("2023-06-15")) < 0.05);
    assert!(asked("What broke in 2023?").unwrap().closeness(at("2024-02-15")) > 0.9);
}

#[test]
fn a_month_without_a_year_is_any_year_s_but_the_last_one_first() {
    let time = asked("What broke in May?").unwrap();
    assert!(time.windows[0].is_recurring);
    let (last, older, other) = (
        time.closeness(at("2026-05-10")),
        time.closeness(at("2023-05-10")),
        time.closeness(at("2023-09-10")),
    );
    assert!(last > older && older > 0.7 && other < 0.2, "{last} {older} {other}");
    assert!(!asked("What broke in May 2023?").unwrap().windows[0].is_recurring);
}

#[test]
fn an_open_end_holds_everything_on_its_side() {
    let before = asked("What was said before May 2023?").unwrap();
    assert!((before.closeness(at("2019-01-01")) - 1.0).abs() < f32::EPSILON);
    assert!(before.closeness(at("2023-09-01")) < 0.1);
    let since = asked("What has changed since April?").unwrap();
    assert!((since.closeness(at("2026-11-01")) - 1.0).abs() < f32::EPSILON);
    assert!(since.closeness(at("2025-04-10")) < 0.1);
}

#[test]
fn a_date_with_its_year_is_surer_than_one_without() {
    let sure = |question| asked(question).unwrap().certainty();
    assert!(sure("in May 2023") > sure("in May") && sure("in May") > sure("yesterday"));
    assert!(sure("last week") > sure("before the launch in May"));
}
