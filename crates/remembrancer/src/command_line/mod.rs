//! The command line: its commands, which settings each of them shows, and what is said when it is not understood.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::commands::audit::AuditArgs;
use crate::commands::backup::BackupArgs;
use crate::commands::briefing::BriefingArgs;
use crate::commands::doctor::DoctorArgs;
use crate::commands::entities::EntitiesCommand;
use crate::commands::events::{CommitmentsArgs, DecisionsArgs};
use crate::commands::export::ExportArgs;
use crate::commands::graph_files::GraphFilesCommand;
use crate::commands::health::HealthArgs;
use crate::commands::hook::HookArgs;
use crate::commands::import::ImportArgs;
use crate::commands::import_folder::ImportFolderArgs;
use crate::commands::install::{InstallArgs, UninstallArgs};
use crate::commands::jobs::JobsArgs;
use crate::commands::keys::KeysArgs;
use crate::commands::migrate::MigrateArgs;
use crate::commands::mirror::{ReconcileArgs, ReindexArgs};
use crate::commands::password::PasswordArgs;
use crate::commands::read_document::ReadDocumentArgs;
use crate::commands::reembed::ReembedArgs;
use crate::commands::reextract::ReextractArgs;
use crate::commands::restore::RestoreArgs;
use crate::commands::setup::SetupArgs;
use crate::commands::shell::{CompletionsArgs, ManArgs};
use crate::commands::stop::StopArgs;
use crate::commands::tokens::{ClientsArgs, TokensArgs};
use crate::commands::verbs::{ForgetArgs, RecallArgs, RememberArgs, StatusArgs};
use crate::commands::webhooks::WebhooksArgs;
use crate::settings::{BIND_DEFAULT, Given, ListenSettings, Settings};
use crate::tools::ToolSettings;

const EXIT_STATUS: &str = "Exit status: 0 when it is done; 1 when it was refused or failed, with the reason on standard \
                           error; 2 when the command line is not understood.";
const MORE_SETTINGS: &str = "More settings: remembrancer --help";

/// The memory that AI agents keep.
#[derive(Debug, Parser)]
#[command(name = "remembrancer", version, propagate_version = true, max_term_width = 110, after_help = EXIT_STATUS)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) settings: Settings,
    #[command(flatten)]
    pub(crate) listen: ListenSettings,
    #[command(flatten)]
    pub(crate) tools: ToolSettings,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Fetch Postgres, ONNX Runtime and the embedding model, once
    Setup(SetupArgs),
    /// Serve MCP over HTTP at <http://localhost:3100/mcp>
    Serve,
    /// Serve MCP over standard input and output, as hosts start it
    Stdio,
    /// End the process that others started in the background
    Stop(StopArgs),
    /// Remember a text from a file or standard input
    Remember(RememberArgs),
    /// Search the memory, or show one text, event or conversation
    Recall(RecallArgs),
    /// Show what to know before a conversation begins: wishes, commitments, decisions, what was done last
    Briefing(BriefingArgs),
    /// List what was promised: what is overdue first, then by due date
    Commitments(CommitmentsArgs),
    /// List what was decided, newest first
    Decisions(DecisionsArgs),
    /// Delete a remembered text for good
    Forget(ForgetArgs),
    /// Show what runs, what is stored and what waits
    Status(StatusArgs),
    /// Check this installation: what is wrong with it, and what to do
    Doctor(DoctorArgs),
    /// Ask the server whether it is ready; for health checks
    Health(HealthArgs),
    /// Show the entities that texts name, and decide which are the same
    #[command(subcommand)]
    Entities(EntitiesCommand),
    /// Write everything of a namespace that cannot be derived, or one of its graphs, as lines of JSON
    Export(ExportArgs),
    /// Take in what export, or a graph server, wrote
    Import(ImportArgs),
    /// Remember every text file of a folder
    ImportFolder(ImportFolderArgs),
    /// Copy the database, or write all namespaces as archives, while everything goes on
    Backup(BackupArgs),
    /// Make a new data folder of a backup, or prove that it is sound
    Restore(RestoreArgs),
    /// Change the embedding model, named by --model-dir, while everything goes on
    Reembed(ReembedArgs),
    /// Bring the schema of a Postgres of your own to this version, as the role that owns it
    Migrate(MigrateArgs),
    /// Compare the vectors mirrored in Qdrant with Postgres, and mend them
    Reconcile(ReconcileArgs),
    /// Build a new collection in Qdrant while the old one is searched
    Reindex(ReindexArgs),
    /// Extract events and entities again, behind what others wait for, while everything goes on
    Reextract(ReextractArgs),
    /// Look at background jobs, try failed ones again, cancel
    Jobs(JobsArgs),
    /// Make, look at, replace and revoke the keys that others come in with
    Keys(KeysArgs),
    /// Have programs told what happens in a namespace, and look at what they were sent
    Webhooks(WebhooksArgs),
    /// Set or remove the password that the consent page asks for
    Password(PasswordArgs),
    /// Show what programs were allowed by OAuth, and end that
    Tokens(TokensArgs),
    /// Name programs that may ask the owner for consent by OAuth
    Clients(ClientsArgs),
    /// Show what was done with which key, newest first
    Audit(AuditArgs),
    /// Look at the files that graphs are kept in, delete what is left of those that are gone
    #[command(subcommand)]
    GraphFiles(GraphFilesCommand),
    /// Answer a hook of an agent's host: its JSON on standard input, what is added to the conversation on standard output
    Hook(HookArgs),
    /// Tell a host of agents of this memory: the server, and the hooks where the host has them
    Install(InstallArgs),
    /// Take out of a host's files what install has put there
    Uninstall(UninstallArgs),
    /// Write what a shell completes command lines by to standard output
    Completions(CompletionsArgs),
    /// Write manual pages, one a command, into a folder
    Man(ManArgs),
    /// Hold the database and the model for other processes of the data folder
    #[command(hide = true)]
    Instance,
    /// Read a PDF or a page of HTML from standard input, with limits on time and memory
    #[command(hide = true)]
    ReadDocument(ReadDocumentArgs),
}

