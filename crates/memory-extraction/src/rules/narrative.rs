//! Narratives: an event in a sentence that can be read without the source.

use std::borrow::Cow;
use std::ops::Range;

use memory_language::text::cut;

use super::lists;
use super::names;
use super::parsed_segment::ParsedSegment;
use super::people::Known;
use super::verbs;
use super::words::{Kind, Text, begins_line};

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
    /// Whether the speaker is named before these words: then "my" is "their".
    pub(super) is_named: bool,
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
    let mut is_named = pronouns.is_named;
    let mut at = tokens.start;
    let mut end_of_last = text.tokens.get(at).map_or(0, |token| token.start);
    while at < tokens.end {
        let token = text.tokens[at];
        if token.start > end_of_last && !out.is_empty() && !out.ends_with(' ') {
            out.push(' ');
        }
        end_of_last = token.end;
        if let Some(mention) =
            parsed.person(at).filter(|mention| mention.tokens.start == at && mention.tokens.end <= tokens.end)
        {
            let known = &people[mention.entity].name;
            let bytes = text.bytes(&mention.tokens);
            // "Mr and Mrs Aziz".
            let is_of_two = at > tokens.start + 1
                && text.is_any(at - 1, &["and", "&"])
                && [at, at - 2].into_iter().all(|at| names::is_title(text.word(at)));
            let as_said = is_of_two || named.contains(&mention.entity) || text.kind(at) == Some(Kind::Email);
            out.push_str(if as_said { &text.raw[bytes.clone()] } else { known });
            named.push(mention.entity);
            is_named |= pronouns.speaker == Some(known);
            end_of_last = bytes.end;
            at = mention.tokens.end;
            continue;
        }
        match pronouns.instead(text, tokens, at, is_named) {
            Some(words) => out.push_str(&words),
            // The mark of a quoted line or of an entry.
            None if matches!(text.word(at), ">" | "*") && begins_line(text, at) && !text.touches_next(at) => {
            }
            None => out.extend(parsed.marks.without(text.raw, token.start..token.end)),
        }
        is_named |= pronouns.speaker.is_some() && matches!(text.word(at), "i" | "me");
        at += 1;
    }
    out.trim().to_owned()
}

impl Pronouns<'_> {
    /// What is told for a token that says "I", "my", "you" or the like, and for the verb behind it. `is_named` says that the
    /// speaker is named before it.
    fn instead(
        self,
        text: &Text<'_>,
        tokens: &Range<usize>,
        at: usize,
        is_named: bool,
    ) -> Option<Cow<'static, str>> {
        let me = self.speaker.and_then(|_| subject_before(text, tokens, at));
        let after_name =
            me.is_some_and(|me| me + 1 == at) || self.third.is_some_and(|(third, _)| at == third + 1);
        let is_one = me.is_some_and(|me| is_alone(text, tokens, me));
        let whose = |name: &str| if is_named { Cow::from("their") } else { format!("{name}'s").into() };
        Some(match (text.word(at), self.speaker) {
            ("i" | "me", Some(name)) => name.to_owned().into(),
            ("'ll", _) if after_name => " will".into(),
            ("'d", _) if after_name => " would".into(),
            ("'ve", _) if after_name && me.is_some() => if is_one { " has" } else { " have" }.into(),
            ("'m", _) if me.is_some() => " is".into(),
            ("am", Some(_)) if me.is_some() || text.word(at + 1) == "i" => "is".into(),
            ("have", _) if is_one => "has".into(),
            (word, _) if is_one && verbs::is_only_base(word) => verbs::third_of(word).into(),
            ("my", Some(name)) if self.asked.is_some() => format!("{name}'s").into(),
            ("my", Some(name)) => whose(name),
            ("mine", Some(name)) => format!("{name}'s").into(),
            ("your", _) if self.asked.is_some() => "their".into(),
            ("yourself", _) if self.asked.is_some() => "themselves".into(),
            ("you", _) => self.asked?.to_owned().into(),
            ("myself", Some(_)) => "themselves".into(),
            _ => self.third.filter(|(third, _)| *third == at)?.1.to_owned().into(),
        })
    }
}

/// The "I" whose verb a token is: right before it, or with an adverb between.
fn subject_before(text: &Text<'_>, tokens: &Range<usize>, at: usize) -> Option<usize> {
    const BETWEEN: [&str; 12] = [
        "also",
        "already",
        "always",
        "currently",
        "just",
        "never",
        "now",
        "only",
        "really",
        "still",
        "then",
        "usually",
    ];
    let before = at.checked_sub(1 + usize::from(at > 0 && text.is_any(at - 1, &BETWEEN)))?;
    (before >= tokens.start && text.word(before) == "i").then_some(before)
}

/// Whether the verb behind an "I" is in the present and of one: not in "Bob and I need it", "should I order it?".
fn is_alone(text: &Text<'_>, tokens: &Range<usize>, me: usize) -> bool {
    const LEADS: [&str; 14] = [
        "&", "can", "could", "did", "do", "does", "may", "might", "must", "or", "shall", "should", "will",
        "would",
    ];
    let Some(before) = me.checked_sub(1).filter(|before| *before >= tokens.start) else { return true };
    let is_joined = text.word(before) == "and" && before > tokens.start && text.is_capitalised(before - 1);
    !is_joined && !text.is_any(before, &LEADS)
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
