//! Clauses of one sentence that are statements of their own: "fence painted, will oil the gate on Friday", "Ann runs payroll, Bert is
//! retired".

use std::ops::Range;

use memory_language::calendar_words::{CalendarWord, calendar_word};

use super::lists;
use super::parsed_segment::ParsedSegment;
use super::verbs::{self, Class};

/// A day stands at most so many tokens behind its verb.
const DAY_WITHIN_TOKENS: usize = 16;
/// A label at the head of a note has no more tokens.
const LABEL_TOKENS: usize = 6;
/// "the back door is stuck": a subject has no more words before its verb.
const SUBJECT_TOKENS: usize = 3;

/// Whether at `at`, behind a comma that ends `before`, a statement begins that leaves out its subject, or the article of it.
pub(super) fn begins_bare(parsed: &ParsedSegment<'_>, before: &Range<usize>, at: usize) -> bool {
    let is_state = || is_without_subject(parsed, before) && is_bare_state(parsed, at);
    let opens = is_future(parsed, at) || is_going_on(parsed, before, at) || is_state();
    opens && tells(parsed, before)
}

/// Whether clauses of one sentence tell of different doers, or of what is done and what is still to do, so that neither's day or doer
/// is the other's.
pub(super) fn are_apart(parsed: &ParsedSegment<'_>, clauses: &[Range<usize>]) -> bool {
    clauses.windows(2).any(|pair| {
        let (first, next) = (&pair[0], &pair[1]);
        let subject = |clause: &Range<usize>| parsed.person(clause.start).map(|mention| mention.entity);
        let is_joined = parsed.text.is_any(next.start - 1, &[",", "/", "."]);
        let are_two = subject(first).zip(subject(next)).is_some_and(|(one, other)| one != other);
        is_joined && (are_two || begins_bare(parsed, first, next.start))
    })
}

/// "will oil the gate", "going to call them".
fn is_future(parsed: &ParsedSegment<'_>, at: usize) -> bool {
    let text = &parsed.text;
    let verb = match text.word(at) {
        "will" | "shall" | "gonna" if parsed.mention(at).is_none() => at + 1,
        "going" if text.word(at + 1) == "to" => at + 2,
        _ => return false,
    };
    let verb = verb + usize::from(text.is_any(verb, &["also", "then", "now", "just", "still", "probably"]));
    text.is_word(verb) && !text.is_capitalised(verb) && !text.is_any(verb, &["the", "a", "of", "and"])
}

/// "ordering a new one tomorrow": going on, with a day that is still to come.
fn is_going_on(parsed: &ParsedSegment<'_>, before: &Range<usize>, at: usize) -> bool {
    let text = &parsed.text;
    if !verbs::of(text.word(at)).is_some_and(|verb| verb.ing && verb.class == Class::Deed) {
        return false;
    }
    let stop = text.tokens.len().min(at + DAY_WITHIN_TOKENS);
    let mut words = (at + 1..stop).take_while(|at| !text.is_any(*at, &[",", ";", ".", "!", "?"]));
    // "The team fixed it, closing the ticket on Friday" tells of one day.
    let is_note = is_without_subject(parsed, before);
    words.any(|at| {
        let word = text.word(at);
        matches!(word, "tomorrow" | "tonight" | "next")
            || (is_note && matches!(calendar_word(word), Some((CalendarWord::Weekday(_), _))))
    })
}

/// "ladder is cracked", "valve still leaks": in a note the article is left out.
fn is_bare_state(parsed: &ParsedSegment<'_>, at: usize) -> bool {
    const NO_SUBJECT: [&str; 22] = [
        "who", "which", "that", "what", "where", "when", "as", "if", "so", "and", "or", "but", "because",
        "than", "to", "in", "on", "for", "with", "there", "here", "how",
    ];
    let text = &parsed.text;
    let is_subject = |at: usize| {
        text.is_word(at)
            && !text.is_capitalised(at)
            && !text.is_any(at, &NO_SUBJECT)
            && !verbs::is_finite(text.word(at))
    };
    let Some(verb) = (at + 1..=at + SUBJECT_TOKENS).find(|at| !is_subject(*at)) else { return false };
    let state = text.is_any(verb, &["is", "are", "was", "were", "has", "have"])
        || verbs::of(text.word(verb)).is_some_and(|verb| verb.third && verb.class == Class::Harm);
    is_subject(at) && state
}

/// Whether a stretch says something whole, so that what follows its comma goes on with something else; an aside does not.
fn tells(parsed: &ParsedSegment<'_>, clause: &Range<usize>) -> bool {
    const SUBORDINATE: [&str; 24] = [
        "if", "when", "whenever", "once", "after", "before", "unless", "until", "as", "while", "although",
        "though", "since", "because", "whoever", "whatever", "what", "where", "who", "which", "whose", "in",
        "how", "for",
    ];
    let text = &parsed.text;
    let mut commas = clause.clone().filter(|at| text.word(*at) == ",");
    let first_end = commas.clone().next().unwrap_or(clause.end);
    let opens_aside = |comma: usize| text.is_any(comma + 1, &SUBORDINATE);
    let first = behind_label(parsed, &(clause.start..first_end));
    !first.is_empty()
        && !text.is_any(first.start, &SUBORDINATE)
        && !commas.any(opens_aside)
        && (is_without_subject(parsed, &first) || has_subject_and_verb(parsed, &first))
}

