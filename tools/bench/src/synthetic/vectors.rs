//! Invented vectors, and a model that gives them at once.

use std::sync::Arc;

use async_trait::async_trait;
use memory_core::ports::{Embedded, EmbeddingError, EmbeddingModel, ModelInfo, TokenState};
use memory_language::hash::stable_hash;

use super::World;
use measuring::random::Random;

/// What a text can be about, and how: a vector is one of each, and noise.
const TOPICS: usize = 512;
const FACETS: usize = 4_096;
const FACET_WEIGHT: f32 = 0.7;
const NOISE_WEIGHT: f32 = 0.5;

pub(super) struct Clusters {
    dimension: usize,
    topics: Vec<Vec<f32>>,
    facets: Vec<Vec<f32>>,
}

impl Clusters {
    pub(super) fn new(seed: u64, dimension: usize) -> Self {
        let mut random = Random::of(seed, u64::MAX);
        let mut units = |count| (0..count).map(|_| unit(noise(&mut random, dimension))).collect();
        Self { dimension, topics: units(TOPICS), facets: units(FACETS) }
    }

    pub(super) fn dimension(&self) -> usize {
        self.dimension
    }

    pub(super) fn draw(&self, random: &mut Random) -> Vec<f32> {
        let (topic, facet) = (random.pick(&self.topics), random.pick(&self.facets));
        let mut vector = noise(random, self.dimension);
        let scale = NOISE_WEIGHT / (self.dimension as f32).sqrt();
        for ((x, topic), facet) in vector.iter_mut().zip(topic).zip(facet) {
            *x = *x * scale + topic + FACET_WEIGHT * facet;
        }
        unit(vector)
    }
}

fn noise(random: &mut Random, dimension: usize) -> Vec<f32> {
    (0..dimension).map(|_| random.bell()).collect()
}

fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
    for x in &mut vector {
        *x /= length;
    }
    vector
}

/// Gives each text a vector of the world's clusters, without any work: what is measured is the search.
pub struct SyntheticModel {
    info: ModelInfo,
    world: Arc<World>,
}

impl SyntheticModel {
    pub fn new(world: Arc<World>) -> Self {
        let dimension = world.clusters.dimension;
        Self { info: ModelInfo { id: format!("synthetic-{dimension}"), dimension }, world }
    }

    fn embedded(&self, text: &str) -> Embedded {
        let vector = self.world.clusters.draw(&mut Random::new(stable_hash(text)));
        let dimension = self.info.dimension;
        let tokens = text.split_whitespace().map(|word| TokenState {
            begin: word.as_ptr() as usize - text.as_ptr() as usize,
            state: signs(word, dimension).map(|is_positive| if is_positive { 1.0 } else { -1.0 }).collect(),
        });
        let tokens = tokens.map(|token| TokenState { state: unit(token.state), ..token }).collect();
        Embedded { vector, tokens }
    }
}

/// What [`memory_core::late_interaction::compress`] makes of the model's tokens.
pub(super) fn compressed_tokens(text: &str, dimension: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in text.split_whitespace() {
        let signs: Vec<bool> = signs(word, dimension).collect();
        bytes.extend(signs.chunks(8).map(|signs| {
            signs
                .iter()
                .enumerate()
                .fold(0, |byte, (bit, is_positive)| byte | (u8::from(*is_positive) << bit))
        }));
    }
    bytes
}

/// A word's own direction, the same in every text.
fn signs(word: &str, dimension: usize) -> impl Iterator<Item = bool> {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let mut random = Random::new(stable_hash(&word));
    (0..dimension.div_ceil(64))
        .map(move |_| random.bits())
        .flat_map(|bits| (0..64).map(move |bit| bits >> bit & 1 == 1))
        .take(dimension)
}

#[async_trait]
impl EmbeddingModel for SyntheticModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    async fn embed_passages(&self, texts: Vec<String>) -> Result<Vec<Embedded>, EmbeddingError> {
        Ok(texts.iter().map(|text| self.embedded(text)).collect())
    }

    async fn embed_query(&self, text: &str) -> Result<Embedded, EmbeddingError> {
        Ok(self.embedded(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dot(a: &[f32], b: &[f32]) -> f32 {
        a.iter().zip(b).map(|(x, y)| x * y).sum()
    }

    #[test]
    fn vectors_have_unit_length_and_lie_near_their_topic() {
        let clusters = Clusters::new(5, 384);
        let mut random = Random::new(9);
        for _ in 0..50 {
            let vector = clusters.draw(&mut random);
            assert!((dot(&vector, &vector) - 1.0).abs() < 1e-4);
            let nearest = clusters.topics.iter().map(|t| dot(t, &vector)).fold(f32::MIN, f32::max);
            assert!(nearest > 0.6 && nearest < 0.95, "{nearest}");
        }
    }
}
