//! Tokens of an external issuer: signed by a key that it publishes, for our audience, with a claim that says what they open.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use jsonwebtoken::crypto::{CryptoProvider, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::jwk::{Jwk, JwkSet, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind, Validation, decode, decode_header};
use memory_core::Invalid;
use memory_core::access::{GivenKey, Grant};
use memory_network::{Chosen, Fetcher};
use ring::signature as sign;
use serde_json::Value;
use signature::Verifier;
use tokio::sync::Mutex;
use url::Url;

use super::clients::shown_name;
use super::settings::ExternalSettings;

/// A document of the issuer, and its keys.
const DOCUMENT_MAX_BYTES: usize = 256 * 1024;
/// How long keys are used, and how soon they are asked for again when one is missing or the issuer is away.
const KEYS_LIFETIME: Duration = Duration::from_secs(60 * 60);
const KEYS_RETRY: Duration = Duration::from_secs(60);
const TOKEN_MAX_BYTES: usize = 16 * 1024;
/// How far clocks may be apart, in seconds.
const LEEWAY: u64 = 30;
/// Those that a verifier cannot sign with.
const ALGORITHMS: [Algorithm; 9] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::EdDSA,
];

/// Why a token opens nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotRead {
    Refused,
    /// It is sound, and its claim is none that opens anything.
    NothingOpened,
    /// The keys of the issuer cannot be had.
    Unavailable,
}

pub(super) struct External {
    settings: ExternalSettings,
    audience: String,
    resource: String,
    keys: Mutex<Keys>,
}

#[derive(Default)]
struct Keys {
    set: Option<Arc<JwkSet>>,
    read_at: Option<Instant>,
    tried_at: Option<Instant>,
}

impl External {
    pub(super) fn new(settings: ExternalSettings, resource: &str) -> Self {
        // Another listener of this process may have been first.
        let _ = RING.install_default();
        let audience = settings.audience.clone().unwrap_or_else(|| resource.to_owned());
        Self { settings, audience, resource: resource.to_owned(), keys: Mutex::default() }
    }

    pub(super) fn issuer(&self) -> &str {
        &self.settings.issuer
    }

    /// What a token opens.
    pub(super) async fn read(&self, token: &str) -> Result<(GivenKey, Grant), NotRead> {
        let claims = self.claims(token).await?;
        let until = claims["exp"].as_i64().and_then(|seconds| Timestamp::from_second(seconds).ok());
        let (Some(until), Some(subject)) = (until, claims["sub"].as_str()) else {
            return Err(NotRead::Refused);
        };
        let values = values_of(&claims, &self.settings.claim);
        let found = self.settings.grants.iter().find(|one| values.contains(&one.value.as_str()));
        let grant = found.ok_or(NotRead::NothingOpened)?.grant.clone();
        let name =
            ["preferred_username", "email", "name"].into_iter().find_map(|claim| claims[claim].as_str());
        let name = format!("{} (issued)", shown_name(name, subject).chars().take(50).collect::<String>());
        let key = GivenKey::issued(self.issuer(), subject, token, until);
        Ok((key, grant.named(&name).bound_to(self.resource.clone())))
    }

    /// The claims of a token that is sound.
    async fn claims(&self, token: &str) -> Result<Value, NotRead> {
        let header =
            decode_header(token).ok().filter(|_| token.len() <= TOKEN_MAX_BYTES).ok_or(NotRead::Refused)?;
        if !ALGORITHMS.contains(&header.alg) {
            return Err(NotRead::Refused);
        }
        let jwk = self.key(header.kid.as_deref(), header.alg).await?;
        let key = DecodingKey::from_jwk(&jwk).map_err(|_| NotRead::Refused)?;
        let mut validation = Validation::new(header.alg);
        validation.set_audience(&[&self.audience]);
        validation.set_issuer(&[self.issuer()]);
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        validation.validate_nbf = true;
        validation.leeway = LEEWAY;
        decode::<Value>(token, &key, &validation).map(|data| data.claims).map_err(|_| NotRead::Refused)
    }

    /// The key of the issuer that a token names. Keys are asked for again where it is not among them, but not at every token.
    async fn key(&self, id: Option<&str>, algorithm: Algorithm) -> Result<Jwk, NotRead> {
        let mut keys = self.keys.lock().await;
        let is_old = keys.read_at.is_none_or(|at| at.elapsed() > KEYS_LIFETIME);
        let found = keys.set.as_deref().and_then(|set| fitting(set, id, algorithm));
        if let (Some(key), false) = (&found, is_old) {
            return Ok(key.clone());
        }
        if keys.tried_at.is_none_or(|at| at.elapsed() > KEYS_RETRY) {
            keys.tried_at = Some(Instant::now());
            match self.fetch_keys().await {
                Ok(set) => {
                    keys.set = Some(Arc::new(set));
                    keys.read_at = Some(Instant::now());
                }
                Err(Invalid(why)) => tracing::warn!(why, "failed to read the keys of the issuer"),
            }
        }
        match keys.set.as_deref() {
            Some(set) => fitting(set, id, algorithm).ok_or(NotRead::Refused),
            None => Err(NotRead::Unavailable),
        }
    }

    async fn fetch_keys(&self) -> Result<JwkSet, Invalid> {
        let fetcher = Fetcher::new(Chosen::ByOperator, DOCUMENT_MAX_BYTES);
        let issuer = self.issuer();
        let address = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
        let parse = |text: &str| Url::parse(text).map_err(|_| Invalid(format!("{text} is no address")));
        let document: Value = serde_json::from_slice(&fetcher.get(&parse(&address)?).await?)
            .map_err(|_| Invalid(format!("{address} is no JSON")))?;
        if document["issuer"] != issuer {
            return Err(Invalid(format!("{address} is of another issuer than {issuer}")));
        }
        let keys =
            document["jwks_uri"].as_str().ok_or_else(|| Invalid(format!("{address} names no jwks_uri")))?;
        serde_json::from_slice(&fetcher.get(&parse(keys)?).await?)
            .map_err(|_| Invalid(format!("{keys} has no keys")))
    }
}

