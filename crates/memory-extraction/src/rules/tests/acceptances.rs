//! Acceptances without content of their own are told by what they accept.

use memory_core::artifact::Context;
use memory_core::event::Category;

use super::super::draft::Draft;
use super::super::{RulesExtractor, named_by_rules, votes};
use super::{extract, read, read_as, segment, shown, source};

/// Summaries of what the extractor tells by rules alone, with the days on which it falls due.
fn told(turns: &[(&str, Option<&str>)], context: Context) -> Vec<String> {
    let mut source = source(turns.iter().map(|(text, speaker)| segment(text, *speaker)).collect());
    source.context = context;
    if context == Context::Email {
        source.author = Some("Bob Ilves".to_owned());
        source.participants = vec!["Ann Lee".to_owned()];
    }
    let found = extract(&RulesExtractor::with_model(None), &source);
    let told = found.events.iter().map(|event| {
        let due = event.due_time.map_or(String::new(), |due| due.strftime(" (%m-%d)").to_string());
        format!("{}{due}", event.narrative)
    });
    told.collect()
}

#[test]
fn an_acceptance_is_told_by_the_request_before_it() {
    for (request, answer, summary) in [
        (
            "Could you please send me the figures by Monday?",
            "Will do.",
            "send Ann Lee the figures by Monday, asked by Ann Lee. (03-18)",
        ),
        (
            "Would you mind checking the boiler tomorrow?",
            "On it",
            "check the boiler tomorrow, asked by Ann Lee. (03-16)",
        ),
        (
            "Please review my draft before Tuesday.",
            "ok doing it",
            "review Ann Lee's draft before Tuesday, asked by Ann Lee. (03-18)",
        ),
        ("Someone should call the plumber.", "I'll take it", "call the plumber, asked by Ann Lee."),
        // The day that was promised, not the day that was asked for.
        (
            "Can you send the figures by Wednesday?",
            "Sure, I'll do it tomorrow.",
            "send the figures tomorrow, asked by Ann Lee. (03-16)",
        ),
    ] {
        let turns = [(request, Some("Ann Lee")), (answer, Some("Bob Ilves"))];
        assert_eq!(
            told(&turns, Context::Conversation),
            [format!("Bob Ilves agreed to {summary}")],
            "{request}"
        );
    }
    let lines = "Ann: Could you send me the figures by Monday?\nBob: Will do.";
    assert_eq!(
        told(&[(lines, None)], Context::Note),
        ["Bob agreed to send Ann the figures by Monday, asked by Ann. (03-18)"]
    );
}

#[test]
fn a_reply_accepts_what_it_quotes() {
    let summary = ["Bob Ilves agreed to send Ann Lee the figures by Monday, asked by Ann Lee. (03-18)"];
    let below = "Will do.\n\nOn Thu, 14 Mar 2024 at 10:00, Ann Lee <ann@harbour.example> wrote:\n> Could you please send me the figures by Monday?";
    let above = "> Could you please send me the figures by Monday?\n\nI'll do that.";
    assert_eq!(told(&[(below, None)], Context::Email), summary);
    assert_eq!(told(&[(above, None)], Context::Email), summary);
}

#[test]
fn an_agreement_is_told_by_what_was_proposed() {
    let turns = [("Let's use Redis for the queue.", Some("Ann Lee")), ("Agreed.", Some("Bob Ilves"))];
    assert_eq!(
        told(&turns, Context::Conversation),
        ["Ann Lee and Bob Ilves agreed to use Redis for the queue."]
    );
    let turns = [("I propose Redis.", Some("Ann Lee")), ("Fine by me, Redis it is", Some("Bob Ilves"))];
    assert_eq!(told(&turns, Context::Conversation), ["Ann Lee and Bob Ilves agreed on Redis."]);
}

#[test]
fn an_acceptance_of_nothing_tells_nothing() {
    let none: [String; 0] = [];
    assert_eq!(told(&[("Will do.", None)], Context::Email), none);
    assert_eq!(
        told(&[("Will do.", Some("Bob Ilves")), ("thanks", Some("Ann Lee"))], Context::Conversation),
        none
    );
    assert_eq!(
        told(
            &[("The weather is nice.", Some("Ann Lee")), ("On it", Some("Bob Ilves"))],
            Context::Conversation
        ),
        none
    );
}

#[test]
fn an_acceptance_of_what_is_wrong_names_it() {
    let turns = [("The scanner is broken again.", Some("Ann Lee")), ("I'll take it", Some("Bob Ilves"))];
    let told = told(&turns, Context::Conversation);
    assert!(told.contains(&"Bob Ilves took on: The scanner is broken again.".to_owned()), "{told:?}");
}

