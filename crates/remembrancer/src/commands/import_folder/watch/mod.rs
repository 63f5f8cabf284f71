//! The folder watched: what changes is remembered, what goes is forgotten where that was asked for. The folder as it is
//! decides, compared with how its files were when they were read last, so that no report of a change has to be right, and
//! what could not be stored is simply found again.

mod changes;
mod state;

use std::collections::HashMap;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use memory_language::text::counted;
use serde_json::json;

use self::changes::Changes;
use self::state::{Due, Files};
use super::reading::{Fingerprint, Folder, Outcome};
use super::tree::Tree;
use super::{Known, NoteLinks, import_all, missing};
use crate::client::Client;
use crate::commands::print::printable;
use crate::daemon::Signals;
use crate::settings::Settings;

/// The pause between two scans of the folder: at least this long, and at least this many times the length of the last scan.
const PAUSE: Duration = Duration::from_millis(200);
const PAUSE_FACTOR: u32 = 4;
/// A memory that does not answer is asked again after the first, and at last after the second.
const AWAY_FIRST: Duration = Duration::from_secs(1);
const AWAY_LAST: Duration = Duration::from_secs(60);
/// The pause between two checks whether a folder that is gone is back.
const REPLACED: Duration = Duration::from_secs(5);

struct Watch<'a> {
    settings: &'a Settings,
    folder: &'a Arc<Folder>,
    files: Files,
    /// Links of notes that are still to be written.
    unwritten: NoteLinks,
    /// Device and inode of the folder. Where another folder is at its path, files that are missing there do not count as gone.
    identity: Option<(u64, u64)>,
    is_replaced: bool,
    away: Option<Away>,
}

/// The memory does not answer: the length of the present pause, and when it ends.
#[derive(Clone, Copy)]
struct Away {
    wait: Duration,
    until: Instant,
}

pub(super) async fn run(
    settings: &Settings,
    folder: &Arc<Folder>,
    known: Known,
    unwritten: NoteLinks,
    signals: &mut Signals,
) -> anyhow::Result<ExitCode> {
    let mut watch = Watch {
        settings,
        folder,
        files: Files::new(known),
        unwritten,
        identity: identity(&folder.root),
        is_replaced: false,
        away: None,
    };
    let mut changes = Changes::new();
    eprintln!("remembrancer: watching {}; Ctrl-C ends it", folder.root.display());
    loop {
        let started = Instant::now();
        let root = Arc::clone(folder);
        let (tree, found) = tokio::task::spawn_blocking(move || look(&root)).await?;
        let has_missed = changes.follow(tree.folders.into_iter().collect());
        watch.check_identity();
        let due = watch.files.look(Instant::now(), &found);
        let pause = PAUSE.max(started.elapsed() * PAUSE_FACTOR);
        let mut again = due.again;
        match watch.act(due, signals).await {
            Acted::Stopped | Acted::Unheard => return Ok(ExitCode::SUCCESS),
            Acted::Done => {}
            Acted::Again(wait) => again = Some(again.map_or(wait, |again| again.min(wait))),
        }
        if has_missed {
            again = Some(again.map_or(pause, |again| again.min(pause)));
        }
        let waiting = async {
            tokio::time::sleep(pause).await;
            changes.wait(again.map(|again| again.saturating_sub(pause))).await;
        };
        tokio::select! {
            () = waiting => {}
            () = signals.any() => return Ok(ExitCode::SUCCESS),
        }
    }
}

/// What came of what was due.
enum Acted {
    Done,
    Again(Duration),
    Stopped,
    /// Nobody reads what is printed any more.
    Unheard,
}

/// The folder as it is now.
fn look(folder: &Folder) -> (Tree, HashMap<PathBuf, Fingerprint>) {
    let mut tree = Tree::of(&folder.root, folder.args.include_ignored);
    let files = std::mem::take(&mut tree.files);
    let found = files.into_iter().filter_map(|file| Fingerprint::of(&file).ok().map(|print| (file, print)));
    let found = found.collect();
    (tree, found)
}

fn identity(folder: &Path) -> Option<(u64, u64)> {
    let found = folder.metadata().ok()?;
    Some((found.dev(), found.ino()))
}

