//! Which directives hold.

use jiff::Timestamp;
use jiff_sqlx::Timestamp as SqlTimestamp;
use memory_core::directive::CIRCUMSTANCE_BEARS;
use memory_core::id::{Namespace, RevisionId};
use memory_language::text::CharSpan;
use pgvector::Vector;
use sqlx::postgres::PgRow;
use sqlx::{Postgres, QueryBuilder, Row};

use crate::projects::push_is_of;
use crate::search::{Filters, QueryVector, push_filters};
use crate::{Conn, StoreError};

/// A directive that holds.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredDirective {
    pub directive_id: i64,
    pub revision_id: RevisionId,
    pub artifact_id: String,
    pub quote: String,
    pub span: CharSpan,
    pub condition: Option<String>,
    pub is_general: bool,
    pub is_permission: bool,
    pub is_circumstance: bool,
    /// The conversation that it holds in, where it does not hold everywhere.
    pub conversation_id: Option<String>,
    pub since: Timestamp,
    /// Of its focus to a question: the cosine.
    pub similarity: Option<f32>,
    /// The cosine by which it bears on a request.
    pub bearing: Option<f32>,
    /// Of the passage that it stands in, as it was given.
    pub of_passage: Option<f32>,
    /// The tags of its text that name a project, in small letters.
    pub projects: Vec<String>,
}

/// What is looked for among those that hold.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    pub filters: &'a Filters,
    pub query: Option<QueryVector<'a>>,
    /// The request, as the model of this version makes it.
    pub bearing: Option<(i16, &'a [f32])>,
    /// Revisions that a search has found, with the similarity of their passages.
    pub found: &'a [(RevisionId, f32)],
    pub limit: i64,
    /// What was said in one of these projects, which are named by their tags, comes before what is as like the question.
    pub projects: &'a [String],
}

