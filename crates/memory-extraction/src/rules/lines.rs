//! What one line looks like by itself: bullet, heading, header, label, turn, log or code.

use std::ops::Range;

use memory_language::time::{Lean, readings};

use super::line_patterns::{
    ABOVE, ANGLE, BULLET, CODE, ENTRY, HEADER, LABEL, LOG, MARKED, MOMENT, POST, STAMPED, TRACE, TURN,
};
use super::lists;
use super::words::floor_boundary;

/// Only the head of a line says what it is.
const HEAD_MAX_BYTES: usize = 400;

/// Programs write no longer senders.
const SENDER_MAX_BYTES: usize = 60;

fn head(line: &str) -> &str {
    &line[..floor_boundary(line, HEAD_MAX_BYTES)]
}

pub(super) struct Bullet {
    pub(super) indent: usize,
    pub(super) checked: Option<bool>,
    /// Where its words begin.
    pub(super) text_at: usize,
}

pub(super) fn bullet(line: &str) -> Option<Bullet> {
    let found = BULLET.get().captures(head(line))?;
    let mark = found.get(2).or(found.get(3)).or(found.get(4)).map(|mark| mark.as_str());
    let text_at = found.get(0)?.end();
    (text_at < line.len()).then(|| Bullet {
        indent: found.get(1).map_or(0, |indent| indent.len()),
        // A cross says that it was not done, not that it is still to do.
        checked: mark
            .filter(|mark| !matches!(*mark, "✗" | "✘" | "❌"))
            .map(|mark| !matches!(mark, " " | "☐" | "⬜")),
        text_at,
    })
}

/// Level (1 is the highest) and words of a heading that says so by its form.
pub(super) fn heading(line: &str) -> Option<(usize, Range<usize>)> {
    let trimmed = line.trim();
    let at = line.len() - line.trim_start().len();
    let hashes = trimmed.bytes().take_while(|byte| *byte == b'#').count();
    if (1..=6).contains(&hashes) && trimmed[hashes..].starts_with(' ') {
        return Some((hashes, at + hashes..at + trimmed.len()));
    }
    let inner = ["**", "__"].iter().find_map(|mark| {
        let open = trimmed.strip_prefix(mark)?;
        let open = open.strip_suffix(':').unwrap_or(open);
        open.strip_suffix(mark).filter(|inner| !inner.contains(mark) && !inner.is_empty())
    });
    inner.filter(|inner| inner.len() < 80).map(|inner| (7, at + 2..at + 2 + inner.len()))
}

pub(super) fn mail_header(line: &str) -> Option<(String, &str)> {
    let found = HEADER.get().captures(head(line))?;
    Some((found.get(1)?.as_str().to_ascii_lowercase(), found.get(2)?.as_str().trim()))
}

/// `Label: rest`, also `**Label:** rest`: the label and where the rest begins.
pub(super) fn label(line: &str) -> Option<(&str, usize)> {
    let found = LABEL.get().captures(head(line))?;
    Some((found.get(1)?.as_str(), found.get(0)?.end()))
}

pub(super) struct Turn<'a> {
    pub(super) name: &'a str,
    pub(super) timed: bool,
    /// When it was said, as it stands beside the name.
    pub(super) when: &'a str,
    /// Where the words begin; the end of the line when they follow below it.
    pub(super) text_at: usize,
}

/// `Alice: …`, `[10:02] Bob Martinez: …`, `**Alice**: …`, `**alice** 10:02 …`, `<alice> …`, and `Alice Chen  10:02 AM` above its words.
pub(super) fn turn(line: &str) -> Option<Turn<'_>> {
    let line = head(line);
    if let Some(found) = TURN.get().captures(line).or_else(|| ANGLE.get().captures(line)) {
        let paren_time = found.name("paren").is_some_and(|paren| paren.as_str().contains(':'));
        let angle = found.name("paren").is_none() && line.trim_start().contains('<');
        return Some(Turn {
            name: found.name("name")?.as_str(),
            timed: found.name("time").is_some() || paren_time || angle,
            when: found.name("time").or(found.name("paren")).map_or("", |when| when.as_str()),
            text_at: found.name("rest")?.start(),
        });
    }
    let Some(found) = ABOVE.get().captures(line) else {
        return marked_turn(line).or_else(|| stamped_turn(line));
    };
    let timed = found.name("name").or(found.name("late")).or(found.name("writer"));
    let name = timed.or(found.name("said")).or(found.name("dated"))?.as_str();
    // "Kasper77 wrote:", "hoang-pt, Oct 28".
    let handle = !name.contains(' ') && name.contains(|c: char| c.is_ascii_digit() || matches!(c, '_' | '-'));
    Some(Turn { name, timed: timed.is_some() || handle, when: "", text_at: line.len() })
}

/// `**alice** 10:02 …`, `10:02 **alice** …`, `*alice* — …`, `AC – …`.
fn marked_turn(line: &str) -> Option<Turn<'_>> {
    let found = MARKED.get().captures(line)?;
    let timed = found.name("late").or(found.name("name"));
    Some(Turn {
        name: timed.or(found.name("plain")).or(found.name("initials"))?.as_str(),
        timed: timed.is_some(),
        when: "",
        text_at: found.name("rest")?.start(),
    })
}

/// `[24/11/2026, 18:06] ~ Ben: …`, `[…] +44 7700 900123: …`, `… - Ben 🐻: …`: what programs write for a sender, which is no plain name.
fn stamped_turn(line: &str) -> Option<Turn<'_>> {
    let at = STAMPED.get().find(line)?.end();
    let (sender, said) =
        line[at..].split_once(": ").filter(|(sender, _)| sender.len() <= SENDER_MAX_BYTES)?;
    let is_plain = |c: char| c.is_alphabetic() || matches!(c, ' ' | '.' | '\'' | '’' | '-');
    let name = sender.trim_matches(|c: char| !c.is_alphanumeric() && c != '+');
    let said_at = line.len() - said.trim_start().len();
    let is_sender = !sender.chars().all(is_plain) && !name.is_empty() && said_at < line.len();
    is_sender.then_some(Turn { name, timed: true, when: &line[..at], text_at: said_at })
}

