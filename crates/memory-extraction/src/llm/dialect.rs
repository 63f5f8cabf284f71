//! The form of requests that a server accepts. Servers differ in what they take, and some ignore unknown fields; what worked
//! is remembered.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::prompt::{self, ordered, quoted};

/// After this long the best way is tried again: a lower one may have been a bad day's.
const REMEMBERED_FOR: Duration = Duration::from_secs(3600);
/// The longest answer, in tokens.
const ANSWER_MAX_TOKENS: u32 = 4_096;

/// By what means the answer is made to have its form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rung {
    Schema,
    Object,
    /// The instructions alone.
    Prompt,
}

/// The name under which the server takes the limit of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limit {
    MaxTokens,
    MaxCompletionTokens,
    Unsaid,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dialect {
    pub(super) rung: Rung,
    limit: Limit,
    has_temperature: bool,
}

impl Default for Dialect {
    fn default() -> Self {
        Self { rung: Rung::Schema, limit: Limit::MaxTokens, has_temperature: true }
    }
}

impl Dialect {
    /// The body of a request. Its schema says in which order the model is to write.
    pub(super) fn request(self, model: &str, messages: &[Value]) -> Vec<u8> {
        let messages = Value::from(messages).to_string();
        let mut body = vec![("model", quoted(model)), ("messages", messages), ("stream", "false".to_owned())];
        match self.rung {
            Rung::Schema => {
                let form = [
                    ("name", quoted("extraction")),
                    ("strict", "true".to_owned()),
                    ("schema", prompt::schema()),
                ];
                let format = [("type", quoted("json_schema")), ("json_schema", ordered(&form))];
                body.push(("response_format", ordered(&format)));
            }
            Rung::Object => body.push(("response_format", json!({"type": "json_object"}).to_string())),
            Rung::Prompt => {}
        }
        match self.limit {
            Limit::MaxTokens => body.push(("max_tokens", ANSWER_MAX_TOKENS.to_string())),
            Limit::MaxCompletionTokens => {
                body.push(("max_completion_tokens", ANSWER_MAX_TOKENS.to_string()));
            }
            Limit::Unsaid => {}
        }
        if self.has_temperature {
            body.push(("temperature", "0".to_owned()));
        }
        ordered(&body).into_bytes()
    }

    /// The way below, for an answer that has not its form.
    pub(super) fn lower(self) -> Option<Self> {
        let rung = match self.rung {
            Rung::Schema => Rung::Object,
            Rung::Object => Rung::Prompt,
            Rung::Prompt => return None,
        };
        Some(Self { rung, ..self })
    }

    /// Another way, for a request that the server does not take; `None` when it takes none.
    pub(super) fn instead(self, parameter: Option<&str>) -> Option<Self> {
        match parameter {
            Some("temperature") if self.has_temperature => {
                return Some(Self { has_temperature: false, ..self });
            }
            Some("max_tokens") if self.limit == Limit::MaxTokens => {
                return Some(Self { limit: Limit::MaxCompletionTokens, ..self });
            }
            Some("max_completion_tokens") if self.limit == Limit::MaxCompletionTokens => {
                return Some(Self { limit: Limit::Unsaid, ..self });
            }
            _ => {}
        }
        // Not the form is at fault then: it may have it, without anything else that is asked for.
        let has_extras = self.has_temperature || self.limit != Limit::Unsaid;
        let plain = Self { rung: Rung::Schema, limit: Limit::Unsaid, has_temperature: false };
        self.lower().or_else(|| has_extras.then_some(plain))
    }
}

/// What worked last, and since when.
#[derive(Debug, Default)]
pub(super) struct Remembered(Mutex<Option<(Dialect, Instant)>>);

impl Remembered {
    pub(super) fn current(&self) -> Dialect {
        let known = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match known {
            Some((dialect, since)) if since.elapsed() < REMEMBERED_FOR => dialect,
            _ => Dialect::default(),
        }
    }

    pub(super) fn worked(&self, dialect: Dialect) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_none_or(|(before, since)| before != dialect || since.elapsed() >= REMEMBERED_FOR) {
            *known = Some((dialect, Instant::now()));
        }
    }

    /// Whether the server has ever taken a request.
    pub(super) fn is_proven(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_that_is_not_taken_is_named_otherwise_or_left_out() {
        let dialect =
            Dialect::default().instead(Some("max_tokens")).unwrap().instead(Some("temperature")).unwrap();
        let body: Value = serde_json::from_slice(&dialect.request("m", &[])).unwrap();
        assert_eq!(
            (body["max_completion_tokens"].as_u64(), body.get("max_tokens"), body.get("temperature")),
            (Some(4096), None, None)
        );
        assert_eq!(body["response_format"]["type"], "json_schema");
    }

    #[test]
    fn the_ladder_ends_at_the_plainest_request() {
        let mut dialect = Dialect::default();
        let mut steps = 0;
        while let Some(next) = dialect.instead(None) {
            dialect = next;
            steps += 1;
        }
        let body: Value = serde_json::from_slice(&dialect.request("m", &[])).unwrap();
        assert_eq!((steps, body.as_object().unwrap().len()), (5, 3), "{body}");
    }
}
