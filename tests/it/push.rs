//! Telling other programs what has happened: what is written for whom, how it is sent, and what becomes of it when it is not taken.

use std::time::Duration;

use memory_core::event::Category;
use memory_core::feed::FeedKind;
use memory_core::ports::ExtractError;
use memory_engine::push::{DeliveryFilter, Push};
use memory_engine::{EngineSettings, Memory};
use memory_store::webhooks;
use memory_tests::{Fixture, at_once};
use serde_json::{Value, json};

use crate::receiver::{Answer, Received, Receiver};
use crate::shorthand::{execute, forget, light, ns, page, rows, store};
use crate::stand_ins::{line_reader, scripted};

/// A webhook of the fixture's namespace at a receiver on this machine; gives its id and its secret.
async fn hook(f: &Fixture, receiver: &Receiver, kinds: &[FeedKind]) -> (String, String) {
    let made = f.memory.push().add(&f.ns, &receiver.url, kinds, true).await.expect("it is added");
    (made.webhook_id, made.secret)
}

async fn send(f: &Fixture) -> usize {
    f.memory.push().send_due().await.expect("it is sent")
}

/// What waits so often before a message is dead, on the same database.
async fn with_waits(f: &Fixture, waits: usize) -> Push {
    let settings = EngineSettings { webhook_waits: vec![Duration::from_mins(10); waits], ..at_once() };
    Memory::new(store(f).await, line_reader(), settings).push()
}

/// As if all waits were over: those of messages, and that of a webhook that is left alone.
async fn pass_waits(f: &Fixture) {
    execute(f, "update webhook set rest_until = now(); update webhook_delivery set due_at = now()").await;
}

#[tokio::test]
async fn what_happens_is_sent_once_and_signed_with_ids_and_no_content() {
    let f = light(line_reader()).await;
    let receiver = Receiver::new(&[]).await;
    let (_, secret) = hook(&f, &receiver, &[]).await;
    let mut draft = page("plan", "A very private plan.\nDecision by Ann");
    draft.title = Some("Plan".to_owned());
    let stored = f.remember_as(draft).await;
    f.drain().await;
    assert_eq!(send(&f).await, 2);
    assert_eq!(receiver.kinds(), ["event.extracted", "text.remembered"]);
    let received = receiver.received();
    for message in &received {
        assert!(message.is_signed_with(&secret), "{message:?}");
        assert!(!message.is_signed_with("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"));
        assert!(message.id().starts_with("msg_") && message.header("content-type") == "application/json");
        let data = message.json()["data"].clone();
        assert_eq!(data["artifact_id"], json!(stored.id.0), "{data}");
        assert_eq!((&data["title"], &data["source_id"]), (&json!("Plan"), &json!("plan")));
        let text = data.to_string();
        assert!(!text.contains("private") && !text.contains("Ann"), "content was sent: {text}");
    }
    let event = received.iter().find(|message| message.kind() == "event.extracted").expect("one");
    assert_eq!(event.json()["data"]["category"], Category::Decision.as_str());
    assert_ne!(received[0].id(), received[1].id());
    assert_eq!(send(&f).await, 0, "nothing is sent twice");
}

#[tokio::test]
async fn every_kind_is_reported_and_a_webhook_gets_those_that_it_wants() {
    let refused = |_: &_| Err(ExtractError::Refused("not this one".to_owned()));
    let f = light(scripted(refused)).await;
    let (all, few) = (Receiver::new(&[]).await, Receiver::new(&[]).await);
    hook(&f, &all, &[]).await;
    hook(&f, &few, &[FeedKind::TextSuperseded, FeedKind::FactSuperseded]).await;
    let first = f.remember_as(page("plan", "The plan is A.")).await;
    let second = f.remember_as(page("plan", "The plan is B.")).await;
    f.drain().await;
    execute(
        &f,
        "insert into graph_thread (namespace, name) values ('default', 'main');
         insert into graph_entity (namespace, thread_id, name_key, name, entity_type, folded_name, folded_type)
             select namespace, thread_id, gen_random_uuid(), 'Ann', 'person', 'ann', 'person' from graph_thread;
         insert into graph_observation (namespace, thread_id, entity_id, chain_id, version, handle, content_key, content, folded, is_current)
             select e.namespace, e.thread_id, e.entity_id, 1, v, v * 16, gen_random_uuid(), 'x', 'x', v = 2
             from graph_entity e, generate_series(1, 2) v",
    )
    .await;
    send(&f).await;
    let expected = [
        "fact.superseded",
        "job.failed",
        "job.failed",
        "text.remembered",
        "text.remembered",
        "text.superseded",
    ];
    assert_eq!(all.kinds(), expected);
    assert_eq!(few.kinds(), ["fact.superseded", "text.superseded"]);
    let data = |kind: &str| -> Value {
        few.received().iter().map(Received::json).find(|json| json["type"] == kind).expect("one")["data"]
            .clone()
    };
    let superseded = data("text.superseded");
    assert_eq!(superseded["artifact_id"], json!(first.id.0));
    assert_eq!(superseded["superseded_by"], json!(second.id.0));
    let fact = data("fact.superseded");
    assert_eq!(
        (&fact["observation_id"], &fact["superseded_by"]),
        (&json!("obs_0000000000000010"), &json!("obs_0000000000000020"))
    );
    let failed = all.received().iter().map(Received::json).find(|json| json["type"] == "job.failed");
    let failed = failed.expect("one")["data"].clone();
    assert_eq!((&failed["kind"], &failed["code"]), (&json!("extract"), &json!("LLM_REFUSED")), "{failed}");
}

