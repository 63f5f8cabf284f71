//! Which day of a promise is its deadline, and which is not.

use super::*;

/// Written on a Tuesday.
#[track_caller]
fn falls_due(words: &str, expected: Option<&str>) {
    let dates = DateContext { reference: "2026-11-24T10:00:00Z".parse().ok(), order: None };
    let found = due(words, dates).map(|time| time.to_string());
    assert_eq!(found.as_deref().map(|time| &time[..10]), expected, "{words}");
}

#[test]
fn a_number_that_counts_something_is_no_hour() {
    for words in [
        "I will start on the shed after 5 December.",
        "We will ship the kit after 3 more tests.",
        "Pat will join at 3 Mill Lane with the van.",
        "Pat will fix the pump at 7 bar.",
        "Jill will order the bolts before 2 trucks arrive.",
    ] {
        falls_due(words, None);
    }
    for words in ["I'll call you at 5.", "back by 4 today", "I'll send it before 6, promised"] {
        falls_due(words, Some("2026-11-24"));
    }
}

#[test]
fn when_something_was_is_no_deadline() {
    for words in [
        "Tom will fix the bug we found on Tuesday.",
        "Ivy will repair the gate that broke on Sunday.",
        "Otto will return the books he borrowed in October.",
        "I'll reply to the mail that Anna sent on Monday.",
        "Vera will refund the customer who wrote on Thursday.",
        "She will answer the complaint received on Thursday.",
        "Jan promised on Monday to lend us the van.",
        "I told Rita on Saturday that I would fix her bike.",
        "On Sunday I promised Gran that I will fix her radio.",
    ] {
        falls_due(words, None);
    }
    for (words, day) in [
        ("The report will be finished on Friday", "2026-11-27"),
        ("Anna will present revised routes on Friday", "2026-11-27"),
        ("I'll send corrected copies to Ann on Friday", "2026-11-27"),
        ("will order felt on Friday", "2026-11-27"),
        ("I'll get it fixed on Friday", "2026-11-27"),
        ("We need the hall painted on Friday", "2026-11-27"),
        ("Jan promised to lend us the van on Friday", "2026-11-27"),
        ("Ann: demo booked for Friday", "2026-11-27"),
        ("review scheduled on Friday, Bo prepares it", "2026-11-27"),
        ("delivery promised for Friday", "2026-11-27"),
        ("I'll fix the bug Ann found on Tuesday by Friday", "2026-11-27"),
    ] {
        falls_due(words, Some(day));
    }
}

#[test]
fn the_day_of_what_was_is_told_from_the_day_of_what_it_is_about() {
    let dates = DateContext { reference: "2026-11-24T10:00:00Z".parse().ok(), order: None };
    for (words, expected) in [
        ("We voted on Tuesday.", true),
        ("On Tuesday we voted to buy it.", true),
        ("A review on Tuesday found nothing.", true),
        ("The budget was approved on Friday.", true),
        ("We decided to close the shop on Friday.", false),
        ("The Friday meeting was cancelled.", false),
        ("We cancelled the Thursday rehearsal.", false),
        ("The class was moved to Thursday.", false),
        ("We had to turn away 14 families on 6 November.", true),
        ("Minutes of the meeting held on 10 November 2025 were approved.", false),
        ("The fee was reduced at your meeting on 5 November.", true),
    ] {
        let reading = &dates.readings(words, Lean::Past)[0];
        assert_eq!(is_day_of_the_past(words, reading), expected, "{words}");
    }
}

#[test]
fn what_a_time_is_the_name_of_is_no_deadline() {
    for words in [
        "Ines will update the Q3 report with the new figures.",
        "Cleo will check the invoices for October.",
        "I'll send the contract, but not before Friday.",
        "Ben won't start the paint job until 7 December",
    ] {
        falls_due(words, None);
    }
    falls_due("We will ship it in Q1", Some("2027-03-31"));
    falls_due("Ann will plan the trip for December", Some("2026-12-31"));
    falls_due("Deliver before Friday", Some("2026-11-26"));
}

#[test]
fn the_day_of_a_thing_is_no_deadline() {
    for words in [
        "Kowalski will book the hall for 12 December.",
        "Jill will reserve a table for Saturday evening.",
        "Nia is ordering the flowers for Sunday.",
        "We'll invite the neighbours for Friday.",
        "Ben will hire a van for the weekend.",
        "Tara will find out if the pool is open on Sunday.",
        "I'll check whether the ferry runs on Friday.",
        "Eva will look at it once the audit is done on 10 December.",
        "Clara sets up a no-meeting Wednesday.",
        "Beth will tell the band about the cancelled Friday gig.",
    ] {
        falls_due(words, None);
    }
    for (words, day) in [
        ("Kowalski will book the hall by 12 December.", "2026-12-12"),
        ("Kowalski will book the hall on Friday.", "2026-11-27"),
        ("Jill will order the flowers for Sunday by Friday.", "2026-11-27"),
        ("The hall is booked for Friday", "2026-11-27"),
        ("Jess to have the bread ready for Saturday", "2026-11-28"),
        ("Tara will find out by Friday if the pool is open.", "2026-11-27"),
        ("If it rains, Tara will close the pool on Sunday.", "2026-11-29"),
        ("Send the report Friday", "2026-11-27"),
        ("Ola will do the signed copies on Friday", "2026-11-27"),
    ] {
        falls_due(words, Some(day));
    }
}