/// Whether the day and the hour stand before what a line says, as programs write them.
pub(super) fn is_stamped(line: &str) -> bool {
    STAMPED.get().is_match(head(line))
}

/// The head of a post: a line that has no more than a name and what programs write beside it.
pub(super) struct PostHead<'a> {
    pub(super) name: &'a str,
    /// The name stands out: it is bold, or code.
    pub(super) is_marked: bool,
    /// When it was, or what it or its writer is, stands beside it.
    pub(super) is_told: bool,
    /// More than an hour stands there.
    pub(super) is_dated: bool,
    /// It says that they wrote something.
    pub(super) is_said: bool,
    /// What leads the name says that it is the writer's: "Comment 3", "From:".
    pub(super) is_led: bool,
}

/// `**hollis-b** (member)`, `sunniva · 2 days ago`, `kneale 2014-12-10`, `@rk wrote:`, `jbarrick`.
pub(super) fn post_head(line: &str) -> Option<PostHead<'_>> {
    let found = POST.get().captures(head(line))?;
    let beside = found.name("beside").map_or("", |beside| beside.as_str());
    // "Anna reviewed" alone is a sentence.
    let is_said = found.name("by").is_some()
        || found
            .name("did")
            .is_some_and(|did| did.as_str().contains([' ', ':']) || found.name("mark").is_some());
    // An hour stands beside many words.
    let has_more = |text: &str| text.contains('-') || text.chars().filter(|c| c.is_alphabetic()).count() > 2;
    Some(PostHead {
        name: found.name("name")?.as_str(),
        is_marked: found.name("mark").is_some(),
        is_told: is_said || !beside.is_empty(),
        is_dated: is_said || has_more(beside),
        is_said,
        is_led: found.name("by").is_some(),
    })
}

/// "20/11 09:15" alone on a line, as below the name above a post.
pub(super) fn is_moment(line: &str) -> bool {
    MOMENT.get().is_match(head(line))
}

/// Where the words begin in an entry that a day or an hour leads: "19 Nov 00:15  alarm rings", "2025-06-02 – gate moved".
pub(super) fn dated_entry(line: &str) -> Option<usize> {
    let end = ENTRY.get().find(head(line))?.end();
    (line[end..].split_whitespace().count() >= 2).then_some(end)
}

/// What a chat program notes by itself: "09/05/2025, 18:02 - Carmen created group …", "<Media omitted>".
pub(super) fn is_notice(line: &str) -> bool {
    let line = head(line);
    (is_stamped(line) && turn(line).is_none()) || line.contains("<Media omitted>")
}

pub(super) fn is_log(line: &str) -> bool {
    let line = head(line);
    LOG.get().is_match(line) || TRACE.get().is_match(line)
}

/// A line that only a program has.
pub(super) fn is_code(line: &str) -> bool {
    let line = head(line);
    // "<ana> morning all": who speaks, not a tag.
    let speaks = line.contains("> ")
        && !line.contains("</")
        && !line.trim_end().ends_with('>')
        && ANGLE.get().is_match(line);
    !speaks && CODE.get().is_match(line)
}

/// A closing such as "Best regards,": what follows is a signature.
pub(super) fn is_closing(line: &str) -> bool {
    let words = line.trim().trim_end_matches([',', '!', '.', '-']).to_ascii_lowercase();
    let count = words.split_whitespace().count();
    let polite = ["regards", "greetings", "wishes", "faithfully", "sincerely", "truly", "gratefully"];
    (count <= 5 && polite.iter().any(|end| words.ends_with(end)))
        || lists::CLOSINGS.contains(words.as_str())
        || line.trim_end() == "--"
        || line == "-- "
        || line.starts_with("Sent from my ")
}

/// "On … wrote:" on one line.
pub(super) fn opens_quote(line: &str) -> bool {
    let trimmed = line.trim().trim_start_matches(['>', ' ']);
    (trimmed.starts_with("On ") && trimmed.ends_with("wrote:"))
        || (trimmed.starts_with("--") && trimmed.to_ascii_lowercase().contains("original message"))
}

/// "---------- Forwarded message ----------", "Begin forwarded message:": what follows is passed on to be read.
pub(super) fn opens_forward(line: &str) -> bool {
    let lower = line.trim().to_ascii_lowercase();
    lower.len() < 80
        && lower.contains("forwarded message")
        && (lower.starts_with("--") || lower.starts_with("begin") || lower.starts_with("=="))
}

/// The cells of a table row.
pub(super) fn cells(line: &str) -> Option<Vec<Range<usize>>> {
    let trimmed = line.trim();
    let fenced = trimmed.starts_with('|');
    if (!fenced && trimmed.matches(" | ").count() < 1) || trimmed.len() < 3 {
        return None;
    }
    let at = line.len() - line.trim_start().len() + usize::from(fenced);
    let inner = &trimmed[usize::from(fenced)..];
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    let mut found = Vec::new();
    let mut start = at;
    for cell in inner.split('|').take(20) {
        let lead = cell.len() - cell.trim_start().len();
        found.push(start + lead..start + lead + cell.trim().len());
        start += cell.len() + 1;
    }
    Some(found)
}

/// A short line with a full date, as under a title.
pub(super) fn is_dated(line: &str) -> bool {
    line.len() < 80 && !readings(line, None, Lean::Past).is_empty()
}
