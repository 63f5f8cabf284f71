//! What a heading or a label promises about the lines under it.

use memory_core::event::Category;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Section {
    /// Nothing is promised.
    #[default]
    Open,
    /// Each item is an event of this category.
    Prior(Category),
    /// Things meant to be done, less firmly than action items.
    Planned,
    /// Names of those present.
    People,
    /// Nothing under it is an event.
    Skip,
}

type Row = (Section, &'static [&'static str]);

const TABLE: [Row; 9] = [
    (
        Section::Prior(Category::Commitment),
        &[
            "action items",
            "action item",
            "actions",
            "action points",
            "action",
            "next steps",
            "next step",
            "todo",
            "todos",
            "to do",
            "to-do",
            "to-dos",
            "to dos",
            "tasks",
            "task list",
            "follow-ups",
            "follow ups",
            "followups",
            "follow up",
            "follow-up",
            "assignments",
            "commitments",
            "open tasks",
            "owners",
            "actions and owners",
            "action items and owners",
            "ai",
            "deliverables",
            "open action items",
            "new action items",
            "homework",
        ],
    ),
    (
        Section::Prior(Category::Decision),
        &[
            "decisions",
            "decision",
            "decisions made",
            "key decisions",
            "agreed",
            "agreements",
            "resolutions",
            "resolution",
            "resolved",
            "decided",
            "decision outcome",
            "outcome",
            "decisions taken",
            "what we decided",
            "approved",
            "approvals",
            "final decision",
            "conclusions",
        ],
    ),
    (
        Section::Prior(Category::QualityRisk),
        &[
            "risks",
            "risk",
            "issues",
            "issue",
            "blockers",
            "blocker",
            "blocked",
            "concerns",
            "concern",
            "known issues",
            "problems",
            "impediments",
            "risks and issues",
            "risks & issues",
            "risks/issues",
            "risks and blockers",
            "issues and risks",
            "blockers and risks",
            "risks and concerns",
            "key risks",
            "open risks",
            "bugs",
            "quality issues",
            "challenges",
            "risks / blockers",
            "blockers / risks",
            "risks and mitigations",
            "top risks",
            "what went wrong",
            "incidents",
        ],
    ),
    (
        Section::Prior(Category::Execution),
        &[
            "done",
            "completed",
            "shipped",
            "accomplishments",
            "accomplished",
            "achievements",
            "delivered",
            "finished",
            "completed this week",
            "done this week",
            "shipped this week",
            "wins",
            "what we did",
            "completed work",
            "completed items",
            "completed tasks",
            "last week",
            "released",
            "yesterday",
            "highlights and wins",
            "what was done",
            "accomplished this week",
            "closed",
            "resolved issues",
            "milestones reached",
        ],
    ),
    (
        Section::Prior(Category::Feedback),
        &["feedback", "customer feedback", "user feedback", "review comments", "feedback received"],
    ),
    (
        Section::Prior(Category::Change),
        &[
            "changes",
            "change log of scope",
            "scope changes",
            "changes to plan",
            "plan changes",
            "schedule changes",
        ],
    ),
    (
        Section::Planned,
        &[
            "next week",
            "planned",
            "plan",
            "plans",
            "upcoming",
            "planned for next week",
            "plan for next week",
            "today",
            "plans for next week",
            "up next",
            "this week",
            "goals for next week",
            "priorities for next week",
        ],
    ),
    (
        Section::People,
        &[
            "attendees",
            "participants",
            "present",
            "in attendance",
            "attending",
            "invitees",
            "people",
            "team members",
            "absent",
            "apologies",
            "regrets",
            "who",
        ],
    ),
    (
        Section::Skip,
        &[
            "options",
            "options considered",
            "considered options",
            "alternatives",
            "alternatives considered",
            "agenda",
            "background",
            "context",
            "motivation",
            "problem statement",
            "pros",
            "cons",
            "pros and cons",
            "pros and cons of the options",
            "references",
            "links",
            "appendix",
            "glossary",
            "questions",
            "open questions",
            "decision drivers",
            "ideas",
            "parking lot",
            "out of scope",
            "non-goals",
            "goals",
            "scope",
            "introduction",
            "ingredients",
            "instructions",
            "directions",
            "method",
            "usage",
            "installation",
            "example",
            "examples",
            "table of contents",
            "contents",
            "license",
            "faq",
            "about",
            "requirements",
            "prerequisites",
            "resources",
            "further reading",
            "related",
            "see also",
            "purpose",
            "objective",
            "objectives",
            "definitions",
            "mitigations",
            "mitigation",
            "proposals",
            "getting started",
            "configuration",
            "how to",
            "steps",
            "steps to reproduce",
        ],
    ),
];

