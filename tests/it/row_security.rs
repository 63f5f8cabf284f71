//! The database keeps namespaces apart by itself: statements that name none, or the wrong one, see and change nothing of another.

use memory_core::graph::GraphScope;
use memory_core::id::Namespace;
use memory_store::row_security::{RUNTIME_ROLE, RowSecurity};
use memory_tests::Fixture;
use memory_tests::process::{DataDir, Server};
use serde_json::json;
use sqlx::{AssertSqlSafe, Connection, PgConnection};

use crate::graph_shorthand::entity;
use crate::shorthand::store;

/// Tables that belong to no namespace and are open to statements of every one: they hold nothing of any.
const OPEN: [&str; 5] =
    ["_sqlx_migrations", "embedding_model", "event_worker", "vector_mirror", "vector_store"];
/// Tables of what opens namespaces, which statements of a namespace do not see.
const OF_ACCESS: [&str; 6] =
    ["access_key", "admin_password", "oauth_client", "oauth_consent", "oauth_ticket", "oauth_token"];

async fn strings(conn: &mut PgConnection, statement: &str) -> Vec<String> {
    sqlx::query_scalar(AssertSqlSafe(statement.to_owned())).fetch_all(conn).await.expect(statement)
}

async fn count(conn: &mut PgConnection, statement: String) -> i64 {
    sqlx::query_scalar(AssertSqlSafe(statement.clone())).fetch_one(conn).await.expect(&statement)
}

async fn run(conn: &mut PgConnection, statement: &str) -> Result<(), String> {
    let done = sqlx::raw_sql(AssertSqlSafe(statement.to_owned())).execute(conn).await;
    done.map(drop).map_err(|error| error.to_string())
}

/// All tables with a namespace, by the catalogue.
async fn tables(conn: &mut PgConnection) -> Vec<String> {
    strings(
        conn,
        "select c.relname::text from pg_class c
         join pg_attribute a on a.attrelid = c.oid and a.attname = 'namespace' and not a.attisdropped
         where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace
         order by 1",
    )
    .await
}

/// A connection of the role that statements run as, which has not said what it is about.
async fn as_runtime_role(f: &Fixture) -> PgConnection {
    let mut conn = f.sql().await;
    run(&mut conn, &format!("set role {RUNTIME_ROLE}")).await.expect("it is the role");
    conn
}

/// Two namespaces with rows in nearly all tables, and keys, a consent and a password.
async fn two_namespaces() -> (Fixture, Namespace) {
    let mut f = Fixture::new().await;
    let (a, b) = (f.ns.clone(), Namespace::new("other").expect("a name"));
    for ns in [&a, &b] {
        f.ns = ns.clone();
        f.remember("Alice Chen committed to deliver the API design by Friday. Always answer in French.")
            .await;
        f.remember("Alice Chen delivered the API design on Friday. I prefer minimal dependencies.").await;
        f.remember(&"The harbour master wrote down every ship that came in that autumn. ".repeat(120)).await;
        f.drain().await;
        let entities = vec![entity("Apollo", "Project", &["is written in Rust", "has two owners"])];
        f.memory
            .graph()
            .create_entities(ns, &GraphScope::default(), entities)
            .await
            .expect("they are created");
        f.drain().await;
    }
    f.ns = a;
    let mut owner = f.sql().await;
    for statement in [
        "insert into audit_entry (who, namespace, action, outcome)
         select 'someone', u.ns, 'recall', 'ok' from unnest(array['default', 'other', null]) u (ns)",
        "insert into access_key (key_id, secret_sha256, name, role, namespaces)
         values ('0123456789ab', sha256('x'), 'one', 'reader', '{default}')",
        "insert into admin_password (hash) values ('$argon2id$x')",
        "insert into oauth_client (client_id, name, redirect_uris, is_of_operator) values ('c', 'c', '{https://c.example/}', true)",
        "insert into oauth_consent (consent_id, client_id, name, role, namespaces, resource)
         values ('0123456789ab', 'c', 'c', 'reader', '{default}', 'https://m.example/mcp')",
        "insert into oauth_token (sha256, consent_id, kind, expires_at) values (sha256('t'), '0123456789ab', 'access', now())",
        "insert into oauth_ticket (sha256, request, expires_at) values (sha256('r'), '{}', now())",
    ] {
        run(&mut owner, statement).await.expect(statement);
    }
    (f, b)
}

