//! Whom those in lists of people stand for: "* Henry Vera, Double Negative", "Ann Lee (Brightwater), Bo Ray (Ossel)".

use std::ops::Range;

use memory_language::calendar_words::calendar_word;

use super::super::cues::is_role;
use super::super::lines::bullet;
use super::super::lists;
use super::super::names;
use super::super::words::Text;

/// So many people of a list have to be said to stand for someone, and at least half of them.
const AFFILIATED_MIN: usize = 3;
/// What one stands for has no more words.
const WORDS_MAX: usize = 6;
/// A longer line is none of people.
const LINE_MAX_BYTES: usize = 1_000;

/// The tokens of what people stand for, in order.
pub(super) fn affiliations(text: &Text<'_>) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut list = List::default();
    let mut start = 0;
    for line in text.read().split_inclusive('\n') {
        let at = start;
        start += line.len();
        let line = line.trim_end();
        if line.is_empty() {
            continue;
        }
        let item = bullet(line).map(|bullet| at + bullet.text_at);
        let Some(begin) = item.filter(|_| line.len() < LINE_MAX_BYTES) else {
            list.end(&mut found);
            found.extend(in_brackets(text.raw, at..at + line.len()));
            continue;
        };
        list.items += 1;
        list.affiliations.extend(affiliation(text.raw, begin..at + line.len()));
    }
    list.end(&mut found);
    found.iter().map(|bytes| text.tokens_in(bytes)).filter(|tokens| !tokens.is_empty()).collect()
}

/// The items of a list that was read so far.
#[derive(Default)]
struct List {
    items: usize,
    affiliations: Vec<Range<usize>>,
}

impl List {
    fn end(&mut self, found: &mut Vec<Range<usize>>) {
        let List { items, affiliations } = std::mem::take(self);
        if affiliations.len() >= AFFILIATED_MIN && affiliations.len() * 2 >= items {
            found.extend(affiliations);
        }
    }
}

/// "Henry Vera, Chairperson, Double Negative": the last part that can be a body.
fn affiliation(raw: &str, bytes: Range<usize>) -> Option<Range<usize>> {
    let words = &raw[bytes.clone()];
    let name = names::without_aside(words);
    let end = words.find(name)? + name.len();
    names::is_listed_name(name).then_some(())?;
    let mut parts = Vec::new();
    let mut from = end;
    let is_mark = |c: char| matches!(c, ',' | '(' | ')' | '–' | '—');
    for (at, c) in words[end..].char_indices().map(|(at, c)| (end + at, c)).chain([(words.len(), ',')]) {
        let dash = matches!(c, '-' | '/') && words[..at].ends_with(' ') && words[at + 1..].starts_with(' ');
        if is_mark(c) || dash {
            parts.push(trimmed(raw, bytes.start + from..bytes.start + at));
            from = at + c.len_utf8();
        }
    }
    parts.into_iter().rfind(|part| can_be_body(&raw[part.clone()]))
}

/// "Present: Ann Lee (Brightwater), Bo Ray (Ossel), …".
fn in_brackets(raw: &str, bytes: Range<usize>) -> Vec<Range<usize>> {
    let words = &raw[bytes.clone()];
    if words.len() > LINE_MAX_BYTES || words.matches(" (").count() < AFFILIATED_MIN {
        return Vec::new();
    }
    let (mut people, mut found, mut from) = (0, Vec::new(), 0);
    for (open, _) in words.match_indices(" (") {
        let name = words[from.min(open)..open].rsplit([',', ';', ':', '•', '|']).next().unwrap_or_default();
        let name = name.trim().trim_start_matches("and ").trim_matches(['*', '_']);
        let Some(close) = words[open..].find(')').map(|close| open + close) else { break };
        from = close + 1;
        if names::is_listed_name(name) {
            people += 1;
            let inner = trimmed(raw, bytes.start + open + 2..bytes.start + close);
            found.extend(Some(inner).filter(|inner| can_be_body(&raw[inner.clone()])));
        }
    }
    let counts = found.len() >= AFFILIATED_MIN && found.len() * 2 >= people;
    if counts { found } else { Vec::new() }
}

