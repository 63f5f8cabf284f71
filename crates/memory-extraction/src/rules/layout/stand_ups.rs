//! Stand-ups: what each person did, will do and is held up by, all in one line or in several: "Ann — did: … / will: …", "Bo: yesterday …,
//! today …, blockers: …", "- Ann: fixed it" with "  next: …" below.

use memory_core::event::Category;
use memory_language::calendar_words::calendar_word;

use super::super::lines::bullet;
use super::super::lists;
use super::super::names;
use super::super::sections::{self, Section};
use super::super::verbs::{self, Class};
use super::{Form, Reader, is_role, without_aside};

/// A name has no more words.
const NAME_WORDS: usize = 3;
/// What stands between two parts of a line, before a space.
const BETWEEN: [char; 6] = [',', ';', '.', '/', '|', '!'];

/// What the key of a part promises.
pub(super) fn section_of_key(key: &str) -> Option<Section> {
    Some(match key {
        "y" | "yesterday" | "did" | "done" => Section::Prior(Category::Execution),
        "t" | "today" | "doing" | "next" | "plan" | "tomorrow" | "will" => Section::Planned,
        "b" | "blockers" | "blocker" | "blocked" | "stuck" => Section::Prior(Category::QualityRisk),
        _ => return None,
    })
}

/// Whether what a key leads was done on the day before.
pub(super) fn is_of_yesterday(key: &str) -> bool {
    matches!(key, "y" | "yesterday")
}

/// A part of a line, in bytes of it.
#[derive(Debug, PartialEq, Eq)]
struct Part {
    section: Section,
    is_of_yesterday: bool,
    /// A colon stands behind its key.
    is_marked: bool,
    key_at: usize,
    words_at: usize,
}

/// The key at the head of these words, if there is one.
fn part_at(words: &str, at: usize, is_behind_slash: bool) -> Option<Part> {
    let rest = &words[at..];
    let end = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
    let key = rest[..end].to_lowercase();
    let behind = &rest[end..];
    let part = |section, is_marked, words_at| {
        let is_of_yesterday = is_of_yesterday(&key);
        Some(Part { section, is_of_yesterday, is_marked, key_at: at, words_at })
    };
    if let Some(said) = behind.strip_prefix(':') {
        return part(section_of_key(&key)?, true, words.len() - said.trim_start().len());
    }
    if rest.to_lowercase().starts_with("no blockers") {
        return part(Section::Skip, false, at);
    }
    let said = behind.strip_prefix(' ')?;
    let next = said.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    // "yesterday was long" tells of the day.
    let is_told_of = matches!(next.to_lowercase().as_str(), "is" | "was" | "were" | "felt" | "s" | "and");
    match key.as_str() {
        "blockers" if !is_told_of => part(section_of_key(&key)?, false, words.len() - said.len()),
        // The day is a word of what is said.
        "yesterday" | "today" | "tomorrow" if !is_told_of => part(Section::Open, false, at),
        "will" if is_behind_slash => part(Section::Open, false, at),
        _ => None,
    }
}

/// The parts of what one person says, where there are several of different kinds; "closed the ticket / will help Bo" has no keys.
fn parts(words: &str) -> Vec<Part> {
    let mut found: Vec<Part> = part_at(words, 0, false).into_iter().collect();
    for (mark, sign) in words.match_indices(BETWEEN) {
        let behind = &words[mark + sign.len()..];
        let at = words.len() - behind.trim_start().len();
        if behind.starts_with(' ') && at < words.len() {
            found.extend(part_at(words, at, sign == "/"));
        }
    }
    let leads = found.first().is_some_and(|first| first.key_at > 0);
    if leads && begins_with_deed(words) && words[..found[0].key_at].trim_end().ends_with('/') {
        let (is_of_yesterday, is_marked) = (false, false);
        found.insert(0, Part { section: Section::Open, is_of_yesterday, is_marked, key_at: 0, words_at: 0 });
    }
    let is_whole = found.first().is_some_and(|first| first.key_at == 0);
    let is_one_kind = found
        .windows(2)
        .all(|pair| pair[0].section == pair[1].section && pair[0].is_of_yesterday == pair[1].is_of_yesterday);
    // Sentences are parts as they are.
    let is_sentence = |part: &Part| {
        words[..part.key_at].trim_end().ends_with(['.', '!'])
            && words[part.key_at..].starts_with(char::is_uppercase)
    };
    let are_sentences = found.iter().skip(1).all(is_sentence) && !found.iter().any(|part| part.is_marked);
    let by_slash =
        found.first().is_some_and(|first| first.section == Section::Open && !first.is_of_yesterday);
    let are_several =
        found.len() > 1 && !are_sentences && (!is_one_kind || (by_slash && words.contains(" / ")));
    if is_whole && are_several { found } else { Vec::new() }
}

