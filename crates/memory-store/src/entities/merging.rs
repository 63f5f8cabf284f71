//! Entities that count as one: a tree of pointers, each entity with its parent (`merged_into`) and the end of the way up
//! (`canonical_id`). What refers to an entity never changes, so a pointer that is taken back restores what was.

use memory_core::id::Namespace;

use crate::{StoreError, Tx};

/// Merges an entity that is not merged yet into another one, or into what that is merged into, with all that is merged into
/// it. Gives the ids of all these.
pub async fn merge(tx: &mut Tx, ns: &Namespace, keep: i64, other: i64) -> Result<Vec<i64>, StoreError> {
    Ok(sqlx::query_scalar(
        "update entity
         set canonical_id = (select coalesce(k.canonical_id, k.entity_id) from entity k
                             where k.namespace = $1 and k.entity_id = $2),
             merged_into = case when entity_id = $3 then $2 else merged_into end
         where namespace = $1 and (entity_id = $3 or canonical_id = $3)
         returning entity_id",
    )
    .bind(ns.as_str())
    .bind(keep)
    .bind(other)
    .fetch_all(&mut **tx)
    .await?)
}

/// Undoes the merge of an entity; what was merged into it before stays with it.
pub async fn split(tx: &mut Tx, ns: &Namespace, id: i64) -> Result<(), StoreError> {
    sqlx::query(
        "with recursive own as (
             select entity_id from entity where namespace = $1 and merged_into = $2
             union
             select t.entity_id from own join entity t on t.namespace = $1 and t.merged_into = own.entity_id
         )
         update entity
         set canonical_id = nullif($2, entity_id), merged_into = case when entity_id = $2 then null else merged_into end
         where namespace = $1 and (entity_id = $2 or entity_id in (select entity_id from own))",
    )
    .bind(ns.as_str())
    .bind(id)
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// Takes entities that are about to go out of the trees: what was merged into one of them is merged into what that was
/// merged into, or, where that was not merged, into the oldest of its own.
pub(super) async fn take_out(tx: &mut Tx, ns: &Namespace, leaving: &[i64]) -> Result<(), StoreError> {
    let parents: Vec<i64> = sqlx::query_scalar(
        "select distinct merged_into from entity where namespace = $1 and merged_into = any($2)",
    )
    .bind(ns.as_str())
    .bind(leaving)
    .fetch_all(&mut **tx)
    .await?;
    for parent in parents {
        // The heir of one that was not merged is one that stays, where there is any.
        let heir: Option<i64> = sqlx::query_scalar(
            "select coalesce(
                 (select merged_into from entity where namespace = $1 and entity_id = $2),
                 (select entity_id from entity
                  where namespace = $1 and merged_into = $2
                  order by entity_id = any($3), entity_id limit 1))",
        )
        .bind(ns.as_str())
        .bind(parent)
        .bind(leaving)
        .fetch_one(&mut **tx)
        .await?;
        let Some(heir) = heir else { continue };
        sqlx::query(
            "update entity
             set merged_into = case when entity_id = $3 then null when merged_into = $2 then $3 else merged_into end,
                 canonical_id = case when entity_id = $3 then null when canonical_id = $2 then $3 else canonical_id end
             where namespace = $1 and (merged_into = $2 or canonical_id = $2)",
        )
        .bind(ns.as_str())
        .bind(parent)
        .bind(heir)
        .execute(&mut **tx)
        .await?;
    }
    Ok(())
}
