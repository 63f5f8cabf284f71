//! Rounds of reports: who covers for another, who leads a sentence, who is named as an exception, and verbs that look like names.

use memory_core::event::Category;

use super::super::draft::Draft;
use super::super::{RulesExtractor, doers, exceptions, led_sentences, named_by_rules, needed_from};
use super::{extract, segment, source};

/// The owners of what one passage of a text tells, by rules alone.
fn owners(text: &str, passage: &str, category: Category) -> Vec<String> {
    let source = source(vec![segment(text, None)]);
    let (mut parsed, mut roster) = named_by_rules(&source);
    let start = text.find(passage).unwrap();
    let mut drafts = vec![Draft {
        category,
        confidence: 0.8,
        narrative: passage.to_owned(),
        event_time: None,
        due_time: None,
        subject: None,
        actors: vec![],
        evidence: vec![(0, start..start + passage.len())],
    }];
    doers::name_doers(&mut parsed, &mut roster, &mut drafts);
    led_sentences::name_leaders(&mut parsed, &mut roster, &mut drafts);
    needed_from::own(&parsed, &mut drafts);
    exceptions::drop_parts(&parsed, &mut drafts);
    drafts[0].owners().map(|owner| roster.entities[owner].name.clone()).collect()
}

#[test]
fn who_covers_for_another_does_it() {
    for (text, passage, owner) in [
        (
            "Paul: on holiday from Friday, Rosa covers the pager\nRosa: fine",
            "on holiday from Friday, Rosa covers the pager",
            "Rosa",
        ),
        ("Paul: sick, Rosa takes the demo\nRosa: fine", "sick, Rosa takes the demo", "Rosa"),
        ("Paul: demo on Friday, Rosa presents it\nRosa: fine", "demo on Friday, Rosa presents it", "Rosa"),
    ] {
        assert_eq!(owners(text, passage, Category::Commitment), [owner], "{text}");
    }
}

#[test]
fn who_leads_a_sentence_did_what_it_tells() {
    let text = "Tamar: fixed two bugs. Ugo: wrote the tests. Anna: reviewed both.";
    for (passage, owner) in [
        ("Tamar: fixed two bugs.", "Tamar"),
        ("Ugo: wrote the tests.", "Ugo"),
        ("Anna: reviewed both.", "Anna"),
    ] {
        assert_eq!(owners(text, passage, Category::Execution), [owner], "{passage}");
    }
    for (text, passage) in [
        ("Kitchen: cleaned the oven. Garden: mowed the lawn.", "Kitchen: cleaned the oven."),
        ("Progress: fixed two bugs. Anna: wrote the tests.", "Progress: fixed two bugs."),
        ("Anna: wrote the tests.", "wrote the tests."),
    ] {
        assert_eq!(owners(text, passage, Category::Execution), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn a_verb_at_the_head_of_an_item_is_no_first_name() {
    let names = |text: &str| -> Vec<String> {
        let found = extract(&RulesExtractor::with_model(None), &source(vec![segment(text, None)]));
        found.entities.into_iter().map(|entity| entity.name).collect()
    };
    for text in
        ["To do\n- Chase Lin for the form", "☐ Chase Lin for the signed form", "Mark Olsen about the roof"]
    {
        let found = names(text);
        assert!(!found.iter().any(|name| name.contains(' ')), "{text}: {found:?}");
    }
    for text in ["- Chase Lin to order paint", "Chase Lin will order paint.", "- Mark Olsen: order paint"] {
        let found = names(text);
        assert!(found.iter().any(|name| name.contains(' ')), "{text}: {found:?}");
    }
}

#[test]
fn who_is_to_give_what_another_needs_does_it() {
    let text = "Present: Anil Rao, Nell Berg\n\nAnil looked at it. He needs the plan from Nell by Friday.";
    assert_eq!(owners(text, "He needs the plan from Nell by Friday", Category::Commitment), ["Nell Berg"]);
    let text = "Anil Rao needs to hear from Nell Berg by Friday.";
    assert_ne!(
        owners(text, "Anil Rao needs to hear from Nell Berg by Friday", Category::Commitment),
        ["Nell Berg"]
    );
}
