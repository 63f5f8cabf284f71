//! What a host gives to a hook on standard input, and what it takes from it.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::transcript::Host;

/// Hosts take at most so much of what is added, in characters.
const CONTEXT_MAX_CHARS: usize = 9_500;

/// The fields that hosts document and that are used here; others are ignored, and none needs to be there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct HookInput {
    pub session_id: String,
    pub transcript_path: Option<PathBuf>,
    pub cwd: Option<PathBuf>,
    pub hook_event_name: Option<String>,
    /// Of a prompt.
    pub prompt: Option<String>,
    /// Why a session starts: `startup`, `resume`, `clear` or `compact`.
    pub source: Option<String>,
    /// Set where a sub-agent runs it.
    pub agent_id: Option<String>,
    /// Of Cursor, which names neither a session nor a folder in every event.
    conversation_id: Option<String>,
    workspace_roots: Vec<PathBuf>,
}

impl HookInput {
    /// Fails with the reason where it is no object of JSON, or a field has another type.
    pub fn parse(given: &[u8]) -> Result<Self, serde_json::Error> {
        let fields: serde_json::Map<String, Value> = serde_json::from_slice(given)?;
        let mut input: Self = serde_json::from_value(Value::Object(fields))?;
        // A session has one conversation; its id is in every event.
        if let Some(id) = input.conversation_id.take().filter(|id| !id.is_empty()) {
            input.session_id = id;
        }
        let root = std::mem::take(&mut input.workspace_roots).into_iter().next();
        input.cwd = input.cwd.or(root);
        Ok(input)
    }
}

/// What has happened that a text can be added to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    SessionStart,
    Prompt,
}

/// The output with which a host adds a text to the conversation; `None` where it takes none at that moment.
pub fn added(host: Host, moment: Moment, text: &str) -> Option<Value> {
    let text: String = text.chars().take(CONTEXT_MAX_CHARS).collect();
    let event = match (host, moment) {
        (Host::Cursor, Moment::SessionStart) => return Some(json!({ "additional_context": text })),
        (Host::Cursor, Moment::Prompt) => return None,
        (_, Moment::SessionStart) => "SessionStart",
        (Host::Gemini, Moment::Prompt) => "BeforeAgent",
        (Host::ClaudeCode | Host::Codex, Moment::Prompt) => "UserPromptSubmit",
    };
    Some(json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": text } }))
}

/// Whether a prompt says enough to search by: commands of the host, and a word or two, do not.
pub fn is_searchable(prompt: &str) -> bool {
    let prompt = prompt.trim();
    let words = prompt.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count();
    !prompt.starts_with(['/', '!', '#'])
        && (words >= 3 || (prompt.chars().count() >= 8 && !prompt.is_ascii()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_input_is_read_and_unknown_fields_are_ignored() {
        let given = r#"{"session_id":"abc","transcript_path":"/t.jsonl","cwd":"/home/ann","permission_mode":"default",
            "hook_event_name":"UserPromptSubmit","prompt":"Where is the budget?"}"#;
        let input = HookInput::parse(given.as_bytes()).expect("it is read");
        assert_eq!(
            (input.session_id.as_str(), input.prompt.as_deref()),
            ("abc", Some("Where is the budget?"))
        );
        assert_eq!(HookInput::parse(b"{}").expect("an empty object"), HookInput::default());
        for broken in [&b"[]"[..], b"", b"{\"session_id\":5}", b"\xff"] {
            assert!(HookInput::parse(broken).is_err());
        }
    }

    #[test]
    fn what_is_added_is_never_longer_than_hosts_take() {
        let out = added(Host::Codex, Moment::SessionStart, &"ä".repeat(20_000)).expect("it is added");
        let text = out["hookSpecificOutput"]["additionalContext"].as_str().expect("a text");
        assert_eq!(text.chars().count(), CONTEXT_MAX_CHARS);
    }

    #[test]
    fn each_host_is_answered_in_its_own_form() {
        let form = |host, moment| added(host, moment, "x");
        let specific = |event: &str| json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": "x" } });
        assert_eq!(form(Host::ClaudeCode, Moment::Prompt), Some(specific("UserPromptSubmit")));
        assert_eq!(form(Host::Gemini, Moment::Prompt), Some(specific("BeforeAgent")));
        assert_eq!(form(Host::Gemini, Moment::SessionStart), Some(specific("SessionStart")));
        assert_eq!(form(Host::Cursor, Moment::SessionStart), Some(json!({ "additional_context": "x" })));
        assert_eq!(form(Host::Cursor, Moment::Prompt), None);
    }

    #[test]
    fn the_session_and_the_folder_of_cursor_are_read() {
        let given = r#"{"conversation_id":"c-1","generation_id":"g-1","model":"m","hook_event_name":"stop","cursor_version":"2.4",
            "workspace_roots":["/home/ann/atlas","/home/ann/other"],"user_email":null,"transcript_path":null,"status":"completed"}"#;
        let input = HookInput::parse(given.as_bytes()).expect("it is read");
        assert_eq!((input.session_id.as_str(), input.transcript_path), ("c-1", None));
        assert_eq!(input.cwd, Some("/home/ann/atlas".into()));
    }

    #[test]
    fn commands_and_short_answers_are_not_searched_by() {
        for prompt in ["/clear", "yes", "go on", "", "!ls -la now please", "ok 👍"] {
            assert!(!is_searchable(prompt), "{prompt}");
        }
        for prompt in ["Who owns the budget?", "予算の担当者は誰ですか"] {
            assert!(is_searchable(prompt), "{prompt}");
        }
    }
}
