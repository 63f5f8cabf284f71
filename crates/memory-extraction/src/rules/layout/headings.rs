//! Headings and the lines that act as one: what section follows.

use memory_language::calendar_words::calendar_word;

use super::super::lines::{self, bullet, heading, label, turn};
use super::super::lists;
use super::super::names;
use super::super::people::is_own_name;
use super::super::sections::{self, Section};
use super::days::{may_say_a_day, opens_title};
use super::stand_ups::{begins_with_deed, may_report, section_of_key};
use super::{LEADER, Reader, SPEAKERS_MAX, may_be_person, without_aside};

/// A heading this near to the top may date the text.
const TITLE_LINES: usize = 10;

impl Reader<'_> {
    fn push_heading(&mut self, at: usize, level: usize, section: Option<Section>) {
        self.note_day(at, level);
        self.stack.retain(|(open, _)| *open < level);
        // An unknown heading below a known one is a part of it.
        let section = section.unwrap_or_else(|| self.section());
        self.stack.push((level, section));
        // "Next week:" below "### Asa" is Asa's.
        self.headed.retain(|(open, _)| *open < level);
        let is_theirs =
            level != LEADER || self.repeated_leaders.contains(&self.text_of(at).trim().to_lowercase());
        if !is_theirs {
            self.headed.clear();
        }
        self.speaker = self.headed.last().map(|(_, name)| name.clone());
        self.open = false;
        self.people_list = false;
    }

    /// "## Risks", "**Lena K.**".
    fn opens_marked(&mut self, at: usize, level: usize, words: &str) -> bool {
        let line = self.text_of(at);
        if level == 7 && turn(line).is_some() {
            return false;
        }
        if self.layout.date.is_none() && at < TITLE_LINES && lines::is_dated(line) {
            self.layout.date = Some(line.to_owned());
        }
        self.push_heading(at, level, sections::of_heading(words));
        let name = without_aside(words.trim());
        let is_one_of_many = self.level_of_people == Some(level) && may_be_person(name);
        if is_one_of_many {
            self.layout.people.push(name.to_owned());
        }
        let person =
            Some(name.to_owned()).filter(|_| is_one_of_many).or_else(|| self.person_of_heading(words));
        let reports = || is_stand_up(self.text_of(at + 1)) && self.is_someone(name);
        let person = person.or_else(|| Some(name.to_owned()).filter(|_| reports()));
        if let Some(person) = person {
            self.headed.push((level, person.clone()));
            self.speaker = Some(person);
        }
        true
    }

    pub(super) fn opens_section(&mut self, at: usize) -> bool {
        let line = self.text_of(at);
        if self.poster(at).is_some() {
            return false;
        }
        if let Some((level, words)) = heading(line) {
            return self.opens_marked(at, level, &line[words]);
        }
        if self.stands_up(at) {
            return true;
        }
        let trimmed = line.trim();
        let under = self.text_of(at + 1).trim();
        if under.len() >= 3
            && trimmed.len() < 80
            && (under.bytes().all(|b| b == b'=') || under.bytes().all(|b| b == b'-'))
        {
            self.push_heading(at, if under.starts_with('=') { 1 } else { 2 }, sections::of_heading(trimmed));
            return true;
        }
        let words = trimmed.split_whitespace().count();
        let ends = trimmed.ends_with(':');
        let closed = trimmed.ends_with('.') && words >= 2 && sections::of_heading(trimmed).is_some();
        if words <= 6
            && (ends || closed || !trimmed.ends_with(['.', '!', '?', ',', ';']))
            && bullet(line).is_none_or(|b| {
                // "1. Attendance" above those present.
                line[b.text_at..].ends_with(':')
                    || sections::of_heading(&line[b.text_at..]) == Some(Section::People)
            })
        {
            let known = sections::of_heading(trimmed.trim_start_matches(['-', '*', '•', ' ']));
            let next_is_item =
                bullet(self.text_of(at + 1)).is_some() || self.text_of(at + 1).trim().is_empty();
            if known.is_none()
                && bullet(line).is_none()
                && (bullet(self.text_of(at + 1)).is_some() || is_stand_up(self.text_of(at + 1)))
                && let Some(person) = self.person_of_heading(trimmed)
            {
                self.push_heading(at, LEADER, None);
                self.speaker = Some(person);
                return true;
            }
            let apart = at == 0 || self.text_of(at - 1).trim().is_empty();
            if known.is_some() && (ends || closed || next_is_item || (apart && words <= 3)) {
                self.push_heading(at, LEADER, known);
                return true;
            }
            let shouting = words >= 1
                && trimmed.len() > 3
                && trimmed.chars().any(char::is_alphabetic)
                && !trimmed.chars().any(char::is_lowercase);
            // "1.2.0 (2024-03-12)" above what is new in it.
            let opens =
                trimmed.starts_with(char::is_uppercase) || (opens_title(trimmed) && may_say_a_day(trimmed));
            let leads_list = apart && opens && bullet(self.text_of(at + 1)).is_some();
            // "Team" alone above its paragraph.
            let alone = apart
                && known.is_none()
                && words <= 3
                && trimmed.starts_with(char::is_uppercase)
                && trimmed.chars().all(|c| c.is_alphabetic() || c == ' ')
                && self.text_of(at + 1).trim().len() > trimmed.len() + 10
                && self.stack.last().is_some_and(|(level, _)| *level == LEADER);
            // Another leader ("Backend:") ends a section that a leader opened, not one opened by a real heading.
            if bullet(line).is_none()
                && (shouting || (ends && next_is_item) || leads_list || alone || self.is_title(at))
                && !self.names_person(trimmed)
            {
                self.push_heading(at, LEADER, known);
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
            && !turn(line).is_some_and(|turn| self.known_speakers.contains(turn.name))
            && label(line).is_none_or(|(_, end)| end < line.len())
            && !label(line).is_some_and(|(name, _)| {
                let lower = name.to_lowercase();
                lists::OFFICES.contains(&lower) || section_of_key(&lower).is_some()
            });
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

    /// "**Lena K.**", "Frida (guest, platform)": the person whose notes follow.
    fn person_of_heading(&self, words: &str) -> Option<String> {
        let name =
            words.split(['(', ',', '–', ':']).next()?.trim().trim_start_matches('@').trim_end_matches('.');
        let lower = name.to_lowercase();
        let first = lower.split_whitespace().next()?;
        let known = self.known_people.contains(&lower)
            || (self.known_people.contains(first) && lower.split_whitespace().count() <= 3);
        let listed = || self.layout.people.iter().any(|people| lists_name(people, &lower));
        (known || listed()).then(|| name.to_owned())
    }

    /// A line above "y: …" and "t: …" that is the name of one who stands up and tells.
    fn stands_up(&mut self, at: usize) -> bool {
        let line = self.text_of(at);
        let is_led = is_reported(self.text_of(at + 1), self.section() == Section::Open);
        if !is_led || is_stand_up(line) || bullet(line).is_some() {
            return false;
        }
        let name = line.trim().trim_matches([':', '*', '@']);
        let lower = name.to_lowercase();
        let first = lower.split(' ').next().unwrap_or_default();
        // "sprint-42" is no one, and one odd word alone may be anything.
        let may_be = is_odd_head(name)
            || may_be_person(name.trim_end_matches('.'))
            || (may_report(name) && self.stands_among_others(at));
        let is_sure = || {
            self.known_people.contains(first) || names::is_first_name(first) || self.stands_among_others(at)
        };
        let is_known = self.known_people.contains(&lower) || is_own_name(name);
        if !(is_known || (may_be && is_sure())) {
            return false;
        }
        let speakers = &mut self.layout.speakers;
        if speakers.len() < SPEAKERS_MAX && !speakers.iter().any(|known| known == name) {
            speakers.push(name.to_owned());
        }
        self.push_heading(at, LEADER, Some(Section::Open));
        self.speaker = Some(name.to_owned());
        true
    }

    /// Another head like it stands above what someone did, in the lines before or behind.
    fn stands_among_others(&self, at: usize) -> bool {
        const WITHIN_LINES: usize = 12;
        let near = at.saturating_sub(WITHIN_LINES)..(at + WITHIN_LINES).min(self.lines.len());
        near.filter(|other| *other != at).any(|other| {
            let (line, below) = (self.text_of(other).trim(), self.text_of(other + 1));
            let name = line.trim_matches([':', '*', '@']);
            is_reported(below, true)
                && !is_stand_up(line)
                && bullet(line).is_none()
                && (is_odd_head(name) || may_be_person(name.trim_end_matches('.')) || is_own_name(name))
        })
    }

    pub(super) fn names_person(&self, line: &str) -> bool {
        let name = line.trim_matches([':', '*', ' ']);
        self.known_speakers.contains(name)
            || names::is_first_name(&name.split(' ').next().unwrap_or_default().to_lowercase())
    }
}

/// Whether a list of people has someone of that full or first name.
fn lists_name(people: &str, name: &str) -> bool {
    people.split([',', ';', '(', '\n', '&']).any(|person| {
        let person = person.trim().to_lowercase();
        person.starts_with(name) && person[name.len()..].chars().next().is_none_or(|c| !c.is_alphanumeric())
    })
}

/// "kim.b", "Hyun-woo": one word without a digit that no list has.
fn is_odd_head(name: &str) -> bool {
    name.len() > 2
        && name.starts_with(char::is_alphabetic)
        && name.chars().all(|c| c.is_alphabetic() || matches!(c, '.' | '-' | '_'))
        && !name.split(['.', '-', '_']).any(|part| names::is_common_word(&part.to_lowercase()))
        && calendar_word(&name.to_lowercase()).is_none()
        && sections::of_heading(name).is_none()
}

/// Whether a line is what someone did who is named above it: "y: merged the patch", and "- merged the patch" where a list may be.
fn is_reported(line: &str, may_be_list: bool) -> bool {
    match bullet(line).map(|bullet| &line[bullet.text_at..]) {
        Some(words) => is_stand_up(words) || (may_be_list && begins_with_deed(words)),
        None => is_stand_up(line),
    }
}

/// "y: merged the patch".
pub(super) fn is_stand_up(line: &str) -> bool {
    let key = line.split_once(':').map_or("", |(key, _)| key.trim());
    // "T: 020 7946 0000" is a telephone.
    matches!(key, "y" | "t" | "b")
        || matches!(
            key.trim_matches('*').to_ascii_lowercase().as_str(),
            "yesterday" | "today" | "blockers" | "did" | "doing"
        )
}
