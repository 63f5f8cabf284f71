//! A graph whose file cannot be written for a while.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use memory_core::graph::GraphScope;

use crate::graph_files::{ANN, BOB, CLEO, Filed};

/// While it lives, this thread may not write to the folder. Root may write anywhere, so it is another user
/// meanwhile.
pub(crate) struct ReadOnly<'a>(&'a Path);

impl<'a> ReadOnly<'a> {
    pub(crate) fn new(folder: &'a Path) -> Self {
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o555)).expect("a mode");
        if rustix::process::geteuid().is_root() {
            become_user(65_534);
        }
        Self(folder)
    }
}

/// Runs a test that uses [`ReadOnly`]. A thread that the runtime starts meanwhile would stay another user.
pub(crate) fn on_this_thread(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .on_thread_start(|| {
            if rustix::process::getuid().is_root() {
                become_user(0);
            }
        })
        .build()
        .expect("a runtime")
        .block_on(test);
}

fn become_user(user: u32) {
    let (root, user) = (rustix::process::Uid::ROOT, rustix::process::Uid::from_raw(user));
    rustix::thread::set_thread_res_uid(root, user, root).expect("another user");
}

impl Drop for ReadOnly<'_> {
    fn drop(&mut self) {
        if rustix::process::getuid().is_root() {
            become_user(0);
        }
        std::fs::set_permissions(self.0, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    }
}

#[test]
fn a_write_that_fails_is_said_leaves_the_file_whole_and_is_made_up_for() {
    on_this_thread(async {
        let g = Filed::with(&[ANN]).await;
        g.names().await;
        let read_only = ReadOnly::new(g.folder.path());
        let warning = g.warned("x").await.expect("a warning");
        assert!(warning.contains("was not written: Permission denied"), "{warning}");
        assert_eq!(g.file(), ANN);
        assert_eq!(g.names().await, ["Ann", "x"], "the change is kept");
        let GraphScope::File(file) = &g.scope else { panic!("it is a file's") };
        let service = g.memory().graph_file_service(g.ns(), file).expect("it is told");
        assert!(!service.is_healthy && service.detail.contains("was not written"), "{service:?}");
        drop(read_only);
        assert_eq!(g.warned("y").await, None);
        assert_eq!(g.lines().len(), 3);
        assert!(g.memory().graph_file_service(g.ns(), file).is_some_and(|service| service.is_healthy));
    });
}

#[test]
fn what_could_not_be_written_is_written_by_the_next_process() {
    on_this_thread(async {
        let g = Filed::with(&[ANN]).await;
        g.names().await;
        let read_only = ReadOnly::new(g.folder.path());
        g.warned("Bob").await.expect("a warning");
        drop(read_only);
        let left = g.folder.path().join(".memory.jsonl.0123456789abcdef.tmp");
        std::fs::write(&left, "half").expect("it is written");
        let g = g.restarted().await;
        let GraphScope::File(file) = &g.scope else { panic!("a file") };
        g.memory().graph().bind_file(g.ns(), file).await.expect("it is bound");
        assert_eq!(g.file(), [ANN, &BOB.replace("person", "t")].join("\n"));
        assert!(!left.exists(), "what a killed process left is still there");
    });
}

#[test]
fn where_both_have_changed_nothing_that_either_added_is_lost() {
    on_this_thread(async {
        let g = Filed::with(&[ANN]).await;
        g.names().await;
        let read_only = ReadOnly::new(g.folder.path());
        g.warned("x").await.expect("a warning");
        drop(read_only);
        g.write(&[ANN, CLEO]);
        let warning = g.warned("y").await.expect("it is said");
        assert!(warning.contains("both are kept"), "{warning}");
        assert_eq!(g.names().await, ["Ann", "x", "Cleo", "y"]);
        assert_eq!(g.lines().len(), 4);
    });
}
