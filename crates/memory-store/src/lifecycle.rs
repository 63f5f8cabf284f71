//! What becomes of promises: links from a commitment to the events that end it. The rules are in
//! `memory_core::commitment`; which events are held against each other, and the links, are here.
//!
//! Links belong to their events and go with them. Whoever writes events of an owner weighs all that these have to do with
//! anew, so that it does not matter which came first.

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use jiff_sqlx::{Timestamp as SqlTimestamp, ToSqlx};
use memory_core::commitment::{Ending, Matter, Promise, Rarity, ended, ending};
use memory_core::event::Category;
use memory_core::id::Namespace;
use sqlx::Row;
use sqlx::postgres::PgRow;

use crate::{StoreError, Tx};

/// The most promises, and the most events that may end them, that are looked at for one entity.
const PROMISES_MAX: i64 = 32;
const ENDINGS_MAX: i64 = 16;
/// «Done» answers what was said at most so many turns before.
const NEAR_TURNS: i32 = 12;

/// An event of an owner, and where it was told.
struct OwnersEvent {
    root: i64,
    owner: i64,
    event_id: String,
    is_promise: bool,
    ending: Option<Ending>,
    matter: Matter,
    revision_id: i64,
    occurred_at: Timestamp,
    said_at: Timestamp,
    turn: Option<(String, i32)>,
    start: i32,
}

fn event_of(row: &PgRow) -> Result<OwnersEvent, StoreError> {
    let narrative: String = row.try_get("narrative")?;
    let category: String = row.try_get("category")?;
    let moment =
        |column| Ok::<_, StoreError>(row.try_get::<SqlTimestamp, _>(column).map(SqlTimestamp::to_jiff)?);
    let tags: Option<Vec<String>> = row.try_get("matter")?;
    let conversation: Option<String> = row.try_get("conversation_id")?;
    let turn: Option<i32> = row.try_get("turn_index")?;
    Ok(OwnersEvent {
        root: row.try_get("root")?,
        owner: row.try_get("owner")?,
        event_id: row.try_get("event_id")?,
        is_promise: row.try_get("is_promise")?,
        ending: Category::parse(&category).and_then(|category| ending(category, &narrative)),
        matter: tags.map_or_else(|| Matter::of(&narrative, &[], &[]), |tags| Matter::from_tags(&tags)),
        revision_id: row.try_get("revision_id")?,
        occurred_at: moment("occurred_at")?,
        said_at: moment("said_at")?,
        turn: conversation.zip(turn),
        start: row.try_get("start_char")?,
    })
}

impl OwnersEvent {
    /// Whether it can end the promise: it neither happened nor was told before it. What is dated by the day alone may
    /// have happened later on that day.
    fn follows(&self, promise: &Self) -> bool {
        let is_told_after = match (&self.turn, &promise.turn) {
            _ if self.revision_id == promise.revision_id => self.start > promise.start,
            (Some((conversation, turn)), Some((of_promise, before))) if conversation == of_promise => {
                turn > before
            }
            _ => true,
        };
        let day = |moment: Timestamp| moment.to_zoned(TimeZone::UTC).date();
        let is_later = self.occurred_at >= promise.occurred_at
            || (day(self.occurred_at) == day(promise.occurred_at) && self.said_at >= promise.said_at);
        is_told_after && is_later
    }

    fn is_near(&self, promise: &Self) -> bool {
        match (&self.turn, &promise.turn) {
            (Some((conversation, turn)), Some((of_promise, before))) => {
                conversation == of_promise && turn - before <= NEAR_TURNS
            }
            _ => self.revision_id == promise.revision_id,
        }
    }
}

/// A promise and what ends it.
#[derive(Debug, Clone, PartialEq)]
struct Link {
    commitment_id: String,
    closing_id: String,
    kind: Ending,
    score: f32,
    occurred_at: Timestamp,
}

/// Links the events that were just written, and those of the same owners that have to do with them.
pub(crate) async fn link_new(
    tx: &mut Tx,
    ns: &Namespace,
    owners: &[i64],
    events: &[String],
    revisions: &[i64],
) -> Result<(), StoreError> {
    if owners.is_empty() {
        return Ok(());
    }
    let found = matters(tx, ns, owners, events, revisions).await?;
    if found.iter().all(|event| event.is_promise) {
        return Ok(());
    }
    let mut wanted: BTreeMap<(String, String), Link> = BTreeMap::new();
    for of_owner in found.chunk_by(|a, b| a.root == b.root) {
        for link in links(of_owner, |_, _| true) {
            wanted.entry((link.commitment_id.clone(), link.closing_id.clone())).or_insert(link);
        }
    }
    let fresh: HashSet<&String> = events.iter().collect();
    let ids = |is_promise: bool| -> Vec<&str> {
        let of_kind = found.iter().filter(|event| event.is_promise == is_promise);
        of_kind.map(|event| event.event_id.as_str()).collect()
    };
    // What was just written has no links yet.
    let closings: Vec<&str> = found
        .iter()
        .filter(|event| !event.is_promise && !fresh.contains(&event.event_id))
        .map(|event| event.event_id.as_str())
        .collect();
    if !closings.is_empty() {
        let kept: Vec<&(String, String)> = wanted.keys().collect();
        sqlx::query(
            "delete from event_link
             where namespace = $1 and closing_id = any($2) and commitment_id = any($3)
               and (commitment_id, closing_id) not in (select * from unnest($4::text[], $5::text[]))",
        )
        .bind(ns.as_str())
        .bind(closings)
        .bind(ids(true))
        .bind(kept.iter().map(|(commitment, _)| commitment.as_str()).collect::<Vec<_>>())
        .bind(kept.iter().map(|(_, closing)| closing.as_str()).collect::<Vec<_>>())
        .execute(&mut **tx)
        .await?;
    }
    insert(tx, ns, wanted.into_values().collect()).await
}

