//! What becomes of promises: later texts end them, and nothing is deleted for it.

use std::sync::Arc;

use memory_core::artifact::Draft;
use memory_core::entity::EntityType;
use memory_core::event::{
    Actor, ActorRole, Category, EndedBy, Evidence, ExtractedEntity, ExtractedEvent, Extraction, Mention,
    StoredEvent,
};
use memory_core::job::{JobKind, Priority};
use memory_core::ports::{Extractor, SourceText};
use memory_engine::recall::RecallDraft;
use memory_language::text::CharSpan;
use memory_store::jobs;
use memory_tests::{Fixture, turn};

use crate::entities::ALL;
use crate::shorthand::{by_id, dated, forget, light, light_sibling, page, query, rows, store};
use crate::stand_ins::{line_reader, scripted};

/// Reads lines such as `Ann promises to send the report due 2026-03-01`, `Ann did: sent the report`,
/// `Ann changed: cancelled the report` and, of nobody, `It is told: The report is sent.`
pub(crate) fn promise_reader() -> Arc<dyn Extractor> {
    scripted(|source| Ok(read(source)))
}

fn read(source: &SourceText) -> Extraction {
    let mut found = Extraction::default();
    for (segment, part) in source.segments.iter().enumerate().filter(|(_, part)| !part.context_only) {
        let mut start = 0;
        for line in part.text.lines() {
            let span = CharSpan::new(start, start + line.chars().count());
            start = span.end + 1;
            if let Some(told) = line.strip_prefix("It is told: ") {
                found.events.push(ExtractedEvent {
                    category: Category::Execution,
                    narrative: told.to_owned(),
                    event_time: part.date,
                    due_time: None,
                    subject: None,
                    actors: vec![],
                    confidence: 0.9,
                    evidence: vec![Evidence { segment, span, quote: line.to_owned() }],
                });
                continue;
            }
            let forms = [
                (" promises to ", Category::Commitment, " will "),
                (" did: ", Category::Execution, " "),
                (" changed: ", Category::Change, " "),
            ];
            let Some((name, rest, category, joint)) =
                forms.into_iter().find_map(|(form, category, joint)| {
                    line.split_once(form).map(|(name, rest)| (name, rest, category, joint))
                })
            else {
                continue;
            };
            let (what, due) = rest.split_once(" due ").map_or((rest, None), |(what, due)| (what, Some(due)));
            let (what, at) = what.split_once(" at ").map_or((what, None), |(what, at)| (what, Some(at)));
            let moment = |day: &str| format!("{day}T00:00:00Z").parse().expect("a day");
            let entity = found.entities.iter().position(|e| e.name == name).unwrap_or(found.entities.len());
            if entity == found.entities.len() {
                let span = CharSpan::new(span.start, span.start + name.chars().count());
                found.entities.push(ExtractedEntity {
                    name: name.into(),
                    entity_type: EntityType::Person,
                    aliases: vec![],
                    mentions: vec![Mention { segment, span, surface: name.into() }],
                });
            }
            found.events.push(ExtractedEvent {
                category,
                narrative: format!("{name}{joint}{what}."),
                event_time: at.map(moment).or(part.date),
                due_time: due.map(moment),
                subject: None,
                actors: vec![Actor { entity, role: ActorRole::Owner }],
                confidence: 0.9,
                evidence: vec![Evidence { segment, span, quote: line.to_owned() }],
            });
        }
    }
    found
}

const PROMISE: &str = "Ann promises to send the API design to the board";
const DONE: &str = "Ann did: sent the API design yesterday";

async fn promising(texts: &[(&str, &str)]) -> Fixture {
    let f = light(promise_reader()).await;
    tell(&f, texts).await;
    f
}

async fn tell(f: &Fixture, texts: &[(&str, &str)]) {
    for (date, text) in texts {
        f.remember_as(dated(date, text)).await;
        f.drain().await;
    }
}

