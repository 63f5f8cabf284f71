//! Whose a promise is that names nobody where its doer stands.

use super::{read, read_as, shown};

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
    // Two hold it: it is nobody's.
    let two = "Engineer: Ms Farlow\nEngineer: Mr Tunnard\n\n## Actions\n\n- Engineer to obtain the consent by Friday.";
    let found = shown(&read_as(None, &[], two));
    assert!(!found.iter().any(|line| line.contains("owner")), "{found:?}");
}

#[test]
fn who_is_named_behind_a_task_or_below_it_owns_it() {
    let actions = |items: &str| format!("## Actions\n\n{items}");
    holds(&actions("- order the tiles for the porch (Bärbel)"), "[Bärbel owner]");
    holds(&actions("- order the tiles for the porch (Zorvan, by Friday)"), "[Zorvan owner]");
    holds(&actions("- take the cushions to the upholsterer – Zorvan"), "[Zorvan owner]");
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
