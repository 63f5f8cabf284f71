//! Entities: who is who, the names they are told by, and where they are mentioned.

use std::collections::HashMap;

use memory_core::entity::{EntityType, normalised_name};
use memory_core::event::{ExtractedEntity, Mention};
use memory_core::id::Namespace;

use crate::events::Source;
use crate::{StoreError, Tx};

/// The id of each entity: one with the same e-mail address, else one with the same name and type, else a new one.
pub(crate) async fn upsert_entities(
    tx: &mut Tx,
    ns: &Namespace,
    entities: &[ExtractedEntity],
) -> Result<Vec<i64>, StoreError> {
    let addresses: Vec<Vec<String>> = entities
        .iter()
        .map(|e| {
            e.aliases
                .iter()
                .map(|a| normalised_name(a))
                .filter(|a| a.contains('@') && a.contains('.'))
                .collect()
        })
        .collect();
    let by_address: HashMap<String, i64> = sqlx::query_as::<_, (String, i64)>(
        "select a.normalised, min(a.entity_id)
         from entity_alias a join entity t using (namespace, entity_id)
         where a.namespace = $1 and a.normalised = any($2) and t.entity_type = 'person'
         group by a.normalised having count(distinct a.entity_id) = 1",
    )
    .bind(ns.as_str())
    .bind(addresses.iter().flatten().cloned().collect::<Vec<_>>())
    .fetch_all(&mut **tx)
    .await?
    .into_iter()
    .collect();
    let key = |e: &ExtractedEntity| (e.entity_type.as_str(), normalised_name(&e.name));
    let same_address = |entity: &ExtractedEntity, addresses: &[String]| {
        let is_person = entity.entity_type == EntityType::Person;
        addresses.iter().find_map(|a| by_address.get(a)).copied().filter(|_| is_person)
    };
    let mut new: Vec<((&str, String), &str)> = entities
        .iter()
        .zip(&addresses)
        .filter(|(entity, addresses)| same_address(entity, addresses).is_none())
        .map(|(e, _)| (key(e), e.name.as_str()))
        .collect();
    // Every writer inserts in the same order, so that two of them never wait for each other in a circle.
    new.sort_unstable();
    new.dedup_by(|a, b| a.0 == b.0);
    let by_name = entities_by_name(tx, ns, &new).await?;
    entities
        .iter()
        .zip(&addresses)
        .map(|(entity, addresses)| {
            let (entity_type, name) = key(entity);
            same_address(entity, addresses)
                .or_else(|| by_name.get(&(entity_type.to_owned(), name)).copied())
                .ok_or(StoreError::Conflict)
        })
        .collect()
}

/// The entities of these types and normalised names, each given with the name that it gets if it is new.
pub(crate) async fn entities_by_name(
    tx: &mut Tx,
    ns: &Namespace,
    new: &[((&str, String), &str)],
) -> Result<HashMap<(String, String), i64>, StoreError> {
    sqlx::query(
        "insert into entity (namespace, name, normalised, entity_type)
         select $1, u.name, u.normalised, u.entity_type
         from unnest($2::text[], $3::text[], $4::text[]) u (name, normalised, entity_type)
         on conflict do nothing",
    )
    .bind(ns.as_str())
    .bind(new.iter().map(|n| n.1).collect::<Vec<_>>())
    .bind(new.iter().map(|n| n.0.1.clone()).collect::<Vec<_>>())
    .bind(new.iter().map(|n| n.0.0).collect::<Vec<_>>())
    .execute(&mut **tx)
    .await?;
    Ok(sqlx::query_as::<_, (String, String, i64)>(
        "select t.entity_type, t.normalised, t.entity_id
         from unnest($2::text[], $3::text[]) u (normalised, entity_type)
         join entity t on t.namespace = $1 and t.entity_type = u.entity_type and t.normalised = u.normalised",
    )
    .bind(ns.as_str())
    .bind(new.iter().map(|n| n.0.1.clone()).collect::<Vec<_>>())
    .bind(new.iter().map(|n| n.0.0).collect::<Vec<_>>())
    .fetch_all(&mut **tx)
    .await?
    .into_iter()
    .map(|(entity_type, name, id)| ((entity_type, name), id))
    .collect())
}

