//! Narratives: an event in a sentence that can be read without the source.

use std::ops::Range;

use memory_language::text::cut;

use super::lists;
use super::parsed_segment::ParsedSegment;
use super::people::Known;
use super::words::{Kind, begins_line};

const NARRATIVE_MAX_CHARS: usize = 300;

/// Who the pronouns of a passage are.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pronouns<'r> {
    /// "I".
    pub(super) speaker: Option<&'r str>,
    /// "you", who does what is told; "my" is then the speaker's and "your" their own.
    pub(super) asked: Option<&'r str>,
    /// The token of a "she" or "he" and the name it stands for.
    pub(super) third: Option<(usize, &'r str)>,
}

/// The words of a range, names in full and "I" by name.
pub(super) fn told(
    parsed: &ParsedSegment<'_>,
    tokens: &Range<usize>,
    people: &[Known],
    pronouns: Pronouns<'_>,
) -> String {
    let text = &parsed.text;
    let mut out = String::new();
    let mut named: Vec<usize> = Vec::new();
    let mut at = tokens.start;
    let mut end_of_last = text.tokens.get(at).map_or(0, |token| token.start);
    while at < tokens.end {
        let token = text.tokens[at];
        if token.start > end_of_last && !out.is_empty() && !out.ends_with(' ') {
            out.push(' ');
        }
        end_of_last = token.end;
        let after_me = at > tokens.start && text.word(at - 1) == "i" && pronouns.speaker.is_some();
        let after_name = after_me || pronouns.third.is_some_and(|(third, _)| at == third + 1);
        if let Some(mention) =
            parsed.person(at).filter(|mention| mention.tokens.start == at && mention.tokens.end <= tokens.end)
        {
            let known = &people[mention.entity].name;
            let bytes = text.bytes(&mention.tokens);
            let repeat = named.contains(&mention.entity) || text.kind(at) == Some(Kind::Email);
            out.push_str(if repeat { &text.raw[bytes.clone()] } else { known });
            named.push(mention.entity);
            end_of_last = bytes.end;
            at = mention.tokens.end;
            continue;
        }
        match (text.word(at), pronouns.speaker) {
            ("i" | "me", Some(name)) => out.push_str(name),
            ("'ll", _) if after_name => out.push_str(" will"),
            ("'ve", _) if after_me => out.push_str(" has"),
            ("'m", _) if after_me => out.push_str(" is"),
            ("'d", _) if after_name => out.push_str(" would"),
            ("am", _) if after_me => out.push_str("is"),
            ("have", _) if after_me => out.push_str("has"),
            ("my", Some(name)) if pronouns.asked.is_some() => out.extend([name, "'s"]),
            ("my", Some(_)) => out.push_str("their"),
            ("your", _) if pronouns.asked.is_some() => out.push_str("their"),
            ("yourself", _) if pronouns.asked.is_some() => out.push_str("themselves"),
            ("you", _) if pronouns.asked.is_some() => out.extend(pronouns.asked),
            // The mark of a quoted line.
            (">", _) if begins_line(text, at) => {}
            ("myself", Some(_)) => out.push_str("themselves"),
            ("*" | "`" | "_", _) => {}
            _ => match pronouns.third.filter(|(third, _)| *third == at) {
                Some((_, name)) => out.push_str(name),
                None => out.push_str(text.raw_word(at)),
            },
        }
        at += 1;
    }
    out.trim().to_owned()
}

/// A whole sentence: a capital at its beginning, a mark at its end, not too long.
pub(super) fn sentence(words: &str) -> String {
    let words = words.trim().trim_end_matches([',', ';', ':', '-', '–', '—', ' ']);
    let mut chars = words.chars();
    let Some(first) = chars.next() else { return String::new() };
    let mut out: String =
        if begins_with_code(words) { first.to_string() } else { first.to_uppercase().collect() };
    out.push_str(chars.as_str());
    if !out.ends_with(['.', '!', '?', '…', ')', '"', '”']) || out.ends_with(')') {
        out.push('.');
    }
    cut(&out, NARRATIVE_MAX_CHARS)
}

/// "test_webhook_retries", "uPlot", "cli.rs": a name in code is written as it is.
fn begins_with_code(words: &str) -> bool {
    let first =
        words.split_whitespace().next().unwrap_or_default().trim_end_matches(['.', ',', ':', ';', '!', '?']);
    let has_extension = first.rsplit_once('.').is_some_and(|(name, _)| name.len() > 1 && !name.contains('.'));
    has_extension
        || first.contains(['_', '/', '(', '=', '@'])
        || first.chars().skip(1).any(char::is_uppercase)
}

/// "Alice Chen", "Alice Chen and Bob Martinez".
pub(super) fn names(people: &[Known], who: &[usize]) -> String {
    let names: Vec<&str> =
        who.iter().filter_map(|at| people.get(*at)).map(|known| known.name.as_str()).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// A task as something to do, `None` when it is named by a noun.
pub(super) fn as_verb_phrase(task: &str) -> Option<String> {
    let first = task.split_whitespace().next()?;
    let lower = first.to_lowercase();
    if lists::TASK_VERBS.contains(&lower) {
        return Some(format!("{lower}{}", &task[first.len()..]));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_begins_large_and_ends_with_a_mark() {
        assert_eq!(sentence("we agreed on it ;"), "We agreed on it.");
        assert_eq!(sentence("Was it? Yes!"), "Was it? Yes!");
        assert_eq!(sentence("i.e. later"), "I.e. later.");
        assert_eq!(sentence("done, merged"), "Done, merged.");
        for of_code in ["test_webhook_retries is flaky.", "uPlot froze.", "src/main.rs panics."] {
            assert_eq!(sentence(of_code), of_code);
        }
        assert_eq!(as_verb_phrase("Finish the draft").as_deref(), Some("finish the draft"));
        assert_eq!(as_verb_phrase("schema review"), None);
    }
}
