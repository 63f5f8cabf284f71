//! Whether a process lives, whether it is ready, and what `health` makes of that.

use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use memory_tests::fresh_database;
use memory_tests::process::{DataDir, Ran, Server, call, eventually, free_port, http_client, kill};
use reqwest::StatusCode;
use rustix::process::Signal;
use serde_json::{Value, json};
use sqlx::{Connection, Executor, PgConnection};

const PATIENCE: Duration = Duration::from_secs(60);

async fn get(url: &str) -> Option<(StatusCode, String)> {
    let response = http_client().get(url).send().await.ok()?;
    Some((response.status(), response.text().await.ok()?))
}

async fn readyz(url: &str) -> Value {
    let (status, body) = get(url).await.expect("it is answered");
    let told: Value = serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error}: {body}"));
    assert_eq!(status.is_success(), told["ready"] == true, "{status}: {told}");
    told
}

fn at(server: &Server, page: &str) -> String {
    server.url.replace("/mcp", page)
}

/// `remembrancer health` as a container's health check calls it, with the server's own settings.
async fn health(data_dir: &DataDir, server: &Server) -> Ran {
    let bind = server.url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
    let mut command = data_dir.command("remembrancer");
    command.env("REMEMBRANCER_BIND", bind).arg("health").stderr(Stdio::piped());
    Ran::of(&mut command).await
}

#[tokio::test]
async fn a_server_is_ready_when_its_database_and_its_model_are_and_lives_before() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    assert_eq!(get(&at(&server, "/livez")).await.expect("it is answered").0, StatusCode::OK);
    eventually("it is ready", PATIENCE, async || readyz(&at(&server, "/readyz")).await["ready"] == true)
        .await;
    let ran = health(&data_dir, &server).await;
    assert!(ran.status.success() && ran.stdout.is_empty(), "{ran:?}");
    // The old page said ok whatever was the case.
    assert_eq!(get(&at(&server, "/health")).await.expect("it is answered").0, StatusCode::NOT_FOUND);
    server.terminate().await;
}

#[tokio::test]
async fn a_server_whose_database_stands_still_lives_and_says_that_it_is_not_ready_until_it_goes_on() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let url = at(&server, "/readyz");
    eventually("it is ready", PATIENCE, async || readyz(&url).await["ready"] == true).await;
    let postmaster = data_dir.postmaster_pid().expect("the database runs");
    let backends = std::fs::read_to_string(format!("/proc/{postmaster}/task/{postmaster}/children"));
    let stopped: Vec<i32> = backends
        .expect("its processes are listed")
        .split_whitespace()
        .map(|pid| pid.parse().expect("a number"))
        .chain([postmaster])
        .collect();
    for pid in &stopped {
        kill(*pid, Signal::STOP);
    }
    eventually("it is not ready", PATIENCE, async || readyz(&url).await["waiting_for"] == "database").await;
    let asked = Instant::now();
    assert_eq!(readyz(&url).await["ready"], false);
    assert!(asked.elapsed() < Duration::from_secs(5), "a balancer would not wait so long for it");
    assert_eq!(get(&at(&server, "/livez")).await.expect("it is answered").0, StatusCode::OK);
    let ran = health(&data_dir, &server).await;
    assert!(ran.refusal().contains("database") && ran.refusal().contains("503"), "{ran:?}");
    for pid in &stopped {
        kill(*pid, Signal::CONT);
    }
    eventually("it is ready again", PATIENCE, async || readyz(&url).await["ready"] == true).await;
}

