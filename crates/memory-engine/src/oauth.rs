//! The built-in authorization server: clients that may ask, what was consented to, and the exchange of codes and tokens.
//!
//! A code and a refresh token are exchanged once. One that comes a second time has been copied, so its consent ends, and
//! with it every token of it.

use std::time::Duration;

use futures::future::BoxFuture;
use jiff::Timestamp;
use memory_core::Invalid;
use memory_core::access::{Audited, DrawnToken, GivenToken, Grant, KeyId, Role, TokenKind};
use memory_store::audit::{self, Entry};
use memory_store::oauth::{self, TokenRow};
pub use memory_store::oauth::{ClientRow, ConsentRow};
use memory_store::{Store, Tx};
use serde_json::Value;

use crate::EngineError;

/// How long a person may take to decide, a client to exchange its code, and how long tokens last.
const TICKET_LIFETIME: Duration = Duration::from_secs(10 * 60);
const CODE_LIFETIME: Duration = Duration::from_secs(60);
const ACCESS_LIFETIME: Duration = Duration::from_secs(60 * 60);
/// From one use to the next.
const REFRESH_LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How long a client that named itself waits for consent, and how many of these there are.
const UNUSED_CLIENT_AGE: Duration = Duration::from_secs(7 * 24 * 60 * 60);
const UNUSED_CLIENTS_MAX: i64 = 1_000;
/// Rows that are over and go along with a change.
const TIDIED: i64 = 1_000;

/// What is asked of the built-in authorization server.
#[derive(Clone)]
pub struct OAuth {
    store: Store,
    audited: Audited,
}

/// A consent that was given.
#[derive(Debug, Clone)]
pub struct NewConsent<'a> {
    pub client_id: &'a str,
    /// With the resource that its tokens are for.
    pub grant: &'a Grant,
    pub redirect_uri: &'a str,
    pub challenge: &'a str,
}

/// A pair of tokens. Their texts are known from here on to the client alone.
pub struct TokenPair {
    pub access: String,
    pub refresh: String,
    pub expires_in: Duration,
    pub role: Role,
}

/// What a client proves of itself when it exchanges a code or a token.
#[derive(Debug, Clone, Copy)]
pub struct Exchange<'a> {
    pub client_id: &'a str,
    /// The resource that it means; that of the consent when it names none.
    pub resource: Option<&'a str>,
    /// Of a code: where it was sent, if the client says so, and the SHA-256 of the verifier.
    pub of_code: Option<(Option<&'a str>, &'a str)>,
}

/// Why there are no tokens; these are the words of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotExchanged {
    /// Unknown, over, used, of another client, or with a wrong verifier. Which, is not said.
    InvalidGrant,
    InvalidTarget,
}

impl OAuth {
    pub(crate) fn new(store: Store, audited: Audited) -> Self {
        Self { store, audited }
    }

