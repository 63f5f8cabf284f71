//! The stand-in's calls: what is modelled is carried out, all else is refused.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use qdrant_client::qdrant::payload_index_params::IndexParams;
use qdrant_client::qdrant::points_selector::PointsSelectorOneOf;
use qdrant_client::qdrant::with_payload_selector::SelectorOptions;
use qdrant_client::qdrant::{self as api, points_server};
use tonic::metadata::MetadataMap;
use tonic::{Request, Response, Status};

use super::engine::{Change, Stored, number};
use super::filter::{self, unmodelled};
use super::{Fault, Op, Shared};

#[derive(Clone)]
pub(crate) struct Service(pub(crate) Arc<Shared>);

pub(super) type Answer<T> = Result<Response<T>, Status>;

/// Refuses a request with any of these fields.
macro_rules! none {
    ($($field:ident),*) => {
        $(if $field.is_some() { return Err(unmodelled(stringify!($field))); })*
    };
}

/// Calls that are not modelled at all.
macro_rules! not_modelled {
    ($($name:ident($request:ident) -> $answer:ident;)*) => {
        $(fn $name<'a, 'b>(
            &'a self,
            _: Request<api::$request>,
        ) -> Pin<Box<dyn Future<Output = Answer<api::$answer>> + Send + 'b>>
        where
            'a: 'b,
            Self: 'b,
        {
            Box::pin(async { Err(unmodelled(stringify!($name))) })
        })*
    };
}

pub(super) use {none, not_modelled};

impl Service {
    /// Lets the call through, or does to it what was ordered. What it gives has to be done after the call was carried out.
    pub(super) async fn gate(&self, op: Op, metadata: &MetadataMap) -> Result<Option<Fault>, Status> {
        self.0.calls[op as usize].fetch_add(1, Ordering::SeqCst);
        if let Some(key) = &self.0.api_key {
            let given = metadata.get("api-key").and_then(|given| given.to_str().ok());
            if given != Some(key.as_str()) {
                return Err(Status::unauthenticated(
                    "Must provide an API key or an Authorization bearer token",
                ));
            }
        }
        let delay = *self.0.delay.lock().unwrap_or_else(PoisonError::into_inner);
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        let fault =
            self.0.script.lock().unwrap_or_else(PoisonError::into_inner).as_mut().and_then(|ask| ask(op));
        match fault {
            Some(Fault::Refuse) => Err(Status::unavailable("told to refuse")),
            Some(Fault::Hang) => std::future::pending().await,
            Some(Fault::Exhausted { retry_after_seconds }) => {
                let mut status = Status::resource_exhausted("told to be exhausted");
                status.metadata_mut().insert("retry-after", retry_after_seconds.into());
                Err(status)
            }
            other => Ok(other),
        }
    }

    async fn change(
        &self,
        op: Op,
        metadata: &MetadataMap,
        wait: Option<bool>,
        change: Change,
    ) -> Answer<api::PointsOperationResponse> {
        let fault = self.gate(op, metadata).await?;
        self.0.engine().check(&change)?;
        if fault == Some(Fault::ApplyLater) {
            self.0.engine().postpone(change);
            return Err(Status::internal("told to be late"));
        }
        let status = if wait == Some(true) {
            self.0.engine().apply(change)?;
            api::UpdateStatus::Completed
        } else {
            self.0.engine().postpone(change);
            api::UpdateStatus::Acknowledged
        };
        self.after(fault).await?;
        let status = if fault == Some(Fault::WaitTimeout) { api::UpdateStatus::WaitTimeout } else { status };
        let result = api::UpdateResult { operation_id: Some(0), status: status.into() };
        Ok(Response::new(api::PointsOperationResponse { result: Some(result), ..Default::default() }))
    }

    pub(super) async fn after(&self, fault: Option<Fault>) -> Result<(), Status> {
        match fault {
            Some(Fault::ApplyAndHang) => std::future::pending().await,
            Some(Fault::ApplyAndFail | Fault::ApplyLater) => Err(Status::internal("told to fail")),
            _ => Ok(()),
        }
    }
}

