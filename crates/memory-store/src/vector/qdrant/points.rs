//! Points: written, taken away, compared and counted.

use memory_core::id::Namespace;
use qdrant_client::qdrant::{
    CountPoints, DeletePoints, Direction, GetPoints, OrderBy, PayloadIncludeSelector, PointsIdsList,
    PointsOperationResponse, PointsSelector, ScrollPoints, UpdateResult, UpdateStatus, UpsertPoints,
    WithPayloadSelector, points_selector, with_payload_selector,
};

use super::{Qdrant, number, payload};
use crate::vector::points::Point;
use crate::vector::{IndexError, check};

/// Points in order with their digests, and where the next page begins.
#[derive(Debug, Clone, Default)]
pub struct DigestPage {
    /// A point without a digest is not one of ours.
    pub points: Vec<(i64, Option<i64>)>,
    pub next: Option<u64>,
}

impl Qdrant {
    /// Makes the points what they are given as, unless a later claim has made them already. `Ok` when it is done.
    pub async fn write(
        &self,
        collection: &str,
        dimension: usize,
        rev: i64,
        points: Vec<Point>,
    ) -> Result<(), IndexError> {
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
    }

    /// Takes the points away. `Ok` when it is done.
    pub async fn remove(&self, collection: &str, passages: &[i64]) -> Result<(), IndexError> {
        let ids = passages.iter().map(|id| payload::id(*id)).collect();
        let request = DeletePoints {
            collection_name: collection.to_owned(),
            wait: Some(true),
            points: Some(PointsSelector {
                points_selector_one_of: Some(points_selector::PointsSelectorOneOf::Points(PointsIdsList {
                    ids,
                })),
            }),
            timeout: Some(self.inner.times.call.as_secs().max(1)),
            ..DeletePoints::default()
        };
        completed(&self.call(collection, self.inner.client.delete_points(request)).await?)
    }

    /// The next points in the order of their ids, from one on.
    pub async fn digests(
        &self,
        collection: &str,
        from: Option<u64>,
        limit: u32,
    ) -> Result<DigestPage, IndexError> {
        let request = ScrollPoints {
            collection_name: collection.to_owned(),
            offset: from.map(Into::into),
            limit: Some(limit),
            with_payload: Some(only(payload::DIGEST)),
            with_vectors: Some(false.into()),
            ..ScrollPoints::default()
        };
        let answer = self.call(collection, self.inner.client.scroll(request)).await?;
        let points = answer.result.iter().filter_map(|point| {
            Some((number(point.id.as_ref())?, payload::integer(&point.payload, payload::DIGEST)))
        });
        let next = answer.next_page_offset.as_ref().and_then(|id| number(Some(id)));
        Ok(DigestPage { points: points.collect(), next: next.map(i64::unsigned_abs) })
    }

    /// Digests of those of the points that are there.
    pub async fn digests_of(
        &self,
        collection: &str,
        passages: &[i64],
    ) -> Result<Vec<(i64, Option<i64>)>, IndexError> {
        let request = GetPoints {
            collection_name: collection.to_owned(),
            ids: passages.iter().map(|id| payload::id(*id)).collect(),
            with_payload: Some(only(payload::DIGEST)),
            with_vectors: Some(false.into()),
            ..GetPoints::default()
        };
        let answer = self.call(collection, self.inner.client.get_points(request)).await?;
        let points = answer.result.iter().filter_map(|point| {
            Some((number(point.id.as_ref())?, payload::integer(&point.payload, payload::DIGEST)))
        });
        Ok(points.collect())
    }

    /// The number of the latest claim that any point was made by.
    pub async fn latest_rev(&self, collection: &str) -> Result<Option<i64>, IndexError> {
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
    }

    /// How many points of a kind a namespace has.
    pub async fn count(&self, collection: &str, ns: &Namespace, kind: &str) -> Result<u64, IndexError> {
        let request = CountPoints {
            collection_name: collection.to_owned(),
            filter: Some(payload::of_kind(ns, kind)),
            exact: Some(true),
            ..CountPoints::default()
        };
        let answer = super::within(self.inner.times.search, collection, self.inner.client.count(request));
        Ok(answer.await?.result.map_or(0, |result| result.count))
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
