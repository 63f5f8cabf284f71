//! Owners by what the lists of a text say of its people: initials, handles, offices, the columns of tables.

use super::{read, shown};

#[track_caller]
fn claim(cases: &[(&str, &str)]) {
    for (text, wanted) in cases {
        let found = shown(&read(text));
        assert!(found.iter().any(|line| line.contains(wanted)), "{text}: {found:?}");
    }
}

const PRESENT: &str =
    "Present: Revd Hanna Coyle (HC, chair), Gerd Lamb (GL, churchwarden), Pia Mensah (PM, treasurer)\n\n";

#[test]
fn initials_and_offices_in_one_bracket_are_both_read() {
    for (text, wanted) in [
        ("It was noted. GL to apply for a variation by 22 March.", "[Gerd Lamb owner]"),
        ("It was noted. The treasurer will claim the aid by 22 March.", "[Pia Mensah owner]"),
        ("It was noted. PM will write the report by 22 March.", "[Pia Mensah owner]"),
    ] {
        claim(&[(&format!("{PRESENT}{text}"), wanted)]);
    }
}

#[test]
fn a_table_of_those_present_names_offices_and_initials() {
    let table = "| Present | Role |\n|---|---|\n| Marian Voss | Chair |\n| Quabo Asante | Treasurer |\n\n";
    let tasks = "| Action | Who | When |\n|---|---|---|\n| Thank the old trust | MV | 22 March |\n";
    claim(&[
        (&format!("{table}{tasks}"), "[Marian Voss owner]"),
        (&format!("{table}It was noted. The Treasurer will pay it by 22 March."), "[Quabo Asante owner]"),
    ]);
}

#[test]
fn a_label_names_who_holds_the_office() {
    claim(&[(
        "Chair: Dana Ortiz\nPresent: Kim Larsen, Bo Reyes\n\nIt was noted. The chair will write to them by 22 March.",
        "[Dana Ortiz owner]",
    )]);
}

#[test]
fn offices_and_initials_are_read_in_all_forms_of_lists() {
    let lists = [
        "Present: Pavla Kern, Treasurer; Idris Moy, Secretary; Sue Tate",
        "Present\n- Pavla Kern – Treasurer\n- Idris Moy – Secretary\n- Sue Tate",
        "Attendees: PK – Pavla Kern (treasurer), IM – Idris Moy (secretary), ST – Sue Tate",
        "Committee: Sue Tate (Chair), Pavla Kern (Hon. Treasurer), Idris Moy (Minutes Secretary)",
    ];
    for list in lists {
        claim(&[
            (
                &format!("{list}\n\n## Money\n\nIt was noted. The treasurer will send it by 22 March."),
                "[Pavla Kern owner]",
            ),
            (
                &format!("{list}\n\n## Actions\n\n- PK to send the new rules by 22 March"),
                "[Pavla Kern owner]",
            ),
            (&format!("{list}\n\n## Actions\n\n- Order the tiles by 22 March. [IM]"), "[Idris Moy owner]"),
        ]);
    }
}

#[test]
fn whoever_leads_all_lines_speaks() {
    let chat = "Lena: can someone bring the projector?\nTobin: I'll do it by Monday\nLena: great\n";
    claim(&[(chat, "[Tobin owner, Lena stakeholder]")]);
}

#[test]
fn an_office_in_a_table_owns_the_task() {
    let table = "Present: Pavla Kern (Treasurer), Idris Moy\n\n| Action | Lead | Due |\n|---|---|---|\n| Three quotes for it | Treasurer | 20 March |\n";
    claim(&[(table, "[Pavla Kern owner]")]);
}

#[test]
fn a_log_of_a_chat_in_angle_brackets_is_read() {
    let log = "Attendees: Kaspar Lindqvist (klind), Aya Morimoto (ayam), Devon Price (dprice)\n\n\
               <dprice> topic: validator\n<klind> it went out on Tuesday\n<ayam> it rejects every file\n\
               <klind> ouch\n<ayam> I'll push a test file by Monday\n<dprice> ACTION: klind to release it by Friday\n";
    claim(&[(log, "[Aya Morimoto owner] I'll push"), (log, "[Kaspar Lindqvist owner] klind to release")]);
}

#[test]
fn who_is_named_after_a_task_owns_it() {
    claim(&[
        (
            "## Actions\n\n- Shooting list (draft): Kim Larsen and Dana Ortiz, by 22 March",
            "[Kim Larsen owner, Dana Ortiz owner]",
        ),
        ("## Actions\n\n- Bring the drill back to Mr Lund!! Kim", "[Kim owner]"),
        ("## Notes\n\n- [ ] ring the dentist -> Olmar by Wednesday", "[Olmar owner]"),
        ("Kim Larsen and her team will write the report by 22 March.", "[Kim Larsen owner]"),
        ("## Actions\n\n- photos of the hall -> Olmar", "[Olmar owner]"),
        ("AI(Sigrun): ask for the key by Monday\nAI(Kim): cancel the second plan", "[Sigrun owner]"),
        ("## Actions\n\n- AI(Sigrun): ask for the key by Monday", "[Sigrun owner]"),
    ]);
}

#[test]
fn who_takes_on_or_is_charged_owns_it() {
    claim(&[
        ("## Actions\n\n- Next year: Kim Larsen is charged with a repair offer", "[Kim Larsen owner]"),
        ("## Actions\n\n- Pager over the summer: Kim Larsen volunteers", "[Kim Larsen owner]"),
    ]);
}

#[test]
fn the_label_of_an_entry_says_what_was_done_to_it() {
    let found = read(
        "Bug fixes\n\n- Fixed: totals were doubled when a filter was applied.\n- Fixed: users could not log in.\n",
    );
    let told: Vec<&str> = found.events.iter().map(|event| event.narrative.as_str()).collect();
    assert!(!told.iter().any(|told| told.starts_with("Completed")), "{told:?}");
}

#[test]
fn a_promise_that_a_list_repeats_is_one_with_both_as_evidence() {
    let text = "Present: Jo Marsh, Sandra Bell\n\nThe autoclave leaks again. Jo will ring the engineer by 22 March.\n\n\
                ## Actions\n\n- Jo: autoclave engineer, 22 March\n- Jo: new filters, 22 March\n- Sandra: engineer's invoice, 22 March\n";
    let extraction = read(text);
    let quotes = |event: &memory_core::event::ExtractedEvent| event.evidence.len();
    let counts: Vec<usize> = extraction.events.iter().map(quotes).collect();
    assert_eq!(counts, [1, 2, 1, 1], "{:?}", shown(&extraction));
}

#[test]
fn each_day_in_an_item_is_of_its_own_task() {
    claim(&[(
        "Present: Harriet Quayle\n\n## Actions\n\n- Harriet: letter to the landlord, 20 March; insurance decision, 23 March",
        "Commitment due 03-20 [Harriet Quayle owner]",
    )]);
}

#[test]
fn where_one_item_of_a_list_of_actions_is_a_commitment_all_tasks_are() {
    let text = "# Board, 4 March\n\n## Action items\n- Alice: send the contract to the lawyer.\n\
                - All board members: review the changes and vote on Slack.\n- Everyone: read the draft by 22 March.\n\
                - Publish the post.\n- Budget: still no numbers.\n";
    let found = shown(&read(text));
    let tasks = found.iter().filter(|line| line.starts_with("Commitment")).count();
    assert_eq!(tasks, 4, "{found:?}");
    assert!(found.iter().any(|line| line.starts_with("Commitment due 03-22")), "{found:?}");
}
