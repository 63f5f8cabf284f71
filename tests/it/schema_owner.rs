//! A schema that one role owns and another works with.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use memory_core::id::{AnyId, Namespace};
use memory_core::ports::ModelInfo;
use memory_engine::Memory;
use memory_extraction::RulesExtractor;
use memory_store::embedded::EmbeddedPostgres;
use memory_store::reembedding::{self, Registered};
use memory_store::schema::{self, RuntimeRole};
use memory_store::{Store, StoreError};
use memory_tests::process::{DataDir, Ran, Server, eventually};
use memory_tests::qdrant::StandIn;
use memory_tests::{Fixture, at_once, empty_database, fresh_database, model, postgres_bin};
use serde_json::json;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection};

const PATIENCE: Duration = Duration::from_secs(60);

/// A role of a name of its own, which can log in. Roles are the whole server's.
struct Role(String);

impl Role {
    async fn make(url: &str) -> Self {
        let role = Self(format!("app_{}", uuid::Uuid::new_v4().simple()));
        execute(url, &format!("create role {} login", role.0)).await;
        role
    }

    fn name(&self) -> RuntimeRole {
        RuntimeRole { name: self.0.clone(), password: None }
    }

    /// The same database as this role.
    fn url(&self, owners: &str) -> String {
        owners.replacen("//postgres@", &format!("//{}@", self.0), 1)
    }
}

async fn execute(url: &str, statement: &str) {
    let mut conn = PgConnection::connect(url).await.expect("the database answers");
    sqlx::raw_sql(AssertSqlSafe(statement.to_owned())).execute(&mut conn).await.expect("it is done");
}

async fn strings(url: &str, statement: &str) -> Vec<String> {
    let mut conn = PgConnection::connect(url).await.expect("the database answers");
    sqlx::query_scalar(AssertSqlSafe(statement.to_owned())).fetch_all(&mut conn).await.expect("it is read")
}

#[tokio::test]
async fn a_role_that_owns_nothing_waits_for_the_schema_and_then_works() {
    let owner = empty_database().await;
    let role = Role::make(&owner).await;
    let Err(StoreError::Unprepared(reason)) = Store::open(&role.url(&owner), 4).await else {
        panic!("it was opened")
    };
    assert!(reason.contains(&format!("remembrancer migrate --grant-to {}", role.0)), "{reason}");
    assert!(StoreError::Unprepared(reason).is_passing(), "it is tried again");

    let migrated = Store::migrate(&owner, Some(&role.name())).await.expect("it migrates");
    assert_eq!((migrated.from, migrated.to), (None, schema::known_version()));
    let again = Store::migrate(&owner, Some(&role.name())).await.expect("a second time");
    assert_eq!((again.from, again.to), (Some(migrated.to), migrated.to), "changes nothing");

    let store = Store::open(&role.url(&owner), 8).await.expect("it is opened");
    let memory = Arc::new(Memory::new(store, Arc::new(RulesExtractor::new()), at_once()));
    // This makes an index, which is the owner's.
    memory.adopt_model(model()).await.expect("the model is adopted");
    let f = Fixture { memory, url: role.url(&owner), ns: Namespace::default() };
    let id = f.remember("Alice Chen committed to deliver the API design by Friday.").await.id;
    f.drain().await;
    let found = f.recall("What did Alice promise?").await;
    assert_eq!(found.results.len(), 1);
    assert!(!found.results[0].hit.events.is_empty(), "its events were extracted");
    f.memory.forget(&f.ns, &AnyId::Artifact(id), true).await.expect("it is forgotten");
    assert!(f.recall("What did Alice promise?").await.results.is_empty());
}

#[tokio::test]
async fn a_role_that_owns_nothing_has_indexes_of_models_made_and_removed() {
    let owner = fresh_database().await;
    let role = Role::make(&owner).await;
    Store::migrate(&owner, Some(&role.name())).await.expect("it migrates");
    let store = Store::open(&role.url(&owner), 4).await.expect("it is opened");
    let mut tx = store.begin_across().await.expect("it begins");
    let other = ModelInfo { id: "other".to_owned(), dimension: 8 };
    let Registered::Inactive(model) = reembedding::register(&mut tx, &other).await.expect("it is registered")
    else {
        panic!("it was there")
    };
    tx.commit().await.expect("it is committed");
    let made = "select indexname::text from pg_indexes where indexname like 'passage_embedding_hnsw%'";
    let mut conn = store.acquire_across().await.expect("a connection");
    for _ in 0..2 {
        reembedding::ensure_index(&mut conn, &model).await.expect("it is made once");
        assert_eq!(strings(&owner, made).await.len(), 1);
    }
    reembedding::begin_removal(&mut conn, &model).await.expect("it is removed");
    assert!(strings(&owner, made).await.is_empty());
}

