use memory_core::artifact::Context;
use memory_core::ports::{Segment, SourceText};

use super::*;

#[test]
fn places_of_a_name_that_overlap_are_found_once() {
    let text = "wagga wagga wagga is far".to_owned();
    let source = SourceText {
        context: Context::Note,
        title: None,
        author: None,
        participants: Vec::new(),
        segments: vec![Segment {
            text,
            speaker: None,
            date: None,
            context_only: false,
            is_date_of_storing: false,
        }],
    };
    let (mut parsed_segments, mut roster) = super::super::named_by_rules(&source);
    let name = Name { text: "wagga wagga".to_owned(), places: vec![(0, 0..2), (0, 1..3)] };
    let odds = [0.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    settle::add(NameModel::own().thresholds(false), &[(name, odds)], &mut parsed_segments, &mut roster);
    let places: Vec<_> = parsed_segments[0]
        .mentions
        .iter()
        .map(|mention| (mention.tokens.start, mention.tokens.end))
        .collect();
    assert_eq!(places, [(0, 2)]);
}
