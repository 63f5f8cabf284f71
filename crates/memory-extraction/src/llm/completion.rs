//! What a server's reply means. Decided by its status and its fields, never by words in a message.

use std::time::Duration;

use serde_json::Value;

use super::http::Reply;

/// A reply as far as it concerns us.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Heard {
    /// The model wrote this, and whether it had to stop before the end.
    Content {
        text: String,
        was_cut: bool,
    },
    /// The model, or a moderation layer before it, refuses.
    Refused(&'static str),
    /// The request does not fit: the parameter that is at fault, where the server names it.
    Rejected {
        status: u16,
        parameter: Option<String>,
    },
    /// The request is longer than the model reads.
    TooLong,
    RateLimited(Option<Duration>),
    Unauthorized(u16),
    /// It cannot be asked now, or not at this address.
    Away {
        reason: String,
        retry_after: Option<Duration>,
    },
    TookTooLong,
    Failed(u16),
    /// No chat completion.
    Nonsense(&'static str),
}

pub(super) fn heard(reply: &Reply) -> Heard {
    let body: Option<Value> = serde_json::from_slice(&reply.body).ok();
    let error = body.as_ref().map(|body| &body["error"]).filter(|error| error.is_object());
    // Some gateways say 200 and mean what the error's code says.
    let inner = error.and_then(|error| error["code"].as_u64()).filter(|code| (400..=599).contains(code));
    let status = match reply.status {
        200..=299 => inner.map_or(reply.status, |code| code as u16),
        status => status,
    };
    let field = |name: &str| error.and_then(|error| error[name].as_str());
    let retry_after = reply.retry_after;
    match status {
        200..=299 => match &body {
            _ if error.is_some() => Heard::Failed(500),
            Some(body) => completion(body),
            None => Heard::Nonsense("the server's reply is not JSON"),
        },
        300..=399 => Heard::Away {
            reason: format!(
                "it answers with a redirect ({status}), which is not followed: configure the address it leads to"
            ),
            retry_after: None,
        },
        401 | 403 => Heard::Unauthorized(status),
        408 | 504 => Heard::TookTooLong,
        413 => Heard::TooLong,
        429 => Heard::RateLimited(retry_after),
        400 | 422 if is_too_long(field("code")) || is_too_long(field("type")) => Heard::TooLong,
        400 if field("code") == Some("content_filter") => Heard::Refused("its filter rejects the text"),
        400 | 415 | 422 | 501 => Heard::Rejected { status, parameter: field("param").map(str::to_owned) },
        402 => Heard::Away { reason: "its account has no credit left (402)".to_owned(), retry_after },
        404 | 405 | 410 => Heard::Away {
            reason: format!(
                "it knows no such address or model ({status}): check REMEMBRANCER_LLM_URL and REMEMBRANCER_LLM_MODEL"
            ),
            retry_after: None,
        },
        502 | 503 | 529 => Heard::Away { reason: format!("it is not ready ({status})"), retry_after },
        400..=499 => Heard::Rejected { status, parameter: None },
        _ => Heard::Failed(status),
    }
}

fn is_too_long(code: Option<&str>) -> bool {
    matches!(code, Some("context_length_exceeded" | "exceed_context_size_error" | "string_above_max_length"))
}

fn completion(body: &Value) -> Heard {
    let choice = &body["choices"][0];
    let message = &choice["message"];
    let finish = choice["finish_reason"].as_str().unwrap_or_default();
    if finish == "content_filter" {
        return Heard::Refused("its filter stopped the answer");
    }
    if message["refusal"].as_str().is_some_and(|refusal| !refusal.trim().is_empty()) {
        return Heard::Refused("the model declined to read the text");
    }
    let text = match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ if message.is_object() => String::new(),
        _ => return Heard::Nonsense("the server's reply is no chat completion"),
    };
    Heard::Content { text, was_cut: finish == "length" }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn hear(status: u16, body: &str) -> Heard {
        heard(&Reply { status, retry_after: Some(Duration::from_secs(9)), body: body.into() })
    }

    #[test]
    fn kinds_are_told_by_status_and_fields_whatever_the_message_says() {
        let misleading =
            r#"{"error": {"message": "rate limit 429 unauthorized timeout content_filter", "code": null}}"#;
        assert_eq!(hear(500, misleading), Heard::Failed(500));
        assert_eq!(hear(400, misleading), Heard::Rejected { status: 400, parameter: None });
        assert_eq!(hear(401, "rate limit"), Heard::Unauthorized(401));
        assert_eq!(hear(429, "unauthorized"), Heard::RateLimited(Some(Duration::from_secs(9))));
        assert_eq!(hear(400, r#"{"error": {"code": "context_length_exceeded"}}"#), Heard::TooLong);
        assert_eq!(hear(400, r#"{"error": {"type": "exceed_context_size_error"}}"#), Heard::TooLong);
        assert_eq!(
            hear(400, r#"{"error": {"param": "max_tokens"}}"#),
            Heard::Rejected { status: 400, parameter: Some("max_tokens".to_owned()) }
        );
        assert!(matches!(hear(302, ""), Heard::Away { .. }));
        assert!(matches!(hear(503, "loading"), Heard::Away { retry_after: Some(_), .. }));
        assert_eq!(
            hear(200, r#"{"error": {"code": 429}}"#),
            Heard::RateLimited(Some(Duration::from_secs(9)))
        );
        assert_eq!(hear(200, r#"{"error": {"code": "odd"}}"#), Heard::Failed(500));
    }

    #[test]
    fn a_completion_is_a_text_a_cut_text_or_a_refusal() {
        let of = |choice: Value| hear(200, &json!({"choices": [choice]}).to_string());
        let text = |text: &str, was_cut| Heard::Content { text: text.to_owned(), was_cut };
        assert_eq!(of(json!({"message": {"content": "x"}, "finish_reason": "stop"})), text("x", false));
        assert_eq!(of(json!({"message": {"content": "x"}, "finish_reason": "length"})), text("x", true));
        assert_eq!(of(json!({"message": {"content": [{"type": "text", "text": "x"}]}})), text("x", false));
        assert_eq!(of(json!({"message": {"content": null, "tool_calls": []}})), text("", false));
        assert!(matches!(of(json!({"message": {"content": null, "refusal": "No."}})), Heard::Refused(_)));
        assert!(matches!(
            of(json!({"message": {"content": "x"}, "finish_reason": "content_filter"})),
            Heard::Refused(_)
        ));
        for nonsense in ["", "[]", "{}", r#"{"choices": []}"#, "<html>", "\u{0}"] {
            assert!(matches!(hear(200, nonsense), Heard::Nonsense(_)), "{nonsense}");
        }
        let bytes = Reply { status: 200, retry_after: None, body: vec![b'{', 0xFF, b'}'] };
        assert!(matches!(heard(&bytes), Heard::Nonsense(_)));
    }
}
