//! Who is named beside the one who does it, and does not do it: a firm, a relation, who tells of it.

use super::{read, shown};

fn lines(text: &str) -> Vec<String> {
    shown(&read(text))
}

#[test]
fn who_is_of_a_firm_does_it_and_not_the_firm() {
    for (text, owner) in [
        ("Lena Vogt from Brightwater Housing will send the quotes by Friday.", "[Lena Vogt owner"),
        ("Ahmed Saleh of Turner & Co will send the quotes by Friday.", "[Ahmed Saleh owner"),
        ("Alice from the platform team will rotate the keys by Friday.", "[Alice owner"),
        ("According to Bob, Alice will rotate the keys by Friday.", "Alice owner"),
    ] {
        let found = lines(text);
        let told = found.iter().any(|line| line.starts_with("Commitment") && line.contains(owner));
        assert!(told, "{text}: {found:?}");
        let more =
            found.iter().any(|line| line.matches(" owner").count() > 1 || line.contains("Housing owner"));
        assert!(!more, "{text}: {found:?}");
    }
}

#[test]
fn who_belongs_to_another_is_not_that_other() {
    for text in [
        "Alice's brother will fetch the piano on Saturday.",
        "Alice's lawyer will draft the reply by Friday.",
        "Alice's team is going to audit the accounts by Friday.",
        "The neighbour of Alice will feed the cat on Saturday.",
    ] {
        let found = lines(text);
        assert!(!found.iter().any(|line| line.contains("Alice owner")), "{text}: {found:?}");
    }
}

#[test]
fn what_someone_without_a_name_did_is_not_of_who_tells_it() {
    let told = lines("Alice: the plumber fixed the tap\nBob: our roofers finished the ridge\nAlice: ok");
    assert!(!told.iter().any(|line| line.contains(" owner")), "{told:?}");
}

#[test]
fn tasks_that_people_note_for_themselves_are_theirs() {
    let tasks = |text: &str| {
        let found = shown(&read(text));
        found.into_iter().filter(|line| line.starts_with("Commitment")).collect::<Vec<_>>()
    };
    assert_eq!(tasks("- [ ] ring the vet\n- [ ] visa\n- [x] pay rent\n").len(), 2);
    assert_eq!(tasks("FIXME: handle empty input\n").len(), 1);
    assert_eq!(tasks("Don't forget to send Gill the photos.").len(), 1);
    assert_eq!(tasks("I will circulate the draft agenda.").len(), 1, "a sentence is no heading");
    assert_eq!(tasks("## Backlog\n- drop the old column\n").len(), 1);
    assert_eq!(tasks("You must wear a helmet. It has to be green.").len(), 0);
    let dated = tasks("To do by 20 March:\n- order new gaskets\n- pay the rent\n");
    assert!(dated.len() == 2 && dated.iter().all(|line| line.contains("due 03-20")), "{dated:?}");
}
