//! Points: written, taken away, compared and counted.

use std::collections::HashMap;

use futures::future::BoxFuture;
use memory_core::id::Namespace;
use qdrant_client::qdrant::{
    CountPoints, DeletePoints, Direction, GetPoints, OrderBy, PayloadIncludeSelector, PointsIdsList,
    PointsOperationResponse, PointsSelector, RetrievedPoint, ScrollPoints, UpdateResult, UpdateStatus,
    UpsertPoints, Value, WithPayloadSelector, points_selector, vector_output, vectors_output,
    with_payload_selector,
};

use super::{Qdrant, number, payload};
use crate::vector::points::Point;
use crate::vector::{IndexError, check};

/// Numbers of a vector that lie closer together than this are the same: a server makes vectors as long as one.
const ROUNDING: f32 = 1e-5;

/// How closely points are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// What they say they are: 16 bytes a point.
    Digests,
    /// All that they are, vectors included.
    Contents,
}

/// A point as the server has it.
#[derive(Debug, Clone)]
pub struct Kept {
    pub passage_id: i64,
    /// One without is not one of ours.
    pub digest: Option<i64>,
    contents: Option<(HashMap<String, Value>, Vec<f32>)>,
}

impl Kept {
    fn of(point: RetrievedPoint, look: Look) -> Option<Self> {
        let passage_id = number(point.id.as_ref())?;
        let digest = payload::integer(&point.payload, payload::DIGEST);
        let contents = (look == Look::Contents).then(|| {
            let vector = point.vectors.and_then(|vectors| match vectors.vectors_options? {
                vectors_output::VectorsOptions::Vector(one) => match one.into_vector() {
                    vector_output::Vector::Dense(dense) => Some(dense.data),
                    _ => None,
                },
                vectors_output::VectorsOptions::Vectors(_) => None,
            });
            (point.payload, vector.unwrap_or_default())
        });
        Some(Self { passage_id, digest, contents })
    }

    /// Whether it is what it should be, in all that was looked at beside the digest.
    pub fn holds(&self, point: &Point) -> bool {
        let Some((kept, vector)) = &self.contents else { return true };
        let mut wanted = payload::payload(point.about.clone(), point.digest, 0);
        wanted.remove(payload::REV);
        let others = kept.iter().filter(|(key, _)| *key != payload::REV);
        let length = point.vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        wanted.len() == others.clone().count()
            && others.into_iter().all(|(key, value)| wanted.get(key) == Some(value))
            && vector.len() == point.vector.len()
            && vector.iter().zip(&point.vector).all(|(a, b)| (a - b / length).abs() < ROUNDING)
    }
}

/// Points in order, and where the next page begins.
#[derive(Debug, Clone, Default)]
pub struct Page {
    pub points: Vec<Kept>,
    pub next: Option<u64>,
}

