//! All namespaces of a database at one moment.

use std::collections::BTreeMap;

use futures::future::BoxFuture;
use memory_core::id::Namespace;
use memory_store::inventory::{self, Described};
use memory_store::{Store, Tx};

use super::{ArchiveExported, export};
use crate::EngineError;
use crate::progress::unreported;
use crate::streams::Output;

/// One state of a database, for as long as this value exists.
pub struct Whole(Tx);

impl Whole {
    pub fn of(store: &Store) -> BoxFuture<'_, Result<Self, EngineError>> {
        Box::pin(async move {
            let mut tx = store.begin_snapshot_across().await?;
            tx.allow_pauses().await?;
            Ok(Self(tx))
        })
    }

    pub fn describe(&mut self) -> BoxFuture<'_, Result<Described, EngineError>> {
        Box::pin(async move { Ok(inventory::describe(&mut self.0).await?) })
    }

    /// How many rows each table has.
    pub fn count_rows(&mut self) -> BoxFuture<'_, Result<BTreeMap<String, i64>, EngineError>> {
        Box::pin(async move { Ok(inventory::count_rows(&mut self.0).await?) })
    }

    /// Every namespace that has anything.
    pub fn namespaces(&mut self) -> BoxFuture<'_, Result<Vec<Namespace>, EngineError>> {
        Box::pin(async move { Ok(inventory::namespaces(&mut self.0).await?) })
    }

    /// Writes the archive of a namespace, with what was extracted.
    pub fn export<'a>(
        &'a mut self,
        ns: &'a Namespace,
        out: Output<'a>,
    ) -> BoxFuture<'a, Result<ArchiveExported, EngineError>> {
        Box::pin(async move { export::export(&mut self.0, ns, true, out, &unreported).await })
    }
}