#[tokio::test]
async fn every_table_with_a_namespace_has_a_policy_and_every_other_is_known_to_need_none() {
    let f = Fixture::new().await;
    let mut owner = f.sql().await;
    let guarded = "select c.relname::text from pg_class c
         where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace
           and c.relrowsecurity and exists (select from pg_policy p where p.polrelid = c.oid and p.polcmd = '*')
         order by 1";
    let mut expected = tables(&mut owner).await;
    assert!(expected.len() >= 25, "{expected:?}");
    expected.extend(OF_ACCESS.map(str::to_owned));
    expected.sort();
    assert_eq!(
        strings(&mut owner, guarded).await,
        expected,
        "a table with a namespace needs a policy: see migration 27"
    );
    let mut all = strings(
        &mut owner,
        "select relname::text from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace",
    )
    .await;
    all.retain(|table| !expected.contains(table) && !OPEN.contains(&table.as_str()));
    assert!(all.is_empty(), "{all:?} have neither a namespace nor a reason to have none");
    // A view reads as its owner unless it says otherwise.
    let leaking = strings(
        &mut owner,
        "select relname::text from pg_class
         where relkind in ('v', 'm') and relnamespace = 'public'::regnamespace
           and not coalesce(reloptions @> '{security_invoker=true}', false)
           and pg_get_viewdef(oid) not like '%remembrancer.namespace%'",
    )
    .await;
    assert!(leaking.is_empty(), "{leaking:?} show rows of every namespace");
    let may_pass = strings(
        &mut owner,
        &format!(
            "select rolname::text from pg_roles where rolname = '{RUNTIME_ROLE}'
             and (rolsuper or rolbypassrls or rolcreaterole or rolcreatedb
                  or exists (select from pg_class where relowner = pg_roles.oid)
                  or exists (select from pg_auth_members where member = pg_roles.oid))"
        ),
    )
    .await;
    assert!(may_pass.is_empty(), "the role owns something, or may become another");
}

#[tokio::test]
async fn the_role_sees_nothing_until_it_says_where_and_then_nothing_of_another_namespace() {
    let (f, b) = two_namespaces().await;
    let (mut owner, mut conn) = (f.sql().await, as_runtime_role(&f).await);
    // Those views have the condition in them for their owner too.
    run(&mut owner, "set remembrancer.namespace = '*'").await.expect("it is said");
    let (mut filled, namespaces) = (0, [f.ns.as_str(), b.as_str()]);
    let views = [
        "searched_passage",
        "searched_graph_entity",
        "searched_graph_observation",
        "searched_tags",
        "searched_audit",
        "vector_point",
    ];
    let mut seen = tables(&mut owner).await;
    seen.extend(views.map(str::to_owned));
    for table in &seen {
        for said in ["reset remembrancer.namespace", "set remembrancer.namespace = ''"] {
            run(&mut conn, said).await.expect(said);
            assert_eq!(
                count(&mut conn, format!("select count(*) from {table}")).await,
                0,
                "{table} after {said}"
            );
        }
        let mut all = 0;
        for ns in namespaces {
            run(&mut conn, &format!("set remembrancer.namespace = '{ns}'")).await.expect("it is said");
            let own =
                count(&mut owner, format!("select count(*) from {table} where namespace = '{ns}'")).await;
            assert_eq!(
                count(&mut conn, format!("select count(*) from {table}")).await,
                own,
                "{table} of {ns}"
            );
            all += own;
        }
        filled += usize::from(all > 0);
        let every = count(&mut owner, format!("select count(*) from {table}")).await;
        if !views.contains(&table.as_str()) {
            run(&mut conn, "set remembrancer.namespace = '*'").await.expect("it is said");
            assert_eq!(
                count(&mut conn, format!("select count(*) from {table}")).await,
                every,
                "{table} of all"
            );
        }
    }
    assert!(filled >= 22, "only {filled} of {} tables have rows", seen.len());
    for table in OF_ACCESS {
        run(&mut conn, "set remembrancer.namespace = 'default'").await.expect("it is said");
        assert_eq!(count(&mut conn, format!("select count(*) from {table}")).await, 0, "{table}");
        run(&mut conn, "set remembrancer.namespace = '*'").await.expect("it is said");
        assert_eq!(count(&mut conn, format!("select count(*) from {table}")).await, 1, "{table}");
    }
}