pub(crate) async fn insert_mentions(
    tx: &mut Tx,
    ns: &Namespace,
    sources: &[Source],
    entities: &[ExtractedEntity],
    ids: &[i64],
    written: &[bool],
) -> Result<(), StoreError> {
    let mentions: Vec<(i64, usize, &Mention)> = entities
        .iter()
        .zip(ids)
        .flat_map(|(e, id)| e.mentions.iter().map(move |m| (*id, m.segment, m)))
        .filter(|(_, segment, _)| written[*segment])
        .collect();
    sqlx::query(
        "insert into entity_mention (namespace, entity_id, revision_id, artifact_id, start_char, end_char, surface)
         select $1, u.* from unnest($2::bigint[], $3::bigint[], $4::text[], $5::int[], $6::int[], $7::text[]) u
         on conflict do nothing",
    )
    .bind(ns.as_str())
    .bind(mentions.iter().map(|m| m.0).collect::<Vec<_>>())
    .bind(mentions.iter().map(|m| sources[m.1].revision_id.0).collect::<Vec<_>>())
    .bind(mentions.iter().map(|m| sources[m.1].artifact_id.0.as_str()).collect::<Vec<_>>())
    .bind(mentions.iter().map(|m| m.2.span.start as i32).collect::<Vec<_>>())
    .bind(mentions.iter().map(|m| m.2.span.end as i32).collect::<Vec<_>>())
    .bind(mentions.iter().map(|m| m.2.surface.as_str()).collect::<Vec<_>>())
    .execute(&mut **tx)
    .await?;
    Ok(())
}

pub(crate) async fn insert_names(tx: &mut Tx, ns: &Namespace, names: &[NameTold]) -> Result<(), StoreError> {
    sqlx::query(
        "insert into entity_alias (namespace, entity_id, alias, normalised, revision_id)
         select $1, u.* from unnest($2::bigint[], $3::text[], $4::text[], $5::bigint[]) u
         on conflict do nothing",
    )
    .bind(ns.as_str())
    .bind(names.iter().map(|n| n.entity_id).collect::<Vec<_>>())
    .bind(names.iter().map(|n| n.name.as_str()).collect::<Vec<_>>())
    .bind(names.iter().map(|n| n.normalised.as_str()).collect::<Vec<_>>())
    .bind(names.iter().map(|n| n.revision_id).collect::<Vec<_>>())
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// A name of an entity and a revision that tells it.
pub(crate) struct NameTold {
    pub(crate) entity_id: i64,
    pub(crate) name: String,
    pub(crate) normalised: String,
    pub(crate) revision_id: i64,
}

/// Each name with every source that has it in its text; one that stands in none (it comes from what is said
/// about the text) with the first source that mentions the entity, else with the first at all.
pub(crate) fn names_told(
    entity: &ExtractedEntity,
    entity_id: i64,
    sources: &[Source],
    written: &[bool],
) -> Vec<NameTold> {
    let mentioned: Vec<(usize, String)> = entity
        .mentions
        .iter()
        .filter(|m| written[m.segment])
        .map(|m| (m.segment, normalised_name(&m.surface)))
        .collect();
    let fallback = mentioned.first().map(|(segment, _)| *segment).or(written.iter().position(|w| *w));
    let mut told = Vec::new();
    for name in entity.aliases.iter().chain([&entity.name]) {
        let normalised = normalised_name(name);
        if normalised.is_empty() {
            continue;
        }
        let mut segments: Vec<usize> = mentioned
            .iter()
            .filter(|(_, surface)| *surface == normalised)
            .map(|(segment, _)| *segment)
            .collect();
        if segments.is_empty() {
            segments.extend(fallback);
        }
        segments.dedup();
        told.extend(segments.into_iter().map(|segment| NameTold {
            entity_id,
            name: name.clone(),
            normalised: normalised.clone(),
            revision_id: sources[segment].revision_id.0,
        }));
    }
    told
}

/// The entities that anything of the revisions refers to.
pub(crate) async fn entities_of_revisions(
    tx: &mut Tx,
    ns: &Namespace,
    revisions: &[i64],
) -> Result<Vec<i64>, StoreError> {
    Ok(sqlx::query_scalar(include_str!("sql/entities_of_revisions.sql"))
        .bind(ns.as_str())
        .bind(revisions)
        .fetch_all(&mut **tx)
        .await?)
}

/// Deletes those of the entities that no mention, actor or subject refers to; gives how many.
pub(crate) async fn delete_orphans(tx: &mut Tx, ns: &Namespace, entities: &[i64]) -> Result<u64, StoreError> {
    Ok(sqlx::query(
        "delete from entity t
         where t.namespace = $1 and t.entity_id = any($2)
           and not exists (select from entity_mention m where m.namespace = $1 and m.entity_id = t.entity_id)
           and not exists (select from event_actor a where a.namespace = $1 and a.entity_id = t.entity_id)
           and not exists (select from event_subject s where s.namespace = $1 and s.entity_id = t.entity_id)",
    )
    .bind(ns.as_str())
    .bind(entities)
    .execute(&mut **tx)
    .await?
    .rows_affected())
}
