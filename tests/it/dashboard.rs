//! The pages for people, over HTTP against the real program: who sees what, what a form must bring, that nothing of a text
//! becomes part of a page, and that no page breaks.

use std::collections::BTreeMap;
use std::time::Duration;

use memory_tests::process::{DataDir, Server, eventually, kill};
use reqwest::header::{CONTENT_TYPE, COOKIE, HOST, LOCATION, ORIGIN, SET_COOKIE};
use reqwest::{Method, Response, StatusCode};
use rustix::process::Signal;
use serde_json::{Value, json};
use sqlx::{Connection, Executor, PgConnection};

use crate::process_access::new_key;
use crate::process_password::set_password;

const PATIENCE: Duration = Duration::from_secs(30);
const PAGES: [&str; 15] = [
    "overview",
    "search",
    "search?q=release",
    "browse",
    "import",
    "timeline",
    "commitments",
    "decisions",
    "entities",
    "entities/merges",
    "graph",
    "jobs",
    "namespaces",
    "audit",
    "settings",
];

/// A text that a page must not take for its own.
const EVIL: &str = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'";

/// A browser, as far as pages without scripts need one.
struct Browser {
    client: reqwest::Client,
    base: String,
    cookies: BTreeMap<String, String>,
}

/// An answer that was read.
struct Shown {
    status: StatusCode,
    headers: reqwest::header::HeaderMap,
    text: String,
}

impl Browser {
    fn at(server: &Server) -> Self {
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
        Self {
            client: client.build().expect("a client"),
            base: server.url.trim_end_matches("/mcp").to_owned(),
            cookies: BTreeMap::new(),
        }
    }

    async fn signed_in(server: &Server, key: &str) -> Self {
        let mut browser = Self::at(server);
        let shown = browser.post_at("/ui/login", &[("secret", key)]).await;
        assert_eq!(shown.status, StatusCode::SEE_OTHER, "{}", shown.text);
        browser
    }

    async fn taken(&mut self, response: Response) -> Shown {
        for cookie in response.headers().get_all(SET_COOKIE) {
            let cookie = cookie.to_str().expect("text").split(';').next().unwrap_or_default();
            let (name, value) = cookie.split_once('=').expect("a pair");
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
        let (status, headers) = (response.status(), response.headers().clone());
        Shown { status, headers, text: response.text().await.expect("text") }
    }

    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        let cookies: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let request = self.client.request(method, format!("{}{path}", self.base));
        if cookies.is_empty() { request } else { request.header(COOKIE, cookies.join("; ")) }
    }

    async fn get_at(&mut self, path: &str) -> Shown {
        let response = self.request(Method::GET, path).send().await.expect("it is answered");
        self.taken(response).await
    }

    /// A page of the namespace.
    async fn get(&mut self, page: &str) -> Shown {
        self.get_at(&format!("/ui/n/default/{page}")).await
    }

    async fn post_at(&mut self, path: &str, form: &[(&str, &str)]) -> Shown {
        let request = self.request(Method::POST, path).header(ORIGIN, &self.base);
        let response = with_form(request, form).send().await.expect("it is answered");
        self.taken(response).await
    }

    /// What forms of this session bring.
    async fn csrf(&mut self) -> String {
        let page = self.get("overview").await.text;
        let (_, after) = page.split_once("data-csrf=\"").expect("a page has one");
        after.split('"').next().expect("it ends").to_owned()
    }

    /// A form of a page of ours.
    async fn post(&mut self, page: &str, form: &[(&str, &str)]) -> Shown {
        let csrf = self.csrf().await;
        let form: Vec<(&str, &str)> = form.iter().copied().chain([("csrf", csrf.as_str())]).collect();
        self.post_at(&format!("/ui/n/default/{page}"), &form).await
    }
}

fn with_form(request: reqwest::RequestBuilder, form: &[(&str, &str)]) -> reqwest::RequestBuilder {
    let encoded = |text: &str| text.bytes().map(|b| format!("%{b:02X}")).collect::<String>();
    let pairs: Vec<String> =
        form.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
    request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(pairs.join("&"))
}

