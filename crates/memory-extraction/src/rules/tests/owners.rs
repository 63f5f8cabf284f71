//! Whose an event is, and of which day.

use memory_core::event::Category;

use super::super::RulesExtractor;
use super::{extract, read, read_as, segment, shown, source};

fn lines(text: &str) -> Vec<String> {
    shown(&read(text))
}

#[test]
fn who_is_named_at_the_head_of_an_item_says_its_i() {
    assert_eq!(
        lines("# Sync\n\n- Nils: I'll put up a draft by Monday.\n- Mark: I fixed the gate."),
        ["Commitment due 03-18 [Nils owner] Nils: I'll put up", "Execution [Mark owner] Mark: I fixed the"]
    );
}

#[test]
fn action_marks_leave_the_owner_to_be_read() {
    for (text, wanted) in [
        ("ACTION: Martin and EMK to write a draft", "Commitment [Martin owner] Martin and EMK to"),
        ("Action item (Erik): find a venue for the summit", "Commitment [Erik owner] find a venue for"),
        ("## Actions\n\n- AI Alice: order the paint", "Commitment [Alice owner] AI Alice: order the"),
        ("## Actions\n\n- [AI] Alice to order the paint", "Commitment [Alice owner] [AI] Alice to order"),
        ("## Actions\n\n- Alice -> order the paint", "Commitment [Alice owner] Alice -> order the"),
    ] {
        assert_eq!(lines(text), [wanted], "{text}");
    }
}

#[test]
fn what_all_are_to_do_is_not_the_writers() {
    for text in [
        "## Actions\n\n- All board members: review the new code of conduct",
        "## Actions\n\n- Everyone to vote on the budget",
    ] {
        let found = shown(&read_as(Some("Alice Chen"), &[], text));
        assert!(found.iter().all(|line| !line.contains("Alice")), "{found:?}");
    }
}

#[test]
fn an_unlisted_handle_speaks_for_itself() {
    let chat = "nils: morning\nana: hi nils\nxq_7: i'll order the pump by monday\nana: great";
    let found = shown(&read_as(None, &["Nils Berg", "Ana Lopes"], chat));
    assert!(found.iter().any(|line| line.contains("[xq_7 owner]")), "{found:?}");
    assert!(!found.iter().any(|line| line.contains("Ana Lopes owner] i'll order")), "{found:?}");
}

#[test]
fn a_dated_heading_gives_its_day_to_what_stands_below() {
    let text = "# Log\n\n## 2024-03-04\n\n- Alice Chen fixed the gate\n\n### Later\n\n- Bob Reyes fixed the roof\n\n## 7 March\n\n\
                - Alice Chen repaired the pump\n\n## Plans for 2 March\n\n- Bob Reyes sent the list\n";
    let extraction = read(text);
    let days: Vec<String> = extraction
        .events
        .iter()
        .filter(|event| event.category == Category::Execution)
        .filter_map(|event| event.event_time.map(|time| time.strftime("%m-%d").to_string()))
        .collect();
    assert_eq!(days, ["03-04", "03-04", "03-07", "03-15"]);
}

#[test]
fn a_date_before_the_words_is_their_day_and_days_are_counted_from_it() {
    let text = "2024-03-04  Alice Chen fixed the gate\n2024-03-05  Bob Reyes will send the list by Friday\n";
    let extraction = read(text);
    let shown = shown(&extraction);
    assert_eq!(
        shown,
        [
            "Execution [Alice Chen owner] Alice Chen fixed the",
            "Commitment due 03-08 [Bob Reyes owner] Bob Reyes will send"
        ]
    );
    let time = extraction.events[0].event_time.map(|time| time.strftime("%m-%d").to_string());
    assert_eq!(time.as_deref(), Some("03-04"));
}

#[test]
fn who_raised_it_is_named_and_not_the_writer() {
    let found =
        shown(&read_as(Some("Bob Reyes"), &[], "Emma flagged that the export fails for large tenants."));
    assert!(found.len() == 1 && found[0].contains("[Emma"), "{found:?}");
}

/// What is found with the model, which tells events that the rules have no draft of.
fn with_model(author: Option<&str>, participants: &[&str], text: &str) -> Vec<String> {
    let mut source = source(vec![segment(text, None)]);
    source.author = author.map(str::to_owned);
    source.participants = participants.iter().map(|name| (*name).to_owned()).collect();
    shown(&extract(&RulesExtractor::new(), &source))
}

