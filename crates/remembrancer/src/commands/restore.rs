//! `restore`: a backup becomes a new data folder, or is tried out and left as it is.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::bail;
use clap::{ArgGroup, Args};
use memory_language::text::counted;
use serde_json::json;

use crate::backup::{self, Kind, Manifest, Verified};
use crate::daemon::Signals;
use crate::settings::Settings;

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("what").required(true).multiple(true).args(["into", "verify"])))]
pub(crate) struct RestoreArgs {
    /// The backup's own folder
    backup: PathBuf,
    /// A new data folder to make of it; one that has a database, or anything but what `setup` makes, is refused
    #[arg(long, value_name = "NEW-DIR")]
    into: Option<PathBuf>,
    /// Start it on a private socket, compare the counts, ask for a few texts, and remove it again
    #[arg(long)]
    verify: bool,
    /// Print what was done as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(settings: &Settings, args: RestoreArgs) -> anyhow::Result<ExitCode> {
    let started = Instant::now();
    let mut signals = Signals::new()?;
    let working = async {
        let verified =
            if args.verify { Some(Box::pin(backup::verify(settings, &args.backup)).await?) } else { None };
        let restored = match &args.into {
            Some(into) => Some((Box::pin(backup::restore(settings, &args.backup, into)).await?, into)),
            None => None,
        };
        Ok::<_, anyhow::Error>((verified, restored))
    };
    let (verified, restored) = tokio::select! {
        done = working => done?,
        () = signals.any() => bail!("stopped; what was begun is removed by the next try"),
    };
    let seconds = (started.elapsed().as_secs_f64() * 10.0).round() / 10.0;
    if args.json {
        let verified = verified.as_ref().map(|verified| {
            json!({
                "tables": verified.tables,
                "rows": verified.rows,
                "probes": verified.probes,
                "notes": verified.notes,
            })
        });
        let into = restored.as_ref().map(|(_, into)| into);
        let out = json!({ "verified": verified, "restored_into": into, "seconds": seconds });
        println!("{}", serde_json::to_string_pretty(&out)?);
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(verified) = &verified {
        println!("{}", proof(verified, seconds));
    }
    if let Some((manifest, into)) = restored {
        println!("{}", next_steps(&manifest, into));
    }
    Ok(ExitCode::SUCCESS)
}

fn proof(verified: &Verified, seconds: f64) -> String {
    let manifest = &verified.manifest;
    let mut out = format!(
        "The backup of {} is sound: {} as noted, {} with {}, and {} found, in {seconds} s.",
        manifest.created_at,
        counted(manifest.files.len() as u64, "file"),
        counted(verified.tables as u64, "table"),
        counted(verified.rows, "row"),
        counted(verified.probes as u64, "text"),
    );
    for note in &verified.notes {
        let _ = write!(out, "\nnote: {note}");
    }
    out
}

fn next_steps(manifest: &Manifest, into: &std::path::Path) -> String {
    let into = into.display();
    let vectors = match manifest.kind {
        Kind::Physical => "",
        Kind::Logical => " Vectors are made when it runs.",
    };
    format!(
        "{into} holds the backup of {}.{vectors}\nNext: `remembrancer --data-dir {into} setup`, then `remembrancer --data-dir \
         {into} serve`.",
        manifest.created_at
    )
}
