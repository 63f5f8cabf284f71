//! What a question asks for, word by word, and the lexical arm: BM25 over a bounded number of candidates,
//! rarest words first.

use std::collections::HashMap;

use memory_core::id::{Namespace, PassageId, RevisionId};
use memory_core::ports::TokenState;
use memory_core::recall::{CorpusStats, bm25, idf};
use memory_language::lexicon::{Query, QueryWord, is_function_word};
use memory_store::search::{self, Breadth, Scope, WordSearch};
use memory_store::{Conn, StoreError};
use memory_vectors::late_interaction::WeighedToken;

use crate::Memory;
use crate::resident::Resident;
use crate::statistics::Corpus;

/// Terms bring in passages, rarest first, as long as no more than this are expected.
const EXPECTED_MAX: f32 = 1_000.0;
/// Of how many passages the words are weighed exactly: at least of the first, for each that is wanted of the second, at most
/// of the third.
const WEIGHED_MIN: usize = 200;
const WEIGHED_FOR_EACH: usize = 4;
const WEIGHED_MAX: usize = 1_000;
/// In a namespace with more passages common words are not counted but estimated.
const COUNTED_EXACTLY_MAX: f32 = 10_000.0;
/// The most terms of a question that count; the rarest are kept.
const TERMS_MAX: usize = 24;
/// A function word counts as if at least every second passage had it, though few may have.
const FUNCTION_WORD_SHARE: f32 = 0.5;

/// A question's words and what they weigh in a namespace.
#[derive(Default)]
pub(crate) struct Question {
    words: Vec<QueryWord>,
    stats: CorpusStats,
    /// Those that occur at all, rarest first.
    terms: Vec<Term>,
    /// In how many passages each lexeme occurs.
    frequencies: HashMap<String, f32>,
    /// What all its terms weigh, those too that no passage has.
    weight: f32,
    /// The newest passage of the namespace.
    pub(crate) newest: i64,
    pub(crate) has_directives: bool,
}

/// What was counted of a namespace for a question.
struct Counted {
    corpus: Corpus,
    /// In how many passages each lexeme occurs.
    frequencies: HashMap<String, f32>,
    has_directives: bool,
}

struct Term {
    lexemes: Vec<(String, f32)>,
    /// How many passages have it, by its commonest form.
    frequency: f32,
    /// How much of what is asked it is.
    weight: f32,
}

/// A passage that has some of a question's words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct WordHit {
    pub(crate) passage_id: PassageId,
    pub(crate) bm25: f32,
    /// How much of the question's words it has, by their weights: 0 to 1.
    pub(crate) coverage: f32,
}

impl Memory {
    pub(crate) async fn read_question(
        &self,
        conn: &mut Conn,
        ns: &Namespace,
        query: &str,
    ) -> Result<Question, StoreError> {
        let query = Query::new(query);
        let (terms, words) = (query.terms(), query.words());
        let of_words = words.iter().flat_map(|word| &word.lexemes);
        let lexemes: Vec<String> = terms.iter().flatten().chain(of_words).cloned().collect();
        let Counted { corpus, frequencies, has_directives } = self.count(conn, ns, lexemes).await?;
        let Corpus { stats, newest } = corpus;
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
                let weight = idf(stats, asked_frequency(alternatives, frequency, stats));
                Term { lexemes, frequency, weight }
            })
            .collect();
        let weight = terms.iter().map(|term| term.weight).sum();
        terms.retain(|term| term.frequency > 0.0);
        terms.sort_by(|a, b| a.frequency.total_cmp(&b.frequency));
        terms.truncate(TERMS_MAX);
        Ok(Question { words, stats, terms, frequencies, weight, newest, has_directives })
    }

    /// The size of the namespace, counted again when it has grown since; and in how many passages each lexeme occurs, as
    /// far as that was not counted lately.
    async fn count(
        &self,
        conn: &mut Conn,
        ns: &Namespace,
        mut lexemes: Vec<String>,
    ) -> Result<Counted, StoreError> {
        lexemes.sort_unstable();
        lexemes.dedup();
        let mut frequencies = HashMap::with_capacity(lexemes.len());
        let mut uncounted = lexemes;
        self.take_counted(ns, &mut uncounted, &mut frequencies);
        let known = self.statistics.corpus(ns);
        let allowed = known.map_or(0, |corpus| corpus.growth_allowed());
        // Where the namespace has to be counted first, its common words may not have to be.
        let asked: &[String] = if known.is_some() { &uncounted } else { &[] };
        let since = known.map_or(i64::MAX, |corpus| corpus.newest);
        let counts = search::count_words(conn, ns, since, allowed + 1, asked).await?;
        let (newest, has_directives) = (counts.newest, counts.has_directives);
        if let Some(Corpus { stats, .. }) = known {
            self.note_counted(ns, uncounted, counts.frequencies, &mut frequencies);
            if counts.newer <= allowed {
                return Ok(Counted { corpus: Corpus { stats, newest }, frequencies, has_directives });
            }
            let corpus = self.count_corpus(conn, ns, newest).await?;
            return Ok(Counted { corpus, frequencies, has_directives });
        }
        let corpus = self.count_corpus(conn, ns, newest).await?;
        self.take_counted(ns, &mut uncounted, &mut frequencies);
        if !uncounted.is_empty() {
            let counts = search::count_words(conn, ns, newest, 0, &uncounted).await?;
            self.note_counted(ns, uncounted, counts.frequencies, &mut frequencies);
        }
        Ok(Counted { corpus, frequencies, has_directives })
    }

    async fn count_corpus(&self, conn: &mut Conn, ns: &Namespace, newest: i64) -> Result<Corpus, StoreError> {
        let corpus = Corpus { stats: search::corpus_stats(conn, ns).await?, newest };
        self.statistics.set_corpus(ns, corpus);
        if corpus.stats.passages > COUNTED_EXACTLY_MAX {
            self.statistics.set_frequencies(ns, search::common_lexemes(conn).await?);
        }
        Ok(corpus)
    }

    /// Moves the lexemes that were counted lately to the frequencies.
    fn take_counted(
        &self,
        ns: &Namespace,
        lexemes: &mut Vec<String>,
        frequencies: &mut HashMap<String, f32>,
    ) {
        lexemes.retain(|lexeme| {
            let counted = self.statistics.frequency(ns, lexeme);
            frequencies.extend(counted.map(|frequency| (lexeme.clone(), frequency)));
            counted.is_none()
        });
    }

    fn note_counted(
        &self,
        ns: &Namespace,
        lexemes: Vec<String>,
        counted: Vec<f32>,
        frequencies: &mut HashMap<String, f32>,
    ) {
        // A word that no passage has yet may come with the next one: that is not cached.
        let known = lexemes.iter().cloned().zip(counted.iter().copied()).filter(|(_, df)| *df > 0.0);
        self.statistics.set_frequencies(ns, known);
        frequencies.extend(lexemes.into_iter().zip(counted));
    }
}

