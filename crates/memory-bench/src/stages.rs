//! Which stages of a search are measured together.

use memory_core::recall::Stages;

/// A part of the search, with the switch that it has.
type Stage = (&'static str, fn(&mut Stages) -> &mut bool);

/// What brings results in; each is also measured alone.
const ARMS: [Stage; 2] = [("vector", |s| &mut s.vector), ("lexical", |s| &mut s.lexical)];
/// What else can be left out.
const REFINEMENTS: [Stage; 5] = [
    ("late interaction", |s| &mut s.late_interaction),
    ("neighbourhood", |s| &mut s.neighbourhood),
    ("time", |s| &mut s.time),
    ("priors", |s| &mut s.priors),
    RERANKING,
];
/// Only where there is a reranker.
const RERANKING: Stage = ("reranking", |s| &mut s.reranking);

/// All stages, and each arm alone.
pub fn arms() -> Vec<(String, Stages)> {
    let all = Stages::default();
    let alone = |(name, arm): &Stage| {
        let mut stages = all;
        for (_, other) in ARMS.iter().chain(&REFINEMENTS) {
            *other(&mut stages) = false;
        }
        *arm(&mut stages) = true;
        (format!("{name} alone"), stages)
    };
    [("default".to_owned(), all)].into_iter().chain(ARMS.iter().map(alone)).collect()
}

/// All stages, each arm alone, and all without each stage. The same set of stages stands there once, under its first
/// name.
pub fn configurations(has_reranker: bool) -> Vec<(String, Stages)> {
    let mut list = arms();
    for (name, stage) in ARMS.iter().chain(&REFINEMENTS) {
        if *name == RERANKING.0 && !has_reranker {
            continue;
        }
        let mut without = Stages::default();
        *stage(&mut without) = false;
        if !list.iter().any(|(_, known)| *known == without) {
            list.push((format!("without {name}"), without));
        }
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_of_stages_is_measured_once_and_the_default_first() {
        let list = configurations(true);
        assert_eq!(list[0], ("default".to_owned(), Stages::default()));
        for (n, (name, stages)) in list.iter().enumerate() {
            assert!(list[..n].iter().all(|(other, known)| other != name && known != stages), "{name}");
        }
        let vector_alone = list.iter().find(|(name, _)| name == "vector alone").unwrap().1;
        assert!(vector_alone.vector && !vector_alone.lexical);
        let without = configurations(false);
        assert_eq!(list.len(), without.len() + 1);
    }
}
