//! Takes the files that are wanted out of a package, which is a zip.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, ensure};
use zip::ZipArchive;

/// Unpacks `archive` into the new folder `into`. `place` gives the path in that folder for the path of a
/// file in the archive, or none to leave it out. Files are readable by all, programs stay programs.
pub(super) fn unpack(
    archive: &Path,
    into: &Path,
    place: impl Fn(&str) -> Option<String>,
) -> anyhow::Result<()> {
    let context = || format!("cannot unpack {}", archive.display());
    let mut zip = ZipArchive::new(File::open(archive).with_context(context)?).with_context(context)?;
    make_folder(into)?;
    let mut placed = 0;
    for index in 0..zip.len() {
        let mut entry = zip.by_index(index).with_context(context)?;
        let Some(name) = entry.enclosed_name() else { continue };
        let Some(target) = name.to_str().filter(|_| entry.is_file()).and_then(&place) else { continue };
        let target = into.join(target);
        make_folders_between(into, &target)?;
        let mut file = File::create(&target).with_context(|| format!("cannot write {}", target.display()))?;
        io::copy(&mut entry, &mut file).with_context(|| format!("cannot write {}", target.display()))?;
        let mode = if entry.unix_mode().is_some_and(|mode| mode & 0o111 != 0) { 0o755 } else { 0o644 };
        file.set_permissions(fs::Permissions::from_mode(mode))
            .with_context(|| format!("cannot set the mode of {}", target.display()))?;
        placed += 1;
    }
    ensure!(placed > 0, "{} has none of the files that are needed", archive.display());
    Ok(())
}

fn make_folders_between(top: &Path, file: &Path) -> anyhow::Result<()> {
    let mut missing: Vec<&Path> = file.ancestors().skip(1).take_while(|folder| *folder != top).collect();
    missing.retain(|folder| !folder.is_dir());
    missing.into_iter().rev().try_for_each(make_folder)
}

/// Whatever the umask: Postgres may run as another user.
fn make_folder(folder: &Path) -> anyhow::Result<()> {
    fs::create_dir(folder)
        .and_then(|()| fs::set_permissions(folder, fs::Permissions::from_mode(0o755)))
        .with_context(|| format!("cannot make {}", folder.display()))
}
