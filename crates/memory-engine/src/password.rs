//! The one password of the installation: set on the command line, asked for where a person in a browser has to be the owner.

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use futures::future::BoxFuture;
use memory_core::Invalid;
use memory_core::access::Audited;
use memory_store::audit::{self, Entry};
use memory_store::{Store, password};
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;

use crate::EngineError;

const MIN_CHARS: usize = 12;
const MAX_BYTES: usize = 1_000;
/// Each check takes 19 MiB and tens of milliseconds of a processor; others wait.
static CHECKS: Semaphore = Semaphore::const_new(2);

/// Which password was right: another one, and the same set anew, has another mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PasswordMark([u8; 32]);

impl PasswordMark {
    fn of(hash: &str) -> Self {
        Self(Sha256::digest(hash).into())
    }
}

/// What a password that somebody gave is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasswordCheck {
    Right(PasswordMark),
    Wrong,
    /// None was set, so none is right.
    NotSet,
}

/// The password. How often it may be tried is up to whoever asks for it.
#[derive(Clone)]
pub struct AdminPassword {
    store: Store,
    audited: Audited,
}

impl AdminPassword {
    pub(crate) fn new(store: Store, audited: Audited) -> Self {
        Self { store, audited }
    }

    /// Whether this is the password.
    pub fn check<'a>(&'a self, given: &'a str) -> BoxFuture<'a, Result<PasswordCheck, EngineError>> {
        Box::pin(async move {
            let Some(hash) = password::find(&mut *self.store.acquire_across().await?).await? else {
                return Ok(PasswordCheck::NotSet);
            };
            if given.len() > MAX_BYTES {
                return Ok(PasswordCheck::Wrong);
            }
            let mark = PasswordMark::of(&hash);
            let given = given.to_owned();
            let is_right = hashing(move || {
                PasswordHash::new(&hash)
                    .is_ok_and(|hash| Argon2::default().verify_password(given.as_bytes(), &hash).is_ok())
            });
            Ok(if is_right.await? { PasswordCheck::Right(mark) } else { PasswordCheck::Wrong })
        })
    }

    pub fn is_set(&self) -> BoxFuture<'_, Result<bool, EngineError>> {
        Box::pin(async move { Ok(password::find(&mut *self.store.acquire_across().await?).await?.is_some()) })
    }

    /// Whether the password is still the one that was right.
    pub fn is_still(&self, mark: PasswordMark) -> BoxFuture<'_, Result<bool, EngineError>> {
        Box::pin(async move {
            let hash = password::find(&mut *self.store.acquire_across().await?).await?;
            Ok(hash.is_some_and(|hash| PasswordMark::of(&hash) == mark))
        })
    }

    /// From now on this is the password. What was consented to with the last one stays.
    pub fn set<'a>(&'a self, given: &'a str) -> BoxFuture<'a, Result<(), EngineError>> {
        Box::pin(async move {
            let chars = given.chars().count();
            if chars < MIN_CHARS || given.len() > MAX_BYTES {
                return Err(Invalid::new(format!(
                    "the password has {chars} characters; use at least {MIN_CHARS}, and at most {MAX_BYTES} bytes"
                ))
                .into());
            }
            let given = given.to_owned();
            let hashed = hashing(move || {
                Argon2::default().hash_password(given.as_bytes()).map(|hash| hash.to_string())
            });
            let hash =
                hashed.await?.map_err(|error| Invalid(format!("the password cannot be hashed ({error})")))?;
            let mut tx = self.store.begin_across().await?;
            password::set(&mut tx, &hash).await?;
            self.record(&mut tx, "password set").await?;
            Ok(tx.commit().await?)
        })
    }

    /// From now on no password is right. Gives whether there was one.
    pub fn remove(&self) -> BoxFuture<'_, Result<bool, EngineError>> {
        Box::pin(async move {
            let mut tx = self.store.begin_across().await?;
            let was_set = password::remove(&mut tx).await?;
            self.record(&mut tx, "password remove").await?;
            tx.commit().await?;
            Ok(was_set)
        })
    }

    async fn record(&self, tx: &mut memory_store::Tx, action: &str) -> Result<(), EngineError> {
        if self.audited == Audited::Off {
            return Ok(());
        }
        Ok(audit::insert(tx, &Entry::of_operator(action, Vec::new())).await?)
    }
}

async fn hashing<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, EngineError> {
    let turn = CHECKS.acquire().await.ok();
    let done = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        work()
    });
    Ok(done.await?)
}
