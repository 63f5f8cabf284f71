//! Sightings: people as texts write them, before they are told apart.

use std::collections::HashSet;

use memory_core::entity::normalised_name;

use super::super::lists;
use super::super::names;
use super::is_role_name;
use super::short_forms::{self, is_initials};

/// Before an office: who does not hold it itself, or no longer.
pub(in super::super) const DEPUTIES: [&str; 12] = [
    "assistant",
    "associate",
    "co",
    "deputy",
    "ex",
    "former",
    "junior",
    "past",
    "previous",
    "retired",
    "under",
    "vice",
];

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
    /// Initials that lists name behind a name, with the name: "Dana Ortiz (DO)".
    pub(super) initials: Vec<(String, String)>,
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
pub(in super::super) fn is_group(handle: &str) -> bool {
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
        let next = list[at + 2..].split(' ').next().unwrap_or_default();
        if is_lead(next) || (word.chars().count() > 3 && !names::is_title(&word.to_lowercase())) {
            parts.push(&list[start..at]);
            start = at + 2;
        }
    }
    parts.push(&list[start..]);
    parts
}

/// "Carrick Civil", "Devon Cranes": what firms are or do behind a word that is no first name.
fn is_name_of_a_firm(name: &str) -> bool {
    let Some((first, rest)) = name.split_once(' ') else { return false };
    let last = rest.rsplit(' ').next().unwrap_or(rest);
    !names::is_first_name(&first.to_lowercase())
        && (lists::TRADES.contains(&last.to_lowercase()) || lists::BODIES.contains(last))
}

/// Where an entry of a list or a part of it ends.
fn divides(written: &str, at: usize, c: char) -> bool {
    let spaced = written[at + c.len_utf8()..].starts_with(' ');
    match c {
        ',' | ';' | '\n' | '(' | ')' | '[' | ']' | ':' | '–' | '—' | '|' | '=' => true,
        '-' => spaced && written[..at].ends_with(' '),
        // A point ends a sentence, but neither "Dr." nor an initial.
        '.' => {
            let word = written[..at].rsplit(' ').next().unwrap_or_default();
            let next = written[at..].split(' ').nth(1).unwrap_or_default();
            spaced && (is_lead(next) || word.chars().filter(|c| c.is_alphanumeric()).count() > 3)
        }
        _ => false,
    }
}

/// "Hon. Treasurer", "our secretary": the office that a few words are.
fn office_of(part: &str, holder: Option<&str>) -> Option<String> {
    let words: Vec<String> = part.split_whitespace().map(str::to_lowercase).collect();
    let last = match words.last()?.as_str() {
        // "CH" are Chris Hall's initials.
        _ if is_initials(part) && holder.is_none_or(|name| short_forms::are_initials_of(part, name)) => {
            return None;
        }
        "ch" | "ch." => "chairman",
        "sec" | "sec." | "secy" => "secretary",
        "tr" | "tr." | "treas" | "treas." => "treasurer",
        last => last,
    };
    let is_deputy = words[..words.len() - 1].iter().any(|word| DEPUTIES.contains(&word.as_str()));
    (words.len() <= 3 && !is_deputy && lists::OFFICES.contains(last)).then(|| last.to_owned())
}

/// "Treasurer Dana Ortiz": the office and the name.
fn led_by_office(part: &str) -> (Option<String>, &str) {
    match part.split_once(' ') {
        Some((first, rest)) if lists::OFFICES.contains(&first.to_lowercase()) => {
            (Some(first.to_lowercase()), rest)
        }
        _ => (None, part),
    }
}

/// "Dana Ortiz DO": the name and the initials.
fn followed_by_initials(part: &str) -> (&str, Option<&str>) {
    match part.rsplit_once(' ') {
        Some((name, last)) if is_initials(last) && short_forms::are_initials_of(last, name) => {
            (name, Some(last))
        }
        _ => (part, None),
    }
}

/// "Dana Ortiz physio": the name without what stands behind it in small letters.
fn without_trade(name: &str) -> &str {
    let is_small = |word: &str| word.starts_with(char::is_lowercase);
    let words: Vec<&str> = name.split(' ').collect();
    let kept = words.iter().take_while(|word| !is_small(word)).count();
    // "Mill Lane residents" are several.
    let plain = kept >= 2
        && kept + 1 == words.len()
        && !name.ends_with('s')
        && names::is_first_name(&words[0].to_lowercase());
    let length: usize = words[..kept].iter().map(|word| word.len() + 1).sum();
    if plain { &name[..length - 1] } else { name }
}

/// Words of a list of people before a name: "Apologies Nina", "Councillors D. Okafor".
fn is_lead(word: &str) -> bool {
    const LEADS: [&str; 20] = [
        "absent",
        "alderman",
        "aldermen",
        "also",
        "apologies",
        "attending",
        "by",
        "cllrs",
        "councillors",
        "councilors",
        "excused",
        "for",
        "from",
        "in",
        "messrs",
        "members",
        "present",
        "regrets",
        "remotely",
        "sent",
    ];
    LEADS.contains(&word.trim_end_matches(['.', ':']).to_lowercase().as_str())
}

