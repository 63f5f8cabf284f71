//! The stand-in's calls about other than points: collections, their aliases, and its health.

use std::future::Future;
use std::pin::Pin;

use qdrant_client::qdrant::alias_operations::Action;
use qdrant_client::qdrant::{self as api, collections_server, qdrant_server};
use tonic::{Request, Response, Status};

use super::filter::unmodelled;
use super::services::{Answer, Service, none, not_modelled};
use super::{Fault, Op};

impl Service {
    async fn done(&self, fault: Option<Fault>, result: bool) -> Answer<api::CollectionOperationResponse> {
        self.after(fault).await?;
        Ok(Response::new(api::CollectionOperationResponse { result, time: 0.0 }))
    }
}

#[tonic::async_trait]
impl collections_server::Collections for Service {
    async fn list(
        &self,
        request: Request<api::ListCollectionsRequest>,
    ) -> Answer<api::ListCollectionsResponse> {
        let fault = self.gate(Op::Admin, request.metadata()).await?;
        let names: Vec<String> = self.0.engine().collections.keys().cloned().collect();
        self.after(fault).await?;
        let collections = names.into_iter().map(|name| api::CollectionDescription { name }).collect();
        Ok(Response::new(api::ListCollectionsResponse { collections, time: 0.0 }))
    }

    async fn create(
        &self,
        request: Request<api::CreateCollection>,
    ) -> Answer<api::CollectionOperationResponse> {
        let (metadata, _, request) = request.into_parts();
        let fault = self.gate(Op::Admin, &metadata).await?;
        let api::CreateCollection { sharding_method, sparse_vectors_config, payload, id_tracker, .. } =
            &request;
        none!(sharding_method, sparse_vectors_config, payload, id_tracker);
        self.0.engine().create(request)?;
        self.done(fault, true).await
    }

    async fn delete(
        &self,
        request: Request<api::DeleteCollection>,
    ) -> Answer<api::CollectionOperationResponse> {
        let (metadata, _, request) = request.into_parts();
        let fault = self.gate(Op::Admin, &metadata).await?;
        // An alias, or what is not there, is no error.
        let removed = {
            let mut engine = self.0.engine();
            let removed = engine.collections.remove(&request.collection_name).is_some();
            engine.aliases.retain(|_, named| *named != request.collection_name);
            removed
        };
        self.done(fault, removed).await
    }

    async fn update_aliases(
        &self,
        request: Request<api::ChangeAliases>,
    ) -> Answer<api::CollectionOperationResponse> {
        let (metadata, _, request) = request.into_parts();
        let fault = self.gate(Op::Admin, &metadata).await?;
        {
            let mut engine = self.0.engine();
            for action in request.actions.into_iter().filter_map(|action| action.action) {
                match action {
                    Action::CreateAlias(alias) => {
                        if !engine.collections.contains_key(&alias.collection_name) {
                            return Err(Status::not_found("Not found: Collection doesn't exist!"));
                        }
                        if engine.collections.contains_key(&alias.alias_name) {
                            return Err(Status::invalid_argument("Wrong input: Collection already exists!"));
                        }
                        engine.aliases.insert(alias.alias_name, alias.collection_name);
                    }
                    Action::DeleteAlias(alias) => {
                        engine.aliases.remove(&alias.alias_name);
                    }
                    Action::RenameAlias(_) => return Err(unmodelled("renaming an alias")),
                }
            }
        }
        self.done(fault, true).await
    }

    async fn list_aliases(
        &self,
        request: Request<api::ListAliasesRequest>,
    ) -> Answer<api::ListAliasesResponse> {
        let fault = self.gate(Op::Admin, request.metadata()).await?;
        let known = self.0.engine().aliases.clone();
        self.after(fault).await?;
        let aliases = known
            .into_iter()
            .map(|(alias_name, collection_name)| api::AliasDescription { alias_name, collection_name });
        Ok(Response::new(api::ListAliasesResponse { aliases: aliases.collect(), time: 0.0 }))
    }

    async fn collection_exists(
        &self,
        request: Request<api::CollectionExistsRequest>,
    ) -> Answer<api::CollectionExistsResponse> {
        let (metadata, _, request) = request.into_parts();
        let fault = self.gate(Op::Admin, &metadata).await?;
        // True for aliases as well.
        let exists = self.0.engine().resolve(&request.collection_name).is_ok();
        self.after(fault).await?;
        let result = Some(api::CollectionExists { exists });
        Ok(Response::new(api::CollectionExistsResponse { result, time: 0.0 }))
    }

    not_modelled! {
        get(GetCollectionInfoRequest) -> GetCollectionInfoResponse;
        update(UpdateCollection) -> CollectionOperationResponse;
        list_collection_aliases(ListCollectionAliasesRequest) -> ListAliasesResponse;
        collection_cluster_info(CollectionClusterInfoRequest) -> CollectionClusterInfoResponse;
        update_collection_cluster_setup(UpdateCollectionClusterSetupRequest) -> UpdateCollectionClusterSetupResponse;
        create_shard_key(CreateShardKeyRequest) -> CreateShardKeyResponse;
        delete_shard_key(DeleteShardKeyRequest) -> DeleteShardKeyResponse;
        list_shard_keys(ListShardKeysRequest) -> ListShardKeysResponse;
    }
}

#[tonic::async_trait]
impl qdrant_server::Qdrant for Service {
    /// Answers without a key, as the real one does.
    async fn health_check(&self, _: Request<api::HealthCheckRequest>) -> Answer<api::HealthCheckReply> {
        Ok(Response::new(api::HealthCheckReply {
            title: "stand-in".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: None,
        }))
    }
}
