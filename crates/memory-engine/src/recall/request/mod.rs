//! What recall may be asked, checked. Single arguments are checked in `request/arguments.rs`.

mod arguments;

use memory_core::Invalid;
use memory_core::artifact::{Context, field, list};
use memory_core::commitment::CommitmentState;
use memory_core::date::{parse_date, parse_end_date};
use memory_core::event::Category;
use memory_core::graph::GraphReach;
use memory_core::id::AnyId;
use memory_store::search::Filters;

use self::arguments::{
    category, checked_query, is_full, max_tokens, min_importance, min_score, newest_first, state, within,
};
use super::paging::{Cursor, Digest};
use super::position::Position;
use super::ranking::DEPTH_MAX;

const LIMIT_MAX: i64 = 50;
const GRAPH_BUDGET_MAX: i64 = 100;
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
    /// Of a conversation's turns: `oldest` or `newest` first.
    pub order: Option<String>,
    /// Whose events are listed.
    pub owner: Option<String>,
    /// In what state commitments are listed.
    pub state: Option<String>,
    /// Hits that score less are left out.
    pub min_score: Option<f64>,
}

/// What is looked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    Query(String),
    Id(AnyId),
    /// The turns of the conversation that the filters name.
    Conversation(String),
    /// Events without a question.
    Events(EventList),
}

/// Which events are listed, beside the filters.
#[derive(Debug, Clone, PartialEq)]
pub struct EventList {
    /// A person's name.
    pub owner: Option<String>,
    pub state: Option<CommitmentState>,
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
    /// Hits that score less are left out, where it is given.
    pub min_score: Option<f32>,
    /// Events are asked for explicitly: they are shown with every hit, not only with the hits that answer the question.
    pub wants_events: bool,
    /// The number of related events is asked for explicitly: it may exceed what a default answer has room for.
    pub wants_related: bool,
    /// A conversation's last turn comes first.
    pub newest_first: bool,
    /// Which arguments were ignored, and why.
    pub warnings: Vec<String>,
    /// Where the page of a search begins.
    pub offset: usize,
    /// The cursor of the page before, from which the offset was taken.
    pub cursor: Option<Cursor>,
    /// Where a page begins that is not of a search: in a text, a conversation or a list of events.
    pub after: Option<Position>,
    /// The digest of the request that `after` belongs to.
    pub after_question: Option<Digest>,
}

impl RecallRequest {
    pub fn new(draft: RecallDraft) -> Result<Self, Invalid> {
        let given = |text: Option<String>| text.map(|t| t.trim().to_owned()).filter(|t| !t.is_empty());
        let conversation_id = field("conversation_id", draft.conversation_id)?;
        let events = EventList {
            owner: field("owner", draft.owner)?,
            state: given(draft.state).map(|text| state(&text)).transpose()?,
        };
        let lists_category = !draft.categories.is_empty();
        let has_state = events.state.is_some();
        let (target, mut warnings) =
            target(given(draft.id), given(draft.query), conversation_id.as_ref(), events, lists_category)?;
        let newest_first = newest_first(draft.order.as_deref())?;
        if newest_first && !matches!(target, Target::Conversation(_)) {
            warnings.push(
                "order was ignored: it is for the turns of a conversation_id without a query.".to_owned(),
            );
        }
        let (cursor, after) = match (&target, draft.cursor.as_deref()) {
            (_, None) => (None, None),
            (Target::Query(_), Some(text)) => (Some(Cursor::parse(text, DEPTH_MAX)?), None),
            (target, Some(text)) => (None, Some(Position::of(target, text)?)),
        };
        let is_full = is_full(draft.detail.as_deref())?;
        let max_tokens = max_tokens(draft.max_tokens)?;
        let date = |name: &str, value: Option<String>| value.map(|text| parse_date(name, &text)).transpose();
        let filters = Filters {
            context: given(draft.context).map(|c| Context::parse_or_explain(&c)).transpose()?,
            source: field("source", draft.source)?,
            author: field("author", draft.author)?,
            conversation_id,
            date_from: date("date_from", given(draft.date_from))?,
            date_to: given(draft.date_to).map(|text| parse_end_date("date_to", &text)).transpose()?,
            tags: list("tags", draft.tags)?,
            min_importance: min_importance(draft.min_importance)?,
            categories: draft.categories.iter().map(|c| category(c)).collect::<Result<_, _>>()?,
            include_superseded: draft.include_superseded.unwrap_or(false),
        };
        check_dates(&filters)?;
        if has_state && filters.categories.iter().any(|category| *category != Category::Commitment) {
            return Err(Invalid::new(
                "Only commitments have a state: give no other category beside state, or leave state out.",
            ));
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
            min_score: min_score(draft.min_score)?,
            wants_events: draft.include_events == Some(true) || !draft.categories.is_empty(),
            wants_related: draft.graph_budget.is_some(),
            newest_first,
            warnings,
            offset: cursor.map_or(0, |cursor| cursor.from),
            cursor,
            after_question: after.as_ref().map(|(_, question)| *question),
            after: after.map(|(position, _)| position),
        })
    }
}

