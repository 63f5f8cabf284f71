//! Which embedding models have vectors here, and which one is searched.

use memory_core::ports::ModelInfo;
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Row};

use crate::{Conn, Store, StoreError};

/// The row of the model that is searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveModel {
    pub model_id: i16,
    pub info: ModelInfo,
}

pub async fn active(conn: &mut Conn) -> Result<Option<ActiveModel>, StoreError> {
    let row = sqlx::query("select model_id, name, dimension from embedding_model where is_active")
        .fetch_optional(conn)
        .await?;
    row.as_ref().map(model_of).transpose()
}

pub(crate) fn model_of(row: &PgRow) -> Result<ActiveModel, StoreError> {
    Ok(ActiveModel {
        model_id: row.try_get("model_id")?,
        info: ModelInfo { id: row.try_get("name")?, dimension: row.try_get::<i32, _>("dimension")? as usize },
    })
}

/// The models that are not searched and may still have vectors.
pub async fn inactive(conn: &mut Conn) -> Result<Vec<ActiveModel>, StoreError> {
    let rows = sqlx::query(
        "select model_id, name, dimension from embedding_model where not is_active order by model_id",
    )
    .fetch_all(conn)
    .await?;
    rows.iter().map(model_of).collect()
}

/// Whether the model is still one whose vectors are stored.
pub async fn is_known(conn: &mut Conn, model_id: i16) -> Result<bool, StoreError> {
    Ok(sqlx::query_scalar("select exists (select from embedding_model where model_id = $1)")
        .bind(model_id)
        .fetch_one(conn)
        .await?)
}

impl Store {
    /// The model that is searched, if one ever was.
    pub async fn active_model(&self) -> Result<Option<ActiveModel>, StoreError> {
        active(&mut *self.acquire_across().await?).await
    }

    /// Makes the model the active one of a new store, or checks that it is the active one. Vectors of
    /// another model are never mixed with its own.
    pub async fn adopt_model(&self, model: &ModelInfo) -> Result<ActiveModel, StoreError> {
        let mut tx = self.begin_across().await?;
        sqlx::query("lock table embedding_model in share row exclusive mode").execute(&mut *tx).await?;
        if let Some(active) = active(&mut tx).await? {
            if active.info == *model {
                return Ok(active);
            }
            let has_vectors: bool =
                sqlx::query_scalar("select exists (select from passage_embedding where model_id = $1)")
                    .bind(active.model_id)
                    .fetch_one(&mut *tx)
                    .await?;
            if has_vectors {
                return Err(StoreError::ModelMismatch(format!(
                    "the stored vectors were made by {} ({} dimensions), but the model at hand is {} ({} dimensions); \
                     start with the model that the store was made with (--model-dir DIR), or have vectors made by another: \
                     `remembrancer reembed --model-dir DIR`",
                    active.info.id, active.info.dimension, model.id, model.dimension
                )));
            }
            sqlx::query("update embedding_model set is_active = false where is_active")
                .execute(&mut *tx)
                .await?;
        }
        let model_id: i16 = sqlx::query_scalar(
            "insert into embedding_model (name, dimension, is_active) values ($1, $2, true)
             on conflict (name) do update set is_active = true, dimension = excluded.dimension
             returning model_id",
        )
        .bind(&model.id)
        .bind(model.dimension as i32)
        .fetch_one(&mut *tx)
        .await?;
        // It has no vectors; an index of another dimension would refuse its first.
        for function in ["drop_vector_index", "create_vector_index"] {
            sqlx::query(AssertSqlSafe(format!("select {function}($1)")))
                .bind(model_id)
                .execute(&mut *tx)
                .await?;
        }
        let active = ActiveModel { model_id, info: model.clone() };
        tx.commit().await?;
        Ok(active)
    }
}

/// Name and definition of a model's index, as the function `create_vector_index` has it. It holds numbers of 16 bits: half the size, and the nearest by them are the
/// nearest; their places are then given by the vectors themselves.
pub(crate) fn index_definition(model: &ActiveModel) -> String {
    // The two numbers are ours, not a caller's: index definitions take no parameters.
    let ActiveModel { model_id, info: ModelInfo { dimension, .. } } = model;
    format!(
        "passage_embedding_hnsw_{model_id} on passage_embedding
         using hnsw ((embedding::halfvec({dimension})) halfvec_cosine_ops) with (m = 24, ef_construction = 128)
         where model_id = {model_id}"
    )
}
