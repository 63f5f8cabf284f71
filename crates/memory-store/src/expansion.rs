//! What is related to hits: their entities, and other events of the same entities.

use std::sync::LazyLock;

use jiff::Timestamp;
use memory_core::entity::name_part_key;
use memory_core::event::{EndedBy, StoredEvidence};
use memory_core::id::{Namespace, RevisionId};
use serde::Deserialize;
use sqlx::postgres::PgArguments;
use sqlx::types::Json;
use sqlx::{Arguments, Postgres, QueryBuilder, Row};

use crate::event_view::with_event_view;
use crate::search::{Filters, push_filters};
use crate::{Conn, StoreError};

/// An event that shares an actor or subject with the events of the hits.
#[derive(Debug, Clone, Deserialize)]
pub struct RelatedEvent {
    pub id: String,
    pub category: String,
    /// `same_actor:<name>` or `same_subject:<name>`.
    #[serde(default)]
    pub reason: String,
    pub narrative: String,
    pub evidence: Vec<StoredEvidence>,
    pub artifact_id: String,
    pub event_time: Option<Timestamp>,
    pub due_time: Option<Timestamp>,
    /// Of a commitment: what ended it.
    #[serde(default)]
    pub ended: Option<EndedBy>,
}

/// How many of an entity's newest events are looked at, of each kind, for those that fit.
const LOOKED_AT_MAX: i64 = 10_000;
/// The same where each one's text has to be looked up.
const LOOKED_UP_MAX: i64 = 500;

static BY_ID: LazyLock<String> = LazyLock::new(|| with_event_view(include_str!("sql/related_by_id.sql")));
static RELATED: LazyLock<String> = LazyLock::new(|| with_event_view(include_str!("sql/expand.sql")));

/// What results are expanded from.
#[derive(Debug, Clone, Copy)]
pub struct Seeds<'a> {
    pub revisions: &'a [RevisionId],
    /// Entities that the question names.
    pub named: &'a [i64],
    /// The filters of the search, which also apply to related events and entities.
    pub filters: &'a Filters,
}

impl Seeds<'_> {
    /// The filters as far as they ask something of a text; an event's category is its own.
    fn of_texts(&self) -> Option<Filters> {
        let of_texts = Filters { categories: Vec::new(), ..self.filters.clone() };
        of_texts.narrow().then_some(of_texts)
    }

    fn revisions(&self) -> Vec<i64> {
        self.revisions.iter().map(|id| id.0).collect()
    }
}

/// Writes the template, with a condition that the filters hold in the place of each `/*in_scope(column)*/`. What it binds
/// comes behind the given arguments.
fn scoped(
    template: &'static str,
    arguments: PgArguments,
    ns: &Namespace,
    filters: Option<&Filters>,
) -> QueryBuilder<Postgres> {
    let mut parts = template.split("/*in_scope(");
    let mut statement = QueryBuilder::with_arguments(parts.next().unwrap_or_default(), arguments);
    for part in parts {
        let (column, rest) = part.split_once(")*/").unwrap_or(("", part));
        if let Some(filters) = filters {
            let of_event =
                "(select x.revision_id from semantic_event x where x.namespace = $1 and x.event_id = ";
            let revision = if column.ends_with("event_id") {
                format!("{of_event}{column} offset 0)")
            } else {
                column.to_owned()
            };
            statement.push(" and exists (select from artifact_revision r where r.revision_id = ");
            statement.push(revision).push(" and");
            push_filters(&mut statement, ns, filters);
            statement.push(" offset 0)");
        }
        statement.push(rest);
    }
    statement
}

/// At most `budget` events that share entities with the events of the seeds, which are left out themselves, or that are
/// of the entities named. The more and the rarer the shared entities the better; actors count double; newer before older.
pub async fn related_events(
    conn: &mut Conn,
    ns: &Namespace,
    seeds: Seeds<'_>,
    budget: i64,
) -> Result<Vec<RelatedEvent>, StoreError> {
    let categories: Vec<&str> = seeds.filters.categories.iter().map(|c| c.as_str()).collect();
    let of_texts = seeds.of_texts();
    let depth = match (&of_texts, categories.is_empty()) {
        (Some(_), _) => LOOKED_UP_MAX,
        (None, false) => LOOKED_AT_MAX,
        (None, true) => (10 + 2 * budget).min(100),
    };
    let mut arguments = PgArguments::default();
    let mut bind = || -> Result<(), sqlx::error::BoxDynError> {
        arguments.add(ns.as_str())?;
        arguments.add(seeds.revisions())?;
        arguments.add(&categories)?;
        arguments.add(seeds.filters.include_superseded)?;
        arguments.add(budget)?;
        arguments.add(seeds.named)?;
        arguments.add(depth)
    };
    bind().map_err(sqlx::Error::Encode)?;
    let mut statement = scoped(RELATED.as_str(), arguments, ns, of_texts.as_ref());
    let events: Vec<Json<RelatedEvent>> = statement.build_query_scalar().fetch_all(conn).await?;
    Ok(events.into_iter().map(|Json(event)| event).collect())
}

