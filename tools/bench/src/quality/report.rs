//! What a run found: means with intervals, as JSON and as a table.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde::Serialize;
use serde_json::Value;

use super::{AnswerCosts, Level};
use crate::conversations::{Category, category_name};
use crate::metrics::Score;
use measuring::interval::{Mean, mean_of};
use measuring::machine::Machine;
use measuring::percentiles::Spread;
use measuring::table::{head, table};

/// A whole run and what it was run with.
#[derive(Debug, Clone, Serialize)]
pub struct QualityReport {
    pub version: String,
    pub date: String,
    pub model: String,
    pub machine: Machine,
    /// The files, their hashes, and every setting that figures depend on.
    pub settings: Value,
    pub levels: Vec<LevelReport>,
}

/// What was found with turns, or sessions, as artifacts.
#[derive(Debug, Clone, Serialize)]
pub struct LevelReport {
    /// The name of the file that the conversations are from.
    pub collection: String,
    pub level: Level,
    /// Artifacts remembered.
    pub stored: usize,
    pub storing_seconds: f64,
    pub questions: usize,
    /// Questions without evidence that is stored.
    pub skipped: usize,
    pub default_answers: AnswerCosts,
    pub configurations: Vec<Configured>,
}

/// What one set of weights found.
#[derive(Debug, Clone, Serialize)]
pub struct Configured {
    pub weights: String,
    pub recall_ms: Spread,
    pub groups: Vec<Group>,
}

/// The questions of some categories.
#[derive(Debug, Clone, Serialize)]
pub struct Group {
    pub group: String,
    pub questions: usize,
    pub metrics: Vec<Metric>,
}

/// A metric at a depth; with its difference to the default, question by question, where it is not the default.
#[derive(Debug, Clone, Serialize)]
pub struct Metric {
    pub metric: &'static str,
    pub k: usize,
    #[serde(flatten)]
    pub mean: Mean,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against_default: Option<Mean>,
}

impl Group {
    pub fn metric(&self, name: &str, k: usize) -> Option<&Metric> {
        self.metrics.iter().find(|m| m.metric == name && m.k == k)
    }
}

/// For each question the scores at each k.
pub(super) type Scores = Vec<Vec<Score>>;

/// Sums up the scores of each configuration, the first of which is the default.
pub(super) fn configured(
    ks: &[usize],
    categories: &[Category],
    scored: &[(String, Scores, Spread)],
) -> Vec<Configured> {
    let summed = |scores: &Scores, name: &str, members: &[usize]| {
        let default = scored.first().filter(|(first, ..)| first != name).map(|(_, scores, _)| scores);
        let metric = |depth: usize, of: fn(&Score) -> f64| {
            let value = |scores: &Scores, question: &usize| of(&scores[*question][depth]);
            let own: Vec<f64> = members.iter().map(|q| value(scores, q)).collect();
            let against = default.map(|default| {
                let differences: Vec<f64> =
                    members.iter().map(|q| value(scores, q) - value(default, q)).collect();
                mean_of(&differences)
            });
            (mean_of(&own), against)
        };
        let mut metrics = Vec::new();
        for (depth, k) in ks.iter().enumerate() {
            for (name, of) in Score::METRICS {
                let (mean, against_default) = metric(depth, of);
                metrics.push(Metric { metric: name, k: *k, mean, against_default });
            }
        }
        metrics
    };
    let groups = groups(categories);
    let grouped = |scores: &Scores, name: &str| {
        let group = |(group, members): &(String, Vec<usize>)| Group {
            group: group.clone(),
            questions: members.len(),
            metrics: summed(scores, name, members),
        };
        groups.iter().map(group).collect()
    };
    let one = |(name, scores, recall_ms): &(String, Scores, Spread)| Configured {
        weights: name.clone(),
        recall_ms: *recall_ms,
        groups: grouped(scores, name),
    };
    scored.iter().map(one).collect()
}

/// All questions, those that can be answered (1 to 4), and each category, as positions.
fn groups(categories: &[Category]) -> Vec<(String, Vec<usize>)> {
    let members = |wanted: &dyn Fn(&Category) -> bool| -> Vec<usize> {
        (0..categories.len()).filter(|n| wanted(&categories[*n])).collect()
    };
    let mut groups = vec![("all".to_owned(), members(&|_| true))];
    groups.push(("1-4".to_owned(), members(&|c| matches!(c, Category::Number(1..=4)))));
    for category in categories.iter().collect::<BTreeSet<&Category>>() {
        groups.push((category_name(category), members(&|c| c == category)));
    }
    groups.retain(|(_, members)| !members.is_empty());
    groups
}

