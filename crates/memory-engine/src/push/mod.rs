//! [`Push`]: telling other programs what has happened: webhooks, and the feed that streams read.
//!
//! The database's triggers write the feed. Here it is numbered, sent and read; decision 24.

mod sending;
mod signature;

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use jiff::Timestamp;
use memory_core::Invalid;
use memory_core::access::Audited;
use memory_core::feed::{FeedEntry, FeedKind};
use memory_core::id::Namespace;
use memory_network::{Chosen, check_address};
use memory_store::audit::{self, Entry};
pub use memory_store::webhooks::{DeliveryFilter, DeliveryRow, WebhookRow};
use memory_store::webhooks::{Sent, Target};
use memory_store::{Store, Tx, feed, webhooks};
use serde_json::json;

use crate::EngineError;
use crate::error::chain;
use crate::recovery::Recovery;
use crate::settings::EngineSettings;

/// Webhooks of a namespace.
const WEBHOOKS_MAX: i64 = 20;
const URL_MAX_CHARS: usize = 2_000;
/// Entries that a stream reads at a time.
const READ_AT_ONCE: i64 = 200;
/// How long a receiver has to take a message.
const SEND_TIMEOUT: Duration = Duration::from_secs(15);

/// Webhooks and the feed.
#[derive(Clone)]
pub struct Push {
    store: Store,
    recovery: Recovery,
    settings: Arc<EngineSettings>,
}

/// A webhook that was just made; its secret is shown this once.
pub struct NewWebhook {
    pub webhook_id: String,
    pub secret: String,
}

/// How a test message was answered.
#[derive(Debug, Clone)]
pub struct Tried {
    pub message_id: String,
    pub status: Option<u16>,
    /// Why it was not taken; `None` where it was.
    pub error: Option<String>,
}

/// What a stream reads next.
#[derive(Debug, Clone)]
pub struct FeedPage {
    pub entries: Vec<FeedEntry>,
    /// What there was up to this number was deleted, or is of an earlier feed: the reader has missed it.
    pub missed_to: Option<i64>,
}

impl Push {
    pub(crate) fn new(store: Store, recovery: Recovery, settings: Arc<EngineSettings>) -> Self {
        Self { store, recovery, settings }
    }