#[test]
fn before_a_day_ends_with_the_day_before_it() {
    for (words, day) in [
        ("Lars to call the supplier before Monday.", "2026-11-29"),
        ("Heidi will send it before 4 December.", "2026-12-03"),
        ("Heidi will send it by Friday.", "2026-11-27"),
        ("Heidi will send it before December.", "2026-11-30"),
        ("Heidi will send it before today is over.", "2026-11-24"),
    ] {
        falls_due(words, Some(day));
    }
}

#[test]
fn the_marked_date_is_the_deadline() {
    let now = "2024-03-15T10:00:00Z".parse().ok();
    let due = |words| due(words, DateContext { reference: now, order: None }).map(|time| time.to_string());
    assert_eq!(due("send it by Monday after the call tomorrow").as_deref(), Some("2024-03-18T23:59:59Z"));
    assert_eq!(due("schema review (due March 21)").as_deref(), Some("2024-03-21T23:59:59Z"));
    assert_eq!(due("starting next week"), None);
    assert_eq!(due("on 3/4/2024"), None);
    for today in ["on it, PR up before lunch", "will send it by five", "give me 20 min", "live after 21:00"] {
        assert_eq!(due(today).as_deref(), Some("2024-03-15T23:59:59Z"), "{today}");
    }
    assert_eq!(due("send the 20 copies by 400 people"), None);
}

#[test]
fn the_day_beside_a_vague_time_is_the_deadline() {
    let now = "2024-03-15T10:00:00Z".parse().ok();
    let due = |words| due(words, DateContext { reference: now, order: None }).map(|time| time.to_string());
    for (words, expected) in [
        ("source the seed by mid-April (15th)", "2024-04-15T23:59:59Z"),
        ("claim it by the end of May (30th).", "2024-05-30T23:59:59Z"),
        ("plant the bulbs before November (1st)", "2024-11-01T23:59:59Z"),
        ("fit it by the end of next week, 21 March", "2024-03-21T23:59:59Z"),
        ("send it by 20 March, 25 March at the latest for the rest", "2024-03-20T23:59:59Z"),
        ("send it by the end of May (3 copies)", "2024-05-31T23:59:59Z"),
    ] {
        assert_eq!(due(words).as_deref(), Some(expected), "{words}");
    }
}

#[test]
fn a_deadline_that_has_passed_is_kept() {
    let now = "2026-11-23T10:00:00Z".parse().ok();
    let due = |words| due(words, DateContext { reference: now, order: None }).map(|time| time.to_string());
    assert_eq!(due("send the list by 20 March 2026").as_deref(), Some("2026-03-20T23:59:59Z"));
    assert_eq!(due("send the list (due 2026-03-20)").as_deref(), Some("2026-03-20T23:59:59Z"));
    // What is still to come goes before it, and a date that marks no limit is none.
    assert_eq!(due("by 20 March 2026, now by 4 December").as_deref(), Some("2026-12-04T23:59:59Z"));
    for none in ["send the list of 20 March 2026", "copy what was made before 2019", "by yesterday"] {
        assert_eq!(due(none), None, "{none}");
    }
}

#[test]
fn a_time_of_day_is_meant_as_it_is_said() {
    let now = "2024-03-15T10:00:00Z".parse().ok();
    let due = |words| due(words, DateContext { reference: now, order: None }).map(|time| time.to_string());
    for (words, expected) in [
        ("will send it by 3pm", "2024-03-15T15:00:00Z"),
        ("will send it by 3 pm.", "2024-03-15T15:00:00Z"),
        ("I'll have it done before noon, promised", "2024-03-15T12:00:00Z"),
        ("(by 17:30)", "2024-03-15T17:30:00Z"),
        ("by 17:30 UTC", "2024-03-15T17:30:00Z"),
        ("by 9am", "2024-03-16T09:00:00Z"),
        ("before midnight", "2024-03-16T00:00:00Z"),
        ("by 3pm tomorrow", "2024-03-16T15:00:00Z"),
        ("tomorrow by 3pm", "2024-03-16T15:00:00Z"),
        ("by noon on Monday", "2024-03-18T12:00:00Z"),
    ] {
        assert_eq!(due(words).as_deref(), Some(expected), "{words}");
    }
}

