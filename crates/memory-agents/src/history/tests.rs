use std::io::Write;

use super::*;

fn sample(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/history").join(name)
}

fn found(format: Format, name: &str) -> Vec<Found> {
    let mut all = Vec::new();
    read(format, &sample(name), name, &mut |found| {
        all.push(found);
        true
    })
    .expect("it is read");
    all
}

fn said(found: &[Found]) -> Vec<(Option<u64>, &str, &str)> {
    let texts = found.iter().filter_map(|found| match found {
        Found::Text(text) => Some(text),
        _ => None,
    });
    texts
        .map(|text| (text.turn.as_ref().map(|turn| turn.1), text.role.unwrap_or(""), text.content.as_str()))
        .collect()
}

fn problems(found: &[Found]) -> Vec<u64> {
    found
        .iter()
        .filter_map(|found| match found {
            Found::Problem { line, .. } => Some(*line),
            _ => None,
        })
        .collect()
}

#[test]
fn a_conversation_of_chatgpt_is_the_branch_that_was_shown_last() {
    let found = found(Format::ChatGpt, "chatgpt.json");
    assert_eq!(
        said(&found),
        [
            (Some(0), "user", "Where should we hold the offsite?\n\n[attachment: map.pdf]"),
            (Some(1), "assistant", "In Ljubljana: short flights for everyone."),
            (Some(2), "user", "[image]\n\nIs this hotel fine?"),
            (Some(0), "user", "A conversation without a current node."),
        ]
    );
    let Found::Text(first) = &found[0] else { panic!("{found:?}") };
    assert_eq!(first.turn.as_ref().map(|turn| turn.0.as_str()), Some("chatgpt:c-1"));
    assert_eq!(
        (first.title.as_deref(), first.date.as_deref()),
        (Some("Offsite"), Some("2025-03-01T09:00:00Z"))
    );
    assert_eq!(problems(&found), [37]);
}

#[test]
fn a_conversation_of_claude_has_its_attachments() {
    let found = found(Format::Claude, "claude.json");
    assert_eq!(
        said(&found),
        [
            (
                Some(0),
                "user",
                "Summarise the contract.\n\n[attachment: contract.txt]\nThe term is two years."
            ),
            (Some(1), "assistant", "Two years."),
        ]
    );
    assert_eq!(problems(&found).len(), 1);
}

#[test]
fn sessions_of_opencode_and_memories_of_other_servers_are_read() {
    assert_eq!(
        said(&found(Format::OpenCode, "opencode.json")),
        [(Some(0), "user", "Rename the crate."), (Some(1), "assistant", "Renamed.")]
    );
    assert_eq!(said(&found(Format::Mem0, "mem0.json")), [(None, "", "Prefers tea over coffee")]);
    let zep = found(Format::Zep, "zep.json");
    assert_eq!(
        said(&zep),
        [
            (None, "", "Ann: We move to Graz in May."),
            (None, "", "Ann: Engineer at Nordwind"),
            (None, "", "Ann lives in Vienna (This held until 2025-05-01.)"),
        ]
    );
    let service = found(Format::McpMemoryService, "mcp-memory-service.json");
    assert_eq!(said(&service), [(None, "", "Deploys happen on Fridays")]);
    let Found::Text(text) = &service[0] else { panic!("{service:?}") };
    assert_eq!(
        (text.context, text.tags.as_slice()),
        ("decision", &["deploy".to_owned(), "type:decision".to_owned()][..])
    );
}

#[test]
fn notes_have_their_front_matter_and_their_links() {
    let found = found(Format::BasicMemory, "note.md");
    let Found::Text(text) = &found[0] else { panic!("{found:?}") };
    assert_eq!((text.title.as_deref(), text.date.as_deref()), (Some("Coffee brewing"), Some("2025-01-05")));
    assert_eq!(text.tags, ["coffee", "method", "notes"]);
    let link = |to: &str, kind: &str| Found::Link {
        from: "Coffee brewing".into(),
        to: to.into(),
        kind: kind.into(),
    };
    assert_eq!(found[1..], [link("Grinder", "links_to"), link("Tea", "contrasts_with")]);
}

#[test]
fn dates_are_understood_as_exporters_write_them() {
    for (given, read) in [
        (serde_json::json!(1_740_819_600.25), Some("2025-03-01T09:00:00.25Z")),
        (serde_json::json!(1_740_819_600_000_i64), Some("2025-03-01T09:00:00Z")),
        (serde_json::json!("2025-03-01T09:00:00+01:00"), Some("2025-03-01T08:00:00Z")),
        (serde_json::json!("2025-03-01T09:00:00"), Some("2025-03-01T09:00:00Z")),
        (serde_json::json!("2025-03-01"), Some("2025-03-01")),
        (serde_json::json!("yesterday"), None),
        (serde_json::json!(null), None),
    ] {
        assert_eq!(date(&given).as_deref(), read, "{given}");
    }
}

#[test]
fn a_file_that_ends_early_gives_what_stands_before_the_end() {
    let mut file = std::env::temp_dir().join(format!("memory-agents-{}", std::process::id()));
    file.set_extension("json");
    let text = "[{\"id\": \"1\", \"memory\": \"One\"},\n{\"id\": \"2\"},\n{\"id\": \"3\", \"mem";
    std::fs::File::create(&file).expect("a file").write_all(text.as_bytes()).expect("written");
    let mut all = Vec::new();
    read(Format::Mem0, &file, "x", &mut |found| {
        all.push(found);
        true
    })
    .expect("it is read");
    std::fs::remove_file(file).expect("removed");
    assert_eq!(said(&all), [(None, "", "One")]);
    assert_eq!(problems(&all), [2, 3]);
}
