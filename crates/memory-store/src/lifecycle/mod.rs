//! What becomes of promises: links from a commitment to the events that end it. The rules are in
//! `memory_core::commitment`; which events are held against each other, and the links, are here: those of one owner, also where one
//! text knows them by their first name alone, and what nobody is said to have done or promised against all others.
//!
//! Links belong to their events and go with them. A transaction that writes events of an owner computes their
//! links again, so that it does not matter which came first.

mod nobodys;
mod short_names;

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use jiff_sqlx::{Timestamp as SqlTimestamp, ToSqlx};
use memory_core::commitment::{CommitmentFingerprint, Ending, Promise, Rarity, ended, ending};
use memory_core::event::{Category, ExtractedEvent};
use memory_core::id::Namespace;
use sqlx::Row;
use sqlx::postgres::PgRow;

use crate::events::Source;
use crate::{StoreError, Tx};

/// The most promises, and the most events that may end them, that are looked at for one entity.
const PROMISES_MAX: i64 = 24;
const ENDINGS_MAX: i64 = 12;
/// The owner of what nobody is said to have promised or done, as in "The fence is painted."
pub(crate) const NOBODY: i64 = 0;
/// "Done" answers what was said at most so many turns before.
const NEAR_TURNS: i32 = 12;

/// An event of an owner, and where in a text it is.
#[derive(Debug, Clone)]
pub(crate) struct OwnersEvent {
    /// The entity that the owner counts as; of a new event the owner.
    root: i64,
    owner: i64,
    event_id: String,
    /// `None` for a promise.
    ending: Option<Ending>,
    matter: CommitmentFingerprint,
    revision_id: i64,
    start: i32,
    occurred_at: Timestamp,
    said_at: Timestamp,
    turn: Option<(String, i32)>,
}

/// The event as it is kept for its owner, where it is a promise or may end one.
pub(crate) fn owners_event(
    owner: i64,
    event_id: &str,
    event: &ExtractedEvent,
    source: &Source,
    doers: &[String],
    subject: Option<i64>,
) -> Option<OwnersEvent> {
    let ending = match event.category {
        Category::Commitment => None,
        category => Some(ending(category, &event.narrative)?),
    };
    Some(OwnersEvent {
        root: owner,
        owner,
        event_id: event_id.to_owned(),
        ending,
        matter: CommitmentFingerprint::of(&event.narrative, doers, subject.as_slice()),
        revision_id: source.revision_id.0,
        start: event.evidence.first().map_or(0, |evidence| evidence.span.start as i32),
        occurred_at: event.event_time.unwrap_or(source.date),
        said_at: source.date,
        turn: source.meta.turn().map(|(conversation, turn)| (conversation.to_owned(), turn)),
    })
}

fn event_of(row: &PgRow) -> Result<OwnersEvent, StoreError> {
    let moment =
        |column| Ok::<_, StoreError>(row.try_get::<SqlTimestamp, _>(column).map(SqlTimestamp::to_jiff)?);
    let tags: Vec<String> = row.try_get("matter")?;
    let conversation: Option<String> = row.try_get("conversation_id")?;
    let turn: Option<i32> = row.try_get("turn_index")?;
    let ending: Option<String> = row.try_get("ending")?;
    Ok(OwnersEvent {
        root: row.try_get("root")?,
        owner: row.try_get("owner")?,
        event_id: row.try_get("event_id")?,
        ending: ending.and_then(|ending| Ending::parse(&ending)),
        matter: CommitmentFingerprint::from_tags(&tags),
        revision_id: row.try_get("revision_id")?,
        start: row.try_get("start_char")?,
        occurred_at: moment("occurred_at")?,
        said_at: moment("said_at")?,
        turn: conversation.zip(turn),
    })
}

impl OwnersEvent {
    fn is_promise(&self) -> bool {
        self.ending.is_none()
    }

