//! Cues: the phrases that say what kind of event a clause tells, who must be its subject, and how sure that is.
//!
//! In a phrase a blank parts the words, `/` the alternatives of one word, `~` stands for up to eleven words and `@role`
//! for what people can be.

mod table;

use std::sync::LazyLock;

use memory_core::event::Category;

use super::words::Text;
use super::wordset::{WordMap, WordSet};
use table::TABLE;

/// What must stand before the phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    /// People, «I», «we» or a team.
    Doer,
    /// Named people or «I».
    Person,
    /// «I» only.
    Me,
    /// «We», a team, «they».
    Collective,
    /// People, a team or those outside: customers, users.
    Voice,
    /// Anything that the phrase happens to: «was deployed».
    Passive,
    /// A thing that is in that state at the end of the clause: «is done».
    State,
    /// A thing that does it by itself: «v2.3 shipped on Monday».
    Thing,
    /// Nobody: the phrase opens an item.
    Nobody,
    /// A doer before and a person or team after.
    Company,
    /// No subject is asked for.
    Free,
}

pub(super) struct Cue {
    words: Vec<Vec<&'static str>>,
    pub(super) category: Category,
    pub(super) wanted: &'static [(Who, f32)],
}

static CUES: LazyLock<WordMap<&'static str, Vec<Cue>>> = LazyLock::new(|| {
    let mut cues: WordMap<&str, Vec<Cue>> = WordMap::default();
    for (phrase, category, wanted) in TABLE {
        let words: Vec<Vec<&str>> = phrase.split(' ').map(|word| word.split('/').collect()).collect();
        for first in words[0].clone() {
            cues.entry(first).or_default().push(Cue { words: words.clone(), category: *category, wanted });
        }
    }
    cues
});

/// How many tokens `~` stands for at most.
const GAP_MAX: usize = 11;

/// The cues whose phrase stands at a token, with the token after each.
pub(super) fn at<'t>(
    text: &'t Text<'_>,
    at: usize,
    end: usize,
) -> impl Iterator<Item = (&'static Cue, usize)> + 't {
    let cues: &'static [Cue] = CUES.get(text.word(at)).map_or(&[], Vec::as_slice);
    cues.iter().filter_map(move |cue| Some((cue, matched(text, &cue.words[1..], at + 1, end)?)))
}

fn matched(text: &Text<'_>, words: &[Vec<&'static str>], at: usize, end: usize) -> Option<usize> {
    let Some((first, rest)) = words.split_first() else { return Some(at) };
    if first[0] == "~" {
        return (at..end.min(at + GAP_MAX)).find_map(|skip| matched(text, rest, skip, end));
    }
    let fits =
        at < end && (first.contains(&text.word(at)) || (first[0] == "@role" && is_role(text.word(at))));
    fits.then(|| matched(text, rest, at + 1, end)).flatten()
}

/// What people can be in a group: «captain», «treasurer».
pub(super) fn is_role(word: &str) -> bool {
    static ROLES: WordSet = WordSet::new(
        " captain chair chairman chairwoman chairperson treasurer secretary manager lead director head owner officer coordinator \
        co-ordinator contact liaison sponsor steward keeper consultant supervisor foreman editor producer designer engineer architect principal \
        dean registrar clerk spokesperson deputy successor replacement president admin administrator maintainer representative rep trustee \
        guardian mentor referee examiner inspector chef champion approver stakeholder leader coach physio boss host caretaker curator \
        bursar librarian pharmacist investigator analyst scientist facilitator moderator scribe organiser organizer buyer agronomist \
        vice-chair co-chair teamlead assistant ",
    );
    ROLES.contains(word)
}
