//! `password`: the one password of the installation, which the consent page asks for. It comes from a variable, a file or standard
//! input, never from a flag.

use std::io::{IsTerminal, Read};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};

use crate::operator::with_memory;
use crate::settings::{Settings, secret};

/// More than a password has.
const READ_MAX_BYTES: u64 = 4_096;

#[derive(Debug, Args)]
pub(crate) struct PasswordArgs {
    #[command(subcommand)]
    command: PasswordCommand,
}

#[derive(Debug, Subcommand)]
enum PasswordCommand {
    /// Set the password: from REMEMBRANCER_PASSWORD, the file REMEMBRANCER_PASSWORD_FILE, or standard input
    Set,
    /// Remove it, so that no password is right
    Remove,
}

pub(crate) async fn run(settings: &Settings, args: PasswordArgs) -> anyhow::Result<ExitCode> {
    let said = match args.command {
        PasswordCommand::Set => {
            let password = given()?;
            with_memory(settings, async |open| Ok(open.memory.password().set(&password).await?)).await?;
            "The password is set."
        }
        PasswordCommand::Remove => {
            let removing = with_memory(settings, async |open| Ok(open.memory.password().remove().await?));
            if removing.await? { "The password is removed." } else { "There was no password." }
        }
    };
    println!("{said}");
    Ok(ExitCode::SUCCESS)
}

fn given() -> anyhow::Result<String> {
    if let Some(password) = secret("REMEMBRANCER_PASSWORD", "REMEMBRANCER_PASSWORD_FILE")? {
        return Ok(line(&password));
    }
    if std::io::stdin().is_terminal() {
        let first = rpassword::prompt_password("New password: ").context("the password cannot be read")?;
        if first != rpassword::prompt_password("Again: ").context("the password cannot be read")? {
            bail!("the two passwords differ; nothing was changed");
        }
        return Ok(first);
    }
    let mut password = String::new();
    let read = std::io::stdin().take(READ_MAX_BYTES).read_to_string(&mut password);
    read.context("the password cannot be read from standard input")?;
    Ok(line(&password))
}

/// Without the end of its line, which files and pipes have.
fn line(text: &str) -> String {
    text.trim_end_matches(['\r', '\n']).to_owned()
}
