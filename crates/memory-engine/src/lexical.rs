//! The lexical arm: BM25 over a bounded number of candidates, rarest words first.

use std::collections::HashMap;

use memory_core::id::Namespace;
use memory_core::lexicon::query_terms;
use memory_core::recall::{CorpusStats, bm25, idf};
use memory_store::search::{self, Hit, Scope};
use memory_store::{Conn, StoreError};

use crate::memory::Memory;

/// The most passages that are weighed for one question.
const CANDIDATES_MAX: i64 = 2_000;
/// The most terms of a question that count; the rarest are kept.
const TERMS_MAX: usize = 24;

struct Term {
    lexemes: Vec<(String, f32)>,
    /// How many passages have it, by its commonest form.
    frequency: f32,
}

impl Memory {
    /// The passages that have the question's words, best first, scored by BM25.
    pub(crate) async fn words_arm(
        &self,
        conn: &mut Conn,
        ns: &Namespace,
        scope: &Scope,
        query: &str,
        limit: usize,
    ) -> Result<Vec<Hit>, StoreError> {
        let stats = self.corpus(conn, ns).await?;
        let terms = self.weighed_terms(conn, ns, query).await?;
        if terms.is_empty() {
            return Ok(Vec::new());
        }
        // Rarest first, as many terms as the candidates' bound allows: a common word alone brings nobody in.
        let mut expected = 0.0;
        let wanted: Vec<&str> = terms
            .iter()
            .enumerate()
            .take_while(|(n, term)| {
                expected += term.frequency;
                *n == 0 || expected <= CANDIDATES_MAX as f32
            })
            .flat_map(|(_, term)| term.lexemes.iter().map(|(lexeme, _)| lexeme.as_str()))
            .collect();
        let lexemes: Vec<&str> =
            terms.iter().flat_map(|t| t.lexemes.iter().map(|(l, _)| l.as_str())).collect();
        let matches = search::with_words(conn, ns, scope, &wanted, &lexemes, CANDIDATES_MAX).await?;
        let mut hits: Vec<Hit> = matches
            .into_iter()
            .map(|found| Hit {
                passage_id: found.passage_id,
                revision_id: found.revision_id,
                artifact_id: found.artifact_id,
                is_latest: found.is_latest,
                score: score(stats, &terms, &found.frequencies, found.length),
            })
            .collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.passage_id.cmp(&b.passage_id)));
        hits.truncate(limit);
        Ok(hits)
    }

    async fn corpus(&self, conn: &mut Conn, ns: &Namespace) -> Result<CorpusStats, StoreError> {
        if let Some(stats) = self.statistics.corpus(ns) {
            return Ok(stats);
        }
        let stats = search::corpus_stats(conn, ns).await?;
        self.statistics.set_corpus(ns, stats);
        Ok(stats)
    }

    /// The question's terms that occur at all, rarest first.
    async fn weighed_terms(
        &self,
        conn: &mut Conn,
        ns: &Namespace,
        query: &str,
    ) -> Result<Vec<Term>, StoreError> {
        let terms = query_terms(query);
        let unknown: Vec<String> =
            terms.iter().flatten().filter(|l| self.statistics.frequency(ns, l).is_none()).cloned().collect();
        let mut counted_now: HashMap<String, f32> = HashMap::new();
        if !unknown.is_empty() {
            let counted = search::document_frequencies(conn, ns, &unknown).await?;
            counted_now = unknown.into_iter().zip(counted).collect();
            // A word that nobody has used yet may be used in the next moment: that is not kept.
            let known = counted_now.iter().filter(|(_, df)| **df > 0.0).map(|(l, df)| (l.clone(), *df));
            self.statistics.set_frequencies(ns, known);
        }
        let mut terms: Vec<Term> = terms
            .into_iter()
            .map(|alternatives| {
                let lexemes: Vec<(String, f32)> = alternatives
                    .into_iter()
                    .map(|lexeme| {
                        let frequency = counted_now
                            .get(&lexeme)
                            .copied()
                            .or_else(|| self.statistics.frequency(ns, &lexeme))
                            .unwrap_or(0.0);
                        (lexeme, frequency)
                    })
                    .filter(|(_, frequency)| *frequency > 0.0)
                    .collect();
                let frequency = lexemes.iter().map(|(_, df)| *df).fold(0.0, f32::max);
                Term { lexemes, frequency }
            })
            .collect();
        terms.retain(|term| term.frequency > 0.0);
        terms.sort_by(|a, b| a.frequency.total_cmp(&b.frequency));
        terms.truncate(TERMS_MAX);
        Ok(terms)
    }
}

/// Sum over the terms of the best weight among a term's lexemes.
fn score(stats: CorpusStats, terms: &[Term], frequencies: &[f32], length: f32) -> f32 {
    let mut at = 0;
    terms
        .iter()
        .map(|term| {
            let own = &frequencies[at..at + term.lexemes.len()];
            at += term.lexemes.len();
            let weight = idf(stats, term.frequency);
            own.iter().map(|frequency| bm25(stats, weight, *frequency, length)).fold(0.0, f32::max)
        })
        .sum()
}
