//! Arithmetic on what models make of texts: vectors, and the states of tokens. A crate of its own, since it is compiled with
//! optimisation for tests too.

pub mod late_interaction;

/// The product of two vectors of one length, in eight sums side by side, which a processor adds up at once.
pub fn product(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 8;
    let mut sums = [0.0_f32; LANES];
    let (a_eights, a_rest) = a.as_chunks::<LANES>();
    let (b_eights, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a_eights.iter().zip(b_eights) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f32>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f32>()
}
