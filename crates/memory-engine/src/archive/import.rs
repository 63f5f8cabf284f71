//! Lines as rows of a namespace: which line may come when, and the revisions.

use std::collections::HashSet;

use jiff::Timestamp;
use memory_core::Invalid;
use memory_core::archive::{
    ARCHIVE_VERSION, ArchiveLine, ArchivedArtifact, ArchivedDoubt, ArchivedExtraction, ArchivedRevision,
    ArchivedTerms, ArchivedThread, parse_line,
};
use memory_core::artifact::{ArtifactUid, NewArtifact};
use memory_core::chunk::chunk_text;
use memory_core::directive::find_directives;
use memory_core::id::{ContentHash, Namespace, RevisionId};
use memory_core::job::Priority;
use memory_core::render::{PreviousTurn, Surroundings};
use memory_store::archive::{self, Decision, DoubtRow, Kind};
use memory_store::artifacts::{self, Entry};
use memory_store::events::{self, ExtractorId, Made};
use memory_store::{StoreError, Tx, jobs, passages, talks};

use super::graph::{GraphImport, misplaced};
use super::{ArchiveImported, decisions};
use crate::error::on_own_thread;
use crate::line_reader::LineReader;
use crate::progress::{Progress, Report};
use crate::remember::{SHORT_TURN_TOKENS, priority_of, render_following_turn};
use crate::spoken_lines::line_of;
use crate::streams::Input;
use crate::{EngineError, EngineSettings, directives, long_text};

/// How often there is something to report, in lines.
const LINES_REPORTED: u64 = 100;
/// The most conversations that an import locks: more would fill the database's lock table. In the others, a turn that is stored at the
/// same moment may be rendered with a previous turn that the import is just replacing.
const CONVERSATIONS_LOCKED_MAX: usize = 1_000;

pub(super) async fn import(
    tx: &mut Tx,
    ns: &Namespace,
    settings: &EngineSettings,
    from: Input<'_>,
    total_bytes: u64,
    report: Report<'_>,
) -> Result<ArchiveImported, EngineError> {
    let mut lines = LineReader::new(from);
    let mut import = Import::new(ns);
    passages::begin_many(tx).await?;
    loop {
        let number = lines.number + 1;
        let Some(line) = lines.next().await? else { break };
        if let Some(said) = parse_line(number, line)? {
            import.take(tx, number, said).await?;
        }
        if number.is_multiple_of(LINES_REPORTED) {
            report(Progress { done: lines.bytes_read, total: total_bytes });
        }
    }
    import.finish(tx, settings).await
}

/// How far an import is.
struct Import<'a> {
    ns: &'a Namespace,
    has_begun: bool,
    /// An artifact, its line and its content, whose first revision is to come.
    artifact: Option<(u64, ContentHash, String)>,
    /// The revisions by their numbers.
    revisions: Vec<RevisionId>,
    conversations: HashSet<String>,
    graph: Option<GraphImport>,
    done: ArchiveImported,
}

impl<'a> Import<'a> {
    fn new(ns: &'a Namespace) -> Self {
        Self {
            ns,
            has_begun: false,
            artifact: None,
            revisions: Vec::new(),
            conversations: HashSet::new(),
            graph: None,
            done: ArchiveImported::default(),
        }
    }

