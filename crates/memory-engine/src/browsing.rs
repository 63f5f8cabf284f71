//! Looking through the texts: a table by pages, the revisions of one, what goes with it, how the memory grew; and saying
//! something else of a text.

use std::sync::Arc;

use futures::future::BoxFuture;
use memory_core::Invalid;
use memory_core::artifact::NewArtifact;
use memory_core::chunk::chunk_text;
use memory_core::id::{ArtifactId, Namespace, RevisionId};
use memory_core::job::Priority;
use memory_store::hydration;
pub use memory_store::search::Filters;
use memory_store::talks;
use memory_store::texts::{self, TextKey};
pub use memory_store::texts::{
    COUNTED_MAX, Day, GoingAlong, LineRevision, ListedText, StoredText, TextOrder,
};

use crate::error::on_own_thread;
use crate::remember::{Incoming, Remembered, priority_of};
use crate::{EngineError, Memory};

/// The most texts of a page, and the most of one selection.
pub const PAGE_MAX: i64 = 200;
/// The most days that growth is shown for.
const DAYS_MAX: i32 = 3_650;

/// Which texts of a table are wanted.
#[derive(Debug, Clone)]
pub struct TextsWanted {
    pub filters: Filters,
    pub order: TextOrder,
    /// As the page before gave it.
    pub cursor: Option<String>,
    pub limit: i64,
}

/// A page of the table.
#[derive(Debug, Clone)]
pub struct TextPage {
    pub texts: Vec<ListedText>,
    pub next_cursor: Option<String>,
    /// Counted up to one more than [`COUNTED_MAX`].
    pub count: i64,
}

/// What is to be said of a text from now on; what is not given stays.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Amendment {
    /// Empty for none.
    pub title: Option<String>,
    pub tags: Option<Vec<String>>,
    pub add_tags: Vec<String>,
    pub importance: Option<f64>,
}

fn cursor_of(key: TextKey) -> String {
    format!("{}.{}", key.value, key.revision.0)
}

fn key_of(cursor: &str) -> Result<TextKey, Invalid> {
    let parsed = cursor.split_once('.').and_then(|(value, revision)| {
        Some(TextKey { value: value.parse().ok()?, revision: RevisionId(revision.parse().ok()?) })
    });
    parsed.ok_or_else(|| {
        let shown = memory_language::text::cut(cursor, 40);
        Invalid::new(format!("Invalid cursor '{shown}'. Leave it out to begin with the first page."))
    })
}

