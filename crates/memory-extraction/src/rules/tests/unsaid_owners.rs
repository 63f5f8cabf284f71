//! Whose a promise is that names nobody where its doer stands.

use super::checked;
use super::{read, read_as, segment, shown, source};

/// Whether nobody owns any promise of a text that someone wrote.
#[track_caller]
fn is_nobodys(author: Option<&str>, text: &str) {
    let found = shown(&read_as(author, &[], text));
    let owned = found.iter().any(|line| line.starts_with("Commitment") && line.contains("owner"));
    assert!(!owned, "{text}: {found:?}");
}

/// Whether a text, by nobody who is known, gives a promise with its owner, as they are shown.
fn holds(text: &str, wanted: &str) {
    let found = shown(&read_as(None, &[], text));
    assert!(found.iter().any(|line| line.contains(wanted)), "{text}: {found:?}");
}

#[test]
fn an_office_stands_for_who_holds_it() {
    let present = "Drainage board\n\nPresent: Messrs Alder and Strutt; the Engineer (Ms Dahlia Farlow).";
    let task = "## Actions\n\n- Engineer to obtain the consent by 8 March";
    holds(&format!("{present}\n\n{task}"), "[Dahlia Farlow owner]");
    holds(
        "Ms Frostow (keeper) was there.\n\n## Actions\n\n- Keeper to sign the order by Friday.",
        "[Frostow owner]",
    );
    // Who agrees with something that the Clerk sent is not the Clerk.
    let clerk = "Present: Mrs C Farlow (Clerk), Mr T Tunnard\n\nAll had been received by the Clerk, Mr Tunnard agreed.\n\nThe Clerk will chase it by Friday.";
    holds(clerk, "[C Farlow owner]");
    // Two hold it: it is nobody's.
    let two = "Engineer: Ms Farlow\nEngineer: Mr Tunnard\n\n## Actions\n\n- Engineer to obtain the consent by Friday.";
    let found = shown(&read_as(None, &[], two));
    assert!(!found.iter().any(|line| line.contains("owner")), "{found:?}");
}

#[test]
fn who_is_named_behind_a_task_or_below_it_owns_it() {
    let actions = |items: &str| format!("## Actions\n\n{items}");
    holds(&actions("- order the tiles for the porch (Bärbel)\n- paint the fence (Alice)"), "[Bärbel owner]");
    holds(&actions("- order the tiles for the porch (Zorvan, by Friday)"), "[Zorvan owner]");
    // One whom nobody knows is someone where another item has someone known there.
    let beside = actions("- take the cushions to the upholsterer – Zorvan\n- paint the garden fence – Alice");
    holds(&beside, "[Zorvan owner]");
    let below = actions("- order the tiles for the porch\n  - Zorvan\n- paint the garden fence\n  - Alice");
    holds(&below, "[Zorvan owner] order the tiles");
    holds(&below, "[Alice owner] paint the garden");
}

#[test]
fn several_do_it_together() {
    let actions = |items: &str| format!("## Actions\n\n{items}");
    for item in ["- Alice + Bob do the merge on Friday", "- Alice and young Bob put up the tent by Friday"] {
        let found = shown(&read(&actions(item)));
        assert!(found.iter().any(|line| line.contains("Alice") && line.contains("Bob")), "{item}: {found:?}");
    }
}

#[test]
fn what_is_awaited_is_not_the_writers() {
    for text in ["Answer expected by 22 December.", "Report due on Friday."] {
        is_nobodys(Some("Kim Larsen"), text);
    }
    let found = shown(&read_as(Some("Kim Larsen"), &[], "Order the printed menus by Friday."));
    assert!(found.iter().any(|line| line.contains("Kim Larsen owner")), "{found:?}");
}

