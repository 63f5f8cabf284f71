//! Those who are named as an exception, "all sent except Meyer": they have no part in what was done.

use std::ops::Range;

use memory_core::event::Category;

use super::draft::Draft;
use super::parsed_segment::ParsedSegment;

/// Takes the parts in what was done from those who are named behind "except".
pub(super) fn drop_parts(parsed_segments: &[ParsedSegment<'_>], drafts: &mut [Draft]) {
    for draft in drafts.iter_mut().filter(|draft| draft.category == Category::Execution) {
        let [(segment, bytes)] = draft.evidence.as_slice() else { continue };
        let Some(parsed) = parsed_segments.get(*segment) else { continue };
        let tokens = parsed.text.tokens_in(bytes);
        let excepted = excepted(parsed, &tokens);
        draft.actors.retain(|actor| !excepted.contains(&actor.entity));
    }
}

/// "Except Meyer and Kraus", "apart from Meyer": who is named there and nowhere before.
fn excepted(parsed: &ParsedSegment<'_>, tokens: &Range<usize>) -> Vec<usize> {
    let text = &parsed.text;
    let begin = tokens.clone().find_map(|at| match text.word(at) {
        "except" | "excluding" | "bar" => Some(at + 1 + usize::from(text.word(at + 1) == "for")),
        "apart" | "aside" if text.word(at + 1) == "from" => Some(at + 2),
        "other" if text.word(at + 1) == "than" => Some(at + 2),
        "but" if text.word(at + 1) == "not" => Some(at + 2),
        _ => None,
    });
    let Some(begin) = begin else { return Vec::new() };
    let mut found = Vec::new();
    let mut at = begin;
    while let Some(mention) =
        parsed.mention(at).filter(|mention| mention.tokens.start == at && at < tokens.end)
    {
        found.push(mention.entity);
        at = mention.tokens.end;
        if !text.is_any(at, &["and", "or", "&", ","]) {
            break;
        }
        at += 1;
    }
    let before: Vec<usize> =
        parsed.mentions_in(&(tokens.start..begin)).iter().map(|mention| mention.entity).collect();
    found.retain(|entity| !before.contains(entity));
    found
}
