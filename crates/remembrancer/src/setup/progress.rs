//! How far a component is: a bar on a terminal, a line a step elsewhere. On standard error, which leaves
//! standard output to the result.

use std::io::IsTerminal;
use std::sync::LazyLock;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

const TICK: Duration = Duration::from_millis(120);
const TITLE_WIDTH: usize = 28;

static BYTES: LazyLock<ProgressStyle> =
    LazyLock::new(|| style("  {prefix} {bar:24} {decimal_bytes:>10} of {decimal_total_bytes}  {msg}"));
static STEP: LazyLock<ProgressStyle> = LazyLock::new(|| style("  {prefix} {spinner} {msg}"));
static DONE: LazyLock<ProgressStyle> = LazyLock::new(|| style("  {prefix} {msg}"));

/// The progress of one component.
#[derive(Debug)]
pub(crate) struct Progress {
    title: &'static str,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(crate) fn new(bars: &MultiProgress, title: &'static str) -> Self {
        if !std::io::stderr().is_terminal() {
            return Self { title, bar: None };
        }
        let bar = bars.add(ProgressBar::new(0).with_style(STEP.clone()));
        bar.set_prefix(format!("{title:TITLE_WIDTH$}"));
        bar.enable_steady_tick(TICK);
        Self { title, bar: Some(bar) }
    }

    /// A step whose length is not known.
    pub(super) fn step(&self, what: &'static str) {
        match &self.bar {
            Some(bar) => {
                bar.set_style(STEP.clone());
                bar.set_message(what);
            }
            None => eprintln!("{}: {what}", self.title),
        }
    }

    /// A step of so many bytes.
    pub(super) fn step_of(&self, what: &'static str, bytes: u64) {
        self.step(what);
        if let Some(bar) = &self.bar {
            bar.set_style(BYTES.clone());
            bar.set_length(bytes);
        }
    }

    pub(super) fn reached(&self, bytes: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(bytes);
        }
    }

    pub(super) fn done(&self, what: &'static str) {
        match &self.bar {
            Some(bar) => {
                bar.set_style(DONE.clone());
                bar.finish_with_message(what);
            }
            None => eprintln!("{}: {what}", self.title),
        }
    }
}

/// Templates are constants of this file: one that is wrong shows as a plain bar.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