#[test]
fn a_task_is_given_to_the_one_it_names_and_not_to_who_wrote_it() {
    let text = "## Action items\n\n- 2.3 Winston Clarke to get a quote from a plumber by Friday\n\
                - Battery tests: Alice Chen, 22 March\n- Write the report for the board – Bob Reyes\n\
                - Next session: Kim Larsen will run the load test on Thursday\n";
    let found =
        with_model(Some("Dana Ortiz"), &["Winston Clarke", "Alice Chen", "Bob Reyes", "Kim Larsen"], text);
    let owners: Vec<&str> = found
        .iter()
        .filter(|line| line.starts_with("Commitment"))
        .filter_map(|line| line.split_once('[')?.1.split_once(" owner]").map(|(owner, _)| owner))
        .collect();
    assert!(!owners.contains(&"Dana Ortiz"), "{found:?}");
    for owner in ["Winston Clarke", "Bob Reyes", "Kim Larsen"] {
        assert!(owners.contains(&owner), "{owner}: {found:?}");
    }
}

#[test]
fn what_two_promise_is_of_both() {
    let found = shown(&read_as(
        Some("Tom Reyes"),
        &["Nkechi Obi"],
        "Nkechi and I will hold an open hour on Thursday.",
    ));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("Tom Reyes owner") && found[0].contains("Nkechi Obi owner"), "{found:?}");
}

#[test]
fn a_conversation_with_a_machine_is_of_its_one_person() {
    let found = shown(&read_as(
        None,
        &["Rowan Hill", "Assistant"],
        "User: I will email the office before Friday.\n\nAssistant: Would you like a template?\n\nUser: No.",
    ));
    assert!(found.iter().any(|line| line.contains("[Rowan Hill owner]")), "{found:?}");
}

#[test]
fn who_writes_above_their_words_says_them() {
    for chat in [
        "nyx — Today at 21:14\nnew build is up\nh4nnah — Today at 21:17\nI'll post the patch notes tomorrow",
        "**nyx** commented\nclean split\n\n**h4nnah** commented\nI'll post the patch notes tomorrow",
    ] {
        let found = shown(&read_as(None, &["nyx", "h4nnah"], chat));
        assert!(found.iter().any(|line| line.contains("[h4nnah owner]")), "{chat}: {found:?}");
    }
}

#[test]
fn what_was_told_as_past_has_its_day() {
    let time = |text: &str| {
        let event = read(text).events.into_iter().next();
        event.and_then(|event| event.event_time).map(|time| time.strftime("%m-%d").to_string())
    };
    assert_eq!(time("The board approved the budget on Tuesday.").as_deref(), Some("03-12"));
    assert_eq!(time("We decided on 4 March to release anyway.").as_deref(), Some("03-04"));
    assert_eq!(time("The deadline moved from 1 April to 15 April.").as_deref(), Some("03-15"));
    // A morning's round of "yesterday" and "today".
    let round = "standup\n\n**Oyelaran**\ny: repaired the label printer\nt: will count the pallets\n";
    let events = read_as(None, &["Oyelaran Bisi"], round).events;
    let days: Vec<String> = events
        .iter()
        .filter_map(|event| event.event_time)
        .map(|time| time.strftime("%m-%d").to_string())
        .collect();
    assert_eq!(days, ["03-14", "03-15"]);
}

/// The owners of the commitments of a text, by the trained model.
fn owners_of(author: Option<&str>, participants: &[&str], text: &str) -> Vec<String> {
    let found = with_model(author, participants, text);
    let commitments = found.iter().filter(|line| line.starts_with("Commitment"));
    commitments.filter_map(|line| Some(line.split_once('[')?.1.split_once(']')?.0.to_owned())).collect()
}

