//! PDF and HTML read in a process of their own: such files are anybody's, and what reads them may run for ever, take all memory
//! or crash. The process has limits, no environment, and nothing open but its two pipes.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{ExitCode, ExitStatus, Stdio};
use std::time::Duration;

use clap::Args;
use memory_core::artifact::CONTENT_MAX_CHARS;
use memory_documents::{Document, DocumentError, DocumentKind};
use rustix::process::{Resource, Rlimit, setrlimit};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;

/// A larger file is not read.
pub(super) const FILE_MAX_BYTES: u64 = 256 << 20;
/// For one document: processor time in seconds, time, and memory in bytes.
const CPU_SECONDS: u64 = 20;
const PATIENCE: Duration = Duration::from_secs(90);
const MEMORY_BYTES: u64 = 1 << 30;
/// Documents that are read at the same time.
const AT_ONCE: usize = 2;
/// What a reader may answer: a text of any letters, escaped.
const ANSWER_MAX_BYTES: u64 = 8 * CONTENT_MAX_CHARS as u64;
/// Elements and objects stand in each other a few thousand deep in files that somebody made by a program.
const STACK_BYTES: usize = 128 << 20;

static PLACES: Semaphore = Semaphore::const_new(AT_ONCE);

#[derive(Debug, Args)]
pub(crate) struct ReadDocumentArgs {
    /// pdf or html
    kind: String,
    /// Processor time that it may take
    #[arg(long, default_value_t = CPU_SECONDS)]
    seconds: u64,
    /// Memory that it may take
    #[arg(long, default_value_t = MEMORY_BYTES >> 20)]
    megabytes: u64,
}

/// Why a document was not read.
#[derive(Debug, thiserror::Error)]
pub(super) enum UnreadDocument {
    #[error(transparent)]
    Refused(#[from] DocumentError),
    #[error("it takes more than {CPU_SECONDS} s to read")]
    TooSlow,
    #[error("it takes more than {} MB of memory to read", MEMORY_BYTES >> 20)]
    TooMuchMemory,
    #[error("what reads such files crashed on it")]
    Crashed,
    #[error("what reads such files did not start: {0}")]
    NotStarted(io::Error),
}

/// The text of a document, read by another process.
pub(super) async fn read(kind: DocumentKind, bytes: Vec<u8>) -> Result<Document, UnreadDocument> {
    let _place = PLACES.acquire().await.map_err(|_| UnreadDocument::Crashed)?;
    let mut child = start(kind).map_err(UnreadDocument::NotStarted)?;
    let answered = tokio::time::timeout(PATIENCE, ask(&mut child, &bytes)).await;
    let (status, out, err) = match answered {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => return Err(UnreadDocument::NotStarted(error)),
        // The process ends with the handle to it.
        Err(_) => return Err(UnreadDocument::TooSlow),
    };
    match serde_json::from_slice::<Result<Document, DocumentError>>(&out) {
        Ok(read) if status.success() => Ok(read?),
        _ => Err(ended(status, &err)),
    }
}

fn start(kind: DocumentKind) -> io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["read-document", kind.as_str()]).env_clear().current_dir(Path::new("/")).kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
}

/// Sends the file; gives how the process ended, with what it printed.
async fn ask(child: &mut Child, bytes: &[u8]) -> io::Result<(ExitStatus, Vec<u8>, Vec<u8>)> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let send = async move {
        let Some(mut stdin) = stdin else { return };
        // A process that has ended says why by how it ended.
        let _ = stdin.write_all(bytes).await;
    };
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let (mut stdout, mut stderr) =
        (stdout.map(|o| o.take(ANSWER_MAX_BYTES)), stderr.map(|e| e.take(4 << 10)));
    let receive = async {
        if let Some(stdout) = &mut stdout {
            stdout.read_to_end(&mut out).await?;
        }
        if let Some(stderr) = &mut stderr {
            stderr.read_to_end(&mut err).await?;
        }
        Ok::<_, io::Error>(())
    };
    let ((), received) = tokio::join!(send, receive);
    received?;
    drop((stdout, stderr));
    Ok((child.wait().await?, out, err))
}

/// What an end without an answer means.
fn ended(status: ExitStatus, err: &[u8]) -> UnreadDocument {
    use std::os::unix::process::ExitStatusExt;
    let signal = status.signal().and_then(rustix::process::Signal::from_named_raw);
    // Of the allocator of Rust, or of C.
    let said = String::from_utf8_lossy(err);
    if signal == Some(rustix::process::Signal::XCPU) {
        UnreadDocument::TooSlow
    } else if said.contains("memory allocation of") || said.contains("out of memory") {
        UnreadDocument::TooMuchMemory
    } else {
        UnreadDocument::Crashed
    }
}

/// The process that reads: a document on standard input, its text as JSON on standard output.
pub(crate) fn run(args: &ReadDocumentArgs) -> anyhow::Result<ExitCode> {
    let kind = DocumentKind::ALL.into_iter().find(|kind| kind.as_str() == args.kind);
    let kind = kind.ok_or_else(|| anyhow::anyhow!("write pdf or html"))?;
    limit(args)?;
    let reader = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        let mut bytes = Vec::new();
        io::stdin().lock().take(FILE_MAX_BYTES).read_to_end(&mut bytes)?;
        Ok::<_, io::Error>(memory_documents::read(kind, bytes, CONTENT_MAX_CHARS))
    })?;
    // It has said on standard error why it panicked.
    let Ok(read) = reader.join() else { return Ok(ExitCode::FAILURE) };
    let answer = serde_json::to_vec(&read?)?;
    io::stdout().lock().write_all(&answer)?;
    Ok(ExitCode::SUCCESS)
}

/// What the process may take from now on. A system that knows one of the limits not has the others, and the parent's patience.
fn limit(args: &ReadDocumentArgs) -> io::Result<()> {
    let at_most = |most: u64| Rlimit { current: Some(most), maximum: Some(most) };
    setrlimit(Resource::Cpu, Rlimit { current: Some(args.seconds), maximum: Some(args.seconds + 1) })?;
    setrlimit(Resource::Core, at_most(0))?;
    setrlimit(Resource::Fsize, at_most(0))?;
    setrlimit(Resource::Nofile, at_most(0))?;
    if cfg!(target_os = "linux") {
        setrlimit(Resource::As, at_most((args.megabytes << 20) + STACK_BYTES as u64))?;
    }
    Ok(())
}
