//! The dates that a text tells of, each towards where its own sentence points: "she wants to see me in March" is of the next
//! March, "we met in March" of the last.

use jiff::Timestamp;

use super::asked::{is_any, words};
use super::parser::Parser;
use super::{Lean, Reading};
use crate::tense::{tells_of_arranged, tells_of_done, tells_of_plans};

/// Before a date these say that something else is of it: "we need the receipts from March".
const OF_SOMETHING: [&str; 9] = ["of", "from", "since", "the", "our", "my", "your", "their", "s"];
/// Between a verb and its date: "the parents' evening is on 6 October".
const LEADS: [&str; 4] = ["on", "in", "at", "around"];

/// The dates of a text written at `reference`, names of days too ("Christmas Eve is at ours"). One that may lie on either side
/// lies where its sentence tells of what is to come or of what was done, and else towards `lean`.
pub fn told_readings(text: &str, reference: Timestamp, lean: Lean) -> Vec<Reading> {
    let read =
        |lean| Parser { names_days: true, ..Parser::new(text, Some(reference), lean, false) }.readings();
    let mut readings = read(lean);
    let leans: Vec<Lean> = readings.iter().map(|reading| lean_of(text, reading, lean)).collect();
    if leans.iter().all(|of_sentence| *of_sentence == lean) {
        return readings;
    }
    let other = read(if lean == Lean::Past { Lean::Future } else { Lean::Past });
    for (reading, _) in readings.iter_mut().zip(leans).filter(|(_, of_sentence)| *of_sentence != lean) {
        if let Some(other) = other.iter().find(|other| other.range == reading.range) {
            *reading = other.clone();
        }
    }
    readings
}

/// Where the sentence of a date points.
fn lean_of(text: &str, reading: &Reading, otherwise: Lean) -> Lean {
    let (before, after) = (&text[..reading.range.start], &text[reading.range.end..]);
    let start = before.rfind(ends_sentence).map_or(0, |at| at + 1);
    let end = after.find(ends_sentence).map_or(text.len(), |at| reading.range.end + at);
    let sentence = &text[start..end];
    if tells_of_arranged(&text[start..reading.range.start]) {
        return Lean::Future;
    }
    if tells_of_done(sentence) {
        return Lean::Past;
    }
    let mut back = words(&text[start..reading.range.start]).rev();
    let before = back.next().unwrap_or("");
    let is_of_something = is_any(before, &OF_SOMETHING);
    let verb = if is_any(before, &LEADS) { back.next().unwrap_or("") } else { before };
    let is_set = is_copula(verb) || words(&text[reading.range.end..end]).next().is_some_and(is_copula);
    if is_set || tells_of_plans(sentence) && !is_of_something { Lean::Future } else { otherwise }
}

fn ends_sentence(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '\n')
}

fn is_copula(word: &str) -> bool {
    is_any(word, &["is", "are"])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first day of what a text of 18 November 2026 tells of.
    fn told(text: &str, lean: Lean) -> String {
        let written = "2026-11-18T12:00:00Z".parse().unwrap();
        let days = told_readings(text, written, lean);
        days.iter().map(|reading| reading.start.to_string()[..10].to_owned()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_date_without_a_year_lies_where_its_sentence_points() {
        for (text, day) in [
            ("Tilda got glasses. the optician wants to see her again in march", "2027-03-01"),
            ("The review will be in March. We moved in April.", "2027-03-01 2026-04-01"),
            ("The parents' evening is on 6 January, then we talk.", "2027-01-06"),
            ("6 January is the day of the fair.", "2027-01-06"),
            ("We met the optician in March.", "2026-03-01"),
            ("Trip to Rome in May.", "2026-05-01"),
            ("I need the receipts from March.", "2026-03-01"),
            ("We should look at the figures of March.", "2026-03-01"),
            ("We'll go on 3 March 2025.", "2025-03-03"),
            ("Hospital rang: the scanner's being serviced on the 10th", "2026-12-10"),
            ("The hospital rang on the 10th", "2026-11-10"),
        ] {
            assert_eq!(told(text, Lean::Past), day, "{text}");
        }
        assert_eq!(told("We had the party in January.", Lean::Future), "2026-01-01");
        assert_eq!(told("Party in January.", Lean::Future), "2027-01-01");
    }

    #[test]
    fn a_named_day_is_told_of_where_it_is_a_day() {
        for (text, day) in [
            ("Christmas eve is at ours.", "2026-12-24"),
            // That day was a Wednesday.
            ("We will call you with the new plan on Wednesday.", "2026-11-25"),
            ("Wednesday is here and the plan is not.", "2026-11-18"),
            ("Next call: Thursday 3 December, as always the first Thursday.", "2026-12-03"),
            ("We'll be in Ghent at Christmas", "2026-12-24"),
            ("Rosalind came for Christmas.", "2025-12-24"),
            ("We need a Christmas tree and an Easter basket.", ""),
            ("The new year brings new things, and a new day.", ""),
            ("The new year's eve party was loud.", "2025-12-31"),
            ("Ask Valentine on Monday, she knows.", "2026-11-16"),
        ] {
            assert_eq!(told(text, Lean::Past), day, "{text}");
        }
    }
}
