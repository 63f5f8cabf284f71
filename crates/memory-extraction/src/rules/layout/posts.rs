//! Posts of a thread: names that stand above the words of those who wrote them, `**kim-b** · 2 days ago`.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::super::lines::{self, bullet, heading, is_moment, post_head};
use super::super::names;
use super::super::sections;
use super::{Reader, is_role};

#[derive(Default)]
struct Posts {
    count: usize,
    is_marked: bool,
    /// It says that they wrote it: "marit-s commented on Oct 31".
    is_said: bool,
}

/// Those who post, where most of them are surely people, and several of them take turns or it is said that one wrote it; `is_known`
/// says who is known otherwise.
pub(super) fn posters(
    text: &str,
    lines: &[Range<usize>],
    is_known: impl Fn(&str) -> bool,
) -> HashSet<String> {
    let mut found: HashMap<&str, Posts> = HashMap::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(head) = post_head(&text[line.clone()]).filter(|_| is_above_words(text, lines, at)) else {
            continue;
        };
        if sections::of_heading(head.name).is_none() && !is_role(head.name) {
            let posts = found.entry(head.name).or_default();
            posts.count += 1;
            posts.is_marked |=
                head.is_marked || lines.get(at + 1).is_some_and(|below| is_moment(&text[below.clone()]));
            posts.is_said |= head.is_said;
        }
    }
    let is_sure = |name: &str| {
        let first = name.split(' ').next().unwrap_or_default().to_lowercase();
        is_known(name) || names::is_first_name(&first) || is_handle(name)
    };
    found.retain(|name, posts| posts.count > 1 || (posts.is_marked && is_handle_or_name(name)));
    found.retain(|name, posts| posts.is_marked || is_sure(name));
    let sure = found.keys().filter(|name| is_sure(name)).count();
    let returns = found.len() > 1 && found.values().any(|posts| posts.count > 1);
    let is_said = found.iter().any(|(name, posts)| posts.is_said && is_sure(name));
    if sure * 2 < found.len() || !(returns || is_said) {
        return HashSet::new();
    }
    let named = found.into_keys().filter(|name| is_sure(name) || is_handle_or_name(name));
    named.map(str::to_owned).collect()
}

/// Whether words follow the line, at once or below an empty line.
fn is_above_words(text: &str, lines: &[Range<usize>], at: usize) -> bool {
    let below = |at: usize| lines.get(at).map_or("", |line| text[line.clone()].trim());
    let next = if below(at + 1).is_empty() { below(at + 2) } else { below(at + 1) };
    !next.is_empty()
        && bullet(next).is_none()
        && heading(next).is_none()
        && !post_head(next).is_some_and(|head| head.is_marked)
}

/// `xq_7`, `marit-s`, `ravi.b`, `jbarrick`: one word that is none of the language.
fn is_handle(name: &str) -> bool {
    let is_odd =
        name.starts_with(char::is_lowercase) || name.contains(|c: char| c.is_ascii_digit() || c == '_');
    is_odd && !name.contains(' ') && !names::is_common_word(&name.to_lowercase())
}

fn is_handle_or_name(name: &str) -> bool {
    is_handle(name) || (names::could_be_name(name, false) && !names::is_common_word(&name.to_lowercase()))
}

impl<'a> Reader<'a> {
    /// The moment below the name of who posts.
    pub(super) fn moment_of_post(&self, at: usize) -> bool {
        let above = at.checked_sub(1).filter(|_| is_moment(self.text_of(at)));
        above.is_some_and(|above| self.poster(above).is_some())
    }

    /// The poster whose words follow.
    pub(super) fn poster(&self, at: usize) -> Option<lines::Turn<'a>> {
        let line = self.text_of(at);
        let head = post_head(line).filter(|head| self.known_speakers.contains(head.name))?;
        let is_post = is_above_words(self.text, &self.lines, at);
        is_post.then_some(lines::Turn { name: head.name, timed: true, text_at: line.len() })
    }
}
