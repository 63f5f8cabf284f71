//! How events are told: nothing of what a text says is cut off, dropped or given to another.

use memory_core::entity::EntityType;

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
fn letters_of_code_and_paths_are_told_as_they_are() {
    for (text, wanted) in [
        (
            "We decided to rename the cookie to `__Host-lk` for prod.",
            "We decided to rename the cookie to __Host-lk for prod.",
        ),
        ("Fixed the leak in globalThis.__pool yesterday.", "Fixed the leak in globalThis.__pool yesterday."),
        (
            "We decided to drop `quality/*.py` and __tests__.",
            "We decided to drop quality/*.py and __tests__.",
        ),
        ("We decided to *keep* `it` and **not** that.", "We decided to keep it and not that."),
        ("Removed `__tests__`.", "Removed __tests__."),
        ("Fixed [the parser](https://example.org/issues/7) of dates.", "Fixed the parser of dates."),
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
        ("Renewed the mark (Reg. No. 3117015) in March.", "Renewed the mark (Reg. No. 3117015) in March."),
        ("Shipped max. 3 crates a day excl. Sundays.", "Shipped max. 3 crates a day excl. Sundays."),
        ("Moved the call to 3.40 on Monday.", "Moved the call to 3.40 on Monday."),
    ] {
        assert_eq!(told(text), [wanted]);
    }
    // A letter begins behind its salutation.
    assert_eq!(told("Dear Mr and Mrs Hale, we fixed the boiler."), ["We fixed the boiler."]);
    let both = told("Mrs Aziz called. Ines will talk to Mr and Mrs Aziz by Friday.");
    assert!(both.iter().any(|it| it.contains("Mr and Mrs Aziz")), "{both:?}");
    // A word that is one by itself still ends its sentence.
    assert_eq!(told("Fixed it in ten min. Sent the invoice.").len(), 2);
}

#[test]
fn what_a_speaker_says_of_oneself_agrees_with_the_name() {
    for (text, wanted) in [
        (
            "Tomasz: I don't know why yet, the importer fails on Mondays.",
            "Tomasz doesn't know why yet, the importer fails on Mondays.",
        ),
        ("Nell: My MRI was moved to Thursday.", "Nell's MRI was moved to Thursday."),
        ("Nell: I moved my MRI to Thursday.", "Nell moved their MRI to Thursday."),
        ("Nell: I know it fails on Mondays.", "Nell knows it fails on Mondays."),
    ] {
        assert_eq!(told(text), [wanted]);
    }
}

#[test]
fn two_who_are_named_behind_a_label_do_it_together() {
    let pairing = "Pairing on the chunker: Dana and Tomasz sat together two afternoons.";
    assert_eq!(told(&format!("{pairing} It rained.")), [pairing]);
}

#[test]
fn only_something_to_do_is_agreed_to() {
    let told = |asked: &str| told(&format!("[10:02] Sam: {asked}\n[10:03] Nell: agreed"));
    assert_eq!(told("let's not sell the van"), ["Sam and Nell agreed to not sell the van."]);
    assert_eq!(
        told("how about not the shop one with the fondant?"),
        ["Sam and Nell agreed: not the shop one with the fondant."]
    );
    assert_eq!(told("how about next Tuesday?"), ["Sam and Nell agreed on next Tuesday."]);
    assert_eq!(told("shall we sell the van?"), ["Sam and Nell agreed to sell the van."]);
}

#[test]
fn a_motion_is_decided_as_its_outcome_says() {
    let motion = "Motion (Aoife, seconded Hal): adopt the draft as it stands.";
    let votes = "For: Aoife, Hal. Against: Ines, Jo, Kit.";
    let lost = format!("Not carried: {motion}");
    for outcome in ["Motion fails.", "The motion was not carried."] {
        let found = read(&format!("{motion} {votes} {outcome}"));
        let told: Vec<_> =
            found.events.iter().map(|event| (event.category, event.narrative.as_str())).collect();
        assert_eq!(told, [(Category::Decision, lost.as_str())], "{outcome}");
        assert_eq!(found.events[0].evidence[1].quote, motion);
    }
    let next = "Motion (Jo, seconded Kit): buy the projector.";
    let minutes = format!("{motion} {votes} Motion fails.\n\n{next} For: all. Motion carried.");
    assert_eq!(told(&minutes), [lost, format!("Agreed: {next}")]);
    let detector = told("We moved to sell it. Our motion detector in the hall fails.");
    assert!(!detector.iter().any(|told| told.starts_with("Not carried")), "{detector:?}");
}

#[test]
fn code_is_nobody_and_accents_make_no_other_person() {
    let people = |text: &str| -> Vec<String> {
        let people = read(text).entities.into_iter().filter(|known| known.entity_type == EntityType::Person);
        people.map(|known| known.name).collect()
    };
    assert_eq!(people("Ran `npx @tailwindcss/upgrade`, @dana will review it."), ["dana"]);
    assert_eq!(
        people("João sent the list. Joao will check the scans with Priya on Friday."),
        ["João", "Priya"]
    );
}

#[test]
fn what_says_nothing_alone_is_told_with_the_sentence_before() {
    for (text, wanted) in [
        (
            "The proposal to raise the fee to 22 pounds was discussed. The proposal was carried.",
            "The proposal to raise the fee to 22 pounds was discussed. The proposal was carried.",
        ),
        ("We decided to keep the income question. Decided.", "We decided to keep the income question."),
        (
            "The offer for both rooms incl. the pump came in. Accepted.",
            "The offer for both rooms incl. the pump came in. Accepted.",
        ),
    ] {
        assert_eq!(told(text), [wanted]);
    }
}

#[test]
fn dots_within_a_sentence_and_scopes_of_packages_are_kept() {
    for (text, wanted) in [
        ("Moved the secrets to .env on Monday.", "Moved the secrets to .env on Monday."),
        (
            "Fixed assign(), it runs SELECT ... FOR UPDATE now.",
            "Fixed assign(), it runs SELECT ... FOR UPDATE now.",
        ),
        ("Updated '@acme/proto' to 3.1 yesterday.", "Updated '@acme/proto' to 3.1 yesterday."),
    ] {
        assert_eq!(told(text)[0], wanted);
    }
}

#[test]
fn a_month_in_a_date_is_nobody() {
    let text = "Attendees: June Abara, Kieran Doyle\n\nKieran will buy the lamps by the end of June. June will pay on 11 June.";
    let told = told(text);
    assert_eq!(told[0], "Kieran Doyle will buy the lamps by the end of June.");
    assert_eq!(told[1], "June Abara will pay on 11 June.");
}

#[test]
fn verbs_of_whoever_writes_are_of_one() {
    let told = |text: &str| -> Vec<String> {
        read_as(Some("Ilse Brandt"), &[], text).events.into_iter().map(|event| event.narrative).collect()
    };
    assert_eq!(
        told("Sent the quarterly report to Merete this morning, a day early, who am I."),
        ["Sent the quarterly report to Merete this morning, a day early, who is Ilse Brandt."]
    );
    let actions = told("Actions: Adaeze mends the health check, by Friday. I re-enable the cron by Monday.");
    assert!(actions.iter().any(|it| it.contains("Ilse Brandt re-enables the cron")), "{actions:?}");
}
