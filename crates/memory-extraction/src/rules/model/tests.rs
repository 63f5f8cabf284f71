//! What the model with its own weights makes of a few texts; how it is measured stands in the labelled documents.

use std::time::Instant;

use memory_core::artifact::Context;
use memory_core::event::{Category, ExtractedEvent};
use memory_core::ports::{Segment, SourceText};

use super::super::RulesExtractor;
use super::super::tests::extract;
use super::clause_features::hash;
use super::clauses_of;
use super::weights::{CLASSES, ClauseModel, FEATURES_VERSION};

fn source(context: Context, author: Option<&str>, text: &str) -> SourceText {
    SourceText {
        context,
        title: None,
        author: author.map(str::to_owned),
        participants: Vec::new(),
        segments: vec![Segment {
            text: text.to_owned(),
            speaker: None,
            date: "2025-03-10T09:00:00Z".parse().ok(),
            context_only: false,
            is_date_of_storing: false,
        }],
    }
}

fn events(source: &SourceText) -> Vec<ExtractedEvent> {
    extract(&RulesExtractor::new(), source).events
}

#[test]
fn the_weights_fit_the_features_of_this_program() {
    let model = ClauseModel::parse(include_str!("../../../data/weights.txt")).unwrap();
    let odds = model.odds(&[hash(&["bias"])]);
    assert!((odds.iter().sum::<f32>() - 1.0).abs() < 1e-4);
    assert!(include_str!("../../../data/weights.txt").len() < 1_700_000);
}

#[test]
fn weights_of_other_features_are_refused_with_a_reason() {
    let text = format!("features {}\nthresholds 1 1 1 1 1 1 1 1\n", FEATURES_VERSION + 1);
    assert!(ClauseModel::parse(&text).unwrap_err().to_string().contains("train them anew"));
    let thresholds = "thresholds 1 1 1 1 1 1 1 1\nshort 1\n";
    let header = format!("features {FEATURES_VERSION}\n{thresholds}");
    let text = format!("{header}w:send\t1 2 3\n");
    assert!(ClauseModel::parse(&text).unwrap_err().to_string().contains("'blend '"));
    let text = format!("{header}blend 1 1 0 0 0 0 0 0 0 0 0\n{thresholds}w:send\t1 2 3\n");
    assert!(
        ClauseModel::parse(&text)
            .unwrap_err()
            .to_string()
            .contains(&format!("is no feature with {CLASSES} numbers"))
    );
}

#[tokio::test]
async fn the_same_text_shows_the_same_features_and_no_names() {
    let text =
        "Dana Whitfield will send the contract to Kofi Mensah by Friday. We agreed to drop the old plan.";
    let mail = source(Context::Email, Some("Dana Whitfield"), text);
    let one = clauses_of(&mail, None).await.unwrap();
    let other = clauses_of(&mail, None).await.unwrap();
    assert_eq!(one.len(), 2);
    for (one, other) in one.iter().zip(&other) {
        assert_eq!(one.features, other.features);
        assert!(one.features.windows(2).all(|pair| pair[0] < pair[1]), "each once and in order");
        for name in ["dana", "whitfield", "kofi", "mensah"] {
            assert!(!one.features.iter().any(|feature| feature.contains(name)), "{name}: {:?}", one.features);
        }
    }
    assert!(one[0].features.iter().any(|feature| feature == "b:<person>_will"), "{:?}", one[0].features);
}

#[test]
fn a_promise_is_told_and_a_question_is_not() {
    let mail = source(
        Context::Email,
        Some("Dana Whitfield"),
        "Hi Kofi,\n\nI'll send you the draft contract by Friday. Do you know when the office opens?\n\nBest,\nDana Whitfield",
    );
    let found = events(&mail);
    assert_eq!(
        found.iter().map(|event| event.category).collect::<Vec<_>>(),
        [Category::Commitment],
        "{found:#?}"
    );
    assert!(found[0].evidence[0].quote.contains("draft contract"));
    assert!(found[0].due_time.is_some() && found[0].confidence > 0.5);
    assert_eq!(found[0].actors.len(), 1, "{found:#?}");
}

#[test]
fn a_refusal_is_no_promise() {
    let mail = source(
        Context::Email,
        Some("Dana Whitfield"),
        "Hello all,\n\nI won't be able to send the report this week. If we had more time we could also look at the tables.\n\nDana",
    );
    assert!(events(&mail).iter().all(|event| event.category != Category::Commitment));
}

#[test]
fn what_only_the_model_finds_has_exact_evidence() {
    let text = "Weekly notes\n\n- Lindiwe Khumalo is joining us as night sister from 3 February\n- Several patients complained \
        that the corridor lights are too bright\n- Handover has been moved from 07:30 to 07:15\n";
    let notes = source(Context::Note, Some("Maeve O'Dowd"), text);
    let found = events(&notes);
    let told: Vec<Category> = found.iter().map(|event| event.category).collect();
    assert_eq!(told, [Category::Stakeholder, Category::Feedback, Category::Change], "{found:#?}");
    for event in &found {
        assert!(event.evidence.iter().all(|evidence| text.contains(&evidence.quote)));
    }
}

#[test]
fn a_newsletter_tells_nothing() {
    let text = "THE GREEN SPADE – our monthly newsletter\n\nDear readers, spring is here at last. Sow your peas as soon as the \
        soil can be worked, and keep the seedlings out of the wind. Subscribers get 10 % off all seed trays. To unsubscribe, \
        click the link below.\n";
    assert!(events(&source(Context::Document, None, text)).is_empty());
}

/// Far below what it takes in an optimised build, so that it fails for a slip such as a quadratic loop alone.
#[test]
fn a_long_text_is_read_in_time_that_grows_with_it() {
    let line = "Dana Whitfield will send the contract by Friday, but the printer is broken. We agreed to use the old one.\n";
    let time = |times: usize| {
        let long = source(Context::Note, None, &line.repeat(times));
        let begun = Instant::now();
        assert!(!events(&long).is_empty());
        begun.elapsed()
    };
    time(20);
    let (short, long) = (time(200), time(1600));
    assert!(long < short * 40, "{short:?} for a text, {long:?} for one of eight times its length");
}

#[test]
fn what_is_asked_whether_it_was_done_was_not_told() {
    let categories = |text: &str| -> Vec<Category> {
        let all = RulesExtractor::new().with_confidence(Some(0.05));
        extract(&all, &source(Context::Note, None, text)).events.iter().map(|event| event.category).collect()
    };
    let told = [Category::Execution, Category::Decision];
    for text in [
        "Ann: Did the staging deploy go through last night?",
        "Has Bob shipped the parser yesterday?",
        "Were the tables migrated and did we choose Redis?",
    ] {
        let found = categories(text);
        assert!(!found.iter().any(|category| told.contains(category)), "{text}: {found:?}");
    }
    assert!(categories("Bob shipped the parser yesterday.").contains(&Category::Execution));
}
