//! Which directives are shown for a request, of people who each want a dozen things: requests of months later that share next to no
//! word with what bears on them, and questions for facts on which nothing bears.

use memory_core::artifact::{Draft, NewArtifact};
use memory_core::directive::{Candidate, FoundDirective, choose, find_directives, focus, with_context};
use memory_core::ports::EmbeddingModel;
use memory_tests::model;
use serde::Deserialize;

/// By a writer each; thresholds, and what is told apart as a question for a fact, were chosen on the first. Of the requests on which none
/// bears, those of the last two are near a directive that they do not touch.
const PEOPLE: [(&str, &str, Floors); 4] = [
    (
        "tuned on",
        include_str!("../gold/directives/bearing/tuning.jsonl"),
        Floors { needed_shown: 56, shown_needed: 46, shown_in_vain: 2 },
    ),
    (
        "held aside",
        include_str!("../gold/directives/bearing/held-aside.jsonl"),
        Floors { needed_shown: 72, shown_needed: 42, shown_in_vain: 2 },
    ),
    (
        "people at work and at home, held aside",
        include_str!("../gold/directives/bearing/held-aside-at-work-and-home.jsonl"),
        Floors { needed_shown: 65, shown_needed: 41, shown_in_vain: 26 },
    ),
    (
        "long users, held aside",
        include_str!("../gold/directives/bearing/held-aside-long-users.jsonl"),
        Floors { needed_shown: 74, shown_needed: 38, shown_in_vain: 33 },
    ),
];

struct Floors {
    /// Of a hundred directives that bear on a request, so many are shown at least.
    needed_shown: usize,
    /// Of a hundred that are shown, so many bear at least.
    shown_needed: usize,
    /// For a hundred requests on which none bears, so many that are not about answers are shown at most.
    shown_in_vain: usize,
}

/// A person of `tests/gold/directives/bearing`.
#[derive(Deserialize)]
pub(crate) struct Person {
    pub(crate) directives: Vec<String>,
    pub(crate) requests: Vec<Request>,
}

#[derive(Deserialize)]
pub(crate) struct Request {
    pub(crate) text: String,
    /// The places of the directives that bear on it.
    pub(crate) bear: Vec<usize>,
}

#[derive(Debug, Default)]
struct Counts {
    needed: usize,
    needed_shown: usize,
    shown: usize,
    without: usize,
    shown_in_vain: usize,
}

impl Counts {
    fn is_enough(&self, floors: &Floors) -> bool {
        self.needed_shown * 100 >= self.needed * floors.needed_shown
            && self.needed_shown * 100 >= self.shown * floors.shown_needed
            && self.shown_in_vain * 100 <= self.without * floors.shown_in_vain
    }
}

/// The longest directive of a text that is kept as a preference.
fn directive(text: &str) -> Option<FoundDirective> {
    let draft =
        Draft { content: text.to_owned(), context: Some("preference".to_owned()), ..Draft::default() };
    let new = NewArtifact::new(draft).expect("it can be stored");
    find_directives(&new.content, &new.meta).into_iter().max_by_key(|found| found.quote.len())
}

pub(crate) fn cosine(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

async fn add(model: &dyn EmbeddingModel, person: &Person, counts: &mut Counts) {
    let found: Vec<Option<FoundDirective>> = person.directives.iter().map(|text| directive(text)).collect();
    let stated: Vec<(&str, Option<&str>)> = person
        .directives
        .iter()
        .zip(&found)
        .map(|(text, found)| match found {
            Some(found) => (found.quote.as_str(), found.condition.as_deref()),
            None => (text.as_str(), None),
        })
        .collect();
    let texts = stated.iter().map(|(quote, condition)| focus(quote, *condition).to_owned()).collect();
    let read = person.directives.iter().zip(&found).map(|(text, found)| {
        let found = found.as_ref();
        let read = found.and_then(|found| with_context(text, found.span, found.condition.as_deref(), &[]));
        read.unwrap_or_else(|| text.clone())
    });
    let bearings = model.embed_for_bearing(read.collect()).await.expect("they are embedded");
    let vectors = model.embed_passages(texts).await.expect("they are embedded");
    for request in &person.requests {
        let asked = model.embed_query(&request.text).await.expect("it is embedded").vector;
        let bearing =
            model.embed_for_bearing(vec![request.text.clone()]).await.expect("it is embedded").remove(0);
        let mut candidates: Vec<(usize, Candidate<'_>)> = (0..stated.len())
            .map(|at| {
                let candidate = Candidate {
                    quote: stated[at].0,
                    condition: stated[at].1,
                    is_general: found[at].as_ref().is_some_and(|found| found.is_general),
                    is_permission: false,
                    is_circumstance: false,
                    similarity: Some(cosine(&asked, &vectors[at].vector)),
                    bearing: Some(cosine(&bearing, &bearings[at])),
                    of_passage: None,
                };
                (at, candidate)
            })
            .collect();
        candidates.sort_by(|(_, one), (_, other)| {
            other.similarity.unwrap_or(0.0).total_cmp(&one.similarity.unwrap_or(0.0))
        });
        let given: Vec<Candidate<'_>> = candidates.iter().map(|(_, candidate)| *candidate).collect();
        let shown: Vec<&(usize, Candidate<'_>)> =
            choose(&request.text, &given).into_iter().map(|chosen| &candidates[chosen.at]).collect();
        counts.needed += request.bear.len();
        counts.needed_shown += shown.iter().filter(|(at, _)| request.bear.contains(at)).count();
        counts.shown += shown.len();
        if request.bear.is_empty() {
            counts.without += 1;
            counts.shown_in_vain += shown.iter().filter(|(_, candidate)| !candidate.is_general).count();
        }
    }
}

#[tokio::test]
async fn of_a_dozen_wishes_those_that_bear_on_a_request_are_shown_and_few_for_plain_facts() {
    let model = model();
    for (name, people, floors) in PEOPLE {
        let mut counts = Counts::default();
        for line in people.lines() {
            let person: Person = serde_json::from_str(line).expect("a person");
            add(&*model, &person, &mut counts).await;
        }
        println!("{name}: {counts:?}");
        assert!(counts.is_enough(&floors), "{name}: {counts:?}");
    }
}