/// The section a heading opens; `None` when it is not one of the known.
pub(super) fn of_heading(heading: &str) -> Option<Section> {
    if heading.len() > 120 {
        return None;
    }
    let lower = heading.to_lowercase();
    let words: String = lower
        .chars()
        .filter(|c| {
            !matches!(c, '*' | '_' | '#' | '`') && !('\u{2190}'..='\u{1FAFF}').contains(c) && *c != '\u{fe0f}'
        })
        .collect();
    // «2. Decisions (final):» → «decisions»
    let words = words.split(['(', '[']).next().unwrap_or_default();
    let words = words.trim_start_matches(|c: char| c.is_numeric() || matches!(c, '.' | ')' | ' ' | '-'));
    let words = words.trim_matches(|c: char| c.is_whitespace() || matches!(c, ':' | '.' | '-' | '–' | '—'));
    exact(words).or_else(|| by_ending(words))
}

fn exact(words: &str) -> Option<Section> {
    TABLE.iter().find(|(_, names)| names.contains(&words)).map(|(section, _)| *section)
}

/// «Sprint 12 action items», «Open risks and blockers», «Decisions from Monday».
fn by_ending(words: &str) -> Option<Section> {
    let parts: Vec<&str> = words.split_whitespace().collect();
    if parts.len() < 2 || parts.len() > 6 {
        return None;
    }
    for length in [3, 2, 1] {
        if parts.len() > length
            && let Some(section) = exact(&parts[parts.len() - length..].join(" "))
            // A single common word at the end says too little («what is in scope», «the next plan»).
            && (length > 1
                || matches!(
                    section,
                    Section::Prior(Category::Commitment | Category::Decision | Category::QualityRisk) | Section::Skip
                ))
        {
            return Some(section);
        }
    }
    match parts[0] {
        "decisions" | "actions" | "risks" | "blockers" | "attendees" | "shipped" | "completed"
        | "alternatives" | "options" => exact(parts[0]),
        _ => None,
    }
}

/// The section of a label at the beginning of a line: «Decision: …», «AI: …».
pub(super) fn of_label(label: &str) -> Option<Section> {
    let label = label.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_')).to_lowercase();
    let section = match label.as_str() {
        "action required" | "ask" => Section::Prior(Category::Commitment),
        "rationale" | "why" | "reason" | "note" | "notes" | "impact" | "status" => Section::Open,
        _ => return exact(&label).filter(|section| !matches!(section, Section::Planned)),
    };
    Some(section)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_known_by_their_words() {
        for (heading, section) in [
            ("## Action Items", Some(Section::Prior(Category::Commitment))),
            ("3. Key decisions:", Some(Section::Prior(Category::Decision))),
            ("⚠️ Risks & Issues", Some(Section::Prior(Category::QualityRisk))),
            ("Sprint 12 action items", Some(Section::Prior(Category::Commitment))),
            ("Options considered", Some(Section::Skip)),
            ("Decisions (final)", Some(Section::Prior(Category::Decision))),
            ("The history of decisions in large and small firms", None),
            ("Migration", None),
        ] {
            assert_eq!(of_heading(heading), section, "{heading}");
        }
    }
}