    async fn take(&mut self, tx: &mut Tx, number: u64, said: ArchiveLine) -> Result<(), EngineError> {
        if self.has_begun == matches!(said, ArchiveLine::Header(_)) {
            return Err(misplaced(number, "an archive has one header, and it is the first line"));
        }
        if self.artifact.is_some() && !matches!(said, ArchiveLine::Revision(_)) {
            return Err(misplaced(number, "the artifact before it has no revision"));
        }
        match said {
            ArchiveLine::Header(_) => self.has_begun = true,
            ArchiveLine::Artifact(artifact) => self.take_artifact(tx, number, artifact).await?,
            ArchiveLine::Revision(revision) => self.take_revision(tx, number, *revision).await?,
            ArchiveLine::Extraction(extraction) => self.take_extraction(tx, number, extraction).await?,
            ArchiveLine::EntityDoubt(doubt) => self.take_doubt(tx, number, *doubt).await?,
            ArchiveLine::EntityRejection(said) => {
                self.take_decision(tx, number, Kind::Rejected, said.first, said.second).await?;
            }
            ArchiveLine::EntityMerge(said) => {
                let kind = Kind::Merged { were_rejected: said.were_rejected };
                self.take_decision(tx, number, kind, said.entity, said.into).await?;
            }
            ArchiveLine::Thread(thread) => self.begin_thread(tx, &thread).await?,
            ArchiveLine::GraphEntity(entity) => self.graph(number)?.entity(tx, number, entity).await?,
            ArchiveLine::Observation(observation) => self.graph(number)?.observation(number, observation)?,
            ArchiveLine::GraphRelation(relation) => self.graph(number)?.relation(tx, relation).await?,
        }
        Ok(())
    }

    fn graph(&mut self, number: u64) -> Result<&mut GraphImport, EngineError> {
        self.graph.as_mut().ok_or_else(|| misplaced(number, "no thread comes before it"))
    }

    async fn take_artifact(
        &mut self,
        tx: &mut Tx,
        number: u64,
        artifact: ArchivedArtifact,
    ) -> Result<(), EngineError> {
        let hash = ContentHash::of(&artifact.content);
        let is_known = archive::content_of(tx, self.ns, &hash).await?.is_some();
        self.done.artifacts.count(!is_known);
        self.artifact = Some((number, hash, artifact.content));
        Ok(())
    }

    async fn take_revision(
        &mut self,
        tx: &mut Tx,
        number: u64,
        revision: ArchivedRevision,
    ) -> Result<(), EngineError> {
        let hash = ContentHash::from_hex(&revision.artifact);
        let hash = hash.ok_or_else(|| misplaced(number, "its artifact is no sha256 of 64 hex digits"))?;
        let content = match self.artifact.take() {
            Some((_, of, content)) if of == hash => Some(content),
            Some(_) => return Err(misplaced(number, "the artifact before it is another")),
            None => archive::content_of(tx, self.ns, &hash).await?,
        };
        let content = content.ok_or_else(|| misplaced(number, "its artifact has not come before"))?;
        let numbered = |n: &u64| self.numbered(number, *n);
        let came = Came {
            created_at: revision.created_at,
            is_latest: revision.latest,
            superseded: revision.supersedes.iter().map(numbered).collect::<Result<_, _>>()?,
            successor: revision.superseded_by.as_ref().map(numbered).transpose()?,
        };
        let new = revision.with_content(content).map_err(|error| misplaced(number, &error.0))?;
        let id = self.place(tx, new, came).await?;
        self.revisions.push(id);
        Ok(())
    }

    fn numbered(&self, number: u64, revision: u64) -> Result<RevisionId, EngineError> {
        let at = usize::try_from(revision).ok().and_then(|n| n.checked_sub(1));
        let known = at.and_then(|at| self.revisions.get(at)).copied();
        known.ok_or_else(|| misplaced(number, &format!("no revision {revision} has come before")))
    }

    /// What was found in a revision is taken over where nothing has read it yet.
    async fn take_extraction(
        &mut self,
        tx: &mut Tx,
        number: u64,
        line: ArchivedExtraction,
    ) -> Result<(), EngineError> {
        let mut sources = Vec::new();
        for revision in line.revisions() {
            let id = self.numbered(number, revision)?;
            sources.push(events::source(tx, self.ns, id).await?.ok_or(StoreError::Conflict)?);
        }
        let is_known = archive::is_extracted(tx, self.ns, sources[0].revision_id).await?;
        self.done.extractions.count(!is_known);
        if is_known {
            return Ok(());
        }
        let made = Made { at: line.extracted_at, rejected: line.rejected, is_stale: line.stale };
        let (name, version) = (line.extractor.clone(), line.extractor_version);
        let distinguishers = line.distinguishers();
        let contents: Vec<&str> = sources.iter().map(|source| source.content.as_str()).collect();
        let extraction = line.with_contents(&contents).map_err(|error| misplaced(number, &error.0))?;
        let extractor = ExtractorId { name: &name, version };
        events::restore_extraction(tx, self.ns, extractor, &sources, extraction, &distinguishers, made)
            .await?;
        Ok(())
    }

