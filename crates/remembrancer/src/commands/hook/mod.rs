//! `hook`: what hosts of agents run while a session goes on. It never holds the host up: there is an answer within the
//! deadline or none, the exit status is 0 whatever happens, and troubles are a line in a log that `doctor` shows.

mod answering;
mod delivery;
pub(crate) mod files;

use std::io::{IsTerminal, Read, Write};
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::{Args, ValueEnum};
use memory_agents::hook::HookInput;
use memory_agents::project::Workplace;
use memory_agents::transcript::Host;

use self::files::{HookFiles, Waiting};
use crate::settings::Settings;

/// What a host gives is never longer; a prompt with a large file in it is searched by its beginning.
const INPUT_MAX_BYTES: u64 = 4 << 20;
/// How much of the deadline is kept for ending the process.
const LAST_MOMENTS: Duration = Duration::from_millis(25);

#[derive(Debug, Args)]
pub(crate) struct HookArgs {
    /// What has happened
    #[arg(value_enum)]
    event: Event,
    /// Which host runs it: claude-code, codex, cursor or gemini
    #[arg(long, default_value = "claude-code", value_name = "HOST")]
    host: Host,
    /// Add only what recall gives at least this score, 0 to 1
    #[arg(long, default_value_t = answering::MIN_SCORE, value_name = "NUMBER", value_parser = crate::command_line::number)]
    min_score: f64,
    /// Start the process that holds the data folder where none runs
    #[arg(long, hide = true)]
    start: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Event {
    /// A session begins: adds the briefing
    SessionStart,
    /// The user has written: adds what is known about it
    Prompt,
    /// A tool was used: nothing is kept of it
    PostTool,
    /// The conversation is about to be shortened: keeps its turns
    PreCompact,
    /// The agent has answered: keeps the turns
    Stop,
    /// A session ends: keeps its turns
    SessionEnd,
    /// Sends what waits, in the background
    #[value(hide = true)]
    Deliver,
}

impl Event {
    /// How long the host waits at most, from the start of the process.
    fn deadline(self) -> Duration {
        match self {
            Self::SessionStart => Duration::from_secs(1),
            _ => Duration::from_millis(300),
        }
    }

    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

/// What came of a hook.
#[derive(Debug, Default)]
struct Outcome {
    /// For standard output.
    output: String,
    /// For the log: no text of the user.
    note: String,
}

/// A hook at work.
struct Session<'a> {
    settings: &'a Settings,
    files: &'a HookFiles,
    host: Host,
    input: HookInput,
    workplace: Workplace,
    min_score: f64,
    deadline: Instant,
}

/// Whether this process is a hook that nobody looks at.
pub(crate) fn is_run_by_a_host() -> bool {
    std::env::args_os().any(|argument| argument == "hook") && !std::io::stdin().is_terminal()
}

/// Answers, or does not, in time. The process ends with it: a thread that is stuck holds nobody up.
pub(crate) fn run(started: Instant, settings: Settings, args: HookArgs) -> ExitCode {
    if args.event == Event::Deliver {
        return delivery::run(settings, args.start);
    }
    let deadline = started + args.event.deadline().saturating_sub(LAST_MOMENTS);
    let (event, host) = (args.event, args.host);
    let data_dir = settings.data_dir();
    let (send, receive) = mpsc::channel();
    let working = std::thread::Builder::new()
        .name("hook".to_owned())
        .spawn(move || drop(send.send(answered(settings, &args, deadline))));
    let answer = match working {
        Err(error) => Err(error.into()),
        Ok(_) => match receive.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(answer) => answer,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                Err(anyhow::anyhow!("not done within {} ms", event.deadline().as_millis()))
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => Err(anyhow::anyhow!("it panicked")),
        },
    };
    if let Ok(Outcome { output, .. }) = &answer
        && !output.is_empty()
    {
        let mut stdout = std::io::stdout().lock();
        let _ = writeln!(stdout, "{output}").and_then(|()| stdout.flush());
    }
    if let Some(files) = data_dir.ok().and_then(|folder| HookFiles::of(&folder).ok()) {
        let note = answer.map(|outcome| outcome.note).map_err(|error| format!("{error:#}"));
        files.log(
            &format!("{} {}", event.name(), host.as_str()),
            started.elapsed(),
            note.as_deref().map_err(String::as_str),
        );
    }
    std::process::exit(0)
}

fn answered(mut settings: Settings, args: &HookArgs, deadline: Instant) -> anyhow::Result<Outcome> {
    settings.store.tidy()?;
    let files = HookFiles::of(&settings.data_dir()?)?;
    let mut given = Vec::new();
    std::io::stdin().take(INPUT_MAX_BYTES).read_to_end(&mut given).context("no input")?;
    let input = HookInput::parse(&given).context("the input is not what hosts document")?;
    if input.agent_id.is_some() {
        return Ok(Outcome { note: "of a sub-agent".to_owned(), ..Outcome::default() });
    }
    let folder = input.cwd.clone().or_else(|| std::env::current_dir().ok());
    let workplace = folder.map(|folder| Workplace::of(&folder)).unwrap_or_default();
    let (host, min_score) = (args.host, args.min_score);
    let session = Session {
        settings: &settings,
        files: &files,
        host,
        input,
        workplace,
        min_score,
        deadline: deadline.checked_sub(LAST_MOMENTS).unwrap_or(deadline),
    };
    match args.event {
        Event::SessionStart => session.begin(),
        Event::Prompt => session.prompt(),
        Event::PreCompact | Event::Stop | Event::SessionEnd => session.keep(),
        Event::PostTool | Event::Deliver => Ok(Outcome::default()),
    }
}

impl Session<'_> {
    /// Notes that the session has turns to be stored, and has another process store them.
    fn keep(&self) -> anyhow::Result<Outcome> {
        let Some(transcript) =
            self.input.transcript_path.clone().filter(|_| !self.input.session_id.is_empty())
        else {
            // Cursor keeps none where the user does not want it to.
            let note = "nothing is kept: the host named no transcript or session".to_owned();
            return if self.host == Host::Cursor {
                Ok(Outcome { note, ..Outcome::default() })
            } else {
                Err(anyhow::anyhow!(note))
            };
        };
        self.files.put(&Waiting {
            host: self.host.as_str().to_owned(),
            session_id: self.input.session_id.clone(),
            transcript,
            namespace: self.settings.namespace.clone(),
            tags: self.workplace.tags(self.host.as_str()),
        })?;
        deliver_in_background(self.settings, false)?;
        Ok(Outcome { note: "turns are sent in the background".to_owned(), ..Outcome::default() })
    }

    fn is_late(&self) -> bool {
        Instant::now() >= self.deadline
    }
}

/// Starts a process that sends what waits, and that nobody waits for.
fn deliver_in_background(settings: &Settings, start: bool) -> anyhow::Result<()> {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--data-dir").arg(settings.data_dir()?);
    if let Some(url) = &settings.store.database_url {
        command.env("DATABASE_URL", url);
    }
    command.env("REMEMBRANCER_NAMESPACE", &settings.namespace);
    command.args(["hook", "deliver"]).args(start.then_some("--start"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.process_group(0).current_dir("/").spawn()?;
    Ok(())
}
