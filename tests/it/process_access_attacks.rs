//! What somebody tries who has a wrong key, or a right one for another namespace.

use std::time::Instant;

use futures::StreamExt;
use memory_tests::process::{DataDir, Server, call};
use reqwest::StatusCode;
use reqwest::header::{AUTHORIZATION, RETRY_AFTER, WWW_AUTHENTICATE};
use serde_json::{Value, json};

use crate::process_access::{ask, method, new_key, send};

fn status() -> Value {
    call("status", json!({}))
}

/// Another key of the same form.
fn wrong(n: usize) -> String {
    format!("rem_{n:012x}_{n:064x}")
}

#[tokio::test]
async fn a_bad_key_never_comes_in_as_nobody() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    assert_eq!(send(&server, "", None, &status()).await.0, StatusCode::OK, "no key is needed here");
    for bad in [wrong(1).as_str(), "rem_", "junk", "", "sk-1234567890abcdef"] {
        let refused = server.request().bearer_auth(bad).json(&status()).send().await.expect("it is answered");
        assert_eq!(refused.status(), StatusCode::UNAUTHORIZED, "{bad}");
        assert_eq!(refused.headers()[WWW_AUTHENTICATE], "Bearer error=\"invalid_token\"");
    }
    let key = new_key(&data_dir, "right", "reader", &[]).await;
    let (head, secret) = key.rsplit_once('_').expect("three parts");
    let (other, upper) =
        (wrong(2).rsplit_once('_').map(|(_, s)| s.to_owned()).expect("a secret"), secret.to_uppercase());
    for bad in [format!("{head}_{other}"), format!("{head}_{upper}"), format!("{key}0"), wrong(3)] {
        assert_eq!(send(&server, "", Some(&bad), &status()).await.0, StatusCode::UNAUTHORIZED, "{bad}");
    }
    let twice = server.request().bearer_auth(&key).header(AUTHORIZATION, "Bearer x").json(&status());
    assert_eq!(twice.send().await.expect("it is answered").status(), StatusCode::BAD_REQUEST);
    ask(&server, "", &key, &status()).await;
}

#[tokio::test]
async fn a_key_in_the_address_is_refused_also_beside_a_right_one() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let key = new_key(&data_dir, "right", "admin", &[]).await;
    for query in [
        format!("?key={key}"),
        format!("?access_token={key}"),
        format!("?namespace={key}"),
        format!("?{key}"),
        "?token=anything".to_owned(),
    ] {
        for given in [None, Some(key.as_str())] {
            let (status, text) = send(&server, &query, given, &status()).await;
            assert_eq!(status, StatusCode::BAD_REQUEST, "{query}: {text}");
            assert!(text.contains("do not belong in an address") && !text.contains(&key), "{text}");
        }
    }
    let log = std::fs::read_to_string(data_dir.path().join("test.log")).expect("a log");
    assert!(!log.contains(&key), "it was logged");
}

#[tokio::test]
async fn ten_thousand_wrong_keys_are_mostly_not_even_looked_up_and_keep_no_right_one_out() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let key = new_key(&data_dir, "right", "reader", &[]).await;
    ask(&server, "", &key, &status()).await;
    let begun = Instant::now();
    let tries = futures::stream::iter(0..10_000).map(|n| {
        let request = server.request().bearer_auth(wrong(n)).json(&status());
        async {
            let answer = request.send().await.expect("it is answered");
            let wait =
                answer.headers().get(RETRY_AFTER).and_then(|wait| wait.to_str().ok()?.parse::<u64>().ok());
            (answer.status(), wait)
        }
    });
    let answers: Vec<_> = tries.buffer_unordered(32).collect().await;
    let looked_up = answers.iter().filter(|(status, _)| *status == StatusCode::UNAUTHORIZED).count() as u64;
    let turned_away = answers.iter().filter(|(status, wait)| {
        *status == StatusCode::TOO_MANY_REQUESTS && wait.is_some_and(|seconds| seconds >= 1)
    });
    assert_eq!(turned_away.count() as u64 + looked_up, 10_000);
    assert!(looked_up <= 101 + begun.elapsed().as_secs(), "{looked_up} in {:?}", begun.elapsed());
    ask(&server, "", &key, &status()).await;
}

#[tokio::test]
async fn behind_a_trusted_proxy_wrong_keys_of_one_client_keep_out_no_other() {
    let data_dir = DataDir::warm();
    let guess = async |server: &Server, n: usize, client: &str| {
        let request = server.request().bearer_auth(wrong(n)).header("X-Forwarded-For", client);
        request.json(&status()).send().await.expect("it is answered").status()
    };
    // One of two at once may come when the next is allowed, which is once a second.
    let is_kept_out = async |server: &Server, n: usize, client: &str| {
        let both = [guess(server, n, client).await, guess(server, n + 1, client).await];
        both.contains(&StatusCode::TOO_MANY_REQUESTS)
    };
    for (flags, is_other_kept_out) in
        [(&["--trusted-proxies", "127.0.0.1,10.0.0.0/8"][..], false), (&[], true)]
    {
        let server = Server::start_as(data_dir.command("remembrancer"), flags).await;
        for n in 0..300 {
            guess(&server, n, "198.51.100.9, 203.0.113.7").await;
        }
        assert!(is_kept_out(&server, 300, "203.0.113.7").await, "{flags:?}");
        assert_eq!(is_kept_out(&server, 302, "203.0.113.8").await, is_other_kept_out, "{flags:?}");
        server.terminate().await;
    }
    let refused = data_dir.run(&["serve", "--trusted-proxies", "somewhere"]).await;
    assert!(refused.stderr.contains("somewhere is no address and no network"), "{refused:?}");
}