#[tokio::test]
async fn without_a_reader_nothing_is_written_and_nothing_crosses_a_namespace() {
    let f = light(line_reader()).await;
    f.remember("Note 1.\nDecision by Ann").await;
    f.drain().await;
    assert_eq!(f.count("select count(*) from feed_entry").await, 0);
    let receiver = Receiver::new(&[]).await;
    let other = ns("other");
    f.memory.push().add(&other, &receiver.url, &[], true).await.expect("it is added");
    f.remember("Note 2.\nDecision by Ann").await;
    f.drain().await;
    assert_eq!((send(&f).await, f.count("select count(*) from feed_entry").await), (0, 0));
    f.memory.remember(&other, crate::shorthand::note("Note 3.")).await.expect("it is remembered");
    assert_eq!(send(&f).await, 1);
    assert_eq!(receiver.received()[0].json()["data"]["namespace"], "other");
    assert!(f.memory.push().list(&f.ns).await.expect("a list").is_empty());
    let deliveries = f.memory.push().deliveries(&f.ns, &DeliveryFilter::default(), 10).await.expect("a list");
    assert!(deliveries.is_empty());
}

#[tokio::test]
async fn what_was_not_taken_comes_again_with_the_same_id() {
    let f = light(line_reader()).await;
    let receiver = Receiver::new(&[Answer::Status(500), Answer::Status(302)]).await;
    let (id, secret) = hook(&f, &receiver, &[]).await;
    f.remember("Note 1.").await;
    let push = with_waits(&f, 5).await;
    for _ in 0..3 {
        push.send_due().await.expect("it is sent");
        pass_waits(&f).await;
    }
    let received = receiver.received();
    assert_eq!(received.len(), 3, "{received:?}");
    assert!(
        received.iter().all(|message| message.id() == received[0].id() && message.is_signed_with(&secret))
    );
    let delivered = push.deliveries(&f.ns, &DeliveryFilter::default(), 10).await.expect("a list");
    assert_eq!(
        (delivered[0].state.as_str(), delivered[0].attempts, delivered[0].status),
        ("delivered", 3, Some(200))
    );
    let listed = push.list(&f.ns).await.expect("a list");
    assert!(
        listed[0].webhook_id == id && listed[0].failing_since.is_none() && listed[0].pending == 0,
        "{listed:?}"
    );
}

#[tokio::test]
async fn what_is_never_taken_is_dead_is_listed_and_can_be_sent_again() {
    let f = light(line_reader()).await;
    let receiver = Receiver::new(&[Answer::Status(503); 3]).await;
    let (id, _) = hook(&f, &receiver, &[]).await;
    f.remember("Note 1.").await;
    let push = with_waits(&f, 2).await;
    for _ in 0..5 {
        push.send_due().await.expect("it is sent");
        pass_waits(&f).await;
    }
    assert_eq!(receiver.received().len(), 3, "two waits are three attempts");
    let dead = DeliveryFilter { state: Some("dead".to_owned()), ..DeliveryFilter::default() };
    let listed = push.deliveries(&f.ns, &dead, 10).await.expect("a list");
    assert_eq!((listed.len(), listed[0].attempts, listed[0].status), (1, 3, Some(503)));
    assert!(listed[0].error.as_deref().is_some_and(|error| error.contains("503")), "{listed:?}");
    assert_eq!(push.list(&f.ns).await.expect("a list")[0].dead, 1);

    let of_hook = DeliveryFilter { webhook_id: Some(id), ..DeliveryFilter::default() };
    assert_eq!(push.resend(&ns("other"), &DeliveryFilter::default()).await.expect("done"), 0);
    assert_eq!(push.resend(&f.ns, &of_hook).await.expect("done"), 1);
    push.send_due().await.expect("it is sent");
    let received = receiver.received();
    assert!(received.len() == 4 && received[3].id() == received[0].id(), "{received:?}");
    assert!(push.deliveries(&f.ns, &dead, 10).await.expect("a list").is_empty());
    // Who says that it is gone is not asked again.
    receiver.answer_next(Answer::Status(410));
    f.remember("Note 2.").await;
    push.send_due().await.expect("it is sent");
    assert_eq!(push.deliveries(&f.ns, &dead, 10).await.expect("a list")[0].attempts, 1);
}

