//! `install` and `uninstall`: our entries in the files of hosts.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use memory_agents::install::{App, Folders, Program, Target};
use serde_json::json;

use crate::settings::Settings;

/// Behind the name of a file: how it was before.
const BACKUP: &str = "before-remembrancer";
/// A larger file is none that a person has written.
const FILE_MAX_BYTES: u64 = 64 << 20;

#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    /// claude-code, claude-desktop, codex, cursor, vscode, opencode or gemini
    host: App,
    /// For the project in this folder, not for all of the user's
    #[arg(long)]
    project: bool,
    /// Only the server, no hooks
    #[arg(long)]
    no_hooks: bool,
    /// Say what would be changed, change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print what was done as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UninstallArgs {
    /// claude-code, claude-desktop, codex, cursor, vscode, opencode or gemini
    host: App,
    /// From the project in this folder, not from the user's files
    #[arg(long)]
    project: bool,
    /// Say what would be changed, change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print what was done as JSON
    #[arg(long)]
    json: bool,
}

/// A file as it is and as it is to be.
struct Change {
    path: PathBuf,
    /// `None` where there is no such file.
    before: Option<String>,
    /// `None` where the file is to be deleted.
    after: Option<String>,
}

impl Change {
    fn is_none(&self) -> bool {
        self.before == self.after
    }

    fn verb(&self) -> &'static str {
        match (&self.before, &self.after) {
            _ if self.is_none() => "unchanged",
            (None, _) => "created",
            (_, None) => "deleted",
            _ => "changed",
        }
    }
}

pub(crate) fn install(settings: &Settings, args: &InstallArgs) -> anyhow::Result<ExitCode> {
    let program = program(settings, args.project)?;
    let mut changes = Vec::new();
    for target in targets(args.host, args.project)? {
        let part = if args.no_hooks { target.part.without_hooks() } else { Some(target.part) };
        let Some(part) = part else { continue };
        let before = read(&target.path)?;
        let after = part.installed(before.as_deref().unwrap_or_default(), &program);
        let after = after.with_context(|| untouched(&target.path))?;
        changes.push(Change { path: target.path, before, after: Some(after) });
    }
    apply(&changes, args.dry_run, true)?;
    report(&changes, args.dry_run, args.json);
    if !args.json && !args.dry_run && changes.iter().any(|change| !change.is_none()) {
        println!("Start {} anew. `remembrancer uninstall {0}` takes it out again.", args.host.as_str());
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn uninstall(settings: &Settings, args: &UninstallArgs) -> anyhow::Result<ExitCode> {
    let program = program(settings, args.project)?;
    let mut changes = Vec::new();
    for Target { path, part } in targets(args.host, args.project)? {
        let Some(before) = read(&path)? else { continue };
        let backup = read(&backup_of(&path))?;
        // Where nobody has changed it since, it becomes what it was, to the letter.
        let was = backup.filter(|was| part.installed(was, &program).is_ok_and(|ours| ours == before));
        let after = match was {
            Some(was) => Some(was),
            None => {
                let after = part.removed(&before).with_context(|| untouched(&path))?;
                let is_ours_alone = after != before && part.is_empty(&after) && !backup_of(&path).exists();
                (!is_ours_alone).then_some(after)
            }
        };
        changes.push(Change { path, before: Some(before), after });
    }
    apply(&changes, args.dry_run, false)?;
    report(&changes, args.dry_run, args.json);
    Ok(ExitCode::SUCCESS)
}

fn untouched(path: &Path) -> String {
    format!("{} was not touched, nor was any other file", path.display())
}

fn targets(host: App, of_project: bool) -> anyhow::Result<Vec<Target>> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folders = Folders {
        home: variable("HOME").context("HOME is not set; it says where the files of hosts are")?,
        project: std::env::current_dir()?,
        config: variable("XDG_CONFIG_HOME"),
        claude: variable("CLAUDE_CONFIG_DIR"),
        codex: variable("CODEX_HOME"),
        is_macos: cfg!(target_os = "macos"),
    };
    let Some(targets) = host.targets(&folders, of_project) else {
        bail!("{} has no files of a project; leave --project out", host.as_str());
    };
    Ok(targets)
}

/// How hosts start this program: with the settings that were given here.
fn program(settings: &Settings, of_project: bool) -> anyhow::Result<Program> {
    let own = std::env::current_exe()?;
    let path = if of_project && is_on_path(&own) {
        // Files of a project are shared: others have it elsewhere.
        "remembrancer".to_owned()
    } else {
        own.to_str().context("the path of this program is not UTF-8")?.to_owned()
    };
    let mut given = Vec::new();
    if settings.given.flag("REMEMBRANCER_DATA_DIR").is_some() {
        let data_dir = settings.data_dir()?;
        given.extend(["--data-dir".to_owned(), data_dir.to_string_lossy().into_owned()]);
    }
    if settings.given.flag("REMEMBRANCER_NAMESPACE").is_some() {
        given.extend(["--namespace".to_owned(), settings.namespace()?.to_string()]);
    }
    Ok(Program { path, settings: given })
}

fn is_on_path(own: &Path) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found =
        std::env::split_paths(&folders).map(|folder| folder.join("remembrancer")).find(|path| path.is_file());
    found.is_some_and(|found| found.canonicalize().ok() == own.canonicalize().ok())
}

