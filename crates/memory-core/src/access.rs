//! Keys and what they open: their form, their roles, their namespaces.

use std::fmt;
use std::hash::{Hash, Hasher};

use jiff::Timestamp;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::Invalid;
use crate::closed_set::closed_set;
use crate::id::Namespace;

/// What a key begins with, so that scanners of repositories and logs find it.
const PREFIX: &str = "rem_";
const ID_BYTES: usize = 6;
const SECRET_BYTES: usize = 32;
/// The longest name of a key, in characters.
const NAME_MAX_CHARS: usize = 64;
/// How many namespaces one key opens.
const NAMESPACES_MAX: usize = 100;

closed_set! {
    /// What the holder of a key may do; each role may do what those before it may.
    Role {
        /// Call what changes nothing.
        Reader = "reader",
        /// Call every tool.
        Writer = "writer",
        /// See how the installation is: metrics, and why it is not ready.
        Admin = "admin",
    }
}

closed_set! {
    /// Which calls that bring a key are recorded.
    Audited {
        Off = "off",
        /// Those of tools that change something.
        Changes = "changes",
        /// Those that read as well.
        All = "all",
    }
}

/// The public half of a key, by which it is looked up.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId(String);

impl KeyId {
    /// A new one; the bytes are random.
    pub fn drawn(bytes: [u8; ID_BYTES]) -> Self {
        Self(hex::encode(bytes))
    }

    /// An id as it is stored.
    pub fn stored(id: String) -> Self {
        Self(id)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The SHA-256 of a secret. Of 256 random bits it gives nothing away, so it needs neither salt nor repetition.
#[derive(Clone, Copy, Eq)]
pub struct SecretHash(pub [u8; 32]);

impl SecretHash {
    /// In a time that does not depend on where they differ.
    pub fn matches(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl PartialEq for SecretHash {
    fn eq(&self, other: &Self) -> bool {
        self.matches(other)
    }
}

impl Hash for SecretHash {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl fmt::Debug for SecretHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretHash(…)")
    }
}

closed_set! {
    /// What the built-in authorization server gives out.
    TokenKind {
        /// To be exchanged, once, for the others.
        Code = "code",
        /// What opens, for a short time.
        Access = "access",
        /// To be exchanged, once, for another pair.
        Refresh = "refresh",
    }
}

impl TokenKind {
    fn prefix(self) -> &'static str {
        match self {
            Self::Code => "rec_",
            Self::Access => "rea_",
            Self::Refresh => "rer_",
        }
    }
}

/// Which kind of thing a [`GivenKey`] is, and so where it is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyKind {
    /// Made by an operator.
    Key,
    /// An access token of a consent; its id is the consent's.
    AccessToken,
    /// A token of an external issuer, which is looked up nowhere.
    Issued {
        /// When it ends.
        until: Timestamp,
    },
}

/// A key as a request brings it, or a token in its place. The secret itself is not kept.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GivenKey {
    pub id: KeyId,
    pub hash: SecretHash,
    pub kind: KeyKind,
}

impl GivenKey {
    /// `None` where the text does not have the form of a key.
    pub fn parse(text: &str) -> Option<Self> {
        let (id, hash) = parse(PREFIX, text)?;
        Some(Self { id, hash, kind: KeyKind::Key })
    }

    /// The same of an access token.
    pub fn parse_access_token(text: &str) -> Option<Self> {
        let (id, hash) = parse(TokenKind::Access.prefix(), text)?;
        Some(Self { id, hash, kind: KeyKind::AccessToken })
    }

    /// A token of an external issuer, which counts as the key of its subject: both are random to us.
    pub fn issued(issuer: &str, subject: &str, token: &str, until: Timestamp) -> Self {
        let of_subject: [u8; 32] = Sha256::digest(format!("{issuer}\n{subject}")).into();
        let id = KeyId(hex::encode(&of_subject[..ID_BYTES]));
        Self { id, hash: SecretHash(Sha256::digest(token).into()), kind: KeyKind::Issued { until } }
    }
}

