//! `briefing` on the wire, and as the text that a session begins with.

mod markdown;

use futures::FutureExt;
use jiff::Timestamp;
use memory_core::Invalid;
use memory_core::chunk::count_tokens;
use memory_engine::briefing::{BriefEvent, Briefing, LatestText, project_tag};
use memory_engine::directives::Directive;
use memory_language::text::cut;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answer, Call, Declared, Refusal, Registered, answer, arguments, register};

pub(super) const TOOL: &str = "briefing";
/// The most tokens unless others are asked for, and which may be.
pub(crate) const TOKENS: i64 = 1_500;
const TOKENS_RANGE: std::ops::RangeInclusive<i64> = 200..=10_000;
/// How much of one text is shown, in characters.
const ITEM_MAX_CHARS: usize = 300;
const LATER_MAX_CHARS: usize = 160;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// Only what belongs to the tag `project:` with this name; wishes and commitments of no project as well
    project: Option<String>,
    /// Narrow what was stored, decided and done last
    tags: Option<Vec<String>>,
    /// Bound on the answer, 200 to 10000, default 1500
    max_tokens: Option<i64>,
}

/// What a session may begin with.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Output {
    /// What the user wants for longer than one answer, in their words
    directives: Vec<Wish>,
    /// Commitments that were due in the last 30 days, the latest first
    overdue: Vec<Event>,
    /// Commitments that are open
    open: Vec<Event>,
    /// Those of both that are likely done or dropped: nine of ten are
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    likely_ended: Vec<Event>,
    /// How many the user wants in all, where that is more: recall answers those that bear on its question
    #[serde(default, skip_serializing_if = "Option::is_none")]
    directives_total: Option<i64>,
    /// How many are overdue and open in all, where that is more: recall with state lists them
    #[serde(default, skip_serializing_if = "Option::is_none")]
    overdue_total: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    open_total: Option<i64>,
    /// How many were due before that: recall with state overdue lists them, the oldest first
    #[serde(default, skip_serializing_if = "Option::is_none")]
    long_overdue_total: Option<i64>,
    /// What was stored last: texts, and conversations as one each
    latest: Vec<Latest>,
    decisions: Vec<Event>,
    /// What was done
    done: Vec<Event>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
    /// So much was left out for want of room
    #[serde(default, skip_serializing_if = "is_zero")]
    left_out: usize,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Wish {
    text: String,
    /// When it holds; always if it is not there
    #[serde(default, skip_serializing_if = "Option::is_none")]
    condition: Option<String>,
    id: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Event {
    id: String,
    summary: String,
    /// The day when it happened or was said
    date: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    due: Option<String>,
    /// What was said after it and is most likely about it
    #[serde(default, skip_serializing_if = "Option::is_none")]
    said_later: Option<Later>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Later {
    id: String,
    date: String,
    snippet: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Latest {
    /// Of the text, or of the last turn
    id: String,
    date: String,
    summary: String,
    /// How the last answer of a conversation began
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ended_with: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    conversation_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    turns: Option<i64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that the derived code calls")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

pub(super) fn tool() -> Registered {
    let declared = Declared {
        name: TOOL,
        title: "Briefing",
        description: "What to know when a conversation begins: the user's standing instructions, open \
                      and overdue commitments, recent decisions and what was done last, of a project if named.",
        read_only: true,
        destructive: false,
        idempotent: true,
    };
    register::<Input, Output>(&declared, |call, given| run(call, given).boxed())
}

async fn run(call: Call, given: rmcp::model::JsonObject) -> Result<Answer, Refusal> {
    let input: Input = arguments(TOOL, given)?;
    let tokens = match input.max_tokens {
        Some(n) if !TOKENS_RANGE.contains(&n) => {
            let (min, max) = (TOKENS_RANGE.start(), TOKENS_RANGE.end());
            return Err(Invalid::new(format!("max_tokens is {n}; it must be between {min} and {max}")).into());
        }
        given => given.unwrap_or(TOKENS) as usize,
    };
    let mut tags = input.tags.unwrap_or_default();
    if let Some(project) = &input.project {
        tags.push(project_tag(project)?);
    }
    let asked = tags.join(", ");
    let mut output = output(call.memory.briefing(&call.namespace, tags).await?);
    if !asked.is_empty() && output.latest.is_empty() {
        output.warning = Some(format!(
            "Nothing is stored with {}: what is shown holds everywhere.",
            cut(&asked, ITEM_MAX_CHARS)
        ));
    }
    answer(&fitted(output, tokens))
}

fn output(briefing: Briefing) -> Output {
    let events = |events: Vec<BriefEvent>| events.into_iter().map(event).collect();
    let total = |total: i64, shown: &[BriefEvent]| (total > shown.len() as i64).then_some(total);
    let directives_total = briefing.directives_total;
    Output {
        directives_total: (directives_total > briefing.directives.len()).then_some(directives_total as i64),
        overdue_total: total(briefing.overdue_total, &briefing.overdue),
        open_total: total(briefing.open_total, &briefing.open),
        long_overdue_total: Some(briefing.long_overdue_total).filter(|total| *total > 0),
        directives: briefing.directives.into_iter().map(wish).collect(),
        overdue: events(briefing.overdue),
        open: events(briefing.open),
        likely_ended: events(briefing.likely_ended),
        latest: briefing.latest.into_iter().map(latest).collect(),
        decisions: events(briefing.decisions),
        done: events(briefing.done),
        warning: None,
        left_out: 0,
    }
}

fn wish(directive: Directive) -> Wish {
    Wish {
        text: cut(directive.sentence.as_deref().unwrap_or(&directive.quote), ITEM_MAX_CHARS),
        condition: directive.condition,
        id: directive.artifact_id,
    }
}

fn event(event: BriefEvent) -> Event {
    Event {
        id: event.id,
        summary: cut(&event.narrative, ITEM_MAX_CHARS),
        date: day(event.at),
        due: event.due.map(day),
        said_later: event.said_later.map(|later| Later {
            id: later.artifact_id.to_string(),
            date: day(later.date),
            snippet: cut(&later.snippet, LATER_MAX_CHARS),
        }),
    }
}

fn latest(text: LatestText) -> Latest {
    let is_conversation = text.conversation_id.is_some();
    Latest {
        id: text.artifact_id,
        date: day(text.at),
        summary: cut(&text.title.filter(|_| !is_conversation).unwrap_or(text.began_with), ITEM_MAX_CHARS),
        ended_with: text.ended_with.map(|text| cut(&text, ITEM_MAX_CHARS)),
        turns: is_conversation.then_some(text.count),
        conversation_id: text.conversation_id,
    }
}

fn day(at: Timestamp) -> String {
    at.to_string().chars().take(10).collect()
}

/// So many directives count as one of the others: they are short, and hold for all that follows.
const WISHES_AS_ONE: usize = 3;

/// With as much as the bound allows. What is least and what there is most of goes first.
fn fitted(mut output: Output, tokens: usize) -> Output {
    let size = |output: &Output| count_tokens(&serde_json::to_string(output).unwrap_or_default());
    while size(&output) > tokens {
        let Output { directives, overdue, open, likely_ended, latest, decisions, done, .. } = &mut output;
        let (wishes, were_overdue, were_open) = (directives.len(), overdue.len(), open.len());
        let longest = [
            done.len(),
            decisions.len(),
            likely_ended.len(),
            open.len(),
            latest.len(),
            overdue.len(),
            directives.len().div_ceil(WISHES_AS_ONE),
        ];
        let most = longest.iter().max().copied().unwrap_or(0);
        match longest.iter().position(|length| *length == most) {
            _ if most == 0 => break,
            Some(0) => drop(done.pop()),
            Some(1) => drop(decisions.pop()),
            Some(2) => drop(likely_ended.pop()),
            Some(3) => {
                open.pop();
                output.open_total.get_or_insert(were_open as i64);
            }
            Some(4) => drop(latest.pop()),
            Some(5) => {
                overdue.pop();
                output.overdue_total.get_or_insert(were_overdue as i64);
            }
            _ => {
                directives.pop();
                output.directives_total.get_or_insert(wishes as i64);
            }
        }
        output.left_out += 1;
    }
    output
}

impl Output {
    pub(crate) fn is_empty(&self) -> bool {
        self.directives.is_empty()
            && self.overdue.is_empty()
            && self.long_overdue_total.is_none()
            && self.open.is_empty()
            && self.likely_ended.is_empty()
            && self.latest.is_empty()
            && self.decisions.is_empty()
            && self.done.is_empty()
    }
}

/// Reads the briefing for a prompt or resource.
pub(super) async fn text(
    memory: &memory_engine::Memory,
    ns: &memory_core::id::Namespace,
    project: Option<&str>,
) -> Result<String, memory_engine::EngineError> {
    let tags = project.map(project_tag).transpose()?.into_iter().collect();
    let shown = fitted(output(memory.briefing(ns, tags).await?), TOKENS as usize);
    Ok(if shown.is_empty() { "Nothing is known yet.\n".to_owned() } else { shown.markdown() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(n: usize) -> Event {
        Event {
            id: format!("evt_{n}"),
            summary: "word ".repeat(50),
            date: "2026-01-01".into(),
            due: None,
            said_later: None,
        }
    }

    #[test]
    fn a_briefing_keeps_to_its_bound_and_keeps_the_wishes_of_the_user_longest() {
        let wish = |n: usize| Wish {
            text: format!("Always answer in French, says {n}"),
            condition: None,
            id: "art_1".into(),
        };
        let full = || Output {
            directives: (0..5).map(wish).collect(),
            overdue: (0..6).map(event).collect(),
            open: (0..6).map(event).collect(),
            likely_ended: (0..6).map(event).collect(),
            decisions: (0..5).map(event).collect(),
            done: (0..5).map(event).collect(),
            ..Output::default()
        };
        for bound in [200, 500, 1_500] {
            let fitted = fitted(full(), bound);
            assert!(count_tokens(&serde_json::to_string(&fitted).unwrap()) <= bound);
            assert!(count_tokens(&fitted.markdown()) <= bound);
            assert!(fitted.left_out > 0 || bound == 1_500);
            assert!(fitted.directives.len() >= fitted.done.len());
        }
    }

    #[test]
    fn a_condition_is_said_where_the_text_does_not_say_it() {
        let wish = |text: &str| Wish {
            text: text.into(),
            condition: Some("when I ask about implementation".into()),
            id: "art_1".into(),
        };
        let shown = |text: &str| Output { directives: vec![wish(text)], ..Output::default() }.markdown();
        assert!(!shown("Format code when I ask about  implementation").contains("(when:"));
        assert!(shown("Format code when I…").ends_with("(when: when I ask about implementation) [art_1]\n"));
    }

    #[test]
    fn what_was_stored_makes_no_lines_of_its_own() {
        let output = Output {
            done: vec![Event { summary: "One.\n\nDecided:\n- two".into(), ..event(1) }],
            ..Output::default()
        };
        assert_eq!(output.markdown(), "Done:\n- 2026-01-01: One. Decided: - two [evt_1]\n");
    }
}
