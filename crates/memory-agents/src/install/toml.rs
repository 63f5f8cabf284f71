//! Our server in a file of TOML.

use toml_edit::{Array, DocumentMut, Item, Table, value};

use super::{NAME, Program, Unreadable};

fn parsed(text: &str) -> Result<DocumentMut, Unreadable> {
    text.parse::<DocumentMut>().map_err(|error| {
        let reason = error.to_string();
        Unreadable::Toml(reason.lines().next().unwrap_or_default().to_owned())
    })
}

pub(super) fn with_server(text: &str, key: &str, program: &Program) -> Result<String, Unreadable> {
    let mut document = parsed(text)?;
    let servers = document.entry(key).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let servers = servers.as_table_like_mut().ok_or_else(|| Unreadable::Form(key.to_owned()))?;
    let ours = servers.entry(NAME).or_insert_with(|| Item::Table(Table::new()));
    let ours = ours.as_table_like_mut().ok_or_else(|| Unreadable::Form(format!("{key}.{NAME}")))?;
    let arguments: Array = program.stdio().into_iter().collect();
    if ours.get("command").and_then(Item::as_str) != Some(&program.path) {
        ours.insert("command", value(&program.path));
    }
    let is_same = ours.get("args").and_then(Item::as_array).is_some_and(|found| {
        found.iter().map(|word| word.as_str()).eq(arguments.iter().map(|word| word.as_str()))
    });
    if !is_same {
        ours.insert("args", value(arguments));
    }
    Ok(document.to_string())
}

pub(super) fn without_server(text: &str, key: &str) -> Result<String, Unreadable> {
    let mut document = parsed(text)?;
    let Some(servers) = document.get_mut(key).and_then(Item::as_table_like_mut) else {
        return Ok(text.to_owned());
    };
    if servers.remove(NAME).is_none() {
        return Ok(text.to_owned());
    }
    if servers.is_empty() {
        document.remove(key);
    }
    Ok(document.to_string())
}
