//! Backups of a data folder in use, and data folders made of them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use memory_extraction::RulesExtractor;
use memory_store::embedded::EmbeddedPostgres;
use memory_tests::process::{DataDir, Ran, Server, eventually};
use memory_tests::{Fixture, fresh_database, postgres_bin};
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};
use tempfile::TempDir;

use crate::archive::{have_documents, have_graphs};
use crate::archive_schema::SCHEMA;
use crate::shorthand::{light, ns};

/// A folder for backups.
pub(crate) fn shelf() -> TempDir {
    tempfile::Builder::new().prefix("remembrancer-backups-").tempdir().expect("a folder is made")
}

/// The command must succeed and print JSON.
pub(crate) async fn done(data_dir: &DataDir, arguments: &[&str]) -> Value {
    let ran = data_dir.run(arguments).await;
    assert!(ran.status.success(), "{arguments:?}: {ran:?} {}", log_of(data_dir));
    ran.json()
}

fn log_of(data_dir: &DataDir) -> String {
    std::fs::read_to_string(data_dir.path().join("test.log")).unwrap_or_default()
}

/// Makes a backup; gives its folder.
pub(crate) async fn backed_up(data_dir: &DataDir, shelf: &Path, more: &[&str]) -> PathBuf {
    let folder = shelf.to_str().expect("UTF-8");
    let made = done(data_dir, &[&["backup", folder, "--json"], more].concat()).await;
    PathBuf::from(made["path"].as_str().expect("a path"))
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// What is in a folder of backups, but for its lock.
pub(crate) fn listed(shelf: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(shelf).expect("it is listed").filter_map(Result::ok);
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name != ".remembrancer-backup.lock").collect()
}

pub(crate) async fn have_three_texts(server: &Server) {
    for content in [
        "Alice Chen committed to deliver the API design by Friday.",
        "We decided to use PostgreSQL for the event store.",
        "Bob is waiting on schema review from Alice, which may delay the migration.",
    ] {
        server.ask("remember", json!({"content": content})).await;
    }
    let entity = json!({"name": "Apollo", "entityType": "Project", "observations": ["Ships in May"]});
    server.ask("create_entities", json!({"entities": [entity]})).await;
    server.settled().await;
}

/// What is answered, but for what depends on the process that answers.
async fn answers(server: &Server) -> Vec<Value> {
    let mut all = Vec::new();
    for query in ["What did Alice promise?", "Which database?", "Apollo"] {
        let found = server.ask("recall", json!({"query": query})).await;
        all.push(json!([found["results"], found["related"], found["entities"], found["facts"]]));
    }
    all.push(server.ask("read_graph", json!({})).await);
    all
}

#[tokio::test]
async fn a_restored_backup_answers_what_the_original_answered() {
    let (data_dir, shelf) = (DataDir::warm(), shelf());
    let server = Server::start(&data_dir).await;
    have_three_texts(&server).await;
    let before = answers(&server).await;
    let backup = backed_up(&data_dir, shelf.path(), &[]).await;
    let proof = done(&data_dir, &["restore", "--verify", text(&backup), "--json"]).await;
    assert_eq!(proof["verified"]["probes"], 3, "{proof}");
    assert!(proof["verified"]["notes"].as_array().expect("notes").is_empty(), "{proof}");
    assert!(!data_dir.path().join("verify").exists());
    let other = DataDir::new();
    done(&data_dir, &["restore", text(&backup), "--into", text(other.path()), "--json"]).await;
    let restored = Server::start(&other).await;
    assert_eq!(answers(&restored).await, before);
    let problems = restored.ask("status", json!({})).await;
    assert_eq!(problems["healthy"], true, "{problems}");
}

#[tokio::test]
async fn a_backup_that_is_made_amid_writes_is_whole_and_has_what_was_acknowledged_before() {
    let (data_dir, shelf) = (DataDir::warm(), shelf());
    let server = Server::start(&data_dir).await;
    have_three_texts(&server).await;
    let writing = async {
        let mut n = 0;
        while listed(shelf.path()).iter().all(|name| name.starts_with('.')) {
            server.ask("remember", json!({"content": format!("Side note {n}."), "tags": ["later"]})).await;
            n += 1;
        }
        n
    };
    let (backup, written) = tokio::join!(backed_up(&data_dir, shelf.path(), &[]), writing);
    assert!(written > 0, "nothing was written while the backup was made");
    done(&data_dir, &["restore", "--verify", text(&backup), "--json"]).await;
    let other = DataDir::new();
    done(&data_dir, &["restore", text(&backup), "--into", text(other.path()), "--json"]).await;
    let restored = Server::start(&other).await;
    let found = restored.ask("recall", json!({"query": "What did Alice Chen promise?"})).await;
    assert!(found["results"][0]["snippet"].as_str().is_some_and(|s| s.contains("API design")), "{found}");
    restored.settled().await;
    let counts = restored.ask("status", json!({})).await["counts"]["artifacts"].as_i64().expect("a count");
    assert!((3..=3 + written).contains(&counts), "{counts} of {written}");
}

