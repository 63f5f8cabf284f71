//! What recall may be asked, checked.

use memory_core::Invalid;
use memory_core::artifact::{CONTENT_MAX_CHARS, Context, field, list};
use memory_core::event::Category;
use memory_core::graph::GraphReach;
use memory_core::id::AnyId;
use memory_core::recall::Stages;
use memory_core::text::{cut, parse_date, parse_end_date};
use memory_store::search::Filters;

use super::paging::Cursor;
use super::ranking::DEPTH_MAX;

const QUERY_MAX_CHARS: usize = 2_000;
const LIMIT_MAX: i64 = 50;
const GRAPH_BUDGET_MAX: i64 = 100;
/// The smallest and the largest bound on an answer, in tokens.
const MAX_TOKENS_RANGE: std::ops::RangeInclusive<i64> = 100..=100_000;
/// How many turns or chunks may come with a hit, on either side.
const NEIGHBOURS_MAX: i64 = 5;

/// The arguments of the tool, unchecked.
#[derive(Debug, Clone, Default)]
pub struct RecallDraft {
    pub query: Option<String>,
    pub id: Option<String>,
    pub context: Option<String>,
    pub limit: Option<i64>,
    pub expand: Option<bool>,
    pub include_events: Option<bool>,
    pub include_entities: Option<bool>,
    pub graph_budget: Option<i64>,
    pub conversation_id: Option<String>,
    pub source: Option<String>,
    pub author: Option<String>,
    pub date_from: Option<String>,
    pub date_to: Option<String>,
    pub tags: Vec<String>,
    pub min_importance: Option<f64>,
    pub categories: Vec<String>,
    pub include_superseded: Option<bool>,
    pub max_tokens: Option<i64>,
    pub detail: Option<String>,
    pub explain: Option<bool>,
    pub cursor: Option<String>,
    /// Which graphs' facts are wanted.
    pub graph: GraphReach,
    pub neighbours: Option<i64>,
    pub priors: Option<bool>,
}

/// What is looked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    Query(String),
    Id(AnyId),
    /// The turns of the conversation that the filters name.
    Conversation(String),
}

#[derive(Debug, Clone, PartialEq)]
pub struct RecallRequest {
    pub target: Target,
    pub filters: Filters,
    pub limit: usize,
    pub expand: bool,
    pub include_events: bool,
    pub include_entities: bool,
    pub graph_budget: i64,
    pub max_tokens: Option<usize>,
    pub is_full: bool,
    pub explain: bool,
    /// Which graphs' facts are wanted.
    pub graph: GraphReach,
    /// How many turns or chunks before and after a hit come with it.
    pub neighbours: usize,
    /// Where the page begins.
    pub offset: usize,
    /// What the page before says of that.
    pub cursor: Option<Cursor>,
    /// Everything that a client asks runs all stages.
    pub stages: Stages,
}

impl RecallRequest {
    pub fn new(draft: RecallDraft) -> Result<Self, Invalid> {
        let given = |text: Option<String>| text.map(|t| t.trim().to_owned()).filter(|t| !t.is_empty());
        let conversation_id = field("conversation_id", draft.conversation_id)?;
        let target = match (given(draft.id), given(draft.query), &conversation_id) {
            (Some(id), _, _) => Target::Id(AnyId::parse(&id)?),
            (None, Some(query), _) => Target::Query(checked_query(query)?),
            (None, None, Some(id)) => Target::Conversation(id.clone()),
            (None, None, None) => return Err(Invalid::new("Must provide query, id, or conversation_id")),
        };
        let offset_max = match &target {
            Target::Query(_) => DEPTH_MAX,
            Target::Id(_) | Target::Conversation(_) => CONTENT_MAX_CHARS,
        };
        let cursor = draft.cursor.as_deref().map(|text| Cursor::parse(text, offset_max)).transpose()?;
        let is_full = match draft.detail.as_deref().map(str::trim) {
            None | Some("concise" | "") => false,
            Some("full") => true,
            Some(other) => {
                return Err(Invalid::new(format!(
                    "Invalid detail '{}'. Must be one of: concise, full",
                    cut(other, 40)
                )));
            }
        };
        let max_tokens = match draft.max_tokens {
            None => None,
            Some(n) if MAX_TOKENS_RANGE.contains(&n) => Some(n as usize),
            Some(n) => {
                return Err(out_of_range(
                    "max_tokens",
                    n,
                    *MAX_TOKENS_RANGE.start(),
                    *MAX_TOKENS_RANGE.end(),
                ));
            }
        };
        let date = |name: &str, value: Option<String>| value.map(|text| parse_date(name, &text)).transpose();
        let filters = Filters {
            context: given(draft.context).map(|c| Context::parse_or_explain(&c)).transpose()?,
            source: field("source", draft.source)?,
            author: field("author", draft.author)?,
            conversation_id,
            date_from: date("date_from", given(draft.date_from))?,
            date_to: given(draft.date_to).map(|text| parse_end_date("date_to", &text)).transpose()?,
            tags: list("tags", draft.tags)?,
            min_importance: match draft.min_importance {
                Some(i) if !(0.0..=1.0).contains(&i) => {
                    return Err(Invalid::new(format!(
                        "Invalid min_importance {i}. Use a number from 0.0 to 1.0."
                    )));
                }
                other => other.map(|i| i as f32),
            },
            categories: draft.categories.iter().map(|c| category(c)).collect::<Result<_, _>>()?,
            include_superseded: draft.include_superseded.unwrap_or(false),
        };
        if let (Some(from), Some(to)) = (filters.date_from, filters.date_to)
            && from > to
        {
            return Err(Invalid::new(format!(
                "Invalid date range: date_from {from} is after date_to {to}. Swap them."
            )));
        }
        Ok(Self {
            target,
            filters,
            limit: within("limit", draft.limit, 10, 1, LIMIT_MAX)? as usize,
            expand: draft.expand.unwrap_or(true),
            include_events: draft.include_events.unwrap_or(true),
            include_entities: draft.include_entities.unwrap_or(true),
            graph_budget: within("graph_budget", draft.graph_budget, 10, 0, GRAPH_BUDGET_MAX)?,
            max_tokens,
            is_full,
            explain: draft.explain.unwrap_or(false),
            graph: draft.graph,
            neighbours: within("neighbours", draft.neighbours, 0, 0, NEIGHBOURS_MAX)? as usize,
            offset: cursor.map_or(0, |cursor| cursor.from),
            cursor,
            stages: Stages { priors: draft.priors.unwrap_or(true), ..Stages::default() },
        })
    }
}