/// Of each promise its words, what has become of it, and the words of what ended it.
async fn fates(f: &Fixture) -> Vec<String> {
    let answer = f.recall_as(RecallDraft { include_superseded: Some(true), ..query("will") }).await;
    let mut events: Vec<StoredEvent> = answer.results.into_iter().flat_map(|r| r.hit.events).collect();
    events.sort_by(|a, b| (a.event_time, &a.narrative).cmp(&(b.event_time, &b.narrative)));
    let now = "2026-06-01T00:00:00Z".parse().expect("a moment");
    let mut fates = Vec::new();
    for event in events.iter().filter(|event| event.category == "Commitment") {
        let state = EndedBy::state_of(event.ended.as_ref(), event.due_time, now);
        let by = match &event.ended {
            None => String::new(),
            Some(ended) => {
                let ending = f.recall_as(by_id(&ended.by)).await.results.remove(0).hit.events.remove(0);
                format!(": {}", ending.narrative)
            }
        };
        fates.push(format!("{} {state}{by}", event.narrative));
    }
    fates
}

const OPEN: &str = "Ann will send the API design to the board. open";
const KEPT: &str = "Ann will send the API design to the board. done: Ann sent the API design yesterday.";

#[tokio::test]
async fn a_promise_is_done_when_its_owner_says_so_later_whichever_came_in_first() {
    let (made, kept) = (("2026-03-01", PROMISE), ("2026-03-05", DONE));
    assert_eq!(fates(&promising(&[made]).await).await, [OPEN]);
    assert_eq!(fates(&promising(&[made, kept]).await).await, [KEPT]);
    assert_eq!(fates(&promising(&[kept, made]).await).await, [KEPT]);
    let both = format!("{PROMISE}\n{DONE}");
    assert_eq!(fates(&promising(&[("2026-03-01", both.as_str())]).await).await, [KEPT]);
}

#[tokio::test]
async fn what_is_told_of_nobody_ends_a_promise_that_it_clearly_is_of() {
    let made = ("2026-03-01", "Ann promises to paint the garden fence");
    let kept = ("2026-03-05", "It is told: The garden fence is painted.");
    let done = ["Ann will paint the garden fence. done: The garden fence is painted."];
    assert_eq!(fates(&promising(&[made, kept]).await).await, done);
    assert_eq!(fates(&promising(&[kept, made]).await).await, done);
    let before = ("2026-02-01", "It is told: The garden fence is painted.");
    let of_another = ("2026-03-05", "It is told: The fence of the school is painted green.");
    for told in [before, of_another, ("2026-03-05", "It is told: Done.")] {
        let fates = fates(&promising(&[made, told]).await).await;
        assert_eq!(fates, ["Ann will paint the garden fence. open"], "{told:?}");
    }
}

#[tokio::test]
async fn one_known_by_a_first_name_ends_the_promises_of_the_only_one_of_that_name() {
    let made = ("2026-03-01", "Lena promises to write the onboarding guide");
    let kept = ("2026-03-05", "Lena Vogt did: wrote the onboarding guide");
    let done = ["Lena will write the onboarding guide. done: Lena Vogt wrote the onboarding guide."];
    assert_eq!(fates(&promising(&[made, kept]).await).await, done);
    assert_eq!(fates(&promising(&[kept, made]).await).await, done);
    let other = ("2026-02-01", "Lena Berg did: sang");
    assert_eq!(
        fates(&promising(&[other, made, kept]).await).await,
        ["Lena will write the onboarding guide. open"]
    );
}

#[tokio::test]
async fn a_promise_of_an_older_database_is_ended_by_what_is_told_now() {
    let f = promising(&[("2026-03-01", PROMISE)]).await;
    let migration = include_str!("../../migrations/0009_owner_events.sql");
    let begin = migration.find("insert into owner_event").expect("it fills them");
    let statement = sqlx::AssertSqlSafe(migration[begin..].to_owned());
    let as_before = rows(&f, "delete from owner_event returning event_id").await;
    sqlx::raw_sql(statement).execute(&mut f.sql().await).await.expect("it runs");
    assert_eq!(rows(&f, "select event_id from owner_event where is_promise").await, as_before);
    tell(&f, &[("2026-03-05", DONE)]).await;
    assert_eq!(fates(&f).await, [KEPT]);
}

