//! Making the server's folders and the database in them.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Stdio;

use rustix::process::Pid;

use super::account::Account;
use super::{EmbeddedError, EmbeddedPostgres, Group, SOCKET, access};
use crate::own_folder::{FolderFault, OwnFolder, user_name};

/// Where a new database is made, before it has its name.
pub(super) const FRESH: &str = "data.new";

impl EmbeddedPostgres {
    pub(super) fn prepare_folders(&self, account: &Account) -> Result<(), EmbeddedError> {
        let ids = (account.uid, account.gid);
        if let Some(above) = self.home.parent() {
            std::fs::create_dir_all(above)
                .map_err(|source| FolderFault::Unusable { folder: above.to_owned(), source })?;
        }
        OwnFolder::make_for(&self.home, ids)?;
        let socket = OwnFolder::make_for(&self.home.join("socket"), ids)?;
        socket.for_socket(SOCKET)?;
        let _ = self.socket.set(socket);
        if account.is_left_to {
            for folder in [&self.home, &self.bin] {
                let resolved = folder.canonicalize().unwrap_or_else(|_| folder.clone());
                if let Some(closed) = resolved.ancestors().skip(1).find(|above| !lets_through(above, account))
                {
                    let user = user_name(account.uid);
                    return Err(EmbeddedError::Unreachable { folder: closed.to_owned(), user });
                }
            }
        }
        Ok(())
    }

    pub(super) async fn initialise(&self, account: &Account) -> Result<(), EmbeddedError> {
        self.remove_fresh();
        // A name of its own: the program of a start that was killed may still be writing.
        let fresh = self.home.join(format!("{FRESH}-{:016x}", rand::random::<u64>()));
        let failed = |source| EmbeddedError::Program { program: self.bin.join("initdb"), source };
        let child = self
            .command("initdb", account)
            .args(["-U", "postgres", "--auth=reject", "--encoding=UTF8", "--locale-provider=builtin"])
            .args(["--locale=C.UTF-8", "--no-instructions", "-D"])
            .arg(&fresh)
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let mut group = Group(child.id().and_then(|pid| Pid::from_raw(pid as i32)));
        let output = child.wait_with_output().await.map_err(failed)?;
        group.0 = None;
        if !output.status.success() {
            return Err(EmbeddedError::Init(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
        }
        // The rename is what makes the database exist; a start cut short before it begins anew.
        std::fs::rename(&fresh, self.data())
            .map_err(|source| FolderFault::Unusable { folder: self.data(), source })?;
        Ok(())
    }

    /// What starts that were cut short have left. Where one is still being written, the next start removes it.
    fn remove_fresh(&self) {
        let Ok(entries) = std::fs::read_dir(&self.home) else { return };
        for entry in entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(FRESH))
        {
            if let Err(error) = std::fs::remove_dir_all(entry.path()) {
                tracing::debug!(%error, "failed to remove the files of an earlier start");
            }
        }
    }

    pub(super) fn settle_access(&self, account: &Account) -> Result<bool, EmbeddedError> {
        let data = OwnFolder::open(&self.data())?;
        let settled = match data.owner() {
            Ok(owner) if owner != account.uid => return Err(FolderFault::foreign(&self.data(), owner).into()),
            Ok(_) => access::settle(&data, account),
            Err(error) => Err(error),
        };
        Ok(settled.map_err(|source| FolderFault::Unusable { folder: self.data(), source })?)
    }
}

fn lets_through(folder: &Path, account: &Account) -> bool {
    folder.metadata().is_ok_and(|found| found.mode() & 0o001 != 0 || found.uid() == account.uid)
}
