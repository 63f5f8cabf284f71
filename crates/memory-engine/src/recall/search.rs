//! The arms bring in candidates; everything that is known of each is joined to one score.

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::sync::Arc;

use memory_core::id::{Namespace, PassageId};
use memory_core::ports::Embedded;
use memory_core::recall::{Evidence, fuse};
use memory_language::time::question::QuestionTime;
use memory_store::models::ActiveModel;
use memory_store::search::{self, Breadth, Candidate, Filters, QueryVector, Scope};
use memory_store::stats::{self, PassageCounts};
use memory_store::{Conn, Pooled};
use memory_vectors::late_interaction::max_similarities;

use super::RecallRequest;
use super::hits::{Scored, hit_of};
use super::mirrored::warn;
use crate::error::vector_warning;
use crate::lexical::{Question, WordHit};
use crate::resident::Resident;
use crate::{EngineError, Memory, measures};

/// The most passages that the mirror is asked for.
const MIRRORED_MAX: usize = 2_000;

/// A question with the model that it was embedded by, where a stage needs that; else why it could not be.
type EmbeddedQuestion = Result<Option<(Arc<Embedded>, ActiveModel)>, String>;

/// A question as the arms take it.
#[derive(Clone, Default)]
pub(super) struct Asked {
    pub(super) question: Arc<Question>,
    /// With the model that it was embedded by.
    pub(super) embedded: Option<(Arc<Embedded>, ActiveModel)>,
    /// By which directives bear on it, with the version of these vectors.
    pub(super) bearing: Option<(i16, Arc<Embedded>)>,
    /// The entities that it names.
    pub(super) named: Vec<i64>,
    /// How many observations the graphs of the namespace have, counted a moment ago.
    pub(super) observations: i64,
    /// The namespace in memory, where it is.
    pub(super) resident: Option<Arc<Resident>>,
}

/// What is looked for, and where.
pub(super) struct Searching<'a> {
    pub(super) request: &'a RecallRequest,
    /// The question as it was asked, and what of it is looked for.
    pub(super) asked: &'a str,
    pub(super) query: &'a str,
    pub(super) searched: &'a Searched,
    /// This is the first tier of the search.
    pub(super) is_first: bool,
}

/// What the arms have brought in.
pub(super) struct Found {
    pub(super) by_words: Vec<WordHit>,
    pub(super) nearest: Vec<PassageId>,
}

impl Found {
    pub(super) fn passages(&self) -> Vec<PassageId> {
        self.by_words.iter().map(|hit| hit.passage_id).chain(self.nearest.iter().copied()).collect()
    }
}

/// Where a question is looked for, and how widely.
pub(super) struct Searched {
    pub(super) scope: Scope,
    pub(super) breadth: Breadth,
    /// The time that is asked for.
    pub(super) time: Option<QuestionTime>,
    pub(super) observations: i64,
    pub(super) resident: Option<Arc<Resident>>,
}

impl Memory {
    /// How many passages there are to search.
    pub(super) async fn passage_counts(
        &self,
        conn: &mut Conn,
        ns: &Namespace,
    ) -> Result<PassageCounts, EngineError> {
        if let Some(counts) = self.statistics.passages(ns) {
            return Ok(counts);
        }
        let counts = stats::passages_up_to(conn, ns, search::EXACT_MAX + 1).await?;
        self.statistics.set_passages(ns, counts);
        Ok(counts)
    }

    /// The namespace in memory, where it is small and there is a model.
    pub(super) async fn resident(
        &self,
        conn: &mut Conn,
        ns: &Namespace,
        scope: &Scope,
    ) -> Result<Option<Arc<Resident>>, EngineError> {
        let Some((_, model)) = self.model.ready().filter(|_| scope.admitted().is_some()) else {
            return Ok(None);
        };
        let current = self.resident.current(&self.store, conn, ns, &model);
        Ok(measures::stage("resident", current).await?)
    }

