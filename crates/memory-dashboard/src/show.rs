//! How single things are shown: times, numbers, events, evidence in its source, tables and their pages.

use std::borrow::Cow;

use jiff::Timestamp;
use maud::{Markup, html};
use memory_core::commitment::CommitmentState;
use memory_core::event::{EndedBy, StoredEvent};
use memory_engine::recall::FoundEntity;
use memory_language::text::{cut, span_of_time};

use crate::fields::query;
use crate::visit::Visit;

/// A moment; the script shows it in the reader's own time zone. What is dated by its day alone stays so.
pub(crate) fn time(at: Timestamp) -> Markup {
    if at.as_second() % 86_400 == 0 && at.subsec_nanosecond() == 0 {
        return day(at);
    }
    html! { time datetime=(at.strftime("%Y-%m-%dT%H:%M:%SZ")) { (at.strftime("%-d %b %Y, %H:%M")) } }
}

/// A day.
pub(crate) fn day(at: Timestamp) -> Markup {
    html! { time.day datetime=(at.strftime("%Y-%m-%d")) { (at.strftime("%-d %b %Y")) } }
}

/// How long ago.
pub(crate) fn ago(at: Timestamp) -> Markup {
    let seconds = Timestamp::now().as_second() - at.as_second();
    let text = if seconds < 60 { "just now".to_owned() } else { format!("{} ago", span_of_time(seconds)) };
    html! { time.ago datetime=(at.strftime("%Y-%m-%dT%H:%M:%SZ")) title=(at.strftime("%-d %b %Y, %H:%M UTC")) { (text) } }
}

/// A number with its thousands apart.
pub(crate) fn number(n: i64) -> String {
    let digits = n.unsigned_abs().to_string();
    let mut shown = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push('\u{202f}');
        }
        shown.push(digit);
    }
    if n < 0 { format!("−{shown}") } else { shown }
}

/// So many of a thing, with the thousands apart.
pub(crate) fn counted(n: i64, noun: &str) -> String {
    memory_language::text::counted(n, noun).replacen(&n.to_string(), &number(n), 1)
}

/// Whether anything of it is to be seen: not only spaces, controls and marks without a width.
pub(crate) fn is_visible(text: &str) -> bool {
    let is_blank = |c: char| {
        c.is_whitespace()
            || c.is_control()
            || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180e}'
                | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
    };
    !text.chars().all(is_blank)
}

/// Marks that turn the direction of what follows; one of them that is not closed, or closes what it did not open, reaches beyond the
/// element that it stands in.
fn turns(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn without_turns(text: &str) -> Cow<'_, str> {
    if text.contains(turns) { text.replace(turns, "").into() } else { text.into() }
}

/// What came from elsewhere, in a line with words of ours: its direction is its own, and what is not to be seen is said to be so.
pub(crate) fn own(text: &str) -> Markup {
    if is_visible(text) {
        html! { bdi { (without_turns(text)) } }
    } else {
        html! { span.muted { "(not visible)" } }
    }
}

/// The same where there can be no markup, such as in a label for those who hear the page: between marks that isolate it, unless it
/// is of one direction anyway.
pub(crate) fn isolated(text: &str) -> String {
    let is_plain = |c: char| {
        !turns(c)
            && !matches!(c, '\u{590}'..='\u{8ff}' | '\u{200f}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{10800}'..='\u{10fff}'
                | '\u{1e800}'..='\u{1efff}')
    };
    if text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("\u{2068}{}\u{2069}", without_turns(text))
}

/// What there is nothing of yet, and what to do about it.
pub(crate) fn empty(title: &str, text: &Markup) -> Markup {
    html! { div.empty { p.empty-title { (title) } div.muted { (text) } } }
}

pub(crate) fn chip(kind: &str, text: &str) -> Markup {
    html! { span.chip.(kind) { (own(text)) } }
}

/// Words apart, as people write them.
pub(crate) fn category_name(category: &str) -> &str {
    if category == "QualityRisk" { "Quality risk" } else { category }
}

