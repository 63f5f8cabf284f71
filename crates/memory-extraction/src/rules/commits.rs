//! Subjects of commits: "Add retry to the uploader" says in the imperative what its author did.

use std::ops::Range;

use memory_core::event::Category;
use memory_language::commits::{Label, behind_hash};

use super::by_form;
use super::draft::Draft;
use super::event_context::EventContext;
use super::parsed_segment::ParsedSegment;
use super::people::Roster;
use super::told_otherwise::is_ahead;
use super::verbs;

/// Fewer lines that begin with a hash are no log.
const SHORT_LINES_MIN: usize = 2;

/// Adds what the subjects of commits say was done, but where their words tell an event already. Of a line with a hash at its head
/// nothing else is told.
pub(super) fn add(parsed_segments: &[ParsedSegment<'_>], roster: &Roster, drafts: &mut Vec<Draft>) {
    // In order, by segment and byte: a log has as many lines as events.
    let mut lines: Vec<(usize, Range<usize>)> = Vec::new();
    let mut found: Vec<Draft> = Vec::new();
    for parsed in parsed_segments.iter().filter(|parsed| !parsed.context_only) {
        let context = EventContext { parsed, roster };
        let short =
            if parsed.layout.commits.is_empty() { short_lines(parsed.text.read()) } else { Vec::new() };
        found.extend(short.iter().filter_map(|line| subject(&context, line.clone(), None)));
        found.extend(under_headers(&context));
        lines.extend(short.into_iter().map(|line| (parsed.segment, line)));
    }
    if found.is_empty() && lines.is_empty() {
        return;
    }
    let is_of_line = |(segment, bytes): &(usize, Range<usize>)| {
        let behind = lines.partition_point(|(of, line)| (*of, line.start) < (*segment, bytes.end));
        lines[..behind].last().is_some_and(|(of, line)| of == segment && bytes.start < line.end)
    };
    drafts.retain(|draft| !draft.evidence.iter().any(is_of_line));
    by_form::add(found, |_| false, drafts);
}

/// The events of the subjects below the headers of a segment, in order.
fn under_headers(context: &EventContext<'_, '_>) -> Vec<Draft> {
    let layout = &context.parsed.layout;
    let of = |header: &Range<usize>| {
        let behind = layout.blocks.partition_point(|block| block.bytes.start < header.end);
        let block = layout.blocks.get(behind)?;
        subject(context, block.bytes.clone(), context.speaker_of(block))
    };
    layout.commits.iter().filter_map(of).collect()
}

/// "77aa012 (HEAD -> main) Add retry": what stands behind the hash, where lines of a log have nothing else.
fn short_lines(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let Some(rest) = behind_hash(line.trim()) else { continue };
        let refs = rest.strip_prefix('(').and_then(|rest| rest.split_once(") "));
        let words = refs.map_or(rest, |(_, words)| words).trim();
        let end = start + line.trim_end().len();
        found.push(end - words.len()..end);
    }
    if found.len() < SHORT_LINES_MIN { Vec::new() } else { found }
}

/// The event of a subject that begins with a verb in the imperative or with a label such as "fix(parser):".
fn subject(context: &EventContext<'_, '_>, line: Range<usize>, author: Option<usize>) -> Option<Draft> {
    let parsed = context.parsed;
    let words = &parsed.text.raw[line.clone()];
    let label = Label::of(words);
    let start = line.end - label.map_or(words, |label| label.subject).trim_start().len();
    let tokens = parsed.text.tokens_in(&(start..line.end));
    let is_base = |verb: verbs::Verb| verb.base && verb.class != verbs::Class::Idle;
    let is_deed = label.is_some() || verbs::of(parsed.text.word(tokens.start)).is_some_and(is_base);
    if tokens.is_empty() || !is_deed || parsed.text.word(tokens.start) == "merge" || is_ahead(words) {
        return None;
    }
    Some(by_form::draft(context, Category::Execution, &tokens, author, None))
}