#[tokio::test]
async fn a_receiver_that_fails_for_long_is_owed_nothing_more_and_keeps_no_other_waiting() {
    let f = light(line_reader()).await;
    let (dead, well) = (Receiver::new(&[Answer::Status(500); 50]).await, Receiver::new(&[]).await);
    hook(&f, &dead, &[]).await;
    hook(&f, &well, &[]).await;
    for n in 0..30 {
        f.remember(&format!("Note {n}.")).await;
    }
    send(&f).await;
    assert_eq!(well.received().len(), 30);
    assert!(dead.received().len() <= 8, "it is left alone: {}", dead.received().len());
    execute(
        &f,
        "update webhook set rest_until = now(), failing_since = now() - interval '3 days' where failing_since is not null;
         update webhook_delivery set created_at = now() - interval '2 days', due_at = now() where state = 'pending'",
    )
    .await;
    send(&f).await;
    assert_eq!(f.count("select count(*) from webhook_delivery where state = 'pending'").await, 0);
    assert_eq!(f.count("select count(*) from webhook_delivery where state = 'dead'").await, 30);
}

#[tokio::test]
async fn private_addresses_are_refused_unless_they_are_allowed_and_metadata_services_always() {
    let f = light(line_reader()).await;
    let push = f.memory.push();
    let receiver = Receiver::new(&[]).await;
    let port = receiver.url.trim_end_matches("/hook").rsplit(':').next().expect("a port").to_owned();
    for url in [
        receiver.url.clone(),
        format!("https://127.0.0.1:{port}/"),
        format!("https://localhost:{port}/"),
        "https://10.0.0.1/".to_owned(),
        "https://[::ffff:192.168.1.1]/".to_owned(),
    ] {
        let refused = push.add(&f.ns, &url, &[], false).await.err().expect(&url).to_string();
        assert!(refused.contains("--allow-private"), "{url}: {refused}");
    }
    for url in [
        "https://169.254.169.254/latest",
        "http://8.8.8.8/",
        "ftp://example.com/",
        "nowhere",
        "https://a:b@10.0.0.1/",
    ] {
        assert!(push.add(&f.ns, url, &[], true).await.is_err(), "{url}");
    }
    assert!(push.list(&f.ns).await.expect("a list").is_empty());
    // A name that leads there later, as one that was public when it was added.
    hook(&f, &receiver, &[]).await;
    let renamed = format!("update webhook set may_be_private = false, url = 'https://localhost:{port}/hook'");
    sqlx::query(sqlx::AssertSqlSafe(renamed)).execute(&mut f.sql().await).await.expect("it is changed");
    f.remember("Note 1.").await;
    assert_eq!(send(&f).await, 1);
    assert!(receiver.received().is_empty());
    let waiting = push.deliveries(&f.ns, &DeliveryFilter::default(), 10).await.expect("a list");
    assert!(
        waiting[0].error.as_deref().is_some_and(|error| error.contains("private network")),
        "{waiting:?}"
    );
}

