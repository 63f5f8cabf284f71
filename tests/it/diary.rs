//! A diary with a note a day: a question that names a time finds the notes of that time, in the first ten.

use std::fmt::Write;

use jiff::civil::{Date, Weekday};
use jiff::{ToSpan, Zoned};
use memory_core::artifact::Draft;
use memory_core::id::ArtifactId;
use memory_engine::recall::{Recall, RecallDraft};
use memory_tests::Fixture;
use memory_tests::process::{DataDir, Server};
use serde_json::{Value, json};

use crate::shorthand::{dated, ids, note};

const DAYS: i64 = 119;
const PLACES: [&str; 7] =
    ["the harbour", "the library", "the allotment", "the office", "the old mill", "the market", "home"];
const PEOPLE: [&str; 11] = [
    "Ines",
    "Tom",
    "Farid",
    "Greta",
    "Old Paul",
    "Mira",
    "Jonas",
    "the twins",
    "Aunt Vera",
    "Sanjay",
    "Lotte",
];
const DEEDS: [&str; 13] = [
    "We mended the fence and talked until late.",
    "The train was an hour late, so I read the whole way.",
    "I cooked lentil soup, which was too salty.",
    "We looked at flats and liked none of them.",
    "It rained, and the roof leaked again.",
    "I lost my keys and found them in the bread bin.",
    "The meeting about the budget took all afternoon.",
    "We played chess; I lost twice.",
    "I planted garlic and tidied the shed.",
    "The doctor said that the knee is fine.",
    "We sang in the choir and had tea.",
    "I wrote letters and paid the bills.",
    "The bicycle got a new chain.",
];

/// What is written of a day, another for each.
fn words_of(day: usize) -> String {
    format!(
        "Spent the day at {} with {}. {} Slept {} hours.",
        PLACES[day % PLACES.len()],
        PEOPLE[day % PEOPLE.len()],
        DEEDS[day % DEEDS.len()],
        5 + day % 4
    )
}

fn today() -> Date {
    Zoned::now().with_time_zone(jiff::tz::TimeZone::UTC).date()
}

/// The days of the diary, the last is today.
fn days(today: Date) -> Vec<Date> {
    (0..DAYS).rev().map(|back| today - back.days()).collect()
}

/// Questions, and the days that each is about.
fn questions(today: Date) -> Vec<(String, Vec<Date>)> {
    let day = |back: i64| today - back.days();
    let monday = today - i64::from(today.weekday().to_monday_zero_offset()).days();
    let last_week: Vec<Date> = (0..7).map(|n| monday - 7.days() + n.days()).collect();
    let tuesday = (1..=7).map(day).find(|day| day.weekday() == Weekday::Tuesday).expect("a Tuesday");
    let ordinal = |date: Date| {
        let suffix = match date.day() {
            1 | 21 | 31 => "st",
            2 | 22 => "nd",
            3 | 23 => "rd",
            _ => "th",
        };
        format!("{}{suffix}", date.strftime("%B %-d"))
    };
    let (some, other) = (day(20), day(87));
    vec![
        ("What did I do yesterday?".to_owned(), vec![day(1)]),
        ("Who was I with the day before yesterday?".to_owned(), vec![day(2)]),
        ("Where was I three days ago?".to_owned(), vec![day(3)]),
        (format!("What did I do on {}?", ordinal(some)), vec![some]),
        (format!("what happened on {}", some.strftime("%-d %B")), vec![some]),
        (format!("What did I write on {}?", ordinal(other)), vec![other]),
        (format!("What did I do on {other}?"), vec![other]),
        ("What did I do last Tuesday?".to_owned(), vec![tuesday]),
        ("What did I do last week?".to_owned(), last_week.clone()),
        ("Summarise last week".to_owned(), last_week.clone()),
        ("Was habe ich gestern gemacht?".to_owned(), vec![day(1)]),
        ("Qu'est-ce que j'ai fait la semaine dernière ?".to_owned(), last_week),
        ("¿Qué hice hace tres días?".to_owned(), vec![day(3)]),
    ]
}

