//! Schemas that every host understands, and arguments as hosts really send them.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

/// The schema of what a tool takes: definitions inlined, and nothing in it but types, names and descriptions.
pub(crate) fn portable<T: JsonSchema>() -> JsonObject {
    generated::<T>(SchemaSettings::draft2020_12())
}

/// The schema of what a tool answers. It is sent with every list and no model reads it, so it is brief: the answer's
/// own fields, their types and which of them always come, without words and without what is below. Clients hold
/// refusals against it too: those have an error instead of the required fields.
pub(crate) fn answered<T: JsonSchema>() -> JsonObject {
    let mut schema = generated::<T>(SchemaSettings::draft2020_12().for_serialize());
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for property in properties.values_mut() {
            *property = brief(property);
        }
    }
    if let Some(required) = schema.remove("required") {
        schema.insert("anyOf".into(), json!([{ "required": required }, { "required": ["error"] }]));
    }
    schema
}

fn brief(schema: &Value) -> Value {
    let mut brief = JsonObject::new();
    if let Some(one) = schema.get("type") {
        brief.insert("type".into(), one.clone());
    }
    if let Some(items) = schema.get("items") {
        brief.insert("items".into(), self::brief(items));
    }
    Value::Object(brief)
}

/// Takes the words away where another tool that takes the same has them.
pub(crate) fn without_words(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            // A property may have that name too.
            if object.get("description").is_some_and(Value::is_string) {
                object.remove("description");
            }
            object.values_mut().for_each(without_words);
        }
        Value::Array(items) => items.iter_mut().for_each(without_words),
        _ => {}
    }
}

fn generated<T: JsonSchema>(settings: SchemaSettings) -> JsonObject {
    let generated = settings
        .with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        })
        .into_generator()
        .into_root_schema_for::<T>();
    let mut schema = generated.to_value();
    simplify(&mut schema);
    match schema {
        Value::Object(mut object) => {
            object.remove("title");
            object.remove("description");
            object
        }
        _ => JsonObject::new(),
    }
}

/// Some hosts refuse type lists (`["string", "null"]`) and number formats: an optional property is
/// optional because it is not required, and needs no null.
fn simplify(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            object.remove("format");
            object.remove("default");
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|t| t != "null");
                if let [one] = &types[..] {
                    let one = one.clone();
                    object.insert("type".into(), one);
                }
            }
            if let Some(Value::Array(options)) = object.get_mut("anyOf") {
                options.retain(|option| option.get("type") != Some(&Value::from("null")));
                if let [Value::Object(one)] = &options[..] {
                    let one = one.clone();
                    object.remove("anyOf");
                    for (key, value) in one {
                        object.entry(key).or_insert(value);
                    }
                }
            }
            object.values_mut().for_each(simplify);
        }
        Value::Array(items) => items.iter_mut().for_each(simplify),
        _ => {}
    }
}

/// Lists of single words: where one text is sent for such a list, commas divide it.
const WORDS: [&str; 2] = ["categories", "tags"];

/// A text that is kept as it is written: a number in its place is a mistake of the caller, where it may be a name or a word.
const TEXT: &str = "content";

/// Mends what hosts are known to get wrong, where the schema leaves no doubt: nulls for what is absent,
/// arrays, objects, numbers and booleans sent as text, a single text for a list, words with commas for a list of words,
/// whole numbers sent as 3.0, names that are numbers. Items of lists are mended as well.
pub(crate) fn repair(schema: &JsonObject, arguments: &mut JsonObject) {
    arguments.retain(|_, value| !value.is_null());
    let Some(Value::Object(properties)) = schema.get("properties") else { return };
    for (name, value) in arguments.iter_mut() {
        if let Some(schema) = properties.get(name) {
            if WORDS.contains(&name.as_str())
                && schema["type"] == "array"
                && let Value::String(text) = &*value
                && !text.trim_start().starts_with('[')
            {
                let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
                *value = words.map(Value::from).collect();
            }
            if name == TEXT && value.is_number() {
                continue;
            }
            repair_value(schema, value);
        }
    }
}

fn repair_value(schema: &Value, value: &mut Value) {
    let Some(wanted) = schema.get("type").and_then(Value::as_str) else { return };
    if let Some(mended) = mend(wanted, value) {
        *value = mended;
    }
    match (schema, value) {
        (Value::Object(schema), Value::Object(object)) => repair(schema, object),
        (Value::Object(schema), Value::Array(items)) => {
            if let Some(schema) = schema.get("items") {
                for item in items.iter_mut() {
                    repair_value(schema, item);
                }
            }
        }
        _ => {}
    }
}