#[test]
fn the_outcome_of_a_vote_is_told_by_what_was_voted_on() {
    let told = |text: &str, quotes: &[&str]| -> Vec<String> {
        let source = source(vec![segment(text, None)]);
        let (parsed, _) = named_by_rules(&source);
        let draft = |quote: &&str| {
            let start = text.find(quote).unwrap();
            Draft {
                category: Category::Decision,
                confidence: 0.8,
                narrative: (*quote).to_owned(),
                event_time: None,
                due_time: None,
                subject: None,
                actors: vec![],
                evidence: vec![(0, start..start + quote.len())],
            }
        };
        let mut drafts = quotes.iter().map(draft).collect();
        votes::tell(&parsed, &mut drafts);
        drafts.into_iter().map(|draft| draft.narrative).collect()
    };
    let motion = "Motion by Gary Mantay, second by Janet Keough to approve the budget.";
    let carried = "Motion carried by vote of Janet Keough yea, Gary Mantay yea.";
    let text = format!("{motion} {carried} The road is icy. Approved the plan for the road.");
    assert_eq!(told(&text, &[motion, carried]), [motion], "it is told already");
    assert_eq!(told(&text, &[carried]), [format!("Agreed: {motion}")]);
    let seconded =
        "Gary moved to approve the budget. Janet seconded. Discussion followed. Motion carried 5-0.";
    assert_eq!(told(seconded, &["Motion carried 5-0."]), ["Agreed: Gary moved to approve the budget."]);
    let listed = "Vote on spending $850 to file.\n\n- Vote: 3 in favor, 0 opposed\n- Resolution: Vote passed";
    assert_eq!(told(listed, &["Vote passed"]), ["Agreed: Vote on spending $850 to file."]);
    let objections = "Moved to adjourn the case.\n\nThe motion passed with no objections.";
    let outcome = "The motion passed with no objections.";
    assert_eq!(told(objections, &[outcome]), ["Agreed: Moved to adjourn the case."]);
    // What has a content of its own, was taken back or stands behind no motion is left as it is.
    for (text, outcome) in [
        ("We looked at three caches. Approved Redis.", "Approved Redis."),
        ("Motion to mend the roof. Approved $4,500.", "Approved $4,500."),
        ("Motion to hire a clerk. Approved: Janet Keough.", "Approved: Janet Keough."),
        ("Motion to adjourn. All in favor: 2. Opposed: 5. Motion failed.", "All in favor: 2."),
        (
            "Motion to spend $500. Keough moved to amend it. Amendment failed. Motion carried.",
            "Motion carried.",
        ),
        ("Any questions? All in favor.", "All in favor."),
        ("We buy the mower.\n\nCarried 5-0.", "Carried 5-0."),
        ("Motion to hire a clerk.\n\n## Roof\n\nCarried 5-0.", "Carried 5-0."),
    ] {
        assert_eq!(told(text, &[outcome]), [outcome], "{text}");
    }
    // What was not carried is no decision to do it.
    let hall = "Moved by J. Hale, seconded by K. Rowe, that the hall be sold.";
    for outcome in
        ["LOST.", "MOTION DEFEATED.", "Motion failed 2-3.", "Withdrawn.", "The motion was defeated 2 to 3."]
    {
        assert_eq!(told(&format!("{hall} {outcome}"), &[hall]), [""; 0], "{outcome}");
    }
    for outcome in ["CARRIED 4-1.", "Lost property was discussed.", "Bo asked about the roof."] {
        assert_eq!(told(&format!("{hall} {outcome}"), &[hall]), [hall], "{outcome}");
    }
}

#[test]
fn a_motion_and_its_outcome_are_one_decision() {
    let text = "Ann moved to approve the budget. Motion carried. Bo moved to buy a mower. Motion carried unanimously.";
    let extraction = read(text);
    let told: Vec<&str> = extraction.events.iter().map(|event| event.narrative.as_str()).collect();
    assert_eq!(told, ["Agreed: Ann moved to approve the budget.", "Agreed: Bo moved to buy a mower."]);
}

#[test]
fn what_was_refused_before_is_not_agreed_on() {
    for chat in [
        "Carl: Should we sell the van?\nIda: No. We need it.\nOle: Agreed, we keep it.",
        "Carl: Should we have the bouncy castle again?\nIda: No. No bouncy castle.\nOle: Agreed, no castle.",
    ] {
        let found = shown(&read_as(None, &[], chat));
        assert!(!found.iter().any(|line| line.contains("Carl owner, Ole owner")), "{chat}: {found:?}");
    }
    let agreed = "Carl: Should we sell the van?\nIda: We paid 900 for it.\nOle: Agreed, that makes sense.";
    let found = shown(&read_as(None, &[], agreed));
    assert!(found.iter().any(|line| line.contains("Carl owner, Ole owner")), "{found:?}");
}

/// The commitments of a chat, as they are shown.
fn promised(chat: &str) -> Vec<String> {
    shown(&read_as(None, &[], chat)).into_iter().filter(|line| line.starts_with("Commitment")).collect()
}

#[test]
fn a_yes_to_what_was_done_promises_nothing() {
    for chat in [
        "Nadia: Tom, have you paid the hosting invoice?\nTom: Yes, on Friday.",
        "Nadia: Did you send the contract to Lisbon?\nTom: Yes, on Monday.",
        "Nadia: Was the lift repaired?\nTom: Yes, on Wednesday.",
    ] {
        assert_eq!(promised(chat), [""; 0], "{chat}");
    }
    let will = promised("Nadia: Tom, will you pay the hosting invoice?\nTom: Yes, on Friday.");
    assert!(will.len() == 1 && will[0].contains("Tom owner"), "{will:?}");
}

#[test]
fn what_was_refused_is_not_promised() {
    for answer in ["Nope, sorry.", "Nah, Lee should.", "Ask Lee.", "nah, stuck at work"] {
        let found =
            promised(&format!("Lee: hi all\nKim: Tom, can you order the cake by Friday?\nTom: {answer}"));
        assert!(!found.iter().any(|line| line.contains("Tom owner")), "{answer}: {found:?}");
    }
    let found = promised("Lee: hi all\nKim: Tom, can you order the cake by Friday?\nTom: Yes, will do.");
    assert!(found.iter().any(|line| line.contains("Tom owner")), "{found:?}");
}

#[test]
fn who_promises_something_else_does_not_take_on_what_was_asked() {
    let told = told(
        &[("Who can do the survey?", Some("Ann Lee")), ("I'll bring the cake.", Some("Bob Ilves"))],
        Context::Conversation,
    );
    assert!(!told.iter().any(|line| line.contains("survey")), "{told:?}");
}
