//! Who is to do what is promised, where another is named too.

use memory_core::event::Category;

use super::{read, read_as, shown};

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

#[test]
fn what_another_was_asked_to_do_is_theirs() {
    for (text, owner) in [
        ("I asked Henri to order the cables by Friday.", "Henri Dubois owner"),
        ("Decisions:\n\n- I asked Henri to order the cables.", "Henri Dubois owner"),
        ("Decisions:\n\n- I asked Zorvan to order the cables.", "Zorvan owner"),
        ("Ann asked me to send the invoice by Friday.", "Dana Whitfield owner"),
        (
            "Motion by Ann Lee, second by Bo Ray to have Clerk Henri Dubois order the cables by Friday.",
            "Henri Dubois owner",
        ),
        ("Ann Lee will try to have the Henri Dubois order shipped by Friday.", "Ann Lee owner"),
    ] {
        let found = read_as(Some("Dana Whitfield"), &["Henri Dubois", "Ann Lee"], text);
        let events: Vec<String> = shown(&found);
        let [event] = events.as_slice() else { panic!("{text}: {events:?}") };
        assert!(event.starts_with("Commitment") && event.contains(owner), "{text}: {event}");
        assert_eq!(event.matches("owner").count(), 1, "{text}: {event}");
    }
}

#[test]
fn a_given_name_that_is_a_word_is_who_the_text_introduces() {
    for text in [
        "Meeting with Dev Kapoor and Ines Duarte. Dev to order the cables.",
        "Attendees: Dev Kapoor, Rose Miller\n\n- Dev to order the cables",
    ] {
        let found = shown(&read_as(Some("Dana Whitfield"), &[], text));
        assert!(found.iter().any(|event| event.contains("[Dev Kapoor owner]")), "{text}: {found:?}");
    }
    let found = read("Deployed to dev this morning. Dev is down again.");
    assert!(found.entities.is_empty(), "{:?}", found.entities);
}

#[test]
fn who_stands_before_an_arrow_or_behind_falls_to_is_to_do_it() {
    claim(&[
        ("who/what\nMo Farouk → I'll resubmit the build by Friday", "Mo Farouk owner"),
        ("# Actions\n\n- Migration of the jobs falls to Oliver, by 11 April", "Oliver Reed owner"),
    ]);
}

