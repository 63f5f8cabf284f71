//! What came of importing a folder, as sentences and as JSON.

use std::fmt::Write;
use std::path::PathBuf;

use memory_language::text::counted;
use serde_json::{Value, json};

use super::missing::Remembered;
use super::tree::Tree;

/// How many files of a kind are named.
const NAMED_MAX: usize = 10;

#[derive(Default)]
pub(super) struct Tally {
    pub(super) created: usize,
    pub(super) unchanged: usize,
    pub(super) skipped: Vec<String>,
    pub(super) failed: Vec<String>,
    /// What was read in another way than others, with how.
    pub(super) notes: Vec<String>,
    /// Links between notes.
    pub(super) links: usize,
}

/// All that was found and done.
pub(super) struct Report {
    pub(super) tally: Tally,
    pub(super) tree: Tree,
    pub(super) remembered: Remembered,
    pub(super) forgotten: Option<u64>,
    pub(super) is_stopped: bool,
    pub(super) root: PathBuf,
}

impl Report {
    pub(super) fn summary(&self) -> Value {
        let (tally, tree) = (&self.tally, &self.tree);
        json!({
            "created": tally.created, "unchanged": tally.unchanged, "skipped": tally.skipped, "failed": tally.failed,
            "notes": tally.notes, "links": tally.links,
            "left_out": { "hidden": tree.hidden, "links": tree.links, "ignored": tree.ignored },
            "missing": self.remembered.missing, "also_in": self.remembered.gone_folders,
            "forgotten": self.forgotten.unwrap_or(0),
            "stopped": self.is_stopped,
        })
    }

    pub(super) fn sentences(&self) -> String {
        let tally = &self.tally;
        let mut out = format!(
            "{} new, {} unchanged, {} skipped, {} failed\n",
            tally.created,
            tally.unchanged,
            tally.skipped.len(),
            tally.failed.len()
        );
        if tally.links > 0 {
            let _ = writeln!(out, "  {} between notes", counted(tally.links as u64, "link"));
        }
        push_named(&mut out, "skipped ", &tally.skipped);
        push_named(&mut out, "", &tally.notes);
        self.push_left_out(&mut out);
        self.push_missing(&mut out);
        if self.is_stopped {
            out.push_str(
                "Stopped. Run the same command again to go on; what is stored is not stored twice.\n",
            );
        }
        out
    }

    fn push_left_out(&self, out: &mut String) {
        let Tree { hidden, links, ignored, .. } = &self.tree;
        let mut parts = Vec::new();
        if *hidden > 0 {
            parts.push(format!("{hidden} hidden"));
        }
        if *links > 0 {
            parts.push(counted(*links, "link"));
        }
        if !ignored.is_empty() {
            let named: Vec<&str> = ignored.iter().take(3).map(String::as_str).collect();
            let more = if ignored.len() > named.len() { ", …" } else { "" };
            let named = named.join(", ");
            parts.push(format!("{} ignored ({named}{more}), which --include-ignored takes", ignored.len()));
        }
        if !parts.is_empty() {
            let _ = writeln!(out, "  left out: {}", parts.join("; "));
        }
    }

    fn push_missing(&self, out: &mut String) {
        let (missing, root) = (&self.remembered.missing, self.root.display());
        match self.forgotten {
            Some(count) => {
                let _ = writeln!(out, "Forgotten, since it is gone: {}", counted(count, "file"));
            }
            None if missing.is_empty() => {}
            None => {
                let _ = writeln!(
                    out,
                    "Remembered, but gone: {}. `remembrancer import-folder '{root}' --forget-missing` forgets what is gone",
                    counted(missing.len() as u64, "file")
                );
                push_named(out, "gone ", missing);
            }
        }
        for (folder, texts) in &self.remembered.gone_folders {
            let _ = writeln!(
                out,
                "{} also remembered under {folder}, which is gone. If it was moved here, `remembrancer import-folder \
                 '{folder}' --forget-missing` forgets the old places and keeps the new",
                if *texts == 1 {
                    "1 of these texts is".to_owned()
                } else {
                    format!("{texts} of these texts are")
                }
            );
        }
    }
}

fn push_named(out: &mut String, what: &str, lines: &[String]) {
    for line in lines.iter().take(NAMED_MAX) {
        let _ = writeln!(out, "  {what}{line}");
    }
    if lines.len() > NAMED_MAX {
        let _ = writeln!(out, "  … and {} more", lines.len() - NAMED_MAX);
    }
}