/// The id and the hash of the secret, where a text has that prefix and form.
fn parse(prefix: &str, text: &str) -> Option<(KeyId, SecretHash)> {
    let (id, secret) = text.strip_prefix(prefix)?.split_once('_')?;
    let is_hex = |part: &str, bytes: usize| {
        part.len() == 2 * bytes && part.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    };
    let is_right = is_hex(id, ID_BYTES) && is_hex(secret, SECRET_BYTES);
    is_right.then(|| (KeyId(id.to_owned()), SecretHash(Sha256::digest(secret).into())))
}

/// A code or token as a client brings it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenToken {
    pub kind: TokenKind,
    /// The consent that it claims to be of.
    pub consent: KeyId,
    pub hash: SecretHash,
}

impl GivenToken {
    /// `None` where the text does not have the form of any.
    pub fn parse(text: &str) -> Option<Self> {
        TokenKind::ALL.iter().find_map(|kind| {
            let (consent, hash) = parse(kind.prefix(), text)?;
            Some(Self { kind: *kind, consent, hash })
        })
    }
}

/// A code or token that has just been drawn: the one moment at which its text is known.
pub struct DrawnToken {
    pub text: String,
    pub token: GivenToken,
}

impl DrawnToken {
    /// The bytes are random.
    pub fn new(kind: TokenKind, consent: &KeyId, secret: [u8; SECRET_BYTES]) -> Self {
        let secret = hex::encode(secret);
        let hash = SecretHash(Sha256::digest(&secret).into());
        let text = format!("{}{consent}_{secret}", kind.prefix());
        Self { text, token: GivenToken { kind, consent: consent.clone(), hash } }
    }
}

/// A key that has just been drawn: the one moment at which its text is known.
pub struct DrawnKey {
    pub text: String,
    pub key: GivenKey,
}

impl DrawnKey {
    /// `rem_ID_SECRET`, both in hex. The bytes are random.
    pub fn new(id: [u8; ID_BYTES], secret: [u8; SECRET_BYTES]) -> Self {
        Self::again(&KeyId(hex::encode(id)), secret)
    }

    /// Another secret for the same id.
    pub fn again(id: &KeyId, secret: [u8; SECRET_BYTES]) -> Self {
        let secret = hex::encode(secret);
        let hash = SecretHash(Sha256::digest(&secret).into());
        Self {
            text: format!("{PREFIX}{id}_{secret}"),
            key: GivenKey { id: id.clone(), hash, kind: KeyKind::Key },
        }
    }
}

/// What a key opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    pub name: String,
    pub role: Role,
    /// At least one; the first is meant where a request names none.
    namespaces: Vec<Namespace>,
    /// The sets of tools that it may be offered at most; all when empty.
    pub toolsets: Vec<String>,
    /// The one server that it opens, by the address of its endpoint; any when there is none.
    pub resource: Option<String>,
}

impl Grant {
    pub fn new(
        name: &str,
        role: Role,
        namespaces: Vec<Namespace>,
        toolsets: Vec<String>,
    ) -> Result<Self, Invalid> {
        let name = name.trim();
        let chars = name.chars().count();
        if chars == 0 || chars > NAME_MAX_CHARS || name.chars().any(char::is_control) {
            return Err(Invalid::new(format!(
                "the name of the key has {chars} characters; use 1 to {NAME_MAX_CHARS}, on one line"
            )));
        }
        let mut distinct: Vec<Namespace> = Vec::with_capacity(namespaces.len());
        for namespace in namespaces {
            if !distinct.contains(&namespace) {
                distinct.push(namespace);
            }
        }
        if distinct.is_empty() || distinct.len() > NAMESPACES_MAX {
            return Err(Invalid::new(format!(
                "the key is for {} namespaces; name 1 to {NAMESPACES_MAX}, the default first",
                distinct.len()
            )));
        }
        Ok(Self { name: name.to_owned(), role, namespaces: distinct, toolsets, resource: None })
    }

    /// The namespace of a request that names this one, or none. `None` where the key does not open it, whether or not it is
    /// one.
    pub fn namespace(&self, named: Option<&str>) -> Option<&Namespace> {
        match named {
            None => self.namespaces.first(),
            Some(name) => self.namespaces.iter().find(|namespace| namespace.as_str() == name),
        }
    }

    /// The same for one server only.
    #[must_use]
    pub fn bound_to(self, resource: String) -> Self {
        Self { resource: Some(resource), ..self }
    }

    /// The same with another role.
    #[must_use]
    pub fn with_role(self, role: Role) -> Self {
        Self { role, ..self }
    }