#[tokio::test]
async fn a_role_that_owns_nothing_reads_and_writes_rows_and_changes_no_schema() {
    let owner = fresh_database().await;
    let role = Role::make(&owner).await;
    Store::migrate(&owner, Some(&role.name())).await.expect("it migrates");
    let lacking = strings(
        &owner,
        &format!(
            "select c.relname::text from pg_class c
             where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'v') and c.relname <> '_sqlx_migrations'
               and not (has_table_privilege('{0}', c.oid, 'select')
                        and (c.relkind = 'v' or has_table_privilege('{0}', c.oid, 'insert')
                                                and has_table_privilege('{0}', c.oid, 'update')
                                                and has_table_privilege('{0}', c.oid, 'delete')))",
            role.0
        ),
    )
    .await;
    assert!(lacking.is_empty(), "{lacking:?} are closed to it");
    let mut conn = PgConnection::connect(&role.url(&owner)).await.expect("it logs in");
    for statement in [
        "create table mine (x int)",
        "drop table event_jobs",
        "alter table artifact add x int",
        "drop index passage_lex",
        "delete from _sqlx_migrations",
        "truncate artifact",
        "alter table passage_embedding disable trigger all",
        "create function f() returns int language sql as 'select 1'",
        "alter function create_vector_index(smallint) reset all",
    ] {
        let refused = sqlx::raw_sql(statement).execute(&mut conn).await;
        let refused = refused.expect_err(statement).to_string();
        assert!(
            refused.contains("permission denied") || refused.contains("must be owner"),
            "{statement}: {refused}"
        );
    }
    // A table of its own is not taken for the one that is meant.
    sqlx::raw_sql("create temp table embedding_model (model_id smallint, dimension int); insert into embedding_model values (77, 3)")
        .execute(&mut conn)
        .await
        .expect("everybody may make such a table");
    sqlx::raw_sql("select create_vector_index(77::smallint)")
        .execute(&mut conn)
        .await
        .expect_err("there is no model 77");
    let paths = strings(
        &owner,
        "select coalesce(array_to_string(proconfig, ';'), '') from pg_proc
         where prosecdef and pronamespace = 'public'::regnamespace",
    )
    .await;
    assert!(paths.len() >= 4 && paths.iter().all(|path| path.ends_with("pg_temp")), "{paths:?}");
}

#[tokio::test]
async fn many_migrations_and_starts_at_once_make_one_schema() {
    let owner = empty_database().await;
    let role = Role::make(&owner).await;
    let migrations = (0..4).map(|_| Store::migrate(&owner, None));
    let grants = [role.name(), role.name()];
    let granted = grants.iter().map(|role| Store::migrate(&owner, Some(role)));
    let opened = (0..2).map(|_| Store::open(&owner, 4));
    let (migrations, granted, opened) = tokio::join!(
        futures::future::join_all(migrations),
        futures::future::join_all(granted),
        futures::future::join_all(opened)
    );
    for migrated in migrations.into_iter().chain(granted) {
        assert_eq!(migrated.expect("it migrates").to, schema::known_version());
    }
    assert!(opened.into_iter().all(|store| store.is_ok()), "whoever starts meanwhile waits");
    let twice =
        strings(&owner, "select version::text from _sqlx_migrations group by version having count(*) > 1")
            .await;
    assert!(twice.is_empty(), "{twice:?}");
    Store::open(&role.url(&owner), 4).await.expect("the role may work with it");
}

