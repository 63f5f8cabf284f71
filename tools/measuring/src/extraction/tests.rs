//! Cases counted by hand.

use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::date;
use memory_core::artifact::Context;
use memory_core::entity::{EntityType, normalised_name};
use memory_core::event::{Actor, ActorRole, Category, Evidence, ExtractedEntity, ExtractedEvent, Extraction};
use memory_core::ports::{ExtractError, Segment, SourceText};
use memory_language::text::CharSpan;

use super::*;
use Category::{Change, Commitment, Decision, Feedback};

fn labelled(categories: &[Category], spans: &[(usize, usize)]) -> LabelledEvent {
    LabelledEvent {
        categories: categories.to_vec(),
        quotes: spans.iter().map(|span| format!("{span:?}")).collect(),
        spans: spans.iter().map(|(start, end)| CharSpan::new(*start, *end)).collect(),
        actors: vec![],
        due: None,
        when: None,
        is_optional: false,
    }
}

fn optional(categories: &[Category], spans: &[(usize, usize)]) -> LabelledEvent {
    LabelledEvent { is_optional: true, ..labelled(categories, spans) }
}

fn found(category: Category, start: usize, end: usize) -> ExtractedEvent {
    let evidence =
        Evidence { segment: 0, span: CharSpan::new(start, end), quote: format!("{start}–{end}") };
    ExtractedEvent {
        category,
        narrative: "It happened.".to_owned(),
        event_time: None,
        due_time: None,
        subject: None,
        actors: vec![],
        confidence: 0.75,
        evidence: vec![evidence],
    }
}

fn document(
    kind: &'static str,
    events: Vec<LabelledEvent>,
    entities: &[(&str, EntityType, &[&str])],
) -> Document {
    let entity = |(name, entity_type, aliases): &(&str, EntityType, &[&str])| LabelledEntity {
        name: (*name).to_owned(),
        entity_type: *entity_type,
        names: aliases.iter().chain([name]).map(|name| normalised_name(name)).collect(),
    };
    let segment = Segment {
        text: "One two three.".to_owned(),
        speaker: None,
        date: None,
        context_only: false,
        is_date_of_storing: false,
    };
    Document {
        name: format!("{kind}-it"),
        kind,
        source: SourceText {
            context: Context::Note,
            title: None,
            author: None,
            participants: vec![],
            segments: vec![segment],
        },
        events,
        entities: entities.iter().map(entity).collect(),
        is_whole: true,
    }
}

fn named(name: &str, entity_type: EntityType, aliases: &[&str]) -> ExtractedEntity {
    let aliases = aliases.iter().map(|alias| (*alias).to_owned()).collect();
    ExtractedEntity { name: name.to_owned(), entity_type, aliases, mentions: vec![] }
}

fn judged(document: &Document, events: Vec<ExtractedEvent>, entities: Vec<ExtractedEntity>) -> Judged<'_> {
    Judged::new(
        document,
        Extraction { entities, events, ..Extraction::default() },
        0,
        Duration::from_millis(2),
    )
}

fn counts(right: usize, wrong: usize, met: usize, missed: usize) -> Counts {
    Counts { right, wrong, met, missed }
}

#[test]
fn events_meet_when_they_share_half_of_the_shorter_one() {
    let document = document("mail", vec![labelled(&[Decision], &[(10, 20)])], &[]);
    for ((start, end), meets) in [
        ((10, 20), true),
        ((0, 100), true),
        ((15, 40), true),
        ((16, 40), false),
        ((12, 13), true),
        ((8, 12), true),
        ((7, 12), false),
        ((20, 30), false),
    ] {
        let one = judged(&document, vec![found(Decision, start, end)], vec![]);
        assert_eq!(one.strict().right == 1, meets, "{start}–{end}");
    }
}

#[test]
fn another_category_is_lenient_only_and_each_side_counts_for_its_own() {
    let labels = vec![labelled(&[Decision], &[(0, 10)]), labelled(&[Commitment], &[(20, 30)])];
    let document = document("mail", labels, &[]);
    let events = vec![found(Decision, 0, 10), found(Decision, 20, 30), found(Feedback, 40, 50)];
    let one = judged(&document, events, vec![]);
    assert_eq!(one.strict(), counts(1, 2, 1, 1));
    assert_eq!(one.lenient(), counts(2, 1, 2, 0));
    assert_eq!(one.strict_of(Decision), counts(1, 1, 1, 0));
    assert_eq!(one.strict_of(Commitment), counts(0, 0, 0, 1));
    assert_eq!(one.strict_of(Feedback), counts(0, 1, 0, 0));
    assert_eq!(one.lenient_of(Decision), counts(2, 0, 1, 0));
    assert_eq!(one.lenient_of(Commitment), counts(0, 0, 1, 0));
    let figures = Figures::of(&[one]);
    assert_eq!((figures.found_words.p95, figures.labelled_words.p50), (1, 2));
    assert!((figures.strict.precision.unwrap().value - 1.0 / 3.0).abs() < 1e-9);
    assert!((figures.strict.f1.unwrap().value - 0.4).abs() < 1e-9);
    assert!((figures.lenient.f1.unwrap().value - 0.8).abs() < 1e-9);
}