fn mend(wanted: &str, value: &Value) -> Option<Value> {
    match (wanted, value) {
        ("array", Value::String(text)) => {
            let text = text.trim();
            if text.is_empty() {
                return Some(Value::Array(Vec::new()));
            }
            let parsed = serde_json::from_str::<Value>(text).ok().filter(Value::is_array);
            Some(parsed.unwrap_or_else(|| Value::Array(vec![Value::from(text)])))
        }
        ("object", Value::String(text)) => serde_json::from_str::<Value>(text).ok().filter(Value::is_object),
        ("integer", Value::String(text)) => text.trim().parse::<i64>().ok().map(Value::from),
        ("integer", Value::Number(number)) if !number.is_i64() => {
            number.as_f64().filter(|n| n.fract() == 0.0 && n.abs() < 9e15).map(|n| Value::from(n as i64))
        }
        ("number", Value::String(text)) => text.trim().parse::<f64>().ok().map(Value::from),
        ("boolean", Value::String(text)) => match text.trim().to_ascii_lowercase().as_str() {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            _ => None,
        },
        ("string", Value::Number(number)) => Some(Value::String(number.to_string())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Example {
        /// What it is for.
        list: Vec<String>,
        count: Option<u64>,
        inner: Option<Inner>,
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Inner {
        ratio: f32,
    }

    #[test]
    fn schemas_have_no_type_lists_formats_or_references() {
        let schema = Value::Object(portable::<Example>());
        let text = schema.to_string();
        for bad in ["$ref", "$defs", "$schema", "format", "null", "anyOf"] {
            assert!(!text.contains(bad), "{bad} in {text}");
        }
        assert_eq!(schema["properties"]["count"]["type"], "integer");
        assert_eq!(schema["properties"]["inner"]["properties"]["ratio"]["type"], "number");
    }

    #[derive(serde::Serialize, JsonSchema)]
    struct Answer {
        /// How many.
        count: usize,
        items: Vec<Item>,
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        warnings: Vec<String>,
    }

    #[derive(serde::Serialize, JsonSchema)]
    struct Item {
        /// Its name.
        name: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        score: Option<f64>,
    }

    #[test]
    fn an_answer_is_told_in_brief_and_what_is_skipped_is_not_required() {
        assert_eq!(
            Value::Object(answered::<Answer>()),
            json!({
                "type": "object",
                "properties": {
                    "count": {"type": "integer"},
                    "items": {"type": "array", "items": {"type": "object"}},
                    "note": {"type": "string"},
                    "warnings": {"type": "array", "items": {"type": "string"}}
                },
                "anyOf": [{"required": ["count", "items"]}, {"required": ["error"]}]
            })
        );
    }

    #[test]
    fn arguments_are_mended_only_where_the_schema_leaves_no_doubt() {
        let schema = json!({"properties": {
            "tags": {"type": "array"}, "limit": {"type": "integer"}, "query": {"type": "string"},
            "expand": {"type": "boolean"}, "importance": {"type": "number"}
        }});
        let mut arguments = json!({
            "tags": "[\"a\", \"b\"]", "limit": "7", "query": 42, "expand": "False", "importance": "0.9", "id": null
        });
        let arguments = arguments.as_object_mut().unwrap();
        repair(schema.as_object().unwrap(), arguments);
        assert_eq!(
            Value::Object(arguments.clone()),
            json!({"tags": ["a", "b"], "limit": 7, "query": "42", "expand": false, "importance": 0.9})
        );
        let mut nested = json!({"entities": [
            {"name": 7, "observations": "[\"a\", \"b\"]"}, "{\"name\": \"x\", \"observations\": null}",
            {"name": "y", "observations": "one"}, {"name": "z", "observations": [1, "[2]"]}, 9
        ]});
        let list = json!({"type": "array", "items": {"type": "string"}});
        let schema_of_nested = json!({"properties": {"entities": {"type": "array", "items": {
            "type": "object", "properties": {"name": {"type": "string"}, "observations": list}}}}});
        repair(schema_of_nested.as_object().unwrap(), nested.as_object_mut().unwrap());
        assert_eq!(
            nested,
            json!({"entities": [
                {"name": "7", "observations": ["a", "b"]}, {"name": "x"}, {"name": "y", "observations": ["one"]},
                {"name": "z", "observations": ["1", "[2]"]}, 9
            ]})
        );
        let mut odd = json!({"tags": "one", "limit": 3.0, "query": "[1]", "expand": "perhaps"});
        let odd = odd.as_object_mut().unwrap();
        repair(schema.as_object().unwrap(), odd);
        assert_eq!(
            Value::Object(odd.clone()),
            json!({"tags": ["one"], "limit": 3, "query": "[1]", "expand": "perhaps"})
        );
        let kept = json!({"properties": {"content": {"type": "string"}, "title": {"type": "string"}}});
        let mut number = json!({"content": 5, "title": 5});
        repair(kept.as_object().unwrap(), number.as_object_mut().unwrap());
        assert_eq!(number, json!({"content": 5, "title": "5"}), "a title may be a number, a text is none");
        let lists = json!({"properties": {"tags": {"type": "array"}, "contents": {"type": "array"}}});
        let mut divided = json!({"tags": "shop, home,", "contents": "Ann likes tea, coffee and cake"});
        repair(lists.as_object().unwrap(), divided.as_object_mut().unwrap());
        assert_eq!(
            divided,
            json!({"tags": ["shop", "home"], "contents": ["Ann likes tea, coffee and cake"]})
        );
    }
}