#[tokio::test]
async fn a_role_is_made_with_the_password_that_is_given_and_never_one_that_owns_or_rules() {
    let owner = empty_database().await;
    let name = format!("app_{}", uuid::Uuid::new_v4().simple());
    let of =
        |password: Option<&str>| RuntimeRole { name: name.clone(), password: password.map(str::to_owned) };
    let Err(StoreError::Unsuitable(reason)) = Store::migrate(&owner, Some(&of(None))).await else {
        panic!("it went on")
    };
    assert!(
        reason.contains("there is no such role") && reason.contains("REMEMBRANCER_GRANT_PASSWORD_FILE"),
        "{reason}"
    );
    for password in ["first with a ' and a \\ in it", "second of the same"] {
        Store::migrate(&owner, Some(&of(Some(password)))).await.expect("the role is made, then changed");
    }
    let can = format!(
        "select rolname::text from pg_roles where rolname = '{name}' and rolcanlogin and not rolsuper"
    );
    assert_eq!(strings(&owner, &can).await, std::slice::from_ref(&name));
    let us = RuntimeRole { name: "postgres".to_owned(), password: None };
    let Err(StoreError::Unsuitable(reason)) = Store::migrate(&owner, Some(&us)).await else {
        panic!("it went on")
    };
    assert!(reason.contains("this role owns the schema"), "{reason}");
}

#[tokio::test]
async fn the_password_of_a_role_stands_in_no_log_of_the_database() {
    let data_dir = DataDir::empty();
    let home = data_dir.path().join("postgres");
    let options =
        "-c fsync=off -c log_statement=all -c log_min_duration_statement=0 -c log_parameter_max_length=-1";
    let postgres = EmbeddedPostgres::new(postgres_bin(), home.clone()).with_options(options);
    postgres.start().await.expect("it starts");
    let password = "correct horse battery staple \u{e9}'\\";
    let role = RuntimeRole { name: "app".to_owned(), password: Some(password.to_owned()) };
    for _ in 0..2 {
        Store::migrate(&postgres.url(), Some(&role)).await.expect("the role is made, then changed");
    }
    // The rules that it starts with admit only its owner.
    let rules = home.join("data/pg_hba.conf");
    let own = std::fs::read_to_string(&rules).expect("its rules");
    std::fs::write(&rules, format!("local all app scram-sha-256\n{own}")).expect("they are written");
    strings(&postgres.url(), "select pg_reload_conf()::text").await;
    let of = |password: &str| {
        let options = PgConnectOptions::from_str(&postgres.url()).expect("an address").username("app");
        options.password(password)
    };
    eventually("the password opens it", PATIENCE, async || of(password).connect().await.is_ok()).await;
    let refused = of("another password").connect().await.expect_err("it is refused");
    assert!(refused.to_string().contains("password"), "{refused}");
    let log = std::fs::read_to_string(postgres.log_file()).expect("its log");
    assert!(log.contains("alter role app login password 'SCRAM-SHA-256$"), "statements are logged: {log}");
    assert!(!log.contains("correct horse"), "the password is in the log");
    postgres.stop().await.expect("it stops");
}

#[tokio::test]
async fn an_older_schema_is_not_worked_with_by_who_may_not_bring_it_up_and_a_newer_by_nobody() {
    let owner = fresh_database().await;
    let role = Role::make(&owner).await;
    Store::migrate(&owner, Some(&role.name())).await.expect("it migrates");
    let known = schema::known_version();
    execute(&owner, &format!("delete from _sqlx_migrations where version = {known}")).await;
    let Err(StoreError::Unprepared(reason)) = Store::open(&role.url(&owner), 4).await else {
        panic!("it was opened")
    };
    assert!(
        reason.contains(&format!("needs version {known}")) && reason.contains("does not own it"),
        "{reason}"
    );
    execute(
        &owner,
        "insert into _sqlx_migrations (version, description, success, checksum, execution_time) values (9999, 'later', true, '', 0)",
    )
    .await;
    let refused = [
        Store::open(&role.url(&owner), 4).await.map(drop),
        Store::open(&owner, 4).await.map(drop),
        Store::migrate(&owner, Some(&role.name())).await.map(drop),
    ];
    for refused in refused {
        let Err(StoreError::Unsuitable(reason)) = refused else { panic!("it was opened") };
        assert!(
            reason.contains("version 9999") && reason.contains("run the version that wrote it"),
            "{reason}"
        );
    }
}

