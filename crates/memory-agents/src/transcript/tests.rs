use std::io::Cursor;

use serde_json::json;

use super::*;
use crate::fence::fenced;

fn turns(host: Host, text: &str) -> Vec<TurnAt> {
    let mut transcript = Transcript::new(host, Cursor::new(text), 0);
    std::iter::from_fn(|| transcript.next_turn().expect("it is read")).collect()
}

fn claude_line(role: &str, content: &Value, more: &Value) -> String {
    let mut line = json!({"type": role, "uuid": format!("u-{role}"), "timestamp": "2026-11-02T09:00:00.000Z",
        "sessionId": "s1", "cwd": "/home/ann/atlas", "gitBranch": "main", "isSidechain": false,
        "message": {"role": role, "content": content}});
    for (key, value) in more.as_object().into_iter().flatten() {
        line[key] = value.clone();
    }
    format!("{line}\n")
}

fn claude_session() -> String {
    let none = json!({});
    [
        "{\"type\":\"file-history-snapshot\",\"messageId\":\"x\"}\n".to_owned(),
        claude_line("user", &json!("<command-name>/clear</command-name>"), &none),
        claude_line("user", &json!(format!("{}\nHow do we deploy?", fenced("recall", "old"))), &none),
        claude_line("assistant", &json!([{"type": "thinking", "thinking": "hm"}]), &none),
        claude_line("assistant", &json!([{"type": "text", "text": "I look."}]), &none),
        claude_line(
            "assistant",
            &json!([{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}]),
            &none,
        ),
        claude_line(
            "user",
            &json!([{"type": "tool_result", "content": "noise"}]),
            &json!({"toolUseResult": "noise"}),
        ),
        claude_line("assistant", &json!([{"type": "text", "text": "agent"}]), &json!({"isSidechain": true})),
        claude_line("assistant", &json!([{"type": "text", "text": "With make deploy."}]), &none),
        "not json\n".to_owned(),
        claude_line("user", &json!([{"type": "text", "text": "My key is sk-ant-api03-"}]), &none)
            .replace("sk-ant-api03-", &format!("sk-ant-api03-{}", "x1".repeat(20))),
    ]
    .concat()
}

#[test]
fn a_session_of_claude_code_is_its_turns_without_tools_thinking_and_injections() {
    let found = turns(Host::ClaudeCode, &claude_session());
    let said: Vec<(&str, &str)> =
        found.iter().map(|at| (at.turn.role.as_str(), at.turn.text.as_str())).collect();
    assert_eq!(
        said,
        [
            ("user", "How do we deploy?"),
            ("assistant", "I look.\n\nWith make deploy."),
            ("user", "My key is [redacted: Anthropic key]"),
        ]
    );
    assert_eq!(found[0].turn.at, "2026-11-02T09:00:00Z".parse().ok());
}

#[test]
fn reading_on_at_a_turn_gives_the_same_turns_from_there_and_a_turn_may_grow() {
    let text = claude_session();
    let all = turns(Host::ClaudeCode, &text);
    let last = all.last().expect("turns").offset;
    let more =
        format!("{text}{}{{\"type\":\"user\",\"mess", claude_line("user", &json!("And back?"), &json!({})));
    let mut on = Transcript::new(Host::ClaudeCode, Cursor::new(&more[last as usize..]), last);
    let grown = on.next_turn().expect("it is read").expect("a turn");
    assert_eq!(grown.turn.text, "My key is [redacted: Anthropic key]\n\nAnd back?");
    assert_eq!(grown.offset, last);
    assert!(on.next_turn().expect("it is read").is_none() && on.unreadable().is_empty());
}

#[test]
fn lines_that_cannot_be_read_are_named() {
    let text = claude_session();
    let mut transcript = Transcript::new(Host::ClaudeCode, Cursor::new(text), 0);
    while transcript.next_turn().expect("it is read").is_some() {}
    assert_eq!(transcript.unreadable().iter().map(|line| line.line).collect::<Vec<_>>(), [10]);
    assert_eq!(transcript.facts().folder.as_deref(), Some("/home/ann/atlas"));
}

#[test]
fn a_session_of_codex_is_its_turns() {
    let line = |kind: &str, payload: Value| {
        format!("{}\n", json!({"timestamp": "2026-11-02T09:00:00.000Z", "type": kind, "payload": payload}))
    };
    let message = |role: &str, kind: &str, text: &str| {
        line(
            "response_item",
            json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]}),
        )
    };
    let text = [
        line("session_meta", json!({"id": "c1", "cwd": "/home/ann/atlas", "git": {"branch": "dev"}})),
        message("developer", "input_text", "rules"),
        message("user", "input_text", "# AGENTS.md instructions for /home/ann"),
        message("user", "input_text", "<environment_context>\n  <cwd>/x</cwd>\n</environment_context>"),
        message("user", "input_text", "Rename the module."),
        line("event_msg", json!({"type": "user_message", "message": "Rename the module."})),
        line("response_item", json!({"type": "function_call", "name": "shell", "arguments": "{}"})),
        message("assistant", "output_text", "Renamed."),
    ]
    .concat();
    let mut transcript = Transcript::new(Host::Codex, Cursor::new(text), 0);
    let first = transcript.next_turn().expect("read").expect("a turn").turn;
    assert_eq!((first.role, first.text.as_str()), (Role::User, "Rename the module."));
    assert_eq!(transcript.next_turn().expect("read").expect("a turn").turn.text, "Renamed.");
    assert_eq!(transcript.facts().branch.as_deref(), Some("dev"));
}

