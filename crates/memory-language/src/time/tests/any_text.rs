//! What holds for every text.

use jiff::Timestamp;
use proptest::prelude::*;

use super::friday;
use crate::time::question::question_window;
use crate::time::{Lean, readings};

/// Pieces of dates, parted by spaces, and of what disturbs them.
const PIECES: &str = "the end of week day before after from to between and last next this past in within two 3 31 99 \
    2024 9999 0000 May march Sept. Friday sun summer fall Q3 q EOD close business yesterday early first half a year \
    years decade ago - – / . , : ' T Z +02:00 2024-02-29 10:30 5pm p.m. \u{301} 漢 🦀 ٣ ſ İ s th 21st by W12 recently or \
    ago few later Christmas new eve noon room vor drei Tagen gestern letzte Woche hier semaine dernière il y a trois jours \
    hace días pasado ayer ieri fa giorni tra fra settimana scorsa le 3. il 11. que viene l' d'";

fn piece() -> impl Strategy<Value = String> {
    let words = proptest::sample::select(PIECES.split(' ').collect::<Vec<_>>());
    let gaps = proptest::sample::select(vec!["", " ", "  ", "\n", "\n\n"]);
    (words, gaps).prop_map(|(word, gap)| format!("{word}{gap}"))
}

fn check(text: &str, reference: Option<Timestamp>) {
    for lean in [Lean::Future, Lean::Past] {
        let mut end = 0;
        for reading in readings(text, reference, lean) {
            assert!(
                text.get(reading.range.clone()).is_some_and(|words| !words.trim().is_empty()),
                "{reading:?}"
            );
            assert!(reading.range.start >= end, "{reading:?} overlaps the one before in {text:?}");
            assert!(reading.start < reading.end, "{reading:?} is empty in {text:?}");
            let second = jiff::SignedDuration::from_secs(1);
            assert!(reading.deadline() >= reading.start - second && reading.deadline() <= reading.end);
            end = reading.range.end;
        }
    }
    if let Some(now) = reference
        && let Some(time) = question_window(text, now)
    {
        let closeness = time.closeness(now);
        assert!((0.0..=1.0).contains(&closeness), "{closeness} for {text:?}");
        assert!((0.0..=1.0).contains(&time.fit_of_date(now)), "{text:?}");
        for window in &time.windows {
            assert!(text.get(window.phrase.clone()).is_some(), "{:?} in {text:?}", window.phrase);
        }
    }
}

#[test]
fn a_long_question_is_read_in_no_time() {
    for unit in ["vor drei Tagen ", "hier ", "two days later ", "a few days ago ", "3.11."] {
        for _ in 0..20 {
            check(&unit.repeat(2_000 / unit.len()), Some(friday()));
        }
    }
}

proptest! {
    #[test]
    fn readings_of_any_text_lie_on_its_characters(text in "\\PC{0,80}") {
        check(&text, Some(friday()));
        check(&text, None);
    }

    #[test]
    fn readings_of_any_date_words_lie_on_their_characters(
        pieces in proptest::collection::vec(piece(), 0..14),
        edge in 0..4,
    ) {
        let reference = [Some(friday()), Some(Timestamp::MIN), Some(Timestamp::MAX), None][edge as usize];
        check(&pieces.concat(), reference);
    }
}

#[test]
fn a_text_of_nothing_but_openings_is_read_in_one_pass() {
    for unit in [
        "end of ",
        "the week before ",
        "2024-",
        "last ",
        "1 ",
        "a ",
        "between May and ",
        "Fri, ",
        "vor drei ",
        "il y a ",
        "was gestern ",
        "two days later ",
        "3.11.",
    ] {
        // Looking ahead from each word to the end would take minutes.
        check(&unit.repeat(200_000 / unit.len()), Some(friday()));
    }
}
