//! The mirror of the vectors in Qdrant. Postgres searches its own by `search::nearest`.
//!
//! Postgres stays the truth. [`mirrors`] and [`outbox`] are its state of the mirror, [`points`] what a point has to be
//! like, [`qdrant`] the other side.

pub mod mirrors;
pub mod outbox;
pub mod points;
pub mod qdrant;

mod settings;

use std::time::Duration;

use memory_core::id::{Namespace, PassageId};
pub use settings::{MirrorSettings, Quantization, SearchVia, Times, api_key};

use crate::models::ActiveModel;
use crate::search::Scope;

/// What is looked for.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    pub ns: &'a Namespace,
    pub scope: &'a Scope,
    pub model: &'a ActiveModel,
    /// Of the model's dimension, finite and not zero.
    pub vector: &'a [f32],
    pub limit: usize,
}

/// A passage and the cosine of its vector and the one that was looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Near {
    pub passage_id: PassageId,
    pub cosine: f32,
}

/// Why the server did not do what it was asked, by what its caller does next.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum IndexError {
    /// Try again later. A write may have been carried out, or still be.
    #[error("{0}")]
    Unavailable(String),
    /// Try again after this long; nothing was carried out.
    #[error("it is overloaded and asks to wait {} s", .0.as_secs())]
    Busy(Duration),
    /// The collection is not there.
    #[error("the collection {0} is not there")]
    Missing(String),
    /// The key is wrong or not allowed to do this.
    #[error("the key was refused: {0}")]
    Unauthorised(String),
    /// It will not do this, however often it is asked.
    #[error("the request was refused: {0}")]
    Refused(String),
    /// The vector cannot be compared with any.
    #[error("{0}")]
    Unfit(String),
}

impl IndexError {
    /// A write that ended like this may still be carried out.
    pub fn is_unclear(&self) -> bool {
        matches!(self, Self::Unavailable(_))
    }
}

/// A vector that has a direction and the right dimension. Others are accepted by servers and then rank first everywhere.
pub fn check(vector: &[f32], dimension: usize) -> Result<(), IndexError> {
    if vector.len() != dimension {
        return Err(IndexError::Unfit(format!(
            "the vector has {} numbers, the model's have {dimension}",
            vector.len()
        )));
    }
    if !vector.iter().all(|x| x.is_finite()) {
        return Err(IndexError::Unfit("the vector has a number that is not finite".into()));
    }
    let norm = vector.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>();
    if norm <= f64::from(f32::MIN_POSITIVE) {
        return Err(IndexError::Unfit("the vector is zero".into()));
    }
    Ok(())
}

/// Nearest first, equals by their ids: servers leave the order of equals open.
pub(crate) fn in_order(mut near: Vec<Near>) -> Vec<Near> {
    near.sort_by(|a, b| b.cosine.total_cmp(&a.cosine).then(a.passage_id.cmp(&b.passage_id)));
    near
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_vectors_with_a_direction_are_fit() {
        assert_eq!(check(&[0.6, 0.8], 2), Ok(()));
        for unfit in [&[0.6][..], &[0.6, 0.8, 0.0], &[f32::NAN, 1.0], &[f32::INFINITY, 1.0], &[0.0, -0.0]] {
            assert!(matches!(check(unfit, 2), Err(IndexError::Unfit(_))), "{unfit:?}");
        }
    }
}