impl LevelReport {
    /// The figures in percent, for people.
    pub fn table(&self) -> String {
        let mut out = String::new();
        let _ = writeln!(
            out,
            "{}, {} level: {} artifacts remembered in {:.1} s; {} questions, {} skipped (no stored evidence)",
            self.collection,
            self.level.name(),
            self.stored,
            self.storing_seconds,
            self.questions,
            self.skipped
        );
        let _ = writeln!(out, "{}", self.default_answers.line());
        let Some(first) = self.configurations.first().and_then(|c| c.groups.first()) else { return out };
        let mut columns = head(["weights", "questions", "n"]);
        for metric in &first.metrics {
            columns.push(format!("{}@{}", metric.metric, metric.k));
            if metric.metric == "frac" {
                columns.push("95 %".to_owned());
            }
        }
        let mut rows = Vec::new();
        for configured in &self.configurations {
            for (n, group) in configured.groups.iter().enumerate() {
                let name = if n == 0 { configured.weights.clone() } else { String::new() };
                let mut row = vec![name, group.group.clone(), group.questions.to_string()];
                for metric in &group.metrics {
                    let Mean { mean, low, high } = metric.mean;
                    row.push(format!("{:.1}", mean * 100.0));
                    if metric.metric == "frac" {
                        row.push(format!("{:.0}–{:.0}", low * 100.0, high * 100.0));
                    }
                }
                rows.push(row);
            }
        }
        out + &table(&columns, &rows)
    }
}

/// What each set of weights finds of every collection, a column each: frac@k of all questions in percent.
pub fn side_by_side(levels: &[LevelReport], k: usize) -> String {
    let mut columns = vec![format!("frac@{k}, all questions")];
    columns.extend(levels.iter().map(|level| format!("{}, {}s", level.collection, level.level.name())));
    let weights = levels.first().map_or(&[][..], |level| &level.configurations);
    let rows: Vec<Vec<String>> = weights
        .iter()
        .map(|configured| {
            let of = |level: &LevelReport| {
                let same = level.configurations.iter().find(|other| other.weights == configured.weights);
                let metric = same.and_then(|same| same.groups.first()).and_then(|all| all.metric("frac", k));
                metric.map_or_else(|| "–".to_owned(), |metric| format!("{:.1}", metric.mean.mean * 100.0))
            };
            std::iter::once(configured.weights.clone()).chain(levels.iter().map(of)).collect()
        })
        .collect();
    table(&columns, &rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(frac: f64) -> Vec<Score> {
        vec![Score { any: frac.ceil(), all: frac.floor(), frac }]
    }

    #[test]
    fn scores_are_summed_by_category_and_compared_with_the_default() {
        let scored = [
            ("default".to_owned(), vec![score(1.0), score(0.5), score(0.0)], Spread::default()),
            ("other".to_owned(), vec![score(0.0), score(0.5), score(0.0)], Spread::default()),
        ];
        let configured = configured(&[5], &[1, 4, 5].map(Category::Number), &scored);
        let groups = &configured[0].groups;
        let names: Vec<(&str, usize)> = groups.iter().map(|g| (&*g.group, g.questions)).collect();
        assert_eq!(
            names,
            [("all", 3), ("1-4", 2), ("1 multi-hop", 1), ("4 single-hop", 1), ("5 adversarial", 1)]
        );
        assert!((groups[0].metric("frac", 5).unwrap().mean.mean - 0.5).abs() < 1e-9);
        assert!((groups[1].metric("any", 5).unwrap().mean.mean - 1.0).abs() < 1e-9);
        assert!((groups[1].metric("all", 5).unwrap().mean.mean - 0.5).abs() < 1e-9);
        assert!(groups[0].metrics.iter().all(|m| m.against_default.is_none()));
        let other = configured[1].groups[1].metric("frac", 5).unwrap().against_default.unwrap();
        assert!((other.mean + 0.5).abs() < 1e-9 && other.low <= other.mean && other.mean <= other.high);
        assert!(configured[1].groups[0].metric("frac", 10).is_none());
    }

    #[test]
    fn the_table_has_a_line_for_each_group_of_each_configuration() {
        let scored = [("default".to_owned(), vec![score(1.0), score(0.5)], Spread::default())];
        let level = LevelReport {
            collection: "talks".to_owned(),
            level: Level::Turn,
            stored: 3,
            storing_seconds: 1.0,
            questions: 2,
            skipped: 1,
            default_answers: AnswerCosts::default(),
            configurations: configured(&[5], &[1, 1].map(Category::Number), &scored),
        };
        let table = level.table();
        assert!(table.starts_with("talks, turn level: 3 artifacts"), "{table}");
        let both = side_by_side(&[level.clone(), LevelReport { collection: "notes".to_owned(), ..level }], 5);
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let last: Vec<String> = both.lines().last().map(words).unwrap_or_default();
        assert!(both.contains("talks, turns") && both.contains("notes, turns"), "{both}");
        assert_eq!(last, ["default", "75.0", "75.0"], "{both}");
        assert!(table.contains("1 skipped"), "{table}");
        assert_eq!(table.lines().count(), 4 + 3, "{table}");
        assert!(table.contains("75.0"), "{table}");
    }
}
