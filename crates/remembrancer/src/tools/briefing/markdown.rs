//! A briefing as Markdown, for prompts, resources and hooks.

use std::fmt::Write as _;

use super::{Event, Latest, Output, Wish};

impl Output {
    /// As Markdown; nothing where nothing is known.
    pub(crate) fn markdown(&self) -> String {
        let mut out = String::new();
        if let Some(warning) = &self.warning {
            let _ = writeln!(out, "{warning}");
        }
        let wish = |wish: &Wish| {
            let text = line(&wish.text);
            // Words that stand in the text, unless it was cut before them, are not said twice.
            let condition = wish.condition.as_deref().map(line).filter(|condition| !text.contains(condition));
            let condition = condition.map(|condition| format!(" (when: {condition})")).unwrap_or_default();
            format!("{text}{condition} [{}]", wish.id)
        };
        section(
            &mut out,
            "What the user wants, in their words (the user of now is right where this differs)",
            &self.directives,
            wish,
            self.directives_total,
        );
        let due = |event: &Event| {
            let summary = line(&event.summary);
            let later = event.said_later.as_ref().map(|later| {
                format!("; said on {}: \"{}\" [{}]", later.date, line(&later.snippet), later.id)
            });
            let later = later.unwrap_or_default();
            match &event.due {
                Some(due) => format!("{}, due {due} [{}]{later}", summary.trim_end_matches('.'), event.id),
                None => format!("{summary} [{}]{later}", event.id),
            }
        };
        section(&mut out, "Overdue", &self.overdue, due, self.overdue_total);
        if let Some(total) = self.long_overdue_total {
            let _ = writeln!(
                out,
                "Overdue for more than 30 days: {total} (recall with state \"overdue\" lists them, the oldest first)"
            );
        }
        section(&mut out, "Open commitments", &self.open, due, self.open_total);
        let head = "Promised, and likely done or dropped by what was said later";
        section(&mut out, head, &self.likely_ended, due, None);
        if !self.likely_ended.is_empty() || !self.overdue.is_empty() {
            out.push_str(
                "(What is over: remember a text that says so with the tag done:ID or cancelled:ID.)\n",
            );
        }
        let latest = |text: &Latest| {
            let ended =
                text.ended_with.as_ref().map(|ended| format!(" → {}", line(ended))).unwrap_or_default();
            let turns = text.turns.map(|turns| format!(", {turns} turns")).unwrap_or_default();
            let id = text.conversation_id.as_ref().unwrap_or(&text.id);
            format!("{}{turns}: {}{ended} [{id}]", text.date, line(&text.summary))
        };
        section(&mut out, "Last stored", &self.latest, latest, None);
        let dated = |event: &Event| format!("{}: {} [{}]", event.date, line(&event.summary), event.id);
        section(&mut out, "Decided", &self.decisions, dated, None);
        section(&mut out, "Done", &self.done, dated, None);
        if self.left_out > 0 {
            let _ = writeln!(out, "({} more were left out; recall finds them.)", self.left_out);
        }
        out
    }
}

fn section<T>(out: &mut String, head: &str, items: &[T], shown: impl Fn(&T) -> String, total: Option<i64>) {
    if items.is_empty() {
        return;
    }
    let _ = match total {
        Some(total) => writeln!(out, "{head} ({} of {total}):", items.len()),
        None => writeln!(out, "{head}:"),
    };
    for item in items {
        let _ = writeln!(out, "- {}", shown(item));
    }
}

/// What was stored cannot make lines of its own.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
