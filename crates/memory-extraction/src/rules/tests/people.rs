//! Who is a person in a text, and which names are one.

use memory_core::entity::EntityType;

use super::read;

/// The people of a text with their other names.
fn people(text: &str) -> Vec<(String, Vec<String>)> {
    let entities = read(text).entities.into_iter();
    entities
        .filter(|entity| entity.entity_type == EntityType::Person)
        .map(|entity| (entity.name, entity.aliases))
        .collect()
}

fn names(text: &str) -> Vec<String> {
    people(text).into_iter().map(|(name, _)| name).collect()
}

#[track_caller]
fn claim(claims: &[(&str, &[&str])]) {
    for (text, wanted) in claims {
        let (mut found, mut wanted) = (names(text), wanted.to_vec());
        found.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(found, wanted, "{text}");
    }
}

#[test]
fn lists_of_names_are_people_whatever_they_are_called() {
    claim(&[
        (
            "Board members in attendance:\n- Ondrej Vrba\n- Alice Abe Gbara\n\nThe hall is wet.",
            &["Ondrej Vrba", "Alice Abe Gbara"],
        ),
        (
            "## Attendance\n\nCouncil: Carol, Zofia, Eric Halden\nMissing: Jonathan",
            &["Carol", "Zofia", "Eric Halden", "Jonathan"],
        ),
        (
            "## Members approved\n\n- Yasra Torvik\n- James Otolo\n- Amara Delan",
            &["Yasra Torvik", "James Otolo", "Amara Delan"],
        ),
        (
            "Fix the gate\n\nAcked-by: Zork Vrba <zork@corp.example>\nSigned-off-by: Ylva Holm <y@corp.example>",
            &["Zork Vrba", "Ylva Holm"],
        ),
        ("authors = [\"Zork Vrba\"]\n\nThe gate is new.", &["Zork Vrba"]),
    ]);
}

#[test]
fn an_unknown_given_name_is_a_person_where_it_is_treated_as_one() {
    claim(&[
        ("The draft is good. Thanks Zvorka!", &["Zvorka"]),
        ("We had Zvorka from the platform team on the call.", &["Zvorka"]),
        ("Zvorka (treasurer) has the key.", &["Zvorka"]),
        ("In the call Zvorka pointed to the wall, and Zvorka agrees with the plan.", &["Zvorka"]),
        (
            "\"A bell,\" said Zvorka. Her brother Orvek knew, and Ylvo from sales.",
            &["Zvorka", "Orvek", "Ylvo"],
        ),
        (
            "The risk goes from M. Sorvik to Dilvys Merrimo, who stands in. Dilvys Merrimo knows it.",
            &["M. Sorvik", "Dilvys Merrimo"],
        ),
        ("We walked with Alice and Zvorka. After that Zvorka repaired the gate.", &["Alice", "Zvorka"]),
    ]);
}

#[test]
fn what_returns_and_is_no_person_is_none() {
    claim(&[
        ("Hey team,\n\nConcerns: the roof\nConcerns: the wall\n\nConcerns raised by guests are many.", &[]),
        ("The Zvorka is on. We use Zvorka 3.2, and the Zvorka fixed it. Zvorka sent it.", &[]),
        ("Acked-by: nobody\nAcked-by: nobody", &[]),
        ("We ask @cs-team and @here. pg_upgrade: it failed. It is late :sweat_smile: again.", &[]),
    ]);
}

#[test]
fn short_forms_of_a_known_name_are_that_person() {
    let found = people(
        "Present: Eric Halden, Derek Stahl, Luke Ingram\n\n- Budget (ehalden, 5 minutes)\n- Action item: ehalden will follow up\n\n* DS: Right.\n* LI: I am concerned.\n* DS: Yes.\n\nLater E. Halden left.",
    );
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["Eric Halden", "Derek Stahl", "Luke Ingram"]);
    assert_eq!(found[0].1, ["ehalden", "E. Halden"]);
    assert_eq!(found[1].1, ["DS"]);
}

#[test]
fn one_of_a_kind_is_nobody() {
    let text = "You could add a @Configuration class with an @Import..\nOption A\n@mhcarter will price it.";
    let found = people(text);
    assert_eq!(found, [("mhcarter".to_owned(), vec!["@mhcarter".to_owned()])]);
}

#[test]
fn a_handle_beside_a_name_is_the_same_person() {
    let found = people("Michael Carter (@mhcarter) wrote it. Ask @mhcarter.");
    assert_eq!(found, [("Michael Carter".to_owned(), vec!["@mhcarter".to_owned()])]);
    let one = people("Mail bob.smith@acme.example. Bob knows; Bob Smith wrote it, and bob.smith: agreed.");
    assert_eq!(one.len(), 1, "{one:?}");
    assert_eq!(one[0].0, "Bob Smith");
}

#[test]
fn whom_a_title_names_is_a_person_whatever_the_name_means() {
    for text in ["Mr Hall will fix the gate by Friday.", "Mrs Lane will call the bank on Monday."] {
        let extraction = read(text);

        assert!(
            extraction.entities.iter().all(|it| it.entity_type == EntityType::Person),
            "{text}: {:?}",
            extraction.entities
        );
        assert!(super::shown(&extraction)[0].contains(" owner]"), "{text}: {:?}", super::shown(&extraction));
    }
}
