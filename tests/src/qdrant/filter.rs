//! Filters, as far as they are modelled.

use std::collections::HashMap;

use qdrant_client::qdrant::condition::ConditionOneOf;
use qdrant_client::qdrant::r#match::MatchValue;
use qdrant_client::qdrant::value::Kind;
use qdrant_client::qdrant::{Condition, FieldCondition, FieldType, Filter, Range, Value};
use tonic::Status;

/// What the fields of a collection are indexed as.
pub(crate) type Indexes = HashMap<String, FieldType>;

/// Refuses what is not modelled, and a condition over a field without an index that fits.
pub(crate) fn check(filter: &Filter, indexes: &Indexes, is_strict: bool) -> Result<(), Status> {
    let Filter { should, must, must_not, min_should } = filter;
    if min_should.is_some() {
        return Err(unmodelled("min_should"));
    }
    for condition in should.iter().chain(must).chain(must_not) {
        match &condition.condition_one_of {
            Some(ConditionOneOf::Field(field)) => check_field(field, indexes, is_strict)?,
            Some(ConditionOneOf::HasId(_)) => {}
            Some(ConditionOneOf::Filter(inner)) => check(inner, indexes, is_strict)?,
            _ => return Err(unmodelled("condition")),
        }
    }
    Ok(())
}

fn check_field(field: &FieldCondition, indexes: &Indexes, is_strict: bool) -> Result<(), Status> {
    let FieldCondition {
        key,
        r#match,
        range,
        geo_bounding_box,
        geo_radius,
        values_count,
        geo_polygon,
        datetime_range,
        is_empty,
        is_null,
    } = field;
    let is_other = geo_bounding_box.is_some()
        || geo_radius.is_some()
        || values_count.is_some()
        || geo_polygon.is_some()
        || datetime_range.is_some()
        || is_empty.is_some()
        || is_null.is_some();
    if is_other {
        return Err(unmodelled("field condition"));
    }
    let wanted: &[FieldType] = match (r#match.as_ref().and_then(|m| m.match_value.as_ref()), range) {
        (Some(MatchValue::Keyword(_) | MatchValue::Keywords(_)), None) => &[FieldType::Keyword],
        (Some(MatchValue::Boolean(_)), None) => &[FieldType::Bool],
        (None, Some(_)) => &[FieldType::Integer, FieldType::Float],
        _ => return Err(unmodelled("match")),
    };
    let is_indexed = indexes.get(key).is_some_and(|index| wanted.contains(index));
    if is_strict && !is_indexed {
        return Err(Status::invalid_argument(format!(
            "Bad request: Index required but not found for \"{key}\" of one of the following types: {wanted:?}"
        )));
    }
    Ok(())
}

pub(crate) fn unmodelled(what: &str) -> Status {
    Status::unimplemented(format!("the stand-in does not model {what}"))
}

pub(crate) fn matches(filter: &Filter, id: u64, payload: &HashMap<String, Value>) -> bool {
    let holds = |condition: &Condition| match &condition.condition_one_of {
        Some(ConditionOneOf::Field(field)) => field_matches(field, payload),
        Some(ConditionOneOf::HasId(ids)) => {
            ids.has_id.iter().any(|wanted| super::engine::number(Some(wanted)) == Some(id))
        }
        Some(ConditionOneOf::Filter(inner)) => matches(inner, id, payload),
        _ => false,
    };
    filter.must.iter().all(holds)
        && !filter.must_not.iter().any(holds)
        && (filter.should.is_empty() || filter.should.iter().any(holds))
}

fn field_matches(field: &FieldCondition, payload: &HashMap<String, Value>) -> bool {
    let Some(value) = payload.get(&field.key) else { return false };
    values(value).any(|value| match (field.r#match.as_ref(), &field.range) {
        (Some(wanted), _) => match (&wanted.match_value, &value.kind) {
            (Some(MatchValue::Keyword(a)), Some(Kind::StringValue(b))) => a == b,
            (Some(MatchValue::Keywords(any)), Some(Kind::StringValue(b))) => any.strings.contains(b),
            (Some(MatchValue::Boolean(a)), Some(Kind::BoolValue(b))) => a == b,
            _ => false,
        },
        (None, Some(range)) => match value.kind {
            Some(Kind::IntegerValue(number)) => in_range(range, number as f64),
            Some(Kind::DoubleValue(number)) => in_range(range, number),
            _ => false,
        },
        (None, None) => false,
    })
}

fn in_range(range: &Range, number: f64) -> bool {
    range.lt.is_none_or(|bound| number < bound)
        && range.gt.is_none_or(|bound| number > bound)
        && range.gte.is_none_or(|bound| number >= bound)
        && range.lte.is_none_or(|bound| number <= bound)
}

/// A list counts by its members.
fn values(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match &value.kind {
        Some(Kind::ListValue(list)) => Box::new(list.values.iter()),
        _ => Box::new(std::iter::once(value)),
    }
}

/// The tenant that a filter is confined to.
pub(crate) fn tenant<'a>(filter: Option<&'a Filter>, key: &str) -> Option<&'a str> {
    filter?.must.iter().find_map(|condition| match &condition.condition_one_of {
        Some(ConditionOneOf::Field(field)) if field.key == key => {
            match field.r#match.as_ref()?.match_value.as_ref()? {
                MatchValue::Keyword(value) => Some(value.as_str()),
                _ => None,
            }
        }
        _ => None,
    })
}