    /// A webhook that is sent what happens in the namespace from now on: all of it, or these kinds.
    pub fn add<'a>(
        &'a self,
        ns: &'a Namespace,
        url: &'a str,
        kinds: &'a [FeedKind],
        may_be_private: bool,
    ) -> BoxFuture<'a, Result<NewWebhook, EngineError>> {
        Box::pin(async move {
            if url.chars().count() > URL_MAX_CHARS {
                return Err(Invalid(format!("the address has more than {URL_MAX_CHARS} characters")).into());
            }
            check_address(url, chosen(may_be_private)).await.map_err(|Invalid(why)| {
                let hint = if !may_be_private && (why.contains("private network") || why.contains("is not https"))
                {
                    "; --allow-private allows receivers in private networks and on this machine, over http too"
                } else {
                    ""
                };
                Invalid(format!("{why}{hint}"))
            })?;
            let secret: [u8; 32] = rand::random();
            let id: [u8; 6] = rand::random();
            let target = Target {
                webhook_id: id.iter().fold("hook_".to_owned(), |id, byte| format!("{id}{byte:02x}")),
                url: url.to_owned(),
                may_be_private,
                secret: secret.to_vec(),
            };
            let mut tx = self.store.begin(ns).await?;
            if webhooks::count(&mut tx, ns).await? >= WEBHOOKS_MAX {
                let error = format!(
                    "the namespace {ns} has {WEBHOOKS_MAX} webhooks already; remove one with `remembrancer webhooks remove ID`"
                );
                return Err(Invalid(error).into());
            }
            webhooks::insert(&mut tx, ns, &target, kinds).await?;
            self.record(&mut tx, "webhooks add", ns, &target.webhook_id).await?;
            tx.commit().await?;
            Ok(NewWebhook { webhook_id: target.webhook_id, secret: signature::shown(&secret) })
        })
    }

    pub fn list<'a>(&'a self, ns: &'a Namespace) -> BoxFuture<'a, Result<Vec<WebhookRow>, EngineError>> {
        Box::pin(async move { Ok(webhooks::list(&mut *self.store.acquire(ns).await?, ns).await?) })
    }

    /// Removes a webhook with what it was still to be sent.
    pub fn remove<'a>(
        &'a self,
        ns: &'a Namespace,
        webhook_id: &'a str,
    ) -> BoxFuture<'a, Result<(), EngineError>> {
        Box::pin(async move {
            let mut tx = self.store.begin(ns).await?;
            if !webhooks::delete(&mut tx, ns, webhook_id).await? {
                return Err(no_webhook(ns, webhook_id).into());
            }
            self.record(&mut tx, "webhooks remove", ns, webhook_id).await?;
            Ok(tx.commit().await?)
        })
    }

    /// Sends a message of the type `webhook.test` now, once.
    pub fn test<'a>(
        &'a self,
        ns: &'a Namespace,
        webhook_id: &'a str,
    ) -> BoxFuture<'a, Result<Tried, EngineError>> {
        Box::pin(async move {
            let target = webhooks::target(&mut *self.store.acquire(ns).await?, ns, webhook_id).await?;
            let target = target.ok_or_else(|| no_webhook(ns, webhook_id))?;
            let message_id = format!("msg_{}", uuid::Uuid::new_v4().simple());
            let message = json!({
                "type": "webhook.test", "timestamp": Timestamp::now().to_string(), "data": { "namespace": ns.as_str() },
            });
            let poster = sending::poster(&target).await?;
            let sent = sending::send(&poster, &target, &message_id, &message, &[]).await;
            Ok(match sent {
                Sent::Taken { status } => Tried { message_id, status: Some(status), error: None },
                Sent::Refused { status, error, .. } => Tried { message_id, status, error: Some(error) },
            })
        })
    }

    /// The newest deliveries of the namespace.
    pub fn deliveries<'a>(
        &'a self,
        ns: &'a Namespace,
        filter: &'a DeliveryFilter,
        limit: i64,
    ) -> BoxFuture<'a, Result<Vec<DeliveryRow>, EngineError>> {
        Box::pin(async move {
            Ok(webhooks::deliveries(&mut *self.store.acquire(ns).await?, ns, filter, limit).await?)
        })
    }

    /// Has dead deliveries sent again; gives how many.
    pub fn resend<'a>(
        &'a self,
        ns: &'a Namespace,
        filter: &'a DeliveryFilter,
    ) -> BoxFuture<'a, Result<u64, EngineError>> {
        Box::pin(async move {
            let mut tx = self.store.begin(ns).await?;
            if let Some(id) = &filter.webhook_id
                && webhooks::target(&mut tx, ns, id).await?.is_none()
            {
                return Err(no_webhook(ns, id).into());
            }
            let again = webhooks::resend(&mut tx, ns, filter).await?;
            let of = filter.webhook_id.as_deref().unwrap_or("all");
            self.record(&mut tx, "webhooks resend", ns, of).await?;
            tx.commit().await?;
            Ok(again)
        })
    }

    /// Begins a stream of the namespace; gives the number of the last entry.
    pub fn begin_stream<'a>(&'a self, ns: &'a Namespace) -> BoxFuture<'a, Result<i64, EngineError>> {
        Box::pin(async move {
            self.recovery
                .retry_transient(|| async {
                    let mut tx = self.store.begin(ns).await?;
                    feed::begin(&mut tx, ns, true).await?;
                    let ends = feed::ends(&mut tx, ns).await?;
                    tx.commit().await?;
                    Ok(ends.map_or(0, |(last, _)| last))
                })
                .await
        })
    }

    /// What has happened after a number.
    pub fn read<'a>(&'a self, ns: &'a Namespace, seq: i64) -> BoxFuture<'a, Result<FeedPage, EngineError>> {
        Box::pin(async move {
            self.recovery
                .retry_transient(|| async {
                    self.publish().await?;
                    let mut conn = self.store.acquire(ns).await?;
                    let (last, dropped) = feed::ends(&mut conn, ns).await?.unwrap_or_default();
                    // A number beyond the last is of a feed that ended, or of another database.
                    let (from, missed_to) = match seq {
                        seq if seq > last => (dropped, Some(dropped)),
                        seq if seq < dropped => (dropped, Some(dropped)),
                        seq => (seq, None),
                    };
                    let entries = feed::after(&mut conn, ns, from, READ_AT_ONCE).await?;
                    Ok(FeedPage { entries, missed_to })
                })
                .await
        })
    }

    /// Numbers what was committed and queues it for webhooks; gives how many entries there were.
    async fn publish(&self) -> Result<usize, EngineError> {
        let mut tx = self.store.begin_across().await?;
        let published = feed::publish(&mut tx).await?;
        tx.commit().await?;
        Ok(published)
    }

    /// Makes deliveries due that a killed process has left; for the only process of a database that sends.
    pub fn expire_leases(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let expired = async { webhooks::expire_leases(&mut *self.store.acquire_across().await?).await };
            if let Err(error) = expired.await {
                tracing::warn!(error = %chain(&error), "failed to expire the leases of deliveries; they wait until they end");
            }
        })
    }

    async fn record(&self, tx: &mut Tx, action: &str, ns: &Namespace, id: &str) -> Result<(), EngineError> {
        if self.settings.audited == Audited::Off {
            return Ok(());
        }
        let entry = Entry::of_operator(action, vec![id.to_owned()]);
        Ok(audit::insert(tx, &Entry { namespace: Some(ns.clone()), ..entry }).await?)
    }
}

/// Where the receivers of a webhook may be.
fn chosen(may_be_private: bool) -> Chosen {
    if may_be_private { Chosen::ByOperator } else { Chosen::ByStrangers }
}

fn no_webhook(ns: &Namespace, id: &str) -> Invalid {
    Invalid(format!(
        "there is no webhook {:?} in the namespace {ns}; `remembrancer webhooks list` shows those that there are",
        memory_language::text::cut(id, 80)
    ))
}
