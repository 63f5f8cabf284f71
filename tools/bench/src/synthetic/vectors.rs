//! Invented vectors, and a model that gives them at once.

use std::sync::Arc;

use async_trait::async_trait;
use memory_core::ports::{Embedded, EmbeddingError, EmbeddingModel, ModelInfo, TokenState};
use memory_language::hash::stable_hash;

use super::World;
use measuring::random::Random;

/// A vector is a direction that all share, one of its topic, one of its family and one of its own, of which few dimensions have
/// most, as those of models do, and a little of all dimensions alike. Families are of all sizes, and topics and vectors keep together
/// more or less. The weights were chosen so that among as many vectors the distances to the nearest and how they grow, the
/// dimension that this says, and what share of the nearest an index finds are those of texts embedded by the default model.
const TOPICS: usize = 1_024;
const FAMILIES: f64 = 1e6;
const COMMON: f32 = 0.2;
const TOPIC: f32 = 0.36;
const FAMILY: f32 = 0.60;
const OWN: f32 = 0.72;
const EVEN: f32 = 0.15;
/// How much of a topic's and of a vector's own spread differs: the deviation of its logarithm.
const TOPIC_SPREAD: f32 = 0.8;
const OWN_SPREAD: f32 = 0.6;
/// The deviation of dimension `n` is `(KNEE + n)` to this power.
const FALL: f32 = -0.9;
const KNEE: f32 = 10.0;
/// What questions have beside, which are shorter than notes and farther from them than those from each other.
const QUESTION: f32 = 0.75;

struct Topic {
    centre: Vec<f32>,
    spread: f32,
}

pub(super) struct Clusters {
    seed: u64,
    dimension: usize,
    common: Vec<f32>,
    topics: Vec<Topic>,
    /// The deviation of each dimension; their squares are 1 together.
    deviations: Vec<f32>,
}

impl Clusters {
    pub(super) fn new(seed: u64, dimension: usize) -> Self {
        let mut random = Random::of(seed, u64::MAX);
        let deviations = unit((0..dimension).map(|n| (KNEE + n as f32).powf(FALL)).collect());
        let common = unit(noise(&mut random, dimension));
        let topics = (0..TOPICS)
            .map(|_| Topic {
                centre: noise(&mut random, dimension),
                spread: spread(&mut random, TOPIC_SPREAD),
            })
            .collect();
        Self { seed, dimension, common, topics, deviations }
    }

    pub(super) fn dimension(&self) -> usize {
        self.dimension
    }

    pub(super) fn draw(&self, random: &mut Random) -> Vec<f32> {
        unit(self.mixed(random))
    }

    fn draw_question(&self, random: &mut Random) -> Vec<f32> {
        let mut vector = self.draw(random);
        let scale = QUESTION / (self.dimension as f32).sqrt();
        for x in &mut vector {
            *x += scale * random.bell();
        }
        unit(vector)
    }

    fn mixed(&self, random: &mut Random) -> Vec<f32> {
        // Squared: the first families are the largest.
        let family = (FAMILIES * random.share().powi(2)) as u64;
        let mut of_family = Random::of(self.seed.rotate_left(31), family);
        let topic = of_family.pick(&self.topics);
        let own = OWN * topic.spread * spread(random, OWN_SPREAD);
        let even = EVEN / (self.dimension as f32).sqrt();
        (0..self.dimension)
            .map(|n| {
                let kin = TOPIC * topic.centre[n] + FAMILY * topic.spread * of_family.bell();
                COMMON * self.common[n]
                    + self.deviations[n] * (kin + own * random.bell())
                    + even * random.bell()
            })
            .collect()
    }
}

/// A factor of this deviation in its logarithm, the mean of whose squares is 1.
fn spread(random: &mut Random, deviation: f32) -> f32 {
    (deviation * random.bell() - deviation * deviation).exp()
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

    fn embedded(&self, text: &str, vector: Vec<f32>) -> Embedded {
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
        let vector = |text: &str| self.world.clusters.draw(&mut Random::new(stable_hash(text)));
        Ok(texts.iter().map(|text| self.embedded(text, vector(text))).collect())
    }

    async fn embed_query(&self, text: &str) -> Result<Embedded, EmbeddingError> {
        let vector = self.world.clusters.draw_question(&mut Random::new(stable_hash(text)));
        Ok(self.embedded(text, vector))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dot(a: &[f32], b: &[f32]) -> f32 {
        a.iter().zip(b).map(|(x, y)| x * y).sum()
    }

    /// Dimension that the growth of the nearest `depth` distances says (Levina and Bickel 2004).
    fn intrinsic_dimension(nearest: &[f32]) -> f32 {
        let distances: Vec<f32> =
            nearest.iter().map(|cosine| (2.0 - 2.0 * cosine).max(1e-9).sqrt()).collect();
        let (last, others) = distances.split_last().expect("some");
        -(others.len() as f32) / others.iter().map(|d| (d / last).ln()).sum::<f32>()
    }

    /// Medians over vectors drawn as notes are, or as questions are: the cosine of the tenth nearest note, and the dimensions
    /// by the nearest 10 and 100.
    fn medians(clusters: &Clusters, notes: &[Vec<f32>], is_question: bool) -> [f32; 3] {
        let mut random = Random::new(11);
        let mut found: [Vec<f32>; 3] = Default::default();
        for _ in 0..60 {
            let one =
                if is_question { clusters.draw_question(&mut random) } else { clusters.draw(&mut random) };
            let mut cosines: Vec<f32> = notes.iter().map(|note| dot(note, &one)).collect();
            cosines.sort_by(|a, b| b.total_cmp(a));
            found[0].push(cosines[9]);
            found[1].push(intrinsic_dimension(&cosines[..10]));
            found[2].push(intrinsic_dimension(&cosines[..100]));
        }
        found.map(|mut values| {
            values.sort_by(f32::total_cmp);
            values[values.len() / 2]
        })
    }

    #[test]
    fn vectors_have_unit_length_and_lie_to_each_other_as_those_of_texts_do() {
        let clusters = Clusters::new(5, 384);
        let mut random = Random::new(9);
        let notes: Vec<Vec<f32>> = (0..2_760).map(|_| clusters.draw(&mut random)).collect();
        assert!(notes.iter().all(|note| (dot(note, note) - 1.0).abs() < 1e-4));
        // Of 2,760 turns and of as many passages and summaries of programs: 0.62 and 0.38; 18 and 28; 16 and 28.
        let [cosine, at_10, at_100] = medians(&clusters, &notes, false);
        assert!((0.38..0.62).contains(&cosine), "{cosine}");
        assert!((17.0..35.0).contains(&at_10) && (16.0..35.0).contains(&at_100), "{at_10} {at_100}");
        let [of_question, ..] = medians(&clusters, &notes, true);
        assert!(of_question < cosine, "{of_question} {cosine}");
    }
}