/// The name without such words before it.
fn without_lead(name: &str) -> &str {
    let mut name = name.trim_start();
    while let Some((_, rest)) = name.split_once(' ').filter(|(first, _)| is_lead(first)) {
        name = rest.trim_start();
    }
    name
}

/// Whether a name can be one behind its title: "Mrs E Harding", though "harding" may be a verb.
fn is_titled(written: &str) -> bool {
    let name = names::without_title(written);
    let is_part = |word: &str| {
        word.starts_with(char::is_uppercase)
            && word.chars().all(|c| c.is_alphabetic() || matches!(c, '.' | '-' | '\'' | '’'))
    };
    name != written && (1..=4).contains(&name.split(' ').count()) && name.split(' ').all(is_part)
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
        let written_name = name;
        let name = without_trade(followed_by_initials(names::without_title(name)).0);
        let lower = name.to_lowercase();
        let ordinary = !loose
            && names::is_common_word(&lower)
            && !names::is_first_name(&lower)
            && !names::is_wordy_name(&lower);
        if lower.ends_with("bot")
            || ordinary
            || names::is_trailer(name)
            || (!loose && is_name_of_a_firm(name))
        {
            return;
        }
        if loose && email.is_none() && is_handle(name) {
            self.see_handle(name);
        } else if written.starts_with('@') {
            self.see_handle(written.split_whitespace().next().unwrap_or_default());
        } else if !name.is_empty()
            && Some(name.to_lowercase()) != email
            && !is_role_name(name)
            && (names::could_be_name(name, loose) || is_titled(written_name))
        {
            self.see_name(name);
            let aside = written.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
            if let Some((aside, _)) = aside {
                self.see_aside(name, aside);
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

    /// What stands in brackets behind a name: "DO, treasurer", "dortiz".
    fn see_aside(&mut self, name: &str, aside: &str) {
        if self.roles.len() + self.initials.len() > PEOPLE_MAX {
            return;
        }
        for part in aside.split([',', ';', '/']).map(str::trim) {
            if let Some(office) = office_of(part, Some(name)) {
                self.see_office(&office, name);
            } else if is_initials(part) && short_forms::are_initials_of(part, name) {
                self.initials.push((part.to_lowercase(), name.to_owned()));
            } else if short_forms::is_made_of(part, name) {
                self.see_handle_of(part, Some(name));
            }
        }
    }

    /// Offices and initials that a list of people gives them, in whatever form: "Dana Ortiz, Treasurer; DO – Dan Orr", "Treasurer: Dana Ortiz".
    pub(in super::super) fn see_parts_of_people(&mut self, written: &str) {
        let mut last: Option<String> = None;
        let mut office: Option<String> = None;
        let mut initials: Option<String> = None;
        let mut start = 0;
        let mut is_aside = false;
        let ends = written.char_indices().filter(|(at, c)| divides(written, *at, *c));
        for (at, c) in ends.map(|(at, c)| (at, Some(c))).chain([(written.len(), None)]) {
            let part = without_lead(written[start..at].trim().trim_matches(['*', '_', '.', ' ']));
            start = at + c.map_or(0, char::len_utf8);
            if self.roles.len() + self.initials.len() > PEOPLE_MAX {
                return;
            }
            let (lead, name) = led_by_office(part);
            let (name, own) = followed_by_initials(name);
            if let Some(held) = office_of(part, last.as_deref()) {
                match (&last, c) {
                    // What a bracket says of somebody unread is not of who follows.
                    (None, _) if is_aside => {}
                    (None, _) | (_, Some(':')) => office = Some(held),
                    (Some(name), _) => self.see_office(&held, name),
                }
            } else if is_initials(part) {
                match &last {
                    Some(name) if short_forms::are_initials_of(part, name) => {
                        self.initials.push((part.to_lowercase(), name.clone()));
                    }
                    _ => initials = Some(part.to_owned()),
                }
            } else if name.contains(' ')
                && (names::could_be_name(names::without_title(name), false) || is_titled(name))
            {
                let name = names::without_title(name);
                for held in lead.into_iter().chain(office.take()) {
                    self.see_office(&held, name);
                }
                for short in own.map(str::to_owned).into_iter().chain(initials.take()) {
                    if short_forms::are_initials_of(&short, name) {
                        self.initials.push((short.to_lowercase(), name.to_owned()));
                    }
                }
                last = Some(name.to_owned());
            }
            is_aside = matches!(c, Some('(' | '['));
            if matches!(c, Some(';' | '\n')) {
                last = None;
                initials = None;
                office = None;
            }
        }
    }

    /// An office and who holds it.
    pub(in super::super) fn see_office(&mut self, office: &str, name: &str) {
        let office = office.to_lowercase();
        if lists::OFFICES.contains(&office) && self.roles.len() < PEOPLE_MAX {
            self.roles.push((office, name.to_owned()));
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
                self.see(without_lead(name.trim_start_matches("and ")), loose);
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