#[tokio::test]
async fn rows_that_come_and_go_while_a_backup_is_made_are_no_fault_of_it() {
    let (data_dir, shelf) = (DataDir::warm(), shelf());
    let server = Server::start(&data_dir).await;
    have_three_texts(&server).await;
    let writing = async {
        let mut database = PgConnection::connect(&data_dir.database_url()).await.expect("it answers");
        while listed(shelf.path()).iter().all(|name| name.starts_with('.')) {
            for statement in [
                "insert into event_worker (worker_id) select gen_random_uuid() from generate_series(1, 200)",
                "delete from event_worker where last_seen = started_at",
            ] {
                sqlx::raw_sql(statement).execute(&mut database).await.expect("it is done");
            }
        }
    };
    let (backup, ()) = tokio::join!(backed_up(&data_dir, shelf.path(), &[]), writing);
    let manifest = std::fs::read(backup.join("manifest.json")).expect("there is one");
    let manifest: Value = serde_json::from_slice(&manifest).expect("JSON");
    let written = &manifest["written"];
    assert!(written["event_worker"].as_i64().is_some_and(|rows| rows >= 400), "{written}");
    assert!(written["_sqlx_migrations"].is_null(), "{written}");
    done(&data_dir, &["restore", "--verify", text(&backup), "--json"]).await;
}

#[tokio::test]
async fn a_process_in_the_background_does_not_end_while_it_makes_a_backup() {
    let (data_dir, shelf) = (DataDir::warm(), shelf());
    let postgres = EmbeddedPostgres::new(postgres_bin(), data_dir.path().join("postgres"));
    postgres.start().await.expect("it starts");
    // The backup counts this table first, and nothing else reads it.
    let mut holding = PgConnection::connect(&postgres.url()).await.expect("it answers");
    sqlx::raw_sql("begin; lock table entity_candidate in access exclusive mode")
        .execute(&mut holding)
        .await
        .expect("it is locked");
    let mut command = data_dir.command("remembrancer");
    command.env("REMEMBRANCER_BACKUP_DIR", shelf.path()).env("REMEMBRANCER_IDLE_SECONDS", "1");
    let ran = Ran::of(command.arg("status")).await;
    assert!(ran.status.success(), "{ran:?}");
    let mut watching = PgConnection::connect(&postgres.url()).await.expect("it answers");
    let is_waited_for =
        "select exists (select from pg_locks where not granted and relation = 'entity_candidate'::regclass)";
    eventually("the backup waits", Duration::from_secs(60), async || {
        sqlx::query_scalar(is_waited_for).fetch_one(&mut watching).await.expect("it is asked")
    })
    .await;
    // Several times as long as it would wait for work.
    let until = Instant::now() + Duration::from_secs(5);
    while Instant::now() < until {
        assert!(!data_dir.instances().is_empty(), "it has ended amid its backup");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    sqlx::raw_sql("commit").execute(&mut holding).await.expect("it is let go");
    drop((holding, watching));
    eventually("the backup is there", Duration::from_secs(60), async || {
        listed(shelf.path()).iter().any(|name| name.ends_with("-physical"))
    })
    .await;
    eventually("it ends", Duration::from_secs(60), async || data_dir.instances().is_empty()).await;
}

#[tokio::test]
async fn the_manifest_counts_every_table_and_says_what_made_the_backup() {
    let (data_dir, shelf) = (DataDir::warm(), shelf());
    let backup = backed_up(&data_dir, shelf.path(), &[]).await;
    let manifest = std::fs::read(backup.join("manifest.json")).expect("there is one");
    let manifest: Value = serde_json::from_slice(&manifest).expect("JSON");
    let mut database = PgConnection::connect(&data_dir.database_url()).await.expect("it runs on");
    let tables: Vec<String> =
        sqlx::query_scalar("select tablename::text from pg_tables where schemaname = 'public' order by 1")
            .fetch_all(&mut database)
            .await
            .expect("tables");
    let counted: Vec<&String> = manifest["counts"].as_object().expect("counts").keys().collect();
    assert_eq!(counted, tables.iter().collect::<Vec<_>>());
    let newest: i64 = sqlx::query_scalar("select max(version) from _sqlx_migrations")
        .fetch_one(&mut database)
        .await
        .expect("a schema");
    let says = &manifest["database"];
    assert_eq!(says["schema"], newest);
    assert_eq!(says["postgres_major"], 18);
    assert!(says["pgvector"].as_str().is_some_and(|v| v.starts_with("0.")), "{says}");
    assert_eq!(says["model"]["dimension"], 384);
    assert!(says["source"].is_string(), "{says}");
    assert_eq!(manifest["product"], env!("CARGO_PKG_VERSION"));
    let files = manifest["files"].as_object().expect("files");
    assert!(files.contains_key("data/PG_VERSION") && files.contains_key("data/backup_manifest"));
    assert!(files.values().all(|file| file["sha256"].as_str().is_some_and(|sum| sum.len() == 64)));
    // Other users may not read it.
    let mode = std::fs::metadata(&backup).expect("its mode").permissions();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode) & 0o077, 0);
}

