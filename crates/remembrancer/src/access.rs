//! Who a request comes from, and what that opens: the same for HTTP, the local socket and standard input.

use std::fmt;
use std::sync::{Arc, OnceLock};

use axum::http::Uri;
use jiff::Timestamp;
use memory_core::Invalid;
use memory_core::access::{GivenKey, GivenToken, Grant, KeyId, KeyKind, Role};
use memory_core::id::Namespace;
use memory_engine::{EngineError, Memory};
use memory_language::text::cut;
use url::form_urlencoded;

/// What a request without a key is told where one is needed.
pub(crate) const KEY_NEEDED: &str = "A key is needed: Authorization: Bearer KEY, with REMEMBRANCER_TOKEN or what `remembrancer keys create` \
                                     has shown.";
/// What a request with a key that opens nothing is told; the reason is not revealed.
pub(crate) const KEY_REFUSED: &str =
    "That key opens nothing: it is unknown, revoked or expired. Nothing is done without a key in its place.";
/// Of a namespace that the key is not for, whether or not it is there.
pub(crate) const NAMESPACE_REFUSED: &str =
    "This key is not for that namespace. Name none, and the one that it is for is used.";

/// Who a request comes from.
#[derive(Debug, Clone)]
pub(crate) enum Caller {
    /// The user that the data belongs to, by the local socket.
    Owner,
    /// Over loopback, where there is no token.
    Anonymous {
        /// The database has said that there are no keys either.
        is_confirmed: bool,
    },
    /// The bearer of REMEMBRANCER_TOKEN.
    Token,
    Key(GivenKey, Grant),
}

impl Caller {
    /// The grant that limits the caller; the owner and the token have none.
    pub(crate) fn grant(&self) -> Option<&Grant> {
        match self {
            Self::Key(_, grant) => Some(grant),
            Self::Owner | Self::Anonymous { .. } | Self::Token => None,
        }
    }

    pub(crate) fn key(&self) -> Option<&KeyId> {
        match self {
            Self::Key(key, _) => Some(&key.id),
            Self::Owner | Self::Anonymous { .. } | Self::Token => None,
        }
    }

    /// Whether the caller has an OAuth access token, which its client can replace by one with a higher role.
    pub(crate) fn is_by_oauth(&self) -> bool {
        matches!(self, Self::Key(GivenKey { kind: KeyKind::AccessToken, .. }, _))
    }

    /// Whether the caller may see the state of the installation.
    pub(crate) fn is_admin(&self) -> bool {
        self.grant().is_none_or(|grant| grant.role == Role::Admin)
    }
}

/// The role that a request would have needed, passed from the tool that refused it back to the HTTP layer, which tells the client.
#[derive(Debug, Clone, Default)]
pub(crate) struct StepUp(Arc<OnceLock<Role>>);

impl StepUp {
    pub(crate) fn need(&self, role: Role) {
        let _ = self.0.set(role);
    }

    pub(crate) fn needed(&self) -> Option<Role> {
        self.0.get().copied()
    }
}

/// Why a caller is not, or not any more, let through.
#[derive(Debug)]
pub(crate) enum Closed {
    /// What the caller is told.
    Refused(&'static str),
    /// What a caller is told who is authenticated, but has access to nothing.
    Forbidden(&'static str),
    /// It could not be found out.
    Unknown(EngineError),
}

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(reason) | Self::Forbidden(reason) => f.write_str(reason),
            Self::Unknown(error) => write!(f, "{error}"),
        }
    }
}

/// The holder of a key, as the database knows it now.
pub(crate) async fn holder(memory: &Memory, key: &GivenKey) -> Result<Caller, Closed> {
    match memory.access().opened_by(key).await {
        Ok(Some(grant)) => Ok(Caller::Key(key.clone(), grant)),
        Ok(None) => Err(Closed::Refused(KEY_REFUSED)),
        Err(error) => Err(Closed::Unknown(error)),
    }
}

/// Asks what could not be asked when the request came.
pub(crate) async fn confirm(memory: &Memory, caller: &Caller) -> Result<(), Closed> {
    match caller {
        Caller::Anonymous { is_confirmed: false } => no_keys(memory).await,
        _ => Ok(()),
    }
}

