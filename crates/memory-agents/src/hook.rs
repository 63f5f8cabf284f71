//! What a host gives to a hook on standard input, and what it takes from it.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Value, json};

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
}

impl HookInput {
    /// Fails with the reason where it is no object of JSON, or a field has another type.
    pub fn parse(given: &[u8]) -> Result<Self, serde_json::Error> {
        let fields: serde_json::Map<String, Value> = serde_json::from_slice(given)?;
        serde_json::from_value(Value::Object(fields))
    }
}

/// The output with which a host adds a text to the conversation.
pub fn added(event_name: &str, text: &str) -> Value {
    let text: String = text.chars().take(CONTEXT_MAX_CHARS).collect();
    json!({ "hookSpecificOutput": { "hookEventName": event_name, "additionalContext": text } })
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
        let out = added("SessionStart", &"ä".repeat(20_000));
        let text = out["hookSpecificOutput"]["additionalContext"].as_str().expect("a text");
        assert_eq!(text.chars().count(), CONTEXT_MAX_CHARS);
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
