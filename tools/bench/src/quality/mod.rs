//! Retrieval quality: conversations are remembered as a user would, then their questions are asked.
//!
//! Each conversation has a namespace of its own. A result counts as found evidence when it is the turn, or the
//! session of the turn, that the question names.

mod answers;
mod report;
mod storing;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use clap::ValueEnum;
use futures::future::BoxFuture;
use futures::{StreamExt, TryStreamExt};
use memory_core::id::Namespace;
use memory_core::recall::RankingWeights;
use memory_engine::Memory;
use memory_engine::recall::{
    LIST_OF_DUE, NOT_MENTIONED, NOTHING_ANSWERS, Recall, RecallDraft, RecallRequest,
};
use serde::{Serialize, Serializer};

pub use self::answers::AnswerCosts;
pub use self::report::{Configured, Group, LevelReport, Metric, QualityReport, side_by_side};

use self::storing::Stored;
use crate::Bars;
use crate::configurations;
use crate::conversations::{Category, Conversation, Question};
use crate::metrics::{Score, score_at};
use measuring::percentiles::Spread;

/// Questions asked at the same time.
const ASKED_AT_ONCE: usize = 4;

/// The most results of one recall.
const RESULTS_MAX: usize = 50;

/// Jobs done at the same time.
const WORKERS: usize = 2;

/// What is remembered as one artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    Turn,
    Session,
}

impl Level {
    pub fn name(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Session => "session",
        }
    }
}

impl Serialize for Level {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// What a turn is given with, besides its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Given {
    /// Speaker, date, conversation and place in it.
    All,
    WithoutConversation,
    WithoutDate,
    WithoutAuthor,
    /// Nothing: the content is `Speaker: text`, and one is stored after the other.
    Content,
    /// The same as `[date] Speaker: text`.
    DatedContent,
}

impl Given {
    fn has_conversation(self) -> bool {
        matches!(self, Self::All | Self::WithoutDate | Self::WithoutAuthor)
    }

    fn has_date(self) -> bool {
        matches!(self, Self::All | Self::WithoutConversation | Self::WithoutAuthor)
    }

    fn has_author(self) -> bool {
        matches!(self, Self::All | Self::WithoutConversation | Self::WithoutDate)
    }
}

/// What is measured, and how deep.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The name of its file, without the ending.
    pub collection: String,
    pub conversations: Vec<Conversation>,
    pub levels: Vec<Level>,
    pub given: Given,
    /// The default alone, without other weights and without expansion.
    pub is_brief: bool,
    /// In rising order.
    pub ks: Vec<usize>,
    /// What the namespaces' names begin with.
    pub prefix: String,
}

impl Plan {
    /// The namespace of a conversation.
    fn namespace(&self, level: Level, conversation: usize) -> anyhow::Result<Namespace> {
        Ok(Namespace::new(&format!("{}-{}-{conversation}", self.prefix, level.name()))?)
    }

    /// The weights that are measured, the default first.
    fn configurations(&self, has_reranker: bool) -> Vec<(String, RankingWeights)> {
        let mut all = configurations::all(has_reranker);
        if self.is_brief {
            all.truncate(1);
        }
        all
    }

    /// Every namespace that a run writes to.
    pub fn namespaces(&self) -> anyhow::Result<Vec<Namespace>> {
        let levels = self.levels.iter();
        levels.flat_map(|l| (0..self.conversations.len()).map(|n| self.namespace(*l, n))).collect()
    }
}

/// A question whose evidence is stored.
struct StoredQuestion<'a> {
    namespace: &'a Namespace,
    stored: &'a Stored,
    question: &'a Question,
    gold: Vec<usize>,
}

/// Makes a memory on the measured database that ranks by these weights.
pub type WithWeights<'a> =
    &'a (dyn Fn(RankingWeights) -> BoxFuture<'static, anyhow::Result<Arc<Memory>>> + Sync);

