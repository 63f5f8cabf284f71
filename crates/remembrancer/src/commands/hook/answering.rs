//! What is added to a conversation: the briefing when it begins, and what is known about a prompt.

use std::fmt::Write;
use std::future::Future;
use std::time::{Duration, Instant};

use memory_agents::fence::fenced;
use memory_agents::hook::{Moment, added, is_searchable};
use memory_agents::transcript::Host;
use memory_language::text::cut;
use serde_json::{Value, json};

use super::files::Shown;
use super::{Outcome, Session, deliver_in_background};
use crate::client::{Answer, Client};
use crate::commands::verbs::given;
use crate::tools::briefing::Output;

/// What scores less is not added to a prompt.
pub(super) const MIN_SCORE: f64 = 0.6;
/// With the fence and its head a briefing stays under 1,500 tokens.
const BRIEFING_TOKENS: i64 = 1_350;
/// How much of a prompt is searched by, in characters.
const QUERY_MAX_CHARS: usize = 2_000;
/// How many texts are looked for, how many are added at most, and how much of each.
const LOOKED_FOR: usize = 8;
const ADDED_MAX: usize = 4;
const SNIPPET_MAX_CHARS: usize = 600;
/// Between two attempts to connect.
const PAUSE: Duration = Duration::from_millis(20);

/// Does it on a runtime of its own, for as long as there is.
fn block_on<T>(future: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(future)
}

impl Session<'_> {
    /// A session begins: the briefing, where the memory answers in time. Else the first prompt brings it.
    pub(super) fn begin(&self) -> anyhow::Result<Outcome> {
        if self.files.has_waiting() {
            deliver_in_background(self.settings, false)?;
        }
        block_on(async {
            let mut is_started = false;
            let client = loop {
                if let Some(client) = Client::connect_running(self.settings).await? {
                    break client;
                }
                if !is_started {
                    deliver_in_background(self.settings, true)?;
                    is_started = true;
                }
                if self.is_late() {
                    anyhow::bail!(
                        "no server ran; one is being started, and the first prompt brings the briefing"
                    );
                }
                tokio::time::sleep(PAUSE).await;
            };
            let briefing = self.briefing(&client).await?;
            self.note_shown(&Shown { is_briefed: true, ids: Vec::new() })?;
            Ok(outcome(self.host, Moment::SessionStart, briefing.as_slice()))
        })
    }

    /// The user has written: what is known about that, and the briefing where the session has none yet.
    pub(super) fn prompt(&self) -> anyhow::Result<Outcome> {
        if added(self.host, Moment::Prompt, "").is_none() {
            return Ok(Outcome {
                note: "the host takes nothing with a prompt".to_owned(),
                ..Outcome::default()
            });
        }
        let mut shown = self.files.shown(self.host.as_str(), &self.input.session_id);
        let prompt = self.input.prompt.clone().unwrap_or_default();
        let asked = memory_agents::transcript::clean(&prompt).filter(|asked| is_searchable(asked));
        if shown.is_briefed && asked.is_none() {
            return Ok(Outcome { note: "nothing to search by".to_owned(), ..Outcome::default() });
        }
        block_on(async {
            let Some(client) = Client::connect_running(self.settings).await? else {
                deliver_in_background(self.settings, true)?;
                anyhow::bail!("no server ran; one is being started");
            };
            let mut parts = Vec::new();
            if let Some(asked) = asked {
                parts.extend(self.known(&client, &asked, &mut shown).await?);
            }
            // What takes longer is there for the next prompt.
            if !shown.is_briefed {
                let patience = self.deadline.saturating_duration_since(Instant::now()).mul_f32(0.8);
                if let Ok(briefing) = tokio::time::timeout(patience, self.briefing(&client)).await {
                    shown.is_briefed = true;
                    parts.extend(briefing?);
                }
            }
            self.note_shown(&shown)?;
            Ok(outcome(self.host, Moment::Prompt, &parts))
        })
    }

    fn note_shown(&self, shown: &Shown) -> anyhow::Result<()> {
        if self.input.session_id.is_empty() {
            return Ok(());
        }
        self.files.note_shown(self.host.as_str(), &self.input.session_id, shown)
    }

    async fn briefing(&self, client: &Client) -> anyhow::Result<Option<String>> {
        let arguments = given(json!({ "project": self.workplace.project, "max_tokens": BRIEFING_TOKENS }));
        let briefing: Output = serde_json::from_value(answered(client.call("briefing", arguments).await?)?)?;
        Ok((!briefing.is_empty()).then(|| fenced("briefing", &briefing.markdown())))
    }

    /// What recall finds about it that scores enough, is of another session, and was not added before.
    async fn known(&self, client: &Client, asked: &str, shown: &mut Shown) -> anyhow::Result<Option<String>> {
        let arguments = given(json!({
            "query": cut(asked, QUERY_MAX_CHARS), "limit": LOOKED_FOR, "expand": false, "include_events": false,
            "include_entities": false, "min_score": self.min_score, "max_tokens": 4_000,
        }));
        let answer = answered(client.call("recall", arguments).await?)?;
        let own = super::delivery::conversation_id(self.host.as_str(), &self.input.session_id);
        let mut lines = String::new();
        let mut ids = Vec::new();
        for result in answer["results"].as_array().into_iter().flatten() {
            let id = result["id"].as_str().unwrap_or_default();
            let is_own = result["conversation_id"] == own.as_str();
            let is_the_prompt = words(&result["snippet"]) == asked.split_whitespace().collect::<Vec<_>>();
            if is_own || is_the_prompt || shown.ids.iter().any(|shown| shown == id) || ids.len() == ADDED_MAX
            {
                continue;
            }
            let _ = writeln!(lines, "- {}", line_of(result, id));
            ids.push(id.to_owned());
        }
        if ids.is_empty() {
            return Ok(None);
        }
        shown.note(ids);
        Ok(Some(fenced("recall", &lines)))
    }
}

/// With the parts, or with nothing where there is none.
fn outcome(host: Host, moment: Moment, parts: &[String]) -> Outcome {
    let text = parts.join("\n");
    match added(host, moment, &text).filter(|_| !parts.is_empty()) {
        None => Outcome { note: "nothing to add".to_owned(), ..Outcome::default() },
        // Tokens are not counted here: reading their table takes longer than everything else.
        Some(output) => {
            Outcome { output: output.to_string(), note: format!("added {} characters", text.chars().count()) }
        }
    }
}

fn words(text: &Value) -> Vec<&str> {
    text.as_str().unwrap_or_default().split_whitespace().collect()
}

/// `2026-03-01, Ann, email: its text [art_…]`, in one line.
fn line_of(result: &Value, id: &str) -> String {
    let text = |key: &str| result[key].as_str().filter(|text| !text.is_empty());
    let day = text("date").map(|date| date.chars().take(10).collect::<String>());
    let who = text("author").or(text("role")).map(str::to_owned);
    let about: Vec<String> = day.into_iter().chain(who).chain(text("context").map(str::to_owned)).collect();
    let title = words(&result["title"]).join(" ");
    let title = if title.is_empty() { title } else { format!("{title}: ") };
    let snippet = cut(&words(&result["snippet"]).join(" "), SNIPPET_MAX_CHARS);
    format!("{}: {title}{snippet} [{id}]", about.join(", "))
}

/// The answer of a tool; a refusal is a trouble.
fn answered(answer: Answer) -> anyhow::Result<Value> {
    if answer.is_refusal {
        anyhow::bail!("the memory refused: {}", cut(&answer.reason(), 200));
    }
    Ok(answer.value)
}