/// What a key is told of an id, without the id and, of a status, without what its services say of themselves:
/// how long ago the worker was seen changes from one second to the next.
async fn told(server: &Server, key: &str, tool: &str, arguments: Value, given: &str) -> String {
    let answer = ask(server, "", key, &call(tool, arguments)).await;
    let result = &answer["result"];
    let told = match &result["structuredContent"] {
        Value::Object(status) if status.contains_key("job_status") => {
            json!([status["job_status"], status["counts"], status["jobs"]])
        }
        _ => result.clone(),
    };
    told.to_string().replace(given, "ID")
}

#[tokio::test]
async fn what_is_in_another_namespace_is_told_as_what_is_nowhere() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let owner = new_key(&data_dir, "owner", "writer", &["--namespaces", "mine"]).await;
    let guesser = new_key(&data_dir, "guesser", "admin", &["--namespaces", "theirs"]).await;
    for n in 0..12 {
        let content = format!("Alice Chen committed to deliver API design {n} by Friday.");
        ask(&server, "", &owner, &call("remember", json!({"content": content}))).await;
    }
    let own = |tool: &'static str, arguments: Value| {
        let (server, owner) = (&server, &owner);
        async move { ask(server, "", owner, &call(tool, arguments)).await["result"]["structuredContent"].clone() }
    };
    let id_of = |page: &Value| page["results"][0]["id"].as_str().expect("an id").to_owned();
    let page = own("recall", json!({"query": "API design", "limit": 3})).await;
    let (artifact, cursor) = (id_of(&page), page["next_cursor"].as_str().expect("more").to_owned());
    let mut event = None;
    memory_tests::process::eventually("events are found", std::time::Duration::from_secs(60), async || {
        let found = own("recall", json!({"id": artifact})).await.to_string();
        event = found.split('"').find(|word| word.starts_with("evt_")).map(str::to_owned);
        event.is_some()
    })
    .await;
    let event = event.expect("an event");
    for (id, nowhere) in [(&artifact, "art_0123456789ab"), (&event, "evt_0123456789abcdef")] {
        for (tool, field) in [("recall", "id"), ("forget", "id"), ("status", "artifact_id")] {
            let with = |id: &str| match tool {
                "forget" => json!({field: id, "confirm": true}),
                _ => json!({field: id}),
            };
            let (hidden, absent) = (
                told(&server, &guesser, tool, with(id), id).await,
                told(&server, &guesser, tool, with(nowhere), nowhere).await,
            );
            assert_eq!(hidden, absent, "{tool} {id}");
        }
    }
    let stolen = ask(
        &server,
        "",
        &guesser,
        &call("recall", json!({"query": "API design", "limit": 3, "cursor": cursor})),
    )
    .await;
    assert!(!stolen.to_string().contains("Alice"), "{stolen}");
    let entities =
        json!({"entities": [{"name": "Ada", "entityType": "person", "observations": ["Likes tea"]}]});
    own("create_entities", entities).await;
    let graph =
        ask(&server, "", &guesser, &method("resources/read", json!({"uri": "memory://knowledge-graph"})))
            .await;
    let pages = ask(&server, "", &guesser, &call("open_nodes", json!({"names": ["Ada"]}))).await;
    assert!(
        !graph.to_string().contains("Ada") && !pages.to_string().contains("Likes tea"),
        "{graph} {pages}"
    );
    assert_eq!(own("recall", json!({"id": artifact})).await["results"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn a_key_that_asks_too_often_waits_before_its_body_is_read_and_others_do_not() {
    let data_dir = DataDir::warm();
    let mut command = data_dir.command("remembrancer");
    command.env("REMEMBRANCER_REQUESTS_PER_MINUTE", "20");
    let server = Server::start_with(command).await;
    let (busy, calm) =
        (new_key(&data_dir, "busy", "reader", &[]).await, new_key(&data_dir, "calm", "reader", &[]).await);
    let begun = Instant::now();
    let mut admitted = 0;
    let mut refused = None;
    for _ in 0..60 {
        let answer =
            server.request().bearer_auth(&busy).json(&status()).send().await.expect("it is answered");
        match answer.status() {
            StatusCode::OK => admitted += 1,
            _ => refused = Some(answer),
        }
    }
    assert!(
        (20..=21 + begun.elapsed().as_secs() / 3).contains(&admitted),
        "{admitted} in {:?}",
        begun.elapsed()
    );
    let refused = refused.expect("one was refused");
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
    let seconds: u64 = refused.headers()[RETRY_AFTER].to_str().expect("text").parse().expect("seconds");
    assert!((1..=4).contains(&seconds), "{seconds}");
    assert!(refused.text().await.expect("text").contains("20 requests a minute"));
    ask(&server, "", &calm, &status()).await;
}