/// "fixed the leak", "will write the docs".
pub(super) fn begins_with_deed(words: &str) -> bool {
    let mut words = words.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let first = words.next().unwrap_or_default().to_lowercase();
    let goes_on = words.next().is_some();
    let is_deed = match verbs::of(&first) {
        Some(verb) => verb.past && verb.class != Class::Idle,
        None => first.len() > 4 && first.ends_with("ed") && !lists::NOT_VERBS.contains(&first),
    };
    goes_on && (is_deed || first == "will")
}

/// "Chen Wei", "Ann-Kathrin (mobile)": what may be somebody's name before what they did.
pub(super) fn may_report(name: &str) -> bool {
    let is_part = |word: &str| {
        word.starts_with(char::is_uppercase)
            && word.chars().all(|c| c.is_alphabetic() || matches!(c, '-' | '\'' | '’' | '.'))
    };
    let first = name.split(' ').next().unwrap_or_default().to_lowercase();
    name.split(' ').count() <= NAME_WORDS
        && name.split(' ').all(is_part)
        && (names::is_first_name(&first) || !names::is_common_word(&first))
        && calendar_word(&first).is_none()
        && section_of_key(&first).is_none()
        && sections::of_label(name).is_none()
        && !is_role(name)
}

/// Who is named at the head of a line, behind its bullet, and where what they say begins; whether a dash stands between.
fn head(line: &str) -> Option<(&str, usize, bool)> {
    let begin = bullet(line).map_or(line.len() - line.trim_start().len(), |bullet| bullet.text_at);
    let rest = &line[begin..];
    let marks = [": ", ":** ", ":* ", " — ", " – ", " - "];
    let (at, mark) = marks.iter().filter_map(|mark| Some((rest.find(mark)?, *mark))).min()?;
    let name = without_aside(rest[..at].trim()).trim_matches(['*', '_', '@', ' ']);
    let said = rest[at + mark.len()..].trim_start();
    (!name.is_empty() && !said.is_empty()).then(|| (name, line.len() - said.len(), !mark.contains(':')))
}