fn checked_query(query: String) -> Result<String, Invalid> {
    let chars = query.chars().count();
    if chars > QUERY_MAX_CHARS {
        return Err(Invalid::new(format!(
            "Invalid query: {chars} characters, the limit is {QUERY_MAX_CHARS}. Ask a shorter question."
        )));
    }
    if query.contains('\0') {
        return Err(Invalid::new("Invalid query: it has a NUL character. Remove it."));
    }
    Ok(query)
}

fn category(text: &str) -> Result<Category, Invalid> {
    Category::ALL.iter().copied().find(|c| c.as_str().eq_ignore_ascii_case(text.trim())).ok_or_else(|| {
        Invalid::new(format!("Invalid category '{}'. Must be one of: {}", cut(text, 40), Category::names()))
    })
}

fn out_of_range(name: &str, value: i64, min: i64, max: i64) -> Invalid {
    Invalid::new(format!("Invalid {name} {value}. Use a whole number from {min} to {max}."))
}

fn within(name: &str, value: Option<i64>, default: i64, min: i64, max: i64) -> Result<i64, Invalid> {
    match value.unwrap_or(default) {
        n if (min..=max).contains(&n) => Ok(n),
        n => Err(out_of_range(name, n, min, max)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(query: &str) -> RecallDraft {
        RecallDraft { query: Some(query.into()), ..RecallDraft::default() }
    }

    #[test]
    fn one_of_query_id_and_conversation_is_needed() {
        assert_eq!(
            RecallRequest::new(RecallDraft { query: Some("  ".into()), ..RecallDraft::default() })
                .unwrap_err()
                .0,
            "Must provide query, id, or conversation_id"
        );
    }

    #[test]
    fn values_out_of_range_are_named() {
        for (bad, needle) in [
            (
                RecallDraft { limit: Some(0), ..draft("q") },
                "Invalid limit 0. Use a whole number from 1 to 50.",
            ),
            (RecallDraft { graph_budget: Some(101), ..draft("q") }, "101"),
            (RecallDraft { max_tokens: Some(5), ..draft("q") }, "100 to 100000"),
            (RecallDraft { min_importance: Some(2.0), ..draft("q") }, "min_importance 2"),
            (RecallDraft { categories: vec!["Party".into()], ..draft("q") }, "Invalid category 'Party'"),
            (RecallDraft { detail: Some("long".into()), ..draft("q") }, "Invalid detail 'long'"),
            (RecallDraft { cursor: Some("7".into()), ..draft("q") }, "Invalid cursor '7'"),
            (
                RecallDraft {
                    date_from: Some("2026-02-01".into()),
                    date_to: Some("2026-01-01".into()),
                    ..draft("q")
                },
                "date range",
            ),
            (draft(&"q".repeat(2001)), "2001 characters"),
        ] {
            let error = RecallRequest::new(bad).unwrap_err().0;
            assert!(error.contains(needle), "{error}");
        }
    }

    #[test]
    fn a_date_to_without_a_time_means_the_whole_day() {
        let request =
            RecallRequest::new(RecallDraft { date_to: Some("2026-01-31".into()), ..draft("q") }).unwrap();
        assert_eq!(request.filters.date_to.unwrap().to_string(), "2026-01-31T23:59:59.999999Z");
    }
}
