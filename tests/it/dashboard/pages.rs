//! What pages show: every one of them, of an empty memory too, in whatever state the installation is.

use memory_tests::process::{DataDir, Server, eventually, kill};
use reqwest::header::{CONTENT_TYPE, LOCATION, ORIGIN};
use reqwest::{Method, StatusCode};
use rustix::process::Signal;
use serde_json::{Value, json};
use sqlx::{Connection, Executor, PgConnection};

use super::{Browser, PAGES, PATIENCE, remembered};

#[tokio::test]
async fn an_empty_memory_shows_every_page_and_what_to_do_first() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    server.ask("status", json!({})).await;
    let mut browser = Browser::at(&server);
    let home = browser.get_at("/ui").await;
    assert_eq!(
        (home.status, &home.headers[LOCATION]),
        (StatusCode::SEE_OTHER, &"/ui/n/default/overview".parse().unwrap())
    );
    for page in PAGES.into_iter().chain(["keys"]) {
        let shown = browser.get(page).await;
        assert_eq!(shown.status, StatusCode::OK, "{page}: {}", shown.text);
        assert!(shown.text.contains("<main") && shown.text.contains("</html>"), "{page}");
        for missing in ["style=", "onclick=", "<script>"] {
            assert!(!shown.text.contains(missing), "{page} has {missing}");
        }
    }
    let overview = browser.get("overview").await.text;
    assert!(overview.contains("Nothing is remembered yet") && overview.contains("/ui/n/default/import"));
    for missing in ["memory/art_000000000000", "entities/77", "event?id=evt_0000000000000000", "nothing"] {
        let shown = browser.get(missing).await;
        assert_eq!(shown.status, StatusCode::NOT_FOUND, "{missing}: {}", shown.text);
    }
    for bad in ["memory/7", "browse?cursor=x", "timeline?from=yesterday", "graph?mode=focus&id=9"] {
        let shown = browser.get(bad).await;
        assert_eq!(shown.status, StatusCode::BAD_REQUEST, "{bad}: {}", shown.text);
        assert!(shown.text.contains("That did not work"), "{bad}");
    }
}

#[tokio::test]
async fn a_text_is_edited_found_explained_and_exported() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let first = remembered(
        &server,
        json!({"content": "The harbour office opens at eight.", "source": "wiki", "source_id": "harbour"}),
    )
    .await;
    let second =
        remembered(&server, json!({"content": "The harbour office opens at nine. Omar Haddad will tell the crews by 2031-03-01.", "source": "wiki", "source_id": "harbour"}))
            .await;
    server.settled().await;
    let mut browser = Browser::at(&server);
    let page = browser.get(&format!("memory/{second}")).await.text;
    assert!(
        page.contains("<mark") && page.contains(&format!("memory/{first}")) && page.contains("Revisions"),
        "{page}"
    );
    assert!(browser.get(&format!("memory/{first}")).await.text.contains("This text is outdated"));
    let form = [("title", "Opening times"), ("tags", "harbour, hours"), ("importance", "0.9")];
    assert_eq!(browser.post(&format!("memory/{second}/edit"), &form).await.status, StatusCode::SEE_OTHER);
    let page = browser.get(&format!("memory/{second}")).await.text;
    assert!(page.contains("Saved.") && page.contains("Opening times") && page.contains("hours"), "{page}");
    let (answer, _) = server.call("recall", json!({"query": "opening times", "tags": ["hours"]})).await;
    assert_eq!(answer["results"][0]["id"], second.as_str(), "{answer}");
    // What is emptied is gone.
    browser.post(&format!("memory/{second}/edit"), &[("title", ""), ("tags", ""), ("importance", "2")]).await;
    assert!(browser.get("overview").await.text.contains("Invalid importance 2"));
    browser.post(&format!("memory/{second}/edit"), &[("title", ""), ("tags", "")]).await;
    assert!(!browser.get(&format!("memory/{second}")).await.text.contains("Opening times"));
    let found = browser.get("search?q=when+does+the+harbour+office+open").await.text;
    for said in ["Why it was found", "Vector", "as an agent gets it", "tokens", &second] {
        assert!(found.contains(said), "{said}: {found}");
    }
    let exported = browser.post("browse", &[("action", "export"), ("id", &second)]).await;
    let line: Value = serde_json::from_str(exported.text.trim()).expect("a line of JSON");
    assert_eq!(
        (&line["source_id"], &line["content"]),
        (
            &json!("harbour"),
            &json!("The harbour office opens at nine. Omar Haddad will tell the crews by 2031-03-01.")
        )
    );
    let archive = browser.get("namespaces/export").await;
    assert!(
        archive.text.lines().count() >= 4
            && archive.headers["content-disposition"].to_str().unwrap().contains("default.jsonl")
    );
}