/// The part of a payload that was asked for.
fn chosen(
    payload: &HashMap<String, api::Value>,
    wanted: Option<&api::WithPayloadSelector>,
) -> Result<HashMap<String, api::Value>, Status> {
    match wanted.and_then(|wanted| wanted.selector_options.as_ref()) {
        Some(SelectorOptions::Enable(false)) => Ok(HashMap::new()),
        None | Some(SelectorOptions::Enable(true)) => Ok(payload.clone()),
        Some(SelectorOptions::Include(keys)) => Ok(payload
            .iter()
            .filter(|(k, _)| keys.fields.contains(k))
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect()),
        Some(SelectorOptions::Exclude(_)) => Err(unmodelled("payload exclusion")),
    }
}

fn with_vectors_of(wanted: Option<&api::WithVectorsSelector>) -> Result<bool, Status> {
    use api::with_vectors_selector::SelectorOptions as Of;
    match wanted.and_then(|wanted| wanted.selector_options.as_ref()) {
        None => Ok(false),
        Some(Of::Enable(enable)) => Ok(*enable),
        Some(Of::Include(_)) => Err(unmodelled("named vectors")),
    }
}

fn retrieved(
    id: u64,
    point: &Stored,
    payload: Option<&api::WithPayloadSelector>,
    vectors: bool,
) -> Result<api::RetrievedPoint, Status> {
    let vector = api::DenseVector { data: point.vector.clone() };
    let vector =
        api::VectorOutput { vector: Some(api::vector_output::Vector::Dense(vector)), ..Default::default() };
    let vectors = vectors.then_some(api::VectorsOutput {
        vectors_options: Some(api::vectors_output::VectorsOptions::Vector(vector)),
    });
    let payload = chosen(&point.payload, payload)?;
    Ok(api::RetrievedPoint { id: Some(id.into()), payload, vectors, ..Default::default() })
}

#[tonic::async_trait]
impl points_server::Points for Service {
    async fn upsert(&self, request: Request<api::UpsertPoints>) -> Answer<api::PointsOperationResponse> {
        let (metadata, _, request) = request.into_parts();
        let api::UpsertPoints {
            collection_name,
            wait,
            points,
            ordering,
            shard_key_selector,
            update_filter,
            timeout: _,
            update_mode,
        } = request;
        none!(ordering, shard_key_selector, update_mode);
        let change = Change::Upsert { collection: collection_name, points, update_filter };
        self.change(Op::Write, &metadata, wait, change).await
    }

    async fn delete(&self, request: Request<api::DeletePoints>) -> Answer<api::PointsOperationResponse> {
        let (metadata, _, request) = request.into_parts();
        let api::DeletePoints { collection_name, wait, points, ordering, shard_key_selector, timeout: _ } =
            request;
        none!(ordering, shard_key_selector);
        let Some(PointsSelectorOneOf::Points(list)) = points.and_then(|points| points.points_selector_one_of)
        else {
            return Err(unmodelled("deletion by a filter"));
        };
        let ids = list.ids.iter().filter_map(|id| number(Some(id))).collect();
        let change = Change::Delete { collection: collection_name, ids };
        self.change(Op::Delete, &metadata, wait, change).await
    }

    async fn get(&self, request: Request<api::GetPoints>) -> Answer<api::GetResponse> {
        let (metadata, _, request) = request.into_parts();
        let fault = self.gate(Op::Read, &metadata).await?;
        let api::GetPoints {
            collection_name,
            ids,
            with_payload,
            with_vectors,
            read_consistency,
            shard_key_selector,
            timeout: _,
        } = request;
        none!(read_consistency, shard_key_selector);
        let vectors = with_vectors_of(with_vectors.as_ref())?;
        let result = {
            let engine = self.0.engine();
            let collection = engine.collection(&collection_name)?;
            let ids = ids.iter().filter_map(|id| number(Some(id)));
            let found = ids.filter_map(|id| Some((id, collection.points.get(&id)?)));
            found
                .map(|(id, point)| retrieved(id, point, with_payload.as_ref(), vectors))
                .collect::<Result<_, _>>()?
        };
        self.after(fault).await?;
        Ok(Response::new(api::GetResponse { result, ..Default::default() }))
    }

