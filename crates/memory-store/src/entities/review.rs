//! What an operator sees of entities, and says about them.

use memory_core::entity::{EntityType, normalised_name};
use memory_core::id::Namespace;
use serde::{Deserialize, Serialize};
use sqlx::types::Json;
use sqlx::{AssertSqlSafe, FromRow, Row};

pub use super::merging::{merge, split};
use super::with_names;
use crate::{Conn, StoreError, Tx};

/// Which entities are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EntityFilter {
    pub entity_type: Option<EntityType>,
    /// A part of one of its names.
    pub like: Option<String>,
    pub limit: i64,
}

impl EntityFilter {
    fn type_name(&self) -> Option<&'static str> {
        self.entity_type.map(EntityType::as_str)
    }

    fn part(&self) -> Option<String> {
        self.like.as_deref().map(normalised_name)
    }
}

/// An entity that is not merged into another, with what is merged into it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ListedEntity {
    pub id: i64,
    pub name: String,
    #[serde(rename = "type")]
    pub entity_type: String,
    pub mention_count: i64,
    pub aliases: Vec<String>,
    pub merged: Vec<MergedEntity>,
    pub possibly_same: Vec<PossiblySame>,
}

/// An entity that counts as another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergedEntity {
    pub id: i64,
    pub name: String,
    /// What it was merged into.
    pub into: i64,
}

/// An entity that may be the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PossiblySame {
    pub id: i64,
    pub name: String,
    /// In hundredths.
    pub score: f64,
    pub reasons: Vec<String>,
}

/// How many of the newest mentions say which entities are mentioned most.
pub const NEWEST_MENTIONS: i64 = 25_000;

/// Entities with their number without the limit, those with most mentions first: of all that have the name where one is asked for,
/// else of those that the newest [`NEWEST_MENTIONS`] name, unless these are too few.
pub async fn list(
    conn: &mut Conn,
    ns: &Namespace,
    filter: &EntityFilter,
) -> Result<(Vec<ListedEntity>, i64), StoreError> {
    if filter.like.is_none() {
        let newest = ranked_by(conn, ns, filter, include_str!("../sql/rank_newest_entities.sql")).await?;
        if newest.0.len() as i64 >= filter.limit {
            return Ok(newest);
        }
    }
    let mentioned = if filter.entity_type.is_none() && filter.like.is_none() {
        "select entity_id, count(*) as mentions from entity_mention where namespace = $1 group by entity_id"
    } else {
        "select t.entity_id, (select count(*) from entity_mention e
                               where e.namespace = $1 and e.entity_id = t.entity_id) as mentions
         from entity t
         where t.namespace = $1 and coalesce(t.canonical_id, t.entity_id) in (select root from matching)"
    };
    let ranked = include_str!("../sql/rank_entities.sql").replace("/*mentioned*/", mentioned);
    ranked_by(conn, ns, filter, &ranked).await
}

async fn ranked_by(
    conn: &mut Conn,
    ns: &Namespace,
    filter: &EntityFilter,
    ranked: &str,
) -> Result<(Vec<ListedEntity>, i64), StoreError> {
    let statement = with_names(include_str!("../sql/list_entities.sql")).replace("/*ranked*/", ranked);
    let rows = sqlx::query(AssertSqlSafe(statement))
        .bind(ns.as_str())
        .bind(filter.type_name())
        .bind(filter.part())
        .bind(filter.limit)
        .bind(NEWEST_MENTIONS)
        .fetch_all(conn)
        .await?;
    let total = rows.first().map_or(Ok(0), |row| row.try_get("total"))?;
    let listed = rows.iter().map(|row| {
        let Json(merged) = row.try_get("merged")?;
        let Json(possibly_same) = row.try_get("possibly_same")?;
        Ok(ListedEntity {
            id: row.try_get("entity_id")?,
            name: row.try_get("name")?,
            entity_type: row.try_get("entity_type")?,
            mention_count: row.try_get("mention_count")?,
            aliases: row.try_get("aliases")?,
            merged,
            possibly_same,
        })
    });
    Ok((listed.collect::<Result<_, StoreError>>()?, total))
}

/// Two entities that may be one.
#[derive(Debug, Clone, PartialEq)]
pub struct DoubtfulPair {
    pub score: f32,
    pub reasons: Vec<String>,
    pub entity_type: String,
    pub a_id: i64,
    pub a_name: String,
    pub a_mentions: i64,
    pub b_id: i64,
    pub b_name: String,
    pub b_mentions: i64,
}

row!(DoubtfulPair { score, reasons, entity_type, a_id, a_name, a_mentions, b_id, b_name, b_mentions });

/// Pairs that are not decided on, likeliest first, with their number without the limit.
pub async fn pairs(
    conn: &mut Conn,
    ns: &Namespace,
    filter: &EntityFilter,
) -> Result<(Vec<DoubtfulPair>, i64), StoreError> {
    let rows = sqlx::query(include_str!("../sql/doubtful_pairs.sql"))
        .bind(ns.as_str())
        .bind(filter.type_name())
        .bind(filter.part())
        .bind(filter.limit)
        .fetch_all(conn)
        .await?;
    let total = rows.first().map_or(Ok(0), |row| row.try_get("total"))?;
    Ok((rows.iter().map(DoubtfulPair::from_row).collect::<Result<_, _>>()?, total))
}

/// A decision of people that stands: `first` counts as `second`, or the two are not the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecidedPair {
    pub is_merge: bool,
    pub first_id: i64,
    pub first_name: String,
    pub second_id: i64,
    pub second_name: String,
}

row!(DecidedPair { is_merge, first_id, first_name, second_id, second_name });