/// The key of this id for signatures of this algorithm; without an id, the only one that fits.
fn fitting(set: &JwkSet, id: Option<&str>, algorithm: Algorithm) -> Option<Jwk> {
    let fits = |key: &&Jwk| {
        let is_named = id.is_none_or(|id| key.common.key_id.as_deref() == Some(id));
        let is_for_signatures = !matches!(key.common.public_key_use, Some(PublicKeyUse::Encryption));
        let of = key.common.key_algorithm.map(|of| of.to_string());
        is_named && is_for_signatures && of.is_none_or(|of| of == format!("{algorithm:?}"))
    };
    let mut all = set.keys.iter().filter(fits);
    let found = all.next();
    found.filter(|_| id.is_some() || all.next().is_none()).cloned()
}

/// The texts of a claim, which is one or a list; dots lead into objects where no claim has the whole name.
fn values_of<'a>(claims: &'a Value, claim: &str) -> Vec<&'a str> {
    let found = claims.get(claim).or_else(|| claim.split('.').try_fold(claims, |at, part| at.get(part)));
    match found {
        Some(Value::String(text)) => text.split(' ').collect(),
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Signatures are verified by the library that TLS has here too.
static RING: CryptoProvider = CryptoProvider {
    signer_factory: |_, _| Err(Error::from(ErrorKind::InvalidAlgorithm)),
    verifier_factory: |algorithm, key| Ok(Box::new(RingVerifier { algorithm: *algorithm, key: key.clone() })),
    key_utils: KeyUtils::new_unimplemented(),
};

struct RingVerifier {
    algorithm: Algorithm,
    key: DecodingKey,
}

impl JwtVerifier for RingVerifier {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

impl Verifier<Vec<u8>> for RingVerifier {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        let rsa: Option<&sign::RsaParameters> = match self.algorithm {
            Algorithm::RS256 => Some(&sign::RSA_PKCS1_2048_8192_SHA256),
            Algorithm::RS384 => Some(&sign::RSA_PKCS1_2048_8192_SHA384),
            Algorithm::RS512 => Some(&sign::RSA_PKCS1_2048_8192_SHA512),
            Algorithm::PS256 => Some(&sign::RSA_PSS_2048_8192_SHA256),
            Algorithm::PS384 => Some(&sign::RSA_PSS_2048_8192_SHA384),
            Algorithm::PS512 => Some(&sign::RSA_PSS_2048_8192_SHA512),
            _ => None,
        };
        let verified = match (self.algorithm, self.key.kind(), rsa) {
            (_, DecodingKeyKind::RsaModulusExponent { n, e }, Some(parameters)) => {
                sign::RsaPublicKeyComponents { n, e }.verify(parameters, message, signature)
            }
            (Algorithm::ES256, DecodingKeyKind::SecretOrDer(point), _) => {
                sign::UnparsedPublicKey::new(&sign::ECDSA_P256_SHA256_FIXED, point).verify(message, signature)
            }
            (Algorithm::ES384, DecodingKeyKind::SecretOrDer(point), _) => {
                sign::UnparsedPublicKey::new(&sign::ECDSA_P384_SHA384_FIXED, point).verify(message, signature)
            }
            (Algorithm::EdDSA, DecodingKeyKind::SecretOrDer(point), _) => {
                sign::UnparsedPublicKey::new(&sign::ED25519, point).verify(message, signature)
            }
            _ => return Err(signature::Error::new()),
        };
        verified.map_err(|_| signature::Error::new())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_claim_is_a_text_or_a_list_and_may_be_within_objects() {
        let claims = json!({
            "groups": ["a", "b", 7], "scope": "x y", "realm_access": {"roles": ["z"]}, "https://a.example/groups": ["whole"]
        });
        assert_eq!(values_of(&claims, "groups"), ["a", "b"]);
        assert_eq!(values_of(&claims, "scope"), ["x", "y"]);
        assert_eq!(values_of(&claims, "realm_access.roles"), ["z"]);
        assert_eq!(values_of(&claims, "https://a.example/groups"), ["whole"]);
        assert!(values_of(&claims, "realm_access").is_empty() && values_of(&claims, "a.b").is_empty());
    }

    #[test]
    fn a_key_is_taken_for_what_it_was_published_for() {
        let key = |id: &str, more: Value| {
            let mut key = json!({"kty": "RSA", "kid": id, "n": "AQAB", "e": "AQAB"});
            for (name, value) in more.as_object().into_iter().flatten() {
                key[name] = value.clone();
            }
            key
        };
        let keys = json!({"keys": [
            key("plain", json!({})), key("named", json!({"alg": "RS256"})), key("closed", json!({"use": "enc"})),
        ]});
        let set: JwkSet = serde_json::from_value(keys).expect("keys");
        let found = |id, algorithm| fitting(&set, id, algorithm).and_then(|key| key.common.key_id);
        assert_eq!(found(Some("plain"), Algorithm::PS256).as_deref(), Some("plain"));
        assert_eq!(found(Some("named"), Algorithm::RS256).as_deref(), Some("named"));
        assert_eq!(found(Some("named"), Algorithm::RS512), None);
        assert_eq!(found(Some("closed"), Algorithm::RS256), None);
        assert_eq!(found(None, Algorithm::RS256), None, "two fit");
        assert_eq!(found(None, Algorithm::RS512).as_deref(), Some("plain"));
    }
}
