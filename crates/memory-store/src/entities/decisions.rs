//! Decisions about entities in terms that outlive their rows: read for an archive, and carried out where the entities are
//! there. Where they are not, the decision waits for the extraction that makes them.

use memory_core::entity::{EntityType, is_address, normalised_name};
use memory_core::event::ExtractedEntity;
use memory_core::graph::TextKey;
use memory_core::id::Namespace;
use serde::{Deserialize, Serialize};
use sqlx::Row;
use sqlx::postgres::PgRow;
use sqlx::types::Json;

use super::review::{mark_merged, merge};
use crate::graph::uuid;
use crate::lifecycle::link_merged;
use crate::{Conn, StoreError, Tx};

/// What identifies an entity.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Terms {
    pub entity_type: String,
    pub name: String,
    pub distinguisher: String,
    pub addresses: Vec<String>,
    /// Revisions that name it, as far as they are listed.
    #[serde(skip)]
    pub revisions: Vec<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Rejected,
    /// The first counts as the second.
    Merged {
        were_rejected: bool,
    },
}

/// A decision about two entities.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Decision {
    pub kind: Kind,
    pub first: Terms,
    pub second: Terms,
}

/// A pair that weighing takes for perhaps the same.
#[derive(Debug, Clone, PartialEq)]
pub struct DoubtRow {
    pub first: Terms,
    pub second: Terms,
    pub score: f32,
    pub reasons: Vec<String>,
}

/// What became of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    CarriedOut,
    /// It waits for its entities.
    Waits,
    /// The same, or something else, was decided here before.
    Stays,
}

fn signs(first: &Terms, second: &Terms) -> Vec<String> {
    let mut signs: Vec<String> = [first, second]
        .into_iter()
        .flat_map(|terms| terms.addresses.iter().chain([&terms.name]))
        .cloned()
        .collect();
    signs.sort_unstable();
    signs.dedup();
    signs
}

fn pair_key(first: &Terms, second: &Terms) -> TextKey {
    let text = |terms: &Terms| serde_json::to_string(terms).unwrap_or_default();
    let mut both = [text(first), text(second)];
    both.sort_unstable();
    TextKey::of(&both.join("\n"))
}

/// All decisions of the namespace that hold, those that wait included, in an order that is the same in each database.
pub async fn all(conn: &mut Conn, ns: &Namespace, signs_max: usize) -> Result<Vec<Decision>, StoreError> {
    let rows = sqlx::query(include_str!("../sql/archived_decisions.sql"))
        .bind(ns.as_str())
        .bind(signs_max as i64)
        .fetch_all(&mut *conn)
        .await?;
    let mut decisions: Vec<Decision> = rows.iter().map(decision_of).collect::<Result<_, _>>()?;
    decisions.sort_unstable();
    Ok(decisions)
}

/// All doubtful pairs in such an order, those that were decided on since included.
pub async fn doubts(conn: &mut Conn, ns: &Namespace, signs_max: usize) -> Result<Vec<DoubtRow>, StoreError> {
    let rows = sqlx::query(include_str!("../sql/archived_doubts.sql"))
        .bind(ns.as_str())
        .bind(signs_max as i64)
        .fetch_all(conn)
        .await?;
    let read = |row: &PgRow| -> Result<DoubtRow, StoreError> {
        let (mut first, mut second) = (terms_of(row, "first")?, terms_of(row, "second")?);
        if second < first {
            std::mem::swap(&mut first, &mut second);
        }
        Ok(DoubtRow { first, second, score: row.try_get("score")?, reasons: row.try_get("reasons")? })
    };
    let mut doubts: Vec<DoubtRow> = rows.iter().map(read).collect::<Result<_, _>>()?;
    doubts.sort_by(|a, b| (&a.first, &a.second).cmp(&(&b.first, &b.second)));
    Ok(doubts)
}

fn terms_of(row: &PgRow, side: &str) -> Result<Terms, StoreError> {
    let Json(mut terms): Json<Terms> = row.try_get(format!("{side}_terms").as_str())?;
    terms.addresses.retain(|address| is_address(address));
    terms.revisions = row.try_get(format!("{side}_revisions").as_str())?;
    Ok(terms)
}

fn decision_of(row: &PgRow) -> Result<Decision, StoreError> {
    let (mut first, mut second) = (terms_of(row, "first")?, terms_of(row, "second")?);
    let kind = match row.try_get("kind")? {
        "merged" => Kind::Merged { were_rejected: row.try_get("were_rejected")? },
        _ => Kind::Rejected,
    };
    if kind == Kind::Rejected && second < first {
        std::mem::swap(&mut first, &mut second);
    }
    Ok(Decision { kind, first, second })
}