impl Qdrant {
    /// Makes the points what they are given as, unless a later claim has made them already. `Ok` when it is done.
    pub fn write<'a>(
        &'a self,
        collection: &'a str,
        dimension: usize,
        rev: i64,
        points: Vec<Point>,
    ) -> BoxFuture<'a, Result<(), IndexError>> {
        Box::pin(async move {
            for point in &points {
                check(&point.vector, dimension)?;
            }
            let request = UpsertPoints {
                collection_name: collection.to_owned(),
                wait: Some(true),
                points: points.into_iter().map(|point| payload::point(point, rev)).collect(),
                update_filter: Some(payload::older_than(rev)),
                timeout: Some(self.inner.times.call.as_secs().max(1)),
                ..UpsertPoints::default()
            };
            completed(&self.call(collection, self.inner.client.upsert_points(request)).await?)
        })
    }

    /// Takes the points away. `Ok` when it is done.
    pub fn remove<'a>(
        &'a self,
        collection: &'a str,
        passages: &'a [i64],
    ) -> BoxFuture<'a, Result<(), IndexError>> {
        Box::pin(async move {
            let ids = passages.iter().map(|id| payload::id(*id)).collect();
            let request = DeletePoints {
                collection_name: collection.to_owned(),
                wait: Some(true),
                points: Some(PointsSelector {
                    points_selector_one_of: Some(points_selector::PointsSelectorOneOf::Points(
                        PointsIdsList { ids },
                    )),
                }),
                timeout: Some(self.inner.times.call.as_secs().max(1)),
                ..DeletePoints::default()
            };
            completed(&self.call(collection, self.inner.client.delete_points(request)).await?)
        })
    }

    /// The next points in the order of their ids, from one on.
    pub fn page<'a>(
        &'a self,
        collection: &'a str,
        from: Option<u64>,
        limit: u32,
        look: Look,
    ) -> BoxFuture<'a, Result<Page, IndexError>> {
        Box::pin(async move {
            let request = ScrollPoints {
                collection_name: collection.to_owned(),
                offset: from.map(Into::into),
                limit: Some(limit),
                with_payload: Some(shown(look)),
                with_vectors: Some((look == Look::Contents).into()),
                ..ScrollPoints::default()
            };
            let answer = self.call(collection, self.inner.client.scroll(request)).await?;
            let points = answer.result.into_iter().filter_map(|point| Kept::of(point, look));
            let next = answer.next_page_offset.as_ref().and_then(|id| number(Some(id)));
            Ok(Page { points: points.collect(), next: next.map(i64::unsigned_abs) })
        })
    }

    /// Those of the points that are there.
    pub fn kept<'a>(
        &'a self,
        collection: &'a str,
        passages: &'a [i64],
        look: Look,
    ) -> BoxFuture<'a, Result<Vec<Kept>, IndexError>> {
        Box::pin(async move {
            let request = GetPoints {
                collection_name: collection.to_owned(),
                ids: passages.iter().map(|id| payload::id(*id)).collect(),
                with_payload: Some(shown(look)),
                with_vectors: Some((look == Look::Contents).into()),
                ..GetPoints::default()
            };
            let answer = self.call(collection, self.inner.client.get_points(request)).await?;
            Ok(answer.result.into_iter().filter_map(|point| Kept::of(point, look)).collect())
        })
    }

    /// The number of the latest claim that any point was made by.
    pub fn latest_rev<'a>(&'a self, collection: &'a str) -> BoxFuture<'a, Result<Option<i64>, IndexError>> {
        Box::pin(async move {
            let request = ScrollPoints {
                collection_name: collection.to_owned(),
                limit: Some(1),
                with_payload: Some(only(payload::REV)),
                with_vectors: Some(false.into()),
                order_by: Some(OrderBy {
                    key: payload::REV.to_owned(),
                    direction: Some(Direction::Desc.into()),
                    start_from: None,
                }),
                ..ScrollPoints::default()
            };
            let answer = self.call(collection, self.inner.client.scroll(request)).await?;
            Ok(answer.result.first().and_then(|point| payload::integer(&point.payload, payload::REV)))
        })
    }

    /// How many points of a kind a namespace has.
    pub fn count<'a>(
        &'a self,
        collection: &'a str,
        ns: &'a Namespace,
        kind: &'a str,
    ) -> BoxFuture<'a, Result<u64, IndexError>> {
        Box::pin(async move {
            let request = CountPoints {
                collection_name: collection.to_owned(),
                filter: Some(payload::of_kind(ns, kind)),
                exact: Some(true),
                ..CountPoints::default()
            };
            let answer = super::within(self.inner.times.search, collection, self.inner.client.count(request));
            Ok(answer.await?.result.map_or(0, |result| result.count))
        })
    }
}

fn shown(look: Look) -> WithPayloadSelector {
    match look {
        Look::Digests => only(payload::DIGEST),
        Look::Contents => true.into(),
    }
}

fn only(key: &str) -> WithPayloadSelector {
    with_payload_selector::SelectorOptions::Include(PayloadIncludeSelector { fields: vec![key.to_owned()] })
        .into()
}

/// An answer without an error says only that the request was understood.
fn completed(answer: &PointsOperationResponse) -> Result<(), IndexError> {
    match answer.result.as_ref().map(UpdateResult::status) {
        Some(UpdateStatus::Completed) => Ok(()),
        Some(status) => Err(IndexError::Unavailable(format!("the write ended as {}", status.as_str_name()))),
        None => Err(IndexError::Unavailable("the write was answered by nothing".into())),
    }
}
