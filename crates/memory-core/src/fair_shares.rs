//! Shares of time: whoever has used more than its share is passed over until the others have caught up. This is start-time
//! fair queueing (Goyal, Vin and Cheng 1996) with costs that are known only afterwards.

use std::collections::HashMap;
use std::hash::Hash;

/// More than these that are ahead are not kept; those least ahead are dropped.
const AHEAD_MAX: usize = 64;

/// Who is how far ahead of the others, in seconds divided by its weight.
#[derive(Debug, Clone)]
pub struct FairShares<K> {
    /// Where the use that began last has begun.
    clock: f64,
    /// Where the uses of each end. Those that are behind the clock are not in it: a pause gives no credit.
    ends: HashMap<K, f64>,
}

/// A use that has begun: whose it is, where it has begun, and where it will end if it costs what was expected.
#[derive(Debug, Clone)]
pub struct Use<K> {
    key: K,
    start: f64,
    end: f64,
}

impl<K> Default for FairShares<K> {
    fn default() -> Self {
        Self { clock: 0.0, ends: HashMap::new() }
    }
}

impl<K: Clone + Eq + Hash> FairShares<K> {
    /// How far it is ahead; 0 for who is next.
    pub fn ahead(&self, key: &K) -> f64 {
        self.ends.get(key).map_or(0.0, |end| end - self.clock)
    }

    /// All that are ahead, and how far; at most 64.
    pub fn all_ahead(&self) -> impl Iterator<Item = (&K, f64)> {
        self.ends.iter().map(|(key, end)| (key, end - self.clock))
    }

    /// Counts a use that begins now and is expected to cost so much.
    pub fn begin(&mut self, key: K, cost: f64) -> Use<K> {
        self.clock += self.ahead(&key);
        let end = self.clock + cost;
        self.ends.insert(key.clone(), end);
        let clock = self.clock;
        self.ends.retain(|_, end| *end > clock);
        self.drop_least();
        Use { key, start: self.clock, end }
    }

    /// Corrects a use by what it has really cost.
    pub fn finish(&mut self, used: Use<K>, cost: f64) {
        // Uses that have begun since then are moved with it.
        let since = self.ends.get(&used.key).map_or(0.0, |end| end - used.end);
        let end = used.start + cost + since;
        if end > self.clock {
            self.ends.insert(used.key, end);
            self.drop_least();
        } else {
            self.ends.remove(&used.key);
        }
    }

    fn drop_least(&mut self) {
        if self.ends.len() <= AHEAD_MAX {
            return;
        }
        let least = self.ends.iter().min_by(|a, b| a.1.total_cmp(b.1)).map(|(key, _)| key.clone());
        if let Some(least) = least {
            self.ends.remove(&least);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Serves whoever is least ahead, the first of equals, for so many turns; gives the time that each has had.
    fn serve(turns: usize, all: &[(&'static str, f64, f64)]) -> Vec<f64> {
        let mut shares = FairShares::default();
        let mut had = vec![0.0; all.len()];
        for _ in 0..turns {
            let order = |n: &usize| shares.ahead(&all[*n].0);
            let next = (0..all.len()).min_by(|a, b| order(a).total_cmp(&order(b))).expect("there is one");
            let (name, weight, cost) = all[next];
            let used = shares.begin(name, 0.1 / weight);
            shares.finish(used, cost / weight);
            had[next] += cost;
        }
        had
    }

    #[test]
    fn time_is_shared_by_weight_however_long_each_turn_takes() {
        let had = serve(10_000, &[("notes", 10.0, 0.02), ("books", 4.0, 5.0), ("imports", 1.0, 0.5)]);
        let share = |n: usize| had[n] / had.iter().sum::<f64>();
        assert!((share(0) - 10.0 / 15.0).abs() < 0.03, "{had:?}");
        assert!((share(1) - 4.0 / 15.0).abs() < 0.03, "{had:?}");
        assert!((share(2) - 1.0 / 15.0).abs() < 0.03, "{had:?}");
    }

    #[test]
    fn a_pause_gives_no_credit_and_a_long_turn_is_remembered() {
        let mut shares = FairShares::default();
        for _ in 0..100 {
            let used = shares.begin("busy", 1.0);
            shares.finish(used, 1.0);
        }
        // Who was away is next, and then only as far behind as one turn of the other.
        assert!(shares.ahead(&"away") < shares.ahead(&"busy"));
        let used = shares.begin("away", 1.0);
        shares.finish(used, 5.0);
        let (busy, away) = (shares.ahead(&"busy"), shares.ahead(&"away"));
        assert!(busy <= 1.0 && (away - 5.0).abs() < 1e-9, "{busy} {away}");
    }

    #[test]
    fn a_use_whose_end_was_passed_by_the_others_is_corrected_all_the_same() {
        let mut shares = FairShares::default();
        let long = shares.begin("long", 0.1);
        for _ in 0..50 {
            let used = shares.begin("short", 0.1);
            shares.finish(used, 0.1);
        }
        shares.finish(long, 10.0);
        assert!((shares.ahead(&"long") - 5.1).abs() < 1e-6, "{}", shares.ahead(&"long"));
    }

    #[test]
    fn only_so_many_are_kept() {
        let mut shares = FairShares::default();
        (0..1000).for_each(|n| _ = shares.begin(n, 1.0));
        assert_eq!(shares.all_ahead().count(), AHEAD_MAX);
    }
}