/// The command line as it was typed. What it cannot mean, and what help prints, ends the process.
pub(crate) fn parse() -> Result<Cli, ExitCode> {
    let mut command = command();
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let parsed = command.try_get_matches_from_mut(&arguments);
    parsed.and_then(|matches| understood(&mut command, &matches)).map_err(|error| {
        match error.kind() {
            ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => error.exit(),
            // The same of one that has settings in its environment.
            ErrorKind::MissingSubcommand => eprint!("{}", typed(&command, &arguments).clone().render_help()),
            _ => eprintln!("remembrancer: {}", sentence(&error, typed(&command, &arguments), &arguments)),
        }
        ExitCode::from(2)
    })
}

fn understood(command: &mut clap::Command, matches: &ArgMatches) -> Result<Cli, clap::Error> {
    if let Some((name, _)) = matches.subcommand() {
        let is_given =
            |arg: &&clap::Arg| matches.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine);
        // Others may go on to a process that the command starts; these would be lost without a word.
        let belongs_elsewhere = |arg: &&clap::Arg| {
            let owner = owner(arg);
            owner.is_some_and(|owner| !owner.contains(&name)) && is_given(arg)
        };
        let lost = command.get_arguments().find(belongs_elsewhere).map(|lost| {
            let flag = lost.get_long().unwrap_or_default();
            let owners = owner(lost).unwrap_or_default().join("` and `");
            format!("--{flag} belongs to `{owners}`; it means nothing to `{name}`")
        });
        if let Some(message) = lost {
            return Err(command.error(ErrorKind::ArgumentConflict, message));
        }
    }
    let mut cli = Cli::from_arg_matches(matches)?;
    cli.settings.given = Given::of(command, matches);
    Ok(cli)
}

/// The commands that alone can use a setting; none where others may hand it on to a process they start.
fn owner(arg: &clap::Arg) -> Option<&'static [&'static str]> {
    match arg.get_help_heading() {
        // They ask the server that listens there.
        _ if arg.get_id() == "bind" => Some(&["serve", "health", "doctor"]),
        Some("Where serve listens") => Some(&["serve"]),
        Some("Tools offered by serve and stdio") => Some(&["serve", "stdio"]),
        _ => None,
    }
}

/// All commands, each showing the settings that concern it. The others are understood there all the same.
pub(crate) fn command() -> clap::Command {
    let mut root = Cli::command();
    let settings: Vec<clap::Arg> = root.get_arguments().filter(|arg| arg.is_global_set()).cloned().collect();
    let names: Vec<String> = root.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    for name in names {
        let hidden = settings.iter().filter(|arg| !concerns(&name, arg));
        // An argument that a command has itself is not taken over from the root.
        let hidden: Vec<clap::Arg> = hidden.map(|arg| arg.clone().hide(true)).collect();
        let is_process = name == "serve" || name == "stdio";
        root = root.mut_subcommand(&name, |sub| {
            let sub = sub.args(hidden);
            if is_process { sub } else { sub.after_help(MORE_SETTINGS) }
        });
    }
    root
}