#[test]
fn a_promise_is_of_those_whom_its_form_names() {
    let people = &["Alice Chen", "Bob Reyes", "Kim Larsen", "Dana Ortiz"];
    for (text, owners) in [
        (
            "## Actions\n\n- DS -> check the boiler by Friday\n\nPresent: Derek Stahl, Alice Chen",
            "Derek Stahl owner",
        ),
        ("# Sync\n\nThe report will be sent by Kim Larsen on Friday.", "Kim Larsen owner"),
        ("# Actions\n\n- Order the pump by Monday (assigned to Bob Reyes)", "Bob Reyes owner"),
        (
            "# Sync\n\nAlice Chen and Bob Reyes will write the summary by Friday.",
            "Alice Chen owner, Bob Reyes owner",
        ),
        ("# Sync\n\n@kim to order the paint by Friday.", "Kim Larsen owner"),
        ("# Actions\n\n- The Clerk, Mrs. Brandt, to place the order by 22 March.", "Brandt owner"),
        (
            "# Actions\n\n| Task | Owner(s) | Due |\n|---|---|---|\n| Send the report | Bob Reyes | Friday |",
            "Bob Reyes owner",
        ),
        (
            "# Actions\n\n| Action | Action by | Due |\n|---|---|---|\n| Send the report | Bob Reyes | Friday |",
            "Bob Reyes owner",
        ),
    ] {
        let found = owners_of(Some("Dana Ortiz"), people, text);
        assert!(found.iter().any(|found| found == owners), "{text}: {found:?}");
        assert!(!found.iter().any(|found| found.contains("Dana")), "{text}: {found:?}");
    }
}

#[test]
fn a_turn_of_an_unlisted_speaker_is_not_of_who_spoke_before() {
    for chat in [
        "nils: morning\nana: hi nils\nZvorka: I'll order the pump by Monday\nana: great",
        "nils: morning all\nxq_7: i'll order the pump by monday\nnils: great\nxq_7: ok",
    ] {
        let found = shown(&read_as(None, &["Nils Berg", "Ana Lopes"], chat));
        assert!(
            !found.iter().any(|line| line.contains("Nils Berg owner") || line.contains("Ana Lopes owner")),
            "{found:?}"
        );
        assert!(
            found.iter().any(|line| line.contains("Zvorka owner") || line.contains("xq_7 owner")),
            "{found:?}"
        );
    }
}

/// The days of what was done.
fn days_of(text: &str) -> Vec<String> {
    let events = read(text).events.into_iter().filter(|event| event.category == Category::Execution);
    events.filter_map(|event| event.event_time.map(|time| time.strftime("%m-%d").to_string())).collect()
}

#[test]
fn a_day_is_read_in_all_its_spellings() {
    for above in [
        "## 2024-03-12",
        "## Tuesday, 12 March",
        "## Tue 12 March 2024",
        "## March 12th 2024 minutes",
        "## Minutes of 12 March 2024",
        "## 12.03.2024 Standup",
        "## 12/03/2024 – Weekly",
        "## 03/12/2024",
        "## [1.2.0] - 2024-03-12",
        "## 1.2.0 (2024-03-12)",
        "1.2.0 (2024-03-12)",
        "v1.2.0 – 12 March 2024",
        "**Tuesday 12th March**",
        "--- March 12th, 2024 ---",
        "=== 12 March ===",
        "Site meeting, 12 March",
        "Tuesday, March 12",
        "12 Mar 2024:",
        "### Week 11, Tuesday 12/3",
    ] {
        let text = format!(
            "# Log of the yard\n\n{above}\n\n- Alice Chen fixed the gate\n- Bob Reyes repaired the pump\n"
        );
        assert_eq!(days_of(&text), ["03-12", "03-12"], "{above}");
    }
    for line in [
        "- 2024-03-12: Alice Chen fixed the gate",
        "- **12 March**: Alice Chen fixed the gate",
        "* 12 March – Alice Chen fixed the gate",
        "- [2024-03-12] Alice Chen fixed the gate",
        "12/03/2024, 10:02 - Alice Chen: I fixed the gate",
        "[12/03/2024, 10:02] Alice Chen: I fixed the gate",
        "[2024-03-12 10:02] Alice Chen: I fixed the gate",
        "2024-03-12 10:02 Alice Chen fixed the gate",
    ] {
        assert_eq!(days_of(&format!("# Log of the yard\n\n{line}\n")), ["03-12"], "{line}");
    }
}

#[test]
fn a_row_is_of_the_day_in_its_column() {
    let table = "| # | Date | Decision | Who |\n|---|---|---|---|\n| 2 | 2024-03-12 | Dark mode ships as tokens | Bob Reyes |\n\
                 | 1 | 2024-03-04 | We stay with the old font | Kim Larsen |\n";
    let events = read_as(None, &["Bob Reyes", "Kim Larsen"], table).events;
    let days: Vec<String> = events
        .iter()
        .filter_map(|event| event.event_time)
        .map(|time| time.strftime("%m-%d").to_string())
        .collect();
    assert_eq!(days, ["03-12", "03-04"]);
}

