//! Whose an event is, and of which day.

use memory_core::event::Category;

use super::{read, read_as, shown};

fn lines(text: &str) -> Vec<String> {
    shown(&read(text))
}

#[test]
fn who_is_named_at_the_head_of_an_item_says_its_i() {
    assert_eq!(
        lines("# Sync\n\n- Niko: I'll put up a draft by Monday.\n- Mark: I fixed the gate."),
        ["Commitment due 03-18 [Niko owner] Niko: I'll put up", "Execution [Mark owner] Mark: I fixed the"]
    );
}

#[test]
fn action_marks_leave_the_owner_to_be_read() {
    for (text, wanted) in [
        ("ACTION: Martin and EKR to write a draft", "Commitment [Martin owner] Martin and EKR to"),
        ("Action item (Erik): find a venue for the summit", "Commitment [Erik owner] find a venue for"),
        ("## Actions\n\n- AI Alice: order the paint", "Commitment [Alice owner] AI Alice: order the"),
        ("## Actions\n\n- [AI] Alice to order the paint", "Commitment [Alice owner] AI] Alice to order"),
        ("## Actions\n\n- Alice -> order the paint", "Commitment [Alice owner] Alice -> order the"),
    ] {
        assert_eq!(lines(text), [wanted], "{text}");
    }
}

#[test]
fn what_all_are_to_do_is_not_the_writers() {
    for text in
        ["## Actions\n\n- All board members: review the new code of conduct", "## Actions\n\n- Everyone to vote on the budget"]
    {
        let found = shown(&read_as(Some("Alice Chen"), &[], text));
        assert!(found.iter().all(|line| !line.contains("Alice")), "{found:?}");
    }
}

#[test]
fn an_unlisted_handle_speaks_for_itself() {
    let chat = "nils: morning\nana: hi nils\nxq_7: i'll order the pump by monday\nana: great";
    let found = shown(&read_as(None, &["Nils Berg", "Ana Lopes"], chat));
    assert!(found.iter().any(|line| line.contains("[xq_7 owner]")), "{found:?}");
    assert!(!found.iter().any(|line| line.contains("Ana Lopes owner] i'll order")), "{found:?}");
}

#[test]
fn a_dated_heading_gives_its_day_to_what_stands_below() {
    let text = "# Log\n\n## 2024-03-04\n\n- Alice Chen fixed the gate\n\n### Later\n\n- Bob Reyes fixed the roof\n\n## 7 March\n\n\
                - Alice Chen repaired the pump\n\n## Plans for 2 March\n\n- Bob Reyes sent the list\n";
    let extraction = read(text);
    let days: Vec<String> = extraction
        .events
        .iter()
        .filter(|event| event.category == Category::Execution)
        .filter_map(|event| event.event_time.map(|time| time.strftime("%m-%d").to_string()))
        .collect();
    assert_eq!(days, ["03-04", "03-04", "03-07", "03-15"]);
}

#[test]
fn a_date_before_the_words_is_their_day_and_days_are_counted_from_it() {
    let text = "2024-03-04  Alice Chen fixed the gate\n2024-03-05  Bob Reyes will send the list by Friday\n";
    let extraction = read(text);
    let shown = shown(&extraction);
    assert_eq!(
        shown,
        ["Execution [Alice Chen owner] Alice Chen fixed the", "Commitment due 03-08 [Bob Reyes owner] Bob Reyes will send"]
    );
    let time = extraction.events[0].event_time.map(|time| time.strftime("%m-%d").to_string());
    assert_eq!(time.as_deref(), Some("03-04"));
}

#[test]
fn who_raised_it_is_named_and_not_the_writer() {
    let found = shown(&read_as(Some("Bob Reyes"), &[], "Emma flagged that the export fails for large tenants."));
    assert!(found.len() == 1 && found[0].contains("[Emma"), "{found:?}");
}
