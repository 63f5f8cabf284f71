//! briefing: what a session may begin with, without a question. What the user wants, what was promised, what was decided
//! and what was done last.

use futures::future::BoxFuture;
use jiff::Timestamp;
use memory_core::Invalid;
use memory_core::artifact::list;
use memory_core::id::Namespace;
use memory_store::latest;
pub use memory_store::latest::LatestText;
use memory_store::open_commitments::{self, OpenCommitment, OpenCommitments};
use memory_store::projects::{PROJECT_TAG, names_project};
use memory_store::search::Filters;

use crate::directives::Directive;
use crate::recall::{RecallDraft, RecallRequest, Recalled, SaidLater, Told};
use crate::{EngineError, Memory};

/// How many of each kind there are at most.
const DIRECTIVES_MAX: usize = 40;
const COMMITMENTS_MAX: usize = 6;
/// So many are read of each kind, so that those that have likely ended crowd out no others.
const COMMITMENTS_READ: i64 = 10;
const EVENTS_MAX: usize = 5;
/// So many are read, so that those that are less sure crowd out no others.
const EVENTS_READ: i64 = 15;
/// Of decisions and executions of real texts that are less sure than this two in five are right, of the others four.
const EVENT_CONFIDENCE_MIN: f32 = 0.45;
const TEXTS_MAX: i64 = 5;

/// An event in a briefing.
#[derive(Debug, Clone, PartialEq)]
pub struct BriefEvent {
    pub id: String,
    pub narrative: String,
    /// When it happened or was said.
    pub at: Timestamp,
    pub due: Option<Timestamp>,
    /// Of a commitment.
    pub said_later: Option<SaidLater>,
}

/// What a session may begin with.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Briefing {
    /// Those that hold in the project, and everywhere.
    pub directives: Vec<Directive>,
    /// How many there are of them, as far as they are read.
    pub directives_total: usize,
    /// Of the project and of none: what was due in the last 30 days, the latest first, and what is still open, by its due time.
    pub overdue: Vec<BriefEvent>,
    pub open: Vec<BriefEvent>,
    /// Those of both that are likely done or dropped.
    pub likely_ended: Vec<BriefEvent>,
    /// How many are overdue and open in all, likely ended or not.
    pub overdue_total: i64,
    pub open_total: i64,
    /// How many were due before that.
    pub long_overdue_total: i64,
    /// What was stored last under the tags.
    pub latest: Vec<LatestText>,
    /// What was surely decided and done last under the tags.
    pub decisions: Vec<BriefEvent>,
    pub done: Vec<BriefEvent>,
}

impl Memory {
    /// The briefing. Tags narrow what was decided, done and stored last. Those that name a project narrow what the user wants and
    /// what is open as well: to what was said in it and in no project.
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
                tags.iter().filter(|tag| names_project(tag)).map(|tag| tag.to_lowercase()).collect();
            let mut directives = self.holding_directives(ns, &projects).await?;
            directives.retain(|directive| directive.conversation_id.is_none());
            let directives_total = directives.len();
            directives.truncate(DIRECTIVES_MAX);
            let of = |category: &str| RecallDraft {
                categories: vec![category.to_owned()],
                ..listing(EVENTS_READ, tags.clone())
            };
            let commitments = self.open_commitments(ns, &projects).await?;
            let (mut likely_ended, mut overdue) = self.brief_commitments(ns, commitments.overdue).await?;
            let (of_open, mut open) = self.brief_commitments(ns, commitments.open).await?;
            likely_ended.extend(of_open);
            likely_ended.truncate(COMMITMENTS_MAX);
            overdue.truncate(COMMITMENTS_MAX);
            open.truncate(COMMITMENTS_MAX);
            Ok(Briefing {
                directives,
                directives_total,
                overdue,
                open,
                likely_ended,
                overdue_total: commitments.overdue_total,
                open_total: commitments.open_total,
                long_overdue_total: commitments.long_overdue_total,
                latest: self.latest_texts(ns, &tags).await?,
                decisions: self.brief_events(ns, of("Decision")).await?,
                done: self.brief_events(ns, of("Execution")).await?,
            })
        })
    }

    /// The first of a list that are sure.
    async fn brief_events(&self, ns: &Namespace, draft: RecallDraft) -> Result<Vec<BriefEvent>, EngineError> {
        let listed = self.recall(ns, &RecallRequest::new(draft)?).await?;
        Ok(listed.results.into_iter().filter_map(brief).take(EVENTS_MAX).collect())
    }

    /// Those that are likely done or dropped, and the others.
    async fn brief_commitments(
        &self,
        ns: &Namespace,
        commitments: Vec<OpenCommitment>,
    ) -> Result<(Vec<BriefEvent>, Vec<BriefEvent>), EngineError> {
        let told = commitments.iter().map(|it| Told {
            narrative: &it.narrative,
            artifact_id: &it.artifact_id,
            date: it.said_at,
            turn: it.turn.as_ref().map(|(conversation, turn)| (conversation.as_str(), *turn)),
            due: it.due,
        });
        let said_later = self.all_said_later(ns, &told.collect::<Vec<_>>()).await?;
        let brief = |(it, said_later): (OpenCommitment, Option<SaidLater>)| BriefEvent {
            id: it.event_id,
            narrative: it.narrative,
            at: it.at,
            due: it.due,
            said_later,
        };
        Ok(commitments.into_iter().zip(said_later).map(brief).partition(is_likely_ended))
    }

    async fn open_commitments(
        &self,
        ns: &Namespace,
        projects: &[String],
    ) -> Result<OpenCommitments, EngineError> {
        self.recovery
            .retry_transient(|| async {
                let mut conn = self.store.acquire(ns).await?;
                let (now, limit) = (Timestamp::now(), COMMITMENTS_READ);
                Ok(open_commitments::open_commitments(&mut conn, ns, projects, now, limit).await?)
            })
            .await
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
    let event = listed.hit.events.pop().filter(|event| event.confidence >= EVENT_CONFIDENCE_MIN)?;
    let at = event.event_time.unwrap_or(listed.hit.date);
    Some(BriefEvent { id: event.id, narrative: event.narrative, at, due: event.due_time, said_later: None })
}

fn is_likely_ended(event: &BriefEvent) -> bool {
    event.said_later.as_ref().is_some_and(|later| later.is_likely_end)
}

/// Tags of a project: the rule by which hooks and briefings name the same one.
pub fn project_tag(project: &str) -> Result<String, Invalid> {
    let project = project.trim();
    if project.is_empty() {
        return Err(Invalid::new("project is empty; name one, such as the name of the repository's folder"));
    }
    Ok(format!("{PROJECT_TAG}{project}"))
}
