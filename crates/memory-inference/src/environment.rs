//! The environment of a process that loads models. What the libraries read from it is settled before anything of ours runs.

use std::env;
use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// ONNX Runtime otherwise keeps a database in the user's cache folder, of programs, models and the machine, and sends it to its
/// maker. Turning that off by its interface comes too late: by then it has noted the process.
const TELEMETRY_OFF: (&str, &str) = ("ORT_DISABLE_TELEMETRY", "1");
/// Blocks of so many bytes and more go back to the system when ONNX Runtime frees them. The C library raises that limit with
/// each large block otherwise, and keeps tens of megabytes of a model that is not loaded any more.
const GIVEN_BACK_FROM: (&str, &str) = ("MALLOC_MMAP_THRESHOLD_", "131072");

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
    if is_telemetry_off() && env::var_os(GIVEN_BACK_FROM.0).is_some() {
        return Ok(());
    }
    let mut arguments = env::args_os();
    let mut command = Command::new(env::current_exe()?);
    if let Some(name) = arguments.next() {
        command.arg0(name);
    }
    let (name, bytes) = GIVEN_BACK_FROM;
    let bytes = env::var_os(name).unwrap_or_else(|| bytes.into());
    Err(command.args(arguments).env(name, bytes).env(TELEMETRY_OFF.0, TELEMETRY_OFF.1).exec())
}
