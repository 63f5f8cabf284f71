//! pgvector as a vector index: the search that Postgres makes by itself.

use async_trait::async_trait;
use memory_core::id::PassageId;

use super::{IndexError, Near, VectorIndex, Wanted, check, in_order};
use crate::search::{QueryVector, candidates};
use crate::{Store, StoreError};

/// Searches where the vectors are.
#[derive(Debug, Clone)]
pub struct PgVector {
    store: Store,
}

impl PgVector {
    pub fn new(store: Store) -> Self {
        Self { store }
    }
}

#[async_trait]
impl VectorIndex for PgVector {
    fn name(&self) -> &'static str {
        "pgvector"
    }

    async fn nearest(&self, wanted: Wanted<'_>) -> Result<Vec<Near>, IndexError> {
        check(wanted.vector, wanted.model.info.dimension)?;
        let away = |error: StoreError| IndexError::Unavailable(error.to_string());
        let mut conn = self.store.acquire().await.map_err(away)?;
        let query = QueryVector {
            model: wanted.model,
            vector: wanted.vector.to_vec(),
            nearest: wanted.limit,
            with_states: false,
            mirrored: None,
        };
        let found = candidates(&mut conn, wanted.ns, wanted.scope, &[], Some(query)).await.map_err(away)?;
        let near = found.into_iter().filter_map(|candidate| {
            Some(Near { passage_id: PassageId(candidate.passage_id.0), cosine: candidate.cosine? })
        });
        Ok(in_order(near.collect()))
    }
}
