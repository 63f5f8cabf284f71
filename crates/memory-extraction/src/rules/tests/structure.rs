//! What the shape of a text says: lists, timelines, turns, headers and orders.

use memory_core::artifact::Context;

use super::super::RulesExtractor;
use super::extract;
use super::{checked, read, read_as, segment, shown, source};

/// The events of a text by a known author with known company.
fn read_of(author: Option<&str>, participants: &[&str], text: &str) -> Vec<String> {
    let mut source = source(vec![segment(text, None)]);
    source.author = author.map(str::to_owned);
    source.participants = participants.iter().map(|name| (*name).to_owned()).collect();
    shown(&checked(&source))
}

#[test]
fn a_stand_up_says_by_letters_what_was_done_what_is_next_and_what_hinders() {
    let text = "standup\n\n**Oyelaran**\ny: repaired the label printer, sent the stock list\nt: will count the pallets\nb: scanner 3 is broken\n";
    assert_eq!(
        read_of(None, &["Oyelaran Bisi", "Mette Kjær"], text),
        [
            "Execution [Oyelaran Bisi owner] repaired the label printer",
            "Execution [Oyelaran Bisi owner] sent the stock list",
            "Commitment [Oyelaran Bisi owner] will count the pallets",
            "QualityRisk [] scanner 3 is broken",
        ]
    );
}

#[test]
fn ticks_are_done_and_crosses_are_not() {
    let text = "Week 12\n\nCompleted\n✓ new gate at the east yard\n✓ safety training for nine drivers\nNot completed\n✗ crane inspection\n";
    assert_eq!(
        read_of(Some("Ruta Petrauskaite"), &[], text),
        [
            "Execution [] new gate at the",
            "Execution [] safety training for nine",
            "QualityRisk [] crane inspection"
        ]
    );
}

#[test]
fn orders_of_a_council_are_decisions_unless_they_name_who_is_to_act() {
    let text = "Parish Council\n\nWHEREAS the hall needs a roof;\n\nRESOLVED\n1. that the hall be closed in August;\n\
                2. that Mrs Ida Brandt obtain three quotes by 2 May;\n";
    assert_eq!(
        read_of(None, &["Ida Brandt"], text),
        ["Decision [] that the hall be", "Commitment due 05-02 [Ida Brandt owner] that Mrs Ida Brandt",]
    );
}

#[test]
fn what_is_different_now_is_a_change() {
    for text in [
        "The kickoff is now at 11:30 instead of 10:00.",
        "Rent is down to 900, was 1100.",
        "The hearing has been put back from 7 May to 21 May.",
        "The retention period goes up from two years to ten.",
    ] {
        let found = shown(&read(text));
        assert!(found.len() == 1 && found[0].starts_with("Change"), "{text}: {found:?}");
    }
}

#[test]
fn who_comes_goes_and_takes_over_is_told() {
    for text in [
        "Jonas Weber joins us from sales on 3 April.",
        "Amara Okeke takes over the Brightwater file from Lena.",
        "Pavel Novak went on parental leave last week.",
        "Ms Graça Nhantumbo will succeed him.",
    ] {
        let found = shown(&read(text));
        assert!(found.len() == 1 && found[0].starts_with("Stakeholder"), "{text}: {found:?}");
    }
}

#[test]
fn opinions_are_feedback_of_those_who_have_them() {
    for text in [
        "Night staff find the new rota much easier.",
        "Two guests complained about the noise.",
        "The trainees told us that the manual is too long.",
    ] {
        let found = shown(&read(text));
        assert!(found.len() == 1 && found[0].starts_with("Feedback"), "{text}: {found:?}");
    }
}

#[test]
fn a_proposal_or_an_offer_counts_once_another_agrees() {
    let text = "nils: what if we drop the second act\nana: 👍\nnils: i could bring the projector\nana: perfect, thanks\nnils: lets sell the piano?\n";
    let found = read_of(None, &["Nils Berg", "Ana Lopes"], text);
    assert_eq!(
        found,
        [
            "Decision [Nils Berg owner, Ana Lopes owner] 👍",
            "Commitment [Nils Berg owner, Ana Lopes stakeholder] perfect, thanks",
        ]
    );
}

