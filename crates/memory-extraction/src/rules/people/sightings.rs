//! Sightings: people as texts write them, before they are told apart.

use std::collections::HashSet;

use memory_core::entity::normalised_name;

use super::super::lists;
use super::super::names;
use super::is_role_name;

/// Names as they are met, before they are told apart.
#[derive(Debug, Default)]
pub(in super::super) struct Sightings {
    pub(super) names: Vec<String>,
    seen: HashSet<String>,
    /// Address and, where it stands beside it, the name.
    pub(super) emails: Vec<(String, Option<String>)>,
    /// Handle and, where it stands beside it, the name.
    pub(super) handles: Vec<(String, Option<String>)>,
    /// Names of things, in lower case: alone in a text they are nobody's.
    things: HashSet<String>,
    /// Offices that lists name behind a name, with the name: "Dana Ortiz (Treasurer)".
    pub(super) roles: Vec<(String, String)>,
}

/// More people than any real source names; the rest of a hostile text is not looked at.
const PEOPLE_MAX: usize = 2_000;

/// `t.ferreira`, `yusuf_a`, `dkowalczyk7`: a name as programs show it.
fn is_handle(name: &str) -> bool {
    name.len() > 2
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
}

/// `@cs-team`, `@all-product`, `@here`: many people.
fn is_group(handle: &str) -> bool {
    let many = |part: &str| {
        matches!(part, "all" | "team" | "everyone" | "here" | "channel") || lists::DEPARTMENTS.contains(part)
    };
    handle.split(['-', '_']).any(many)
}

/// Parts a list where a sentence ends; "Dr." and initials end none.
fn sentences_of(list: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, _) in list.match_indices(". ") {
        let word = list[start..at].rsplit(' ').next().unwrap_or_default();
        if word.chars().count() > 3 && !names::is_title(&word.to_lowercase()) {
            parts.push(&list[start..at]);
            start = at + 2;
        }
    }
    parts.push(&list[start..]);
    parts
}

impl Sightings {
    /// One person as people write them: `Alice Chen <a@x.org>`, `Bob (PM)`, `Dana Ortiz - design`, `@kim`.
    pub(in super::super) fn see(&mut self, written: &str, loose: bool) {
        let written = written.trim().trim_matches(['*', '_', '"', '\'', '[', ']', '-', ' ', '.']);
        if written.len() > 120 || self.names.len() + self.emails.len() > PEOPLE_MAX {
            return;
        }
        let email = written
            .split(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '(' | ')' | '[' | ']' | ':' | '"'))
            .find(|word| word.contains('@') && !word.starts_with('@') && word.len() > 3)
            .map(str::to_lowercase);
        let head = written.split(['<', '(', '[', '/', '|', '@']).next().unwrap_or_default();
        let title_at = [" - ", " – ", " — ", ": "].iter().filter_map(|mark| head.find(mark)).min();
        let name =
            head[..title_at.unwrap_or(head.len())].trim().trim_matches(['"', '\'', ',', '*', ':']).trim();
        let name = names::without_title(name);
        let lower = name.to_lowercase();
        let ordinary = !loose
            && names::is_common_word(&lower)
            && !names::is_first_name(&lower)
            && !names::is_wordy_name(&lower);
        if lower.ends_with("bot") || ordinary || names::is_trailer(name) {
            return;
        }
        if loose && email.is_none() && is_handle(name) {
            self.see_handle(name);
        } else if written.starts_with('@') {
            self.see_handle(written.split_whitespace().next().unwrap_or_default());
        } else if !name.is_empty()
            && Some(name.to_lowercase()) != email
            && !is_role_name(name)
            && names::could_be_name(name, loose)
        {
            self.see_name(name);
            let office = written.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
            if let Some(role) = office.map(|(role, _)| role.trim().to_lowercase())
                && lists::OFFICES.contains(&role)
                && self.roles.len() < PEOPLE_MAX
            {
                self.roles.push((role, name.to_owned()));
            }
            if let Some(email) = email {
                self.emails.push((email, Some(name.to_owned())));
            }
            // "Michael Carter @mhcarter (chair)", "Ann Lee (@ann)".
            let handle = |word: &&str| word.len() > 2 && word.starts_with('@');
            let mut words =
                written.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '[' | ']' | ','));
            if let Some(handle) = words.find(handle) {
                self.see_handle_of(handle, Some(name));
            }
            return;
        }
        if let Some(email) = email {
            self.see_email(&email);
        }
    }

    /// Takes these for names of things, where no list of people has them.
    pub(in super::super) fn bar<'n>(&mut self, things: impl Iterator<Item = &'n str>) {
        self.things.extend(things.map(str::to_lowercase));
    }

    /// A name that stands alone in a text.
    pub(in super::super) fn see_single(&mut self, name: &str) {
        if !self.things.contains(&name.to_lowercase()) {
            self.see_name(name);
        }
    }

    /// A list of people: `Alice Chen (PM), Bob and Carol`.
    pub(in super::super) fn see_list(&mut self, written: &str, loose: bool) {
        let mut depth = 0_usize;
        let mut start = 0;
        let mut parts = Vec::new();
        for (at, c) in written.char_indices() {
            match c {
                '(' | '<' => depth += 1,
                ')' | '>' => depth = depth.saturating_sub(1),
                ',' | ';' | '\n' | '·' | '•' if depth == 0 => {
                    parts.push(&written[start..at]);
                    start = at + c.len_utf8();
                }
                _ => {}
            }
        }
        parts.push(&written[start..]);
        for part in parts.into_iter().take(200).flat_map(sentences_of) {
            // "Present: Dhillon" after "In the chair: Ffoulkes-Price."
            let part = part.split_once(": ").map_or(part, |(_, names)| names);
            for name in part.split(" and ").flat_map(|part| part.split(" & ")) {
                self.see(name.trim_start_matches("and "), loose);
            }
        }
    }

    /// A name that stood behind a title; one word of it is a last name.
    pub(in super::super) fn see_titled(&mut self, name: &str) {
        if name.chars().filter(|c| c.is_alphabetic()).count() > 1 {
            self.see_name(name);
        }
    }

    pub(in super::super) fn see_name(&mut self, name: &str) {
        if self.names.len() < PEOPLE_MAX && self.seen.insert(normalised_name(name)) {
            self.names.push(name.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }

    pub(in super::super) fn see_email(&mut self, email: &str) {
        let email = email.to_lowercase();
        if self.emails.len() < PEOPLE_MAX && self.seen.insert(email.clone()) {
            self.emails.push((email, None));
        }
    }

    pub(in super::super) fn see_handle(&mut self, handle: &str) {
        self.see_handle_of(handle, None);
    }

    /// A handle, and the name that stands beside it.
    pub(in super::super) fn see_handle_of(&mut self, handle: &str, name: Option<&str>) {
        let handle = handle.trim_start_matches('@').to_lowercase();
        if handle.is_empty() || self.handles.len() >= PEOPLE_MAX || is_role_name(&handle) || is_group(&handle)
        {
            return;
        }
        if self.seen.insert(format!("@{handle}")) {
            self.handles.push((handle, name.map(str::to_owned)));
        } else if let Some(name) = name
            && let Some((_, known)) = self.handles.iter_mut().find(|(known, _)| *known == handle)
        {
            known.get_or_insert_with(|| name.to_owned());
        }
    }
}