impl Question {
    /// The passages that have the question's words, best first.
    pub(crate) async fn passages(
        &self,
        conn: &mut Conn,
        ns: &Namespace,
        scope: &Scope,
        breadth: Breadth,
        resident: Option<&Resident>,
    ) -> Result<Vec<WordHit>, StoreError> {
        if self.terms.is_empty() || scope.is_empty() {
            return Ok(Vec::new());
        }
        // Rarest first, as many terms as the candidates' bound allows: a common word alone brings no candidate.
        let mut expected = 0.0;
        let wanted = self
            .terms
            .iter()
            .enumerate()
            .take_while(|(n, term)| {
                expected += term.frequency;
                *n == 0 || expected <= EXPECTED_MAX
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
        let weighed = (breadth.passages * WEIGHED_FOR_EACH).clamp(WEIGHED_MIN, WEIGHED_MAX);
        let search = WordSearch { lexemes: &lexemes, wanted, weighed };
        let matches = match resident.zip(scope.admitted()) {
            Some((resident, admitted)) => resident.with_words(admitted, search),
            None => search::with_words(conn, ns, scope, search).await?,
        };
        let mut hits: Vec<_> = matches
            .into_iter()
            .map(|found| {
                let bm25 = self.bm25(&found.frequencies, found.length);
                let coverage = self.coverage(&found.frequencies);
                (found.revision_id, WordHit { passage_id: found.passage_id, bm25, coverage })
            })
            .collect();
        hits.sort_by(|(_, a), (_, b)| b.bm25.total_cmp(&a.bm25).then(a.passage_id.cmp(&b.passage_id)));
        let mut of_text: HashMap<RevisionId, usize> = HashMap::new();
        hits.retain(|(text, _)| {
            text.is_none_or(|text| {
                let count = of_text.entry(text).or_default();
                *count += 1;
                *count <= breadth.of_text
            })
        });
        Ok(hits.into_iter().take(breadth.passages).map(|(_, hit)| hit).collect())
    }

    /// How often a passage has each term's lexemes, term by term.
    fn by_term<'a>(&'a self, frequencies: &'a [f32]) -> impl Iterator<Item = (&'a Term, &'a [f32])> {
        let mut rest = frequencies;
        self.terms.iter().map(move |term| {
            let (own, others) = rest.split_at(term.lexemes.len());
            rest = others;
            (term, own)
        })
    }

    /// How much of what is asked a passage has.
    fn coverage(&self, frequencies: &[f32]) -> f32 {
        let met = self.by_term(frequencies).filter(|(_, own)| own.iter().any(|frequency| *frequency > 0.0));
        met.map(|(term, _)| term.weight).sum::<f32>() / self.weight.max(f32::EPSILON)
    }

    /// Sum over the terms of the best weight among a term's lexemes.
    fn bm25(&self, frequencies: &[f32], length: f32) -> f32 {
        self.by_term(frequencies)
            .map(|(term, own)| {
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

/// The frequency that is assumed of a term whose measured one is `frequency`.
fn asked_frequency(alternatives: &[String], frequency: f32, stats: CorpusStats) -> f32 {
    if alternatives.iter().any(|lexeme| is_function_word(lexeme)) {
        frequency.max(FUNCTION_WORD_SHARE * stats.passages)
    } else {
        frequency
    }
}
