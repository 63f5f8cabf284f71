//! Below which score results are left out.

use memory_language::asked_for::{AskedFor, asked_for, asks_for_order};

use super::{RecallRequest, Target};

/// Hits that score less are not shown unless they are asked for: what stands there has next to nothing to do with the
/// question.
const MIN_SCORE: f32 = 0.15;
/// In the order of dates what hardly answers may stand first: there a result has at least this share of the best score. In the
/// benchmark's questions for an order, evidence among the first ten results has at least 0.55 of it.
const MIN_SHARE_IN_ORDER: f32 = 0.4;

/// The lowest score that is shown beside this best one. A summary is of all that was found.
pub(super) fn floor(request: &RecallRequest, best: Option<f32>) -> f32 {
    let is_in_order = matches!(&request.target, Target::Query(query)
        if asks_for_order(query) && asked_for(query) != AskedFor::Summary);
    match (request.min_score, best) {
        (Some(given), _) => given,
        // In hundredths, as it is told.
        (None, Some(best)) if is_in_order => {
            ((best * MIN_SHARE_IN_ORDER * 100.0).round() / 100.0).max(MIN_SCORE)
        }
        (None, _) => MIN_SCORE,
    }
}

/// Where the ranking goes on further down, nobody has counted what is there.
pub(super) fn left_out(low: usize, floor: f32, goes_on: bool) -> String {
    if goes_on {
        return format!("Results that score under {floor} are left out; min_score: 0 shows them.");
    }
    let results = if low == 1 { "1 result that scores" } else { &format!("{low} results that score") };
    let them =
        if low == 1 { "is left out; min_score: 0 shows it" } else { "are left out; min_score: 0 shows them" };
    format!("{results} under {floor} {them}.")
}

#[cfg(test)]
mod tests {
    use super::super::RecallDraft;
    use super::*;

    fn lowest(query: &str, min_score: Option<f64>, best: f32) -> String {
        let draft = RecallDraft { query: Some(query.into()), min_score, ..RecallDraft::default() };
        floor(&RecallRequest::new(draft).unwrap(), Some(best)).to_string()
    }

    #[test]
    fn what_is_told_in_order_is_near_to_the_best() {
        let in_order = "What happened with the thermostat, in order?";
        assert_eq!(lowest(in_order, None, 0.8406), "0.34");
        assert_eq!(lowest(in_order, None, 0.2), "0.15", "what is shown otherwise is the least");
        assert_eq!(lowest(in_order, Some(0.0), 0.8406), "0", "what is given counts");
        assert_eq!(lowest("What happened with the thermostat?", None, 0.8406), "0.15");
        assert_eq!(lowest("Summarise in order what I told you about the move", None, 0.8406), "0.15");
    }
}
