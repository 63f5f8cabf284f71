//! `completions` and `man`: the command line for shells and manuals.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use clap_complete::Shell;

use crate::command_line::command;

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell that reads it
    shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The folder, such as ~/.local/share/man/man1; it is made where there is none
    dir: PathBuf,
}

pub(crate) fn completions(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    // Written at once: a reader that goes away early is no fault.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command(), "remembrancer", &mut script);
    match std::io::Write::write_all(&mut std::io::stdout(), &script) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(ExitCode::SUCCESS),
    }
}

pub(crate) fn man(args: &ManArgs) -> anyhow::Result<ExitCode> {
    let unusable = || format!("manual pages cannot be written into {}", args.dir.display());
    std::fs::create_dir_all(&args.dir).with_context(unusable)?;
    clap_mangen::generate_to(command(), &args.dir).with_context(unusable)?;
    println!("{}", args.dir.join("remembrancer.1").display());
    Ok(ExitCode::SUCCESS)
}