    /// Whether it can end the promise: it neither happened nor was said before it. What is dated by the day alone may
    /// have happened later on that day.
    fn follows(&self, promise: &Self) -> bool {
        let is_said_after = match (&self.turn, &promise.turn) {
            _ if self.revision_id == promise.revision_id => self.start > promise.start,
            (Some((conversation, turn)), Some((of_promise, before))) if conversation == of_promise => {
                turn > before
            }
            _ => true,
        };
        let day = |moment: Timestamp| moment.to_zoned(TimeZone::UTC).date();
        let is_later = self.occurred_at >= promise.occurred_at
            || (day(self.occurred_at) == day(promise.occurred_at) && self.said_at >= promise.said_at);
        is_said_after && is_later
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

/// Keeps the events that were just written, links them, and links those of the same owners that have to do with them.
pub(crate) async fn link_new(tx: &mut Tx, ns: &Namespace, new: Vec<OwnersEvent>) -> Result<(), StoreError> {
    if new.is_empty() {
        return Ok(());
    }
    insert_events(tx, ns, &new).await?;
    nobodys::link(tx, ns, &new).await?;
    let of_somebody: Vec<OwnersEvent> = new.into_iter().filter(|event| event.owner != NOBODY).collect();
    link_of_owners(tx, ns, &of_somebody).await
}

async fn link_of_owners(tx: &mut Tx, ns: &Namespace, new: &[OwnersEvent]) -> Result<(), StoreError> {
    let found = matters(tx, ns, new).await?;
    if found.is_empty() {
        return Ok(());
    }
    let mut wanted: BTreeMap<(String, String), Link> = BTreeMap::new();
    for of_owner in found.chunk_by(|a, b| a.root == b.root) {
        for link in links(of_owner, ended, |_, _| true) {
            wanted.entry((link.commitment_id.clone(), link.closing_id.clone())).or_insert(link);
        }
    }
    let fresh: HashSet<&String> = new.iter().map(|event| &event.event_id).collect();
    // What was just written has no links yet.
    let closings: Vec<&str> = found
        .iter()
        .filter(|event| !event.is_promise() && !fresh.contains(&event.event_id))
        .map(|event| event.event_id.as_str())
        .collect();
    if !closings.is_empty() {
        let promises = found.iter().filter(|event| event.is_promise()).map(|event| event.event_id.as_str());
        sqlx::query(
            "delete from event_link
             where namespace = $1 and closing_id = any($2) and commitment_id = any($3)
               and (commitment_id, closing_id) not in (select * from unnest($4::text[], $5::text[]))",
        )
        .bind(ns.as_str())
        .bind(closings)
        .bind(promises.collect::<Vec<_>>())
        .bind(wanted.keys().map(|(commitment, _)| commitment.as_str()).collect::<Vec<_>>())
        .bind(wanted.keys().map(|(_, closing)| closing.as_str()).collect::<Vec<_>>())
        .execute(&mut **tx)
        .await?;
    }
    insert_links(tx, ns, wanted.into_values().collect()).await
}

async fn insert_events(tx: &mut Tx, ns: &Namespace, new: &[OwnersEvent]) -> Result<(), StoreError> {
    // No array of arrays: what is unnested is one level deep.
    let matters: Vec<String> = new.iter().map(|event| event.matter.tags().join("\n")).collect();
    let turns = || new.iter().map(|event| event.turn.as_ref());
    sqlx::query(
        "insert into owner_event (namespace, entity_id, is_promise, occurred_at, event_id, ending, matter, revision_id,
             start_char, said_at, conversation_id, turn_index)
         select $1, u.entity_id, u.ending is null, u.occurred_at, u.event_id, u.ending, string_to_array(u.matter, e'\n'),
             u.revision_id, u.start_char, u.said_at, u.conversation_id, u.turn_index
         from unnest($2::bigint[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::int[],
             $9::timestamptz[], $10::text[], $11::int[])
             u (entity_id, occurred_at, event_id, ending, matter, revision_id, start_char, said_at, conversation_id, turn_index)
         on conflict do nothing",
    )
    .bind(ns.as_str())
    .bind(new.iter().map(|e| e.owner).collect::<Vec<_>>())
    .bind(new.iter().map(|e| e.occurred_at.to_sqlx()).collect::<Vec<_>>())
    .bind(new.iter().map(|e| e.event_id.as_str()).collect::<Vec<_>>())
    .bind(new.iter().map(|e| e.ending.map(Ending::as_str)).collect::<Vec<_>>())
    .bind(matters)
    .bind(new.iter().map(|e| e.revision_id).collect::<Vec<_>>())
    .bind(new.iter().map(|e| e.start).collect::<Vec<_>>())
    .bind(new.iter().map(|e| e.said_at.to_sqlx()).collect::<Vec<_>>())
    .bind(turns().map(|turn| turn.map(|(conversation, _)| conversation.as_str())).collect::<Vec<_>>())
    .bind(turns().map(|turn| turn.map(|(_, turn)| *turn)).collect::<Vec<_>>())
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// Links what could not be linked before two entities were merged: promises of the one that events of the other end.
/// `joined` are the entities that count as the other now and did not before.
pub async fn link_merged(tx: &mut Tx, ns: &Namespace, joined: &[i64]) -> Result<(), StoreError> {
    let rows = sqlx::query(
        "select e.entity_id as root, e.entity_id as owner, e.event_id, e.occurred_at, e.ending, e.matter, e.revision_id,
                e.start_char, e.said_at, e.conversation_id, e.turn_index
         from unnest($2::bigint[]) j (entity_id)
         cross join lateral (
             select * from owner_event
             where namespace = $1 and entity_id = j.entity_id
             order by occurred_at desc
             limit 400
         ) e",
    )
    .bind(ns.as_str())
    .bind(joined)
    .fetch_all(&mut **tx)
    .await?;
    let theirs: Vec<OwnersEvent> = rows.iter().map(event_of).collect::<Result<_, _>>()?;
    let found = matters(tx, ns, &theirs).await?;
    let has_joined = |event: &OwnersEvent| joined.contains(&event.owner);
    let crossing = links(&found, ended, |promise, ending| has_joined(promise) != has_joined(ending));
    insert_links(tx, ns, crossing).await
}

/// Takes back the links between events whose owners no longer count as one; `roots` are the entities that were split.
pub async fn unlink_split(tx: &mut Tx, ns: &Namespace, roots: &[i64]) -> Result<(), StoreError> {
    sqlx::query(include_str!("../sql/unlink_split.sql"))
        .bind(ns.as_str())
        .bind(roots)
        .execute(&mut **tx)
        .await?;
    Ok(())
}

/// The promises of the owners of the events and what may end them, as far as the events have to do with them.
async fn matters(
    tx: &mut Tx,
    ns: &Namespace,
    events: &[OwnersEvent],
) -> Result<Vec<OwnersEvent>, StoreError> {
    let mut owners: BTreeMap<i64, Option<Timestamp>> = BTreeMap::new();
    for event in events {
        let first = owners.entry(event.owner).or_default();
        if event.is_promise() {
            *first = Some(first.map_or(event.occurred_at, |first| first.min(event.occurred_at)));
        }
    }
    if owners.is_empty() {
        return Ok(Vec::new());
    }
    let groups = short_names::groups(tx, ns, &owners.keys().copied().collect::<Vec<_>>()).await?;
    for group in &groups {
        let first = group.iter().filter_map(|owner| *owners.get(owner)?).min();
        owners.extend(group.iter().map(|owner| (*owner, first)));
    }
    let counts_as = |owner: &i64| groups.iter().find(|group| group.contains(owner)).map(|group| group[0]);
    let endings = events.iter().filter(|event| !event.is_promise()).map(|event| event.event_id.as_str());
    let rows = sqlx::query(include_str!("../sql/promises_and_endings.sql"))
        .bind(ns.as_str())
        .bind(owners.keys().copied().collect::<Vec<_>>())
        .bind(owners.values().map(|first| first.map(Timestamp::to_sqlx)).collect::<Vec<_>>())
        .bind(endings.collect::<Vec<_>>())
        .bind(PROMISES_MAX)
        .bind(ENDINGS_MAX)
        .bind(owners.keys().map(counts_as).collect::<Vec<_>>())
        .fetch_all(&mut **tx)
        .await?;
    rows.iter().map(event_of).collect()
}

/// Which of the promises an event ends, as `memory_core::commitment` has it.
type Rule = fn(&CommitmentFingerprint, &[Promise<'_>], &Rarity) -> Vec<(usize, f32)>;

/// Which promises are ended by which events, of those that may have to do with each other.
fn links(
    events: &[OwnersEvent],
    rule: Rule,
    may_link: impl Fn(&OwnersEvent, &OwnersEvent) -> bool,
) -> Vec<Link> {
    let promises: Vec<&OwnersEvent> = events.iter().filter(|event| event.is_promise()).collect();
    let rarity = Rarity::of(promises.iter().map(|promise| &promise.matter));
    let mut links = Vec::new();
    for event in events {
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
        for (at, score) in rule(&event.matter, &asked, &rarity) {
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

async fn insert_links(tx: &mut Tx, ns: &Namespace, links: Vec<Link>) -> Result<(), StoreError> {
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
