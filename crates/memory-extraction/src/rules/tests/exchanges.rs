//! Short exchanges: what is agreed on and lasts, what is objected to, dropped or taken back, and whom "he" and "she" mean there.

use super::{read, shown};

/// The events that took two turns, by their narrative.
fn agreed(text: &str) -> Vec<String> {
    let found = read(text);
    let joint = found.events.iter().filter(|event| event.evidence.len() > 1);
    joint.map(|event| event.narrative.clone()).collect()
}

fn commitments(text: &str) -> Vec<String> {
    shown(&read(text)).into_iter().filter(|line| line.starts_with("Commitment")).collect()
}

#[test]
fn what_is_objected_to_is_not_agreed_on() {
    for text in [
        "Mia: shall we cancel the trip?\nNoah: yes, fine\nZoe: no, please don't!\nMia: ok, trip stays on",
        "Alice: shall we move the rehearsal to Thursday?\nBruno: Thursday is bad for me\nClara: works for me\nAlice: let's leave it on Wednesday then",
        "Sara: Shall we get a dog?\nTim: yes!\nSara: I was joking",
        "Anna: how about painting the hall green?\nBen: sounds good\nAnna: actually no, I've gone off green",
        "Ben: should we switch to Bitbucket?\nAmy: +1\nCarlos: -1, migration is a pain\nBen: dropped then",
        "Ida: Let's meet at 8.\nJonas: ok\nKim: too early for me\nIda: 9 then.",
        "Anna: should we drop IE support?\nBen: yes\nCarl: yes\nDiana: we can't, the bank still uses it",
        "Anna: should we repaint the boat?\nBen: yes\nCarl: no money this year",
        "Anna: let's order pizza\nBen: yes!\nCarl: not pizza again\nAnna: fine, soup then",
        "Anna: shall we hire the band?\nBen: sure\nAnna: never mind, they are booked",
        "Anna: Let's hire a band.\nBen: No way.\nAnna: Fine, then no band.\nBen: Good.",
        "Anna: Shall we sell the boat?\nBen: Never.\nAnna: Just asking.\nBen: Sure.",
        "Anna: What if we rent the van?\nAnna: Let me think about it.\nBen: Okay.",
        "Anna: Let's demo on Monday.\nBen: Monday is a holiday.\nAnna: Tuesday then?\nBen: Works for me.",
    ] {
        assert_eq!(agreed(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn what_nobody_objects_to_stays_agreed_on() {
    for text in [
        "Ida: Let's meet at 8.\nJonas: ok\nKim: ok\nIda: great, 8 it is",
        "Anna: let's paint the fence green\nBen: agreed\nAnna: have you got the brushes?\nBen: no, Carla has them",
        "Anna: let's paint the fence green\nBen: agreed\nCarla: no problem, I'll buy the paint",
        "Anna: shall we hire a band?\nBen: yes\nCarla: too expensive for us\nAnna: we can split it\nCarla: ok then",
        "Anna: shall we hire a band?\nBen: yes\nCarla: no, please don't\nAnna: we'll do it anyway, sorry",
        "Anna: let's meet at the station\nBen: ok\nCarla: I can't wait to see you",
        "Anna: shall we hire a band?\nBen: how much is that?\nAnna: about 300.\nBen: ok then",
    ] {
        assert_eq!(agreed(text).len(), 1, "{text}");
    }
}

#[test]
fn a_yes_that_is_taken_back_or_hedged_promises_nothing() {
    for text in [
        "Leo: Mia, could you print the posters?\nMia: ok\nMia: sorry, the printer is dead. can't do it\nLeo: no problem",
        "Anna: Ben, could you fetch the cake on Friday?\nBen: sure\nBen: oh wait, I'm in Leeds. Can't do it after all.",
        "Anna: Ben, will you bring the tent?\nBen: yes\nBen: wait, no, my brother has it",
        "Anna: Ben, could you fetch the cake?\nBen: will do\nAnna: never mind, Carla has it",
        "Anna: could you call the plumber?\nBen: yes if I remember",
        "Anna: could you call the plumber?\nBen: ok if I find the time",
    ] {
        assert_eq!(agreed(text), Vec::<String>::new(), "{text}");
    }
    for text in [
        "Anna: Ben, can you mend the gate?\nBen: sure, if you like",
        "Anna: Ben, can you mend the gate?\nBen: sure\nBen: I can't do it before Friday though",
        "Anna: Ben, can you mend the gate?\nBen: sure\nAnna: no rush\nBen: ok",
    ] {
        assert_eq!(agreed(text).len(), 1, "{text}");
    }
}

#[test]
fn who_is_called_next_takes_on_what_another_refused() {
    let text = "Abe: Lin, can you send out the invites by Friday?\nLin: I'd rather not, ask Jo\nAbe: Jo?\nJo: ok I'll do it";
    assert_eq!(agreed(text), ["Jo agreed to send out the invites by Friday, asked by Abe."]);
    let text = "Abe: Lin, can you send out the invites by Friday?\nLin: sure";
    assert_eq!(agreed(text), ["Lin agreed to send out the invites by Friday, asked by Abe."]);
    let text =
        "Abe: Lin, can you send out the invites by Friday?\nLin: I'd rather not\nJo: what a pity\nJo: ok";
    assert_eq!(agreed(text), Vec::<String>::new());
    let text =
        "Nadia: should I order the cake or are you doing it?\nViktor: you do it please\nNadia: ok will do";
    assert_eq!(agreed(text), ["Nadia will order the cake."]);
}

#[test]
fn he_and_she_in_a_talk_are_never_who_speaks() {
    for (text, owner) in [
        ("Fay: has Oliver got the tickets?\nGus: he'll collect them on Friday", "[Oliver owner]"),
        ("Fay: I met Martha. She will bring the keys on Friday.\nGus: great", "[Martha owner]"),
        ("Fay: how is mum?\nGus: better. she'll call you on Friday", "[]"),
        ("Fay: did Martha and Anna come?\nGus: yes, she will bring the keys on Friday", "[]"),
        ("Anna: what does the plumber say?\nRalf: he will bring the valve on Friday", "[]"),
    ] {
        let found = commitments(text);
        assert!(found.iter().all(|line| line.contains(owner)), "{text}: {found:?}");
    }
    let text = "Fay: has Oliver got the tickets?\nGus: he'll collect them on Friday";
    assert_eq!(commitments(text), ["Commitment due 03-22 [Oliver owner] he'll collect them on"]);
}

#[test]
fn what_was_asked_of_somebody_who_refused_is_no_promise() {
    for text in [
        "Asked Fiona to order the toner by Wednesday. She said no.",
        "Alice Chen asked Bob Reyes to move the van by Friday, but he won't.",
        "Alice Chen asked Bob Reyes to move the van. Bob declined.",
        "Alice Chen told Bob Reyes to pay the fine. He said he couldn't.",
    ] {
        assert_eq!(commitments(text), Vec::<String>::new(), "{text}");
    }
    for text in [
        "Alice Chen asked Bob Reyes to move the van by Friday. He said he would.",
        "Alice Chen asked Bob Reyes to move the van by Friday. She can't park otherwise.",
    ] {
        assert_eq!(commitments(text).len(), 1, "{text}");
    }
}

#[test]
fn what_somebody_said_to_do_and_takes_back_is_no_promise() {
    for text in [
        "Anna: I'll bring the tent on Saturday.\nBen: Perfect.\nAnna: Actually scrap that, my brother has the tent.",
        "Anna: I'll print the posters tomorrow.\nBen: great\nAnna: sorry, can't do tomorrow after all",
        "Anna: I will fetch the chairs on Friday.\nBen: thanks\nAnna: Change of plan, I can't bring them.",
        "Anna: could you fix the door today?\nBen: I'll try.",
        "Anna: could you fix the door today?\nBen: I'll see what I can do.",
    ] {
        assert_eq!(commitments(text), Vec::<String>::new(), "{text}");
    }
    for text in [
        "Anna: I'll bring the tent on Saturday.\nBen: Perfect.\nAnna: I can't wait.",
        "Anna: I'll bring the tent on Saturday.\nBen: And the stove?\nAnna: No, that's broken.",
    ] {
        assert_eq!(commitments(text).len(), 1, "{text}");
    }
}

#[test]
fn below_a_heading_who_is_not_known_speaks_too() {
    let found = commitments("Standup\nHana: Fixed the bug.\nOtto: I will call the bank on Friday.");
    assert!(found.iter().all(|line| line.contains("Otto") && !line.contains("Hana")), "{found:?}");
}