/// Whether a setting is shown in the command's help.
fn concerns(command: &str, setting: &clap::Arg) -> bool {
    let (id, heading) = (setting.get_id().as_str(), setting.get_help_heading().unwrap_or_default());
    let is_place = heading == "Where the data is" && id != "database_connections";
    match command {
        "serve" | "instance" => true,
        "stdio" => heading != "Where serve listens",
        "completions" | "man" => false,
        "health" => id == "bind",
        "doctor" => is_place && id != "namespace" || matches!(id, "model_dir" | "bind"),
        "setup" => matches!(id, "data_dir" | "model_dir"),
        "backup" => is_place || heading == "Backups",
        "stop" => matches!(id, "data_dir" | "database_url"),
        "migrate" => id == "database_url",
        "bench" => {
            (is_place || matches!(heading, "Models" | "Extraction" | "Language model")) && id != "namespace"
        }
        "reembed" => (is_place || heading == "Qdrant" || id == "model_dir") && id != "namespace",
        "reconcile" | "reindex" => (is_place || heading == "Qdrant") && id != "namespace",
        "reextract" => is_place || matches!(heading, "Extraction" | "Language model"),
        _ => is_place,
    }
}

/// What is said of a number by those who read it.
const NO_NUMBER: [&str; 2] = ["invalid digit found in string", "cannot parse integer from empty string"];

/// Options of other servers for what `--bind` says.
const PLACES: [&str; 5] = ["--port", "--host", "--address", "--addr", "--listen"];

/// What is said of an option that other servers have.
fn instead(error: &clap::Error, typed: &clap::Command, arguments: &[OsString]) -> Option<String> {
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidArg) else { return None };
    let listens = typed.get_arguments().any(|arg| arg.get_id() == "bind" && !arg.is_hide_set());
    if error.kind() != ErrorKind::UnknownArgument || !PLACES.contains(&unknown.as_str()) || !listens {
        return None;
    }
    let mut words =
        arguments.iter().filter_map(|word| word.to_str()).skip_while(|word| !word.starts_with(unknown));
    let given =
        words.next()?.split_once('=').map(|(_, value)| value).or_else(|| words.next()).unwrap_or_default();
    let default: SocketAddr = BIND_DEFAULT.parse().ok()?;
    let place = given
        .parse()
        .or_else(|_| given.parse().map(|port| SocketAddr::new(default.ip(), port)))
        .or_else(|_| given.parse().map(|host| SocketAddr::new(host, default.port())))
        .unwrap_or(default);
    Some(format!("unexpected argument '{unknown}'; where to listen is said by `--bind {place}`"))
}

/// What was not understood, in one line, and where to read on.
fn sentence(error: &clap::Error, typed: &clap::Command, arguments: &[OsString]) -> String {
    let rendered = error.render().to_string();
    let mut out = String::new();
    for line in rendered.lines().map(str::trim) {
        if line.starts_with("Usage:") || line.starts_with("For more information") {
            break;
        }
        let line = line.trim_start_matches("error: ").trim_start_matches("tip: ").trim_end_matches('.');
        match out.chars().last() {
            _ if line.is_empty() => continue,
            None => {}
            Some(':' | ',') => out.push(' '),
            Some(_) => out.push_str("; "),
        }
        out.push_str(line);
    }
    if let Some(instead) = instead(error, typed, arguments) {
        out = instead;
    }
    let out = NO_NUMBER.iter().fold(out, |out, said| out.replace(said, &NotANumber::Whole.to_string()));
    format!("{out}. See `{} --help`", typed.get_bin_name().unwrap_or("remembrancer"))
}

/// The command that was typed, as far as that was understood.
fn typed<'a>(root: &'a clap::Command, arguments: &[OsString]) -> &'a clap::Command {
    let mut command = root;
    let mut words = arguments.iter().skip(1).filter_map(|word| word.to_str());
    while let Some(word) = words.next() {
        if let Some(flag) = word.strip_prefix("--") {
            let mut options = root.get_arguments().chain(command.get_arguments());
            if options.any(|arg| arg.get_long() == Some(flag) && arg.get_action().takes_values()) {
                words.next();
            }
        } else if let Some(below) = command.find_subcommand(word) {
            command = below;
        }
    }
    command
}

/// An argument that is no number of the kind that is needed: the user writes another.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotANumber {
    #[error("write a whole number, such as 10")]
    Whole,
    #[error("write a number, such as 0.5")]
    Decimal,
    #[error("write its number, as `remembrancer entities list` shows it")]
    Entity,
}

/// A whole number; its limits are those of the command that uses it.
pub(crate) fn whole_number(given: &str) -> Result<i64, NotANumber> {
    given.parse().map_err(|_| NotANumber::Whole)
}

/// The number of an entity.
pub(crate) fn entity_number(given: &str) -> Result<i64, NotANumber> {
    given.parse().map_err(|_| NotANumber::Entity)
}

/// A number with or without decimals.
pub(crate) fn number(given: &str) -> Result<f64, NotANumber> {
    given.parse().map_err(|_| NotANumber::Decimal)
}

#[cfg(test)]
mod tests;
