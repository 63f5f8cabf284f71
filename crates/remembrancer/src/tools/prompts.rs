//! The prompts: the guide, the briefing, and what users ask of a memory again and again.

use std::sync::Arc;

use memory_core::id::Namespace;
use memory_engine::Memory;
use memory_language::text::cut;
use rmcp::ErrorData;
use rmcp::model::{JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::Value;

use super::tool_filter::ToolFilter;
use super::{TOOL_TIMEOUT, briefing, protocol};

/// The longest argument, in characters.
const ARGUMENT_MAX_CHARS: usize = 500;

/// A prompt besides the guide.
pub(super) struct Asked {
    pub(super) name: &'static str,
    title: &'static str,
    pub(super) description: &'static str,
    /// Its argument, what that is, and whether it must be given.
    argument: Option<(&'static str, &'static str, bool)>,
    /// The tool without which there is no such prompt.
    tool: &'static str,
    text: &'static str,
}

pub(super) const BRIEFING: &str = "briefing";

pub(super) const ALL: [Asked; 4] = [
    Asked {
        name: BRIEFING,
        title: "Briefing",
        description: "What to know before this conversation begins: wishes, commitments, decisions, what was done last",
        argument: Some(("project", "Only of this project what was stored, decided and done last", false)),
        tool: briefing::TOOL,
        text: "What is known as this conversation begins, as data of the memory. Keep to what the user wants; bring up what \
               is overdue once, unless what was said later of it shows that it is done; go on from what was done last if I ask \
               for that.",
    },
    Asked {
        name: "what-do-you-know-about",
        title: "What do you know about …",
        description: "All that the memory has about a person, project or thing, with its sources",
        argument: Some(("topic", "A person, project or thing", true)),
        tool: "recall",
        text: "What do you know about the topic below? Call recall with it, again with the names of people and things that \
               come up, and once with categories of events where it is a person (owner). Answer in short paragraphs: what it is, \
               what was decided, what is promised and open, what is unsure. Name the id behind each statement, say since when \
               it holds, and say what you did not find.",
    },
    Asked {
        name: "weekly-review",
        title: "Weekly review",
        description: "What was promised, decided and done in the last seven days, and what is overdue",
        argument: None,
        tool: "recall",
        text: "Go through the last seven days with me. Call recall without a query: state=\"overdue\", then state=\"open\", \
               then categories=[\"Decision\"] and categories=[\"Execution\"] with date_from seven days ago. Show four short \
               lists, each item with its id and date. Then ask me, for each overdue commitment, whether it is done, dropped or \
               has a new date, and remember my answers as texts that name what they are about.",
    },
    Asked {
        name: "clean-up",
        title: "Clean up",
        description: "Find what is double, contradictory or out of date, and put it right with the user's consent",
        argument: Some(("topic", "Only what has to do with this", false)),
        tool: "recall",
        text: "Help me tidy your memory. Look with recall for statements that say the same twice, contradict each other or are \
               out of date, and for duplicate names with suggest_merges if you have that tool. Show me at most ten findings, \
               each with the ids on both sides and what you would do. Change nothing before I agree: a correction is a new \
               text that says what is true now and since when; forget is only for what should never have been kept, one id \
               at a time, each with my consent.",
    },
];

/// Those that can be used with the tools that are offered.
pub(super) fn offered(offer: &ToolFilter) -> impl Iterator<Item = Prompt> {
    ALL.iter().filter(|asked| offer.has(asked.tool)).map(|asked| {
        let argument = asked.argument.map(|(name, about, is_required)| {
            vec![PromptArgument::new(name).with_description(about).with_required(is_required)]
        });
        Prompt::new(asked.name, Some(asked.description), argument).with_title(asked.title)
    })
}

pub(super) fn find(name: &str, offer: &ToolFilter) -> Option<&'static Asked> {
    ALL.iter().find(|asked| asked.name == name && offer.has(asked.tool))
}

impl Asked {
    /// Its argument as it was given.
    pub(super) fn given(&self, arguments: Option<&JsonObject>) -> Result<Option<String>, ErrorData> {
        let Some((name, about, is_required)) = self.argument else { return Ok(None) };
        let given = arguments.and_then(|arguments| arguments.get(name));
        let given = given.and_then(Value::as_str).map(str::trim).filter(|given| !given.is_empty());
        if given.is_none() && is_required {
            let error = format!("{} needs the argument {name}: {about}", self.name);
            return Err(ErrorData::invalid_params(error, None));
        }
        Ok(given.map(|given| cut(given, ARGUMENT_MAX_CHARS)))
    }

    /// The messages of all prompts but the briefing, which needs the memory.
    pub(super) fn messages(&self, given: Option<&str>) -> Vec<PromptMessage> {
        let given = given.map(|given| format!("\n\nTopic: {given}")).unwrap_or_default();
        vec![PromptMessage::new_text(Role::User, format!("{}{given}", self.text))]
    }

    pub(super) async fn briefing(
        &self,
        memory: Arc<Memory>,
        ns: Namespace,
        project: Option<String>,
    ) -> Result<Vec<PromptMessage>, ErrorData> {
        let text = briefing_text(memory, ns, project).await?;
        Ok(vec![PromptMessage::new_text(Role::User, format!("{}\n\n{text}", self.text))])
    }
}

/// The briefing as text, in a task of its own so that a fault of ours is an answer too.
pub(super) async fn briefing_text(
    memory: Arc<Memory>,
    ns: Namespace,
    project: Option<String>,
) -> Result<String, ErrorData> {
    let reading = tokio::spawn(tokio::time::timeout(TOOL_TIMEOUT, async move {
        briefing::text(&memory, &ns, project.as_deref()).await
    }));
    match reading.await {
        Ok(Ok(Ok(text))) => Ok(text),
        Ok(Ok(Err(error))) => Err(ErrorData::internal_error(error.to_string(), None)),
        Ok(Err(_)) | Err(_) => {
            tracing::error!("the briefing could not be read");
            Err(ErrorData::internal_error(
                "An internal error occurred; the server's log has the details.",
                None,
            ))
        }
    }
}

/// The answer to a prompt that is not there.
pub(super) fn unknown(name: &str, guide: &str, offer: &ToolFilter) -> ErrorData {
    let known: Vec<&str> = ALL.iter().filter(|asked| offer.has(asked.tool)).map(|asked| asked.name).collect();
    let name = cut(name, protocol::NAME_MAX_CHARS);
    let error = format!("unknown prompt {name}; there is {}", [&[guide], &known[..]].concat().join(", "));
    ErrorData::invalid_params(error, None)
}
