//! The filters of recall, in every arm, and which revision of a text is shown.

use memory_core::artifact::Draft;
use memory_engine::recall::RecallDraft;
use memory_tests::{Fixture, turn};

use crate::shorthand::{dated, ids, light, note, ns, page, query};
use crate::stand_ins::line_reader;

/// What fits the filter; and the question's own words, which would be the best answer and do not fit.
struct Case {
    name: &'static str,
    fitting: Draft,
    best: Draft,
    filter: RecallDraft,
}

const QUESTION: &str = "zebra migration plan for the northern herd";
const ANSWER: &str = "The zebra plan.";

fn cases() -> Vec<Case> {
    let case = |name, fitting, best, filter| Case { name, fitting, best, filter };
    let some = |text: &str| Some(text.to_owned());
    let (good, bad, ask) = (|| note(ANSWER), || note(QUESTION), || query(QUESTION));
    let tags = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
    vec![
        case(
            "context",
            Draft { context: some("fact"), ..good() },
            bad(),
            RecallDraft { context: some("fact"), ..ask() },
        ),
        case(
            "source",
            Draft { source: some("mail"), ..good() },
            Draft { source: some("wiki"), ..bad() },
            RecallDraft { source: some("mail"), ..ask() },
        ),
        case(
            "author",
            Draft { author: some("Ann"), ..good() },
            Draft { author: some("Bob"), ..bad() },
            RecallDraft { author: some("Ann"), ..ask() },
        ),
        case(
            "date-from",
            dated("2026-01-31", ANSWER),
            dated("2026-01-30T23:59:59Z", QUESTION),
            RecallDraft { date_from: some("2026-01-31"), ..ask() },
        ),
        case(
            "date-to",
            dated("2026-01-31T23:59:59Z", ANSWER),
            dated("2026-02-01", QUESTION),
            RecallDraft { date_to: some("2026-01-31"), ..ask() },
        ),
        case(
            "tags",
            Draft { tags: tags(&["a", "b", "c"]), ..good() },
            Draft { tags: tags(&["a"]), ..bad() },
            RecallDraft { tags: tags(&["a", "b"]), ..ask() },
        ),
        case(
            "importance",
            Draft { importance: Some(0.7), ..good() },
            Draft { importance: Some(0.69), ..bad() },
            RecallDraft { min_importance: Some(0.7), ..ask() },
        ),
        case(
            "categories",
            note("Decision by Ann\nThe zebra plan."),
            note(&format!("Change by Ann\n{QUESTION}")),
            RecallDraft { categories: tags(&["decision", "Feedback"]), ..ask() },
        ),
        case(
            "conversation",
            turn("herd", 0, "Ann", ANSWER),
            turn("farm", 0, "Ann", QUESTION),
            RecallDraft { conversation_id: some("herd"), ..ask() },
        ),
    ]
}

#[tokio::test]
async fn every_filter_holds_in_both_arms() {
    let mut f = light(line_reader()).await;
    for case in cases() {
        f.ns = ns(case.name);
        let fitting = f.remember_as(case.fitting).await.id;
        let best = f.remember_as(case.best).await.id;
        f.drain().await;
        assert_eq!(
            ids(&f.recall_as(query(QUESTION)).await),
            [best, fitting.clone()],
            "{} without a filter",
            case.name
        );
        let answer = f.recall_as(case.filter).await;
        assert_eq!(ids(&answer), [fitting], "{}", case.name);
        let seen = answer.results[0].explanation.unwrap();
        assert!(seen.vector.is_some() && seen.lexical.is_some(), "{} in both arms", case.name);
    }
}

#[tokio::test]
async fn every_filter_holds_without_the_model() {
    let mut f = Fixture::without_model(line_reader()).await;
    for case in cases() {
        f.ns = ns(case.name);
        let fitting = f.remember_as(case.fitting).await.id;
        f.remember_as(case.best).await;
        f.drain().await;
        assert_eq!(ids(&f.recall_as(case.filter).await), [fitting], "{}", case.name);
    }
}

