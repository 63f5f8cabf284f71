//! What is known of names and entities, read to resolve names.

use std::collections::HashMap;

use jiff::Timestamp;
use jiff_sqlx::Timestamp as SqlTimestamp;
use memory_core::entity::EntityType;
use memory_core::id::Namespace;
use sqlx::Row;

use crate::{StoreError, Tx};

/// A person that goes by an address or a handle.
#[derive(Debug, Clone)]
pub(super) struct Holder {
    pub(super) name: String,
    pub(super) entity_id: i64,
    /// The entity that it counts as.
    pub(super) root: i64,
    pub(super) root_name: String,
    pub(super) has_address: bool,
}

row!(Holder { name, entity_id, root, root_name, has_address });

pub(super) async fn holders(
    tx: &mut Tx,
    ns: &Namespace,
    names: &[String],
) -> Result<Vec<Holder>, StoreError> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    Ok(sqlx::query_as(include_str!("../sql/name_holders.sql"))
        .bind(ns.as_str())
        .bind(names)
        .fetch_all(&mut **tx)
        .await?)
}

/// An entity that bears a name.
#[derive(Debug, Clone)]
pub(super) struct Twin {
    pub(super) entity_id: i64,
    pub(super) root: i64,
    pub(super) entity_type: String,
    pub(super) normalised: String,
    pub(super) distinguisher: String,
    pub(super) has_address: bool,
}

row!(Twin { entity_id, root, entity_type, normalised, distinguisher, has_address });

/// The entities of these types and names, and those of these ids. Whether they have an address is `false` where that was
/// not asked.
pub(super) async fn twins(
    tx: &mut Tx,
    ns: &Namespace,
    names: &[(EntityType, String)],
    ids: &[i64],
    asks_addresses: bool,
) -> Result<Vec<Twin>, StoreError> {
    Ok(sqlx::query_as(include_str!("../sql/entities_named.sql"))
        .bind(ns.as_str())
        .bind(names.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>())
        .bind(names.iter().map(|(entity_type, _)| entity_type.as_str()).collect::<Vec<_>>())
        .bind(ids)
        .bind(asks_addresses)
        .fetch_all(&mut **tx)
        .await?)
}

/// A name that is to be weighed, and the entity it is taken for unless another is found.
pub(super) struct Weighed<'a> {
    pub(super) entity_type: EntityType,
    pub(super) normalised: &'a str,
    pub(super) own_id: Option<i64>,
    pub(super) keys: Vec<String>,
    /// Whether addresses of entities matter.
    pub(super) asks_address: bool,
}

/// Entities, counting as one, that may be meant by the n-th name.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) n: i32,
    pub(super) root: i64,
    pub(super) names: Vec<String>,
    pub(super) is_known_name: bool,
    pub(super) has_address: bool,
    /// The score of the pair, where it is known as doubtful.
    pub(super) said_score: Option<f32>,
    /// It was decided that they are not the same.
    pub(super) is_rejected: bool,
}

row!(Candidate { n, root, names, is_known_name, has_address, said_score, is_rejected });

pub(super) async fn candidates(
    tx: &mut Tx,
    ns: &Namespace,
    names: &[Weighed<'_>],
) -> Result<Vec<Candidate>, StoreError> {
    let keys = names.iter().enumerate().flat_map(|(n, name)| {
        name.keys.iter().map(move |key| (n as i32, name.entity_type.as_str(), key.as_str()))
    });
    let keys: Vec<(i32, &str, &str)> = keys.collect();
    Ok(sqlx::query_as(include_str!("../sql/entity_candidates.sql"))
        .bind(ns.as_str())
        .bind((0..names.len() as i32).collect::<Vec<_>>())
        .bind(names.iter().map(|n| n.entity_type.as_str()).collect::<Vec<_>>())
        .bind(names.iter().map(|n| n.normalised).collect::<Vec<_>>())
        .bind(names.iter().map(|n| n.own_id).collect::<Vec<_>>())
        .bind(keys.iter().map(|k| k.0).collect::<Vec<_>>())
        .bind(keys.iter().map(|k| k.1).collect::<Vec<_>>())
        .bind(keys.iter().map(|k| k.2).collect::<Vec<_>>())
        .bind(names.iter().map(|n| n.asks_address).collect::<Vec<_>>())
        .fetch_all(&mut **tx)
        .await?)
}

/// Where an entity was mentioned of late, held against a text.
#[derive(Debug, Clone)]
pub(super) struct SharedContext {
    pub(super) same_conversation: bool,
    pub(super) same_source: bool,
    pub(super) said_at: Timestamp,
    /// Entities in common, each with how many mentions it has, counted up to 100.
    pub(super) shared: Vec<(i64, i64)>,
}

pub(super) async fn surroundings(
    tx: &mut Tx,
    ns: &Namespace,
    roots: &[i64],
    conversations: &[&str],
    places: &[&str],
    companions: &[i64],
) -> Result<HashMap<i64, SharedContext>, StoreError> {
    let rows = sqlx::query(include_str!("../sql/entity_surroundings.sql"))
        .bind(ns.as_str())
        .bind(roots)
        .bind(conversations)
        .bind(places)
        .bind(companions)
        .fetch_all(&mut **tx)
        .await?;
    rows.iter()
        .map(|row| {
            let ids: Vec<i64> = row.try_get("shared_ids")?;
            let mentions: Vec<i64> = row.try_get("shared_mentions")?;
            let seen = SharedContext {
                same_conversation: row.try_get("same_conversation")?,
                same_source: row.try_get("same_source")?,
                said_at: row.try_get::<SqlTimestamp, _>("said_at")?.to_jiff(),
                shared: ids.into_iter().zip(mentions).collect(),
            };
            Ok((row.try_get("root")?, seen))
        })
        .collect()
}
