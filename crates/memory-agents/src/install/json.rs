//! Entries in files of JSON, with or without comments and trailing commas.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstObject, CstObjectProp, CstRootNode};
use serde_json::Value;

use super::{NAME, Unreadable, is_our_hook};

const HOOKS: &str = "hooks";

fn parsed(text: &str) -> Result<(CstRootNode, CstObject), Unreadable> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let root = CstRootNode::parse(text, &ParseOptions::default());
    let root = root.map_err(|error| Unreadable::Json(error.to_string()))?;
    let object = root.object_value_or_create();
    let object = object.ok_or_else(|| Unreadable::Form("the whole file".to_owned()))?;
    Ok((root, object))
}

fn form(key: &str) -> impl Fn() -> Unreadable {
    move || Unreadable::Form(key.to_owned())
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(value) => CstInputValue::Number(value.to_string()),
        Value::String(value) => CstInputValue::String(value.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(fields) => {
            // Our entries have few fields: what is started comes first in each.
            let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| match name.as_str() {
                "type" => 0,
                "command" => 1,
                _ => 2,
            });
            CstInputValue::Object(
                fields.into_iter().map(|(name, value)| (name.clone(), input(value))).collect(),
            )
        }
    }
}

pub(super) fn with_server(text: &str, key: &str, server: &Value) -> Result<String, Unreadable> {
    let (root, object) = parsed(text)?;
    let servers = object.object_value_or_create(key).ok_or_else(form(key))?;
    match servers.get(NAME) {
        // What the user has added to it, such as variables, stays.
        Some(property) => {
            let ours = property.object_value().ok_or_else(form(NAME))?;
            for (name, value) in server.as_object().into_iter().flatten() {
                match ours.get(name) {
                    Some(field) if has(&field, value) => {}
                    Some(field) => field.set_value(input(value)),
                    None => drop(ours.append(name, input(value))),
                }
            }
        }
        None => drop(servers.append(NAME, input(server))),
    }
    Ok(root.to_string())
}

pub(super) fn without_server(text: &str, key: &str) -> Result<String, Unreadable> {
    let (root, object) = parsed(text)?;
    if let Some(servers) = object.object_value(key)
        && let Some(ours) = servers.get(NAME)
    {
        ours.remove();
        if servers.properties().is_empty()
            && let Some(property) = object.get(key)
        {
            property.remove();
        }
        return Ok(root.to_string());
    }
    Ok(text.to_owned())
}

pub(super) fn with_hooks(text: &str, hooks: &[(&str, String)]) -> Result<String, Unreadable> {
    let (root, object) = parsed(text)?;
    let all = object.object_value_or_create(HOOKS).ok_or_else(form(HOOKS))?;
    for (event, command) in hooks {
        let groups = all.array_value_or_create(event).ok_or_else(form(event))?;
        let ours = our_commands(&groups);
        if let [only] = &ours[..]
            && only == command
        {
            continue;
        }
        remove_ours(&groups);
        let hook = serde_json::json!({ "type": "command", "command": command, "timeout": 5 });
        groups.append(input(&serde_json::json!({ "hooks": [hook] })));
    }
    Ok(root.to_string())
}

pub(super) fn without_hooks(text: &str) -> Result<String, Unreadable> {
    let (root, object) = parsed(text)?;
    let Some(all) = object.object_value(HOOKS) else { return Ok(text.to_owned()) };
    let mut is_changed = false;
    for property in all.properties() {
        let Some(groups) = property.array_value() else { continue };
        if our_commands(&groups).is_empty() {
            continue;
        }
        is_changed = true;
        remove_ours(&groups);
        if groups.elements().is_empty() {
            property.remove();
        }
    }
    if !is_changed {
        return Ok(text.to_owned());
    }
    if all.properties().is_empty()
        && let Some(property) = object.get(HOOKS)
    {
        property.remove();
    }
    Ok(root.to_string())
}

/// Each hook of each group, with its group and its command.
fn hooks_of(groups: &CstArray) -> Vec<(CstObject, CstObject, String)> {
    let mut found = Vec::new();
    for group in groups.elements().into_iter().filter_map(|group| group.as_object()) {
        for hook in group.array_value(HOOKS).map(|hooks| hooks.elements()).unwrap_or_default() {
            let Some(hook) = hook.as_object() else { continue };
            let command = hook.get("command").and_then(|command| command.value());
            let command = command.and_then(|value| value.as_string_lit()?.decoded_value().ok());
            found.extend(command.map(|command| (group.clone(), hook, command)));
        }
    }
    found
}

fn our_commands(groups: &CstArray) -> Vec<String> {
    let commands = hooks_of(groups).into_iter().map(|(_, _, command)| command);
    commands.filter(|command| is_our_hook(command)).collect()
}

fn remove_ours(groups: &CstArray) {
    for (group, hook, command) in hooks_of(groups) {
        if !is_our_hook(&command) {
            continue;
        }
        hook.remove();
        if group.array_value(HOOKS).is_some_and(|hooks| hooks.elements().is_empty()) {
            group.remove();
        }
    }
}

/// Whether a property has this value already.
fn has(property: &CstObjectProp, value: &Value) -> bool {
    let text = property.value().map(|value| value.to_string()).unwrap_or_default();
    serde_json::from_str::<Value>(&text).is_ok_and(|found| found == *value)
}
