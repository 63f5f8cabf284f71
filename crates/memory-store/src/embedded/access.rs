//! Logins of the embedded server: only the user of this process, whatever an earlier build allowed.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::fchown;

use rustix::fs::{Mode, OFlags};

use super::account::Account;
use crate::own_folder::{OwnFolder, users};
use crate::row_security::RUNTIME_ROLE;

/// More than any of these files has.
const FILE_MAX_BYTES: u64 = 64 * 1024;

/// The server's rules, as files of its data folder. Where another user runs the server for root, peer authentication
/// refuses processes of that user. An ordinary user's socket is in a folder that no other user can enter.
fn rules(account: &Account) -> [(&'static str, String); 2] {
    let note = "# Written by remembrancer at each start.\n";
    let root = users().find(|user| user.uid == 0).map_or_else(|| "root".to_owned(), |user| user.name);
    let (method, map) = if account.is_left_to {
        let lines = ["postgres", RUNTIME_ROLE].map(|role| format!("remembrancer \"{root}\" {role}\n"));
        ("peer map=remembrancer", lines.concat())
    } else {
        ("trust", String::new())
    };
    // Statements run as a role that owns nothing; backups are read as replicas are.
    let logins = [("all", "postgres"), ("all", RUNTIME_ROLE), ("replication", "postgres")];
    let logins = logins.map(|(what, role)| format!("local {what} {role} {method}\n"));
    [("pg_hba.conf", format!("{note}{}", logins.concat())), ("pg_ident.conf", format!("{note}{map}"))]
}

/// Puts the rules into the data folder; says whether others were there.
pub(super) fn settle(data: &OwnFolder, account: &Account) -> io::Result<bool> {
    let mut has_changed = false;
    for (name, content) in rules(account) {
        if read(data, name).is_some_and(|found| found == content) {
            continue;
        }
        replace(data, account, name, &content)?;
        has_changed = true;
    }
    Ok(has_changed)
}

fn read(data: &OwnFolder, name: &str) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat(data.handle(), name, flags, Mode::empty()).ok()?;
    let mut text = String::new();
    File::from(file).take(FILE_MAX_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Within the folder that was looked at, and without following a link: its owner may be another user.
fn replace(data: &OwnFolder, account: &Account, name: &str, content: &str) -> io::Result<()> {
    let draft = format!("{name}.{:016x}", rand::random::<u64>());
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::openat(data.handle(), &draft, flags, Mode::from_raw_mode(0o600))?);
    file.write_all(content.as_bytes())?;
    if account.is_left_to {
        fchown(&file, Some(account.uid), Some(account.gid))?;
    }
    file.sync_all()?;
    rustix::fs::renameat(data.handle(), &draft, data.handle(), name)?;
    Ok(())
}