/// The state of a commitment, in a word and a colour.
pub(crate) fn state(ended: Option<&EndedBy>, due: Option<Timestamp>) -> Markup {
    let state = EndedBy::state_of(ended, due, Timestamp::now());
    let kind = match state {
        CommitmentState::Open => "info",
        CommitmentState::Done => "good",
        CommitmentState::Cancelled => "plain",
        CommitmentState::Overdue => "bad",
    };
    chip(kind, state.as_str())
}

/// The colour of a job's state.
pub(crate) fn job_state(state: &str) -> Markup {
    let kind = match state {
        "DONE" => "good",
        "FAILED" => "bad",
        "PROCESSING" => "info",
        _ => "plain",
    };
    chip(kind, &state.to_lowercase())
}

fn named(visit: &Visit, name: &str) -> Markup {
    let address = format!("{}{}", visit.at("entities"), query(&[("name", name)]));
    html! { a href=(address) { (own(name)) } }
}

/// Entities as a row of links.
pub(crate) fn entities(visit: &Visit, all: &[FoundEntity]) -> Markup {
    html! {
        @for entity in all {
            a.chip.plain href=(format!("{}{}", visit.at("entities"), query(&[("name", &entity.name)]))) {
                (own(&entity.name)) " " span.muted { (type_name(&entity.entity_type)) }
            }
            " "
        }
    }
}

pub(crate) fn type_name(entity_type: &str) -> &str {
    if entity_type == "org" { "organisation" } else { entity_type }
}

/// An event as a card: what, who, when, and the words that carry it.
pub(crate) fn event(visit: &Visit, event: &StoredEvent, at: Option<Timestamp>) -> Markup {
    let source = visit.at(&format!("memory/{}", event.artifact_id));
    let is_commitment = event.category == "Commitment";
    html! {
        article.event id=(event.id) {
            div.event-head {
                (chip(&format!("cat-{}", event.category.to_lowercase()), category_name(&event.category)))
                @if is_commitment { (state(event.ended.as_ref(), event.due_time)) }
                @if let Some(due) = event.due_time { span.muted { "due " (day(due)) } }
                @if let Some(at) = at.or(event.event_time) { span.when { (time(at)) } }
            }
            p.narrative { (own(&event.narrative)) }
            @if !event.actors.is_empty() || !event.subjects.is_empty() {
                p.people {
                    @for (n, actor) in event.actors.iter().enumerate() {
                        @if n > 0 { ", " }
                        (named(visit, &actor.name)) " " span.muted { (actor.role) }
                    }
                    @for (n, subject) in event.subjects.iter().enumerate() {
                        @if n == 0 { span.muted { @if !event.actors.is_empty() { " · " } "about " } } @else { ", " }
                        (named(visit, subject))
                    }
                }
            }
            @for evidence in event.evidence.iter().take(3) {
                blockquote {
                    (own(&cut(&evidence.quote, 280)))
                    " " a.source href=(format!("{}?from={}#at", source_of(visit, &evidence.artifact_id), part_of(evidence.start_char))) {
                        "in its text"
                    }
                }
            }
            @if let Some(ended) = &event.ended {
                p.muted {
                    @if ended.kind == "fulfils" { "Fulfilled by " } @else { "Cancelled by " }
                    @if ended.by.starts_with("art_") { a href=(source_of(visit, &ended.by)) { "a later text" } "." }
                    @else { a href=(format!("{}{}", visit.at("event"), query(&[("id", &ended.by)]))) { "a later event" } "." }
                }
            }
            @if event.evidence.is_empty() { p { a href=(source) { "The text" } } }
        }
    }
}

fn source_of(visit: &Visit, artifact: &str) -> String {
    visit.at(&format!("memory/{artifact}"))
}

/// How much of a text one page shows, in characters.
pub(crate) const PART_CHARS: usize = 20_000;

/// Where the part of a text begins that has this character.
pub(crate) fn part_of(char: usize) -> usize {
    char / PART_CHARS * PART_CHARS
}