#[tokio::test]
async fn rows_of_another_namespace_are_neither_written_nor_changed_nor_deleted() {
    let (f, b) = two_namespaces().await;
    let (mut owner, mut conn) = (f.sql().await, as_runtime_role(&f).await);
    let mut tried = 0;
    run(&mut conn, "set remembrancer.namespace = 'default'").await.expect("it is said");
    for table in tables(&mut owner).await {
        let of_b = format!("select count(*) from {table} where namespace = '{b}'");
        let before = count(&mut owner, of_b.clone()).await;
        if count(&mut conn, format!("select count(*) from {table}")).await > 0 {
            // Every table can be updated, and the policy is asked before constraints are.
            let moved = run(&mut conn, &format!("update {table} set namespace = '{b}'")).await;
            let refused = moved.expect_err("a row went to another namespace");
            assert!(refused.contains("row-level security policy"), "{table}: {refused}");
            tried += 1;
        }
        run(&mut conn, &format!("delete from {table} where namespace = '{b}'")).await.expect("it finds none");
        assert_eq!(count(&mut owner, of_b).await, before, "{table}");
    }
    assert!(tried >= 18, "only {tried} tables were tried");
    for statement in [
        "insert into artifact (namespace, artifact_id, sha256, content, char_count, token_count) values ('other', 'x', sha256('x'), 'x', 1, 1)",
        "insert into graph_thread (namespace, name) values ('other', 'x')",
        "insert into event_jobs (namespace, kind, conversation_id) values ('other', 'extract_conversation', 'x')",
        "insert into audit_entry (who, namespace, action, outcome) values ('x', 'other', 'x', 'ok')",
        "insert into audit_entry (who, action, outcome) values ('x', 'x', 'ok')",
        "insert into access_key (key_id, secret_sha256, name, role, namespaces) values ('0123456789ac', sha256('y'), 'two', 'admin', '{other}')",
    ] {
        let refused = run(&mut conn, statement).await.expect_err(statement);
        assert!(refused.contains("row-level security policy"), "{statement}: {refused}");
    }
    run(&mut conn, "reset remembrancer.namespace").await.expect("it is taken back");
    run(&mut conn, "insert into graph_thread (namespace, name) values ('default', 'y')")
        .await
        .expect_err("nothing is said");
}

#[tokio::test]
async fn connections_of_a_process_are_held_to_the_namespace_that_they_are_taken_for() {
    let (f, b) = two_namespaces().await;
    let store = store(&f).await;
    assert_eq!(store.row_security(), &RowSecurity::On { role: RUNTIME_ROLE.to_owned() });
    let all = "select distinct namespace from artifact order by 1";
    // Few connections that are taken again and again.
    for _ in 0..3 {
        for ns in [&f.ns, &b] {
            let mut conn = store.acquire(ns).await.expect("a connection");
            assert_eq!(strings(&mut conn, all).await, [ns.as_str()]);
            assert_eq!(strings(&mut conn, "select current_user::text").await, [RUNTIME_ROLE]);
            drop(conn);
            let mut tx = store.begin(ns).await.expect("a transaction");
            assert_eq!(strings(&mut tx, all).await, [ns.as_str()]);
            drop(tx);
            let mut tx = store.begin_snapshot(ns).await.expect("a transaction");
            assert_eq!(strings(&mut tx, all).await, [ns.as_str()]);
            assert_eq!(strings(&mut tx, "show transaction_isolation").await, ["repeatable read"]);
        }
        let mut conn = store.acquire_across().await.expect("a connection");
        assert_eq!(strings(&mut conn, all).await, [f.ns.as_str(), b.as_str()]);
    }
}

