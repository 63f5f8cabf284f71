//! What ends a promise, and what does not.

use super::*;

fn matter(narrative: &str) -> CommitmentFingerprint {
    CommitmentFingerprint::of(narrative, &["Alice Chen".to_owned()], &[])
}

fn ends(event: &str, promises: &[&str]) -> Vec<usize> {
    let matters: Vec<CommitmentFingerprint> = promises.iter().map(|promise| matter(promise)).collect();
    let rarity = Rarity::of(matters.iter());
    let promises: Vec<Promise<'_>> = matters.iter().map(|matter| Promise { matter, is_near: true }).collect();
    ended(&matter(event), &promises, &rarity).into_iter().map(|(at, _)| at).collect()
}

#[test]
fn an_event_in_other_words_ends_the_promise_of_its_matter() {
    for (event, promise) in [
        ("Alice Chen sent the API design to Bob.", "Alice Chen will send the API design by Friday."),
        ("Alice shipped the onboarding guide yesterday.", "Alice will write the onboarding guide."),
        ("Alice finished the migration of the database.", "Alice agreed to migrate the database by May 15."),
        ("Alice closed APO-12.", "Alice will look into APO-12, the slow login."),
        ("Alice delivered the report.", "Alice will prepare the budget report for the board."),
    ] {
        assert_eq!(ends(event, &[promise]), [0], "{event}");
    }
}

#[test]
fn what_nobody_did_ends_a_promise_of_the_same_words() {
    for (event, promise, ends) in [
        ("The garden fence is painted.", "Ben will paint the garden fence.", true),
        ("The API keys have been rotated.", "Ben will rotate the API keys by Friday.", true),
        ("The Acme portal login is fixed.", "Ben will fix the Acme portal search.", false),
        ("The letter to Anna Kovacs is sent.", "Ben will send the badge to Anna Kovacs.", false),
        ("The report is ready.", "Ben will write the security report.", false),
        ("APO-12 is merged.", "Ben will write the release notes for APO-12.", false),
        ("Done.", "Ben will paint the garden fence.", false),
        ("Sent the recipe to Kirsten.", "Have to send Kirsten the recipe by Monday.", true),
        ("Sent the photos to Kirsten.", "Have to send Kirsten the recipe by Monday.", false),
        ("Paid Carl back.", "Need to pay Carl back the 45 euros by Sunday.", true),
        ("Don't add Sentry to the worker.", "I'll add Sentry to the worker.", true),
        ("Don't paint the shed.", "Ben will paint the garden shed.", false),
        ("The school is rung.", "Ben will ring the school on Monday.", true),
        (
            "Finished the door simulator: it runs with make sim.",
            "Yes, Ben will have the door simulator ready by Friday.",
            true,
        ),
        ("Car insurance renewed, £312 with Admiral.", "Need to renew car insurance before the 24th.", true),
        ("Renewed the car insurance.", "Need to renew the home insurance on the 3rd.", false),
        ("Reviewed the 2nd draft of the thesis.", "Need to review the 3rd draft of the thesis.", false),
        ("Cottage booked, 8 to 22 August.", "Ben will book the cottage in Brittany this week.", true),
    ] {
        let promised = CommitmentFingerprint::of(promise, &["Ben".to_owned()], &[]);
        let promises = [Promise { matter: &promised, is_near: true }];
        let rarity = Rarity::of([&promised].into_iter());
        let told = CommitmentFingerprint::of(event, &[], &[]);
        assert_eq!(!ended_by_anyone(&told, &promises, &rarity).is_empty(), ends, "{event}");
    }
}

#[test]
fn the_same_of_another_month_day_or_season_ends_nothing() {
    for (event, promise, is_ended) in [
        (
            "Alice sent the September invoice to Hartmann.",
            "Alice will send the October invoice to Hartmann.",
            false,
        ),
        (
            "Alice sent the October invoice to Hartmann.",
            "Alice will send the October invoice to Hartmann.",
            true,
        ),
        ("Alice paid the rent for October.", "Alice will pay the rent for November.", false),
        ("Alice planted the spring bulbs.", "Alice will plant the autumn bulbs.", false),
        ("Alice booked the Monday slot.", "Alice will book the Tuesday slot.", false),
        ("Alice sent the invoice on Monday.", "Alice will send the invoice by Friday.", true),
        ("Alice sent the newsletter in May.", "Alice will send the newsletter in June.", true),
    ] {
        assert_eq!(!ends(event, &[promise]).is_empty(), is_ended, "{event} | {promise}");
    }
}

#[test]
fn a_matter_is_read_as_it_was_stored() {
    let narrative = "Alice will ship release 2 of the client, APO-12.";
    let matter = CommitmentFingerprint::of(narrative, &["Alice".to_owned()], &[7, 9]);
    assert!(matter.tags().iter().any(|tag| tag == "tapo-12") && !matter.is_bare());
    assert_eq!(CommitmentFingerprint::from_tags(&matter.tags()), matter);
    assert_eq!(
        CommitmentFingerprint::from_tags(&["!He will sing.".to_owned()]),
        CommitmentFingerprint::of("He will sing.", &[], &[])
    );
}

