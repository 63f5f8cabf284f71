//! What questions say of time.

use jiff::Timestamp;

use crate::time::question::{BELONGS_FROM, QuestionTime, Window, question_window};

fn at(date: &str) -> Timestamp {
    format!("{date}T12:00:00Z").parse().unwrap()
}

fn asked(question: &str) -> Option<QuestionTime> {
    question_window(question, at("2026-11-22"))
}

pub(super) fn shown(question: &str) -> String {
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
        ("What did I ship two weeks ago?", "2026-11-05..2026-11-12"),
        ("Who called on Tuesday?", "2026-11-17..2026-11-18"),
        ("What has changed since April?", "2026-04-01.."),
        ("What did we do between March and May?", "2026-03-01..2026-06-01"),
        ("Where did he live in 2022?", "2022-01-01..2023-01-01"),
        ("How many trips were there this year?", "2026-01-01..2027-01-01"),
        ("What did she paint recently?", "2026-11-08..2026-11-23"),
        ("Which tasks are due by Friday?", "2026-11-22..2026-11-28"),
        ("What is due next week?", "2026-11-23..2026-11-30"),
        ("What is due tomorrow?", "2026-11-23..2026-11-24"),
        ("What do I have on Friday?", "2026-11-27..2026-11-28"),
        ("Do I have anything on December 1?", "2026-12-01..2026-12-02"),
        ("What is on Tuesday?", "2026-11-24..2026-11-25"),
        ("What happens on December 1?", "2026-12-01..2026-12-02"),
        ("Who is responsible for infrastructure from December?", "2026-12-01..2027-01-01"),
        ("Who carries the on-call phone from December on?", "2026-12-01.."),
        ("Which dishes suit everyone on Christmas Eve?", "2026-12-24..2026-12-25"),
        ("Who cooks on Christmas Eve?", "2026-12-24..2026-12-25"),
        ("Who sang on Christmas Eve?", "2025-12-24..2025-12-25"),
        ("Which meetings in January?", "2026-01-01..2026-02-01"),
        ("Who wrote the report in January?", "2026-01-01..2026-02-01"),
        ("What have we done in January?", "2026-01-01..2026-02-01"),
        ("Show me the minutes of January 10", "2026-01-10..2026-01-11"),
        ("What is open since January?", "2026-01-01.."),
        ("Could we get the summary of the call on Tuesday?", "2026-11-17..2026-11-18"),
        ("What happened on December 1?", "2025-12-01..2025-12-02"),
        ("Can we schedule the plumber on Tuesday evening?", "2026-11-24..2026-11-25"),
        ("Could we see what Ben wrote on Tuesday?", "2026-11-17..2026-11-18"),
        ("Am I free on Saturday evening?", "2026-11-28..2026-11-29"),
        ("Which team installed the pump on Monday?", "2026-11-16..2026-11-17"),
        ("Who missed the deadline on Friday?", "2026-11-20..2026-11-21"),
        ("Which deadlines did we miss before March?", "..2026-03-01"),
        ("Do we have the minutes from Tuesday?", "2026-11-17..2026-11-18"),
        ("Which owls came this spring?", "2026-03-01..2026-06-01"),
        ("What did he decide in the first days of April?", "2026-04-01..2026-04-08"),
        ("how did the third quarter go?", "2026-07-01..2026-10-01"),
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
        "Who did I most recently speak to?",
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
    assert!(sure("in May 2023") > sure("yesterday") && sure("yesterday") > sure("in May"));
    assert!(
        sure("on May 3") > sure("a few days ago") && sure("last week") > sure("before the launch in May")
    );
}

/// What is asked on Sunday, 22 November 2026: the windows, `!` before those that decide.
fn judged(question: &str) -> String {
    let day = |time: Option<Timestamp>| time.map_or(String::new(), |time| time.to_string()[5..10].to_owned());
    let windows = asked(question).map(|time| time.windows).unwrap_or_default();
    let shown = |w: &Window| format!("{}{}..{}", if w.decides { "!" } else { "" }, day(w.start), day(w.end));
    windows.iter().map(shown).collect::<Vec<_>>().join(" ")
}

