//! briefing: what a session may begin with, without a question. What the user wants, what was promised, what was decided
//! and what was done last.

use futures::future::BoxFuture;
use jiff::Timestamp;
use memory_core::Invalid;
use memory_core::artifact::list;
use memory_core::id::Namespace;
use memory_store::latest;
pub use memory_store::latest::LatestText;
use memory_store::search::Filters;

use crate::directives::Directive;
use crate::recall::{RecallDraft, RecallRequest, Recalled};
use crate::{EngineError, Memory};

/// How many of each kind there are at most.
const DIRECTIVES_MAX: usize = 40;
const COMMITMENTS_MAX: i64 = 6;
const EVENTS_MAX: i64 = 5;
const TEXTS_MAX: i64 = 5;
/// How the tag of a project begins.
const PROJECT: &str = "project:";

/// An event in a briefing.
#[derive(Debug, Clone, PartialEq)]
pub struct BriefEvent {
    pub id: String,
    pub narrative: String,
    /// When it happened or was said.
    pub at: Timestamp,
    pub due: Option<Timestamp>,
}

/// What a session may begin with.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Briefing {
    /// Those that hold everywhere.
    pub directives: Vec<Directive>,
    /// How many there are of them, as far as they are read.
    pub directives_total: usize,
    /// Of the whole namespace: what is overdue, and what is still open, by its due time.
    pub overdue: Vec<BriefEvent>,
    pub open: Vec<BriefEvent>,
    /// How many there are of both in all.
    pub overdue_total: i64,
    pub open_total: i64,
    /// What was stored last under the tags.
    pub latest: Vec<LatestText>,
    /// What was decided and done last under the tags.
    pub decisions: Vec<BriefEvent>,
    pub done: Vec<BriefEvent>,
}

impl Memory {
    /// The briefing; tags narrow what was decided, done and stored last, not what is open. Of what the user wants, a project leaves
    /// out what others of their own are to be like.
    #[tracing::instrument(name = "briefing", skip_all, fields(%ns))]
    pub fn briefing<'a>(
        &'a self,
        ns: &'a Namespace,
        tags: Vec<String>,
    ) -> BoxFuture<'a, Result<Briefing, EngineError>> {
        Box::pin(async move {
            let tags = list("tags", tags)?;
            // A recall has connections of its own: one after the other, so that a briefing never has more than one has.
            let projects: Vec<String> =
                tags.iter().map(|tag| tag.to_lowercase()).filter(|tag| tag.starts_with(PROJECT)).collect();
            let mut directives = self.holding_directives(ns, &projects).await?;
            directives.retain(|directive| directive.conversation_id.is_none());
            let directives_total = directives.len();
            directives.truncate(DIRECTIVES_MAX);
            let commitments =
                |state| RecallDraft { state: Some(state), ..listing(COMMITMENTS_MAX, Vec::new()) };
            let of = |category: &str| RecallDraft {
                categories: vec![category.to_owned()],
                ..listing(EVENTS_MAX, tags.clone())
            };
            let (overdue, overdue_total) = self.brief_events(ns, commitments("overdue".to_owned())).await?;
            let (open, open_total) = self.brief_events(ns, commitments("open".to_owned())).await?;
            Ok(Briefing {
                directives,
                directives_total,
                overdue,
                open,
                overdue_total,
                open_total,
                latest: self.latest_texts(ns, &tags).await?,
                decisions: self.brief_events(ns, of("Decision")).await?.0,
                done: self.brief_events(ns, of("Execution")).await?.0,
            })
        })
    }

    /// The first of a list, and how many it has in all.
    async fn brief_events(
        &self,
        ns: &Namespace,
        draft: RecallDraft,
    ) -> Result<(Vec<BriefEvent>, i64), EngineError> {
        let request = RecallRequest::new(draft)?;
        let listed = self.recall(ns, &request).await?;
        let total = listed.total_events.unwrap_or_default();
        Ok((listed.results.into_iter().filter_map(brief).collect(), total))
    }

    async fn latest_texts(&self, ns: &Namespace, tags: &[String]) -> Result<Vec<LatestText>, EngineError> {
        let filters = Filters { tags: tags.to_vec(), ..Filters::default() };
        self.recovery
            .retry_transient(|| async {
                let mut conn = self.store.acquire(ns).await?;
                Ok(latest::latest_texts(&mut conn, ns, &filters, TEXTS_MAX).await?)
            })
            .await
    }
}

fn listing(limit: i64, tags: Vec<String>) -> RecallDraft {
    RecallDraft {
        limit: Some(limit),
        tags,
        expand: Some(false),
        include_entities: Some(false),
        ..RecallDraft::default()
    }
}

fn brief(mut listed: Recalled) -> Option<BriefEvent> {
    let event = listed.hit.events.pop()?;
    let at = event.event_time.unwrap_or(listed.hit.date);
    Some(BriefEvent { id: event.id, narrative: event.narrative, at, due: event.due_time })
}

/// Tags of a project: the rule by which hooks and briefings name the same one.
pub fn project_tag(project: &str) -> Result<String, Invalid> {
    let project = project.trim();
    if project.is_empty() {
        return Err(Invalid::new("project is empty; name one, such as the name of the repository's folder"));
    }
    Ok(format!("{PROJECT}{project}"))
}
