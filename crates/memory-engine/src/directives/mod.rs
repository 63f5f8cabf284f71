//! Directives: found when a text is stored, compared with those that are there, and chosen for a question.

mod replaced;
mod vectors;

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use memory_core::directive::{
    AROUND_CHARS, Candidate, Chosen, Gist, Judged, choose, find_directives, find_judged_directives,
    has_ended, is_about_user, is_limit, may_be_borne_on, only_takes_back, sentence_of, sentences_to_judge,
};
use memory_core::id::{Namespace, RevisionId};
use memory_core::job::{JobKind, Priority};
use memory_core::ports::{Embedded, SentenceLogits, TextEncoder};
use memory_language::text::CharSpan;
use memory_store::directives::{self, Around, ComparedDirective, NewDirective, StoredDirective, Wanted};
use memory_store::events::Source;
use memory_store::models::ActiveModel;
use memory_store::projects::names_project;
use memory_store::search::{Filters, QueryVector};
use memory_store::{Conn, StoreError, Tx, jobs};

pub(crate) use self::replaced::Earlier;
pub(crate) use self::vectors::{embed_missing, with_vectors};
use crate::error::on_own_thread;
use crate::recall::{Ranked, RecallRequest};
use crate::{EngineError, Memory};

/// With how many of the newest of its namespace a new one is compared.
const COMPARED_MAX: i64 = 500;
/// How many that hold are read for a question; the most like it.
const READ_MAX: i64 = 60;
/// How many a session may begin with.
const STANDING_MAX: usize = 20;
/// Sentences that end behind so many bytes of a text are not judged by the encoder: rules and words have to do.
const JUDGED_MAX_BYTES: usize = 1_000_000;

/// A standing instruction or preference of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directive {
    pub artifact_id: String,
    /// The artifact's content at the span.
    pub quote: String,
    pub span: CharSpan,
    /// The sentence that it stands in, where that says more.
    pub sentence: Option<String>,
    pub condition: Option<String>,
    /// The conversation that it holds in, where it does not hold everywhere.
    pub conversation_id: Option<String>,
    pub since: Timestamp,
}

impl From<StoredDirective> for Directive {
    fn from(stored: StoredDirective) -> Self {
        Self {
            artifact_id: stored.artifact_id,
            quote: stored.quote,
            span: stored.span,
            sentence: None,
            condition: stored.condition,
            conversation_id: stored.conversation_id,
            since: stored.since,
        }
    }
}

/// Writes the directives of a revision, and which others they take the place of or are replaced by.
pub(crate) async fn put(
    tx: &mut Tx,
    ns: &Namespace,
    revision_id: RevisionId,
    new: &[NewDirective],
) -> Result<(), StoreError> {
    let ids = directives::put(tx, ns, revision_id, new).await?;
    if ids.is_empty() {
        return Ok(());
    }
    let all = directives::compared(tx, ns, revision_id, COMPARED_MAX).await?;
    directives::set_replacements(tx, ns, &ids, &replacements(&all, revision_id, new)).await?;
    Ok(())
}