#[test]
fn posts_are_of_those_whose_names_stand_above_them() {
    let bold = "**wrenlet** (author)\nThe importer breaks, and nobody looks.\n\n**Graciela Montoya**\nI will send the patch on Friday.\n\n**wrenlet**\nThanks.\n";
    let dated = "tadeusz.w · 2 days ago\nCould you split this into two commits?\n\n  sunniva · 2 days ago\n  Sure, I will split it with the next push.\n\ntadeusz.w · 2 days ago\nLine 88 is odd.\n\n  sunniva · yesterday\n  The exception reads better.\n";
    let mails = "From: Helen Brandvold\nTo: Tomas Akintola\n\nCould you send me the figures?\n\nHelen\n\n----\nFrom: Tomas Akintola\n12 March, 14:20\n\nI will send you the figures by Friday.\n\n----\nFrom: Helen Brandvold\n12 March, 14:31\n\nThanks!\n";
    let plain = "ewa-brzoza\nWe decode about 9 million frames a day.\n\ndavit.k\nAre they interlaced?\n\newa-brzoza\nProgressive.\n\ndavit.k\nI will send the two lines tonight.\n";
    for (text, owner) in [
        (bold, "Graciela Montoya owner"),
        (dated, "sunniva owner"),
        (mails, "Tomas Akintola owner"),
        (plain, "davit.k owner"),
        ("sam-adeyemi commented on Oct 31, 2026\nI will fix it by Monday.\n", "sam-adeyemi owner"),
        (
            "Luca Moretti\n20/11 09:10\nDo we still need the series?\n\nAna Petrov\n20/11 09:15\nNo. I will cancel the series by Friday.\n\nLuca Moretti\n20/11 09:16\nThanks!\n",
            "Ana Petrov owner",
        ),
    ] {
        let found = owners(None, &[], text);
        assert!(found.iter().any(|found| found.starts_with(owner)), "{text}: {found:?}");
    }
    // What is said there is counted from the day of the post.
    let dated = "sam-adeyemi commented on Jan 31, 2024\nI will fix it by Monday.\n\nkim-b commented on Feb 20, 2024\nI will test it by Friday.\n";
    let days: Vec<_> = read(dated)
        .events
        .iter()
        .filter_map(|event| event.due_time)
        .map(|due| due.to_string()[..10].to_owned())
        .collect();
    assert_eq!(days, ["2024-02-05", "2024-02-23"]);
    // What stands above words may be a heading, a word, a file, a list of names or an address.
    for text in [
        "Anna commented on the draft.\nI will send the new version by Friday.",
        "Q3 review\n\nI will send the deck by Friday.",
        "Anna Weber on holiday from Monday.\nI will water the plants by Friday.",
        "## 2.1.0\n\n**core**\nWe replaced the cache.\n\n**worker**\nI will drop the flag by Friday.\n\n## 2.0.0\n\n**core**\nNothing new.\n\n**worker**\nNothing new.\n",
        "**main.rs**\nI will split it by Friday.\n\n**config.yaml**\nIt is fine.\n\n**main.rs**\nIt is long.\n",
        "Saturday shift\nAnna\nBen\n\nSunday shift\nAnna\nBen\n\nI will open the gate by Friday.",
    ] {
        assert_eq!(owners(Some("Ines Duarte"), &PEOPLE, text), ["Ines Duarte owner"], "{text}");
    }
    let below = "# Action items\n\n**Martha Lund**\nSend the invoice by Friday\n\n**Oliver Reed**\nOrder the paint by Friday\n\n# Done\n\n**Martha Lund**\nMerged the importer.\n\n**Oliver Reed**\nFixed the login.\n";
    assert_eq!(owners(None, &PEOPLE, below), ["Martha Lund owner", "Oliver Reed owner"]);
    let report = "**Background**\nThe store is old.\n\n**Next steps**\nI will order the tape on Friday.\n\n**Background**\nMore of it.\n";
    assert_eq!(owners(Some("Ines Duarte"), &PEOPLE, report), ["Ines Duarte owner"]);
}

#[test]
fn two_who_do_it_together_both_own_it() {
    claim(&[
        ("Martha + Oliver mend the gate by Friday.", "Martha Lund owner, Oliver Reed owner"),
        ("Martha and I will mend the gate by Friday.", "Martha Lund owner, Ines Duarte owner"),
    ]);
}

#[test]
fn an_office_or_initials_are_whom_the_list_of_those_present_names() {
    for (text, owner) in [
        (
            "Committee, 11 May 2023\nChair: Cllr Drăgan. Present: K. Mwangi, S. Blyth\n\nAction: Chair to write to the council by Friday.\n",
            "Drăgan owner",
        ),
        (
            "Present: P. Keogh (Ch.), Miss Nolan (Hon. Sec.), B. Tuohy (Tr.)\n\nAction: The Chairman to ask the bank by Friday.\n",
            "P. Keogh owner",
        ),
        (
            "1. Attendance\n   Nils Hagström (Fyrtorn), acting chair\n   Consuelo Arrieta (Planilla SA)\n\n2. Next call on 12 September.\n\nAction: Chair to remind the editors by Friday.\n",
            "Nils Hagström owner",
        ),
    ] {
        let found = owners(None, &[], text);
        assert!(found.iter().any(|found| found.starts_with(owner)), "{text}: {found:?}");
    }
}

