//! What a person types: each file is a command or a few of a kind.

pub(crate) mod bench;
pub(crate) mod entities;
pub(crate) mod events;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod import_folder;
pub(crate) mod jobs;
pub(crate) mod mirror;
pub(crate) mod print;
pub(crate) mod reembed;
pub(crate) mod reextract;
pub(crate) mod serve;
pub(crate) mod setup;
pub(crate) mod stdio;
pub(crate) mod verbs;

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar on standard error while something takes a while; none where there is no terminal.
fn transfer_bar(unit: &str, is_hidden: bool) -> ProgressBar {
    let bar = ProgressBar::new(0);
    if is_hidden || !std::io::stderr().is_terminal() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    let template = format!("{{bar:40}} {{pos}}/{{len}} {unit}  {{per_sec}}  {{eta}} left");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    bar
}