/// Questions about a time that is open at one end.
fn open_questions(today: Date) -> Vec<(String, Vec<Date>)> {
    let day = |back: i64| today - back.days();
    vec![
        (format!("What happened after {}?", day(6)), (0..=5).map(day).collect()),
        (format!("What happened before {}?", day(DAYS - 5)), (DAYS - 4..DAYS).map(day).collect()),
        ("What happened since yesterday?".to_owned(), (0..=1).map(day).collect()),
    ]
}

/// The whole month before the last one.
fn month(today: Date) -> (String, Vec<Date>) {
    let first = today.first_of_month() - 2.months();
    let days = (0..i64::from(first.days_in_month())).map(|n| first + n.days()).collect();
    (format!("What did I do in {}?", first.strftime("%B")), days)
}

fn asked(question: &str, limit: i64) -> RecallDraft {
    RecallDraft { query: Some(question.to_owned()), limit: Some(limit), ..RecallDraft::default() }
}

/// A memory with the diary in it, and what was remembered of each day.
async fn diary(draft_of: impl Fn(Date, String) -> Draft) -> (Fixture, Date, Vec<(Date, ArtifactId)>) {
    let f = Fixture::new().await;
    let today = today();
    let mut notes = Vec::new();
    for (n, day) in days(today).into_iter().enumerate() {
        notes.push((day, f.remember_as(draft_of(day, words_of(n))).await.id));
    }
    (f, today, notes)
}

fn of_days(notes: &[(Date, ArtifactId)], days: &[Date]) -> Vec<ArtifactId> {
    notes.iter().filter(|(day, _)| days.contains(day)).map(|(_, id)| id.clone()).collect()
}

fn missing(wanted: &[ArtifactId], found: &Recall, question: &str) -> Option<String> {
    let found = ids(found);
    let count = wanted.iter().filter(|id| !found.contains(id)).count();
    (count > 0).then(|| format!("{question}: {count} of {} not among {}", wanted.len(), found.len()))
}

