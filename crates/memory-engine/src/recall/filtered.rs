//! What an answer says of its filters: which of them emptied it, or which author with a similar name they left out; that an id is
//! not known; and that there is nothing yet to be found.

use memory_core::id::{AnyId, Namespace};
use memory_language::text::{cut, nearest_texts};
use memory_store::Conn;
use memory_store::search::{self, Filters};

use super::{Recall, RecallRequest, Target};
use crate::{EngineError, Memory};

/// How many existing values are named for a filter that no text meets.
const VALUES_SHOWN: usize = 6;
/// The longest value that is told, in characters.
const VALUE_MAX_CHARS: usize = 60;

impl Memory {
    /// Adds warnings to a first page. An empty one says that the namespace is empty, which filter no text meets, or that the id is unknown;
    /// another one names an author with a similar name.
    pub(super) async fn explain_filters(
        &self,
        ns: &Namespace,
        request: &RecallRequest,
        answer: &mut Recall,
    ) -> Result<(), EngineError> {
        let is_first = request.offset == 0 && request.after.is_none();
        let (is_empty, is_found) = match &request.target {
            Target::Query(_) | Target::Events(_) => (answer.results.is_empty(), !answer.results.is_empty()),
            Target::Conversation(_) => (
                answer.conversation.as_ref().is_some_and(|conversation| conversation.total_turns == 0),
                false,
            ),
            Target::Id(id) => {
                answer.warnings.extend(answer.results.is_empty().then(|| unknown(id)));
                (false, false)
            }
        };
        if is_first && is_empty && answer.facts.is_empty() {
            let mut conn = self.store.acquire(ns).await?;
            let any = Filters { include_superseded: true, ..Filters::default() };
            if !search::is_met(&mut conn, ns, &any).await? {
                answer.warnings.push(format!("The namespace '{ns}' holds no text yet."));
            } else if request.filters.narrow() {
                answer.warnings.append(&mut unmet(&mut conn, ns, request).await?);
            }
        } else if is_first
            && is_found
            && let Some(author) = &request.filters.author
        {
            let mut conn = self.store.acquire(ns).await?;
            answer.warnings.extend(similar_author(&mut conn, ns, author, &request.filters).await?);
        }
        Ok(())
    }
}

/// Which of the filters nothing meets, or that nothing meets all of them together.
async fn unmet(conn: &mut Conn, ns: &Namespace, request: &RecallRequest) -> Result<Vec<String>, EngineError> {
    let filters = single_filters(&request.filters);
    let mut unmet = Vec::new();
    for (name, said, filter) in &filters {
        if !search::is_met(conn, ns, filter).await? {
            unmet.push(format!("No text of this namespace {said}.{}", there(conn, ns, name, filter).await?));
        }
    }
    if unmet.is_empty() && filters.len() > 1 && !search::is_met(conn, ns, &request.filters).await? {
        let all: Vec<&str> = filters.iter().map(|(_, said, _)| said.as_str()).collect();
        unmet.push(format!(
            "No text of this namespace {}: each of these alone is met, all together are not.",
            all.join(" and ")
        ));
    }
    Ok(unmet)
}

/// Names an author whose name is a part of the one asked for, or has it as a part, where texts of theirs meet the other filters; not
/// where one word may mean several.
async fn similar_author(
    conn: &mut Conn,
    ns: &Namespace,
    author: &str,
    filters: &Filters,
) -> Result<Option<String>, EngineError> {
    let begins = |long: &str, short: &str| long.strip_prefix(short).is_some_and(|rest| rest.starts_with(' '));
    let asked = author.to_lowercase();
    let authors = search::distinct_values(conn, ns, "author").await?;
    let is_similar = |other: &&String| {
        let other = other.to_lowercase();
        begins(&other, &asked) || begins(&asked, &other)
    };
    let similar: Vec<&String> = authors.iter().filter(is_similar).collect();
    let [other] = similar.as_slice() else { return Ok(None) };
    let of_other = Filters { author: Some((*other).clone()), ..filters.clone() };
    Ok(search::is_met(conn, ns, &of_other).await?.then(|| {
        format!(
            "Texts by '{}' are not among the results: `author` must be the whole name. Ask for that name too, or leave author out.",
            cut(other, VALUE_MAX_CHARS)
        )
    }))
}