#[test]
fn one_finding_is_one_label_and_a_pair_of_the_same_category_comes_first() {
    // One sentence holds both acts, and is found once, as the second.
    let labels = vec![labelled(&[Decision], &[(0, 20)]), labelled(&[Change], &[(20, 40)])];
    let document = document("mail", labels, &[]);
    let one = judged(&document, vec![found(Change, 0, 40)], vec![]);
    assert_eq!((one.strict(), one.lenient()), (counts(1, 0, 1, 1), counts(1, 0, 1, 1)));
    // Found twice: the second one is too many.
    let twice = judged(&document, vec![found(Change, 20, 40), found(Change, 22, 40)], vec![]);
    assert_eq!((twice.strict(), twice.lenient()), (counts(1, 1, 1, 1), counts(1, 1, 1, 1)));
}

#[test]
fn an_act_of_two_quotes_is_found_at_either() {
    let document = document("chat", vec![labelled(&[Decision], &[(0, 10), (50, 60)])], &[]);
    let one = judged(&document, vec![found(Decision, 52, 60), found(Decision, 0, 10)], vec![]);
    assert_eq!(one.strict(), counts(1, 1, 1, 0));
}

#[test]
fn what_is_optional_counts_neither_way_and_takes_nothing_from_what_is_not() {
    let labels = vec![optional(&[Decision], &[(0, 10)]), labelled(&[Decision, Change], &[(20, 30)])];
    let document = document("mail", labels, &[]);
    let none = judged(&document, vec![], vec![]);
    assert_eq!((none.strict(), none.strict_of(Decision)), (counts(0, 0, 0, 1), counts(0, 0, 0, 1)));
    let both = judged(&document, vec![found(Decision, 0, 10), found(Change, 20, 30)], vec![]);
    assert_eq!((both.strict(), both.lenient()), (counts(1, 0, 1, 0), counts(1, 0, 1, 0)));
    assert_eq!(both.strict_of(Change), counts(1, 0, 1, 0));
    assert_eq!(both.strict_of(Decision), counts(0, 0, 0, 0));
    // One finding that could be either is the one that counts.
    let either = judged(&document, vec![found(Decision, 0, 30)], vec![]);
    assert_eq!((either.strict(), either.lenient()), (counts(1, 0, 1, 0), counts(1, 0, 1, 0)));
    // As something else it is met, but not what is labelled.
    let other = judged(&document, vec![found(Feedback, 0, 10)], vec![]);
    assert_eq!((other.strict(), other.lenient()), (counts(0, 1, 0, 1), counts(0, 0, 0, 1)));
}

#[test]
fn days_and_owners_are_counted_of_what_was_met() {
    let people: &[(&str, EntityType, &[&str])] =
        &[("Ann Lee", EntityType::Person, &["Ann"]), ("Bo", EntityType::Person, &[])];
    let mut promise = labelled(&[Commitment], &[(0, 10)]);
    promise.actors = vec![(0, ActorRole::Owner), (1, ActorRole::Contributor)];
    promise.due = Some(date(2025, 2, 14));
    let mut missed = promise.clone();
    missed.spans = vec![CharSpan::new(80, 90)];
    let mut done = labelled(&[Change], &[(20, 30)]);
    done.actors = vec![(1, ActorRole::Owner)];
    done.when = Some(date(2025, 2, 1));
    let document = document("mail", vec![promise, missed, done], people);

    let time = |text: &str| Some(text.parse::<Timestamp>().unwrap());
    let mut kept = found(Commitment, 0, 10);
    kept.due_time = time("2025-02-14T23:59:59Z");
    kept.actors =
        vec![Actor { entity: 1, role: ActorRole::Owner }, Actor { entity: 0, role: ActorRole::Other }];
    let mut change = found(Decision, 20, 30);
    change.event_time = time("2025-02-02T00:00:00Z");
    change.due_time = time("2025-03-01T00:00:00Z");
    change.actors =
        vec![Actor { entity: 0, role: ActorRole::Owner }, Actor { entity: 1, role: ActorRole::Owner }];
    let entities = vec![named("Bo", EntityType::Person, &[]), named("ann", EntityType::Person, &[])];
    let one = judged(&document, vec![kept, change], entities);
    assert_eq!(one.due(), Part { right: 1, of: 1 });
    assert_eq!(one.when(), Part { right: 0, of: 1 });
    // Ann alone is right, by an alias; Bo with Ann is not Bo.
    assert_eq!(one.owner(), Part { right: 1, of: 2 });
    assert_eq!(one.invented_due(), 1);
}

