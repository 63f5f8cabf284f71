//! Collections: made with their indexes, named by an alias, deleted.

use std::collections::BTreeMap;

use futures::future::BoxFuture;
use qdrant_client::qdrant::payload_index_params::IndexParams;
use qdrant_client::qdrant::quantization_config::Quantization as Method;
use qdrant_client::qdrant::{
    BinaryQuantization, BoolIndexParams, CreateAlias, CreateCollection, CreateFieldIndexCollection,
    DeleteAlias, DeleteCollection, Distance, FieldType, FloatIndexParams, HnswConfigDiff, IntegerIndexParams,
    KeywordIndexParams, Memory, PayloadIndexParams, QuantizationConfig, QuantizationType, ScalarQuantization,
    StrictModeConfig, UpdateStatus, VectorParams, VectorsConfig, vectors_config,
};

use super::Qdrant;
use super::payload::{INDEXES, Indexed};
use crate::vector::mirrors::Mirror;
use crate::vector::{IndexError, MirrorSettings, Quantization};

/// Links of a point in its tenant's graph.
const LINKS: u64 = 16;

/// What there is on the server, whichever client made it.
#[derive(Debug, Clone, Default)]
pub struct Collections {
    pub names: Vec<String>,
    /// Alias and collection.
    pub aliases: BTreeMap<String, String>,
}

impl Qdrant {
    /// All collections and aliases: also the proof that the key is right, which a health check is not.
    pub fn collections(&self) -> BoxFuture<'_, Result<Collections, IndexError>> {
        Box::pin(async move {
            let listed = self.call("", self.inner.client.list_collections()).await?;
            let aliases = self.call("", self.inner.client.list_aliases()).await?.aliases;
            Ok(Collections {
                names: listed.collections.into_iter().map(|collection| collection.name).collect(),
                aliases: aliases.into_iter().map(|alias| (alias.alias_name, alias.collection_name)).collect(),
            })
        })
    }

    /// Makes the collection and its indexes, as far as they are not there. The indexes come before the points: a filter over
    /// a field without one is refused.
    pub fn ensure_collection<'a>(&'a self, mirror: &'a Mirror) -> BoxFuture<'a, Result<(), IndexError>> {
        Box::pin(async move {
            let name = &mirror.collection;
            let exists = self.call(name, self.inner.client.collection_exists(name.as_str())).await?;
            if !exists {
                let request = definition(&self.inner.settings, mirror);
                match self.call(name, self.inner.client.create_collection(request)).await {
                    Ok(answer) if !answer.result => {
                        return Err(IndexError::Unavailable("the collection was not made".into()));
                    }
                    Ok(_) => {}
                    // Another worker was first.
                    Err(IndexError::Refused(reason)) if reason.contains("already exists") => {}
                    Err(error) => return Err(error),
                }
            }
            for (field, indexed) in INDEXES {
                let request = index(name, field, indexed);
                let answer = self.call(name, self.inner.client.create_field_index(request)).await?;
                if answer.result.map(|result| result.status()) != Some(UpdateStatus::Completed) {
                    return Err(IndexError::Unavailable(format!("the index over {field} was not made")));
                }
            }
            Ok(())
        })
    }

    /// From here on the alias names this collection; one step, also when it named another.
    pub fn point_alias<'a>(&'a self, mirror: &'a Mirror) -> BoxFuture<'a, Result<(), IndexError>> {
        Box::pin(async move {
            let request =
                CreateAlias { collection_name: mirror.collection.clone(), alias_name: mirror.alias.clone() };
            let answer = self.call(&mirror.collection, self.inner.client.create_alias(request)).await?;
            if answer.result {
                return Ok(());
            }
            Err(IndexError::Unavailable("the alias was not changed".into()))
        })
    }

    /// Deletes the collection, and the alias if it names it.
    pub fn delete_collection<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<(), IndexError>> {
        Box::pin(async move {
            let known = self.collections().await?;
            for alias in known.aliases.iter().filter(|(_, named)| *named == name).map(|(alias, _)| alias) {
                let request = DeleteAlias { alias_name: alias.clone() };
                self.call(name, self.inner.client.delete_alias(request)).await?;
            }
            if !known.names.iter().any(|known| known == name) {
                return Ok(());
            }
            let request = DeleteCollection {
                collection_name: name.to_owned(),
                timeout: Some(self.inner.times.call.as_secs().max(1)),
            };
            let answer = self.call(name, self.inner.client.delete_collection(request)).await?;
            if answer.result {
                return Ok(());
            }
            // So it is answered where nothing of the name is there.
            let left = self.collections().await?;
            if left.names.iter().any(|known| known == name) {
                return Err(IndexError::Unavailable("the collection was not deleted".into()));
            }
            Ok(())
        })
    }
}