    /// The same under another name, of which as much is kept as a name may have.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        Self { name: name.chars().take(NAME_MAX_CHARS).collect(), ..self }
    }

    pub fn namespaces(&self) -> &[Namespace] {
        &self.namespaces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn() -> DrawnKey {
        DrawnKey::new([7; ID_BYTES], [9; SECRET_BYTES])
    }

    fn namespace(name: &str) -> Namespace {
        Namespace::new(name).expect("a namespace")
    }

    #[test]
    fn a_key_is_read_as_it_was_drawn() {
        let drawn = drawn();
        assert_eq!(drawn.text, format!("rem_070707070707_{}", "09".repeat(32)));
        assert_eq!(GivenKey::parse(&drawn.text), Some(drawn.key));
    }

    #[test]
    fn what_does_not_have_the_form_of_a_key_is_none() {
        let text = drawn().text;
        for bad in [
            "",
            "rem_",
            "rem__",
            "rem_070707070707_",
            &text[1..],
            &text[..text.len() - 1],
            &format!("{text}0"),
            &text.replace("09", "0G"),
            &text.to_uppercase(),
            &text.replacen("07", "é", 1),
            &text.replacen('_', "-", 2),
        ] {
            assert_eq!(GivenKey::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn another_secret_of_the_same_id_is_another_key() {
        let (one, other) = (drawn(), DrawnKey::again(&drawn().key.id, [8; SECRET_BYTES]));
        assert_eq!(one.key.id, other.key.id);
        assert!(!one.key.hash.matches(&other.key.hash));
        assert!(one.key.hash.matches(&GivenKey::parse(&one.text).expect("a key").hash));
    }

    #[test]
    fn a_token_is_read_as_it_was_drawn_and_as_no_other_kind() {
        for kind in TokenKind::ALL.iter().copied() {
            let drawn = DrawnToken::new(kind, &KeyId::drawn([7; ID_BYTES]), [9; SECRET_BYTES]);
            assert_eq!(GivenToken::parse(&drawn.text), Some(drawn.token));
            assert_eq!(GivenKey::parse(&drawn.text), None);
            let opens = GivenKey::parse_access_token(&drawn.text).is_some();
            assert_eq!(opens, kind == TokenKind::Access, "{kind}");
        }
        assert_eq!(GivenToken::parse(&drawn().text), None, "a key is no token");
    }

    #[test]
    fn neither_secret_nor_hash_can_be_printed() {
        let shown = format!("{:?}", drawn().key);
        assert!(!shown.contains("0909") && shown.contains("SecretHash(…)"), "{shown}");
    }

    #[test]
    fn a_grant_opens_its_namespaces_and_the_first_where_none_is_named() {
        let namespaces = vec![namespace("work"), namespace("home"), namespace("work")];
        let grant = Grant::new(" laptop ", Role::Reader, namespaces, Vec::new()).expect("a grant");
        assert_eq!((grant.name.as_str(), grant.namespaces().len()), ("laptop", 2));
        assert_eq!(grant.namespace(None), Some(&namespace("work")));
        assert_eq!(grant.namespace(Some("home")), Some(&namespace("home")));
        for closed in ["default", "", "Work", "work%20", "..", "a b"] {
            assert_eq!(grant.namespace(Some(closed)), None, "{closed}");
        }
    }

    #[test]
    fn a_grant_without_a_name_or_a_namespace_is_refused() {
        let all = vec![namespace("a")];
        let long = "x".repeat(65);
        for name in ["", "  ", "a\nb", long.as_str()] {
            assert!(Grant::new(name, Role::Writer, all.clone(), Vec::new()).is_err(), "{name:?}");
        }
        assert!(Grant::new("a", Role::Writer, Vec::new(), Vec::new()).is_err());
        let many: Vec<Namespace> = (0..101).map(|n| namespace(&format!("n{n}"))).collect();
        let refused = Grant::new("a", Role::Writer, many, Vec::new()).expect_err("too many");
        assert!(refused.0.contains("101"), "{refused}");
    }

    #[test]
    fn each_role_may_do_what_those_before_it_may() {
        assert!(Role::Reader < Role::Writer && Role::Writer < Role::Admin);
        assert_eq!(Role::parse("admin"), Some(Role::Admin));
    }
}