#[test]
fn what_is_done_for_a_day_is_not_of_that_day() {
    let dates = DateContext { reference: "2026-11-25T10:00:00Z".parse().ok(), order: None };
    let is_other = |words: &str| {
        let readings = dates.readings(words, Lean::Past);
        is_day_of_another_deed(words, readings.first().unwrap_or_else(|| panic!("no date in {words}")))
    };
    for words in [
        "Booked the ferry to Bornholm for 3-17 July.",
        "Reserved the campsite from 20 to 30 August.",
        "Booked a table for Mum's birthday on Saturday.",
        "Gave Hana the key so she can feed the cat on Sunday.",
        "She promised to hand it in by Monday.",
        "Called the vet, the appointment is on Monday.",
        "Called the chimney sweep, he comes on the 3rd.",
        "Capped uploads at 50 MB because a file took the API down on 30 October.",
        "Submitted the Q3 VAT return.",
        "Paid the invoice of 3 October.",
        "Sent Gill the notes from the 14 September meeting.",
        "Typed up Monday's lab results.",
    ] {
        assert!(is_other(words), "{words}");
    }
    for words in [
        "We shipped 2.0 on 12 October.",
        "Moved the cluster on Tuesday.",
        "Moved the release on Tuesday.",
        "Shipped the search filters on Tuesday.",
        "12 October: moved the cluster.",
        "Booked the hall yesterday.",
        "The migration was finished on 3 November.",
        "Moved the cluster in October.",
        "Last month Ann moved the cluster.",
        "Moved the cluster on the 3rd.",
    ] {
        assert!(!is_other(words), "{words}");
    }
}

#[test]
fn a_holiday_may_be_a_deadline() {
    falls_due("Lil will send the list before Christmas.", Some("2026-12-23"));
    falls_due("Lil will send the list by Easter.", Some("2027-03-29"));
    falls_due("Lil will send the Christmas cards.", None);
    falls_due("Lil will sing before Easter Road is closed.", None);
}

#[test]
fn the_day_that_something_is_of_is_no_deadline() {
    falls_due("I will type up Monday's lab results.", None);
    falls_due("I still have to write up Thursday's site visit.", None);
    falls_due("I will bring the list to Friday's meeting.", Some("2026-11-27"));
    falls_due("I will type up Monday's lab results by Friday.", Some("2026-11-27"));
}

#[test]
fn a_day_that_is_denied_is_no_deadline() {
    for words in [
        "yeah fine, I'll take it. no promises for this week though",
        "I'll look at it, just not this week",
        "Ruben will take it, he can't do Friday though",
        "We'll send it, but not all of it on Friday",
    ] {
        falls_due(words, None);
    }
    for (words, day) in [
        ("Don't forget the cake on Friday", "2026-11-27"),
        ("no problem I'll send it on Friday", "2026-11-27"),
        ("No worries, will bring it on Friday", "2026-11-27"),
        ("I have not sent it yet, will do on Friday", "2026-11-27"),
        ("Ann will send it on Friday, not today", "2026-11-27"),
        ("I'll send it no later than Friday", "2026-11-27"),
    ] {
        falls_due(words, Some(day));
    }
}

#[test]
fn a_habit_has_no_deadline() {
    for words in [
        "Hal pays invoices every second Friday, so the money should be with you by early December.",
        "We send the newsletter every month, by the 10th.",
        "The van collects glass on Tuesdays.",
        "Tara usually orders the felt by Friday.",
        "Deploys go out Thursday mornings between 7 and 8.",
    ] {
        falls_due(words, None);
    }
    for (words, day) in [
        ("I will water the plants every day until Friday.", "2026-11-27"),
        ("Tara will back up every file by Friday.", "2026-11-27"),
        ("Please water them every evening until Friday", "2026-11-27"),
        ("Heidi will send what she usually sends by Friday.", "2026-11-27"),
    ] {
        falls_due(words, Some(day));
    }
}

#[test]
fn the_day_of_what_takes_place_is_its_deadline() {
    for (words, day) in [
        ("Party on the 14th", "2026-12-14"),
        ("library books due back on the 4th of December", "2026-12-04"),
        ("flight BA117 sat 07:50", "2026-11-28"),
        ("Otto has the dentist next week: tue 3:40, bring the x-rays.", "2026-12-01"),
        ("scanner's being serviced on the 20th", "2026-12-20"),
    ] {
        falls_due(words, Some(day));
    }
}

#[test]
fn the_day_among_vaguer_times_is_the_deadline() {
    falls_due(
        "Jim will take the duty on Sunday 29 November, and Owen returns the favour in the autumn.",
        Some("2026-11-29"),
    );
    falls_due("Dilip gets it to her by Friday next.", Some("2026-12-04"));
    falls_due("shift the boxes Weds eve, before Colin", Some("2026-11-25"));
    falls_due(
        "Tobias switches the live shop to the new card provider on Friday 27 November.",
        Some("2026-11-27"),
    );
}