fn trimmed(raw: &str, bytes: Range<usize>) -> Range<usize> {
    let is_edge = |c: char| c.is_whitespace() || matches!(c, '*' | '_' | '[' | ']' | '.' | ':' | '-' | '/');
    let part = &raw[bytes.clone()];
    let start = bytes.start + part.len() - part.trim_start_matches(is_edge).len();
    start..start + part.trim_matches(is_edge).len()
}

/// A name by its form that is no person's, office or note.
fn can_be_body(part: &str) -> bool {
    let words: Vec<&str> = part.split_whitespace().collect();
    let (Some(first), Some(last)) = (words.first(), words.last()) else { return false };
    let lower = |word: &str| word.to_lowercase();
    let is_small = |word: &str| matches!(word, "and" | "of" | "the" | "for" | "&" | "de" | "at" | "und");
    let is_large = |word: &&str| is_small(word) || word.starts_with(|c: char| c.is_uppercase());
    let is_named = !is_small(first) && words.iter().all(is_large);
    let is_person = words.len() == 2 && names::is_first_name(&lower(first));
    let is_note = part.contains(['@', ':', '=', '"', '<', '/'])
        || words
            .iter()
            .any(|word| calendar_word(&lower(word)).is_some() || lists::ASIDES.contains(&lower(word)));
    let is_common = words.len() == 1
        && names::is_common_word(&lower(first))
        && !lists::KNOWN_BODIES.contains(&lower(first));
    let is_office =
        words.iter().any(|word| is_role(&lower(word))) || is_role(lower(last).trim_end_matches('s'));
    (1..=WORDS_MAX).contains(&words.len())
        && part.chars().count() > 2
        && is_named
        && !(is_person || is_note || is_common || is_office)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(raw: &str) -> Vec<&str> {
        let text = Text::new(raw, usize::MAX);
        affiliations(&text).iter().map(|tokens| &raw[text.bytes(tokens)]).collect()
    }

    #[test]
    fn what_most_people_of_a_list_stand_for_is_a_body() {
        let list = "## Attendance\n\n* [ ] Daniel Hecker - Chairperson, Animal Fold Ltd\n* [x] Gordon Bradley, Weftdesk\n\
                    * Jasmine Daly – Daly Analytics (remote)\n* **Dana Ortiz**, Google\n* Lena Quist\n* Ken Museth, Curator\n* Erik Strauss (Netspool)\n\nAll agreed.";
        assert_eq!(found(list), ["Animal Fold Ltd", "Weftdesk", "Daly Analytics", "Google", "Netspool"]);
        let line = "Present: Ann Lee (Brightwater), Bob Cole (chair), Dana Ortiz (Harbour of Ossel) and Erik Strauss (UTZ)";
        assert_eq!(found(line), ["Brightwater", "Harbour of Ossel", "UTZ"]);
    }

    #[test]
    fn other_lists_name_no_bodies() {
        for text in [
            "- Ann Lee, Bob Cole\n- Dana Ortiz, Erik Strauss\n- Gordon Bradley, Ken Museth",
            "- Ann Lee - Treasurer\n- Bob Cole - Project Lead\n- Dana Ortiz - notes",
            "- Ann Lee (Weftdesk)\n- Bob Cole\n- Dana Ortiz",
            "- Buy bread - Monday\n- Sell the car, Tuesday\n- Call Ann (Friday)",
            "- Ann Lee - Monday 5 May\n- Bob Cole - Tuesday 6 May\n- Dana Ortiz - Wednesday 7 May",
            "- Ann Lee – AYE\n- Bob Cole – NAY\n- Dana Ortiz – Abstain",
            "- Ann Lee, PhD\n- Bob Cole, MBA\n- Dana Ortiz (EST)",
            "- Ann Lee (She/Her)\n- Bob Cole (He/Him)\n- Dana Ortiz (They/Them)",
            "Present: Ann Lee (she/her), Bob Cole (he/him), Dana Ortiz (remote)",
        ] {
            assert!(found(text).is_empty(), "{text}: {:?}", found(text));
        }
    }
}
