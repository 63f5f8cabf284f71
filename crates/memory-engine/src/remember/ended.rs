//! Commitments that a text is said to end: what its tags `done:evt_…` and `cancelled:evt_…` name must be one. The database keeps
//! what ends by them (`told_ending`).

use memory_core::Invalid;
use memory_core::artifact::Metadata;
use memory_core::event::Category;
use memory_core::id::Namespace;
use memory_store::hydration;

use crate::{EngineError, Memory};

impl Memory {
    pub(super) async fn check_ended(&self, ns: &Namespace, meta: &Metadata) -> Result<(), EngineError> {
        let ended: Vec<(&String, String)> = meta.ended_commitments().collect();
        if ended.is_empty() {
            return Ok(());
        }
        let ids: Vec<String> = ended.iter().map(|(_, id)| id.clone()).collect();
        let mut conn = self.store.acquire(ns).await?;
        let found = hydration::events(&mut conn, ns, &ids).await?;
        conn.done();
        for (tag, id) in &ended {
            let category = found.iter().find(|event| event.id == *id).map(|event| event.category.as_str());
            if category == Some(Category::Commitment.as_str()) {
                continue;
            }
            let is = match category {
                Some(category) => {
                    format!("{id} is of category {category}, and only a commitment can be done or cancelled")
                }
                None => format!("there is no commitment {id}"),
            };
            let advice =
                "The ids of commitments are in the results of recall with state=open or state=overdue";
            return Err(Invalid::new(format!("Invalid tags '{tag}': {is}. {advice}.")).into());
        }
        Ok(())
    }
}
