//! Backups: copies of the embedded database, or all namespaces as archives, each in a folder of its own with a manifest.

mod comparing;
mod files;
mod manifest;
mod restoring;
mod retention;
mod schedule;
mod shelf;
mod taking;
mod verifying;

pub(crate) use self::manifest::{Kind, Manifest, Reason};
pub(crate) use self::restoring::restore;
pub(crate) use self::schedule::{BackupSettings, Source, UnderWay, keep_to_schedule};
pub(crate) use self::shelf::Shelf;
pub(crate) use self::taking::{Taken, before_change, logical, physical};
pub(crate) use self::verifying::{Verified, verify};
