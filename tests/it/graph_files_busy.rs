//! A graph's file that is large, that many change, or that may only be read.

use std::sync::Arc;
use std::time::Duration;

use memory_core::graph::{GraphScope, PageRequest};
use memory_engine::graph::KnowledgeGraph;
use memory_engine::{EngineError, EngineSettings, Memory};
use memory_tests::at_once;
use sqlx::Connection;

use crate::graph_files::{ANN, BOB, Filed, KNOWS};
use crate::graph_files_unwritten::{ReadOnly, on_this_thread};
use crate::graph_shorthand::{entity, whole};
use crate::stand_ins::line_reader;

/// Another process whose calls wait for others at a file so long.
async fn patient_for(g: &Filed, file_patience: Duration) -> Arc<Memory> {
    g.f.sibling(line_reader(), EngineSettings { file_patience, ..at_once() }).await
}

async fn exported(memory: &Memory, g: &Filed) -> String {
    let mut out = Vec::new();
    memory.graph().export(g.ns(), &g.scope, &mut out, &|_| ()).await.expect("it is exported");
    String::from_utf8(out).expect("UTF-8")
}

#[tokio::test]
async fn a_call_while_a_file_is_taken_in_is_answered_in_time_and_loses_nothing() {
    let g = Filed::with(&[ANN]).await;
    g.names().await;
    let memory = patient_for(&g, Duration::from_millis(200)).await;
    // A transaction that holds the thread keeps the file from being taken in.
    let mut holder = g.f.sql().await;
    let mut held = holder.begin().await.expect("a transaction");
    sqlx::query("select from graph_thread for update").execute(&mut *held).await.expect("it is held");
    g.write(&[ANN, BOB, "", KNOWS]);

    let read = memory.graph().read_graph(g.ns(), &g.scope, PageRequest::default()).await.map(|_| ());
    let created = memory
        .graph()
        .create_entities(g.ns(), &g.scope, vec![entity("Cleo", "person", &[])])
        .await
        .map(|_| ());
    let searched =
        memory.graph().search_nodes(g.ns(), &g.scope, "Bob", PageRequest::default()).await.map(|_| ());
    for answer in [read, created, searched] {
        let Err(EngineError::Busy(text)) = answer else { panic!("{answer:?}") };
        assert!(text.contains("memory.jsonl is still being taken in (0 of 3 lines)"), "{text}");
        assert!(text.contains("Nothing was changed; call again"), "{text}");
    }
    held.rollback().await.expect("it is let go");

    let mut answer = Err(EngineError::Busy(String::new()));
    for _ in 0..200 {
        answer = memory.graph().create_entities(g.ns(), &g.scope, vec![entity("Cleo", "person", &[])]).await;
        if !matches!(answer, Err(EngineError::Busy(_))) {
            break;
        }
    }
    assert_eq!(answer.expect("it is created at last").answer.len(), 1);
    assert_eq!(g.file(), [ANN, BOB, &BOB.replace("Bob", "Cleo"), KNOWS].join("\n"));
    assert_eq!(g.names().await, ["Ann", "Bob", "Cleo"]);
}

#[tokio::test]
async fn a_file_has_what_the_graph_has_whoever_changes_what() {
    let g = Filed::new().await;
    let memories = [g.f.memory.clone(), g.f.sibling(line_reader(), at_once()).await];
    for round in 0..12 {
        let memory = &memories[round % 2];
        let (ns, scope) = (g.ns(), &g.scope);
        let name = format!("e{round}");
        let new = vec![entity(&name, "t", &["first", "second"]), entity(&format!("{name}+"), "t", &[])];
        memory.graph().create_entities(ns, scope, new).await.expect("they are created");
        match round % 4 {
            0 => drop(g.relate(&[&format!("{name} knows e0"), "e0 knows nobody"]).await),
            1 => drop(g.add("e0", &[&format!("of round {round}")]).await),
            2 => g.unsay(&format!("e{}", round - 1), &["first"]).await,
            _ => g.delete(&[&format!("e{}+", round - 2)]).await,
        }
        assert_eq!(g.file(), exported(&memories[(round + 1) % 2], &g).await, "round {round}");
        if round == 6 {
            g.write(&g.file().lines().rev().collect::<Vec<_>>());
        }
    }
}

#[test]
fn whoever_only_reads_takes_in_a_file_and_writes_nothing() {
    on_this_thread(async {
        let g = Filed::with(&[ANN]).await;
        g.names().await;
        let folder = g.path().parent().expect("a folder").to_owned();
        let read_only = ReadOnly::new(&folder);
        g.warned("Bob").await.expect("a warning");
        drop(read_only);
        let g = g.restarted().await;
        let GraphScope::File(file) = g.scope.clone() else { panic!("a file") };
        let draft = folder.join(".memory.jsonl.0123456789abcdef.tmp");
        std::fs::write(&draft, "somebody's").expect("it is written");
        g.memory().graph().import_file(g.ns(), &file).await.expect("it is read");
        assert_eq!(g.names().await, ["Ann", "Bob"], "the change is kept");
        assert_eq!(g.file(), ANN);
        assert!(draft.exists());
        g.memory().graph().bind_file(g.ns(), &file).await.expect("it is bound");
        assert_eq!(g.file().lines().count(), 2);

        let (old, new) = (folder.join("graph.json"), folder.join("graph.jsonl"));
        std::fs::write(&old, KNOWS).expect("it is written");
        let located = KnowledgeGraph::locate_file(new.clone()).await.expect("a path");
        assert_eq!(located.path(), old.canonicalize().expect("a path").to_str().expect("UTF-8"));
        let missing = KnowledgeGraph::locate_file(folder.join("not/there.jsonl")).await.expect("a path");
        let nothing = whole(g.memory(), g.ns(), &GraphScope::File(missing)).await;
        assert!(nothing.entities.is_empty() && !folder.join("not").exists() && old.exists() && !new.exists());
    });
}
