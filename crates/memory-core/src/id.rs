//! Identities: namespaces, content-addressed artifact ids, event ids.

use std::fmt;

use memory_language::text::cut;
use sha2::{Digest, Sha256};

use crate::Invalid;

/// The longest namespace name, in characters.
pub const NAMESPACE_MAX_CHARS: usize = 64;

/// The tenant every row belongs to. It comes from the connection, never from a tool argument.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Namespace(String);

impl Namespace {
    /// 1 to 64 characters out of letters, digits, `.`, `_` and `-`.
    pub fn new(name: &str) -> Result<Self, Invalid> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if name.is_empty() || name.chars().count() > NAMESPACE_MAX_CHARS || !name.chars().all(allowed) {
            let shown: String = name.chars().take(NAMESPACE_MAX_CHARS).collect();
            return Err(Invalid::new(format!(
                "Invalid namespace '{shown}'. Use 1 to {NAMESPACE_MAX_CHARS} letters, digits, '.', '_' or '-'."
            )));
        }
        Ok(Self(name.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for Namespace {
    fn default() -> Self {
        Self("default".to_owned())
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// SHA-256 of a content's UTF-8 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ContentHash(pub [u8; 32]);

impl ContentHash {
    pub fn of(content: &str) -> Self {
        Self(Sha256::digest(content.as_bytes()).into())
    }

    /// 64 hex digits.
    pub fn to_hex(&self) -> String {
        hex::encode(self.0)
    }

    pub fn from_hex(digits: &str) -> Option<Self> {
        let mut hash = [0; 32];
        hex::decode_to_slice(digits, &mut hash).ok()?;
        Some(Self(hash))
    }

    /// The ids this content may have, shortest first: 12, 16, 20, … 64 hex digits. The first that no
    /// other content holds is taken.
    pub fn candidate_ids(&self) -> impl Iterator<Item = ArtifactId> + use<> {
        let hex = hex::encode(self.0);
        (12..=64).step_by(4).map(move |digits| ArtifactId(format!("art_{}", &hex[..digits])))
    }
}

/// `art_` and the first hex digits (12 unless two contents share them) of the content's SHA-256.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ArtifactId(pub String);

impl fmt::Display for ArtifactId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// `evt_` and 16 hex digits. Extracting the same revision again gives the same ids.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventId(pub String);

impl EventId {
    /// Hash of what an event is: its revision, category, first evidence, actors and, among equals, its place.
    pub fn derive(
        revision: &str,
        category: &str,
        first_span: (usize, usize),
        actors: &[String],
        ordinal: usize,
    ) -> Self {
        let mut actors: Vec<&str> = actors.iter().map(String::as_str).collect();
        actors.sort_unstable();
        let key = format!(
            "{revision}\u{1f}{category}\u{1f}{}-{}\u{1f}{}\u{1f}{ordinal}",
            first_span.0,
            first_span.1,
            actors.join("\u{1e}")
        );
        let digest = Sha256::digest(key.as_bytes());
        Self(format!("evt_{}", hex::encode(&digest[..8])))
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What `recall(id)` and `forget(id)` may be given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnyId {
    Artifact(ArtifactId),
    Event(EventId),
}

impl AnyId {
    pub fn parse(id: &str) -> Result<Self, Invalid> {
        let id = id.trim();
        let well_formed = |rest: &str| {
            !rest.is_empty() && rest.len() <= 64 && rest.bytes().all(|b| b.is_ascii_alphanumeric())
        };
        if id.strip_prefix("art_").is_some_and(well_formed) {
            Ok(Self::Artifact(ArtifactId(id.to_owned())))
        } else if id.strip_prefix("evt_").is_some_and(well_formed) {
            Ok(Self::Event(EventId(id.to_owned())))
        } else {
            let shown: String = id.chars().take(80).collect();
            Err(Invalid::new(format!("Invalid ID format. Use art_xxx or evt_xxx. Got: {shown}")))
        }
    }

    /// Whether a text is nothing but an id, as they are made here.
    pub fn is_one(text: &str) -> bool {
        let has_digits = |(prefix, least): (&str, usize)| {
            let digits = text.trim().strip_prefix(prefix);
            let is_digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
            digits.is_some_and(|digits| (least..=64).contains(&digits.len()) && digits.bytes().all(is_digit))
        };
        [("art_", 12), ("evt_", 16)].into_iter().any(has_digits)
    }

    pub fn as_str(&self) -> &str {
        match self {
            Self::Artifact(ArtifactId(id)) | Self::Event(EventId(id)) => id,
        }
    }
}

/// Row identity of a revision; internal, never shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RevisionId(pub i64);

/// Row identity of a passage; internal, never shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PassageId(pub i64);

/// Row identity of a job, shown as `job_<number>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JobId(pub i64);

impl JobId {
    /// Reads `job_12`, or `12`.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let number = text.trim().strip_prefix("job_").unwrap_or(text.trim()).parse().ok().filter(|n| *n > 0);
        number.map(Self).ok_or_else(|| {
            Invalid::new(format!(
                "Invalid job id '{}'. Use job_ and a number, such as job_12.",
                cut(text, 60)
            ))
        })
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "job_{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_artifact_id_is_the_start_of_the_contents_hash() {
        // echo -n hello | sha256sum
        let ids: Vec<String> = ContentHash::of("hello").candidate_ids().take(2).map(|id| id.0).collect();
        assert_eq!(ids, ["art_2cf24dba5fb0", "art_2cf24dba5fb0a30e"]);
        assert_eq!(ContentHash::of("hello").candidate_ids().count(), 14);
    }

    #[test]
    fn an_id_with_another_prefix_is_refused_by_name() {
        assert_eq!(
            AnyId::parse("mem_1").unwrap_err().0,
            "Invalid ID format. Use art_xxx or evt_xxx. Got: mem_1"
        );
        assert!(AnyId::parse("art_").is_err());
        assert!(AnyId::parse("art_1'; drop table").is_err());
        assert!(matches!(AnyId::parse(" evt_12ab "), Ok(AnyId::Event(_))));
    }

    #[test]
    fn event_ids_do_not_depend_on_the_order_of_actors() {
        let derive = |actors: &[&str]| {
            let actors: Vec<String> = actors.iter().map(|a| (*a).to_owned()).collect();
            EventId::derive("r", "Decision", (0, 5), &actors, 0)
        };
        assert_eq!(derive(&["ann", "bob"]), derive(&["bob", "ann"]));
        assert_ne!(derive(&["ann"]), derive(&["bob"]));
    }

    #[test]
    fn a_namespace_is_a_plain_name() {
        assert!(Namespace::new("team-a.prod_1").is_ok());
        for bad in ["", "a b", "a/b", "ü", &"x".repeat(65)] {
            assert!(Namespace::new(bad).is_err(), "{bad}");
        }
    }
}
