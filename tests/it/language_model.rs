//! Jobs that a language model reads: what becomes of them when it answers, and when it does not.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use memory_core::event::Extraction;
use memory_core::job::MAX_ATTEMPTS;
use memory_core::ports::{ExtractError, Extractor, SourceText, TextEncoder};
use memory_engine::{EngineSettings, Memory};
use memory_extraction::{Key, LlmExtractor, LlmOptions, RulesExtractor};
use memory_tests::chat_server::{Act, ChatServer};
use memory_tests::{Fixture, at_once};
use serde_json::json;
use sqlx::{Connection, PgConnection};

use crate::shorthand::{drain_with_retries, execute, light, only_job, rows, store};
use crate::stand_ins::{ConstantEncoder, read_lines};

const TEXT: &str = "Anna will send the report to Ben by Friday. The weather was mild.";

fn told() -> Act {
    Act::say(&json!({"events": [{"category": "Commitment", "narrative": "Anna promised Ben the report.",
        "sentences": [1], "quote": "Anna will send the report to Ben", "confidence": 0.9,
        "actors": [{"name": "Anna", "role": "owner"}]}], "entities": []}))
}

fn extractor(url: &str, timeout: Duration) -> Arc<dyn Extractor> {
    let key = Some(Key::new("sk-hunter2").expect("a key"));
    let options = LlmOptions {
        url: url.to_owned(),
        model: "scripted-1".to_owned(),
        key,
        timeout,
        allows_private: false,
    };
    Arc::new(LlmExtractor::new(options, RulesExtractor::new()).expect("the options are good"))
}

async fn asking(server: &ChatServer) -> Fixture {
    let f = light(extractor(&server.url, Duration::from_secs(20))).await;
    f.remember(TEXT).await;
    f
}

#[tokio::test]
async fn what_the_model_finds_is_stored_with_its_evidence() {
    let server = ChatServer::acts(vec![told()]).await;
    let f = asking(&server).await;
    f.drain().await;
    assert_eq!(only_job(&f).await, ("DONE".into(), 1, None));
    assert_eq!(
        rows(&f, "select narrative || '|' || quote || '|' || extractor from semantic_event join event_evidence using (namespace, event_id)").await,
        ["Anna promised Ben the report.|Anna will send the report to Ben|llm"]
    );
    let actors = "select name || ' ' || role from entity join event_actor using (entity_id) order by 1";
    // The rules saw whom it was promised.
    assert_eq!(rows(&f, actors).await, ["Anna owner", "Ben stakeholder"]);
    let extractor = f.memory.status(&f.ns, None).await.services.remove(3);
    assert!(
        extractor.is_healthy
            && extractor.detail.contains("scripted-1")
            && extractor.detail.contains("answers")
    );
    assert!(!extractor.detail.contains("hunter2"));
}

#[tokio::test]
async fn rubbish_and_breakdowns_are_tried_again_and_end_failed_never_done_with_nothing() {
    let rubbish = Act::Say("I could not find anything.".to_owned());
    let invented =
        Act::say(&json!({"events": [{"category": "Decision", "quote": "They fired Ben", "sentences": [1]}]}));
    for bad in [rubbish, invented] {
        let server = ChatServer::acts(vec![bad]).await;
        let f = asking(&server).await;
        f.drain().await;
        let (state, attempts, code) = only_job(&f).await;
        // The wait before the next attempt may be drawn so short that it was made already.
        assert!(attempts >= 1, "{attempts}");
        assert_eq!((state.as_str(), code.as_deref()), ("PENDING", Some("LLM_BAD_OUTPUT")));
        drain_with_retries(&f).await;
        assert_eq!(only_job(&f).await, ("FAILED".into(), MAX_ATTEMPTS, Some("LLM_BAD_OUTPUT".into())));
        assert_eq!(f.count("select count(*) from artifact_revision where extracted_at is not null").await, 0);
    }
}

