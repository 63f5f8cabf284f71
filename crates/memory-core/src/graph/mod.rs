//! The knowledge graph: entities, relations between them and observations about them, in threads.
//!
//! Clients write it themselves. Names are case-sensitive; search is not, by the folding below.

mod checks;
mod cursor;
mod page;
mod reach;

use memory_language::text::cut;
use sha2::{Digest, Sha256};

use crate::Invalid;

use checks::no_nul;

pub use checks::{
    CALL_MAX_OBSERVATIONS, LIST_MAX_ITEMS, NAME_MAX_BYTES, OBSERVATION_MAX_CHARS, check_entities,
    check_entity_type, check_length, check_observations, check_query, check_relations, check_update,
};
pub(crate) use checks::{check_content, check_name};
pub use page::{
    Bounds, Cursor, CursorKey, Detail, LIMIT_MAX, PAGE_CHARS, PAGE_ENTITIES, PageRequest, Part,
    SUMMARY_CHARS, SealedCursor, grouped,
};
pub use reach::{GraphReach, shown_thread};

/// The longest thread id, in characters.
pub const THREAD_ID_MAX_CHARS: usize = 200;
/// The longest path of a graph's file, in bytes.
pub const FILE_PATH_MAX_BYTES: usize = 2_000;

/// What the thread id of a file's graph begins with; no other may.
const FILE_PREFIX: &str = "file:";

/// The name of a graph within a namespace.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ThreadId(String);

impl ThreadId {
    /// 1 to 200 characters without control characters, not beginning with `file:`.
    pub fn new(name: &str) -> Result<Self, Invalid> {
        let name = name.trim();
        let chars = name.chars().count();
        let problem = if chars == 0 {
            "it is empty"
        } else if chars > THREAD_ID_MAX_CHARS {
            "it is too long"
        } else if name.chars().any(char::is_control) {
            "it has a control character"
        } else if name.starts_with(FILE_PREFIX) {
            "'file:' is kept for graphs of files"
        } else {
            return Ok(Self(name.to_owned()));
        };
        let shown: String =
            cut(name, 60).chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
        Err(Invalid::new(format!(
            "Invalid threadId '{shown}': {problem}. Use 1 to {THREAD_ID_MAX_CHARS} characters, or leave it out for 'default'."
        )))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for ThreadId {
    fn default() -> Self {
        Self("default".to_owned())
    }
}

/// Which graph of a namespace is meant.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum GraphScope {
    Thread(ThreadId),
    File(GraphFile),
}

/// A graph that is kept in step with a file, known by the file's canonical path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GraphFile(String);

impl GraphFile {
    pub fn new(canonical_path: &str) -> Result<Self, Invalid> {
        let shown = cut(canonical_path, 100);
        if canonical_path.len() > FILE_PATH_MAX_BYTES {
            return Err(Invalid::new(format!(
                "Invalid path '{shown}': {} bytes, the limit is {FILE_PATH_MAX_BYTES}. Use a file nearer to the root.",
                canonical_path.len()
            )));
        }
        no_nul("path", canonical_path)?;
        Ok(Self(canonical_path.to_owned()))
    }

    pub fn path(&self) -> &str {
        &self.0
    }

    /// The name of the file alone.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }
}

impl GraphScope {
    /// What the thread is called in the store.
    pub fn thread_name(&self) -> String {
        match self {
            Self::Thread(id) => id.0.clone(),
            Self::File(file) => format!("{FILE_PREFIX}{}", file.0),
        }
    }

    pub fn file_path(&self) -> Option<&str> {
        match self {
            Self::Thread(_) => None,
            Self::File(file) => Some(file.path()),
        }
    }
}

impl Default for GraphScope {
    fn default() -> Self {
        Self::Thread(ThreadId::default())
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphEntity {
    pub name: String,
    pub entity_type: String,
    pub observations: Vec<String>,
}

/// A directed edge between two names; the entities need not exist.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GraphRelation {
    pub from: String,
    pub to: String,
    pub relation_type: String,
}

/// Observations of one entity: to add, added, or to delete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityObservations {
    pub entity_name: String,
    pub contents: Vec<String>,
}

/// How sure an observation is, and how much it matters; each 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    pub confidence: f32,
    pub importance: f32,
}

impl Default for Weights {
    fn default() -> Self {
        Self { confidence: 1.0, importance: 0.5 }
    }
}

impl Weights {
    pub fn new(confidence: Option<f64>, importance: Option<f64>) -> Result<Self, Invalid> {
        let default = Self::default();
        Ok(Self {
            confidence: share("confidence", confidence)?.unwrap_or(default.confidence),
            importance: share("importance", importance)?.unwrap_or(default.importance),
        })
    }
}

/// How much a relation matters unless it is said.
pub const RELATION_IMPORTANCE: f32 = 0.7;