fn check(cases: &[(&str, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .map(|(question, expected)| (question, expected, judged(question)))
        .filter(|(_, expected, found)| found != *expected)
        .map(|(question, expected, found)| format!("{question}: {found}, not {expected}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_happened_at_a_time_is_decided_by_it_and_a_mere_topic_is_not() {
    check(&[
        ("What did I do yesterday?", "!11-21..11-22"),
        ("Who called on November 3rd?", "!11-03..11-04"),
        ("What happened on 3 November?", "!11-03..11-04"),
        ("what happened last week", "!11-09..11-16"),
        ("What did we ship in October?", "!10-01..11-01"),
        ("What broke between November 3 and November 5?", "!11-03..11-06"),
        ("notes from last Tuesday", "!11-17..11-18"),
        ("Tuesday", "!11-17..11-18"),
        ("Where was I last night?", "!11-21..11-22"),
        ("What did we agree this week?", "!11-16..11-23"),
        ("What did Caroline plan for June?", "06-01..07-01"),
        ("What are her plans in June?", "06-01..07-01"),
        ("When did Melanie go camping in June?", "06-01..07-01"),
        ("Which features are in the September release?", "09-01..10-01"),
        ("What do we know about the 2023 budget?", "01-01..01-01"),
        ("What is left of the budget for December?", "12-01..01-01"),
        ("What did she paint recently?", "11-08..11-23"),
        ("What has changed since Monday?", "!11-16.."),
        ("What was said before the launch in May?", "..06-01"),
        ("Which tasks are due by Friday?", "!11-22..11-28"),
        ("What did I plan yesterday?", "!11-21..11-22"),
        ("What did I do today?", "!11-22..11-23"),
        ("notes from today", "!11-22..11-23"),
        ("What should I do today?", "!11-22..11-23"),
        ("What is on my list for this week?", "11-16..11-23"),
        ("Who is ill this week?", "11-16..11-23"),
        ("Who carries the on-call phone this week?", "11-16..11-23"),
        ("Who runs the Monday standup?", "11-16..11-17"),
    ]);
}

#[test]
fn numbers_that_are_no_years_and_counts_that_are_ranges_are_read_as_such() {
    check(&[
        ("What does PR 2024 change?", ""),
        ("Who sits in room 2024?", ""),
        ("Which fix went into build 2023?", ""),
        ("What is in issue #2024?", ""),
        ("What do I have in 3 days?", "!11-25..11-26"),
        ("What happens in two weeks?", "!12-03..12-10"),
        ("What did they build in 3 days?", ""),
        ("What happened two days later?", ""),
        ("We moved on November 3, what broke two days later?", "!11-05..11-06"),
        ("On 3 November she left. Who came a week after that?", "!11-07..11-14"),
        ("What did I read a few days ago?", "!11-16..11-21"),
        ("Who wrote a couple of weeks ago?", "!10-29..11-12"),
        ("What did we do before Christmas 2024?", "!..12-24"),
        ("What did we eat at Christmas 2024?", "!12-24..12-27"),
        ("Who came on Christmas Eve?", "!12-24..12-25"),
        ("Who came last Easter?", "!04-03..04-07"),
        ("What did we do on New Year's Eve 2024?", "!12-31..01-01"),
        ("What's new in 2024?", "!01-01..01-01"),
        ("Who was at the door yesterday at noon?", "!11-21..11-21"),
        ("Who rang at noon?", "!11-22..11-22"),
        ("What is noon?", ""),
    ]);
}

#[test]
fn relative_words_of_other_languages_are_read_in_their_language_only() {
    let yesterday = "!11-21..11-22";
    check(&[
        ("Was habe ich gestern gemacht?", yesterday),
        ("Was war vorgestern?", "!11-20..11-21"),
        ("Was haben wir letzte Woche beschlossen?", "!11-09..11-16"),
        ("Was ist letzten Monat passiert?", "!10-01..11-01"),
        ("Wer hat vor drei Tagen angerufen?", "!11-19..11-20"),
        ("Was habe ich vor 2 Wochen gelesen?", "!11-05..11-12"),
        ("Was stand vor ein paar Tagen im Protokoll?", "!11-16..11-21"),
        ("Was geschah am 3. November?", "!11-03..11-04"),
        ("Was geschah am 3.11.?", "!11-03..11-04"),
        ("Was war im Oktober?", "!10-01..11-01"),
        ("Was war zwischen dem 3. und 5. November?", "!11-03..11-06"),
        ("Wer kam letzten Dienstag?", "!11-17..11-18"),
        ("Was habe ich am Dienstag gekauft?", "!11-17..11-18"),
        ("Was war gestern Abend?", yesterday),
        ("Wer war hier im März?", "!03-01..04-01"),
        ("Wer ist hier?", ""),
        ("Wann war die Feier letzte Woche?", ""),
        ("Qui est venu hier ?", yesterday),
        ("Qu'est-ce que j'ai fait avant-hier ?", "!11-20..11-21"),
        ("Que s'est-il passé la semaine dernière ?", "!11-09..11-16"),
        ("Qu'avons-nous décidé le mois dernier ?", "!10-01..11-01"),
        ("Qui a appelé il y a trois jours ?", "!11-19..11-20"),
        ("Qu'ai-je fait mardi dernier ?", "!11-17..11-18"),
        ("Que s'est-il passé le 3 novembre ?", "!11-03..11-04"),
        ("Qu'est-ce qui s'est passé en octobre 2025 ?", "!10-01..11-01"),
        ("Qui est sur Mars ?", ""),
        ("¿Qué hice ayer?", yesterday),
        ("¿Quién llamó anteayer?", "!11-20..11-21"),
        ("¿Qué pasó la semana pasada?", "!11-09..11-16"),
        ("Was haben wir am 12. November gemacht?", "!11-12..11-13"),
        ("¿Qué decidimos el mes pasado?", "!10-01..11-01"),
        ("¿Quién llamó hace tres días?", "!11-19..11-20"),
        ("¿Qué hice el martes pasado?", "!11-17..11-18"),
        ("¿Qué pasó el 3 de noviembre?", "!11-03..11-04"),
        ("¿Qué pasó en octubre?", "!10-01..11-01"),
        ("Che cosa ho fatto ieri?", yesterday),
        ("Chi è venuto l'altro ieri?", "!11-20..11-21"),
        ("Che cosa è successo la settimana scorsa?", "!11-09..11-16"),
        ("Chi ha chiamato tre giorni fa?", "!11-19..11-20"),
        ("Cosa ho comprato martedì scorso?", "!11-17..11-18"),
        ("Cosa è successo il 3 novembre?", "!11-03..11-04"),
        ("Cosa abbiamo deciso a ottobre?", "!10-01..11-01"),
        // English words that other languages have with another meaning.
        ("Does the die cast here hold?", ""),
        ("Who is Hier in the Morgen family?", ""),
        ("What did Mars Inc. sell?", ""),
        ("What did Mai Tanaka and Juli say about Martes?", ""),
    ]);
}

#[test]
fn the_phrase_is_a_stretch_of_the_question() {
    for (question, phrase) in [
        ("What did I do yesterday?", "yesterday"),
        ("Wer hat vor drei Tagen angerufen?", "vor drei Tagen"),
        ("Que s'est-il passé la semaine dernière ?", "semaine dernière"),
        ("¿Qué pasó el 3 de noviembre?", "3 de noviembre"),
        ("Who called on November 3rd?", "November 3rd"),
    ] {
        assert_eq!(&question[asked(question).unwrap().windows[0].phrase.clone()], phrase, "{question}");
    }
}

#[test]
fn a_text_belongs_to_a_time_when_it_was_written_then_or_tells_of_it() {
    let time = asked("What did I do on November 3rd?").unwrap();
    let of_date = |day| time.fit_of_date(at(day));
    assert!((of_date("2026-11-03") - 1.0).abs() < f32::EPSILON);
    assert!(of_date("2024-11-03") >= BELONGS_FROM && of_date("2024-11-03") < 1.0, "another year's");
    assert!(of_date("2026-11-04") < BELONGS_FROM && of_date("2026-11-04") > of_date("2026-11-14"));
    let told = |from, to| time.fit_of_told(at(from), at(to));
    assert!(told("2026-11-02", "2026-11-03") >= BELONGS_FROM, "a day that reaches into it");
    assert!(told("2026-11-01", "2026-11-08") >= BELONGS_FROM, "the week with it");
    assert!(told("2026-01-01", "2026-12-31") < BELONGS_FROM, "the year with it");
    assert!(told("2026-11-08", "2026-11-09") < f32::EPSILON);
    let noon = asked("Who came yesterday at noon?").unwrap();
    assert!(noon.fit_of_date("2026-11-21T08:00:00Z".parse().unwrap()) >= BELONGS_FROM, "the same day");
}

#[test]
fn of_what_is_to_come_it_counts_what_is_told_of_it_and_not_when_that_was_written() {
    let due = asked("What is due this week?").unwrap();
    assert!(due.fit_of_date(at("2026-11-20")) < BELONGS_FROM);
    let told = |day: &str, next: &str| due.fit_of_told(at(day), at(next)) >= BELONGS_FROM;
    assert!(told("2026-11-22", "2026-11-23") && !told("2026-12-02", "2026-12-03"));
    assert!(due.is_ahead_of(at("2026-11-16")) && !due.is_ahead_of(at("2026-12-16")));
    let was = asked("What happened this week?").unwrap();
    assert!(was.fit_of_date(at("2026-11-20")) >= BELONGS_FROM && !was.is_ahead_of(at("2026-11-16")));
    assert!(!asked("Which deadlines did we miss this week?").unwrap().windows[0].is_to_come);
    for told in ["What did Mustafa say today?", "What did Will say today?", "How was my shoulder this week?"]
    {
        assert!(!asked(told).unwrap().windows[0].is_to_come, "{told}");
    }
    let list = asked("What should I buy today?").unwrap();
    assert!(list.windows[0].is_to_come && list.fit_of_date(at("2026-11-22")) >= BELONGS_FROM);
    assert!(asked("anything I have to hand in tomorrow?").unwrap().windows[0].is_to_come);
    assert!(!asked("What was due in March?").unwrap().windows[0].is_to_come, "it has passed");
}

#[test]
fn a_number_before_what_it_counts_is_no_year() {
    check(&[
        ("2000 line log what failed", ""),
        ("2000 row import what failed", ""),
        ("which 2048 bit key did we use", ""),
        ("1950 word essay feedback", ""),
        ("what did the 2000 visitors say", ""),
        ("the budget 2024", "01-01..01-01"),
        ("2024 budget", "01-01..01-01"),
        ("What was decided in 2000?", "!01-01..01-01"),
    ]);
}

#[test]
fn a_season_alone_decides_only_where_what_happened_is_asked_for() {
    let sure = |question| asked(question).map_or(0.0, |time| time.certainty());
    for question in
        ["wrong local clock for ERP data in autumn", "what grows in the summer", "who works during winter"]
    {
        assert!(sure(question) < 0.5, "{question}");
        assert!(asked(question).unwrap().deciding().next().is_none(), "{question}");
    }
    for question in
        ["What did we plant in autumn?", "where was she last summer", "Which owls came in the spring?"]
    {
        assert!(sure(question) > 0.8, "{question}");
        assert!(asked(question).unwrap().deciding().next().is_some(), "{question}");
    }
    assert!(sure("clock errors in October") > 0.8);
}

#[test]
fn a_feast_that_is_talked_of_is_no_time() {
    check(&[
        ("What did Callum say about Christmas?", ""),
        ("plans for Easter", ""),
        ("ideas for Mia's Halloween costume", ""),
        ("What do we know regarding Thanksgiving?", ""),
        ("What did we do at Christmas?", "!12-24..12-27"),
        ("What did we do at Easter?", "!04-03..04-07"),
        ("Who was there over Christmas?", "!12-24..12-27"),
        ("What will we do at Easter?", "!03-26..03-30"),
        ("What did they say about Christmas 2024?", "12-24..12-27"),
        ("When does the Christmas concert begin?", ""),
        ("What happened at the Christmas party?", ""),
        ("What did we eat over the Christmas holidays?", "!12-24..12-27"),
    ]);
    assert_eq!(shown("What did we do at Christmas?"), "2025-12-24..2025-12-27");
    assert_eq!(shown("What will we do at Christmas?"), "2026-12-24..2026-12-27");
}

#[test]
fn the_weekday_in_the_name_of_a_holiday_is_not_the_last_such_weekday() {
    for question in [
        "What did we do on bank holiday Monday?",
        "Who came on Good Friday?",
        "who came on good friday",
        "what did I buy on Black Friday?",
        "what did we eat on pancake tuesday?",
        "What did we do on Boxing Day Monday?",
    ] {
        assert!(asked(question).is_none_or(|time| time.deciding().next().is_none()), "{question}");
    }
    assert_eq!(judged("What did we do on the last Monday?"), judged("What did we do last Monday?"));
}

#[test]
fn what_is_counted_from_an_unknown_day_is_not_counted_from_today() {
    check(&[
        ("What did we do two days before Mum's birthday?", ""),
        ("What happened 3 weeks after the launch?", ""),
        ("two days before Mum's birthday", ""),
        ("What did I buy the day before the party?", ""),
        ("What happened in the two weeks before the release?", ""),
        ("Who called in the last two days before the move?", ""),
        ("What did we eat the week before the wedding?", ""),
    ]);
}

#[test]
fn what_is_to_be_done_by_a_day_is_ahead() {
    for question in [
        "What do I have to do by Monday?",
        "What's on next week?",
        "What is due next week?",
        "What do I have to send before Friday?",
    ] {
        let time = asked(question).unwrap();
        assert!(
            time.deciding().all(|window| window.is_to_come) && time.deciding().next().is_some(),
            "{question}"
        );
    }
}