#[tokio::test]
async fn a_date_to_holds_until_the_last_moment_of_its_day() {
    let f = light(line_reader()).await;
    let last = f.remember_as(dated("2026-01-31T23:59:59.9Z", "Zebra.")).await.id;
    f.remember_as(dated("2026-02-01", "Zebra zebra.")).await;
    let until = RecallDraft { date_to: Some("2026-01-31".into()), ..query("zebra") };
    assert_eq!(ids(&f.recall_as(until).await), [last]);
}

#[tokio::test]
async fn a_filter_that_nothing_fits_gives_nothing() {
    let f = light(line_reader()).await;
    f.remember(QUESTION).await;
    assert!(
        f.recall_as(RecallDraft { author: Some("Nobody".into()), ..query(QUESTION) })
            .await
            .results
            .is_empty()
    );
}

#[tokio::test]
async fn superseded_text_is_found_only_when_asked_for_and_names_its_successor() {
    let f = light(line_reader()).await;
    let old = f.remember_as(page("p", "The giraffe is ill.")).await.id;
    let new = f.remember_as(page("p", "The elephant is well.")).await.id;
    assert_eq!(ids(&f.recall_as(query("giraffe")).await), std::slice::from_ref(&new));
    let answer = f.recall_as(RecallDraft { include_superseded: Some(true), ..query("giraffe") }).await;
    // What stands at a place comes before what stood there.
    assert_eq!(ids(&answer), [new.clone(), old]);
    let (new_hit, old) = (&answer.results[0].hit, &answer.results[1].hit);
    assert_eq!((old.is_latest, old.superseded_by.as_deref()), (false, Some(new.0.as_str())));
    assert_eq!((new_hit.is_latest, new_hit.superseded_by.as_deref()), (true, None));
}

#[tokio::test]
async fn a_text_that_stands_again_is_not_shown_as_superseded() {
    let f = light(line_reader()).await;
    for text in ["The giraffe is ill.", "The elephant is well.", "The giraffe is ill."] {
        f.remember_as(page("p", text)).await;
    }
    let answer = f.recall_as(RecallDraft { include_superseded: Some(true), ..query("giraffe") }).await;
    assert_eq!(answer.results[0].hit.passage, "The giraffe is ill.");
    assert!(answer.results[0].hit.is_latest);
}

#[tokio::test]
async fn a_hit_names_the_revision_that_matched() {
    let f = light(line_reader()).await;
    for author in ["Ann", "Bob", "Cleo"] {
        f.remember_as(Draft { author: Some(author.to_owned()), ..page(author, "The giraffe is ill.") }).await;
    }
    for author in ["Ann", "Bob", "Cleo"] {
        let answer = f.recall_as(RecallDraft { author: Some(author.to_owned()), ..query("giraffe") }).await;
        assert_eq!(answer.results.len(), 1);
        assert_eq!(answer.results[0].hit.author.as_deref(), Some(author));
    }
    assert_eq!(f.recall_as(query("bob giraffe")).await.results[0].hit.author.as_deref(), Some("Bob"));
}

/// A text under names in other cases, of letters that more than one language has.
fn named() -> Draft {
    Draft {
        source: Some("Gmail".into()),
        author: Some("ÄNNE Łoś Σίσυφος".into()),
        tags: vec!["Finance".into(), "Ünïcode".into()],
        ..note("The zebra plan.")
    }
}

#[tokio::test]
async fn names_in_filters_are_met_in_any_case() {
    let mut f = light(line_reader()).await;
    let id = f.remember_as(named()).await.id;
    let some = |text: &str| Some(text.to_owned());
    let ask = || query("zebra");
    for filter in [
        RecallDraft { source: some(" gMAIL "), ..ask() },
        RecallDraft { author: some("änne łoś ΣΊΣΥΦΟΣ"), ..ask() },
        RecallDraft { tags: vec!["FINANCE".into(), "üNÏCODE".into()], ..ask() },
    ] {
        assert_eq!(ids(&f.recall_as(filter.clone()).await), std::slice::from_ref(&id), "{filter:?}");
    }
    f.ns = ns("other");
    let none = f.recall_as(RecallDraft { source: some("gmail"), ..ask() }).await;
    assert!(none.results.is_empty());
}