#[tokio::test]
async fn a_logical_backup_of_a_shared_database_holds_all_that_is_kept_of_every_namespace() {
    let f = light(Arc::new(RulesExtractor::new())).await;
    let in_namespace =
        |name: &str| Fixture { memory: Arc::clone(&f.memory), url: f.url.clone(), ns: ns(name) };
    have_documents(&f).await;
    have_documents(&in_namespace("Team.A")).await;
    // No text, nothing but a graph.
    have_graphs(&in_namespace("graph_only")).await;
    f.drain().await;
    let (data_dir, shelf, into) = (DataDir::new(), shelf(), DataDir::new());
    let run = async |arguments: &[&str], url: Option<&str>| {
        let mut command = data_dir.command("remembrancer");
        if let Some(url) = url {
            command.env("DATABASE_URL", url);
        }
        let ran = Ran::of(command.args(arguments)).await;
        assert!(ran.status.success(), "{ran:?} {}", log_of(&data_dir));
        ran.json()
    };
    let made = run(&["backup", "--logical", text(shelf.path()), "--json"], Some(&f.url)).await;
    let backup = PathBuf::from(made["path"].as_str().expect("a path"));
    let names: Vec<&str> = made["namespaces"]
        .as_array()
        .expect("namespaces")
        .iter()
        .filter_map(|one| one["namespace"].as_str())
        .collect();
    assert_eq!(names.iter().copied().collect::<BTreeSet<_>>(), ["Team.A", "default", "graph_only"].into());
    let proof = run(&["restore", "--verify", text(&backup), "--json"], None).await;
    assert!(proof["verified"]["probes"].as_i64().is_some_and(|n| n > 0), "{proof}");
    run(&["restore", text(&backup), "--into", text(into.path()), "--json"], None).await;

    let postgres = EmbeddedPostgres::new(postgres_bin(), into.path().join("postgres"));
    postgres.start().await.expect("what was restored starts");
    let (mut compared, mut namespaces) = (0, BTreeSet::new());
    for one in SCHEMA.iter().filter(|one| !one.kept.is_empty()) {
        let columns: Vec<String> =
            one.kept.split_whitespace().map(|column| format!("t.\"{column}\"")).collect();
        let statement =
            format!("select row(t.namespace, {})::text from {} t order by 1", columns.join(", "), one.table);
        let mut sides = Vec::new();
        for url in [&f.url, &postgres.url()] {
            let mut database = PgConnection::connect(url).await.expect("it answers");
            let statement = sqlx::AssertSqlSafe(statement.clone());
            let rows: Vec<String> =
                sqlx::query_scalar(statement).fetch_all(&mut database).await.expect("it lists");
            sides.push(rows);
        }
        assert_eq!(sides[1], sides[0], "{}", one.table);
        compared += sides[0].len();
        let of = |row: &String| row.trim_start_matches('(').split(',').next().map(str::to_owned);
        namespaces.extend(sides[0].iter().filter_map(of));
    }
    postgres.stop().await.expect("it stops");
    assert!(compared > 100, "only {compared} rows were compared");
    assert_eq!(namespaces.len(), 3, "{namespaces:?}");
}

#[tokio::test]
async fn a_copy_of_a_shared_database_is_left_to_its_own_tools() {
    let (data_dir, shelf) = (DataDir::new(), shelf());
    let mut command = data_dir.command("remembrancer");
    command.env("DATABASE_URL", fresh_database().await).args(["backup", text(shelf.path())]);
    let ran = Ran::of(command.stderr(std::process::Stdio::piped())).await;
    assert!(ran.refusal().contains("pgBackRest") && ran.refusal().contains("--logical"), "{ran:?}");
    assert!(listed(shelf.path()).is_empty());
}

