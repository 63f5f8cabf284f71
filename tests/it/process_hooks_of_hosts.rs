//! Hooks of hosts with other fields and answers than Claude Code's.

use memory_tests::process::{DataDir, Server};
use serde_json::{Value, json};

use crate::process_hooks::{Hooked, hook_of, hooks_are_well, repository, stored, turns_of};

/// The first prompt of several sessions that is answered: a busy machine lets some miss the deadline.
async fn in_time(host: &str, data_dir: &DataDir, asked: impl Fn(usize) -> Vec<u8>) -> Hooked {
    for n in 0..40 {
        let hooked = hook_of(data_dir, host, "prompt", &asked(n)).await;
        if !hooked.ran.stdout.is_empty() {
            return hooked;
        }
    }
    panic!("no prompt was answered in time");
}

#[tokio::test]
async fn gemini_is_answered_in_its_form_and_its_session_is_stored() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let folder = repository(&data_dir, "atlas");
    server.ask("remember", json!({"content": "We decided to deploy Atlas with blue-green releases.", "tags": ["project:atlas"]})).await;
    server.settled().await;
    let transcript = folder.join("session-2026-11-02T09-00-ab12.jsonl");
    let given = |event: &str, more: Value| {
        let mut fields = json!({"session_id": "g-1", "transcript_path": transcript, "cwd": folder, "hook_event_name": event,
            "timestamp": "2026-11-02T09:00:00.000Z"});
        fields.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
        fields.to_string().into_bytes()
    };
    let began =
        hook_of(&data_dir, "gemini", "session-start", &given("SessionStart", json!({"source": "startup"})))
            .await;
    assert!(began.added().contains("blue-green"), "{:?}", began.ran);
    let asked = |n: usize| {
        let more =
            json!({"prompt": "How do we deploy Atlas to production?", "session_id": format!("busy-{n}")});
        given("BeforeAgent", more)
    };
    let known = in_time("gemini", &data_dir, asked).await;
    assert_eq!(known.ran.json()["hookSpecificOutput"]["hookEventName"], "BeforeAgent");
    assert!(known.added().contains("blue-green releases"), "{:?}", known.ran);
    let prompt = format!("How do we deploy?\n\n<hook_context>{}</hook_context>", known.added());
    let lines = [
        json!({"sessionId": "g-1", "projectHash": "ab12", "startTime": "2026-11-02T09:00:00.000Z"}),
        json!({"id": "m1", "timestamp": "2026-11-02T09:00:01.000Z", "type": "user", "content": [{"text": prompt}]}),
        json!({"id": "m2", "timestamp": "2026-11-02T09:00:03.000Z", "type": "gemini", "content": "With blue-green releases."}),
    ];
    std::fs::write(&transcript, lines.map(|line| format!("{line}\n")).concat()).expect("written");
    let answer = json!({"prompt": "How do we deploy?", "prompt_response": "With blue-green releases.", "stop_hook_active": false});
    let stopped = hook_of(&data_dir, "gemini", "stop", &given("AfterAgent", answer)).await;
    assert_eq!(stopped.ran.stdout, "");
    stored(&server, "gemini:g-1", 2).await;
    let turns = turns_of(&server, "gemini:g-1").await;
    let shown = Value::from(turns).to_string();
    assert!(shown.contains("How do we deploy?") && !shown.contains("remembrancer-memory"), "{shown}");
    assert!(shown.contains("2026-11-02T09:00:03Z"), "{shown}");
    let tagged = server.ask("recall", json!({"query": "blue-green releases", "tags": ["host:gemini"]})).await;
    assert_eq!(tagged["results"][0]["conversation_id"], "gemini:g-1", "{tagged}");
}

#[tokio::test]
async fn cursor_gets_a_briefing_and_nothing_with_a_prompt_and_its_session_is_stored_where_it_names_it() {
    let data_dir = DataDir::warm();
    let server = Server::start(&data_dir).await;
    let folder = repository(&data_dir, "atlas");
    server.ask("remember", json!({"content": "We decided to deploy Atlas with blue-green releases.", "tags": ["project:atlas"]})).await;
    server.settled().await;
    let transcript = folder.join("c-1.jsonl");
    let given = |event: &str, transcript: Value| {
        json!({"conversation_id": "c-1", "generation_id": "x", "model": "m", "hook_event_name": event, "cursor_version": "2.4.0",
            "workspace_roots": [folder], "user_email": null, "transcript_path": transcript, "prompt": "How do we deploy Atlas?"})
        .to_string()
        .into_bytes()
    };
    let began = hook_of(&data_dir, "cursor", "session-start", &given("sessionStart", Value::Null)).await;
    let briefing = began.ran.json()["additional_context"].as_str().expect("a text").to_owned();
    assert!(briefing.contains("blue-green"), "{briefing}");
    let asked = hook_of(&data_dir, "cursor", "prompt", &given("beforeSubmitPrompt", Value::Null)).await;
    assert_eq!(asked.ran.stdout, "");
    // Its command line names no transcript: that is no trouble, and nothing is stored.
    hook_of(&data_dir, "cursor", "stop", &given("stop", Value::Null)).await;
    hooks_are_well(&data_dir).await;
    let line = |role: &str, text: &str| {
        format!("{}\n", json!({"role": role, "message": {"content": [{"type": "text", "text": text}]}}))
    };
    let said = [
        line("user", "<user_query>\nHow do we deploy?\n</user_query>"),
        line("assistant", "With blue-green releases."),
    ];
    std::fs::write(&transcript, said.concat()).expect("written");
    hook_of(&data_dir, "cursor", "session-end", &given("sessionEnd", json!(transcript))).await;
    stored(&server, "cursor:c-1", 2).await;
    let shown = Value::from(turns_of(&server, "cursor:c-1").await).to_string();
    assert!(shown.contains("How do we deploy?") && !shown.contains("user_query"), "{shown}");
}
