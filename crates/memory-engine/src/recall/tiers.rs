//! One breadth of a search: the arms are asked, what they found is scored and put in the order that the question asks for.

use std::collections::HashMap;
use std::future;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use futures::future::Either;
use jiff::Timestamp;
use memory_core::id::Namespace;
use memory_language::about_many::about_many;
use memory_language::asked_for::{asked_kind, subject_of_decision};
use memory_language::time_order::time_order;
use memory_store::search::{self, Breadth};
use memory_store::{Conn, Pooled};

use super::asked_time::{Then, asked_time, prefer, rank_by_time};
use super::hits::{age, choose, lead_their_places};
use super::paging::Digest;
use super::ranking::Ranked;
use super::search::{Asked, Found, Searched, Searching};
use super::{RecallRequest, TimeWindow};
use crate::directives::Directive;
use crate::{EngineError, Memory, measures};

/// How many passages each arm brings in at least where the question is about many things.
const MANY_PASSAGES: usize = 300;
/// The same in a namespace that is small enough for all its vectors to be compared.
const SMALL_PASSAGES: usize = 150;

/// What one breadth of the arms has found, best first.
#[derive(Clone, Default)]
pub(super) struct Tier {
    pub(super) asked: Asked,
    pub(super) ranked: Arc<Vec<Ranked>>,
    /// An arm has left something out.
    pub(super) goes_on: bool,
    /// How a time in the question was understood.
    pub(super) time_window: Option<TimeWindow>,
    /// How likely anything of what was found answers.
    pub(super) chance: Option<f32>,
    /// Directives that bear on the question; only the first tier has them.
    pub(super) directives: Vec<Directive>,
}

impl Memory {
    /// How the namespace is searched as it is now.
    async fn searched(
        &self,
        conn: &mut Conn,
        ns: &Namespace,
        request: &RecallRequest,
        query: &str,
        breadth: Breadth,
    ) -> Result<Searched, EngineError> {
        let counts = self.passage_counts(conn, ns).await?;
        let is_small = counts.of_revisions <= search::EXACT_MAX;
        let breadth = if is_small { breadth.at_least(SMALL_PASSAGES) } else { breadth };
        let scope = search::scope(conn, ns, request.filters.clone(), counts.of_revisions).await?;
        let resident = self.resident(conn, ns, &scope).await?;
        let time = asked_time(request, query, Timestamp::now(), &self.settings.weights);
        Ok(Searched { scope, breadth, time, observations: counts.of_observations, resident })
    }

    /// Searches at this breadth and gives the hits that are not in the ranking yet, each with one passage, best first; and the connection
    /// that was used, for the next reads.
    pub(super) async fn tier(
        &self,
        ns: &Namespace,
        request: &RecallRequest,
        (query, digest): (&str, Digest),
        breadth: Breadth,
        before: &[Ranked],
        warnings: &mut Vec<String>,
    ) -> Result<(Tier, Pooled), EngineError> {
        let many = about_many(query);
        let breadth = if many.is_some() { breadth.at_least(MANY_PASSAGES) } else { breadth };
        let of_decision = subject_of_decision(query).unwrap_or(query);
        let subject = many.as_ref().map_or(of_decision, |many| &many.subject);
        // The model begins with the question while the namespace is looked at.
        let mut embedding = pin!(measures::stage("embed", self.embedded(subject)));
        let embedding = match futures::poll!(&mut embedding) {
            Poll::Ready(embedded) => Either::Left(future::ready(embedded)),
            Poll::Pending => Either::Right(embedding),
        };
        let is_first = before.is_empty();
        let mut conn = self.store.acquire(ns).await?;
        let searched = self.searched(&mut conn, ns, request, query, breadth).await?;
        let holds_for = self.holds_for(request, &searched).filter(|_| is_first);
        if let Some(tier) = holds_for.and_then(|version| self.found_before(digest, version, &searched)) {
            return Ok((tier, conn));
        }
        let searching = Searching { request, asked: query, query: subject, searched: &searched, is_first };
        let found = self.ask(ns, conn, searching, embedding, warnings).await?;
        let is_spread = many.as_ref().is_some_and(|many| many.is_spread);
        let ranking =
            self.ranked_tier(ns, (request, query, is_spread), &searched, found, (before, &mut *warnings));
        let (tier, conn) = ranking.await?;
        if let Some(version) = holds_for.filter(|_| warnings.is_empty()) {
            self.keep_found(digest, version, &tier);
        }
        Ok((tier, conn))
    }