#[tokio::test]
async fn searches_of_the_role_go_by_the_indexes_of_words_trigrams_and_vectors() {
    let (f, _) = two_namespaces().await;
    let store = store(&f).await;
    let mut conn = store.acquire(&f.ns).await.expect("a connection");
    let plan = async |conn: &mut PgConnection, statement: &str| {
        strings(conn, &format!("explain (costs off) {statement}")).await.join("\n")
    };
    // The tables are small, and what is asked for here is whether the indexes may be used at all.
    run(&mut conn, "set enable_sort = off").await.expect("it is set");
    let words =
        |table: &str| format!("select passage_id from {table} where lex @@ '''x'''::tsquery limit 1000");
    let under_policy = plan(&mut conn, &words("passage")).await;
    assert!(!under_policy.contains("passage_lex"), "the view is not needed any more: {under_policy}");
    for (statement, index) in [
        (words("searched_passage"), "passage_lex"),
        (
            "select entity_id from searched_graph_entity
             where thread_id + 0 = 1 and folded_name like '%poll%' and namespace || '' = 'default'"
                .to_owned(),
            "graph_entity_name",
        ),
        (
            "select entity_id from searched_graph_observation
             where thread_id + 0 = 1 and folded like '%rust%' and is_current and namespace || '' = 'default'"
                .to_owned(),
            "graph_observation_folded",
        ),
        (
            "select passage_id from passage_embedding
             where namespace = 'default' and model_id = 1
             order by embedding::halfvec(384) <=> array_fill(0.1, array[384])::vector::halfvec limit 10"
                .to_owned(),
            "passage_embedding_hnsw_1",
        ),
        (
            "select count(*) from search_change where namespace = 'default' and at >= pg_snapshot_xmin(pg_current_snapshot())".to_owned(),
            "search_change_at",
        ),
        (
            "select revision_id from artifact_revision where namespace = 'default' and is_latest
             order by coalesce(date, created_at) desc, revision_id desc limit 10".to_owned(),
            "artifact_revision_time",
        ),
        (
            "select revision_id from artifact_revision where namespace = 'default' and is_latest
             order by importance desc, revision_id desc limit 10".to_owned(),
            "artifact_revision_importance",
        ),
        (
            "select revision_id from searched_tags where folded_tags @> '{x}' and namespace || '' = 'default'".to_owned(),
            "artifact_revision_tags",
        ),
        (
            "select event_id from semantic_event where namespace = 'default' and category = 'Decision'
             order by coalesce(event_time, created_at) desc, event_id desc limit 10".to_owned(),
            "semantic_event_kind_time",
        ),
        ("select audit_id from searched_audit where ids @> '{art_1}'".to_owned(), "audit_entry_ids"),
    ] {
        let plan = plan(&mut conn, &statement).await;
        assert!(plan.contains(index), "{index} is not used for {statement}:\n{plan}");
        assert!(!plan.contains("Seq Scan"), "{plan}");
    }
}

#[tokio::test]
async fn the_embedded_server_is_worked_with_by_a_role_that_can_become_no_other() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    server.ask("remember", json!({"content": "Bob Martinez will start the migration on Wednesday."})).await;
    server.settled().await;
    let mut owner = PgConnection::connect(&data_dir.database_url()).await.expect("the database answers");
    let roles = strings(
        &mut owner,
        "select distinct usename::text from pg_stat_activity where application_name = 'remembrancer'",
    )
    .await;
    assert_eq!(roles, [RUNTIME_ROLE]);
    let url = data_dir.database_url().replacen("//postgres@", &format!("//{RUNTIME_ROLE}@"), 1);
    let mut conn = PgConnection::connect(&url).await.expect("it logs in");
    for statement in [
        "set role postgres",
        "set session authorization postgres",
        "reset role; copy (select 1) to program 'true'",
        "select pg_read_file('/etc/passwd')",
        "create extension dblink",
        "alter table artifact disable row level security",
        "drop policy within_namespace on artifact",
        "create table public.mine (x int)",
        "create or replace view searched_passage as select * from passage",
    ] {
        let refused = run(&mut conn, statement).await.expect_err(statement);
        assert!(
            refused.contains("permission denied") || refused.contains("must be owner"),
            "{statement}: {refused}"
        );
    }
    assert_eq!(strings(&mut conn, "select content from artifact").await, [""; 0]);
    server.terminate().await;
}