#[tokio::test]
async fn a_folder_that_no_server_runs_on_is_started_for_the_time() {
    let (data_dir, shelf) = (DataDir::warm(), shelf());
    assert!(data_dir.instances().is_empty());
    let backup = backed_up(&data_dir, shelf.path(), &[]).await;
    let ran = data_dir.run(&["stop"]).await;
    assert!(ran.status.success(), "{ran:?}");
    assert!(data_dir.postmaster_pid().is_none());
    done(&data_dir, &["restore", "--verify", text(&backup), "--json"]).await;
    // A proof starts nothing that stays.
    assert!(data_dir.instances().is_empty() && data_dir.postmaster_pid().is_none());
}

#[tokio::test]
async fn the_last_of_each_day_stays_and_what_is_not_ours_too() {
    let (data_dir, shelf) = (DataDir::warm(), shelf());
    let first = backed_up(&data_dir, shelf.path(), &["--logical"]).await;
    let of_day = |day: &str, source: &str| {
        let name = format!("remembrancer-{day}T010000Z-logical{}", source.len());
        let copy = shelf.path().join(&name);
        std::fs::create_dir(&copy).expect("a folder");
        let manifest = std::fs::read_to_string(first.join("manifest.json")).expect("a manifest");
        let mut manifest: Value = serde_json::from_str(&manifest).expect("JSON");
        let day = format!("{}-{}-{}T01:00:00Z", &day[..4], &day[4..6], &day[6..]);
        manifest["created_at"] = json!(day);
        if !source.is_empty() {
            manifest["database"]["source"] = json!(source);
        }
        std::fs::write(copy.join("manifest.json"), manifest.to_string()).expect("it is written");
        name
    };
    // Sunday and Monday of one week, and of another database.
    let (monday, sunday) = (of_day("20260202", ""), of_day("20260208", ""));
    let (older, foreign) = (of_day("20260120", ""), of_day("20260121", "another"));
    std::fs::create_dir(shelf.path().join("photos")).expect("a folder");
    let kept = ["--logical", "--keep-daily", "2", "--keep-weekly", "2"];
    let newest = backed_up(&data_dir, shelf.path(), &kept).await;
    let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
    let expected: BTreeSet<String> = [name(&newest), sunday.clone(), foreign, "photos".to_owned()].into();
    // Of the two of this day the last stays.
    assert!(!first.exists() || name(&first) == name(&newest));
    assert_eq!(listed(shelf.path()), expected, "{monday} and {older} were to go");
}

#[tokio::test]
async fn a_server_makes_backups_by_itself_and_status_tells_when_it_cannot() {
    let (data_dir, shelf) = (DataDir::warm(), shelf());
    let mut command = data_dir.command("remembrancer");
    command.env("REMEMBRANCER_BACKUP_DIR", shelf.path());
    let server = Server::start_with(command).await;
    eventually("a backup is there", Duration::from_secs(60), async || {
        listed(shelf.path()).iter().any(|name| name.ends_with("-physical"))
    })
    .await;
    assert_eq!(server.ask("status", json!({})).await["healthy"], true);
    server.terminate().await;

    // The next start finds that none is due; in a place where none can be made it says so.
    let made = listed(shelf.path());
    let occupied = shelf.path().join("a-file");
    std::fs::write(&occupied, "no folder").expect("it is written");
    let mut command = data_dir.command("remembrancer");
    command.env("REMEMBRANCER_BACKUP_DIR", &occupied);
    let server = Server::start_with(command).await;
    let problem = async || {
        let status = server.ask("status", json!({})).await;
        status["problems"].as_array().expect("problems").first().cloned()
    };
    eventually("the failure is told", Duration::from_secs(60), async || problem().await.is_some()).await;
    let problem = problem().await.expect("a problem");
    let what = problem["what"].as_str().expect("a sentence");
    assert!(what.contains("backup") && what.contains("a-file"), "{problem}");
    assert!(problem["since"].is_string() && problem["advice"].is_string(), "{problem}");
    server.terminate().await;

    let mut command = data_dir.command("remembrancer");
    command.env("REMEMBRANCER_BACKUP_DIR", shelf.path());
    let server = Server::start_with(command).await;
    assert_eq!(server.ask("status", json!({})).await["healthy"], true);
    server.terminate().await;
    let now: BTreeSet<String> = listed(shelf.path()).into_iter().filter(|name| name != "a-file").collect();
    assert_eq!(now, made);
}