    /// What was found in its order, one passage a hit.
    async fn ranked_tier(
        &self,
        ns: &Namespace,
        (request, query, is_spread): (&RecallRequest, &str, bool),
        searched: &Searched,
        (asked, mut found): (Asked, Found),
        (before, warnings): (&[Ranked], &mut Vec<String>),
    ) -> Result<(Tier, Pooled), EngineError> {
        let Searched { scope, breadth, time, .. } = searched;
        let weights = &self.settings.weights;
        let goes_on = found.by_words.len() >= breadth.passages || found.nearest.len() >= breadth.passages;
        let deciding = time.as_ref().filter(|time| time.deciding().next().is_some());
        if let Some(time) = deciding {
            let then = Then { time, filters: &request.filters, breadth: *breadth };
            self.find_by_time(ns, &asked, then, &mut found, warnings).await?;
        }
        let mut conn = self.store.acquire(ns).await?;
        if request.filters.include_superseded {
            let current = search::current_of(&mut conn, ns, scope, &found.passages()).await?;
            found.nearest.extend(current);
        }
        let known = before.iter().map(|ranked| ranked.hit).collect();
        let ranking = self.rank(&mut conn, ns, &asked, found, &known);
        let mut scored = measures::stage("rank", ranking).await?;
        // Among equals the latest revision speaks for its artifact, and the newer stands before the older.
        scored.sort_by(|a, b| {
            b.fused.score.total_cmp(&a.fused.score).then_with(|| age(&b.candidate).cmp(&age(&a.candidate)))
        });
        let fits = match deciding {
            Some(time) => self.fits(&mut conn, ns, time, &scored).await?,
            None => HashMap::new(),
        };
        let chance = scored.first().and_then(|scored| scored.fused.chance);
        prefer(&mut scored, &fits);
        let mut ranked = choose(&scored, (query, is_spread), time.as_ref(), Timestamp::now(), weights);
        let is_first = before.is_empty();
        if is_first && self.reranks() && weights.reranker > 0.0 {
            conn.done();
            ranked = measures::stage("rerank", self.rerank(ns, query, ranked, warnings)).await?;
            conn = self.store.acquire(ns).await?;
        }
        let is_unmatched = deciding.is_some_and(|time| !rank_by_time(&mut ranked, &fits, time));
        if let Some(order) = time_order(query).filter(|_| is_first && weights.time > 0.0) {
            self.rank_in_time_order(&mut conn, ns, (order, &asked), &scored, &mut ranked).await?;
        } else if is_first && (deciding.is_none() || is_unmatched) {
            self.prefer_newer(&mut conn, ns, (query, &asked), &scored, &mut ranked).await?;
        }
        if let Some(kind) = asked_kind(query).filter(|_| is_first) {
            self.lower_other_kinds(&mut conn, ns, kind, &mut ranked).await?;
        }
        let time_window = time.as_ref().and_then(|time| TimeWindow::of(query, time, is_unmatched));
        lead_their_places(&mut ranked);
        let bearing = if is_first && asked.question.has_directives {
            let raises = deciding.is_none() || is_unmatched;
            self.page_directives(&mut conn, ns, (request, raises), (query, &asked), &mut ranked).await?
        } else {
            Vec::new()
        };
        // What is wanted where this is asked is found, whatever the chance that a passage answers.
        let chance = chance.filter(|_| !bearing.iter().any(|bearing| bearing.is_answer));
        let directives = bearing.into_iter().map(|bearing| bearing.directive).collect();
        let ranked = Arc::new(ranked);
        Ok((Tier { asked, ranked, goes_on, time_window, chance, directives }, conn))
    }
}