/// "sent the invoice", "greenhouse: fan replaced": a deed whose doer is not said.
fn is_without_subject(parsed: &ParsedSegment<'_>, clause: &Range<usize>) -> bool {
    let text = &parsed.text;
    let end = clause.clone().find(|at| text.word(*at) == ",").unwrap_or(clause.end);
    let first = behind_label(parsed, &(clause.start..end));
    let done = |at: usize| {
        let word = text.word(at);
        parsed.mention(at).is_none()
            && match verbs::of(word) {
                Some(verb) => (verb.past || verb.participle) && verb.class != Class::Idle,
                None => word.len() > 4 && word.ends_with("ed") && !lists::NOT_VERBS.contains(word),
            }
    };
    let is_led =
        |at: usize| parsed.mention(at).is_some() || text.is_any(at, &["i", "we", "he", "she", "they"]);
    !first.is_empty() && (done(first.start) || (done(first.end - 1) && !is_led(first.start)))
}

/// "I painted it", "ladder is cracked", "the valve still leaks".
fn has_subject_and_verb(parsed: &ParsedSegment<'_>, clause: &Range<usize>) -> bool {
    let text = &parsed.text;
    let is_be = |at: &usize| text.is_any(*at, &["is", "are", "was", "were", "has", "have", "been", "'s"]);
    let be = clause.clone().find(is_be).filter(|be| *be > clause.start);
    // "the team led by Ann" does nothing yet.
    let is_led_by = |at: usize| text.word(at + 1) == "by" && verbs::is_finite(text.word(at)) && be.is_none();
    if clause.clone().any(is_led_by) {
        return false;
    }
    parsed.begins_statement(clause.start)
        || is_bare_state(parsed, clause.start)
        || be.is_some_and(|be| !(clause.start..be).any(|at| text.is_any(at, &["who", "which", "that"])))
}

/// What stands behind "greenhouse:", "Emeka —".
fn behind_label(parsed: &ParsedSegment<'_>, clause: &Range<usize>) -> Range<usize> {
    let text = &parsed.text;
    let head = clause.start..clause.end.min(clause.start + LABEL_TOKENS);
    let is_mark = |at: &usize| text.is_any(*at, &[":", "–", "—"]) || is_dash(parsed, *at);
    let mark = head.skip(1).rfind(is_mark);
    mark.map_or(clause.start, |mark| mark + 1)..clause.end
}

fn is_dash(parsed: &ParsedSegment<'_>, at: usize) -> bool {
    parsed.text.word(at) == "-" && !parsed.text.touches_next(at)
}

#[cfg(test)]
mod tests {
    use super::super::people::{Roster, Sightings};
    use super::super::sentences::{clauses, sentences};
    use super::super::{layout, words};
    use super::*;

    /// The clauses of a text with `|` between them, and whether they stand apart.
    fn cut(text: &str) -> (String, bool) {
        let mut seen = Sightings::default();
        for name in ["Agnieszka", "Bert", "Raj"] {
            seen.see(name, true);
        }
        let layout = layout::read(text, &std::collections::HashSet::new());
        let mut parsed = ParsedSegment::new(0, words::Text::new(text, text.len()), layout);
        parsed.find_mentions(&Roster::of_people(&seen), Vec::new());
        let mut all = Vec::new();
        let mut is_apart = false;
        for sentence in sentences(&parsed.text, &(0..text.len())) {
            let parts = clauses(&parsed, &sentence);
            is_apart |= are_apart(&parsed, &parts);
            all.extend(
                parts.iter().map(|part| text[parsed.text.bytes(part)].trim_end_matches('.').to_owned()),
            );
        }
        (all.join(" | "), is_apart)
    }

    #[test]
    fn what_is_still_to_do_is_a_clause_of_its_own_behind_what_was_done() {
        for text in [
            "I painted the fence, | will oil the gate on Friday",
            "fence painted, | will oil the gate on Friday",
            "gutters cleaned, | ladder is cracked, | will order felt on Friday",
            "fixed the pump, | valve still leaks, | ordering a new one tomorrow",
            "Sent the invoice, no reply yet, | will call them on Thursday.",
            "fan replaced. | will recalibrate Monday",
            "closed the ticket / | will help Bert",
            "Agnieszka now runs payroll, | Bert is retired.",
        ] {
            let whole = text.replace("| ", "");
            let expected = text.replace(", |", " |").replace(". |", " |").replace(" / |", " |");
            assert_eq!(cut(&whole), (expected.trim_end_matches('.').to_owned(), true), "{whole}");
        }
    }

    #[test]
    fn an_aside_between_a_subject_and_its_verb_cuts_nothing() {
        for text in [
            "Raj, the lead for years, will send it on Friday",
            "The team led by Bert, the architect, will draw it on Friday",
            "The supplier, who delivered late, will replace it on Friday",
            "If the roof is still wet, will move inside",
            "Bert closed the ticket, leaving the rest to us",
            "The crew fixed the pump, closing the road on Friday",
        ] {
            assert_eq!(cut(text), (text.to_owned(), false), "{text}");
        }
        let (clauses, is_apart) = cut("Raj, the lead since it was founded, will send it on Friday");
        assert!(!is_apart && clauses.ends_with("founded, will send it on Friday"), "{clauses}");
    }
}
