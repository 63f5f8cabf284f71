//! What points say of their passages, and the filters over it.

use std::collections::HashMap;

use memory_core::graph::GraphReach;
use memory_core::id::Namespace;
use qdrant_client::qdrant::r#match::MatchValue;
use qdrant_client::qdrant::value::Kind;
use qdrant_client::qdrant::{Condition, Filter, ListValue, PointId, PointStruct, Range, Value, Vectors};

use crate::search::{Of, Scope};
use crate::vector::points::{About, Point};

/// The number of the claim that made the point.
pub(super) const REV: &str = "rev";
/// Of all that the point should be.
pub(super) const DIGEST: &str = "digest";
pub(super) const NAMESPACE: &str = "namespace";
pub(super) const KIND: &str = "kind";
const LATEST: &str = "latest";
const CONTEXT: &str = "context";
const SOURCE: &str = "source";
const AUTHOR: &str = "author";
const CONVERSATION: &str = "conversation";
const TAGS: &str = "tags";
const IMPORTANCE: &str = "importance";
const DATE: &str = "date";
const CATEGORIES: &str = "categories";
const THREAD: &str = "thread";

/// How a field is indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Indexed {
    Tenant,
    Keyword,
    /// Compared with ranges.
    Integer,
    Float,
    Bool,
}

/// Every field that is filtered by.
pub(super) const INDEXES: [(&str, Indexed); 13] = [
    (NAMESPACE, Indexed::Tenant),
    (KIND, Indexed::Keyword),
    (LATEST, Indexed::Bool),
    (CONTEXT, Indexed::Keyword),
    (SOURCE, Indexed::Keyword),
    (AUTHOR, Indexed::Keyword),
    (CONVERSATION, Indexed::Keyword),
    (TAGS, Indexed::Keyword),
    (IMPORTANCE, Indexed::Float),
    (DATE, Indexed::Integer),
    (CATEGORIES, Indexed::Keyword),
    (THREAD, Indexed::Keyword),
    (REV, Indexed::Integer),
];

/// The passages of a scope. Dates are compared in whole seconds, so that nothing that fits is left out; what is found is
/// looked at exactly in Postgres.
pub(super) fn filter(ns: &Namespace, scope: &Scope) -> Filter {
    let mut must = vec![is(NAMESPACE, ns.as_str().to_owned())];
    let mut must_not = Vec::new();
    match scope.of() {
        Of::Observations { reach, hidden } => {
            must.push(is(KIND, "observation".to_owned()));
            must.extend(reach.as_ref().and_then(GraphReach::only).map(|thread| is(THREAD, thread)));
            if !hidden.is_empty() {
                must_not.push(Condition::matches(THREAD, hidden.clone()));
            }
        }
        Of::Revisions(filters) => {
            must.push(Condition::matches(KIND, vec!["content".to_owned(), "chunk".to_owned()]));
            if !filters.include_superseded {
                must.push(Condition::matches(LATEST, true));
            }
            let texts = [
                (CONTEXT, filters.context.map(|context| context.as_str().to_owned())),
                (SOURCE, filters.source.clone()),
                (AUTHOR, filters.author.clone()),
                (CONVERSATION, filters.conversation_id.clone()),
            ];
            for (key, value) in texts {
                must.extend(value.map(|value| is(key, value)));
            }
            must.extend(filters.tags.iter().map(|tag| is(TAGS, tag.clone())));
            let (from, to) = (filters.date_from, filters.date_to);
            if from.is_some() || to.is_some() {
                let seconds = |at: jiff::Timestamp| at.as_nanosecond().div_euclid(1_000_000_000) as f64;
                let range = Range { gte: from.map(seconds), lte: to.map(seconds), ..Range::default() };
                must.push(Condition::range(DATE, range));
            }
            if let Some(least) = filters.min_importance {
                let range = Range { gte: Some(f64::from(least)), ..Range::default() };
                must.push(Condition::range(IMPORTANCE, range));
            }
            if !filters.categories.is_empty() {
                let names: Vec<String> =
                    filters.categories.iter().map(|category| category.as_str().to_owned()).collect();
                must.push(Condition::matches(CATEGORIES, names));
            }
        }
    }
    Filter { must, must_not, ..Filter::default() }
}

/// The whole value. (Left to itself the client takes a value with a space in it for words of a text.)
fn is(key: &str, value: String) -> Condition {
    Condition::matches(key, MatchValue::Keyword(value))
}

/// The points of a namespace of one kind.
pub(super) fn of_kind(ns: &Namespace, kind: &str) -> Filter {
    Filter::must([is(NAMESPACE, ns.as_str().to_owned()), is(KIND, kind.to_owned())])
}

/// Points that an earlier claim made.
pub(super) fn older_than(rev: i64) -> Filter {
    Filter::must([Condition::range(REV, Range { lt: Some(rev as f64), ..Range::default() })])
}

pub(super) fn id(passage_id: i64) -> PointId {
    PointId::from(passage_id.unsigned_abs())
}

/// The point as it is sent.
pub(super) fn point(point: Point, rev: i64) -> PointStruct {
    PointStruct {
        id: Some(id(point.passage_id)),
        payload: payload(point.about, point.digest, rev),
        vectors: Some(Vectors::from(point.vector)),
    }
}

pub(super) fn payload(about: About, digest: i64, rev: i64) -> HashMap<String, Value> {
    let mut payload: HashMap<String, Value> = HashMap::from([
        (NAMESPACE.to_owned(), about.namespace.into()),
        (KIND.to_owned(), about.kind.into()),
        (LATEST.to_owned(), about.is_latest.into()),
        (DIGEST.to_owned(), digest.into()),
        (REV.to_owned(), rev.into()),
    ]);
    let texts = [
        (CONTEXT, about.context),
        (SOURCE, about.source),
        (AUTHOR, about.author),
        (CONVERSATION, about.conversation_id),
        (THREAD, about.thread),
    ];
    payload.extend(texts.into_iter().filter_map(|(key, text)| Some((key.to_owned(), text?.into()))));
    for (key, list) in [(TAGS, about.tags), (CATEGORIES, about.categories)] {
        if !list.is_empty() {
            let values = list.into_iter().map(Value::from).collect();
            payload.insert(key.to_owned(), Value { kind: Some(Kind::ListValue(ListValue { values })) });
        }
    }
    if let Some(importance) = about.importance {
        payload.insert(IMPORTANCE.to_owned(), f64::from(importance).into());
    }
    if let Some(date) = about.date {
        payload.insert(DATE.to_owned(), date.into());
    }
    payload
}

/// A whole number that a point says.
pub(super) fn integer(payload: &HashMap<String, Value>, key: &str) -> Option<i64> {
    match payload.get(key)?.kind {
        Some(Kind::IntegerValue(number)) => Some(number),
        _ => None,
    }
}