#[tokio::test]
async fn what_was_done_before_ends_no_promise() {
    let before = promising(&[("2026-03-05", PROMISE), ("2026-03-01", DONE)]).await;
    assert_eq!(fates(&before).await, [OPEN]);
    let above = format!("{DONE}\n{PROMISE}");
    assert_eq!(fates(&promising(&[("2026-03-01", above.as_str())]).await).await, [OPEN]);
    let long_ago = "Ann did: sent the API design at 2026-02-01";
    assert_eq!(fates(&promising(&[("2026-03-01", PROMISE), ("2026-03-05", long_ago)]).await).await, [OPEN]);
}

#[tokio::test]
async fn another_owner_or_another_matter_ends_no_promise() {
    for other in
        ["Bob did: sent the API design", "Ann did: sent the invoice", "Ann did: started the API design"]
    {
        let f = promising(&[("2026-03-01", PROMISE), ("2026-03-05", other)]).await;
        assert_eq!(fates(&f).await, [OPEN], "{other}");
        assert_eq!(f.count("select count(*) from event_link").await, 0);
    }
}

#[tokio::test]
async fn between_two_promises_the_clearly_better_one_is_ended() {
    let f = promising(&[
        ("2026-03-01", "Ann promises to write the security report"),
        ("2026-03-02", "Ann promises to write the budget report"),
        ("2026-03-05", "Ann did: finished the report"),
    ])
    .await;
    assert_eq!(f.count("select count(*) from event_link").await, 0);
    tell(&f, &[("2026-03-06", "Ann did: finished the budget report")]).await;
    assert_eq!(
        fates(&f).await,
        [
            "Ann will write the security report. open",
            "Ann will write the budget report. done: Ann finished the budget report."
        ]
    );
    // One more promise that fits as well makes it doubtful, though it came in later.
    tell(&f, &[("2026-03-03", "Ann promises to review the budget report of March for Bob")]).await;
    assert_eq!(f.count("select count(distinct closing_id) from event_link").await, 1);
}

#[tokio::test]
async fn a_promise_may_be_cancelled_or_overdue() {
    let f = promising(&[
        ("2026-03-01", "Ann promises to hold the vendor workshop due 2026-04-01"),
        ("2026-03-01", "Bob promises to hold the training due 2026-04-01"),
        ("2026-03-01", "Zoe promises to cancel the old contract due 2026-04-01"),
        ("2026-03-05", "Ann changed: cancelled the vendor workshop"),
        ("2026-03-05", "Zoe did: cancelled the old contract"),
    ])
    .await;
    assert_eq!(
        fates(&f).await,
        [
            "Ann will hold the vendor workshop. cancelled: Ann cancelled the vendor workshop.",
            "Bob will hold the training. overdue",
            "Zoe will cancel the old contract. done: Zoe cancelled the old contract.",
        ]
    );
}

#[tokio::test]
async fn a_question_for_what_is_due_says_where_all_of_it_is_listed() {
    let f = promising(&[("2026-02-01", "Ann promises to send the report due 2026-02-20")]).await;
    let warned = async |draft: RecallDraft| {
        let answer = f.recall_as(draft).await;
        answer.warnings.iter().any(|warning| warning.contains("state \"open\" or \"overdue\""))
    };
    assert!(warned(query("What is overdue?")).await);
    assert!(!warned(query("Who sends the report?")).await);
    let of_commitments = RecallDraft { categories: vec!["Commitment".into()], ..query("What is overdue?") };
    assert!(!warned(of_commitments).await, "that is such a list");
}

