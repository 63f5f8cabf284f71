//! pgvector as a vector index: the search that Postgres makes by itself.

use async_trait::async_trait;

use super::{IndexError, Near, VectorIndex, Wanted, check, in_order};
use crate::search::{self, Breadth, QueryVector};
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
        let query = QueryVector { model: wanted.model, vector: wanted.vector };
        let breadth = Breadth::of_passages(wanted.limit);
        let found = search::nearest(&mut conn, wanted.ns, wanted.scope, query, breadth, None).await;
        let near = found.map_err(away)?.into_iter().map(|(passage_id, cosine)| Near { passage_id, cosine });
        Ok(in_order(near.collect()))
    }
}