/// Remembers, asks and scores, a level after the other.
pub async fn run(with_weights: WithWeights<'_>, plan: &Plan, bars: Bars) -> anyhow::Result<Vec<LevelReport>> {
    let memory = with_weights(RankingWeights::DEFAULT).await?;
    let mut levels = Vec::new();
    for level in &plan.levels {
        levels.push(run_level(&memory, with_weights, plan, *level, bars).await?);
    }
    Ok(levels)
}

/// Nothing is measured while vectors or events are still to come.
async fn drain(memory: &Arc<Memory>) -> anyhow::Result<()> {
    let workers = (0..WORKERS).map(|_| {
        let memory = Arc::clone(memory);
        tokio::spawn(async move { memory.job_runner().drain().await })
    });
    for worker in workers.collect::<Vec<_>>() {
        worker.await??;
    }
    Ok(())
}

async fn run_level(
    memory: &Arc<Memory>,
    with_weights: WithWeights<'_>,
    plan: &Plan,
    level: Level,
    bars: Bars,
) -> anyhow::Result<LevelReport> {
    let started = Instant::now();
    let bar = bars(match level {
        Level::Turn => "turns remembered",
        Level::Session => "sessions remembered",
    });
    let mut stored = Vec::new();
    for (n, conversation) in plan.conversations.iter().enumerate() {
        let namespace = plan.namespace(level, n)?;
        let kept = storing::store(memory, &namespace, conversation, (level, plan.given), &bar)
            .await
            .with_context(|| format!("the conversation '{}' could not be remembered", conversation.id))?;
        stored.push((namespace, kept));
    }
    drain(memory).await?;
    bar.finish_and_clear();
    let storing_seconds = started.elapsed().as_secs_f64();

    let questions: Vec<StoredQuestion> = plan
        .conversations
        .iter()
        .zip(&stored)
        .flat_map(|(conversation, (namespace, stored))| {
            conversation.questions.iter().map(move |question| {
                let gold: BTreeSet<usize> =
                    question.evidence.iter().filter_map(|id| stored.unit_of(id)).collect();
                StoredQuestion { namespace, stored, question, gold: gold.into_iter().collect() }
            })
        })
        .collect();
    let total = questions.len();
    let questions: Vec<StoredQuestion> =
        questions.into_iter().filter(|asked| !asked.gold.is_empty()).collect();
    ensure!(!questions.is_empty(), "no question names a stored turn as its evidence");
    let categories: Vec<Category> = questions.iter().map(|asked| asked.question.category.clone()).collect();

    let configurations = plan.configurations(memory.reranks());
    let bar = bars("questions asked");
    let expanded = if plan.is_brief { 0 } else { plan.ks.len() };
    bar.set_length((questions.len() * (configurations.len() + expanded)) as u64);
    let mut scored = Vec::new();
    for (name, weights) in configurations {
        let memory = with_weights(weights).await?;
        let (scores, times) = ask(&memory, plan, &questions, &bar).await?;
        scored.push((name, scores, Spread::of(&times)));
    }
    if !plan.is_brief {
        let (related, as_many) = ask_expanded(memory, plan, &questions, &bar).await?;
        for (name, (scores, times)) in
            [("and related events", related), ("and as many results more", as_many)]
        {
            scored.push((name.to_owned(), scores, Spread::of(&times)));
        }
    }
    let default_answers = answers::default_answers(memory, &questions).await?;
    bar.finish_and_clear();
    Ok(LevelReport {
        collection: plan.collection.clone(),
        level,
        stored: stored.iter().map(|(_, stored)| stored.units()).sum(),
        storing_seconds,
        questions: questions.len(),
        skipped: total - questions.len(),
        default_answers,
        configurations: report::configured(&plan.ks, &categories, &scored),
    })
}