#[test]
fn a_session_of_gemini_is_its_turns_and_what_is_written_again_is_read_once() {
    let line = |value: Value| format!("{value}\n");
    let text = [
        line(json!({"sessionId": "s-9", "projectHash": "ab12", "startTime": "2026-11-02T09:00:00.000Z", "kind": "main"})),
        line(json!({"id": "m1", "timestamp": "2026-11-02T09:00:01.000Z", "type": "user",
            "content": [{"text": "Read @notes.md\n--- Content of notes.md ---\nlong"}],
            "displayContent": [{"text": format!("Where is the key?\n{}", fenced("recall", "old"))}]})),
        line(json!({"$set": {"lastUpdated": "2026-11-02T09:00:02.000Z"}})),
        line(json!({"id": "m2", "timestamp": "2026-11-02T09:00:02.000Z", "type": "gemini", "content": "I look",
            "thoughts": [{"subject": "hm", "description": "secret"}], "toolCalls": [{"id": "t", "name": "read_file", "args": {}}]})),
        line(json!({"id": "m2", "timestamp": "2026-11-02T09:00:02.000Z", "type": "gemini", "content": "I look it up."})),
        line(json!({"id": "m3", "timestamp": "2026-11-02T09:00:04.000Z", "type": "gemini",
            "content": [{"text": "thinking", "thought": true}, {"text": "In the blue box."}, {"functionCall": {"name": "x"}}]})),
        line(json!({"id": "m4", "timestamp": "2026-11-02T09:00:05.000Z", "type": "info", "content": "Saved."})),
        line(json!({"id": "m5", "timestamp": "2026-11-02T09:00:06.000Z", "type": "user", "content": "Thanks"})),
    ]
    .concat();
    let expected = [
        ("user", "Where is the key?"),
        ("assistant", "I look it up.\n\nIn the blue box."),
        ("user", "Thanks"),
    ];
    let said = |found: &[TurnAt]| -> Vec<(&str, String)> {
        found.iter().map(|at| (at.turn.role.as_str(), at.turn.text.clone())).collect()
    };
    let owned: Vec<(&str, String)> =
        expected.iter().map(|(role, text)| (*role, (*text).to_owned())).collect();
    let found = turns(Host::Gemini, &text);
    assert_eq!(said(&found), owned);
    assert_eq!(found[1].turn.id.as_deref(), Some("m2"));

    // Older versions keep one object; a place in it is found again.
    let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let mut session = lines.next().expect("one");
    session["messages"] =
        lines.filter(|line| line["id"] != "m2" || line["content"] == "I look it up.").collect();
    let file = std::env::temp_dir().join(format!("memory-agents-session-{}.json", std::process::id()));
    std::fs::write(&file, serde_json::to_string_pretty(&session).expect("JSON")).expect("written");
    let read = |offset| {
        let (mut transcript, begun) = Transcript::open(Host::Gemini, &file, offset).expect("it opens");
        let all: Vec<TurnAt> = std::iter::from_fn(|| transcript.next_turn().expect("it is read")).collect();
        (all, begun)
    };
    let (whole, _) = read(0);
    assert_eq!(said(&whole), owned);
    let (rest, begun) = read(whole[1].offset);
    assert_eq!((said(&rest), begun), (owned[1..].to_vec(), whole[1].offset));
    assert_eq!(read(1 << 20).1, 0, "a file that is shorter than it was is read from its beginning");
    std::fs::remove_file(file).expect("removed");
}

#[test]
fn a_session_of_cursor_is_what_the_user_has_written_and_what_was_answered() {
    let line =
        |role: &str, content: Value| format!("{}\n", json!({"role": role, "message": {"content": content}}));
    let text = [
        line(
            "user",
            json!([{"type": "text", "text": "<open_files>a.rs</open_files>\n<user_query>\nWhere is the key?\n</user_query>"}]),
        ),
        line("assistant", json!([{"type": "text", "text": "I look."}, {"type": "tool_use", "name": "Read", "input": {}}])),
        line("assistant", json!([{"type": "text", "text": "In the blue box."}])),
        line("user", json!([{"type": "text", "text": "no element around it"}])),
        "{\"type\":\"turn_ended\"}\n".to_owned(),
    ]
    .concat();
    let found = turns(Host::Cursor, &text);
    let said: Vec<(&str, &str)> =
        found.iter().map(|at| (at.turn.role.as_str(), at.turn.text.as_str())).collect();
    assert_eq!(
        said,
        [
            ("user", "Where is the key?"),
            ("assistant", "I look.\n\nIn the blue box."),
            ("user", "no element around it")
        ]
    );
}