#[test]
fn an_event_about_something_else_ends_nothing() {
    for (event, promise) in [
        ("Alice sent the invoice.", "Alice will send the API design."),
        ("Alice reviewed the schema.", "Alice will review the draft."),
        ("Alice fixed the login bug of the report page.", "Alice will send the report."),
        ("Alice closed APO-13.", "Alice will fix APO-12."),
        ("Alice shipped release 3 of the client.", "Alice will ship release 2 of the client."),
        ("Alice fixed the kitchen tap.", "Alice will fix the kitchen window."),
        ("Alice paid the gas bill.", "Alice will pay the electricity bill."),
        ("Alice painted the front door.", "Alice will paint the back door."),
        ("Alice sold the big tent.", "Alice will buy the big tent."),
        ("Alice will not discuss the report.", "Alice will write the report."),
    ] {
        assert_eq!(ends(event, &[promise]), [0_usize; 0], "{event}");
    }
}

#[test]
fn between_promises_only_a_clear_lead_decides() {
    let reports = ["Alice will write the security report.", "Alice will write the budget report."];
    assert_eq!(ends("Alice wrote the report.", &reports), [0_usize; 0]);
    assert_eq!(ends("Alice wrote the budget report.", &reports), [1]);
    let retold = ["Alice will write the budget report.", "Alice agreed to write the budget report by May."];
    assert_eq!(ends("Alice finished the budget report.", &retold), [0, 1], "a promise that is repeated");
}

#[test]
fn done_ends_the_only_promise_that_stands_near() {
    let one = ["Alice will send the API design."];
    for event in ["Alice Chen is done.", "Done.", "Alice shipped it.", "Alice did it."] {
        assert_eq!(ends(event, &one), [0], "{event}");
    }
    let two = ["Alice will send the API design.", "Alice will review the budget."];
    assert_eq!(ends("Done.", &two), [0_usize; 0]);
    assert_eq!(ends("Alice sent it.", &two), [0]);
    let far = matter("Alice will send the API design.");
    let promise = Promise { matter: &far, is_near: false };
    assert!(ended(&matter("Done."), &[promise], &Rarity::default()).is_empty());
}

#[test]
fn what_is_cancelled_or_under_way_is_told_from_what_is_done() {
    use Category::{Change, Decision, Execution};
    assert_eq!(ending(Execution, "Alice sent it."), Some(Ending::Fulfils));
    assert_eq!(ending(Change, "Alice cancelled the workshop."), Some(Ending::Cancels));
    assert_eq!(ending(Change, "Alice called the workshop off."), Some(Ending::Cancels));
    assert_eq!(ending(Change, "The workshop was called off by Alice."), Some(Ending::Cancels));
    assert_eq!(ending(Change, "Alice moved the workshop."), None);
    assert_eq!(ending(Execution, "Alice started the migration."), None);
    assert_eq!(ending(Execution, "Alice has not sent it."), None);
    assert_eq!(ending(Decision, "They dropped it."), None);
    assert_eq!(ending(Decision, "Ben cancelled the team dinner."), Some(Ending::Cancels));
    assert_eq!(ending(Decision, "Ben decided to cancel the team dinner."), Some(Ending::Cancels));
    for cancelled in [
        "Anna and Ben agreed to cancel the team dinner.",
        "Decision: cancel the dinner.",
        "Ben cancelled the half-day workshop.",
    ] {
        assert_eq!(ending(Decision, cancelled), Some(Ending::Cancels), "{cancelled}");
    }
    assert_eq!(ending(Decision, "Ben decided not to cancel the team dinner."), None);
    assert_eq!(ending(Decision, "Ben decided that members may cancel until noon."), None);
    for off in [
        "Freya isn't bringing the telescope after all.",
        "Yusuf no longer needs to write it.",
        "We won’t paint the shed.",
    ] {
        assert_eq!(ending(Decision, off), Some(Ending::Cancels), "{off}");
    }
    assert_eq!(ending(Decision, "We won't paint the shed until May."), None);
}

#[test]
fn a_promise_is_overdue_only_while_it_is_open() {
    let now: Timestamp = "2026-03-20T00:00:00Z".parse().unwrap();
    let due: Timestamp = "2026-03-19T00:00:00Z".parse().unwrap();
    assert_eq!(CommitmentState::of(None, Some(due), now), CommitmentState::Overdue);
    assert_eq!(CommitmentState::of(None, None, now), CommitmentState::Open);
    assert_eq!(CommitmentState::of(Some(Ending::Fulfils), Some(due), now), CommitmentState::Done);
    assert_eq!(CommitmentState::of(Some(Ending::Cancels), Some(due), now), CommitmentState::Cancelled);
}
