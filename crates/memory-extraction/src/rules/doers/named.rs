//! Names at a place where a doer stands: of those who are known, by initials or a letter, or of nobody yet.

use memory_language::calendar_words::calendar_word;

use super::super::lists;
use super::super::names;
use super::super::people::{is_group, is_initials};
use super::super::things::is_body;
use super::super::words::{Kind, spaced};
use super::offices::is_office;
use super::{NAME_WORDS, Named, Place};

/// What bodies are called by, behind their names, beside what the lists have.
const CIRCLES: [&str; 10] =
    ["circle", "committee", "crew", "desk", "group", "office", "service", "services", "squad", "team"];
/// Numbers before what there are so many of.
const NUMBERS: [&str; 12] =
    ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

impl Place<'_, '_> {
    /// The name that begins at a token.
    pub(super) fn name(&self, at: usize, end: usize) -> Option<Named> {
        let text = &self.parsed.text;
        if at >= end {
            return None;
        }
        if let Some(mention) = self.parsed.mention(at) {
            let tokens = mention.tokens.clone();
            let acts = mention.can_act() && tokens.start == at && tokens.end <= end;
            return acts.then_some(Named {
                tokens,
                known: Some(mention.entity),
                is_body: !mention.is_person(),
            });
        }
        let raw = text.raw_word(at);
        if text.kind(at) == Some(Kind::Handle) && !is_group(raw.trim_start_matches('@')) {
            return Some(Named { tokens: at..at + 1, known: None, is_body: false });
        }
        let one = |length: usize, known| Some(Named { tokens: at..at + length, known, is_body: false });
        // "KM", "A.R.".
        let short: String = raw.chars().filter(|c| *c != '.').collect();
        if is_initials(&short)
            && let Some(person) = self.roster.by_initials(&short)
        {
            let dotted = raw.contains('.') && text.word(at + 1) == "." && text.touches_next(at);
            return one(1 + usize::from(dotted), Some(person));
        }
        // "Director Moss".
        if is_office(text.word(at)) && text.is_capitalised(at) {
            return match self.parsed.person(at + 1).filter(|rest| rest.tokens.start == at + 1) {
                Some(rest) => {
                    Some(Named { tokens: rest.tokens.clone(), known: Some(rest.entity), is_body: false })
                }
                None => self.unknown(at + 1, at + 1, end),
            };
        }
        // "maeve sends it".
        if text.is_word(at)
            && raw.starts_with(char::is_lowercase)
            && names::is_first_name(text.word(at))
            && !names::is_wordy_name(text.word(at))
        {
            return one(1, None);
        }
        let first = at + usize::from(names::is_title(text.word(at)) && text.is_capitalised(at));
        let first = first + usize::from(first > at && text.word(first) == ".");
        if first > at
            && let Some(person) = self.by_letter(text.raw_word(first))
        {
            return one(first + 1 - at + usize::from(text.word(first + 1) == "."), Some(person));
        }
        self.unknown(at, first, end)
    }

    /// "Ms K": the one person whose last name begins so.
    fn by_letter(&self, letter: &str) -> Option<usize> {
        let letter = letter.chars().next().filter(|c| letter.chars().count() == 1 && c.is_uppercase())?;
        self.index.by_last_letter(letter)
    }

    /// Words with capitals that are nobody's name yet; `first` is the token behind a title.
    fn unknown(&self, at: usize, first: usize, end: usize) -> Option<Named> {
        let text = &self.parsed.text;
        let mut next = first;
        // "T. Moss", "H.-J. Moss".
        let initial = text.raw_word(next).chars().count() == 1
            && text.is_capitalised(next)
            && text.word(next + 1) == ".";
        if initial {
            next += 2;
        }
        let begin = next;
        let particle = |at: usize| {
            text.is_any(at, &["van", "de", "von", "der", "den", "da", "di", "del", "ten", "le", "la", "bin"])
        };
        while next < end && next < begin + NAME_WORDS && self.parsed.mention(next).is_none() {
            let apart = next > begin && !spaced(text, next - 1);
            let inner = particle(next) && (next > begin || initial) && text.is_word(next + 1);
            if apart || !(text.is_capitalised(next) || inner) {
                break;
            }
            next += 1;
        }
        // "Wee Col": a word more before the name of someone known.
        let rest = self
            .parsed
            .person(next)
            .filter(|rest| rest.tokens.start == next && next > at && rest.tokens.end <= end);
        if let Some(rest) =
            rest.filter(|_| begin + 1 == next && spaced(text, next - 1) && !self.is_word(begin))
        {
            return Some(Named { tokens: rest.tokens.clone(), known: Some(rest.entity), is_body: false });
        }
        if next == begin || self.parsed.mention(next).is_some_and(|mention| mention.tokens.start < next) {
            return None;
        }
        let last = text.word(next - 1);
        let words = next - begin;
        let is_body = words > 1
            && (CIRCLES.contains(&last)
                || lists::TEAMS.contains(last)
                || lists::UNITS.contains(last)
                || is_body(text.raw_word(next - 1))
                || is_shouted(text.raw_word(begin)));
        let fits = (begin..next).all(|at| particle(at) || names::could_be_part(text.raw_word(at)));
        let is_single = words == 1 && first == at && !initial;
        let is_someone =
            fits && if is_single { !self.is_word(begin) } else { (begin..next).any(|at| !self.is_word(at)) };
        let article =
            ["all", "any", "each", "every", "my", "new", "next", "no", "our", "the", "this", "your"];
        let bodily = is_body && !text.is_any(begin, &article);
        (bodily || (!is_body && is_someone)).then_some(Named { tokens: at..next, known: None, is_body })
    }

    /// What is a word of the language or of a thing, as far as the lists and this text tell.
    fn is_word(&self, at: usize) -> bool {
        let text = &self.parsed.text;
        let lower = text.raw_word(at).to_lowercase();
        let trade = ["er", "or", "ers", "ors", "ian", "ist", "ant", "ent", "ents", "ants"];
        let first = names::is_first_name(&lower);
        self.seen.small.contains(text.word(at)) && !first
            || NUMBERS.contains(&lower.as_str())
            || names::is_common_word(&lower)
            || calendar_word(&lower).is_some()
            || lists::SOFTWARE.contains(&lower)
            || lists::PLACES.contains(&lower)
            || (!first && trade.iter().any(|end| lower.len() > end.len() + 2 && lower.ends_with(end)))
            || (!first && lower.ends_with('s') && lower.len() > 6)
    }
}

/// "CNRE".
fn is_shouted(raw: &str) -> bool {
    raw.len() > 2 && raw.bytes().all(|byte| byte.is_ascii_uppercase())
}
