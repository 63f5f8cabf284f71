//! The layout: which parts of a text are headers, headings, items, turns and prose, and which are code, logs, quoted
//! replies and signatures that say nothing new.

mod attendance;
mod commits;
mod days;
mod entries;
mod headings;
mod posts;
mod quiet;
mod speakers;
mod stand_ups;
mod turns;
mod writers;

use std::collections::HashSet;
use std::ops::Range;

use memory_core::event::Category;

use super::lines::{self, bullet, cells, is_code, is_log, label};
use super::lists;
use super::names;
use super::sections::{self, Section};

use attendance::{behind_names, is_entry_of_people, is_said_by_oneself};
use posts::posters;
use speakers::speakers;
use writers::{calls_someone, level_of_people, may_be_person, repeated_leaders, without_aside};

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
    /// The section was said on the line itself: "Decision: …".
    pub(super) labelled: bool,
}

#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) blocks: Vec<Block>,
    /// Code and logs: not even names are read there.
    pub(super) hidden: Vec<Range<usize>>,
    /// Lists of people as they are written: "Alice Chen (PM), Bob".
    pub(super) people: Vec<String>,
    /// The sender or author it names itself.
    pub(super) from: Option<String>,
    /// Who perhaps wrote it: "9 June, by Kim Larsen".
    pub(super) by: Option<String>,
    pub(super) to: Vec<String>,
    /// The date the text gives itself.
    pub(super) date: Option<String>,
    pub(super) speakers: Vec<String>,
    /// The name below the closing.
    pub(super) signed: Option<String>,
    /// From which byte on which lines give the day, the nearest heading first: "2025-03-04", "Board meeting of 4 March".
    pub(super) days: Vec<(usize, Vec<String>)>,
    /// The headers of commits of a repository, in bytes.
    pub(super) commits: Vec<Range<usize>>,
}

/// More speakers than any real conversation has.
const SPEAKERS_MAX: usize = 500;

/// The level of headings that are only a line of words, such as "Done:".
const LEADER: usize = 8;

fn is_role(label: &str) -> bool {
    lists::LABEL_ROLES.contains(&label.trim().to_lowercase().replace(' ', "-"))
}

/// "@Dietmar: please …" calls someone in a text; it is no turn of theirs.
fn is_call(turn: &lines::Turn<'_>) -> bool {
    turn.name.starts_with('@') && !turn.timed
}

