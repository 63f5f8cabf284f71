//! A text of many passages: they are rendered and their words counted on several threads, away from those that serve calls.

use std::num::NonZero;
use std::sync::Arc;
use std::thread;

use memory_core::chunk::{Chunked, Passage};
use memory_core::id::Namespace;
use memory_core::render::Surroundings;
use memory_language::lexicon::lexeme_counts;
use memory_store::passages::{self, NewPassage};

use crate::EngineError;
use crate::error::on_own_thread;

/// A thread is worth its start from so many passages on.
const PASSAGES_A_THREAD: usize = 200;
const THREADS_MAX: usize = 4;

/// The passages of a text as they are stored until their vectors are made.
pub(crate) async fn without_vectors(
    ns: &Namespace,
    chunked: &Arc<Chunked>,
    surroundings: &Surroundings,
) -> Result<Vec<NewPassage>, EngineError> {
    let (ns, chunked, surroundings) = (ns.clone(), Arc::clone(chunked), surroundings.clone());
    on_own_thread(move || counted(&ns, &chunked.passages, &surroundings)).await
}

/// The same, by whoever is on a thread of its own already.
pub(crate) fn counted(ns: &Namespace, all: &[Passage], surroundings: &Surroundings) -> Vec<NewPassage> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(THREADS_MAX);
    let share = all.len().div_ceil(threads).max(PASSAGES_A_THREAD);
    if all.len() <= share {
        return each(ns, all, surroundings, 0);
    }
    thread::scope(|scope| {
        let parts: Vec<_> = all
            .chunks(share)
            .enumerate()
            .map(|(n, part)| scope.spawn(move || each(ns, part, surroundings, n * share)))
            .collect();
        let mut counted = Vec::with_capacity(all.len());
        for part in parts {
            match part.join() {
                Ok(passages) => counted.extend(passages),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        counted
    })
}

fn each(ns: &Namespace, part: &[Passage], surroundings: &Surroundings, first: usize) -> Vec<NewPassage> {
    let passages = part.iter().enumerate();
    passages
        .map(|(n, passage)| {
            let lexemes = lexeme_counts(&surroundings.words_of(&passage.text, first + n == 0));
            NewPassage {
                chunk_index: passage.chunk_index,
                span: passage.span,
                text: Arc::clone(&passage.text),
                lex: passages::lex_literal(ns, &lexemes),
                lex_length: lexemes.length,
                embedding: None,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use memory_core::artifact::{Draft, NewArtifact};
    use memory_core::chunk::chunk_text;

    use super::*;

    #[test]
    fn several_threads_count_what_one_counts_in_the_same_order() {
        let text: String =
            (0..6_000).map(|n| format!("Entry {n} of the log says that pump {} ran. ", n * 7)).collect();
        let chunked = chunk_text(&text);
        assert!(chunked.passages.len() > 2 * PASSAGES_A_THREAD, "{}", chunked.passages.len());
        let draft = Draft { content: text, title: Some("Log".into()), ..Draft::default() };
        let surroundings = Surroundings::new(&NewArtifact::new(draft).expect("a text").meta, None);
        let shown = |passages: Vec<NewPassage>| -> Vec<((usize, usize), String, u32)> {
            passages.into_iter().map(|p| ((p.span.start, p.span.end), p.lex, p.lex_length)).collect()
        };
        let ns = Namespace::default();
        let one = each(&ns, &chunked.passages, &surroundings, 0);
        assert_eq!(shown(counted(&ns, &chunked.passages, &surroundings)), shown(one));
    }
}