#[tokio::test]
async fn done_in_answer_to_the_only_promise_of_a_talk_is_its_end() {
    let f = light(promise_reader()).await;
    let say = |index, author: &str, text: &str| turn("chat", index, author, text);
    f.remember_as(say(0, "Ann", "Ann promises to send the API design")).await;
    f.remember_as(say(1, "Bob", "Thanks!")).await;
    f.drain().await;
    f.remember_as(say(2, "Ann", "Ann did: shipped it")).await;
    f.remember_as(turn("another chat", 0, "Ann", "Ann did: done")).await;
    f.drain().await;
    assert_eq!(fates(&f).await, ["Ann will send the API design. done: Ann shipped it."]);
    assert_eq!(f.count("select count(*) from event_link").await, 1);
    f.remember_as(say(3, "Ann", "Ann promises to water the plants\nAnn promises to feed the cat")).await;
    f.remember_as(say(4, "Ann", "Ann did: done")).await;
    f.drain().await;
    assert_eq!(f.count("select count(*) from event_link").await, 1, "which of the two is not said");
}

#[tokio::test]
async fn forgetting_what_was_done_reopens_the_promise_and_deletes_nothing_else() {
    let f = promising(&[("2026-03-01", PROMISE), ("2026-03-05", DONE)]).await;
    assert_eq!(f.count("select count(*) from semantic_event").await, 2, "both are kept");
    let done = f.recall_as(query("yesterday")).await;
    let done = done.results.iter().find(|r| r.snippet.contains("yesterday")).expect("it is there");
    forget(&f, &done.hit.artifact_id).await;
    assert_eq!(fates(&f).await, [OPEN]);
}

#[tokio::test]
async fn an_extraction_that_finds_no_end_any_more_reopens_and_one_that_does_ends_again() {
    let f = promising(&[("2026-03-01", PROMISE), ("2026-03-05", DONE)]).await;
    let again = async |memory: &memory_engine::Memory| {
        let ids = "select r.revision_id from artifact_revision r join artifact using (namespace, artifact_id)
                   where content like '%yesterday%'";
        let revision = memory_core::id::RevisionId(f.count(ids).await);
        let mut tx = store(&f).await.begin_across().await.unwrap();
        jobs::queue(&mut tx, &f.ns, JobKind::Extract, revision, Priority::Small).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(memory.job_runner().drain().await.unwrap(), 1);
    };
    let before = rows(&f, ALL).await;
    again(&f.memory).await;
    assert_eq!(rows(&f, ALL).await, before);
    let blind = light_sibling(&f, scripted(|_| Ok(Extraction::default()))).await;
    again(&blind).await;
    assert_eq!(fates(&f).await, [OPEN]);
    again(&f.memory).await;
    assert_eq!(fates(&f).await, [KEPT]);
}

#[tokio::test]
async fn what_a_later_text_at_the_place_no_longer_says_ends_nothing() {
    let f = promising(&[("2026-03-01", PROMISE)]).await;
    let at = |date: &str, text: &str| Draft { date: Some(date.into()), ..page("log", text) };
    f.remember_as(at("2026-03-05", DONE)).await;
    f.drain().await;
    assert_eq!(fates(&f).await, [KEPT]);
    f.remember_as(at("2026-03-06", "Nothing was sent after all.")).await;
    f.drain().await;
    assert_eq!(fates(&f).await, [OPEN]);
}

#[tokio::test]
async fn people_who_count_as_one_end_each_others_promises_until_they_are_split() {
    let f = promising(&[
        ("2026-03-01", "Ann Lee promises to send the API design"),
        ("2026-03-02", "Lee-Ann promises to book the room"),
        ("2026-03-05", "Lee-Ann did: sent the API design"),
        ("2026-03-06", "Lee-Ann did: booked the room"),
    ])
    .await;
    let before = rows(&f, ALL).await;
    assert_eq!(f.count("select count(*) from event_link").await, 1);
    let full = f.count("select entity_id from entity where name = 'Ann Lee'").await;
    let other = f.count("select entity_id from entity where name = 'Lee-Ann'").await;
    f.memory.entity_review().merge(&f.ns, full, other, false).await.unwrap();
    assert_eq!(
        fates(&f).await,
        [
            "Ann Lee will send the API design. done: Lee-Ann sent the API design.",
            "Lee-Ann will book the room. done: Lee-Ann booked the room."
        ]
    );
    f.memory.entity_review().split(&f.ns, other).await.unwrap();
    assert_eq!(rows(&f, ALL).await, before);
}

