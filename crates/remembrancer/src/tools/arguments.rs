//! Reading a call's arguments: what does not fit is said with its value and with what to write instead.

use memory_language::text::cut;
use rmcp::model::JsonObject;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use serde_path_to_error::{Path, Segment};

use super::Refusal;

/// The longest value that is repeated, in characters.
const VALUE_MAX_CHARS: usize = 60;

/// Reads the arguments into the tool's type.
pub(crate) fn arguments<In: DeserializeOwned>(tool: &str, arguments: JsonObject) -> Result<In, Refusal> {
    let given = Value::Object(arguments);
    serde_path_to_error::deserialize(&given).map_err(|error| {
        let path = error.path().to_string();
        let problem = error.inner().to_string();
        let said = match (value_at(&given, error.path()), instead(&problem)) {
            (Some(value), Some(instead)) if path != "." => {
                format!("{path} is {}. Write {instead}", cut(&value.to_string(), VALUE_MAX_CHARS))
            }
            // The error names the argument itself.
            _ if matches!(path.as_str(), "." | "?") => problem,
            _ => format!("{path}: {problem}"),
        };
        Refusal::of(json!({ "error": format!("Invalid arguments for {tool}: {said}.") }))
    })
}

/// The value where the error is.
fn value_at<'a>(given: &'a Value, path: &Path) -> Option<&'a Value> {
    path.iter().try_fold(given, |value, segment| match segment {
        Segment::Seq { index } => value.get(index),
        Segment::Map { key } => value.get(key),
        _ => None,
    })
}

/// What is to be written where another type was expected.
fn instead(problem: &str) -> Option<&'static str> {
    let (what, expected) = problem.split_once(", expected ")?;
    if !what.starts_with("invalid type") && !what.starts_with("invalid value") {
        return None;
    }
    Some(match expected {
        "f64" | "f32" => "a number such as 0.5",
        "i64" | "i32" => "a whole number such as 10",
        "u64" | "u32" | "usize" => "a whole number such as 10, not below 0",
        "a boolean" => "true or false",
        "a string" => "a text in quotes",
        "a sequence" => "a list: […]",
        _ if expected.starts_with("struct") || expected == "a map" => "an object: {…}",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its refusals are looked at")]
    struct Input {
        limit: Option<i64>,
        score: Option<f64>,
        tags: Option<Vec<String>>,
        items: Option<Vec<Item>>,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only its refusals are looked at")]
    struct Item {
        name: String,
    }

    #[test]
    fn a_refused_argument_is_named_with_its_value_and_with_what_to_write() {
        for (given, said) in [
            (json!({"score": "high"}), r#"score is "high". Write a number such as 0.5."#),
            (json!({"limit": [3]}), "limit is [3]. Write a whole number such as 10."),
            (json!({"limit": 2.5}), "limit is 2.5. Write a whole number such as 10."),
            (json!({"tags": [1]}), "tags[0] is 1. Write a text in quotes."),
            (json!({"tags": 1}), "tags is 1. Write a list: […]."),
            (json!({"items": {"name": "A"}}), r#"items is {"name":"A"}. Write a list: […]."#),
            (json!({"items": [7]}), "items[0] is 7. Write an object: {…}."),
            (json!({"items": [{}]}), "items[0]: missing field `name`."),
            (json!({"limt": 1}), "unknown field `limt`, expected one of"),
        ] {
            let Value::Object(given) = given else { unreachable!() };
            let refusal = arguments::<Input>("recall", given).unwrap_err().0;
            let error = refusal["error"].as_str().unwrap();
            assert!(error.starts_with("Invalid arguments for recall: ") && error.contains(said), "{error}");
            assert!(!["f64", "i64", "struct"].iter().any(|word| error.contains(word)), "{error}");
        }
    }
}
