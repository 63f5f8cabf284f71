//! Whose words a line is: turns of a conversation, and those who are named in a label.

use memory_language::labels::is_aside;

use super::super::lines::{label, turn};
use super::super::names;
use super::super::people::is_role_name;
use super::super::sections::{self, Section};
use super::days::may_say_a_day;
use super::{Form, Reader, SPEAKERS_MAX, is_call, is_role};

/// "btw: …" goes on with what its speaker says.
pub(super) fn is_note(label: &str) -> bool {
    is_aside(&label.to_lowercase())
}

/// Whether someone speaks of themselves.
pub(super) fn says_i(said: &str) -> bool {
    said.split(|c: char| !c.is_alphabetic()).any(|word| matches!(word, "I" | "my" | "me" | "My"))
}

impl Reader<'_> {
    pub(super) fn take_turn(&mut self, at: usize) -> bool {
        let line = self.text_of(at);
        let Some(turn) = self.poster(at).or_else(|| turn(line)) else { return false };
        let name = turn.name.trim_start_matches('@');
        // "Me: showed the draft" among what others say is what whoever wrote it down says.
        let is_own = name.eq_ignore_ascii_case("me") && !self.known_speakers.is_empty();
        if !(is_own || self.known_speakers.contains(name) || self.is_unlisted_turn(at, name))
            || is_call(&turn)
            || matches!(self.section(), Section::Prior(_) | Section::People)
        {
            return false;
        }
        self.speaker = Some(name.to_owned()).filter(|_| !is_own);
        if !is_own {
            self.known_speakers.insert(name.to_owned());
        }
        // "Chair" and "+44 7700 900123" speak without being named.
        if name.starts_with(char::is_alphabetic) && !is_role(name) && !is_own {
            self.add_speaker(name);
        }
        self.open = false;
        if turn.text_at < line.len() {
            // "9 Mar 09:20 Tobias: …", "Tobias (9 March): …".
            if may_say_a_day(turn.when) {
                self.date_from_to(at, turn.when);
            }
            self.push_said(at, turn.text_at);
            self.open = true;
        } else {
            self.date_post(at);
        }
        true
    }

    pub(super) fn add_speaker(&mut self, name: &str) {
        let speakers = &mut self.layout.speakers;
        if speakers.len() < SPEAKERS_MAX && !speakers.iter().any(|known| known == name) {
            speakers.push(name.to_owned());
        }
    }

    /// What is said in a turn: "ACTION: kim to send it" by a scribe is what its label says.
    fn push_said(&mut self, at: usize, text_at: usize) {
        let (start, end) = (self.lines[at].start, self.lines[at].end);
        let said = &self.text_of(at)[text_at..];
        let own = label(said).and_then(|(name, after)| Some((sections::of_label(name)?, after)));
        match own {
            Some((section @ Section::Prior(_), after)) if after < said.len() => {
                self.push(start + text_at + after..end, Form::Prose, section, true);
                self.give_to_named(&said[..after]);
            }
            _ => self.push(start + text_at..end, Form::Prose, self.section(), false),
        }
    }

    /// "xq_7: on it" after the turn of another: a handle that nothing else tells of speaks for itself.
    fn is_unlisted_turn(&self, at: usize, name: &str) -> bool {
        let lower = name.to_lowercase();
        let handle =
            name.starts_with(char::is_lowercase) || name.contains(|c: char| c.is_ascii_digit() || c == '_');
        // "Zvorka: I'll order it" right after another's turn.
        let speaks = self.text_of(at).split_once(':').is_some_and(|(_, said)| says_i(said));
        let named = names::could_be_name(name, false) && speaks;
        // "Mum: I'll ask them", "Chair: I move that …".
        let is_part =
            speaks && sections::of_label(name).is_none() && (is_role(name) || names::is_common_word(&lower));
        let before = at.checked_sub(1).map_or("", |before| self.text_of(before));
        let among_turns = before.trim().is_empty()
            || turn(before)
                .is_some_and(|turn| self.known_speakers.contains(turn.name.trim_start_matches('@')));
        self.speaker.is_some()
            && (self.known_speakers.len() > 1 || is_part)
            && among_turns
            && !name.contains(' ')
            && name.len() > 2
            && (is_role_name(name)
                || is_part
                || ((handle || named) && !names::is_common_word(&lower) && !is_role(name)))
            && !is_note(name)
    }

    /// "Action item (Eric): …", "ACTION (@kim): …": who is named in the label is who is to do it.
    pub(super) fn give_to_named(&mut self, label: &str) {
        let named =
            label.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map(|(name, _)| name.trim());
        let Some(name) = named.filter(|name| !name.is_empty()) else { return };
        let first = name.trim_start_matches('@').split_whitespace().next().unwrap_or_default().to_lowercase();
        // "AI(Sigrun): …": nothing but a name stands there.
        let alone = !name.contains(' ')
            && names::could_be_name(name, false)
            && !names::is_common_word(&first)
            && !names::is_wordy_name(&first);
        let known = name.starts_with('@')
            || self.known_people.contains(&first)
            || names::is_first_name(&first)
            || alone;
        if let (true, Some(last)) = (known, self.layout.blocks.last_mut()) {
            last.speaker = Some(name.trim_start_matches('@').to_owned());
            self.layout.people.push(name.to_owned());
        }
    }
}