/// The answer to one question, and how long it took.
async fn answered(
    memory: &Arc<Memory>,
    asked: &StoredQuestion<'_>,
    draft: RecallDraft,
) -> anyhow::Result<(Recall, Duration)> {
    let request = RecallRequest::new(RecallDraft {
        query: Some(asked.question.question.clone()),
        min_score: Some(0.0),
        ..draft
    })?;
    let (memory, namespace) = (Arc::clone(memory), asked.namespace.clone());
    let (answer, took) = tokio::spawn(async move {
        let started = Instant::now();
        let answer = memory.recall(&namespace, &request).await;
        (answer, started.elapsed())
    })
    .await?;
    let answer = answer?;
    // Such as a model that failed: the figures would be of something else.
    let is_fault = |warning: &&str| {
        ![NOTHING_ANSWERS, LIST_OF_DUE].contains(warning) && !warning.starts_with(NOT_MENTIONED)
    };
    let faults: Vec<&str> = answer.warnings.iter().map(String::as_str).filter(is_fault).collect();
    ensure!(faults.is_empty(), "a recall came with a warning: {}", faults.join("; "));
    Ok((answer, took))
}

/// For each question its scores at each k, and how long its answer took; of several answers, the longest.
type Answers = (Vec<Vec<Score>>, Vec<Duration>);

/// What expansion adds: k results together with the texts of the related events that come with them, and as many results
/// by themselves.
async fn ask_expanded(
    memory: &Arc<Memory>,
    plan: &Plan,
    questions: &[StoredQuestion<'_>],
    bar: &indicatif::ProgressBar,
) -> anyhow::Result<(Answers, Answers)> {
    let answers: Vec<_> = futures::stream::iter(questions)
        .map(|asked| async move {
            let (mut related, mut as_many) = ((Vec::new(), Duration::ZERO), (Vec::new(), Duration::ZERO));
            for k in &plan.ks {
                let draft = RecallDraft { limit: Some(*k as i64), ..RecallDraft::default() };
                let (answer, took) = answered(memory, asked, draft).await?;
                let mut found = asked.stored.ranked(&answer.results)?;
                for event in &answer.related {
                    for unit in asked.stored.units_of(&event.artifact_id) {
                        if !found.contains(&unit) {
                            found.push(unit);
                        }
                    }
                }
                related.0.push(score_at(found.len(), &found, &asked.gold));
                related.1 = took.max(related.1);
                let limit = Some(found.len().min(RESULTS_MAX) as i64);
                let draft = RecallDraft { limit, expand: Some(false), ..RecallDraft::default() };
                let (answer, took) = answered(memory, asked, draft).await?;
                let more = asked.stored.ranked(&answer.results)?;
                as_many.0.push(score_at(found.len(), &more, &asked.gold));
                as_many.1 = took.max(as_many.1);
                bar.inc(1);
            }
            anyhow::Ok((related, as_many))
        })
        .buffered(ASKED_AT_ONCE)
        .try_collect()
        .await?;
    let (related, as_many): (Vec<_>, Vec<_>) = answers.into_iter().unzip();
    Ok((related.into_iter().unzip(), as_many.into_iter().unzip()))
}

/// One set of weights, without what an answer shows beside its results.
async fn ask(
    memory: &Arc<Memory>,
    plan: &Plan,
    questions: &[StoredQuestion<'_>],
    bar: &indicatif::ProgressBar,
) -> anyhow::Result<Answers> {
    let deepest = plan.ks.iter().copied().max().unwrap_or(1);
    let answers: Vec<(Vec<Score>, Duration)> = futures::stream::iter(questions)
        .map(|asked| async move {
            let draft = RecallDraft {
                limit: Some(deepest as i64),
                expand: Some(false),
                include_events: Some(false),
                include_entities: Some(false),
                ..RecallDraft::default()
            };
            let (answer, took) = answered(memory, asked, draft).await?;
            let ranked = asked.stored.ranked(&answer.results)?;
            bar.inc(1);
            anyhow::Ok((plan.ks.iter().map(|k| score_at(*k, &ranked, &asked.gold)).collect(), took))
        })
        .buffered(ASKED_AT_ONCE)
        .try_collect()
        .await?;
    Ok(answers.into_iter().unzip())
}
