//! What is counted, and the figures that counts give.

use std::ops::AddAssign;

use serde::Serialize;

use crate::interval::statistic_of;

/// Findings and labels, by whether they have each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Findings that are labelled.
    pub right: usize,
    /// Findings that are not.
    pub wrong: usize,
    /// Labels that were found. Where findings are sorted by what they were taken for, it differs from `right`.
    pub met: usize,
    /// Labels that were not.
    pub missed: usize,
}

impl Counts {
    pub fn precision(self) -> Option<f64> {
        share(self.right, self.right + self.wrong)
    }

    pub fn recall(self) -> Option<f64> {
        share(self.met, self.met + self.missed)
    }

    /// The harmonic mean of both; 0 when nothing was found of what there is, or the reverse.
    pub fn f1(self) -> Option<f64> {
        let (precision, recall) = (self.precision(), self.recall());
        if precision.is_none() && recall.is_none() {
            return None;
        }
        let (precision, recall) = (precision.unwrap_or(0.0), recall.unwrap_or(0.0));
        let sum = precision + recall;
        Some(if sum > 0.0 { 2.0 * precision * recall / sum } else { 0.0 })
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.right += other.right;
        self.wrong += other.wrong;
        self.met += other.met;
        self.missed += other.missed;
    }
}

/// So many of so many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Part {
    pub right: usize,
    pub of: usize,
}

impl Part {
    pub(super) fn count(&mut self, is_right: bool) {
        self.right += usize::from(is_right);
        self.of += 1;
    }

    fn share(self) -> Option<f64> {
        share(self.right, self.of)
    }
}

impl AddAssign for Part {
    fn add_assign(&mut self, other: Self) {
        self.right += other.right;
        self.of += other.of;
    }
}

fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// A figure with its 95 % bootstrap interval over documents.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Figure {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

/// How exact and how complete; `None` where there is nothing to say it of.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Scored {
    #[serde(flatten)]
    pub counts: Counts,
    pub precision: Option<Figure>,
    pub recall: Option<Figure>,
    pub f1: Option<Figure>,
}

impl Scored {
    /// Of the sums over documents.
    pub(super) fn of(documents: &[Counts]) -> Self {
        let figure = |of: fn(Counts) -> Option<f64>| figure(documents, of);
        Self {
            counts: sum(documents.iter().copied()),
            precision: figure(Counts::precision),
            recall: figure(Counts::recall),
            f1: figure(Counts::f1),
        }
    }
}

/// How many of those that can be right are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Share {
    #[serde(flatten)]
    pub part: Part,
    pub share: Option<Figure>,
}

impl Share {
    pub(super) fn of(documents: &[Part]) -> Self {
        Self { part: sum(documents.iter().copied()), share: figure(documents, Part::share) }
    }
}

fn figure<T: AddAssign + Default + Copy>(documents: &[T], of: fn(T) -> Option<f64>) -> Option<Figure> {
    let [value, low, high] = statistic_of(documents, |items| of(sum(items.copied())))?;
    Some(Figure { value, low, high })
}

fn sum<T: AddAssign + Default>(items: impl Iterator<Item = T>) -> T {
    items.fold(T::default(), |mut all, item| {
        all += item;
        all
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_come_from_sums_over_documents() {
        let documents = [
            Counts { right: 3, wrong: 1, met: 3, missed: 0 },
            Counts { right: 1, wrong: 3, met: 1, missed: 4 },
            Counts::default(),
        ];
        let scored = Scored::of(&documents);
        let value = |figure: Option<Figure>| figure.unwrap().value;
        assert!((value(scored.precision) - 0.5).abs() < 1e-9 && (value(scored.recall) - 0.5).abs() < 1e-9);
        assert!((value(scored.f1) - 0.5).abs() < 1e-9);
        let Figure { low, high, .. } = scored.precision.unwrap();
        assert!((low - 0.25).abs() < 1e-9 && (high - 0.75).abs() < 1e-9);
    }

    #[test]
    fn nothing_to_find_has_no_figure_and_nothing_found_has_none_of_precision() {
        let none = Scored::of(&[Counts::default()]);
        assert_eq!((none.precision, none.recall, none.f1), (None, None, None));
        let missed = Scored::of(&[Counts { missed: 2, ..Counts::default() }]);
        assert_eq!((missed.precision, missed.f1.unwrap().value), (None, 0.0));
        assert_eq!(Share::of(&[Part::default()]).share, None);
    }
}
