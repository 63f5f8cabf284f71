//! Dates in texts and questions: expressions stand apart from each other, in order, within the text.
#![no_main]

use jiff::Timestamp;
use libfuzzer_sys::fuzz_target;
use memory_language::time::question::question_window;
use memory_language::time::{Lean, readings};

fuzz_target!(|data: (i64, bool, &str)| {
    let (second, leans_ahead, text) = data;
    let reference = Timestamp::from_second(second % 400_000_000_000).ok();
    let lean = if leans_ahead { Lean::Future } else { Lean::Past };
    let mut end = 0;
    for reading in readings(text, reference, lean) {
        assert!(
            reading.range.start >= end && reading.range.start < reading.range.end,
            "{:?} after {end}",
            reading.range
        );
        assert!(text.get(reading.range.clone()).is_some(), "{:?} is no part of the text", reading.range);
        assert!(reading.start <= reading.deadline(), "{reading:?}");
        end = reading.range.end;
    }
    if let Some(now) = reference {
        let _ = question_window(text, now);
    }
});
