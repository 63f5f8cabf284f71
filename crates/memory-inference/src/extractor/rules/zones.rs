//! Zones: which parts of a text are headers, headings, items, turns and prose, and which are code, logs, quoted
//! replies and signatures that say nothing new.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use memory_core::event::Category;

use super::lines::{
    self, bullet, cells, heading, is_closing, is_code, is_log, label, mail_header, opens_quote, turn,
};
use super::names;
use super::sections::{self, Section};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Form {
    Prose,
    Item {
        indent: usize,
        checked: Option<bool>,
    },
    /// A table row: its cells and the column heads, lower case.
    Row {
        cells: Vec<Range<usize>>,
        heads: Vec<String>,
    },
}

/// A stretch of text that is read as a whole.
#[derive(Debug, Clone)]
pub(super) struct Block {
    /// Bytes of its words, without bullet and label.
    pub(super) bytes: Range<usize>,
    pub(super) form: Form,
    pub(super) section: Section,
    pub(super) speaker: Option<String>,
    /// The section was said on the line itself: «Decision: …».
    pub(super) labelled: bool,
}

#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) blocks: Vec<Block>,
    /// Code and logs: not even names are read there.
    pub(super) hidden: Vec<Range<usize>>,
    /// Lists of people as they are written: «Alice Chen (PM), Bob».
    pub(super) people: Vec<String>,
    /// The sender or author it names itself.
    pub(super) from: Option<String>,
    pub(super) to: Vec<String>,
    /// The date the text gives itself.
    pub(super) date: Option<String>,
    pub(super) speakers: Vec<String>,
    /// The name below the closing.
    pub(super) signed: Option<String>,
}

/// The level of headings that are only a line of words, such as «Done:».
const LEADER: usize = 8;

const ROLES: [&str; 22] = [
    "author",
    "authors",
    "owner",
    "deciders",
    "decider",
    "reviewer",
    "reviewers",
    "facilitator",
    "chair",
    "scribe",
    "note taker",
    "notetaker",
    "host",
    "organizer",
    "organiser",
    "lead",
    "approver",
    "approvers",
    "moderator",
    "assignee",
    "interviewer",
    "presenter",
];

struct Reader<'a> {
    text: &'a str,
    lines: Vec<Range<usize>>,
    layout: Layout,
    /// Open headings: level and section.
    stack: Vec<(usize, Section)>,
    speaker: Option<String>,
    known_speakers: HashSet<String>,
    /// The block that following lines continue.
    open: bool,
    heads: Vec<String>,
    quiet: Quiet,
    people_list: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quiet {
    No,
    Fence,
    Signature,
    /// All that follows is an earlier message.
    Quote,
}

/// Reads the layout; `known` are names that are surely people.
pub(super) fn read(text: &str, known: &HashSet<String>) -> Layout {
    let mut lines = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        lines.push(at..at + line.trim_end_matches(['\n', '\r']).len());
        at += line.len();
    }
    let mut layout = Layout::default();
    if is_program(text, &lines) {
        layout.hidden.push(0..text.len());
        return layout;
    }
    let known_speakers = speakers(text, &lines, known);
    let mut reader = Reader {
        text,
        lines,
        layout,
        known_speakers,
        stack: Vec::new(),
        speaker: None,
        open: false,
        heads: Vec::new(),
        quiet: Quiet::No,
        people_list: false,
    };
    let mut at = reader.mail_headers();
    while at < reader.lines.len() {
        at = reader.line(at);
    }
    reader.layout
}

/// More code than words, as a whole.
fn is_program(text: &str, lines: &[Range<usize>]) -> bool {
    let mut all = 0;
    let mut odd = 0;
    for line in lines.iter().take(400).map(|line| &text[line.clone()]).filter(|line| !line.trim().is_empty())
    {
        all += 1;
        odd += usize::from((is_code(line) && bullet(line).is_none()) || is_log(line));
    }
    all >= 3 && odd * 5 >= all * 2
}

/// Labels at line starts that are names of speakers: known names, names with a time, names like people's, and names
/// that return.
fn speakers(text: &str, lines: &[Range<usize>], known: &HashSet<String>) -> HashSet<String> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let mut accepted = HashSet::new();
    for line in lines {
        let Some(turn) = turn(&text[line.clone()]) else { continue };
        let name = turn.name.trim_start_matches('@');
        if ROLES.contains(&name.to_lowercase().as_str()) || !names::could_be_name(name, turn.timed) {
            continue;
        }
        *counts.entry(name).or_default() += 1;
        let first = name.split_whitespace().next().unwrap_or_default().to_lowercase();
        let sure = known.contains(&name.to_lowercase()) || names::is_first_name(&first);
        if sure || turn.timed || (counts[name] >= 2 && sections::of_label(name).is_none()) {
            accepted.insert(name.to_owned());
        }
    }
    accepted
}

