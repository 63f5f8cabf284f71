//! Sending: due deliveries are claimed with a lease, sent beside each other, and settled. What was not settled is sent again.

use std::collections::HashMap;
use std::time::Duration;

use futures::future::BoxFuture;
use jiff::Timestamp;
use memory_core::Invalid;
use memory_network::{Posted, Poster};
use memory_store::webhooks::{self, ClaimedDelivery, Sent, Target};
use memory_store::{StoreError, feed};
use rand::RngExt;
use serde_json::Value;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Push, SEND_TIMEOUT, chosen, signature};
use crate::EngineError;
use crate::error::chain;
use crate::measures;

/// Messages that a process sends at a time.
const AT_ONCE: usize = 16;
/// How long a delivery belongs to its process: longer than sending takes.
const LEASE: Duration = Duration::from_mins(1);
/// How often due commitments are looked for.
const REMIND_INTERVAL: Duration = Duration::from_secs(30);
/// How long a process that stops lets what it sends be answered.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(3);
/// The longest wait that a receiver may ask for.
const ASKED_WAIT_MAX: Duration = Duration::from_hours(1);
/// From how many receivers on their connections are forgotten.
const POSTERS_MAX: usize = 200;

/// The clients of receivers, by webhook; of each the address that it was made for.
#[derive(Default)]
struct Posters(HashMap<String, (String, Poster)>);

impl Posters {
    async fn of(&mut self, target: &Target) -> Result<Poster, Invalid> {
        if let Some((url, poster)) = self.0.get(&target.webhook_id)
            && *url == target.url
        {
            return Ok(poster.clone());
        }
        let made = poster(target).await?;
        if self.0.len() >= POSTERS_MAX {
            self.0.clear();
        }
        self.0.insert(target.webhook_id.clone(), (target.url.clone(), made.clone()));
        Ok(made)
    }
}

/// The client of a receiver. The certificates of the machine are read for it.
pub(super) async fn poster(target: &Target) -> Result<Poster, Invalid> {
    let (url, chosen) = (target.url.clone(), chosen(target.may_be_private));
    let made = tokio::task::spawn_blocking(move || Poster::new(&url, chosen, SEND_TIMEOUT));
    made.await.unwrap_or_else(|_| Err(Invalid::new("the client of the receiver could not be made")))
}

/// Sends a message; `waits` are those after the attempts that are left.
pub(super) async fn send(
    poster: &Poster,
    target: &Target,
    message_id: &str,
    message: &Value,
    waits: &[Duration],
) -> Sent {
    let body = message.to_string().into_bytes();
    let headers = signature::headers(&target.secret, message_id, Timestamp::now().as_second(), &body);
    let wait = waits.first().copied();
    match poster.post(&headers, body).await {
        Ok(Posted { status: status @ 200..=299, .. }) => Sent::Taken { status },
        Ok(Posted { status: 410, .. }) => Sent::Refused {
            status: Some(410),
            error: "the receiver answered with 410: it wants no more of it".to_owned(),
            wait: None,
        },
        Ok(Posted { status, retry_after }) => Sent::Refused {
            status: Some(status),
            error: format!("the receiver answered with {status}"),
            wait: wait.map(|wait| wait.max(retry_after.unwrap_or_default().min(ASKED_WAIT_MAX))),
        },
        Err(Invalid(error)) => Sent::Refused { status: None, error, wait },
    }
}

impl Push {
    /// Sends what is due until `stop`, and has due commitments reported.
    pub(crate) async fn keep_sending(&self, stop: &CancellationToken) {
        let mut posters = Posters::default();
        let mut sending = JoinSet::new();
        let mut remind_at = Instant::now();
        let mut is_failing = false;
        while !stop.is_cancelled() {
            let begun = async {
                if Instant::now() >= remind_at {
                    remind_at = Instant::now() + REMIND_INTERVAL;
                    self.remind().await?;
                }
                self.begin_due(&mut posters, &mut sending).await
            };
            let begun = begun.await;
            match &begun {
                Err(error) if !is_failing => {
                    tracing::warn!(error = %chain(error), "failed to look for messages to send; trying again");
                }
                Ok(_) if is_failing => tracing::info!("messages are sent again"),
                _ => {}
            }
            is_failing = begun.is_err();
            tokio::select! {
                () = stop.cancelled() => {}
                Some(_) = sending.join_next() => {}
                () = tokio::time::sleep(self.settings.poll_interval) => {}
            }
        }
        let answered =
            tokio::time::timeout(DRAIN_TIMEOUT, async { while sending.join_next().await.is_some() {} });
        let _ = answered.await;
    }

