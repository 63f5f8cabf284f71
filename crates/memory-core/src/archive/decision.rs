//! Decisions about which entities are the same, as lines. An entity is identified by what a text says of it, since another
//! extraction of the texts makes a new row.

use memory_language::text::cut;
use serde::{Deserialize, Serialize};

use crate::Invalid;
use crate::entity::{EntityType, is_address, normalised_name};
use crate::graph::share;

/// The most addresses, and the most revisions, that identify an entity.
pub const SIGNS_MAX: usize = 16;
const NAME_MAX_CHARS: usize = 3_000;
const REASONS_MAX: usize = 20;
const REASON_MAX_CHARS: usize = 500;

/// An entity that a decision is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchivedTerms {
    pub entity_type: String,
    /// As names are compared: in lower case, with single spaces.
    pub name: String,
    /// What distinguishes it from others of that name, where there are several.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub distinguisher: String,
    /// The e-mail addresses that it goes by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<String>,
    /// The numbers of the first revisions that name it: with the last of these what is said here goes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub revisions: Vec<u64>,
}

/// `entity` counts as `into`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchivedMerge {
    pub entity: ArchivedTerms,
    pub into: ArchivedTerms,
    /// They were said not to be the same before, and are again when the merge is taken back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub were_rejected: bool,
}

/// Two entities are not the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchivedRejection {
    pub first: ArchivedTerms,
    pub second: ArchivedTerms,
}

/// Two entities that weighing takes for perhaps the same. Derived, so only where what was extracted comes along.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchivedDoubt {
    pub first: ArchivedTerms,
    pub second: ArchivedTerms,
    pub score: f32,
    pub reasons: Vec<String>,
}

impl ArchivedTerms {
    fn check(&self) -> Result<(), Invalid> {
        if EntityType::parse(&self.entity_type).is_none() {
            return Err(Invalid::new(format!("'{}' is no entity type", cut(&self.entity_type, 40))));
        }
        let names = self.addresses.iter().chain([&self.name, &self.distinguisher]);
        for name in names {
            if name.chars().count() > NAME_MAX_CHARS || name.contains('\0') {
                return Err(Invalid::new(format!(
                    "'{}' is no name: it has a NUL, or more than {NAME_MAX_CHARS} characters",
                    cut(&name.replace('\0', ""), 40)
                )));
            }
        }
        if normalised_name(&self.name).is_empty() {
            return Err(Invalid::new(format!("'{}' is no name", cut(&self.name, 40))));
        }
        if let Some(other) = self.addresses.iter().find(|address| !is_address(address)) {
            return Err(Invalid::new(format!("'{}' is no e-mail address", cut(other, 40))));
        }
        if self.addresses.len() > SIGNS_MAX || self.revisions.len() > SIGNS_MAX {
            return Err(Invalid::new(format!(
                "an entity is identified by at most {SIGNS_MAX} addresses and {SIGNS_MAX} revisions"
            )));
        }
        Ok(())
    }
}

fn check_pair(first: &ArchivedTerms, second: &ArchivedTerms) -> Result<(), Invalid> {
    first.check()?;
    second.check()?;
    let identity = |terms: &ArchivedTerms| {
        (terms.entity_type.clone(), terms.name.clone(), terms.distinguisher.clone(), terms.addresses.clone())
    };
    if identity(first) == identity(second) {
        return Err(Invalid::new(format!("'{}' is named twice: name two entities", cut(&first.name, 40))));
    }
    Ok(())
}

impl ArchivedMerge {
    pub(super) fn check(&self) -> Result<(), Invalid> {
        check_pair(&self.entity, &self.into)
    }
}

impl ArchivedRejection {
    pub(super) fn check(&self) -> Result<(), Invalid> {
        check_pair(&self.first, &self.second)
    }
}

impl ArchivedDoubt {
    pub(super) fn check(&self) -> Result<(), Invalid> {
        check_pair(&self.first, &self.second)?;
        share("score", Some(f64::from(self.score)))?;
        let is_fit = |reason: &String| !reason.contains('\0') && reason.chars().count() <= REASON_MAX_CHARS;
        if self.reasons.len() > REASONS_MAX || !self.reasons.iter().all(is_fit) {
            return Err(Invalid::new(format!(
                "a doubt has at most {REASONS_MAX} reasons of at most {REASON_MAX_CHARS} characters"
            )));
        }
        Ok(())
    }
}