    /// Lets a client ask for consent; gives its id.
    pub fn register<'a>(
        &'a self,
        name: &'a str,
        redirect_uris: Vec<String>,
        is_of_operator: bool,
    ) -> BoxFuture<'a, Result<ClientRow, EngineError>> {
        Box::pin(async move {
            let mut tx = self.store.begin_across().await?;
            if !is_of_operator {
                oauth::tidy_clients(&mut tx, UNUSED_CLIENT_AGE, UNUSED_CLIENTS_MAX - 1).await?;
            }
            let id = format!("client_{}{}", oauth::draw_id(), oauth::draw_id());
            let (name, created_at) = (name.to_owned(), Timestamp::now());
            let client = ClientRow { id, name, redirect_uris, is_of_operator, created_at };
            oauth::insert_client(&mut tx, &client).await?;
            if is_of_operator {
                self.record(&mut tx, "clients add", &client.id).await?;
            }
            tx.commit().await?;
            Ok(client)
        })
    }

    pub fn client<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<ClientRow>, EngineError>> {
        Box::pin(async move { Ok(oauth::client(&mut *self.store.acquire_across().await?, id).await?) })
    }

    /// The newest clients, newest first.
    pub fn clients(&self, limit: i64) -> BoxFuture<'_, Result<Vec<ClientRow>, EngineError>> {
        Box::pin(async move { Ok(oauth::clients(&mut *self.store.acquire_across().await?, limit).await?) })
    }

    /// The client may ask no more. What was consented to stays until it is revoked.
    pub fn remove_client<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), EngineError>> {
        Box::pin(async move {
            let mut tx = self.store.begin_across().await?;
            if !oauth::delete_client(&mut tx, id).await? {
                let shown = memory_language::text::cut(id, 80);
                return Err(Invalid::new(format!(
                    "there is no client {shown:?}; `remembrancer clients list` shows those that there are"
                ))
                .into());
            }
            self.record(&mut tx, "clients remove", id).await?;
            Ok(tx.commit().await?)
        })
    }

    /// Keeps a request for which the password was given, until it is decided; gives the ticket for that.
    pub fn begin_consent<'a>(&'a self, request: &'a Value) -> BoxFuture<'a, Result<String, EngineError>> {
        Box::pin(async move {
            let (ticket, hash) = oauth::draw_ticket();
            let mut tx = self.store.begin_across().await?;
            oauth::insert_ticket(&mut tx, &hash, request, TICKET_LIFETIME).await?;
            tx.commit().await?;
            Ok(ticket)
        })
    }

    /// The request of a ticket, which serves once.
    pub fn take_ticket<'a>(&'a self, ticket: &'a str) -> BoxFuture<'a, Result<Option<Value>, EngineError>> {
        Box::pin(async move {
            let hash = oauth::hash_of_ticket(ticket);
            let mut tx = self.store.begin_across().await?;
            let request = oauth::take_ticket(&mut tx, &hash).await?;
            tx.commit().await?;
            Ok(request)
        })
    }

    /// Keeps a consent; gives the code for the client.
    pub fn consent<'a>(&'a self, new: &'a NewConsent<'a>) -> BoxFuture<'a, Result<String, EngineError>> {
        Box::pin(async move {
            let (id, mut tx) = (oauth::draw_id(), self.store.begin_across().await?);
            oauth::tidy_tokens(&mut tx, TIDIED).await?;
            oauth::insert_consent(&mut tx, &id, new.client_id, new.grant).await?;
            let code = oauth::draw(TokenKind::Code, &id);
            oauth::insert_token(&mut tx, &code.token, CODE_LIFETIME, Some((new.redirect_uri, new.challenge)))
                .await?;
            self.record_of(&mut tx, &id, &new.grant.name, "consent").await?;
            tx.commit().await?;
            Ok(code.text)
        })
    }

    /// Exchanges a code or a refresh token, which serves once, for a pair of tokens.
    pub fn exchange<'a>(
        &'a self,
        given: &'a GivenToken,
        proof: Exchange<'a>,
    ) -> BoxFuture<'a, Result<Result<TokenPair, NotExchanged>, EngineError>> {
        Box::pin(async move {
            let mut tx = self.store.begin_across().await?;
            let Some(row) =
                oauth::token(&mut tx, given).await?.filter(|row| row.client_id == proof.client_id)
            else {
                return Ok(Err(NotExchanged::InvalidGrant));
            };
            if row.is_revoked {
                return Ok(Err(NotExchanged::InvalidGrant));
            }
            if row.is_used {
                tracing::warn!(consent = %given.consent, kind = %given.kind, "a token came twice; its consent was revoked");
                oauth::revoke(&mut tx, &given.consent).await?;
                self.record_of(&mut tx, &given.consent, &row.grant.name, "token used twice").await?;
                tx.commit().await?;
                return Ok(Err(NotExchanged::InvalidGrant));
            }
            // A code is spent also by a failure: whoever fails is not whom it was made for.
            if given.kind == TokenKind::Code || is_right(&row, proof).is_ok() {
                oauth::use_up(&mut tx, given).await?;
            }
            let exchanged = match is_right(&row, proof) {
                Ok(()) => Ok(pair(&mut tx, &given.consent, row.grant.role).await?),
                Err(why) => Err(why),
            };
            tx.commit().await?;
            Ok(exchanged)
        })
    }

    /// Ends a token that its client gives back: a refresh token with its whole consent, an access token alone.
    pub fn give_back<'a>(
        &'a self,
        given: &'a GivenToken,
        client_id: Option<&'a str>,
    ) -> BoxFuture<'a, Result<(), EngineError>> {
        Box::pin(async move {
            let mut tx = self.store.begin_across().await?;
            let is_its = |row: &TokenRow| client_id.is_none_or(|client| client == row.client_id);
            let Some(row) = oauth::token(&mut tx, given).await?.filter(is_its) else { return Ok(()) };
            match given.kind {
                TokenKind::Access => oauth::delete_token(&mut tx, given).await?,
                TokenKind::Code | TokenKind::Refresh => oauth::revoke(&mut tx, &given.consent).await?,
            }
            self.record_of(&mut tx, &given.consent, &row.grant.name, "token given back").await?;
            Ok(tx.commit().await?)
        })
    }

    /// The newest consents, newest first.
    pub fn consents(&self, limit: i64) -> BoxFuture<'_, Result<Vec<ConsentRow>, EngineError>> {
        Box::pin(async move { Ok(oauth::consents(&mut *self.store.acquire_across().await?, limit).await?) })
    }

    /// Ends the consent of this id, or all of this client or name.
    pub fn revoke<'a>(&'a self, named: &'a str) -> BoxFuture<'a, Result<Vec<ConsentRow>, EngineError>> {
        Box::pin(async move {
            let mut tx = self.store.begin_across().await?;
            let consents = oauth::consents_named(&mut tx, named).await?;
            if consents.is_empty() {
                let shown = memory_language::text::cut(named, 80);
                return Err(Invalid::new(format!(
                    "nothing was consented to under {shown:?}; `remembrancer tokens list` shows what was"
                ))
                .into());
            }
            for consent in &consents {
                oauth::revoke(&mut tx, &consent.id).await?;
                self.record(&mut tx, "tokens revoke", consent.id.as_str()).await?;
            }
            tx.commit().await?;
            Ok(consents)
        })
    }

    /// Records what an operator did with a client or a consent.
    async fn record(&self, tx: &mut Tx, action: &str, id: &str) -> Result<(), EngineError> {
        self.insert(tx, Entry::of_operator(action, vec![id.to_owned()])).await
    }

    /// Records what a client did with its consent.
    async fn record_of(
        &self,
        tx: &mut Tx,
        consent: &KeyId,
        who: &str,
        action: &str,
    ) -> Result<(), EngineError> {
        let (key, who) = (Some(consent.clone()), who.to_owned());
        self.insert(tx, Entry { key, who, ..Entry::of_operator(action, vec![consent.to_string()]) }).await
    }

    async fn insert(&self, tx: &mut Tx, entry: Entry) -> Result<(), EngineError> {
        if self.audited == Audited::Off {
            return Ok(());
        }
        Ok(audit::insert(tx, &entry).await?)
    }
}

