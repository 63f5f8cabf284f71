//! The search: what it looks through, the words in it, and the nearest vectors.

mod candidates;
mod emptied;
mod linked;
mod nearest;
mod resident;
mod told;
mod waiting;
mod words;

use jiff::Timestamp;
use jiff_sqlx::ToSqlx;
use memory_core::artifact::Context;
use memory_core::event::Category;
use memory_core::graph::GraphReach;
use memory_core::id::Namespace;
use sqlx::{Postgres, QueryBuilder, Row};

pub use candidates::{Candidate, Owner, candidates, current_of, states, vectors};
pub use emptied::{Ranges, distinct_values, is_met, ranges};
pub use linked::{LinkedRow, linked_of};
pub use nearest::{QueryVector, nearest};
pub use resident::{
    Changes, Horizon, IndexedPassage, Read, changed_since, forget_changes, passages_of, read_all,
};
pub use told::{Told, first_passages, following, texts, told};
pub use waiting::without_vector;
pub use words::{
    WEIGHED_OF_TEXT_MAX, WordCounts, WordMatch, WordSearch, common_lexemes, corpus_stats, count_words,
    with_words,
};

use crate::{Conn, StoreError};

/// Up to this many revisions or passages a search compares every vector; above it goes through the index.
pub const EXACT_MAX: i64 = 10_000;

/// How many candidates an arm brings in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Breadth {
    pub passages: usize,
    /// Of them no more than this of one text: so a long one leaves room for others.
    pub of_text: usize,
}

impl Breadth {
    /// The best passages, whatever they are a part of.
    pub fn of_passages(passages: usize) -> Self {
        Self { passages, of_text: usize::MAX }
    }

    /// The same with at least so many passages.
    #[must_use]
    pub fn at_least(self, passages: usize) -> Self {
        Self { passages: self.passages.max(passages), ..self }
    }

    fn is_bounded(self) -> bool {
        self.of_text < self.passages
    }
}

/// What a hit's revision must be like. Everything that is set must hold.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filters {
    pub context: Option<Context>,
    /// Like the author and the tags, in upper or lower case.
    pub source: Option<String>,
    pub author: Option<String>,
    pub conversation_id: Option<String>,
    pub date_from: Option<Timestamp>,
    pub date_to: Option<Timestamp>,
    /// All of them.
    pub tags: Vec<String>,
    pub min_importance: Option<f32>,
    /// At least one event of any of them.
    pub categories: Vec<Category>,
    pub include_superseded: bool,
}

impl Filters {
    /// Whether anything is asked of a revision.
    pub fn narrow(&self) -> bool {
        *self != Self { include_superseded: self.include_superseded, ..Self::default() }
    }
}

/// Up to this many texts with the requested tags a query starts from those texts.
const TAGGED_FEW: i64 = 2_000;

/// Whether tags are asked for that few texts have.
pub(crate) async fn are_few_tagged(
    conn: &mut Conn,
    ns: &Namespace,
    filters: &Filters,
) -> Result<bool, StoreError> {
    if filters.tags.is_empty() {
        return Ok(false);
    }
    let tagged: i64 = sqlx::query_scalar(
        "select count(*) from (select from searched_tags
                               where namespace = $1 and folded_tags @> (select folded($2::text[])) limit $3) t",
    )
    .bind(ns.as_str())
    .bind(&filters.tags)
    .bind(TAGGED_FEW + 1)
    .fetch_one(conn)
    .await?;
    Ok(tagged <= TAGGED_FEW)
}