#[test]
fn handles_and_names_without_accents_are_the_people_they_belong_to() {
    let mut chat = source(vec![segment(
        "[10:02] t.ferreira: the pump is broken\n[10:03] joao_b: i'll call dr. Lam tomorrow\n",
        None,
    )]);
    chat.participants = vec!["Teresa Ferreira".into(), "João Batista".into()];
    chat.context = Context::Chat;
    let extraction = extract(&RulesExtractor::with_model(None), &chat);
    let names: Vec<&str> = extraction.entities.iter().map(|entity| entity.name.as_str()).collect();
    assert_eq!(names[..2], ["Teresa Ferreira", "João Batista"]);
    assert!(
        shown(&extraction).iter().any(|line| line.starts_with("Commitment due 03-16 [João Batista owner"))
    );
}

#[test]
fn a_forwarded_mail_is_its_senders_own() {
    let text = "Hi Otto, see below.\n\nAstrid\n\n---------- Forwarded message ----------\nFrom: Wim Castelijns <wim@tours.example>\n\
                To: Astrid Holm\n\nI will send the new contract by Monday.\n";
    assert_eq!(
        read_of(Some("Astrid Holm"), &["Otto"], text),
        ["Commitment due 03-18 [Wim Castelijns owner] I will send the"]
    );
}

