//! A graph in step with its file, whichever of them is changed.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use memory_core::graph::{GraphScope, PageRequest};
use memory_core::id::Namespace;
use memory_engine::Memory;
use memory_engine::graph::KnowledgeGraph;
use memory_tests::Fixture;
use tempfile::TempDir;

use crate::graph_shorthand::{Graph, entity, said, shown, whole};
use crate::stand_ins::line_reader;

/// A graph and the folder of its file.
pub(crate) struct Filed {
    graph: Graph,
    pub(crate) folder: TempDir,
}

impl std::ops::Deref for Filed {
    type Target = Graph;
    fn deref(&self) -> &Graph {
        &self.graph
    }
}

pub(crate) async fn scope_of(path: &Path) -> GraphScope {
    GraphScope::File(KnowledgeGraph::resolve_file(path.to_owned()).await.expect("a path"))
}

impl Filed {
    /// The file does not exist yet.
    pub(crate) async fn new() -> Self {
        Self::on(Fixture::without_model(line_reader()).await, tempfile::tempdir().expect("a folder")).await
    }

    async fn on(f: Fixture, folder: TempDir) -> Self {
        let scope = scope_of(&folder.path().join("memory.jsonl")).await;
        Self { graph: Graph { f, scope }, folder }
    }

    /// With this in the file.
    pub(crate) async fn with(lines: &[&str]) -> Self {
        let filed = Self::new().await;
        filed.write(lines);
        filed
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("memory.jsonl")
    }

    /// As an editor writes it: in place.
    pub(crate) fn write(&self, lines: &[&str]) {
        std::fs::write(self.path(), lines.join("\n")).expect("it is written");
    }

    pub(crate) fn file(&self) -> String {
        std::fs::read_to_string(self.path()).expect("it is read")
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.file().lines().map(str::to_owned).collect()
    }

    /// Another graph of the same memory.
    fn beside(&self, scope: GraphScope) -> Graph {
        let f = &self.graph.f;
        Graph { f: Fixture { memory: f.memory.clone(), url: f.url.clone(), ns: f.ns.clone() }, scope }
    }

    /// What a process that starts now has.
    pub(crate) async fn restarted(self) -> Self {
        let memory = self.graph.f.sibling(line_reader(), memory_tests::at_once()).await;
        let Self { graph: Graph { f, scope }, folder } = self;
        Self { graph: Graph { f: Fixture { memory, ..f }, scope }, folder }
    }

    pub(crate) async fn names(&self) -> Vec<String> {
        let page = self.read(PageRequest::default()).await;
        shown(&page).0.into_iter().map(str::to_owned).collect()
    }

    /// The warning of an answer that creates these.
    pub(crate) async fn warned(&self, name: &str) -> Option<String> {
        let created =
            self.memory().graph().create_entities(self.ns(), &self.scope, vec![entity(name, "t", &[])]).await;
        created.expect("it is created").warning.map(|warning| warning.text)
    }

    /// The ids of the observations of an entity, by content.
    async fn handles(&self, name: &str) -> Vec<(String, i64)> {
        sqlx::query_as(
            "select o.content, o.handle from graph_observation o join graph_entity e using (namespace, thread_id, entity_id)
             where e.name = $1 order by o.content",
        )
        .bind(name)
        .fetch_all(&mut self.f.sql().await)
        .await
        .expect("they are listed")
    }
}

pub(crate) const ANN: &str =
    r#"{"type":"entity","name":"Ann","entityType":"person","observations":["kind","late"]}"#;
pub(crate) const BOB: &str = r#"{"type":"entity","name":"Bob","entityType":"person","observations":[]}"#;
pub(crate) const CLEO: &str =
    r#"{"type":"entity","name":"Cleo","entityType":"person","observations":["new"]}"#;
pub(crate) const KNOWS: &str = r#"{"type":"relation","from":"Ann","to":"Bob","relationType":"knows"}"#;
const LIKES: &str = r#"{"type":"relation","from":"Bob","to":"Nobody","relationType":"likes"}"#;