/// A number from 0 to 1.
pub fn share(name: &str, value: Option<f64>) -> Result<Option<f32>, Invalid> {
    match value {
        Some(number) if !(0.0..=1.0).contains(&number) => {
            Err(Invalid::new(format!("Invalid {name} {number}. Use a number from 0.0 to 1.0.")))
        }
        other => Ok(other.map(|number| number as f32)),
    }
}

/// A share as it was given: 0.9 is kept as the 32-bit number next to it, which as a 64-bit one is 0.8999999761581421.
pub fn as_given(share: f32) -> f64 {
    // A number is written with as many digits as distinguish it from its neighbours.
    share.to_string().parse().unwrap_or_else(|_| f64::from(share))
}

/// The start of a hash that represents a text of any length in an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TextKey(pub u128);

impl TextKey {
    /// The first 16 bytes of the text's SHA-256.
    pub fn of(text: &str) -> Self {
        Self::finish(Sha256::new_with_prefix(text.as_bytes()))
    }

    /// Of the three texts of a relation, each led by its length.
    pub fn of_relation(relation: &GraphRelation) -> Self {
        let mut hash = Sha256::new();
        for part in [&relation.from, &relation.to, &relation.relation_type] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        Self::finish(hash)
    }

    fn finish(hash: Sha256) -> Self {
        let digest: [u8; 32] = hash.finalize().into();
        let mut start = [0; 16];
        start.copy_from_slice(&digest[..16]);
        Self(u128::from_be_bytes(start))
    }
}

/// An entity's id as it is shown, the same wherever the thread is kept: `ent_` and 16 hex digits.
pub fn entity_id(thread_name: &str, name: &str) -> String {
    let mut hash = Sha256::new();
    hash.update((thread_name.len() as u64).to_le_bytes());
    hash.update(thread_name.as_bytes());
    hash.update(name.as_bytes());
    format!("ent_{:016x}", TextKey::finish(hash).0 >> 64)
}

/// The text without regard to case: each character's lower-case form, whatever is beside it.
pub fn fold(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).map(|c| if c == 'ς' { 'σ' } else { c }).collect()
}

/// An observation's random number as it is shown: `obs_` and 16 hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObservationHandle(pub i64);

impl ObservationHandle {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let digits = text.trim().strip_prefix("obs_").filter(|d| d.len() == 16);
        digits.and_then(|d| i64::from_str_radix(d, 16).ok()).filter(|n| *n >= 0).map(Self).ok_or_else(|| {
            Invalid::new(format!(
                "Invalid observation id '{}'. Use obs_ and 16 hex digits, as the answers show it.",
                cut(text, 60)
            ))
        })
    }
}

impl std::fmt::Display for ObservationHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "obs_{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_knows_no_case_and_no_final_sigma() {
        assert_eq!(fold("ΟΔΟΣ"), fold("οδος"));
        assert_eq!(fold("Straße"), "straße");
        assert_eq!(fold("İstanbul"), "i\u{307}stanbul");
        assert_eq!(fold("HÉLLO wörld 漢字"), "héllo wörld 漢字");
    }

    #[test]
    fn a_share_is_shown_as_it_was_given() {
        for given in [0.0, 0.1, 0.3, 0.7, 0.9, 0.95, 0.333, 0.123_456, 1.0] {
            let kept = share("confidence", Some(given)).unwrap().unwrap();
            assert_eq!(as_given(kept).to_string(), given.to_string());
        }
    }

    #[test]
    fn a_thread_id_is_short_clean_and_no_file() {
        assert_eq!(ThreadId::new(" team a ").unwrap().as_str(), "team a");
        for bad in ["", "  ", "a\0b", "a\nb", "file:/x", &"x".repeat(201)] {
            assert!(ThreadId::new(bad).unwrap_err().0.starts_with("Invalid threadId"), "{bad:?}");
        }
        assert!(ThreadId::new(&"漢".repeat(200)).is_ok());
    }

    #[test]
    fn a_relation_key_depends_on_where_its_parts_end() {
        let key = |from: &str, to: &str, relation_type: &str| {
            TextKey::of_relation(&GraphRelation {
                from: from.into(),
                to: to.into(),
                relation_type: relation_type.into(),
            })
        };
        assert_ne!(key("ab", "c", "d"), key("a", "bc", "d"));
        assert_ne!(key("a", "b", "c"), key("b", "a", "c"));
        assert_eq!(key("a", "b", "c"), key("a", "b", "c"));
    }

    #[test]
    fn handles_read_back() {
        let handle = ObservationHandle(i64::MAX);
        assert_eq!(ObservationHandle::parse(&handle.to_string()), Ok(handle));
        assert_eq!(ObservationHandle(7).to_string(), "obs_0000000000000007");
        for bad in ["obs_7", "obs_ffffffffffffffff", "obs_000000000000000g", "7", "obs_-000000000000007"] {
            assert!(ObservationHandle::parse(bad).is_err(), "{bad}");
        }
    }
}
