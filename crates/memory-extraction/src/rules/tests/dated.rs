//! On which day an event lies and when it falls due.

use super::*;

/// What is found in a note of a day with the models that stand in the program: category, day, due time and the beginning of
/// the evidence.
fn dated(day: &str, context: Context, text: &str) -> Vec<String> {
    let date = format!("{day}T12:00:00Z").parse().ok();
    let segments = vec![Segment { date, ..segment(text, None) }];
    let source = SourceText { context, ..source(segments) };
    let found = extract(&RulesExtractor::new(), &source);
    let show = |event: &ExtractedEvent| {
        let at = event.event_time.map_or(String::new(), |at| at.strftime("%m-%d").to_string());
        let due = event.due_time.map_or(String::new(), |due| format!(" due {}", due.strftime("%m-%d %H:%M")));
        let words: Vec<&str> = event.evidence[0].quote.split_whitespace().take(3).collect();
        format!("{} {at}{due} {}", event.category, words.join(" "))
    };
    found.events.iter().map(show).collect()
}

#[track_caller]
fn check(day: &str, context: Context, text: &str, expected: &[&str]) {
    assert_eq!(dated(day, context, text), expected, "{text}");
}

#[test]
fn what_happened_is_of_the_day_that_its_sentence_or_its_heading_names() {
    let note = Context::Note;
    let uploads = "On Monday 27 October uploads of large files disappeared.";
    check("2025-11-03", note, uploads, &["QualityRisk 10-27 On Monday 27"]);
    let rolled_back = &["Execution 10-27 11:45 rolled back"];
    for timeline in [
        "27 October\n\n09:10 first report of lost uploads\n11:45 rolled back the release\n",
        "# Incident\n\n## 27 October\n09:10 first report\n11:45 rolled back\n",
    ] {
        check("2025-11-03", note, timeline, rolled_back);
    }
    let met = "we met the archive people on the 11th and they liked it";
    check("2025-10-01", note, met, &["Collaboration 09-11 we met the", "Feedback 09-11 they liked it"]);
}

#[test]
fn what_is_arranged_for_a_day_is_of_the_next_such_day() {
    let rang = "Garage rang: the car's being serviced on the 20th";
    check("2026-10-06", Context::Note, rang, &["Commitment 10-06 due 10-20 23:59 Garage rang: the"]);
}

#[test]
fn what_is_on_a_day_to_come_has_not_been_done() {
    let note = Context::Note;
    let to_come = "Migration to Postgres 17 on 8 December.";
    check("2026-11-09", note, to_come, &["Commitment 11-09 due 12-08 23:59 Migration to Postgres"]);
    check("2026-12-09", note, to_come, &["Execution 12-08 Migration to Postgres"]);
}

#[test]
fn a_promise_falls_due_on_the_day_that_is_its_own() {
    let chat =
        "Priya: Ruben, would you take it?\nRuben: yeah fine, I'll take it. no promises for this week though";
    check("2025-10-14", Context::Chat, chat, &["Commitment 10-14 yeah fine, I'll"]);
    let list = "- [ ] party on the 14th\n- [ ] library books due back on the 4th of December\n- [ ] flight BA117 sat 07:50";
    check(
        "2026-11-01",
        Context::Note,
        list,
        &[
            "Commitment 11-01 due 11-14 23:59 party on the",
            "Commitment 11-01 due 12-04 23:59 library books due",
            "Commitment 11-01 due 11-07 07:50 flight BA117 sat",
        ],
    );
}