#[tokio::test]
async fn a_related_promise_and_one_asked_for_by_its_id_tell_their_state_too() {
    let f = promising(&[
        ("2026-03-01", PROMISE),
        ("2026-03-05", DONE),
        ("2026-03-07", "Zebra.\nAnn did: fed the zebra"),
    ])
    .await;
    let answer = f.recall_as(RecallDraft { limit: Some(1), ..query("zebra") }).await;
    let promise = answer.related.iter().find(|r| r.category == "Commitment").expect("it is related");
    let ended = promise.ended.as_ref().expect("it was kept");
    assert_eq!(ended.kind, "fulfils");
    let asked = f.recall_as(by_id(&promise.id)).await;
    assert_eq!(asked.results[0].hit.events[0].ended.as_ref(), Some(ended));
    let ending = f.recall_as(by_id(&ended.by)).await;
    assert_eq!(ending.results[0].hit.events[0].ended, None, "what ends a promise has no state");
}

#[tokio::test]
async fn promises_are_ended_again_when_they_come_out_of_an_archive() {
    let f = promising(&[("2026-03-01", PROMISE), ("2026-03-05", DONE)]).await;
    let archive = crate::archive::exported_as(&f.memory, &f.ns, true).await;
    let g = light(promise_reader()).await;
    crate::archive::import(&g, &archive).await;
    g.drain().await;
    assert_eq!(fates(&g).await, [KEPT]);
}

#[tokio::test]
async fn where_tasks_are_asked_for_what_is_open_comes_first() {
    let question = "What do I still have to do for the summer party?";
    let list = ("2026-03-01", "There is always so much that people have to do for the summer party.");
    let f = promising(&[list, ("2026-03-02", "Ann promises to order two tents due 2026-06-01")]).await;
    let asked = RecallDraft { explain: Some(true), ..query(question) };
    let parts = async |f: &Fixture| {
        let results = f.recall_as(asked.clone()).await.results;
        let of = |text: &str| {
            let result = results.iter().position(|result| result.hit.passage.starts_with(text));
            let at = result.expect("it is found");
            (at, results[at].explanation.expect("it is explained").artifact.kind)
        };
        (of("Ann promises"), of("There is"))
    };
    let ((_, open), (_, without)) = parts(&f).await;
    assert!(open.abs() < 1e-6 && without < -0.1, "{open} {without}");
    tell(&f, &[("2026-03-05", "Ann did: ordered two tents yesterday")]).await;
    let ((_, done), (first, without)) = parts(&f).await;
    assert!(first == 0 && done.abs() < 1e-6 && without.abs() < 1e-6, "nothing is open: {done} {without}");
}

#[tokio::test]
async fn where_decisions_are_asked_for_those_come_first() {
    let f = light(line_reader()).await;
    for text in [
        "The queue at the bakery was long, we waited.",
        "The queue of jobs.\nDecision by Ann Lee on Harbour Gate",
    ] {
        f.remember(text).await;
    }
    f.drain().await;
    let asked = RecallDraft { explain: Some(true), ..query("What did we decide about the queue?") };
    let results = f.recall_as(asked).await.results;
    let kinds: Vec<f32> =
        results.iter().map(|it| it.explanation.expect("it is explained").artifact.kind).collect();
    assert!(results[0].hit.passage.starts_with("The queue of jobs"), "{results:?}");
    assert!(kinds[0].abs() < 1e-6 && kinds[1] < -0.05, "{kinds:?}");
}
