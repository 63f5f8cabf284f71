//! Whose turn a line of a chat is, whatever stands before its colon.

use super::{checked, read_as, segment, shown, source};

/// The owners of the promises in a chat, as they are shown.
fn promises(chat: &str) -> Vec<String> {
    shown(&read_as(None, &[], chat)).into_iter().filter(|line| line.starts_with("Commitment")).collect()
}

#[track_caller]
fn is_promised_by(chat: &str, owner: &str) {
    let found = promises(chat);
    let owners: Vec<&String> = found.iter().filter(|line| line.contains(" owner]")).collect();
    assert!(owners.iter().any(|line| line.contains(&format!("[{owner} owner]"))), "{chat}: {found:?}");
    assert!(owners.iter().all(|line| line.contains(&format!("[{owner} owner]"))), "{chat}: {found:?}");
}

#[track_caller]
fn is_promised_by_none(chat: &str) {
    let found = promises(chat);
    assert!(found.iter().all(|line| !line.contains(" owner]")), "{chat}: {found:?}");
}

#[test]
fn whoever_stands_behind_a_stamp_speaks() {
    for (sender, owner) in
        [("Mrs Okafor", "Okafor"), ("Dr. Lang", "Lang"), ("~ Ben", "Ben"), ("Ben 🐻", "Ben"), ("Mum", "Mum")]
    {
        let chat = format!(
            "[24/11/2026, 18:05] Anna: who brings tea?\n[24/11/2026, 18:06] {sender}: I will bring tea by Sunday\n\
             [24/11/2026, 18:07] Anna: thanks"
        );
        is_promised_by(&chat, owner);
    }
    for sender in ["+44 7700 900123", "You", "Me"] {
        let chat = format!(
            "[24/11/2026, 18:05] Anna: who brings tea?\n[24/11/2026, 18:06] {sender}: I will bring tea by Sunday\n\
             [24/11/2026, 18:07] Anna: thanks"
        );
        is_promised_by_none(&chat);
    }
}

#[test]
fn a_label_between_turns_speaks_for_itself() {
    for (sender, owner) in
        [("Mrs Cole", "Cole"), ("Mum", "Mum"), ("Coach", "Coach"), ("Landlord", "Landlord")]
    {
        is_promised_by(
            &format!("{sender}: I've told them already\nBen: great\n{sender}: I'll write to them by Friday"),
            owner,
        );
    }
    for sender in ["Me", "PM", "Chair"] {
        let chat = format!("Lukas: Did you pay the kindergarten?\n{sender}: I'll do it by tomorrow morning");
        let found = promises(&chat);
        assert!(found.iter().all(|line| !line.contains("Lukas owner")), "{chat}: {found:?}");
    }
}

#[test]
fn what_an_agent_says_in_its_turn_is_not_the_users() {
    for agent in ["agent", "Claude", "Claude Code", "assistant"] {
        let turns = vec![
            segment("The nightly job is slow.", Some("Elif Aydin")),
            segment("I will profile the nightly job by tomorrow. I fixed the index.", Some(agent)),
            segment("Thanks. I will send you the logs by Monday.", Some("Elif Aydin")),
        ];
        let mut source = source(turns);
        source.author = Some("Elif Aydin".to_owned());
        let found = shown(&checked(&source));
        let of_user = |line: &&String| line.contains("Elif Aydin owner");
        assert!(found.iter().filter(of_user).all(|line| line.contains("I will send")), "{agent}: {found:?}");
        assert!(found.iter().any(|line| line.contains("Elif Aydin owner")), "{agent}: {found:?}");
    }
}

#[test]
fn me_between_what_others_say_is_who_wrote_it_down() {
    let notes = "Rui: I'll replace the seals by Thursday.\nPriyanka: I'll move the pipeline by Monday.\n\
                 Me: I'll send the draft to Tove by Friday.\nRui: I'll bring the tubes by Tuesday.";
    let found = shown(&read_as(Some("Maren Holt"), &[], notes));
    let owner_of = |what: &str| {
        let line = found.iter().find(|line| line.contains(what)).unwrap_or_else(|| panic!("{found:?}"));
        ["Maren Holt", "Rui", "Priyanka"].into_iter().find(|name| line.contains(&format!("[{name} owner")))
    };
    assert_eq!(owner_of("seals"), Some("Rui"));
    assert_eq!(owner_of("draft"), Some("Maren Holt"));
    assert_eq!(owner_of("tubes"), Some("Rui"));
}
