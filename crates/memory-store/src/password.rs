//! The one password of the installation, as a hash.

use crate::{Conn, StoreError, Tx};

pub async fn find(conn: &mut Conn) -> Result<Option<String>, StoreError> {
    Ok(sqlx::query_scalar("select hash from admin_password").fetch_optional(conn).await?)
}

pub async fn set(tx: &mut Tx, hash: &str) -> Result<(), StoreError> {
    sqlx::query(
        "insert into admin_password (hash) values ($1)
         on conflict (is_only) do update set hash = excluded.hash, set_at = now()",
    )
    .bind(hash)
    .execute(&mut **tx)
    .await?;
    Ok(())
}

/// Gives whether there was one.
pub async fn remove(tx: &mut Tx) -> Result<bool, StoreError> {
    Ok(sqlx::query("delete from admin_password").execute(&mut **tx).await?.rows_affected() > 0)
}