    async fn take_decision(
        &mut self,
        tx: &mut Tx,
        number: u64,
        kind: Kind,
        first: ArchivedTerms,
        second: ArchivedTerms,
    ) -> Result<(), EngineError> {
        let numbered = |n: &u64| self.numbered(number, *n);
        let (first, second) = (decisions::terms(first, &numbered)?, decisions::terms(second, &numbered)?);
        let is_new = decisions::take(tx, self.ns, &Decision { kind, first, second }).await?;
        self.done.decisions.count(is_new);
        Ok(())
    }

    async fn take_doubt(&mut self, tx: &mut Tx, number: u64, line: ArchivedDoubt) -> Result<(), EngineError> {
        let numbered = |n: &u64| self.numbered(number, *n);
        let doubt = DoubtRow {
            first: decisions::terms(line.first, &numbered)?,
            second: decisions::terms(line.second, &numbered)?,
            score: line.score,
            reasons: line.reasons,
        };
        decisions::take_doubt(tx, self.ns, &doubt).await?;
        Ok(())
    }

    /// Puts a revision where it belongs among those that are there; one that is there already stays.
    async fn place(&mut self, tx: &mut Tx, new: NewArtifact, came: Came) -> Result<RevisionId, EngineError> {
        let own = new.meta.uid_of_author(&new.hash);
        let mut uid = new.meta.uid(&new.hash);
        for uid in std::iter::once(&uid).chain(&own) {
            if let Some(id) = archive::find_revision(tx, self.ns, &new.hash, uid, came.created_at).await? {
                self.done.revisions.count(false);
                return Ok(id);
            }
        }
        if own.is_some() {
            (uid, _) = artifacts::find_place(tx, self.ns, &new).await?;
        }
        let current = if came.is_latest { archive::latest_at(tx, self.ns, &uid).await? } else { None };
        let (mut is_latest, mut successor) = (came.is_latest, came.successor);
        if let Some((id, hash, since)) = current {
            if hash == new.hash {
                self.done.revisions.count(false);
                return Ok(id);
            }
            // Of two that were latest in two memories, the later one is.
            if since <= came.created_at {
                artifacts::retire(tx, self.ns, id).await?;
            } else {
                (is_latest, successor) = (false, Some(id));
            }
        }
        let id = self.insert(tx, new, &uid, came.created_at, is_latest).await?;
        self.done.revisions.count(true);
        if let Some(successor) = successor {
            artifacts::name_successor(tx, self.ns, id, successor).await?;
        }
        let replaced = current.filter(|_| is_latest).map(|(id, ..)| id);
        for superseded in replaced.into_iter().chain(came.superseded) {
            artifacts::name_successor(tx, self.ns, superseded, id).await?;
        }
        Ok(id)
    }

