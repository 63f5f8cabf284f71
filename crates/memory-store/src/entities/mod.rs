//! Entities: which are the same, their names, and where they are mentioned.

pub mod decisions;
mod merging;
pub mod picture;
pub mod portrait;
mod read;
mod resolve;
pub mod review;
mod weigh;

use std::collections::{HashMap, HashSet};

use memory_core::entity::{EntityType, name_keys, normalised_name};
use memory_core::event::{ExtractedEntity, Mention};
use memory_core::id::Namespace;

use crate::events::Source;
use crate::{StoreError, Tx};

pub(crate) use resolve::{EarlierName, resolve_entities};

/// The statement with a select of the other names of the entity `t` in the place of `/*names*/`.
fn with_names(template: &str) -> String {
    template.replace("/*names*/", include_str!("../sql/names_of_entity.sql"))
}

/// What identifies an entity in its namespace, and the name that it gets if it is new.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NewEntity<'a> {
    pub(crate) entity_type: &'a str,
    pub(crate) normalised: String,
    pub(crate) distinguisher: String,
    pub(crate) name: &'a str,
}

/// The entities of these types, normalised names and distinguishers; those that are not there yet are made.
pub(crate) async fn entities_by_key(
    tx: &mut Tx,
    ns: &Namespace,
    mut wanted: Vec<NewEntity<'_>>,
) -> Result<HashMap<(String, String, String), i64>, StoreError> {
    // Every writer inserts in the same order, so that two of them never wait for each other in a circle.
    wanted.sort_unstable();
    wanted.dedup_by(|a, b| {
        (a.entity_type, &a.normalised, &a.distinguisher) == (b.entity_type, &b.normalised, &b.distinguisher)
    });
    let made: Vec<(i64, String, String)> = sqlx::query_as(
        "insert into entity (namespace, name, normalised, distinguisher, entity_type)
         select $1, u.name, u.normalised, u.distinguisher, u.entity_type
         from unnest($2::text[], $3::text[], $4::text[], $5::text[]) u (name, normalised, distinguisher, entity_type)
         on conflict do nothing
         returning entity_id, entity_type, name",
    )
    .bind(ns.as_str())
    .bind(wanted.iter().map(|n| n.name).collect::<Vec<_>>())
    .bind(wanted.iter().map(|n| n.normalised.as_str()).collect::<Vec<_>>())
    .bind(wanted.iter().map(|n| n.distinguisher.as_str()).collect::<Vec<_>>())
    .bind(wanted.iter().map(|n| n.entity_type).collect::<Vec<_>>())
    .fetch_all(&mut **tx)
    .await?;
    insert_keys(tx, ns, &made).await?;
    Ok(sqlx::query_as::<_, (String, String, String, i64)>(
        "select t.entity_type, t.normalised, t.distinguisher, t.entity_id
         from unnest($2::text[], $3::text[], $4::text[]) u (normalised, distinguisher, entity_type)
         join entity t on t.namespace = $1 and t.entity_type = u.entity_type and t.normalised = u.normalised
                      and t.distinguisher = u.distinguisher",
    )
    .bind(ns.as_str())
    .bind(wanted.iter().map(|n| n.normalised.as_str()).collect::<Vec<_>>())
    .bind(wanted.iter().map(|n| n.distinguisher.as_str()).collect::<Vec<_>>())
    .bind(wanted.iter().map(|n| n.entity_type).collect::<Vec<_>>())
    .fetch_all(&mut **tx)
    .await?
    .into_iter()
    .map(|(entity_type, name, distinguisher, id)| ((entity_type, name, distinguisher), id))
    .collect())
}