impl Reader<'_> {
    /// Whether a name surely is somebody's.
    pub(super) fn is_someone(&self, name: &str) -> bool {
        let lower = name.to_lowercase();
        let first = lower.split(' ').next().unwrap_or_default();
        let is_known = self.known_people.contains(&lower) || self.known_people.contains(first);
        let is_first = names::is_first_name(first) && !lists::PLACES.contains(&lower);
        self.known_speakers.contains(name) || is_known || (is_first && may_report(name))
    }

    /// A line that has all that one person says, or that a dash and a deed show to be theirs.
    pub(super) fn report(&mut self, at: usize) -> bool {
        if matches!(self.section(), Section::People | Section::Skip) {
            return false;
        }
        let line = self.text_of(at);
        let head = head(line).filter(|(name, ..)| may_report(name) || self.known_speakers.contains(*name));
        let Some((name, said_at, is_dash)) = head else {
            let begin = bullet(line).map_or(line.len() - line.trim_start().len(), |bullet| bullet.text_at);
            let found = parts(&line[begin..]);
            let is_keyed = !found.is_empty() && found.iter().all(|part| part.is_marked);
            if is_keyed {
                self.push_parts(at, begin, &found);
            }
            return is_keyed;
        };
        let said = &line[said_at..];
        let found = parts(said);
        let is_alone = is_dash
            && bullet(line).is_none()
            && self.section() == Section::Open
            && self.is_someone(name)
            && begins_with_deed(said);
        if found.is_empty() && !is_alone {
            return false;
        }
        self.speaker = Some(name.to_owned());
        self.add_speaker(name);
        if found.is_empty() {
            self.push(self.lines[at].start + said_at..self.lines[at].end, Form::Prose, Section::Open, false);
            self.open = true;
        } else {
            self.push_parts(at, said_at, &found);
        }
        true
    }

    /// The parts of a line from one of its bytes on, each with its day.
    fn push_parts(&mut self, at: usize, from: usize, parts: &[Part]) {
        let line = self.text_of(at);
        let start = self.lines[at].start;
        for (number, part) in parts.iter().enumerate() {
            let end = parts.get(number + 1).map_or(line.len(), |next| from + next.key_at);
            let words = line[from + part.words_at..end.max(from + part.words_at)].trim_end();
            let words = words.trim_end_matches([',', ';', '/', '|', ' ']);
            let is_nothing = matches!(
                words.trim_end_matches('.').to_lowercase().as_str(),
                "" | "none" | "nope" | "nothing" | "no" | "n/a" | "-" | "–"
            );
            if is_nothing || part.section == Section::Skip {
                continue;
            }
            let begin = start + from + part.words_at;
            if part.is_of_yesterday && part.is_marked {
                self.date_to("yesterday", begin..begin + words.len());
            }
            self.push(begin..begin + words.len(), Form::Prose, part.section, part.section != Section::Open);
        }
        self.open = false;
    }

    /// Who tells what an item says: "- Ann: fixed it", or "- Ann: …" with an indented "next: …" below it.
    pub(super) fn reporter(&self, at: usize) -> Option<String> {
        let line = self.text_of(at);
        let (name, said_at, _) = head(line).filter(|(name, ..)| self.is_someone(name))?;
        let below = self.text_of(at + 1);
        let is_deeper = below.starts_with([' ', '\t']) && bullet(below).is_none();
        let goes_on = is_deeper && is_keyed(below);
        let is_theirs = begins_with_deed(&line[said_at..]) || goes_on;
        (self.section() == Section::Open && is_theirs).then(|| name.to_owned())
    }

    /// What stands deeper than the item of someone, behind a key, is theirs too.
    pub(super) fn give_to_reporter(&mut self, at: usize) {
        let line = self.text_of(at);
        let indent = line.len() - line.trim_start().len();
        let theirs =
            self.reporter.as_ref().filter(|(level, _)| *level < indent).map(|(_, name)| name.clone());
        if let (Some(name), Some(block)) = (theirs, self.layout.blocks.last_mut()) {
            block.speaker.get_or_insert(name);
        }
    }
}

/// "next: switch it off".
fn is_keyed(line: &str) -> bool {
    let key = line.split_once(':').map_or("", |(key, _)| key.trim()).to_lowercase();
    section_of_key(&key).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_stand_up_has_parts_of_different_kinds() {
        let shown = |words: &str| -> Vec<String> {
            let found = parts(words);
            found
                .iter()
                .map(|part| words[part.words_at..].split(' ').next().unwrap_or("").to_owned())
                .collect()
        };
        for (words, expected) in [
            ("did: finished the importer / will: write the docs", vec!["finished", "write"]),
            (
                "yesterday finished it, today will write the docs, blockers: none",
                vec!["yesterday", "today", "none"],
            ),
            ("yesterday interviews. today write it up. no blockers", vec!["yesterday", "today", "no"]),
            ("yesterday interviews. Today I write it up.", vec![]),
            ("Y: finished it, T: write the docs, B: none", vec!["finished", "write", "none"]),
            ("closed the ticket / will help Bo", vec!["closed", "will"]),
            ("yesterday was long, today is better", vec![]),
            ("today I rest, tomorrow I work", vec![]),
            ("closed the ticket, will help Bo", vec![]),
            ("finished the importer today", vec![]),
        ] {
            assert_eq!(shown(words), expected, "{words}");
        }
    }

    #[test]
    fn names_stand_before_what_was_done() {
        for (line, name) in [
            ("Chen Wei — did: moved the logs", Some("Chen Wei")),
            ("- **Ann**: fixed it", Some("Ann")),
            ("* Ann - fixed it", Some("Ann")),
            ("Petronella (mobile): shipped it", Some("Petronella")),
            ("Today: rest", None),
            ("Monday - closed the shop", None),
            ("we are late: fixed it", None),
        ] {
            let found = head(line).map(|(name, ..)| name).filter(|name| may_report(name));
            assert_eq!(found, name, "{line}");
        }
    }
}