#[test]
fn dates_with_slashes_are_read_as_the_others_of_the_text() {
    let text = "# Log\n\n## 01/02/2024\n\n- Alice Chen fixed the gate\n\n## 02/22/2024\n\n- Bob Reyes repaired the pump\n";
    assert_eq!(days_of(text), ["01-02", "02-22"]);
    let text = "# Log\n\n## 01/02/2024\n\n- Alice Chen fixed the gate\n\n## 22/02/2024\n\n- Bob Reyes repaired the pump\n";
    assert_eq!(days_of(text), ["02-01", "02-22"]);
    // Nothing tells which of the two it is: the text's own day.
    assert_eq!(days_of("# Log\n\n## 01/02/2024\n\n- Alice Chen fixed the gate\n"), ["03-15"]);
}

#[test]
fn a_letter_is_to_whom_it_greets() {
    let letter = "Dear Kim Larsen,\n\nPlease send the signed copy by 20 March.\n\nDana Ortiz";
    let found = shown(&read_as(Some("Dana Ortiz"), &["Kim Larsen"], letter));
    assert!(found.iter().any(|line| line.contains("[Kim Larsen owner")), "{found:?}");
    let thread = "Dear Kim Larsen and all,\n\nPlease send the signed copy by 20 March.\n\nDana Ortiz";
    let found = shown(&read_as(Some("Dana Ortiz"), &["Kim Larsen"], thread));
    assert!(!found.iter().any(|line| line.contains("[Kim Larsen owner")), "{found:?}");
}

#[test]
fn what_is_left_with_the_speaker_is_theirs() {
    for text in [
        "The final report will be with you on Monday.",
        "Leave the write-up of the incident with me, done by Monday.",
    ] {
        let found = owners_of(Some("Dana Ortiz"), &["Kim Larsen"], text);
        assert!(found.iter().all(|owners| owners == "Dana Ortiz owner"), "{text}: {found:?}");
    }
}

#[test]
fn the_day_below_the_title_is_of_the_whole_text() {
    let text = "# Post-mortem of the flood\n\nIncident of 12 March 2024, severity 2\n\n## Timeline\n\nAlice Chen fixed the gate.\n\n\
                ## Further\n\nFurther to our talk on 1 March\n\nBob Reyes repaired the pump.\n";
    assert_eq!(days_of(text), ["03-12", "03-12"]);
}

/// The people of a meeting as its minutes list them.
const PRESENT: &str =
    "Present: Mrs Jane Farrow (Chair), Lorcan Duffy (Treasurer), Ewa Zielińska, Bert Claes\n\n";

#[test]
fn initials_and_offices_are_those_of_the_people_present() {
    for (text, wanted) in [
        ("## Actions\n\n- Corridor: LD to sheet the link corridor by 14/3", "[Lorcan Duffy owner]"),
        ("## Actions\n\n- EZ will call the insurer about the roof", "[Ewa Zielińska owner]"),
        ("ACTION: JF/LD: visit the new hall next week", "[Jane Farrow owner, Lorcan Duffy owner]"),
        (
            "It was noted that the rules are old. The Treasurer will send the new ones by Monday.",
            "[Lorcan Duffy owner]",
        ),
        ("## Actions\n\n- Chair to write to the council by Monday", "[Jane Farrow owner]"),
        ("## Actions\n\n- (Bert) ask the packagers about the new boxes", "[Bert Claes owner]"),
    ] {
        let found = lines(&format!("{PRESENT}{text}"));
        assert!(found.iter().any(|line| line.contains(wanted)), "{text}: {found:?}");
    }
    // "PR" and "IT" are hardly ever a person's, and a chair stands in a room too.
    for text in ["## Actions\n\n- PR to be merged by Monday", "The chair is broken. A chair will be bought."]
    {
        let found = lines(&format!("Present: Paul Ryder (Chair), Ann Lee\n\n{text}"));
        assert!(!found.iter().any(|line| line.contains("Paul")), "{text}: {found:?}");
    }
}

#[test]
fn what_initials_say_is_their_own() {
    let text = "Present: Tomasz Wilk (TW), Aiko Mori, Bert Claes\n\nTW: the parser is slow on big inputs.\nAM: by how much?\n\
                TW: I'll send the profile by Monday.\njrowe: could we gate it?\nBert: I can write the flag, give me until wed.\n";
    let found = lines(text);
    assert!(found.iter().any(|line| line.contains("[Tomasz Wilk owner] I'll send")), "{found:?}");
    assert!(!found.iter().any(|line| line.contains("Tomasz Wilk owner] I can")), "{found:?}");
}