    /// Reads the question and looks for its words and names; at the same time looks for what is nearest to it, as soon as it is
    /// embedded. The connection is given back when the words are read: nothing is held while the model runs.
    pub(super) async fn ask(
        &self,
        ns: &Namespace,
        mut conn: Pooled,
        searching: Searching<'_>,
        embedding: impl Future<Output = EmbeddedQuestion>,
        warnings: &mut Vec<String>,
    ) -> Result<(Asked, Found), EngineError> {
        let Searching { request, asked, query, searched, is_first } = searching;
        let Searched { scope, breadth, observations, resident, .. } = searched;
        let (breadth, in_memory) = (*breadth, resident.as_deref());
        let weights = &self.settings.weights;
        let words = async move {
            let question = self.read_question(&mut conn, ns, query).await?;
            let bearing = async {
                let may_bear = is_first && question.has_directives;
                if may_bear { self.embedded_for_bearing(asked).await } else { None }
            };
            let words = async {
                let by_words = if weights.lexical > 0.0 {
                    question.passages(&mut conn, ns, scope, breadth, in_memory).await?
                } else {
                    Vec::new()
                };
                let named = if is_first {
                    self.named(&mut conn, ns, request, query, in_memory).await?
                } else {
                    Vec::new()
                };
                let waiting = self.waiting(&mut conn, ns, request, question.newest).await?;
                conn.done();
                Ok::<_, EngineError>((by_words, named, waiting))
            };
            let (found, bearing) = futures::join!(words, bearing);
            Ok::<_, EngineError>((question, found?, bearing))
        };
        let vectors = async {
            let embedded = embedding.await.unwrap_or_else(|why| {
                warn(warnings, &why);
                None
            });
            let nearest = match &embedded {
                Some(embedded) => {
                    let nearest = self.nearest(ns, (scope, in_memory), embedded, breadth, warnings);
                    measures::stage("vectors", nearest).await?
                }
                None => Vec::new(),
            };
            Ok((embedded, nearest))
        };
        let words = measures::stage("words", words);
        let (by_words, by_vectors) = futures::try_join!(words, vectors)?;
        let ((question, (by_words, named, waiting), bearing), (embedded, nearest)) = (by_words, by_vectors);
        measures::candidates("words", by_words.len());
        measures::candidates("vectors", nearest.len());
        if embedded.is_some() && waiting > 0 {
            warn(warnings, &waiting_warning(waiting));
        }
        let (question, resident) = (Arc::new(question), resident.clone());
        let asked = Asked { question, embedded, bearing, named, observations: *observations, resident };
        Ok((asked, Found { by_words, nearest }))
    }

    /// How many passages the question could find by their vectors if these were computed.
    async fn waiting(
        &self,
        conn: &mut Conn,
        ns: &Namespace,
        request: &RecallRequest,
        newest: i64,
    ) -> Result<i64, EngineError> {
        let Some((_, model)) = self.model.ready().filter(|_| self.settings.weights.vector > 0.0) else {
            return Ok(0);
        };
        let in_namespace = match self.statistics.waiting(ns, newest) {
            Some(waiting) => waiting,
            None => {
                let all = Filters { include_superseded: true, ..Filters::default() };
                let waiting = search::without_vector(conn, ns, &all, model.model_id).await?;
                self.statistics.set_waiting(ns, newest, waiting);
                waiting
            }
        };
        if in_namespace == 0 {
            return Ok(0);
        }
        Ok(search::without_vector(conn, ns, &request.filters, model.model_id).await?)
    }

    /// What the model makes of the question, where a stage needs that; an error says why it cannot.
    pub(super) async fn embedded(&self, query: &str) -> EmbeddedQuestion {
        let weights = &self.settings.weights;
        if weights.vector <= 0.0 && weights.late_interaction <= 0.0 {
            return Ok(None);
        }
        let missed = |error| {
            measures::degraded("no_query_vector");
            vector_warning(&error)
        };
        self.model.embed_question(query).await.map(Some).map_err(missed)
    }

