//! Notes and questions of an invented office: English sentences in which people take things on, so that events are
//! found in them.

use measuring::random::Random;

const PEOPLE: [&str; 10] = [
    "Alice Chen",
    "Bob Martinez",
    "Carol Diaz",
    "Dan Okafor",
    "Erin Walsh",
    "Farid Haddad",
    "Grace Kim",
    "Hugo Lind",
    "Ines Prado",
    "Jonas Weber",
];
const PROJECTS: [&str; 8] =
    ["Apollo", "Borealis", "Cascade", "Delphi", "Ember", "Fathom", "Granite", "Harbor"];
const THINGS: [&str; 15] = [
    "API design",
    "budget",
    "schema migration",
    "release notes",
    "load test",
    "login page",
    "billing export",
    "search index",
    "backup plan",
    "contract",
    "training set",
    "vendor list",
    "incident report",
    "mobile client",
    "data retention policy",
];
const VERBS: [&str; 10] = [
    "finish",
    "review",
    "rewrite",
    "present",
    "test",
    "document",
    "ship",
    "estimate",
    "clean up",
    "hand over",
];
const DAYS: [&str; 4] = ["Monday", "Friday", "the end of the month", "March 21"];
const REASONS: [&str; 7] = [
    "because the customer asked for it",
    "after the outage in March",
    "before the audit",
    "as the old one is too slow",
    "so that support can answer faster",
    "since the licence runs out",
    "to unblock the design team",
];

/// A note of two sentences, about 45 tokens; no other number has the same.
pub fn note(number: u64) -> String {
    let mut random = Random::of(7, number);
    let author = random.below(PEOPLE.len());
    let other = (author + 1 + random.below(PEOPLE.len() - 1)) % PEOPLE.len();
    let ticket = random.pick(&["AX", "BX", "CX"]);
    format!(
        "{} will {} the {} of project {} by {} {}. {} asked about the {} and ticket {ticket}-{number}.",
        PEOPLE[author],
        random.pick(&VERBS),
        random.pick(&THINGS),
        random.pick(&PROJECTS),
        random.pick(&DAYS),
        random.pick(&REASONS),
        PEOPLE[other],
        random.pick(&THINGS),
    )
}

/// A question about such notes, of which there are so many.
pub fn question(number: u64, notes: u64) -> String {
    let mut random = Random::of(11, number);
    match random.below(4) {
        0 => format!("What will {} do about the {}?", random.pick(&PEOPLE), random.pick(&THINGS)),
        1 => format!("Who works on project {}?", random.pick(&PROJECTS)),
        2 => format!("status of the {}", random.pick(&THINGS)),
        _ => format!("ticket {}-{}", random.pick(&["AX", "BX", "CX"]), random.bits() % notes.max(1)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn notes_differ_and_are_the_same_each_time() {
        let notes: HashSet<String> = (0..1_000).map(note).collect();
        assert_eq!(notes.len(), 1_000);
        assert!(notes.contains(&note(999)));
        assert!((0..50).map(|n| question(n, 10)).collect::<HashSet<_>>().len() > 20);
    }
}
