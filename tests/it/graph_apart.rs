//! Projects keep their graphs in files of their own: what one of them says reaches no other.

use std::path::Path;
use std::time::Duration;

use memory_core::graph::{GraphFile, GraphReach, GraphScope};
use memory_engine::recall::{Fact, RecallDraft};
use memory_tests::Fixture;
use memory_tests::process::{DataDir, StdioHost, eventually};
use serde_json::{Value, json};

use crate::graph_files::scope_of;
use crate::graph_shorthand::{entity, thread};
use crate::shorthand::{light, light_sibling, query};
use crate::stand_ins::line_reader;

fn file_of(scope: &GraphScope) -> GraphFile {
    let GraphScope::File(file) = scope else { panic!("it is a file's") };
    file.clone()
}

async fn have(f: &Fixture, scope: &GraphScope, observation: &str) {
    let entities = vec![entity("Apollo", "Thing", &[observation])];
    f.memory.graph().create_entities(&f.ns, scope, entities).await.expect("it is created");
}

fn said(facts: &[Fact]) -> Vec<&str> {
    let mut said: Vec<&str> = facts.iter().map(|fact| fact.stored.observation.as_str()).collect();
    said.sort_unstable();
    said
}

async fn facts(f: &Fixture, graph: GraphReach) -> Vec<Fact> {
    f.recall_as(RecallDraft { graph, ..query("apollo is written in") }).await.facts
}

#[tokio::test]
async fn facts_of_a_file_are_shown_to_its_own_connection_alone() {
    let (f, folder) = (light(line_reader()).await, tempfile::tempdir().expect("a folder"));
    let (a, b) =
        (scope_of(&folder.path().join("a.jsonl")).await, scope_of(&folder.path().join("b.jsonl")).await);
    have(&f, &a, "Is written in Ada").await;
    have(&f, &b, "Is written in Basic").await;
    have(&f, &thread("team"), "Is written in Cobol").await;
    f.drain().await;
    assert_eq!(said(&facts(&f, GraphReach::default()).await), ["Is written in Cobol"]);
    let of_a = facts(&f, GraphReach::Threads { own_file: Some(file_of(&a)) }).await;
    assert_eq!(said(&of_a), ["Is written in Ada", "Is written in Cobol"]);
    let called: Vec<&str> = of_a.iter().map(|fact| fact.stored.thread.as_str()).collect();
    assert!(called.contains(&"file:a.jsonl") && called.contains(&"team"), "{called:?}");
    assert_eq!(said(&facts(&f, GraphReach::One(b)).await), ["Is written in Basic"]);
    assert_eq!(said(&facts(&f, GraphReach::One(thread("team"))).await), ["Is written in Cobol"]);
}

#[tokio::test]
async fn entities_of_other_files_crowd_out_none_of_ones_own() {
    let (f, folder) = (light(line_reader()).await, tempfile::tempdir().expect("a folder"));
    for n in 0..15 {
        have(&f, &scope_of(&folder.path().join(format!("{n}.jsonl"))).await, &format!("Is written in {n}"))
            .await;
    }
    have(&f, &thread("team"), "Costs a fortune").await;
    f.remember("Decision by Ann Lee on Apollo").await;
    f.drain().await;
    let answer = f.recall_as(query("decision")).await;
    assert_eq!(said(&answer.facts), ["Costs a fortune"], "{:?}", answer.entities);
    let linked: Vec<&str> = answer.links.iter().flatten().map(|link| link.thread.as_str()).collect();
    assert_eq!(linked, ["team"]);
}

#[tokio::test]
async fn a_file_that_is_gone_answers_nothing() {
    let (f, folder) = (light(line_reader()).await, tempfile::tempdir().expect("a folder"));
    let path = folder.path().join("a.jsonl");
    let scope = scope_of(&path).await;
    have(&f, &scope, "Is written in Ada").await;
    f.drain().await;
    let own = || GraphReach::Threads { own_file: Some(file_of(&scope)) };
    assert_eq!(said(&facts(&f, own()).await), ["Is written in Ada"]);
    std::fs::remove_file(&path).expect("it is deleted");
    eventually("the file answers nothing", Duration::from_secs(20), async || {
        Box::pin(facts(&f, own())).await.is_empty()
            && Box::pin(facts(&f, GraphReach::One(scope.clone()))).await.is_empty()
    })
    .await;
}

