//! Table rows that tell an event.

use std::ops::Range;

use memory_core::event::Category;

use super::super::event_context::EventContext;
use super::super::layout::Block;
use super::super::lists;
use super::super::narrative;
use super::super::owners::Owned;
use super::super::sections::Section;
use super::{Found, Promised, event};

/// How columns with the task itself are headed.
const TASK_COLUMNS: [&str; 18] = [
    "action",
    "action item",
    "actions",
    "task",
    "action items",
    "what",
    "deliverable",
    "next step",
    "todo",
    "item",
    "description",
    "job",
    "work",
    "measure",
    "follow-up",
    "todo item",
    "to do",
    "activity",
];

/// A table row is one event where a column names tasks, decisions or risks.
pub(super) fn row(
    context: &EventContext<'_, '_>,
    block: &Block,
    cells: &[Range<usize>],
    heads: &[String],
) -> Promised {
    let column = |names: &[&str]| {
        heads.iter().position(|head| names.contains(&head.as_str())).and_then(|at| cells.get(at))
    };
    let text = &context.parsed.text;
    let people = owners_of_row(context, cells, heads);
    let status =
        column(&["status", "state", "progress"]).map_or("", |cell| &text.raw[cell.clone()]).to_lowercase();
    let task = column(&TASK_COLUMNS);
    let (what, category) = match (
        task,
        column(&["decision", "decisions"]),
        column(&["risk", "issue", "blocker", "risks", "concern"]),
    ) {
        (_, Some(cell), _) => (cell, Category::Decision),
        (_, _, Some(cell)) => (cell, Category::QualityRisk),
        (Some(cell), ..)
            if matches!(status.as_str(), "done" | "complete" | "completed" | "shipped" | "✅" | "closed") =>
        {
            (cell, Category::Execution)
        }
        (Some(cell), ..) if people.is_some() || block.section == Section::Prior(Category::Commitment) => {
            (cell, Category::Commitment)
        }
        _ => return Promised::Nothing,
    };
    let tokens = text.tokens_in(what);
    let all = text.tokens_in(&block.bytes);
    let all = all.start + usize::from(text.word(all.start) == "|")..all.end;
    let all = all.start..all.end - usize::from(!all.is_empty() && text.word(all.end - 1) == "|");
    if tokens.clone().filter(|at| text.is_word(*at)).count() < 2 || all.is_empty() {
        return Promised::Nothing;
    }
    let owned = Owned { people: people.unwrap_or_default(), task: tokens };
    let found = Found { category, tokens: all, owned, hit: None };
    let mut draft = event(context, block, found);
    if matches!(category, Category::Decision | Category::QualityRisk) {
        draft.narrative = narrative::sentence(&format!(
            "{}: {}",
            if category == Category::Decision { "Decision" } else { "Risk" },
            &text.raw[what.clone()]
        ));
    }
    Promised::Event(Box::new(draft), block.bytes.end..block.bytes.end)
}

/// Who is to do what a row says, if a column is of that.
pub(in super::super) fn owners_of_row(
    context: &EventContext<'_, '_>,
    cells: &[Range<usize>],
    heads: &[String],
) -> Option<Vec<usize>> {
    let column = heads.iter().position(|head| lists::is_owner_column(head))?;
    Some(owners_in(context, cells.get(column)?))
}

/// The people and bodies of a cell, those too of whom only the initials stand there.
fn owners_in(context: &EventContext<'_, '_>, cell: &Range<usize>) -> Vec<usize> {
    let text = &context.parsed.text;
    let tokens = text.tokens_in(cell);
    // "Ada w/ Bo's help": it is hers.
    let with = |at: &usize| text.word(*at) == "with" || (text.word(*at) == "w" && text.word(at + 1) == "/");
    let alone = tokens.start..tokens.clone().find(with).unwrap_or(tokens.end);
    let tokens = if context.parsed.actors_in(&alone).is_empty() { tokens } else { alone };
    let named = context.parsed.actors_in(&tokens);
    if !named.is_empty() {
        return named;
    }
    let held = context.roster.by_office(text.raw[cell.clone()].trim());
    held.into_iter().chain(tokens.filter_map(|at| context.roster.by_initials(text.raw_word(at)))).collect()
}
