//! Questions and requests of what is to come.

use super::questions::shown;

#[test]
fn what_is_to_be_done_is_of_the_coming_day_and_habits_and_spans_are_no_times() {
    for (question, expected) in [
        ("What must be done by December 1?", "..2026-12-02"),
        ("What should have been done by December 1?", "..2025-12-02"),
        ("Plan dinner for Friday for the four of us", "2026-11-27..2026-11-28"),
        ("Find me a dentist slot between the 7th and 11th of December", "2026-12-07..2026-12-12"),
        ("What happened between the 7th and the 11th of December?", "2025-12-07..2025-12-12"),
        ("Get us something to eat for Thursday's lunch meeting", "2026-11-26..2026-11-27"),
        ("Book a hotel from the 3rd to the 5th of December", "2026-12-03..2026-12-06"),
        ("Get me the notes from Friday", "2026-11-20..2026-11-21"),
        ("Find what Ann wrote on Friday", "2026-11-20..2026-11-21"),
        ("Book the room that we had on Friday", "2026-11-20..2026-11-21"),
        ("Draft the agenda for the meeting of December 1", "2026-12-01..2026-12-02"),
        ("What is left before the December freeze?", "2026-11-22..2027-01-01"),
        ("May I release on a Friday afternoon?", ""),
        ("Draft a mail to Tove telling her chapter 2 comes on Friday", "2026-11-27..2026-11-28"),
        ("Write an invitation to the parents for Thursday", "2026-11-26..2026-11-27"),
        ("Write to Ann that the order arrived on Friday", "2026-11-20..2026-11-21"),
        ("Write a summary of Friday's meeting", "2026-11-20..2026-11-21"),
        ("Did we release on Friday?", "2026-11-20..2026-11-21"),
        ("Does the guarantee on the floats last ten years?", ""),
        ("Did Ann call last Friday night?", "2026-11-20..2026-11-21"),
        ("Write a summary of what we decided in January", "2026-01-01..2026-02-01"),
        ("What should we do about the leak Ann reported in January?", "2026-01-01..2026-02-01"),
        ("What broke in the last ten years?", "2016-11-22..2026-11-23"),
        ("What has to be done in the last week before the van comes?", ""),
    ] {
        assert_eq!(shown(question), expected, "{question}");
    }
}