async fn assert_all_found(f: &Fixture, today: Date, notes: &[(Date, ArtifactId)]) {
    let mut wrong = Vec::new();
    for (question, days) in questions(today) {
        let found = f.recall_as(asked(&question, 10)).await;
        wrong.extend(missing(&of_days(notes, &days), &found, &question));
    }
    let (question, days) = month(today);
    let of_month = of_days(notes, &days);
    let found = f.recall_as(asked(&question, 10)).await;
    if !ids(&found).iter().all(|id| of_month.contains(id)) {
        wrong.push(format!("{question}: not only of that month"));
    }
    wrong.extend(missing(&of_month, &f.recall_as(asked(&question, 50)).await, &question));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn every_note_of_the_time_asked_for_is_found_by_its_date() {
    let (f, today, notes) = diary(|day, words| dated(&day.to_string(), &words)).await;
    assert_all_found(&f, today, &notes).await;
    for (question, days) in open_questions(today) {
        let limit = days.len() as i64;
        let found = f.recall_as(asked(&question, limit)).await;
        assert_eq!(missing(&of_days(&notes, &days), &found, &question), None);
    }
    // What is asked of that time still says which of its notes comes first.
    let (_, days) = month(today);
    let nth = DAYS as usize - 1 - (today - days[11]).get_days() as usize;
    let place = PLACES[nth % PLACES.len()];
    let question = format!("What did I do in {} at {place}?", days[0].strftime("%B"));
    let found = f.recall_as(asked(&question, 3)).await;
    assert!(found.results.iter().all(|result| result.hit.passage.contains(place)), "{question}");
}

#[tokio::test]
async fn every_note_of_the_time_asked_for_is_found_by_the_heading_in_its_text() {
    let headed = |day: Date, words: String| note(&format!("# {}\n\n{words}", day.strftime("%A, %-d %B %Y")));
    let (f, today, notes) = diary(headed).await;
    assert_all_found(&f, today, &notes).await;
}

#[tokio::test]
async fn a_diary_in_one_text_is_shown_where_the_time_asked_for_stands() {
    let f = Fixture::new().await;
    let today = today();
    let mut text = String::new();
    for (n, day) in days(today).into_iter().enumerate() {
        let _ = write!(text, "## {day}\n\n{} Page {n} ends here.\n\n", words_of(n).repeat(3));
    }
    f.remember(&text).await;
    f.drain().await;
    for n in 0..3 {
        f.remember(&format!("Spent the day somewhere else with nobody, {n} times.")).await;
    }
    let all = days(today);
    for (question, asked_days) in questions(today).into_iter().filter(|(_, days)| days.len() == 1) {
        let found = f.recall_as(asked(&question, 10)).await;
        let first = &found.results[0].hit.passage;
        let n = all.iter().position(|day| *day == asked_days[0]).expect("a day of the diary");
        let part = words_of(n);
        assert!(first.contains(&part), "{question}: {first}");
    }
}

#[tokio::test]
async fn a_time_of_which_nothing_is_stored_loses_nothing_and_the_answer_says_so() {
    let (f, today, _) = diary(|day, words| dated(&day.to_string(), &words)).await;
    let long_ago = today - 9.years();
    let question = format!("Where did I plant garlic on {}?", long_ago.strftime("%-d %B %Y"));
    let found = f.recall_as(asked(&question, 10)).await;
    let plain = f.recall_as(asked("Where did I plant garlic?", 10)).await;
    assert_eq!(found.results.len(), plain.results.len());
    assert!(found.results[0].hit.passage.contains("garlic"));
    let window = found.time_window.expect("a time");
    assert!(
        window.is_unmatched
            && window.from.is_some_and(|from| from.to_string().starts_with(&long_ago.to_string()))
    );
    assert!(plain.warnings.is_empty() && plain.time_window.is_none());
}

#[tokio::test]
async fn a_time_that_the_client_gives_counts_instead_of_the_one_in_the_question() {
    let (f, today, notes) = diary(|day, words| dated(&day.to_string(), &words)).await;
    let wanted = today - 40.days();
    let given = |day: Date| Some(day.to_string());
    let draft = RecallDraft {
        date_from: given(wanted),
        date_to: given(wanted),
        ..asked("What did I do yesterday?", 10)
    };
    let found = f.recall_as(draft).await;
    assert_eq!(ids(&found), of_days(&notes, &[wanted]));
    assert!(found.time_window.is_none() && found.warnings.is_empty(), "{:?}", found.warnings);
}

fn result_ids(answer: &Value) -> Vec<&str> {
    answer["results"].as_array().into_iter().flatten().filter_map(|result| result["id"].as_str()).collect()
}

#[tokio::test]
async fn the_answer_says_how_a_time_was_understood_and_what_it_did() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let today = today();
    let mut ids = Vec::new();
    for (n, day) in days(today).into_iter().enumerate().rev().take(30) {
        let arguments = json!({"content": words_of(n), "date": day.to_string(), "context": "note"});
        let stored = server.ask("remember", arguments).await;
        ids.push((day, stored["id"].as_str().expect("an id").to_owned()));
    }
    let yesterday = (today - 1.day()).to_string();
    let answer = server.ask("recall", json!({"query": "What did I do yesterday?", "explain": true})).await;
    assert_eq!(
        answer["time_window"],
        json!({"from": yesterday, "to": yesterday, "phrase": "yesterday", "certainty": 0.95})
    );
    assert_eq!(result_ids(&answer)[0], ids[1].1);
    let share = |n: usize| answer["results"][n]["explain"]["time"].as_f64().expect("a share");
    assert!(share(0) > 0.5 && share(1) < 0.2, "{answer}");
    let since = server.ask("recall", json!({"query": "What have I planted since May 2019?"})).await;
    assert_eq!(since["time_window"], json!({"from": "2019-05-01", "phrase": "May 2019", "certainty": 1.0}));
    let plain = server.ask("recall", json!({"query": "Who plays chess?"})).await;
    assert!(plain.get("time_window").is_none(), "{plain}");
}

