//! The search itself: the arms bring in candidates, everything that is known of each is joined to one score.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use memory_core::id::{Namespace, PassageId, RevisionId};
use memory_core::late_interaction::max_similarities;
use memory_core::ports::{Embedded, EmbeddingError};
use memory_core::recall::{Evidence, Fused, Stages, Standing, fuse, score_artifacts};
use memory_core::time::question::{QuestionTime, question_window};
use memory_store::models::ActiveModel;
use memory_store::search::{self, Candidate, Owner, QueryVector, Scope};
use memory_store::survey::{self, PassageCounts};
use memory_store::{Conn, Pooled};

use super::{Explanation, RecallRequest};
use crate::error::vector_warning;
use crate::lexical::Question;
use crate::{EngineError, Memory};

/// How many passages each arm may bring in.
const ARM_LIMIT: usize = 50;

/// A passage that stands for its artifact in an answer.
pub(super) struct Chosen {
    pub(super) passage_id: PassageId,
    pub(super) revision_id: RevisionId,
    pub(super) score: f32,
    pub(super) explanation: Explanation,
}

/// A question as the arms take it.
pub(super) struct Asked {
    pub(super) question: Question,
    /// With the model that it was embedded by.
    pub(super) embedded: Option<(Embedded, ActiveModel)>,
}

/// What the arms have brought in.
pub(super) struct Found {
    /// With their BM25.
    pub(super) by_words: Vec<(PassageId, f32)>,
    pub(super) nearest: Vec<PassageId>,
}

/// A candidate with its joined score.
pub(super) struct Scored {
    pub(super) candidate: Candidate,
    pub(super) fused: Fused<PassageId>,
}

impl Memory {
    /// How many passages there are to search.
    pub(super) async fn passage_counts(&self, ns: &Namespace) -> Result<PassageCounts, EngineError> {
        if let Some(counts) = self.statistics.passages(ns) {
            return Ok(counts);
        }
        let mut conn = self.store.acquire().await?;
        let counts = survey::passages_up_to(&mut conn, ns, search::EXACT_MAX + 1).await?;
        self.statistics.set_passages(ns, counts);
        Ok(counts)
    }

    /// Reads the question and looks for its words; at the same time has it embedded, and looks for what is nearest to it.
    async fn ask(
        &self,
        ns: &Namespace,
        scope: &Scope,
        query: &str,
        stages: Stages,
        limit: usize,
        warnings: &mut Vec<String>,
    ) -> Result<(Asked, Found), EngineError> {
        let words = async {
            let mut conn = self.store.acquire().await?;
            let question = self.read_question(&mut conn, ns, query).await?;
            let by_words = if stages.lexical {
                question.passages(&mut conn, ns, scope, limit).await?
            } else {
                Vec::new()
            };
            conn.keep();
            Ok::<_, EngineError>((question, by_words))
        };
        let vectors = async {
            let embedded = self.embedded(query, stages, warnings).await;
            let nearest = match &embedded {
                Some(embedded) => self.nearest(ns, scope, embedded, limit, warnings).await?,
                None => Vec::new(),
            };
            Ok((embedded, nearest))
        };
        let ((question, by_words), (embedded, nearest)) = futures::try_join!(words, vectors)?;
        Ok((Asked { question, embedded }, Found { by_words, nearest }))
    }

    /// What the model makes of the question, where a stage needs that and it can.
    async fn embedded(
        &self,
        query: &str,
        stages: Stages,
        warnings: &mut Vec<String>,
    ) -> Option<(Embedded, ActiveModel)> {
        if !stages.vector && !stages.late_interaction {
            return None;
        }
        let embedded = match self.ready_model() {
            Some((model, active)) => model.embed_query(query).await.map(|embedded| (embedded, active)),
            None => Err(EmbeddingError::Unavailable("not loaded".into())),
        };
        embedded.map_err(|error| warnings.push(vector_warning(&error))).ok()
    }