#[allow(deprecated, reason = "servers up to 1.19 know only the older of two fields that say the same")]
fn definition(settings: &MirrorSettings, mirror: &Mirror) -> CreateCollection {
    let on_disk = settings.qdrant_on_disk;
    let quantization = match settings.qdrant_quantization {
        Quantization::None => None,
        Quantization::Scalar => Some(Method::Scalar(ScalarQuantization {
            r#type: QuantizationType::Int8.into(),
            quantile: Some(0.99),
            always_ram: Some(true),
            memory: Some(Memory::Pinned.into()),
        })),
        Quantization::Binary => Some(Method::Binary(BinaryQuantization {
            always_ram: Some(true),
            memory: Some(Memory::Pinned.into()),
            ..BinaryQuantization::default()
        })),
    };
    CreateCollection {
        collection_name: mirror.collection.clone(),
        vectors_config: Some(VectorsConfig {
            config: Some(vectors_config::Config::Params(VectorParams {
                size: mirror.dimension as u64,
                distance: Distance::Cosine.into(),
                on_disk: Some(on_disk),
                memory: on_disk.then_some(Memory::Cold.into()),
                ..VectorParams::default()
            })),
        }),
        // Every search is of one namespace: a graph for each, and none over all.
        hnsw_config: Some(HnswConfigDiff { m: Some(0), payload_m: Some(LINKS), ..HnswConfigDiff::default() }),
        shard_number: Some(settings.qdrant_shards),
        replication_factor: Some(settings.qdrant_replicas),
        write_consistency_factor: Some(settings.qdrant_write_consistency),
        quantization_config: quantization.map(|method| QuantizationConfig { quantization: Some(method) }),
        strict_mode_config: Some(StrictModeConfig {
            enabled: Some(true),
            unindexed_filtering_retrieve: Some(false),
            unindexed_filtering_update: Some(false),
            ..StrictModeConfig::default()
        }),
        timeout: Some(20),
        ..CreateCollection::default()
    }
}

fn index(collection: &str, field: &str, indexed: Indexed) -> CreateFieldIndexCollection {
    // Graphs are per namespace; other fields narrow the way through them.
    let enable_hnsw = Some(false);
    let (kind, params) = match indexed {
        Indexed::Tenant => (
            FieldType::Keyword,
            IndexParams::KeywordIndexParams(KeywordIndexParams {
                is_tenant: Some(true),
                ..KeywordIndexParams::default()
            }),
        ),
        Indexed::Keyword => (
            FieldType::Keyword,
            IndexParams::KeywordIndexParams(KeywordIndexParams {
                enable_hnsw,
                ..KeywordIndexParams::default()
            }),
        ),
        Indexed::Integer => (
            FieldType::Integer,
            IndexParams::IntegerIndexParams(IntegerIndexParams {
                lookup: Some(false),
                range: Some(true),
                enable_hnsw,
                ..IntegerIndexParams::default()
            }),
        ),
        Indexed::Float => (
            FieldType::Float,
            IndexParams::FloatIndexParams(FloatIndexParams { enable_hnsw, ..FloatIndexParams::default() }),
        ),
        Indexed::Bool => (
            FieldType::Bool,
            IndexParams::BoolIndexParams(BoolIndexParams { enable_hnsw, ..BoolIndexParams::default() }),
        ),
    };
    CreateFieldIndexCollection {
        collection_name: collection.to_owned(),
        wait: Some(true),
        field_name: field.to_owned(),
        field_type: Some(kind.into()),
        field_index_params: Some(PayloadIndexParams { index_params: Some(params) }),
        timeout: Some(20),
        ..CreateFieldIndexCollection::default()
    }
}
