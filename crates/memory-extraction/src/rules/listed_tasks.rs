//! Tasks of a list of actions that nobody is named for: "Everyone: read the draft by Friday", "Publish the post". Where one item of a
//! list is a commitment, so is every other one that says in the imperative what is to be done.

use std::ops::Range;

use memory_core::event::Category;

use super::by_form;
use super::deadlines;
use super::draft::Draft;
use super::draft_index::DraftIndex;
use super::event_context::EventContext;
use super::layout::{Block, Form};
use super::own_tasks::begins_with_verb;
use super::parsed_segment::ParsedSegment;
use super::people::Roster;
use super::sections::Section;

/// Who is to do it, or what it is about, has no more words: "All board members:".
const LABEL_WORDS: usize = 4;

/// Adds the tasks of lists of actions, but where their words tell an event already.
pub(super) fn add(parsed_segments: &[ParsedSegment<'_>], roster: &Roster, drafts: &mut Vec<Draft>) {
    let index = DraftIndex::of(drafts);
    let mut found = Vec::new();
    for parsed in parsed_segments.iter().filter(|parsed| !parsed.context_only) {
        let is_taken_on = |block: &Block| {
            let told = index.meeting(parsed.segment, &block.bytes);
            told.into_iter().any(|at| drafts[at].category == Category::Commitment)
        };
        let lists = parsed.layout.blocks.chunk_by(|block, next| is_listed(block) && is_listed(next));
        for list in lists.filter(|list| list.iter().all(is_listed) && list.iter().any(is_taken_on)) {
            let context = EventContext { parsed, roster };
            let tasks = list.iter().filter(|block| is_task(&parsed.text.raw[block.bytes.clone()]));
            found.extend(tasks.map(|block| draft_of(&context, &block.bytes)));
        }
    }
    by_form::add(found, |_| false, drafts);
}

fn is_listed(block: &Block) -> bool {
    matches!(block.form, Form::Item { checked: None | Some(false), .. })
        && block.section == Section::Prior(Category::Commitment)
}

/// "Review the changes", "Comms team: publish the post".
fn is_task(words: &str) -> bool {
    let task = match words.split_once(": ") {
        Some((label, task)) if label.split_whitespace().count() <= LABEL_WORDS => task,
        _ => words,
    };
    begins_with_verb(task) && task.trim().contains(' ') && !words.trim_end().ends_with('?')
}

fn draft_of(context: &EventContext<'_, '_>, bytes: &Range<usize>) -> Draft {
    let parsed = context.parsed;
    let due = deadlines::due(&parsed.text.raw[bytes.clone()], parsed.dates_at(bytes.start));
    by_form::draft(context, Category::Commitment, &parsed.text.tokens_in(bytes), None, due)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_says_in_the_imperative_what_is_to_be_done() {
        for words in [
            "Review the changes and vote on Slack.",
            "All Board Members: Review the changes",
            "Comms team: publish the post",
            "Website: update the opening hours",
        ] {
            assert!(is_task(words), "{words}");
        }
        for words in [
            "The budget is short",
            "Board: no objections",
            "Review",
            "Send it to the lawyer?",
            "What we said about the new hall last time: rent it",
        ] {
            assert!(!is_task(words), "{words}");
        }
    }
}
