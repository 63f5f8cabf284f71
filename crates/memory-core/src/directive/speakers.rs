//! Which parts of a content the user says, as far as metadata and the labels of its lines tell.

use std::ops::Range;

use memory_language::commits::is_commit;

use super::sentence::Introduced;
use super::words::list;
use crate::artifact::{Context, Metadata, Role};
use crate::date::split_stamp;
use crate::spoken::is_name;

/// Whose words these are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Voice {
    /// A turn of the user.
    User = 0,
    /// A note: of the user, or of an agent about the user.
    Note = 1,
    /// What somebody has kept as a preference of the user.
    Preference = 2,
}

impl Voice {
    /// Whose words these are by the rules, behind an introduction: not all that the user has said is wanted.
    pub(super) fn behind(self, introduced: Option<Introduced>) -> Self {
        match (introduced, self) {
            (Some(Introduced::Said), Self::Note) => Self::User,
            (Some(Introduced::Wanted), Self::Note) => Self::Preference,
            _ => self,
        }
    }
}

/// What stands around a sentence.
#[derive(Debug, Clone, Copy)]
pub(super) struct Around {
    pub(super) voice: Voice,
    /// The text asks for one thing to be made: how is said of that.
    pub(super) has_task: bool,
    /// It stands in a list of instructions or preferences.
    pub(super) is_listed: bool,
    /// The sentence before it is about the user.
    pub(super) follows_user: bool,
}

/// Parts of the content without code and quotations.
pub(super) fn parts(content: &str, meta: &Metadata) -> Vec<(Range<usize>, Voice)> {
    let author = meta.author.as_deref().map(str::to_lowercase);
    let is_by = |name: &str| author.as_deref().is_some_and(|author| list(name).has(author.trim()));
    let voice = match (meta.role, meta.context) {
        (Some(Role::User), _) => Some(Voice::User),
        (Some(Role::Assistant | Role::System), _) => return Vec::new(),
        (None, _) if is_by("assistant") => return Vec::new(),
        (None, _) if is_by("user") => Some(Voice::User),
        (None, Context::Preference) => Some(Voice::Preference),
        (None, Context::Note | Context::Fact | Context::Project) => Some(Voice::Note),
        (None, Context::Chat | Context::Conversation) if is_lone_turn(meta) => Some(Voice::User),
        (None, Context::Chat | Context::Conversation) => author.is_none().then_some(Voice::Note),
        (None, Context::Transcript) => None,
        (None, Context::Meeting | Context::Email) if meta.author.is_some() => Some(Voice::Note),
        (None, Context::Meeting | Context::Email | Context::Document | Context::Decision) => {
            return Vec::new();
        }
    };
    prose(content, voice)
}

/// Whether somebody with a name says it, in no conversation that is named: the user, as far as one can tell, or a colleague.
pub(super) fn is_lone_turn(meta: &Metadata) -> bool {
    let is_named = |author: &String| {
        let author = author.trim().to_lowercase();
        !list("user").has(&author) && !list("assistant").has(&author)
    };
    matches!(meta.context, Context::Chat | Context::Conversation)
        && meta.role.is_none()
        && meta.author.as_ref().is_some_and(is_named)
        && meta.conversation_id.is_none()
        && meta.participants.is_empty()
}

/// Whether it is a mail or the minutes of a meeting: written to others, though by the user as far as one can tell.
pub(super) fn is_to_others(meta: &Metadata) -> bool {
    matches!(meta.context, Context::Meeting | Context::Email) && meta.role.is_none()
}

/// Lines outside of code and quotations, those of one speaker together. Where lines are labelled, only what is below
/// a label of the user is the user's.
fn prose(content: &str, voice: Option<Voice>) -> Vec<(Range<usize>, Voice)> {
    let mut parts: Vec<(Range<usize>, Voice)> = Vec::new();
    let (mut is_code, mut speaking, mut at) = (false, voice, 0);
    for line in content.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let bare = line.trim_start();
        if bare.starts_with("```") || bare.starts_with("~~~") {
            is_code = !is_code;
            continue;
        }
        let is_commit = voice != Some(Voice::Preference) && is_commit(line);
        if is_code || bare.starts_with('>') || is_commit {
            continue;
        }
        let mut from = start;
        if let Some((label, rest)) = label(line) {
            // What is kept as a preference stays one, with whoever has said it before it.
            let users = if voice == Some(Voice::Preference) { Voice::Preference } else { Voice::User };
            speaking = label.then_some(users);
            from = at - rest.len();
        }
        let Some(voice) = speaking else { continue };
        match parts.last_mut() {
            Some((bytes, before)) if bytes.end == from && *before == voice => bytes.end = at,
            _ => parts.push((from..at, voice)),
        }
    }
    parts
}

/// Of a line that begins with "User:" or "Assistant:": whether it is the user's, and what follows. With a time before it
/// ("[2026-11-25 09:20] Dana:") any name is that of a speaker, and nobody's but the user's are wishes of the user.
fn label(line: &str) -> Option<(bool, &str)> {
    let stamped = split_stamp(line).map(|(_, rest)| rest);
    let line = stamped.unwrap_or(line);
    let (head, rest) = line.split_once(':')?;
    if head.len() > 24 {
        return None;
    }
    let name = head.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '#' | '[' | ']' | '_'));
    let names_another = stamped.is_some() && is_name(name);
    let name = name.to_lowercase();
    let rest = rest.trim_start_matches('*');
    match (list("user").has(&name), list("assistant").has(&name)) {
        (true, _) => Some((true, rest)),
        (_, true) => Some((false, rest)),
        _ => names_another.then_some((false, rest)),
    }
}
