//! Access: which keys there are, and whether one opens.
//!
//! A key is looked up in the database at every request, by its primary key: what is revoked by any process opens nothing
//! from then on, and there is no cache that could be behind.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use jiff::Timestamp;
use memory_core::Invalid;
use memory_core::access::{Audited, DrawnKey, GivenKey, Grant, KeyId, KeyKind};
use memory_store::audit::{self, Entry};
use memory_store::keys;
pub use memory_store::keys::{KeyRow, KeyState};
use memory_store::{Store, Tx, oauth};

use crate::EngineError;
use crate::error::chain;
use crate::locking::locked;
use crate::recovery::Recovery;

/// How long the question whether there are keys may take before the last answer holds.
const ASK_TIMEOUT: Duration = Duration::from_secs(2);
/// The longest overlap of a rotation, in minutes.
pub const OVERLAP_MAX_MINUTES: i32 = 7 * 24 * 60;

/// The keys of an installation. Clones share what was last seen.
#[derive(Clone)]
pub struct Access {
    store: Store,
    recovery: Recovery,
    audited: Audited,
    /// Whether there were keys when the database was last asked.
    seen: Arc<Mutex<Option<bool>>>,
}

impl Access {
    pub(crate) fn new(store: Store, recovery: Recovery, audited: Audited) -> Self {
        Self { store, recovery, audited, seen: Arc::default() }
    }

    /// What a key opens; `None` where it opens nothing, whatever the reason.
    pub fn opened_by<'a>(&'a self, given: &'a GivenKey) -> BoxFuture<'a, Result<Option<Grant>, EngineError>> {
        Box::pin(async move {
            let found = self.recovery.retry_transient(|| async {
                let mut conn = self.store.acquire_across().await?;
                let opened = match given.kind {
                    KeyKind::Key => keys::find(&mut conn, given).await?,
                    KeyKind::AccessToken => oauth::find(&mut conn, given).await?,
                    KeyKind::Issued { .. } => None,
                };
                conn.done();
                Ok(opened)
            });
            let Some(opened) = found.await? else { return Ok(None) };
            if opened.is_use_stale
                && let Err(error) = self.note_use(given).await
            {
                // It still opens where the database takes no changes.
                tracing::warn!(error = %chain(&error), key.id = %given.id, "failed to note the use of a key");
            }
            Ok(Some(opened.grant))
        })
    }

    async fn note_use(&self, given: &GivenKey) -> Result<(), EngineError> {
        let mut tx = self.store.begin_across().await?;
        tx.may_be_lost().await?;
        match given.kind {
            KeyKind::Key => keys::note_use(&mut tx, &given.id).await?,
            KeyKind::AccessToken => oauth::note_use(&mut tx, &given.id).await?,
            KeyKind::Issued { .. } => {}
        }
        Ok(tx.commit().await?)
    }

