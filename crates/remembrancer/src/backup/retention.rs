//! Which backups stay: of some days the last, and of some weeks the last.

use std::collections::BTreeSet;

use jiff::Timestamp;
use jiff::tz::TimeZone;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Keep {
    pub(crate) daily: u32,
    pub(crate) weekly: u32,
}

impl Keep {
    /// Whether each stays, of backups that are given newest first. The newest always does. Days and weeks are those of
    /// UTC; days and weeks without a backup do not count.
    pub(crate) fn chosen(self, newest_first: &[Timestamp]) -> Vec<bool> {
        let (mut days, mut weeks) = (BTreeSet::new(), BTreeSet::new());
        let stays = |(place, at): (usize, &Timestamp)| {
            let date = at.to_zoned(TimeZone::UTC).date();
            let week = date.iso_week_date();
            let is_last_of_day = days.len() < self.daily as usize && days.insert(date);
            let is_last_of_week =
                weeks.len() < self.weekly as usize && weeks.insert((week.year(), week.week()));
            place == 0 || is_last_of_day || is_last_of_week
        };
        newest_first.iter().enumerate().map(stays).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(keep: Keep, times: &[&str]) -> Vec<usize> {
        let times: Vec<Timestamp> = times.iter().map(|at| at.parse().unwrap()).collect();
        let chosen = keep.chosen(&times);
        (0..times.len()).filter(|place| chosen[*place]).collect()
    }

    #[test]
    fn the_last_of_each_day_and_of_each_week_stays() {
        // Monday the 23rd begins a week.
        let times = [
            "2026-11-24T23:00:00Z",
            "2026-11-24T01:00:00Z",
            "2026-11-23T01:00:00Z",
            "2026-11-22T01:00:00Z",
            "2026-11-21T01:00:00Z",
            "2026-11-15T01:00:00Z",
            "2026-11-10T01:00:00Z",
        ];
        assert_eq!(kept(Keep { daily: 2, weekly: 2 }, &times), [0, 2, 3]);
        assert_eq!(kept(Keep { daily: 3, weekly: 3 }, &times), [0, 2, 3, 5]);
        assert_eq!(kept(Keep { daily: 7, weekly: 0 }, &times), [0, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn the_newest_stays_whatever_is_asked_for() {
        assert_eq!(
            kept(Keep { daily: 0, weekly: 0 }, &["2026-11-24T23:00:00Z", "2026-11-23T23:00:00Z"]),
            [0]
        );
        assert!(kept(Keep { daily: 1, weekly: 1 }, &[]).is_empty());
    }

    #[test]
    fn a_year_of_days_leaves_as_many_as_are_kept() {
        let start: Timestamp = "2026-01-01T03:00:00Z".parse().unwrap();
        let mut held: Vec<Timestamp> = Vec::new();
        for day in 0..365 {
            held.insert(0, start + jiff::SignedDuration::from_hours(24 * day));
            let chosen = Keep { daily: 7, weekly: 4 }.chosen(&held);
            held = held.into_iter().zip(chosen).filter(|(_, stays)| *stays).map(|(at, _)| at).collect();
            assert!(held.len() <= 11, "{held:?}");
        }
        assert!(held.len() >= 9, "{held:?}");
    }
}