#[test]
fn who_tells_of_another_does_not_own_it() {
    for said in [
        "The contractor will send me the quote by Friday.",
        "The courier (UPS) will deliver it on Friday.",
        "The courier, a small firm, will deliver it on Friday.",
        "Phase I will be filed by Friday.",
    ] {
        let mut source =
            source(vec![segment(said, Some("Lena Kurz")), segment("I'll be there.", Some("Asa"))]);
        source.participants = vec!["Lena Kurz".to_owned(), "Asa".to_owned()];
        let found = shown(&checked(&source));
        assert!(!found.iter().any(|line| line.contains("Lena Kurz owner")), "{said}: {found:?}");
    }
    for item in [
        "The contractor will send me the quote by Friday",
        "The courier will bring the parts I ordered on Monday",
        "The courier (UPS) will deliver it on Friday",
        "Phase I will be filed by Friday",
    ] {
        is_nobodys(Some("Kim Larsen"), &format!("## Actions\n\n- {item}"));
    }
    let own = shown(&read_as(Some("Kim Larsen"), &[], "## Actions\n\n- Tomorrow I will also call the bank"));
    assert!(own.iter().any(|line| line.contains("[Kim Larsen owner]")), "{own:?}");
}

#[test]
fn what_is_to_be_there_is_not_who_writes_it_down() {
    is_nobodys(
        Some("Priya Raman"),
        "## Actions\n\n- New signs at the gate by 1 May\n- roof fixed before winter",
    );
}

#[test]
fn what_a_task_is_about_stands_behind_it_too() {
    for items in ["- buy cheese for the party (Parmesan)", "- buy the cheese\n  - Mascarpone"] {
        is_nobodys(None, &format!("## Actions\n\n{items}"));
    }
    let found = shown(&read("## Actions\n\n- Platform Team will drain the queue (Sidekiq) by Friday"));
    assert!(found.iter().any(|line| line.contains("Platform Team owner")), "{found:?}");
}

#[test]
fn deputies_and_those_who_held_an_office_do_not_hold_it() {
    let task = "## Actions\n\n- Chair to sign the order by Friday.\n- Treasurer to pay the bill by Friday.";
    for present in [
        "Ann Frostow (Vice Chair) was there.",
        "Ann Frostow (former chair) was there.",
        "Ann Frostow (deputy treasurer) was there.",
        "Ann Frostow (emailed Treasurer) was there.",
        "Vice President: Bo Farlow",
        "Chair: Ann Frostow, please take the minutes.",
    ] {
        is_nobodys(None, &format!("{present}\n\n{task}"));
    }
    let both = format!("President: Sir Hugh Tunnard\nChair: Ann Frostow\n\n{task}");
    holds(&both, "[Ann Frostow owner]");
}

#[test]
fn letters_that_mean_something_are_nobody() {
    for (person, task) in [
        ("Petra Reed", "PR: merge the fix by Friday"),
        ("Ivan Torres", "IT to install the screens by Friday"),
        ("Paul Moss", "PM to sign the lease by Friday"),
    ] {
        let found = shown(&read(&format!("Present: {person}, Bo Farlow\n\n## Actions\n\n- {task}")));
        assert!(!found.iter().any(|line| line.contains(&format!("{person} owner"))), "{task}: {found:?}");
    }
}

#[test]
fn those_who_know_it_do_not_do_it() {
    let text = "Present: Alice, Bob, Carol\n\n## Actions\n\n- Alice and Bob know that Carol will send the deck by Friday";
    let found = shown(&read(text));
    assert!(!found.iter().any(|line| line.contains("Alice owner")), "{found:?}");
}

#[test]
fn the_last_word_of_a_firm_is_not_the_firm() {
    let text = "Present: Alice Reed (Hill Kitchen)\n\nHill Kitchen is our firm.\n\n## Actions\n\n- The kitchen will arrive on Monday";
    let found = shown(&read(text));
    assert!(!found.iter().any(|line| line.contains("Kitchen") && line.contains("owner")), "{found:?}");
}

#[test]
fn who_is_in_the_chair_goes_by_any_word_for_it() {
    holds(
        "Present: Mrs E. Fairweather (in the chair), R. Oduya\n\n## Actions\n\n- The Chairman to speak to him by Friday.",
        "[E. Fairweather owner]",
    );
    holds(
        "Present: Ann Frostow (Treasurer), Bo Farlow\n\n## Actions\n\n- Hon Treasurer to pay the bill by Friday.",
        "[Ann Frostow owner]",
    );
    // A deputy is not the holder.
    is_nobodys(
        None,
        "Present: Ann Frostow (Vice-Chair), Bo Farlow\n\n## Actions\n\n- The Chairman to speak to him by Friday.",
    );
}

