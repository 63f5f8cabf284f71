//! Posts of a thread: names that stand above the words of those who wrote them, `**kim-b** · 2 days ago`.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::super::lines::{self, PostHead, bullet, heading, is_moment, mail_header, post_head};
use super::super::lists;
use super::super::names;
use super::super::sections::{self, Section};
use super::{Reader, is_role};

#[derive(Default)]
struct Posts {
    count: usize,
    is_marked: bool,
    is_told: bool,
    is_dated: bool,
    is_said: bool,
    is_led: bool,
}

/// Those who post, where most of them are surely people, and several of them take turns or it is said that one wrote it; `is_known`
/// says who is known otherwise.
pub(super) fn posters(
    text: &str,
    lines: &[Range<usize>],
    is_known: impl Fn(&str) -> bool,
) -> HashSet<String> {
    let mut found: HashMap<&str, Posts> = HashMap::new();
    for at in 0..lines.len() {
        let Some(head) = head_at(text, lines, at) else { continue };
        if sections::of_heading(head.name).is_none() && !is_role(head.name) {
            let posts = found.entry(head.name).or_default();
            posts.count += 1;
            posts.is_marked |= head.is_marked;
            posts.is_told |= head.is_told || has_moment_below(text, lines, at);
            posts.is_dated |= head.is_dated;
            posts.is_said |= head.is_said;
            posts.is_led |= head.is_led;
        }
    }
    // "sunniva": a word that no list has is a handle where programs write beside such when it was.
    let are_told = found.values().any(|posts| posts.is_dated);
    let is_sure = |name: &str| {
        let first = name.split(' ').next().unwrap_or_default().to_lowercase();
        is_known(name) || names::is_first_name(&first) || is_handle(name) || (are_told && is_odd_word(name))
    };
    let may_be = |name: &str| {
        is_sure(name) || (names::could_be_name(name, false) && !names::is_common_word(&name.to_lowercase()))
    };
    // "ottavia-s" once among handles that return.
    let are_handles = found.iter().any(|(name, posts)| posts.count > 1 && is_handle(name));
    found.retain(|name, posts| {
        let stands_out = posts.is_marked || posts.is_told;
        let returns = posts.count > 1 || (are_handles && is_handle(name));
        if stands_out { may_be(name) } else { returns && is_sure(name) }
    });
    // "Post 2 – Noise" may have a subject, where nobody beside it is surely a person.
    let has_person = found.keys().any(|name| is_sure(name));
    let is_writer = |name: &str, posts: &Posts| is_sure(name) || (posts.is_led && has_person);
    let sure = found.iter().filter(|(name, posts)| is_writer(name, posts)).count();
    let returns = found.len() > 1 && found.values().any(|posts| posts.count > 1);
    let is_said = found.iter().any(|(name, posts)| posts.is_said && is_writer(name, posts));
    if sure * 2 < found.len() || !(returns || is_said) {
        return HashSet::new();
    }
    found.into_keys().map(str::to_owned).collect()
}

/// The head of a post in this line, if words follow it, at once or below an empty line.
fn head_at<'t>(text: &'t str, lines: &[Range<usize>], at: usize) -> Option<PostHead<'t>> {
    let line = |at: usize| lines.get(at).map_or("", |line| text[line.clone()].trim());
    let head = post_head(&text[lines[at].clone()])?;
    let next = if line(at + 1).is_empty() { line(at + 2) } else { line(at + 1) };
    let is_moment = is_moment(next);
    let is_plain = !(head.is_marked || head.is_told || is_moment);
    // A mere name in a list of names or above an address is none.
    let apart = !is_plain || at == 0 || line(at - 1).is_empty();
    let is_word = !next.is_empty()
        && bullet(next).is_none()
        && heading(next).is_none()
        && !next.starts_with("Dear ")
        && !(head.is_led && mail_header(next).is_some())
        && (is_moment || !next.starts_with(|c: char| c.is_ascii_digit() && is_plain))
        && post_head(next).is_none_or(|below| {
            // "Thanks." is a word, "timings report please" are several.
            let is_said = next.ends_with(['.', '!', '?'])
                || (is_handle(head.name) && !names::could_be_name(below.name, false));
            !(below.is_marked || below.is_told) && (!is_plain || is_said)
        });
    (apart && (is_word || is_moment)).then_some(head)
}

fn has_moment_below(text: &str, lines: &[Range<usize>], at: usize) -> bool {
    lines.get(at + 1).is_some_and(|below| is_moment(&text[below.clone()]))
}

/// `xq_7`, `marit-s`, `ravi.b`: no word, no file and no program.
fn is_handle(name: &str) -> bool {
    // "phase1" and "v2" are no handles.
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').to_lowercase();
    let digit =
        name.contains(|c: char| c.is_ascii_digit()) && stem.len() > 2 && !names::is_common_word(&stem);
    let inner = name.trim_end_matches('.').contains(['_', '-', '.']);
    let is_file = name.rsplit_once('.').is_some_and(|(_, end)| names::is_file_ending(end));
    let parts = || name.split(['_', '-', '.']).filter(|part| part.len() > 1);
    let words = parts().all(|part| names::is_common_word(&part.to_lowercase()));
    name.len() > 2
        && !name.contains(' ')
        && (digit || (inner && name.starts_with(char::is_lowercase)))
        && !is_file
        && !(words && parts().next().is_some())
        && !lists::SOFTWARE.contains(name.to_lowercase().as_str())
}

/// `sunniva`, `jbarrick`: one word in small letters that is in no list.
fn is_odd_word(name: &str) -> bool {
    name.len() > 2
        && name.chars().all(char::is_lowercase)
        && !names::is_common_word(name)
        && !lists::SOFTWARE.contains(name)
}

impl<'a> Reader<'a> {
    /// The moment below the name of who posts.
    pub(super) fn moment_of_post(&self, at: usize) -> bool {
        let above = at.checked_sub(1).filter(|_| is_moment(self.text_of(at)));
        above.is_some_and(|above| self.poster(above).is_some())
    }

    /// The poster whose words follow; below "Decisions" or "Present" a name is no head of a post.
    pub(super) fn poster(&self, at: usize) -> Option<lines::Turn<'a>> {
        if self.posters.is_empty() || matches!(self.section(), Section::Prior(_) | Section::People) {
            return None;
        }
        let head = head_at(self.text, &self.lines, at).filter(|head| self.posters.contains(head.name))?;
        Some(lines::Turn { name: head.name, timed: true, when: "", text_at: self.text_of(at).len() })
    }
}