#[tokio::test]
async fn server_and_worker_of_a_role_that_owns_nothing_wait_for_migrate_and_mirror_vectors() {
    let owner = empty_database().await;
    let role = Role::make(&owner).await;
    let qdrant = StandIn::start();
    let data_dir = DataDir::new();
    let settings = [
        ("DATABASE_URL", role.url(&owner)),
        ("QDRANT_URL", qdrant.url()),
        ("REMEMBRANCER_QDRANT_SEARCH", "always".to_owned()),
    ];
    let mut serve = data_dir.command("remembrancer");
    serve.envs(settings.clone());
    let server = Server::start_with(serve).await;
    let mut worker = data_dir.command("event-worker").envs(settings).spawn().expect("it starts");
    let (waiting, _) = server.call("status", json!({})).await;
    assert!(waiting.to_string().contains("remembrancer migrate"), "{waiting}");

    let mut migrate = data_dir.command("remembrancer");
    migrate.args(["migrate", "--grant-to", &role.0]).env("DATABASE_URL", &owner);
    let ran = Ran::of(&mut migrate).await;
    assert!(ran.status.success() && ran.stdout.contains("may read and write"), "{ran:?}");
    let text = "Bob Martinez will start the migration on Wednesday.";
    eventually("it is remembered", PATIENCE, async || {
        !server.call("remember", json!({"content": text})).await.1
    })
    .await;
    server.settled().await;
    eventually("the vectors are mirrored", PATIENCE, async || qdrant.collections().values().any(|n| *n > 0))
        .await;
    worker.kill().await.expect("it is ended");
    server.terminate().await;
}

#[tokio::test]
async fn a_role_that_owns_nothing_backs_up_all_that_is_kept() {
    let owner = fresh_database().await;
    let role = Role::make(&owner).await;
    Store::migrate(&owner, Some(&role.name())).await.expect("it migrates");
    // Who runs the server may have closed this to others.
    execute(&owner, "revoke execute on function pg_control_system() from public").await;
    let store = Store::open(&role.url(&owner), 4).await.expect("it is opened");
    let memory = Arc::new(Memory::new(store, Arc::new(RulesExtractor::new()), at_once()));
    memory.adopt_model(model()).await.expect("the model is adopted");
    let f = Fixture { memory, url: role.url(&owner), ns: Namespace::default() };
    f.remember("Alice Chen committed to deliver the API design by Friday.").await;
    f.drain().await;
    let (data_dir, shelf) = (DataDir::new(), crate::process_backup::shelf());
    let mut backup = data_dir.command("remembrancer");
    backup.args(["backup", "--logical", "--json"]).arg(shelf.path()).env("DATABASE_URL", role.url(&owner));
    let made = Ran::of(&mut backup).await;
    assert!(made.status.success(), "{made:?}");
    let path = made.json()["path"].as_str().expect("a path").to_owned();
    let ran = data_dir.run(&["restore", "--verify", &path, "--json"]).await;
    assert!(ran.status.success() && ran.json()["verified"]["probes"] == 1, "{ran:?}");
}

#[tokio::test]
async fn migrate_says_what_it_needs_and_what_it_did() {
    let data_dir = DataDir::empty();
    let mut command = data_dir.command("remembrancer");
    let ran = Ran::of(command.arg("migrate").env_remove("DATABASE_URL")).await;
    assert!(ran.refusal().contains("DATABASE_URL is not set"), "{ran:?}");
    let owner = empty_database().await;
    let name = format!("app_{}", uuid::Uuid::new_v4().simple());
    let password = data_dir.path().join("password");
    let migrate = async |text: &str| {
        std::fs::write(&password, text).expect("it is written");
        let mut command = data_dir.command("remembrancer");
        command.args(["migrate", "--json"]).env("DATABASE_URL", &owner).env("REMEMBRANCER_GRANT_TO", &name);
        Ran::of(command.env("REMEMBRANCER_GRANT_PASSWORD_FILE", &password)).await
    };
    assert!(migrate("short\n").await.refusal().contains("at least 16 characters"));
    let known = schema::known_version();
    for from in [json!(null), json!(known)] {
        let ran = migrate("0123456789abcdef0123\n").await;
        assert_eq!(ran.json(), json!({"from": from, "to": known, "granted_to": name}), "{ran:?}");
    }
}