#[tokio::test]
async fn what_is_left_of_a_file_that_is_gone_is_deleted_after_a_month_or_by_an_operator() {
    let (f, folder) = (Fixture::without_model(line_reader()).await, tempfile::tempdir().expect("a folder"));
    let paths = ["kept.jsonl", "gone.jsonl", "long-gone.jsonl"].map(|name| folder.path().join(name));
    for path in &paths {
        have(&f, &scope_of(path).await, "Is written in Ada").await;
    }
    let path_of = |path: &Path| path.canonicalize().expect("it is there").to_str().expect("UTF-8").to_owned();
    let [kept, gone, _] = [&paths[0], &paths[1], &paths[2]].map(|path| path_of(path));
    let listed = async || {
        let files = f.memory.graph().list_files(Some(&f.ns)).await.expect("they are listed");
        files.into_iter().map(|file| (file.stored.entities, file.is_there)).collect::<Vec<_>>()
    };
    assert_eq!(listed().await, [(1, true); 3]);
    for path in &paths[1..] {
        std::fs::remove_file(path).expect("it is deleted");
    }
    // As another process finds them a month later.
    let later = light_sibling(&f, line_reader()).await;
    later.graph().tidy_files().await.expect("it is tidy");
    assert_eq!(listed().await, [(1, false), (1, true), (1, false)]);
    let a_month_ago = "update graph_thread set file_gone_since = now() - interval '31 days'
                       where name like '%long-gone.jsonl' and file_gone_since is not null";
    crate::shorthand::execute(&f, a_month_ago).await;
    later.graph().tidy_files().await.expect("it is tidy");
    assert_eq!(listed().await, [(1, false), (1, true)]);
    let refused = f.memory.graph().delete_file(&f.ns, &kept).await.expect_err("it is there").to_string();
    assert!(refused.contains("Delete the file first"), "{refused}");
    assert_eq!(f.memory.graph().delete_file(&f.ns, &gone).await.expect("it is deleted"), 1);
    assert_eq!(listed().await, [(1, true)]);
    // Clients bound to it begin anew, and what they write is in the file.
    let scope = scope_of(&paths[1]).await;
    have(&f, &scope, "Is written in Basic").await;
    let file = std::fs::read_to_string(&paths[1]).expect("it is there again");
    assert!(file.contains("Basic") && !file.contains("Ada"), "{file}");
}

async fn host(data_dir: &DataDir, file: Option<&Path>) -> StdioHost {
    let mut command = data_dir.command("remembrancer");
    if let Some(file) = file {
        command.env("MEMORY_FILE_PATH", file);
    }
    let mut host = StdioHost::start(command);
    host.initialize().await;
    host
}

async fn ask(host: &mut StdioHost, tool: &str, arguments: Value) -> Value {
    let answer = host.call(tool, arguments).await;
    assert_eq!(answer["isError"], false, "{answer}");
    answer["structuredContent"].clone()
}

#[tokio::test]
async fn a_host_learns_nothing_of_another_hosts_file_by_recall_or_status() {
    let (data_dir, folder) = (DataDir::warm(), tempfile::tempdir().expect("a folder"));
    let (path_a, path_b) = (folder.path().join("a.jsonl"), folder.path().join("b.jsonl"));
    let mut a = host(&data_dir, Some(&path_a)).await;
    let secret = json!({"entities": [{"name": "Alpha", "entityType": "Project",
        "observations": ["Project alpha uses the password flamingo"]}]});
    ask(&mut a, "create_entities", secret).await;
    let question = json!({"query": "Which password does project alpha use?"});
    eventually("the host finds its own fact", Duration::from_secs(60), async || {
        ask(&mut a, "recall", question.clone()).await["facts"][0]["threadId"] == "file:a.jsonl"
    })
    .await;
    let narrowed = json!({"query": "password", "threadId": "file:a.jsonl"});
    assert_eq!(ask(&mut a, "recall", narrowed.clone()).await["facts"][0]["entity"], "Alpha");
    let opened = ask(&mut a, "open_nodes", json!({"names": ["Alpha"], "threadId": "file:a.jsonl"})).await;
    assert_eq!(opened["entities"][0]["name"], "Alpha");

    let (mut b, mut plain) = (host(&data_dir, Some(&path_b)).await, host(&data_dir, None).await);
    for other in [&mut b, &mut plain] {
        let recalled = ask(other, "recall", question.clone()).await;
        assert_eq!(recalled["facts"], json!([]), "{recalled}");
        assert!(!recalled.to_string().contains(folder.path().to_str().expect("UTF-8")), "{recalled}");
        assert_eq!(other.call("recall", narrowed.clone()).await["isError"], true);
    }
    // The file of one host is damaged: that is no other host's trouble.
    std::fs::write(&path_a, "{\"type\":\"entity\",\"name\":\"flamingo").expect("it is written");
    assert_eq!(a.call("read_graph", json!({})).await["isError"], true);
    let own = ask(&mut a, "status", json!({})).await;
    assert_eq!((&own["healthy"], &own["services"]["graph_file"]["status"]), (&json!(false), &json!("down")));
    eventually("the other hosts are healthy", Duration::from_secs(60), async || {
        let told = ask(&mut plain, "status", json!({})).await;
        told["healthy"] == true && told["services"]["graph_file"].is_null()
    })
    .await;
    ask(&mut b, "read_graph", json!({})).await;
    let told = ask(&mut b, "status", json!({})).await;
    assert_eq!(told["services"]["graph_file"]["detail"], "in step: b.jsonl", "{told}");
    // An operator sees which files there are.
    let listed = data_dir.run(&["graph-files", "list"]).await;
    assert!(listed.stdout.contains("a.jsonl  (1 entities, namespace default): there"), "{listed:?}");
    let path = path_a.canonicalize().expect("it is there");
    let refused = data_dir.run(&["graph-files", "delete", path.to_str().expect("UTF-8")]).await;
    assert!(!refused.status.success() && refused.stdout.contains("Delete the file first"), "{refused:?}");
    std::fs::remove_file(&path_a).expect("it is deleted");
    let deleted = data_dir.run(&["graph-files", "delete", path.to_str().expect("UTF-8")]).await;
    assert!(deleted.status.success() && deleted.stdout.contains("1 entities were deleted"), "{deleted:?}");
}