/// What was merged, whoever did, and what was rejected; of each at most `limit`, those of the newest entities first.
pub async fn decided_pairs(
    conn: &mut Conn,
    ns: &Namespace,
    limit: i64,
) -> Result<Vec<DecidedPair>, StoreError> {
    Ok(sqlx::query_as(
        "select p.is_merge, p.first_id, a.name as first_name, p.second_id, b.name as second_name
         from (
             (select true as is_merge, entity_id as first_id, merged_into as second_id from entity
              where namespace = $1 and merged_into is not null
              order by entity_id desc limit $2)
             union all
             (select false, low_id, high_id from entity_candidate
              where namespace = $1 and state = 'rejected'
              order by high_id desc, low_id desc limit $2)
         ) p
         cross join lateral (select name from entity where namespace = $1 and entity_id = p.first_id offset 0) a
         cross join lateral (select name from entity where namespace = $1 and entity_id = p.second_id offset 0) b",
    )
    .bind(ns.as_str())
    .bind(limit)
    .fetch_all(conn)
    .await?)
}

/// An entity as a decision about it needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityRow {
    pub entity_id: i64,
    pub name: String,
    pub entity_type: String,
    pub merged_into: Option<i64>,
    pub canonical_id: Option<i64>,
    /// E-mail addresses, those of what counts as it included.
    pub addresses: Vec<String>,
    /// What was merged into it.
    pub absorbed: Vec<i64>,
}

row!(EntityRow { entity_id, name, entity_type, merged_into, canonical_id, addresses, absorbed });

pub async fn entity(tx: &mut Tx, ns: &Namespace, id: i64) -> Result<Option<EntityRow>, StoreError> {
    Ok(sqlx::query_as(
        "select t.entity_id, t.name, t.entity_type, t.merged_into, t.canonical_id,
                array(select distinct a.normalised from entity_alias a
                      where a.namespace = $1 and position('@' in a.normalised) > 1 and t.entity_type = 'person'
                        and (a.entity_id = t.entity_id
                             or a.entity_id in (select entity_id from entity where namespace = $1 and canonical_id = t.entity_id))
                      order by 1) as addresses,
                array(select s.entity_id from entity s
                      where s.namespace = $1 and s.merged_into = t.entity_id order by 1) as absorbed
         from entity t
         where t.namespace = $1 and t.entity_id = $2",
    )
    .bind(ns.as_str())
    .bind(id)
    .fetch_optional(&mut **tx)
    .await?)
}

/// The entity of this name, whatever its case; of several the first type's. What was merged is what it counts as.
pub async fn named(conn: &mut Conn, ns: &Namespace, name: &str) -> Result<Option<i64>, StoreError> {
    Ok(sqlx::query_scalar(
        "select coalesce(canonical_id, entity_id) from entity
         where namespace = $1 and entity_type = any($3) and normalised = $2
         order by array_position($3, entity_type), entity_id limit 1",
    )
    .bind(ns.as_str())
    .bind(normalised_name(name))
    .bind(EntityType::ALL.iter().map(|kind| kind.as_str()).collect::<Vec<_>>())
    .fetch_optional(conn)
    .await?)
}

/// Keeps extractions, forgetting and other decisions away until the transaction ends.
pub async fn lock(tx: &mut Tx, ns: &Namespace) -> Result<(), StoreError> {
    sqlx::query("select pg_advisory_xact_lock(hashtextextended($1, 2))")
        .bind(ns.as_str())
        .execute(&mut **tx)
        .await?;
    Ok(())
}

/// Writes down that a pair was merged, and what was said of it before.
pub async fn mark_merged(tx: &mut Tx, ns: &Namespace, a: i64, b: i64) -> Result<(), StoreError> {
    sqlx::query(
        "insert into entity_candidate (namespace, low_id, high_id, score, reasons, state)
         values ($1, least($2, $3), greatest($2, $3), 1, array['merged'], 'merged')
         on conflict (namespace, low_id, high_id) do update
         set state = 'merged', former_state = entity_candidate.state
         where entity_candidate.state <> 'merged'",
    )
    .bind(ns.as_str())
    .bind(a)
    .bind(b)
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// Takes [`mark_merged`] back.
pub async fn unmark_merged(tx: &mut Tx, ns: &Namespace, a: i64, b: i64) -> Result<(), StoreError> {
    sqlx::query(
        "with gone as (
             delete from entity_candidate
             where namespace = $1 and low_id = least($2, $3) and high_id = greatest($2, $3)
               and state = 'merged' and former_state is null
         )
         update entity_candidate
         set state = former_state, former_state = null
         where namespace = $1 and low_id = least($2, $3) and high_id = greatest($2, $3)
           and state = 'merged' and former_state is not null",
    )
    .bind(ns.as_str())
    .bind(a)
    .bind(b)
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// Writes down that two entities, with what counts as them, are not the same.
pub async fn mark_rejected(tx: &mut Tx, ns: &Namespace, a: i64, b: i64) -> Result<(), StoreError> {
    sqlx::query(include_str!("../sql/reject_pair.sql"))
        .bind(ns.as_str())
        .bind(a)
        .bind(b)
        .execute(&mut **tx)
        .await?;
    Ok(())
}

/// Takes [`mark_rejected`] back; gives whether there was anything to take back.
pub async fn unmark_rejected(tx: &mut Tx, ns: &Namespace, a: i64, b: i64) -> Result<bool, StoreError> {
    let changed: i64 = sqlx::query_scalar(include_str!("../sql/reopen_pair.sql"))
        .bind(ns.as_str())
        .bind(a)
        .bind(b)
        .fetch_one(&mut **tx)
        .await?;
    Ok(changed > 0)
}
