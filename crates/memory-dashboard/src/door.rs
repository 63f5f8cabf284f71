//! Who comes in: what the program that serves the pages says of it.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use memory_core::access::{GivenKey, Grant, KeyId, Role};
use memory_core::id::Namespace;
use memory_engine::password::PasswordMark;
use memory_engine::readiness::Watch;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// The address that a request comes from; what serves the pages puts it into the request.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub IpAddr);

/// Who has been let in. What that opens is asked again at every request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    /// On a machine where there is no key: whoever can reach it.
    Anyone,
    /// The bearer of the token of the installation.
    Token,
    /// The administrator, by the password.
    Password(PasswordMark),
    Key(GivenKey),
}

/// Why nobody is let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignInRefused {
    /// What was given opens nothing.
    Wrong,
    /// It is for some sets of tools alone.
    Narrow,
    /// Too often wrong: so long is to be waited.
    Wait(Duration),
    /// It cannot be found out now.
    Unavailable(String),
}

/// Finds out who brings a secret, a key or another, and counts those that open nothing by the address.
pub type SignIn = Arc<dyn Fn(String, IpAddr) -> BoxFuture<'static, Result<Who, SignInRefused>> + Send + Sync>;
/// Counts a request of a key; an error is how long it has to wait.
pub type CountRequest = Arc<dyn Fn(&KeyId) -> Result<(), Duration> + Send + Sync>;
/// Calls the tool `recall` as an agent does: its answer is what an agent gets.
pub type AskAgent = Arc<dyn Fn(Namespace, Value) -> BoxFuture<'static, Result<Value, String>> + Send + Sync>;

/// What the program gives the pages to work with.
#[derive(Clone)]
pub struct Options {
    pub readiness: Watch,
    pub stop: CancellationToken,
    /// The namespace of who may see all.
    pub namespace: Namespace,
    /// Only this machine reaches the pages and there is no token: where there is no key either, nobody has to sign in.
    pub is_local: bool,
    /// Nothing may be changed by this listener, whoever asks.
    pub is_read_only: bool,
    pub sign_in: SignIn,
    pub count_request: CountRequest,
    pub ask_agent: AskAgent,
    /// The settings as the process has them, without secrets.
    pub settings: Vec<(String, String)>,
    pub version: &'static str,
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("namespace", &self.namespace).finish_non_exhaustive()
    }
}

/// Somebody with what is open to them at this moment.
#[derive(Debug, Clone)]
pub(crate) struct Visitor {
    pub(crate) who: Who,
    /// What narrows them, if anything does.
    pub(crate) grant: Option<Grant>,
    pub(crate) is_read_only: bool,
}

impl Visitor {
    pub(crate) fn name(&self) -> &str {
        match (&self.grant, &self.who) {
            (Some(grant), _) => &grant.name,
            (None, Who::Token) => "REMEMBRANCER_TOKEN",
            (None, Who::Password(_)) => "administrator",
            (None, _) => "this machine",
        }
    }

    pub(crate) fn role(&self) -> Role {
        self.grant.as_ref().map_or(Role::Admin, |grant| grant.role)
    }

    pub(crate) fn may_write(&self) -> bool {
        self.role() >= Role::Writer && !self.is_read_only
    }

    pub(crate) fn is_admin(&self) -> bool {
        self.role() >= Role::Admin
    }

    /// Nothing narrows them: they see all namespaces and the keys.
    pub(crate) fn is_owner(&self) -> bool {
        self.grant.is_none()
    }

    pub(crate) fn opens(&self, namespace: &Namespace) -> bool {
        self.grant.as_ref().is_none_or(|grant| grant.namespace(Some(namespace.as_str())).is_some())
    }

    /// Who an entry of the audit is of; nobody where there are no keys to tell people apart by.
    pub(crate) fn audited_as(&self) -> Option<(Option<KeyId>, String)> {
        match &self.who {
            Who::Anyone => None,
            Who::Key(key) => Some((Some(key.id.clone()), self.name().to_owned())),
            Who::Token | Who::Password(_) => Some((None, self.name().to_owned())),
        }
    }
}
