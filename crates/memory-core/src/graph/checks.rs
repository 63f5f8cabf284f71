//! What clients may write to a graph: lengths, numbers of items, characters. What is refused is named with its place in the call.

use memory_language::text::cut;

use super::{EntityObservations, GraphEntity, GraphRelation};
use crate::Invalid;

/// The longest name or type of an entity or relation, and the longest query, in bytes.
pub const NAME_MAX_BYTES: usize = 65_536;
/// The longest observation, in characters.
pub const OBSERVATION_MAX_CHARS: usize = 100_000;
/// The most items in each list of a call.
pub const LIST_MAX_ITEMS: usize = 10_000;
/// The most observations in a call, over all its entities.
pub const CALL_MAX_OBSERVATIONS: usize = 100_000;

/// Entities as they may be stored.
pub fn check_entities(entities: &[GraphEntity]) -> Result<(), Invalid> {
    check_length("entities", entities.len())?;
    let mut observations = 0;
    for (n, entity) in entities.iter().enumerate() {
        check_name(&format!("entities[{n}].name"), &entity.name)?;
        check_name(&format!("entities[{n}].entityType"), &entity.entity_type)?;
        observations += entity.observations.len();
        check_contents(&format!("entities[{n}].observations"), &entity.observations)?;
    }
    check_sum(observations)
}

/// Relations as they may be stored.
pub fn check_relations(relations: &[GraphRelation]) -> Result<(), Invalid> {
    check_length("relations", relations.len())?;
    for (n, relation) in relations.iter().enumerate() {
        check_name(&format!("relations[{n}].from"), &relation.from)?;
        check_name(&format!("relations[{n}].to"), &relation.to)?;
        check_name(&format!("relations[{n}].relationType"), &relation.relation_type)?;
    }
    Ok(())
}

/// Observations as they may be stored.
pub fn check_observations(additions: &[EntityObservations]) -> Result<(), Invalid> {
    check_length("observations", additions.len())?;
    let mut observations = 0;
    for (n, addition) in additions.iter().enumerate() {
        observations += addition.contents.len();
        check_contents(&format!("observations[{n}].contents"), &addition.contents)?;
    }
    check_sum(observations)
}

/// A list has no more items than a call may bring.
pub fn check_length(list: &str, items: usize) -> Result<(), Invalid> {
    if items <= LIST_MAX_ITEMS {
        return Ok(());
    }
    Err(Invalid::new(format!(
        "Invalid {list}: {items} items, the limit is {LIST_MAX_ITEMS}. Split it into several calls."
    )))
}

/// What is looked for, as it may be passed on.
pub fn check_query(query: &str) -> Result<(), Invalid> {
    check_name("query", query)
}

/// The type that entities are filtered by.
pub fn check_entity_type(entity_type: &str) -> Result<(), Invalid> {
    check_name("entityType", entity_type)
}

fn check_sum(observations: usize) -> Result<(), Invalid> {
    if observations <= CALL_MAX_OBSERVATIONS {
        return Ok(());
    }
    Err(Invalid::new(format!(
        "Invalid observations: {observations} in one call, the limit is {CALL_MAX_OBSERVATIONS}. Split it into several calls."
    )))
}

/// A name, a type or a query, as it may be stored or looked for.
pub(crate) fn check_name(field: &str, name: &str) -> Result<(), Invalid> {
    no_nul(field, name)?;
    if name.len() <= NAME_MAX_BYTES {
        return Ok(());
    }
    Err(Invalid::new(format!(
        "Invalid {field} '{}': {} bytes, the limit is {NAME_MAX_BYTES}. Shorten it.",
        cut(name, 40),
        name.len()
    )))
}

fn check_contents(field: &str, contents: &[String]) -> Result<(), Invalid> {
    check_length(field, contents.len())?;
    contents.iter().enumerate().try_for_each(|(n, content)| check_content(field, n, content))
}

/// A new version of an observation, as it may be stored.
pub fn check_update(entity_name: &str, content: &str) -> Result<(), Invalid> {
    check_name("entityName", entity_name)?;
    if content.trim().is_empty() {
        return Err(Invalid::new(
            "Invalid content: it is empty. Say the observation as it is now, or take it away with delete_observations.",
        ));
    }
    check_text("content", content)
}

/// An observation, the one of this number in its list, as it may be stored.
pub(crate) fn check_content(field: &str, n: usize, content: &str) -> Result<(), Invalid> {
    // The name is put together only for those that are refused.
    if content.len() <= OBSERVATION_MAX_CHARS && !content.contains('\0') {
        return Ok(());
    }
    check_text(&format!("{field}[{n}]"), content)
}

fn check_text(field: &str, content: &str) -> Result<(), Invalid> {
    // Characters are counted only where there may be too many.
    let chars = if content.len() > OBSERVATION_MAX_CHARS { content.chars().count() } else { content.len() };
    if chars > OBSERVATION_MAX_CHARS {
        return Err(Invalid::new(format!(
            "Invalid {field} '{}': {chars} characters, the limit is {OBSERVATION_MAX_CHARS}. \
             Split it, or keep long texts with remember.",
            cut(content, 40)
        )));
    }
    no_nul(field, content)
}

pub(super) fn no_nul(field: &str, value: &str) -> Result<(), Invalid> {
    match value.chars().position(|c| c == '\0') {
        None => Ok(()),
        Some(at) => Err(Invalid::new(format!(
            "Invalid {field}: it has a NUL character at position {at}, which cannot be stored. Remove it."
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_version_says_something_and_is_called_content() {
        assert_eq!(check_update("A", "Now true"), Ok(()));
        for (bad, needle) in [
            (String::new(), "Invalid content: it is empty"),
            (" \n".into(), "it is empty"),
            ("x".repeat(OBSERVATION_MAX_CHARS + 1), "Invalid content 'xxx"),
            ("a\0".into(), "Invalid content: it has a NUL"),
        ] {
            let error = check_update("A", &bad).unwrap_err().0;
            assert!(error.contains(needle), "{error}");
        }
    }

    #[test]
    fn what_cannot_be_stored_is_refused_with_its_place() {
        let entity = |name: String, observation: String| GraphEntity {
            name,
            entity_type: String::new(),
            observations: vec![observation],
        };
        let fits = entity("é".repeat(NAME_MAX_BYTES / 2), "漢".repeat(OBSERVATION_MAX_CHARS));
        assert_eq!(check_entities(std::slice::from_ref(&fits)), Ok(()));
        for (bad, needle) in [
            (entity("x".repeat(NAME_MAX_BYTES + 1), String::new()), "entities[1].name"),
            (entity("a\0".into(), String::new()), "NUL character at position 1"),
            (entity("a".into(), "漢".repeat(OBSERVATION_MAX_CHARS + 1)), "entities[1].observations[0]"),
            (entity("a".into(), "\0".into()), "entities[1].observations[0]: it has a NUL"),
        ] {
            let error = check_entities(&[fits.clone(), bad]).unwrap_err().0;
            assert!(error.contains(needle) && error.len() < 300, "{error}");
        }
        assert!(check_length("names", LIST_MAX_ITEMS + 1).unwrap_err().0.contains("10001"));
    }
}
