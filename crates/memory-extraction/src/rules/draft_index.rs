//! The rules' drafts by where their evidence stands, so that a clause finds its own without going through all.

use std::collections::HashMap;
use std::ops::Range;

use super::draft::Draft;

/// Evidence by segment, in the order in which it begins.
#[derive(Debug, Default)]
pub(super) struct DraftIndex(HashMap<usize, Vec<Placed>>);

#[derive(Debug)]
struct Placed {
    bytes: Range<usize>,
    /// Where the farthest of this and of all before it ends.
    reach: usize,
    draft: usize,
}

impl DraftIndex {
    pub(super) fn of(drafts: &[Draft]) -> Self {
        let mut index = Self::default();
        for (draft, evidence) in drafts
            .iter()
            .enumerate()
            .flat_map(|(draft, of)| of.evidence.iter().map(move |evidence| (draft, evidence)))
        {
            let (segment, bytes) = evidence;
            let placed = Placed { bytes: bytes.clone(), reach: bytes.end, draft };
            index.0.entry(*segment).or_default().push(placed);
        }
        for placed in index.0.values_mut() {
            placed.sort_by_key(|one| one.bytes.start);
            let mut reach = 0;
            for one in placed {
                reach = reach.max(one.reach);
                one.reach = reach;
            }
        }
        index
    }

    /// The numbers of the drafts whose evidence shares at least half of the shorter with these bytes, in order.
    pub(super) fn meeting(&self, segment: usize, bytes: &Range<usize>) -> Vec<usize> {
        let Some(placed) = self.0.get(&segment) else { return Vec::new() };
        let begun = placed.partition_point(|one| one.bytes.start < bytes.end);
        let near = placed[..begun].iter().rev().take_while(|one| one.reach > bytes.start);
        let mut found: Vec<usize> =
            near.filter(|one| shares_half(&one.bytes, bytes)).map(|one| one.draft).collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

fn shares_half(a: &Range<usize>, b: &Range<usize>) -> bool {
    let shared = a.end.min(b.end).saturating_sub(a.start.max(b.start));
    shared > 0 && shared * 2 >= a.len().min(b.len())
}