/// Those that hold, under filters on their revisions: those about answers as such first, then the ones most like the question, and
/// of equals those of the projects and then the newest. What only allows something is among them where it took the place of another.
pub async fn holding(
    conn: &mut Conn,
    ns: &Namespace,
    wanted: Wanted<'_>,
) -> Result<Vec<StoredDirective>, StoreError> {
    let mut statement = QueryBuilder::new("with main as materialized (");
    push_main_author(&mut statement, ns);
    statement.push(
        ")
         select * from (
         select d.directive_id, d.revision_id, r.artifact_id, d.quote, d.start_char, d.end_char, d.condition, d.is_general,
                d.is_permission, d.is_circumstance, case when d.in_conversation then r.conversation_id end as conversation_id,
                coalesce(r.date, r.created_at) as said_at, f.cosine as of_passage, ",
    );
    statement.push(projects!()).push(", ");
    push_is_of(&mut statement, wanted.projects);
    statement.push(" as is_of_project, ");
    let query = wanted.query.map(|query| (query.model.model_id, query.vector));
    push_cosine(&mut statement, ["model_id", "embedding", "similarity"], query);
    statement.push(", ");
    push_cosine(&mut statement, ["bearing_version", "bearing", "bearing"], wanted.bearing);
    let (revisions, cosines): (Vec<i64>, Vec<f32>) =
        wanted.found.iter().map(|(revision, cosine)| (revision.0, *cosine)).unzip();
    statement.push(
        " from directive d join artifact_revision r using (namespace, revision_id)
          left join (select u.revision_id, max(u.cosine) as cosine from unnest(",
    );
    statement.push_bind(revisions).push("::bigint[], ").push_bind(cosines);
    statement.push(
        "::real[]) u (revision_id, cosine) group by u.revision_id) f on f.revision_id = d.revision_id
         where d.namespace = ",
    );
    statement.push_bind(ns.as_str().to_owned()).push(" and r.is_latest and");
    push_filters(&mut statement, ns, wanted.filters);
    push_circumstances(&mut statement, wanted);
    statement.push(" and (not d.in_conversation or r.conversation_id = ");
    statement.push_bind(wanted.filters.conversation_id.clone());
    statement.push(
        ") and (not d.by_somebody or lower(btrim(r.author)) = (select author from main))
           and not exists (select from directive_replacement x
                           join directive later on later.namespace = x.namespace and later.directive_id = x.later
                           join artifact_revision s on s.namespace = later.namespace and s.revision_id = later.revision_id
                           where x.namespace = d.namespace and x.earlier = d.directive_id and s.is_latest
                             and (not later.by_somebody or lower(btrim(s.author)) = (select author from main))
                             -- What was allowed and is not any more ends nothing.
                             and not (later.is_permission
                                      and exists (select from directive_replacement y
                                                  join directive last on last.namespace = y.namespace and last.directive_id = y.later
                                                  join artifact_revision t
                                                      on t.namespace = last.namespace and t.revision_id = last.revision_id
                                                  where y.namespace = later.namespace and y.earlier = later.directive_id
                                                    and t.is_latest)))
           and (not d.is_permission
                or exists (select from directive_replacement x where x.namespace = d.namespace and x.later = d.directive_id))
           -- Whose stored text said in its tags that it does not.
           and not exists (select from told_ending t
                           join artifact_revision w on w.namespace = t.namespace and w.revision_id = t.closing_revision
                           where t.namespace = d.namespace and t.artifact_id = r.artifact_id and t.kind = 'withdraws'
                             and w.is_latest
                             and least(d.end_char, t.end_char) - greatest(d.start_char, t.start_char)
                                 > least(d.end_char - d.start_char, t.end_char - t.start_char) / 2)
         ) holding
         order by is_general desc, greatest(of_passage, similarity, bearing) desc nulls last, is_of_project desc, said_at desc,
                  directive_id desc
         limit ",
    );
    statement.push_bind(wanted.limit);
    let rows = statement.build().fetch_all(conn).await?;
    rows.iter().map(stored_of).collect()
}

/// The user, where texts do not say who that is: who has said four in five of all that is wanted in the namespace, or, with a note or a turn
/// of the user among it, of all that has an author. Minutes and mails are left out.
fn push_main_author(statement: &mut QueryBuilder<Postgres>, ns: &Namespace) {
    statement.push(
        "select case when n * 5 >= case when is_surely then of_named else of_all end * 4 then author end as author
         from (select lower(btrim(r.author)) as author, count(*) as n, bool_or(not d.by_somebody) as is_surely,
                      sum(count(*)) over () as of_all,
                      sum(case when lower(btrim(r.author)) is not null then count(*) end) over () as of_named
               from directive d join artifact_revision r using (namespace, revision_id)
               where r.is_latest and not d.is_permission and r.context not in ('meeting', 'email') and d.namespace = ",
    );
    statement.push_bind(ns.as_str().to_owned());
    statement.push(" group by 1) authors where author is not null order by n desc limit 1");
}

/// Circumstances are only among those that hold where they bear on a request.
fn push_circumstances(statement: &mut QueryBuilder<Postgres>, wanted: Wanted<'_>) {
    match wanted.bearing {
        // Only numbers of ours are written into the statement.
        Some((of_asked, asked)) => {
            statement.push(format!(
                " and (not d.is_circumstance or (d.bearing_version = {of_asked} and -(d.bearing <#> "
            ));
            statement.push_bind(Vector::from(asked.to_vec())).push(") >= ");
            statement.push_bind(CIRCUMSTANCE_BEARS).push("))");
        }
        None => {
            statement.push(" and not d.is_circumstance");
        }
    }
}

/// The cosine of a vector of a directive to another of the same number of its model, and null without one. `names` are of the column with
/// that number, of the one with the vector, and of the result.
fn push_cosine(
    statement: &mut QueryBuilder<Postgres>,
    [number, vector, result]: [&str; 3],
    asked: Option<(i16, &[f32])>,
) {
    match asked {
        // Only numbers of ours are written into the statement.
        Some((of_asked, asked)) => {
            statement.push(format!("case when d.{number} = {of_asked} then (-(d.{vector} <#> "));
            statement.push_bind(Vector::from(asked.to_vec())).push(format!("))::real end as {result}"));
        }
        None => {
            statement.push(format!("null::real as {result}"));
        }
    }
}

fn stored_of(row: &PgRow) -> Result<StoredDirective, StoreError> {
    let char_at = |column: &str| row.try_get::<i32, _>(column).map(|at| at as usize);
    Ok(StoredDirective {
        directive_id: row.try_get("directive_id")?,
        revision_id: RevisionId(row.try_get("revision_id")?),
        artifact_id: row.try_get("artifact_id")?,
        quote: row.try_get("quote")?,
        span: CharSpan::new(char_at("start_char")?, char_at("end_char")?),
        condition: row.try_get("condition")?,
        is_general: row.try_get("is_general")?,
        is_permission: row.try_get("is_permission")?,
        is_circumstance: row.try_get("is_circumstance")?,
        conversation_id: row.try_get("conversation_id")?,
        since: row.try_get::<SqlTimestamp, _>("said_at")?.to_jiff(),
        similarity: row.try_get("similarity")?,
        bearing: row.try_get("bearing")?,
        of_passage: row.try_get("of_passage")?,
        projects: row.try_get("projects")?,
    })
}