async fn remembered(server: &Server, arguments: Value) -> String {
    let answer = server.ask("remember", arguments).await;
    answer["id"].as_str().expect("an id").to_owned()
}

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
async fn every_answer_has_the_headers_that_keep_other_pages_and_scripts_out() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    server.ask("status", json!({})).await;
    let mut browser = Browser::at(&server);
    let page = browser.get("overview").await;
    let asset =
        page.text.split('"').find(|part| part.ends_with("/dashboard.js")).expect("a script").to_owned();
    let script = browser.get_at(&asset).await;
    assert!(script.headers["cache-control"].to_str().unwrap().contains("immutable"));
    let session = page.headers[SET_COOKIE].to_str().unwrap();
    assert!(
        session.contains("HttpOnly") && session.contains("SameSite=Strict") && session.contains("Path=/ui"),
        "{session}"
    );
    let login = browser.get_at("/ui/login").await;
    let nothing = browser.get_at("/ui/assets/x/nothing.js").await;
    assert_eq!(nothing.status, StatusCode::NOT_FOUND);
    for shown in [page, script, login, nothing] {
        let policy = shown.headers["content-security-policy"].to_str().unwrap();
        assert!(
            policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"),
            "{policy}"
        );
        assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
        assert_eq!(shown.headers["x-content-type-options"], "nosniff");
        assert_eq!(shown.headers["x-frame-options"], "DENY");
    }
    // Requests for another host, or with a key in the address, do not reach a page.
    let foreign =
        browser.request(Method::GET, "/ui/login").header(HOST, "evil.example").send().await.unwrap();
    assert_eq!(foreign.status(), StatusCode::FORBIDDEN);
    assert_eq!(browser.get_at("/ui/login?token=x").await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_form_without_its_token_or_of_another_page_changes_nothing() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let id = remembered(&server, json!({"content": "Keep me."})).await;
    let mut browser = Browser::at(&server);
    let csrf = browser.csrf().await;
    let path = format!("/ui/n/default/memory/{id}/forget");
    let own = browser.base.clone();
    for (origin, token) in [
        (Some(own.as_str()), None),
        (Some(own.as_str()), Some("0")),
        (Some("http://evil.example"), Some(csrf.as_str())),
        (Some("null"), Some(csrf.as_str())),
        (None, Some(csrf.as_str())),
    ] {
        let mut request = browser.request(Method::POST, &path);
        if let Some(origin) = origin {
            request = request.header(ORIGIN, origin);
        }
        let form: Vec<(&str, &str)> = token.map(|token| ("csrf", token)).into_iter().collect();
        let answer = with_form(request, &form).send().await.expect("it is answered");
        assert_eq!(answer.status(), StatusCode::FORBIDDEN, "{origin:?} {token:?}");
    }
    // The token of one session is none of another.
    let mut other = Browser::at(&server);
    other.get("overview").await;
    assert_eq!(other.post_at(&path, &[("csrf", &csrf)]).await.status, StatusCode::FORBIDDEN);
    assert_eq!(browser.get(&format!("memory/{id}")).await.status, StatusCode::OK);
    let forgotten = browser.post(&format!("memory/{id}/forget"), &[]).await;
    assert_eq!(forgotten.status, StatusCode::SEE_OTHER, "{}", forgotten.text);
    assert!(browser.get("browse").await.text.contains("Forgotten, with 0 events"));
    assert_eq!(browser.get(&format!("memory/{id}")).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn markup_in_every_field_is_shown_as_text() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let id = remembered(
        &server,
        json!({
            "content": format!("Dana Whitfield will send the {EVIL} report by 2031-05-02. We decided to use {EVIL}."),
            "title": format!("Title {EVIL}"), "author": format!("Author {EVIL}"), "source": format!("Source {EVIL}"),
            "source_id": format!("Id {EVIL}"), "tags": [format!("tag {EVIL}")], "participants": [format!("With {EVIL}")],
        }),
    )
    .await;
    server
        .ask("create_entities", json!({"entities": [
            {"name": format!("Node {EVIL}"), "entityType": EVIL, "observations": [format!("It said {EVIL} once.")]},
            {"name": "Plain", "entityType": "thing", "observations": []}]}))
        .await;
    server
        .ask(
            "create_relations",
            json!({"relations": [{"from": format!("Node {EVIL}"), "to": "Plain", "relationType": EVIL}]}),
        )
        .await;
    server.settled().await;
    let mut browser = Browser::at(&server);
    let query: String = EVIL.bytes().map(|b| format!("%{b:02X}")).collect();
    let mut pages: Vec<String> = PAGES.iter().map(|page| (*page).to_owned()).collect();
    for field in ["q", "author", "source", "tags", "context", "from", "importance", "cursor", "category"] {
        pages.push(format!("search?q={query}&{field}={query}"));
        pages.push(format!("browse?{field}={query}"));
    }
    pages.extend([format!("memory/{id}"), format!("memory/{id}/forget"), format!("entities?name={query}")]);
    pages.extend([
        format!("commitments?owner={query}"),
        format!("timeline?from={query}"),
        format!("audit?who={query}"),
    ]);
    let mut seen = 0;
    for page in &pages {
        let shown = browser.get(page).await;
        assert!(
            shown.status.is_success() || shown.status == StatusCode::BAD_REQUEST,
            "{page}: {}",
            shown.status
        );
        assert!(
            !shown.text.contains("<script>alert") && !shown.text.contains("<img src=x"),
            "{page}: {}",
            shown.text
        );
        seen += usize::from(shown.text.contains("&lt;script&gt;"));
    }
    assert!(seen > 15, "the texts are there, as texts: {seen} of {}", pages.len());
    // What scripts read is JSON and says so.
    let data = browser.get("graph/data").await;
    assert_eq!(data.headers[CONTENT_TYPE], "application/json");
    assert!(serde_json::from_str::<Value>(&data.text).expect("JSON")["nodes"].as_array().unwrap().len() >= 2);
}

#[tokio::test]
async fn with_the_first_key_everybody_signs_in_and_what_opens_nothing_lets_nobody_in() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    server.ask("status", json!({})).await;
    let mut before = Browser::at(&server);
    let form = [("action", "create"), ("name", "reads"), ("role", "reader"), ("namespaces", "default")];
    let made = before.post("keys", &form).await;
    let reader = made.text.split("rem_").nth(1).and_then(|rest| rest.split('<').next());
    let reader = format!("rem_{}", reader.expect("it is shown, though it ends the session that made it"));
    let narrow = new_key(&data_dir, "narrow", "writer", &["--sets", "memory"]).await;
    // With the first key nobody stays in without one.
    let shown = before.get("overview").await;
    assert_eq!(shown.status, StatusCode::SEE_OTHER);
    assert_eq!(shown.headers[LOCATION], "/ui/login?to=%2Fui%2Fn%2Fdefault%2Foverview");
    let mut stranger = Browser::at(&server);
    let wrong = format!("rem_0123456789ab_{}", "ab".repeat(32));
    for (secret, status) in [
        (wrong.as_str(), StatusCode::UNAUTHORIZED),
        ("", StatusCode::BAD_REQUEST),
        (narrow.as_str(), StatusCode::FORBIDDEN),
    ] {
        assert_eq!(stranger.post_at("/ui/login", &[("secret", secret)]).await.status, status, "{secret}");
    }
    for elsewhere in ["//evil.example", "https://evil.example/ui"] {
        let shown = stranger.post_at("/ui/login", &[("secret", &reader), ("to", elsewhere)]).await;
        assert_eq!(shown.headers[LOCATION], "/ui", "{elsewhere}");
    }
    // A body that is no key is not read.
    let long = "x".repeat(20_000);
    let shown = stranger.post_at("/ui/login", &[("secret", &long)]).await;
    assert_eq!(shown.status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn a_key_opens_what_its_role_and_namespaces_open_and_nothing_else() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let id = remembered(&server, json!({"content": "Priya Raman will send the budget by 2031-02-01."})).await;
    server.settled().await;
    let reader = new_key(&data_dir, "reads", "reader", &["--namespaces", "default"]).await;
    let writer = new_key(&data_dir, "writes", "writer", &["--namespaces", "default,other"]).await;
    let admin = new_key(&data_dir, "runs", "admin", &["--namespaces", "default"]).await;
    let forget = format!("memory/{id}/forget");
    let text = format!("memory/{id}");
    let writes: [(&str, &[(&str, &str)]); 8] = [
        (&forget, &[]),
        ("browse", &[("action", "forget"), ("sure", "1"), ("id", &id)]),
        ("browse", &[("action", "tag"), ("add", "x"), ("id", &id)]),
        ("import", &[("content", "no")]),
        ("jobs", &[("action", "retry-all")]),
        ("entities/decide", &[("action", "merge"), ("a", "1"), ("b", "2")]),
        ("namespaces/forget", &[("name", "default")]),
        ("keys", &[("action", "create"), ("name", "mine"), ("role", "admin"), ("namespaces", "default")]),
    ];
    let mut browser = Browser::signed_in(&server, &reader).await;
    for (page, form) in writes {
        assert_eq!(browser.post(page, form).await.status, StatusCode::FORBIDDEN, "{page}");
    }
    for page in ["audit", "keys", "settings", "import"] {
        assert_eq!(browser.get(page).await.status, StatusCode::FORBIDDEN, "{page}");
    }
    for page in ["overview", "browse", "jobs", "entities", "entities/merges", "namespaces", text.as_str()] {
        let shown = browser.get(page).await;
        assert_eq!(shown.status, StatusCode::OK, "{page}");
        for button in [
            "Forget",
            "Retry",
            ">Cancel",
            ">Tag<",
            "value=\"merge\"",
            "Save",
            "/keys",
            "/audit",
            "/settings",
            "Add texts",
        ] {
            assert!(!shown.text.contains(button), "{page} shows a reader {button}");
        }
    }
    assert_eq!(browser.get_at("/ui/n/other/overview").await.status, StatusCode::FORBIDDEN);
    assert_eq!(browser.get_at("/ui/n/nobody/overview").await.status, StatusCode::FORBIDDEN);

    let mut browser = Browser::signed_in(&server, &writer).await;
    assert_eq!(browser.get_at("/ui/n/other/browse").await.status, StatusCode::OK);
    for page in ["audit", "keys", "settings"] {
        assert_eq!(browser.get(page).await.status, StatusCode::FORBIDDEN, "{page}");
    }
    assert_eq!(browser.post("namespaces/forget", &[("name", "default")]).await.status, StatusCode::FORBIDDEN);
    let tagged = browser.post("browse", &[("action", "tag"), ("add", "x, y"), ("id", &id)]).await;
    assert_eq!(tagged.status, StatusCode::SEE_OTHER);
    assert!(browser.get("browse").await.text.contains("1 text tagged."));

    let mut browser = Browser::signed_in(&server, &admin).await;
    assert_eq!(browser.get("keys").await.status, StatusCode::FORBIDDEN, "keys are not managed by keys");
    let audit = browser.get("audit").await;
    assert!(
        audit.text.contains("writes") && audit.text.contains(&id) && !audit.text.contains("keys create"),
        "{}",
        audit.text
    );

    // A session is over with its key.
    data_dir.run(&["keys", "revoke", "runs"]).await;
    assert_eq!(browser.get("overview").await.status, StatusCode::SEE_OTHER);
    let mut browser = Browser::signed_in(&server, &reader).await;
    let csrf = browser.csrf().await;
    assert_eq!(browser.post_at("/ui/logout", &[("csrf", &csrf)]).await.status, StatusCode::SEE_OTHER);
    assert_eq!(browser.get("overview").await.status, StatusCode::SEE_OTHER);
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

#[tokio::test]
async fn a_token_opens_all_and_its_settings_are_shown_without_it() {
    let data_dir = DataDir::warm();
    let mut command = data_dir.command("remembrancer");
    command
        .env("REMEMBRANCER_TOKEN", "a-token-that-is-long-enough")
        .env("REMEMBRANCER_LLM_KEY", "sk-very-secret");
    let server = Server::start_with(command).await;
    let mut stranger = Browser::at(&server);
    eventually("strangers are asked for a key", PATIENCE, async || {
        stranger.get_at("/ui").await.headers.get(LOCATION).is_some_and(|to| to == "/ui/login?to=%2Fui")
    })
    .await;
    let mut browser = Browser::signed_in(&server, "a-token-that-is-long-enough").await;
    eventually("the memory is there", PATIENCE, async || {
        browser.get("settings").await.status == StatusCode::OK
    })
    .await;
    let settings = browser.get("settings").await.text;
    assert!(
        settings.contains("REMEMBRANCER_LLM_KEY")
            && !settings.contains("secret")
            && !settings.contains("long-enough"),
        "{settings}"
    );
    let form = [("action", "create"), ("name", "phone"), ("role", "reader"), ("namespaces", "default")];
    let keys = browser.post("keys", &form).await.text;
    let key = keys.split("rem_").nth(1).and_then(|rest| rest.split('<').next()).expect("it is shown once");
    assert!(!browser.get("keys").await.text.contains(key), "and never again");
    Browser::signed_in(&server, &format!("rem_{key}")).await;
}

#[tokio::test]
async fn without_the_dashboard_there_is_nothing_at_its_address() {
    let data_dir = DataDir::warm();
    let server = Server::start_as(data_dir.command("remembrancer"), &["--dashboard", "off"]).await;
    let mut browser = Browser::at(&server);
    for path in ["/ui", "/ui/login", "/ui/n/default/overview"] {
        assert_eq!(browser.get_at(path).await.status, StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test]
async fn a_listener_that_only_reads_has_pages_that_only_read() {
    let data_dir = DataDir::warm();
    let server = Server::start_as(data_dir.command("remembrancer"), &["--read-only"]).await;
    server.ask("status", json!({})).await;
    let mut browser = Browser::at(&server);
    let refused = browser.post("import", &[("content", "no")]).await;
    assert!(
        refused.status == StatusCode::FORBIDDEN && refused.text.contains("--read-only"),
        "{}",
        refused.text
    );
    assert!(!browser.get("browse").await.text.contains("Add texts"));
}

#[tokio::test]
async fn a_session_by_the_password_ends_when_the_password_is_changed() {
    let data_dir = DataDir::warm();
    let mut command = data_dir.command("remembrancer");
    command.env("REMEMBRANCER_TOKEN", "a-token-that-is-long-enough");
    let server = Server::start_with(command).await;
    let mut owner = Browser::signed_in(&server, "a-token-that-is-long-enough").await;
    eventually("the memory is there", PATIENCE, async || {
        owner.get("settings").await.status == StatusCode::OK
    })
    .await;
    let first = "the first password of this house";
    assert!(set_password(&data_dir, first).await.status.success());
    let mut browser = Browser::signed_in(&server, first).await;
    assert_eq!(browser.get("settings").await.status, StatusCode::OK);
    // The same once more is another: who changes it because somebody has seen it is rid of them.
    assert!(set_password(&data_dir, first).await.status.success());
    let shown = browser.get("settings").await;
    assert!(shown.headers.get(LOCATION).is_some_and(|to| to.to_str().unwrap().starts_with("/ui/login")));
    let mut again = Browser::signed_in(&server, first).await;
    assert_eq!(again.get("settings").await.status, StatusCode::OK);
}