    /// The passages of the scope that are nearest to the question, in Postgres or among what the mirror names.
    pub(super) async fn nearest(
        &self,
        ns: &Namespace,
        scope: &Scope,
        embedded: &(Embedded, ActiveModel),
        limit: usize,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<PassageId>, EngineError> {
        if scope.is_empty() {
            return Ok(Vec::new());
        }
        let mirrored = self.mirrored(ns, scope, embedded, limit, warnings).await?;
        let (Embedded { vector, .. }, model) = embedded;
        let mut conn = self.store.acquire().await?;
        let query = QueryVector { model, vector };
        let near = search::nearest(&mut conn, ns, scope, query, limit, mirrored.as_deref()).await?;
        conn.keep();
        Ok(near.into_iter().map(|(id, _)| id).collect())
    }

    /// What was found, best first: all that is known of each passage joined to one score.
    pub(super) async fn rank(
        &self,
        conn: &mut Conn,
        ns: &Namespace,
        asked: &Asked,
        found: Found,
        stages: Stages,
    ) -> Result<Vec<Scored>, EngineError> {
        let lexical: HashMap<PassageId, f32> = found.by_words.into_iter().collect();
        let mut given: Vec<PassageId> = lexical.keys().copied().chain(found.nearest).collect();
        given.sort_unstable();
        given.dedup();
        if given.is_empty() {
            return Ok(Vec::new());
        }
        let embedded = asked.embedded.as_ref();
        let query = embedded.map(|(Embedded { vector, .. }, model)| QueryVector { model, vector });
        let with_states = stages.late_interaction && embedded.is_some_and(|(it, _)| !it.tokens.is_empty());
        let candidates = search::candidates(conn, ns, &given, query, with_states).await?;
        let late = match embedded {
            Some((embedded, _)) if with_states => {
                let states: Vec<Option<&[u8]>> = candidates.iter().map(|c| c.states.as_deref()).collect();
                max_similarities(&asked.question.weighed(&embedded.tokens), &states)
            }
            _ => vec![None; candidates.len()],
        };
        let evidence: Vec<Evidence<PassageId>> = candidates
            .iter()
            .zip(late)
            .map(|(candidate, late)| Evidence {
                key: candidate.passage_id,
                vector: candidate.cosine.filter(|_| stages.vector),
                lexical: stages.lexical.then(|| lexical.get(&candidate.passage_id).copied().unwrap_or(0.0)),
                late,
            })
            .collect();
        let mut candidates: HashMap<PassageId, Candidate> =
            candidates.into_iter().map(|candidate| (candidate.passage_id, candidate)).collect();
        let scored = fuse(&evidence)
            .into_iter()
            .filter_map(|fused| Some(Scored { candidate: candidates.remove(&fused.key)?, fused }));
        Ok(scored.collect())
    }

    /// One passage an artifact, best first: at least `depth + 1` of them where there are so many. Gives the
    /// connection that was searched on, for what is read next.
    pub(super) async fn search(
        &self,
        ns: &Namespace,
        request: &RecallRequest,
        query: &str,
        depth: usize,
        warnings: &mut Vec<String>,
    ) -> Result<(Asked, Vec<Chosen>, Pooled), EngineError> {
        let passages = self.passage_counts(ns).await?.of_revisions;
        let scope = self.scope(ns, request, passages).await?;
        let limit = ARM_LIMIT.max(depth * 2);
        let stages = request.stages;
        let (asked, found) = self.ask(ns, &scope, query, stages, limit, warnings).await?;
        // While the question was embedded no connection was held.
        let mut conn = self.store.acquire().await?;
        let mut scored = self.rank(&mut conn, ns, &asked, found, stages).await?;
        // Among equals the latest revision speaks for its artifact, and the newer stands before the older.
        scored.sort_by(|a, b| {
            b.fused.score.total_cmp(&a.fused.score).then_with(|| age(&b.candidate).cmp(&age(&a.candidate)))
        });
        let chosen = choose(&scored, query, stages);
        if !self.reranks() || !stages.reranking {
            return Ok((asked, chosen, conn));
        }
        conn.keep();
        let chosen = self.rerank(ns, query, chosen, warnings).await?;
        Ok((asked, chosen, self.store.acquire().await?))
    }

    async fn scope(
        &self,
        ns: &Namespace,
        request: &RecallRequest,
        passages: i64,
    ) -> Result<Scope, EngineError> {
        if !request.filters.narrow() {
            return Ok(Scope::of_namespace(request.filters.clone(), passages));
        }
        let mut conn = self.store.acquire().await?;
        Ok(search::scope(&mut conn, ns, request.filters.clone(), passages).await?)
    }
}

/// The best passage of each artifact, best artifact first.
fn choose(scored: &[Scored], query: &str, stages: Stages) -> Vec<Chosen> {
    let now = Timestamp::now();
    let window = question_window(query, now).filter(|_| stages.time);
    let mut seen = HashSet::new();
    let best: Vec<&Scored> = scored
        .iter()
        .filter(|scored| match &scored.candidate.owner {
            Owner::Revision { artifact_id, .. } => seen.insert(artifact_id),
            Owner::Observation(_) => false,
        })
        .collect();
    let standings: Vec<Standing<'_>> =
        best.iter().filter_map(|scored| standing(scored, window.as_ref(), now)).collect();
    let scores = score_artifacts(&standings, stages);
    let mut chosen: Vec<Chosen> = best
        .iter()
        .zip(scores)
        .filter_map(|(Scored { candidate, fused }, artifact)| {
            let Owner::Revision { revision_id, .. } = candidate.owner else { return None };
            let explanation =
                Explanation { vector: fused.vector, lexical: fused.lexical, late: fused.late, artifact };
            Some(Chosen { passage_id: candidate.passage_id, revision_id, score: artifact.score, explanation })
        })
        .collect();
    // A stable sort: equals stay in the order of their passages.
    chosen.sort_by(|a, b| b.score.total_cmp(&a.score));
    chosen
}

fn standing<'a>(scored: &'a Scored, window: Option<&QuestionTime>, now: Timestamp) -> Option<Standing<'a>> {
    let Owner::Revision { date, importance, turn, passages, .. } = &scored.candidate.owner else {
        return None;
    };
    Some(Standing {
        score: scored.fused.score,
        passages: usize::try_from(*passages).unwrap_or(1),
        turn: turn.as_ref().map(|(conversation, turn)| (conversation.as_str(), *turn)),
        time: window.map_or(0.0, |window| window.certainty() * window.closeness(*date)),
        age_days: now.duration_since(*date).as_secs_f32() / 86_400.0,
        importance: *importance,
    })
}

fn age(candidate: &Candidate) -> Option<(bool, RevisionId)> {
    match &candidate.owner {
        Owner::Revision { is_latest, revision_id, .. } => Some((*is_latest, *revision_id)),
        Owner::Observation(_) => None,
    }
}
