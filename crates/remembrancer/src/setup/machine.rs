//! What this machine is fit for, and folders that the user of Postgres can reach.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

/// Packages, what is unpacked from them and the weights that are converted, all at once at the worst.
const SETUP_BYTES: u64 = 400 << 20;

/// Why the packaged Postgres does not run here, if it does not.
pub(crate) fn cannot_run_postgres() -> Option<&'static str> {
    #[cfg(target_arch = "x86_64")]
    if !std::is_x86_feature_detected!("avx2") {
        return Some(
            "this processor has no AVX2, which the packaged pgvector needs: \
             set DATABASE_URL to a Postgres with pgvector of your own",
        );
    }
    None
}

pub(crate) fn check_disk_space(folder: &Path) -> anyhow::Result<()> {
    let space = rustix::fs::statvfs(folder).with_context(|| format!("cannot see {}", folder.display()))?;
    let free = space.f_bavail.saturating_mul(space.f_frsize);
    if free < SETUP_BYTES {
        bail!(
            "{} has {} MB free and setup needs about {} MB",
            folder.display(),
            free >> 20,
            SETUP_BYTES >> 20
        );
    }
    Ok(())
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Makes a folder and those above it. As root they are made so that others can pass: Postgres refuses to
/// run as root and runs as `nobody`.
pub(crate) fn make_folders(folder: &Path) -> anyhow::Result<()> {
    let missing: Vec<&Path> = folder.ancestors().take_while(|above| !above.exists()).collect();
    for new in missing.into_iter().rev() {
        match fs::create_dir(new) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => continue,
            made => made.with_context(|| format!("cannot make {}", new.display()))?,
        }
        if is_root() {
            fs::set_permissions(new, fs::Permissions::from_mode(0o755))
                .with_context(|| format!("cannot set the mode of {}", new.display()))?;
        }
    }
    if folder.is_dir() { Ok(()) } else { bail!("{} is not a folder", folder.display()) }
}

/// Makes the data folder, which other users may not read; as root they may pass through it, since Postgres runs as
/// another user, but not list it. One that is there stays as it is.
pub(crate) fn make_data_folder(folder: &Path) -> anyhow::Result<()> {
    if let Some(above) = folder.parent() {
        make_folders(above)?;
    }
    let mode = if is_root() { 0o711 } else { 0o700 };
    match fs::DirBuilder::new().mode(mode).create(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            Err(error).with_context(|| format!("cannot make {}", folder.display()))
        }
        // Whatever the umask.
        Ok(()) => fs::set_permissions(folder, fs::Permissions::from_mode(mode))
            .with_context(|| format!("cannot set the mode of {}", folder.display())),
        Err(_) if folder.is_dir() => Ok(()),
        Err(_) => bail!("{} is not a folder", folder.display()),
    }
}

/// The folder at or above `folder` that user `nobody` cannot pass, when that matters: as root.
pub(crate) fn unreachable_for_nobody(folder: &Path) -> Option<PathBuf> {
    let passable =
        |above: &Path| fs::metadata(above).is_ok_and(|data| data.permissions().mode() & 0o001 != 0);
    let folder = fs::canonicalize(folder).ok().filter(|_| is_root())?;
    folder.ancestors().find(|above| !passable(above)).map(Path::to_owned)
}