impl Memory {
    /// A page of texts, and how many there are.
    pub fn list_texts<'a>(
        &'a self,
        ns: &'a Namespace,
        wanted: &'a TextsWanted,
    ) -> BoxFuture<'a, Result<TextPage, EngineError>> {
        Box::pin(async move {
            let after = wanted.cursor.as_deref().map(key_of).transpose()?;
            let limit = wanted.limit.clamp(1, PAGE_MAX);
            let mut conn = self.store.acquire(ns).await?;
            let mut found =
                texts::list(&mut conn, ns, &wanted.filters, wanted.order, after, limit + 1).await?;
            let count = texts::count(&mut conn, ns, &wanted.filters).await?;
            let goes_on = found.len() as i64 > limit;
            found.truncate(limit as usize);
            let next_cursor = found.last().filter(|_| goes_on).map(|text| cursor_of(text.key));
            Ok(TextPage { texts: found, next_cursor, count })
        })
    }

    /// A text's revisions with those that they replaced and that replaced them, newest first.
    pub fn line_of<'a>(
        &'a self,
        ns: &'a Namespace,
        id: &'a ArtifactId,
    ) -> BoxFuture<'a, Result<Vec<LineRevision>, EngineError>> {
        Box::pin(async move { Ok(texts::line(&mut *self.store.acquire(ns).await?, ns, id).await?) })
    }

    /// What forgetting a text would take along.
    pub fn going_along<'a>(
        &'a self,
        ns: &'a Namespace,
        id: &'a ArtifactId,
    ) -> BoxFuture<'a, Result<GoingAlong, EngineError>> {
        Box::pin(async move { Ok(texts::going_along(&mut *self.store.acquire(ns).await?, ns, id).await?) })
    }

    /// A part of a text's content from a character on, and how many characters there are in all.
    pub fn text_part<'a>(
        &'a self,
        ns: &'a Namespace,
        id: &'a ArtifactId,
        from: usize,
        most: usize,
    ) -> BoxFuture<'a, Result<Option<(String, usize)>, EngineError>> {
        Box::pin(async move {
            let mut conn = self.store.acquire(ns).await?;
            Ok(hydration::content_page(&mut conn, ns, id, from.min(i32::MAX as usize - 1), most).await?)
        })
    }

    /// Whole texts with what is said of them, in the order given; those that are gone are left out.
    pub fn stored_texts<'a>(
        &'a self,
        ns: &'a Namespace,
        ids: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<StoredText>, EngineError>> {
        Box::pin(async move {
            let ids = &ids[..ids.len().min(PAGE_MAX as usize)];
            Ok(texts::stored(&mut *self.store.acquire(ns).await?, ns, ids).await?)
        })
    }

    /// What was written down day by day, for so many days.
    pub fn growth<'a>(
        &'a self,
        ns: &'a Namespace,
        days: i32,
    ) -> BoxFuture<'a, Result<Vec<Day>, EngineError>> {
        Box::pin(async move {
            let days = days.clamp(1, DAYS_MAX);
            Ok(texts::growth(&mut *self.store.acquire(ns).await?, ns, days).await?)
        })
    }

    /// Says something else of a text: at its newest place, and as if it had been remembered so. `None` where it is not there,
    /// or nowhere the latest.
    #[tracing::instrument(skip_all, fields(%ns))]
    pub fn amend<'a>(
        &'a self,
        ns: &'a Namespace,
        id: &'a ArtifactId,
        amendment: &'a Amendment,
    ) -> BoxFuture<'a, Result<Option<Remembered>, EngineError>> {
        Box::pin(async move {
            self.recovery
                .retry_transient(|| async {
                    let mut conn = self.store.acquire(ns).await?;
                    let Some((content, current)) = texts::current(&mut conn, ns, id).await? else {
                        return Ok(None);
                    };
                    let previous = match current.meta.turn() {
                        Some((conversation, turn)) => {
                            talks::previous_turn(&mut conn, ns, conversation, turn).await?
                        }
                        None => None,
                    };
                    drop(conn);
                    let mut meta = current.meta.clone();
                    amendment.apply(&mut meta)?;
                    meta.tags = self.with_endings(ns, meta.tags).await?;
                    let (content, chunked) = on_own_thread(move || {
                        let chunked = Arc::new(chunk_text(&content));
                        (content, chunked)
                    })
                    .await?;
                    let new = NewArtifact { content, hash: current.hash, meta: meta.clone() };
                    let priority = priority_of(Priority::Small, &chunked);
                    let incoming = Incoming {
                        new: &new,
                        chunked: &chunked,
                        previous,
                        priority,
                        directives: &[],
                        line: None,
                    };
                    Ok(Some(self.keep_current(ns, incoming, meta, current).await?))
                })
                .await
        })
    }
}

impl Amendment {
    fn apply(&self, meta: &mut memory_core::artifact::Metadata) -> Result<(), Invalid> {
        use memory_core::artifact::{field, list};
        if let Some(title) = &self.title {
            meta.title = field("title", Some(title.clone()))?;
        }
        if let Some(tags) = &self.tags {
            meta.tags = list("tags", tags.clone())?;
        }
        if !self.add_tags.is_empty() {
            let all = meta.tags.iter().chain(&self.add_tags).cloned().collect();
            meta.tags = list("tags", all)?;
        }
        match self.importance {
            Some(importance) if !(0.0..=1.0).contains(&importance) => {
                Err(Invalid::new(format!("Invalid importance {importance}. Use a number from 0.0 to 1.0.")))
            }
            Some(importance) => {
                meta.importance = importance as f32;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written_and_others_are_refused() {
        let key = TextKey { value: -5, revision: RevisionId(7) };
        assert_eq!(key_of(&cursor_of(key)).expect("a cursor"), key);
        for bad in ["", "7", "a.b", "1.2.3", "1."] {
            assert!(key_of(bad).expect_err("no cursor").0.contains("Invalid cursor"), "{bad}");
        }
    }
}
