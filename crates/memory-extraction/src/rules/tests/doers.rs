//! Who is to do what is promised, where another is named too.

use memory_core::event::Category;

use super::{read_as, shown};

/// The owners of the commitments of a text.
fn owners(author: Option<&str>, people: &[&str], text: &str) -> Vec<String> {
    let extraction = read_as(author, people, text);
    let told = extraction.events.iter().zip(shown(&extraction));
    told.filter(|(event, _)| event.category == Category::Commitment)
        .filter_map(|(_, line)| Some(line.split_once('[')?.1.split_once(']')?.0.to_owned()))
        .collect()
}

const PEOPLE: [&str; 4] = ["Martha Lund", "Oliver Reed", "Zorvan Quell", "Ines Duarte"];

#[track_caller]
fn claim(cases: &[(&str, &str)]) {
    for (text, owner) in cases {
        let found = owners(Some("Ines Duarte"), &PEOPLE, text);
        assert!(found.iter().any(|found| found == owner), "{text}: {found:?}");
    }
}

#[test]
fn a_pronoun_is_the_one_whom_it_fits() {
    claim(&[
        ("Martha showed Oliver the hall. She'll send him the keys by Friday.", "Martha Lund owner"),
        ("Martha showed Oliver the hall. He will send her the bill by Friday.", "Oliver Reed owner"),
        ("1:1 with Oliver\n\n- tired\n- he will write the guide by Friday", "Oliver Reed owner"),
        ("Martha handed Oliver the list; he will check it by Friday.", "Oliver Reed owner"),
    ]);
}

#[test]
fn who_is_spoken_to_is_asked() {
    claim(&[
        (
            "Could you, Oliver, please send the three quotes by Friday?",
            "Oliver Reed owner, Ines Duarte stakeholder",
        ),
        ("Oliver, could you send the three quotes by Friday.", "Oliver Reed owner, Ines Duarte stakeholder"),
    ]);
}

#[test]
fn who_is_only_named_beside_it_is_not_the_owner() {
    for text in [
        "Martha will be sent the file by Oliver on Friday.",
        "The file will be sent to Martha by Oliver on Friday.",
    ] {
        let found = owners(Some("Ines Duarte"), &PEOPLE, text);
        assert!(found.iter().all(|owners| owners.contains("Oliver Reed owner")), "{text}: {found:?}");
        assert!(!found.iter().any(|owners| owners.contains("Martha Lund owner")), "{text}: {found:?}");
    }
}

#[test]
fn firms_and_departments_own_what_they_are_to_do() {
    claim(&[
        ("# Actions\n\n- Zelkit is to replace the two pumps by June.", "Zelkit owner"),
        ("# Actions\n\n- Mobile team → write the endpoint by Friday (Oliver knows it)", "Mobile team owner"),
        ("# Actions\n\n- Estates to fix the door by Friday", "Estates owner"),
        (
            "# Actions\n\n| Action | Owner | Due |\n|---|---|---|\n| Clear the loading bay | Facilities | Friday |",
            "Facilities owner",
        ),
        (
            "# Actions\n\n| Action | Owner | Due |\n|---|---|---|\n| Check the contracts | Payroll, Oliver | Friday |",
            "Payroll owner, Oliver Reed owner",
        ),
    ]);
}

#[test]
fn a_name_in_ly_is_no_adverb() {
    let found = owners(Some("Ines Duarte"), &["Emily Hart"], "Emily will send the list by Friday.");
    assert_eq!(found, ["Emily Hart owner"]);
}