#[tokio::test]
async fn a_question_for_an_order_is_answered_in_that_of_dates_also_where_the_answer_is_cut() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    // The latest answers best by its words, the earliest least.
    for (date, content) in [
        ("2026-03-09", "Outage of the billing service: the third outage of the billing service this year."),
        ("2026-01-05", "The disk was full, and billing was away for an hour: an outage."),
        ("2026-02-11", "Outage of the billing service after a release."),
        ("2026-01-02", "The service on New Year's Eve was slow, so we left the restaurant early."),
    ] {
        server.ask("remember", json!({"content": content, "date": date})).await;
    }
    let dates = |answer: &Value| -> Vec<String> {
        let results = answer["results"].as_array().expect("results");
        results.iter().map(|result| result["date"].as_str().expect("a date")[..10].to_owned()).collect()
    };
    let ask = async |query: &str, limit: usize| {
        server.ask("recall", json!({"query": query, "limit": limit, "min_score": 0.0})).await
    };
    let in_order = ask("In what order did the outages of the billing service happen?", 3).await;
    assert_eq!(in_order["ordered_by"], "date", "{in_order}");
    assert_eq!(dates(&in_order), ["2026-01-05", "2026-02-11", "2026-03-09"]);
    let by_score = ask("outages of the billing service", 3).await;
    assert_eq!(by_score["ordered_by"], Value::Null);
    assert_ne!(dates(&by_score)[0], "2026-01-05", "{by_score}");
    // What is shown is what answers best, whatever its date.
    let two = dates(&ask("In what order did the outages of the billing service happen?", 2).await);
    let mut best = dates(&ask("outages of the billing service", 2).await);
    best.sort();
    assert_eq!(two, best);
    // What hardly answers does not stand first for its date, unless it is asked for.
    let query = "In what order did the outages of the billing service happen?";
    assert_eq!(dates(&ask(query, 10).await)[0], "2026-01-02");
    let answer = server.ask("recall", json!({"query": query})).await;
    assert!(!dates(&answer).contains(&"2026-01-02".to_owned()), "{answer}");
    let left_out = answer["warnings"].to_string();
    assert!(left_out.contains("left out") && !left_out.contains("under 0.15"), "{left_out}");
}

#[tokio::test]
async fn what_is_due_is_found_by_the_days_that_texts_tell_of_whenever_they_were_written() {
    let f = Fixture::new().await;
    let on = |days: i64| today().checked_add(days.days()).expect("a day");
    let date = |days: i64| on(days).to_string();
    let day = |days: i64| on(days).strftime("%-d %B").to_string();
    let budget = format!("Comments on the draft of the budget go to the treasurer until {}.", day(1));
    let budget = f.remember_as(dated(&date(-20), &budget)).await.id;
    let tyres = format!("Winter tyres for the van: garage, {}, 8:00.", day(1));
    let tyres = f.remember_as(dated(&date(-40), &tyres)).await.id;
    let later = format!("The annual report has to be handed in on {}.", day(25));
    f.remember_as(dated(&date(-2), &later)).await;
    for (days_ago, person) in (1..).zip(&PEOPLE[..7]) {
        let text = format!("Deadlines are a nuisance, said {person} over tea, and nothing is due.");
        f.remember_as(dated(&date(-days_ago), &text)).await;
    }
    for question in ["what's due tomorrow?", "is there anything I have to hand in tomorrow?"] {
        let found = ids(&f.recall_as(crate::shorthand::query(question)).await);
        assert!(found[..2].contains(&budget) && found[..2].contains(&tyres), "{question}: {found:?}");
    }
}
