//! What is said to a request, an offer or a proposal: yes, agreed, "I'll try".

use std::ops::Range;

use super::irony::is_joke;
use super::parsed_segment::ParsedSegment;

/// An answer is hedged within so many tokens.
const HEDGE_TOKENS: usize = 6;

const YES: [&[&str]; 32] = [
    &["done"],
    &["leave", "it", "with", "me"],
    &["leave", "that", "with", "me"],
    &["will", "get"],
    &["will", "send"],
    &["doing", "it"],
    &["sure"],
    &["yes"],
    &["yep"],
    &["yeah"],
    &["yup"],
    &["ok"],
    &["okay"],
    &["absolutely"],
    &["definitely"],
    &["certainly"],
    &["of", "course"],
    &["will", "do"],
    &["on", "it"],
    &["no", "problem"],
    &["consider", "it", "done"],
    &["can", "do"],
    &["happy", "to"],
    &["i", "'ll"],
    &["i", "will"],
    &["i", "can"],
    &["you", "got", "it"],
    &["got", "it"],
    &["np"],
    &["gladly"],
    &["i", "'m", "on", "it"],
    &["my", "pleasure"],
];
const AGREED: [&[&str]; 44] = [
    &["agreed"],
    &["agree"],
    &["sounds"],
    &["works"],
    &["+1"],
    &["+", "1"],
    &[":", "+", "1"],
    &["let", "'s", "do"],
    &["lets", "do"],
    &["deal"],
    &["good", "idea"],
    &["makes", "sense"],
    &["i", "agree"],
    &["yes"],
    &["yeah"],
    &["great"],
    &["yep"],
    &["yup"],
    &["perfect"],
    &["ok"],
    &["okay"],
    &["fine"],
    &["cool"],
    &["sure"],
    &["good"],
    &["true"],
    &["👍"],
    &["👌"],
    &["✅"],
    &["do", "it"],
    &["go", "for", "it"],
    &["go", "ahead"],
    &["approved"],
    &["no", "objection"],
    &["no", "objections"],
    &["i", "'m", "fine"],
    &["i", "'m", "in"],
    &["i", "'m", "ok"],
    &["count", "me", "in"],
    &["same"],
    &["right"],
    &["all", "right"],
    &["alright"],
    &["done"],
];

fn opens_with(parsed: &ParsedSegment<'_>, sentence: &Range<usize>, phrases: &[&[&str]]) -> bool {
    let text = &parsed.text;
    let opened = phrases.iter().any(|phrase| {
        phrase
            .iter()
            .enumerate()
            .all(|(i, word)| sentence.start + i < sentence.end && text.word(sentence.start + i) == *word)
    });
    let against = sentence.clone().any(|at| {
        // "Sure, if you like" is said out of courtesy.
        let is_condition = text.word(at) == "if"
            && !(text.word(at + 1) == "you"
                && text.is_any(at + 2, &["like", "want", "wish", "prefer", "insist"]));
        let denies = matches!(text.word(at), "n't" | "not" | "but" | "cannot" | "?" | "unless");
        denies || is_condition || is_joke(text.word(at))
    });
    opened && !against
}

/// "Sure, will do", "on it", "I'll send it".
pub(super) fn agrees_to_do(parsed: &ParsedSegment<'_>, sentence: &Range<usize>) -> bool {
    opens_with(parsed, sentence, &YES) && !sentence.clone().take(HEDGE_TOKENS).any(|at| hedges(parsed, at))
}

/// "I'll try.", "I'll see what I can do".
pub(super) fn hedges(parsed: &ParsedSegment<'_>, at: usize) -> bool {
    let text = &parsed.text;
    let verb = at + 1;
    text.is_any(at, &["'ll", "will"])
        && match text.word(verb) {
            "try" => !text.is_word(verb + 1) || text.is_any(verb + 1, &["my", "our"]) || text.ends_line(verb),
            "see" => text.is_any(verb + 1, &["what", "if", "whether", "how"]),
            _ => false,
        }
}

/// "Agreed", "sounds good", "works for me".
pub(super) fn agrees_that(parsed: &ParsedSegment<'_>, sentence: &Range<usize>) -> bool {
    opens_with(parsed, sentence, &AGREED)
}

/// "You do it please", "you, please", "yes please": what the other offered is left to them.
pub(super) fn hands_over(parsed: &ParsedSegment<'_>, sentence: &Range<usize>) -> bool {
    const HANDS: [&[&str]; 5] =
        [&["you", "do"], &["you", "please"], &["you", ",", "please"], &["please", "do"], &["yes", "please"]];
    opens_with(parsed, sentence, &HANDS)
}

/// Whether an answer opens with an acceptance of whatever kind.
pub(super) fn accepts(parsed: &ParsedSegment<'_>, answer: &Range<usize>) -> bool {
    const MINE: [&[&str]; 6] = [
        &["mine"],
        &["ill"],
        &["you", "'ll", "have", "it"],
        &["i", "do", "it"],
        &["i", "take", "it"],
        &["i", "'m", "doing"],
    ];
    agrees_to_do(parsed, answer) || agrees_that(parsed, answer) || opens_with(parsed, answer, &MINE)
}
