//! Sends the turns of sessions that wait, in a process of its own that no host waits for. A turn goes to the same place
//! each time it is sent, so that nothing is stored twice.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use memory_agents::transcript::{Host, Transcript};
use serde_json::json;

use super::files::{HookFiles, Sent, Waiting};
use crate::client::Client;
use crate::commands::verbs::given;
use crate::settings::Settings;

/// How long a process waits for the one that sends already, which may have looked for the last time.
const LOCK_PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(50);
/// How long one process sends at most; the next hook has the rest sent.
const LONGEST: Duration = Duration::from_secs(300);
/// How often a turn may be refused before it is left out.
const REFUSALS_MAX: u8 = 3;
/// After so many turns it is noted how far a session was sent.
const NOTED_EVERY: u64 = 20;

/// The conversation that a session is stored as.
pub(super) fn conversation_id(host: &str, session_id: &str) -> String {
    format!("{host}:{session_id}")
}

pub(super) fn run(settings: Settings, start: bool) -> ExitCode {
    let started = Instant::now();
    let Ok(files) = settings.data_dir().and_then(|folder| HookFiles::of(&folder)) else {
        return ExitCode::SUCCESS;
    };
    let sending = async {
        tokio::time::timeout(LONGEST, deliver(settings, &files, start))
            .await
            .unwrap_or_else(|_| Err(anyhow::anyhow!("took too long; the rest is sent later")))
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let sent = runtime.map_err(anyhow::Error::from).and_then(|runtime| runtime.block_on(sending));
    match sent {
        Ok(None) => {}
        Ok(Some(turns)) => files.log("deliver -", started.elapsed(), Ok(&format!("{turns} turns sent"))),
        Err(error) => files.log("deliver -", started.elapsed(), Err(&format!("{error:#}"))),
    }
    ExitCode::SUCCESS
}

/// Sends all that waits; gives how many turns that were, or `None` where nothing did.
async fn deliver(mut settings: Settings, files: &HookFiles, start: bool) -> anyhow::Result<Option<u64>> {
    settings.store.tidy()?;
    if start {
        // The database and the model are made ready by the process itself.
        drop(Client::connect(&settings).await?);
    }
    let patience = Instant::now() + LOCK_PATIENCE;
    let _lock = loop {
        match files.try_lock()? {
            Some(lock) => break lock,
            None if Instant::now() > patience => return Ok(None),
            None => tokio::time::sleep(PAUSE).await,
        }
    };
    let mut turns = None;
    while let Some((taken, waiting)) = files.take() {
        settings.namespace.clone_from(&waiting.namespace);
        let Some(client) = Client::connect_running(&settings).await? else {
            anyhow::bail!("no server runs; the turns wait");
        };
        *turns.get_or_insert(0) += send(&client, files, &waiting).await?;
        let _ = std::fs::remove_file(taken);
    }
    files.prune();
    Ok(turns)
}

/// Sends the turns of a session from the last one on that was sent, which may have grown.
async fn send(client: &Client, files: &HookFiles, waiting: &Waiting) -> anyhow::Result<u64> {
    let name = waiting.transcript.display();
    let mut sent = files.sent(waiting);
    let opened = waiting
        .host
        .parse()
        .ok()
        .and_then(|host: Host| Transcript::open(host, &waiting.transcript, sent.offset).ok());
    let Some((mut transcript, begun)) = opened else {
        files.log("deliver -", Duration::ZERO, Err(&format!("the transcript {name} cannot be opened")));
        return Ok(0);
    };
    // It is shorter than it was: another one, which is sent from its beginning.
    if begun != sent.offset {
        sent = Sent::default();
    }
    let (mut count, mut index) = (0, sent.turn_index);
    while let Some(at) = transcript.next_turn()? {
        let arguments = given(json!({
            "content": at.turn.text, "context": "conversation", "role": at.turn.role.as_str(),
            "conversation_id": conversation_id(&waiting.host, &waiting.session_id), "turn_index": index,
            "date": at.turn.at.map(|at| at.to_string()), "source": waiting.host, "source_id": at.turn.id,
            "tags": waiting.tags,
        }));
        let answer = client.call("remember", arguments).await?;
        if answer.is_refusal {
            let trouble = format!("turn {index} of {name} was refused: {}", answer.reason());
            // The database may be away. What was refused several times would be so again: the next turns go on.
            if sent.refusals < REFUSALS_MAX {
                files.note_sent(waiting, Sent { refusals: sent.refusals + 1, ..sent })?;
                anyhow::bail!(trouble);
            }
            files.log("deliver -", Duration::ZERO, Err(&trouble));
        }
        sent = Sent { offset: at.offset, turn_index: index, refusals: 0 };
        (count, index) = (count + 1, index + 1);
        if count % NOTED_EVERY == 0 {
            files.note_sent(waiting, sent)?;
        }
    }
    files.note_sent(waiting, sent)?;
    Ok(count)
}
