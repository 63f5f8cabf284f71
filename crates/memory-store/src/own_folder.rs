//! Folders of our own, for sockets: the owner is checked without following links, and sockets are reached through the
//! opened folder, so that another user who makes the name first cannot intercept them.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// The longest path of a socket that the kernel takes, in bytes.
const SOCKET_PATH_MAX_BYTES: usize = if cfg!(target_os = "macos") { 103 } else { 107 };

/// Why a folder cannot hold our sockets or our data.
#[derive(Debug, thiserror::Error)]
pub enum FolderFault {
    #[error(
        "{folder} belongs to {owner} and this runs as {us}, so nothing in it was touched: run this as {owner}, or choose \
         another data folder with --data-dir"
    )]
    Foreign { folder: PathBuf, owner: String, us: String },
    #[error(
        "{folder} is a link or no folder; it has to be a folder of its own, or choose another data folder with --data-dir"
    )]
    NoFolder { folder: PathBuf },
    #[error("{folder} cannot be used: {source}; choose another data folder with --data-dir")]
    Unusable { folder: PathBuf, source: io::Error },
    #[error("the path of {folder} is too long for a socket; choose a shorter data folder with --data-dir")]
    TooLong { folder: PathBuf },
}

impl FolderFault {
    /// A folder of another user.
    pub(crate) fn foreign(folder: &Path, owner: u32) -> Self {
        let us = rustix::process::geteuid().as_raw();
        Self::Foreign { folder: folder.to_owned(), owner: user_name(owner), us: user_name(us) }
    }
}

/// An open folder that only its owner can enter.
#[derive(Debug)]
pub struct OwnFolder {
    path: PathBuf,
    handle: File,
}

impl OwnFolder {
    /// Makes the folder unless it is there, owned by the user of this process.
    pub fn make(path: &Path) -> Result<Self, FolderFault> {
        let us = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        Self::make_for(path, us)
    }

    /// The same for a user whom we may give folders of ours to.
    pub(crate) fn make_for(path: &Path, (uid, gid): (u32, u32)) -> Result<Self, FolderFault> {
        let unusable = |source| FolderFault::Unusable { folder: path.to_owned(), source };
        match DirBuilder::new().mode(0o700).create(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(unusable(error)),
            _ => {}
        }
        let folder = Self::open(path)?;
        let found = folder.handle.metadata().map_err(unusable)?;
        if found.uid() != uid {
            // Made by us a moment ago, or by a start of ours that was cut short.
            if found.uid() != rustix::process::geteuid().as_raw() {
                return Err(FolderFault::foreign(path, found.uid()));
            }
            fchown(&folder.handle, Some(uid), Some(gid)).map_err(unusable)?;
        }
        if found.mode() & 0o777 != 0o700 {
            folder.handle.set_permissions(Permissions::from_mode(0o700)).map_err(unusable)?;
        }
        Ok(folder)
    }

    /// A folder that is there, whatever its owner; a link only where the user of this process has made it.
    pub(crate) fn open(path: &Path) -> Result<Self, FolderFault> {
        let us = rustix::process::geteuid().as_raw();
        let is_our_link = path.symlink_metadata().is_ok_and(|found| found.is_symlink() && found.uid() == us);
        let flags = if is_our_link { OFlags::DIRECTORY } else { OFlags::DIRECTORY | OFlags::NOFOLLOW };
        let opened = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path);
        let handle = opened.map_err(|source| {
            match source.raw_os_error().map(rustix::io::Errno::from_raw_os_error) {
                Some(rustix::io::Errno::LOOP | rustix::io::Errno::NOTDIR) => {
                    FolderFault::NoFolder { folder: path.to_owned() }
                }
                _ => FolderFault::Unusable { folder: path.to_owned(), source },
            }
        })?;
        Ok(Self { path: path.to_owned(), handle })
    }

    pub(crate) fn handle(&self) -> &File {
        &self.handle
    }

    /// Its owner.
    pub(crate) fn owner(&self) -> io::Result<u32> {
        Ok(self.handle.metadata()?.uid())
    }

    /// The folder's path for a socket of this name. Where the real one is too long, it leads through the open folder, as
    /// long as this value exists.
    pub fn for_socket(&self, name: &str) -> Result<PathBuf, FolderFault> {
        if self.path.as_os_str().len() + 1 + name.len() <= SOCKET_PATH_MAX_BYTES {
            return Ok(self.path.clone());
        }
        if cfg!(target_os = "linux") {
            return Ok(PathBuf::from(format!("/proc/self/fd/{}", self.handle.as_raw_fd())));
        }
        Err(FolderFault::TooLong { folder: self.path.clone() })
    }
}

/// The name of a user, as far as the machine's own list has it.
pub fn user_name(uid: u32) -> String {
    let known = users().find(|user| user.uid == uid);
    known.map_or_else(|| format!("user {uid}"), |user| user.name)
}

pub(crate) struct User {
    pub(crate) name: String,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

/// The users of `/etc/passwd`.
pub(crate) fn users() -> impl Iterator<Item = User> {
    let list = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let users: Vec<User> = list
        .lines()
        .filter_map(|line| {
            let mut fields = line.split(':');
            let name = fields.next()?.to_owned();
            let uid = fields.nth(1)?.parse().ok()?;
            Some(User { name, uid, gid: fields.next()?.parse().ok()? })
        })
        .collect();
    users.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_somebody_else_made_first_is_not_followed_and_its_target_stays_as_it_was() {
        let (home, target) = (temporary("link"), temporary("target"));
        std::fs::set_permissions(&target, Permissions::from_mode(0o755)).unwrap();
        let link = home.join("socket");
        std::os::unix::fs::symlink(&target, &link).unwrap();
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::lchown(&link, Some(1), Some(1)).unwrap();
            assert!(matches!(
                OwnFolder::make_for(&link, (65_534, 65_534)),
                Err(FolderFault::NoFolder { .. })
            ));
        } else {
            eprintln!("SKIPPED: only root can make a link of another user");
        }
        let found = std::fs::metadata(&target).unwrap();
        assert_eq!((found.mode() & 0o777, found.uid()), (0o755, rustix::process::geteuid().as_raw()));
    }

    #[test]
    fn a_folder_of_another_user_is_refused_and_one_of_ours_is_closed_to_others() {
        let home = temporary("foreign");
        let folder = home.join("run");
        std::fs::create_dir(&folder).unwrap();
        std::fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
        OwnFolder::make(&folder).unwrap();
        assert_eq!(std::fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
        if !rustix::process::geteuid().is_root() {
            eprintln!("SKIPPED: only root can make a folder of another user");
            return;
        }
        std::os::unix::fs::chown(&folder, Some(1), Some(1)).unwrap();
        let refused = OwnFolder::make(&folder).unwrap_err().to_string();
        assert!(refused.contains("run") && refused.contains(&user_name(1)), "{refused}");
        assert_eq!(std::fs::metadata(&folder).unwrap().uid(), 1);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_socket_below_a_long_path_is_reached_through_its_open_folder() {
        let home = temporary("long").join("x".repeat(150));
        std::fs::create_dir(&home).unwrap();
        let folder = OwnFolder::make(&home).unwrap();
        let path = folder.for_socket("here.sock").unwrap().join("here.sock");
        let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        assert!(home.join("here.sock").exists());
        std::os::unix::net::UnixStream::connect(&path).unwrap();
    }

    fn temporary(name: &str) -> PathBuf {
        let random = rand::random::<u64>();
        let path = std::env::temp_dir().join(format!("remembrancer-own-{name}-{random:x}"));
        std::fs::create_dir(&path).unwrap();
        path
    }
}
