//! How events are told: nothing of what a text says is cut off, dropped or given to another.

use super::*;

fn told(text: &str) -> Vec<String> {
    read(text).events.into_iter().map(|event| event.narrative).collect()
}

#[test]
fn an_arrow_between_values_ends_nothing() {
    for (text, wanted) in [
        ("Rate limit raised 120 → 300/min yesterday.", "Rate limit raised 120 → 300/min yesterday."),
        ("- Rate limit raised from €3 → €5", "Rate limit raised from €3 → €5."),
        ("Session length changed 3 -> 5 days.", "Session length changed 3 -> 5 days."),
        ("The timeout was raised 30s => 60s.", "The timeout was raised 30s => 60s."),
        ("Postgres was upgraded `v14` → `v16`.", "Postgres was upgraded v14 → v16."),
    ] {
        assert_eq!(told(text), [wanted]);
    }
}

#[test]
fn a_shortened_word_ends_no_sentence() {
    for (text, wanted) in [
        (
            "Sent Basel the offer (4,800 a year incl. 2 on-site days).",
            "Sent Basel the offer (4,800 a year incl. 2 on-site days).",
        ),
        ("Tested ext. 204 with the new phones.", "Tested ext. 204 with the new phones."),
        ("Shipped max. 3 crates a day excl. Sundays.", "Shipped max. 3 crates a day excl. Sundays."),
        ("Moved the call to 3.40 on Monday.", "Moved the call to 3.40 on Monday."),
    ] {
        assert_eq!(told(text), [wanted]);
    }
    // A word that is one by itself still ends its sentence.
    assert_eq!(told("Fixed it in ten min. Sent the invoice.").len(), 2);
}

#[test]
fn two_who_are_named_behind_a_label_do_it_together() {
    let pairing = "Pairing on the chunker: Dana and Tomasz sat together two afternoons.";
    assert_eq!(told(&format!("{pairing} It rained.")), [pairing]);
}