#[tokio::test]
async fn a_conversation_is_met_by_its_exact_id_only() {
    let f = light(line_reader()).await;
    f.remember_as(turn("Herd", 0, "Ann", "The zebra plan.")).await;
    let inside = |id: &str| RecallDraft { conversation_id: Some(id.to_owned()), ..query("zebra") };
    assert_eq!(f.recall_as(inside("Herd")).await.results.len(), 1);
    let other = f.recall_as(inside("herd")).await;
    assert!(other.results.is_empty());
    assert_eq!(
        other.warnings,
        ["No text of this namespace has conversation_id 'herd'. Conversations there are: Herd."]
    );
}

#[tokio::test]
async fn an_empty_answer_names_the_filter_that_emptied_it_and_what_is_near() {
    let mut f = light(line_reader()).await;
    f.ns = ns("other");
    f.remember_as(Draft { author: Some("Ann Leech".into()), ..note("The zebra plan.") }).await;
    f.ns = ns("default");
    for author in ["Ann Lee", "Bob", "Zoe"] {
        let draft = Draft {
            author: Some(author.into()),
            source: Some("mail".into()),
            ..note(&format!("{author}'s zebra plan."))
        };
        f.remember_as(Draft { tags: vec!["herd".into()], ..draft }).await;
    }
    f.remember_as(Draft { source: Some("wiki".into()), ..dated("2020-05-01", "No zebra.") }).await;
    let some = |text: &str| Some(text.to_owned());
    let ask = || query("zebra");
    for (filter, said) in [
        (
            RecallDraft { author: some("ann le"), ..ask() },
            "No text of this namespace has author 'ann le'. Authors there are: Ann Lee, ",
        ),
        (RecallDraft { source: some("post"), ..ask() }, "has source 'post'. Sources there are: "),
        (RecallDraft { tags: vec!["cattle".into()], ..ask() }, "has tag 'cattle'. Tags there are: herd."),
        (RecallDraft { context: some("email"), ..ask() }, "has context 'email'. Contexts there are: note."),
        (RecallDraft { date_from: some("2099-01-01"), ..ask() }, "They are dated 2020-05-01T00:00:00Z to "),
        (RecallDraft { min_importance: Some(0.9), ..ask() }, "The highest importance is 0.5."),
        (
            RecallDraft { categories: vec!["Decision".into()], ..ask() },
            "No text of this namespace has an event of category Decision.",
        ),
        (
            RecallDraft { author: some("Bob"), source: some("wiki"), ..ask() },
            "has source 'wiki' and has author 'Bob': each of these alone is met, all together are not.",
        ),
    ] {
        let answer = f.recall_as(filter).await;
        assert!(answer.results.is_empty());
        assert!(
            answer.warnings.len() == 1 && answer.warnings[0].contains(said),
            "{said}: {:?}",
            answer.warnings
        );
        assert!(!answer.warnings[0].contains("Leech"), "{:?}", answer.warnings);
    }
    let met = f.recall_as(RecallDraft { author: some("bob"), ..ask() }).await;
    assert!(met.results.len() == 1 && met.warnings.is_empty());
}

#[tokio::test]
async fn an_author_with_a_similar_name_is_named() {
    let f = light(line_reader()).await;
    for author in ["Marta", "Marta Lindqvist", "Martam Roe", "Bob"] {
        let draft = Draft { author: Some(author.into()), ..note(&format!("{author}'s zebra plan.")) };
        f.remember_as(draft).await;
    }
    let by = |author: &str| RecallDraft { author: Some(author.to_owned()), ..query("zebra") };
    for (asked, other) in [("marta lindqvist", "'Marta'"), ("Marta", "'Marta Lindqvist'")] {
        let answer = f.recall_as(by(asked)).await;
        assert_eq!(answer.results.len(), 1);
        let said = format!("Texts by {other} are not among the results: `author` must be the whole name.");
        assert!(answer.warnings.len() == 1 && answer.warnings[0].starts_with(&said), "{:?}", answer.warnings);
    }
    assert!(f.recall_as(by("Bob")).await.warnings.is_empty());
    f.remember_as(Draft { author: Some("Marta Ek".into()), ..note("Ek's zebra plan.") }).await;
    let several = f.recall_as(by("Marta")).await.warnings;
    assert!(several.is_empty(), "which one is meant, nothing tells: {several:?}");
}