    /// Whether there are keys, so that nobody comes in without one; revoked and expired ones count, or revoking the last would
    /// open what it was to close. While the database cannot be asked, its last answer holds: nothing can be read then.
    pub fn has_keys(&self) -> BoxFuture<'_, Result<bool, EngineError>> {
        Box::pin(async move {
            let asking = async {
                let mut conn = self.store.acquire_across().await?;
                let has_keys = keys::are_there_any(&mut conn).await?;
                conn.done();
                Ok(has_keys)
            };
            let found: Option<Result<bool, EngineError>> =
                tokio::time::timeout(ASK_TIMEOUT, asking).await.ok();
            if let Some(Ok(has_keys)) = found {
                *locked(&self.seen) = Some(has_keys);
                return Ok(has_keys);
            }
            match (self.last_seen_keys(), found) {
                (Some(has_keys), _) => Ok(has_keys),
                (None, Some(Err(error))) => Err(error),
                (None, _) => {
                    Err(EngineError::Busy("The database did not answer in time; try again.".to_owned()))
                }
            }
        })
    }

    /// What [`has_keys`](Self::has_keys) last found; `None` before its first answer.
    pub fn last_seen_keys(&self) -> Option<bool> {
        *locked(&self.seen)
    }

    /// A new key. Its text is known from here on to the caller alone.
    pub fn create<'a>(
        &'a self,
        grant: &'a Grant,
        expires_at: Option<Timestamp>,
    ) -> BoxFuture<'a, Result<DrawnKey, EngineError>> {
        Box::pin(async move {
            let mut tx = self.store.begin_across().await?;
            if keys::is_name_taken(&mut tx, &grant.name).await? {
                return Err(Invalid::new(format!(
                    "there is a key named {:?} already; choose another name, or revoke that one",
                    grant.name
                ))
                .into());
            }
            let drawn = keys::draw();
            keys::insert(&mut tx, &drawn.key, grant, expires_at).await?;
            self.record(&mut tx, "keys create", &drawn.key.id).await?;
            tx.commit().await?;
            Ok(drawn)
        })
    }

    /// The newest keys, newest first.
    pub fn list(&self, limit: i64) -> BoxFuture<'_, Result<Vec<KeyRow>, EngineError>> {
        Box::pin(async move { Ok(keys::list(&mut *self.store.acquire_across().await?, limit).await?) })
    }

    /// From now on the key opens nothing.
    pub fn revoke<'a>(&'a self, id_or_name: &'a str) -> BoxFuture<'a, Result<KeyRow, EngineError>> {
        Box::pin(async move {
            let mut tx = self.store.begin_across().await?;
            let key = named(&mut tx, id_or_name).await?;
            keys::revoke(&mut tx, &key.id).await?;
            self.record(&mut tx, "keys revoke", &key.id).await?;
            tx.commit().await?;
            Ok(key)
        })
    }

    /// Another secret for a key that is live; the present one opens for some minutes more.
    pub fn rotate<'a>(
        &'a self,
        id_or_name: &'a str,
        overlap_minutes: i32,
    ) -> BoxFuture<'a, Result<(KeyRow, DrawnKey), EngineError>> {
        Box::pin(async move {
            let mut tx = self.store.begin_across().await?;
            let key = named(&mut tx, id_or_name).await?;
            if key.state != KeyState::Live {
                return Err(Invalid::new(format!(
                    "the key {} is {}; make a new one with `remembrancer keys create`",
                    key.id,
                    key.state.as_str()
                ))
                .into());
            }
            let drawn = keys::draw_again(&key.id);
            keys::replace_secret(&mut tx, &drawn.key, overlap_minutes).await?;
            self.record(&mut tx, "keys rotate", &key.id).await?;
            tx.commit().await?;
            Ok((key, drawn))
        })
    }

    /// Removes the row of a key that opens nothing any more.
    pub fn delete<'a>(&'a self, id_or_name: &'a str) -> BoxFuture<'a, Result<KeyRow, EngineError>> {
        Box::pin(async move {
            let mut tx = self.store.begin_across().await?;
            let key = named(&mut tx, id_or_name).await?;
            if key.state == KeyState::Live {
                return Err(Invalid::new(format!(
                    "the key {} is live; revoke it first with `remembrancer keys revoke {}`",
                    key.id, key.id
                ))
                .into());
            }
            keys::delete(&mut tx, &key.id).await?;
            self.record(&mut tx, "keys delete", &key.id).await?;
            tx.commit().await?;
            Ok(key)
        })
    }

    /// Records what an operator did with a key, in the transaction that does it.
    async fn record(&self, tx: &mut Tx, action: &str, id: &KeyId) -> Result<(), EngineError> {
        if self.audited == Audited::Off {
            return Ok(());
        }
        Ok(audit::insert(tx, &Entry::of_operator(action, vec![id.to_string()])).await?)
    }
}

/// The key of an id or a name. People paste whole keys as well: what comes after the id is left out.
async fn named(tx: &mut Tx, given: &str) -> Result<KeyRow, EngineError> {
    let id_or_name = GivenKey::parse(given).map_or_else(|| given.to_owned(), |key| key.id.to_string());
    let found = keys::named(tx, &id_or_name).await?;
    let missing = || {
        let shown = memory_language::text::cut(&id_or_name, 80);
        Invalid::new(format!(
            "there is no key {shown:?}; `remembrancer keys list` shows those that there are"
        ))
    };
    Ok(found.ok_or_else(missing)?)
}