/// Events that were found to be related, with the reasons, in the order given; those that are gone are left out.
pub async fn related_by_id(
    conn: &mut Conn,
    ns: &Namespace,
    found: Vec<(String, String)>,
) -> Result<Vec<RelatedEvent>, StoreError> {
    let (ids, mut reasons): (Vec<String>, Vec<String>) = found.into_iter().unzip();
    let rows: Vec<(i64, Json<RelatedEvent>)> =
        sqlx::query_as(BY_ID.as_str()).bind(ns.as_str()).bind(&ids).fetch_all(conn).await?;
    let named = rows.into_iter().filter_map(|(n, Json(event))| {
        let reason = std::mem::take(reasons.get_mut(usize::try_from(n).ok()?.checked_sub(1)?)?);
        Some(RelatedEvent { reason, ..event })
    });
    Ok(named.collect())
}

/// An entity that the hits are about.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundEntity {
    pub name: String,
    pub entity_type: String,
    /// Distinct mentions in the namespace.
    pub mention_count: i64,
    pub aliases: Vec<String>,
    /// Entities that may be the same, likeliest first.
    pub possibly_same: Vec<MaybeSame>,
}

/// An entity of the same type that may be another one.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct MaybeSame {
    pub name: String,
    /// How likely, 0 to 1.
    pub score: f32,
}

/// The entities named, then those that the revisions mention or whose events they have, those of most hits first.
/// Under filters, what is said of them is what texts in scope say.
pub async fn entities_of(
    conn: &mut Conn,
    ns: &Namespace,
    seeds: Seeds<'_>,
    limit: i64,
) -> Result<Vec<FoundEntity>, StoreError> {
    let filters = seeds.filters.narrow().then_some(seeds.filters);
    let mut arguments = PgArguments::default();
    let mut bind = || -> Result<(), sqlx::error::BoxDynError> {
        arguments.add(ns.as_str())?;
        arguments.add(seeds.revisions())?;
        arguments.add(limit)?;
        arguments.add(seeds.named)?;
        arguments.add(filters.is_some())
    };
    bind().map_err(sqlx::Error::Encode)?;
    let mut statement = scoped(include_str!("sql/entities_of.sql"), arguments, ns, filters);
    let rows = statement.build().fetch_all(conn).await?;
    rows.iter()
        .map(|row| {
            Ok(FoundEntity {
                name: row.try_get("name")?,
                entity_type: row.try_get("entity_type")?,
                mention_count: row.try_get("mention_count")?,
                aliases: row.try_get("aliases")?,
                possibly_same: row.try_get::<Json<Vec<MaybeSame>>, _>("possibly_same")?.0,
            })
        })
        .collect()
}

/// People whose first or last name is this word, merged ones as what they are merged into, with their names; at
/// most `limit`.
pub async fn people_with_name_part(
    conn: &mut Conn,
    ns: &Namespace,
    word: &str,
    limit: i64,
) -> Result<Vec<(i64, String)>, StoreError> {
    Ok(sqlx::query_as(
        "select root.entity_id, root.name
         from (select distinct coalesce(t.canonical_id, t.entity_id) as entity_id
               from (select entity_id from entity_key
                     where namespace = $1 and entity_type = 'person' and key = $2
                     order by entity_id limit 1000) k
               join entity t on t.namespace = $1 and t.entity_id = k.entity_id
               order by 1 limit $3) found
         join entity root on root.namespace = $1 and root.entity_id = found.entity_id
         order by root.entity_id",
    )
    .bind(ns.as_str())
    .bind(name_part_key(word))
    .bind(limit)
    .fetch_all(conn)
    .await?)
}

/// The entities that have one of these normalised names, merged ones as what they are merged into; at most `limit`.
pub async fn entities_called(
    conn: &mut Conn,
    ns: &Namespace,
    names: &[String],
    limit: i64,
) -> Result<Vec<i64>, StoreError> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    Ok(sqlx::query_scalar(include_str!("sql/entities_called.sql"))
        .bind(ns.as_str())
        .bind(names)
        .bind(limit)
        .fetch_all(conn)
        .await?)
}

/// People called this, or by it as a first name, whatever their accents: "Zoe" is "Zoë", "Juergen" "Jürgen"; with their names, at most
/// `limit`. Reads all names of the namespace.
pub async fn people_spelt_alike(
    conn: &mut Conn,
    ns: &Namespace,
    name: &str,
    limit: i64,
) -> Result<Vec<(i64, String)>, StoreError> {
    Ok(sqlx::query_as(include_str!("sql/people_spelt_alike.sql"))
        .bind(ns.as_str())
        .bind(name)
        .bind(limit)
        .fetch_all(conn)
        .await?)
}