fn is_right(row: &TokenRow, proof: Exchange<'_>) -> Result<(), NotExchanged> {
    let (uri, challenge) = (row.redirect_uri.as_deref(), row.challenge.as_deref());
    let is_proven = match proof.of_code {
        Some((given, proven)) => challenge == Some(proven) && (given.is_none() || given == uri),
        None => challenge.is_none(),
    };
    if row.is_over || !is_proven {
        return Err(NotExchanged::InvalidGrant);
    }
    match (proof.resource, row.grant.resource.as_deref()) {
        (Some(meant), Some(bound)) if meant != bound => Err(NotExchanged::InvalidTarget),
        _ => Ok(()),
    }
}

async fn pair(tx: &mut Tx, consent: &KeyId, role: Role) -> Result<TokenPair, EngineError> {
    oauth::tidy_tokens(tx, TIDIED).await?;
    let draw = |kind| -> DrawnToken { oauth::draw(kind, consent) };
    let (access, refresh) = (draw(TokenKind::Access), draw(TokenKind::Refresh));
    oauth::insert_token(tx, &access.token, ACCESS_LIFETIME, None).await?;
    oauth::insert_token(tx, &refresh.token, REFRESH_LIFETIME, None).await?;
    Ok(TokenPair { access: access.text, refresh: refresh.text, expires_in: ACCESS_LIFETIME, role })
}
