//! Commitments that a text is said to end, by its tags `done:evt_…` and `cancelled:evt_…`. The ids of events are made anew when a text
//! is read again otherwise, or imported: the tags are kept with the text and the characters that tell the commitment
//! (`done:art_…#120-171`), and what ends by them is in `told_ending`.

use memory_core::Invalid;
use memory_core::event::{Category, StoredEvent};
use memory_core::id::Namespace;
use memory_store::hydration;

use crate::{EngineError, Memory};

/// What these tags begin with, in small letters.
const ENDING_TAGS: [&str; 2] = ["done:", "cancelled:"];

impl Memory {
    /// The tags as they are kept. Refuses those that name what is no commitment.
    pub(crate) async fn with_commitments(
        &self,
        ns: &Namespace,
        tags: Vec<String>,
    ) -> Result<Vec<String>, EngineError> {
        let ids: Vec<String> = tags.iter().filter_map(|tag| Some(ended(tag)?.1)).collect();
        if ids.is_empty() {
            return Ok(tags);
        }
        let find = || async {
            let mut conn = self.store.acquire(ns).await?;
            let found = hydration::events(&mut conn, ns, &ids).await?;
            conn.done();
            Ok(found)
        };
        let found = self.recovery.retry_transient(find).await?;
        Ok(tags.into_iter().map(|tag| kept(tag, &found)).collect::<Result<_, _>>()?)
    }
}

/// How a tag says that a commitment is ended, and the id that it names.
fn ended(tag: &str) -> Option<(&'static str, String)> {
    let lower = tag.to_ascii_lowercase();
    let (how, id) = ENDING_TAGS.iter().find_map(|how| Some((*how, lower.strip_prefix(how)?)))?;
    id.starts_with("evt_").then(|| (how, id.to_owned()))
}

fn kept(tag: String, found: &[StoredEvent]) -> Result<String, Invalid> {
    let Some((how, id)) = ended(&tag) else { return Ok(tag) };
    let event = found.iter().find(|event| event.id == id);
    let is = match event {
        None => format!("there is no commitment {id}"),
        Some(event) if event.category != Category::Commitment.as_str() => {
            format!("{id} is of category {}, and only a commitment can be done or cancelled", event.category)
        }
        Some(event) => match event.evidence.first() {
            Some(at) => return Ok(format!("{how}{}#{}-{}", at.artifact_id, at.start_char, at.end_char)),
            None => format!("nothing tells {id} any more"),
        },
    };
    let advice = "The ids of commitments are in the results of recall with state=open or state=overdue";
    Err(Invalid::new(format!("Invalid tags '{tag}': {is}. {advice}.")))
}