#[test]
fn names_are_matched_by_any_of_their_forms_and_once() {
    use EntityType::{Org, Person, Project};
    let document = document(
        "mail",
        vec![],
        &[("Ann Lee", Person, &["Ann", "ann@sea.example"]), ("Harbour", Org, &[]), ("Bo", Person, &[])],
    );
    let entities = vec![
        named("ANN@sea.example", Person, &[]),
        named("Lee", Person, &["Ann"]),
        named("Harbour", Project, &[]),
        named("Friday", Person, &[]),
    ];
    let one = judged(&document, vec![], entities);
    assert_eq!(one.entities(), counts(2, 2, 2, 1));
    assert_eq!(one.typed(), Part { right: 1, of: 2 });
    assert_eq!(one.entities_of(Person), counts(1, 2, 1, 1));
    assert_eq!(one.entities_of(Org), counts(0, 0, 0, 1));
    assert_eq!(one.entities_of(Project), counts(0, 1, 0, 0));
    let figures = Figures::of(&[one]);
    assert!((figures.people().unwrap().f1.unwrap().value - 0.4).abs() < 1e-9);
}

#[test]
fn events_in_documents_without_any_are_counted_apart() {
    let documents = [
        document("negative", vec![], &[]),
        document("negative", vec![labelled(&[Decision], &[(0, 10)])], &[]),
        document("mail", vec![], &[]),
    ];
    let judged: Vec<Judged<'_>> = documents
        .iter()
        .zip([
            vec![found(Decision, 0, 10), found(Change, 20, 30)],
            vec![found(Decision, 0, 10)],
            vec![found(Change, 0, 9)],
        ])
        .map(|(document, events)| judged(document, events, vec![]))
        .collect();
    let figures = Figures::of(&judged);
    let negatives = figures.negatives;
    assert_eq!((negatives.documents, negatives.events, negatives.documents_with_events), (2, 2, 1));
    assert!((negatives.events_per_document - 1.0).abs() < 1e-9);
    assert_eq!((figures.documents, figures.words), (3, 9));
    assert!((figures.speed.documents_per_second - 500.0).abs() < 1e-6);
    assert_eq!(figures.strict.counts, counts(1, 3, 1, 0));
    let band = figures.confidence.iter().find(|band| band.right + band.wrong > 0).unwrap();
    assert!((band.from - 0.7).abs() < 1e-6 && (band.right, band.wrong) == (1, 3));
    let table = figures.table();
    assert!(table.contains("negatives: 2 documents, 2 events in 1 of them, 1.00 a document"), "{table}");
    assert!(table.contains("events, strict"), "{table}");
}

#[test]
fn mistakes_are_told_with_category_confidence_quote_and_narrative() {
    let labels = vec![
        labelled(&[Decision], &[(0, 10)]),
        labelled(&[Commitment], &[(20, 30)]),
        labelled(&[Change], &[(80, 90)]),
        optional(&[Change], &[(100, 110)]),
    ];
    let document = document("mail", labels, &[("Bo", EntityType::Person, &[])]);
    let events = vec![found(Decision, 0, 10), found(Decision, 20, 30), found(Feedback, 40, 50)];
    let one = judged(&document, events, vec![named("Friday", EntityType::Person, &[])]);
    assert_eq!(
        Mistakes::of(&one).text(),
        "mail-it: 1 right, 2 wrong, 2 missed\n\
         \u{20} wrong   Feedback 0.75 \"40–50\"\n          It happened.\n\
         \u{20} taken   Commitment for Decision 0.75 \"20–30\"\n          It happened.\n\
         \u{20} missed  Change \"(80, 90)\"\n\
         \u{20} names wrong: Friday (person)\n\
         \u{20} names missed: Bo (person)\n"
    );
    let right = judged(&document, vec![], vec![]);
    assert!(Mistakes::of(&right).text().starts_with("mail-it: 0 right, 0 wrong, 3 missed\n"));
}

/// Has an answer for all documents but those of a kind.
struct Refuses(&'static str, ExtractError);

#[async_trait::async_trait]
impl Extractor for Refuses {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn version(&self) -> i32 {
        1
    }

    async fn extract(&self, source: &SourceText) -> Result<Extraction, ExtractError> {
        if source.title.as_deref() == Some(self.0) { Err(self.1.clone()) } else { Ok(Extraction::default()) }
    }
}

#[tokio::test]
async fn a_document_without_an_answer_counts_as_one_in_which_nothing_was_found() {
    let mut documents =
        vec![document("notes", vec![labelled(&[Change], &[(0, 7)])], &[]), document("mail", vec![], &[])];
    documents[0].source.title = Some("secret".to_owned());
    let refused = || ExtractError::Refused("no".to_owned());
    let (judged, failures) = run_through(&Refuses("secret", refused()), &documents).await.unwrap();
    assert_eq!((judged.len(), Figures::of(&judged).strict.counts.missed), (2, 1));
    assert_eq!(failures.iter().map(|failure| failure.document.as_str()).collect::<Vec<_>>(), ["notes-it"]);
    // Nothing is measured when none has an answer, or when the extractor is not there.
    let all = run_through(&Refuses("secret", refused()), &documents[..1]).await.unwrap_err().to_string();
    assert!(all.contains("failed on every document"), "{all}");
    let gone = ExtractError::Unavailable {
        reason: "connection refused".to_owned(),
        retry_after: Duration::from_secs(900),
    };
    let gone = run_through(&Refuses("secret", gone), &documents).await.unwrap_err();
    assert!(format!("{gone:#}").contains("notes-it: connection refused"), "{gone:#}");
}