#[tokio::test]
async fn each_kind_of_failure_has_its_code_and_spends_an_attempt_only_where_the_text_may_be_to_blame() {
    let refusal = json!({"choices": [{"message": {"refusal": "No."}}]}).to_string();
    for (act, state, attempts, code) in [
        (Act::Answer(200, "", refusal), "FAILED", 1, "LLM_REFUSED"),
        (Act::status(401), "PENDING", 0, "LLM_AUTH"),
        (Act::status(429), "PENDING", 0, "LLM_RATE_LIMITED"),
        (Act::status(500), "PENDING", 1, "LLM_UNAVAILABLE"),
        (Act::status(503), "PENDING", 0, "LLM_UNAVAILABLE"),
        (Act::status(504), "PENDING", 1, "LLM_TIMEOUT"),
    ] {
        let server = ChatServer::acts(vec![act]).await;
        let f = asking(&server).await;
        f.drain().await;
        let (was, spent, why) = only_job(&f).await;
        assert_eq!((was.as_str(), why.as_deref()), (state, Some(code)), "{code}");
        // A short wait may have been over before the look at it.
        assert!(spent == attempts || (attempts > 0 && spent > attempts), "{code}: {spent} attempts");
        assert_eq!(f.count("select count(*) from artifact_revision where extracted_at is not null").await, 0);
    }
    let server = ChatServer::acts(vec![Act::Hang]).await;
    let f = light(extractor(&server.url, Duration::from_millis(200))).await;
    f.remember(TEXT).await;
    f.drain().await;
    let (state, attempts, code) = only_job(&f).await;
    assert!(attempts >= 1, "{attempts}");
    assert_eq!((state.as_str(), code.as_deref()), ("PENDING", Some("LLM_TIMEOUT")));
}

#[tokio::test]
async fn a_rate_limit_is_waited_for_and_nothing_is_asked_meanwhile() {
    let server = ChatServer::acts(vec![Act::Answer(429, "Retry-After: 40\r\n", String::new()), told()]).await;
    let f = asking(&server).await;
    f.drain().await;
    let waits = "select count(*) from event_jobs where attempts = 0 and run_at between now() + interval '30 s' and now() + interval '41 s'";
    assert_eq!(f.count(waits).await, 1);
    execute(&f, "update event_jobs set run_at = now()").await;
    f.remember("Ben will call Anna by Friday.").await;
    assert_eq!(f.drain().await, 2);
    assert_eq!(f.count("select count(*) from event_jobs where status = 'PENDING' and attempts = 0 and last_error_code = 'LLM_RATE_LIMITED'").await, 2);
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn a_server_that_keeps_failing_is_left_alone_and_its_jobs_wait() {
    let server = ChatServer::acts(vec![Act::status(500)]).await;
    let f = asking(&server).await;
    for n in 0..9 {
        f.remember(&format!("Anna will send report {n} to Ben.")).await;
    }
    f.drain().await;
    assert_eq!(server.asked().len(), 3);
    assert_eq!(f.count("select sum(attempts) from event_jobs where status = 'PENDING'").await, 3);
    let status = f.memory.status(&f.ns, None).await;
    assert!(!status.services[3].is_healthy && status.services[3].detail.contains("left alone"), "{status:?}");
}

/// Reads until its lease has been renewed, and judges sentences as slowly.
struct Slow {
    url: String,
}

#[async_trait]
impl Extractor for Slow {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn version(&self) -> i32 {
        1
    }

    fn patience(&self) -> Option<Duration> {
        Some(Duration::from_secs(60))
    }

    async fn extract(&self, source: &SourceText) -> Result<Extraction, ExtractError> {
        renewed(&self.url).await;
        Ok(read_lines(source))
    }

    fn text_encoder(&self) -> Option<Arc<dyn TextEncoder>> {
        let url = self.url.clone();
        Some(ConstantEncoder::waiting(move || {
            let url = url.clone();
            async move { renewed(&url).await }
        }))
    }
}

/// Waits until the lease of the only job has been renewed some times.
async fn renewed(url: &str) {
    let mut conn = PgConnection::connect(url).await.expect("the database answers");
    let mut leased_until = async || -> String {
        let statement = "select leased_until::text from event_jobs";
        sqlx::query_scalar(statement).fetch_one(&mut conn).await.expect("it is leased")
    };
    let mut seen = vec![leased_until().await];
    while seen.len() < 6 {
        let now = leased_until().await;
        if !seen.contains(&now) {
            seen.push(now);
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_text_that_takes_longer_than_a_lease_keeps_it() {
    let f = light(crate::stand_ins::line_reader()).await;
    f.remember("Decision by Ann").await;
    let slow = Arc::new(Slow { url: f.url.clone() });
    let settings = EngineSettings { lease: Duration::from_millis(600), ..at_once() };
    let memory = Memory::new(store(&f).await, slow, settings);
    assert_eq!(memory.job_runner().drain().await.unwrap(), 1);
    assert_eq!(only_job(&f).await, ("DONE".into(), 1, None));
    assert_eq!(f.count("select count(*) from semantic_event").await, 1);
}