/// Carries a decision out where both entities are there, else keeps it until they are.
pub async fn take(tx: &mut Tx, ns: &Namespace, decision: &Decision) -> Result<Taken, StoreError> {
    lock(tx, ns).await?;
    if let Some(taken) = carry_out(tx, ns, decision).await? {
        return Ok(taken);
    }
    let (kind, were_rejected) = match decision.kind {
        Kind::Rejected => ("rejected", false),
        Kind::Merged { were_rejected } => ("merged", were_rejected),
    };
    let done = sqlx::query(
        "insert into entity_decision (namespace, kind, first_terms, second_terms, pair_key, signs, were_rejected,
             first_revisions, second_revisions)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
         on conflict (namespace, pair_key) do nothing",
    )
    .bind(ns.as_str())
    .bind(kind)
    .bind(Json(&decision.first))
    .bind(Json(&decision.second))
    .bind(uuid(pair_key(&decision.first, &decision.second)))
    .bind(signs(&decision.first, &decision.second))
    .bind(were_rejected)
    .bind(&decision.first.revisions)
    .bind(&decision.second.revisions)
    .execute(&mut **tx)
    .await?;
    Ok(if done.rows_affected() > 0 { Taken::Waits } else { Taken::Stays })
}

/// Writes a doubtful pair down where both entities are there and nothing is known of the pair.
pub async fn take_doubt(tx: &mut Tx, ns: &Namespace, doubt: &DoubtRow) -> Result<bool, StoreError> {
    let Some((first, second)) = both(tx, ns, &doubt.first, &doubt.second).await? else { return Ok(false) };
    let done = sqlx::query(
        "insert into entity_candidate (namespace, low_id, high_id, score, reasons)
         values ($1, least($2, $3), greatest($2, $3), $4, $5)
         on conflict do nothing",
    )
    .bind(ns.as_str())
    .bind(first)
    .bind(second)
    .bind(doubt.score)
    .bind(&doubt.reasons)
    .execute(&mut **tx)
    .await?;
    Ok(done.rows_affected() > 0)
}

/// Decisions that wait and have to do with one of these names.
pub(super) async fn waiting(
    tx: &mut Tx,
    ns: &Namespace,
    names: &[String],
) -> Result<Vec<(i64, Decision)>, StoreError> {
    let rows = sqlx::query(
        "select decision_id, kind, first_terms, second_terms, were_rejected, first_revisions, second_revisions
         from entity_decision
         where namespace = $1 and signs && $2
         order by kind desc, decision_id",
    )
    .bind(ns.as_str())
    .bind(names)
    .fetch_all(&mut **tx)
    .await?;
    rows.iter().map(|row| Ok((row.try_get("decision_id")?, decision_of(row)?))).collect()
}

/// Applies the decisions that waited for the entities that a text has just named, rejections first.
pub(crate) async fn settle(tx: &mut Tx, ns: &Namespace, named: &[ExtractedEntity]) -> Result<(), StoreError> {
    let names = named.iter().flat_map(|entity| entity.aliases.iter().chain([&entity.name]));
    let mut names: Vec<String> = names.map(|name| normalised_name(name)).collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() || waiting(tx, ns, &names).await?.is_empty() {
        return Ok(());
    }
    // Another extraction may just be carrying them out.
    lock(tx, ns).await?;
    for (id, decision) in waiting(tx, ns, &names).await? {
        if carry_out(tx, ns, &decision).await?.is_some() {
            sqlx::query("delete from entity_decision where namespace = $1 and decision_id = $2")
                .bind(ns.as_str())
                .bind(id)
                .execute(&mut **tx)
                .await?;
        }
    }
    Ok(())
}

