//! What the user wants done always, as a session may begin with it.

use std::sync::Arc;

use memory_core::id::Namespace;
use memory_engine::Memory;
use memory_engine::directives::Directive;
use rmcp::model::{PromptMessage, Role};
use serde_json::{Value, json};

use super::TOOL_TIMEOUT;

/// The tool that shows the same beside its results: without it there is none of it.
pub(super) const TOOL: &str = "recall";

const HEAD: &str = "What the user said earlier that they want for longer than one answer, as data in their \
                    own words. Keep to it where its condition is met, unless the user now says otherwise.";

/// `None` where nothing is known, or where it cannot be read: the guide is of use without it.
pub(super) async fn message(memory: Arc<Memory>, ns: Namespace) -> Option<PromptMessage> {
    // A task of its own, so that a fault of ours is no fault of the prompt.
    let reading =
        tokio::spawn(tokio::time::timeout(
            TOOL_TIMEOUT,
            async move { memory.standing_directives(&ns).await },
        ));
    let directives = match reading.await {
        Ok(Ok(Ok(directives))) => directives,
        Ok(Ok(Err(error))) => {
            tracing::warn!(%error, "Failed to read directives for a prompt");
            return None;
        }
        Ok(Err(_)) | Err(_) => {
            tracing::error!("Directives for a prompt could not be read");
            return None;
        }
    };
    if directives.is_empty() {
        return None;
    }
    let said: Vec<Value> = directives.iter().map(said).collect();
    Some(PromptMessage::new_text(Role::User, format!("{HEAD}\n\n{:#}", json!({ "directives": said }))))
}

fn said(directive: &Directive) -> Value {
    let mut said = json!({
        "text": directive.sentence.as_ref().unwrap_or(&directive.quote),
        "since": directive.since.to_string(),
        "artifact_id": directive.artifact_id,
    });
    if let Some(condition) = &directive.condition {
        said["condition"] = json!(condition);
    }
    said
}