#[tokio::test]
async fn a_commitment_is_reported_once_when_it_is_due_soon_and_once_when_it_is_overdue() {
    let f = light(line_reader()).await;
    let receiver = Receiver::new(&[]).await;
    hook(&f, &receiver, &[FeedKind::CommitmentDue, FeedKind::CommitmentOverdue]).await;
    f.remember("To do.\nCommitment by Ann").await;
    f.remember("To do as well.\nCommitment by Bob").await;
    f.drain().await;
    assert_eq!(f.count("select count(*) from semantic_event where category = 'Commitment'").await, 2);
    // The second was overdue before anybody was to be told.
    execute(
        &f,
        "update semantic_event set due_time = now() + interval '1 day 1 minute';
         update semantic_event set due_time = now() - interval '2 days' where narrative like '%Bob%'",
    )
    .await;
    assert_eq!(send(&f).await, 0, "it is not due within a day");
    execute(
        &f,
        "update semantic_event set due_time = now() + interval '23 hours' where narrative like '%Ann%'",
    )
    .await;
    for _ in 0..3 {
        send(&f).await;
    }
    assert_eq!(receiver.kinds(), ["commitment.due"]);
    execute(
        &f,
        "update feed_namespace set since = now() - interval '1 day';
         update semantic_event set due_time = now() - interval '1 minute' where narrative like '%Ann%'",
    )
    .await;
    let other = with_waits(&f, 1).await;
    let here = f.memory.push();
    let (here, there) = tokio::join!(here.send_due(), other.send_due());
    assert_eq!(here.expect("it is sent") + there.expect("it is sent"), 1, "two processes at the same time");
    send(&f).await;
    assert_eq!(receiver.kinds(), ["commitment.due", "commitment.overdue"]);
    // One that was done is not.
    execute(&f, "update semantic_event set due_time = now() - interval '2 minutes' where narrative like '%Bob%'; update artifact_revision set is_latest = false").await;
    assert_eq!(send(&f).await, 0);
}

#[tokio::test]
async fn who_was_killed_while_sending_has_it_sent_again_by_another() {
    let f = light(line_reader()).await;
    let receiver = Receiver::new(&[]).await;
    hook(&f, &receiver, &[]).await;
    f.remember("Note 1.").await;
    // Claimed, and never settled.
    f.memory.push().read(&f.ns, 0).await.expect("it is numbered");
    let mut conn = f.sql().await;
    let claimed = webhooks::claim(&mut conn, Duration::from_mins(1), 5).await.expect("a claim");
    assert_eq!(claimed.len(), 1);
    assert_eq!(send(&f).await, 0, "it belongs to the other");
    execute(&f, "update webhook_delivery set leased_until = now()").await;
    assert_eq!(send(&f).await, 1);
    let id = receiver.received()[0].id().to_owned();
    assert_eq!(rows(&f, "select message_id from feed_entry").await, [id]);
}

#[tokio::test]
async fn what_is_forgotten_is_not_told() {
    let f = light(line_reader()).await;
    let receiver = Receiver::new(&[]).await;
    hook(&f, &receiver, &[]).await;
    let stored = f.remember("Note 1.\nDecision by Ann").await;
    f.drain().await;
    f.memory.push().read(&f.ns, 0).await.expect("it is numbered");
    assert!(f.count("select count(*) from webhook_delivery").await > 0);
    forget(&f, &stored.id).await;
    assert_eq!((send(&f).await, receiver.received().len()), (0, 0));
    assert_eq!(f.count("select count(*) from feed_entry").await, 0);
}

#[tokio::test]
async fn a_reader_misses_nothing_that_was_committed_late_and_is_told_what_is_gone() {
    let f = light(line_reader()).await;
    let push = f.memory.push();
    assert_eq!(push.begin_stream(&f.ns).await.expect("it begins"), 0);
    // The first begins before the second and is committed after it.
    let mut late = f.sql().await;
    let write = "insert into feed_entry (namespace, kind, details) values ('default', 'job.failed', '{}')";
    sqlx::raw_sql("begin").execute(&mut late).await.expect("it begins");
    sqlx::raw_sql(write).execute(&mut late).await.expect("it is written");
    execute(&f, write).await;
    let seen = push.read(&f.ns, 0).await.expect("a page");
    assert_eq!(seen.entries.len(), 1);
    sqlx::raw_sql("commit").execute(&mut late).await.expect("it is committed");
    let next = push.read(&f.ns, seen.entries[0].seq).await.expect("a page");
    assert_eq!(next.entries.iter().map(|entry| entry.seq).collect::<Vec<_>>(), [2]);
    assert!(next.missed_to.is_none());
    // After two weeks an entry goes, and who has not seen it hears that.
    execute(&f, "update feed_entry set at = now() - interval '15 days' where seq = 1").await;
    memory_store::feed::sweep(&mut f.sql().await).await.expect("it is swept");
    let page = push.read(&f.ns, 0).await.expect("a page");
    assert_eq!((page.missed_to, page.entries.len()), (Some(1), 1));
    let ahead = push.read(&f.ns, 1_000).await.expect("a page");
    assert_eq!((ahead.missed_to, ahead.entries.len()), (Some(1), 1), "of another database");
    // A feed that nobody reads any more ends.
    execute(&f, "update feed_namespace set streamed_at = now() - interval '8 days'").await;
    memory_store::feed::sweep(&mut f.sql().await).await.expect("it is swept");
    assert_eq!(
        f.count("select (select count(*) from feed_entry) + (select count(*) from feed_namespace)").await,
        0
    );
}
