//! Which questions are requests, on which what somebody wants may bear.

use super::*;

#[test]
fn what_asks_for_advice_may_be_borne_on_and_what_asks_for_a_fact_not() {
    for (question, may) in [
        ("The dentist has Monday at nine or Tuesday at two. Which should I take?", true),
        ("The wreck has one spot left on Sunday's boat. Shall I take it?", true),
        ("Where could we have dinner near the station?", true),
        ("Write the retry logic", true),
        ("The oven has died. What do I get instead?", true),
        ("Where do we put the tables for the dinner in June?", true),
        ("Find the accounts nobody has logged in to since Easter and disable them.", true),
        ("A colleague has a place for me in his racing crew, April to September.", true),
        ("Where did Anna say we should meet?", false),
        ("I met Tom. What does he do these days?", false),
        ("how does epoxy harden", false),
        ("Where do we keep the spare key?", false),
        ("Which Postgres version are we on?", false),
        ("What are my preferences for hotels?", false),
    ] {
        assert_eq!(may_be_borne_on(question), may, "{question}");
    }
}
