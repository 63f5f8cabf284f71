//! Texts that are stored as decisions.

use memory_core::artifact::Context;
use memory_core::event::Category;

use super::{RulesExtractor, extract, segment, source};

/// What an extractor with its weights finds in a text, by category.
fn told(context: Context, author: Option<&str>, text: &str) -> Vec<Category> {
    let mut source = source(vec![segment(text, author)]);
    source.context = context;
    source.author = author.map(str::to_owned);
    extract(&RulesExtractor::new(), &source).events.iter().map(|event| event.category).collect()
}

#[test]
fn a_short_text_stored_as_a_decision_tells_one_whatever_its_words_are() {
    for text in [
        "Sessions: httpOnly cookies, 12 hours, no JWT",
        "A hold on a locker lasts 15 minutes.",
        "Tonemapping: AgX, no options. ACES made the moths orange.",
    ] {
        for author in [None, Some("agent"), Some("Priya")] {
            let decisions = |context| {
                let told = told(context, author, text);
                told.iter().filter(|category| **category == Category::Decision).count()
            };
            assert_eq!(decisions(Context::Decision), 1, "{text} {author:?}");
            assert_eq!(decisions(Context::Fact), 0, "{text} {author:?}");
        }
    }
}

#[test]
fn what_was_done_asked_or_decided_beside_it_stays() {
    let of = |text| told(Context::Decision, None, text);
    assert_eq!(of("We decided to use Postgres."), [Category::Decision]);
    assert_eq!(of("Should we use cookies or tokens?"), []);
    assert_eq!(of("I deployed version 2.3 to production yesterday."), [Category::Execution]);
}

#[test]
fn who_wants_surer_events_gets_no_decision_that_no_clause_tells() {
    let mut text = source(vec![segment("A hold on a locker lasts 15 minutes.", None)]);
    text.context = Context::Decision;
    let found = |least| extract(&RulesExtractor::new().with_confidence(Some(least)), &text).events.len();
    assert_eq!((found(0.5), found(0.9)), (1, 0));
}