/// A part of a text in which quotes are marked. `begins` is where in the text it begins; spans are in characters of the text
/// and may overlap.
pub(crate) fn highlighted(part: &str, begins: usize, spans: &[(usize, usize, &str)]) -> Markup {
    let ends = begins + part.chars().count();
    let mut cuts: Vec<usize> = vec![begins, ends];
    for (start, end, _) in spans {
        cuts.extend([*start, *end].into_iter().filter(|at| (begins..ends).contains(at)));
    }
    cuts.sort_unstable();
    cuts.dedup();
    let mut rest = part;
    let mut is_first = true;
    let pieces: Vec<(String, Option<(String, bool)>)> = cuts
        .windows(2)
        .map(|window| {
            let length = window[1] - window[0];
            let byte = rest.char_indices().nth(length).map_or(rest.len(), |(byte, _)| byte);
            let (piece, after) = rest.split_at(byte);
            rest = after;
            let label: Vec<&str> = spans
                .iter()
                .filter(|(start, end, _)| *start <= window[0] && window[1] <= *end)
                .map(|(_, _, label)| *label)
                .collect();
            let marked = (!label.is_empty()).then(|| (label.join("; "), std::mem::take(&mut is_first)));
            (piece.to_owned(), marked)
        })
        .collect();
    html! {
        @for (piece, marked) in &pieces {
            @match marked {
                None => (piece),
                Some((label, true)) => mark #at title=(label) { (piece) },
                Some((label, false)) => mark title=(label) { (piece) },
            }
        }
    }
}

/// A link to the next page of a list, which a script puts behind what is there; nothing where there is none.
pub(crate) fn more(address: Option<String>, list: &str) -> Markup {
    html! {
        p.more #more {
            @if let Some(address) = address {
                a.button href=(address) hx-get=(address) hx-select=(format!("#{list} > *")) hx-target=(format!("#{list}"))
                    hx-swap="beforeend" hx-select-oob="#more" { "Show more" }
            }
        }
    }
}

/// A bar of a share from 0 to 1, drawn without a style of its own.
pub(crate) fn share(share: f32, label: &str) -> Markup {
    let width = (share.clamp(0.0, 1.0) * 100.0).round();
    html! {
        svg.share viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label=(format!("{label} {share:.2}")) {
            rect.track x="0" y="0" width="100" height="6" {}
            rect.fill x="0" y="0" width=(width) height="6" {}
        }
    }
}

/// Options of a choice.
pub(crate) fn options(all: &[(&str, &str)], chosen: Option<&str>) -> Markup {
    html! {
        @for (value, name) in all {
            option value=(value) selected[chosen == Some(*value) || (chosen.is_none() && value.is_empty())] { (name) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_marked_also_where_they_overlap_or_leave_the_part() {
        let marked = highlighted("añb<c>d", 10, &[(11, 13, "one"), (12, 14, "two"), (16, 99, "three")]);
        assert_eq!(
            marked.into_string(),
            "a<mark id=\"at\" title=\"one\">ñ</mark><mark title=\"one; two\">b</mark><mark title=\"two\">&lt;</mark>c&gt;\
             <mark title=\"three\">d</mark>"
        );
        assert_eq!(highlighted("", 0, &[(0, 1, "x")]).into_string(), "");
    }

    #[test]
    fn what_others_wrote_keeps_its_direction_to_itself() {
        assert_eq!(own("a\u{2069}\u{202e}b").into_string(), "<bdi>ab</bdi>");
        for blank in ["", " \u{200b}\u{2060}", "\u{202e}", "\u{feff}\u{e0001}"] {
            assert!(own(blank).into_string().contains("(not visible)"), "{blank:?}");
        }
        assert_eq!(isolated("Ann Lee, 3"), "Ann Lee, 3");
        assert_eq!(isolated("\u{202e}Ann"), "\u{2068}Ann\u{2069}");
        assert_eq!(isolated("שלום"), "\u{2068}שלום\u{2069}");
    }

    #[test]
    fn thousands_stand_apart() {
        let shown: Vec<String> = [0, 999, 1_000, 1_234_567, -4_000].map(number).to_vec();
        assert_eq!(shown, ["0", "999", "1\u{202f}000", "1\u{202f}234\u{202f}567", "−4\u{202f}000"]);
    }
}
