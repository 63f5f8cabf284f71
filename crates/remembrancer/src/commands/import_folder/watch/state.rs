//! What is known of the files of a watched folder, and what is to be done about them. No clock and no file system: both
//! are given.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::super::reading::Fingerprint;

/// A file that has not changed for so long is whole: what is being written, or replaced by another, is left until then.
pub(super) const QUIET: Duration = Duration::from_secs(1);
/// One that changes without end is read all the same after so long.
const PATIENCE: Duration = Duration::from_secs(60);
/// A file that was refused is tried again after the first, and at last after the second.
const RETRY_FIRST: Duration = Duration::from_secs(2);
const RETRY_LAST: Duration = Duration::from_secs(300);

/// The files of the folder: those that exist, and those that are gone and still have to be forgotten.
#[derive(Debug, Default)]
pub(super) struct Files(BTreeMap<PathBuf, FileState>);

#[derive(Debug, Default)]
struct FileState {
    /// As it was when it was read last; `None` where it never was.
    read: Option<Fingerprint>,
    /// The state that differs from what was read: since when it is as it is now, and since when it differs.
    change: Option<Change>,
    gone_since: Option<Instant>,
    refused: Option<Refused>,
}

#[derive(Debug, Clone, Copy)]
struct Change {
    seen: Fingerprint,
    since: Instant,
    first: Instant,
}

#[derive(Debug, Clone)]
struct Refused {
    seen: Option<Fingerprint>,
    reason: String,
    again: Instant,
    wait: Duration,
}

/// What a look at the folder came to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Due {
    /// To be read now.
    pub(super) read: Vec<PathBuf>,
    /// Not there any more.
    pub(super) gone: Vec<PathBuf>,
    /// When to look again even if nothing is reported.
    pub(super) again: Option<Duration>,
}

impl Files {
    /// Files that were read before the watch began.
    pub(super) fn new(read: HashMap<PathBuf, Fingerprint>) -> Self {
        let known = |(file, read)| (file, FileState { read: Some(read), ..FileState::default() });
        Self(read.into_iter().map(known).collect())
    }

    /// Compares with what is there now.
    pub(super) fn look(&mut self, now: Instant, found: &HashMap<PathBuf, Fingerprint>) -> Due {
        for file in found.keys() {
            if !self.0.contains_key(file) {
                self.0.insert(file.clone(), FileState::default());
            }
        }
        let mut due = Due::default();
        for (file, state) in &mut self.0 {
            let wait = match found.get(file) {
                Some(seen) => state.there(now, *seen),
                None => Some(state.missing(now)),
            };
            match wait {
                None => {}
                Some(Duration::ZERO) if state.gone_since.is_some() => due.gone.push(file.clone()),
                Some(Duration::ZERO) => due.read.push(file.clone()),
                Some(wait) => due.again = Some(due.again.map_or(wait, |again| again.min(wait))),
            }
        }
        due
    }

    /// It was read as it was then.
    pub(super) fn note_read(&mut self, file: &Path, read: Option<Fingerprint>) {
        if let Some(state) = self.0.get_mut(file) {
            *state = FileState { read, ..FileState::default() };
        }
    }

    /// It was refused, or could not be read or forgotten, and is tried again later; gives whether the reason is a new one.
    pub(super) fn note_refused(&mut self, now: Instant, file: &Path, reason: &str) -> bool {
        let Some(state) = self.0.get_mut(file) else { return true };
        let seen = state.change.map(|change| change.seen);
        let before = state.refused.take().filter(|before| before.seen == seen);
        let wait = before.as_ref().map_or(RETRY_FIRST, |before| (before.wait * 2).min(RETRY_LAST));
        let is_new = before.is_none_or(|before| before.reason != reason);
        state.refused = Some(Refused { seen, reason: reason.to_owned(), again: now + wait, wait });
        is_new
    }

    /// It is gone, and nothing more is to be done about it.
    pub(super) fn drop_gone(&mut self, file: &Path) {
        self.0.remove(file);
    }
}

impl FileState {
    /// How long until it is to be read; `None` where it was.
    fn there(&mut self, now: Instant, seen: Fingerprint) -> Option<Duration> {
        self.gone_since = None;
        if self.read == Some(seen) {
            self.change = None;
            return None;
        }
        let change = match self.change {
            Some(change) if change.seen == seen => change,
            Some(change) => Change { seen, since: now, ..change },
            None => Change { seen, since: now, first: now },
        };
        self.change = Some(change);
        let quiet = (change.since + QUIET).saturating_duration_since(now);
        let patience = (change.first + PATIENCE).saturating_duration_since(now);
        let refused = self.refused.as_ref().filter(|refused| refused.seen == Some(seen));
        let wait = refused.map_or(Duration::ZERO, |refused| refused.again.saturating_duration_since(now));
        Some(quiet.min(patience).max(wait))
    }