/// Makes the entities, given with their types and names, findable by what their names share with others.
async fn insert_keys(tx: &mut Tx, ns: &Namespace, named: &[(i64, String, String)]) -> Result<(), StoreError> {
    let mut rows: Vec<(i64, &str, String)> = Vec::new();
    for (id, entity_type, name) in named {
        let keys = EntityType::parse(entity_type).map(|of_type| name_keys(of_type, name));
        rows.extend(keys.into_iter().flatten().map(|key| (*id, entity_type.as_str(), key)));
    }
    if rows.is_empty() {
        return Ok(());
    }
    sqlx::query(
        "insert into entity_key (namespace, entity_id, entity_type, key)
         select $1, u.* from unnest($2::bigint[], $3::text[], $4::text[]) u
         on conflict do nothing",
    )
    .bind(ns.as_str())
    .bind(rows.iter().map(|r| r.0).collect::<Vec<_>>())
    .bind(rows.iter().map(|r| r.1).collect::<Vec<_>>())
    .bind(rows.iter().map(|r| r.2.as_str()).collect::<Vec<_>>())
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// Makes entities that have other names now, given with their types and names, findable by these.
pub(crate) async fn renew_keys(
    tx: &mut Tx,
    ns: &Namespace,
    renamed: &[(i64, String, String)],
) -> Result<(), StoreError> {
    if renamed.is_empty() {
        return Ok(());
    }
    sqlx::query("delete from entity_key where namespace = $1 and entity_id = any($2)")
        .bind(ns.as_str())
        .bind(renamed.iter().map(|(id, ..)| *id).collect::<Vec<_>>())
        .execute(&mut **tx)
        .await?;
    insert_keys(tx, ns, renamed).await
}

/// Two entities that may be one.
pub(crate) struct Doubt {
    pub(crate) low_id: i64,
    pub(crate) high_id: i64,
    pub(crate) score: f32,
    pub(crate) reasons: Vec<String>,
}

/// Stores what is doubtful. Decisions about a pair stay.
async fn insert_doubts(tx: &mut Tx, ns: &Namespace, mut doubts: Vec<Doubt>) -> Result<(), StoreError> {
    if doubts.is_empty() {
        return Ok(());
    }
    doubts
        .sort_by(|a, b| (a.low_id, a.high_id).cmp(&(b.low_id, b.high_id)).then(b.score.total_cmp(&a.score)));
    doubts.dedup_by_key(|doubt| (doubt.low_id, doubt.high_id));
    // No array of arrays: what is unnested is one level deep.
    let reasons: Vec<String> = doubts.iter().map(|doubt| doubt.reasons.join("\n")).collect();
    sqlx::query(
        "insert into entity_candidate (namespace, low_id, high_id, score, reasons)
         select $1, u.low_id, u.high_id, u.score, string_to_array(u.reasons, e'\n')
         from unnest($2::bigint[], $3::bigint[], $4::real[], $5::text[]) u (low_id, high_id, score, reasons)
         on conflict (namespace, low_id, high_id) do update
         set score = excluded.score, reasons = excluded.reasons
         where entity_candidate.state = 'open' and entity_candidate.score < excluded.score",
    )
    .bind(ns.as_str())
    .bind(doubts.iter().map(|d| d.low_id).collect::<Vec<_>>())
    .bind(doubts.iter().map(|d| d.high_id).collect::<Vec<_>>())
    .bind(doubts.iter().map(|d| d.score).collect::<Vec<_>>())
    .bind(reasons)
    .execute(&mut **tx)
    .await?;
    Ok(())
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

pub(crate) async fn insert_names(
    tx: &mut Tx,
    ns: &Namespace,
    names: &[NameOccurrence],
) -> Result<(), StoreError> {
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

/// A name of an entity and a revision that has it.
pub(crate) struct NameOccurrence {
    pub(crate) entity_id: i64,
    pub(crate) name: String,
    pub(crate) normalised: String,
    pub(crate) revision_id: i64,
}

/// Each name with every source that has it in its text; one that no text has (it comes from metadata) with the first
/// source that mentions the entity, else with the first at all. A mention in a form that is none of the names, such as one with
/// markup in it, counts as the entity's own name.
pub(crate) fn name_occurrences(
    entity: &ExtractedEntity,
    entity_id: i64,
    sources: &[Source],
    written: &[bool],
) -> Vec<NameOccurrence> {
    let own = normalised_name(&entity.name);
    let known: HashSet<String> = entity.aliases.iter().map(|alias| normalised_name(alias)).collect();
    let mentioned: Vec<(usize, String)> = entity
        .mentions
        .iter()
        .filter(|m| written[m.segment])
        .map(|m| (m.segment, normalised_name(&m.surface)))
        .map(|(segment, surface)| (segment, if known.contains(&surface) { surface } else { own.clone() }))
        .collect();
    let fallback = mentioned.first().map(|(segment, _)| *segment).or(written.iter().position(|w| *w));
    let mut occurrences = Vec::new();
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
        occurrences.extend(segments.into_iter().map(|segment| NameOccurrence {
            entity_id,
            name: name.clone(),
            normalised: normalised.clone(),
            revision_id: sources[segment].revision_id.0,
        }));
    }
    occurrences
}

/// The entities that anything of the revisions refers to.
pub(crate) async fn entities_of_revisions(
    tx: &mut Tx,
    ns: &Namespace,
    revisions: &[i64],
) -> Result<Vec<i64>, StoreError> {
    Ok(sqlx::query_scalar(include_str!("../sql/entities_of_revisions.sql"))
        .bind(ns.as_str())
        .bind(revisions)
        .fetch_all(&mut **tx)
        .await?)
}

/// Deletes those of the entities that no mention, actor or subject refers to; gives how many. Where others count as
/// one of these, the oldest of them takes its place.
pub(crate) async fn delete_orphans(tx: &mut Tx, ns: &Namespace, entities: &[i64]) -> Result<u64, StoreError> {
    let orphans: Vec<i64> = sqlx::query_scalar(
        "select t.entity_id from entity t
         where t.namespace = $1 and t.entity_id = any($2)
           and not exists (select from entity_mention m where m.namespace = $1 and m.entity_id = t.entity_id)
           and not exists (select from event_actor a where a.namespace = $1 and a.entity_id = t.entity_id)
           and not exists (select from event_subject s where s.namespace = $1 and s.entity_id = t.entity_id)",
    )
    .bind(ns.as_str())
    .bind(entities)
    .fetch_all(&mut **tx)
    .await?;
    if orphans.is_empty() {
        return Ok(0);
    }
    merging::take_out(tx, ns, &orphans).await?;
    Ok(sqlx::query("delete from entity where namespace = $1 and entity_id = any($2)")
        .bind(ns.as_str())
        .bind(orphans)
        .execute(&mut **tx)
        .await?
        .rows_affected())
}
