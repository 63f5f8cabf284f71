//! The user that the embedded server runs as and that owns its files: the user of this process, or, since Postgres refuses
//! to run as root, another one.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::own_folder::{FolderFault, users};

/// The user that runs the server for root, where there is one of this name.
const OWN_USER: &str = "remembrancer";
/// The one that runs it otherwise.
const NOBODY: (u32, u32) = (65_534, 65_534);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Account {
    pub(super) uid: u32,
    pub(super) gid: u32,
    /// Root runs the server as this user; else it is the user of this process.
    pub(super) is_left_to: bool,
}

impl Account {
    /// The owner of an existing folder, if that is a permitted user: folders are never given to another user. Without a folder, the user
    /// that root chooses.
    pub(super) fn of(home: &Path) -> Result<Self, FolderFault> {
        let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        let is_root = rustix::process::geteuid().is_root();
        let own =
            users().find(|user| user.name == OWN_USER && user.uid != 0).map(|user| (user.uid, user.gid));
        let candidates: Vec<(u32, u32)> =
            if is_root { own.into_iter().chain([NOBODY]).collect() } else { vec![(uid, gid)] };
        let mut chosen = None;
        for folder in [home.join("data"), home.to_owned()] {
            let Ok(found) = folder.metadata() else { continue };
            match candidates.iter().find(|(candidate, _)| *candidate == found.uid()) {
                Some(owner) => chosen = chosen.or(Some(*owner)),
                // A start that was cut short may have left it so.
                None if is_root && found.uid() == 0 && folder == home => {}
                None => return Err(FolderFault::foreign(&folder, found.uid())),
            }
        }
        let (uid, gid) = chosen.unwrap_or(candidates[0]);
        Ok(Self { uid, gid, is_left_to: is_root })
    }
}
