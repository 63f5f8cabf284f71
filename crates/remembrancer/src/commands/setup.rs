//! `remembrancer setup`: fetches once what the server needs, into the data folder. Can be ended at any
//! moment and run again; what is there is left as it is.

use std::fs::{File, TryLockError};
use std::path::PathBuf;
use std::thread;
use std::time::Instant;

use anyhow::Context;
use indicatif::{DecimalBytes, MultiProgress};
use serde::Serialize;

use crate::setup::{
    Component, Components, Installer, Pin, Progress, Source, cannot_run_postgres, check_disk_space,
    folder_bytes, for_this_machine, make_data_folder, unreachable_for_nobody,
};

#[derive(Debug, clap::Args)]
pub(crate) struct SetupArgs {
    /// Take the packages from this folder: no network and no pip are needed
    #[arg(long, value_name = "FOLDER")]
    from: Option<PathBuf>,
    /// Leave out Postgres: DATABASE_URL will name one
    #[arg(long)]
    without_postgres: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    #[serde(rename = "pieces")]
    components: Vec<ComponentReport>,
    total_bytes: u64,
    seconds: f64,
    /// What the user should know before the server starts.
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ComponentReport {
    #[serde(rename = "piece")]
    component: Component,
    name: &'static str,
    state: State,
    path: PathBuf,
    bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Installed,
    AlreadyThere,
    /// It would not run on this machine, or is not wanted.
    LeftOut,
}

/// Blocks until all is in place. Several at once wait for each other.
pub(crate) fn run(args: &SetupArgs, components: &Components) -> anyhow::Result<()> {
    let started = Instant::now();
    make_data_folder(&components.data_dir).with_context(|| {
        format!(
            "the data folder {} cannot be used; choose another with --data-dir",
            components.data_dir.display()
        )
    })?;
    // Held to the end; the system gives it back if the process dies.
    let _lock = lock(components)?;
    let mut notes = Vec::new();
    let mut wanted = for_this_machine()?;
    if let Some(reason) = cannot_run_postgres() {
        notes.push(reason.to_owned());
        wanted.retain(|(component, _)| *component != Component::Postgres);
    }
    if args.without_postgres {
        wanted.retain(|(component, _)| *component != Component::Postgres);
    }
    wanted.retain(|(component, _)| !components.has(*component));
    if !wanted.is_empty() {
        check_disk_space(&components.data_dir)?;
        let source = args.from.clone().map_or_else(Source::pip, |folder| Ok(Source::Folder(folder)))?;
        let installer = Installer::new(components, source)?;
        let installed = install_all(&installer, &wanted);
        installer.finish()?;
        installed?;
    }
    if let Some(folder) = unreachable_for_nobody(&components.data_dir) {
        notes.push(format!(
            "Postgres will run as user nobody, which cannot pass {}: open it (chmod o+x) or set REMEMBRANCER_DATA_DIR",
            folder.display()
        ));
    }
    let report = report(components, &wanted, notes, started);
    print(&report, args.json)
}

fn lock(components: &Components) -> anyhow::Result<File> {
    let path = components.data_dir.join("setup.lock");
    let context = || format!("cannot lock {}", path.display());
    let file = File::options().create(true).truncate(false).write(true).open(&path).with_context(context)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            eprintln!("waiting for another setup to end");
            file.lock().with_context(context)?;
        }
        Err(TryLockError::Error(error)) => return Err(error).with_context(context),
    }
    Ok(file)
}

/// Side by side: one unpacks while another is fetched. Each is tried, and the first error is the result.
fn install_all(installer: &Installer<'_>, wanted: &[(Component, Pin)]) -> anyhow::Result<()> {
    let bars = MultiProgress::new();
    thread::scope(|scope| {
        let install = |(component, pin): &'_ (Component, Pin)| {
            let progress = Progress::new(&bars, component.title());
            installer
                .install(*component, pin, &progress)
                .with_context(|| format!("{component} could not be set up"))
        };
        let running: Vec<_> = wanted.iter().map(|one| scope.spawn(move || install(one))).collect();
        let results: Vec<_> = running.into_iter().map(thread::ScopedJoinHandle::join).collect();
        results.into_iter().try_for_each(|result| match result {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })
}

fn report(
    components: &Components,
    installed: &[(Component, Pin)],
    notes: Vec<String>,
    started: Instant,
) -> Report {
    let of = |component: Component| {
        let path = components.folder(component);
        let state = if installed.iter().any(|(one, _)| *one == component) {
            State::Installed
        } else if components.has(component) {
            State::AlreadyThere
        } else {
            State::LeftOut
        };
        ComponentReport { component, name: component.title(), state, bytes: folder_bytes(&path), path }
    };
    let components: Vec<_> = Component::ALL.into_iter().map(of).collect();
    let total_bytes = components.iter().map(|component| component.bytes).sum();
    Report { components, total_bytes, seconds: started.elapsed().as_secs_f64(), notes }
}

fn print(report: &Report, json: bool) -> anyhow::Result<()> {
    if json {
        println!("{}", serde_json::to_string_pretty(report)?);
        return Ok(());
    }
    for component in &report.components {
        let state = match component.state {
            State::Installed => "",
            State::AlreadyThere => "  (was there)",
            State::LeftOut => "  (left out)",
        };
        let size = DecimalBytes(component.bytes).to_string();
        println!("{:28} {size:>10}  {}{state}", component.name, component.path.display());
    }
    println!("{} in all, in {:.1} s", DecimalBytes(report.total_bytes), report.seconds);
    for note in &report.notes {
        println!("note: {note}");
    }
    Ok(())
}
