//! Names that stand in a form for names: lists, labels, trailers of commits, the head of a page.

use std::collections::HashMap;
use std::ops::Range;

use super::super::lines::{bullet, label, turn};
use super::super::lists;
use super::super::names;
use super::super::people::Sightings;
use super::super::sections;

/// A line with more names than this is none of people.
const NAMES_MAX: usize = 60;
/// So many lines that known people lead make the others that names lead turns of people too.
const KNOWN_LEADERS_MIN: usize = 2;

/// People in lists, by lines.
pub(in super::super) fn see_listed(raw: &str, hidden: &[Range<usize>], seen: &mut Sightings) {
    let mut hidden = hidden.iter().peekable();
    let mut run: Vec<&str> = Vec::new();
    let mut leaders = Leaders::default();
    let mut start = 0;
    for line in raw.split_inclusive('\n') {
        let at = start;
        start += line.len();
        while hidden.peek().is_some_and(|range| range.end <= at) {
            hidden.next();
        }
        if hidden.peek().is_some_and(|range| range.start <= at) {
            continue;
        }
        let line = line.trim_end();
        let item = bullet(line).map(|bullet| &line[bullet.text_at..]);
        match Some(item.unwrap_or(line).trim()).filter(|words| names_alone(words)) {
            Some(name) => run.push(name),
            None => see_run(&mut run, seen),
        }
        let words = item.unwrap_or(line).trim();
        if let Some(handle) = writer_of_comment(words) {
            seen.see(handle, true);
        } else if let Some(names) = names_of_line(words) {
            seen.see_parts_of_people(words);
            for name in names {
                seen.see(name, false);
            }
        } else if words.contains(':') {
            leaders.take(words);
        }
    }
    see_run(&mut run, seen);
    leaders.see(seen);
}

/// Items one under the other that are nothing but names, at least one of them a known one.
fn see_run(run: &mut Vec<&str>, seen: &mut Sightings) {
    if run.len() > 1 && run.iter().any(|name| names::begins_with_first_name(name)) {
        for name in run.iter() {
            seen.see(name, false);
        }
    }
    run.clear();
}

/// "kimlar · description · 2023-06-12", "kimlar commented on Jan 3": what an issue's page says of who wrote.
fn writer_of_comment(words: &str) -> Option<&str> {
    const ACTS: [&str; 8] =
        ["commented", "opened", "closed", "merged", "reviewed", "approved", "requested", "replied"];
    if words.len() > 120 {
        return None;
    }
    let plain = |name: &str| {
        name.len() > 2
            && !names::is_common_word(&name.to_lowercase())
            && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
    };
    let dated = words.bytes().filter(u8::is_ascii_digit).count() > 1;
    if let Some((first, rest)) = words.split_once(" · ")
        && dated
        && rest.contains(" · ")
    {
        return Some(first).filter(|name| plain(name) || names_alone(name));
    }
    let mut parts = words.split_whitespace();
    let (name, act) = (parts.next()?, parts.next()?);
    let after = parts.next()?;
    let told = ACTS.contains(&act) && matches!(after, "on" | "this" | "a" | "your" | "these") && dated;
    (told && plain(name)).then_some(name)
}

/// "Abigail Afi Gbadago", "Dana Ortiz (design)": two to four words that can be a name, and nothing else.
fn names_alone(item: &str) -> bool {
    let name = names::without_aside(item);
    item.len() < 120 && names::is_listed_name(name)
}

/// The names of a line that is a list of them: "Council: Carol, Mark, Eric Halden", "Acked-by: Jane Doe <jane@corp.example>",
/// `authors = ["Jane Doe"]`, "Ann Lee, Bob Cole and Dana Ortiz".
fn names_of_line(words: &str) -> Option<Vec<&str>> {
    if words.len() > 1_000 {
        return None;
    }
    if let Some((key, value)) = words.split_once('=')
        && matches!(key.trim(), "author" | "authors")
    {
        return Some(value.split('"').skip(1).step_by(2).take(NAMES_MAX).collect());
    }
    if !words.contains([':', ',']) {
        return None;
    }
    let (name, rest) = match label(words) {
        Some((name, after)) => (Some(name.to_lowercase()), &words[after..]),
        None => (None, words),
    };
    let parts: Vec<&str> = rest
        .split([',', ';'])
        .flat_map(|part| part.split(" and "))
        .map(|part| part.trim().trim_start_matches("and ").trim_end_matches('.'))
        .filter(|part| !part.is_empty())
        .take(NAMES_MAX)
        .collect();
    let all = !parts.is_empty() && parts.iter().all(|part| names::is_listed_form(names::without_aside(part)));
    let known = parts.iter().filter(|part| names::begins_with_first_name(part)).count();
    let told = match &name {
        Some(name) if names::is_trailer(name) => true,
        Some(name) if labels_names(name) => known > 0 || parts.len() > 1,
        Some(_) => parts.len() > 1 && known * 2 >= parts.len() && known > 1,
        None => parts.len() > 2 && known * 2 >= parts.len() && known > 1,
    };
    (all && told).then_some(parts)
}

fn labels_names(label: &str) -> bool {
    label.split_whitespace().last().is_some_and(|last| lists::NAME_LABELS.contains(last))
}

/// What stands before a colon at the head of lines, as speakers do.
#[derive(Default)]
struct Leaders<'a> {
    counts: HashMap<&'a str, usize>,
    order: Vec<&'a str>,
}

impl<'a> Leaders<'a> {
    fn take(&mut self, words: &'a str) {
        let Some(turn) = turn(words).filter(|turn| turn.text_at < words.len()) else { return };
        let name = turn.name;
        if self.order.len() < 500 && names::is_listed_form(name) && sections::of_label(name).is_none() {
            let count = self.counts.entry(name).or_default();
            if *count == 0 {
                self.order.push(name);
            }
            *count += 1;
        }
    }

    /// "Yury Delendik: …" among lines that known people lead.
    fn see(self, seen: &mut Sightings) {
        // "Mark" is a name among names.
        let wordy = |name: &str| names::is_wordy_name(&name.to_lowercase());
        let known = self.order.iter().filter(|name| names::begins_with_first_name(name)).count();
        let likely = self.order.iter().filter(|name| wordy(name)).count();
        if known == 0 || known + likely < KNOWN_LEADERS_MIN {
            return;
        }
        for name in self.order {
            if name.contains(' ') || self.counts[name] > 1 || wordy(name) {
                seen.see(name, false);
            }
        }
    }
}