/// The pairs of an earlier and a later directive, one of them of the revision, in which the later takes the place.
fn replacements(all: &[ComparedDirective], revision_id: RevisionId, new: &[NewDirective]) -> Vec<(i64, i64)> {
    let is_judged = |earlier: &ComparedDirective, later: &ComparedDirective| {
        let mut stated = new.iter().filter(|new| new.found.span.start == later.start_char);
        later.revision_id == revision_id
            && stated.any(|stated| stated.replaces.contains(&earlier.directive_id))
    };
    let gist = |directive: &ComparedDirective| {
        Gist::new(&directive.quote, directive.condition.as_deref(), directive.is_permission)
    };
    let with_gists: Vec<(&ComparedDirective, Gist)> = all.iter().map(|it| (it, gist(it))).collect();
    let mut pairs = Vec::new();
    for (own, own_gist) in with_gists.iter().filter(|(it, _)| it.revision_id == revision_id) {
        for (other, other_gist) in &with_gists {
            let (earlier, later) = match order(own, other) {
                Ordering::Greater => ((other, other_gist), (own, own_gist)),
                Ordering::Less => ((own, own_gist), (other, other_gist)),
                Ordering::Equal => continue,
            };
            // What holds in one conversation changes nothing elsewhere.
            let is_elsewhere = later.0.in_conversation
                && (!earlier.0.in_conversation || earlier.0.conversation_id != later.0.conversation_id);
            let is_of_circumstance = earlier.0.is_circumstance || later.0.is_circumstance;
            let is_replaced = if is_of_circumstance {
                is_judged(earlier.0, later.0)
            } else if earlier.0.revision_id == later.0.revision_id {
                later.1.replaces_within_text(earlier.1)
            } else {
                later.1.replaces(earlier.1) || is_judged(earlier.0, later.0)
            };
            let is_of_another =
                !later.0.is_general && holds_only_there(&later.0.projects, &earlier.0.projects);
            if !is_elsewhere && !is_of_another && is_replaced {
                pairs.push((earlier.0.directive_id, later.0.directive_id));
            }
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// Whether what was said of projects does not hold where the other was said: in another, or in all.
fn holds_only_there(projects: &[String], others: &[String]) -> bool {
    !projects.is_empty() && !projects.iter().any(|project| others.contains(project))
}

/// Which of two was said later.
fn order(one: &ComparedDirective, other: &ComparedDirective) -> Ordering {
    let turns = if one.conversation_id.is_some() && one.conversation_id == other.conversation_id {
        one.turn_index.cmp(&other.turn_index)
    } else {
        Ordering::Equal
    };
    one.said_at
        .cmp(&other.said_at)
        .then(turns)
        .then(one.revision_id.cmp(&other.revision_id))
        .then(one.start_char.cmp(&other.start_char))
}

/// What revisions state.
pub(crate) type Stated = Vec<(RevisionId, Vec<NewDirective>)>;

/// What the unread sources of an extraction state and which earlier directives that ends, as the text encoder judges where there is
/// one.
pub(crate) async fn of_sources(
    sources: &[Source],
    encoder: Option<Arc<dyn TextEncoder>>,
    earlier: &Earlier,
) -> Result<Stated, EngineError> {
    let mut stated = Stated::new();
    for source in sources.iter().filter(|source| source.unread) {
        let judged = match &encoder {
            Some(encoder) => judged(encoder, source).await,
            None => None,
        };
        let found = found(source, judged).await?;
        let new = match &encoder {
            Some(encoder) => earlier.held_against(encoder, source, found).await?,
            None => found.directives.into_iter().map(NewDirective::from).collect(),
        };
        stated.push((source.revision_id, new));
    }
    Ok(stated)
}

/// What a source states; where the encoder has not judged it, as far as rules and words tell.
async fn found(source: &Source, judged: Option<Vec<SentenceLogits>>) -> Result<Judged, EngineError> {
    let (content, meta) = (source.content.clone(), source.meta.clone());
    on_own_thread(move || match judged {
        Some(judged) => find_judged_directives(&content, &meta, &judged),
        None => Judged { directives: find_directives(&content, &meta), ..Judged::default() },
    })
    .await
}

/// What the text encoder says of the sentences of a source. Where it fails rules and words have to do.
async fn judged(encoder: &Arc<dyn TextEncoder>, source: &Source) -> Option<Vec<SentenceLogits>> {
    let sentences = sentences_to_judge(&source.content, &source.meta);
    if sentences.is_empty() {
        return None;
    }
    let bytes = sentences.into_iter().map(|sentence| sentence.bytes);
    let bytes = bytes.take_while(|bytes| bytes.end <= JUDGED_MAX_BYTES).collect();
    let judged = encoder.directive_logits(source.content.as_str().into(), bytes).await;
    judged.inspect_err(|error| tracing::warn!(%error, "directives are found without the encoder")).ok()
}

/// Writes what revisions state; the vectors of what is new come by jobs.
pub(crate) async fn put_all(
    tx: &mut Tx,
    ns: &Namespace,
    stated: Stated,
    priority: Priority,
) -> Result<(), StoreError> {
    let (with, without): (Vec<_>, Vec<_>) = stated.into_iter().partition(|(_, new)| !new.is_empty());
    if !without.is_empty() {
        let revisions: Vec<RevisionId> = without.into_iter().map(|(id, _)| id).collect();
        directives::clear(tx, ns, &revisions).await?;
    }
    for (revision_id, new) in with {
        if !directives::lock_revision(tx, ns, revision_id).await? {
            continue;
        }
        put(tx, ns, revision_id, &new).await?;
        if directives::lacks_vectors(tx, ns, revision_id).await? {
            jobs::queue(tx, ns, JobKind::Embed, revision_id, priority).await?;
        }
    }
    Ok(())
}

/// What a question is known by.
pub(crate) struct QuestionRead<'a> {
    pub(crate) text: &'a str,
    pub(crate) embedded: Option<&'a (Arc<Embedded>, ActiveModel)>,
    /// By which directives are near that bear on it, where they are looked for by that.
    pub(crate) bearing: Option<(i16, Arc<Embedded>)>,
    /// The revisions that were found, with the similarity of their passages.
    pub(crate) found: Vec<(RevisionId, f32)>,
}

impl<'a> QuestionRead<'a> {
    pub(crate) fn new(
        text: &'a str,
        embedded: Option<&'a (Arc<Embedded>, ActiveModel)>,
        bearing: Option<(i16, Arc<Embedded>)>,
        ranked: &[Ranked],
    ) -> Self {
        let similarity = |ranked: &Ranked| Some((ranked.revision_id, ranked.explanation.vector?.score));
        Self { text, embedded, bearing, found: ranked.iter().filter_map(similarity).collect() }
    }
}

/// A directive that bears on a question, and where it stands.
pub(crate) struct Bearing {
    pub(crate) directive: Directive,
    pub(crate) revision_id: RevisionId,
    /// What stands there answers the question as well as any other text does.
    pub(crate) is_answer: bool,
}

/// Whether it holds in projects, which are named by their tags, in upper or lower case: what was said in another one holds there, unless
/// it is about answers as such or about the user ("I prefer window seats").
fn holds_in(projects: &[String], directive: &StoredDirective) -> bool {
    let is_here = |tag: &String| projects.iter().any(|named| named.to_lowercase() == *tag);
    projects.is_empty()
        || directive.projects.is_empty()
        || directive.projects.iter().any(is_here)
        || directive.is_general
        || is_about_user(&directive.quote)
}

impl Memory {
    /// The vector of a question by which directives bear on it, unless what it asks for is changed by none.
    pub(crate) async fn embedded_for_bearing(&self, question: &str) -> Option<(i16, Arc<Embedded>)> {
        if may_be_borne_on(question) { self.model.embed_request(question).await } else { None }
    }

    /// The directives that bear on a question, best first.
    pub(crate) async fn directives(
        &self,
        conn: &mut Conn,
        ns: &Namespace,
        request: &RecallRequest,
        question: QuestionRead<'_>,
    ) -> Result<Vec<Bearing>, EngineError> {
        // What was said in no project holds in each.
        let (projects, tags): (Vec<String>, Vec<String>) =
            request.filters.tags.iter().cloned().partition(|tag| names_project(tag));
        let is_here =
            |it: &StoredDirective| projects.iter().all(|tag| it.projects.contains(&tag.to_lowercase()));
        let filters = Filters { tags, include_superseded: false, ..request.filters.clone() };
        let query =
            question.embedded.map(|(embedded, model)| QueryVector { model, vector: &embedded.vector });
        let bearing = question.bearing.as_ref().map(|(version, made)| (*version, made.vector.as_slice()));
        let (found, projects) = (&*question.found, &*projects);
        let wanted = Wanted { filters: &filters, query, bearing, found, limit: READ_MAX, projects };
        let mut stored = holding(conn, ns, wanted).await?;
        stored.retain(|it| holds_in(projects, it));
        let candidates: Vec<Candidate<'_>> = stored.iter().map(candidate).collect();
        let chosen = choose(question.text, &candidates);
        let shown: Vec<i64> = chosen.iter().map(|chosen| stored[chosen.at].directive_id).collect();
        let sentences = sentences(conn, ns, &shown).await?;
        let mut stored: Vec<Option<StoredDirective>> = stored.into_iter().map(Some).collect();
        let bearing = |chosen: Chosen| {
            let stored = stored[chosen.at].take()?;
            // What was said elsewhere is no result under the filters.
            let (revision_id, is_answer) = (stored.revision_id, chosen.is_answer && is_here(&stored));
            let sentence = sentences.get(&stored.directive_id).cloned();
            let directive = Directive { sentence, ..stored.into() };
            Some(Bearing { directive, revision_id, is_answer })
        };
        Ok(chosen.into_iter().filter_map(bearing).collect())
    }

    /// The directives that a session may begin with, of those that hold.
    pub async fn standing_directives(&self, ns: &Namespace) -> Result<Vec<Directive>, EngineError> {
        let mut directives = self.holding_directives(ns, &[]).await?;
        directives.truncate(STANDING_MAX);
        Ok(directives)
    }

    /// The directives that hold: those about answers as such, then what must not be, then the others, each time the newest first.
    /// Where projects are given, by their tags in small letters, theirs come before the others, and what was said in another is left out
    /// unless it is about answers or the user.
    pub(crate) async fn holding_directives(
        &self,
        ns: &Namespace,
        projects: &[String],
    ) -> Result<Vec<Directive>, EngineError> {
        self.recovery
            .retry_transient(|| async {
                let filters = Filters::default();
                let wanted = Wanted {
                    filters: &filters,
                    query: None,
                    bearing: None,
                    found: &[],
                    limit: READ_MAX,
                    projects,
                };
                let mut conn = self.store.acquire(ns).await?;
                let mut stored = holding(&mut conn, ns, wanted).await?;
                let is_here = |it: &StoredDirective| it.projects.iter().any(|tag| projects.contains(tag));
                stored.retain(|it| holds_in(projects, it));
                // What is about answers as such comes first; what repeats an earlier one is not there twice.
                stored.sort_by_key(|it| (!it.is_general, !is_here(it), !is_limit(&it.quote)));
                let all: Vec<i64> = stored.iter().map(|it| it.directive_id).collect();
                let sentences = sentences(&mut conn, ns, &all).await?;
                let mut shown: Vec<(Directive, Gist)> = Vec::new();
                for directive in stored {
                    let candidate = candidate(&directive);
                    let gist = Gist::new(candidate.quote, candidate.condition, candidate.is_permission);
                    if !shown.iter().any(|(_, it)| it.repeats(&gist)) {
                        let sentence = sentences.get(&directive.directive_id).cloned();
                        shown.push((Directive { sentence, ..directive.into() }, gist));
                    }
                }
                Ok(shown.into_iter().map(|(directive, _)| directive).collect())
            })
            .await
    }
}

/// Those that hold, without what says of itself that it is over by now, and without what only took something back: that is gone.
async fn holding(
    conn: &mut Conn,
    ns: &Namespace,
    wanted: Wanted<'_>,
) -> Result<Vec<StoredDirective>, StoreError> {
    let mut stored = directives::holding(conn, ns, wanted).await?;
    let now = Timestamp::now();
    let says_nothing = |it: &StoredDirective| only_takes_back(&it.quote, it.is_permission);
    stored.retain(|it| !has_ended(&it.quote, it.since, now) && !says_nothing(it));
    Ok(stored)
}

/// The sentences that directives stand in, where these say more, by their numbers.
async fn sentences(conn: &mut Conn, ns: &Namespace, of: &[i64]) -> Result<HashMap<i64, String>, StoreError> {
    if of.is_empty() {
        return Ok(HashMap::new());
    }
    let around = directives::around(conn, ns, of, AROUND_CHARS as i32).await?;
    let sentence = |(id, it): (i64, Around)| {
        let sentence = sentence_of(&it.excerpt, it.span, &it.others)?.to_owned();
        Some((id, sentence))
    };
    Ok(around.into_iter().filter_map(sentence).collect())
}

fn candidate(stored: &StoredDirective) -> Candidate<'_> {
    Candidate {
        quote: &stored.quote,
        condition: stored.condition.as_deref(),
        is_general: stored.is_general,
        is_permission: stored.is_permission,
        is_circumstance: stored.is_circumstance,
        similarity: stored.similarity,
        bearing: stored.bearing,
        of_passage: stored.of_passage,
    }
}
