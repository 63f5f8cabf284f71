//! Random numbers that are the same on every machine and in every version: SplitMix64 (Steele et al. 2014).

#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The stream of its own that item `index` has.
    pub fn of(seed: u64, index: u64) -> Self {
        let mut mixer = Self(seed ^ index.wrapping_mul(0xd6e8_feb8_6659_fd93));
        Self(mixer.bits())
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 up to, not including, `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.bits()) * end as u128) >> 64) as usize
    }

    /// From 0 up to, not including, 1.
    pub fn share(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// About normal with mean 0 and variance 1: the sum of four uniform numbers, cheap enough for vectors.
    pub fn bell(&mut self) -> f32 {
        let bits = self.bits();
        let sum: i32 = (0..4).map(|part| ((bits >> (16 * part)) & 0xffff) as i32).sum();
        // Each of the four has mean 32767.5 and variance 65536²/12.
        (sum as f32 - 131_070.0) / 37_837.2
    }

    /// One of them; `items` is not empty.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_the_published_one() {
        let mut random = Random::new(1_234_567);
        assert_eq!(random.bits(), 6_457_827_717_110_365_317);
        assert_eq!(random.bits(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn numbers_stay_in_their_range_and_streams_differ() {
        let mut random = Random::new(7);
        let mut seen = [false; 5];
        for _ in 0..200 {
            seen[random.below(5)] = true;
            assert!((0.0..1.0).contains(&random.share()));
        }
        assert_eq!(seen, [true; 5]);
        assert_ne!(Random::of(7, 1).bits(), Random::of(7, 2).bits());
    }

    #[test]
    fn a_bell_has_mean_0_and_variance_1() {
        let mut random = Random::new(3);
        let drawn: Vec<f64> = (0..20_000).map(|_| f64::from(random.bell())).collect();
        let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
        let variance = drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / drawn.len() as f64;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
    }
}
