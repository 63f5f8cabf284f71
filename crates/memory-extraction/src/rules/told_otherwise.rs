//! Words that look like a deed or a promise and tell of neither, or of the other.

use super::verbs;

/// The words in small letters, with their apostrophes.
fn words_of(words: &str) -> Vec<String> {
    let lower = words.to_lowercase().replace('’', "'");
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != '\'');
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn begins(words: &[String], with: [&str; 2]) -> bool {
    words.len() > 1 && words[..2] == with
}

/// "I nearly booked the flights", "Got it, thank you!", "Half done: tax return".
pub(super) fn is_no_deed(words: &str) -> bool {
    let words = words_of(words);
    let is_near = |pair: &[String]| {
        matches!(pair[0].as_str(), "nearly" | "almost") && verbs::of(&pair[1]).is_some_and(|verb| verb.past)
    };
    let is_half =
        words.windows(2).any(|pair| matches!(pair[0].as_str(), "half" | "not") && pair[1] == "done");
    words[..words.len().min(6)].windows(2).any(is_near)
        || is_half
        || (words.len() <= 6 && begins(&words, ["got", "it"]))
}

/// "Pete won't bring the ladder": it is decided, and no promise; "I won't forget it" is one.
pub(super) fn is_refusal(words: &str) -> bool {
    const KEPT: [&str; 10] =
        ["forget", "fail", "miss", "let", "stop", "rest", "until", "till", "before", "later"];
    let words = words_of(words);
    let negates = |at: usize| {
        words[at] == "won't" || words[at] == "will" && words.get(at + 1).is_some_and(|next| next == "not")
    };
    let first = (0..words.len().min(5)).find(|at| negates(*at));
    let wills = words
        .iter()
        .filter(|word| matches!(word.as_str(), "will" | "won't") || word.ends_with("'ll"))
        .count();
    let is_needless = begins(&words, ["no", "need"]);
    is_needless || first.is_some() && wills == 1 && !words.iter().any(|word| KEPT.contains(&word.as_str()))
}

/// "TODO: add eviction", "will remove it later".
pub(super) fn is_ahead(words: &str) -> bool {
    words_of(words)
        .iter()
        .any(|word| matches!(word.as_str(), "todo" | "fixme" | "will" | "later" | "should" | "must"))
}

/// "09:59 Kofi closes the incident", "| 03:41 | Ann adds two nodes |": what a log tells in the present has happened.
pub(super) fn is_of_a_log(line: &str) -> bool {
    const AHEAD: [&str; 11] =
        ["will", "'ll", "to", "shall", "must", "should", "needs", "is", "are", "plans", "tomorrow"];
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '|' | '-' | '*' | '['));
    let clock =
        line.split(|c: char| c.is_whitespace() || matches!(c, '|' | ']' | ',')).next().unwrap_or_default();
    let is_clock = clock.split_once(':').is_some_and(|(hour, minute)| {
        let is_number =
            |part: &str| (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        is_number(hour) && minute.split(':').all(is_number)
    });
    let mut words = line[clock.len()..]
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|word| !word.is_empty());
    // The verb stands behind a name of up to three words.
    is_clock
        && words
            .by_ref()
            .take(4)
            .find_map(|word| {
                let lower = word.to_lowercase();
                if AHEAD.contains(&lower.as_str()) || lower == "i" || lower == "we" {
                    return Some(false);
                }
                verbs::of(&lower)
                    .is_some_and(|verb| verb.third && !verb.base && word.starts_with(char::is_lowercase))
                    .then_some(true)
            })
            .unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_will_not_be_is_no_promise() {
        for words in ["Pete won't bring the ladder on Friday.", "Ida will not order the tables."] {
            assert!(is_refusal(words), "{words}");
        }
        for words in [
            "I won't forget the ladder.",
            "Pete will bring it.",
            "I won't be there but I'll send the list.",
            "We will not stop until it is done.",
        ] {
            assert!(!is_refusal(words), "{words}");
        }
    }

    #[test]
    fn a_log_tells_what_happened() {
        for line in [
            "09:59 Kofi closes the incident",
            "| 03:41 | Sandeep adds two nodes |",
            "- 10:10 Kofi Mensah sends the all-clear",
        ] {
            assert!(is_of_a_log(line), "{line}");
        }
        for line in [
            "09:59 Kofi: I'll close it",
            "14:00 Kofi to close the incident",
            "10:10 Ann will send it",
            "Kofi closes the incident",
        ] {
            assert!(!is_of_a_log(line), "{line}");
        }
    }
}