#[tokio::test]
async fn every_change_stands_in_the_file_when_it_is_answered() {
    let g = Filed::new().await;
    assert!(g.names().await.is_empty() && !g.path().exists(), "reading makes no file");
    g.create(vec![entity("Ann", "person", &["kind"]), entity("Bob", "person", &[])]).await;
    g.relate(&["Ann knows Bob", "Bob likes Nobody"]).await;
    g.add("Ann", &["late"]).await;
    assert_eq!(g.file(), [ANN, BOB, KNOWS, LIKES].join("\n"));
    g.unsay("Ann", &["kind", "late"]).await;
    g.part(&["Bob likes Nobody"]).await;
    assert_eq!(g.file(), [&ANN.replace("\"kind\",\"late\"", ""), BOB, KNOWS].join("\n"));
    g.delete(&["Bob"]).await;
    assert_eq!(g.file(), ANN.replace("\"kind\",\"late\"", ""));
    g.delete(&["Ann"]).await;
    assert_eq!(g.file(), "");

    let modified = std::fs::metadata(g.path()).expect("it is there").modified().expect("a time");
    g.delete(&["Nobody"]).await;
    g.unsay("Nobody", &["nothing"]).await;
    let now = std::fs::metadata(g.path()).expect("it is there").modified().expect("a time");
    assert_eq!(now, modified, "nothing changed, so nothing was written");
}