/// Links what could not be linked as long as two entities stood apart: promises of the one that events of the other end.
/// `joined` are the entities that now count as `root` and did not before.
pub async fn link_merged(tx: &mut Tx, ns: &Namespace, root: i64, joined: &[i64]) -> Result<(), StoreError> {
    let (events, revisions): (Vec<String>, Vec<i64>) = sqlx::query_as::<_, (String, i64)>(
        "select distinct event_id, revision_id
         from event_actor a
         join semantic_event e using (namespace, event_id)
         where a.namespace = $1 and a.role = 'owner' and a.category in ('Commitment', 'Execution', 'Change')
           and a.event_id in (
               select newest.event_id
               from unnest($2::bigint[]) j (entity_id)
               cross join lateral (
                   select event_id from event_actor
                   where namespace = $1 and entity_id = j.entity_id
                   order by occurred_at desc
                   limit 400
               ) newest)",
    )
    .bind(ns.as_str())
    .bind(joined)
    .fetch_all(&mut **tx)
    .await?
    .into_iter()
    .unzip();
    let found = matters(tx, ns, &[root], &events, &revisions).await?;
    let has_joined = |event: &OwnersEvent| joined.contains(&event.owner);
    let crossing = links(&found, |promise, ending| has_joined(promise) != has_joined(ending));
    insert(tx, ns, crossing).await
}

/// Takes back the links between events whose owners no longer count as one; `roots` are the entities that were split.
pub async fn unlink_split(tx: &mut Tx, ns: &Namespace, roots: &[i64]) -> Result<(), StoreError> {
    sqlx::query(include_str!("sql/unlink_split.sql"))
        .bind(ns.as_str())
        .bind(roots)
        .execute(&mut **tx)
        .await?;
    Ok(())
}

/// The promises of the owners and what may end them, as far as the events have to do with them.
async fn matters(
    tx: &mut Tx,
    ns: &Namespace,
    owners: &[i64],
    events: &[String],
    revisions: &[i64],
) -> Result<Vec<OwnersEvent>, StoreError> {
    let rows = sqlx::query(include_str!("sql/promises_and_endings.sql"))
        .bind(ns.as_str())
        .bind(owners)
        .bind(events)
        .bind(PROMISES_MAX)
        .bind(ENDINGS_MAX)
        .bind(revisions)
        .fetch_all(&mut **tx)
        .await?;
    rows.iter().map(event_of).collect()
}

/// Which promises of one owner are ended by which events.
fn links(events: &[OwnersEvent], may_link: impl Fn(&OwnersEvent, &OwnersEvent) -> bool) -> Vec<Link> {
    let promises: Vec<&OwnersEvent> = events.iter().filter(|event| event.is_promise).collect();
    let rarity = Rarity::of(promises.iter().map(|promise| &promise.matter));
    let mut links = Vec::new();
    for event in events.iter().filter(|event| !event.is_promise) {
        let Some(kind) = event.ending else { continue };
        let before: Vec<&OwnersEvent> = promises
            .iter()
            .filter(|promise| promise.event_id != event.event_id && event.follows(promise))
            .copied()
            .collect();
        let asked: Vec<Promise<'_>> = before
            .iter()
            .map(|promise| Promise { matter: &promise.matter, is_near: event.is_near(promise) })
            .collect();
        for (at, score) in ended(&event.matter, &asked, &rarity) {
            let promise = before[at];
            if may_link(promise, event) {
                let fulfils = promise.matter.is_to_cancel();
                links.push(Link {
                    commitment_id: promise.event_id.clone(),
                    closing_id: event.event_id.clone(),
                    kind: if fulfils { Ending::Fulfils } else { kind },
                    score,
                    occurred_at: event.occurred_at,
                });
            }
        }
    }
    links
}

async fn insert(tx: &mut Tx, ns: &Namespace, links: Vec<Link>) -> Result<(), StoreError> {
    if links.is_empty() {
        return Ok(());
    }
    // An event with two owners of one name is there twice.
    let links: HashMap<(String, String), Link> =
        links.into_iter().map(|link| ((link.commitment_id.clone(), link.closing_id.clone()), link)).collect();
    let mut links: Vec<Link> = links.into_values().collect();
    links.sort_by(|a, b| (&a.commitment_id, &a.closing_id).cmp(&(&b.commitment_id, &b.closing_id)));
    sqlx::query(
        "insert into event_link (namespace, commitment_id, closing_id, kind, score, occurred_at)
         select $1, u.* from unnest($2::text[], $3::text[], $4::text[], $5::real[], $6::timestamptz[]) u
         on conflict do nothing",
    )
    .bind(ns.as_str())
    .bind(links.iter().map(|l| l.commitment_id.as_str()).collect::<Vec<_>>())
    .bind(links.iter().map(|l| l.closing_id.as_str()).collect::<Vec<_>>())
    .bind(links.iter().map(|l| l.kind.as_str()).collect::<Vec<_>>())
    .bind(links.iter().map(|l| l.score).collect::<Vec<_>>())
    .bind(links.iter().map(|l| l.occurred_at.to_sqlx()).collect::<Vec<_>>())
    .execute(&mut **tx)
    .await?;
    Ok(())
}