#[tokio::test]
async fn jobs_are_retried_and_cancelled_and_their_failures_are_in_words() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    for n in 0..2 {
        remembered(&server, json!({"content": format!("Text number {n} of the queue.")})).await;
    }
    server.settled().await;
    let mut sql = PgConnection::connect(&data_dir.database_url()).await.expect("it connects");
    sql.execute("update event_jobs set status = 'FAILED', last_error_code = 'LLM_AUTH', last_error_at = now() where kind = 'extract'")
        .await
        .expect("they fail");
    let ids: Vec<i64> = sqlx::query_scalar("select job_id from event_jobs where kind = 'extract' order by 1")
        .fetch_all(&mut sql)
        .await
        .expect("ids");
    let mut browser = Browser::at(&server);
    let page = browser.get("jobs?state=FAILED").await.text;
    assert!(
        page.contains("does not accept the key") && page.contains("Set the right REMEMBRANCER_LLM_KEY"),
        "{page}"
    );
    let (retried, cancelled) = (ids[0].to_string(), ids[1].to_string());
    browser.post("jobs", &[("action", "retry"), ("id", &retried)]).await;
    browser.post("jobs", &[("action", "cancel"), ("id", &cancelled)]).await;
    server.settled().await;
    let states: Vec<(String, Option<String>)> = sqlx::query_as(
        "select status, last_error_code from event_jobs where kind = 'extract' order by job_id",
    )
    .fetch_all(&mut sql)
    .await
    .expect("states");
    assert_eq!(states, [("DONE".to_owned(), None), ("FAILED".to_owned(), Some("CANCELLED".to_owned()))]);
    browser.post("jobs", &[("action", "retry"), ("id", "999999")]).await;
    assert!(browser.get("jobs").await.text.contains("There is no job 999999 here"));
}

#[tokio::test]
async fn files_come_in_as_they_are_dropped_and_what_is_no_text_does_not() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    server.ask("status", json!({})).await;
    let mut browser = Browser::at(&server);
    let csrf = browser.csrf().await;
    let send = async |name: &str, body: Vec<u8>| {
        let request =
            browser.request(Method::POST, "/ui/n/default/import/file").header(ORIGIN, &browser.base);
        let request = request
            .header("X-CSRF-Token", &csrf)
            .header("X-File-Name", name)
            .header("Accept", "application/json");
        let answer = request
            .header(CONTENT_TYPE, "application/octet-stream")
            .body(body)
            .send()
            .await
            .expect("answered");
        (answer.status(), answer.json::<Value>().await.expect("JSON"))
    };
    let (status, answer) = send("notes%20%C3%A9.md", b"# Notes\n\nThe kiln is hot.".to_vec()).await;
    assert_eq!((status, &answer["created"]), (StatusCode::OK, &json!(true)), "{answer}");
    let (_, answer) = send("notes%20%C3%A9.md", b"# Notes\n\nThe kiln is cold.".to_vec()).await;
    assert_eq!(answer["replaced"], true, "{answer}");
    let (status, answer) = send("picture.png", vec![0xff, 0xd8, 0xff]).await;
    assert_eq!(status, StatusCode::UNSUPPORTED_MEDIA_TYPE, "{answer}");
    let (status, answer) = send("empty.txt", b"  ".to_vec()).await;
    assert!(
        status == StatusCode::BAD_REQUEST && answer["error"].as_str().unwrap().contains("empty"),
        "{answer}"
    );
    // Ten million characters are a text; one more is none.
    let (status, answer) = send("long.txt", "a sentence. ".repeat(833_334).into_bytes()).await;
    assert!(
        status == StatusCode::BAD_REQUEST && answer["error"].as_str().unwrap().contains("10000008"),
        "{answer}"
    );
    let page = browser.get("browse").await.text;
    assert!(page.contains("notes é.md") && page.contains("1 text<"), "{page}");
}

#[tokio::test]
async fn pages_say_that_the_database_is_down_and_come_back_with_it() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    server.ask("status", json!({})).await;
    let mut browser = Browser::at(&server);
    assert_eq!(browser.get("overview").await.status, StatusCode::OK);
    // Without its programs it is not started again.
    let (runtime, away) = (data_dir.path().join("runtime"), data_dir.path().join("runtime-away"));
    std::fs::rename(&runtime, &away).expect("they are moved away");
    kill(data_dir.postmaster_pid().expect("it runs"), Signal::INT);
    eventually("the overview says it", PATIENCE, async || {
        browser.get("overview").await.text.contains("postgres is down")
    })
    .await;
    for page in ["browse", "search?q=x", "jobs", "entities", "graph"] {
        let shown = browser.get(page).await;
        assert!(shown.text.contains("The database cannot be reached right now"), "{page}: {}", shown.text);
        let is_page = shown.text.ends_with("</html>") && shown.text.contains("<nav");
        assert!(is_page && shown.status != StatusCode::INTERNAL_SERVER_ERROR, "{page}: {}", shown.status);
    }
    std::fs::rename(&away, &runtime).expect("they are moved back");
    eventually("pages are back", PATIENCE, async || browser.get("browse").await.status == StatusCode::OK)
        .await;
}