/// Writes ` from artifact_revision r where …` under the filters that are set. Where few texts have the tags that are asked for, it
/// begins with these, in the owner's view: under a policy no index is used for `@>`.
pub(crate) fn push_revisions(
    statement: &mut QueryBuilder<Postgres>,
    ns: &Namespace,
    filters: &Filters,
    few_tagged: bool,
) {
    if !few_tagged {
        statement.push(" from artifact_revision r where");
        return push_filters(statement, ns, filters);
    }
    statement
        .push(" from (select s.revision_id from searched_tags s where s.namespace = ")
        .push_bind(ns.as_str().to_owned());
    statement.push(" and s.folded_tags @> (select folded(").push_bind(filters.tags.clone());
    statement.push(
        "::text[])) offset 0) tagged
         cross join lateral (select * from artifact_revision a where a.namespace = ",
    );
    statement
        .push_bind(ns.as_str().to_owned())
        .push(" and a.revision_id = tagged.revision_id offset 0) r where");
    push_filters(statement, ns, &Filters { tags: Vec::new(), ..filters.clone() });
}

/// Writes the filters that are set as a condition on `artifact_revision r`. One that is not set is not
/// there: plans are made once for all values, and could not skip it.
pub(crate) fn push_filters(statement: &mut QueryBuilder<Postgres>, ns: &Namespace, filters: &Filters) {
    statement.push(" r.namespace = ").push_bind(ns.as_str().to_owned());
    if !filters.include_superseded {
        statement.push(" and r.is_latest");
    }
    let texts = [
        (" and r.context = ", filters.context.map(|c| c.as_str().to_owned())),
        (" and r.conversation_id = ", filters.conversation_id.clone()),
    ];
    for (condition, value) in texts {
        if let Some(value) = value {
            statement.push(condition).push_bind(value);
        }
    }
    // In a select of its own a name is folded once, not once a row.
    let names = [(" and r.folded_source = ", &filters.source), (" and r.folded_author = ", &filters.author)];
    for (condition, value) in names {
        if let Some(value) = value {
            statement.push(condition).push("(select folded(").push_bind(value.clone()).push("::text))");
        }
    }
    if let Some(from) = filters.date_from {
        statement.push(" and coalesce(r.date, r.created_at) >= ").push_bind(from.to_sqlx());
    }
    if let Some(to) = filters.date_to {
        statement.push(" and coalesce(r.date, r.created_at) <= ").push_bind(to.to_sqlx());
    }
    if !filters.tags.is_empty() {
        statement
            .push(" and r.folded_tags @> (select folded(")
            .push_bind(filters.tags.clone())
            .push("::text[]))");
    }
    if let Some(importance) = filters.min_importance {
        statement.push(" and r.importance >= ").push_bind(importance);
    }
    if !filters.categories.is_empty() {
        let names: Vec<&str> = filters.categories.iter().map(|c| c.as_str()).collect();
        statement
            .push(" and exists (select from semantic_event ev where ev.namespace = r.namespace")
            .push(" and ev.revision_id = r.revision_id and ev.category = any(")
            .push_bind(names)
            .push("))");
    }
}

/// Which passages a search may answer with.
#[derive(Debug, Clone)]
pub struct Scope {
    of: Of,
    members: Members,
    /// Every vector in the scope is compared.
    exact: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum Of {
    Revisions(Filters),
    /// The observations of the graphs within reach, of all where there is none. Those of the hidden graphs, which are
    /// named, are not among them.
    Observations {
        reach: Option<GraphReach>,
        hidden: Vec<String>,
    },
}

/// Of a namespace's revisions those that a search may answer with.
#[derive(Debug, Clone, Copy)]
pub enum Admitted<'a> {
    All,
    Latest,
    Listed(&'a [i64]),
}

/// The passages in the scope, where they are few.
#[derive(Debug, Clone)]
enum Members {
    Unlisted,
    Revisions(Vec<i64>),
    Passages(Vec<i64>),
}

impl Scope {
    /// All revisions of a namespace, under filters that ask nothing of a revision. `namespace_passages` is a
    /// recent count of their passages.
    pub fn of_namespace(filters: Filters, namespace_passages: i64) -> Self {
        Self {
            of: Of::Revisions(filters),
            members: Members::Unlisted,
            exact: namespace_passages <= EXACT_MAX,
        }
    }

    /// What it is a part of, whatever is in it.
    pub(crate) fn of(&self) -> &Of {
        &self.of
    }

    /// The revisions that are in it, where it is small and one of revisions.
    pub fn admitted(&self) -> Option<Admitted<'_>> {
        match (&self.members, &self.of) {
            (Members::Revisions(ids), _) => Some(Admitted::Listed(ids)),
            (Members::Unlisted, Of::Revisions(filters)) if self.exact && !filters.narrow() => {
                Some(if filters.include_superseded { Admitted::All } else { Admitted::Latest })
            }
            _ => None,
        }
    }

    /// Every vector in it is compared.
    pub fn is_small(&self) -> bool {
        self.exact
    }

    /// Narrows a statement over `passage` or `passage_embedding` to the scope.
    fn push_condition(&self, statement: &mut QueryBuilder<Postgres>, ns: &Namespace, table: &str) {
        match (&self.members, &self.of) {
            (Members::Revisions(ids), _) => {
                statement.push(format!(" and {table}.revision_id = any(")).push_bind(ids.clone()).push(")");
            }
            (Members::Passages(ids), _) => {
                statement.push(format!(" and {table}.passage_id = any(")).push_bind(ids.clone()).push(")");
            }
            (Members::Unlisted, Of::Revisions(filters)) => {
                statement.push(format!(" and {table}.revision_id is not null"));
                if !filters.include_superseded {
                    statement.push(format!(" and {table}.is_latest"));
                }
                if filters.narrow() {
                    statement.push(format!(
                        " and exists (select from artifact_revision r where r.revision_id = {table}.revision_id and"
                    ));
                    push_filters(statement, ns, filters);
                    statement.push(")");
                }
            }
            (Members::Unlisted, Of::Observations { reach, .. }) => {
                statement.push(format!(" and {table}.revision_id is null"));
                if let Some(reach) = reach {
                    statement.push(format!(
                        " and exists (select from passage q
                                      join graph_observation o on o.namespace = q.namespace and o.handle = q.observation
                                      join graph_thread t on t.namespace = o.namespace and t.thread_id = o.thread_id
                                      where q.passage_id = {table}.passage_id and q.namespace = "
                    ));
                    statement.push_bind(ns.as_str().to_owned());
                    match reach.only() {
                        Some(name) => statement.push(" and t.name = ").push_bind(name).push(")"),
                        None => statement
                            .push(" and (t.file_path is null or t.name = ")
                            .push_bind(reach.file_thread())
                            .push("))"),
                    };
                }
            }
        }
    }

    /// Nothing can be found in it.
    pub fn is_empty(&self) -> bool {
        match &self.members {
            Members::Revisions(ids) | Members::Passages(ids) => ids.is_empty(),
            Members::Unlisted => false,
        }
    }
}

/// The filters with names as they are compared, which is for Postgres to say: another index compares them as they come.
async fn folded(conn: &mut Conn, filters: Filters) -> Result<Filters, StoreError> {
    if filters.source.is_none() && filters.author.is_none() && filters.tags.is_empty() {
        return Ok(filters);
    }
    let (source, author, tags) =
        sqlx::query_as("select folded($1::text), folded($2::text), folded($3::text[])")
            .bind(&filters.source)
            .bind(&filters.author)
            .bind(&filters.tags)
            .fetch_one(conn)
            .await?;
    Ok(Filters { source, author, tags, ..filters })
}

/// Finds out how large the scope of a search is. `namespace_passages` is a recent count of the passages of
/// revisions.
pub async fn scope(
    conn: &mut Conn,
    ns: &Namespace,
    filters: Filters,
    namespace_passages: i64,
) -> Result<Scope, StoreError> {
    if !filters.narrow() {
        return Ok(Scope::of_namespace(filters, namespace_passages));
    }
    let filters = folded(conn, filters).await?;
    let mut statement = QueryBuilder::new("select r.revision_id");
    let few_tagged = are_few_tagged(conn, ns, &filters).await?;
    push_revisions(&mut statement, ns, &filters, few_tagged);
    statement.push(" limit ").push_bind(EXACT_MAX + 1);
    let rows = statement.build().fetch_all(conn).await?;
    let of = Of::Revisions(filters);
    if rows.len() as i64 > EXACT_MAX {
        let exact = namespace_passages <= EXACT_MAX;
        return Ok(Scope { of, members: Members::Unlisted, exact });
    }
    let revisions = rows.iter().map(|row| row.try_get("revision_id")).collect::<Result<Vec<i64>, _>>()?;
    Ok(Scope { of, members: Members::Revisions(revisions), exact: true })
}

/// The same for the observations of the graphs within reach. `namespace_observations` is a recent count of the passages
/// of all graphs.
pub async fn scope_of_observations(
    conn: &mut Conn,
    ns: &Namespace,
    reach: GraphReach,
    namespace_observations: i64,
) -> Result<Scope, StoreError> {
    let exact = namespace_observations <= EXACT_MAX;
    let (only, file) = (reach.only(), reach.file_thread());
    let hidden: Vec<String> = match only {
        Some(_) => Vec::new(),
        None => {
            sqlx::query_scalar(
                "select name from graph_thread
                 where namespace = $1 and file_path is not null and name is distinct from $2 and entities > 0",
            )
            .bind(ns.as_str())
            .bind(&file)
            .fetch_all(&mut *conn)
            .await?
        }
    };
    if only.is_none() && hidden.is_empty() {
        return Ok(Scope { of: Of::Observations { reach: None, hidden }, members: Members::Unlisted, exact });
    }
    let passages: Vec<i64> = sqlx::query_scalar(
        "select p.passage_id
         from graph_thread t
         join graph_observation o on o.namespace = $1 and o.thread_id = t.thread_id and o.is_current
         join passage p on p.namespace = $1 and p.observation = o.handle
         where t.namespace = $1 and (t.name = $2 or ($2 is null and (t.file_path is null or t.name = $4)))
         limit $3",
    )
    .bind(ns.as_str())
    .bind(only)
    .bind(EXACT_MAX + 1)
    .bind(file)
    .fetch_all(conn)
    .await?;
    let of = Of::Observations { reach: Some(reach), hidden };
    if passages.len() as i64 > EXACT_MAX {
        return Ok(Scope { of, members: Members::Unlisted, exact });
    }
    Ok(Scope { of, members: Members::Passages(passages), exact: true })
}
