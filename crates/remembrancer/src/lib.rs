//! The memory that AI agents keep: an MCP server over HTTP and stdio, and its command line. The executable is
//! [`main`]; the rest that is public is what measuring it needs.

mod access;
mod backup;
mod boot;
mod client;
mod command_line;
mod commands;
mod daemon;
mod http;
mod instance_paths;
mod lines;
mod message;
mod oauth;
mod operator;
mod option_names;
mod reembed;
pub mod settings;
pub mod setup;
mod stopping;
mod tools;

use std::process::ExitCode;

use command_line::{Cli, Command};
use memory_telemetry::logs;

pub use commands::transfer_bar;
pub use memory_inference::environment::prepare as prepare_environment;
pub use tools::recall::{AnswerSize, answer_size};

/// Does what the command line says.
pub fn main() -> ExitCode {
    let started = std::time::Instant::now();
    let cli = match command_line::parse() {
        Ok(cli) => cli,
        // A host takes any other code for a refusal of what the user does.
        Err(_) if commands::hook::is_run_by_a_host() => return ExitCode::SUCCESS,
        Err(code) => return code,
    };
    if let Command::Hook(args) = cli.command {
        return commands::hook::run(started, cli.settings, args);
    }
    if let Command::ReadDocument(args) = &cli.command {
        return commands::read_document::run(args).unwrap_or(ExitCode::FAILURE);
    }
    if let Err(error) = prepare_environment() {
        eprintln!("remembrancer: the program cannot be run anew with its environment: {error}");
        return ExitCode::FAILURE;
    }
    if let Err(reason) = logs::init(default_filter(&cli.command)) {
        eprintln!("remembrancer: {reason}");
        return ExitCode::FAILURE;
    }
    if matches!(cli.command, Command::Serve | Command::Instance) {
        memory_telemetry::metrics::install(env!("CARGO_PKG_VERSION"));
        tools::describe();
    }
    match run(cli) {
        Ok(code) => code,
        Err(error) => {
            logs::fail("remembrancer", &said(&error));
            ExitCode::FAILURE
        }
    }
}

/// An error and its causes. What an error says of its own cause is not said twice.
fn said(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |said, cause| match said.as_str() {
        "" => cause,
        _ if said.contains(&cause) => said,
        _ => format!("{said}: {cause}"),
    })
}

fn default_filter(command: &Command) -> &'static str {
    match command {
        Command::Serve | Command::Instance => "info,rmcp=warn,sqlx=warn,ort=warn",
        _ => "warn,rmcp=error,sqlx=error,ort=error",
    }
}

/// Whether a command works on the data itself, where no key narrows what is done.
fn is_owners(command: &Command) -> bool {
    !matches!(
        command,
        Command::Setup(_)
            | Command::Serve
            | Command::Instance
            | Command::Stdio
            | Command::Remember(_)
            | Command::Recall(_)
            | Command::Briefing(_)
            | Command::Hook(_)
            | Command::Commitments(_)
            | Command::Decisions(_)
            | Command::Forget(_)
            | Command::Status(_)
            | Command::Doctor(_)
            | Command::Health(_)
            | Command::Install(_)
            | Command::Uninstall(_)
            | Command::Completions(_)
            | Command::Man(_)
    )
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    let mut settings = cli.settings;
    settings.store.tidy()?;
    match &cli.command {
        Command::Setup(args) => {
            commands::setup::run(args, &settings.components()?)?;
            return Ok(ExitCode::SUCCESS);
        }
        Command::Completions(args) => return commands::shell::completions(args),
        Command::Man(args) => return commands::shell::man(args),
        Command::Install(args) => return commands::install::install(&settings, args),
        Command::Uninstall(args) => return commands::install::uninstall(&settings, args),
        Command::Health(_) | Command::Doctor(_) => {}
        // Checked here, at the terminal, so that it is not only in the log of a background process.
        _ => settings.check()?,
    }
    if is_owners(&cli.command) && settings::key()?.is_some() {
        anyhow::bail!(
            "this command is for the owner of the data, not for the holder of a key; unset REMEMBRANCER_KEY to give it"
        );
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let code = runtime.block_on(async {
        match cli.command {
            Command::Setup(_)
            | Command::Hook(_)
            | Command::ReadDocument(_)
            | Command::Install(_)
            | Command::Uninstall(_)
            | Command::Completions(_)
            | Command::Man(_) => Ok(ExitCode::SUCCESS),
            Command::Serve => commands::serve::run(settings, cli.listen, cli.tools).await,
            Command::Instance => commands::serve::run_instance(settings).await,
            Command::Doctor(args) => commands::doctor::run(&settings, &cli.listen, args).await,
            Command::Health(args) => commands::health::run(&cli.listen, args).await,
            Command::Stdio => commands::stdio::run(&settings, cli.tools).await,
            Command::Stop(args) => commands::stop::run(&settings, args).await,
            Command::Remember(args) => commands::verbs::remember(&settings, args).await,
            Command::Recall(args) => commands::verbs::recall(&settings, args).await,
            Command::Briefing(args) => commands::briefing::run(&settings, args).await,
            Command::Commitments(args) => commands::events::commitments(&settings, args).await,
            Command::Decisions(args) => commands::events::decisions(&settings, args).await,
            Command::Forget(args) => commands::verbs::forget(&settings, args).await,
            Command::Status(args) => commands::verbs::status(&settings, args).await,
            Command::Entities(args) => commands::entities::run(&settings, args).await,
            Command::Export(args) => commands::export::run(&settings, args).await,
            Command::Import(args) => commands::import::run(&settings, args).await,
            Command::Backup(args) => commands::backup::run(&settings, args).await,
            Command::Restore(args) => commands::restore::run(&settings, args).await,
            Command::Reembed(args) => commands::reembed::run(&settings, args).await,
            Command::Migrate(args) => commands::migrate::run(&settings, args).await,
            Command::Reconcile(args) => commands::mirror::reconcile(&settings, args).await,
            Command::Reindex(args) => commands::mirror::reindex(&settings, args).await,
            Command::Reextract(args) => commands::reextract::run(&settings, args).await,
            Command::Jobs(args) => commands::jobs::run(&settings, args).await,
            Command::Audit(args) => commands::audit::run(&settings, args).await,
            Command::Keys(args) => commands::keys::run(&settings, args).await,
            Command::Webhooks(args) => commands::webhooks::run(&settings, args).await,
            Command::Password(args) => commands::password::run(&settings, args).await,
            Command::Tokens(args) => commands::tokens::tokens(&settings, args).await,
            Command::Clients(args) => commands::tokens::clients(&settings, args).await,
            Command::GraphFiles(args) => commands::graph_files::run(&settings, args).await,
            Command::ImportFolder(args) => commands::import_folder::run(&settings, args).await,
        }
    });
    // A thread that still waits for standard input must not hold the process.
    runtime.shutdown_timeout(std::time::Duration::from_millis(100));
    code
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use anyhow::Context;
    use memory_store::own_folder::FolderFault;

    use super::said;

    #[test]
    fn a_cause_is_said_once() {
        let source = || Error::new(ErrorKind::PermissionDenied, "not permitted");
        let unusable = FolderFault::Unusable { folder: "ro/run".into(), source: source() };
        assert_eq!(
            said(&unusable.into()),
            "ro/run cannot be used: not permitted; choose another data folder with --data-dir"
        );
        let with_context = Err::<(), _>(source()).context("cannot write ro").expect_err("an error");
        assert_eq!(said(&with_context), "cannot write ro: not permitted");
    }
}
