//! The environment of a process that loads models. What the libraries read from it is settled before anything of ours runs.

use std::env;
use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// ONNX Runtime otherwise keeps a database in the user's cache folder, of programs, models and the machine, and sends it to its
/// maker. Turning that off by its interface comes too late: by then it has noted the process.
const TELEMETRY_OFF: (&str, &str) = ("ORT_DISABLE_TELEMETRY", "1");
/// What is set unless it is there.
const DEFAULTS: [(&str, &str); 2] = [
    // Blocks of so many bytes and more go back to the system when ONNX Runtime frees them. The C library raises that limit with
    // each large block otherwise, and keeps tens of megabytes of a model that is not loaded any more.
    ("MALLOC_MMAP_THRESHOLD_", "131072"),
    // jemalloc gives pages that were freed back to the system after so many milliseconds, not after ten seconds: recall is as
    // fast, and a server has 34 MB less.
    ("MALLOC_CONF", "dirty_decay_ms:1000"),
];

pub(crate) fn is_telemetry_off() -> bool {
    let (name, off) = TELEMETRY_OFF;
    env::var_os(name).is_some_and(|value| value == OsStr::new(off))
}

/// Runs this program anew, as the same process, with what is missing in its environment; does nothing where that is there.
/// To be called by a program that loads models before it does anything else: a process must not change its environment while it
/// has threads.
///
/// # Errors
/// The program cannot be run anew.
pub fn prepare() -> io::Result<()> {
    let missing = DEFAULTS.iter().filter(|(name, _)| env::var_os(name).is_none());
    let missing: Vec<&(&str, &str)> = missing.collect();
    if is_telemetry_off() && missing.is_empty() {
        return Ok(());
    }
    let mut arguments = env::args_os();
    let mut command = Command::new(env::current_exe()?);
    if let Some(name) = arguments.next() {
        command.arg0(name);
    }
    let (off, value) = TELEMETRY_OFF;
    Err(command.args(arguments).env(off, value).envs(missing.into_iter().copied()).exec())
}