impl<'a> Reader<'a> {
    fn text_of(&self, at: usize) -> &'a str {
        self.lines.get(at).map_or("", |line| &self.text[line.clone()])
    }

    /// Reads a block of mail headers at the top; returns the line after it.
    fn mail_headers(&mut self) -> usize {
        let Some(first) = (0..self.lines.len().min(10)).find(|at| !self.text_of(*at).trim().is_empty())
        else {
            return 0;
        };
        let mut at = first;
        let mut seen = 0;
        while let Some((name, value)) = mail_header(self.text_of(at)) {
            seen += 1;
            match name.as_str() {
                "from" => self.layout.from = Some(value.to_owned()),
                "to" | "cc" | "bcc" => self.layout.to.push(value.to_owned()),
                "date" | "sent" => self.layout.date = Some(value.to_owned()),
                _ => {}
            }
            at += 1;
            // A long header goes on in indented lines.
            while self.text_of(at).starts_with([' ', '\t']) && !self.text_of(at).trim().is_empty() {
                at += 1;
            }
        }
        if seen >= 2 { at } else { first }
    }

    /// Reads the line `at`; returns the next one to read.
    fn line(&mut self, at: usize) -> usize {
        let line = self.text_of(at);
        let trimmed = line.trim();
        if self.skip(at, trimmed) {
            return at + 1;
        }
        if trimmed.is_empty() {
            self.open = false;
            self.heads.clear();
            return at + 1;
        }
        if self.opens_section(at) || self.row(at) || self.take_turn(at) || self.item(at) || self.labelled(at)
        {
            return at + 1;
        }
        self.prose(at);
        at + 1
    }

    /// Lines that are no text of the author's.
    fn skip(&mut self, at: usize, trimmed: &str) -> bool {
        let line = self.text_of(at);
        let fence = trimmed.starts_with("```") || trimmed.starts_with("~~~");
        match self.quiet {
            Quiet::Fence => {
                self.layout.hidden.push(self.lines[at].clone());
                if fence {
                    self.quiet = Quiet::No;
                }
                return true;
            }
            Quiet::Quote => return true,
            Quiet::Signature => {
                let again = opens_quote(line) || heading(line).is_some_and(|(level, _)| level < 7);
                if !again {
                    self.sign(trimmed);
                    return true;
                }
                self.quiet = Quiet::No;
            }
            Quiet::No => {}
        }
        if fence {
            self.quiet = Quiet::Fence;
            self.open = false;
            self.layout.hidden.push(self.lines[at].clone());
            return true;
        }
        if trimmed.starts_with('>') {
            self.open = false;
            return true;
        }
        if opens_quote(line)
            || (trimmed.starts_with("On ") && self.text_of(at + 1).trim().ends_with("wrote:"))
        {
            let next = (at + 1..self.lines.len().min(at + 4))
                .map(|next| self.text_of(next).trim())
                .find(|next| !next.is_empty() && !next.ends_with("wrote:"));
            // Without marks all that follows is the earlier message.
            if !next.is_some_and(|next| next.starts_with('>')) {
                self.quiet = Quiet::Quote;
            }
            return true;
        }
        if is_log(line) || (is_code(line) && (line.starts_with("    ") || trimmed.ends_with([';', '{', '}'])))
        {
            if turn(line).is_some_and(|turn| self.known_speakers.contains(turn.name)) {
                return false;
            }
            self.layout.hidden.push(self.lines[at].clone());
            return true;
        }
        if is_closing(line) && self.is_signature(at) {
            self.quiet = Quiet::Signature;
            self.open = false;
            return true;
        }
        trimmed.chars().all(|c| matches!(c, '-' | '=' | '*' | '_' | '~')) && trimmed.len() >= 3
    }

    fn sign(&mut self, trimmed: &str) {
        if self.layout.signed.is_none() && !trimmed.is_empty() {
            self.layout.signed = Some(trimmed.to_owned());
        }
    }

    /// A closing is one when only few short lines follow, up to the end or an earlier message.
    fn is_signature(&self, at: usize) -> bool {
        let mut short = 0;
        for next in at + 1..self.lines.len() {
            let line = self.text_of(next).trim();
            if line.is_empty() {
                continue;
            }
            if opens_quote(line) || line.starts_with('>') || line.starts_with("On ") {
                return true;
            }
            short += 1;
            if short > 8 || line.len() > 90 || bullet(line).is_some() || heading(line).is_some() {
                return false;
            }
        }
        true
    }

    fn section(&self) -> Section {
        self.stack.last().map_or(Section::Open, |(_, section)| *section)
    }

    fn push_heading(&mut self, level: usize, section: Option<Section>) {
        self.stack.retain(|(open, _)| *open < level);
        // An unknown heading below a known one is a part of it.
        let section = section.unwrap_or_else(|| self.section());
        self.stack.push((level, section));
        self.speaker = None;
        self.open = false;
        self.people_list = false;
    }

    fn opens_section(&mut self, at: usize) -> bool {
        let line = self.text_of(at);
        if let Some((level, words)) = heading(line) {
            if level == 7 && turn(line).is_some() {
                return false;
            }
            if self.layout.date.is_none() && self.layout.blocks.is_empty() && lines::is_dated(line) {
                self.layout.date = Some(line.to_owned());
            }
            self.push_heading(level, sections::of_heading(&line[words]));
            return true;
        }
        let trimmed = line.trim();
        let under = self.text_of(at + 1).trim();
        if under.len() >= 3
            && trimmed.len() < 80
            && (under.bytes().all(|b| b == b'=') || under.bytes().all(|b| b == b'-'))
        {
            self.push_heading(if under.starts_with('=') { 1 } else { 2 }, sections::of_heading(trimmed));
            return true;
        }
        let words = trimmed.split_whitespace().count();
        let ends = trimmed.ends_with(':');
        if words <= 6
            && (ends || !trimmed.ends_with(['.', '!', '?', ',', ';']))
            && bullet(line).is_none_or(|b| line[b.text_at..].ends_with(':'))
        {
            let known = sections::of_heading(trimmed.trim_start_matches(['-', '*', '•', ' ']));
            let next_is_item =
                bullet(self.text_of(at + 1)).is_some() || self.text_of(at + 1).trim().is_empty();
            let apart = at == 0 || self.text_of(at - 1).trim().is_empty();
            if known.is_some() && (ends || next_is_item || (apart && words <= 3)) {
                self.push_heading(LEADER, known);
                return true;
            }
            let shouting = words >= 1
                && trimmed.len() > 3
                && trimmed.chars().any(char::is_alphabetic)
                && !trimmed.chars().any(char::is_lowercase);
            let leads_list =
                apart && trimmed.starts_with(char::is_uppercase) && bullet(self.text_of(at + 1)).is_some();
            // Another leader («Backend:») ends a section that a leader opened, not one opened by a real heading.
            if bullet(line).is_none()
                && (shouting || (ends && next_is_item) || leads_list || self.is_title(at))
                && !self.names_person(trimmed)
            {
                self.push_heading(LEADER, known);
                return true;
            }
        }
        false
    }

    /// The first line, without a mark at its end and with more below it.
    fn is_title(&mut self, at: usize) -> bool {
        let line = self.text_of(at);
        let first = self.layout.blocks.is_empty()
            && self.stack.is_empty()
            && turn(line).is_none()
            && label(line).is_none_or(|(_, end)| end < line.len());
        let alone = self.text_of(at + 1).trim().is_empty() || label(self.text_of(at + 1)).is_some();
        let title = first
            && alone
            && self.lines.len() > at + 2
            && !line.trim_start().starts_with("I ")
            && !line.contains("'ll ");
        if title && self.layout.date.is_none() && lines::is_dated(line) {
            self.layout.date = Some(line.to_owned());
        }
        title
    }

    fn names_person(&self, line: &str) -> bool {
        let name = line.trim_matches([':', '*', ' ']);
        self.known_speakers.contains(name)
            || names::is_first_name(&name.split(' ').next().unwrap_or_default().to_lowercase())
    }

    fn row(&mut self, at: usize) -> bool {
        let start = self.lines[at].start;
        let line = self.text_of(at);
        let Some(cells) = cells(line) else { return false };
        if cells.iter().all(|cell| line[cell.clone()].chars().all(|c| matches!(c, '-' | ':' | ' '))) {
            return true;
        }
        if self.heads.is_empty() {
            self.heads =
                cells.iter().map(|cell| line[cell.clone()].trim_matches(['*', ' ']).to_lowercase()).collect();
            return true;
        }
        let cells = cells.into_iter().map(|cell| start + cell.start..start + cell.end).collect();
        let form = Form::Row { cells, heads: self.heads.clone() };
        let bytes = self.lines[at].clone();
        self.push(bytes, form, self.section(), false);
        self.open = false;
        true
    }

    fn take_turn(&mut self, at: usize) -> bool {
        let line = self.text_of(at);
        let Some(turn) = turn(line) else { return false };
        let name = turn.name.trim_start_matches('@');
        if !self.known_speakers.contains(name)
            || matches!(self.section(), Section::Prior(_) | Section::People)
        {
            return false;
        }
        self.speaker = Some(name.to_owned());
        if !self.layout.speakers.iter().any(|known| known == name) {
            self.layout.speakers.push(name.to_owned());
        }
        self.open = false;
        if turn.text_at < line.len() {
            let range = self.lines[at].start + turn.text_at..self.lines[at].end;
            self.push(range, Form::Prose, self.section(), false);
            self.open = true;
        }
        true
    }

    fn item(&mut self, at: usize) -> bool {
        let line = self.text_of(at);
        let Some(bullet) = bullet(line) else { return false };
        let rest = &line[bullet.text_at..];
        if self.section() == Section::People || self.people_list {
            self.layout.people.push(rest.to_owned());
            return true;
        }
        let start = self.lines[at].start + bullet.text_at;
        let form = Form::Item { indent: bullet.indent, checked: bullet.checked };
        let own = label(rest).and_then(|(name, after)| Some((sections::of_label(name)?, after)));
        match own {
            Some((section, after)) if after < rest.len() => {
                self.push(start + after..self.lines[at].end, form, section, true);
            }
            _ => self.push(start..self.lines[at].end, form, self.section(), false),
        }
        self.open = true;
        true
    }

    /// `Attendees: …`, `Date: …`, `Decision: …`.
    fn labelled(&mut self, at: usize) -> bool {
        let line = self.text_of(at);
        let Some((name, after)) = label(line) else { return false };
        let rest = line[after..].trim();
        let lower = name.trim().to_lowercase();
        if sections::of_label(name) == Some(Section::People) || ROLES.contains(&lower.as_str()) {
            self.people_list = rest.is_empty();
            if lower == "author" && !rest.is_empty() {
                self.layout.from.get_or_insert_with(|| rest.to_owned());
            }
            self.layout.people.push(rest.to_owned());
            return true;
        }
        if matches!(lower.as_str(), "date" | "meeting date" | "when") {
            self.layout.date.get_or_insert_with(|| rest.to_owned());
            return true;
        }
        if matches!(
            lower.as_str(),
            "subject" | "time" | "location" | "status" | "title" | "where" | "from" | "to" | "cc" | "tags"
        ) {
            return true;
        }
        match sections::of_label(name) {
            Some(section) if !rest.is_empty() => {
                let range = self.lines[at].start + after..self.lines[at].end;
                self.push(range, Form::Prose, section, true);
                self.open = true;
                true
            }
            _ => false,
        }
    }

    fn prose(&mut self, at: usize) {
        let line = self.lines[at].clone();
        let lead = self.text_of(at).len() - self.text_of(at).trim_start().len();
        let continues = self.layout.blocks.last().is_some_and(|last| match last.form {
            Form::Item { indent, .. } => lead > indent,
            Form::Prose => true,
            Form::Row { .. } => false,
        });
        if self.open
            && continues
            && !self.is_bare_item(self.text_of(at))
            && let Some(last) = self.layout.blocks.last_mut()
        {
            last.bytes.end = line.end;
            return;
        }
        if self.layout.date.is_none() && self.layout.blocks.is_empty() && lines::is_dated(self.text_of(at)) {
            self.layout.date = Some(self.text_of(at).to_owned());
        }
        // A paragraph after the list that a mere leader («Done:») opened is no part of it.
        let after_list = self.layout.blocks.last().is_some_and(|last| {
            matches!(last.form, Form::Item { .. })
                && last.section == self.section()
                && last.section != Section::Open
        });
        let name = label(self.text_of(at)).map_or("", |(name, _)| name);
        if after_list
            && !self.open
            && !self.names_person(name)
            && self.stack.last().is_some_and(|(level, _)| *level == LEADER)
        {
            self.stack.pop();
        }
        if self.is_bare_item(self.text_of(at)) {
            self.push(
                line.start + lead..line.end,
                Form::Item { indent: 0, checked: None },
                self.section(),
                false,
            );
            self.open = true;
            return;
        }
        self.push(line.start + lead..line.end, Form::Prose, self.section(), false);
        self.open = true;
    }

    /// «Theo: prototype by Monday» under «Actions», without a bullet.
    fn is_bare_item(&self, line: &str) -> bool {
        let tasks = matches!(self.section(), Section::Planned | Section::Prior(Category::Commitment));
        let begins = line.trim_start().starts_with(|c: char| c.is_uppercase() || c == '@');
        tasks && begins && (label(line).is_some() || !line.trim_end().ends_with(['.', '!', '?']))
    }

    fn push(&mut self, bytes: Range<usize>, form: Form, section: Section, labelled: bool) {
        self.layout.blocks.push(Block { bytes, form, section, speaker: self.speaker.clone(), labelled });
    }
}