    async fn insert(
        &mut self,
        tx: &mut Tx,
        new: NewArtifact,
        uid: &ArtifactUid,
        created_at: Timestamp,
        is_latest: bool,
    ) -> Result<RevisionId, EngineError> {
        let turn = new.meta.turn().map(|(conversation, turn)| (conversation.to_owned(), turn));
        let previous = match &turn {
            None => None,
            Some((conversation, turn)) => {
                self.lock_conversation(tx, conversation).await?;
                talks::previous_turn(tx, self.ns, conversation, *turn).await?
            }
        };
        // Cutting a long text and counting its words takes a while; other calls go on meanwhile.
        let ns = self.ns.clone();
        let line = line_of(tx, self.ns, &new, created_at).await?.filter(|_| is_latest);
        let line = line.map(|line| (line.speaker.to_owned(), line.place, line.previous));
        let previous = previous.or_else(|| line.as_ref().and_then(|(.., previous)| previous.clone()));
        let surroundings = Surroundings::new(&new.meta, previous);
        let (new, chunked, passages, found) = on_own_thread(move || {
            let chunked = chunk_text(&new.content);
            let passages = long_text::counted(&ns, &chunked.passages, &surroundings);
            let found = find_directives(&new.content, &new.meta);
            (new, chunked, passages, found)
        })
        .await?;
        let is_known = archive::content_of(tx, self.ns, &new.hash).await?.is_some();
        let artifact_id =
            artifacts::insert_artifact(tx, self.ns, &new.hash, &new.content, chunked.token_count).await?;
        if !is_known {
            archive::set_artifact_created(tx, self.ns, &artifact_id, created_at).await?;
        }
        artifacts::insert_chunks(tx, self.ns, &artifact_id, &chunked.chunks).await?;
        let entry = Entry {
            uid,
            is_latest,
            created_at: Some(created_at),
            queue_extract: turn.is_none() || chunked.token_count >= SHORT_TURN_TOKENS,
            queue_embed: true,
            priority: priority_of(Priority::Bulk, &chunked),
            line: line.as_ref().map(|(speaker, place, _)| (speaker.as_str(), *place)),
        };
        let (id, _) =
            artifacts::insert_revision(tx, self.ns, &artifact_id, &new, passages, None, entry).await?;
        if !found.is_empty() {
            // Their vectors are computed with those of the passages.
            let directives = directives::with_vectors(None, &new.content, found).await;
            directives::put(tx, self.ns, id, &directives).await?;
        }
        if let Some((conversation, turn)) = turn.filter(|_| is_latest) {
            let own = PreviousTurn {
                speaker: new.meta.speaker().map(str::to_owned),
                text: new.content.chars().take(400).collect(),
            };
            render_following_turn(tx, self.ns, &conversation, turn, Some(own)).await?;
        }
        Ok(id)
    }

    /// Keeps others from changing a conversation that was there before.
    async fn lock_conversation(&mut self, tx: &mut Tx, conversation: &str) -> Result<(), EngineError> {
        if self.conversations.contains(conversation) {
            return Ok(());
        }
        if self.conversations.len() < CONVERSATIONS_LOCKED_MAX
            && archive::conversation_is_known(tx, self.ns, conversation).await?
        {
            talks::lock_conversation(tx, self.ns, conversation).await?;
        }
        self.conversations.insert(conversation.to_owned());
        Ok(())
    }

    async fn begin_thread(&mut self, tx: &mut Tx, thread: &ArchivedThread) -> Result<(), EngineError> {
        self.end_thread(tx).await?;
        self.graph = Some(GraphImport::begin(tx, self.ns, thread).await?);
        Ok(())
    }

    async fn end_thread(&mut self, tx: &mut Tx) -> Result<(), EngineError> {
        if let Some(graph) = self.graph.take() {
            graph.end(tx, &mut self.done).await?;
        }
        Ok(())
    }

    async fn finish(
        mut self,
        tx: &mut Tx,
        settings: &EngineSettings,
    ) -> Result<ArchiveImported, EngineError> {
        if !self.has_begun {
            return Err(Invalid::new(format!(
                "There is nothing to import: an archive begins with {{\"type\":\"remembrancer-archive\",\"version\":{ARCHIVE_VERSION}}}."
            ))
            .into());
        }
        if let Some((number, ..)) = self.artifact {
            return Err(misplaced(number, "it has no revision"));
        }
        self.end_thread(tx).await?;
        passages::end_many(tx).await?;
        for conversation in &self.conversations {
            jobs::queue_conversation(
                tx,
                self.ns,
                conversation,
                Priority::Bulk,
                settings.conversation_pause.as_secs_f64(),
                settings.conversation_patience.as_secs_f64(),
            )
            .await?;
        }
        Ok(self.done)
    }
}

/// How a revision came.
#[derive(Debug)]
struct Came {
    created_at: Timestamp,
    is_latest: bool,
    superseded: Vec<RevisionId>,
    successor: Option<RevisionId>,
}