fn read(path: &Path) -> anyhow::Result<Option<String>> {
    match path.metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Ok(found) if found.len() > FILE_MAX_BYTES => bail!("{} is too large", path.display()),
        _ => {}
    }
    let text = std::fs::read_to_string(path);
    Ok(Some(text.with_context(|| format!("{} cannot be read", path.display()))?))
}

fn backup_of(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{name}.{BACKUP}"))
}

/// All changes are known before the first is made.
fn apply(changes: &[Change], dry_run: bool, is_install: bool) -> anyhow::Result<()> {
    if dry_run {
        return Ok(());
    }
    for change in changes {
        let path = &change.path;
        let failed = || format!("{} cannot be written", path.display());
        let backup = backup_of(path);
        if is_install && !change.is_none() && !backup.exists() && change.before.is_some() {
            std::fs::copy(path, &backup).with_context(failed)?;
        }
        match &change.after {
            _ if change.is_none() => {}
            Some(text) => write(path, text).with_context(failed)?,
            None => std::fs::remove_file(path).with_context(failed)?,
        }
        if !is_install {
            let _ = std::fs::remove_file(backup);
        }
    }
    Ok(())
}

/// In one step, with the mode that the file has; a link stays one.
fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().context("a file is in a folder")?;
    std::fs::create_dir_all(folder)?;
    let mut draft = tempfile::NamedTempFile::new_in(folder)?;
    std::io::Write::write_all(&mut draft, text.as_bytes())?;
    if let Ok(found) = path.metadata() {
        draft.as_file().set_permissions(found.permissions())?;
    }
    draft.as_file().sync_all()?;
    draft.persist(&path)?;
    Ok(())
}

fn report(changes: &[Change], dry_run: bool, as_json: bool) {
    if as_json {
        let files: Vec<_> = changes
            .iter()
            .map(|change| json!({ "file": change.path, "outcome": change.verb(), "added": added(change), "removed": removed(change) }))
            .collect();
        println!("{:#}", json!({ "dry_run": dry_run, "files": files }));
        return;
    }
    if changes.is_empty() {
        println!("Nothing is installed there.");
    }
    for change in changes {
        let would = if dry_run && !change.is_none() { "would be " } else { "" };
        println!("{would}{}  {}", change.verb(), change.path.display());
        if dry_run {
            for line in removed(change) {
                println!("  - {line}");
            }
            for line in added(change) {
                println!("  + {line}");
            }
        }
    }
}

fn added(change: &Change) -> Vec<String> {
    beyond(change.before.as_deref(), change.after.as_deref())
}

fn removed(change: &Change) -> Vec<String> {
    beyond(change.after.as_deref(), change.before.as_deref())
}

/// The lines of the second that the first does not have.
fn beyond(first: Option<&str>, second: Option<&str>) -> Vec<String> {
    let mut had: Vec<&str> =
        first.unwrap_or_default().lines().map(|line| line.trim_end_matches(',')).collect();
    let mut lines = Vec::new();
    for line in second.unwrap_or_default().lines() {
        match had.iter().position(|had| *had == line.trim_end_matches(',')) {
            Some(at) => {
                had.remove(at);
            }
            None => lines.push(line.to_owned()),
        }
    }
    lines
}
