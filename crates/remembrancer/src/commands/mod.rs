//! What a person types: each file is a command or a few of a kind.

pub(crate) mod audit;
pub(crate) mod backup;
pub(crate) mod briefing;
pub(crate) mod doctor;
pub(crate) mod entities;
pub(crate) mod events;
pub(crate) mod export;
pub(crate) mod graph_files;
pub(crate) mod health;
pub(crate) mod hook;
pub(crate) mod import;
pub(crate) mod import_folder;
mod import_history;
pub(crate) mod install;
pub(crate) mod jobs;
pub(crate) mod keys;
pub(crate) mod migrate;
pub(crate) mod mirror;
mod note_links;
mod one_of;
pub(crate) mod password;
pub(crate) mod print;
pub(crate) mod read_document;
pub(crate) mod reembed;
pub(crate) mod reextract;
pub(crate) mod restore;
pub(crate) mod serve;
pub(crate) mod setup;
pub(crate) mod shell;
pub(crate) mod stdio;
pub(crate) mod stop;
mod text_file;
pub(crate) mod tokens;
pub(crate) mod verbs;
pub(crate) mod webhooks;

use std::fmt::Write;
use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

/// A bar on standard error while something takes a while; none where there is no terminal.
pub fn transfer_bar(unit: &str, is_hidden: bool) -> ProgressBar {
    let bar = ProgressBar::new(0);
    if is_hidden || !std::io::stderr().is_terminal() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    let template = format!("{{bar:40}} {{pos}}/{{len}} {unit}  {{rate}}  {{eta}} left");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        let rate = |state: &ProgressState, out: &mut dyn Write| {
            let _ = out.write_str(&rate(state.per_sec()));
        };
        bar.set_style(style.with_key("rate", rate));
    }
    bar
}

/// `26/s`, and `2.5/s` where that says more.
fn rate(per_second: f64) -> String {
    if per_second < 10.0 { format!("{per_second:.1}/s") } else { format!("{per_second:.0}/s") }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_rate_has_no_more_digits_than_a_person_reads() {
        assert_eq!([26.5373, 9.94, 0.0].map(super::rate), ["27/s", "9.9/s", "0.0/s"]);
    }
}
