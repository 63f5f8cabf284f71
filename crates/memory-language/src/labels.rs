//! Words before a colon that name nobody who speaks: headings such as "Decision: …", and asides such as "btw: …".

/// What stands over a note, in lower case.
const HEADINGS: [&str; 56] = [
    "action",
    "actions",
    "address",
    "agenda",
    "api",
    "aside",
    "assumption",
    "attendees",
    "author",
    "background",
    "bug",
    "cause",
    "caution",
    "config",
    "constraint",
    "date",
    "deadline",
    "decided",
    "decision",
    "decisions",
    "done",
    "error",
    "fact",
    "facts",
    "feature",
    "follow-up",
    "goal",
    "hint",
    "ideas",
    "important",
    "info",
    "insight",
    "issue",
    "item",
    "learned",
    "lesson",
    "list",
    "meeting",
    "memo",
    "memory",
    "name",
    "notes",
    "outcome",
    "preference",
    "preferences",
    "project",
    "risk",
    "rule",
    "source",
    "step",
    "subject",
    "task",
    "tasks",
    "title",
    "topic",
    "user preference",
];

/// What a speaker goes on with, in lower case.
const ASIDES: [&str; 24] = [
    "also", "btw", "edit", "eta", "expected", "http", "https", "imo", "input", "link", "links", "minor",
    "nb", "nit", "optional", "output", "ps", "steps", "thought", "tldr", "url", "version", "why", "yes",
];

/// What may be either.
const BOTH: [&str; 20] = [
    "answer", "context", "example", "fix", "idea", "next", "note", "plan", "problem", "question", "reason",
    "reminder", "result", "solution", "status", "summary", "tip", "todo", "update", "warning",
];

/// Whether a word in lower case stands over what follows it, so that a label with it names nobody.
pub fn is_heading(word: &str) -> bool {
    HEADINGS.contains(&word) || BOTH.contains(&word)
}

/// Whether a speaker goes on with this label, in lower case, rather than another begins.
pub fn is_aside(label: &str) -> bool {
    ASIDES.contains(&label) || BOTH.contains(&label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_label_is_in_one_list_and_in_lower_case() {
        let mut all: Vec<&str> = [&HEADINGS[..], &ASIDES, &BOTH].concat();
        assert!(all.iter().all(|label| *label == label.to_lowercase()));
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn a_label_may_be_a_heading_an_aside_or_both() {
        for (label, heading, aside) in
            [("agenda", true, false), ("btw", false, true), ("note", true, true), ("ann", false, false)]
        {
            assert_eq!((is_heading(label), is_aside(label)), (heading, aside), "{label}");
        }
    }
}
