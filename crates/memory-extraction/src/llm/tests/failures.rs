//! Servers that fail: each kind of failure has its type.

use std::time::{Duration, SystemTime};

use memory_core::ports::{ExtractError, Extractor};
use serde_json::json;

use super::server::{Act, ChatServer};
use super::{TEXT, answer, document, event, extractor, good, read};

#[tokio::test]
async fn each_status_has_its_kind_whatever_the_body_says() {
    type Is = fn(&ExtractError) -> bool;
    let cases: [(u16, Is); 9] = [
        (401, |e| matches!(e, ExtractError::Unauthorized { .. })),
        (403, |e| matches!(e, ExtractError::Unauthorized { .. })),
        (404, |e| matches!(e, ExtractError::Unavailable { .. })),
        (408, |e| matches!(e, ExtractError::Timeout(_))),
        (429, |e| matches!(e, ExtractError::RateLimited { .. })),
        (500, |e| matches!(e, ExtractError::ServerFailed(_))),
        (502, |e| matches!(e, ExtractError::Unavailable { .. })),
        (503, |e| matches!(e, ExtractError::Unavailable { .. })),
        (504, |e| matches!(e, ExtractError::Timeout(_))),
    ];
    for (status, is_right) in cases {
        let misleading = "generate rate limit 429 timeout unauthorized refused".to_owned();
        let server = ChatServer::acts(vec![Act::Answer(status, "", misleading)]).await;
        let error = read(&server, TEXT).await.unwrap_err();
        assert!(is_right(&error), "{status}: {error:?}");
        assert_eq!(server.asked().len(), 1, "{status} is not tried again at once");
        assert!(!error.to_string().contains("generate"), "what a server says is not passed on: {error}");
    }
}

#[tokio::test]
async fn too_many_requests_wait_as_long_as_the_server_says() {
    let server = ChatServer::acts(vec![Act::Answer(429, "Retry-After: 37\r\n", String::new())]).await;
    let error = read(&server, TEXT).await.unwrap_err();
    assert_eq!(error, ExtractError::RateLimited { retry_after: Duration::from_secs(37) });

    let then = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(90));
    let header: &'static str = Box::leak(format!("Retry-After: {then}\r\n").into_boxed_str());
    let server = ChatServer::acts(vec![Act::Answer(429, header, String::new())]).await;
    let extractor = extractor(&server);
    let error = extractor.extract(&document(TEXT)).await.unwrap_err();
    let ExtractError::RateLimited { retry_after } = error else { panic!("{error:?}") };
    assert!((80..=91).contains(&retry_after.as_secs()), "{retry_after:?}");
    assert!(matches!(extractor.extract(&document(TEXT)).await, Err(ExtractError::RateLimited { .. })));
    assert_eq!(server.asked().len(), 1, "until then no request is sent");
}

#[tokio::test]
async fn a_refusal_is_one_whoever_refuses() {
    let declined =
        json!({"choices": [{"message": {"content": null, "refusal": "I can't."}, "finish_reason": "stop"}]});
    for act in [
        Act::Answer(200, "", declined.to_string()),
        Act::SayUntil(good().to_string(), "content_filter"),
        Act::Answer(400, "", json!({"error": {"code": "content_filter"}}).to_string()),
    ] {
        let server = ChatServer::acts(vec![act]).await;
        let error = read(&server, TEXT).await.unwrap_err();
        assert!(matches!(error, ExtractError::Refused(_)), "{error:?}");
        assert_eq!(server.asked().len(), 1);
    }
}

#[tokio::test]
async fn a_server_that_fails_three_times_is_left_alone_and_status_says_so() {
    let server = ChatServer::acts(vec![Act::status(500)]).await;
    let extractor = extractor(&server);
    assert!(extractor.health().detail.contains("not asked yet"));
    for _ in 0..3 {
        let error = extractor.extract(&document(TEXT)).await.unwrap_err();
        assert!(matches!(error, ExtractError::ServerFailed(_)));
    }
    let error = extractor.extract(&document(TEXT)).await.unwrap_err();
    assert!(matches!(error, ExtractError::Unavailable { .. }), "{error:?}");
    assert_eq!(server.asked().len(), 3);
    let health = extractor.health();
    assert!(!health.is_healthy && health.detail.contains("status 500"), "{health:?}");
    assert!(!health.detail.contains("sk-secret") && !format!("{error:?}").contains("sk-secret"));
    assert!(health.detail.contains("scripted-1 at http://127.0.0.1:"), "{health:?}");
}

#[tokio::test]
async fn parameters_that_a_server_does_not_take_are_changed() {
    let server = ChatServer::start(|_, asked| {
        let param = ["max_tokens", "temperature"].into_iter().find(|param| asked.body.get(param).is_some());
        match param {
            Some(param) => Act::Answer(
                400,
                "",
                json!({"error": {"param": param, "code": "unsupported_parameter"}}).to_string(),
            ),
            None => Act::say(&good()),
        }
    })
    .await;
    read(&server, TEXT).await.unwrap();
    let last = server.asked().pop().unwrap();
    assert_eq!((last.format(), last.body["max_completion_tokens"].as_u64()), ("json_schema", Some(4096)));
}

#[tokio::test]
async fn a_server_that_takes_no_request_at_all_is_a_matter_of_its_settings() {
    let server = ChatServer::acts(vec![Act::status(400)]).await;
    let error = read(&server, TEXT).await.unwrap_err();
    assert!(
        matches!(&error, ExtractError::Unavailable { reason, .. } if reason.contains("REMEMBRANCER_LLM_MODEL")),
        "{error:?}"
    );
    assert_eq!(server.asked().len(), 6);
}

#[tokio::test]
async fn a_request_that_is_too_long_is_halved() {
    let too_long = json!({"error": {"code": 400, "type": "exceed_context_size_error"}}).to_string();
    let server = ChatServer::start(move |_, asked| {
        let lines =
            asked.question().lines().filter(|l| l.starts_with('[') && !l.contains("(context)")).count();
        match lines {
            1 => Act::say(&answer(&[])),
            _ => Act::Answer(400, "", too_long.clone()),
        }
    })
    .await;
    read(&server, "Ann shipped one crate. Ann shipped two crates.").await.unwrap();
    assert_eq!(server.asked().len(), 3);
}

#[tokio::test]
async fn what_was_read_before_a_failure_is_not_asked_again() {
    let text: String =
        (0..400).map(|n| format!("On day {n} Alice Chen counted the crates in all halls. ")).collect();
    let server = ChatServer::start(|n, asked| match n {
        2 => Act::status(500),
        _ => {
            let line =
                asked.question().lines().find(|l| l.starts_with('[') && !l.contains("(context)")).unwrap();
            Act::say(&answer(&[event("Execution", 1, line.split_once("] ").unwrap().1)]))
        }
    })
    .await;
    let extractor = extractor(&server);
    extractor.extract(&document(&text)).await.unwrap_err();
    extractor.extract(&document(&text)).await.unwrap();
    let asked: Vec<String> = server.asked().iter().map(|asked| asked.question().to_owned()).collect();
    let mut distinct = asked.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(asked.len(), distinct.len() + 1, "only the part that failed was asked twice");
    extractor.extract(&document(&text)).await.unwrap();
    assert_eq!(server.asked().len(), asked.len() + distinct.len(), "a new extraction asks anew");
}