#[test]
fn headings_that_are_names_say_whose_a_round_is() {
    let round = "### Ilse\n- yesterday: merged the importer\n- today: tests\n\n### Bogdan\n- yesterday: support\n\n\
                 ### Marguerite (by text)\n- will finish the slides for Thursday\n";
    holds(round, "[Marguerite owner]");
}

#[test]
fn a_row_is_not_of_those_who_help() {
    holds(
        "Present: Kasia Nowicka physio (KN), Bo Farlow (BF)\n\n| Task | Lead | By |\n|---|---|---|\n| Print the leaflet | KN w/ BF's help | Friday |",
        "[Kasia Nowicka owner]",
    );
}

#[test]
fn who_only_looks_named_owns_nothing() {
    // Words behind "#action" that are no names.
    for task in ["talk to Bob about the lease", "need to find a venue", "everyone to vote", "TBD to price it"]
    {
        let found = shown(&read(&format!("<hbosch> hi\n<dpet> hi\n<hbosch> #action {task}\n<dpet> ok\n")));
        let first = task.split(' ').next().unwrap();
        assert!(!found.iter().any(|line| line.contains(&format!("[{first} owner"))), "{task}: {found:?}");
    }
    let present = "Present: Ann Frostow (Chair), Bo Farlow (Vice Chairman)";
    for task in ["Vice Chairman to write to the council", "Finance Convener to report in June"] {
        let found = shown(&read(&format!("{present}\n\n## Actions\n\n- {task}")));
        assert!(!found.iter().any(|line| line.contains("[Ann Frostow owner")), "{task}: {found:?}");
    }
    holds(
        "Present: Ann Frostow (Chair), Bo Farlow\n\n## Actions\n\n- #action Chair to write to the council by Friday",
        "[Ann Frostow owner]",
    );
    is_nobodys(Some("Kim Larsen"), "The caterer will send the menu to Ada, Bo and me.");
}

#[test]
fn those_present_with_initials_hold_their_offices() {
    for (text, owner) in [
        (
            "Present: Mrs E Harding (Chair), Mr N Bose.\n\nThe Chair will write to the landlord by Friday.",
            "Harding",
        ),
        (
            "Present: Mrs. E. Harding (Chair), Mr. N. Bose\n\nThe Chair will write to the landlord by Friday.",
            "Harding",
        ),
        (
            "Present: Mr P Young (Chairman), Mrs J Lake (Vice-Chair)\n\nThe Vice-Chair will organise the raffle by Friday.",
            "Lake",
        ),
        (
            "Present: A. Reed (Chair), J. Novak (Town Clerk)\n\nThe Clerk will send the map by Friday.",
            "Novak",
        ),
    ] {
        let found = shown(&read_as(None, &[], text));
        let promise = found
            .iter()
            .find(|line| line.starts_with("Commitment"))
            .unwrap_or_else(|| panic!("{text}: {found:?}"));
        assert!(promise.contains(&format!("{owner} owner")), "{text}: {promise}");
    }
}

#[test]
fn words_of_an_attendance_list_are_no_part_of_names() {
    for (text, owner) in [
        ("There: Jo, Stefan. Apologies Nina.\n\n* Nina will mend the boat by Friday.", "[Nina owner]"),
        ("Present: Ann, Bea. Regrets Carl.\n\n- Carl to send the list by Friday.", "[Carl owner]"),
        (
            "Present: Councillors D. Okafor, L. Sandhu.\n\nCouncillor Okafor will contact the firm by Friday.",
            "Okafor owner]",
        ),
        ("Present: Ann, Bea. Regrets Carl.\n\n- Bea to send the list by Friday.", "[Bea owner]"),
    ] {
        let found = shown(&read_as(None, &[], text));
        let has = |line: &String| line.contains(owner) && !line.contains("Councillors");
        assert!(found.iter().any(has), "{text}: {found:?}");
    }
}
