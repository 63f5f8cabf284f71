//! When to look at the folder: the operating system reports that something changed, not reliably what. Where it reports
//! nothing, the folder is looked at every few seconds.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use notify::event::{EventKind, ModifyKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::Notify;

/// Between two looks where changes are reported: file systems of networks report only some of them.
const RESCAN: Duration = Duration::from_secs(60);
/// And where they are not.
const POLL: Duration = Duration::from_secs(5);

pub(super) struct Changes {
    watcher: Option<RecommendedWatcher>,
    reports: Arc<Reports>,
    folders: BTreeSet<PathBuf>,
}

/// What was reported since the last look; however much it is, it is one look.
#[derive(Default)]
struct Reports {
    woken: Notify,
    /// Something was removed or renamed: a folder at a known path may be another one, which is not watched yet.
    is_moved: AtomicBool,
}

impl Changes {
    pub(super) fn new() -> Self {
        let reports = Arc::new(Reports::default());
        let handler = Arc::clone(&reports);
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            handler.note(event.ok().map(|event| event.kind));
        });
        let watcher = watcher.map_err(|error| say_polling(&error)).ok();
        Self { watcher, reports, folders: BTreeSet::new() }
    }

    /// Has changes in these folders reported; gives whether it could have missed some meanwhile.
    pub(super) fn follow(&mut self, folders: BTreeSet<PathBuf>) -> bool {
        let Some(watcher) = &mut self.watcher else { return false };
        let all_again = self.reports.is_moved.swap(false, Ordering::Relaxed);
        for gone in self.folders.difference(&folders) {
            // Without one there is nothing to end.
            let _ = watcher.unwatch(gone);
        }
        let mut has_missed = false;
        for folder in &folders {
            if !all_again && self.folders.contains(folder) {
                continue;
            }
            match watcher.watch(folder, RecursiveMode::NonRecursive) {
                Ok(()) => has_missed = true,
                // It went meanwhile, which is reported for the folder above.
                Err(error) if !folder.is_dir() => drop(error),
                Err(error) => {
                    say_polling(&error);
                    self.watcher = None;
                    return false;
                }
            }
        }
        self.folders = folders;
        has_missed
    }

    /// Waits for a report, at most so long.
    pub(super) async fn wait(&self, at_most: Option<Duration>) {
        let usual = if self.watcher.is_some() { RESCAN } else { POLL };
        let wait = at_most.map_or(usual, |at_most| at_most.min(usual));
        let _ = tokio::time::timeout(wait, self.reports.woken.notified()).await;
    }
}

impl Reports {
    /// `None`: reports were lost.
    fn note(&self, kind: Option<EventKind>) {
        // That it was read, by us as well.
        if matches!(kind, Some(EventKind::Access(_))) {
            return;
        }
        if matches!(kind, None | Some(EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)))) {
            self.is_moved.store(true, Ordering::Relaxed);
        }
        self.woken.notify_one();
    }
}

fn say_polling(error: &notify::Error) {
    eprintln!(
        "remembrancer: changes of the folder are not reported ({error}); it is looked at every {} s instead",
        POLL.as_secs()
    );
}
