//! All namespaces of a database at one moment.

use std::collections::BTreeMap;

use memory_core::id::Namespace;
use memory_store::inventory::{self, Described};
use memory_store::{Store, Tx};
use tokio::io::AsyncWrite;

use super::{ArchiveExported, export};
use crate::EngineError;
use crate::progress::unreported;

/// One state of a database, for as long as this value exists.
pub struct Whole(Tx);

impl Whole {
    pub async fn of(store: &Store) -> Result<Self, EngineError> {
        let mut tx = store.begin_snapshot().await?;
        tx.allow_pauses().await?;
        Ok(Self(tx))
    }

    pub async fn describe(&mut self) -> Result<Described, EngineError> {
        Ok(inventory::describe(&mut self.0).await?)
    }

    /// How many rows each table has.
    pub async fn count_rows(&mut self) -> Result<BTreeMap<String, i64>, EngineError> {
        Ok(inventory::count_rows(&mut self.0).await?)
    }

    /// Every namespace that has anything.
    pub async fn namespaces(&mut self) -> Result<Vec<Namespace>, EngineError> {
        Ok(inventory::namespaces(&mut self.0).await?)
    }

    /// Writes the archive of a namespace, with what was extracted.
    pub async fn export(
        &mut self,
        ns: &Namespace,
        out: &mut (impl AsyncWrite + Unpin),
    ) -> Result<ArchiveExported, EngineError> {
        export::export(&mut self.0, ns, true, out, &unreported).await
    }
}