#[test]
fn a_team_owns_what_it_is_to_do() {
    let found = lines("## Actions\n\n- Platform team to publish the figures by 20/3\n");
    assert!(found.iter().any(|line| line.contains("due 03-20 [Platform team owner]")), "{found:?}");
}

#[test]
fn who_stands_where_the_doer_stands_is_the_owner_even_if_nothing_else_names_them() {
    for (line, owner) in [
        ("Wexla Bryn will order the tiles by Monday", "Wexla Bryn owner"),
        ("Tiles: T. Moss to order them by Monday", "T. Moss owner"),
        ("AP1: Wexla: order the tiles by Monday", "Wexla owner"),
        ("Glazing Squad will order the tiles by Monday", "Glazing Squad owner"),
    ] {
        let found = lines(&format!("## Actions\n\n- {line}\n"));
        assert!(found.iter().any(|one| one.contains(&format!("[{owner}]"))), "{line}: {found:?}");
    }
    let chat = "30/11 10:12 Wexla Bryn: who fetches the tiles\n30/11 10:16 Alice Chen: me, I'll fetch them on Monday\n";
    let found = lines(chat);
    assert!(found.iter().any(|one| one.contains("[Alice Chen owner]")), "{found:?}");
    // Words at the head of a sentence are no names.
    for line in ["Tiles to order by Monday, the tiles are late", "Plumber will come by Monday"] {
        let people = read(&format!("## Actions\n\n- {line}\n")).entities;
        assert!(people.is_empty(), "{line}: {people:?}");
    }
}

#[test]
fn what_the_assistant_will_do_is_not_the_users() {
    let text = "Marta: Remind me to renew the passport before January 15.\nAssistant: I will remind you on January 8.";
    let found = lines(text);
    let of_assistant = |line: &&String| line.contains("I will") || line.contains("Assistant:");
    assert!(!found.iter().filter(of_assistant).any(|line| line.contains("Marta owner")), "{found:?}");
}

#[test]
fn a_command_of_a_minuting_program_says_whose_it_is() {
    let talk = "<hbosch> who cleans it?\n<sunniva> not yet\n<hbosch> #action sunniva clean the mirror\n\
                <hbosch> #action yrjo to pull the translations\n<hbosch> #action hbosch to post a notice\n";
    assert_eq!(owners_of(None, &[], talk), ["sunniva owner", "yrjo owner", "hbosch owner"]);
}

#[test]
fn a_pair_at_the_end_does_it_together() {
    let text = "We'll retire the staging cluster on Thursday, Bogdan and me.";
    assert_eq!(owners_of(Some("Halvard Nygaard"), &[], text), ["Bogdan owner, Halvard Nygaard owner"]);
}

#[test]
fn the_moment_beside_a_name_is_the_day_of_the_turn() {
    for text in [
        "9 Mar 09:20 Alice: I'll call the supplier by tomorrow.\n11 Mar 14:00 Bob: I fixed the lock.",
        "Alice (9 March): I'll call the supplier by tomorrow.\nBob (11 March): I fixed the lock.",
    ] {
        let mut source = source(vec![segment(text, None)]);
        source.segments[0].date = "2024-03-17T09:00:00Z".parse().ok();
        let extraction = extract(&RulesExtractor::with_model(None), &source);
        let found = shown(&extraction);
        assert!(found[0].starts_with("Commitment due 03-10 [Alice"), "{text}: {found:?}");
        let time = extraction.events[1].event_time.map(|time| time.strftime("%m-%d").to_string());
        assert_eq!(time.as_deref(), Some("03-11"), "{text}: {found:?}");
    }
}

#[test]
fn an_hour_is_of_the_day_that_stands_before_it() {
    let day = |text: &str| {
        let found = lines(text);
        found.iter().find(|line| line.starts_with("Commitment")).map(|line| line[..20].to_owned())
    };
    let late = day("On the 28th we celebrate. Bob will bring the cake at 5.");
    assert_eq!(late.as_deref(), Some("Commitment due 03-28"));
    let now = day("We celebrate. Bob will bring the cake at 5.");
    assert_ne!(now.as_deref(), Some("Commitment due 03-28"));
    assert_eq!(lines("We asked Prof. Reyes to review the model by Friday.").len(), 1);
}
