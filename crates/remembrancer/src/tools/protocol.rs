//! The answers to requests that are not of the protocol.

use memory_language::text::cut;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CompleteRequestParams, CustomRequest, ErrorCode, GetPromptRequestParams,
    GetSkillRequestParams, InitializeRequestParams, PaginatedRequestParams, ReadResourceRequestParams,
    SubscribeRequestParams, SubscriptionsListenRequestParams, UnsubscribeRequestParams,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The most of a name that an answer repeats.
pub(super) const NAME_MAX_CHARS: usize = 100;

/// The protocol library hands over as unknown also a known method whose parameters have another shape.
pub(super) fn unknown(request: CustomRequest) -> ErrorData {
    let CustomRequest { method, params, .. } = request;
    let params = params.unwrap_or_else(|| Value::Object(serde_json::Map::new()));
    let fault = match method.as_str() {
        "initialize" => misfit::<InitializeRequestParams>(params),
        "tools/call" => misfit::<CallToolRequestParams>(params),
        "prompts/get" => misfit::<GetPromptRequestParams>(params),
        "resources/read" => misfit::<ReadResourceRequestParams>(params),
        "resources/subscribe" => misfit::<SubscribeRequestParams>(params),
        "resources/unsubscribe" => misfit::<UnsubscribeRequestParams>(params),
        "subscriptions/listen" => misfit::<SubscriptionsListenRequestParams>(params),
        "completion/complete" => misfit::<CompleteRequestParams>(params),
        "skills/get" => misfit::<GetSkillRequestParams>(params),
        "tools/list" | "prompts/list" | "resources/list" | "resources/templates/list" | "skills/list" => {
            misfit::<PaginatedRequestParams>(params)
        }
        "ping" | "server/discover" => "params must be an object".to_owned(),
        _ => {
            let message = format!("Method not found: {}", cut(&method, NAME_MAX_CHARS));
            return ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None);
        }
    };
    ErrorData::invalid_params(format!("Invalid params of {method}: {fault}"), None)
}

/// What is wrong with the parameters.
fn misfit<T: DeserializeOwned>(params: Value) -> String {
    match serde_path_to_error::deserialize::<_, T>(params) {
        Ok(_) => "they are not what the method takes".to_owned(),
        Err(error) => {
            let path = error.path().to_string();
            let at = if path == "." || path == "?" { "params".to_owned() } else { path };
            let what = error.inner().to_string().replace("a map", "an object").replace("sequence", "list");
            format!("{at}: {}", cut(&what, 200))
        }
    }
}

/// Every list has one page, so no cursor was ever given out.
pub(super) fn one_page(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor) {
        None => Ok(()),
        Some(cursor) => {
            let cursor = cut(&cursor, NAME_MAX_CHARS);
            Err(ErrorData::invalid_params(
                format!("Unknown cursor {cursor:?}: the list has one page; ask for it without a cursor"),
                None,
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(method: &str, params: Value) -> (i32, String) {
        let error = unknown(CustomRequest::new(method, Some(params)));
        (error.code.0, error.message.into_owned())
    }

    #[test]
    fn a_known_method_with_misshapen_parameters_is_told_what_is_wrong_with_them() {
        for (method, params, what) in [
            (
                "tools/call",
                json!({"name": "recall", "arguments": "x"}),
                "arguments: invalid type: string \"x\", expected an object",
            ),
            ("tools/call", json!({"name": "recall", "arguments": []}), "arguments: invalid type"),
            ("tools/call", json!({"arguments": {}}), "missing field `name`"),
            ("tools/call", json!([]), "params"),
            ("prompts/get", json!({"name": 7}), "name: invalid type: integer `7`"),
            ("resources/subscribe", json!({}), "missing field `uri`"),
        ] {
            let (code, message) = refused(method, params);
            assert_eq!(code, -32602, "{message}");
            assert!(message.contains(method) && message.contains(what), "{message}");
        }
    }

    #[test]
    fn an_unknown_method_is_cut_however_long_it_is() {
        let (code, message) = refused(&"x".repeat(1_000_000), json!({}));
        assert_eq!(code, -32601);
        assert!(message.starts_with("Method not found: xxx") && message.len() < 150, "{}", message.len());
    }
}