fn unknown(id: &AnyId) -> String {
    let (what, else_gone) = match id {
        AnyId::Artifact(_) => ("text", "It may have been forgotten"),
        AnyId::Event(_) => ("event", "Its text may have been forgotten, or extracted again"),
    };
    format!(
        "No {what} of this namespace has the id '{}'. {else_gone}. Check the id, or search by words.",
        id.as_str()
    )
}

/// Each filter that is set, alone: its name, and what a text must be like for it.
fn single_filters(filters: &Filters) -> Vec<(&'static str, String, Filters)> {
    let none = || Filters { include_superseded: filters.include_superseded, ..Filters::default() };
    let mut single = Vec::new();
    let shown = |value: &str| cut(value, VALUE_MAX_CHARS);
    if let Some(context) = filters.context {
        single.push((
            "context",
            format!("has context '{context}'"),
            Filters { context: Some(context), ..none() },
        ));
    }
    if let Some(source) = &filters.source {
        let said = format!("has source '{}'", shown(source));
        single.push(("source", said, Filters { source: Some(source.clone()), ..none() }));
    }
    if let Some(author) = &filters.author {
        let said = format!("has author '{}'", shown(author));
        single.push(("author", said, Filters { author: Some(author.clone()), ..none() }));
    }
    if let Some(id) = &filters.conversation_id {
        let said = format!("has conversation_id '{}'", shown(id));
        single.push(("conversation_id", said, Filters { conversation_id: Some(id.clone()), ..none() }));
    }
    for tag in &filters.tags {
        single.push((
            "tags",
            format!("has tag '{}'", shown(tag)),
            Filters { tags: vec![tag.clone()], ..none() },
        ));
    }
    if let Some(from) = filters.date_from {
        single.push((
            "date",
            format!("is dated {from} or later"),
            Filters { date_from: Some(from), ..none() },
        ));
    }
    if let Some(to) = filters.date_to {
        single.push(("date", format!("is dated {to} or earlier"), Filters { date_to: Some(to), ..none() }));
    }
    if let Some(least) = filters.min_importance {
        let said = format!("has importance {least} or more");
        single.push(("importance", said, Filters { min_importance: Some(least), ..none() }));
    }
    if !filters.categories.is_empty() {
        let names: Vec<&str> = filters.categories.iter().map(|category| category.as_str()).collect();
        let said = format!("has an event of category {}", names.join(" or "));
        single.push(("categories", said, Filters { categories: filters.categories.clone(), ..none() }));
    }
    single
}

/// What there is instead of what the filter asks for.
async fn there(conn: &mut Conn, ns: &Namespace, name: &str, filter: &Filters) -> Result<String, EngineError> {
    if matches!(name, "date" | "importance") {
        let Some(ranges) = search::ranges(conn, ns).await? else { return Ok(String::new()) };
        return Ok(match name {
            "date" => format!(" They are dated {} to {}.", ranges.oldest, ranges.newest),
            _ => format!(" The highest importance is {}.", ranges.importance_max),
        });
    }
    let values = search::distinct_values(conn, ns, name).await?;
    if values.is_empty() {
        return Ok(String::new());
    }
    let asked = filter.tags.first().or(filter.author.as_ref()).or(filter.source.as_ref());
    let asked = asked.or(filter.conversation_id.as_ref()).map_or("", String::as_str);
    let near = nearest_texts(asked, &values, VALUES_SHOWN);
    let near: Vec<String> = near.into_iter().map(|value| cut(value, VALUE_MAX_CHARS)).collect();
    let more = if values.len() > near.len() { ", …" } else { "" };
    let kind = match name {
        "context" => "Contexts",
        "source" => "Sources",
        "author" => "Authors",
        "conversation_id" => "Conversations",
        "tags" => "Tags",
        _ => "Categories",
    };
    Ok(format!(" {kind} there are: {}{more}.", near.join(", ")))
}