#[test]
fn jokes_and_other_languages_tell_nothing() {
    for text in [
        "sure, i'll buy a second yacht tomorrow lol",
        "Wir haben am Montag beschlossen, dass der Verein die Halle kauft und die Mitglieder bis Freitag zahlen. Herr Weber wird \
         die Rechnung an den Vorstand senden, und die Kasse ist leer. Das ist nicht schön, aber es geht auf den Winter zu.",
    ] {
        assert_eq!(shown(&read(text)), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn a_pasted_conversation_with_an_assistant_is_its_users_own() {
    let mut pasted = source(vec![segment(
        "User: I switched off the nightly dump yesterday.\n\nAssistant: Great. I will prepare a list by Monday.\n\n\
         User: I'll send Bob the quote by Tuesday.",
        None,
    )]);
    pasted.author = Some("Marit Solheim".to_owned());
    assert_eq!(
        shown(&checked(&pasted)),
        [
            "Execution [Marit Solheim owner] I switched off the",
            "Commitment due 03-19 [Marit Solheim owner] I'll send Bob the",
        ]
    );
}

#[test]
fn names_above_their_words_may_have_a_written_day() {
    let chat = "Giulia, [3 Sep 2025 at 10:15]\nthe dishwasher is dead again\n\nMarco, [3 Sep 2025 at 10:17]\n\
                i called the supplier already\n\nGiulia, [3 Sep 2025 at 10:20]\nI'll open for them tomorrow";
    let lines = shown(&read(chat));
    assert!(lines.contains(&"Execution [Marco owner] i called the supplier".to_owned()), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("[Giulia owner] I'll open for")), "{lines:?}");
}

#[test]
fn a_changelog_says_what_was_fixed_and_in_full() {
    let text = "# Changelog\n\n## 1.4.2\n\n### Fixed\n\n- Crash when the user is not assigned to Dana\n- Fixed a race\n\n### Added\n\n- Export to CSV\n";
    let found = read_as(Some("Dana Whitfield"), &[], text);
    let told: Vec<&str> = found.events.iter().map(|event| event.narrative.as_str()).collect();
    assert_eq!(
        told,
        [
            "Fixed: Crash when the user is not assigned to Dana Whitfield.",
            "Fixed a race.",
            "Added: Export to CSV."
        ]
    );
}

#[test]
fn html_is_read_as_it_is_shown_and_quoted_as_it_stands() {
    let text = "<h2>Attendance</h2>\n<ul>\n\n<li>Maneesha Quist</li>\n\n<li>Dana Ortiz</li>\n\n</ul>\n<p>Maneesha will send the <b>budget</b> &amp; the minutes by Friday.</p>";
    let found = extract(&RulesExtractor::new(), &source(vec![segment(text, None)]));
    let names: Vec<&str> = found.entities.iter().map(|entity| entity.name.as_str()).collect();
    assert_eq!(names, ["Maneesha Quist", "Dana Ortiz"]);
    assert_eq!(shown(&found), ["Commitment due 03-15 [Maneesha Quist owner] Maneesha will send the"]);
    assert_eq!(
        found.events[0].evidence[0].quote,
        "Maneesha will send the <b>budget</b> &amp; the minutes by Friday."
    );
    assert!(
        found.events[0].narrative.contains("send the budget & the minutes"),
        "{}",
        found.events[0].narrative
    );
    assert_eq!(found.clone().verified(&[text]).0, found);
}

#[test]
fn sentences_behind_a_list_of_those_present_are_read() {
    for (text, wanted) in [
        (
            "Present: Ann Roe (Chair), Bill Tate (Treasurer). Bill will obtain a second quote.",
            "[Bill Tate owner]",
        ),
        (
            "Present: Ann Roe, Bill Tate. Apologies: Cy Webb. Ann will call the bank on Monday.",
            "[Ann Roe owner]",
        ),
        ("Chair: Mrs. Ann Roe. Ann will call the bank on Monday.", "[Ann Roe owner]"),
    ] {
        let found = shown(&read(text));
        let told = found.iter().any(|line| line.starts_with("Commitment") && line.contains(wanted));
        assert!(told, "{text}: {found:?}");
    }
    for list in ["Present: Ann Roe (Chair). Bill Tate (Treasurer). J. Webb.", "Chair: Mrs. Ann Roe"] {
        assert_eq!(shown(&read(list)), Vec::<String>::new(), "{list}");
    }
}

#[test]
fn a_task_with_a_mark_behind_it_is_done_or_called_off() {
    let read_items = |items: &str| shown(&read(&format!("## Actions\n\n{items}")));
    for item in ["1. Alice – circulate the risk register – done", "- Alice to call the vet (done)"] {
        let found = read_items(item);
        assert!(found.iter().all(|line| !line.starts_with("Commitment")), "{item}: {found:?}");
    }
    for item in ["- Alice to call the vet: cancelled", "- ~~Alice to paint the door~~"] {
        let found = read_items(item);
        assert!(found.iter().all(|line| !line.starts_with("Commitment")), "{item}: {found:?}");
    }
    let found = read_items("- Alice to call the vet\n- Bob to send the letter by Friday");
    assert_eq!(found.iter().filter(|line| line.starts_with("Commitment")).count(), 2, "{found:?}");
}

#[test]
fn what_a_text_without_a_date_says_of_its_own_is_what_days_are_counted_from() {
    for (text, due) in [
        (
            "From: Jo Hill\nTo: Ann\nDate: Mon, 5 Feb 2024 10:12:00 +0000\nSubject: keys\n\nHi Ann,\nI'll drop the keys tomorrow.\nJo",
            "due 02-06",
        ),
        (
            "From: Jo Hill\nSent: Tuesday, 6 February 2024 08:00\nTo: Ann\n\nHi Ann,\nI'll drop the keys tomorrow.\nJo",
            "due 02-07",
        ),
        ("Diary, 5 February 2024. I'll call the vet tomorrow.", "due 02-06"),
        // It was not written on a day that had not come.
        ("The hall is booked for 5 May 2024. I'll call the vet tomorrow.", "due 03-16"),
    ] {
        let mut stored = segment(text, None);
        stored.is_date_of_storing = true;
        let found = shown(&checked(&source(vec![stored])));
        assert!(found.iter().any(|line| line.contains(due)), "{text}: {found:?}");
        let given = shown(&read(text));
        assert!(given.iter().any(|line| line.contains("due 03-16")), "{text}: {given:?}");
    }
}

#[test]
fn the_marks_of_code_end_no_sentence() {
    for text in [
        "I'll replace println! in the cli crate by 22 March.",
        "I'll remove println!(\"…\") from the cli crate by 22 March.",
    ] {
        let words: Vec<&str> = text.split(' ').take(4).collect();
        let expected = format!("Commitment due 03-22 [Dana Whitfield owner] {}", words.join(" "));
        assert_eq!(shown(&read_as(Some("Dana Whitfield"), &[], text)), [expected], "{text}");
    }
}
