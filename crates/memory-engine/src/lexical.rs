//! What a question asks for, word by word, and the lexical arm: BM25 over a bounded number of candidates,
//! rarest words first.

use std::collections::HashMap;

use memory_core::id::{Namespace, PassageId};
use memory_core::late_interaction::WeighedToken;
use memory_core::lexicon::{Query, QueryWord};
use memory_core::ports::TokenState;
use memory_core::recall::{CorpusStats, bm25, idf};
use memory_store::search::{self, Scope};
use memory_store::{Conn, StoreError};

use crate::memory::Memory;

/// The most passages that are looked at for one question.
const CANDIDATES_MAX: i64 = 1_000;
/// In a namespace with more passages common words are not counted but estimated.
const COUNTED_EXACTLY_MAX: f32 = 10_000.0;
/// The most terms of a question that count; the rarest are kept.
const TERMS_MAX: usize = 24;
/// A function word counts as if at least every second passage had it, though few may have.
const FUNCTION_WORD_SHARE: f32 = 0.5;

/// A question's words and what they weigh in a namespace.
pub(crate) struct Question {
    words: Vec<QueryWord>,
    stats: CorpusStats,
    /// Those that occur at all, rarest first.
    terms: Vec<Term>,
    /// In how many passages each lexeme stands.
    frequencies: HashMap<String, f32>,
}

struct Term {
    lexemes: Vec<(String, f32)>,
    /// How many passages have it, by its commonest form.
    frequency: f32,
}

impl Memory {
    pub(crate) async fn read_question(
        &self,
        conn: &mut Conn,
        ns: &Namespace,
        query: &str,
    ) -> Result<Question, StoreError> {
        let stats = match self.statistics.corpus(ns) {
            Some(stats) => stats,
            None => {
                let stats = search::corpus_stats(conn, ns).await?;
                self.statistics.set_corpus(ns, stats);
                if stats.passages > COUNTED_EXACTLY_MAX {
                    self.statistics.set_frequencies(ns, search::common_lexemes(conn, ns).await?);
                }
                stats
            }
        };
        let query = Query::new(query);
        let (terms, words) = (query.terms(), query.words());
        let of_words = words.iter().flat_map(|word| &word.lexemes);
        let lexemes: Vec<String> = terms.iter().flatten().chain(of_words).cloned().collect();
        let frequencies = self.frequencies(conn, ns, lexemes).await?;
        let mut terms: Vec<Term> = terms
            .iter()
            .map(|alternatives| {
                let frequency = |lexeme: &String| frequencies.get(lexeme).copied().unwrap_or(0.0);
                let lexemes: Vec<(String, f32)> = alternatives
                    .iter()
                    .map(|lexeme| (lexeme.clone(), frequency(lexeme)))
                    .filter(|(_, frequency)| *frequency > 0.0)
                    .collect();
                let frequency = lexemes.iter().map(|(_, df)| *df).fold(0.0, f32::max);
                Term { lexemes, frequency }
            })
            .collect();
        terms.retain(|term| term.frequency > 0.0);
        terms.sort_by(|a, b| a.frequency.total_cmp(&b.frequency));
        terms.truncate(TERMS_MAX);
        Ok(Question { words, stats, terms, frequencies })
    }

    /// In how many passages each lexeme stands, as far as that was not counted lately.
    async fn frequencies(
        &self,
        conn: &mut Conn,
        ns: &Namespace,
        mut lexemes: Vec<String>,
    ) -> Result<HashMap<String, f32>, StoreError> {
        lexemes.sort_unstable();
        lexemes.dedup();
        let mut frequencies = HashMap::with_capacity(lexemes.len());
        lexemes.retain(|lexeme| match self.statistics.frequency(ns, lexeme) {
            Some(frequency) => frequencies.insert(lexeme.clone(), frequency).is_some_and(|_| false),
            None => true,
        });
        if !lexemes.is_empty() {
            let counted = search::document_frequencies(conn, ns, &lexemes).await?;
            // A word that nobody has used yet may be used in the next moment: that is not kept.
            let known = lexemes.iter().cloned().zip(counted.iter().copied()).filter(|(_, df)| *df > 0.0);
            self.statistics.set_frequencies(ns, known);
            frequencies.extend(lexemes.into_iter().zip(counted));
        }
        Ok(frequencies)
    }
}

impl Question {
    /// The passages that have the question's words, best first, with their BM25.
    pub(crate) async fn passages(
        &self,
        conn: &mut Conn,
        ns: &Namespace,
        scope: &Scope,
        limit: usize,
    ) -> Result<Vec<(PassageId, f32)>, StoreError> {
        if self.terms.is_empty() {
            return Ok(Vec::new());
        }
        // Rarest first, as many terms as the candidates' bound allows: a common word alone brings nobody in.
        let mut expected = 0.0;
        let wanted = self
            .terms
            .iter()
            .enumerate()
            .take_while(|(n, term)| {
                expected += term.frequency;
                *n == 0 || expected <= CANDIDATES_MAX as f32
            })
            .map(|(_, term)| term.lexemes.len())
            .sum();
        let lexemes: Vec<(&str, f32)> = self
            .terms
            .iter()
            .flat_map(|term| {
                let weight = idf(self.stats, term.frequency);
                term.lexemes.iter().map(move |(lexeme, _)| (lexeme.as_str(), weight))
            })
            .collect();
        let matches = search::with_words(conn, ns, scope, wanted, &lexemes, CANDIDATES_MAX).await?;
        let mut hits: Vec<(PassageId, f32)> = matches
            .into_iter()
            .map(|found| (found.passage_id, self.bm25(&found.frequencies, found.length)))
            .collect();
        hits.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        hits.truncate(limit);
        Ok(hits)
    }

    /// Sum over the terms of the best weight among a term's lexemes.
    fn bm25(&self, frequencies: &[f32], length: f32) -> f32 {
        let mut at = 0;
        self.terms
            .iter()
            .map(|term| {
                let own = &frequencies[at..at + term.lexemes.len()];
                at += term.lexemes.len();
                let weight = idf(self.stats, term.frequency);
                own.iter().map(|frequency| bm25(self.stats, weight, *frequency, length)).fold(0.0, f32::max)
            })
            .sum()
    }

    /// The question's tokens, each with the weight of the word that it is a part of: the rarer the word, the more
    /// it counts.
    pub(crate) fn weighed<'a>(&self, tokens: &'a [TokenState]) -> Vec<WeighedToken<'a>> {
        let weight = |begin: usize| {
            let word = self.words.iter().find(|word| (word.start..word.end).contains(&begin))?;
            let known = word.lexemes.iter().filter_map(|lexeme| self.frequencies.get(lexeme));
            let mut frequency = known.copied().fold(0.0, f32::max);
            if word.is_function_word {
                frequency = frequency.max(FUNCTION_WORD_SHARE * self.stats.passages);
            }
            Some(idf(self.stats, frequency))
        };
        let weigh =
            |token: &'a TokenState| Some(WeighedToken { weight: weight(token.begin)?, state: &token.state });
        tokens.iter().filter_map(weigh).collect()
    }
}