    async fn create_field_index(
        &self,
        request: Request<api::CreateFieldIndexCollection>,
    ) -> Answer<api::PointsOperationResponse> {
        let (metadata, _, request) = request.into_parts();
        let fault = self.gate(Op::Admin, &metadata).await?;
        let api::CreateFieldIndexCollection {
            collection_name,
            wait,
            field_name,
            field_type: _,
            field_index_params,
            ordering,
            timeout: _,
        } = &request;
        none!(ordering);
        if *wait != Some(true) {
            return Err(unmodelled("an index that is not waited for"));
        }
        let Some(params) = field_index_params.as_ref().and_then(|params| params.index_params.as_ref()) else {
            return Err(unmodelled("an index without parameters"));
        };
        let is_tenant =
            matches!(params, IndexParams::KeywordIndexParams(params) if params.is_tenant == Some(true));
        self.0.engine().index(collection_name, field_name.clone(), request.field_type(), is_tenant)?;
        self.after(fault).await?;
        let result = api::UpdateResult { operation_id: Some(0), status: api::UpdateStatus::Completed.into() };
        Ok(Response::new(api::PointsOperationResponse { result: Some(result), ..Default::default() }))
    }

    async fn scroll(&self, request: Request<api::ScrollPoints>) -> Answer<api::ScrollResponse> {
        let (metadata, _, request) = request.into_parts();
        let fault = self.gate(Op::Read, &metadata).await?;
        let api::ScrollPoints {
            collection_name,
            filter,
            offset,
            limit,
            with_payload,
            with_vectors,
            read_consistency,
            shard_key_selector,
            order_by,
            timeout: _,
        } = request;
        none!(read_consistency, shard_key_selector);
        let vectors = with_vectors_of(with_vectors.as_ref())?;
        let limit = limit.unwrap_or(10) as usize;
        let answer = {
            let engine = self.0.engine();
            let collection = engine.collection(&collection_name)?;
            if let Some(filter) = &filter {
                filter::check(filter, &collection.indexes, collection.is_strict(false))?;
            }
            let mut ids: Vec<u64> = match &order_by {
                Some(_) if filter.is_some() || offset.is_some() => {
                    return Err(unmodelled("filter and order_by"));
                }
                Some(order) => collection.ordered(order, limit)?,
                None => {
                    let from = number(offset.as_ref()).unwrap_or(0);
                    collection.matching(filter.as_ref(), from).map(|(id, _)| id).take(limit + 1).collect()
                }
            };
            let next_page_offset = (ids.len() > limit).then(|| ids[limit].into());
            ids.truncate(limit);
            let points = ids.iter().map(|id| (*id, &collection.points[id]));
            let result = points
                .map(|(id, point)| retrieved(id, point, with_payload.as_ref(), vectors))
                .collect::<Result<_, _>>()?;
            api::ScrollResponse { next_page_offset, result, ..Default::default() }
        };
        self.after(fault).await?;
        Ok(Response::new(answer))
    }

    async fn count(&self, request: Request<api::CountPoints>) -> Answer<api::CountResponse> {
        let (metadata, _, request) = request.into_parts();
        let fault = self.gate(Op::Read, &metadata).await?;
        let api::CountPoints {
            collection_name,
            filter,
            exact,
            read_consistency,
            shard_key_selector,
            timeout: _,
        } = request;
        none!(read_consistency, shard_key_selector);
        if exact != Some(true) {
            return Err(unmodelled("an estimate"));
        }
        let count = {
            let engine = self.0.engine();
            let collection = engine.collection(&collection_name)?;
            if let Some(filter) = &filter {
                filter::check(filter, &collection.indexes, collection.is_strict(false))?;
            }
            collection.matching(filter.as_ref(), 0).count() as u64
        };
        self.after(fault).await?;
        Ok(Response::new(api::CountResponse {
            result: Some(api::CountResult { count }),
            ..Default::default()
        }))
    }