/// Deletes pending decisions about entities that no remaining text names.
pub(crate) async fn forget_unnamed(tx: &mut Tx, ns: &Namespace) -> Result<(), StoreError> {
    sqlx::query(
        "delete from entity_decision d
         where d.namespace = $1
           and (cardinality(d.first_revisions) > 0 and not exists (
                    select from artifact_revision r
                    where r.namespace = $1 and r.revision_id = any(d.first_revisions))
                or cardinality(d.second_revisions) > 0 and not exists (
                    select from artifact_revision r
                    where r.namespace = $1 and r.revision_id = any(d.second_revisions)))",
    )
    .bind(ns.as_str())
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// Lets one transaction at a time apply decisions: a tree of merges is read before it is changed. Extractions
/// hold the other locks already, and wait for nothing else while they hold this one.
async fn lock(tx: &mut Tx, ns: &Namespace) -> Result<(), StoreError> {
    sqlx::query("select pg_advisory_xact_lock(hashtextextended($1, 8))")
        .bind(ns.as_str())
        .execute(&mut **tx)
        .await?;
    Ok(())
}

async fn carry_out(tx: &mut Tx, ns: &Namespace, decision: &Decision) -> Result<Option<Taken>, StoreError> {
    let Some((first, second)) = both(tx, ns, &decision.first, &decision.second).await? else {
        return Ok(None);
    };
    let taken = match decision.kind {
        Kind::Rejected => reject(tx, ns, first, second).await?,
        Kind::Merged { were_rejected } => join(tx, ns, first, second, were_rejected).await?,
    };
    Ok(Some(taken))
}

/// The two entities, where both are there and not the same.
async fn both(
    tx: &mut Tx,
    ns: &Namespace,
    first: &Terms,
    second: &Terms,
) -> Result<Option<(i64, i64)>, StoreError> {
    let Some(first) = find(tx, ns, first).await? else { return Ok(None) };
    let Some(second) = find(tx, ns, second).await? else { return Ok(None) };
    Ok((first != second).then_some((first, second)))
}

async fn find(tx: &mut Tx, ns: &Namespace, terms: &Terms) -> Result<Option<i64>, StoreError> {
    Ok(sqlx::query_scalar(include_str!("../sql/entity_of_terms.sql"))
        .bind(ns.as_str())
        .bind(&terms.entity_type)
        .bind(&terms.name)
        .bind(&terms.distinguisher)
        .bind(&terms.addresses)
        .bind(EntityType::Person.as_str())
        .fetch_optional(&mut **tx)
        .await?)
}

/// Two entities before they are joined, and what was said of them.
struct Pair {
    first_root: i64,
    second_root: i64,
    has_parent: bool,
    are_of_one_type: bool,
    state: Option<String>,
    roots_are_rejected: bool,
}

row!(Pair { first_root, second_root, has_parent, are_of_one_type, state, roots_are_rejected });

async fn pair(tx: &mut Tx, ns: &Namespace, first: i64, second: i64) -> Result<Pair, StoreError> {
    Ok(sqlx::query_as(
        "select coalesce(a.canonical_id, a.entity_id) as first_root, coalesce(b.canonical_id, b.entity_id) as second_root,
             a.merged_into is not null as has_parent, a.entity_type = b.entity_type as are_of_one_type,
             (select c.state from entity_candidate c
              where c.namespace = $1 and c.low_id = least($2, $3) and c.high_id = greatest($2, $3)) as state,
             exists (select from entity_candidate c
                     where c.namespace = $1 and c.state = 'rejected'
                       and c.low_id = least(coalesce(a.canonical_id, a.entity_id), coalesce(b.canonical_id, b.entity_id))
                       and c.high_id = greatest(coalesce(a.canonical_id, a.entity_id), coalesce(b.canonical_id, b.entity_id))
             ) as roots_are_rejected
         from entity a, entity b
         where a.namespace = $1 and a.entity_id = $2 and b.namespace = $1 and b.entity_id = $3",
    )
    .bind(ns.as_str())
    .bind(first)
    .bind(second)
    .fetch_one(&mut **tx)
    .await?)
}

async fn reject(tx: &mut Tx, ns: &Namespace, first: i64, second: i64) -> Result<Taken, StoreError> {
    let pair = pair(tx, ns, first, second).await?;
    if pair.first_root == pair.second_root || !matches!(pair.state.as_deref(), None | Some("open")) {
        return Ok(Taken::Stays);
    }
    sqlx::query(
        "insert into entity_candidate (namespace, low_id, high_id, score, reasons, state)
         values ($1, least($2, $3), greatest($2, $3), 0, array['rejected'], 'rejected')
         on conflict (namespace, low_id, high_id) do update set state = 'rejected'",
    )
    .bind(ns.as_str())
    .bind(first)
    .bind(second)
    .execute(&mut **tx)
    .await?;
    Ok(Taken::CarriedOut)
}

async fn join(
    tx: &mut Tx,
    ns: &Namespace,
    entity: i64,
    into: i64,
    were_rejected: bool,
) -> Result<Taken, StoreError> {
    let pair = pair(tx, ns, entity, into).await?;
    let is_contrary = pair.has_parent
        || pair.first_root == pair.second_root
        || !pair.are_of_one_type
        || pair.roots_are_rejected
        || pair.state.as_deref() == Some("rejected");
    if is_contrary {
        return Ok(Taken::Stays);
    }
    if were_rejected {
        reject(tx, ns, entity, into).await?;
    }
    let joined = merge(tx, ns, into, entity).await?;
    mark_merged(tx, ns, into, entity).await?;
    link_merged(tx, ns, &joined).await?;
    Ok(Taken::CarriedOut)
}