struct Reader<'a> {
    text: &'a str,
    lines: Vec<Range<usize>>,
    layout: Layout,
    /// Open headings: level and section.
    stack: Vec<(usize, Section)>,
    /// Those of them that may have a date: level and words.
    dated: Vec<(usize, String)>,
    speaker: Option<String>,
    /// Open headings that name whose notes follow: level and name.
    headed: Vec<(usize, String)>,
    /// The level of headings that are nothing but names: the text tells of one person after the other.
    level_of_people: Option<usize>,
    /// What stands below several of them, such as "next steps:".
    repeated_leaders: HashSet<String>,
    known_speakers: HashSet<String>,
    /// Those of them whose names stand above their posts.
    posters: HashSet<String>,
    /// Full and first names of those known to have a part, lower case.
    known_people: &'a HashSet<String>,
    /// The block that following lines continue.
    open: bool,
    heads: Vec<String>,
    quiet: Quiet,
    people_list: bool,
    /// Whose item it is that deeper lines go on with, and how deep it stands.
    reporter: Option<(usize, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quiet {
    No,
    Fence,
    Signature,
    /// All that follows is an earlier message.
    Quote,
    /// The headers of a message that is passed on.
    Forward,
}

/// Reads the layout; `known` are names that are surely people.
pub(super) fn read<'a>(text: &'a str, known: &'a HashSet<String>) -> Layout {
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
    let mut known_speakers = speakers(text, &lines, known);
    let posters =
        posters(text, &lines, |name| known_speakers.contains(name) || known.contains(&name.to_lowercase()));
    known_speakers.extend(posters.iter().cloned());
    let level_of_people = level_of_people(text, &lines);
    let repeated_leaders = level_of_people.map_or_else(HashSet::new, |_| repeated_leaders(text, &lines));
    let mut reader = Reader {
        text,
        lines,
        layout,
        known_speakers,
        posters,
        known_people: known,
        stack: Vec::new(),
        dated: Vec::new(),
        speaker: None,
        headed: Vec::new(),
        level_of_people,
        repeated_leaders,
        open: false,
        heads: Vec::new(),
        quiet: Quiet::No,
        people_list: false,
        reporter: None,
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

impl<'a> Reader<'a> {
    fn text_of(&self, at: usize) -> &'a str {
        self.lines.get(at).map_or("", |line| &self.text[line.clone()])
    }

    /// Reads the line `at`; returns the next one to read.
    fn line(&mut self, at: usize) -> usize {
        if let Some(next) = self.commit(at) {
            return next;
        }
        let line = self.text_of(at);
        let trimmed = line.trim();
        if self.skip(at, trimmed) {
            return at + 1;
        }
        if trimmed.is_empty() {
            self.open = false;
            self.reporter = None;
            self.heads.clear();
            return at + 1;
        }
        if self.known_speakers.len() > 1 && lines::is_notice(line) {
            self.open = false;
            return at + 1;
        }
        self.date_line(at);
        self.note_writer(at, trimmed);
        if self.moment_of_post(at) {
            return at + 1;
        }
        let indent = line.len() - line.trim_start().len();
        self.reporter = self.reporter.take().filter(|(level, _)| *level < indent);
        if self.report(at)
            || self.opens_section(at)
            || self.row(at)
            || self.take_turn(at)
            || self.item(at)
            || self.entry(at)
            || self.labelled(at)
        {
            return at + 1;
        }
        self.prose(at);
        at + 1
    }

    fn section(&self) -> Section {
        self.stack.last().map_or(Section::Open, |(_, section)| *section)
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
        self.date_row(at, &cells.iter().map(|cell| &line[cell.clone()]).collect::<Vec<_>>());
        let cells = cells.into_iter().map(|cell| start + cell.start..start + cell.end).collect();
        let form = Form::Row { cells, heads: self.heads.clone() };
        let bytes = self.lines[at].clone();
        self.push(bytes, form, self.section(), false);
        self.open = false;
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
                self.give_to_named(&rest[..after]);
            }
            _ => self.push(start..self.lines[at].end, form, self.section(), false),
        }
        if let Some(name) = self.reporter(at) {
            self.add_speaker(&name);
            self.reporter = Some((bullet.indent, name.clone()));
            self.layout.blocks.last_mut().map(|block| block.speaker.get_or_insert(name));
        }
        self.open = true;
        true
    }

    /// `Attendees: …`, `Date: …`, `Decision: …`.
    fn labelled(&mut self, at: usize) -> bool {
        if self.stand_up(at) {
            self.give_to_reporter(at);
            return true;
        }
        let line = self.text_of(at);
        let Some((name, after)) = label(line) else { return false };
        let rest = line[after..].trim();
        let lower = name.trim().to_lowercase();
        if (sections::of_label(name) == Some(Section::People) || is_role(name)) && !is_said_by_oneself(rest) {
            self.people_list = rest.is_empty();
            if let Some(behind) = behind_names(rest) {
                self.layout.people.push(rest[..behind].trim().to_owned());
                let start = self.lines[at].start + line.len() - line[after..].trim_start().len() + behind;
                self.push(start..self.lines[at].end, Form::Prose, Section::Open, false);
                self.open = true;
                return true;
            }
            if lower == "author" && !rest.is_empty() {
                self.layout.from.get_or_insert_with(|| rest.to_owned());
            }
            let is_office = lists::OFFICES.contains(&lower) && !calls_someone(rest);
            self.layout.people.push(if is_office { format!("{lower}: {rest}") } else { rest.to_owned() });
            return true;
        }
        // "Treasurer: Dana Ortiz", "In the chair: Kim Larsen".
        if lists::OFFICES.contains(lower.rsplit(' ').next().unwrap_or_default())
            && lower.split(' ').count() <= 3
            && names::could_be_name(names::without_title(rest), false)
            && rest.contains(' ')
        {
            self.layout.people.push(format!("{lower}: {rest}"));
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
                self.give_to_named(&line[..after]);
                self.open = true;
                true
            }
            _ => false,
        }
    }

    fn prose(&mut self, at: usize) {
        if self.section() == Section::People && is_entry_of_people(self.text_of(at)) {
            self.layout.people.push(self.text_of(at).trim().to_owned());
            self.open = false;
            return;
        }
        let line = self.lines[at].clone();
        let lead = self.text_of(at).len() - self.text_of(at).trim_start().len();
        let continues = self.layout.blocks.last().is_some_and(|last| match last.form {
            Form::Item { indent, .. } => lead > indent,
            Form::Prose => true,
            Form::Row { .. } => false,
        });
        // In a chat a short line is a message of its own.
        let short = at > 0 && self.text_of(at - 1).len() < 60;
        let continues = continues && !(short && self.speaker.is_some());
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
        // A paragraph after the list that a mere leader ("Done:") opened is no part of it.
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

    /// "Theo: prototype by Monday" under "Actions", without a bullet.
    fn is_bare_item(&self, line: &str) -> bool {
        let tasks = matches!(self.section(), Section::Planned | Section::Prior(Category::Commitment));
        let begins = line.trim_start().starts_with(|c: char| c.is_uppercase() || c == '@');
        tasks && begins && (label(line).is_some() || !line.trim_end().ends_with(['.', '!', '?']))
    }

    fn push(&mut self, bytes: Range<usize>, form: Form, section: Section, labelled: bool) {
        self.layout.blocks.push(Block { bytes, form, section, speaker: self.speaker.clone(), labelled });
    }
}