#[test]
fn what_was_asked_for_and_done_at_once_is_no_promise() {
    let text =
        "Samuel: could you approve my vacation from 21 December to 3 January?\nNora: Sure, done right now.\n";
    let extraction = read(text);
    let told: Vec<_> =
        extraction.events.iter().map(|event| (event.category, event.narrative.as_str())).collect();
    let narrative = "Nora did it: approve Samuel's vacation from 21 December to 3 January, asked by Samuel.";
    assert_eq!(told, [(Category::Execution, narrative)]);
    for answer in [
        "Consider it done.",
        "Yes, I can have that done by Friday.",
        "Sure, right after I'm done here.",
        "Sure, as soon as Kim's part is done.",
        "Yes! I'm making sure it's done.",
    ] {
        let text = format!("Samuel: could you book the room by Friday?\nNora: {answer}\n");
        let events = read(&text).events;
        assert!(events.iter().all(|event| event.category != Category::Execution), "{answer}: {events:?}");
    }
}

#[test]
fn below_a_heading_with_a_name_tasks_are_theirs() {
    let text = "# Weekly report\n\n## Team\n- Agenda\n\n## Contributions\n### Asa\nNext steps:\n- Send a proper installer by Friday.\n\n### Steven\nNext steps:\n- Order the screens by Monday.\n\n## Outlook\n\nNext steps:\n- Book the room by Friday.\n";
    let found = owners(None, &[], text);
    assert_eq!(found, ["Asa owner", "Steven owner", ""]);
    // Without the heading that follows, what is not said of each person is nobody's.
    let open = text.replace("## Outlook\n\nNext steps:", "Action items:");
    assert_eq!(owners(None, &[], &open), ["Asa owner", "Steven owner", ""]);
    // Products, towns and chapters may be called like people.
    for text in [
        "# Report\n## Overview\n## Atlas\nI will ship the importer by Friday.\n## Roadmap\n## Athena\nNothing new.\n",
        "# Trip\n## Madison\nI will book the hotel by Friday.\n## Alexandria\nNothing yet.\n",
        "# The house\n## Beatrice\nI will send her the letter by Friday.\n## Clara\nIt rained.\n",
    ] {
        assert_eq!(owners(Some("Ines Duarte"), &PEOPLE, text), ["Ines Duarte owner"], "{text}");
    }
}

#[test]
fn who_asks_for_it_does_not_promise_it() {
    let asked = [
        "Martha Lund asked me to bake two cakes by 5 December.",
        "Martha wants me to return the books by Monday.",
        "Martha reminded me to pay the council tax by 1 December.",
        "Dr Lund told me to come back by 10 December.",
        "Martha expects me to call her back by Sunday.",
        "Martha gave me until 1 December to decide about the flat.",
        "Martha begged us to come by Thursday.",
        "Martha needs the signed contract by Tuesday.",
        "Martha needs her gym kit by Thursday.",
    ];
    for text in asked {
        for author in [None, Some("Ines Duarte")] {
            let found = owners(author, &PEOPLE, text);
            assert!(!found.iter().any(|found| found.contains("Lund owner")), "{text}: {found:?}");
        }
    }
    claim(&[
        ("Martha asked me to bake two cakes by 5 December.", "Ines Duarte owner, Martha Lund stakeholder"),
        ("Martha needs to sign the contract by Tuesday.", "Martha Lund owner"),
    ]);
}

#[test]
fn who_tells_of_anothers_promise_does_not_make_it() {
    for text in [
        "Martha said Oliver would send the keys by Friday.",
        "Martha says that Oliver will send the keys by Friday.",
    ] {
        let found = owners(None, &PEOPLE, text);
        assert!(!found.iter().any(|found| found.contains("Martha Lund owner")), "{text}: {found:?}");
    }
    for text in
        ["Martha said the plumber would come by Friday.", "Martha said the parcel will arrive by Friday."]
    {
        let found = owners(None, &PEOPLE, text);
        assert!(!found.iter().any(|found| found.contains("owner")), "{text}: {found:?}");
    }
    claim(&[("Martha said she would send the keys by Friday.", "Martha Lund owner")]);
}