#[tokio::test]
async fn a_file_that_is_there_becomes_the_graph_and_stays_as_it_is_until_a_change() {
    let untidy = [
        "",
        BOB,
        &format!("{ANN}{KNOWS}\r"),
        "  ",
        r#"{"more":1,"type":"entity","name":"x","entityType":""}"#,
    ];
    let g = Filed::with(&untidy).await;
    let page = g.read(PageRequest::default()).await;
    assert_eq!(shown(&page), (vec!["Bob", "Ann", "x"], vec!["Ann knows Bob".to_owned()]));
    assert_eq!(g.file(), untidy.join("\n"));
    g.add("x", &["y"]).await;
    assert_eq!(
        g.file(),
        [BOB, ANN, r#"{"type":"entity","name":"x","entityType":"","observations":["y"]}"#, KNOWS].join("\n")
    );

    let g = g.restarted().await;
    assert_eq!(g.names().await, ["Bob", "Ann", "x"]);
    g.write(&[CLEO]);
    let g = g.restarted().await;
    assert_eq!(g.names().await, ["Cleo"]);
}

#[tokio::test]
async fn what_somebody_else_writes_between_two_calls_is_taken_in() {
    let g = Filed::with(&[ANN, BOB, KNOWS]).await;
    assert_eq!(g.names().await, ["Ann", "Bob"]);
    g.write(&[ANN, CLEO]);
    assert_eq!(g.search("person").await.entities.len(), 2);
    assert_eq!(g.open(&["Cleo"]).await.entities.len(), 1);
    // Of the same length, at once, in place.
    g.write(&[ANN, &CLEO.replace("new", "old")]);
    assert_eq!(g.observations("Cleo").await, ["old"]);
    g.write(&[BOB]);
    g.create(vec![entity("Dan", "person", &[])]).await;
    assert_eq!(g.lines(), [BOB, &BOB.replace("Bob", "Dan")]);
    assert_eq!(g.f.count("select entities from graph_thread").await, 2);
}

#[tokio::test]
async fn what_an_editor_leaves_unchanged_keeps_its_identity_and_all_gets_the_files_order() {
    let g = Filed::with(&[ANN, BOB, CLEO, KNOWS, LIKES]).await;
    g.names().await;
    let (ann, cleo) = (g.handles("Ann").await, g.handles("Cleo").await);
    let created = "select count(*) from graph_entity where updated_at > created_at";
    assert_eq!(g.f.count(created).await, 0);
    let eve = r#"{"type":"entity","name":"Eve","entityType":"person","observations":["first","first"]}"#;
    let ann_now =
        r#"{"type":"entity","name":"Ann","entityType":"boss","observations":["new","late","kind"]}"#;
    let back = r#"{"type":"relation","from":"Bob","to":"Ann","relationType":"knows"}"#;
    g.write(&[eve, CLEO, LIKES, ann_now, BOB, back, KNOWS]);
    let page = g.read(PageRequest::default()).await;
    assert_eq!(
        shown(&page),
        (
            vec!["Eve", "Cleo", "Ann", "Bob"],
            vec!["Bob likes Nobody".into(), "Bob knows Ann".into(), "Ann knows Bob".into()]
        )
    );
    let mut ann_later = g.handles("Ann").await;
    ann_later.retain(|(content, _)| content != "new");
    assert_eq!((ann_later, g.handles("Cleo").await), (ann, cleo));
    assert_eq!(g.observations("Ann").await, ["new", "late", "kind"]);
    assert_eq!(g.f.count(created).await, 1, "only Ann was changed");
    g.create(vec![entity("Last", "t", &[])]).await;
    assert_eq!(g.lines()[..4], [eve, CLEO, ann_now, BOB]);
    assert_eq!(g.lines()[5..], [LIKES, back, KNOWS]);

    let g = g.restarted().await;
    g.write(&[BOB, KNOWS]);
    assert_eq!(g.names().await, ["Bob"]);
    let page = g.read(PageRequest::default()).await;
    assert_eq!(
        page.relations.iter().map(said).collect::<Vec<_>>(),
        ["Ann knows Bob"],
        "its end is gone, it is not"
    );
    g.write(&[ANN, BOB]);
    assert_eq!(shown(&g.read(PageRequest::default()).await).1, [""; 0]);
}

#[tokio::test]
async fn a_large_file_is_taken_in_whatever_its_order() {
    let g = Filed::new().await;
    let line =
        |n: usize| format!(r#"{{"type":"entity","name":"e{n}","entityType":"t","observations":["o{n}"]}}"#);
    let relation =
        |n: usize| format!(r#"{{"type":"relation","from":"e{n}","to":"e{}","relationType":"r"}}"#, n + 1);
    let forth: Vec<String> = (0..1_500).map(line).chain((0..1_500).map(relation)).collect();
    std::fs::write(g.path(), forth.join("\n")).expect("it is written");
    assert_eq!(g.whole().await.relations.len(), 1_500);
    let handles = "select count(*) from graph_observation where content = 'o' || $1 and handle = $2";
    let kept: i64 = sqlx::query_scalar("select handle from graph_observation where content = 'o700'")
        .fetch_one(&mut g.f.sql().await)
        .await
        .expect("a handle");
    let back: Vec<String> = (0..1_500).rev().map(line).chain((0..1_500).rev().map(relation)).collect();
    std::fs::write(g.path(), back.join("\n")).expect("it is written");
    g.create(vec![entity("last", "t", &[])]).await;
    let mut expected = back;
    expected
        .insert(1_500, r#"{"type":"entity","name":"last","entityType":"t","observations":[]}"#.to_owned());
    assert_eq!(g.lines(), expected);
    let still: i64 = sqlx::query_scalar(handles)
        .bind("700")
        .bind(kept)
        .fetch_one(&mut g.f.sql().await)
        .await
        .expect("a count");
    assert_eq!(still, 1);
}

#[tokio::test]
async fn a_deleted_file_begins_anew() {
    let g = Filed::with(&[ANN, BOB, KNOWS]).await;
    g.names().await;
    std::fs::remove_file(g.path()).expect("it is deleted");
    assert!(g.names().await.is_empty() && !g.path().exists());
    g.create(vec![entity("Cleo", "person", &["new"])]).await;
    assert_eq!(g.file(), CLEO);
    std::fs::remove_file(g.path()).expect("it is deleted");
    let g = g.restarted().await;
    assert!(g.names().await.is_empty());
    std::fs::remove_dir(g.folder.path()).expect("the folder is deleted");
    let scope = scope_of(&g.path()).await;
    assert_eq!(scope, g.scope, "the folder is made again");
}

#[tokio::test]
async fn calls_at_once_lose_nothing() {
    let g = Filed::new().await;
    let calls = (0..20).map(|n| {
        let created = vec![entity(&format!("e{n}"), "t", &["x"])];
        g.memory().graph().create_entities(g.ns(), &g.scope, created)
    });
    for created in futures::future::join_all(calls).await {
        let created = created.expect("it is created");
        assert_eq!((created.answer.len(), created.warning), (1, None));
    }
    let mut lines = g.lines();
    lines.sort();
    lines.dedup();
    assert_eq!(lines.len(), 20);
    assert_eq!(g.names().await.len(), 20);
}

#[tokio::test]
async fn processes_with_databases_of_their_own_keep_what_each_writes_to_one_file() {
    let a = Filed::new().await;
    let b = Graph { f: Fixture::without_model(line_reader()).await, scope: a.scope.clone() };
    let c = a.f.sibling(line_reader(), memory_tests::at_once()).await;
    let writes = |memory: std::sync::Arc<Memory>, start: usize| {
        let scope = a.scope.clone();
        async move {
            for n in start..start + 8 {
                let created = vec![entity(&format!("e{n:02}"), "t", &["x"])];
                let ns = Namespace::default();
                let created =
                    memory.graph().create_entities(&ns, &scope, created).await.expect("it is created");
                assert_eq!((created.answer.len(), created.warning), (1, None));
            }
        }
    };
    tokio::join!(
        writes(a.f.memory.clone(), 0),
        writes(b.f.memory.clone(), 8),
        writes(c.clone(), 16),
        writes(a.f.memory.clone(), 24),
    );
    let mut lines = a.lines();
    lines.sort();
    assert_eq!(lines.len(), 32, "{lines:#?}");
    for (n, line) in lines.iter().enumerate() {
        assert!(line.contains(&format!("e{n:02}")), "{line}");
    }
    let other = Namespace::new("other").expect("a name");
    let seen = whole(a.memory(), &other, &a.scope).await.entities.len();
    assert_eq!((seen, b.whole().await.entities.len()), (32, 32));
}

#[tokio::test]
async fn two_files_and_the_threads_never_mix() {
    let g = Filed::with(&[ANN]).await;
    g.names().await;
    let other = g.beside(scope_of(&g.folder.path().join("other.jsonl")).await);
    other.create(vec![entity("Ann", "robot", &[])]).await;
    let plain = g.beside(GraphScope::default());
    plain.have(&["Plain"]).await;
    assert_eq!(g.file(), ANN);
    let others = std::fs::read_to_string(g.folder.path().join("other.jsonl")).expect("it is there");
    assert_eq!(others, r#"{"type":"entity","name":"Ann","entityType":"robot","observations":[]}"#);
    assert_eq!((g.names().await, plain.whole().await.entities.len()), (vec!["Ann".to_owned()], 1));
    assert_eq!(
        std::fs::read_dir(g.folder.path()).expect("a folder").count(),
        2,
        "nothing else is left there"
    );
}

#[tokio::test]
async fn a_file_that_is_made_is_its_owners_alone() {
    let g = Filed::new().await;
    assert_eq!(g.warned("Ann").await, None);
    let mode = std::fs::metadata(g.path()).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test]
async fn a_link_stays_a_link_and_a_file_keeps_its_mode() {
    let g = Filed::new().await;
    let real = g.folder.path().join("real.jsonl");
    std::fs::write(&real, ANN).expect("it is written");
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).expect("a mode");
    std::os::unix::fs::symlink("real.jsonl", g.path()).expect("a link");
    let linked = g.beside(scope_of(&g.path()).await);
    linked.create(vec![entity("Bob", "person", &[])]).await;
    assert!(g.path().is_symlink());
    assert_eq!(std::fs::read_to_string(&real).expect("it is read"), [ANN, BOB].join("\n"));
    assert_eq!(real.metadata().expect("it is there").permissions().mode() & 0o7777, 0o640);
}

#[tokio::test]
async fn a_damaged_file_is_left_as_it_is_and_refuses_every_call_until_it_is_mended() {
    let g = Filed::with(&[ANN]).await;
    g.names().await;
    g.write(&[ANN, r#"{"type":"entity","name":"B"#]);
    let damaged = g.file();
    let read = g.memory().graph().read_graph(g.ns(), &g.scope, PageRequest::default()).await;
    let created = g.memory().graph().create_entities(g.ns(), &g.scope, vec![entity("C", "t", &[])]).await;
    for error in [read.expect_err("it is refused"), created.expect_err("it is refused")] {
        let error = error.to_string();
        assert!(error.contains("is damaged") && error.contains("Line 2 cannot be read"), "{error}");
        assert!(error.contains(g.path().to_str().expect("UTF-8")), "{error}");
    }
    assert_eq!(g.file(), damaged);
    let GraphScope::File(file) = &g.scope else { panic!("it is a file's") };
    let service = || g.memory().graph_file_service(g.ns(), file).expect("it is told");
    assert!(!service().is_healthy && service().detail.contains("Line 2"), "{:?}", service());
    g.write(&[ANN, BOB]);
    assert_eq!(g.names().await, ["Ann", "Bob"]);
    assert_eq!((service().is_healthy, service().detail.as_str()), (true, "in step: memory.jsonl"));
}

#[tokio::test]
async fn an_entity_that_stands_in_the_file_twice_is_joined_and_said_once() {
    let g = Filed::with(&[ANN, BOB, &ANN.replace("\"kind\"", "\"tall\"").replace("person", "boss")]).await;
    let page = g.read(PageRequest::default()).await;
    let warning = page.warning.expect("a warning");
    assert!(warning.contains("'Ann' on line 3"), "{warning}");
    assert_eq!(page.entities[0].entity.observations, ["kind", "late", "tall"]);
    assert_eq!(page.entities[0].entity.entity_type, "person");
    assert_eq!(g.read(PageRequest::default()).await.warning, None);
}