    /// The passages of the scope that are nearest to the question, in Postgres or among what the mirror names.
    pub(super) async fn nearest(
        &self,
        ns: &Namespace,
        (scope, resident): (&Scope, Option<&Resident>),
        embedded: &(Arc<Embedded>, ActiveModel),
        breadth: Breadth,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<PassageId>, EngineError> {
        if scope.is_empty() {
            return Ok(Vec::new());
        }
        let (Embedded { vector, .. }, model) = (&*embedded.0, &embedded.1);
        let query = QueryVector { model, vector };
        let mut limit = breadth.passages;
        loop {
            let mirrored = self.mirrored(ns, scope, embedded, limit, warnings).await?;
            let in_memory = resident.filter(|it| mirrored.is_none() && it.is_of(model)).zip(scope.admitted());
            if let Some((resident, admitted)) = in_memory {
                let near = resident.nearest(admitted, vector, breadth);
                return Ok(near.into_iter().map(|(id, _)| id).collect());
            }
            let mut conn = self.store.acquire(ns).await?;
            let near = search::nearest(&mut conn, ns, scope, query, breadth, mirrored.as_deref()).await?;
            conn.done();
            // Where a few texts take up what the mirror was asked for, it is asked for more.
            let is_short =
                mirrored.is_some_and(|named| named.len() >= limit) && near.len() < breadth.passages;
            if !is_short || limit >= MIRRORED_MAX {
                return Ok(near.into_iter().map(|(id, _)| id).collect());
            }
            limit = (limit * 4).min(MIRRORED_MAX);
        }
    }

    /// What was found, best first: all that is known of each passage joined to one score. Texts that stand in a ranking
    /// `before` are left out.
    pub(super) async fn rank(
        &self,
        conn: &mut Conn,
        ns: &Namespace,
        asked: &Asked,
        found: Found,
        before: &HashSet<u64>,
    ) -> Result<Vec<Scored>, EngineError> {
        let weights = &self.settings.weights;
        let lexical: HashMap<PassageId, WordHit> =
            found.by_words.into_iter().map(|hit| (hit.passage_id, hit)).collect();
        let mut given: Vec<PassageId> = lexical.keys().copied().chain(found.nearest).collect();
        given.sort_unstable();
        given.dedup();
        if given.is_empty() {
            return Ok(Vec::new());
        }
        let embedded = asked.embedded.as_ref();
        let query = embedded.map(|(embedded, model)| QueryVector { model, vector: &embedded.vector });
        let with_states =
            weights.late_interaction > 0.0 && embedded.is_some_and(|(it, _)| !it.tokens.is_empty());
        let in_memory = asked.resident.as_ref().and_then(|resident| {
            let query = query.filter(|query| resident.is_of(query.model));
            if query.is_none() && embedded.is_some() {
                return None;
            }
            resident.candidates(&given, query.map(|query| query.vector), with_states)
        });
        let (mut candidates, others) = in_memory.unwrap_or_else(|| (Vec::new(), given));
        if !others.is_empty() {
            candidates.extend(search::candidates(conn, ns, &others, query, with_states).await?);
        }
        candidates.retain(|candidate| !hit_of(candidate).is_some_and(|hit| before.contains(&hit)));
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
            .map(|(candidate, late)| {
                let words = lexical.get(&candidate.passage_id);
                Evidence {
                    key: candidate.passage_id,
                    vector: candidate.cosine.filter(|_| weights.vector > 0.0),
                    lexical: (weights.lexical > 0.0).then(|| words.map_or(0.0, |hit| hit.bm25)),
                    late,
                    coverage: words.map_or(0.0, |hit| hit.coverage),
                }
            })
            .collect();
        let mut candidates: HashMap<PassageId, Candidate> =
            candidates.into_iter().map(|candidate| (candidate.passage_id, candidate)).collect();
        let scored = fuse(&evidence, weights)
            .into_iter()
            .filter_map(|fused| Some(Scored { candidate: candidates.remove(&fused.key)?, fused }));
        Ok(scored.collect())
    }
}

fn waiting_warning(waiting: i64) -> String {
    let (passages, wait) = if waiting == 1 {
        ("passage", "waits for its vector")
    } else {
        ("passages", "wait for their vectors")
    };
    format!("{waiting} {passages} of those searched still {wait}: until then found by words alone.")
}