/// Asks again, for what goes on after its request: a subscription.
pub(crate) async fn confirm_again(
    memory: &Memory,
    caller: &Caller,
    namespace: &Namespace,
) -> Result<(), Closed> {
    match caller {
        Caller::Owner | Caller::Token => Ok(()),
        Caller::Anonymous { .. } => no_keys(memory).await,
        Caller::Key(GivenKey { kind: KeyKind::Issued { until }, .. }, _) => {
            if Timestamp::now() < *until {
                Ok(())
            } else {
                Err(Closed::Refused(KEY_REFUSED))
            }
        }
        Caller::Key(key, _) => match holder(memory, key).await? {
            Caller::Key(_, grant) if grant.namespace(Some(namespace.as_str())).is_none() => {
                Err(Closed::Refused(KEY_REFUSED))
            }
            _ => Ok(()),
        },
    }
}

async fn no_keys(memory: &Memory) -> Result<(), Closed> {
    match memory.access().has_keys().await {
        Ok(false) => Ok(()),
        Ok(true) => Err(Closed::Refused(KEY_NEEDED)),
        Err(error) => Err(Closed::Unknown(error)),
    }
}

/// The only parameter that an address of ours has.
const NAMESPACE: &str = "namespace";
/// How much of a parameter that is not known is said again.
const PARAMETER_MAX_CHARS: usize = 60;

/// The namespace that an address names.
pub(crate) fn named_namespace(uri: &Uri) -> Option<String> {
    parameters(uri).find(|(name, _)| name == NAMESPACE).map(|(_, value)| value.into_owned())
}

/// Refuses what would be passed over in an address: whoever means a namespace must not get to another.
pub(crate) fn check_parameters(uri: &Uri) -> Result<(), Invalid> {
    let mut is_named = false;
    for (name, _) in parameters(uri) {
        if name != NAMESPACE {
            let shown = cut(&name, PARAMETER_MAX_CHARS);
            return Err(Invalid(format!(
                "Unknown parameter '{shown}' in the address. The only one is {NAMESPACE}, as in ?{NAMESPACE}=work."
            )));
        }
        if is_named {
            return Err(Invalid(format!("The address has {NAMESPACE} twice; name one.")));
        }
        is_named = true;
    }
    Ok(())
}

fn parameters(uri: &Uri) -> form_urlencoded::Parse<'_> {
    form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes())
}

/// Names under which secrets are put into addresses.
const NAMES_OF_SECRETS: [&str; 8] =
    ["access_token", "api_key", "api-key", "apikey", "authorization", "key", "secret", "token"];

/// Whether an address has a key in it, by its name or by its form. Addresses are logged by what stands in between.
pub(crate) fn has_secret(uri: &Uri) -> bool {
    let is_key = |text: &str| GivenKey::parse(text).is_some() || GivenToken::parse(text).is_some();
    let pairs = uri.query().into_iter().flat_map(|query| query.split('&'));
    let is_secret = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        is_key(name)
            || is_key(value)
            || NAMES_OF_SECRETS.iter().any(|secret| name.eq_ignore_ascii_case(secret))
    };
    pairs.into_iter().any(is_secret) || uri.path().split('/').any(is_key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_in_an_address_is_seen_by_its_name_or_by_its_form() {
        let key = format!("rem_0123456789ab_{}", "ab".repeat(32));
        let has = |address: &str| has_secret(&address.parse().expect("an address"));
        for bad in ["/mcp?token=x", "/mcp?namespace=a&API_KEY=x", "/mcp?access_token", "/mcp?key="] {
            assert!(has(bad), "{bad}");
        }
        assert!(has(&format!("/mcp?namespace={key}")) && has(&format!("/mcp/{key}")));
        assert!(has(&format!("/mcp?{key}")));
        for good in ["/mcp", "/mcp?namespace=rem_work", "/mcp?monkey=1", "/mcp?namespace=token"] {
            assert!(!has(good), "{good}");
        }
    }

    #[test]
    fn an_address_names_a_namespace_once_and_nothing_else() {
        let named = |address: &str| named_namespace(&address.parse().expect("an address"));
        assert_eq!(named("/mcp?namespace=my%2Dwork").as_deref(), Some("my-work"));
        assert_eq!(named("/mcp?namespace=").as_deref(), Some(""));
        assert_eq!(named("/mcp"), None);
        let checked = |address: &str| check_parameters(&address.parse().expect("an address"));
        for good in ["/mcp", "/mcp?", "/mcp?namespace=work", "/mcp?name%73pace=work"] {
            assert!(checked(good).is_ok(), "{good}");
        }
        for (bad, named) in [
            ("/mcp?name_space=work", "'name_space'"),
            ("/mcp?Namespace=work", "'Namespace'"),
            ("/mcp?namespace=work&x", "'x'"),
            ("/mcp?namespace=work&namespace=home", "twice"),
        ] {
            let refusal = checked(bad).expect_err(bad).0;
            assert!(refusal.contains(named) && refusal.contains("namespace"), "{refusal}");
        }
    }
}