#[tokio::test]
async fn a_server_whose_connections_are_all_at_work_is_ready() {
    let (data_dir, database) = (DataDir::new(), fresh_database().await);
    let mut command = data_dir.command("remembrancer");
    command.env("DATABASE_URL", &database).env("REMEMBRANCER_DATABASE_CONNECTIONS", "4");
    let server = Arc::new(Server::start_with(command).await);
    let url = at(&server, "/readyz");
    eventually("it is ready", PATIENCE, async || readyz(&url).await["ready"] == true).await;
    let mut holding = PgConnection::connect(&database).await.expect("the database answers");
    holding
        .execute("begin; lock table artifact, artifact_revision in access exclusive mode")
        .await
        .expect("they are locked");
    let calls: Vec<_> = (0..12)
        .map(|n| {
            let server = Arc::clone(&server);
            let message = call("remember", json!({"content": format!("Side note {n}.")}));
            tokio::spawn(async move { server.try_post(&message).await })
        })
        .collect();
    let mut watching = PgConnection::connect(&database).await.expect("the database answers");
    let waiting = "select count(*) from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())";
    eventually("calls wait for the database", PATIENCE, async || {
        let waiting: i64 = sqlx::query_scalar(waiting).fetch_one(&mut watching).await.expect("it counts");
        waiting >= 2
    })
    .await;
    // For as long as a balancer needs to give up a server, several times over.
    let until = Instant::now() + Duration::from_secs(6);
    while Instant::now() < until {
        let told = readyz(&url).await;
        assert_eq!(told["ready"], true, "{told}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    holding.execute("rollback").await.expect("they are let go");
    for call in calls {
        call.await.expect("it is made");
    }
    assert_eq!(readyz(&url).await["ready"], true);
}

#[tokio::test]
async fn a_server_with_no_model_is_not_ready_and_says_why_to_who_has_the_token() {
    let data_dir = DataDir::warm();
    let no_model = data_dir.path().join("no model");
    std::fs::create_dir(&no_model).expect("a folder is made");
    let token = "a-token-of-thirty-two-characters";
    let mut command = data_dir.command("remembrancer");
    command.env("REMEMBRANCER_MODEL_DIR", &no_model).env("REMEMBRANCER_TOKEN", token);
    let server = Server::start_with(command).await;
    let url = at(&server, "/readyz");
    eventually("the model is missed", PATIENCE, async || readyz(&url).await["waiting_for"] == "model").await;
    let short = readyz(&url).await;
    assert!(!short.to_string().contains("no model"), "a stranger is told of a folder: {short}");
    let full = server.client().get(&url).bearer_auth(token).send().await.expect("it is answered");
    let full: Value = full.json().await.expect("JSON");
    assert!(full["reason"].as_str().is_some_and(|reason| reason.contains("no model")), "{full}");
}

#[tokio::test]
async fn a_server_that_waits_for_its_database_is_not_ready() {
    let data_dir = DataDir::new();
    let mut command = data_dir.command("remembrancer");
    command.env("DATABASE_URL", format!("postgres://u:hunter2@127.0.0.1:{}/db", free_port()));
    let server = Server::start_with(command).await;
    let url = at(&server, "/readyz");
    eventually("it says so", PATIENCE, async || readyz(&url).await["waiting_for"] == "database").await;
    let told = readyz(&url).await.to_string();
    assert!(told.contains("connection refused") && !told.contains("hunter2"), "{told}");
    // Another site's name, which a page could have led here, learns no address.
    let other = server.client().get(&url).header("Host", "evil.example").send().await.expect("an answer");
    let other = other.text().await.expect("text");
    assert!(other.contains("database") && !other.contains("127.0.0.1"), "{other}");
}

#[tokio::test]
async fn a_schema_that_lacks_a_migration_is_not_ready() {
    let (data_dir, database) = (DataDir::new(), fresh_database().await);
    let mut command = data_dir.command("remembrancer");
    command.env("DATABASE_URL", &database);
    let server = Server::start_with(command).await;
    let url = at(&server, "/readyz");
    eventually("it is ready", PATIENCE, async || readyz(&url).await["ready"] == true).await;
    let mut sql = PgConnection::connect(&database).await.expect("the database answers");
    sql.execute("delete from _sqlx_migrations where version = 2").await.expect("it is deleted");
    eventually("it says so", PATIENCE, async || readyz(&url).await["waiting_for"] == "migrations").await;
    assert!(readyz(&url).await["reason"].as_str().is_some_and(|r| r.contains("1 migration")));
}

#[tokio::test]
async fn health_says_in_one_line_what_is_wrong() {
    let data_dir = DataDir::empty();
    let url = format!("http://127.0.0.1:{}/readyz", free_port());
    for (url, said) in [
        (url.as_str(), "connection refused"),
        ("https://localhost/readyz", "only http://"),
        ("localhost", "only http://"),
        ("http://no-such-host.invalid/", "cannot be reached"),
    ] {
        let mut command = data_dir.command("remembrancer");
        let ran = Ran::of(command.args(["health", "--url", url]).stderr(Stdio::piped())).await;
        assert!(ran.refusal().contains(said) && ran.refusal().contains(url), "{ran:?}");
    }
    assert!(!data_dir.path().join("run").exists(), "health made a folder");
}

#[tokio::test]
async fn a_worker_tells_its_health_and_metrics_at_an_address_of_its_own() {
    let (data_dir, database, port) = (DataDir::new(), fresh_database().await, free_port());
    let mut command = data_dir.command("event-worker");
    command.env("DATABASE_URL", &database).env("REMEMBRANCER_METRICS_BIND", format!("127.0.0.1:{port}"));
    let mut worker = command.spawn().expect("it starts");
    let url = |page: &str| format!("http://127.0.0.1:{port}{page}");
    eventually("it is ready", PATIENCE, async || {
        assert!(worker.try_wait().expect("it is watched").is_none(), "the worker has ended");
        get(&url("/readyz")).await.is_some_and(|(status, _)| status.is_success())
    })
    .await;
    assert_eq!(get(&url("/livez")).await, Some((StatusCode::OK, "ok\n".to_owned())));
    let (status, metrics) = get(&url("/metrics")).await.expect("it is answered");
    assert!(status.is_success() && metrics.contains("remembrancer_build_info{version="), "{metrics}");
    assert_eq!(get(&url("/mcp")).await.expect("it is answered").0, StatusCode::NOT_FOUND);
    let posted = http_client().post(url("/metrics")).send().await.expect("it is answered");
    assert_eq!(posted.status(), StatusCode::METHOD_NOT_ALLOWED);
    let asked = url("/readyz");
    let ran = data_dir.run(&["health", "--url", &asked]).await;
    assert!(ran.status.success(), "{ran:?}");
}

#[tokio::test]
async fn a_serve_on_a_folder_that_another_holds_has_metrics_of_its_own_address() {
    let (data_dir, port) = (DataDir::warm(), free_port());
    let first = Server::start(&data_dir).await;
    let metrics_bind = format!("127.0.0.1:{port}");
    let second = Server::start_as(data_dir.command("remembrancer"), &["--metrics-bind", &metrics_bind]).await;
    first.ask("recall", json!({"query": "spare key"})).await;
    let url = format!("http://{metrics_bind}/metrics");
    let (_, metrics) = get(&url).await.expect("it is answered");
    assert!(metrics.contains("process_resident_memory_bytes"), "{metrics}");
    second.terminate().await;
    eventually("the address is let go", PATIENCE, async || get(&url).await.is_none()).await;
    let taken = std::net::TcpListener::bind(&metrics_bind).expect("the port is free");
    let ran = data_dir.run(&["serve", "--bind", "127.0.0.1:0", "--metrics-bind", &metrics_bind]).await;
    assert!(ran.refusal().contains("--metrics-bind"), "{ran:?}");
    drop(taken);
}

/// `doctor --json` with these settings: its exit status, and verdict and detail of each check.
async fn doctor(
    data_dir: &DataDir,
    settings: &[(&str, &str)],
) -> (Option<i32>, Vec<(String, String, String)>) {
    let mut command = data_dir.command("remembrancer");
    let ran = Ran::of(command.envs(settings.iter().copied()).args(["doctor", "--json"])).await;
    let found = ran.json();
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let checks = found["checks"].as_array().expect("checks").iter();
    let checks =
        checks.map(|f| (text(f, "check"), text(f, "verdict"), text(f, "detail") + &text(f, "advice")));
    (ran.status.code(), checks.collect())
}

fn check<'f>(found: &'f [(String, String, String)], name: &str) -> (&'f str, &'f str) {
    let found = found.iter().find(|(check, ..)| check == name).unwrap_or_else(|| panic!("{name}: {found:?}"));
    (&found.1, &found.2)
}

#[tokio::test]
async fn doctor_finds_a_sound_installation_sound_and_changes_nothing() {
    let data_dir = DataDir::warm();
    let bind = format!("127.0.0.1:{}", free_port());
    let (code, found) = doctor(&data_dir, &[("REMEMBRANCER_BIND", &bind)]).await;
    assert_eq!(code, Some(0), "{found:?}");
    for name in ["settings", "disk", "postgres", "onnxruntime", "model", "database", "port"] {
        assert_eq!(check(&found, name).0, "ok", "{found:?}");
    }
    assert!(data_dir.instances().is_empty(), "doctor started a process");

    let server = Server::start(&data_dir).await;
    server.ask("status", json!({})).await;
    let bind = server.url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
    let (code, found) = doctor(&data_dir, &[("REMEMBRANCER_BIND", &bind)]).await;
    assert!(code == Some(0) && check(&found, "port").1.contains("is ready"), "{found:?}");
    assert!(
        check(&found, "database").1.contains("pgvector") && check(&found, "clock").0 == "ok",
        "{found:?}"
    );
}

#[tokio::test]
async fn doctor_says_what_is_wrong_and_what_to_do() {
    let data_dir = DataDir::warm();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    std::thread::spawn({
        let taken = taken.try_clone().expect("it is shared");
        move || while taken.accept().is_ok() {}
    });
    let bind = taken.local_addr().expect("an address").to_string();
    let model = data_dir.path().join("model");
    std::fs::create_dir(&model).expect("a folder");
    let files = std::fs::read_dir(memory_tests::components_dir().join("models/all-MiniLM-L6-v2-int8"))
        .expect("the model");
    for file in files.filter_map(Result::ok) {
        std::fs::copy(file.path(), model.join(file.file_name())).expect("it is copied");
    }
    memory_inference::integrity::write_sums(&model).expect("the sums are noted");
    let tokenizer = model.join("tokenizer.json");
    let altered = std::fs::read_to_string(&tokenizer).expect("it is read") + " ";
    std::fs::write(&tokenizer, altered).expect("it is altered");
    let database = format!("postgres://u:hunter2@127.0.0.1:{}/db", free_port());
    let model = model.to_string_lossy().into_owned();
    let settings = [
        ("REMEMBRANCER_BIND", bind.as_str()),
        ("REMEMBRANCER_MODEL_DIR", &model),
        ("DATABASE_URL", &database),
        ("REMEMBRANCER_TOKEN", "short"),
    ];
    let (code, found) = doctor(&data_dir, &settings).await;
    assert_eq!(code, Some(1), "{found:?}");
    for (name, said) in [
        ("settings", "REMEMBRANCER_TOKEN"),
        ("model", "tokenizer.json"),
        ("database", "connection refused"),
        ("port", "in use by something"),
    ] {
        let (verdict, told) = check(&found, name);
        assert!(verdict == "failed" && told.contains(said) && !told.contains("hunter2"), "{name}: {found:?}");
    }
    let nothing = DataDir::empty();
    let (code, found) =
        doctor(&nothing, &[("REMEMBRANCER_BIND", &format!("127.0.0.1:{}", free_port()))]).await;
    assert_eq!(code, Some(1));
    for name in ["postgres", "onnxruntime", "model"] {
        let (verdict, told) = check(&found, name);
        assert!(verdict == "failed" && told.contains("`remembrancer setup`"), "{name}: {found:?}");
    }
}
