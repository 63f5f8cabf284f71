//! Appointments are known by their word and their day.

use super::{RulesExtractor, extract, read_as, segment, shown, source};

fn found(text: &str) -> Vec<String> {
    shown(&read_as(Some("Dana Whitfield"), &[], text))
}

#[test]
fn an_appointment_to_come_is_kept_with_its_day() {
    for (text, event) in [
        ("Next appointment on 9 April.", "Commitment due 04-09 [Dana Whitfield owner] Next appointment on 9"),
        (
            "The knee is better. She wants an MRI. Next appointment is on 9 April at 10:30. Exercises twice a day.",
            "Commitment due 04-09 [Dana Whitfield owner] Next appointment is on",
        ),
        ("dentist Tuesday 3pm", "Commitment due 03-19 [Dana Whitfield owner] dentist Tuesday 3pm"),
        (
            "Busy week. Dentist Tuesday 3pm, then picking up the kids at 5.",
            "Commitment due 03-19 [Dana Whitfield owner] Dentist Tuesday 3pm",
        ),
        ("Vet on Tuesday.", "Commitment due 03-19 [Dana Whitfield owner] Vet on Tuesday."),
        (
            "Dentist on 14 April at half past nine",
            "Commitment due 04-14 [Dana Whitfield owner] Dentist on 14 April",
        ),
    ] {
        let found = found(text);
        assert!(found.contains(&event.to_owned()), "{text}: {found:?}");
    }
}

#[test]
fn what_is_no_appointment_to_come_is_none() {
    for text in [
        "The appointment was on 9 March.",
        "No appointment needed on Tuesday.",
        "Shall we make an appointment on Tuesday?",
        "Tuesday: dentist.",
        "Dentist on Tuesday: two fillings.",
        "The dentist on the corner opens at 9 on Tuesdays and has been there for years.",
    ] {
        let found = found(text);
        assert!(!found.iter().any(|event| event.starts_with("Commitment")), "{text}: {found:?}");
    }
}

#[test]
fn who_wants_surer_events_gets_no_appointment() {
    let text = source(vec![segment("Next appointment on 9 April.", None)]);
    let rules = |least| RulesExtractor::with_model(None).with_confidence(Some(least));
    assert_eq!(extract(&rules(0.5), &text).events.len(), 1);
    assert_eq!(extract(&rules(0.9), &text).events.len(), 0);
}
