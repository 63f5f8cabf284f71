//! One-to-one matching of labels with what was found.

use std::cmp::Reverse;

/// Which label goes with which finding. It only grows: a label or finding that is matched stays matched, though perhaps
/// with another one.
#[derive(Debug, Clone)]
pub(super) struct Matching {
    found_of: Vec<Option<usize>>,
    label_of: Vec<Option<usize>>,
}

impl Matching {
    pub(super) fn new(labels: usize, found: usize) -> Self {
        Self { found_of: vec![None; labels], label_of: vec![None; found] }
    }

    /// The finding that goes with a label.
    pub(super) fn found(&self, label: usize) -> Option<usize> {
        self.found_of[label]
    }

    /// The label that goes with a finding.
    pub(super) fn label(&self, found: usize) -> Option<usize> {
        self.label_of[found]
    }

    /// Matches as many of the labels as can be, in addition to those that are matched. `fit` says how well a label and a
    /// finding go together, if they do; better ones are tried first.
    pub(super) fn grow(
        &mut self,
        labels: impl IntoIterator<Item = usize>,
        fit: impl Fn(usize, usize) -> Option<u32>,
    ) {
        let mut fitting: Vec<Option<Vec<usize>>> = vec![None; self.found_of.len()];
        for label in labels {
            if self.found_of[label].is_none() {
                let mut seen = vec![false; self.label_of.len()];
                self.augment(label, &fit, &mut fitting, &mut seen);
            }
        }
    }

    /// Finds a free finding, else one whose label can take another.
    fn augment(
        &mut self,
        label: usize,
        fit: &impl Fn(usize, usize) -> Option<u32>,
        fitting: &mut [Option<Vec<usize>>],
        seen: &mut [bool],
    ) -> bool {
        let candidates =
            fitting[label].get_or_insert_with(|| ranked(label, self.label_of.len(), fit)).clone();
        let free = candidates.iter().copied().find(|found| self.label_of[*found].is_none());
        if let Some(found) = free {
            self.pair(label, found);
            return true;
        }
        for found in candidates {
            if std::mem::replace(&mut seen[found], true) {
                continue;
            }
            let taken_by = self.label_of[found];
            if taken_by.is_none_or(|other| self.augment(other, fit, fitting, seen)) {
                self.pair(label, found);
                return true;
            }
        }
        false
    }

    fn pair(&mut self, label: usize, found: usize) {
        self.found_of[label] = Some(found);
        self.label_of[found] = Some(label);
    }
}

/// The findings that fit a label, best first.
fn ranked(label: usize, found: usize, fit: &impl Fn(usize, usize) -> Option<u32>) -> Vec<usize> {
    let mut fitting: Vec<(Reverse<u32>, usize)> =
        (0..found).filter_map(|found| fit(label, found).map(|how| (Reverse(how), found))).collect();
    fitting.sort_unstable();
    fitting.into_iter().map(|(_, found)| found).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table of fits: a line a label, a digit a finding, 0 where they do not go together.
    fn fits(table: &'static [&'static str]) -> impl Fn(usize, usize) -> Option<u32> {
        |label, found| {
            let digit = u32::from(table[label].as_bytes()[found] - b'0');
            (digit > 0).then_some(digit)
        }
    }

    fn pairs(matching: &Matching, labels: usize) -> Vec<Option<usize>> {
        let found: Vec<Option<usize>> = (0..labels).map(|label| matching.found(label)).collect();
        for (label, found) in found.iter().enumerate() {
            assert!(found.is_none_or(|found| matching.label(found) == Some(label)));
        }
        found
    }

    #[test]
    fn as_many_are_matched_as_can_be() {
        // The first label must leave its best finding to the second, and so on down the line.
        let mut matching = Matching::new(3, 3);
        matching.grow(0..3, fits(&["910", "091", "900"]));
        assert_eq!(pairs(&matching, 3), [Some(1), Some(2), Some(0)]);
        let mut matching = Matching::new(3, 2);
        matching.grow(0..3, fits(&["11", "11", "11"]));
        assert_eq!(pairs(&matching, 3), [Some(0), Some(1), None]);
    }

    #[test]
    fn the_better_of_two_is_taken_and_equal_ones_in_order() {
        let mut matching = Matching::new(2, 3);
        matching.grow(0..2, fits(&["151", "101"]));
        assert_eq!(pairs(&matching, 2), [Some(1), Some(0)]);
    }

    #[test]
    fn who_comes_first_keeps_a_place_when_the_matching_grows() {
        let mut matching = Matching::new(2, 1);
        matching.grow([0], fits(&["1", "9"]));
        matching.grow([1], fits(&["1", "9"]));
        assert_eq!(pairs(&matching, 2), [Some(0), None]);
    }
}
