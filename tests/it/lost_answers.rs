//! A database whose answer to a commit is lost on the way: what was done is reported as done.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use memory_core::id::AnyId;
use memory_engine::Memory;
use memory_engine::forget::Forgotten;
use memory_store::Store;
use memory_tests::{Fixture, at_once};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};

use crate::entities::{id_of, tell};
use crate::shorthand::light;
use crate::stand_ins::line_reader;

/// Stands between a memory and its database, and cuts the connection in the place of an answer to a commit.
struct Lossy {
    url: String,
    /// How many answers are still to be lost.
    left: Arc<AtomicUsize>,
    _folder: tempfile::TempDir,
}

impl Lossy {
    fn before(url: &str) -> Self {
        let (start, folder) = url.split_once("?host=").expect("a socket");
        let server = PathBuf::from(folder).join(".s.PGSQL.5432");
        let own = tempfile::tempdir().expect("a folder");
        let listener = UnixListener::bind(own.path().join(".s.PGSQL.5432")).expect("a socket");
        let left = Arc::new(AtomicUsize::new(0));
        tokio::spawn({
            let left = Arc::clone(&left);
            async move {
                while let Ok((client, _)) = listener.accept().await {
                    tokio::spawn(forward(client, server.clone(), Arc::clone(&left)));
                }
            }
        });
        Self { url: format!("{start}?host={}", own.path().display()), left, _folder: own }
    }
}

async fn forward(mut client: UnixStream, server: PathBuf, left: Arc<AtomicUsize>) {
    let mut server = UnixStream::connect::<&Path>(&server).await.expect("the server answers");
    let (mut asked, mut answered) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    let mut is_commit = false;
    loop {
        let went_on = tokio::select! {
            length = client.read(&mut asked) => match length {
                Ok(length) if length > 0 => {
                    is_commit = asked[..length].windows(7).any(|part| part.eq_ignore_ascii_case(b"commit\0"));
                    server.write_all(&asked[..length]).await
                }
                _ => return,
            },
            length = server.read(&mut answered) => match length {
                Ok(length) if length > 0 => {
                    let take = |left: usize| left.checked_sub(1);
                    if is_commit && left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).is_ok() {
                        return;
                    }
                    client.write_all(&answered[..length]).await
                }
                _ => return,
            },
        };
        if went_on.is_err() {
            return;
        }
    }
}

async fn memory_behind(lossy: &Lossy) -> Memory {
    Memory::new(Store::open(&lossy.url, 4).await.expect("the database opens"), line_reader(), at_once())
}

#[tokio::test]
async fn a_text_is_forgotten_although_the_answer_was_lost() {
    let f: Fixture = light(line_reader()).await;
    let id = AnyId::Artifact(f.remember("Zebra.").await.id);
    let lossy = Lossy::before(&f.url);
    let memory = memory_behind(&lossy).await;
    for _ in 0..2 {
        let unknown = memory.forget(&f.ns, &AnyId::parse("art_000000000000").expect("an id"), true).await;
        assert_eq!(unknown.expect("it answers"), Forgotten::NotFound);
    }
    lossy.left.store(1, Ordering::SeqCst);
    let answer = memory.forget(&f.ns, &id, true).await.expect("it answers");
    assert!(matches!(answer, Forgotten::Deleted(_)), "{answer:?}");
    assert_eq!(lossy.left.load(Ordering::SeqCst), 0, "no answer was lost");
    assert_eq!(f.count("select count(*) from artifact").await, 0);
    let again = memory.forget(&f.ns, &id, true).await.expect("it answers");
    assert_eq!(again, Forgotten::NotFound);
}

#[tokio::test]
async fn a_merge_is_told_as_made_although_the_answer_was_lost() {
    let f = light(line_reader()).await;
    tell(&f, &["Decision by Alice Chen", "Feedback by Alice"]).await;
    let (full, short) = (id_of(&f, "Alice Chen").await, id_of(&f, "Alice").await);
    let lossy = Lossy::before(&f.url);
    let memory = memory_behind(&lossy).await;
    lossy.left.store(1, Ordering::SeqCst);
    let made = memory.entity_review().merge(&f.ns, full, short, false).await.expect("it is made");
    assert_eq!((made.first.0, made.second.0), (full, short));
    lossy.left.store(1, Ordering::SeqCst);
    memory.entity_review().split(&f.ns, short).await.expect("it is taken back");
    assert_eq!(lossy.left.load(Ordering::SeqCst), 0, "no answer was lost");
    assert_eq!(f.count("select count(*) from entity where merged_into is not null").await, 0);
    memory.entity_review().split(&f.ns, short).await.expect_err("it stands by itself");
}