    /// Reports due commitments and sends all that is due; for tests. Gives how many messages were sent.
    pub fn send_due(&self) -> BoxFuture<'_, Result<usize, EngineError>> {
        Box::pin(async move {
            let mut posters = Posters::default();
            let mut sending = JoinSet::new();
            self.remind().await?;
            let mut sent = 0;
            loop {
                let begun = self.begin_due(&mut posters, &mut sending).await?;
                sent += begun;
                if begun == 0 && sending.join_next().await.is_none() {
                    return Ok(sent);
                }
            }
        })
    }

    async fn remind(&self) -> Result<(), EngineError> {
        let mut conn = self.store.acquire_across().await?;
        if feed::is_read(&mut conn).await? {
            feed::remind(&mut conn).await?;
        }
        Ok(())
    }

    /// Begins to send what is due, as far as there is room.
    async fn begin_due(
        &self,
        posters: &mut Posters,
        sending: &mut JoinSet<()>,
    ) -> Result<usize, EngineError> {
        if !feed::is_read(&mut *self.store.acquire_across().await?).await? {
            return Ok(0);
        }
        while self.publish().await? as i64 >= feed::AT_ONCE {}
        let room = AT_ONCE.saturating_sub(sending.len());
        if room == 0 {
            return Ok(0);
        }
        let claimed = webhooks::claim(&mut *self.store.acquire_across().await?, LEASE, room as i64).await?;
        let begun = claimed.len();
        for delivery in claimed {
            let poster = posters.of(&delivery.target).await;
            let push = self.clone();
            sending.spawn(async move {
                if let Err(error) = push.deliver(&delivery, poster).await {
                    tracing::warn!(
                        error = %chain(&error), webhook.id = delivery.target.webhook_id,
                        "failed to settle a delivery; it is sent again when its lease has ended"
                    );
                }
            });
        }
        Ok(begun)
    }

    async fn deliver(
        &self,
        delivery: &ClaimedDelivery,
        poster: Result<Poster, Invalid>,
    ) -> Result<(), StoreError> {
        let entry = webhooks::entry(&mut *self.store.acquire_across().await?, delivery).await?;
        // Forgotten meanwhile, and the delivery with it.
        let Some(entry) = entry else { return Ok(()) };
        let spent = (delivery.attempts.max(0) as usize).min(self.settings.webhook_waits.len());
        let waits: Vec<Duration> =
            self.settings.webhook_waits[spent..].iter().map(|wait| spread(*wait)).collect();
        let sent = match poster {
            Ok(poster) => send(&poster, &delivery.target, &entry.message_id, &entry.message(), &waits).await,
            Err(Invalid(error)) => Sent::Refused { status: None, error, wait: waits.first().copied() },
        };
        measures::webhook_sent(match &sent {
            Sent::Taken { .. } => "taken",
            Sent::Refused { wait: Some(_), .. } => "refused",
            Sent::Refused { wait: None, .. } => "dead",
        });
        if let Sent::Refused { error, wait: None, .. } = &sent {
            tracing::warn!(
                webhook.id = delivery.target.webhook_id,
                reason = error,
                attempt = delivery.attempts + 1,
                "a message was not taken and is not sent again"
            );
        }
        let patience: Duration = self.settings.webhook_waits.iter().sum();
        let mut tx = self.store.begin_across().await?;
        webhooks::settle(&mut tx, delivery, &sent, patience).await?;
        tx.commit().await
    }
}

/// A wait with up to a tenth more, so that what failed together does not come back together.
fn spread(wait: Duration) -> Duration {
    wait.mul_f64(1.0 + rand::rng().random_range(0.0..0.1))
}
