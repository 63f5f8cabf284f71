//! Cues: the phrases that say what kind of event a clause tells, who must be its subject, and how sure that is.
//!
//! In a phrase a blank parts the words, `/` the alternatives of one word, `~` stands for up to eleven words and `@role`
//! for what people can be.

use std::sync::LazyLock;

use memory_core::event::Category;

use super::data_file::{DataFault, loaded};
use super::lists;
use super::words::Text;
use super::wordset::WordMap;

/// What must stand before the phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    /// People, "I", "we" or a team.
    Doer,
    /// Named people or "I".
    Person,
    /// "I" only.
    Me,
    /// "We", a team, "they".
    Collective,
    /// People, a team or those outside: customers, users.
    Voice,
    /// Anything that the phrase happens to: "was deployed".
    Passive,
    /// A thing that is in that state at the end of the clause: "is done".
    State,
    /// A thing that does it by itself: "v2.3 shipped on Monday".
    Thing,
    /// Nobody: the phrase opens an item.
    Nobody,
    /// A doer before and a person or team after.
    Company,
    /// No subject is asked for.
    Free,
}

impl Who {
    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "Doer" => Self::Doer,
            "Person" => Self::Person,
            "Me" => Self::Me,
            "Collective" => Self::Collective,
            "Voice" => Self::Voice,
            "Passive" => Self::Passive,
            "State" => Self::State,
            "Thing" => Self::Thing,
            "Nobody" => Self::Nobody,
            "Company" => Self::Company,
            "Free" => Self::Free,
            _ => return None,
        })
    }
}

pub(super) struct Cue {
    words: Vec<Vec<&'static str>>,
    pub(super) category: Category,
    pub(super) wanted: Vec<(Who, f32)>,
}

type Cues = WordMap<&'static str, Vec<Cue>>;

static CUES: LazyLock<Cues> = LazyLock::new(|| loaded(read()));

/// The cues by the first word of their phrases.
pub(super) fn read() -> Result<Cues, DataFault> {
    let mut cues = Cues::default();
    for (section, entries) in lists::CUES_FILE.sections()? {
        let line = entries.first().map_or(0, |(line, _)| *line);
        let category = Category::parse(section)
            .ok_or_else(|| lists::CUES_FILE.fault(line, format!("'{section}' is no category")))?;
        for (line, entry) in entries {
            let (words, wanted) = cue(line, entry)?;
            for first in words[0].clone() {
                let cue = Cue { words: words.clone(), category, wanted: wanted.clone() };
                cues.entry(first).or_default().push(cue);
            }
        }
    }
    Ok(cues)
}

type Phrase = Vec<Vec<&'static str>>;

/// `agreed/agrees to | Person 0.8, Me 0.7`: the words of a phrase, and with which subjects it counts how much.
fn cue(line: usize, entry: &'static str) -> Result<(Phrase, Vec<(Who, f32)>), DataFault> {
    let fault = |reason: String| lists::CUES_FILE.fault(line, reason);
    let (phrase, wanted) =
        entry.split_once(" | ").ok_or_else(|| fault("a cue has no ' | ' after its phrase".to_owned()))?;
    let words = phrase.split(' ').map(|word| word.split('/').collect()).collect();
    let wanted = wanted.split(", ").map(|one| {
        let (who, sure) =
            one.split_once(' ').ok_or_else(|| fault(format!("'{one}' is no subject with a number")))?;
        let who = Who::parse(who).ok_or_else(|| fault(format!("'{who}' is no subject")))?;
        let sure: f32 = sure.parse().map_err(|_| fault(format!("'{sure}' is no number")))?;
        if !(0.0..=1.0).contains(&sure) {
            return Err(fault(format!("{sure} is not from 0 to 1")));
        }
        Ok((who, sure))
    });
    Ok((words, wanted.collect::<Result<_, DataFault>>()?))
}

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

/// What people can be in a group: "captain", "treasurer".
pub(super) fn is_role(word: &str) -> bool {
    lists::ROLES.contains(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_cue_says_what_is_wrong() {
        assert!(cue(1, "agreed/agrees to | Person 0.8, Me 0.7").is_ok());
        for (entry, said) in [
            ("agreed to", "no ' | '"),
            ("agreed to | Anybody 0.8", "'Anybody' is no subject"),
            ("agreed to | Person", "no subject with a number"),
            ("agreed to | Person much", "'much' is no number"),
            ("agreed to | Person 8", "not from 0 to 1"),
        ] {
            let fault = cue(1, entry).unwrap_err().to_string();
            assert!(fault.contains(said), "{fault}");
        }
    }
}