    /// How long until it counts as gone: editors take a file away before they put another in its place.
    fn missing(&mut self, now: Instant) -> Duration {
        self.change = None;
        let since = *self.gone_since.get_or_insert(now);
        let quiet = (since + QUIET).saturating_duration_since(now);
        let refused = self.refused.as_ref().filter(|refused| refused.seen.is_none());
        let wait = refused.map_or(Duration::ZERO, |refused| refused.again.saturating_duration_since(now));
        quiet.max(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOMENT: Duration = Duration::from_millis(400);

    fn found(files: &[(&str, u64)]) -> HashMap<PathBuf, Fingerprint> {
        files.iter().map(|(file, number)| (PathBuf::from(file), Fingerprint::made_up(*number))).collect()
    }

    fn paths(files: &[&str]) -> Vec<PathBuf> {
        files.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn a_file_is_read_once_it_has_not_changed_for_a_while() {
        let start = Instant::now();
        let mut files = Files::new(found(&[("a", 1)]));
        assert_eq!(files.look(start, &found(&[("a", 1)])), Due::default());
        let due = files.look(start, &found(&[("a", 2)]));
        assert_eq!(due, Due { again: Some(QUIET), ..Due::default() });
        // It is still being written.
        let due = files.look(start + QUIET, &found(&[("a", 3)]));
        assert_eq!(due, Due { again: Some(QUIET), ..Due::default() });
        let due = files.look(start + QUIET + MOMENT, &found(&[("a", 3)]));
        assert_eq!(due, Due { again: Some(QUIET.saturating_sub(MOMENT)), ..Due::default() });
        let due = files.look(start + QUIET * 2, &found(&[("a", 3)]));
        assert_eq!(due.read, paths(&["a"]));
        files.note_read(Path::new("a"), Some(Fingerprint::made_up(3)));
        assert_eq!(files.look(start + QUIET * 3, &found(&[("a", 3)])), Due::default());
    }

    #[test]
    fn a_file_that_changes_without_end_is_read_in_the_end() {
        let start = Instant::now();
        let mut files = Files::default();
        let read_at = (0..200_u64).find(|moment| {
            let at = start + MOMENT * u32::try_from(*moment).expect("small");
            !files.look(at, &found(&[("log", *moment)])).read.is_empty()
        });
        assert_eq!(read_at.map(|moment| MOMENT * u32::try_from(moment).expect("small")), Some(PATIENCE));
    }

    #[test]
    fn what_is_put_back_within_a_moment_was_never_gone_and_the_rest_is_gone_after_it() {
        let start = Instant::now();
        let mut files = Files::new(found(&[("a", 1), ("b", 1)]));
        let due = files.look(start, &found(&[]));
        assert_eq!(due, Due { again: Some(QUIET), ..Due::default() });
        let due = files.look(start + MOMENT, &found(&[("a", 2)]));
        assert!(due.gone.is_empty() && due.read.is_empty(), "{due:?}");
        let due = files.look(start + MOMENT + QUIET, &found(&[("a", 2)]));
        assert_eq!((due.read, due.gone), (paths(&["a"]), paths(&["b"])));
        files.drop_gone(Path::new("b"));
        files.note_read(Path::new("a"), Some(Fingerprint::made_up(2)));
        assert_eq!(files.look(start + QUIET * 3, &found(&[("a", 2)])), Due::default());
    }

    #[test]
    fn what_is_refused_is_tried_again_later_and_later_and_at_once_when_it_changes() {
        let start = Instant::now();
        let mut files = Files::default();
        files.look(start, &found(&[("a", 1)]));
        let mut now = start + QUIET;
        for (number, wait) in [2, 4, 8, 16, 32, 64, 128, 256, 300, 300].into_iter().enumerate() {
            let wait = Duration::from_secs(wait);
            assert_eq!(files.look(now, &found(&[("a", 1)])).read, paths(&["a"]));
            assert_eq!(files.note_refused(now, Path::new("a"), "full"), number == 0);
            assert_eq!(files.look(now, &found(&[("a", 1)])), Due { again: Some(wait), ..Due::default() });
            now += wait;
        }
        assert!(files.note_refused(now, Path::new("a"), "another reason"));
        files.look(now, &found(&[("a", 2)]));
        assert_eq!(files.look(now + QUIET, &found(&[("a", 2)])).read, paths(&["a"]));
        assert!(files.note_refused(now + QUIET, Path::new("a"), "another reason"), "it has changed since");
        let due = files.look(now + QUIET, &found(&[("a", 2)]));
        assert_eq!(due.again, Some(RETRY_FIRST));
    }
}