    async fn query(&self, request: Request<api::QueryPoints>) -> Answer<api::QueryResponse> {
        let (metadata, _, request) = request.into_parts();
        let fault = self.gate(Op::Query, &metadata).await?;
        let api::QueryPoints {
            collection_name,
            prefetch,
            query,
            using,
            filter,
            params,
            score_threshold,
            limit,
            offset,
            with_vectors,
            with_payload,
            read_consistency,
            shard_key_selector,
            lookup_from,
            timeout: _,
        } = request;
        none!(using, score_threshold, offset, read_consistency, shard_key_selector, lookup_from);
        if !prefetch.is_empty() {
            return Err(unmodelled("prefetch"));
        }
        if let Some(api::SearchParams { hnsw_ef: _, exact: _, quantization: _, indexed_only, acorn, idf }) =
            params
        {
            none!(indexed_only, acorn, idf);
        }
        if with_vectors_of(with_vectors.as_ref())? {
            return Err(unmodelled("with_vectors"));
        }
        let Some(api::query::Variant::Nearest(api::VectorInput {
            variant: Some(api::vector_input::Variant::Dense(vector)),
        })) = query.and_then(|query| query.variant)
        else {
            return Err(unmodelled("a query for anything but the nearest of a vector"));
        };
        let result = {
            let engine = self.0.engine();
            let collection = engine.collection(&collection_name)?;
            if let Some(filter) = &filter {
                filter::check(filter, &collection.indexes, collection.is_strict(false))?;
            }
            let found = collection.nearest(&vector.data, filter.as_ref(), limit.unwrap_or(10) as usize)?;
            let points = found.into_iter().map(|(score, id)| {
                let payload = chosen(&collection.points[&id].payload, with_payload.as_ref())?;
                Ok(api::ScoredPoint { id: Some(id.into()), payload, score, ..Default::default() })
            });
            points.collect::<Result<_, Status>>()?
        };
        self.after(fault).await?;
        Ok(Response::new(api::QueryResponse { result, ..Default::default() }))
    }

    not_modelled! {
        update_vectors(UpdatePointVectors) -> PointsOperationResponse;
        delete_vectors(DeletePointVectors) -> PointsOperationResponse;
        set_payload(SetPayloadPoints) -> PointsOperationResponse;
        overwrite_payload(SetPayloadPoints) -> PointsOperationResponse;
        delete_payload(DeletePayloadPoints) -> PointsOperationResponse;
        clear_payload(ClearPayloadPoints) -> PointsOperationResponse;
        delete_field_index(DeleteFieldIndexCollection) -> PointsOperationResponse;
        create_vector_name(CreateVectorNameRequest) -> PointsOperationResponse;
        delete_vector_name(DeleteVectorNameRequest) -> PointsOperationResponse;
        search(SearchPoints) -> SearchResponse;
        search_batch(SearchBatchPoints) -> SearchBatchResponse;
        search_groups(SearchPointGroups) -> SearchGroupsResponse;
        recommend(RecommendPoints) -> RecommendResponse;
        recommend_batch(RecommendBatchPoints) -> RecommendBatchResponse;
        recommend_groups(RecommendPointGroups) -> RecommendGroupsResponse;
        discover(DiscoverPoints) -> DiscoverResponse;
        discover_batch(DiscoverBatchPoints) -> DiscoverBatchResponse;
        update_batch(UpdateBatchPoints) -> UpdateBatchResponse;
        query_batch(QueryBatchPoints) -> QueryBatchResponse;
        query_groups(QueryPointGroups) -> QueryGroupsResponse;
        facet(FacetCounts) -> FacetResponse;
        search_matrix_pairs(SearchMatrixPoints) -> SearchMatrixPairsResponse;
        search_matrix_offsets(SearchMatrixPoints) -> SearchMatrixOffsetsResponse;
    }
}
