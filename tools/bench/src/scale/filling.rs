//! Filling a database in bulk: notes by the thousand, then the indexes.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use futures::StreamExt;
use memory_core::artifact::NewArtifact;
use memory_core::chunk::count_tokens;
use memory_core::id::Namespace;
use memory_core::render::Surroundings;
use memory_language::lexicon::lexeme_counts;
use memory_language::text::CharSpan;
use memory_store::models::ActiveModel;
use memory_store::passages::{NewPassage, PassageVector, lex_literal};
use serde::{Deserialize, Serialize};

use super::bulk::{self, Note};
use super::{Plan, Sized, namespace};
use crate::Bars;
use crate::synthetic::World;

/// Notes of one transaction.
const BATCH: u64 = 2_000;
/// Batches made at the same time as one is stored.
const BATCHES_AHEAD: usize = 2;

/// How long each step took, in seconds.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Filled {
    pub rows_seconds: f64,
    pub lexical_index_seconds: f64,
    pub vector_index_seconds: f64,
    pub tidying_seconds: f64,
}

pub(super) async fn fill(
    of: &Sized<'_>,
    plan: &Plan,
    world: &Arc<World>,
    active: &ActiveModel,
    bars: Bars,
) -> anyhow::Result<Filled> {
    let ns = namespace();
    let mut owner = of.store.for_schema().await?;
    let indexes = bulk::take_down_indexes(&mut owner).await?;
    let bar = bars("notes stored");
    bar.set_length(of.size);
    let started = Instant::now();
    let mut batches = futures::stream::iter((0..of.size).step_by(BATCH as usize))
        .map(|first| {
            let (world, ns) = (Arc::clone(world), ns.clone());
            let numbers = first..(first + BATCH).min(of.size);
            tokio::task::spawn_blocking(move || {
                numbers.map(|n| note(&world, &ns, n)).collect::<Result<Vec<_>, _>>()
            })
        })
        .buffered(BATCHES_AHEAD);
    while let Some(notes) = batches.next().await {
        let notes = notes??;
        let mut tx = of.store.begin_across().await?;
        bulk::insert(&mut tx, &ns, &notes, active.model_id).await?;
        tx.commit().await?;
        bar.inc(notes.len() as u64);
    }
    bar.finish_and_clear();
    let rows_seconds = started.elapsed().as_secs_f64();
    let mut of_method = [("gin", 0.0), ("hnsw", 0.0)];
    for index in &indexes {
        let started = Instant::now();
        bulk::build_index(&mut owner, index, plan.build_memory_mb)
            .await
            .with_context(|| format!("the index {} could not be built", index.name))?;
        for (_, seconds) in of_method.iter_mut().filter(|(method, _)| *method == index.method) {
            *seconds += started.elapsed().as_secs_f64();
        }
    }
    let started = Instant::now();
    bulk::tidy(&mut owner).await?;
    Ok(Filled {
        rows_seconds,
        lexical_index_seconds: of_method[0].1,
        vector_index_seconds: of_method[1].1,
        tidying_seconds: started.elapsed().as_secs_f64(),
    })
}

/// The note as remembering it would prepare it; but always one passage, also where invented words take more tokens than a
/// passage has.
pub fn note(world: &World, ns: &Namespace, number: u64) -> anyhow::Result<Note> {
    let new = NewArtifact::new(world.note(number))?;
    let lexemes = lexeme_counts(&Surroundings::new(&new.meta, None).words_of(&new.content, true));
    Ok(Note {
        token_count: count_tokens(&new.content),
        passage: NewPassage {
            chunk_index: None,
            span: CharSpan::new(0, new.content.chars().count()),
            text: new.content.as_str().into(),
            lex: lex_literal(ns, &lexemes),
            lex_length: lexemes.length,
            embedding: Some(PassageVector {
                vector: world.vector(number),
                states: world.states(&new.content),
            }),
        },
        new,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_note_is_one_passage_of_its_whole_text() {
        let world = World::new(1, 8);
        for number in 0..100 {
            let note = note(&world, &Namespace::default(), number).unwrap();
            assert_eq!(*note.passage.text, note.new.content);
            assert!(note.passage.lex_length > 30 && note.token_count < 250, "{}", note.token_count);
        }
    }
}