impl Watch<'_> {
    /// A folder that is not there, or whose file system is not mounted, has not lost its files.
    fn check_identity(&mut self) {
        let is_replaced = identity(&self.folder.root) != self.identity;
        if is_replaced && !self.is_replaced {
            eprintln!(
                "remembrancer: {} is gone, or another folder than when the watch began; what is missing in it is not \
                 forgotten until it is back or the watch is started again",
                self.folder.root.display()
            );
        }
        self.is_replaced = is_replaced;
    }

    async fn act(&mut self, due: Due, signals: &mut Signals) -> Acted {
        let mut again = self.is_replaced.then_some(REPLACED);
        if !self.is_replaced {
            for file in due.gone {
                if !self.leave(&file).await {
                    return Acted::Unheard;
                }
            }
        }
        if !due.read.is_empty() || !self.unwritten.is_empty() {
            match self.read(due.read, signals).await {
                Acted::Done => {}
                Acted::Again(wait) => again = Some(again.map_or(wait, |again| again.min(wait))),
                ended => return ended,
            }
        }
        again.map_or(Acted::Done, Acted::Again)
    }

    /// A file that is gone; gives whether somebody still reads what is printed.
    async fn leave(&mut self, file: &Path) -> bool {
        let place = self.folder.place(file);
        // What cannot be looked at may be there, and so may what is left out now.
        let is_gone = matches!(std::fs::symlink_metadata(file), Err(error) if error.kind() == io::ErrorKind::NotFound)
            && !place.contains(char::REPLACEMENT_CHARACTER);
        if !is_gone {
            self.files.drop_gone(file);
            return say(self.folder, file, "left out", "it is still there, and stays remembered as it was");
        }
        if !self.folder.args.confirm {
            self.files.drop_gone(file);
            return say(self.folder, file, "gone", "still remembered; --forget-missing --confirm forgets it");
        }
        match missing::forget(self.settings, &self.folder.root, &[place]).await {
            Ok(_) => {
                self.files.drop_gone(file);
                say(self.folder, file, "forgotten", "")
            }
            Err(error) => {
                let reason = format!("{error:#}");
                let is_new = self.files.note_refused(Instant::now(), file, &reason);
                !is_new || say(self.folder, file, "not forgotten", &format!("{reason}; it is tried again"))
            }
        }
    }

    async fn read(&mut self, due: Vec<PathBuf>, signals: &mut Signals) -> Acted {
        let alone =
            self.away.map_or(Duration::ZERO, |away| away.until.saturating_duration_since(Instant::now()));
        if !alone.is_zero() {
            return Acted::Again(alone);
        }
        let waiting = due.len() as u64;
        let connected = tokio::select! {
            connected = Client::connect_in_bulk(self.settings) => connected,
            () = signals.any() => return Acted::Stopped,
        };
        let client = match connected {
            Ok(client) => client,
            Err(error) => return Acted::Again(self.note_away(waiting, &format!("{error:#}"))),
        };
        let (mut away, mut is_heard) = (None, true);
        let folder = Arc::clone(self.folder);
        let unwritten = std::mem::take(&mut self.unwritten);
        let imported = import_all(client, &folder, due, signals, unwritten, |file, before, outcome| {
            let heard = match outcome {
                Outcome::Away(why) => {
                    away = Some(why);
                    return;
                }
                Outcome::Failed(why) => {
                    let is_new = self.files.note_refused(Instant::now(), &file, &why);
                    !is_new || say(&folder, &file, "failed", &format!("{why}; it is tried again"))
                }
                done => {
                    self.files.note_read(&file, before);
                    match done {
                        Outcome::Created(note) => {
                            say(&folder, &file, "remembered", &note.unwrap_or_default())
                        }
                        Outcome::Skipped(why) => say(&folder, &file, "skipped", &why),
                        _ => say(&folder, &file, "unchanged", ""),
                    }
                }
            };
            is_heard &= heard;
        })
        .await;
        for line in &imported.refused {
            eprintln!("remembrancer: {}", printable(line));
        }
        self.unwritten = imported.unwritten;
        match away.or(imported.away) {
            _ if imported.is_stopped => Acted::Stopped,
            _ if !is_heard => Acted::Unheard,
            Some(why) => Acted::Again(self.note_away(waiting, &why)),
            None => {
                if self.away.take().is_some() {
                    eprintln!("remembrancer: the memory answers again");
                }
                Acted::Done
            }
        }
    }

    /// Says once that the memory does not answer; gives when it is asked again.
    fn note_away(&mut self, waiting: u64, why: &str) -> Duration {
        if self.away.is_none() {
            eprintln!(
                "remembrancer: the memory does not answer ({why}); {} wait and are tried again",
                counted(waiting, "file")
            );
        }
        let wait = self.away.map_or(AWAY_FIRST, |away| (away.wait * 2).min(AWAY_LAST));
        self.away = Some(Away { wait, until: Instant::now() + wait });
        wait
    }
}

/// Prints a line for a file; gives whether somebody reads it.
fn say(folder: &Folder, file: &Path, what: &str, why: &str) -> bool {
    let place = folder.place(file);
    let line = match (folder.args.json, why) {
        (true, "") => json!({ "file": place, "outcome": what }).to_string(),
        (true, _) => json!({ "file": place, "outcome": what, "reason": why }).to_string(),
        (false, "") => format!("{what} {}", printable(&place)),
        (false, _) => format!("{what} {}: {}", printable(&place), printable(why)),
    };
    writeln!(io::stdout(), "{line}").is_ok()
}