fn check_dates(filters: &Filters) -> Result<(), Invalid> {
    match (filters.date_from, filters.date_to) {
        (Some(from), Some(to)) if from > to => Err(Invalid::new(format!(
            "Invalid date range: date_from {from} is after date_to {to}. Swap them."
        ))),
        _ => Ok(()),
    }
}

/// What is looked for, and a warning for each argument that is ignored beside it.
fn target(
    id: Option<String>,
    query: Option<String>,
    conversation_id: Option<&String>,
    events: EventList,
    lists_category: bool,
) -> Result<(Target, Vec<String>), Invalid> {
    let lists_events = events.owner.is_some() || events.state.is_some();
    if lists_events && (id.is_some() || query.is_some() || conversation_id.is_some()) {
        return Err(Invalid::new(
            "owner and state list events by themselves: leave query, id and conversation_id out, or leave owner and state out.",
        ));
    }
    let mut warnings = Vec::new();
    let target = match (id, query, conversation_id) {
        (Some(id), query, conversation) => {
            let ignored = [("query", query.is_some()), ("conversation_id", conversation.is_some())];
            for (name, _) in ignored.into_iter().filter(|(_, is_given)| *is_given) {
                warnings.push(format!("{name} was ignored: id says what is wanted. Leave id out to search."));
            }
            Target::Id(AnyId::parse(&id)?)
        }
        (None, Some(query), _) => {
            if AnyId::is_one(&query) {
                warnings.push(
                    "query is an id and was searched as words. Pass it as id to get what it names."
                        .to_owned(),
                );
            }
            Target::Query(checked_query(query)?)
        }
        (None, None, Some(id)) => Target::Conversation(id.clone()),
        (None, None, None) if lists_events || lists_category => Target::Events(events),
        (None, None, None) => return Err(Invalid::new("Must provide query, id, or conversation_id")),
    };
    Ok((target, warnings))
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
            (
                RecallDraft { categories: vec!["Promise".into()], ..draft("q") },
                "Is Commitment meant? Must be",
            ),
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
    fn near_names_of_categories_are_understood() {
        let asked = ["Decisions", "Quality Risk", "commitment"].map(str::to_owned).to_vec();
        let request = RecallRequest::new(RecallDraft { categories: asked, ..draft("q") }).unwrap();
        assert_eq!(
            request.filters.categories,
            [Category::Decision, Category::QualityRisk, Category::Commitment]
        );
    }

    #[test]
    fn an_id_beside_a_query_is_taken_and_said() {
        let id = Some("art_000000000000".to_owned());
        let request = RecallRequest::new(RecallDraft { id, ..draft("q") }).unwrap();
        assert!(
            matches!(request.target, Target::Id(_)) && request.warnings[0].starts_with("query was ignored")
        );
    }

    #[test]
    fn an_id_as_a_query_is_searched_and_said() {
        let searched = |query: &str| RecallRequest::new(draft(query)).unwrap();
        for id in ["art_0123456789ab", "evt_0123456789abcdef"] {
            let request = searched(id);
            assert!(matches!(request.target, Target::Query(_)), "{id}");
            assert!(request.warnings[0].contains("Pass it as id"), "{:?}", request.warnings);
        }
        for words in ["art_deco", "what is art_0123456789ab", "art_01234", "evt_0123456789ab"] {
            assert!(searched(words).warnings.is_empty(), "{words}");
        }
    }

    #[test]
    fn events_are_listed_by_category_owner_or_state_alone_and_not_beside_a_question() {
        let listed = |draft: RecallDraft| RecallRequest::new(draft).map(|request| request.target);
        let by_state = RecallDraft { state: Some("Open".into()), ..RecallDraft::default() };
        let events = EventList { owner: None, state: Some(CommitmentState::Open) };
        assert_eq!(listed(by_state).unwrap(), Target::Events(events));
        let by_category = RecallDraft { categories: vec!["Decision".into()], ..RecallDraft::default() };
        assert!(matches!(listed(by_category), Ok(Target::Events(_))));
        let beside = RecallDraft { owner: Some("Ann".into()), ..draft("q") };
        assert!(listed(beside).unwrap_err().0.starts_with("owner and state list events"));
        let stateless = RecallDraft {
            state: Some("open".into()),
            categories: vec!["Decision".into()],
            ..RecallDraft::default()
        };
        assert!(listed(stateless).unwrap_err().0.starts_with("Only commitments have a state"));
        let unknown = RecallDraft { state: Some("late".into()), ..RecallDraft::default() };
        assert!(listed(unknown).unwrap_err().0.contains("open, done, cancelled, overdue"));
    }

    #[test]
    fn a_date_to_without_a_time_means_the_whole_day() {
        let request =
            RecallRequest::new(RecallDraft { date_to: Some("2026-01-31".into()), ..draft("q") }).unwrap();
        assert_eq!(request.filters.date_to.unwrap().to_string(), "2026-01-31T23:59:59.999999Z");
    }
}
