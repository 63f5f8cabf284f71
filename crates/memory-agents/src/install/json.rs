//! Entries in files of JSON, with or without comments and trailing commas.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstObject, CstObjectProp, CstRootNode};
use serde_json::{Value, json};

use super::{HookForm, NAME, Unreadable, is_our_hook};

const HOOKS: &str = "hooks";
const VERSION: &str = "version";

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

pub(super) fn with_hooks(
    text: &str,
    hooks: &[(&str, String)],
    form_of: HookForm,
) -> Result<String, Unreadable> {
    let (root, object) = parsed(text)?;
    if form_of == HookForm::Commands && object.get(VERSION).is_none() {
        object.insert(0, VERSION, CstInputValue::Number("1".to_owned()));
    }
    let all = object.object_value_or_create(HOOKS).ok_or_else(form(HOOKS))?;
    for (event, command) in hooks {
        let entries = all.array_value_or_create(event).ok_or_else(form(event))?;
        let ours = our_commands(&entries);
        if let [only] = &ours[..]
            && only == command
        {
            continue;
        }
        remove_ours(&entries);
        entries.append(input(&match form_of {
            HookForm::Groups { timeout } => {
                json!({ "hooks": [{ "type": "command", "command": command, "timeout": timeout }] })
            }
            HookForm::Commands => json!({ "command": command }),
        }));
    }
    Ok(root.to_string())
}

pub(super) fn without_hooks(text: &str, form: HookForm) -> Result<String, Unreadable> {
    let (root, object) = parsed(text)?;
    let Some(all) = object.object_value(HOOKS) else { return Ok(text.to_owned()) };
    let mut is_changed = false;
    for property in all.properties() {
        let Some(entries) = property.array_value() else { continue };
        if our_commands(&entries).is_empty() {
            continue;
        }
        is_changed = true;
        remove_ours(&entries);
        if entries.elements().is_empty() {
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
        // Nothing else is in a file of hooks.
        if let Some(version) = object.get(VERSION).filter(|_| form == HookForm::Commands)
            && object.properties().len() == 1
        {
            version.remove();
        }
    }
    Ok(root.to_string())
}

/// A hook in a file: in a group, or by itself.
struct FoundHook {
    group: Option<CstObject>,
    hook: CstObject,
    command: String,
}

fn hooks_of(entries: &CstArray) -> Vec<FoundHook> {
    let mut found = Vec::new();
    for entry in entries.elements().into_iter().filter_map(|entry| entry.as_object()) {
        let of = |group: Option<&CstObject>, hook: CstObject| {
            let command = hook.get("command").and_then(|command| command.value());
            let command = command.and_then(|value| value.as_string_lit()?.decoded_value().ok())?;
            Some(FoundHook { group: group.cloned(), hook, command })
        };
        match entry.array_value(HOOKS) {
            Some(hooks) => {
                let hooks = hooks.elements().into_iter().filter_map(|hook| hook.as_object());
                found.extend(hooks.filter_map(|hook| of(Some(&entry), hook)));
            }
            None => found.extend(of(None, entry)),
        }
    }
    found
}

fn our_commands(entries: &CstArray) -> Vec<String> {
    let commands = hooks_of(entries).into_iter().map(|found| found.command);
    commands.filter(|command| is_our_hook(command)).collect()
}

fn remove_ours(entries: &CstArray) {
    for FoundHook { group, hook, command } in hooks_of(entries) {
        if !is_our_hook(&command) {
            continue;
        }
        hook.remove();
        if let Some(group) = group
            && group.array_value(HOOKS).is_some_and(|hooks| hooks.elements().is_empty())
        {
            group.remove();
        }
    }
}

/// Whether a property has this value already.
fn has(property: &CstObjectProp, value: &Value) -> bool {
    let text = property.value().map(|value| value.to_string()).unwrap_or_default();
    serde_json::from_str::<Value>(&text).is_ok_and(|found| found == *value)
}
